"""Reads events from one JSON document: an array, a CloudEvents batch, an object with ``events``, one event."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np

from recallkit.errors import HistoryError
from recallkit.events.building import build
from recallkit.events.contents import Buffer
from recallkit.events.event import deeply, examine
from recallkit.events.history import History
from recallkit.events.lines import Reader
from recallkit.events.problems import Fault

_BETWEEN = re.compile(rb"[ \t\r\n,\[]*")
_BLANK = re.compile(rb"[ \t\r\n]*")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.DOTALL)
"""Texts and the marks between values; a quote alone opens a text that never closes."""
_AT_ONCE: Final = 4096

CUT_GZIP: Final = (
    "The gzip ends too early: the file is cut off in line {line:,}, after {count:,} whole events, which are kept. "
    "Fetch it again."
)
_CUT: Final = (
    "The list of events has no closing ]: it is cut off in line {line:,}, after {count:,} whole events, which are "
    "kept. Fetch the file again."
)
_MORE: Final = "More text stands after the end of the list of events, from line {line:,} on; it is passed over."


@dataclass(frozen=True, slots=True)
class _Found:
    """The texts of the events in a document, where they stand, where it ends, and whether it is cut off there."""

    texts: list[bytes]
    places: list[int]
    end: int
    cut: bool = False


def read_document(buffer: Buffer, start: int, name: str, *, strict: bool = True, cut: bool = False) -> History | None:
    """Read a file as one JSON document.

    Parameters
    ----------
    buffer : bytes or the like
        The file.
    start : int
        Where the document begins.
    name : str
        The file's name, for messages.
    strict : bool
        Whether to raise where the document is JSON but no history; else give None.
    cut : bool
        Whether the end of the file is known to be missing.

    Returns
    -------
    History or None
        None where it is not one document: it may be lines.
    """
    start = _after(_BLANK, buffer, start)
    opener = buffer[start : start + 1]
    found: _Found | None
    if opener == b"[":
        found = _elements(buffer, start)
    elif opener == b"{":
        found = _members(buffer, start, name, strict=strict)
    else:
        return None
    if found is None:
        return None
    reader = Reader()
    _read(reader, buffer, found.texts, found.places)
    if (cut or found.cut) and not reader.count:
        if not strict:
            return None
        line = _line(buffer, found.end)
        raise HistoryError(
            f"{name} is no event history: its list of events is cut off in line {line:,}, before the first "
            "whole event. Fetch it again."
        )
    _report_end(reader, buffer, found, cut, is_list=opener == b"[")
    if not reader.looked_like_events and reader.problems.counts:
        if not strict:
            return None
        first = reader.problems.rows[0]
        count = sum(reader.problems.counts.values())
        elements = "its one value is no event" if count == 1 else f"none of its {count:,} values is an event"
        raise HistoryError(f"{name} is no event history: {elements}. Line {first.line}: {first.words}")
    return build([reader.finish()], buffer, assume=False, name=name)


def _members(buffer: Buffer, start: int, name: str, *, strict: bool) -> _Found | None:
    """Give the events of an object: its ``events``, or itself."""
    whole = bytes(memoryview(buffer)[start:]).rstrip(b" \t\r\n")
    try:
        members = deeply(lambda: msgspec.json.decode(whole, type=dict[str, msgspec.Raw]))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        if (place := _events_list(buffer, start)) is not None:
            return _split(buffer, place)
        # Not one object: lines, or one event that only the careful reading can judge.
        return None if b"\n" in whole and b"\n{" in whole.replace(b"\r", b"") else _Found([whole], [start], len(buffer))
    if "events" in members and "specversion" not in members:
        events = bytes(members["events"])
        if events[:1] == b"[":
            return _elements(buffer, buffer.find(events, start))
        if strict:
            raise HistoryError(f"{name} is no event history: its events are no list.")
        return None
    return _Found([whole], [start], len(buffer))


def _events_list(buffer: Buffer, start: int) -> int | None:
    """Find where the list of an object's ``events`` begins, in text that is no JSON as a whole; None without one."""
    depth, key = 0, None
    for token in _TOKEN.finditer(buffer, start):
        word = token.group()
        if word in (b"[", b"{"):
            if depth == 1 and key == b'"events"':
                return token.start() if word == b"[" else None
            depth += 1
        elif word in (b"]", b"}"):
            depth -= 1
        if depth == 0 or (depth == 1 and key is None and word == b'"specversion"'):
            return None
        if depth == 1:
            between = buffer[token.end() : token.end() + 16].lstrip(b" \t\r\n")[:1]
            key = word if word[:1] == b'"' and between == b":" else None
    return None


