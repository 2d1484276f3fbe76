"""How long the recall systems of memory take over 100,000 entries: ``python tests/bench/bench_memory.py [--count N]``.

Prints the time to build the index, the median and the 95th percentile of a recall once it is there, and of a write with
the read that sees it. With ``--url`` the same on a playbook.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from recallkit.memory import MemoryLog, Signals, TeamMemory

WORD_LIST = (
    "invoice pool token cache deploy review region index queue worker session tenant shard retry stream ledger audit "
    "report payload cursor replica bucket quota webhook night friday budget owner customer plan limit error timeout"
)
WORDS = WORD_LIST.split()


# Beside those, words as rare as a team's are: 20,000, the n-th drawn as 1/n.
PAIRS = [f"{first}{second}" for first in WORDS[:32] for second in WORDS[:32]]
RARE = [f"{pair}{number}" for number in range(20) for pair in PAIRS][:20_000]
WEIGHTS = [1 / place for place in range(1, len(RARE) + 1)]


def sentence(draw: random.Random) -> str:
    """Make a text of a memory's length."""
    rare = f"{draw.choice(WORDS)}_{draw.choice(WORDS)}_{draw.randrange(5_000)}"
    words = f"{' '.join(draw.choices(RARE, WEIGHTS, k=12))} {draw.choice(WORDS)}"
    return f"The {words} of {draw.choice(WORDS)}{draw.randrange(9_999)} uses {rare}."


def timed(label: str, act: Callable[[int], Any], times: int) -> None:
    """Print the median and the 95th percentile of an act, and its median on the processor, whatever else runs."""
    taken, worked = [], []
    for turn in range(times):
        begin, began = time.perf_counter(), time.process_time()
        act(turn)
        taken.append((time.perf_counter() - begin) * 1_000)
        worked.append((time.process_time() - began) * 1_000)
    taken.sort()
    print(
        f"  {label:<44} median {statistics.median(taken):7.1f} ms   95% {taken[int(0.95 * len(taken))]:7.1f} ms"
        f"   processor {statistics.median(worked):6.1f} ms"
    )


def filled(count: int, url: str | None, system: str, draw: random.Random) -> Any:
    """Give a source that holds so many entries."""
    events = []
    for number in range(count):
        data: dict[str, Any] = {"text": sentence(draw)}
        if system == "team":
            data |= {"author": f"user{number % 50}", "visibility": "private" if number % 10 == 0 else "shared"}
        else:
            data |= {"namespace": f"project:{number % 20}", "kind": "signal", "actor": f"a{number % 50}"}
            data |= {"tags": [WORDS[number % 20]]}
        kind = "team.remembered" if system == "team" else "signals.stored"
        event = {
            "id": f"{system}{number}",
            "type": kind,
            "source": "/bench",
            "time": "2026-01-01T00:00:00Z",
            "data": data,
        }
        events.append(event)
    if url is None:
        log = MemoryLog()
        for event in events:
            log.publish({"specversion": "1.0", **event})
        return log
    import recallkit as rk

    playbook = rk.Playbook(url)
    for begin in range(0, count, 5_000):
        playbook.publish_events(events[begin : begin + 5_000])
    return playbook


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--url", help="a playbook that is not there yet; in memory when left out")
    given = parser.parse_args()
    draw = random.Random(1)

    for system, run in (("team", run_team), ("signals", run_signals)):
        source = filled(given.count, given.url, system, draw)
        print(f"{system}: {given.count:,} entries, {'in memory' if given.url is None else given.url.split('://')[0]}")
        run(source, draw, given.times)


def run_team(source: Any, draw: random.Random, times: int) -> None:
    """Measure team memory."""
    begin = time.perf_counter()
    team = TeamMemory(source)
    team.recall("invoice", caller="user1")
    print(f"  index built in {time.perf_counter() - begin:.1f} s")
    timed("recall of a question", lambda _: team.recall(sentence(draw)[:60], caller="user1"), times)
    timed("recall of an identifier", lambda _: team.recall(sentence(draw).split()[-1], caller="user1"), times)

    def write_read(turn: int) -> None:
        id = team.remember(f"note_{turn}_of_the_bench", author="user1")
        assert team.recall(f"note_{turn}_of_the_bench", caller="user2").ids[0] == id

    timed("write", lambda turn: team.remember(f"plain {turn}", author="user1"), times)
    timed("write, then the read that sees it", write_read, times)


def run_signals(source: Any, draw: random.Random, times: int) -> None:
    """Measure signals."""
    begin = time.perf_counter()
    signals = Signals(source)
    cursor = signals.recall(namespace="project:1", kind="signal").next_since
    print(f"  index built in {time.perf_counter() - begin:.1f} s")
    timed("poll", lambda _: signals.recall(namespace="project:1", kind="signal", since=cursor), times)
    timed("recall by tag", lambda _: signals.recall(namespace="project:1", tags_any=["pool"]), times)
    timed(
        "recall by words", lambda _: signals.recall(namespace="project:1", query=" ".join(draw.sample(WORDS, 2))), times
    )

    def store_poll(turn: int) -> None:
        id = signals.store(namespace="project:1", kind="signal", text=f"note {turn}")
        assert id in signals.recall(namespace="project:1", kind="signal", since=cursor, limit=100).ids

    timed("write, then the read that sees it", store_poll, times)


if __name__ == "__main__":
    main()
