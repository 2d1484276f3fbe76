"""Filters and schemas in plain words, as Markdown, for a person who reads neither TypeScript nor YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote

from recallkit.definitions.filters import ABSENT, Filter
from recallkit.definitions.json_text import json_text
from recallkit.definitions.pointers import split_pointer

_RUNS: Final = {
    "run_started": "starts",
    "run_succeeded": "succeeds",
    "run_failed": "fails",
    "run_rejected": "is rejected",
}
_DEFINITIONS: Final = {
    "definition_created": "is created",
    "definition_updated": "is updated",
    "definition_retired": "is retired",
}
_DEFINED: Final = re.compile(r"(?:/definitions/)?(reasoning|interaction|computation|recall|workflow)/([a-z0-9-]+)")
_CODE_AT_MOST: Final = 300
_REF_HOPS: Final = 32
# What a schema may say beyond what the words below tell; named so that a reader knows there is more.
_MORE: Final = (
    "if", "contains", "dependentRequired", "dependentSchemas", "propertyNames", "patternProperties",
    "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip


def plain(text: str) -> str:
    """A text as one line of Markdown that reads as it was written."""
    line = " ".join(text.split())
    line = re.sub(r"([\\`*\[\]<>|~])", r"\\\1", line)
    line = re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", line)  # not inside a name such as cost_cents
    line = re.sub(r"&(?=[#a-zA-Z0-9]+;)", "&amp;", line)
    line = re.sub(r"^([#+-])", r"\\\1", line)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", line)


def code(text: str, *, whole: bool = False) -> str:
    """A text as a span of Markdown code, on one line, cut when it is long unless the whole is wanted."""
    line = " ".join(text.split()) if any(each in text for each in "\r\n") else text
    if len(line) > _CODE_AT_MOST and not whole:
        line = f"{line[:_CODE_AT_MOST]}…"
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line.strip() else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a row: ``a, b and c``."""
    every = list(words)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {last} {every[-1]}"


def function_words(type_: str, name: str) -> str:
    """A definition in words, such as ``the reasoning function review-brief``."""
    return f"the workflow {name}" if type_ == "workflow" else f"the {type_} function {name}"


def filter_sentence(found: Filter) -> str:
    """When a filter takes an event (recall, The overview).

    Examples
    --------
    ``each time a run of the reasoning function review-brief succeeds``
    """
    attributes = dict(found.attributes)
    type_ = str(attributes.pop("type", ""))
    if type_ in _RUNS:
        beginning = _run_words(type_, attributes)
    elif type_ in _DEFINITIONS:
        beginning = _definition_words(type_, attributes)
    else:
        beginning = f"each time an event of the type {code(type_)} is recorded"
    parts = [
        f"{name} {code(value, whole=True) if isinstance(value, str) else value}" for name, value in attributes.items()
    ]
    sentence = f"{beginning}, with {listed(parts)}" if parts else beginning
    if found.expression is not None:
        return f"{sentence}, when {code('${' + found.expression + '}', whole=True)} holds for its data"
    if found.data is None:
        return f"{sentence}, without data"
    if found.data is not ABSENT:
        return f"{sentence}, with data equal to {code(json_text(found.data), whole=True)}"
    return sentence


def _run_words(type_: str, attributes: dict[str, str | int]) -> str:
    verb = _RUNS[type_]
    if "subject" not in attributes:
        return f"each time any run {verb}: every run of the playbook"
    named = _DEFINED.fullmatch(str(attributes["subject"]))
    if not named or str(attributes["subject"]).startswith("/"):
        return f"each time a run {verb}"
    del attributes["subject"]
    return f"each time a run of {function_words(named[1], named[2])} {verb}"


def _definition_words(type_: str, attributes: dict[str, str | int]) -> str:
    verb = _DEFINITIONS[type_]
    if "source" not in attributes:
        return f"each time any definition {verb}: every definition of the playbook"
    named = _DEFINED.fullmatch(str(attributes["source"]))
    if not named or not str(attributes["source"]).startswith("/"):
        return f"each time a definition {verb}"
    del attributes["source"]
    return f"each time {function_words(named[1], named[2])} {verb}"


