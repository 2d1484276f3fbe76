"""Seeking: the view after any number of events is the one that folding so many gives, and its patch leads to it."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_documents import events, recall

import recallkit as rk
from recallkit.views import timeline

# Keeps several kinds of value: a list that slides, members that come and go, a text, a number.
KEEPS = recall(
    """type Kept = { list: Json[]; by: { [name: string]: Json }; text: string; n: number };
export function fold(view: View, event: Event): View {
  const kept = view as unknown as Kept;
  const data = Number(event.data);
  if (data < 0) throw new Error('negative');
  const added = { ...kept.by, [`k/${data % 7}~`]: [data, { at: event.time ?? null }] };
  const by = Object.fromEntries(Object.entries(added).slice(-4));
  return {
    list: [...kept.list, data].slice(-6),
    by: data % 5 === 0 ? {} : by,
    text: (kept.text + String.fromCharCode(97 + (data % 26))).slice(-12),
    n: kept.n + data,
  } as unknown as View;
}""",
    initial={"list": [], "by": {}, "text": "", "n": 0},
)


def apply(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Apply a JSON Patch (RFC 6902: add, remove, replace) to a copy of a document."""
    whole = {"": copy.deepcopy(document)}
    for operation in patch:
        names = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")]
        parent: Any = whole
        for name in names[:-1]:
            parent = parent[int(name)] if isinstance(parent, list) else parent[name]
        last: Any = names[-1]
        if isinstance(parent, list):
            place = len(parent) if last == "-" else int(last)
            assert str(place) == last or last == "-"
            if operation["op"] == "add":
                assert place <= len(parent)
                parent.insert(place, copy.deepcopy(operation["value"]))
            elif operation["op"] == "remove":
                del parent[place]
            else:
                assert operation["op"] == "replace"
                parent[place] = copy.deepcopy(operation["value"])
        elif operation["op"] == "remove":
            del parent[last]
        else:
            assert operation["op"] == "add" or last in parent
            parent[last] = copy.deepcopy(operation["value"])
    return whole[""]


def test_the_patch_tool_of_this_test_does_what_the_rfc_says() -> None:
    patch = [
        {"op": "add", "path": "/a/1", "value": 9},
        {"op": "remove", "path": "/b~1c"},
        {"op": "replace", "path": "/d", "value": {"e": 1}},
        {"op": "add", "path": "/a/-", "value": 7},
    ]
    assert apply({"a": [1, 2], "b/c": 3, "d": 4}, patch) == {"a": [1, 9, 2, 7], "d": {"e": 1}}
    assert apply([1], [{"op": "replace", "path": "", "value": 2}]) == 2


def views_one_by_one(function: rk.RecallFunction, data: list[Any]) -> list[str]:
    return [function.fold(events(*data[:number]), keyframe_every=1_000).view_text for number in range(len(data) + 1)]


@pytest.mark.parametrize("keyframe_every", [1, 3, 7, 64, None])
def test_every_moment_is_what_folding_so_many_events_gives(keyframe_every: int | None) -> None:
    data = [number * 31 % 97 for number in range(25)]
    expected = views_one_by_one(KEEPS, data)
    folding = KEEPS.fold(events(*data), keyframe_every=keyframe_every)
    assert [folding.at(number).text for number in range(26)] == expected
    backwards = KEEPS.fold(events(*data), keyframe_every=keyframe_every)
    assert [backwards.at(number).text for number in reversed(range(26))] == expected[::-1]


@settings(max_examples=12)
@given(
    data=st.lists(st.integers(0, 60), min_size=1, max_size=30),
    keyframe_every=st.sampled_from([1, 2, 5, 16, None]),
    page=st.integers(1, 40),
    seeks=st.lists(st.integers(0, 30), max_size=12),
    bad=st.one_of(st.none(), st.integers(0, 30)),
)
def test_seeking_in_any_order_gives_what_folding_gives(
    data: list[int], keyframe_every: int | None, page: int, seeks: list[int], bad: int | None
) -> None:
    history = list(data) if bad is None or bad > len(data) else [*data[:bad], -1, *data[bad:]]
    folding = KEEPS.fold(events(*history), keyframe_every=keyframe_every, page=page)
    stalled = -1 in history
    assert folding.state == ("stalled" if stalled else "live")
    assert folding.folded == (history.index(-1) if stalled else len(history))
    for number in seeks:
        if number <= folding.folded:
            moment = folding.at(number)
            assert moment.text == KEEPS.fold(events(*history[:number])).view_text
            assert moment.bytes == len(moment.text.encode())
            assert json.loads(moment.text) == moment.view


@settings(max_examples=12)
@given(data=st.lists(st.integers(0, 60), min_size=1, max_size=20), keyframe_every=st.sampled_from([1, 4, None]))
def test_the_patch_turns_the_view_before_into_the_view(data: list[int], keyframe_every: int | None) -> None:
    folding = KEEPS.fold(events(*data), keyframe_every=keyframe_every)
    assert folding.at(0).patch == []
    for number in range(1, len(data) + 1):
        assert apply(folding.at(number - 1).view, folding.at(number).patch) == folding.at(number).view


def test_the_patches_of_a_real_view_are_small(functions: Path, data: Path) -> None:
    function = rk.load(functions / "campaign-reviews.md")
    assert isinstance(function, rk.RecallFunction)
    folding = function.fold(rk.read_history(data / "campaign-reviews.jsonl"))
    for number in range(1, folding.folded + 1):
        moment = folding.at(number)
        assert apply(folding.at(number - 1).view, moment.patch) == moment.view
        assert len(json.dumps(moment.patch)) < 1_200


