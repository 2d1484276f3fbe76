"""A view does not depend on where a page of events begins or ends: nor do the steps and checkpoints of any fold."""

from __future__ import annotations

import contextlib
import hashlib
import runpy
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_documents import events, recall

import recallkit as rk
from recallkit.views.fold import fold_history
from recallkit.views.session import Way

COLUMNS = ["seq", "event_id", "view_bytes", "steps", "checkpoints"]
# What each event's fold spends: about so many thousand steps.
SPENDER = recall(
    """export function fold(view: View, event: Event): View {
  const turns = Number(event.data) * 1000;
  let n = 0;
  for (let i = 0; i < turns; i++) n += i;
  const kept = Array.isArray(view) ? view : [];
  return [...kept, { at: event.time ?? '', n }].slice(-5);
}""",
    initial=[],
)


@pytest.fixture(scope="module")
def reviews(functions: Path) -> rk.RecallFunction:
    function = rk.load(functions / "campaign-reviews.md")
    assert isinstance(function, rk.RecallFunction)
    return function


def events_of_the_bench(shared: Path, folder: Path, count: int, campaigns: int) -> Path:
    """Write events of ../shared/bench/make_events.py."""
    main = runpy.run_path(str(shared / "bench" / "make_events.py"))["main"]
    path = folder / "events.jsonl"
    with path.open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        main(count, campaigns)
    return path


@pytest.fixture(scope="module")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> rk.History:
    """3,000 events over 100 campaigns."""
    return rk.read_history(events_of_the_bench(shared, tmp_path_factory.mktemp("events"), 3_000, 100))


def frame(folding: rk.Folding) -> pd.DataFrame:
    return folding.trace[COLUMNS]


@pytest.mark.parametrize("page", [7, 64])
def test_3000_events_fold_the_same_in_pages_of_every_size(
    reviews: rk.RecallFunction, made: rk.History, page: int
) -> None:
    whole = reviews.fold(made, page=1_000)
    parts = reviews.fold(made, page=page)
    assert whole.folded == parts.folded == 3_000
    assert parts.view_text == whole.view_text
    pd.testing.assert_frame_equal(frame(parts), frame(whole))


@pytest.mark.parametrize("plain", [False, True])
def test_folds_that_spend_several_checkpoints_are_counted_the_same_in_every_page(plain: bool) -> None:
    history = rk.read_history(events(*[number * 7 % 41 for number in range(60)]))
    whole = SPENDER.fold(history, plain=plain)
    assert whole.trace.checkpoints.max() >= 8
    for page in (1, 7, 59):
        parts = SPENDER.fold(history, page=page, plain=plain)
        assert parts.view_text == whole.view_text
        pd.testing.assert_frame_equal(frame(parts), frame(whole))


@settings(max_examples=8)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 12), st.integers(1, 5))
def test_any_history_folds_the_same_in_any_page(turns: list[int], page: int, keyframe_every: int) -> None:
    whole = SPENDER.fold(events(*turns))
    parts = SPENDER.fold(events(*turns), page=page, keyframe_every=keyframe_every)
    assert parts.view_text == whole.view_text
    pd.testing.assert_frame_equal(frame(parts), frame(whole))


def test_a_small_history_folds_the_same_in_pages_of_every_size(reviews: rk.RecallFunction, data: Path) -> None:
    history = rk.read_history(data / "campaign-reviews.jsonl")
    whole = reviews.fold(history)
    assert whole.folded > 50
    for page in (1, 7, 64):
        parts = reviews.fold(history, page=page)
        assert parts.view_text == whole.view_text
        pd.testing.assert_frame_equal(frame(parts), frame(whole))


def test_a_view_does_not_tell_a_page_from_the_next() -> None:
    """What JSON does not keep never reaches the next fold, in the middle of a page as at its end."""
    probe = recall(
        """export function fold(view: View, event: Event): View {
  const kept = view as { shared: Json[][]; zero: number; told: string[] };
  const symbol = Symbol.for('kept');
  const told = [
    Object.is(kept.zero, -0) ? 'negative zero' : 'zero',
    kept.shared[0] === kept.shared[1] ? 'shared' : 'apart',
    Object.getOwnPropertySymbols(kept).length === 0 ? 'no symbol' : 'symbol',
  ];
  const one: Json[] = [1];
  const next = { shared: [one, one], zero: -0, told };
  Object.defineProperty(next, symbol, { value: 1, enumerable: true });
  return next;
}""",
        initial={"shared": [[1], [1]], "zero": 0, "told": []},
    )
    for page in (1, 2, 1_000):
        folding = probe.fold(events(*range(5)), page=page)
        for number in range(1, 6):
            assert folding.at(number).view["told"] == ["zero", "apart", "no symbol"]


@pytest.mark.parametrize("page", [0, 1_001, -1, 1.5, "7", True, None])
def test_a_page_holds_1_to_1000_records(page: Any) -> None:
    with pytest.raises(rk.InvalidInput, match="1 to 1000"):
        SPENDER.fold(events(1), page=page)


@pytest.mark.parametrize("option", ["keyframe_every", "tries"])
@pytest.mark.parametrize("given", [0, -1, 1.5, "7", True])
def test_keyframes_and_tries_are_whole_numbers_from_1(option: str, given: Any) -> None:
    with pytest.raises(rk.InvalidInput, match=f"{option} takes a whole number from 1"):
        SPENDER.fold(events(1), **{option: given})


def test_a_page_of_large_events_is_cut_shorter_and_the_view_is_the_same() -> None:
    sized: list[Any] = ["x" * 200_000] * 30
    sizes = recall(
        "export function fold(view: View, event: Event): View {\n  return Number(view) + String(event.data).length;\n}"
    )
    assert sizes.fold(events(*sized)).view == 6_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("campaigns", "size", "sha256"),
    [(100, 12_696, "e905164c"), (50, 117_818, "5781cd90")],
    ids=["W1", "W2"],
)
def test_the_benchmarks_views_are_the_reference_hosts(
    reviews: rk.RecallFunction, shared: Path, tmp_path: Path, campaigns: int, size: int, sha256: str
) -> None:
    """As ../shared/bench/README.md tells them; tests/bench/bench_fold.py compares whole ones beside the host itself."""
    text = reviews.fold(rk.read_history(events_of_the_bench(shared, tmp_path, 5_000, campaigns))).view_text.encode()
    assert len(text) == size
    assert hashlib.sha256(text).hexdigest().startswith(sha256)


@pytest.mark.parametrize("page", [7, 1_000])
def test_every_way_gives_the_same_views_steps_and_keyframes(reviews: rk.RecallFunction, data: Path, page: int) -> None:
    """The example writes to nothing that it did not make, so that every way may be taken."""
    history = rk.read_history(data / "campaign-reviews.jsonl")
    written, *others = (
        rk.Folding(reviews, fold_history(reviews.definition, history, page=page, keyframe_every=8, way=way))
        for way in reversed(get_args(Way))
    )
    assert len(others) == 3
    for other in others:
        assert other.view_text == written.view_text
        pd.testing.assert_frame_equal(frame(other), frame(written))
        for number in range(0, written.folded + 1, 7):
            assert other.at(number).text == written.at(number).text
