"""`read_history`: files, frames, databases and lists, each read into a History."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from recallkit.errors import HistoryError
from recallkit.events.building import build
from recallkit.events.contents import Buffer, Contents
from recallkit.events.documents import read_document
from recallkit.events.history import History
from recallkit.events.lines import Reader, blocks

_BOM: Final = b"\xef\xbb\xbf"


def read_history(source: Any) -> History:
    """Read an event history.

    Parameters
    ----------
    source : path, str, DataFrame, iterable of dict, or History
        - a path to JSON Lines (``.jsonl``, ``.ndjson``), or to a ``.json`` file: an array of events, a CloudEvents
          batch, one event, or an object with ``events``; either of them gzipped too;
        - a path to a ``.csv`` or ``.parquet`` table, or ``sqlite:///file?table=name``, or ``postgresql://…?table=name``:
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
    if path.is_dir():
        raise HistoryError(f"{path} is a folder; name a file of events in it.")
    kind = _ending(path)
    if kind in (".csv", ".parquet"):
        from recallkit.events.tables import read_csv, read_parquet

        if not path.exists():
            raise HistoryError(f"There is no file {path}.")
        return read_csv(path) if kind == ".csv" else read_parquet(path)
    contents = Contents(path)
    buffer = contents.buffer
    contents.wait(min(len(buffer), 3))
    if buffer[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise HistoryError(f"{path} is written in UTF-16; save it as UTF-8.")
    start = 3 if buffer[:3] == _BOM else 0
    if kind == ".json":
        history = read_document(contents.whole(), start, str(path))
        if history is not None:
            return history
    reader = Reader()
    line = 1
    for block, base in blocks(buffer, start, contents.wait):
        line += reader.read(block, base, line)
    if not reader.ids and kind != ".json":
        # An array of events under the ending of JSON Lines: read it as what it is.
        history = read_document(buffer, start, str(path), strict=False)
        if history is not None:
            return history
    if not reader.looked_like_events and reader.problems.counts:
        raise HistoryError(_no_history(path, buffer, reader))
    return build(reader, buffer, assume=False, name=str(path))


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in (".gz", ".gzip"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _no_history(path: Path, buffer: Buffer, reader: Reader) -> str:
    first = reader.problems.rows[0]
    if b"\0" in buffer[:8192]:
        return f"{path} is a binary file, no event history; give JSON Lines, JSON, CSV or Parquet."
    count = sum(reader.problems.counts.values())
    lines = "its one line is no event" if count == 1 else f"none of its {count:,} lines is an event"
    return f"{path} is no event history: {lines}. Line {first.line}: {first.words}"
