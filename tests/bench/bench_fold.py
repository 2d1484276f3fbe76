"""What a fold costs, beside the reference host: python tests/bench/bench_fold.py [EVENTS] [--rounds N] [--json FILE]

Folds the two workloads of ../shared/bench (W1: 100 campaigns, a small view; W2: 50 campaigns, a large one) with the
format's example, in one sitting: the kit's three ways (fast; owned, which a module that writes to its view gets;
plain), the reference host, and its bare folds, which write and check nothing. Every round folds with each of them in
turn, so that other work on the machine falls on all alike; the table tells medians. What is timed: the kit from a
history in memory to the view, its sandbox opened in a worker that is ready; the reference host from its events in
memory to the view. Only that the views are the same is asserted.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent))

from measured import machine, write
from reference import ROOT, Reference, bench_folder, make_events, reference

import recallkit as rk
from recallkit.sandbox import pool
from recallkit.views.fold import fold_history
from recallkit.views.session import Way

WORKLOADS = {"W1": 100, "W2": 50}
WAYS = ("kit, fast", "kit, owned", "kit, plain", "reference", "bare reference")


def kit(function: rk.RecallFunction, history: rk.History, way: Way) -> dict[str, Any]:
    """Fold with the kit in one of its ways; return the same figures as the reference host tells."""
    pool.warm()
    start = time.perf_counter()
    folding = rk.Folding(function, fold_history(function.definition, history, way=way))
    seconds = time.perf_counter() - start
    text = folding.view_text.encode()
    return {
        "us_per_fold": seconds * 1e6 / len(history),
        "inside_us": float(folding.trace.fold_us.mean()),
        "view_bytes": len(text),
        "view_sha256": hashlib.sha256(text).hexdigest(),
    }


def rounds(
    function: rk.RecallFunction, path: Path, host: Reference | None, count: int
) -> dict[str, list[dict[str, Any]]]:
    """Fold the workload `count` times in each way, in turn."""
    history = rk.read_history(path)
    told: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS if host is not None or way.startswith("kit")}
    for number in range(count):
        # every other round the other way about, so that a machine that warms or cools favours none
        for way in list(told) if number % 2 == 0 else list(told)[::-1]:
            if host is None or way.startswith("kit"):
                told[way].append(kit(function, history, cast(Way, way.removeprefix("kit, "))))
            else:
                told[way].append(host.fold(path, bare=way == "bare reference"))
    return told


def summary(told: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return each way's median, its spread, and its ratio to the reference host."""
    table: dict[str, dict[str, Any]] = {}
    for way, figures in told.items():
        each = [figure["us_per_fold"] for figure in figures]
        table[way] = {
            "us_per_fold": statistics.median(each),
            "least": min(each),
            "most": max(each),
            "events_per_second": 1e6 / statistics.median(each),
            "view_bytes": figures[0]["view_bytes"],
            "view_sha256": figures[0]["view_sha256"],
        }
    for row in table.values():
        for name in ("reference", "bare reference"):
            if name in table:
                row[f"of_{name.split()[0]}"] = row["us_per_fold"] / table[name]["us_per_fold"]
    return table


def show(name: str, table: dict[str, dict[str, Any]]) -> None:
    """Print a workload's table."""
    print(f"\n{name}: {next(iter(table.values()))['view_bytes']:,} bytes of view")
    print(f"  {'':15} {'µs a fold':>10} {'least':>8} {'most':>8} {'events/s':>9} {'of reference':>13} {'of bare':>8}")
    for way, row in table.items():
        ratios = [f"{row[key]:.2f}" if key in row else "" for key in ("of_reference", "of_bare")]
        print(
            f"  {way:15} {row['us_per_fold']:10,.0f} {row['least']:8,.0f} {row['most']:8,.0f} "
            f"{row['events_per_second']:9,.0f} {ratios[0]:>13} {ratios[1]:>8}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", nargs="?", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workload", choices=list(WORKLOADS), action="append", help="only this one")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    if bench_folder() is None:
        print("The workloads are in ../shared/bench, which is not here.", file=sys.stderr)
        return 2
    function = rk.load(ROOT / "notebooks" / "functions" / "campaign-reviews.md")
    assert isinstance(function, rk.RecallFunction)
    print(f"{options.events:,} events, medians of {options.rounds} rounds, on {machine()}")
    tables: dict[str, Any] = {}
    with reference() as host, tempfile.TemporaryDirectory() as folder:
        if isinstance(host, str):
            print(f"without the reference host: {host}")
        for name in options.workload or WORKLOADS:
            path = Path(folder) / f"{name}.jsonl"
            make_events(path, options.events, WORKLOADS[name])
            told = rounds(function, path, host if isinstance(host, Reference) else None, options.rounds)
            tables[name] = summary(told)
            show(name, tables[name])
            if len({row["view_sha256"] for row in tables[name].values()}) != 1:
                print("the views are NOT the same", file=sys.stderr)
                return 1
            print(f"  the same view in each: sha256 {next(iter(tables[name].values()))['view_sha256']}")
    write(options.json, {"events": options.events, "rounds": options.rounds, "workloads": tables})
    return 0


if __name__ == "__main__":
    sys.exit(main())
