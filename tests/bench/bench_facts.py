"""How long facts take over 100,000 of them: ``python tests/bench/bench_facts.py [--facts N] [--url sqlite:///x.db]``.

Prints the time to read the commits and to settle them, the median and the 95th percentile of a recall once the index is
there (from few matching facts to all), of a recall in the past, of a write with the read that sees it, and of that read
beside a large commit that stays pending.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from recallkit.events.history import History
from recallkit.events.records import iso_ms
from recallkit.memory import Facts

START = 1_767_225_600_000
MINUTE = 60_000
TEXT = (
    "invoice pool token cache deploy review region index queue worker session tenant shard retry stream ledger audit "
    "report payload cursor replica bucket quota webhook night friday budget owner customer plan limit error timeout"
)
WORDS = TEXT.split()
PREDICATES = ("owner", "status", "limit", "region", "runbook", "note app")
PEOPLE = tuple(f"person{number}" for number in range(40))


def text_of(draw: random.Random, facts: int) -> str:
    """Write a file of some facts, about one service."""
    name = f"{draw.choice(WORDS)}-{draw.choice(WORDS)}-{draw.randrange(20_000)}"
    lines = [f"# {name}", ""]
    for number in range(facts):
        value = f"{draw.choice(WORDS)} {draw.choice(WORDS)} {draw.randrange(9_999)}"
        lines.append(f"- {name} – {draw.choice(PREDICATES)} {number}: {value}")
    return "\n".join(lines)


def commits(count: int, each: int, draw: random.Random) -> list[dict[str, Any]]:
    """Make commits, a tenth of them new versions of an earlier path and a tenth of few readers."""
    events = []
    paths: list[str] = []
    for number in range(count // each):
        again = paths and draw.random() < 0.1
        path = draw.choice(paths) if again else f"{draw.choice(WORDS)}/{number}.md"
        paths.append(path)
        data = {"space": "team", "path": path, "text": text_of(draw, each), "author": draw.choice(PEOPLE)}
        if draw.random() < 0.1:
            data["readers"] = [data["author"], draw.choice(PEOPLE)]
        events.append(
            {
                "id": f"c{number}",
                "source": "/bench",
                "type": "facts.committed",
                "specversion": "1.0",
                "time": iso_ms(START + number * MINUTE),
                "data": data,
            }
        )
    return events


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
        f"  {label:<56} median {statistics.median(taken):6.1f} ms   95% {taken[int(0.95 * len(taken))]:6.1f} ms"
        f"   processor {statistics.median(worked):5.1f} ms"
    )


def source(events: list[dict[str, Any]], url: str | None) -> Any:
    """Give a history of the events, or a playbook that they were published to."""
    if url is None:
        return History.from_events(events)
    import recallkit as rk

    playbook = rk.Playbook(url)
    begin = time.perf_counter()
    for event in events:
        playbook.publish_event(event)
    print(f"  publishing {len(events):,} commits: {time.perf_counter() - begin:.1f} s")
    return playbook


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=10, help="facts in a commit")
    parser.add_argument("--url", help="a new playbook's address; a history in memory when left out")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    print(f"{given.facts:,} facts in {given.facts // given.each:,} commits, seed {given.seed}")
    facts = Facts(source(commits(given.facts, given.each, draw), given.url))

    begin = time.perf_counter()
    facts.files("team", scope="invoice")
    print(f"  reading the commits: {time.perf_counter() - begin:.1f} s")
    begin, began = time.perf_counter(), time.process_time()
    facts.recall("team", "webhook 4711", caller="person1")
    took = f"{time.perf_counter() - begin:.2f} s ({time.process_time() - began:.2f} s of the processor)"
    print(f"  the first recall, settling what it needs: {took}")
    begin = time.perf_counter()
    settled = facts.settle()
    print(f"  settling the other {settled:,} commits: {time.perf_counter() - begin:.1f} s")

    def ask(query: Callable[[], str], **options: Any) -> Callable[[int], Any]:
        return lambda turn: facts.recall("team", query(), caller=draw.choice(PEOPLE), **options)

    def rare() -> str:
        return f"{draw.choice(WORDS)} {draw.randrange(9_999)}"

    def question() -> str:
        return (
            f"Which {draw.choice(WORDS)} {draw.choice(WORDS)} has the {draw.choice(WORDS)} {draw.choice(PREDICATES)}?"
        )

    middle = START + given.facts // given.each // 2 * MINUTE
    timed("recall, a word and a number", ask(rare), given.times)
    timed("recall, a question of four words", ask(question), given.times)
    timed("recall, the same with an answer", ask(question, synthesize=True), given.times)
    timed("recall as of half of the history", ask(question, as_of=middle), given.times)
    timed("recall under a scope", ask(question, scope="pool"), given.times)

    def write_and_read(turn: int) -> None:
        mark = f"mark{turn}x{draw.randrange(10**9)}"
        text = f"{text_of(draw, given.each)}\n- {mark} – owner: Ann"
        facts.commit(space="team", path=f"new/{turn}.md", text=text, author="ann")
        assert facts.recall("team", mark, caller="bob").results[0]["subject"] == mark

    def change_and_read(turn: int) -> None:
        text = f"- Beacon – colour: c{turn}x"
        facts.commit(space="team", path="beacon.md", text=text, author="ann")
        assert facts.recall("team", "beacon colour", caller="bob").results[0]["object"] == f"c{turn}x"

    timed("a write of a new file, then the read that sees it", write_and_read, given.times)
    timed("a new version of one file, then the read that sees it", change_and_read, given.times)
    for number in range(20):
        large = "\n".join(f"Cargo – bale {number} {line}: heavy" for line in range(1_800))
        facts.commit(space="team", path=f"bulk/{number}.md", text=large, author="ann")
    timed("the same beside 36,000 facts that stay pending", change_and_read, given.times)


if __name__ == "__main__":
    main()