def _elements(buffer: Buffer, start: int) -> _Found:
    """Give the elements of an array."""
    view = memoryview(buffer)
    whole = buffer if start == 0 and isinstance(buffer, bytes) else bytes(view[start:])
    try:
        raws = deeply(lambda: _first_value(whole))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _split(buffer, start)
    texts, places = [], []
    at = start
    for raw in raws:
        at = _after(_BETWEEN, buffer, at)
        text = bytes(raw)
        texts.append(text)
        places.append(at)
        at += len(text)
    return _Found(texts, places, len(buffer))


def _first_value(whole: bytes) -> list[Any]:
    value: list[Any] = msgspec.json.decode(whole, type=list[msgspec.Raw])
    return value


def _split(buffer: Buffer, start: int) -> _Found:
    """Cut an array at its outermost commas, so that one bad event, or a missing end, does not lose the others."""
    texts: list[bytes] = []
    places: list[int] = []
    depth, begin = 0, start + 1
    view = memoryview(buffer)
    for token in _TOKEN.finditer(buffer, start):
        letter = buffer[token.start()]
        if letter == ord('"') and token.end() - token.start() == 1:
            break
        if letter in b"[{":
            depth += 1
        elif letter in b"]}":
            depth -= 1
        if (letter in b"," and depth == 1) or (letter in b"]}" and depth == 0):
            place = _after(_BLANK, buffer, begin)
            text = bytes(view[place : token.start()]).rstrip(b" \t\r\n")
            if text or depth == 1:
                texts.append(text)
                places.append(place)
            begin = token.end()
            if depth == 0:
                return _Found(texts, places, token.end())
    # Only the brackets after the last event may be missing.
    place = _after(_BLANK, buffer, begin)
    text = bytes(view[place:]).rstrip(b" \t\r\n")
    if text and depth == 1 and not isinstance(examine(text), Fault):
        texts.append(text)
        places.append(place)
    return _Found(texts, places, len(buffer), cut=True)


def _report_end(reader: Reader, buffer: Buffer, found: _Found, cut: bool, *, is_list: bool) -> None:
    """Report a list that has no end, or text after it."""
    rest = _after(_BLANK, buffer, found.end)
    if cut or found.cut:
        words = (CUT_GZIP if cut else _CUT).format(line=_line(buffer, found.end), count=reader.count)
        reader.problems.add(None, _line(buffer, found.end), None, "cut-off", words)
    elif is_list and rest < len(buffer):
        line = _line(buffer, rest)
        reader.problems.add(None, line, None, "not-json", _MORE.format(line=line))


def _line(buffer: Buffer, place: int) -> int:
    """Give the number of the line in which a place stands, from 1."""
    return bytes(memoryview(buffer)[:place]).count(b"\n") + 1


def _read(reader: Reader, buffer: Buffer, texts: list[bytes], places: list[int]) -> None:
    """Hand the elements to the reader, some thousand at a time."""
    view = memoryview(buffer)
    line, counted = 1, 0
    for first in range(0, len(texts), _AT_ONCE):
        part, starts = texts[first : first + _AT_ONCE], np.array(places[first : first + _AT_ONCE], dtype=np.int64)
        lines = []
        for place in starts.tolist():
            line += bytes(view[counted:place]).count(b"\n")
            counted = place
            lines.append(line)
        sizes = np.fromiter(map(len, part), dtype=np.int64, count=len(part))
        block = bytes(view[starts[0] : starts[-1] + sizes[-1]])
        reader.read_texts(block, part, starts, sizes, np.array(lines, dtype=np.int64))


def _after(pattern: re.Pattern[bytes], buffer: Buffer, start: int) -> int:
    found = pattern.match(buffer, start)
    assert found is not None
    return found.end()
