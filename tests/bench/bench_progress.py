"""What showing progress costs: python tests/bench/bench_progress.py [EVENTS] [--rounds N] [--json FILE]

Folds with the bar and without, in turn: in a terminal (a stream that says it is one), and in a Jupyter kernel where
ipykernel is installed. The table tells the median of both, and what was spent inside the bar itself, which other work
on the machine disturbs less: the calls of it, the writes or messages that left Python, and its share of the fold.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from measured import machine, write
from reference import ROOT

import recallkit as rk
from recallkit import progress
from recallkit.sandbox import pool


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and counts what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.writes += 1
        return len(text)


class Spent:
    """The seconds inside the bar, and how often it was called."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    @contextlib.contextmanager
    def watching(self, total: int, wanted: bool = True) -> Iterator[Callable[[int, int], None] | None]:
        start = time.perf_counter()
        with _watching(total, wanted) as show:
            self.seconds += time.perf_counter() - start
            yield None if show is None else lambda done, of: self._show(show, done, of)
            start = time.perf_counter()
        self.seconds += time.perf_counter() - start

    def _show(self, show: Callable[[int, int], None], done: int, of: int) -> None:
        start = time.perf_counter()
        show(done, of)
        self.seconds += time.perf_counter() - start
        self.calls += 1


_watching = progress.watching


def measure(count: int, rounds: int) -> list[dict[str, Any]]:
    """Fold with and without the bar, in turn; return each round's figures."""
    few = (ROOT / "data" / "campaign-reviews.jsonl").read_text(encoding="utf-8").splitlines()
    made = (json.loads(few[number % len(few)]) for number in range(count))
    history = rk.History.from_events({**event, "id": str(number)} for number, event in enumerate(made))
    function = rk.load(ROOT / "notebooks" / "functions" / "campaign-reviews.md")
    assert isinstance(function, rk.RecallFunction)
    told = []
    for number in range(rounds):
        row: dict[str, Any] = {}
        for shown in (True, False) if number % 2 == 0 else (False, True):
            spent = Spent()
            progress.watching = spent.watching  # where a fold looks for it
            pool.warm()
            start = time.perf_counter()
            try:
                function.fold(history, progress=shown, trace=False)
            finally:
                progress.watching = _watching
            row["with" if shown else "without"] = time.perf_counter() - start
            if shown:
                row |= {"inside": spent.seconds, "calls": spent.calls}
        told.append(row)
    return told


def in_a_terminal(count: int, rounds: int) -> list[dict[str, Any]]:
    """Measure with a stream in the place of standard error."""
    stream = Terminal()
    with contextlib.redirect_stderr(stream):
        told = measure(count, rounds)
    return [{**row, "sent": stream.writes / rounds} for row in told]


def in_a_kernel(count: int, rounds: int) -> list[dict[str, Any]] | None:
    """Measure in a Jupyter kernel; None where there is none."""
    try:
        import ipykernel  # noqa: F401
        from jupyter_client.manager import KernelManager
    except ImportError:
        return None
    manager = KernelManager(kernel_cmd=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"])
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    sent = 0
    told: list[dict[str, Any]] = []
    code = f"import sys, json; sys.path[:] = {sys.path!r}; import bench_progress as b; " + (
        f"print('FIGURES', json.dumps(b.measure({count}, {rounds})))"
    )

    def heard(message: dict[str, Any]) -> None:
        nonlocal sent
        text = message["content"].get("text", "")
        if text.startswith("FIGURES "):
            told.extend(json.loads(text.partition(" ")[2]))
        elif message["msg_type"] in ("comm_open", "comm_msg", "display_data", "update_display_data", "stream"):
            sent += 1
        elif message["msg_type"] == "error":
            raise RuntimeError("\n".join(message["content"]["traceback"]))

    try:
        client.wait_for_ready(timeout=120)
        client.execute_interactive(code, output_hook=heard, timeout=None)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return [{**row, "sent": sent / rounds} for row in told]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", nargs="?", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    print(f"{options.events:,} events, medians of {options.rounds} rounds, on {machine()}")
    found = {
        "terminal": in_a_terminal(options.events, options.rounds),
        "kernel": in_a_kernel(options.events, options.rounds),
    }
    table = {}
    heads = ("s with", "s without", "ms inside", "% of the fold", "calls", "sent")
    print(f"  {'':9}" + "".join(f"{head:>14}" for head in heads))
    for where, rows in found.items():
        if rows is None:
            print(f"  {where:9} ipykernel is not installed")
            continue
        row = {name: statistics.median(each[name] for each in rows) for name in rows[0]}
        row["share"] = statistics.median(each["inside"] / each["with"] for each in rows)
        table[where] = row
        print(
            f"  {where:9}{row['with']:14.2f}{row['without']:14.2f}{1000 * row['inside']:14.1f}"
            f"{100 * row['share']:14.2f}{row['calls']:14.0f}{row['sent']:14.0f}"
        )
    write(options.json, {"events": options.events, "rounds": options.rounds, "progress": table})
    return 0


if __name__ == "__main__":
    sys.exit(main())
