"""Which events a fold sees and which filters take them (recall, *The events* and *Filters*)."""

from __future__ import annotations

from typing import Any

import pytest
from small_documents import recall, recall_text

import recallkit as rk
from recallkit.bounds import LEVELS

IDS = "export function fold(view: View, event: Event): View {\n  return [...(view as string[]), event.id];\n}"


def keeping(filters: list[Any]) -> rk.RecallFunction:
    return recall(IDS, initial=[], filters=filters)


def event(id: str, type: str = "t", **attributes: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "id": id, "type": type, "source": "/s", **attributes}


def taken(filters: list[Any], events: list[dict[str, Any]]) -> list[str]:
    folding = keeping(filters).fold(events)
    assert folding.state == "live", folding
    found: list[str] = folding.view
    return found


# The events


def test_events_are_folded_in_recorded_order_from_the_first() -> None:
    """The events: "in the order the playbook recorded them, from the first" (not in the order of their times)."""
    events = [event("c", time="2026-03-03T00:00:00Z"), event("a", time="2026-01-01T00:00:00Z"), event("b")]
    assert taken([{"type": "t"}], events) == ["c", "a", "b"]


# As the format's table says; a fold takes each by its type and sees its data as told there.
TABLE = [
    event("1", "run_started", source="/runs/r1", subject="computation/pace"),
    event("2", "run_failed", source="/runs/r1", subject="computation/pace"),
    event("3", "run_succeeded", source="/runs/r2", subject="recall/notes", data={"output": [1]}),
    event("4", "run_succeeded", source="/runs/r3", subject="recall/notes", data={"output_bytes": 250_000}),
    event("5", "run_rejected", source="/runs/r4", subject="workflow/w", data={"reason": "conflict", "kind": "stalled"}),
    event("6", "run_rejected", source="/runs/r5", subject="workflow/w", data={"reason": "invalid_input"}),
    event("7", "definition_created", source="/definitions/computation/pace", definitionversion=1),
    event("8", "definition_updated", source="/definitions/computation/pace", definitionversion=2),
    event("9", "definition_retired", source="/definitions/computation/pace"),
    event("10", "com.example.sold", subject="order/7", data="anything"),
]


def test_a_fold_sees_each_event_of_the_table_with_its_source_subject_and_data() -> None:
    """The events: the table "The events a fold sees", row by row."""
    body = """export function fold(view: View, event: Event): View {
  return [...(view as Json[]), [event.type, event.source, event.subject ?? null, event.data ?? null]];
}"""
    filters = [{"type": name} for name in dict.fromkeys(each["type"] for each in TABLE)]
    folding = recall(body, initial=[], filters=filters).fold(TABLE)
    assert folding.view == [[each["type"], each["source"], each.get("subject"), each.get("data")] for each in TABLE]


