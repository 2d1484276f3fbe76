"""Runs: every ending of the formats' tables, what its record holds and what its detail says.

A recall function's body starts on line 7, a computation function's on line 5.
"""

from __future__ import annotations

import datetime
import json
from typing import Any

import pandas as pd
import pytest
from small_documents import computation, events, recall

import recallkit as rk
from recallkit.errors import EngineError
from recallkit.sandbox import Sandbox
from recallkit.views import runs

FOLD = """export function fold(view: View, event: Event): View { const kept = Array.isArray(view) ? view : [];
  return [...kept, event.data ?? null]; }
"""
ANSWER = FOLD + "export function answer(view: View, input: Input): Output {\n  %s\n}"
PROGRAM = "export default function (input: Input): Output {\n  %s\n}"


def answered(body: str, given: Any = runs.NOT_GIVEN, *, data: list[Any] | None = None, **fields: Any) -> rk.Run:
    function = recall(ANSWER % body, initial=[], **fields)
    return function.run(function.fold(events(*(data or [1, 2]))), given)


def ran(body: str, given: Any = runs.NOT_GIVEN, **fields: Any) -> rk.Run:
    return computation(PROGRAM % body, **fields).run(given)


def unworkable(run: rk.Run, detail: str) -> None:
    assert (run.ending, run.kind, run.ok) == ("conflict", "unworkable", False)
    assert run.detail == detail
    assert (run.output, run.output_text, run.record) == (None, None, {})


# -- succeeded -------------------------------------------------------------------------------------


def test_an_answer_that_is_json_succeeds_with_its_record() -> None:
    function = recall(ANSWER % "return { view, input };", initial=[])
    run = function.run(function.fold(events("ü", 2)), {"a": 1})
    assert (run.ending, run.kind, run.detail, run.problems, run.ok) == ("succeeded", None, "", [], True)
    assert run.output == {"view": ["ü", 2], "input": {"a": 1}}
    assert run.output_text == '{"view":["ü",2],"input":{"a":1}}'
    assert list(run.record) == ["language", "work", "duration_ms", "input_bytes", "output_bytes", "view"]
    assert run.record["language"] == "typescript"
    assert run.record["work"] == 0
    assert run.record["input_bytes"] == len('{"a":1}')
    assert run.record["output_bytes"] == len(run.output_text.encode())
    assert run.record["view"] == {
        "version": 1,
        "checkpoint": function.fold(events("ü", 2)).standing["checkpoint"],
        "checkpoint_at": "2026-01-01T00:01:00.000Z",
        "last_event": {"id": "e1", "time": "2026-01-01T00:01:00.000Z"},
        "folded": 2,
    }
    assert json.dumps(run.record)


def test_a_program_that_gives_json_succeeds_with_its_record() -> None:
    run = ran("return [input];", "€")
    assert (run.ending, run.output) == ("succeeded", ["€"])
    assert list(run.record) == ["language", "work", "duration_ms", "input_bytes", "output_bytes"]
    assert (run.record["input_bytes"], run.record["output_bytes"]) == (5, 7)


def test_without_answer_a_run_returns_the_view_and_does_no_work() -> None:
    function = recall(FOLD, initial=[])
    run = function.run(function.fold(events(1, 2)))
    assert (run.ending, run.output) == ("succeeded", [1, 2])
    assert (run.record["work"], run.record["duration_ms"]) == (0, 0)
    assert function.run(function.fold([])).output == []


def test_a_run_given_no_input_runs_with_an_empty_object() -> None:
    assert ran("return input;").output == {}
    assert answered("return input;").output == {}
    assert ran("return input;").record["input_bytes"] == 2


def test_work_is_counted_in_checkpoints() -> None:
    run = ran("let n = 0; for (let i = 0; i < 60000; i++) n += i; return n;")
    assert run.record["work"] == run.steps // 10_000 == 12


def test_no_run_changes_the_view() -> None:
    function = recall(ANSWER % "(view as Json[]).push(9); return view.length;", initial=[], schema={"type": "array"})
    folding = function.fold(events(1, 2))
    assert [function.run(folding).output for _ in range(2)] == [3, 3]
    assert folding.view == [1, 2]


