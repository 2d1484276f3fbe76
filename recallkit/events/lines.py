"""Reads the texts of many events: a fast way for ordinary lines, and `event.examine` for every other one.

The fast way decodes the attributes of a line with msgspec, which is strict, into a struct that knows the extensions met
so far. A line that it refuses, or whose attributes look unusual, is examined; so what is kept never depends on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from recallkit.bounds import LEVELS, LINE_BYTES
from recallkit.events import lint
from recallkit.events.columns import ColumnBuilder, Packed
from recallkit.events.contents import Buffer
from recallkit.events.event import CONTEXT, DATA, examine, is_media_type, too_deep
from recallkit.events.problems import Fault, Problems, Row
from recallkit.events.reading import NAMED_COLUMNS, Reading
from recallkit.events.times import read_time, read_times

BLOCK_BYTES: Final = 512 * 1024

_BLANKS: Final = b" \t\r\n"
_READ: Final = (*CONTEXT, "data_base64")
_COLUMNS: Final = ("type", "source", "specversion", "subject", "datacontenttype", "dataschema")


class Reader:
    """Takes blocks of lines and keeps what is read: where each event's text stands, its columns, and its problems."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.looked_like_events = False
        self.ids = ColumnBuilder(packed=True)
        self.count = 0
        self.columns: dict[str, ColumnBuilder] = {name: ColumnBuilder() for name in _COLUMNS}
        self.extensions: dict[str, ColumnBuilder] = {}
        self.rare: dict[int, dict[str, Any]] = {}
        self.starts: list[np.ndarray[Any, Any]] = []
        self.ends: list[np.ndarray[Any, Any]] = []
        self.lines: list[np.ndarray[Any, Any]] = []
        self.times: list[np.ndarray[Any, Any]] = []
        self.unreadable: list[tuple[int, str]] = []
        self.long_names: set[str] = set()
        self._found: list[Row] = []
        self._learn(())

    def _learn(self, names: Sequence[str]) -> None:
        """Make the decoder of ordinary events, which knows these extensions too."""
        for name in names:
            self.extensions[name] = ColumnBuilder(self.count)
        text, value = str | None, str | bool | int | None
        fields: list[Any] = [("id", str), ("type", str), ("source", str)]
        fields += [(name, text, None) for name in CONTEXT[3:]]
        fields += [("data", msgspec.Raw, None), ("data_base64", text, None)]
        # An extension's name may be a Python keyword or begin with a digit, so fields have names of our own.
        self._fields = {name: f"x{i}" for i, name in enumerate(self.extensions)}
        fields += [(field, value, None) for field in self._fields.values()]
        self._event = msgspec.defstruct(
            "Event",
            fields,
            rename={field: name for name, field in self._fields.items()},
            forbid_unknown_fields=True,
            gc=False,
        )
        decoder = msgspec.json.Decoder(self._event)
        self._decode, self._decode_lines = decoder.decode, decoder.decode_lines
        places = {name: place for place, name in enumerate(self._event.__struct_fields__)}
        self._places = {name: places[self._fields.get(name, name)] for name in (*_READ, *self._fields)}

    def _named(self, events: list[Any]) -> dict[str, Sequence[Any]]:
        """Give the attributes of decoded events, a list of values each."""
        if not events:
            return {name: [] for name in self._places}
        columns = list(zip(*map(msgspec.structs.astuple, events), strict=True))
        return {name: columns[place] for name, place in self._places.items()}

    def read(self, block: bytes, base: int, line: int) -> int:
        """Read a block of whole lines.

        Parameters
        ----------
        block : bytes
            Lines, without the end of the last one.
        base : int
            Where the block begins in the history's bytes.
        line : int
            The number of its first line, from 1.

        Returns
        -------
        int
            How many lines it holds.
        """
        breaks = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
        starts = np.concatenate([np.zeros(1, dtype=np.int64), breaks + 1])
        sizes = np.append(breaks, len(block)) - starts
        texts = Texts(block, starts, sizes)
        lines = np.arange(line, line + len(starts), dtype=np.int64)
        self.read_texts(block, texts, starts + base, sizes, lines)
        return len(starts)

    def read_texts(
        self,
        block: bytes,
        texts: Texts | list[bytes],
        starts: np.ndarray[Any, Any],
        sizes: np.ndarray[Any, Any],
        lines: np.ndarray[Any, Any],
    ) -> None:
        """Read texts of one event each; ``block`` holds them all, and is searched for what is suspicious."""
        while (unknown := self._read_once(block, texts, starts, sizes, lines)) is not None:
            self._learn(unknown)
        # In the order of lines, however the lines fall into blocks: the table of problems may have no room for all.
        for row in sorted(self._found, key=lambda row: row.line or 0):
            self.problems.add(*row)
        self._found.clear()

    def _decoded(self, block: bytes, texts: Texts | list[bytes]) -> tuple[list[Any], set[int]]:
        """Decode the texts, None for one that is refused; and give the refused ones that are not blank."""
        refused: set[int] = set()
        if isinstance(texts, Texts) and texts.are_objects():
            try:
                events: list[Any] = self._decode_lines(block)
                # As many objects as lines, and no value goes over a line's end (see `are_objects`): one in each line.
                if len(events) == len(texts):
                    return events, refused
            except (msgspec.MsgspecError, ValueError, RecursionError):
                pass
        events = []
        for i, text in enumerate(texts):
            try:
                events.append(self._decode(text))
            except (msgspec.MsgspecError, ValueError, RecursionError):
                events.append(None)
                if text.strip(_BLANKS):
                    refused.add(i)
        return events, refused

    def _read_once(
        self,
        block: bytes,
        texts: Texts | list[bytes],
        starts: np.ndarray[Any, Any],
        sizes: np.ndarray[Any, Any],
        lines: np.ndarray[Any, Any],
    ) -> list[str] | None:
        """Read a block, or give the names of extensions to learn first."""
        doubtful: set[int] = set() if block.isascii() else _not_utf8(block, texts)
        events, refused = self._decoded(block, texts)
        doubtful |= refused
        # The event is one level; two brackets a level is the least that a deep text takes.
        doubtful.update(i for i in np.flatnonzero(sizes > 2 * LEVELS).tolist() if too_deep(texts[i], LEVELS + 1))
        doubtful.update(np.flatnonzero(sizes > LINE_BYTES).tolist())
        present = range(len(events)) if all(events) else [i for i, event in enumerate(events) if event is not None]
        ordinary = events if len(present) == len(events) else [events[i] for i in present]
        named = self._named(ordinary)
        times, rest = read_times(named["time"])
        doubtful.update(present[row] for row in self._doubt(named, rest))
        if not doubtful:
            self._keep(block, texts, np.array(present, dtype=np.int64), named, times, rest, {}, starts, sizes, lines)
            return None
        faults: list[tuple[int, Fault]] = []
        rare: dict[int, dict[str, Any]] = {}
        for i in sorted(doubtful):
            result = examine(texts[i]) if len(texts[i]) <= LINE_BYTES else _too_large(len(texts[i]))
            if isinstance(result, Fault):
                faults.append((i, result))
                events[i] = None
                self.looked_like_events |= result.kind not in ("not-json", "not-utf8", "not-an-object") and (
                    not result.kind.startswith("no-") or _names_something(texts[i])
                )
                self.looked_like_events |= b'"specversion"' in texts[i]
                continue
            names = [name for name in result if name not in CONTEXT and name not in DATA]
            unknown = [name for name in names if name not in self._fields]
            if unknown and len(self._fields) < NAMED_COLUMNS:
                return unknown[: NAMED_COLUMNS - len(self._fields)]
            if unknown:
                rare[i] = {name: result[name] for name in unknown}
            known: dict[str, Any] = {name: result[name] for name in CONTEXT if name in result}
            known |= {self._fields[name]: result[name] for name in names if name in self._fields}
            events[i] = self._event(**known)
        for i, fault in faults:
            self._found.append(Row(None, int(lines[i]), fault.id, fault.kind, fault.words))
        kept = [i for i, event in enumerate(events) if event is not None]
        named = self._named([events[i] for i in kept])
        times, rest = read_times(named["time"])
        self._keep(block, texts, np.array(kept, dtype=np.int64), named, times, rest, rare, starts, sizes, lines)
        return None

    def _doubt(self, named: dict[str, Sequence[Any]], rest: list[int]) -> set[int]:
        """Give the rows whose attributes must be examined: judged a column at a time."""
        doubtful: set[int] = set()

        def doubt(values: Sequence[Any], wrong: Callable[[Any], bool]) -> None:
            doubtful.update(row for row, value in enumerate(values) if wrong(value))

        for name in ("id", "type", "source", "subject", "dataschema"):
            if "" in named[name]:
                doubt(named[name], lambda value: value == "")
        if named["specversion"].count("1.0") < len(named["specversion"]):
            doubt(named["specversion"], lambda value: value not in ("1.0", None))
        kinds = named["datacontenttype"]
        if kinds.count(None) < len(kinds) and not all(kind is None or is_media_type(kind) for kind in set(kinds)):
            doubt(named["datacontenttype"], lambda value: value is not None and not is_media_type(value))
        if named["data_base64"].count(None) < len(named["data_base64"]):
            doubt(named["data_base64"], lambda value: value is not None)
        for name in self._fields:
            values = named[name]
            if any(value.__class__ is int and not -(2**31) <= value < 2**31 for value in set(values)):
                doubt(values, lambda value: value.__class__ is int and not -(2**31) <= value < 2**31)
        doubtful.update(row for row in rest if read_time(named["time"][row])[1] == "refused")
        return doubtful

    def _keep(
        self,
        block: bytes,
        texts: Texts | list[bytes],
        kept: np.ndarray[Any, Any],
        named: dict[str, Sequence[Any]],
        times: np.ndarray[Any, Any],
        rest: list[int],
        rare: dict[int, dict[str, Any]],
        starts: np.ndarray[Any, Any],
        sizes: np.ndarray[Any, Any],
        lines: np.ndarray[Any, Any],
    ) -> None:
        """Append the events of a block that are kept to the columns."""
        if not len(kept):
            return
        self.looked_like_events = True
        seq = self.count
        self.count += len(kept)
        for row in rest:
            times[row], verdict = read_time(named["time"][row])
            if verdict != "read":
                self.unreadable.append((seq + row, named["time"][row]))
        self.ids.extend(named["id"])
        for name, column in self.columns.items():
            column.extend(named[name])
        for name, column in self.extensions.items():
            column.extend(named[name])
        for i, members in rare.items():
            self.rare[seq + int(np.searchsorted(kept, i))] = members
        begins, ends = starts[kept], starts[kept] + sizes[kept]
        letters, origin = np.frombuffer(block, dtype=np.uint8), int(starts[0])
        blanks = (letters[begins - origin] != ord("{")) | (letters[ends - 1 - origin] != ord("}"))
        for row in np.flatnonzero(blanks).tolist():
            text = texts[kept[row]]
            begins[row] += len(text) - len(text.lstrip(_BLANKS))
            ends[row] -= len(text) - len(text.rstrip(_BLANKS))
        self.starts.append(begins)
        self.ends.append(ends)
        self.lines.append(lines[kept])
        self.times.append(times)
        self._suspect(block, texts, kept, named["id"], seq, starts, lines)

    def _suspect(
        self,
        block: bytes,
        texts: Texts | list[bytes],
        kept: np.ndarray[Any, Any],
        ids: Sequence[str],
        seq: int,
        starts: np.ndarray[Any, Any],
        lines: np.ndarray[Any, Any],
    ) -> None:
        """Report the texts that hold what the engine reads differently than it is written."""
        ends = lint.long_digits(block)
        if len(ends):
            held = np.unique(np.searchsorted(starts - starts[0], ends, side="right") - 1)
            for row in np.flatnonzero(np.isin(kept, held)).tolist():
                i = int(kept[row])
                if found := lint.big_integers(texts[i]):
                    self._found.append(
                        Row(seq + row, int(lines[i]), ids[row], "big-integer", lint.big_integer_words(found))
                    )
        if lint.may_hold_surrogates(block):
            for row, i in enumerate(kept.tolist()):
                if lint.may_hold_surrogates(texts[i]) and (halves := lint.lone_surrogates(texts[i])):
                    self._found.append(
                        Row(seq + row, int(lines[i]), ids[row], "lone-surrogate", lint.lone_surrogate_words(halves))
                    )

    def finish(self, count_lines: int = 0) -> Reading:
        """Give what was read; the reader is spent."""
        ids = self.ids.finish()
        assert isinstance(ids, Packed)
        return Reading(
            starts=_joined(self.starts),
            ends=_joined(self.ends),
            lines=_joined(self.lines),
            times=_joined(self.times),
            hashes=lint.fingerprints(ids),
            ids=ids,
            columns={name: column.finish() for name, column in self.columns.items()},
            extensions={name: column.finish() for name, column in self.extensions.items()},
            rare=self.rare,
            unreadable=self.unreadable,
            problems=self.problems,
            looked_like_events=self.looked_like_events,
            count_lines=count_lines,
        )


