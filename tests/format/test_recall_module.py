"""The module of a recall function, its clock, its sandbox, and how its view stands (recall, *The module* and after)."""

from __future__ import annotations

from typing import Any

import pytest
from small_documents import events, recall, recall_text

import recallkit as rk
from recallkit import bounds

FOLD = "export function fold(view: View, event: Event): View {\n  return view;\n}"


def folded(expression: str, *data: Any, initial: Any = None) -> Any:
    """The view after folding one event for each data, each fold returning the expression."""
    body = f"export function fold(view: any, event: Event): any {{\n  return {expression};\n}}"
    folding = recall(body, initial=initial).fold(events(*data))
    assert folding.state == "live", folding
    return folding.view


# The module


def test_a_misspelt_attribute_is_refused_and_another_extension_is_read_through_a_type() -> None:
    """The module: "Read another through a type that names it, such as (event as Event & { region?: string …"."""
    misspelt = FOLD.replace("return view;", "return event.regoin ?? null;")
    (problem,) = rk.check(recall_text(misspelt))
    assert "Property 'regoin' does not exist on type 'Event'" in problem.words
    body = FOLD.replace("return view;", "return (event as Event & { region?: string }).region ?? null;")
    assert recall(body).fold([{**events(1)[0], "region": "north"}]).view == "north"


@pytest.mark.parametrize(
    "name",
    [
        *("specversion", "id", "type", "source", "subject", "time", "datacontenttype", "dataschema", "data"),
        *("causationid", "correlationid", "caller", "definitionversion", "depth", "calldepth", "calledby"),
        *("triggerkind", "triggerreference"),
    ],
)
def test_event_has_each_attribute_and_all_but_three_are_optional(name: str) -> None:
    """The module: "Each is optional except id, type and source"."""
    taken = FOLD.replace(
        "return view;", f"const value: Exclude<typeof event.{name}, undefined> = event.{name};\n  return view;"
    )
    errors = [problem.words for problem in rk.check(recall_text(taken))]
    if name in ("id", "type", "source"):
        assert errors == []
    else:
        assert "undefined" in errors[0]


def test_the_view_stays_as_json_gives_it_back() -> None:
    """The module: "an object two members share, a negative zero, or a member keyed by a symbol" never reach a fold."""
    told = folded(
        """[...(view.told ?? []), [view.a === view.b, Object.is(view.zero, -0), Reflect.ownKeys(view).length]]
    .length > 2 ? { told: view.told } : (() => { const same = [1]; const next: any = { told: [...(view.told ?? []),
      [view.a === view.b, Object.is(view.zero, -0), Reflect.ownKeys(view).length]], a: same, b: same, zero: -0 };
      next[Symbol.for('kept')] = 1; return next; })()""",
        1,
        2,
        3,
        initial={},
    )
    assert told == {"told": [[True, False, 0], [False, False, 4]]}


def test_in_a_fold_the_clock_is_the_time_of_its_event() -> None:
    """The module: "In a fold, Date.now() and new Date() return the time of the event being folded"."""
    told = folded("[...view, [Date.now(), new Date().toISOString(), event.time]]", 1, 2, initial=[])
    assert told == [
        [1767225600000 + 60_000 * n, f"2026-01-01T00:0{n}:00.000Z", f"2026-01-01T00:0{n}:00.000Z"] for n in range(2)
    ]


def test_in_an_answer_the_clock_is_the_start_of_the_run() -> None:
    """The module: "In an answer, they return the moment the run started"."""
    function = recall(
        f"{FOLD}\nexport function answer(view: View, input: Input): Output {{\n"
        "  return [Date.now(), new Date().toJSON()];\n}"
    )
    run = function.run(function.fold(events(1)), started_at="2026-10-01T09:00:00Z")
    assert run.output == [1790845200000, "2026-10-01T09:00:00.000Z"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[3, 1, 2].toSorted()", [1, 2, 3]),
        ("[...Map.groupBy([1, 2, 3], (n) => n % 2).keys()]", [1, 0]),
        ("Object.keys(Object.groupBy([1, 2], (n) => `g${n}`))", ["g1", "g2"]),
        ("[...new Set([1]).union(new Set([2]))]", [1, 2]),
        ("[...[1, 2, 3].values().map((n) => n * 2)]", [2, 4, 6]),
        ("String(2n ** 70n)", "1180591620717411303424"),
        ("new Date('2026-01-01').getTime()", 1767225600000),
        ("new Date(new Date(5)).getTime()", 5),
        ("new Date('2026-01-01T09:00:00+02:00').toISOString()", "2026-01-01T07:00:00.000Z"),
        ("Date.UTC(2026, 0, 1)", 1767225600000),
        ("[0.1 + 0.2, 2 ** 53 + 1]", [0.30000000000000004, 9007199254740992]),
        ("Object.keys({ b: 1, a: 2 })", ["b", "a"]),
    ],
)
def test_the_library_of_a_fold(expression: str, value: Any) -> None:
    """The module: "The library is the language's own, ES2023 and more"; the dates that work; one number format."""
    assert folded(expression, 1) == value