class SchemaWords:
    """One schema in words. ``phrase`` says what a value is; ``lines`` adds its fields as a Markdown list."""

    def __init__(self, schema: Any) -> None:
        self.root = schema

    def phrase(self, schema: Any, nested: bool = False) -> str:
        """What a value of the schema is, with its bounds, such as ``a list of at most 20, each a text``."""
        schema, looped = self.resolve(schema)
        if looped:
            return "a value like the one it stands in"
        if schema is False:
            return "nothing: no value is allowed"
        if not isinstance(schema, dict):
            return "any JSON value"
        said = self._said(schema, nested)
        more = [code(key) for key in _MORE if key in schema]
        if "not" in schema:
            refused = self.resolve(schema["not"])[0]
            said += ", never" if refused in ({}, True) else f", but not {self.phrase(refused, True)}"
        return f"{said}, with further rules ({', '.join(more)})" if more else said

    def lines(self, schema: Any, indent: str = "", level: int = 0) -> Iterator[str]:
        """The fields of a record (or of each record of a list), one a line; records one level down with theirs."""
        record = self.record(schema)
        if record is None:
            return
        required = record.get("required")
        names = required if isinstance(required, list) else []
        for name, member in record["properties"].items():
            parts = [f"{indent}- {code(name)}{'' if name in names else ' (optional)'}: {self.phrase(member)}."]
            parts += self.notes(member)
            yield " ".join(parts)
            if level == 0:
                yield from self.lines(member, f"{indent}  ", 1)

    def notes(self, schema: Any) -> list[str]:
        """What stands beside a schema: its description and default, of the reference or of what it names."""
        found, _ = self.resolve(schema)
        said: dict[str, Any] = {
            **(found if isinstance(found, dict) else {}),
            **(schema if isinstance(schema, dict) else {}),
        }
        notes = []
        if isinstance(said.get("description"), str) and said["description"].strip():
            words = plain(said["description"])
            notes.append(words if words.endswith((".", "!", "?", "…")) else f"{words}.")
        if "default" in said:
            notes.append(f"When it is left out: {code(json_text(said['default']))}.")
        return notes

    def record(self, schema: Any) -> dict[str, Any] | None:
        """The schema of a record with named fields: the schema itself, or that of a list's items or a map's members."""
        for _ in range(_REF_HOPS):
            schema, looped = self.resolve(schema)
            if looped or not isinstance(schema, dict):
                return None
            properties = schema.get("properties")
            if isinstance(properties, dict) and properties:
                return schema
            schema = schema.get("items", schema.get("additionalProperties"))
        return None

    def resolve(self, schema: Any) -> tuple[Any, bool]:
        """Follow local references; True when they lead back to themselves."""
        for _ in range(_REF_HOPS):
            if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
                return schema, False
            reference = schema["$ref"]
            if not reference.startswith("#/") and reference != "#":
                return {key: value for key, value in schema.items() if key != "$ref"}, False
            if reference == "#":
                return {}, True
            target = self.root
            for step in split_pointer(unquote(reference[1:])):
                if isinstance(target, list) and step.isdecimal() and int(step) < len(target):
                    target = target[int(step)]
                else:
                    target = target.get(step) if isinstance(target, dict) else None
            schema = {} if target is None else target
        return {}, True

    def _said(self, schema: dict[str, Any], nested: bool) -> str:
        if isinstance(schema.get("enum"), list):
            values = [code(json_text(value)) for value in schema["enum"]]
            if not values:
                return "nothing: no value is allowed"
            return f"one of {listed(values, 'or')}" if len(values) > 1 else f"exactly {values[0]}"
        if "const" in schema:
            return f"exactly {code(json_text(schema['const']))}"
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key] and not nested:
                return listed([self.phrase(each, True) for each in schema[key]], "or")
        if isinstance(schema.get("allOf"), list) and schema["allOf"] and not nested:
            return " that is also ".join(self.phrase(each, True) for each in schema["allOf"])
        kinds = schema.get("type", _kind_of(schema))
        each_kind = kinds if isinstance(kinds, list) else [kinds]
        return listed([self._kind(str(kind), schema, nested) for kind in each_kind] or ["any JSON value"], "or")

    def _kind(self, kind: str, schema: dict[str, Any], nested: bool) -> str:
        if kind == "string":
            return _text_words(schema)
        if kind in ("number", "integer"):
            return _number_words("a whole number" if kind == "integer" else "a number", schema)
        if kind == "array":
            return self._list_words(schema, nested)
        if kind == "object":
            return self._record_words(schema, nested)
        if kind in ("boolean", "null"):
            return "true or false" if kind == "boolean" else "null"
        return _any_words(schema)

    def _list_words(self, schema: dict[str, Any], nested: bool) -> str:
        words = "a list" + _bounds(schema, "minItems", "maxItems", " of {}", "item")
        if schema.get("uniqueItems") is True:
            words += ", all different"
        if isinstance(schema.get("prefixItems"), list) and schema["prefixItems"]:
            words += f", in order {listed([self.phrase(each, True) for each in schema['prefixItems']])}"
        items = schema.get("items")
        if items is None or nested:
            return words
        return f"{words}, {'then ' if 'prefixItems' in schema else ''}each {self.phrase(items, self._deep(items))}"

    def _record_words(self, schema: dict[str, Any], nested: bool) -> str:
        size = _bounds(schema, "minProperties", "maxProperties", " with {}", "entry")
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties:
            shown = [code(name) for name in list(properties)[:12]]
            more = ["more"] if len(properties) > 12 else []
            opened = ", and any other fields" if schema.get("additionalProperties") is True else ""
            return f"a record{size} of {listed([*shown, *more])}{opened}"
        members = schema.get("additionalProperties")
        if isinstance(members, dict) and members and not nested:
            return f"a record{size}, each entry under its own name {self.phrase(members, self._deep(members))}"
        return f"an empty record{size}" if members is False else f"a record{size}"

    def _deep(self, schema: Any) -> bool:
        """Whether a schema inside a schema would tell too much: only its own first level is said."""
        found, looped = self.resolve(schema)
        if looped or not isinstance(found, dict):
            return False
        inner = self.resolve(found.get("items", found.get("additionalProperties")))[0]
        return isinstance(inner, dict) and ("items" in inner or isinstance(inner.get("additionalProperties"), dict))


