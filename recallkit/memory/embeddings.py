"""Meaning: texts as vectors. The default model lies inside its own wheel, so that nothing is downloaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from recallkit.errors import InvalidInput, Unavailable
from recallkit.memory.search_index import Array, Growing

Embedding: TypeAlias = Callable[[list[str]], Any]
"""A callable from texts to their vectors, one row a text."""

AT_ONCE = 512
PARALLEL_ROWS = 20_000


@lru_cache(maxsize=1)
def default_embedding() -> Embedding:
    """Give the default embedding, wordllama with 256 dimensions; it is loaded once and works offline."""
    try:
        import wordllama
    except ImportError:
        raise Unavailable(
            "The default embedding needs wordllama: install recallkit[memory], give embed= a callable from texts to "
            "vectors, or embed=False to search by words alone."
        ) from None
    here = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=here, disable_download=True)
    lock = threading.Lock()

    def embed(texts: list[str]) -> Any:
        with lock:
            return model.embed(texts)

    return embed


def vectors_of(embed: Embedding, texts: Sequence[str]) -> Array:
    """Embed texts: rows of length 1 (or 0, for a text without meaning), as float32.

    Raises
    ------
    InvalidInput
        The embedding did not give a row of finite numbers for each text.
    """
    try:
        rows = np.asarray(embed(list(texts)), dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"embed gave no vectors: {error}.", "/embed") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
        raise InvalidInput(
            f"embed gave the shape {rows.shape} for {len(texts)} texts; a row a text is needed.", "/embed"
        )
    if not np.isfinite(rows).all():
        raise InvalidInput("embed gave a number that is not finite.", "/embed")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    result: Array = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return result


def _products(rows: Array, asked: Array) -> Array:
    """Multiply each row with a vector; many rows in two threads, since einsum lets go of the interpreter."""
    if len(rows) < PARALLEL_ROWS:
        one: Array = np.einsum("ij,j->i", rows, asked)
        return one
    half = len(rows) // 2
    ahead = _pool().submit(np.einsum, "ij,j->i", rows[:half], asked)
    rest = np.einsum("ij,j->i", rows[half:], asked)
    return np.concatenate([ahead.result(), rest])


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="recallkit-meaning")


class MeaningIndex:
    """Texts by their vectors; those added since the last look are embedded at the next one."""

    def __init__(self, embed: Embedding) -> None:
        self._embed = embed
        self._vectors: Growing | None = None
        self._waiting: list[str] = []

    def add(self, text: str) -> None:
        """Add a text."""
        self._waiting.append(text)

    def _settle(self) -> None:
        while self._waiting:
            rows = vectors_of(self._embed, self._waiting[:AT_ONCE])
            if self._vectors is None:
                self._vectors = Growing(np.float32, rows.shape[1])
            if rows.shape[1] != self._vectors.values.shape[1]:
                known = self._vectors.values.shape[1]
                raise InvalidInput(f"embed gave {rows.shape[1]} dimensions after {known}.", "/embed")
            self._vectors.extend(rows)
            del self._waiting[:AT_ONCE]

    def cosines(self, query: str, numbers: Array) -> Array:
        """Give the cosine of each of some texts to a query, as float64.

        A row's figure is worked out by itself (einsum, not a matrix product), so that it does not depend, to the last
        bit, on which other rows there are.
        """
        self._settle()
        if self._vectors is None or not len(numbers):
            return np.zeros(len(numbers))
        asked = vectors_of(self._embed, [query])[0]
        rows = self._vectors.values
        if asked.shape[0] != rows.shape[1]:
            raise InvalidInput(f"embed gave {asked.shape[0]} dimensions after {rows.shape[1]}.", "/embed")
        # To copy most of the rows costs more than to multiply them all.
        whole = 2 * len(numbers) > len(rows)
        found = _products(rows, asked)[numbers] if whole else _products(rows[numbers], asked)
        return np.asarray(found, dtype=np.float64)
