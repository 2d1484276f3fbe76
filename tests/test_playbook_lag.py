"""Lag: arrivals replayed on a virtual clock by the rules of pages and passes, and the charts of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from small_documents import events, recall, recall_text

import recallkit as rk
from recallkit.views.lag import Page, replay_lag

FOLD = "export function fold(view: View, event: Event): View { return event.data ?? null; }"


def replayed(arrivals: list[float], fold_ms: list[float], **options: Any) -> list[Page]:
    return replay_lag(np.array(arrivals, dtype=float), np.array(fold_ms, dtype=float), page_ms=0.0, **options)


def test_a_quiet_view_is_behind_by_its_fold_alone() -> None:
    pages = replayed([0, 1_000, 5_000], [10, 20, np.nan])
    assert [(page.began, page.ended) for page in pages] == [(0, 10), (1_000, 1_020), (5_000, 5_000)]
    assert [page.folds for page in pages] == [1, 1, 0]
    assert [page.lag_ms for page in pages] == [0, 0, 0]


def test_a_page_holds_1000_records_and_two_seconds_of_folds() -> None:
    pages = replayed([0.0] * 2_500, [1.0] * 2_500)
    assert [page.records for page in pages] == [1_000, 1_000, 500]
    assert [page.behind for page in pages] == [1_500, 500, 0]
    slow = replayed([0.0] * 5, [900.0] * 5)
    # the third fold begins at 1,800 ms and ends the page
    assert [page.records for page in slow] == [3, 2]
    # at least one fold runs
    assert [page.records for page in replayed([0.0] * 3, [5_000.0] * 3)] == [1, 1, 1]
    assert [page.records for page in replayed([0.0] * 3, [2_000.0] * 3)] == [1, 1, 1]


def test_events_that_are_not_folded_take_no_time_but_fill_a_page() -> None:
    pages = replayed([0.0] * 1_200, [np.nan] * 1_200)
    assert [(page.records, page.folds, page.ended) for page in pages] == [(1_000, 0, 0), (200, 0, 0)]


def test_an_event_recorded_elsewhere_waits_for_the_next_second() -> None:
    pages = replayed([0, 100, 1_500], [1, 1, 1], woken=False)
    assert [page.began for page in pages] == [0, 1_000, 2_000]


def test_a_view_that_cannot_keep_up_falls_behind_more_and_more() -> None:
    pages = replayed([float(n * 10) for n in range(3_000)], [20.0] * 3_000)
    # events arrive for 30 seconds, and folding them takes 60
    worst = [page.worst_ms for page in pages if page.ended < 30_000]
    assert worst[2] < worst[len(worst) // 2] < worst[-1]
    assert pages[-1].ended == pytest.approx(60_000)


@given(
    gaps=st.lists(st.floats(0, 3_000), min_size=1, max_size=60),
    costs=st.lists(st.one_of(st.floats(0, 4_000), st.just(float("nan"))), min_size=60, max_size=60),
    woken=st.booleans(),
)
@example(gaps=[5e-324], costs=[0.0] * 60, woken=False)
def test_every_record_is_read_once_after_it_arrived(gaps: list[float], costs: list[float], woken: bool) -> None:
    arrivals = np.cumsum(gaps)
    pages = replay_lag(arrivals, np.array(costs[: len(gaps)]), woken=woken, page_records=7)
    assert sum(page.records for page in pages) == len(gaps)
    read = 0
    for before, page in zip([None, *pages], pages, strict=False):
        assert before is None or page.began >= before.ended
        read += page.records
        assert arrivals[read - 1] <= page.began
        assert 1 <= page.records <= 7
        assert page.worst_ms >= page.lag_ms >= 0
        assert page.folds == 0 or page.fold_ms - max(c for c in costs if c == c) <= 2_000


def test_a_history_is_replayed_at_any_speed(data: Path, campaign_reviews: str) -> None:
    function = rk.load(campaign_reviews)
    assert isinstance(function, rk.RecallFunction)
    folding = function.fold(data / "campaign-reviews.jsonl", progress=False)
    once = function.follow(folding)
    assert once.keeps_up
    assert repr(once) == "<Replay of 301 events at 1 times the traffic>"
    assert once.frame.records.sum() == 301
    assert once.frame.folds.sum() == folding.folded
    assert once.frame["at"].iloc[0] >= folding.history.events["time"].iloc[0]
    fast = function.follow(folding, speed=1e7)
    assert fast.busy > once.busy
    assert fast.lag_ms <= (fast._last + sum(fast.frame.fold_ms) + 5 * len(fast.frame))
    assert "keeps up" in once.words
    assert function.follow(data / "campaign-reviews.jsonl").frame.records.sum() == 301
    assert "<svg" in fast.chart().svg()
    for speed in (0, -1, float("inf"), float("nan"), "10", True):
        with pytest.raises(rk.InvalidInput):
            function.follow(folding, speed=speed)  # type: ignore[arg-type]
    for page_ms in (-1, float("inf"), float("nan"), "10", True, None):
        with pytest.raises(rk.InvalidInput, match="page_ms takes a number of milliseconds from 0"):
            function.follow(folding, page_ms=page_ms)  # type: ignore[arg-type]


def test_an_empty_history_and_one_without_times_can_be_replayed() -> None:
    function = recall(FOLD)
    empty = function.follow([])
    assert (empty.keeps_up, empty.lag_ms, empty.busy, len(empty.frame)) == (True, 0.0, 0.0, 0)
    assert "<svg" in empty.chart().svg()
    untimed = [{name: value for name, value in each.items() if name != "time"} for each in events(1, 2)]
    assert function.follow(untimed).frame.records.sum() == 2


def test_a_stalled_view_reads_no_further() -> None:
    body = "export function fold(view: View, event: Event): View { if (event.data === 3) throw 1; return view; }"
    replay = recall(body).follow(events(1, 2, 3, 4))
    assert replay.frame.records.sum() == 2


def test_a_playbook_draws_its_lag(playbook: rk.Playbook) -> None:
    assert playbook.lag().empty
    assert "<svg" in playbook.lag_chart().svg()
    for name in ("first", "second"):
        playbook.create_definition(type="recall", name=name, source=recall_text(FOLD))
    playbook.import_history(events(*range(20)))
    playbook.catch_up()
    playbook.publish_event({"source": "/s", "type": "t"})
    playbook.catch_up()
    lag = playbook.lag()
    assert lag.groupby("name").folds.sum().tolist() == [21, 21]
    assert str(lag["at"].dtype).startswith("datetime64")
    assert "first" in playbook.lag_chart().svg()
