"""What production takes of JSON Schema is a subset; each use of what it refuses is told as a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from recallkit.bounds import PRODUCTION_ENUM_VALUES, PRODUCTION_SCHEMA_BYTES, PRODUCTION_SCHEMA_LEVELS
from recallkit.definitions.issue_words import escaped
from recallkit.definitions.json_text import json_bytes

REFUSED: Final = (
    *("pattern", "patternProperties", "if", "then", "else", "contains", "minContains", "maxContains"),
    *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties"),
    *("additionalItems", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"),
)
ONE: Final = (
    *("additionalProperties", "additionalItems", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
)
LIST: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAP: Final = ("$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties")
_WOULD: Final = "production would refuse the document"


def schemas_in(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within a schema that is an object, with its pointer, in the order they stand."""
    waiting: list[tuple[str, Any]] = [(pointer, schema)]
    while waiting:
        here, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield here, node
        inner: list[tuple[str, Any]] = []
        for name, value in node.items():
            at = f"{here}/{escaped(name)}"
            if name in ONE and not isinstance(value, list):
                inner.append((at, value))
            elif name in LIST and isinstance(value, list):
                inner += [(f"{at}/{place}", each) for place, each in enumerate(value)]
            elif name in MAP and isinstance(value, dict):
                inner += [(f"{at}/{escaped(key)}", each) for key, each in value.items()]
        waiting += reversed(inner)


def keyword_pointers(schema: Any, keyword: str) -> list[str]:
    """Where a schema uses a keyword."""
    return [f"{pointer}/{escaped(keyword)}" for pointer, node in schemas_in(schema) if keyword in node]


def warnings_of(schema: Any) -> list[tuple[str, str]]:
    """Give a pointer and a sentence for each use of what production refuses."""
    told: list[tuple[str, str]] = []
    size = json_bytes(schema)
    if size > PRODUCTION_SCHEMA_BYTES:
        told.append(("", f"The schema is {size} bytes, more than {PRODUCTION_SCHEMA_BYTES}: {_WOULD}."))
    if _levels(schema) > PRODUCTION_SCHEMA_LEVELS:
        told.append(("", f"The schema nests more than {PRODUCTION_SCHEMA_LEVELS} levels deep: {_WOULD}."))
    for pointer, node in schemas_in(schema):
        for name in node:
            words = f"`{name}` is not taken: {_WOULD}." if name in REFUSED else _RULES.get(name, _nothing)(node)
            if words is not None:
                told.append((f"{pointer}/{escaped(name)}", words))
    return told


def _levels(value: Any) -> int:
    """How many lists and objects stand within one another at the deepest place."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        here, level = waiting.pop()
        if isinstance(here, dict | list):
            deepest = max(deepest, level)
            inner = here.values() if isinstance(here, dict) else here
            waiting += [(each, level + 1) for each in inner]
    return deepest


def _nothing(node: dict[str, Any]) -> str | None:
    return None


def _not(node: dict[str, Any]) -> str | None:
    return None if node["not"] == {} else f"`not` is taken only as `not: {{}}`: {_WOULD}."


def _enum(node: dict[str, Any]) -> str | None:
    choices = node["enum"]
    if not isinstance(choices, list):
        return None
    if len(choices) > PRODUCTION_ENUM_VALUES:
        return f"`enum` has {len(choices)} values, more than {PRODUCTION_ENUM_VALUES}: {_WOULD}."
    if any(isinstance(each, dict | list) for each in choices):
        return f"`enum` holds a list or an object: {_WOULD}."
    return None


def _const(node: dict[str, Any]) -> str | None:
    return f"`const` is a list or an object: {_WOULD}." if isinstance(node["const"], dict | list) else None


def _ref(node: dict[str, Any]) -> str | None:
    reference = node["$ref"]
    local = isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))
    return None if local else f"`$ref` leads out of the schema, or to no place in it: {_WOULD}."


def _additional(node: dict[str, Any]) -> str | None:
    if "properties" in node and isinstance(node["additionalProperties"], dict):
        return f"`additionalProperties` is a schema beside `properties`: {_WOULD}."
    return None


_RULES: Final[dict[str, Callable[[dict[str, Any]], str | None]]] = {
    "not": _not,
    "enum": _enum,
    "const": _const,
    "$ref": _ref,
    "additionalProperties": _additional,
}