@pytest.mark.parametrize(
    "expression",
    [
        "new (Date as any)(2026, 0, 1).getTime()",
        "new Date('2026-01-01T09:00:00').getTime()",
        "(Date as any)()",
        "String(new Date(0))",
        "`${new Date(0)}`",
        "(new Date(0) as any).toLocaleString()",
    ],
)
def test_what_would_read_the_time_zone_raises_in_a_fold(expression: str) -> None:
    """The module: "These raise: a Date from several numbers, a date and time without an offset, …"."""
    body = f"export function fold(view: any, event: Event): any {{\n  return {expression};\n}}"
    stall = recall(body).fold(events(1)).stall
    assert stall is not None
    assert (stall.kind, stall.line) == ("raised", 8)
    assert stall.error.startswith("TypeError")


def test_without_a_schema_view_input_and_output_are_any_json() -> None:
    """The module: "Without a schema, each is Json, any JSON value"."""
    types = recall(FOLD).types
    for name in ("View", "Input", "Output"):
        assert f"type {name} = Json;" in types


# How the view is kept, and its standing, as a folding in a notebook shows them


def test_a_record_says_where_the_view_had_read_to() -> None:
    """What a run read: the table of "Record field", row by row, and the fields beside it."""
    function = recall(FOLD)
    folding = function.fold(
        [*events(1, 2), {**events(1)[0], "id": "other", "type": "u", "time": "2026-01-01T00:09:00Z"}]
    )
    record = function.run(folding, {"a": 1}).record
    assert list(record["view"]) == ["version", "checkpoint", "checkpoint_at", "last_event", "folded"]
    assert record["view"] == {
        "version": 1,
        "checkpoint": "seq:2",
        "checkpoint_at": "2026-01-01T00:09:00.000Z",
        "last_event": {"id": "e1", "time": "2026-01-01T00:01:00.000Z"},
        "folded": 2,
    }
    assert set(record) == {"language", "work", "duration_ms", "input_bytes", "output_bytes", "view"}
    assert function.run(function.fold([])).record["view"]["last_event"] is None  # "null before the first"


def test_the_standing_has_the_fields_of_the_table() -> None:
    """The standing of a view: the table, row by row, for a view that is live and for one that stalled."""
    live = recall(FOLD).fold(events(1, 2)).standing
    assert live == {
        "state": "live",
        "version": 1,
        "checkpoint": "seq:1",
        "checkpoint_at": "2026-01-01T00:01:00.000Z",
        "last_event": {"id": "e1", "time": "2026-01-01T00:01:00.000Z"},
        "folded": 2,
        "lag_ms": 0,
        "newest_record_at": "2026-01-01T00:01:00.000Z",
        "stalled": None,
    }
    raising = FOLD.replace("return view;", "if (event.data === 2) throw new Error('secret');\n  return view;")
    standing = recall(raising).fold(events(1, 2, 3)).standing
    assert (standing["state"], standing["folded"], standing["lag_ms"]) == ("stalled", 1, 120_000)
    assert standing["stalled"] == {
        "event": {"id": "e1", "type": "t", "time": "2026-01-01T00:01:00.000Z"},
        "kind": "raised",
        "error": "Error: secret",
        "line": 8,
    }


def test_a_stalled_view_refuses_its_runs_in_fixed_words_without_the_folds_own() -> None:
    """When a view stalls: "Its detail names the type and time of the event and what went wrong, with the line"."""
    raising = FOLD.replace("return view;", "if (event.data === 2) throw new Error('secret 77');\n  return view;")
    function = recall(raising)
    run = function.run(function.fold(events(1, 2)))
    assert (run.ending, run.kind) == ("conflict", "stalled")
    assert run.detail == (
        "The view stopped at an event of the type t of 2026-01-01T00:01:00.000Z: the fold raised an error on line 8. "
        "Save a corrected version; its view is built again from the start."
    )


def test_the_repair_is_a_corrected_version_folded_from_the_start() -> None:
    """When a view stalls: "The history is the source of the view, so the repair is a corrected version"."""
    raising = FOLD.replace("return view;", "return (event.data as any).n.m;")
    history = rk.read_history(events({"n": {"m": 1}}, None, {"n": {"m": 3}}))
    assert recall(raising).fold(history).state == "stalled"
    repaired = FOLD.replace("return view;", "return (event.data as any)?.n?.m ?? view;")
    assert recall(repaired).fold(history).view == 3


