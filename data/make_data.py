"""Makes the small histories beside it, and their MANIFEST: ``python data/make_data.py [FOLDER]``.

Everything is made up and drawn from seeds, so each run writes the same events. Nothing here is recorded from anyone.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class Clock:
    """A clock that only goes forward, and ids whose order is that of time."""

    def __init__(self, seed: int, start: datetime) -> None:
        self.random = random.Random(seed)
        self.now = start

    def later(self, least_ms: int, most_ms: int) -> str:
        self.now += timedelta(milliseconds=self.random.randint(least_ms, most_ms))
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z"

    def uuid7(self) -> str:
        milliseconds = int(self.now.timestamp() * 1000)
        drawn = self.random.getrandbits(74)
        number = milliseconds << 80 | 0x7 << 76 | (drawn >> 62) << 64 | 0b10 << 62 | drawn & (1 << 62) - 1
        return str(uuid.UUID(int=number))


def three_reviews() -> Iterator[Event]:
    """The three runs that give the recall function format's example view."""
    told = [
        ("71", "2026-09-30T14:02:11.000Z", "autumn-launch", "approve"),
        ("72", "2026-10-01T09:15:42.000Z", "spring-sale", "reject: the budget is not stated"),
        ("73", "2026-10-03T16:40:05.000Z", "spring-sale", "approve"),
    ]
    for tail, time, campaign, verdict in told:
        yield {
            "specversion": "1.0",
            "id": f"0199a3c4-7d2e-7c1a-9b3f-3f1e0d9c8b{tail}",
            "type": "run_succeeded",
            "source": f"/runs/0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b{tail}",
            "subject": "reasoning/review-brief",
            "time": time,
            "caller": "user-1",
            "definitionversion": 1,
            "data": {"output": {"campaign": campaign, "verdict": verdict}},
        }


CAMPAIGNS = ["spring-sale", "summer-launch", "autumn-launch", "winter-fair", "newsletter", "referral", "app-install"]
VERDICTS = ["approve", "approve", "reject: the budget is not stated", "reject: no owner", "reject: the dates overlap"]

# What a model may return although nobody asked for it: the fold has to take each of them.
AWKWARD: list[dict[str, Any]] = [
    {"output": "The brief looks fine to me."},
    {"output": ["spring-sale", "approve"]},
    {"output": None},
    {"output": {"campaign": 2026, "verdict": "approve"}},
    {"output": {"campaign": "spring-sale"}},
    {"output": {"campaign": "spring-sale", "verdict": 0.75}},
    {"output": {"campaign": "newsletter", "verdict": {"approve": False, "why": ["no owner", "no dates"]}}},
    {"output_bytes": 268_435},
    {"output": {"campaign": "constructor", "verdict": "approve"}},
    {"output": {"campaign": "__proto__", "verdict": "reject: no owner"}},
    {"output": {"campaign": "toString", "verdict": "approve"}},
    {"output": {"campaign": "été à la plage 🏖️", "verdict": "approve ✅"}},
    {"output": {"campaign": "a-name-longer-than-any-view-keeps-" * 4, "verdict": "reject: " + "too long; " * 12}},
]


