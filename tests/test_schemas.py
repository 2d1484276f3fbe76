"""Schemas of documents: what is no schema, what production refuses, and what is wrong with a value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from page_checker import page_issues, unhardened

from recallkit.definitions.schemas import Issue, Schema

ROWS = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {
                    "campaign": {"type": "string", "minLength": 1, "maxLength": 5},
                    "cost": {"type": "integer", "minimum": 0, "maximum": 5_000_000},
                    "kind": {"enum": ["paid", "own", 1]},
                },
                "required": ["campaign", "cost"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["rows"],
}


def issues(schema: Any, value: Any) -> list[tuple[str, str]]:
    """What both sides say; they must say the same."""
    told = [(issue.pointer, issue.words) for issue in Schema(schema).issues(value)]
    for options in ({}, {"frozen": True}, {"memory": True, "frozen": True}):
        assert page_issues([{"schema": schema, "values": [value]}], **options) == [[told]]
    assert Schema(schema).accepts(value) == (told == [])
    return told


def test_each_problem_of_a_value_has_its_pointer_and_a_sentence() -> None:
    value = {
        "rows": [
            {"campaign": "", "cost": -1, "colour": "red"},
            {"cost": 1.5, "kind": "free"},
            {"campaign": "longer", "cost": 6_000_000},
        ]
    }
    assert issues(ROWS, value) == [
        ("/rows", "must have at most 2 items, not 3"),
        ("/rows/0/campaign", "must be at least 1 character long, not 0"),
        ("/rows/0/cost", "must be at least 0"),
        ("/rows/0/colour", "must be left out"),
        ("/rows/1", 'must have the member "campaign"'),
        ("/rows/1/cost", "must be a whole number"),
        ("/rows/1/kind", 'must be "paid", "own" or 1'),
        ("/rows/2/campaign", "must be at most 5 characters long, not 6"),
        ("/rows/2/cost", "must be at most 5000000"),
    ]


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": ["string", "null", "array"]}, 1, "must be a string, null or a list"),
        ({"type": "boolean"}, 0, "must be true or false"),
        ({"type": "integer"}, True, "must be a whole number"),
        ({"const": {"b": 1e21, "a": [0.1, "é\ud800"]}}, 1, 'must be {"b":1e+21,"a":[0.1,"é\\ud800"]}'),
        ({"const": "x" * 100}, 1, 'must be "' + "x" * 79 + "…"),
        ({"enum": list(range(12))}, 99, "must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"),
        ({"exclusiveMinimum": 0.5}, 0.5, "must be more than 0.5"),
        ({"exclusiveMaximum": 1e-7}, 1, "must be less than 1e-7"),
        ({"multipleOf": 0.01}, 0.015, "must be a multiple of 0.01"),
        ({"minProperties": 1}, {}, "must have at least 1 member, not 0"),
        ({"maxProperties": 0}, {"a": 1}, "must have at most 0 members, not 1"),
        ({"minItems": 2}, [1], "must have at least 2 items, not 1"),
        (
            {"uniqueItems": True},
            [1, {"a": 1, "b": 2}, {"b": 2, "a": 1}],
            "must have no two equal items, but 1 and 2 are equal",
        ),
        ({"contains": {"type": "string"}}, [1], "must have at least 1 item that matches contains, not 0"),
        ({"contains": True, "maxContains": 2}, [1, 2, 3], "must have at most 2 items that match contains, not 3"),
        ({"pattern": "^a"}, "b", 'must match the pattern "^a"'),
        ({"anyOf": [{"type": "null"}, False]}, 1, "must match at least one of the 2 schemas of anyOf"),
        ({"oneOf": [True, True]}, 1, "must match exactly one of the 2 schemas of oneOf, not 2"),
        ({"oneOf": [False]}, 1, "must match exactly one of the 1 schema of oneOf, not none"),
        ({"not": {}}, 1, "must not match the schema of not"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, 'must have the member "b" beside "a"'),
        (False, 1, "must be left out"),
        ({"maxLength": 1}, "\N{TURTLE}\N{TURTLE}", "must be at most 1 character long, not 2"),
    ],
)
def test_the_words_of_each_keyword(schema: Any, value: Any, words: str) -> None:
    assert issues(schema, value) == [("", words)]


def test_a_name_that_does_not_fit_is_told_at_its_member() -> None:
    schema = {"propertyNames": {"maxLength": 2}}
    assert issues(schema, {"ab": 1, "a/c": 2}) == [
        ("/a~1c", "must have another name: the name must be at most 2 characters long, not 3")
    ]


def test_issues_stand_in_the_order_of_the_value_as_the_engine_lists_it() -> None:
    value = {"b": 1, "10": 1, "2": 1, "a": 1}
    assert [pointer for pointer, _ in issues({"additionalProperties": {"type": "string"}}, value)] == [
        "/2",
        "/10",
        "/b",
        "/a",
    ]


def test_numbers_are_the_doubles_that_the_engine_holds() -> None:
    assert issues({"const": 2**53}, 2**53 + 1) == []
    assert issues({"type": "integer", "multipleOf": 1}, 1.0) == []
    assert issues({"uniqueItems": True}, [2**60, 2**60 + 1]) != []
    assert Schema({"maximum": 1e300}).issues(10**400) == [Issue("", "must be at most 1e+300")]
    assert issues({"const": 0}, -0.0) == []
    assert issues({"enum": [1]}, True) != []
    assert issues({"const": False}, 0) != []


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "hasOwnProperty"])
def test_inherited_names_are_no_members(name: str) -> None:
    schema = {"properties": {name: {"type": "string"}}, "required": [name], "additionalProperties": False}
    assert issues(schema, {name: "x"}) == []
    assert issues(schema, {}) == [("", f'must have the member "{name}"')]
    assert issues(schema, {name: 1}) == [(f"/{name}", "must be a string")]
    assert issues({"properties": {"a": True}, "additionalProperties": False}, {name: 1}) == [
        (f"/{name}", "must be left out")
    ]


@pytest.mark.parametrize("name", ["length", "at", "description", "size"])
@pytest.mark.parametrize("kind", ["string", "number", "boolean"])
def test_a_record_is_never_a_list_or_a_text(name: str, kind: str) -> None:
    record = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    closed = {**record, "additionalProperties": False}
    right = {"string": "x", "number": 1, "boolean": True}[kind]
    for schema in (record, closed):
        assert issues({"items": schema}, [{name: right}]) == []
        for value in ([], [1], "text", 1, True, None):
            assert ("/0", "must be an object") in issues({"items": schema}, [value])
    assert issues(closed, {name: right, "other": 1}) == [("/other", "must be left out")]


def test_nested_unevaluated_keywords_are_checked_in_time() -> None:
    schema = {"unevaluatedProperties": False, "anyOf": [{"properties": {"a": {"$ref": "#"}}}]}
    value: Any = {}
    for _ in range(200):
        value = {"a": value}
    assert issues(schema, value) == []


def test_values_and_schemas_of_512_levels_are_checked() -> None:
    value: Any = "end"
    for level in range(512):
        value = {"a": value} if level % 2 else [value]
    tree = {
        "anyOf": [
            {"type": "string"},
            {"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}, "not": {"type": "null"}},
        ]
    }
    assert issues(tree, value) == []
    everywhere = {"type": ["object", "array", "number"], "items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}}
    [(pointer, words)] = issues(everywhere, value)
    assert words == "must be an object, a list or a number"
    assert pointer.count("/") == 512
    assert issues({"const": value}, value) == []
    assert issues({"uniqueItems": True}, [value, value]) != []
    deep: Any = {"type": "string"}
    for _ in range(160):
        deep = {"items": {"properties": {"a": deep}}}
    assert Schema(deep).problems() == []


@pytest.mark.parametrize(
    ("schema", "pointer", "words"),
    [
        (1, "", "A schema must be an object, true or false."),
        ({"type": "text"}, "/type", None),
        ({"properties": []}, "/properties", "`properties` must be an object."),
        ({"properties": {"a": {"minLength": -1}}}, "/properties/a/minLength", "`minLength` must be at least 0."),
        ({"items": {"$ref": "#/$defs/a"}}, "/items/$ref", '"#/$defs/a" leads to no schema; nothing is fetched.'),
        ({"$ref": "https://example.com/a"}, "/$ref", '"https://example.com/a" leads to no schema; nothing is fetched.'),
        ({"$ref": "#/x", "x": 12}, "/$ref", '"#/x" leads to what is no schema.'),
        ({"$ref": "#/x", "x": {"type": 12}}, "/$ref", '"#/x" leads to what is no schema.'),
        ({"$ref": "#"}, "/$ref", "This reference leads back to itself with no member or item between."),
        ({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}, "/$defs/a/allOf/0/$ref", None),
        ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "/anyOf/1/$ref", None),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "/$schema", None),
    ],
)
def test_what_is_no_schema_is_told(schema: Any, pointer: str, words: str | None) -> None:
    told = Schema(schema, "/view/schema").problems()
    assert [each[0] for each in told] == [f"/view/schema{pointer}"]
    assert words is None or told[0][1] == words


def test_references_that_make_progress_are_no_problem() -> None:
    tree = {"properties": {"children": {"items": {"$ref": "#"}}}, "propertyNames": {"$ref": "#"}}
    assert Schema(tree).problems() == []
    assert (
        Schema(
            {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "definitions": {"a": {}}}
        ).problems()
        == []
    )


def test_a_check_that_would_take_for_ever_is_an_issue(monkeypatch: pytest.MonkeyPatch) -> None:
    from recallkit.definitions import schema_run

    monkeypatch.setattr(schema_run, "SCHEMA_STEPS", 10_000)
    twice = {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
    value: Any = {}
    for _ in range(60):
        value = {"a": value}
    assert Schema(twice).issues(value) == [Issue("", "could not be checked: checking it takes too long")]
    assert not Schema(twice).accepts(value)


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"properties": {"a": {"pattern": "x"}}}, ["/properties/a/pattern"]),
        ({"if": True, "then": True, "else": True}, ["/if", "/then", "/else"]),
        ({"not": {}}, []),
        ({"not": {"type": "null"}}, ["/not"]),
        ({"enum": [1, [2]]}, ["/enum"]),
        ({"enum": list(range(1001))}, ["/enum"]),
        ({"const": {}}, ["/const"]),
        ({"$ref": "#a", "$defs": {"a": {"$anchor": "a"}}}, ["/$ref", "/$defs/a/$anchor"]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, []),
        ({"properties": {}, "additionalProperties": {}}, ["/additionalProperties"]),
        ({"properties": {}, "additionalProperties": False}, []),
        ({"additionalProperties": {"type": "string"}}, []),
        ({"unknown": 1, "format": "date", "properties": {"pattern": {"type": "string"}}}, []),
        ({"description": "x" * 65_536}, [""]),
    ],
)
def test_what_production_refuses_is_a_warning(schema: Any, pointers: list[str]) -> None:
    told = Schema(schema, "/input/schema").warnings()
    assert [pointer for pointer, _ in told] == [f"/input/schema{each}" for each in pointers]
    assert all("production would refuse" in words for _, words in told)


# Random schemas and values, drawn from so few names and values that they meet.

names = st.sampled_from(["a", "b", "1", "constructor", "__proto__"])
scalars = st.sampled_from([None, True, False, 0, 1, 1.5, -1, 2, "", "a", "ab", "\N{TURTLE}", 1e300, 2**53])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
types = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
small = st.integers(0, 3)


def schemas_from(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, min_size=1, max_size=3)
    maps = st.dictionaries(names, inner, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
        "const": values,
        "enum": st.lists(values, min_size=1, max_size=3),
        "required": st.lists(names, max_size=2, unique=True),
        "minProperties": small,
        "maxProperties": small,
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2, unique=True), max_size=2),
        "dependentSchemas": maps,
        "properties": maps,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "1", "."]), inner, max_size=2),
        "additionalProperties": inner,
        "minItems": small,
        "maxItems": small,
        "uniqueItems": st.booleans(),
        "prefixItems": lists,
        "items": inner,
        "contains": inner,
        "minContains": small,
        "maxContains": small,
        "minLength": small,
        "maxLength": small,
        "pattern": st.sampled_from(["^a", "b$", "^.$"]),
        "minimum": st.sampled_from([0, 1, 1.5]),
        "exclusiveMaximum": st.sampled_from([1, 2]),
        "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
        "allOf": lists,
        "anyOf": lists,
        "oneOf": lists,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "unevaluatedItems": inner,
        "unevaluatedProperties": inner,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=5, unique=True)
    return chosen.flatmap(lambda some: st.fixed_dictionaries({name: keywords[name] for name in some}))


random_schemas = st.recursive(st.booleans() | types.map(lambda name: {"type": name}), schemas_from, max_leaves=8)


@given(random_schemas, st.lists(values, min_size=1, max_size=6))
@example({"type": "string", "patternProperties": {}, "required": []}, [{}])
@example({"type": "string", "patternProperties": {"^a": False}, "additionalProperties": False}, [{"a": 1, "b": 2}])
@example(
    {"type": "string", "properties": {}, "unevaluatedProperties": False, "patternProperties": {"^a": True}}, [{"a": 1}]
)
@settings(max_examples=300)
def test_the_page_loop_says_the_same_of_random_values(schema: Any, some: list[Any]) -> None:
    checked = Schema(schema)
    assert checked.problems() == []
    told = [[(issue.pointer, issue.words) for issue in checked.issues(value)] for value in some]
    assert [checked.accepts(value) for value in some] == [not each for each in told]
    case = {"schema": schema, "values": some}
    assert page_issues([case]) == [told]
    assert page_issues([case], memory=True, frozen=True) == [told]


@given(random_schemas, st.lists(values, min_size=1, max_size=6))
@settings(max_examples=200)
def test_jsonschema_itself_gives_the_same_verdicts(schema: Any, some: list[Any]) -> None:
    # Left out: what jsonschema does otherwise (what `unevaluated…` sees).
    if "unevaluated" in json.dumps(schema):
        return
    stock = Draft202012Validator(schema)
    assert [Schema(schema).accepts(value) for value in some] == [stock.is_valid(value) for value in some]


TAMPER = """(() => {
  const makeChecker = %s;
  return (text) => {
    const check = makeChecker(JSON.parse(text), {});
    const value = JSON.parse('{"a":["x","x"],"b":"y"}');
    const names = ['isArray', 'keys', 'hasOwn', 'stringify', 'isInteger'];
    for (const owner of [Array, Object, JSON, Number]) for (const name of names) owner[name] = () => true;
    for (const prototype of [Map, Set, RegExp, String].map((each) => each.prototype)) {
      for (const name of ['get', 'set', 'has', 'add', 'exec', 'test', 'charCodeAt', 'slice']) {
        prototype[name] = () => true;
      }
    }
    Object.prototype.c = 1;
    return check(value) === undefined ? 'passed' : 'refused';
  };
})()"""


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"uniqueItems": True}}},
        {"required": ["c"]},
        {"properties": {"b": {"pattern": "^z"}}},
        {"maxProperties": 1},
        {"properties": {"a": {"type": "object"}}},
        {"properties": {"b": {"enum": [1]}}},
    ],
)
def test_code_that_ran_before_cannot_change_the_verdict(schema: Any) -> None:
    from recallkit.sandbox.schema_parts import schema_source

    with unhardened(frozen=False) as sandbox:
        told = sandbox.call(TAMPER % schema_source(), json.dumps(schema), checkpoints=500, seconds=10.0)
    assert told == "refused"
