"""Histories from tables and from Python values: frames, CSV, Parquet, lists of dicts.

Each row becomes the JSON text of an event, which is then read like a line of a file; so one set of rules holds.
"""

from __future__ import annotations

import ast
import csv
import datetime
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recallkit.bounds import HISTORY_BYTES
from recallkit.errors import HistoryError
from recallkit.events.building import build
from recallkit.events.contents import Contents
from recallkit.events.event import deeply, parse
from recallkit.events.history import History
from recallkit.events.lines import Reader
from recallkit.events.paths import shown, too_large

if TYPE_CHECKING:
    import pandas as pd

NUMBERS: Final = ("depth", "calldepth", "definitionversion")
"""The attributes that are whole numbers even where a table holds text only."""

_AT_ONCE: Final = 2048
_SPACED_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d.*)", re.ASCII)
_REQUIRED: Final = ("id", "type", "source")


class JsonText(str):
    """A text that is JSON already and goes into its event as it stands."""


def from_mappings(events: Iterable[Any], *, name: str = "", unit: str = "item") -> History:
    """Make a history of dicts; the place of each one, from 1, stands as its line."""
    reader = Reader()
    buffer = bytearray()
    texts: list[bytes] = []
    lines: list[int] = []
    converted: list[tuple[int, str, str | None]] = []

    def flush() -> None:
        if not texts:
            return
        block = b"\n".join(texts)
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        starts = np.cumsum(sizes + 1) - (sizes + 1) + len(buffer)
        reader.read_texts(block, texts, starts, sizes, np.array(lines, dtype=np.int64))
        buffer.extend(block + b"\n")
        texts.clear()
        lines.clear()

    for place, event in enumerate(events, start=1):
        try:
            text = deeply(partial(write_event, event))
            told = _conversions(event)
        except RecursionError:
            words = "The event nests deeper than 512 levels of data; flatten its data."
            reader.problems.add(None, place, _id(event), "too-deep", words)
            continue
        except (TypeError, ValueError) as error:
            kind = "not-json" if isinstance(event, Mapping) else "not-an-object"
            words = f"The event cannot be written as JSON: {error}."
            reader.problems.add(None, place, _id(event), kind, words)
            continue
        texts.append(text)
        lines.append(place)
        if told is not None:
            converted.append((place, told, _id(event)))
        if len(texts) >= _AT_ONCE:
            flush()
    flush()
    _report_converted(reader, converted)
    return build([reader.finish()], bytes(buffer), assume=True, unit=unit, name=name)


def _report_converted(reader: Reader, converted: list[tuple[int, str, str | None]]) -> None:
    """Report the events that were kept although Python's values are not quite JSON's."""
    if not converted:
        return
    kept = np.concatenate(reader.lines) if reader.lines else np.empty(0, dtype=np.int64)
    for place, words, id in converted:
        seq = int(np.searchsorted(kept, place))
        if seq < len(kept) and kept[seq] == place:
            reader.problems.add(seq, place, id, "converted", words)


def _id(event: Any) -> str | None:
    found = event.get("id") if isinstance(event, Mapping) else None
    return found if isinstance(found, str) else None


def write_event(event: Mapping[str, Any]) -> bytes:
    """Write an event as JSON text; raises TypeError or ValueError for what JSON cannot carry."""
    if not isinstance(event, Mapping):
        raise TypeError(f"it is a {type(event).__name__}, no dict")
    parts = []
    for name, value in event.items():
        if not isinstance(name, str):
            raise TypeError(f"its attribute name {_cut(repr(name))} is no text")
        if value is None and name != "data":
            continue
        text = (
            value
            if isinstance(value, JsonText)
            else json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
        )
        parts.append(f"{json.dumps(name, ensure_ascii=False)}:{text}")
    written = "{" + ",".join(parts) + "}"
    try:
        return written.encode("utf-8")
    except UnicodeEncodeError:
        # Lone surrogates cannot be UTF-8, but stand as escapes.
        return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", written).encode("utf-8")


