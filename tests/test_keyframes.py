"""Keyframes: bounded in bytes, apart by what folding costs, and exact wherever they lie."""

from __future__ import annotations

import json
import random

import pytest
from small_documents import events, recall

from recallkit.views.keyframes import SPACING_MS, Keyframes

GROWS = recall(
    "export function fold(view: View, event: Event): View { return [...(view as Json[]), event.data ?? null]; }",
    initial=[],
)


def frame(number: int) -> tuple[int, bytes]:
    return number, json.dumps(random.Random(number).randbytes(500).hex()).encode()


def test_the_last_keyframe_before_a_fold_is_found() -> None:
    kept = Keyframes(2, "0")
    kept.add([(2, b"2"), (4, b"4")])
    kept.add([(4, b"again"), (6, b"6")])
    assert [kept.before(number) for number in range(8)] == [
        (0, "0"),
        (0, "0"),
        (2, "2"),
        (2, "2"),
        (4, "4"),
        (4, "4"),
        (6, "6"),
        (6, "6"),
    ]


@pytest.mark.parametrize("every", [3, None])
def test_past_the_bound_every_second_one_goes_and_fewer_come(every: int | None) -> None:
    kept = Keyframes(every, "0", most_bytes=20_000)
    for number in range(1, 200):
        kept.add([frame(number)])
        assert kept.bytes <= 20_000
    assert kept.before(0) == (0, "0")
    assert len(kept) > 10
    if every is None:
        assert (kept.every, kept.spacing > SPACING_MS) == (0, True)
    else:
        assert (kept.every > every, kept.spacing) == (True, 0.0)
    at, text = kept.before(150)
    assert (at, text.encode()) == frame(at)


def test_an_asked_distance_is_kept_whatever_the_page() -> None:
    for page in (1, 7, 1_000):
        folding = GROWS.fold(events(*range(20)), keyframe_every=5, page=page)
        kept = folding._fold.keyframes
        assert [kept.before(number)[0] for number in range(21)] == [number // 5 * 5 for number in range(21)]
        assert all(json.loads(kept.before(number)[1]) == list(range(number // 5 * 5)) for number in range(21))


def test_a_large_view_is_written_out_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallkit.views.keyframes.SPACING_MS", 0.001)
    small, large = (GROWS.fold(events("x" * length, *range(400))) for length in (1, 200_000))
    assert len(large._fold.keyframes) * 3 < len(small._fold.keyframes)
    assert large.at(300).view == ["x" * 200_000, *range(299)]
