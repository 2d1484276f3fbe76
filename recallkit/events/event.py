"""One event: the careful reading of its JSON text, and the rules of CloudEvents 1.0 that it must keep.

`examine` decides. The fast way in ``lines.py`` reads ordinary events only, and hands every other one to it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeVar

from recallkit.bounds import ATTRIBUTE_CHARACTERS, LEVELS
from recallkit.events.problems import Fault
from recallkit.events.times import read_time

T = TypeVar("T")

CONTEXT: Final = ("id", "type", "source", "specversion", "subject", "time", "datacontenttype", "dataschema")
"""The attributes that CloudEvents defines; every other one is an extension."""

DATA: Final = ("data", "data_base64")
"""The members of an event that are no attributes."""

_NAME = re.compile(r"[a-z0-9]+")
_MEDIA_TYPE = re.compile(r"[!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+\s*(?:;.*)?", re.ASCII | re.DOTALL)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_PART = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:,]', re.DOTALL)
_CR_BETWEEN = re.compile(rb"\}[ \t]*\r[ \t\r]*\{")
_INTEGER_32: Final = 2**31


def examine(text: bytes) -> dict[str, Any] | Fault:
    """Read one event carefully.

    Parameters
    ----------
    text : bytes
        The JSON text of the event.

    Returns
    -------
    dict or Fault
        The event's members with the last of repeated names, without those that are null; or why it is passed over.
        A missing ``specversion`` is let through: whether that can be assumed depends on the whole history.
    """
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return Fault("not-utf8", f"Byte {error.start + 1} of the event is not UTF-8; save the file as UTF-8.")
    if too_deep(text, LEVELS + 1):
        # The event itself is one level around its data.
        return Fault("too-deep", f"The event nests deeper than {LEVELS} levels of data; flatten its data.")
    try:
        value = deeply(lambda: parse(words))
    except ValueError as error:
        if _CR_BETWEEN.search(text):
            words = "A lone carriage return, an old line end, stands between two events; end lines with a line feed."
            return Fault("not-json", words)
        return Fault("not-json", f"The event is not JSON: {_reason(error)}; write it again with a JSON library.")
    if not isinstance(value, dict):
        return Fault("not-an-object", f"An event is a JSON object, but this is {_kind(value)}.")
    return check(value)


def check(members: dict[str, Any]) -> dict[str, Any] | Fault:
    """Check the members of an event, and give them without those that are null."""
    name_of_event = members.get("id")
    shown = name_of_event if isinstance(name_of_event, str) and not _LONE_SURROGATE.search(name_of_event) else None
    for name in ("id", "type", "source"):
        value = members.get(name)
        if value is None:
            return Fault(f"no-{name}", f"The event has no {name}; CloudEvents requires one.", shown)
        if not isinstance(value, str) or not value:
            stands = "an empty text" if value == "" else _kind(value)
            return Fault(f"no-{name}", f"The event's {name} is {stands}; it must be a text that is not empty.", shown)
    version = members.get("specversion")
    if version is not None and version != "1.0":
        words = f"The event's specversion is {_shown(version)}; only CloudEvents 1.0 is read."
        return Fault("bad-specversion", words, shown)
    for name, value in members.items():
        if name in DATA:
            continue
        if not _NAME.fullmatch(name):
            words = f"The attribute name {_shown(name)} is not allowed; use lowercase letters and digits only."
            return Fault("bad-name", words, shown)
        wrong = None if value is None else _wrong(name, value)
        if wrong is not None:
            return Fault("bad-time" if name == "time" else "bad-attribute", wrong, shown)
    binary = members.get("data_base64")
    if binary is not None:
        if members.get("data") is not None:
            return Fault("bad-attribute", "The event has both data and data_base64; keep one of them.", shown)
        if not isinstance(binary, str) or not _BASE64.fullmatch(binary):
            return Fault("bad-attribute", "The event's data_base64 is no base64 text.", shown)
    return {name: value for name, value in members.items() if value is not None or name == "data"}


def _wrong(name: str, value: Any) -> str | None:
    """Say what is wrong with the value of an attribute; None when nothing is."""
    if isinstance(value, str):
        if _LONE_SURROGATE.search(value):
            return f"The attribute {name} holds a lone surrogate, which no text may; write whole characters."
        if name in CONTEXT and not value:
            return f"The attribute {name} is an empty text; leave it out instead."
        if name == "datacontenttype" and not is_media_type(value):
            return f"The datacontenttype {_shown(value)} is no media type, such as application/json."
        if name == "time" and read_time(value)[1] == "refused":
            return f"The time {_shown(value)} is not RFC 3339, such as 2026-10-03T16:40:05.000Z."
        return None
    if name in CONTEXT:
        return f"The attribute {name} is {_kind(value)}; it must be a text."
    if isinstance(value, bool):
        return None
    if isinstance(value, int) and -_INTEGER_32 <= value < _INTEGER_32:
        return None
    stands = f"{_shown(value)}, past 32 bits" if isinstance(value, int) else _kind(value)
    return f"The attribute {name} is {stands}; an extension is a text, a boolean or a 32-bit whole number."


@lru_cache(maxsize=1024)
def is_media_type(text: str) -> bool:
    """Tell whether a text is a media type: a type, a slash, a subtype, and parameters."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def is_long_name(name: str) -> bool:
    """Tell whether an attribute's name is longer than a filter can write."""
    return len(name) > ATTRIBUTE_CHARACTERS


