"""Arguments that the faces do not take are refused in words; what a person does to a trace reaches nothing else."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from small_documents import events, recall, recall_text

import recallkit as rk

PASSES = "export function fold(view: View, event: Event): View { return (view as number) + 1; }"


@pytest.mark.parametrize("name", [5, b"x", ["a"], True])
def test_a_name_that_is_no_text_is_refused(name: Any) -> None:
    with pytest.raises(rk.InvalidInput, match="name takes the function's name"):
        recall(PASSES).fold([], name=name)


@pytest.mark.parametrize("used_by", [5, "x", [1], [("a",)], [(1, 2)], {"a": "b"}])
def test_an_overview_used_by_what_is_no_definition_is_refused(used_by: Any) -> None:
    with pytest.raises(rk.InvalidInput, match="used_by takes a list of pairs"):
        recall(PASSES).overview(used_by)


@pytest.mark.parametrize("kind", ["x", 5, ["recall"], np.array([1, 2]), ""], ids=lambda kind: type(kind).__name__)
def test_a_kind_that_there_is_none_of_is_refused(kind: Any) -> None:
    for function in (rk.load, rk.check):
        with pytest.raises(rk.InvalidInput, match="of the kind recall or computation, not"):
            function(recall_text(PASSES), kind=kind)


def test_what_a_person_does_to_a_trace_reaches_nothing_else() -> None:
    folding = recall(PASSES).fold(events(1, 2, 3))
    folding.trace["seq"] = -1
    del folding.trace["steps"]
    assert "steps" not in folding.trace
    assert "3 events" in repr(folding.charts.size())
    assert [folding.at(number).seq for number in range(4)] == [None, 0, 1, 2]
    assert folding.standing["folded"] == folding.folded == 3


def test_threads_seek_one_folding_together() -> None:
    folding = recall(PASSES).fold(events(*range(40)), keyframe_every=1_000)
    wrong: list[Any] = []

    def seek() -> None:
        try:
            wrong.extend(each for each in (n * 7 % 41 for n in range(41)) if folding.at(each).view != each)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=seek) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
