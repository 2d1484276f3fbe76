"""A plain reading of the rules of facts, in lists and loops, for the property tests to compare with."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from recallkit.errors import NotFound
from recallkit.memory import Facts

PEOPLE = ("ann", "bob", "cy")
PATHS = ("ann/a.md", "ann/b.md", "bob/a.md", "annex/a.md")
SUBJECTS = ("Kiwi", "Plum")
PREDICATES = ("tool", "colour")
OBJECTS = ("red", "blue", "hammer", "wrench")
START = 1_767_225_600_000
DAY = 86_400_000

statements = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(PREDICATES), st.sampled_from(OBJECTS))
readers = st.none() | st.lists(st.sampled_from(PEOPLE), max_size=2, unique=True)
commits = st.fixed_dictionaries(
    {
        "do": st.just("commit"),
        "path": st.sampled_from(PATHS),
        "facts": st.lists(statements, max_size=3, unique=True),
        "author": st.sampled_from(PEOPLE),
        "readers": readers,
        "correction": st.sampled_from((False, False, True)),
    }
)
removals = st.fixed_dictionaries(
    {"do": st.just("remove"), "path": st.sampled_from(PATHS), "author": st.sampled_from(PEOPLE), "readers": readers}
)
tunings = st.fixed_dictionaries(
    {"do": st.sampled_from(("pin", "unpin", "forget", "restore_fact", "access")), "which": st.integers(0, 9)}
)
shares = st.fixed_dictionaries(
    {
        "do": st.just("set_readers"),
        "path": st.sampled_from(PATHS),
        "author": st.sampled_from(PEOPLE),
        "readers": readers,
    }
)
steps = st.lists(commits | commits | commits | removals | tunings, min_size=1, max_size=14)
steps_with_shares = st.lists(commits | commits | commits | removals | tunings | shares, min_size=1, max_size=14)


def text_of(step: dict[str, Any]) -> str:
    """Write a commit's statements as lines, below a line that states nothing."""
    return "\n".join(["Nothing.", *(f"- {s} – {p}: {o}" for s, p, o in step["facts"])])


def everyone(step: dict[str, Any]) -> frozenset[str] | None:
    return None if step["readers"] is None else frozenset({*step["readers"], step["author"]})


def covers(wide: frozenset[str] | None, narrow: frozenset[str] | None) -> bool:
    return wide is None or (narrow is not None and narrow <= wide)