def too_deep(text: bytes, levels: int) -> bool:
    """Tell whether JSON text nests deeper than a number of levels, without recursion.

    The outermost list or object is level 1. Stops at the first bracket past the bound, so that a million of them
    cost no more than a few hundred.
    """
    if text.count(b"[") + text.count(b"{") <= levels:
        return False
    depth = 0
    for token in _TOKEN.finditer(text):
        letter = text[token.start()]
        if letter in b"[{":
            depth += 1
            if depth > levels:
                return True
        elif letter in b"]}":
            depth -= 1
    return False


def member_text(text: bytes, name: str) -> bytes | None:
    """Give the JSON text of an object's member, the last of its name; None where it has none.

    The text is known to be a JSON object. This is for texts that faster readers refuse, such as a lone surrogate.
    """
    depth, key, begin = 0, "", 0
    found = None
    for token in _PART.finditer(text):
        word = token.group()
        if word in (b"{", b"["):
            depth += 1
        elif depth == 1 and word == b":":
            begin = token.end()
        elif depth == 1 and word in (b",", b"}"):
            if key == name and begin:
                found = text[begin : token.start()].strip(b" \t\r\n")
            key, begin = "", 0
        elif depth == 1 and not begin and word[:1] == b'"':
            key = json.loads(word)
        if word in (b"}", b"]"):
            depth -= 1
    return found


def parse(text: str) -> Any:
    """Parse JSON by the strict grammar: no NaN, no Infinity; raises ValueError."""
    return json.loads(text, parse_constant=_no_constant, parse_int=_integer)


def deeply(work: Callable[[], T]) -> T:
    """Do work that may recurse some 512 levels, in a fresh thread's stack where the present one has no room."""
    try:
        return work()
    except RecursionError:
        results: list[T] = []
        errors: list[BaseException] = []

        def attempt() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=attempt, name="recallkit-deep")
        thread.start()
        thread.join()
        if errors:
            raise errors[0] from None
        return results[0]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _integer(digits: str) -> int | float:
    # Python refuses to convert very long integers, since that takes quadratic time; the engine reads them as doubles.
    return int(digits) if len(digits) < 1_000 else float(digits)


def _reason(error: ValueError) -> str:
    """Say where and why Python's JSON reader stopped, in one clause."""
    if isinstance(error, json.JSONDecodeError):
        return f"at character {error.pos + 1}, {error.msg[:1].lower()}{error.msg[1:]}"
    return str(error)


def _kind(value: Any) -> str:
    """Name the kind of a JSON value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


def _shown(value: Any) -> str:
    """Show a value in a sentence: as JSON, escaped, and cut when long."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 80 else text[:79] + "…"
