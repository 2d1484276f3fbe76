"""The schemas of a document as TypeScript declarations: View, Input, Output, Json, Event and the definitions' types.

The rules are the formats' (computation, Types; recall, The module). A type says less than its schema: what it cannot
say, such as `minimum` or `pattern`, is checked when a run checks its values.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import Any, Final, Literal
from urllib.parse import unquote

JSON_TYPE: Final = "type Json = null | boolean | number | string | Json[] | { [key: string]: Json };"

EVENT_TYPE: Final = """\
type Event = {
  specversion?: string;
  id: string;
  type: string;
  source: string;
  subject?: string;
  time?: string;
  datacontenttype?: string;
  dataschema?: string;
  causationid?: string;
  correlationid?: string;
  caller?: string;
  definitionversion?: number;
  depth?: number;
  calldepth?: number;
  calledby?: string;
  triggerkind?: string;
  triggerreference?: string;
  data?: Json;
};"""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_ABSENT: Final = object()
_DEEPEST: Final = 256  # the reader of front matter refuses far less; this only keeps a schema from elsewhere harmless


def declarations(
    kind: Literal["recall", "computation"], *, view: Any = None, input: Any = None, output: Any = None
) -> str:
    """Write the TypeScript declarations that a document's module is checked against.

    Parameters
    ----------
    kind : {'recall', 'computation'}
        A recall function's module sees View and Event too.
    view, input, output : dict or bool, optional
        The JSON Schemas. Without one the type is Json.

    Returns
    -------
    str
        Declarations that compile in strict mode, whatever the schemas.

    Notes
    -----
    computation, Types; recall, The module.
    """
    parts = [JSON_TYPE]
    if kind == "recall":
        parts += [EVENT_TYPE, *_Types("View", view).written()]
    parts += _Types("Input", input).written()
    parts += _Types("Output", output).written()
    return "\n\n".join(parts) + "\n"


class _Types:
    """The types of one schema: its own, its definitions', and those of the other places it refers to."""

    def __init__(self, name: str, schema: Any) -> None:
        self.name = name
        self.root = schema
        self._names: dict[str, str] = {"": name}  # by JSON Pointer
        self._taken = {name}
        self._waiting = [""]
        self._done: list[str] = []
        for keyword in ("$defs", "definitions"):
            group = schema.get(keyword) if isinstance(schema, dict) else None
            for key in group if isinstance(group, dict) else ():
                self._name_for(f"/{keyword}/{_escaped(key)}", f"{name}_{type_name(key)}")

    def written(self) -> list[str]:
        """Write every declaration, the schema's own first."""
        while self._waiting:
            pointer = self._waiting.pop(0)
            schema = None if pointer == "" and self.root is None else self._at(pointer)
            text = "Json" if schema is None else self._type(schema, pointer, _Place())
            self._done.append(f"type {self._names[pointer]} = {text};")
        return self._done

    def _name_for(self, pointer: str, wanted: str | None = None) -> str:
        if pointer not in self._names:
            name = wanted or f"{self.name}$1"
            number = 1
            while name in self._taken:  # two definitions whose names are written alike, or the next place without one
                number += 1
                name = f"{wanted or self.name}${number}"
            self._taken.add(name)
            self._names[pointer] = name
            self._waiting.append(pointer)
        return self._names[pointer]

    def _at(self, pointer: str) -> Any:
        """The value at a pointer, `_ABSENT` where there is none."""
        value = self.root
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            else:
                return _ABSENT
        return value

    def _target(self, reference: Any) -> str | None:
        """The pointer that a `$ref` names, None where it names nothing in this schema."""
        if not isinstance(reference, str):
            return None
        base, _, fragment = reference.partition("#")
        own = self.root.get("$id") if isinstance(self.root, dict) else None
        if base and base != (own.partition("#")[0] if isinstance(own, str) else None):
            return None
        pointer = unquote(fragment)
        if pointer and not pointer.startswith("/"):
            found = _anchor(self.root, pointer)
            if found is None:
                return None
            pointer = found
        return pointer if isinstance(self._at(pointer), dict | bool) else None

    def _type(self, schema: Any, pointer: str, place: _Place) -> str:
        if schema is False or schema is _ABSENT or place.levels > _DEEPEST:
            return "never" if schema is False else "Json"
        if not isinstance(schema, dict):
            return "Json"
        if schema.get("not", _ABSENT) in ({}, True):
            return "never"
        if isinstance(schema.get("$id"), str) and schema is not self.root:
            place = place.elsewhere()
        if isinstance(schema.get("enum"), list):
            return _union([_literal(each, place.levels) for each in schema["enum"]])
        if "const" in schema:
            return _literal(schema["const"], place.levels)
        return _intersection(self._parts(schema, pointer, place))

    def _parts(self, schema: dict[str, Any], pointer: str, place: _Place) -> list[str]:
        """What a value must be at once: what `$ref` names, what its own keywords say, `allOf`, one of `anyOf`…"""
        parts = []
        if "$ref" in schema:
            parts.append(self._reference(schema["$ref"], pointer, place))
        parts.append(self._own(schema, pointer, place))
        if isinstance(schema.get("allOf"), list):
            parts += [self._type(each, pointer, place) for each in schema["allOf"]]
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                parts.append(_union([self._type(each, pointer, place) for each in schema[keyword]]))
        return parts

    def _reference(self, reference: Any, pointer: str, place: _Place) -> str:
        target = None if place.foreign else self._target(reference)
        # A type that is itself, with no property or item between, says nothing: Json says as much, and compiles.
        if target is None or (place.direct and self._leads(target, pointer)):
            return "Json"
        return self._name_for(target)

    def _leads(self, start: str, goal: str) -> bool:
        """Whether a value at `start` is one at `goal` too, by references with no property or item between."""
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            pointer = waiting.pop()
            if pointer == goal:
                return True
            if pointer not in seen:
                seen.add(pointer)
                waiting += [
                    each for each in map(self._target, _direct_references(self._at(pointer))) if each is not None
                ]
        return False

    def _own(self, schema: dict[str, Any], pointer: str, place: _Place) -> str:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return _union([self._kind(each, schema, pointer, place) for each in kinds])
        if kinds is not None:
            return self._kind(kinds, schema, pointer, place)
        if "properties" in schema or "additionalProperties" in schema:
            return self._object(schema, pointer, place)
        if "items" in schema or "prefixItems" in schema:
            return self._array(schema, pointer, place)
        return "Json"

    def _kind(self, kind: Any, schema: dict[str, Any], pointer: str, place: _Place) -> str:
        if kind == "object":
            return self._object(schema, pointer, place)
        if kind == "array":
            return self._array(schema, pointer, place)
        simple = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
        return simple.get(kind, "Json") if isinstance(kind, str) else "Json"

    def _object(self, schema: dict[str, Any], pointer: str, place: _Place) -> str:
        inner = place.within()
        more = schema.get("additionalProperties", _ABSENT)
        properties = schema.get("properties")
        if not isinstance(properties, dict) or not properties:
            patterns = bool(schema.get("patternProperties"))
            value = "Json" if more is _ABSENT or patterns else self._type(more, pointer, inner)
            return f"{{ [key: string]: {value} }}"
        required = schema.get("required")
        needed = {each for each in required if isinstance(each, str)} if isinstance(required, list) else set()
        lines = [
            f"{_property_name(name)}{'' if name in needed else '?'}: {self._type(each, pointer, inner)};"
            for name, each in properties.items()
        ]
        if more is True:
            lines.append("[key: string]: Json;")
        pad = "  " * (place.levels + 1)
        return "{\n" + "".join(f"{pad}{line}\n" for line in lines) + "  " * place.levels + "}"

    def _array(self, schema: dict[str, Any], pointer: str, place: _Place) -> str:
        inner = place.within()
        items = schema.get("items", _ABSENT)
        first = schema.get("prefixItems")
        if isinstance(items, list):  # as older drafts wrote a tuple
            first, items = items, schema.get("additionalItems", _ABSENT)
        rest = "Json" if items is _ABSENT else self._type(items, pointer, inner)
        if not isinstance(first, list) or not first:
            return f"{_grouped(rest)}[]"
        members = [self._type(each, pointer, inner) for each in first]
        if items is not False:
            members.append(f"...{_grouped(rest)}[]")
        return f"[{', '.join(members)}]"


