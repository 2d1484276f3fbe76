"""Strict checks of arguments: each error names the argument, what it was and what it may be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from recallkit.errors import InvalidInput
from recallkit.events.times import read_time
from recallkit.memory.bounds import NAME_CHARACTERS, QUERY_CHARACTERS, TEXT_BYTES

T = TypeVar("T")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
LATEST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, the last that RFC 3339 can write."""


def wrong(name: str, words: str) -> InvalidInput:
    """Make the error of an argument."""
    return InvalidInput(f"{name} {words}", pointer=f"/{name}")


def shown(value: Any) -> str:
    """Show a value in a sentence, cut when long; also one that cannot write itself, such as a very long number."""
    try:
        text = repr(value)
    except Exception:
        return f"a value of the type {type(value).__name__} that cannot be shown"
    return text if len(text) <= 80 else f"{text[:79]}…"


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(name, f"must be a text, but it is {shown(value)}.")
    if _LONE_SURROGATE.search(value):
        raise wrong(name, "holds a lone surrogate, which no text may; write whole characters.")
    return value


def name(argument: str, value: Any) -> str:
    """Take a name: one line of 1 to 256 characters, kept exactly as it is."""
    text = _text(argument, value)
    if not text.strip():
        raise wrong(argument, "is empty; give a text that holds something other than spaces.")
    if len(text) > NAME_CHARACTERS:
        raise wrong(argument, f"has {len(text):,} characters; at most {NAME_CHARACTERS:,} are taken.")
    if _CONTROL.search(text):
        raise wrong(argument, "holds a control character; a name is one line of plain text.")
    return text


def optional_name(argument: str, value: Any) -> str | None:
    """Take a name, or None when it is left out."""
    return None if value is None else name(argument, value)


def names(argument: str, values: Any, most: int) -> tuple[str, ...]:
    """Take several names, each once, in the order given."""
    if isinstance(values, str) or not isinstance(values, Iterable) or isinstance(values, Mapping):
        raise wrong(argument, f"must be a list of texts, but it is {shown(values)}.")
    kept = tuple(dict.fromkeys(name(argument, value) for value in values))
    if len(kept) > most:
        raise wrong(argument, f"has {len(kept):,} texts; at most {most:,} are taken.")
    return kept


def body(argument: str, value: Any, most: int = TEXT_BYTES) -> str:
    """Take a text of content: not empty, and of at most so many bytes of UTF-8."""
    text = _text(argument, value)
    if not text.strip():
        raise wrong(argument, "is empty; give a text that holds something other than spaces.")
    if "\x00" in text:
        raise wrong(argument, "holds the character U+0000, which not every store can keep.")
    if len(text) > most or len(text.encode()) > most:
        raise wrong(argument, f"has {len(text.encode()):,} bytes; at most {most:,} are taken. Store it in parts.")
    return text


def query(argument: str, value: Any, *, may_be_empty: bool) -> str:
    """Take a query; where it may be empty, spaces alone count as empty."""
    text = _text(argument, value)
    if not text.strip():
        if may_be_empty:
            return ""
        raise wrong(argument, "is empty; say what to search for.")
    if len(text) > QUERY_CHARACTERS:
        raise wrong(argument, f"has {len(text):,} characters; at most {QUERY_CHARACTERS:,} are taken.")
    return text


def one_of(argument: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Take one of some words."""
    if not isinstance(value, str) or value not in allowed:
        raise wrong(argument, f"is {shown(value)}; it may be {', '.join(map(repr, allowed))}.")
    return value


def whole(argument: str, value: Any, least: int, most: int) -> int:
    """Take a whole number within bounds; True is none, and neither is 3.0."""
    index = getattr(type(value), "__index__", None)
    if isinstance(value, bool) or index is None:
        raise wrong(argument, f"must be a whole number, but it is {shown(value)}.")
    number = int(value.__index__())
    if not least <= number <= most:
        raise wrong(argument, f"is {_counted(number)}; it may be {least:,} to {most:,}.")
    return number


def flag(argument: str, value: Any) -> bool:
    """Take True or False."""
    if not isinstance(value, bool):
        raise wrong(argument, f"must be True or False, but it is {shown(value)}.")
    return value


def _counted(number: float) -> str:
    return f"{number:,}" if abs(number) < 10**15 else shown(number)


def _finite(value: Any) -> bool:
    # a whole number is finite however long; isfinite would make it a float first
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def seconds(argument: str, value: Any, most: float) -> float:
    """Take a length of time, in seconds or as a timedelta; more than 0."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if not _finite(value):
        raise wrong(argument, f"must be a number of seconds or a timedelta, but it is {shown(value)}.")
    if not 0 < value <= most:
        raise wrong(argument, f"is {_counted(value)} seconds; it may be more than 0 and at most {most:,.0f}.")
    return float(value)


def moment(argument: str, value: Any) -> int:
    """Take a moment as milliseconds since 1970 in UTC.

    Parameters
    ----------
    value : datetime, str, int or float
        A datetime with its zone, an RFC 3339 text such as ``2026-10-03T16:40:05.000Z`` (a date alone is its midnight
        in UTC), or milliseconds since 1970.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            raise wrong(argument, f"has no time zone: {shown(value)}. Give one, such as tzinfo=UTC.")
        delta = value - datetime(1970, 1, 1, tzinfo=UTC)
        number = delta // timedelta(milliseconds=1)
    elif isinstance(value, str):
        text = f"{value}T00:00:00Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII) else value
        number, verdict = read_time(text)
        if verdict != "read":
            raise wrong(argument, f"is no moment: {shown(value)}. Write RFC 3339, such as 2026-10-03T16:40:05Z.")
    elif not _finite(value):
        raise wrong(argument, f"must be a moment (a datetime with a zone, RFC 3339 text, ms), not {shown(value)}.")
    else:
        number = math.floor(value)
    if not 0 <= number <= LATEST_MS:
        raise wrong(argument, f"lies outside the years 1970 to 9999: {shown(value)}.")
    return number


def optional_moment(argument: str, value: Any) -> int | None:
    """Take a moment, or None when it is left out."""
    return None if value is None else moment(argument, value)


def iso(milliseconds: float | None) -> str | None:
    """Write a moment as RFC 3339 in UTC with milliseconds, 24 characters; None stays None."""
    if milliseconds is None:
        return None
    at = datetime.fromtimestamp(int(milliseconds) // 1000, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{int(milliseconds) % 1000:03d}Z"
