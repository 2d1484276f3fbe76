"""What every benchmark here tells beside its figures: the machine, and how figures are written as JSON."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any


def machine() -> str:
    """Return what this was measured on."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{name}, {os.cpu_count()} cores{load}, {platform.system()}, Python {platform.python_version()}"


def write(path: Path | None, figures: dict[str, Any]) -> None:
    """Write the figures as JSON, with the machine, where a path is given."""
    if path is not None:
        path.write_text(json.dumps({"machine": machine(), **figures}, indent=2) + "\n", encoding="utf-8")
