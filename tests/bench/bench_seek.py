"""Long histories: python tests/bench/bench_seek.py [EVENTS] [--short N] [--seeks N] [--json FILE]

Folds both workloads of ../shared/bench once with 20,000 events and once with 100,000, and tells what a fold cost in
each; then what the long folding with its trace and keyframes takes in memory, and how long at(n) takes at random
places: with its event, its patch left to be asked for. Only that a view sought is the one that folding so many gives
is asserted.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from bench_fold import WORKLOADS, machine
from reference import ROOT, bench_folder, make_events

import recallkit as rk
from recallkit.sandbox import pool


def resident() -> float:
    """Return what this process holds in memory, in megabytes; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
    except OSError:
        return 0.0


def folded(function: rk.RecallFunction, path: Path) -> tuple[rk.Folding, float, float]:
    """Fold a file's events: the folding with its trace built, the seconds, and the megabytes that it added."""
    history = rk.read_history(path)
    pool.warm()
    before = resident()
    start = time.perf_counter()
    folding = function.fold(history, progress=False)
    seconds = time.perf_counter() - start
    assert folding.state == "live", folding.stall
    return folding, seconds, resident() - before


def seeks(folding: rk.Folding, count: int) -> list[float]:
    """Return the milliseconds of at(n) at random places."""
    chance = random.Random(6)
    folding.at(1)  # its sandbox is opened once
    told = []
    for _ in range(count):
        number = chance.randrange(1, folding.folded + 1)
        start = time.perf_counter()
        moment = folding.at(number)
        told.append((time.perf_counter() - start) * 1_000)
        assert moment.bytes == folding.trace["view_bytes"].iloc[number - 1]
    return sorted(told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", nargs="?", type=int, default=100_000)
    parser.add_argument("--short", type=int, default=20_000)
    parser.add_argument("--seeks", type=int, default=200)
    parser.add_argument("--workload", choices=list(WORKLOADS), action="append", help="only this one")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if bench_folder() is None:
        print("The workloads are in ../shared/bench, which is not here.", file=sys.stderr)
        return 2
    function = rk.load(ROOT / "notebooks" / "functions" / "campaign-reviews.md")
    assert isinstance(function, rk.RecallFunction)
    print(f"{options.short:,} and {options.events:,} events, {options.seeks} seeks, on {machine()}")
    heads = ("µs, short", "µs, long", "long/short", "folding MB", "keyframes", "at(n) ms", "95th")
    print("  " + "".join(f"{head:>12}" for head in ("", *heads)))
    table: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.workload or WORKLOADS:
            costs = []
            for count in (options.short, options.events):
                path = Path(folder) / f"{name}-{count}.jsonl"
                make_events(path, count, WORKLOADS[name])
                folding, seconds, megabytes = folded(function, path)
                costs.append(seconds * 1e6 / count)
            times = seeks(folding, options.seeks)
            row = {
                "us_short": costs[0],
                "us_long": costs[1],
                "ratio": costs[1] / costs[0],
                "megabytes": megabytes,
                "keyframes": len(folding._fold.keyframes),
                "at_ms": statistics.median(times),
                "at_ms_95": times[int(len(times) * 0.95)],
            }
            table[name] = row
            print(
                f"  {name:>12}{row['us_short']:12,.0f}{row['us_long']:12,.0f}{row['ratio']:12.2f}"
                f"{row['megabytes']:12,.0f}{row['keyframes']:12,}{row['at_ms']:12.1f}{row['at_ms_95']:12.1f}"
            )
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "workloads": table}, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
