"""List what the pinned engine has: ``python scripts/list_engine_library.py`` writes the checker's engine-library.json.

Run it from the repository after the engine's build changes. The checker leaves out of the compiler's library whatever
this list lacks, so that a name the sandbox lacks is a name the compiler lacks.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from recallkit.bounds import RUN_MEMORY_BYTES
from recallkit.sandbox.instance import Instance
from recallkit.sandbox.wasm import load

ROOT = Path(__file__).resolve().parent.parent
LISTING = ROOT / "recallkit" / "definitions" / "checker" / "engine-library.json"
NATIVE_STACK = 256 * 1024 * 1024  # the engine's 1 MiB of stack takes much more of the host's


def ask_engine() -> dict[str, Any]:
    """Run list_engine_library.js in a fresh engine, from which nothing has been taken away."""
    source = (ROOT / "scripts" / "list_engine_library.js").read_bytes()
    told: list[Any] = []

    def ask() -> None:
        instance = Instance(load(), RUN_MEMORY_BYTES)
        value, error = instance.evaluate(source, b"list.js", module=False)
        told.append(error if error is not None else json.loads(instance._string_at(value)))

    before = threading.stack_size(NATIVE_STACK)
    try:
        thread = threading.Thread(target=ask)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    (library,) = told
    if not isinstance(library, dict):
        raise RuntimeError(library)
    return library


def written(library: dict[str, Any]) -> str:
    """The listing as text: one name a line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(each, separators=(',', ':'))}" for name, each in library.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    LISTING.write_text(written(ask_engine()), encoding="utf-8")
