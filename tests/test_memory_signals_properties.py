"""Signals against a plain reading of their rules: random stores, claims, leases, expiries, revisions and polls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallkit.errors import Conflict, InvalidInput, NotFound
from recallkit.memory import Signals
from recallkit.memory.arguments import moment

NAMESPACES = ("global", "project:shop")
ACTORS = ("ann", "bob", "cy")
TAGS = ("deploy", "billing", "urgent")
WORDS = ("invoices", "deploys", "pool", "night")
STATUSES = ("pending", "claimed", "acknowledged", "expired")

times = st.integers(0, 40)
stores = st.fixed_dictionaries(
    {
        "do": st.just("store"),
        "namespace": st.sampled_from(NAMESPACES),
        "kind": st.sampled_from(("memory", "signal", "signal")),
        "text": st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
        "tags": st.lists(st.sampled_from(TAGS), max_size=2, unique=True),
        "actor": st.none() | st.sampled_from(ACTORS),
        "session_id": st.none() | st.sampled_from(("s1", "s2")),
        "correlation_id": st.none() | st.sampled_from(("c1", "c2")),
        "expires_at": st.none() | times,
    }
)
changes = st.fixed_dictionaries(
    {
        "do": st.sampled_from(("claim", "claim", "extend", "acknowledge", "forget", "revise")),
        "which": st.integers(0, 20),
        "actor": st.sampled_from(ACTORS),
        "lease": st.integers(1, 12),
        "text": st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    }
)
steps = st.lists(st.tuples(times, stores | changes), min_size=1, max_size=25)
requests = st.fixed_dictionaries(
    {
        "namespace": st.sampled_from(NAMESPACES),
        "query": st.sampled_from(("", "", "invoice", "pool night", "deploy")),
        "kind": st.none() | st.sampled_from(("memory", "signal")),
        "actor": st.none() | st.sampled_from(ACTORS),
        "limit": st.integers(1, 8),
        "tags_any": st.none() | st.lists(st.sampled_from(TAGS), min_size=1, max_size=2),
        "session_id": st.none() | st.just("s1"),
        "signal_status": st.none() | st.sampled_from(STATUSES),
        "correlation_id": st.none() | st.just("c1"),
    }
)


def status(entry: dict[str, Any], now: int) -> str:
    if entry.get("done"):
        return "acknowledged"
    if entry["expires_at"] is not None and entry["expires_at"] <= now:
        return "expired"
    return "claimed" if entry.get("until", -1) > now else "pending"


def play(
    signals: Any, script: list[tuple[int, dict[str, Any]]], entries: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Do the steps on the kit and on a list of plain entries, and see that both allow and refuse the same."""
    entries = [] if entries is None else entries
    for now, step in script:
        if step["do"] == "store":
            fields = {name: value for name, value in step.items() if name != "do"}
            entries.append({**fields, "id": signals.store(**fields, now=now)})
            continue
        if not entries:
            continue
        entry = entries[step["which"] % len(entries)]
        actor, lease, stands = step["actor"], step["lease"], status(entry, now)
        held = entry.get("holder") if stands == "claimed" else None
        gone = entry.get("forgotten", False)
        free = not gone and entry["kind"] == "signal" and stands in ("pending", "claimed") and held in (None, actor)
        match step["do"]:
            case "claim":
                refused = not free
                act = lambda: signals.claim(entry["id"], actor=actor, lease=lease / 1_000, now=now)  # noqa: E731, B023
            case "extend":
                refused = not (free and held == actor)
                act = lambda: signals.extend(entry["id"], actor=actor, lease=lease / 1_000, now=now)  # noqa: E731, B023
            case "acknowledge":
                again = not gone and entry.get("done") == actor
                refused = not free and not again
                act = lambda: signals.acknowledge(entry["id"], actor=actor, now=now)  # noqa: E731, B023
            case "revise":
                refused = gone
                act = lambda: signals.revise(entry["id"], text=step["text"], now=now)  # noqa: E731, B023
            case _:
                refused = gone
                act = lambda: signals.forget(entry["id"], now=now)  # noqa: E731, B023
        if refused:
            with pytest.raises((Conflict, NotFound, InvalidInput)):
                act()
            continue
        act()
        match step["do"]:
            case "claim":
                entry["holder"], entry["until"] = actor, now + lease
            case "extend":
                entry["until"] = max(entry["until"], now + lease)
            case "acknowledge":
                entry["done"] = actor
            case "revise":
                entry["text"] = step["text"]
            case "forget":
                entry["forgotten"] = True
    return entries


def expected(entries: list[dict[str, Any]], request: dict[str, Any], now: int, after: int | None) -> list[str]:
    found = []
    for place, entry in enumerate(entries):
        filters = (
            entry["namespace"] == request["namespace"],
            not entry.get("forgotten"),
            request["kind"] in (None, entry["kind"]),
            request["actor"] in (None, entry["actor"]),
            request["session_id"] in (None, entry["session_id"]),
            request["correlation_id"] in (None, entry["correlation_id"]),
            not request["tags_any"] or bool(set(request["tags_any"]) & set(entry["tags"])),
            request["signal_status"] is None
            or (entry["kind"] == "signal" and status(entry, now) == request["signal_status"]),
            # the words of this test differ from the query's by a plural s at most
            all(any(word.startswith(wanted) for word in entry["text"].split()) for wanted in request["query"].split()),
            after is None or place > after,
        )
        if all(filters):
            found.append(entry["id"])
    if after is None:
        found.reverse()
    return found[: request["limit"]]


