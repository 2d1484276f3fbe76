"""Every conformance case of ../shared/cases, read from there: documents, events and inputs, and what must come out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import recallkit as rk
from recallkit.definitions.json_text import json_text

CASES = Path(__file__).parents[2] / "shared" / "cases" / "conformance.json"


def _cases() -> list[Any]:
    if not CASES.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="../shared/cases is not here"), id="absent")]
    return [pytest.param(case, id=case["id"]) for case in json.loads(CASES.read_text("utf-8"))]


def _same_order(expected: Any, got: Any) -> bool:
    """Equal, with every object's keys in the same order."""
    # the engine writes keys that are whole numbers first, wherever a case's own file has them
    expected = json.loads(json_text(expected))
    return expected == got and _keys(expected) == _keys(got)


def _keys(value: Any) -> Any:
    if isinstance(value, dict):
        return [(name, _keys(child)) for name, child in value.items()]
    return [_keys(child) for child in value] if isinstance(value, list) else None


@pytest.mark.parametrize("case", _cases())
def test_case(case: dict[str, Any]) -> None:
    expect = case["expect"]
    problems = rk.check(case["document"], kind=case["type"])
    errors = [problem for problem in problems if problem.severity == "error"]
    if "refused" in expect:
        assert bool(errors) == expect["refused"], problems
    if "line" in expect:
        assert expect["line"] in [problem.line for problem in errors], problems
    said = "\n".join(f"{problem.pointer} {problem.words}" for problem in problems)
    for words in expect.get("words_contain", []):
        assert words in said
    if errors:
        return
    function = rk.load(case["document"], kind=case["type"])
    given = {"input": case["input"]} if "input" in case else {}
    started = {"started_at": case["started_at"]} if "started_at" in case else {}
    if isinstance(function, rk.RecallFunction):
        folding = function.fold(case.get("events", []))
        _check_folding(folding, expect)
        if "ending" in expect:
            _check_run(function.run(folding, **given, **started), expect)
    elif "ending" in expect:
        _check_run(function.run(**given, **started), expect)


def _check_folding(folding: rk.Folding, expect: dict[str, Any]) -> None:
    if "state" in expect:
        assert folding.state == expect["state"], folding
    if "view" in expect:
        assert _same_order(expect["view"], folding.view)
    if "stall_kind" in expect:
        assert folding.stall is not None
        assert folding.stall.kind == expect["stall_kind"], folding
    if "stalled_event" in expect:
        assert folding.stall is not None
        assert folding.stall.event["id"] == expect["stalled_event"]
    if "stall_line" in expect:
        assert folding.stall is not None
        assert folding.stall.line == expect["stall_line"], folding
    for words in expect.get("stall_error_contains", []):
        assert folding.stall is not None
        assert words in folding.stall.error


def _check_run(run: Any, expect: dict[str, Any]) -> None:
    assert run.ending == expect["ending"], run
    if "kind" in expect:
        assert run.kind == expect["kind"], run
    if "output" in expect:
        assert _same_order(expect["output"], run.output), run
    for words in expect.get("detail_contains", []):
        assert words in run.detail
    for words in expect.get("detail_lacks", []):
        assert words not in run.detail
    if "error_line" in expect:
        assert re.search(rf"on line {expect['error_line']}\b", run.detail), run
    if "work" in expect:
        assert run.record["work"] == expect["work"], run
