"""Filters as they are saved: their keys and values, expressions, and which attributes they match (recall, Filters)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallkit.definitions.filters import ABSENT, Filter, is_expression
from recallkit.definitions.loading import check, read
from recallkit.definitions.recall import RecallDefinition
from recallkit.events.history import History

FOLD = "export function fold(view: View, event: Event): View {\n  return view;\n}\n"


def document(*filters: str) -> str:
    return (
        "---\nlanguage: typescript\nsource:\n  events:\n"
        + "".join(f"    - {each}\n" for each in filters)
        + f"---\n{FOLD}"
    )


def saved(*filters: str) -> RecallDefinition:
    found = read(document(*filters))
    assert isinstance(found, RecallDefinition)
    return found


def refused(*filters: str) -> list[tuple[str | None, int | None]]:
    return [(each.pointer, each.line) for each in check(document(*filters)) if each.severity == "error"]


@pytest.mark.parametrize(
    ("written", "pointer"),
    [
        ("{source: /a}", "/type"),
        ("{type: ''}", "/type"),
        ("{type: 5}", "/type"),
        ("{type: null}", "/type"),
        ("{type: [a]}", "/type"),
        ("{type: true}", "/type"),
        ("{type: a, subject: ''}", "/subject"),
        ("{type: a, subject: true}", "/subject"),
        ("{type: a, source: {a: b}}", "/source"),
        ("{type: a, region: 5}", "/region"),
        ("{type: a, time: null}", "/time"),
        ("{type: a, Region: x}", "/Region"),
        ("{type: a, tenant-id: x}", "/tenant-id"),
        ("{type: a, tenant_id: x}", "/tenant_id"),
        ("{type: a, abcdefghijklmnopqrstu: x}", "/abcdefghijklmnopqrstu"),
        ("{type: a, '': x}", "/"),
        ("{type: a, é: x}", "/é"),
        ("{type: a, depth: 0}", "/depth"),
        ("{type: a, calldepth: 0}", "/calldepth"),
        ("{type: a, definitionversion: 0}", "/definitionversion"),
        ("{type: a, depth: -1}", "/depth"),
        ("{type: a, depth: 1.5}", "/depth"),
        ("{type: a, depth: true}", "/depth"),
        ("{type: a, depth: '2'}", "/depth"),
        ("{type: a, depth: null}", "/depth"),
        ("{type: a, depth: 1e300}", "/depth"),
        ("{type: '${ $data.type }'}", "/type"),
        ("{type: a, subject: ' ${ $data.x } '}", "/subject"),
        ("{type: a, region: '${ 1 }'}", "/region"),
        ("{type: a, depth: '${ 1 }'}", "/depth"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_where_it_stands(written: str, pointer: str) -> None:
    assert refused("type: fine", written) == [(f"/source/events/1{pointer}", 6)]


@pytest.mark.parametrize("written", ["order_placed", "5", "null", "[type, a]"])
def test_a_filter_is_a_mapping(written: str) -> None:
    assert refused("type: fine", written) == [("/source/events/1", 6)]


def test_one_to_eight_filters() -> None:
    assert len(saved(*["type: a"] * 8).filters) == 8
    assert refused(*["type: a"] * 9) == [("/source/events", 4)]
    empty = document().replace("  events:\n", "  events: []\n")
    assert [each.pointer for each in check(empty)] == ["/source/events"]


def test_every_attribute_may_be_named() -> None:
    found = saved(
        "{type: a, source: /definitions/recall/x, subject: s, id: i, specversion: '1.0', time: t, dataschema: d, "
        "datacontenttype: c, caller: 'playbook:finance', triggerkind: event, depth: 2.0, calldepth: 1, "
        "definitionversion: 3, abcdefghijklmnopqrst: x, '7': y}"
    ).filters[0]
    assert found.attributes["depth"] == 2
    assert found.attributes["7"] == "y"
    assert (found.data, found.expression) == (ABSENT, None)


def test_text_around_an_expression_makes_it_a_literal() -> None:
    found = saved("{type: 'x ${ y }', subject: '${ x', region: '{ x }', data: 'x ${ y }'}").filters[0]
    assert found == Filter({"type": "x ${ y }", "subject": "${ x", "region": "{ x }"}, "x ${ y }", None)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("null", None),
        ("0", 0),
        ("''", ""),
        ("{a: [1, 2.0, x]}", {"a": [1, 2, "x"]}),
        ("false", False),
        ("'$data'", "$data"),
    ],
)
def test_data_is_a_value(data: str, value: Any) -> None:
    found = saved(f"{{type: a, data: {data}}}").filters[0]
    assert found.data == value
    assert type(found.data) is type(value)
    assert found.expression is None


def test_an_expression_only_inside_a_value_is_a_literal() -> None:
    found = saved("{type: a, data: {n: '${ $data.n }'}}").filters[0]
    assert found.data == {"n": "${ $data.n }"}


def test_expressions_are_compiled_beside_their_filters() -> None:
    found = saved(
        "type: a",
        "{type: a, data: ' ${ ($data as { n: number }).n > 1 }\t'}",
        "{type: a, data: 5}",
        "{type: b, data: '${ $data }'}",
    )
    assert [each.expression for each in found.filters] == [None, " ($data as { n: number }).n > 1 ", None, " $data "]
    first, second, third, fourth = found.expressions
    assert (first, third) == (None, None)
    assert second is not None
    assert "number" not in second
    assert "".join(second.split()).strip("();") == "$data).n>1"
    assert fourth is not None
    assert "$data" in fourth


@pytest.mark.parametrize(
    ("written", "line", "column"),
    [
        ("{type: a, data: '${ $input.limit }'}", 5, 27),
        ('{type: a, data: "😀" , region: x, data2: y}', 0, 0),
        ("type: a\n      data: >-\n        ${ $data.a +\n        $input.b }", 7, 0),  # folded into one line
        ('type: a\n      data: "${ $input }"', 6, 17),
        ("type: a\n      data: ${ $input }", 6, 16),
    ],
)
def test_the_compilers_words_stand_where_the_expression_does(written: str, line: int, column: int) -> None:
    problems = check(document(written))
    if not line:
        assert problems == []
        return
    assert [(each.line, each.pointer) for each in problems] == [(line, "/source/events/0/data")]
    assert "Cannot find name '$input'" in problems[0].words
    if column:
        assert problems[0].column == column


@pytest.mark.parametrize(
    "expression",
    [
        "$event",
        "event",
        "view",
        "Math.random()",
        "$data >",
        "",
        "$data) || ($data",
        "$data); let a = 1; (a",
        "await $data",
        "$data; $data",
    ],
)
def test_an_expression_is_one_expression_over_data(expression: str) -> None:
    problems = check(document(f"{{type: a, data: '${{ {expression} }}'}}"))
    assert problems
    assert {each.line for each in problems} == {5}


def test_only_a_trimmed_text_from_dollar_brace_to_brace_is_an_expression() -> None:
    assert all(is_expression(each) for each in ("${}", " ${ a }\n", "${ a } b }"))
    assert not any(is_expression(each) for each in ("$ {a}", "${ a", "a ${ b }", "${ a } b", "", 5, None, ["${a}"]))


# Matching


def history(*attributes: dict[str, Any]) -> History:
    return History.from_events(
        [
            {"specversion": "1.0", "id": f"e{number}", "source": "/s", "type": "a", **each}
            for number, each in enumerate(attributes)
        ]
    )


def matched(found: Filter, *attributes: dict[str, Any]) -> list[bool]:
    mask = found.matches_attributes(history(*attributes))
    assert mask.dtype == bool
    return list(mask)


def test_every_attribute_must_be_equal() -> None:
    events: list[dict[str, Any]] = [
        {},
        {"subject": "x"},
        {"subject": "x", "region": "n"},
        {"region": "n"},
        {"type": "b", "subject": "x"},
        {"type": "A"},
    ]
    assert matched(Filter({"type": "a"}), *events) == [True, True, True, True, False, False]
    assert matched(Filter({"type": "a", "subject": "x"}), *events) == [False, True, True, False, False, False]
    assert matched(Filter({"type": "a", "subject": "x", "region": "n"}), *events) == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]
    assert matched(Filter({"type": "a", "never": "x"}), *events) == [False] * 6


def test_nothing_is_converted() -> None:
    events: list[dict[str, Any]] = [{"depth": 2}, {"depth": "2"}, {}, {"depth": 1}, {"depth": True}]
    assert matched(Filter({"depth": 2}), *events) == [True, False, False, False, False]
    assert matched(Filter({"depth": 1}), *events) == [False, False, False, True, False]
    assert matched(Filter({"depth": "2"}), *events) == [False, True, False, False, False]


def test_time_id_and_source_are_compared_as_their_text() -> None:
    events: list[dict[str, Any]] = [{"time": "2026-03-01T08:00:00.000Z"}, {"time": "2026-03-01T08:00:00Z"}, {}]
    assert matched(Filter({"time": "2026-03-01T08:00:00.000Z"}), *events) == [True, False, False]
    assert matched(Filter({"id": "e2", "specversion": "1.0"}), *events) == [False, False, True]


def test_a_history_without_events_matches_nothing() -> None:
    assert matched(Filter({"type": "a", "depth": 1})) == []


VALUES = st.sampled_from(["a", "b", "2", "true", 1, 2, True, False])


@given(
    st.dictionaries(st.sampled_from(["subject", "region", "depth"]), st.sampled_from(["a", "2", 1, 2]), max_size=3),
    st.lists(st.dictionaries(st.sampled_from(["region", "depth"]), VALUES, max_size=2), min_size=1, max_size=5),
)
def test_matching_is_json_equality(wanted: dict[str, str | int], events: list[dict[str, Any]]) -> None:
    def same(one: Any, two: Any) -> bool:
        return (
            one == two
            and isinstance(one, str) == isinstance(two, str)
            and isinstance(one, bool) == isinstance(two, bool)
        )

    expected = [all(name in event and same(event[name], value) for name, value in wanted.items()) for event in events]
    assert matched(Filter(wanted), *events) == expected