@given(script=steps, request=requests, now=times)
def test_recall_is_the_plain_reading_of_the_filters(script: Any, request: Any, now: int) -> None:
    signals = Signals()
    entries = play(signals, script)
    if request["kind"] == "memory" and request["signal_status"]:
        with pytest.raises(InvalidInput):
            signals.recall(**request, now=now)
        return
    if request["namespace"] not in {entry["namespace"] for entry in entries}:
        with pytest.raises(NotFound):
            signals.recall(**request, now=now)
        return
    found = signals.recall(**request, now=now)
    assert found.ids == expected(entries, request, now, None)
    by_id = {entry["id"]: entry for entry in entries}
    for result in found.results:
        assert result["text"] == by_id[result["id"]]["text"]
        if result["kind"] == "signal":
            assert result["status"] == status(by_id[result["id"]], now)
    polls = request["kind"] == "signal" and not request["query"]
    newest = found.ids[0] if found.ids else None
    assert found.next_since == (newest if polls else None)

    before = found.to_dict()
    signals.drop_memo()
    assert signals.recall(**request, now=now).to_dict() == before
    again = Signals(signals.history())
    assert again.recall(**request, now=now).to_dict() == before


@given(script=steps, request=requests, cuts=st.lists(st.integers(0, 25), max_size=6), now=times)
def test_polling_has_no_gap_and_no_repeat(script: Any, request: Any, cuts: list[int], now: int) -> None:
    signals = Signals()
    first = {"do": "store", "namespace": "global", "kind": "signal", "text": "pool", "tags": [], "expires_at": None}
    first |= {"actor": None, "session_id": None, "correlation_id": None}
    other = {**first, "namespace": "project:shop"}
    ask = {**request, "kind": "signal", "query": "", "signal_status": None}
    anchors = [signals.store(**{k: v for k, v in each.items() if k != "do"}, now=0) for each in (first, other)]
    cursor = anchors[0 if request["namespace"] == "global" else 1]
    got: list[str] = []
    entries: list[dict[str, Any]] = []
    bounds = sorted({min(cut, len(script)) for cut in cuts} | {len(script)})
    at = 0
    for bound in bounds:
        # stores only: what is forgotten or revised between two polls is another matter than gaps
        part = [step for step in script[at:bound] if step[1]["do"] == "store"]
        at = bound
        entries += play(signals, part)
        for _ in range(200):
            page = signals.recall(**ask, since=cursor, now=now)
            got += page.ids
            assert page.next_since == (page.ids[-1] if page.ids else cursor)
            cursor = page.next_since
            if not page.ids:
                break
    whole = {**ask, "limit": 1_000}
    assert got == expected(entries, whole, now, -1)


@given(script=steps, request=requests, polls=st.lists(st.tuples(st.integers(0, 25), times), min_size=1, max_size=8))
@settings(max_examples=150)
def test_polling_between_claims_leases_and_expiries_repeats_nothing_and_skips_nothing(
    script: Any, request: Any, polls: list[tuple[int, int]]
) -> None:
    """A page at a time between all kinds of changes: each page is that of a plain reading, and together they hold
    every signal that matched from its storing on, once, in the order stored."""
    signals = Signals()
    ask = {**request, "kind": "signal", "query": ""}
    first = {"namespace": request["namespace"], "kind": "signal", "text": "pool"}
    cursor = signals.store(**first, now=0)
    # the anchor is no entry of the plain list: its place is before all of it
    entries: list[dict[str, Any]] = []
    after, at = -1, 0
    got: list[str] = []
    passed: set[str] = set()  # did not match when the cursor went by

    def poll(now: int) -> list[str]:
        nonlocal after, cursor
        page = signals.recall(**ask, since=cursor, now=now)
        assert page.ids == expected(entries, ask, now, after)
        assert page.next_since == (page.ids[-1] if page.ids else cursor)
        if page.ids:
            places = {entry["id"]: place for place, entry in enumerate(entries)}
            skipped = entries[after + 1 : places[page.ids[-1]]]
            passed.update(entry["id"] for entry in skipped if entry["id"] not in page.ids)
            after, cursor = places[page.ids[-1]], page.next_since
        return page.ids

    for bound, now in sorted(polls):
        play(signals, script[at:bound], entries)
        at = max(at, bound)
        got += poll(now)
    play(signals, script[at:], entries)
    last = polls[-1][1]
    while page := poll(last):
        got += page
    assert len(got) == len(set(got))
    order = [entry["id"] for entry in entries]
    assert got == sorted(got, key=order.index)
    # no gap: whatever matches now was told, or its status did not match when the cursor passed it by
    matching = set(expected(entries, {**ask, "limit": 1_000}, last, -1))
    assert matching <= set(got) | passed
    if ask["signal_status"] is None:
        # nothing but its status and its being forgotten ever changes of what the filters read
        assert matching <= set(got)


@given(script=steps, now=times)
@settings(max_examples=50)
def test_a_sweep_gives_all_that_waits(script: Any, now: int) -> None:
    signals = Signals()
    entries = play(signals, script)
    namespaces = {entry["namespace"] for entry in entries}
    for namespace in namespaces:
        waiting = [
            entry["id"]
            for entry in entries
            if entry["namespace"] == namespace
            and entry["kind"] == "signal"
            and not entry.get("forgotten")
            and status(entry, now) == "pending"
        ]
        assert signals.sweep(namespace=namespace, now=now).ids == waiting


def test_moments_of_the_scripts_are_milliseconds() -> None:
    assert moment("now", 40) == 40
