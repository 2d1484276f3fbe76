"""One attribute of every event, in memory that fits: codes into a table of values, or texts one after another.

A reader builds a column with `ColumnBuilder`, which needs numpy alone, so that a reading process starts fast. What it
gives can be sent to another process, where `join` makes one `Column` of the columns of many parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_PACKED_FROM = 4_096
"""From this many different values on, a column in which most differ gives up its table."""

Array = np.ndarray[Any, Any]


class _Codes(dict[Any, int]):
    """Gives each value that it has not seen the next code; 0 is absent."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code

    def add(self, values: Sequence[Any]) -> Array:
        if bool in set(map(type, values)):
            values = list(map(_key, values))
        return np.fromiter(map(self.__getitem__, values), dtype=np.int32, count=len(values))


def _key(value: Any) -> Any:
    # True and 1 are equal in Python and different in JSON.
    return (bool, value) if value.__class__ is bool else value


class Packed:
    """Texts in UTF-8, one after another, and the length of each; -1 where it is absent."""

    def __init__(self, letters: Array, lengths: Array) -> None:
        self.letters = letters
        self.lengths = lengths

    @classmethod
    def of(cls, values: Sequence[str | None]) -> Packed:
        """Pack texts."""
        present: Sequence[Any] = [value for value in values if value is not None] if None in values else values
        joined = "".join(present)
        if joined.isascii():
            packed, sizes = joined.encode("ascii"), map(len, present)
        else:
            encoded = [value.encode("utf-8") for value in present]
            packed, sizes = b"".join(encoded), map(len, encoded)
        lengths = np.fromiter(sizes, dtype=np.int32, count=len(present))
        if len(present) < len(values):
            known, lengths = lengths, np.full(len(values), -1, dtype=np.int32)
            lengths[[value is not None for value in values]] = known
        return cls(np.frombuffer(packed, dtype=np.uint8), lengths)

    def arrow(self) -> pa.Array:
        """Give the texts as an Arrow array; the letters are not copied."""
        import pyarrow as pa

        absent = self.lengths < 0
        offsets = np.zeros(len(self.lengths) + 1, dtype=np.int64)
        np.cumsum(np.where(absent, 0, self.lengths), out=offsets[1:])
        holes = bool(absent.any())
        valid = pa.py_buffer(np.packbits(~absent, bitorder="little")) if holes else None
        if offsets[-1] < 2**31:
            offsets, kind = offsets.astype(np.int32), pa.string()
        else:
            kind = pa.large_string()
        buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(self.letters)]
        array = pa.Array.from_buffers(kind, len(self.lengths), buffers)
        return array if kind == pa.string() else array.cast(pa.large_string())


def _together(parts: Sequence[Packed]) -> Packed:
    if len(parts) == 1:
        return parts[0]
    return Packed(np.concatenate([part.letters for part in parts]), np.concatenate([part.lengths for part in parts]))


Part = tuple[Array, list[Any]] | Packed | list[Any]
"""A finished part of a column: codes and their table, or texts, or values (where few are alike and not all texts)."""


class ColumnBuilder:
    """Takes the values of an attribute block by block.

    Parameters
    ----------
    before : int
        How many events stand before the first value, without the attribute.
    packed : bool
        Whether the values are texts that mostly differ, such as ids.
    """

    def __init__(self, before: int = 0, *, packed: bool = False) -> None:
        self._codes = _Codes({None: 0})
        self._parts: list[Array] = [np.zeros(before, dtype=np.int32)]
        self._packed: list[Packed] | None = [] if packed else None
        self._plain: list[Any] | None = None
        self._count = before

    def extend(self, values: Sequence[Any]) -> None:
        """Add the values of the next events; None where the attribute is absent."""
        self._count += len(values)
        if self._packed is not None and all(map(_TEXT_OR_NONE.__contains__, set(map(type, values)))):
            self._packed.append(Packed.of(values))
            return
        if self._packed is not None:
            # A number or a boolean after many texts.
            self._plain = _together(self._packed).arrow().to_pylist()
            self._packed = None
        if self._plain is not None:
            self._plain.extend(values)
            return
        first = values[0] if len(values) else None
        if (first is None or first.__class__ is str) and values.count(first) == len(values):
            self._parts.append(np.full(len(values), self._codes[first], dtype=np.int32))
            return
        self._parts.append(self._codes.add(values))
        if len(self._codes) > _PACKED_FROM and len(self._codes) * 2 > self._count:
            plain = _values(self._codes)[np.concatenate(self._parts)].tolist()
            if all(map(_TEXT_OR_NONE.__contains__, set(map(type, plain)))):
                self._packed = [Packed.of(plain)]
            else:
                self._plain = plain
            self._parts, self._codes = [], _Codes()

    def finish(self) -> Part:
        """Give the finished part; the builder is spent."""
        if self._plain is not None:
            return self._plain
        if self._packed is not None:
            return _together(self._packed or [Packed.of([])])
        codes = np.concatenate(self._parts)
        return codes.astype(np.min_scalar_type(-len(self._codes))), _values(self._codes).tolist()


_TEXT_OR_NONE = frozenset({str, type(None)})


