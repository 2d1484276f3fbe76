"""How fast a history is read, beside DuckDB's and Polars' JSON readers.

``python tests/bench/bench_load.py [events] [--json FILE]`` makes events like those of the folding benchmark (about 420
bytes each), writes them as JSON Lines to a temporary file, and reads them in a process each, so that one reader's
memory does not count for another. The best of three.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

READERS = {
    "recallkit": "import recallkit.events as e\nresult = e.read_history(path)",
    "recallkit, with .events": "import recallkit.events as e\nresult = e.read_history(path)\nresult.events",
    "polars": "import polars\nresult = polars.read_ndjson(path)",
    "duckdb": "import duckdb\nresult = duckdb.sql(f\"select * from read_json('{path}')\").to_arrow_table()",
}

CHILD = """
import json, sys, time
path = sys.argv[1]
def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))
import pandas, numpy, pyarrow
before = memory("VmRSS")
started = time.perf_counter()
{code}
seconds = time.perf_counter() - started
figures = {{"seconds": seconds, "kept": memory("VmRSS") - before, "peak": memory("VmHWM") - before}}
if hasattr(result, "where"):
    for name in ("type", "source", "subject"):
        value = result.attribute(name).iloc[0]
        first = time.perf_counter()
        result.equals(name, value)
        figures[name] = time.perf_counter() - first
print(json.dumps(figures))
"""


def make(path: Path, count: int) -> None:
    """Write the events: seeded, so that every call writes the same bytes."""
    rng = random.Random(7)
    verdicts = ["approve", "reject: the budget is not stated", "reject: no owner"]
    with path.open("w", encoding="utf-8") as file:
        for place in range(count):
            day, rest = divmod(place, 86_400)
            clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}.000Z"
            event = {
                "specversion": "1.0",
                "id": str(uuid.UUID(int=rng.getrandbits(128))),
                "type": "run_succeeded",
                "source": f"/runs/{uuid.UUID(int=rng.getrandbits(128))}",
                "subject": "reasoning/review-brief",
                "time": f"2026-{day // 28 % 12 + 1:02d}-{day % 28 + 1:02d}T{clock}",
                "caller": "user-1",
                "definitionversion": 1,
                "data": {
                    "output": {
                        "campaign": f"campaign-{rng.randrange(50):02d}",
                        "verdict": rng.choice(verdicts),
                        "note": "x" * rng.randrange(160),
                    }
                },
            }
            file.write(json.dumps(event, separators=(",", ":")) + "\n")


def measure(code: str, path: Path) -> dict[str, float] | None:
    """Read once in a process of its own; None where the reader is not installed."""
    done = subprocess.run([sys.executable, "-c", CHILD.format(code=code), str(path)], capture_output=True, text=True)
    if done.returncode:
        if "ModuleNotFoundError" not in done.stderr:
            print(done.stderr, file=sys.stderr)
        return None
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        make(path, options.events)
        size = path.stat().st_size
        print(f"{options.events:,} events, {size / 1e6:,.0f} MB, on {platform.node()} ({os.cpu_count()} cores)")
        print(f"{'reader':26} {'s':>7} {'MB/s':>7} {'events/s':>11} {'kept/file':>10} {'peak/file':>10}")
        table = {}
        for name, code in READERS.items():
            runs = [measure(code, path) for _ in range(3)]
            figures = min((run for run in runs if run), key=lambda run: run["seconds"], default=None)
            if figures is None:
                print(f"{name:26} not installed")
                continue
            table[name] = figures
            seconds = figures["seconds"]
            print(
                f"{name:26} {seconds:7.2f} {size / 1e6 / seconds:7.0f} {options.events / seconds:11,.0f} "
                f"{figures['kept'] / size:10.2f} {figures['peak'] / size:10.2f}"
            )
        for name in ("type", "source", "subject"):
            print(f"filter by {name}: {table['recallkit'][name] * 1000:.1f} ms")
    if options.json:
        written = {"machine": platform.node(), "events": options.events, "bytes": size, "readers": table}
        options.json.write_text(json.dumps(written, indent=2))


if __name__ == "__main__":
    main()