def campaign_reviews(count: int = 300) -> Iterator[Event]:
    """A quarter of a marketing team's playbook: runs, definitions and published events, as a fold sees them."""
    clock = Clock(2026, datetime(2026, 7, 1, 8, tzinfo=UTC))
    draw = clock.random
    awkward = iter(AWKWARD)
    versions: dict[str, int] = {}
    events: list[Event] = []

    def record(type: str, source: str, subject: str | None = None, data: Any = None, **more: Any) -> Event:
        event: Event = {"specversion": "1.0", "id": "", "type": type, "source": source}
        if subject is not None:
            event["subject"] = subject
        event["time"] = clock.later(200, 4_000) if type.startswith("run_") else clock.later(60_000, 900_000)
        event["id"] = clock.uuid7()
        event |= {name: value for name, value in more.items() if value is not None}
        if data is not None:
            event |= {"datacontenttype": "application/json", "data": data}
        events.append(event)
        return event

    def define(name: str, type: str = "definition_created") -> None:
        versions[name] = versions.get(name, 0) + (type != "definition_retired")
        record(type, f"/definitions/{name}", caller="ana", definitionversion=versions[name])

    def run(name: str, ending: str, data: Any = None, **how: Any) -> None:
        clock.later(1_800_000, 18_000_000)
        source = f"/runs/{clock.uuid7()}"
        how = {"caller": draw.choice(["ana", "ben", "chloe"]), **how, "definitionversion": versions[name]}
        started = record("run_started", source, name, **how)
        how |= {"causationid": started["id"], "correlationid": how.get("correlationid", started["id"])}
        record(ending, source, name, data, **how)

    for name in ("reasoning/review-brief", "reasoning/post-announcement", "computation/campaign-pace"):
        define(name)
    define("recall/campaign-reviews")
    while len(events) < count:
        kind = draw.random()
        campaign = draw.choice(CAMPAIGNS)
        if kind < 0.52:
            given = next(awkward, None) if draw.random() < 0.3 else None
            verdict = draw.choice(VERDICTS)
            run(
                "reasoning/review-brief",
                "run_succeeded",
                given or {"output": {"campaign": campaign, "verdict": verdict}},
            )
        elif kind < 0.58:
            run("reasoning/review-brief", "run_failed")
        elif kind < 0.66:
            run("reasoning/review-brief", "run_rejected", {"reason": "conflict", "kind": "unworkable"})
        elif kind < 0.74:
            text = f"{campaign} is live: " + "come and see. " * draw.randint(1, 9)
            brief = record(
                "com.example.brief.submitted",
                "https://briefs.example.com/inbox",
                campaign,
                {"campaign": campaign, "pages": draw.randint(1, 12)},
            )
            run(
                "reasoning/post-announcement",
                "run_succeeded",
                {"output": {"campaign": campaign, "posted": text}},
                caller="playbook:marketing",
                depth=1,
                triggerkind="event",
                triggerreference="/on/0",
                causationid=brief["id"],
                correlationid=brief["id"],
            )
        elif kind < 0.84:
            run(
                "computation/campaign-pace",
                "run_succeeded",
                {"output": {"campaigns": [], "total_spend_cents": draw.randint(0, 4_000_000)}},
                caller="playbook:marketing",
                calldepth=1,
                calledby=clock.uuid7(),
            )
        elif kind < 0.96:
            revenue = {"campaign": campaign, "revenue": draw.randint(0, 20_000) / 100, "currency": "EUR"}
            record("com.example.revenue.reported", "https://shop.example.com/reports", campaign, revenue, region="eu")
        else:
            define("reasoning/review-brief", "definition_updated")
    define("reasoning/post-announcement", "definition_retired")
    yield from events


FLIGHTS = ["HX101", "HX204", "HX330", "HX417"]
TOOLS = {
    "find_booking": lambda draw: {"booking": f"B{draw.randint(1000, 9999)}", "flight": draw.choice(FLIGHTS)},
    "list_seats": lambda draw: {"free": sorted(draw.sample(["1A", "2C", "7F", "12D", "14A"], draw.randint(0, 4)))},
    "change_seat": lambda draw: {"changed": draw.random() < 0.7},
    "refund": lambda draw: {"refunded_cents": draw.randint(1_000, 90_000)},
}


def agent_runs(runs: int = 40) -> Iterator[Event]:
    """An agent at a made-up airline's desk: messages, tool calls and their answers, and a reward at each run's end."""
    clock = Clock(7, datetime(2026, 5, 4, 9, tzinfo=UTC))
    draw = clock.random
    for number in range(runs):
        steps = 0

        def record(type: str, data: Any, subject: str = f"run-{number:03d}") -> Event:
            nonlocal steps
            steps += 1
            return {
                "specversion": "1.0",
                "id": f"{subject}-{steps:02d}",
                "type": f"com.example.agent.{type}",
                "source": "https://desk.example.com/agent",
                "subject": subject,
                "time": clock.later(300, 9_000),
                "datacontenttype": "application/json",
                "data": data,
            }

        yield record("run.started", {"task": draw.choice(["seat", "refund", "booking"]), "model": "model-a"})
        yield record("message.user", {"content": draw.choice(["I need another seat.", "Please cancel my flight."])})
        for _ in range(draw.randint(1, 6)):
            tool = draw.choice(sorted(TOOLS))
            call = f"call-{number:03d}-{steps:02d}"
            yield record("tool.called", {"call": call, "tool": tool, "arguments": {"flight": draw.choice(FLIGHTS)}})
            if draw.random() < 0.12:
                yield record("tool.failed", {"call": call, "tool": tool, "error": "no answer within 5 seconds"})
            else:
                yield record("tool.answered", {"call": call, "tool": tool, "answer": TOOLS[tool](draw)})
        tokens = {"input_tokens": draw.randint(400, 6_000), "output_tokens": draw.randint(30, 700)}
        yield record("message.assistant", {"content": "Is there anything else?", **tokens})
        yield record("run.ended", {"reward": int(draw.random() < 0.45)})