class Column:
    """A finished column: ``values[codes]``, where code 0 is absent; or ``values`` alone where ``codes`` is None."""

    def __init__(self, codes: Array | None, values: Array) -> None:
        self.codes = codes
        self.values = values
        self._hashes: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Hashes of texts differ from process to process.
        return {**self.__dict__, "_hashes": None}

    def __len__(self) -> int:
        return len(self.values if self.codes is None else self.codes)

    def objects(self) -> Array:
        """Give every event's value, None where absent; equal texts are one object where they often repeat."""
        return self.values if self.codes is None else self.values[self.codes]

    def take(self, rows: Array) -> Column:
        """Give the column of some events: a mask, or their rows."""
        if self.codes is None:
            return Column(None, self.values[rows])
        return Column(self.codes[rows], self.values)

    def equals(self, value: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tell for each event whether it has exactly this value: a JSON value, never converted, never absent."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        same = np.zeros(len(self.values), dtype=bool)
        if value is not None and isinstance(value, str | bool | int):
            # The few with the same hash are then compared: True and 1, at least, share theirs.
            for place in np.flatnonzero(self._hashed() == hash(value)).tolist():
                same[place] = _key(self.values[place]) == _key(value)
        if self.codes is None:
            return same
        places = np.flatnonzero(same)
        if len(places) == 1:
            return np.asarray(self.codes == places[0], dtype=bool)
        return np.asarray(same[self.codes], dtype=bool)

    def _hashed(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Give the hashes of the values, kept for the next comparison."""
        if self._hashes is None:
            self._hashes = np.fromiter(map(hash, self.values), dtype=np.int64, count=len(self.values))
        return self._hashes

    def count(self) -> int:
        """Count the events that have the attribute."""
        if self.codes is None:
            return sum(value is not None for value in self.values)
        return int(np.count_nonzero(self.codes))


class TextColumn(Column):
    """A column of texts that mostly differ; Python makes a text of one only when it is asked for."""

    def __init__(self, texts: pa.ChunkedArray) -> None:
        super().__init__(None, np.empty(0, dtype=object))
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def objects(self) -> Array:
        """Give every event's text, None where absent."""
        result = np.empty(len(self.texts), dtype=object)
        at = 0
        for chunk in self.texts.chunks:
            result[at : at + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
            at += len(chunk)
        return result

    def take(self, rows: Array) -> Column:
        """Give the column of some events: a mask, or their rows."""
        import pyarrow as pa

        places = np.flatnonzero(rows) if rows.dtype == bool else rows
        return TextColumn(self.texts.take(pa.array(places, type=pa.int64())))

    def equals(self, value: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Tell for each event whether it has exactly this text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(value, str) or not _is_unicode(value):
            return np.zeros(len(self.texts), dtype=bool)
        same = pc.fill_null(pc.equal(self.texts, pa.scalar(value, self.texts.type)), False)
        result: np.ndarray[Any, np.dtype[np.bool_]] = same.to_numpy()
        return result

    def listed(self) -> Column:
        """Give the column with Python's texts in place of these, ready to be compared."""
        column = Column(None, self.objects())
        column._hashed()
        return column

    def count(self) -> int:
        """Count the events that have the attribute."""
        return len(self.texts) - int(self.texts.null_count)


def join(parts: Sequence[Part]) -> Column:
    """Make one column of its parts, in their order."""
    if any(isinstance(part, Packed) for part in parts):
        if all(isinstance(part, Packed) or _is_texts(part) for part in parts):
            return _joined_texts(parts)
    elif not any(isinstance(part, list) for part in parts):
        return _joined_codes([part for part in parts if isinstance(part, tuple)])
    return Column(None, _objects([value for part in parts for value in _listed(part)]))


def _is_texts(part: Part) -> bool:
    values = part[1] if isinstance(part, tuple) else part
    return not isinstance(values, Packed) and all(value is None or value.__class__ is str for value in values)


def _joined_texts(parts: Sequence[Part]) -> Column:
    import pyarrow as pa

    arrays = [(part if isinstance(part, Packed) else Packed.of(_listed(part))).arrow() for part in parts]
    large = any(array.type == pa.large_string() for array in arrays)
    kind = pa.large_string() if large else pa.string()
    return TextColumn(pa.chunked_array([array.cast(kind) for array in arrays if len(array)], type=kind))


def _joined_codes(parts: Sequence[tuple[Array, list[Any]]]) -> Column:
    if len(parts) == 1:
        return Column(parts[0][0], _objects(parts[0][1]))
    table = _Codes({None: 0})
    moved = [table.add(values)[codes] for codes, values in parts]
    kind = np.min_scalar_type(-len(table))
    return Column(np.concatenate([codes.astype(kind) for codes in moved]), _values(table))


def _listed(part: Part) -> list[Any]:
    if isinstance(part, Packed):
        listed: list[Any] = part.arrow().to_pylist()
        return listed
    if isinstance(part, tuple):
        codes, values = part
        return [values[code] for code in codes.tolist()]
    return part


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _values(codes: _Codes) -> Array:
    return _objects([key[1] if key.__class__ is tuple else key for key in codes])


def _objects(values: list[Any]) -> Array:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