def test_a_runs_sandbox_is_fresh_and_may_be_written_to() -> None:
    body = "const m = Math as unknown as { left?: number }; const before = m.left ?? 0; m.left = 1; return before;"
    assert [ran(body).output for _ in range(2)] == [0, 0]


# -- the clock -------------------------------------------------------------------------------------

MOMENT = "2026-10-01T09:00:00.123Z"


@pytest.mark.parametrize(
    "started",
    [
        MOMENT,
        "2026-10-01T11:00:00.123+02:00",
        1_790_845_200_123,
        datetime.datetime(2026, 10, 1, 9, 0, 0, 123_000, tzinfo=datetime.UTC),
    ],
)
def test_the_clock_shows_the_moment_the_run_started(started: Any) -> None:
    body = "return [new Date().toISOString(), Date.now()];"
    expected = [MOMENT, 1_790_845_200_123]
    assert computation(PROGRAM % body).run(started_at=started).output == expected
    function = recall(ANSWER % body, initial=[])
    assert function.run(function.fold([]), started_at=started).output == expected


NO_MOMENTS = {
    "words": "yesterday",
    "truth": True,
    "a day": datetime.date(2026, 10, 1),
    "NaT": pd.NaT,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "past a Date": 8.64e15 + 1,
    "past a float": 10**400,
    "bytes": b"2026-10-01T09:00:00Z",
    "a list": [],
}


@pytest.mark.parametrize("started", NO_MOMENTS.values(), ids=NO_MOMENTS)
def test_a_moment_that_is_none_is_refused(started: Any) -> None:
    with pytest.raises(rk.InvalidInput, match="started_at"):
        computation(PROGRAM % "return 1;").run(started_at=started)


# -- invalid_input ---------------------------------------------------------------------------------

FIELDS = {"a": {"type": "integer"}, "b": {"type": "string"}}
SCHEMA = {"schema": {"type": "object", "required": ["a"], "properties": FIELDS}}


def test_an_input_that_misses_its_schema_is_told_problem_by_problem() -> None:
    run = ran("return input.a;", {"a": "1", "b": 2}, input=SCHEMA)
    assert (run.ending, run.kind, run.output, run.record) == ("invalid_input", None, None, {})
    assert [problem.pointer for problem in run.problems] == ["/a", "/b"]
    assert all(problem.words for problem in run.problems)
    run = answered("return input.a;", {}, input=SCHEMA)
    assert run.ending == "invalid_input"
    assert len(run.problems) == 1
    assert "a" in run.problems[0].words


@pytest.mark.parametrize(("levels", "ending"), [(512, "succeeded"), (513, "invalid_input"), (100_000, "invalid_input")])
def test_an_input_nests_at_most_512_levels(levels: int, ending: str) -> None:
    given: Any = 1
    for _ in range(levels):
        given = [given]
    run = ran("return 1;", given)
    assert run.ending == ending
    if ending == "invalid_input":
        assert "512 levels" in run.problems[0].words


@pytest.mark.parametrize("given", [{1, 2}, float("nan"), float("inf"), {1: 2}, object()])
def test_an_input_that_is_no_json_is_invalid(given: Any) -> None:
    run = ran("return 1;", given)
    assert run.ending == "invalid_input"
    assert "not JSON" in run.problems[0].words


def test_an_input_takes_at_most_256_kib() -> None:
    assert ran("return 1;", "x" * (262_144 - 2)).ending == "succeeded"
    assert ran("return 1;", "x" * (262_144 - 1)).ending == "invalid_input"


def test_the_input_is_checked_before_the_views_state() -> None:
    body = ANSWER.replace("return [", "if (event.id !== '') throw new Error('no'); return [")
    function = recall(body % "return 1;", initial=[], input=SCHEMA)
    folding = function.fold(events(1))
    assert folding.state == "stalled"
    assert function.run(folding, {"a": "x"}).ending == "invalid_input"
    assert (function.run(folding, {"a": 1}).ending, function.run(folding, {"a": 1}).kind) == ("conflict", "stalled")


# -- conflict, stalled -----------------------------------------------------------------------------


