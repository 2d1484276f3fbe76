"""An index of words that grows text by text: BM25 over whatever may be seen, and phrases by position.

Own arrays rather than a BM25 library: those count their statistics over everything indexed, and here they are counted
per call, over what the caller may see (notes: 20 unreadable texts turned the order of two readable ones round).
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from recallkit.memory.bounds import BM25_B, BM25_K1, NEIGHBOUR_WEIGHT
from recallkit.memory.search_words import parts, stems

Array: TypeAlias = np.ndarray[Any, Any]


class Growing:
    """A numpy array that grows at its end; ``values`` is what it holds, without a copy."""

    def __init__(self, dtype: Any, width: int | None = None) -> None:
        self._room: Array = np.zeros(1024 if width is None else (1024, width), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, value: Any) -> None:
        self._grow(self._count + 1)
        self._room[self._count] = value
        self._count += 1

    def extend(self, values: Array) -> None:
        need = self._count + len(values)
        self._grow(need)
        self._room[self._count : need] = values
        self._count = need

    def _grow(self, need: int) -> None:
        if need > len(self._room):
            shape = (max(need, 2 * len(self._room)), *self._room.shape[1:])
            room = np.zeros(shape, dtype=self._room.dtype)
            room[: self._count] = self.values
            self._room = room

    def __setitem__(self, place: int, value: Any) -> None:
        self._room[: self._count][place] = value

    @property
    def values(self) -> Array:
        return self._room[: self._count]


class WordIndex:
    """Texts by their words, numbered from 0 as they were added."""

    def __init__(self) -> None:
        self._texts: dict[str, array[int]] = {}
        self._counts: dict[str, array[float]] = {}
        # Where each part stands in all texts written one after another, with a gap of one between two.
        self._places: dict[str, array[int]] = {}
        self._starts = Growing(np.int64)
        self._next = 0
        self._lengths = Growing(np.float64)

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, text: str) -> int:
        """Add a text and give its number."""
        number = len(self._starts)
        found = parts(text)
        self._starts.append(self._next)
        for place, part in enumerate(found, start=self._next):
            places = self._places.get(part)
            if places is None:
                places = self._places[part] = array("q")
            places.append(place)
        self._next += len(found) + 1
        words = stems(found)
        self._lengths.append(len(words))
        for word, count in Counter(words).items():
            if word not in self._texts:
                self._texts[word], self._counts[word] = array("q"), array("d")
            self._texts[word].append(number)
            self._counts[word].append(count)
        return number

    # Copies, since an array that has a view cannot grow.

    def _with_stem(self, word: str) -> tuple[Array, Array]:
        if word not in self._texts:
            return np.empty(0, np.int64), np.empty(0, np.float64)
        return np.array(self._texts[word]), np.array(self._counts[word])

    def _with_part(self, part: str) -> Array:
        return np.array(self._places.get(part, ()), dtype=np.int64)

    def having(self, words: Sequence[str]) -> list[Array]:
        """Give, for each stem, the numbers of the texts that have it."""
        return [self._with_stem(word)[0] for word in words]

    def having_parts(self, found: Sequence[str]) -> list[Array]:
        """Give, for each part as written, the numbers of the texts that have it."""
        return [self._numbers(self._with_part(part)) for part in found]

    def _numbers(self, places: Array) -> Array:
        return np.unique(np.searchsorted(self._starts.values, places, side="right") - 1)

    def phrase(self, found: Sequence[str]) -> Array:
        """Give the numbers of the texts that have these parts adjacent and in this order."""
        if not found or any(part not in self._places for part in found):
            return np.empty(0, np.int64)
        # From the rarest part on, so that common ones are only looked up.
        order = sorted(range(len(found)), key=lambda place: len(self._places[found[place]]))
        begins = self._with_part(found[order[0]]) - order[0]
        for place in order[1:]:
            there = self._with_part(found[place])
            wanted = begins + place
            at = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
            begins = begins[there[at] == wanted]
            if not len(begins):
                break
        return self._numbers(begins)

    def bm25(self, words: Sequence[str], seen: Array, neighbours: tuple[Array, Array] | None = None) -> Array:
        """Score every text for the stems of a query, with statistics of the texts that may be seen.

        Parameters
        ----------
        words : sequence of str
            Stems; a repeated one counts once.
        seen : ndarray of bool
            One per text: whether the caller may see it. The others score 0 and count for nothing.
        neighbours : (ndarray, ndarray) of int, optional
            The text before and the text after each one in its thread, -1 for none. Their words count for it too, at a
            smaller weight, where the caller may see them.

        Returns
        -------
        ndarray of float64
        """
        scores = np.zeros(len(self), dtype=np.float64)
        total = int(np.count_nonzero(seen))
        if not total:
            return scores
        lengths = self._lengths.values
        if neighbours is not None:
            lengths = lengths + _around(np.where(seen, lengths, 0.0), neighbours)
        average = float(lengths[seen].sum()) / total or 1.0
        base = BM25_K1 * (1 - BM25_B + BM25_B / average * lengths)
        for word in dict.fromkeys(words):
            numbers, counts = self._with_stem(word)
            if neighbours is not None and len(numbers):
                numbers, counts = _spread(numbers, counts, neighbours, seen)
            having = int(np.count_nonzero(seen[numbers]))
            if having:
                rarity = math.log(1 + (total - having + 0.5) / (having + 0.5)) * (BM25_K1 + 1)
                scores[numbers] += rarity * counts / (counts + base[numbers])
        # Cheaper than to pick the seen ones out of every word's texts.
        scores[~seen] = 0.0
        return scores


def _around(values: Array, neighbours: tuple[Array, Array]) -> Array:
    padded = np.append(values, 0.0)  # -1, no neighbour, reads the last
    result: Array = padded[neighbours[0]] + padded[neighbours[1]]
    return result


def _spread(numbers: Array, counts: Array, neighbours: tuple[Array, Array], seen: Array) -> tuple[Array, Array]:
    """Add to the texts that have a word their neighbours, with the word's count weighed down."""
    before, after = neighbours
    kept = seen[numbers]
    numbers, counts = numbers[kept], counts[kept]
    # A text is the neighbour of the one after it, and of the one before it.
    every = np.concatenate([numbers, after[numbers], before[numbers]])
    weights = np.concatenate([counts, NEIGHBOUR_WEIGHT * counts, NEIGHBOUR_WEIGHT * counts])
    kept = (every >= 0) & seen[every]
    places, inverse = np.unique(every[kept], return_inverse=True)
    return places, np.bincount(inverse, weights=weights[kept], minlength=len(places))
