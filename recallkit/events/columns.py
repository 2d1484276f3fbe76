"""One attribute of every event, in memory that fits: codes into a table of values, or the values themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_PLAIN_FROM = 50_000
"""From this many different values on, a column in which most differ gives up its table."""


class _Codes(dict[Any, int]):
    """Gives each value that it has not seen the next code; 0 is absent."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


def _key(value: Any) -> Any:
    # True and 1 are equal in Python and different in JSON.
    return (bool, value) if value.__class__ is bool else value


class ColumnBuilder:
    """Takes the values of an attribute part by part."""

    def __init__(self, before: int = 0) -> None:
        self._codes = _Codes({None: 0})
        self._parts: list[np.ndarray[Any, Any]] = [np.zeros(before, dtype=np.int32)]
        self._plain: list[Any] | None = None
        self._count = before

    def extend(self, values: Sequence[Any]) -> None:
        """Add the values of the next events; None where the attribute is absent."""
        self._count += len(values)
        if self._plain is not None:
            self._plain.extend(values)
            return
        first = values[0] if len(values) else None
        if (first is None or first.__class__ is str) and values.count(first) == len(values):
            self._parts.append(np.full(len(values), self._codes[first], dtype=np.int32))
            return
        if bool in set(map(type, values)):
            values = list(map(_key, values))
        self._parts.append(np.fromiter(map(self._codes.__getitem__, values), dtype=np.int32, count=len(values)))
        if len(self._codes) > _PLAIN_FROM and len(self._codes) * 2 > self._count:
            table = _values(self._codes)
            self._plain = table[np.concatenate(self._parts)].tolist()
            self._parts, self._codes = [], _Codes()

    def finish(self) -> Column:
        """Give the finished column; the builder is spent."""
        if self._plain is not None:
            plain, self._plain = _objects(self._plain), None
            column = Column(None, plain)
            column.hashed()
            return column
        codes, self._parts = np.concatenate(self._parts), []
        return Column(codes.astype(np.min_scalar_type(-len(self._codes))), _values(self._codes))


class Column:
    """A finished column.

    Where ``codes`` is None, ``values`` holds one value an event; else ``values[codes]`` does, and code 0 is absent.
    """

    def __init__(self, codes: np.ndarray[Any, Any] | None, values: np.ndarray[Any, Any]) -> None:
        self.codes = codes
        self.values = values
        self._hashes: np.ndarray[Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Hashes of texts differ from process to process.
        return {**self.__dict__, "_hashes": None}

    def objects(self) -> np.ndarray[Any, Any]:
        """Give every event's value, None where absent; equal texts are one object where they often repeat."""
        return self.values if self.codes is None else self.values[self.codes]

    def take(self, rows: np.ndarray[Any, Any]) -> Column:
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
            for place in np.flatnonzero(self.hashed() == hash(value)).tolist():
                same[place] = _key(self.values[place]) == _key(value)
        if self.codes is None:
            return same
        places = np.flatnonzero(same)
        if len(places) == 1:
            return np.asarray(self.codes == places[0], dtype=bool)
        return np.asarray(same[self.codes], dtype=bool)

    def hashed(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Give the hashes of the values, kept for the next comparison."""
        if self._hashes is None:
            self._hashes = np.fromiter(map(hash, self.values), dtype=np.int64, count=len(self.values))
        return self._hashes

    def count(self) -> int:
        """Count the events that have the attribute."""
        if self.codes is None:
            return sum(value is not None for value in self.values)
        return int(np.count_nonzero(self.codes))


def _values(codes: _Codes) -> np.ndarray[Any, Any]:
    return _objects([key[1] if key.__class__ is tuple else key for key in codes])


def _objects(values: list[Any]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