def test_a_stalled_view_refuses_its_runs_in_fixed_words() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  throw new Error(`secret ${event.id}`);\n}"
    )
    run = function.run(function.fold(events(1)))
    assert (run.ending, run.kind) == ("conflict", "stalled")
    assert run.detail == (
        "The view stopped at an event of the type t of 2026-01-01T00:00:00.000Z: the fold raised an error on line 8. "
        "Save a corrected version; its view is built again from the start."
    )


# -- conflict, unworkable --------------------------------------------------------------------------


def test_an_answer_that_raises_names_its_error_and_its_line() -> None:
    # the example of the format: "The answer raised an error on line 53: Error: no such campaign"
    run = answered("throw new Error('no such campaign');")
    unworkable(run, "The answer raised an error on line 10: Error: no such campaign")
    unworkable(ran("throw new RangeError('no');"), "The program raised an error on line 6: RangeError: no")
    unworkable(ran("throw 'words';"), "The program raised an error: words")


def test_a_stack_overflow_is_an_error_raised() -> None:
    body = "const r = (n: number): number => r(n + 1) + 1; return r(0);"
    unworkable(ran(body), "The program raised an error on line 6: InternalError: stack overflow")


def test_more_work_than_a_run_may_do_is_unworkable() -> None:
    body = "for (;;) { /* for ever */ }"
    unworkable(answered(body), "The answer did more work than a run may, 500 checkpoints, and was stopped.")
    # a busy machine takes longer than a run's 10 seconds for so many steps
    run = runs.run_program(computation(PROGRAM % body).definition, {}, seconds=240.0)
    unworkable(run, "The program did more work than a run may, 20000 checkpoints, and was stopped.")


@pytest.mark.slow
def test_more_memory_than_a_run_may_use_is_unworkable() -> None:
    hoards = "for (let i = 0; ; i++) kept.push('x'.repeat(1 << 21) + i);"
    body = f"const kept: string[] = []; try {{ {hoards} }} catch {{ return 1; }}"
    unworkable(ran(body), "The program used more memory than a run may, 256 MiB, and was stopped.")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("undefined", "undefined at $"),
        ("{ a: [NaN] }", "NaN at $.a[0]"),
        ("[new Date(0)]", "a Date at $[0]"),
        ("new Set([1])", "a Set at $"),
        ("() => 1", "a function at $"),
    ],
)
def test_what_json_cannot_carry_is_unworkable(value: str, words: str) -> None:
    detail = f"The answer holds {words}, which JSON cannot carry."
    unworkable(answered(f"return ({value}) as unknown as Output;"), detail)
    unworkable(ran(f"return ({value}) as unknown as Output;"), detail)


@pytest.mark.parametrize(("levels", "ending"), [(512, "succeeded"), (513, "conflict")])
def test_an_output_nests_at_most_512_levels(levels: int, ending: str) -> None:
    body = f"let deep: Json = 1; for (let level = 0; level < {levels}; level++) deep = [deep]; return deep;"
    for run in (answered(body), ran(body)):
        assert run.ending == ending
        if ending == "conflict":
            assert run.detail.startswith("The answer nests deeper than 512 levels at $[0]")


def test_an_output_that_its_schema_refuses_is_unworkable() -> None:
    schema = {"schema": {"type": "array", "items": {"type": "integer", "maximum": 9}}}
    for run, noun in (
        (answered("return [1, 10];", output=schema), "answer"),
        (ran("return [1, 10];", output=schema), "program's output"),
    ):
        assert (run.ending, run.kind) == ("conflict", "unworkable")
        assert run.detail.startswith(f"The {noun} does not match output.schema: /1: ")


def test_of_an_outputs_schema_three_issues_are_told() -> None:
    schema = {"schema": {"type": "array", "items": {"type": "integer", "maximum": 9}}}
    detail = ran("return [10, 11, 12, 13, 14];", output=schema).detail
    assert [place for place in ("/0", "/1", "/2", "/3") if f"{place}: " in detail] == ["/0", "/1", "/2"]


def test_a_view_that_the_output_schema_refuses_is_unworkable_too() -> None:
    function = recall(FOLD, initial=[], output={"schema": {"type": "array", "maxItems": 1}})
    assert function.run(function.fold(events(1))).ending == "succeeded"
    run = function.run(function.fold(events(1, 2)))
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert run.detail.startswith("The view does not match output.schema: ")