TYPED = """# Notes on a view

A view is what is left of a history when it has been folded.
It holds no more than it must: the last reviews, the count of refusals,
the name of the person who asked — and never the whole story.

* An event arrives, and the fold answers with the next view.
* The same history folds to the same view, here and anywhere else.
* Where the fold cannot go on, the view stands still and says why.

À bientôt; the next page is about time.
"""


def typing() -> Iterator[Event]:
    """A person typing a page, with slips that are taken back: patches of [position, characters deleted, text inserted].

    Every character is one UTF-16 unit, so that a position means the same however characters are counted.
    """
    clock = Clock(11, datetime(2026, 3, 2, 10, tzinfo=UTC))
    draw = clock.random
    number = 0

    def record(*patches: list[Any]) -> Event:
        nonlocal number
        number += 1
        return {
            "specversion": "1.0",
            "id": str(number),
            "type": "com.example.text.edited",
            "source": "https://editor.example.com/page-1",
            "subject": "page-1",
            "time": clock.later(60, 900),
            "datacontenttype": "application/json",
            "data": {"patches": list(patches)},
        }

    lines = TYPED.splitlines(keepends=True)
    yield record([0, 0, lines[0]])
    # The last line is written before those in the middle, so that positions do not only grow.
    yield record([len(lines[0]), 0, lines[-1]])
    at = len(lines[0])
    for character in "".join(lines[1:-1]):
        if draw.random() < 0.06:
            slip = draw.choice("qxzjvk")
            yield record([at, 0, slip])
            if draw.random() < 0.5:
                yield record([at, 1, ""])
                yield record([at, 0, character])
            else:
                yield record([at, 1, ""], [at, 0, character])
        else:
            yield record([at, 0, character])
        at += 1


def as_lines(events: Iterator[Event]) -> bytes:
    return "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events).encode()


def make(folder: Path) -> None:
    """Write every history and the manifest into a folder."""
    histories = {
        "agent-runs.jsonl.gz": (agent_runs, 7),
        "campaign-reviews.jsonl": (campaign_reviews, 2026),
        "three-reviews.jsonl": (three_reviews, None),
        "typing.jsonl.gz": (typing, 11),
    }
    manifest = []
    for name, (maker, seed) in histories.items():
        text = as_lines(maker())
        # No name and no time in the gzip header. Compressed bytes still differ between builds of zlib, so the
        # manifest tells the hash of the text.
        stored = gzip.compress(text, 9, mtime=0) if name.endswith(".gz") else text
        (folder / name).write_bytes(stored)
        manifest.append(
            {
                "file": name,
                "sha256": hashlib.sha256(text).hexdigest(),
                "sha256_of": "the text, uncompressed" if name.endswith(".gz") else "the file",
                "events": text.count(b"\n"),
                "origin": f"made up by make_data.py ({maker.__name__}, "
                + (f"seed {seed})" if seed is not None else "from the recall function format's example)"),
                "what": (maker.__doc__ or "").partition("\n")[0],
            }
        )
    (folder / "typing.expected.txt").write_bytes(TYPED.encode())
    manifest.append(
        {
            "file": "typing.expected.txt",
            "sha256": hashlib.sha256(TYPED.encode()).hexdigest(),
            "sha256_of": "the file",
            "events": None,
            "origin": "made up by make_data.py (TYPED)",
            "what": "The text that the patches of typing.jsonl.gz add up to.",
        }
    )
    told = json.dumps({"files": manifest}, indent=2, ensure_ascii=False) + "\n"
    (folder / "MANIFEST.json").write_text(told, encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
