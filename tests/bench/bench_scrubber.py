"""How long the kernel takes to answer a scrubber's step: ``python tests/bench/bench_scrubber.py [EVENTS]``.

W1 of the folding benchmark, 100,000 events unless told otherwise. A step is what travels when a person moves: the open
branches of the view and of the event, what changed, the sizes and the costs. Nothing here is asserted.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import recallkit as rk
from recallkit.notebook.answers import Answers
from recallkit.notebook.head import head

ROOT = Path(__file__).parent.parent.parent
MAKER = ROOT.parent / "shared" / "bench" / "make_events.py"


def main(events: int) -> None:
    """Fold, then step forwards, backwards and at random."""
    if not MAKER.is_file():
        print("the benchmark's events are made by ../shared/bench/make_events.py, which is not here")
        return
    lines = subprocess.run([sys.executable, str(MAKER), str(events), "100"], capture_output=True, check=True).stdout
    history = rk.read_history([json.loads(line) for line in lines.splitlines()])
    began = time.perf_counter()
    folding = rk.load(ROOT / "notebooks" / "functions" / "campaign-reviews.md").fold(history)
    print(f"fold       {time.perf_counter() - began:.1f} s for {events:,} events")
    began = time.perf_counter()
    told = json.dumps(head(folding))
    print(f"head       {1e3 * (time.perf_counter() - began):.1f} ms, {len(told):,} bytes")
    answers, rng, middle = Answers(folding), random.Random(1), events // 2
    run("first", answers, [middle])
    run("forwards", answers, range(middle + 1, min(events, middle + 201)))
    run("backwards", answers, range(min(events, middle + 200), middle, -1))
    run("random", answers, [rng.randrange(events + 1) for _ in range(100)])
    for what in (
        {"what": "change"},
        {"what": "search", "query": "campaign-99"},
        {"what": "pin", "path": "/campaign-07"},
    ):
        began, at = time.perf_counter(), middle
        while True:
            reply = answers.answer({"ask": "find", "n": at, "step": 1, **what})
            if reply["done"]:
                break
            at = reply["at"]
        print(f"find {what['what']:<6} {1e3 * (time.perf_counter() - began):.1f} ms, {reply['found']}")
    began = time.perf_counter()
    while not answers.answer({"ask": "trail", "path": "/campaign-07"})["done"]:
        pass
    print(f"trail      {1e3 * (time.perf_counter() - began):.1f} ms")


def run(name: str, answers: Answers, numbers: Iterable[int]) -> None:
    """Step through places and say how long a step takes."""
    times, sizes = [], []
    for number in numbers:
        request = {"ask": "moment", "n": number, "view": [["", 0]], "event": [["", 0], ["/data", 0]], "sizes": ""}
        began = time.perf_counter()
        reply = json.dumps(answers.answer(request | {"follow": True}))
        times.append(1e3 * (time.perf_counter() - began))
        sizes.append(len(reply))
    worst = sorted(times)[int(0.95 * (len(times) - 1))]
    print(
        f"{name:<10} median {statistics.median(times):.1f} ms, nineteen in twenty {worst:.1f} ms, "
        f"slowest {max(times):.1f} ms; {statistics.median(sizes):,.0f} bytes"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
