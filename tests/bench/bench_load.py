"""How fast a history is read, beside DuckDB's and Polars' JSON readers.

``python tests/bench/bench_load.py [events] [--json FILE]`` makes events like those of the folding benchmark (about 420
bytes each), writes them as JSON Lines to a temporary file, and reads them in a process each, so that one reader's
memory does not count for another. The best of three, in turns. Memory counts the helping processes too, each page once
(PSS), and every page of the history is looked at before what is kept is measured.
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
import json, os, subprocess, sys, threading, time
from pathlib import Path
path = sys.argv[1]
import pandas, numpy, pyarrow.compute
def tree(pid):
    yield pid
    for task in Path(f"/proc/{{pid}}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue  # the thread ended meanwhile
        for child in children:
            yield from tree(int(child))
def memory():
    total = 0
    for pid in tree(os.getpid()):
        try:
            text = Path(f"/proc/{{pid}}/smaps_rollup").read_text()
        except OSError:
            continue  # it ended meanwhile
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) * 1024
    return total
{imports}
before = memory()
peak, over = [before], threading.Event()
def watch():
    while not over.wait(0.05):
        try:
            peak.append(memory())
        except OSError:
            pass
watcher = threading.Thread(target=watch)
if len(sys.argv) > 2:
    watcher.start()
used, started = os.times(), time.perf_counter()
{code}
seconds, now = time.perf_counter() - started, os.times()
figures = {{"seconds": seconds, "processor_seconds": sum(now[:4]) - sum(used[:4])}}
if hasattr(result, "sizes"):
    memoryview(result._buffer)[::4096].tobytes()
over.set()
figures["kept"] = memory() - before
figures["peak"] = max(*peak, before + figures["kept"]) - before
if hasattr(result, "where"):
    for name in ("type", "source", "subject"):
        value = result.attribute(name).iloc[0]
        times = []
        for _ in range(5):
            first = time.perf_counter()
            result.equals(name, value)
            times.append(time.perf_counter() - first)
        figures[name] = sorted(times)[2]
print("\\n" + json.dumps(figures))
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


def measure(code: str, path: Path, *watched: str) -> dict[str, float] | None:
    """Read once in a process of its own, and watch its memory where asked; None where the reader is not installed."""
    imports, _, rest = code.partition("\n")
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(imports=imports, code=rest), str(path), *watched],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        if "ModuleNotFoundError" not in done.stderr:
            print(done.stderr, file=sys.stderr)
        return None
    # DuckDB writes its progress there too.
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
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
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
        machine = f"{platform.node()} ({os.cpu_count()} cores, load {load:.1f})"
        print(f"{options.events:,} events, {size / 1e6:,.0f} MB, on {machine}")
        print(f"{'reader':26} {'s':>7} {'MB/s':>7} {'events/s':>11} {'CPU s':>7} {'kept/file':>10} {'peak/file':>10}")
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in READERS}
        for _ in range(3):
            for name, code in READERS.items():
                if (figures := measure(code, path)) is not None:
                    runs[name].append(figures)
        table = {}
        for name, code in READERS.items():
            watched = measure(code, path, "watched") if runs[name] else None
            if watched is None:
                print(f"{name:26} not installed, so it is left out")
                continue
            best = min(runs[name], key=lambda run: run["seconds"])
            # Watching memory takes time, so the two come from runs of their own.
            table[name] = {**best, "kept": watched["kept"], "peak": watched["peak"]}
            seconds = best["seconds"]
            print(
                f"{name:26} {seconds:7.2f} {size / 1e6 / seconds:7.0f} {options.events / seconds:11,.0f} "
                f"{best['processor_seconds']:7.2f} {watched['kept'] / size:10.2f} {watched['peak'] / size:10.2f}"
            )
        for name in ("type", "source", "subject"):
            print(f"filter by {name}: {table['recallkit'][name] * 1000:.1f} ms")
    if options.json:
        written = {
            "machine": platform.node(),
            "cores": os.cpu_count(),
            "load": load,
            "events": options.events,
            "bytes": size,
            "readers": table,
        }
        options.json.write_text(json.dumps(written, indent=2))


if __name__ == "__main__":
    main()
