"""Reads events from one JSON document: an array, a CloudEvents batch, an object with ``events``, one event."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
import numpy as np

from recallkit.errors import HistoryError
from recallkit.events.building import build
from recallkit.events.contents import Buffer
from recallkit.events.event import deeply
from recallkit.events.history import History
from recallkit.events.lines import Reader

_BETWEEN = re.compile(rb"[ \t\r\n,\[]*")
_BLANK = re.compile(rb"[ \t\r\n]*")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)
_AT_ONCE: Final = 4096


def read_document(buffer: Buffer, start: int, name: str, *, strict: bool = True) -> History | None:
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

    Returns
    -------
    History or None
        None where it is not one document: it may be lines.
    """
    start = _after(_BLANK, buffer, start)
    opener = buffer[start : start + 1]
    if opener == b"[":
        found = _elements(buffer, start)
    elif opener == b"{":
        found = _members(buffer, start, name, strict=strict)
    else:
        return None
    if found is None:
        return None
    reader = Reader()
    _read(reader, buffer, *found)
    if not reader.looked_like_events and reader.problems.counts:
        if not strict:
            return None
        first = reader.problems.rows[0]
        count = sum(reader.problems.counts.values())
        elements = "its one value is no event" if count == 1 else f"none of its {count:,} values is an event"
        raise HistoryError(f"{name} is no event history: {elements}. Line {first.line}: {first.words}")
    return build(reader, buffer, assume=False, name=name)


def _members(buffer: Buffer, start: int, name: str, *, strict: bool) -> tuple[list[bytes], list[int]] | None:
    """Give the events of an object: its ``events``, or itself."""
    whole = bytes(memoryview(buffer)[start:]).rstrip(b" \t\r\n")
    try:
        members = deeply(lambda: msgspec.json.decode(whole, type=dict[str, msgspec.Raw]))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # Not one object: lines, or one event that only the careful reading can judge.
        return None if b"\n" in whole and b"\n{" in whole.replace(b"\r", b"") else ([whole], [start])
    if "events" in members and "specversion" not in members:
        events = bytes(members["events"])
        if events[:1] == b"[":
            return _elements(buffer, buffer.find(events, start))
        if strict:
            raise HistoryError(f"{name} is no event history: its events are no list.")
        return None
    return [whole], [start]


def _elements(buffer: Buffer, start: int) -> tuple[list[bytes], list[int]] | None:
    """Give the texts of an array's elements and where they stand."""
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
    return texts, places


def _first_value(whole: bytes) -> list[Any]:
    value: list[Any] = msgspec.json.decode(whole, type=list[msgspec.Raw])
    return value


def _split(buffer: Buffer, start: int) -> tuple[list[bytes], list[int]] | None:
    """Cut an array at its outermost commas, so that one bad event does not lose the others; None without an end."""
    texts: list[bytes] = []
    places: list[int] = []
    depth, begin = 0, start + 1
    view = memoryview(buffer)
    for token in _TOKEN.finditer(buffer, start):
        letter = buffer[token.start()]
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
                return texts, places
    return None


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
