"""A history: the events of a playbook in recorded order, each with the exact JSON text it was recorded as."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recallkit.errors import InvalidInput
from recallkit.events.columns import Column, TextColumn
from recallkit.events.contents import Buffer
from recallkit.events.event import DATA, deeply, member_text, parse
from recallkit.events.times import NO_TIME
from recallkit.files import write_whole

if TYPE_CHECKING:
    import pandas as pd


class History:
    """Events in recorded order; made by `read_history` or `History.from_events`.

    Nothing here changes an event: its text goes into the sandbox as it was recorded, so that the engine alone decides
    what ``-0`` or ``12345678901234567890`` is.

    Attributes
    ----------
    events : DataFrame
        One row an event: seq, id, type, source, subject, time, extensions, data.
    problems : DataFrame
        What was passed over (seq is missing) or looks wrong (seq is there): seq, line, id, kind, words.
    seqs : ndarray of int64
        The seq of each row of ``events``: its place in the whole history, from 0. A part of a history keeps them.
    """

    def __init__(
        self,
        buffer: Buffer,
        *,
        starts: np.ndarray[Any, Any],
        ends: np.ndarray[Any, Any],
        ids: Column,
        times: np.ndarray[Any, Any],
        columns: Mapping[str, Column],
        extensions: Mapping[str, Column],
        rare: Mapping[int, Mapping[str, Any]],
        problems: pd.DataFrame,
        seqs: np.ndarray[Any, Any] | None = None,
        name: str = "",
    ) -> None:
        self._buffer = buffer
        self._starts = starts
        self._ends = ends
        self._ids = ids
        self._times = times
        self._columns = dict(columns)
        self._extensions = dict(extensions)
        self._rare = rare
        self._whole = seqs is None
        self.seqs = np.arange(len(ids), dtype=np.int64) if seqs is None else seqs
        self.problems = problems
        self.name = name
        self._events: pd.DataFrame | None = None

    @classmethod
    def from_events(cls, events: Iterable[Mapping[str, Any]]) -> History:
        """Make a history of dicts, one an event; ``specversion`` may be left out.

        Parameters
        ----------
        events : iterable of dict
            JSON values; numpy scalars, dates and the like are taken as what JSON says for them.

        Returns
        -------
        History
        """
        from recallkit.events.tables import from_mappings

        return from_mappings(events)

    def __getstate__(self) -> dict[str, Any]:
        # What the bytes stand in may be memory that cannot be pickled; the frame is made again.
        state = {**self.__dict__, "_events": None}
        view, sizes = memoryview(self._buffer), self.sizes()
        if int(sizes.sum()) * 2 >= len(view):
            return {**state, "_buffer": bytes(view)}
        # a part of a history takes its own texts along, not the whole file's
        ends = np.cumsum(sizes)
        texts = [view[start:end] for start, end in zip(self._starts.tolist(), self._ends.tolist(), strict=True)]
        return {**state, "_buffer": b"".join(texts), "_starts": ends - sizes, "_ends": ends}

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        count = len(self)
        parts = [f"{count:,} event{'' if count == 1 else 's'}"]
        if len(self.problems):
            parts.append(f"{len(self.problems):,} problem{'' if len(self.problems) == 1 else 's'}")
        return f"<History of {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from recallkit.notebook.html import history_html

        return history_html(self)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.event(seq) for seq in self.seqs.tolist())

    def __getitem__(self, rows: slice) -> History:
        """Give a part of the history by rows, such as ``history[:1000]``; the events keep their seq."""
        if not isinstance(rows, slice):
            raise InvalidInput(
                "Take a part of a history with a slice, such as history[0:10]; one event with event(seq)."
            )
        return self._take(np.arange(len(self), dtype=np.int64)[rows])

    # Texts

    def _row(self, seq: int) -> int:
        wanted = operator.index(seq)
        row = wanted if self._whole else int(np.searchsorted(self.seqs, wanted))
        if not 0 <= row < len(self) or int(self.seqs[row]) != wanted:
            raise InvalidInput(f"The history has no event with the seq {wanted}.")
        return row

    def _bytes(self, row: int) -> bytes:
        return bytes(memoryview(self._buffer)[self._starts[row] : self._ends[row]])

    def text(self, seq: int) -> str:
        """Give the JSON text of a whole event, exactly as recorded."""
        return self._bytes(self._row(seq)).decode("utf-8")

    def page(self, seqs: Iterable[int]) -> bytes:
        """Give events as one JSON array in UTF-8, in the order given, each text as recorded.

        Parameters
        ----------
        seqs : iterable of int
            Which events; an ndarray of int64 is fastest.

        Returns
        -------
        bytes
        """
        wanted = seqs if isinstance(seqs, np.ndarray) else np.fromiter(seqs, dtype=np.int64)
        if not len(wanted):
            return b"[]"
        rows = wanted if self._whole else np.searchsorted(self.seqs, wanted)
        if int(rows.min()) < 0 or int(rows.max()) >= len(self) or not np.array_equal(self.seqs[rows], wanted):
            raise InvalidInput("The history lacks some of the events that the page names.")
        view = memoryview(self._buffer)
        begins, ends = self._starts[rows].tolist(), self._ends[rows].tolist()
        return b"[" + b",".join([view[begin:end] for begin, end in zip(begins, ends, strict=True)]) + b"]"

    def event(self, seq: int) -> dict[str, Any]:
        """Give an event as Python values; integers stay exact here, which the engine rounds past 2^53."""
        return self._event(self._row(seq))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write the events as JSON Lines, each text as recorded; line breaks between its tokens become spaces."""

        def write(place: Path) -> None:
            with place.open("wb") as file:
                for row in range(len(self)):
                    text = self._bytes(row)
                    # No text value of JSON holds a raw line break, so these stand between tokens.
                    file.write(text.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")

        write_whole(path, "history", write)

    # Columns

    @property
    def events(self) -> pd.DataFrame:
        """The events as a DataFrame, made when first asked for; treat it as read-only."""
        if self._events is None:
            self._events = self._frame()
        return self._events

    def _frame(self) -> pd.DataFrame:
        import pandas as pd

        def texts(values: np.ndarray[Any, Any]) -> pd.Series[Any]:
            return pd.Series(values, dtype=object)

        # The frame holds Python's texts, so these need not stand here a second time.
        self._ids = _listed(self._ids)
        self._columns = {name: _listed(column) for name, column in self._columns.items()}
        return pd.DataFrame(
            {
                "seq": self.seqs,
                "id": texts(self._ids.objects()),
                "type": texts(self._columns["type"].objects()),
                "source": texts(self._columns["source"].objects()),
                "subject": texts(self._columns["subject"].objects()),
                "time": pd.Series(self._times.view("M8[ms]")).dt.tz_localize("UTC"),
                "extensions": texts(self._extension_dicts()),
                "data": texts(self._data()),
            }
        )

    def _extension_dicts(self) -> np.ndarray[Any, Any]:
        """Give each event's extensions; events with the same ones share a dict, which keeps a million of them small."""
        result = np.full(len(self), None, dtype=object)
        names = [name for name, column in self._extensions.items() if column.count()]
        if names:
            columns = [self._extensions[name].objects() for name in names]
            made: dict[Any, dict[str, Any] | None] = {}
            for row, values in enumerate(zip(*columns, strict=True)):
                # Object identity: the columns share the objects of equal values.
                key = tuple(map(id, values))
                if key not in made:
                    found = {name: value for name, value in zip(names, values, strict=True) if value is not None}
                    made[key] = found or None
                result[row] = made[key]
        for row, seq in enumerate(self.seqs.tolist()) if self._rare else ():
            if seq in self._rare:
                result[row] = {**(result[row] or {}), **self._rare[seq]}
        return result

    def _data(self) -> np.ndarray[Any, Any]:
        """Give the JSON text of each event's data."""
        import msgspec

        part = msgspec.defstruct("Part", [("data", msgspec.Raw, None)], gc=False)
        decode: Any = msgspec.json.Decoder(part).decode

        def read() -> np.ndarray[Any, Any]:
            result = np.full(len(self), None, dtype=object)
            view = memoryview(self._buffer)
            for row in range(len(self)):
                text = view[self._starts[row] : self._ends[row]]
                try:
                    data = decode(text).data
                except msgspec.DecodeError:
                    data = member_text(bytes(text), "data")
                if data is not None:
                    result[row] = str(data, "utf-8")
            return result

        return deeply(read)

    def attribute(self, name: str) -> pd.Series[Any]:
        """Give an attribute of every event, as recorded.

        Parameters
        ----------
        name : str
            A context attribute or an extension; ``time`` is the text as recorded.

        Returns
        -------
        Series of object
            In the order of ``events``; None where an event does not have it.
        """
        import pandas as pd

        if name == "id":
            values = self._ids.objects()
        elif name in self._columns:
            values = self._columns[name].objects()
        elif name == "time" or name in DATA:
            values = self._parsed(name)
        else:
            known = self._extensions.get(name)
            values = known.objects().copy() if known is not None else np.full(len(self), None, dtype=object)
            for row, seq in enumerate(self.seqs.tolist()) if self._rare else ():
                if name in self._rare.get(seq, ()):
                    values[row] = self._rare[seq][name]
        return pd.Series(values, dtype=object, name=name)

    def _parsed(self, name: str) -> np.ndarray[Any, Any]:
        values = np.full(len(self), None, dtype=object)
        for row in range(len(self)):
            values[row] = self._event(row).get(name)
        return values

    def _event(self, row: int) -> dict[str, Any]:
        text = self._bytes(row).decode("utf-8")
        value: dict[str, Any] = deeply(lambda: parse(text))
        return value

    def equals(self, name: str, value: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tell which events have an attribute with exactly this value; JSON equality, nothing converted.

        Parameters
        ----------
        name : str
            A context attribute or an extension.
        value : str, bool or int
            ``2`` is not ``"2"``; ``2.0`` is ``2``. None is no value: nothing equals it.

        Returns
        -------
        ndarray of bool
            One per row of ``events``.
        """
        if name == "id":
            return self._ids.equals(value)
        if name in self._columns:
            return self._columns[name].equals(value)
        if name in self._extensions and not self._rare:
            return self._extensions[name].equals(value)
        return Column(None, self.attribute(name).to_numpy()).equals(value)

    def where(self, **attributes: Any) -> History:
        """Give the events that have all these attributes, such as ``history.where(type="run_succeeded")``.

        The events keep their seq, so that they can be found again in the whole history.
        """
        chosen = np.ones(len(self), dtype=bool)
        for name, value in attributes.items():
            chosen &= self.equals(name, value)
        return self._take(np.flatnonzero(chosen))

    def _take(self, rows: np.ndarray[Any, Any]) -> History:
        seqs = self.seqs[rows]
        if len(seqs) > 1 and seqs[0] > seqs[-1]:
            raise InvalidInput("A history stays in recorded order; a slice cannot turn it round.")
        kept = self.problems[self.problems["seq"].isin(seqs)].reset_index(drop=True)
        return History(
            self._buffer,
            starts=self._starts[rows],
            ends=self._ends[rows],
            ids=self._ids.take(rows),
            times=self._times[rows],
            columns={name: column.take(rows) for name, column in self._columns.items()},
            extensions={name: column.take(rows) for name, column in self._extensions.items()},
            rare=self._rare,
            problems=kept,
            seqs=seqs,
            name=self.name,
        )

    def counts(self) -> pd.DataFrame:
        """Count the events of each type, the most frequent first.

        Returns
        -------
        DataFrame
            type, events, first, last: the times of the first and last event of the type.
        """
        import pandas as pd

        frame = pd.DataFrame(
            {
                "type": pd.Series(self._columns["type"].objects(), dtype=object),
                "time": pd.Series(self._times.view("M8[ms]")).dt.tz_localize("UTC"),
            }
        )
        groups = frame.groupby("type", sort=False)["time"]
        table = pd.DataFrame({"events": groups.size(), "first": groups.min(), "last": groups.max()})
        return table.reset_index().sort_values("events", ascending=False, kind="stable").reset_index(drop=True)

    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Give the size of each event's JSON text, in bytes of UTF-8."""
        sizes: np.ndarray[Any, np.dtype[np.int64]] = self._ends - self._starts
        return sizes

    def clocks(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Give the clock of each event's fold: its time, or that of the last event before it that had one.

        Returns
        -------
        ndarray of float64
            Milliseconds since 1970 in UTC; 0.0 before the first time.
        """
        timed = self._times != NO_TIME
        last = np.maximum.accumulate(np.where(timed, np.arange(len(self)), -1)) if len(self) else np.empty(0, np.int64)
        clocks: np.ndarray[Any, np.dtype[np.float64]] = np.where(last >= 0, self._times[last], 0).astype(np.float64)
        return clocks


def _listed(column: Column) -> Column:
    return column.listed() if isinstance(column, TextColumn) else column