def write(facts: Facts, steps: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """Carry steps out, and give those that could be: some name a fact or a file that is not there."""
    done = []
    for now, step in steps:
        options = {name: value for name, value in step.items() if name not in ("do", "facts", "which")}
        try:
            if step["do"] == "commit":
                facts.commit(space="team", text=text_of(step), now=now, **options)
            elif step["do"] in ("remove", "set_readers"):
                getattr(facts, step["do"])(space="team", now=now, **options)
            else:
                ids = known(facts)
                if not ids:
                    continue
                getattr(facts, step["do"])(ids[step["which"] % len(ids)], now=now)
        except NotFound:
            continue
        done.append((now, step))
    return done


def known(facts: Facts) -> list[str]:
    """Give the ids of all facts that were ever recorded; nothing is settled in `facts` for it."""
    other = Facts(facts.log, extract=facts._settler.extract)
    other.settle()
    return sorted(id for space in other._caught_up().spaces.values() for id in space.by_id)


class Reading:
    """The state after some steps."""

    def __init__(self, done: list[tuple[int, dict[str, Any]]], single: tuple[str, ...] = ()) -> None:
        self.facts: list[dict[str, Any]] = []
        self.commits: list[dict[str, Any]] = []
        for place, (now, step) in enumerate(done):
            if step["do"] in ("commit", "remove"):
                self._commit(place, now, step, single)
            elif step["do"] == "set_readers":
                for fact in self.facts:
                    if fact["path"] == step["path"]:
                        fact["today"] = everyone(step)

    def _commit(self, place: int, now: int, step: dict[str, Any], single: tuple[str, ...]) -> None:
        stamp = everyone(step)
        version = 1 + sum(each["path"] == step["path"] and covers(each["stamp"], stamp) for each in self.commits)
        self.commits.append({"path": step["path"], "stamp": stamp})
        stated = list(step.get("facts", ()))
        live = [fact for fact in self.facts if fact["path"] == step["path"] and fact["stated"]]
        news = [
            said for said in stated if not any(fact["said"] == said and covers(fact["stamp"], stamp) for fact in live)
        ]
        made = []
        for said in news:
            made.append(
                {
                    "said": said,
                    "path": step["path"],
                    "version": version,
                    "place": place,
                    "line": 2 + stated.index(said),
                    "stamp": stamp,
                    "today": stamp,
                    "stated": True,
                    "closed": None,
                    "valid": (now, None),
                    "recorded": now,
                    "past": False,
                }
            )
        for fact in live:
            if (fact["said"] in stated and covers(fact["stamp"], stamp)) or not covers(stamp, fact["stamp"]):
                continue
            fact["stated"] = False
            known = {
                each["said"][2]
                for each in live
                if each["said"][:2] == fact["said"][:2] and covers(each["stamp"], fact["stamp"])
            }
            changed = any(new["said"][:2] == fact["said"][:2] and new["said"][2] not in known for new in made)
            self._close(fact, now, changed and not step.get("correction", False))
        for new in made:
            if new["said"][1] in single:
                for fact in list(self.facts):
                    same = fact["said"][:2] == new["said"][:2] and fact["said"][2] != new["said"][2]
                    if same and not fact["past"] and fact["path"] != new["path"] and covers(stamp, fact["stamp"]):
                        self._close(fact, now, not step["correction"])
        self.facts += made

    def _close(self, fact: dict[str, Any], now: int, changed: bool) -> None:
        if fact["closed"] is not None:
            return
        fact["closed"] = now
        if changed and now > fact["valid"][0]:
            self.facts.append(
                {
                    **fact,
                    "stated": False,
                    "closed": None,
                    "valid": (fact["valid"][0], now),
                    "recorded": now,
                    "past": True,
                }
            )

    def seen(self, caller: str | None, scope: str | None = None) -> list[dict[str, Any]]:
        """Give the facts that are believed and that the caller may read."""
        return [
            fact
            for fact in self.facts
            if fact["closed"] is None
            and (fact["today"] is None or (caller is not None and caller in fact["today"]))
            and (scope is None or fact["path"] == scope or fact["path"].startswith(scope + "/"))
        ]

    def recall(self, words: list[str], caller: str | None, scope: str | None = None) -> list[dict[str, Any]]:
        """Give those that have a word of the query, in order, without regard to salience."""
        found = []
        for fact in self.seen(caller, scope):
            has = {word for word in words if word in {part.lower() for part in fact["said"]}}
            if has:
                found.append((fact, has))
        total = len(found)
        scored = []
        for fact, has in found:
            score = 0.0
            for word in dict.fromkeys(words):
                count = sum(word in others for _, others in found)
                if word in has:
                    score += math.log(1 + (total - count + 0.5) / (count + 0.5))
            scored.append((-round(score, 6), -fact["place"], fact["line"], fact))
        scored.sort(key=lambda each: each[:3])
        return [fact for *_, fact in scored]


def plain(results: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Give of each result what the plain reading knows."""
    return [
        (
            (fact["subject"], fact["predicate"], fact["object"]),
            fact["citation"]["path"],
            fact["citation"]["version"],
            fact["citation"]["lineStart"],
            (fact["validTime"]["from"], fact["validTime"]["to"]),
            fact["recordedTime"]["from"],
            fact["recordedTime"]["to"],
        )
        for fact in results
    ]


def told(facts: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Give the same of the plain reading's facts."""
    return [
        (fact["said"], fact["path"], fact["version"], fact["line"], fact["valid"], fact["recorded"], None)
        for fact in facts
    ]