ATTRIBUTES: dict[str, Any] = {
    "caller": "playbook:0199a3c4",
    "definitionversion": 3,
    "depth": 1,
    "calldepth": 2,
    "calledby": "r1",
    "triggerkind": "event",
    "triggerreference": "/do/0/listen",
    "causationid": "c1",
    "correlationid": "c0",
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_each_extension_attribute_reaches_the_fold_and_a_filter(name: str) -> None:
    """The events: the table of "extension attributes that say how they came about", row by row."""
    body = f"export function fold(view: View, event: Event): View {{\n  return event.{name} ?? null;\n}}"
    events = [event("1"), event("2", **{name: ATTRIBUTES[name]}), event("3", **{name: "another"})]
    folding = recall(body, initial="none", filters=[{"type": "t", name: ATTRIBUTES[name]}]).fold(events)
    assert (folding.view, folding.folded) == (ATTRIBUTES[name], 1)


def test_a_recall_function_never_folds_the_events_of_its_own_runs() -> None:
    """The events: "A recall function never folds the events of its own runs"."""
    events = [
        event("own", "run_succeeded", source="/runs/r1", subject="recall/notes", data={"output": 1}),
        event("other", "run_succeeded", source="/runs/r2", subject="recall/other", data={"output": 1}),
        event("published", "run_succeeded", source="/elsewhere", subject="recall/notes"),
        event("definition", "definition_updated", source="/definitions/recall/notes", subject="recall/notes"),
    ]
    function = keeping([{"type": "run_succeeded"}, {"type": "definition_updated"}])
    assert function.fold(events, name="notes").view == ["other", "published", "definition"]
    assert function.fold(events).view == ["own", "other", "published", "definition"]  # it has no name yet


@pytest.mark.parametrize("levels", [LEVELS, LEVELS + 1])
def test_an_event_that_nests_deeper_than_512_levels_is_passed_over_and_reported_once(levels: int) -> None:
    """The events: "An event the runtime cannot read … is passed over and reported to the operator once"."""
    data: Any = 0
    for _ in range(levels):
        data = [data]
    history = rk.read_history([event("a"), event("deep", data=data), event("b")])
    assert keeping([{"type": "t"}]).fold(history).view == (["a", "deep", "b"] if levels == LEVELS else ["a", "b"])
    assert len(history.problems[history.problems["kind"] == "too-deep"]) == (levels > LEVELS)


def test_an_event_whose_time_cannot_be_read_is_passed_over() -> None:
    """The events, as the runtime does: a leap second is no time that the engine reads."""
    folding = keeping([{"type": "t"}]).fold([event("a"), event("leap", time="2016-12-31T23:59:60Z"), event("b")])
    assert (folding.view, folding.passed_over) == (["a", "b"], [1])


# Filters


def test_a_filter_takes_exactly_its_type_source_and_subject() -> None:
    """Filters: "Required; exactly this type"; "Optional; exactly this source"; "exactly this subject"."""
    events = [
        event("1", subject="reasoning/review-brief"),
        event("2", subject="reasoning/review-brief-2"),
        event("3", subject="Reasoning/review-brief"),
        event("4", source="/s/", subject="reasoning/review-brief"),
        event("5", "T", subject="reasoning/review-brief"),
        event("6"),
    ]
    assert taken([{"type": "t"}], events) == ["1", "2", "3", "4", "6"]
    assert taken([{"type": "t", "subject": "reasoning/review-brief"}], events) == ["1", "4"]
    assert taken([{"type": "t", "source": "/s", "subject": "reasoning/review-brief"}], events) == ["1"]


@pytest.mark.parametrize("name", ["depth", "calldepth", "definitionversion"])
def test_whole_numbers_are_compared_as_numbers(name: str) -> None:
    """Filters: "a whole number from 1 for depth, calldepth and definitionversion, and text for any other"."""
    events = [event("1", **{name: 2}), event("2", **{name: "2"}), event("3", **{name: 1}), event("4")]
    assert taken([{"type": "t", name: 2}], events) == ["1"]


def test_a_filter_that_names_an_attribute_the_event_lacks_does_not_match_it() -> None:
    """Filters: "A filter that names an attribute the event does not have does not match it"."""
    events = [event("1", region="north"), event("2"), event("3", region="")]
    assert taken([{"type": "t", "region": "north"}], events) == ["1"]


def test_an_event_is_folded_when_any_filter_takes_it_and_once_only() -> None:
    """Filters: "An event is folded when it matches any of the filters, and once only"."""
    filters = [{"type": "t"}, {"type": "t", "region": "n"}, {"type": "t", "data": "${ $data === null }"}, {"type": "u"}]
    assert taken(filters, [event("1", region="n"), event("2", "u"), event("3", "v"), event("4")]) == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("data", "matches"),
    [
        ({"a": 1, "b": [1, 2]}, ["same", "order"]),
        ([1, 2], ["list"]),
        ("2", ["text"]),
        (2, ["number", "double"]),
        (None, ["null", "absent"]),
        (True, ["true"]),
        (0, ["zero"]),
    ],
)
def test_data_is_equal_as_json_is(data: Any, matches: list[str]) -> None:
    """Filters: "Optional; data equal to this value": members in any order, lists in order, nothing converted."""
    events = [
        event("same", data={"a": 1, "b": [1, 2]}),
        event("order", data={"b": [1, 2], "a": 1}),
        event("more", data={"a": 1, "b": [1, 2], "c": None}),
        event("turned", data={"a": 1, "b": [2, 1]}),
        event("list", data=[1, 2]),
        event("text", data="2"),
        event("number", data=2),
        event("double", data=2.0),
        event("null", data=None),
        event("absent"),
        event("true", data=True),
        event("one", data=1),
        event("zero", data=-0.0),
    ]
    assert taken([{"type": "t", "data": data}], events) == matches


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("$data.revenue > 100", ["rich"]),
        ("$data", ["rich", "poor", "zero", "empty", "list"]),
        ("$data.revenue", ["rich", "poor"]),
        ("null", []),
        ("undefined", []),
        ("0", ["rich", "poor", "zero", "empty", "list", "none"]),
        ("''", ["rich", "poor", "zero", "empty", "list", "none"]),
        ("NaN", []),
        ("() => 1", []),
        ("new Date(0)", []),
        ("$data === null", ["none"]),
        ("Array.isArray($data) && $data.length === 0", ["list"]),
    ],
)
def test_an_expression_holds_unless_it_returns_false_or_null(expression: str, holds: list[str]) -> None:
    """Filters: "An expression holds unless it returns false or null"; one that raises does not take the event."""
    events = [
        event("rich", data={"revenue": 150}),
        event("poor", data={"revenue": 5}),
        event("zero", data=0),
        event("empty", data=""),
        event("list", data=[]),
        event("none"),
    ]
    read = f"(($data: any) => {expression})($data)"
    assert taken([{"type": "t", "data": f"${{ {read} }}"}], events) == holds


