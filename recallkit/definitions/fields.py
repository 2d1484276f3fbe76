"""What both kinds of document share: which fields they have, their kinds of value, and their common rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from recallkit.bounds import DESCRIPTION_CHARACTERS, LANGUAGE
from recallkit.definitions.frontmatter import Document
from recallkit.definitions.pointers import join_pointer
from recallkit.definitions.schemas import Schema
from recallkit.errors import Problem

Kind = Literal["recall", "computation"]

LANGUAGE_SENTENCE: Final = "The playbook's one language is TypeScript; write the program as a TypeScript function"

# A section maps its fields to the test each value passes, with the words that say what it should be.
Test = tuple[Callable[[Any], bool], str]
Section = dict[str, Any]

_ANY: Final[Test] = (lambda value: True, "any JSON value")
_TEXT: Final[Test] = (lambda value: isinstance(value, str), "a text; put a number or a word such as true in quotes")
_LIST: Final[Test] = (lambda value: isinstance(value, list), "a list")
_SCHEMA: Final[Test] = (
    lambda value: isinstance(value, dict | bool),
    "a JSON Schema, a mapping such as { type: object }",
)

FIELDS: Final[dict[Kind, Section]] = {
    "recall": {
        "description": _TEXT,
        "language": _TEXT,
        "source": {"events": _LIST},
        "view": {"initial": _ANY, "schema": _SCHEMA},
        "input": {"schema": _SCHEMA},
        "output": {"schema": _SCHEMA},
    },
    "computation": {
        "description": _TEXT,
        "language": _TEXT,
        "input": {"schema": _SCHEMA},
        "output": {"schema": _SCHEMA, "shape": _TEXT},
    },
}
REQUIRED: Final[dict[Kind, dict[str, str]]] = {
    "recall": {
        "language": f"language is required: language: {LANGUAGE}",
        "source": "source.events is required: 1 to 8 filters that name the events the function folds",
    },
    "computation": {"language": f"language is required: language: {LANGUAGE}"},
}
OF_A_REASONING_FUNCTION: Final = frozenset({"model", "config", "tools", "output.format", "input.default"})


@dataclass
class Findings:
    """The problems found in one document, each placed where its pointer stands."""

    document: Document
    problems: list[Problem] = field(default_factory=list)

    def error(self, pointer: str, words: str) -> None:
        """Add what keeps the document from being saved."""
        self.problems.append(self.document.problem(pointer, words))

    def warning(self, pointer: str, words: str) -> None:
        """Add what the kit takes and production would not."""
        self.problems.append(self.document.problem(pointer, words, "warning"))

    def fail(self) -> bool:
        """Whether anything found so far keeps the document from being saved."""
        return any(problem.severity == "error" for problem in self.problems)


def check_fields(document: Document, kind: Kind, found: Findings) -> None:
    """Report unknown fields, wrong kinds of value and missing fields (recall and computation, Fields)."""
    for name, words in REQUIRED[kind].items():
        if name not in document.front:
            found.error(join_pointer(name), words)
    _check_section(document.front, FIELDS[kind], "", kind, found)
    source = document.front.get("source")
    if kind == "recall" and isinstance(source, dict) and "events" not in source:
        found.error("/source/events", REQUIRED[kind]["source"])


def _check_section(values: dict[str, Any], section: Section, prefix: str, kind: Kind, found: Findings) -> None:
    for name, value in values.items():
        pointer = join_pointer(*filter(None, [prefix]), name)
        dotted = f"{prefix}.{name}" if prefix else name
        expected = section.get(name)
        if expected is None:
            found.error(pointer, _unknown(dotted, section, prefix, kind))
        elif isinstance(expected, dict):
            if isinstance(value, dict):
                _check_section(value, expected, name, kind, found)
            else:
                found.error(pointer, f"{dotted} is a mapping with {_listed(expected)}")
        elif not expected[0](value):
            if name == "language":
                found.error(pointer, LANGUAGE_SENTENCE)
            else:
                found.error(pointer, f"{dotted} is {expected[1]}")


def _unknown(dotted: str, section: Section, prefix: str, kind: Kind) -> str:
    shown = (dotted if len(dotted) <= 80 else f"{dotted[:80]}…") or '""'
    whose = f"{prefix} of a {kind} function" if prefix else f"a {kind} function"
    why = " is a field of a reasoning function and does not apply here" if dotted in OF_A_REASONING_FUNCTION else ""
    beginning = f"{shown}{why}" if why else f"{shown} is no field of {whose}"
    return f"{beginning}; {prefix or 'it'} takes {_listed(section)}"


def _listed(names: Any) -> str:
    every = list(names)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


def check_description(document: Document, found: Findings) -> str | None:
    """The description; 1 to 1,000 characters, counted in code points."""
    description = document.front.get("description")
    if description is None:
        return None
    if not 1 <= len(description) <= DESCRIPTION_CHARACTERS:
        words = f"description takes 1 to {DESCRIPTION_CHARACTERS:,} characters; this one has {len(description):,}"
        found.error("/description", words)
    return str(description)


def check_language(document: Document, found: Findings) -> None:
    """Refuse any language but the playbook's one."""
    if document.front.get("language") != LANGUAGE:
        found.error("/language", LANGUAGE_SENTENCE)


def check_schema(document: Document, section: str, found: Findings) -> Schema | None:
    """The schema of a section, checked; None when there is none or it is none."""
    values = document.front.get(section) or {}
    if "schema" not in values:
        return None
    pointer = join_pointer(section, "schema")
    schema = Schema(values["schema"], pointer)
    wrong = schema.problems()
    for where, words in wrong:
        found.error(where, words)
    if wrong:
        return None
    for where, words in schema.warnings():
        found.warning(where, words)
    return schema
