"""What a schema accepts, its type accepts: random schemas, and values that they accept, put to the compiler."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recallkit.definitions.checker import check_module
from recallkit.definitions.types import declarations

NAMES = st.sampled_from(["a", "b", "two words", "$x", "1", "é", "key"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2), max_leaves=4
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects whose type says all that the schema says: closed ones, open ones, and those of one type of value."""
    return st.one_of(
        st.builds(
            lambda properties, needed, more: {
                "type": "object",
                "properties": properties,
                "required": sorted(set(properties) & needed),
                "additionalProperties": more,
            },
            st.dictionaries(NAMES, inner, min_size=1, max_size=3),
            st.sets(NAMES),
            st.booleans(),
        ),
        st.builds(lambda value: {"type": "object", "additionalProperties": value}, inner),
        st.just({"type": "object"}),
    )


def arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(lambda items, most: {"type": "array", "items": items, "maxItems": most}, inner, st.integers(0, 3)),
        st.builds(
            lambda first, items: {
                "type": "array",
                "prefixItems": first,
                "items": items,
                "minItems": len(first),
                "maxItems": 4,
            },
            st.lists(inner, min_size=1, max_size=2),
            inner | st.booleans(),
        ),
    )


SCHEMAS = st.recursive(
    st.one_of(
        st.sampled_from(["string", "number", "integer", "boolean", "null"]).map(lambda kind: {"type": kind}),
        st.just({"type": ["string", "null", "integer"]}),
        st.lists(VALUES, min_size=1, max_size=3).map(lambda values: {"enum": values}),
        VALUES.map(lambda value: {"const": value}),
        st.just({}),
        st.just({"$ref": "#/$defs/leaf"}),
    ),
    lambda inner: (
        objects(inner)
        | arrays(inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each})
        | inner.map(lambda each: {"allOf": [each, {}]})
    ),
    max_leaves=6,
)


LEAF = {"type": ["string", "null"]}
KINDS = {
    "string": st.text(max_size=4),
    "null": st.none(),
    "boolean": st.booleans(),
    "integer": st.integers(-(2**60), 2**60),
    "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
}


def accepted(schema: Any) -> st.SearchStrategy[Any]:
    """Values that one of the schemas above accepts."""
    if schema is True or schema == {}:
        return VALUES
    for keyword in ("anyOf", "allOf"):
        if keyword in schema:
            return st.one_of([accepted(each) for each in schema[keyword][: 1 if keyword == "allOf" else None]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if "$ref" in schema:
        return accepted(LEAF)
    kinds = schema["type"]
    if kinds == "array":
        return _accepted_list(schema)
    if kinds == "object":
        return _accepted_object(schema)
    return st.one_of([KINDS[each] for each in (kinds if isinstance(kinds, list) else [kinds])])


def _accepted_list(schema: Any) -> st.SearchStrategy[Any]:
    first = schema.get("prefixItems", [])
    most = 0 if schema["items"] is False else schema["maxItems"] - len(first)
    rest = st.lists(VALUES if schema["items"] is False else accepted(schema["items"]), max_size=most)
    return st.tuples(st.tuples(*map(accepted, first)), rest).map(lambda parts: [*parts[0], *parts[1]])


def _accepted_object(schema: Any) -> st.SearchStrategy[Any]:
    more = schema.get("additionalProperties", True)
    extra = st.just({}) if more is False else st.dictionaries(NAMES, accepted(more), max_size=2)
    if "properties" not in schema:
        return extra
    members = {name: accepted(each) for name, each in schema["properties"].items()}
    needed = {name: members.pop(name) for name in schema["required"]}
    own = st.fixed_dictionaries(needed, optional=members)
    return st.tuples(extra, own).map(
        lambda parts: {name: each for name, each in parts[0].items() if name not in schema["properties"]} | parts[1]
    )


@st.composite
def schema_and_values(draw: st.DrawFn) -> tuple[Any, list[Any]]:
    schema = draw(SCHEMAS)
    values = draw(st.lists(accepted(schema), min_size=1, max_size=4))
    schema = {**schema, "$defs": {"leaf": LEAF}}
    for each in values:
        jsonschema.Draft202012Validator(schema).validate(each)
    return schema, values


def exact_type(value: Any) -> str:
    """The type of exactly this value, written apart from the project's own way."""
    if isinstance(value, dict):
        return "{" + "".join(f"{json.dumps(key)}: {exact_type(each)};" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(exact_type, value)) + "]"
    return json.dumps(value)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.lists(schema_and_values(), min_size=3, max_size=3))
def test_what_a_schema_accepts_its_type_accepts(drawn: list[tuple[Any, list[Any]]]) -> None:
    names = ("view", "input", "output")
    declared = declarations("recall", **{name: schema for name, (schema, _) in zip(names, drawn, strict=True)})
    lines = []
    for name, (_, values) in zip(names, drawn, strict=True):
        for value in values:
            lines.append(f"type V{len(lines)} = {exact_type(value)};")
            lines.append(f"export function f{len(lines)}(v: V{len(lines) - 1}): {name.title()} {{ return v; }}")
    lines.append("export function fold(view: View, event: Event): View { return view; }")
    assert check_module("recall", "\n".join(lines), 1, declared).problems == [], lines
