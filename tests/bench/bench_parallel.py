"""What folding several at once saves: python tests/bench/bench_parallel.py [EVENTS] [--rounds N] [--json FILE]

Folds one history with four functions and four histories with one, as many at a time as 1, 2, … cores, and on a Dask
cluster of this machine's own, where Dask is installed. Every round goes through all of them in turn; the table tells
medians, and how many times as fast as one at a time. Only that each gives what it gives alone is asserted.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import logging
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measured import machine, write
from reference import ROOT

import recallkit as rk
from recallkit.parallel import cores

DOCUMENT = ROOT / "notebooks" / "functions" / "campaign-reviews.md"
AT_ONCE = 4


def events(count: int, start: int) -> rk.History:
    """Repeat the reviews of data/, each with an id of its own."""
    few = (ROOT / "data" / "campaign-reviews.jsonl").read_text(encoding="utf-8").splitlines()
    made = (json.loads(few[(start + number) % len(few)]) for number in range(count))
    return rk.History.from_events({**event, "id": str(number)} for number, event in enumerate(made))


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Start a Dask cluster of processes on this machine; None where Dask is not installed."""
    try:
        import distributed
    except ImportError:
        yield None
        return
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": None}
        with distributed.LocalCluster(n_workers=workers, **options) as made, distributed.Client(made) as client:
            yield client


def digest(foldings: list[rk.Folding]) -> list[tuple[str, list[int]]]:
    """Return what each folding came to: its view and its steps."""
    return [
        (hashlib.sha256(each.view_text.encode("utf-8", "surrogatepass")).hexdigest(), each.trace.steps.tolist())
        for each in foldings
    ]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", nargs="?", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    functions = [rk.load(DOCUMENT) for _ in range(AT_ONCE)]
    histories = [events(options.events, start) for start in range(AT_ONCE)]
    function, history = functions[0], histories[0]
    assert isinstance(function, rk.RecallFunction)
    expected = {
        "fold_all": digest([each.fold(history, progress=False) for each in functions]),  # type: ignore[union-attr]
        "fold_each": digest([function.fold(each, progress=False) for each in histories]),
    }
    at_a_time = sorted({1, *range(2, cores() + 1)})
    print(
        f"{AT_ONCE} folds of {options.events:,} events, medians of {options.rounds} rounds, {cores()} cores to use, "
        f"on {machine()}"
    )
    with cluster(cores()) as client:
        ways: dict[str, dict[str, Any]] = {f"{count} at a time": {"workers": count} for count in at_a_time}
        if client is None:
            print("without Dask: it is not installed")
        else:
            ways[f"Dask, {cores()} workers"] = {"client": client}
        calls: dict[str, Callable[..., Any]] = {
            "fold_all": lambda **how: rk.fold_all(functions, history, progress=False, **how),
            "fold_each": lambda **how: rk.fold_each(function, histories, progress=False, **how),
        }
        seconds: dict[tuple[str, str], list[float]] = {(call, way): [] for call in calls for way in ways}
        for number in range(options.rounds):
            for call, way in list(seconds) if number % 2 == 0 else list(seconds)[::-1]:
                start = time.perf_counter()
                foldings = calls[call](**ways[way])
                seconds[call, way].append(time.perf_counter() - start)
                if digest(foldings) != expected[call]:
                    print(f"{call}, {way}: NOT what each gives alone", file=sys.stderr)
                    return 1
    table = {}
    print(f"  {'':10} {'':16} {'seconds':>8} {'least':>8} {'most':>8} {'times as fast':>14}")
    for (call, way), each in seconds.items():
        alone = statistics.median(seconds[call, "1 at a time"])
        row = {"seconds": statistics.median(each), "least": min(each), "most": max(each)}
        row["times"] = alone / row["seconds"]
        table[f"{call}, {way}"] = row
        print(f"  {call:10} {way:16} {row['seconds']:8.2f} {min(each):8.2f} {max(each):8.2f} {row['times']:14.2f}")
    print("  each gives what it gives alone: views and steps")
    write(options.json, {"events": options.events, "rounds": options.rounds, "cores": cores(), "seconds": table})
    return 0


if __name__ == "__main__":
    sys.exit(main())
