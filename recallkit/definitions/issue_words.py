"""Sentences about a value that a schema refuses: the same ones as ``sandbox/schema_words.js`` writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from recallkit.definitions.json_text import json_text

SHOWN_CHARACTERS: Final = 80
CHOICES_SHOWN: Final = 10
LEFT_OUT: Final = "must be left out"
TOO_DEEP: Final = "is nested too deeply for its schema to be checked"
TOO_LONG: Final = "could not be checked: checking it takes too long"
TYPE_WORDS: Final = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def shown(value: Any) -> str:
    """A value of the schema, as JSON, cut at 80 characters."""
    text = json_text(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def counted(count: Any, one: str, many: str) -> str:
    """A count with its noun: ``1 item``, ``2 items``."""
    return f"{json_text(count)} {one if count == 1 else many}"


def any_of(words: Sequence[str]) -> str:
    """Alternatives in words: ``a, b or c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def type_words(types: Sequence[str]) -> str:
    """What a value must be, for the keyword ``type``."""
    return f"must be {any_of([TYPE_WORDS.get(name) or shown(name) for name in types])}"


def choice_words(choices: Sequence[Any]) -> str:
    """What a value must be, for the keyword ``enum``."""
    told = [shown(each) for each in choices[:CHOICES_SHOWN]]
    more = len(choices) - len(told)
    if not told:
        return LEFT_OUT
    return f"must be one of {', '.join(told)} and {more} more" if more else f"must be {any_of(told)}"


def slow_pattern(pattern: str) -> str:
    """What is said of a text that a pattern was not done with in time."""
    return f"could not be checked: the pattern {shown(pattern)} takes too long"


def escaped(name: str) -> str:
    """A member's name as a part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")