def test_the_example_of_an_expression_is_saved_and_taken() -> None:
    """Filters: "an expression such as '${ $data.revenue > 100 }'": over data of any kind the compiler asks for a …."""
    problems = rk.check(recall_text(IDS, initial=[], filters=[{"type": "t", "data": "${ $data.revenue > 100 }"}]))
    assert [problem for problem in problems if problem.severity == "error"] == []
    events = [event("1", data={"revenue": 101}), event("2", data={"revenue": 100}), event("3", data={})]
    assert taken([{"type": "t", "data": "${ $data.revenue > 100 }"}], events) == ["1"]


def test_an_expression_changes_nothing_that_the_fold_sees() -> None:
    """Filters: "the expression reads the event's data as $data and nothing else"."""
    filters = [{"type": "t", "data": "${ (($data as any).seen = 1) > Number($data) }"}, {"type": "t"}]
    body = "export function fold(view: View, event: Event): View {\n  return event.data ?? null;\n}"
    assert recall(body, filters=filters).fold([event("1", data={"a": 1})]).view == {"a": 1}


@pytest.mark.parametrize("name", ["$event", "$input", "event", "view", "$item", "fold"])
def test_an_expression_that_names_anything_but_data_is_refused(name: str) -> None:
    """Filters: "A data expression that names anything but $data is refused … with the compiler's Cannot find name"."""
    problems = rk.check(recall_text(IDS, initial=[], filters=[{"type": "t", "data": f"${{ {name} }}"}]))
    assert any(f"Cannot find name '{name}'" in problem.words for problem in problems)


def test_an_expressions_clock_is_the_events_time() -> None:
    """Filters, as the runtime does: the clock of an expression is the time of its event."""
    expression = "${ new Date().toISOString() === '2026-01-01T00:00:00.500Z' && $data === null }"
    events = [event("1", time="2026-01-01T00:00:00.5Z"), event("2", time="2026-01-01T00:00:00.6Z")]
    assert taken([{"type": "t", "data": expression}], events) == ["1"]