def test_a_moment_tells_its_event_and_its_work() -> None:
    folding = KEEPS.fold(events(3, 4, 5))
    first = folding.at(0)
    assert (first.number, first.event, first.seq, first.steps, first.checkpoints) == (0, None, None, 0, 0)
    assert first.view == {"list": [], "by": {}, "text": "", "n": 0}
    for number in (1, 2, 3):
        moment, row = folding.at(number), folding.trace.iloc[number - 1]
        assert moment.event == folding.history.event(number - 1)
        assert (moment.seq, moment.steps, moment.bytes) == (row.seq, row.steps, row.view_bytes)


def test_events_that_no_filter_takes_are_no_moments() -> None:
    odd = [{"specversion": "1.0", "id": f"o{number}", "type": "other", "source": "/s"} for number in range(3)]
    taken = events(1, 2)
    folding = KEEPS.fold([odd[0], taken[0], odd[1], taken[1], odd[2]])
    assert folding.folded == 2
    assert [folding.at(number).seq for number in range(3)] == [None, 1, 3]


@pytest.mark.parametrize(
    "number", [4, -5, 1_000_000, 1.0, float("nan"), "1", None, True, np.float64(1), np.array([1, 2]), -(10**9_000)],
    ids=lambda number: type(number).__name__,
)  # fmt: skip
def test_a_number_that_no_moment_has_is_refused(number: Any) -> None:
    folding = KEEPS.fold(events(1, 2, 3))
    with pytest.raises(rk.InvalidInput, match=r"from 0 to 3, how many .* or from the end, -1 to -4; this one is"):
        folding.at(number)


def test_negative_numbers_count_from_the_end_as_in_python() -> None:
    folding = KEEPS.fold(events(1, 2, 3))
    assert folding.at(-1).text == folding.at(3).text == folding.view_text
    assert folding.at(-4).number == folding.at(np.int8(-4)).number == 0
    assert folding.at(np.uint64(2)).number == 2


def test_an_empty_history_has_one_moment() -> None:
    folding = KEEPS.fold([])
    assert folding.at(0).view == folding.view
    with pytest.raises(rk.InvalidInput):
        folding.at(1)


def test_seeking_reads_the_clock_of_each_event_again() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  return [Date.now(), new Date().toISOString()];\n}"
    )
    folding = function.fold(events(*range(10)), keyframe_every=4)
    for number in (9, 2, 6, 1):
        time = f"2026-01-01T00:{number - 1:02d}:00.000Z"
        assert folding.at(number).view[1] == time


def test_seeking_after_the_sandbox_was_dropped_opens_another() -> None:
    folding = KEEPS.fold(events(*range(20)), keyframe_every=5)
    before = [folding.at(number).text for number in (13, 7)]
    folding.timeline.close()
    fresh = KEEPS.fold(events(*range(20)), keyframe_every=5)
    assert [fresh.at(number).text for number in (13, 7)] == before
    assert folding.at(12).text == fresh.at(12).text


@pytest.mark.parametrize(("before", "after"), [([1, 2, 1], [2]), ([0, 1, 2, 3, 1], [0, 2, 3]), ([1, 2, 3, 4], [2, 3])])
def test_the_patch_of_a_list_that_lost_both_its_ends_leads_to_the_list_after(before: Any, after: Any) -> None:
    moment = recall("export function fold(view: View, event: Event): View { return event.data as View; }").fold(
        events(before, after)
    )
    assert apply(before, moment.at(2).patch) == after


def test_many_foldings_that_were_sought_in_keep_few_sandboxes_open() -> None:
    history = rk.read_history(events(*range(12)))
    foldings = [KEEPS.fold(history, keyframe_every=5) for _ in range(timeline.MOST_OPEN + 3)]
    expected = foldings[0].at(7).text
    assert [folding.at(7).text for folding in foldings] == [expected] * len(foldings)
    sessions = [folding.timeline._session for folding in foldings]
    assert sum(session is not None and session.alive for session in sessions) == timeline.MOST_OPEN
    assert foldings[0].at(8).view["n"] == sum(range(8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_forked_process_seeks_in_a_sandbox_of_its_own() -> None:
    # in a process of its own: the one that forks must have no other threads' locks to fear
    script = f"""
import os, sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(rk.__file__).parents[1])]!r}
from small_documents import events, recall
function = recall("export function fold(view: View, event: Event): View {{ return Number(view) + 1; }}")
folding = function.fold(events(*range(40)), keyframe_every=30)
folding.at(5)
child = os.fork()
if child == 0:
    ok = [folding.at(n).view for n in (12, 7, 3)] == [12, 7, 3]
    folding.timeline.close()
    os._exit(0 if ok and function.fold(events(*range(3))).view == 3 else 1)
status = os.waitpid(child, 0)[1]
print(status, [folding.at(n).view for n in (9, 4, 22)])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "0 [9, 4, 22]\n", done.stderr


@pytest.mark.slow
def test_jumping_about_in_a_long_history_gives_the_same_views() -> None:
    count = 5_000
    history = rk.read_history(events(*(number % 61 for number in range(count))))
    folding = KEEPS.fold(history)
    expected = {1_234: sum(n % 61 for n in range(1_234)), 4_999: sum(n % 61 for n in range(4_999)), 1: 0}
    for number, total in expected.items():
        assert folding.at(number).view["n"] == total
    for number in (2_500, 2_499, 2_501, 64, 63, 65, 4_096):
        assert folding.at(number).view["n"] == sum(n % 61 for n in range(number))
