"""Schemas as TypeScript types: the rules of the formats (computation, Types; recall, The module)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from recallkit.definitions.checker import check_module
from recallkit.definitions.types import declarations, type_name


def input_type(schema: Any) -> str:
    """The declarations of an input schema, without Json and Output."""
    text = declarations("computation", input=schema)
    return text.partition("\n\n")[2].removesuffix("\n\ntype Output = Json;\n")


def problems(declared: str, body: str = "") -> list[str]:
    module = f"{body}\nexport function fold(view: View, event: Event): View {{ return view; }}"
    return [each.words for each in check_module("recall", module, 1, declared).problems]


def takes(schema: Any, value: str) -> bool:
    """Whether the compiler lets a program return this expression as an Input."""
    return not problems(declarations("recall", input=schema), f"export function f(): Input {{ return {value}; }}")


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        (None, "Json"),
        (True, "Json"),
        (False, "never"),
        ({}, "Json"),
        ({"not": {}}, "never"),
        ({"description": "anything"}, "Json"),
        ({"type": "string"}, "string"),
        ({"type": "integer", "minimum": 3}, "number"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "null"}, "null"),
        ({"type": ["integer", "null", "string"]}, "number | null | string"),
        ({"type": "object"}, "{ [key: string]: Json }"),
        ({"type": "object", "required": ["a"]}, "{ [key: string]: Json }"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{ [key: string]: number }"),
        ({"type": "object", "additionalProperties": False}, "{ [key: string]: never }"),
        ({"type": "array"}, "Json[]"),
        ({"type": "array", "maxItems": 3, "items": {"type": "integer"}}, "number[]"),
        ({"type": "array", "items": {"type": ["string", "null"]}}, "(string | null)[]"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "[string, ...Json[]]"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}}, "[string, ...number[]]"),
        ({"type": "array", "prefixItems": [{"type": "string"}, True], "items": False}, "[string, Json]"),
        ({"enum": ["a", 1, None, True, 1.5, -2]}, '"a" | 1 | null | true | 1.5 | -2'),
        ({"const": "a"}, '"a"'),
        ({"const": {"a": [1, "b"]}}, '{ a: [1, "b"]; }'),
        ({"enum": ["a"], "const": "b", "type": "integer"}, '"a"'),
        ({"const": "b", "type": "integer"}, '"b"'),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string | number"),
        ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "string"),
        ({"anyOf": [{"type": "string"}, {}]}, "Json"),
        ({"anyOf": [{"type": "string"}, False]}, "string"),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "string"),
        ({"properties": {"a": {"type": "string"}}}, "{\n  a?: string;\n}"),
        ({"additionalProperties": {"type": "string"}}, "{ [key: string]: string }"),
        ({"items": {"type": "string"}}, "string[]"),
        ({"prefixItems": [{"type": "string"}]}, "[string, ...Json[]]"),
        ({"type": "string", "pattern": "^a", "format": "date"}, "string"),
        ({"$ref": "https://elsewhere.example/schema"}, "Json"),
        ({"$ref": "#/$defs/none"}, "Json"),
        ({"$ref": "#"}, "Json"),
    ],
)
def test_a_schema_is_written_as_its_type(schema: Any, written: str) -> None:
    assert input_type(schema) == f"type Input = {written};"
    assert problems(declarations("recall", view=schema, input=schema, output=schema)) == []


def test_an_object_with_properties_is_closed_unless_additional_properties_opens_it() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "required": ["a", "two words"],
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "two words": True, "$x": {}, "class": {}},
    }
    lines = ["  a: string;", "  b?: number;", '  "two words": Json;', "  $x?: Json;", "  class?: Json;"]
    assert input_type(schema).split("\n") == ["type Input = {", *lines, "};"]
    assert input_type({**schema, "additionalProperties": False}).split("\n") == ["type Input = {", *lines, "};"]
    assert input_type({**schema, "additionalProperties": {"type": "string"}}).split("\n")[1:-1] == lines
    opened = {**schema, "additionalProperties": True}
    assert input_type(opened).split("\n")[1:-1] == [*lines, "  [key: string]: Json;"]
    assert problems(declarations("recall", view=opened)) == []
    assert takes(opened, "{ a: 'x', 'two words': null, more: [1] }")
    assert not takes(schema, "{ a: 'x', 'two words': null, more: [1] }")


def test_parts_of_a_schema_hold_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "integer"}}}],
        "allOf": [{"properties": {"c": {"type": "null"}}}],
    }
    assert takes(schema, "{ a: 'x', c: null }")
    assert not takes(schema, "{ a: 1 }")
    either = {
        "allOf": [{"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"]}],
        "oneOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"y": {"type": "string"}}}],
    }
    assert takes(either, "{ k: 1, x: 'a' }")
    assert not takes(either, "{ k: 2, x: 'a' }")


def test_definitions_are_types_of_their_own_named_after_schema_and_definition() -> None:
    address = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
    text = declarations(
        "recall",
        view={"$defs": {"address": address}},
        input={"$ref": "#/$defs/address", "$defs": {"address": address, "street-address": {"$ref": "#/$defs/address"}}},
        output={"definitions": {"address": address}},
    )
    for name in ("View_address", "Input_address", "Output_address"):
        assert f"type {name} = {{\n  city: string;\n}};" in text
    assert "type Input = Input_address;" in text
    assert "type Input_street$45$address = Input_address;" in text


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("address", "address"),
        ("street-address", "street$45$address"),
        ("depot-hall.2", "depot$45$hall$46$2"),
        ("a$b_1", "a$b_1"),
        ("", ""),
        ("é", "é"),
        ("a b", "a$32$b"),
        ("😀", "$128512$"),
        ("\n", "$10$"),
        ("*/", "$42$$47$"),
        ("\ud800", "$55296$"),
    ],
)
def test_a_character_that_a_name_cannot_hold_is_its_code_point(key: str, name: str) -> None:
    assert type_name(key) == name
    assert problems(declarations("recall", input={"$defs": {key: {"type": "string"}}}), f"type A = Input_{name};") == []


def test_whatever_stands_as_itself_in_a_name_is_a_character_that_the_compiler_takes() -> None:
    kept = [chr(point) for point in range(sys.maxunicode + 1) if type_name(chr(point)) == chr(point)]
    assert {"a", "Z", "9", "$", "_", "é", "ß", "名"} <= set(kept)
    keys = ["".join(kept[start : start + 5000]) for start in range(0, len(kept), 5000)]
    assert problems(declarations("recall", input={"$defs": {key: {} for key in keys}})) == []


def test_definitions_whose_names_are_written_alike_stay_apart() -> None:
    schema = {
        "$defs": {"a-b": {"type": "string"}, "a$45$b": {"type": "number"}},
        "definitions": {"a-b": {"type": "null"}},
        "type": "object",
        "properties": {
            "x": {"$ref": "#/$defs/a-b"},
            "y": {"$ref": "#/$defs/a$45$b"},
            "z": {"$ref": "#/definitions/a-b"},
        },
        "required": ["x", "y", "z"],
    }
    assert takes(schema, "{ x: 'a', y: 1, z: null }")
    assert not takes(schema, "{ x: 'a', y: 'a', z: null }")
    assert not takes(schema, "{ x: 'a', y: 1, z: 'a' }")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"type": "array", "items": {"$ref": "#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "prefixItems": [{"$ref": "#/$defs/a"}]}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/b"}}}, "b": {"$ref": "#/$defs/a"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": {"$ref": "#/$defs/a"}}}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"$ref": "#/properties/a"}}}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "#here"}, "b": {"$anchor": "here", "type": "string"}}},
        {"$id": "https://a.example/s", "type": "object", "properties": {"a": {"$ref": "https://a.example/s#/$defs/x"}},
         "$defs": {"x": {"type": "string"}}},
    ],
)  # fmt: skip
def test_a_reference_may_lead_back_to_where_it_stands(schema: Any) -> None:
    assert problems(declarations("recall", view=schema, input=schema, output=schema)) == []


@pytest.mark.parametrize(
    "definitions",
    [
        {"a": {"$ref": "#/$defs/a"}},
        {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}},
        {"a": {"allOf": [{"$ref": "#/$defs/b"}], "type": "object"}, "b": {"oneOf": [{"$ref": "#/$defs/a"}]}},
        {"a": {"$ref": "#"}},
    ],
)
def test_a_reference_that_loops_with_nothing_between_is_any_json(definitions: Any) -> None:
    schema = {"$ref": "#/$defs/a", "$defs": definitions}
    assert problems(declarations("recall", view=schema, input=schema, output=schema)) == []


def test_references_resolve_by_pointer_with_its_escapes() -> None:
    schema = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {
            "a": {"$ref": "#/$defs/x~1y~0%20z"},
            "b": {"$ref": "#/properties/c/anyOf/1"},
            "c": {"anyOf": [{}, {"type": "null"}]},
        },
        "$defs": {"x/y~ z": {"type": "string"}},
    }
    assert takes(schema, "{ a: 'x', b: null }")
    assert not takes(schema, "{ a: 1, b: null }")
    assert not takes(schema, "{ a: 'x', b: 1 }")


HOSTILE = [
    '"; type Stolen = 1; //',
    "*/ type Stolen = 1; /*",
    "`${1}`",
    "a\nb",
    "\u2028",
    "\ud800",
    "'",
    "\\",
    "}",
    "__proto__",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_schema_leaves_its_literal(text: str) -> None:
    schema = {
        "description": text,
        "type": "object",
        "required": [text],
        "properties": {text: {"enum": [text, {text: text}]}, "b": {"const": text}, "c": {"$ref": f"#/$defs/{text}"}},
        "$defs": {text: {"type": "string"}},
        "title": text,
    }
    written = declarations("recall", view=schema, input=schema, output=schema)
    assert problems(written) == []
    assert "Cannot find name 'Stolen'" in " ".join(problems(written, "type A = Stolen;"))


def test_numbers_of_an_enum_keep_their_values() -> None:
    schema = {"enum": [0, -0.0, 1.0, -1, 1e22, 1e-7, 2**53, 12345678901234567890, 10**400, 1.5]}
    assert problems(declarations("recall", input=schema)) == []
    assert takes({"enum": [1.0, 1e22, 12345678901234567890]}, "12345678901234567890")
    assert takes({"const": 10**400}, "5")


def test_event_is_declared_as_the_format_says() -> None:
    text = declarations("recall")
    event = text[text.index("type Event") : text.index("};", text.index("type Event"))]
    members = dict(line.strip().rstrip(";").split(": ") for line in event.split("\n")[1:] if line)
    assert [name for name in members if not name.endswith("?")] == ["id", "type", "source"]
    assert [name for name, each in members.items() if each == "number"] == [
        "definitionversion?",
        "depth?",
        "calldepth?",
    ]
    assert members["data?"] == "Json"
    assert " ".join(name.rstrip("?") for name in members) == (
        "specversion id type source subject time datacontenttype dataschema causationid correlationid caller "
        "definitionversion depth calldepth calledby triggerkind triggerreference data"
    )
    body = "export function f(event: Event): Json { return (event as Event & { region?: string }).region ?? null; }"
    assert problems(text, body) == []
    assert "does not exist on type 'Event'" in problems(text, body.replace(" as Event & { region?: string }", ""))[0]


def test_a_computation_function_sees_input_output_and_json_alone() -> None:
    text = declarations("computation", view={"type": "string"})
    assert [line.split()[1] for line in text.split("\n") if line.startswith("type ")] == ["Json", "Input", "Output"]


def test_every_schema_of_the_outside_suite_compiles(shared: Path) -> None:
    folder = shared / "suites" / "json-schema-to-typescript" / "inputs"
    paths = sorted(folder.glob("*.json"))
    assert len(paths) == 123
    refused = {}
    for path in paths:
        schema = json.loads(path.read_text(encoding="utf-8"))
        found = problems(declarations("recall", view=schema, input=schema, output=schema))
        if found:
            refused[path.stem] = found
    assert refused == {}