def _kind_of(schema: dict[str, Any]) -> str:
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "any"


def _bounds(schema: dict[str, Any], least: str, most: str, form: str, unit: str) -> str:
    low, high = schema.get(least), schema.get(most)
    low = None if low == 0 else low
    units = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
    if low is None and high is None:
        return ""
    if low == high:
        return form.format(f"exactly {low:,} {unit if low == 1 else units}")
    if high is None:
        return form.format(f"at least {low:,} {unit if low == 1 else units}")
    if low is None:
        return form.format(f"at most {high:,} {unit if high == 1 else units}")
    return form.format(f"{low:,} to {high:,} {units}")


def _any_words(schema: dict[str, Any]) -> str:
    """A schema without a type: its bounds hold for the values of their kind."""
    number, text = _number_words("", schema).strip(), _text_words(schema).removeprefix("a text").strip()
    parts = ["any JSON value"]
    if number:
        parts.append(f"if a number, {number}")
    if text:
        parts.append(f"if a text, {text}")
    return "; ".join(parts)


def _text_words(schema: dict[str, Any]) -> str:
    words = "a text" + _bounds(schema, "minLength", "maxLength", " of {}", "character")
    if isinstance(schema.get("format"), str):
        words += f" in the form {code(schema['format'])}"
    if isinstance(schema.get("pattern"), str):
        words += f" that matches {code(schema['pattern'])}"
    return words


def _number_words(words: str, schema: dict[str, Any]) -> str:
    parts = []
    if "minimum" in schema and "maximum" in schema:
        parts.append(f"from {_number(schema['minimum'])} to {_number(schema['maximum'])}")
    elif "minimum" in schema:
        parts.append(f"from {_number(schema['minimum'])}")
    elif "maximum" in schema:
        parts.append(f"of at most {_number(schema['maximum'])}")
    if "exclusiveMinimum" in schema:
        parts.append(f"above {_number(schema['exclusiveMinimum'])}")
    if "exclusiveMaximum" in schema:
        parts.append(f"below {_number(schema['exclusiveMaximum'])}")
    if "multipleOf" in schema:
        parts.append(f"in steps of {_number(schema['multipleOf'])}")
    if isinstance(schema.get("format"), str) and words:
        parts.append(f"in the form {code(schema['format'])}")
    return " ".join([words, *parts])


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else json_text(value)