def _plain(value: Any) -> Any:
    """Give what JSON says for a value of another library."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, datetime.datetime):
        return iso_time(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__name__ in ("UUID", "Decimal"):
        return str(value)
    if isinstance(value, set | frozenset):
        raise TypeError(f"a {type(value).__name__} has no order, so it is no JSON value; give a sorted list")
    raise TypeError(f"a {type(value).__name__} is no JSON value")


def _conversions(event: Mapping[str, Any]) -> str | None:
    """Say what of an event was written as another kind of value; None when nothing was.

    The event was written already, so it ends somewhere. Raises TypeError for a key that is no text, which Python's
    ``json`` writes as one in silence, so that ``1`` and ``"1"`` would be the same.
    """
    told: set[str] = set()
    left: list[Any] = list(event.values())
    while left:
        value = left.pop()
        if value.__class__ in _PLAIN_KINDS:
            continue
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"its key {_cut(repr(key))} is a {type(key).__name__}, no text")
            left.extend(value.values())
        elif isinstance(value, list | tuple):
            if isinstance(value, tuple):
                told.add("a tuple as a list")
            left.extend(value)
        elif type(value).__name__ == "Decimal":
            told.add("a Decimal as a text")
        elif not isinstance(value, str | bool | int | float):
            left.append(_plain(value))
    if not told:
        return None
    return (
        f"JSON has no such values, so the event was written with {' and '.join(sorted(told))}; convert them yourself."
    )


_PLAIN_KINDS: Final = frozenset({str, int, float, bool, type(None), JsonText})


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def iso_time(value: datetime.datetime) -> str:
    """Write a moment as RFC 3339 in UTC; one without an offset is taken as UTC."""
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC)
    nanoseconds = value.microsecond * 1000 + int(getattr(value, "nanosecond", 0))
    fraction = f"{nanoseconds:09d}"
    kept = 3 if fraction[3:] == "000000" else 6 if fraction[6:] == "000" else 9
    return f"{value.year:04d}-{value:%m-%dT%H:%M:%S}.{fraction[:kept]}Z"


def is_frame(source: Any) -> bool:
    """Tell whether a value is a pandas DataFrame, without importing pandas for it."""
    return any(f"{kind.__module__}.{kind.__qualname__}" in _FRAMES for kind in type(source).__mro__)


_FRAMES: Final = ("pandas.DataFrame", "pandas.core.frame.DataFrame")


def from_frame(frame: pd.DataFrame, *, name: str = "a DataFrame") -> History:
    """Make a history of a frame: shaped like ``History.events``, or with a column per attribute.

    NaN, None, NaT and NA are absent. In a frame with a column ``extensions``, ``data`` is JSON text; in any other it is
    too where every text in it is JSON, else its texts are the data themselves.
    """
    columns: dict[str, Sequence[Any]] = {}
    for place, label in enumerate(map(str, frame.columns)):
        if label in columns:
            raise HistoryError(f"{name} has the column {label} twice; give each column its own name.")
        columns[label] = _values(frame.iloc[:, place])
    return from_columns(columns, len(frame), name=name)


def _values(column: Any) -> list[Any]:
    """Give a column's values as Python's own, None where absent."""
    absent = np.asarray(column.isna())
    return [
        None
        if gone
        else (value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value)
        for value, gone in zip(column.tolist(), absent.tolist(), strict=True)
    ]


def from_columns(columns: dict[str, Sequence[Any]], count: int, *, name: str, textual: bool = False) -> History:
    """Make a history of columns of equal length; ``textual`` where the table can hold text only."""
    missing = [required for required in _REQUIRED if required not in columns]
    if missing:
        have = ", ".join(list(columns)[:12]) or "none"
        raise HistoryError(f"{name} is no event history: it has no column {' or '.join(missing)} (it has {have}).")
    shaped = "extensions" in columns
    data = columns.get("data", [None] * count)
    is_json = shaped or all(
        _is_json(value) for value in data if isinstance(value, str) and not (textual and value == "")
    )
    extensions = columns.get("extensions", [None] * count)
    names = [each for each in columns if each not in ("seq", "extensions", "data")]
    whole = {each for each in names if _are_whole_floats(columns[each])}

    def rows() -> Iterable[dict[str, Any]]:
        for row in range(count):
            event: dict[str, Any] = {}
            for each in names:
                value = columns[each][row]
                if value is None or (textual and value == ""):
                    continue
                if each == "time":
                    value = _time(value)
                elif each in whole or (textual and each in NUMBERS and str(value).isdecimal()):
                    value = int(value)
                event[each] = value
            event.update(_extensions(extensions[row]) or {})
            value = data[row]
            if isinstance(value, str) and not (textual and value == ""):
                event["data"] = JsonText(value) if is_json else value
            elif value is not None and not isinstance(value, str):
                event["data"] = value
            yield event

    return from_mappings(rows(), name=name, unit="row")


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except (ValueError, RecursionError):
        return False
    return True


def _are_whole_floats(values: Sequence[Any]) -> bool:
    """Tell whether a column holds whole numbers that pandas made floats of because some are absent."""
    floats = [value for value in values if value is not None]
    return bool(floats) and all(isinstance(value, float) and value.is_integer() for value in floats)


def _time(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return iso_time(value)
    if isinstance(value, np.datetime64):
        import pandas as pd

        return iso_time(pd.Timestamp(value))
    if isinstance(value, str) and (spaced := _SPACED_TIME.fullmatch(value)):
        # What pandas writes for a moment in UTC.
        return f"{spaced[1]}T{spaced[2].removesuffix('+00:00')}" + ("Z" if value.endswith("+00:00") else "")
    return value


def _extensions(value: Any) -> Mapping[str, Any] | None:
    """Read a cell of extensions: a dict, the JSON text of one, or what ``to_csv`` writes for one."""
    if value is None or isinstance(value, Mapping):
        return value
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            found = parse(value)
        except ValueError:
            try:
                found = ast.literal_eval(value)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                found = None
        if isinstance(found, dict):
            return found
    if isinstance(value, list):
        # Parquet gives a map as pairs; any other list is no extensions, and its event says so.
        try:
            return dict(value)
        except (TypeError, ValueError):
            return {"extensions": value}
    return {"extensions": value}


def read_csv(path: Path) -> History:
    """Read a CSV table, gzipped or not: a header, a column per attribute; an empty cell is an absent attribute."""
    csv.field_size_limit(2**31 - 1)
    contents = Contents(path)
    data = contents.whole()
    if contents.cut:
        raise HistoryError(f"The gzip of {shown(path)} ends too early, so its last row may be cut. Fetch it again.")
    try:
        with io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, None)
            if header is None:
                return from_mappings([], name=shown(path))
            columns: dict[str, list[Any]] = {each: [] for each in header}
            if len(columns) < len(header):
                raise HistoryError(f"{shown(path)} names a column twice; give each column its own name.")
            count = 0
            for row in rows:
                if not row:
                    continue
                if len(row) > len(header):
                    raise HistoryError(f"{shown(path)} has more cells than columns in line {rows.line_num}.")
                count += 1
                for place, each in enumerate(header):
                    columns[each].append(row[place] if place < len(row) else "")
    except UnicodeDecodeError as error:
        raise HistoryError(
            f"{shown(path)} is no CSV table in UTF-8 ({error.reason} at byte {error.start + 1})."
        ) from None
    except csv.Error as error:
        raise HistoryError(f"{shown(path)} is no CSV table: {error}.") from None
    return from_columns(dict(columns), count, name=shown(path), textual=True)


def read_parquet(path: Path) -> History:
    """Read a Parquet table: shaped like ``History.events``, or a column per attribute."""
    import pyarrow
    import pyarrow.parquet

    try:
        # A small file of repeated values may unpack without end.
        batches, size = [], 0
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                size += batch.nbytes
                if size > HISTORY_BYTES:
                    raise too_large(path)
                batches.append(batch)
            table = pyarrow.Table.from_batches(batches, schema=file.schema_arrow)
    except (pyarrow.ArrowException, OSError) as error:
        raise HistoryError(f"{shown(path)} is no Parquet table: {str(error).splitlines()[0]}.") from None
    columns: dict[str, Sequence[Any]] = {}
    for label in table.column_names:
        if label in columns:
            raise HistoryError(f"{shown(path)} names the column {label} twice; give each column its own name.")
        columns[label] = _without_nan(table.column(label).to_pylist())
    if "extensions" in columns:
        # A struct column gives every extension to every row, null where absent.
        columns["extensions"] = [
            {k: v for k, v in each.items() if v is not None} if isinstance(each, dict) else each
            for each in columns["extensions"]
        ]
    return from_columns(columns, table.num_rows, name=shown(path))


def _without_nan(values: list[Any]) -> list[Any]:
    return [None if isinstance(value, float) and value != value else value for value in values]
