"""Publish many events and follow them: events a second, and how far the view lagged.

``python tests/bench/bench_playbook.py [--events 100000] [--url postgresql://…]``; without a URL, a new SQLite file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import recallkit as rk
from recallkit.examples import example

BATCH = 100

# Its folds take next to nothing: what is measured is the playbook. With --reviews they are the format's example's.
TALLY = """---
language: typescript
source: { events: [{ type: campaign_reviewed }] }
view: { initial: { reviews: 0, last: "" } }
---
export function fold(view: View, event: Event): View {
  const before = view as { reviews: number };
  return { reviews: before.reviews + 1, last: event.id };
}
"""


def event(number: int) -> dict[str, object]:
    return {
        "source": "/reviews",
        "type": "campaign_reviewed",
        "id": str(number),
        "data": {"output": {"campaign": f"campaign-{number % 100}", "verdict": "approve" if number % 3 else "reject"}},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--url")
    parser.add_argument("--single", type=int, default=500, help="how many to publish one by one first")
    parser.add_argument("--reviews", action="store_true", help="fold with the format's example, whose view is large")
    options = parser.parse_args()
    url = options.url or f"sqlite:///{tempfile.mkdtemp(prefix='recallkit-bench-')}/playbook.db"
    source = TALLY
    if options.reviews:
        source = example("functions", "campaign-reviews.md").read_text("utf-8")
        source = source.replace("type: run_succeeded\n      subject: reasoning/review-brief", "type: campaign_reviewed")
    with rk.Playbook(url) as playbook:
        print(f"{playbook!r}: {options.events:,} events")
        playbook.create_definition(type="recall", name="reviews", source=source)
        with playbook.following():
            began = time.perf_counter()
            for number in range(options.single):
                playbook.publish_event(event(number))
            took = time.perf_counter() - began
            print(f"published one by one, followed meanwhile: {options.single / took:,.0f} events a second")
            began = time.perf_counter()
            for start in range(options.single, options.events, BATCH):
                playbook.publish_events(event(n) for n in range(start, min(start + BATCH, options.events)))
            took = time.perf_counter() - began
            rate = (options.events - options.single) / took
            print(f"published {BATCH} a transaction, followed meanwhile: {rate:,.0f} events a second")
            while playbook.standing().folded[0] < options.events:
                time.sleep(0.02)
            followed = time.perf_counter() - began
            print(f"followed: {(options.events - options.single) / followed:,.0f} events a second")
            lag = playbook.lag()
            print(
                f"lag while publishing: median {lag.lag_ms.median():,.0f} ms, at most {lag.lag_ms.max():,.0f} ms; "
                f"{lag.behind.max():,} records behind at most; at the end {playbook.standing().lag_ms[0]} ms"
            )
            print(f"a page: {lag.fold_ms.median():,.1f} ms of folds in the median, {lag.fold_ms.max():,.1f} at most")
            quiet = []
            for number in range(20):
                time.sleep(0.1)
                began = time.perf_counter()
                playbook.publish_event(event(options.events + number))
                while playbook.standing().folded[0] <= options.events + number:
                    time.sleep(0.001)
                quiet.append((time.perf_counter() - began) * 1_000)
            quiet.sort()
            print(f"a quiet playbook: an event is in the view after {quiet[10]:.0f} ms ({quiet[-1]:.0f} at most)")
        began = time.perf_counter()
        playbook.update_definition(type="recall", name="reviews", source=source + "\n")
        playbook.catch_up()
        took = time.perf_counter() - began
        print(f"rebuilt from the start: {options.events / took:,.0f} events a second")
    if not options.url:
        print(f"the file takes {Path(url.removeprefix('sqlite:///')).stat().st_size / 1e6:,.1f} MB")


if __name__ == "__main__":
    main()
