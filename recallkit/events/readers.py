"""`read_history`: files, frames, databases and lists, each read into a History."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from recallkit.errors import HistoryError
from recallkit.events import many
from recallkit.events.building import build
from recallkit.events.contents import Buffer, Contents
from recallkit.events.documents import CUT_GZIP, read_document
from recallkit.events.event import examine
from recallkit.events.history import History
from recallkit.events.lines import BLOCK_BYTES, Reader, blocks
from recallkit.events.paths import check_file, shown, unreadable
from recallkit.events.problems import Fault
from recallkit.events.reading import Reading, first_problem

_BOM: Final = b"\xef\xbb\xbf"


def read_history(source: Any) -> History:
    """Read an event history.

    Parameters
    ----------
    source : path, str, DataFrame, iterable of dict, or History
        - a path to JSON Lines (``.jsonl``, ``.ndjson``), or to a ``.json`` file: an array of events, a CloudEvents
          batch, one event, or an object with ``events``; either of them gzipped too;
        - a path to a ``.csv`` (gzipped too) or ``.parquet`` table, or ``sqlite:///file?table=name``, or ``postgresql://…?table=name``:
          a column per attribute, ``data`` as JSON text;
        - a DataFrame shaped like ``History.events``, or with a column per attribute;
        - dicts, one an event; or a History, which is given back.

    Returns
    -------
    History
        The events in recorded order, and in ``problems`` what was passed over or looks wrong.

    Raises
    ------
    HistoryError
        When the source is no history at all; never for single events.
    """
    if isinstance(source, History):
        return source
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if isinstance(text, bytes):
            text = os.fsdecode(text)
        if text.startswith(("sqlite:", "postgresql:", "postgres:")):
            from recallkit.events.databases import read_table

            return read_table(text)
        if not text:
            raise HistoryError("The history's path is empty; name a file of events.")
        return _read_file(Path(text))
    from recallkit.events.tables import from_frame, from_mappings, is_frame

    if is_frame(source):
        return from_frame(source)
    if isinstance(source, Mapping | bytes) or not isinstance(source, Iterable):
        raise HistoryError(
            f"A {type(source).__name__} is no history; give a path, a DataFrame, a list of dicts or a database address."
        )
    return from_mappings(source)


def _read_file(path: Path) -> History:
    """Read a file by its name's ending, and by its content where that says otherwise."""
    check_file(path)
    kind = _ending(path)
    name = shown(path)
    if kind in (".csv", ".parquet"):
        from recallkit.events.tables import read_csv, read_parquet

        return read_csv(path) if kind == ".csv" else read_parquet(path)
    if kind != ".json" and (found := _read_large(path)) is not None:
        readings, large = found
        return _history(readings, large, large, 3 if large[:3] == _BOM else 0, kind, name)
    contents = Contents(path)
    buffer = contents.buffer
    contents.wait(min(len(buffer), 3))
    if buffer[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise HistoryError(f"{name} is written in UTF-16; save it as UTF-8.")
    start = 3 if buffer[:3] == _BOM else 0
    if kind == ".json":
        history = read_document(contents.whole(), start, name, cut=contents.cut)
        if history is not None:
            return history
    if _ends_with_cr(buffer, start, contents.wait):
        buffer = bytes(buffer).replace(b"\r", b"\n")
    whole = buffer
    if contents.cut and _broken_tail(buffer):
        buffer = buffer[: buffer.rfind(b"\n") + 1]
    reader = Reader()
    line = 1
    for block, base in blocks(buffer, start, contents.wait):
        line += reader.read(block, base, line)
    if contents.cut and reader.count:
        reader.problems.add(None, line, None, "cut-off", CUT_GZIP.format(line=line, count=reader.count))
    return _history([reader.finish(line - 1)], buffer, whole, start, kind, name, cut=contents.cut)


def _read_large(path: Path) -> tuple[list[Reading], Buffer] | None:
    """Read a large file of lines in several processes; None where it is small, or packed, or no such lines."""
    if not many.can_read() or path.stat().st_size < many.FROM_BYTES:
        return None
    try:
        with path.open("rb") as file:
            head = file.read(BLOCK_BYTES)
    except OSError as error:
        raise unreadable(path, error) from None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b") or b"\n" not in head:
        return None
    return many.read_in_processes(path, 3 if head[:3] == _BOM else 0)


def _history(
    readings: list[Reading], buffer: Buffer, whole: Buffer, start: int, kind: str, name: str, *, cut: bool = False
) -> History:
    """Make the history of lines that were read, unless they were none."""
    looked_like_events = any(part.looked_like_events for part in readings)
    if not any(len(part.starts) for part in readings):
        if kind != ".json":
            # An array of events under the ending of JSON Lines: read it as what it is.
            history = read_document(whole, start, name, strict=False, cut=cut)
            if history is not None:
                return history
        if cut:
            words = "its gzip ends too early, before the first whole event. Fetch it again."
            raise HistoryError(f"{name} is damaged: {words}")
    if not looked_like_events and any(part.problems.counts for part in readings):
        raise HistoryError(_no_history(name, buffer, readings))
    return build(readings, buffer, assume=False, name=name)


def _ends_with_cr(buffer: Buffer, start: int, wait: Callable[[int], None]) -> bool:
    """Tell whether lines end with CR alone, as on an old Mac.

    Such a file is read as if they were LF. No text value of JSON holds a raw CR, so the events keep their text. A file
    that has an LF anywhere is read by its LFs; a lone CR between two events of a line is then told as what it is.
    """
    first = min(len(buffer), start + BLOCK_BYTES)
    wait(first)
    if buffer.find(b"\n", start, first) >= 0 or buffer.find(b"\r", start, first) < 0:
        return False
    wait(len(buffer))
    return buffer.find(b"\n", start) < 0


def _broken_tail(buffer: Buffer) -> bool:
    """Tell whether the last line is no whole event, so that the cut goes through it."""
    tail = bytes(memoryview(buffer)[buffer.rfind(b"\n") + 1 :])
    fault = examine(tail)
    return bool(tail.strip()) and isinstance(fault, Fault) and fault.kind in ("not-json", "not-utf8", "too-deep")


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".gzip"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _no_history(name: str, buffer: Buffer, readings: list[Reading]) -> str:
    first = first_problem(readings)
    assert first is not None
    if b"\0" in buffer[:8192]:
        return f"{name} is a binary file, no event history; give JSON Lines, JSON, CSV or Parquet."
    count = sum(sum(part.problems.counts.values()) for part in readings)
    lines = "its one line is no event" if count == 1 else f"none of its {count:,} lines is an event"
    return f"{name} is no event history: {lines}. Line {first.line}: {first.words}"