@pytest.mark.parametrize(("call", "bound"), [(answered, 1_046_528), (ran, 1_048_320)])
def test_an_output_that_its_record_leaves_no_room_for_is_unworkable(call: Any, bound: int) -> None:
    assert call(f"return 'x'.repeat({bound - 2});").ending == "succeeded"
    run = call(f"return 'x'.repeat({bound - 1});")
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert f"{bound + 1:,} bytes" in run.detail
    assert f"{bound:,}" in run.detail


def test_a_module_that_does_not_load_is_unworkable() -> None:
    groups = "(" * 300 + ")" * 300
    unworkable(
        ran(f"return /{groups}/.test('x');"), "The module does not load on line 6: SyntaxError: too many captures"
    )


def test_running_it_again_does_not_help() -> None:
    first, second = (answered("throw new Error('no');") for _ in range(2))
    assert (first.ending, first.kind, first.detail) == (second.ending, second.kind, second.detail)


# -- unavailable -----------------------------------------------------------------------------------

NATIVE = "return 'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b');"


def test_an_answer_that_takes_longer_than_a_run_may_is_unavailable() -> None:
    function = recall(ANSWER % NATIVE, initial=[])
    run = runs.run_answer(function.definition, "[]", seconds=0.2)
    assert (run.ending, run.kind, run.output) == ("unavailable", None, None)
    assert run.detail == "The answer took longer than a run may, 0.2 seconds; try again later."


def test_a_program_that_takes_longer_than_a_run_may_is_unavailable() -> None:
    run = runs.run_program(computation(PROGRAM % NATIVE).definition, seconds=0.2)
    assert (run.ending, run.kind) == ("unavailable", None)
    assert run.detail == "The program took longer than a run may, 0.2 seconds; try again later."


# -- failed ----------------------------------------------------------------------------------------


def test_a_run_whose_worker_dies_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    send = Sandbox.send

    def kill(self: Sandbox, *arguments: Any, **options: Any) -> None:
        send(self, *arguments, **options)
        assert self._worker is not None
        self._worker._process.kill()

    function = computation(PROGRAM % NATIVE)
    monkeypatch.setattr(Sandbox, "send", kill)
    run = function.run()
    assert (run.ending, run.kind) == ("failed", None)
    assert run.detail.startswith("The runtime itself broke down")


def test_a_run_without_an_engine_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise EngineError("no engine here")

    function = recall(ANSWER % "return 1;", initial=[])
    folding = function.fold([])
    monkeypatch.setattr(runs, "Sandbox", broken)
    run = function.run(folding)
    assert (run.ending, run.detail) == ("failed", "The runtime itself broke down: no engine here")


def test_a_run_takes_a_folding_first() -> None:
    function = recall(ANSWER % "return 1;", initial=[])
    with pytest.raises(rk.InvalidInput, match="folding first"):
        function.run({"campaign": "x"})  # type: ignore[arg-type]


def test_a_folding_of_another_function_is_refused_with_both_names() -> None:
    mine, other = recall(ANSWER % "return view;", initial=[]), recall(FOLD, initial=[1], description="another")
    folding = mine.fold(events(1, 2))
    assert mine.run(folding).output == [1, 2]
    # the same document loaded again has folded the same
    assert recall(ANSWER % "return view;", initial=[]).run(folding).output == [1, 2]
    words = (
        "This folding is of the function with the description 'a test', not of .* 'another'; fold its history with this"
    )
    for use in (other.run, other.follow):
        with pytest.raises(rk.InvalidInput, match=words):
            use(folding)
    mine.name, other.name = "mine", "other"
    with pytest.raises(rk.InvalidInput, match=r"^This folding is of mine, not of other; fold its history"):
        other.run(folding)


def test_a_folding_of_another_text_of_the_function_is_refused() -> None:
    before, after = recall(FOLD, initial=[]), recall(FOLD + "// corrected", initial=[])
    before.name = after.name = "kept"
    with pytest.raises(rk.InvalidInput, match="folded by another text of kept; fold its history with this function"):
        after.run(before.fold(events(1)))
    assert after.run(after.fold(events(1))).ok