class _Place:
    """Where in a declaration a type stands.

    Attributes
    ----------
    levels : int
        How many braces and brackets are around it.
    foreign : bool
        Whether it stands below an `$id` of its own, from where a reference would start.
    direct : bool
        Whether no property and no item is between it and the declaration.
    """

    def __init__(self, levels: int = 0, foreign: bool = False) -> None:
        self.levels = levels
        self.foreign = foreign

    @property
    def direct(self) -> bool:
        return self.levels == 0

    def within(self) -> _Place:
        return _Place(self.levels + 1, self.foreign)

    def elsewhere(self) -> _Place:
        return _Place(self.levels, True)


def type_name(key: str) -> str:
    """Write a definition's key as a part of a type's name.

    A character that a name cannot hold is written as its code point between two ``$``: ``street-address`` is
    ``street$45$address`` (computation, Types).
    """
    return "".join(each if _can_stand_in_a_name(each) else f"${ord(each)}$" for each in key)


def _can_stand_in_a_name(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in "_$"
    # Letters and marks that are their own compatibility form; the compiler's tables may be older than Python's, so
    # none from the later planes.
    return ord(character) < 0x10000 and f"a{character}".isidentifier() and _old_letter(character)


def _old_letter(character: str) -> bool:
    return unicodedata.ucd_3_2_0.category(character)[0] in "LMN"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _anchor(value: Any, name: str, pointer: str = "") -> str | None:
    """The pointer of the place that calls itself by an `$anchor`."""
    if isinstance(value, dict):
        if value.get("$anchor") == name or value.get("$id") == f"#{name}":
            return pointer
        members = ((_escaped(key), each) for key, each in value.items() if isinstance(key, str))
    elif isinstance(value, list):
        members = ((str(index), each) for index, each in enumerate(value))
    else:
        return None
    for key, each in members:
        found = _anchor(each, name, f"{pointer}/{key}")
        if found is not None:
            return found
    return None


def _direct_references(schema: Any) -> list[Any]:
    if not isinstance(schema, dict):
        return []
    found = [schema["$ref"]] if "$ref" in schema else []
    for keyword in ("allOf", "anyOf", "oneOf"):
        group = schema.get(keyword)
        for each in group if isinstance(group, list) else ():
            found += _direct_references(each)
    return found


def _property_name(name: str) -> str:
    return name if _IDENTIFIER.match(name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text)  # ASCII, every quote and line end escaped: nothing in it can leave the literal


def _literal(value: Any, levels: int) -> str:
    """The type of exactly this JSON value."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    if levels > _DEEPEST:
        return "Json"
    if isinstance(value, list):
        return f"[{', '.join(_literal(each, levels + 1) for each in value)}]"
    if isinstance(value, dict):
        if not value:
            return "{ [key: string]: never }"
        return (
            "{ "
            + " ".join(f"{_property_name(key)}: {_literal(each, levels + 1)};" for key, each in value.items())
            + " }"
        )
    return "Json"


def _number(value: int | float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "number"
    if not math.isfinite(number):
        return "number"
    if number == 0:
        return "0"
    return str(value) if isinstance(value, int) and abs(value) <= 2**53 else repr(number)


def _union(types: list[str]) -> str:
    kept = list(dict.fromkeys(each for each in types if each != "never"))
    if not kept:
        return "never"
    return "Json" if "Json" in kept else " | ".join(_grouped(each) if "&" in each else each for each in kept)


def _intersection(types: list[str]) -> str:
    kept = list(dict.fromkeys(each for each in types if each != "Json"))
    if not kept:
        return "Json"
    if len(kept) == 1:
        return kept[0]
    return " & ".join(_grouped(each) if "|" in each else each for each in kept)


def _grouped(text: str) -> str:
    """A type as the operand of another: in parentheses unless it is a plain name."""
    return text if _IDENTIFIER.match(text) else f"({text})"
