"""Facts against a plain reading of their rules: commits, corrections, readers, moments, orders of settling."""

from __future__ import annotations

import json
from typing import Any

import pytest
from facts_reading import (
    DAY,
    OBJECTS,
    PATHS,
    PEOPLE,
    START,
    SUBJECTS,
    Reading,
    commits,
    plain,
    removals,
    steps,
    steps_with_shares,
    told,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import recallkit.memory.facts as face
from recallkit.errors import NotFound
from recallkit.events.history import History
from recallkit.memory import Facts
from recallkit.memory.arguments import iso
from recallkit.memory.facts_extract import Markdown

END = START + 1_000 * DAY
words = st.lists(st.sampled_from([word.lower() for word in (*SUBJECTS, *OBJECTS)]), min_size=1, max_size=3, unique=True)
callers = st.none() | st.sampled_from(PEOPLE)
scopes = st.none() | st.sampled_from(("ann", "bob", "annex", "ann/a.md"))
gaps = st.lists(st.sampled_from((0, DAY, DAY, 40 * DAY)), min_size=14, max_size=14)


def timed(done: list[dict[str, Any]], between: list[int]) -> list[tuple[int, dict[str, Any]]]:
    now, result = START, []
    for step, gap in zip(done, between, strict=False):
        now += gap
        result.append((now, step))
    return result


def recall(facts: Facts, query: list[str], **options: Any) -> Any:
    """Recall, or None where nothing may be read."""
    try:
        return facts.recall("team", " ".join(query), **options)
    except NotFound:
        return None


def output(found: Any) -> str | None:
    return None if found is None else json.dumps([found.results, found.left_out, found.answer])


quiet = st.lists(commits | commits | removals, min_size=1, max_size=14)


@settings(max_examples=50)
@given(quiet, gaps, words, callers, scopes, st.booleans())
def test_a_recall_gives_what_a_plain_reading_gives(
    done: list[dict[str, Any]], between: list[int], query: list[str], caller: str | None, scope: str | None, one: bool
) -> None:
    history = timed(done, between)
    single = ("tool",) if one else ()
    facts = Facts(extract=Markdown(single=single))
    history = write(facts, history)
    found = recall(facts, query, caller=caller, scope=scope, now=END)
    expected = Reading(history, single).recall(query, caller, scope)
    assert plain(found.results if found else []) == told(expected)
    # Settling everything changes nothing.
    facts.settle()
    again = recall(facts, query, caller=caller, scope=scope, now=END)
    assert output(again) == output(found)
    if found:
        assert again.notes["settled"] == 0


@settings(max_examples=50)
@given(steps_with_shares, gaps, callers)
def test_the_graph_is_that_of_a_plain_reading_whoever_asked_before(
    done: list[dict[str, Any]], between: list[int], caller: str | None
) -> None:
    history = timed(done, between)
    facts = Facts()
    history = write(facts, history)
    expected = sorted(told(Reading(history).seen(caller)), key=str)
    try:
        found = facts.graph("team", caller=caller, now=END, include_archived=True).results
    except NotFound:
        found = []
    assert sorted(plain(found), key=str) == expected


@settings(max_examples=50)
@given(
    steps,
    gaps,
    st.lists(st.tuples(words, callers, scopes), max_size=6),
    st.lists(st.integers(0, 13), max_size=4),
    words,
    callers,
)
def test_any_order_of_settling_gives_the_same(
    done: list[dict[str, Any]],
    between: list[int],
    asked: list[tuple[list[str], str | None, str | None]],
    early: list[int],
    query: list[str],
    caller: str | None,
) -> None:
    history = timed(done, between)
    facts = Facts(extract=Markdown(single=("colour",)))
    for place, step in enumerate(history):
        write(facts, [step])
        if place in early and place < len(asked):
            recall(facts, asked[place][0], caller=asked[place][1], scope=asked[place][2], now=END)
    for each, who, scope in asked:
        recall(facts, each, caller=who, scope=scope, now=END)
    fresh = Facts(facts.log, extract=Markdown(single=("colour",)))
    fresh.settle()
    assert output(recall(facts, query, caller=caller, now=END)) == output(recall(fresh, query, caller=caller, now=END))
    facts.settle()
    for who in (*PEOPLE, None):
        try:
            expected = fresh.graph("team", caller=who, now=END).results
        except NotFound:
            continue
        assert facts.graph("team", caller=who, now=END).results == expected


@settings(max_examples=50)
@given(steps, st.lists(st.integers(-2, 3), min_size=14, max_size=14), words, callers, st.integers(-1, 20), scopes)
def test_as_of_is_the_history_cut_there(
    done: list[dict[str, Any]], days: list[int], query: list[str], caller: str | None, at: int, scope: str | None
) -> None:
    # Clocks may go back: then the cut is of the events whose time is not after the moment.
    history = timed(done, [day * DAY for day in days])
    facts = Facts()
    write(facts, history)
    then = START + at * DAY
    found = recall(facts, query, caller=caller, as_of=then, scope=scope, synthesize=True, now=END)
    events = [event for event in facts.history() if event["time"] <= str(iso(then))]
    cut = recall(Facts(History.from_events(events)), query, caller=caller, scope=scope, synthesize=True, now=then)
    if cut is None:
        assert found is None or not found.results
    else:
        assert output(found) == output(cut)
    archived = recall(
        facts, query, caller=caller, as_of=then, scope=scope, include_archived=True, synthesize=True, now=END
    )
    assert output(archived) == output(found)


plants = st.lists(
    st.tuples(
        st.integers(0, 13),
        st.sampled_from((*PATHS, "new/z.md")),
        st.lists(
            st.tuples(
                st.sampled_from(SUBJECTS), st.sampled_from(("tool", "colour")), st.sampled_from((*OBJECTS, "anvil"))
            )
        ),
        st.sampled_from(((), ("bob",))),
        st.integers(-30, 30),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=50)
@given(
    steps, gaps, plants, words, st.sampled_from((None, "ann")), scopes, st.none() | st.integers(0, 60), st.booleans()
)
def test_planted_facts_that_the_caller_may_not_read_change_no_byte(
    done: list[dict[str, Any]],
    between: list[int],
    planted: list[Any],
    query: list[str],
    caller: str | None,
    scope: str | None,
    at: int | None,
    one: bool,
) -> None:
    history = timed([step for step in done if step["do"] in ("commit", "remove")], between)
    extract = Markdown(single=("tool",) if one else ())
    clean, full = Facts(extract=extract), Facts(extract=extract)
    for place, (now, step) in enumerate(history):
        for where, path, said, others, days in planted:
            if where == place:
                text = "\n".join(f"{s} – {p}: {o}" for s, p, o in said) or "Nothing."
                moment = now + days * DAY
                full.commit(space="team", path=path, text=text, author="mallory", readers=list(others), now=moment)
        for done_step in write(clean, [(now, step)]):
            write(full, [done_step])
    options: dict[str, Any] = {"caller": caller, "scope": scope, "synthesize": True, "now": END}
    if at is not None:
        options["as_of"] = START + at * DAY
    for _ in range(2):
        one_found, other_found = recall(clean, query, **options), recall(full, query, **options)
        assert output(one_found) == output(other_found)
        assert repr(one_found) == repr(other_found)
        if one_found is not None:
            assert one_found._repr_html_() == other_found._repr_html_()
    try:
        expected = clean.graph("team", caller=caller, scope=scope, now=END)
    except NotFound:
        with pytest.raises(NotFound):
            full.graph("team", caller=caller, scope=scope, now=END)
        return
    assert full.graph("team", caller=caller, scope=scope, now=END).results == expected.results
    mapped = [facts.files("team", caller=caller, scope=scope, now=END).results for facts in (clean, full)]
    assert mapped[0] == mapped[1]


@settings(max_examples=40)
@given(steps_with_shares, gaps, words, callers)
def test_ranking_and_synthesis_receive_only_what_the_caller_may_read(
    done: list[dict[str, Any]], between: list[int], query: list[str], caller: str | None
) -> None:
    history = timed(done, between)
    given_to: list[Any] = []
    facts = Facts(synthesize=lambda words, found: given_to.append([words, found]) or "said")
    history = write(facts, history)
    allowed = told(Reading(history).seen(caller))
    ranked: list[Any] = []
    real = face.facts_query.rank

    def spy(fold: Any, space: Any, found: Any, *rest: Any) -> Any:
        numbers = {int(number) for rows in (found.numbers, *found.by_word, *found.by_literal) for number in rows}
        ranked.extend(face.facts_query.as_result(fold, space.rows[number], rest[1]) for number in numbers)
        return real(fold, space, found, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(face.facts_query, "rank", spy)
        found = recall(facts, query, caller=caller, synthesize=True, now=END)
    assert all(each in allowed for each in plain(ranked))
    if found is not None:
        assert found.answer == "said"
        assert plain(given_to[0][1]) == plain(found.results)
        assert all(each in allowed for each in plain(given_to[0][1]))