class Texts(Sequence[bytes]):
    """The lines of a block, each cut out when it is asked for."""

    def __init__(self, block: bytes, starts: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> None:
        self._block = block
        self._starts = starts
        self._sizes = sizes

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, place: Any) -> Any:
        start = int(self._starts[place])
        return self._block[start : start + int(self._sizes[place])]

    def are_objects(self) -> bool:
        """Tell whether every line begins with { and ends with }, but for a CR.

        Then no JSON value goes over the end of a line: inside of one, a { never follows a } with only blanks between.
        """
        if not self._sizes.all():
            return False
        letters = np.frombuffer(self._block, dtype=np.uint8)
        last = self._starts + self._sizes - 1
        last = last - ((letters[last] == ord("\r")) & (self._sizes > 1))
        return bool((letters[self._starts] == ord("{")).all() and (letters[last] == ord("}")).all())


def _joined(parts: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def blocks(buffer: Buffer, start: int, wait: Callable[[int], None]) -> Iterator[tuple[bytes, int]]:
    """Cut a buffer into blocks of whole lines, each with its place; the end of a block's last line is left out.

    ``wait(end)`` is called before the bytes up to ``end`` are looked at.
    """
    size = len(buffer)
    while start < size:
        end = min(start + BLOCK_BYTES, size)
        wait(end)
        if end < size:
            newline = buffer.rfind(b"\n", start, end)
            if newline < 0:
                wait(size)
                newline = buffer.find(b"\n", end)
            end = size if newline < 0 else newline
        elif buffer[end - 1] == 10:
            end -= 1
        yield bytes(memoryview(buffer)[start:end]), start
        start = end + 1


def _not_utf8(block: bytes, texts: Texts | list[bytes]) -> set[int]:
    """Give the lines of a block that are not UTF-8."""
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return {i for i, text in enumerate(texts) if not _is_utf8(text)}
    return set()


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _too_large(size: int) -> Fault:
    return Fault("too-large", f"The event takes {size:,} bytes, more than the {LINE_BYTES:,} that are read; split it.")


def _names_something(text: bytes) -> bool:
    return any(b'"%s"' % name.encode() in text for name in ("id", "type", "source"))