def test_the_numbers_of_the_table_of_bounds() -> None:
    """Bounds: the figures of the table, each named once in the kit."""
    assert (bounds.DOCUMENT_BYTES, bounds.ASSIGNMENTS, bounds.CHECK_SECONDS, bounds.FILTERS) == (65_536, 500, 2.0, 8)
    assert (bounds.FOLD_CHECKPOINTS, bounds.FILTER_CHECKPOINTS, bounds.ANSWER_CHECKPOINTS) == (500, 500, 500)
    assert (bounds.FOLD_MEMORY_BYTES, bounds.RUN_MEMORY_BYTES) == (64 * 2**20, 256 * 2**20)
    assert (bounds.FOLD_SECONDS, bounds.RUN_SECONDS, bounds.OVERTIMES, bounds.CRASHES) == (10.0, 10.0, 20, 20)
    assert (bounds.VIEW_BYTES, bounds.LEVELS, bounds.RECALL_OUTPUT_BYTES) == (524_288, 512, 1_046_528)
    assert (bounds.RECALL_MAX_FUNCTIONS, bounds.RECALL_MAX_REBUILDS, bounds.PLAYBOOKS_AT_ONCE) == (32, 4, 4)
    assert (bounds.PAGE_SECONDS, bounds.PAGE_RECORDS, bounds.PAGES_PER_PASS) == (2.0, 1_000, 10)
    assert (bounds.PROGRAM_CHECKPOINTS, bounds.STEPS_PER_CHECKPOINT, bounds.INPUT_BYTES) == (20_000, 10_000, 262_144)
    assert (bounds.COMPUTATION_OUTPUT_BYTES, bounds.ERROR_BYTES, bounds.RUNS_AT_ONCE) == (1_048_320, 1_024, 4)


def test_an_output_of_an_answer_takes_1046528_bytes_and_not_one_more() -> None:
    """Bounds: "Output | 1,046,528 bytes as JSON: 1 MiB less 2,048 bytes kept for the run's record"."""
    function = recall(
        f"{FOLD}\nexport function answer(view: View, input: Input): Output {{\n  return 'x'.repeat(Number(input));\n}}"
    )
    folding = function.fold([])
    run = function.run(folding, 1_046_526)
    assert (run.ending, run.record["output_bytes"]) == ("succeeded", 1_046_528)
    run = function.run(folding, 1_046_527)
    assert run.detail == "The answer takes 1,046,529 bytes as JSON, past the 1,046,528 an output may take."


def test_an_answer_is_stopped_by_its_500_checkpoints() -> None:
    """Bounds: "Work of one answer | 500 checkpoints": `conflict`, `unworkable`."""
    function = recall(f"{FOLD}\nexport function answer(view: View, input: Input): Output {{\n  for (;;) {{}}\n}}")
    run = function.run(function.fold([]))
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert run.detail == "The answer did more work than a run may, 500 checkpoints, and was stopped."


def test_an_answers_error_is_told_with_its_line() -> None:
    """How a run ends: "such as The answer raised an error on line 53: Error: no such campaign"."""
    function = recall(
        f"{FOLD}\nexport function answer(view: View, input: Input): Output {{\n"
        "  throw new Error('no such campaign');\n}"
    )
    assert function.run(function.fold([])).detail == "The answer raised an error on line 11: Error: no such campaign"


def test_an_answer_given_an_inherited_name_without_has_own_is_unworkable_again_and_again() -> None:
    """How a run ends: "The same view and input give the same result, so running it again does not help"."""
    function = recall(
        f"{FOLD}\nexport function answer(view: any, input: any): any {{\n"
        "  return (view[input.key] ?? []).slice(-1);\n}",
        initial={},
    )
    folding = function.fold([])
    details = {function.run(folding, {"key": "constructor"}).detail for _ in range(3)}
    assert details == {"The answer raised an error on line 11: TypeError: not a function"}


def test_the_example_folds_to_the_same_view_in_pages_of_7_and_of_1000(functions: Any) -> None:
    """Bounds: "3,000 of the events gave the same view and the same checkpoints in pages of 7 and of 1,000"."""
    function = rk.load(functions / "campaign-reviews.md")
    assert isinstance(function, rk.RecallFunction)
    history = rk.read_history(
        [
            {
                **events(1)[0],
                "id": f"r{number}",
                "type": "run_succeeded",
                "source": f"/runs/r{number}",
                "subject": "reasoning/review-brief",
                "data": {"output": {"campaign": f"c{number * 7 % 100}", "verdict": "approve"}},
            }
            for number in range(600)
        ]
    )
    small, large = function.fold(history, page=7), function.fold(history, page=1_000)
    assert small.view_text == large.view_text
    assert small.trace.steps.tolist() == large.trace.steps.tolist()
    assert set(small.trace.checkpoints) == {0}
