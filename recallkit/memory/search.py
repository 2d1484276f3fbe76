"""Hybrid search: literals first, then words and meaning fused, over what may be seen and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from recallkit.memory.bounds import (
    LITERALS_CHECKED,
    MEANING_FLOOR,
    MEANING_WEIGHT,
    PHRASE_PARTS,
    RANK_FUSION_K,
    SCORE_DIGITS,
)
from recallkit.memory.embeddings import Embedding, MeaningIndex
from recallkit.memory.search_index import Array, WordIndex
from recallkit.memory.search_words import literals, parts, stems

_STEP = 1_024.0
"""More than any score, and than what a query's literals can count to: what comes first outweighs what comes after."""


@dataclass(frozen=True)
class Hits:
    """What a search found, the best first; every array has an item a hit.

    Attributes
    ----------
    numbers : ndarray of int
        The texts.
    score : ndarray of float
        Words by the best's, plus half the meaning by its range: 0 to 1.5.
    words, meaning : ndarray of float
        The BM25 score, and the cosine (NaN without an embedding).
    literal : ndarray of int
        How exactly the text has what the query means literally: per literal 1 for its parts in order, 2 when it also
        stands there as it was written, 3 when in the same case too.
    floor : float
        The cosine above which a text is found by its meaning.
    total : int
        How many were found, shown here or not.
    """

    numbers: Array
    score: Array
    words: Array
    meaning: Array
    literal: Array
    floor: float
    total: int

    def matched_by(self, place: int) -> list[str]:
        """Say which legs found a hit: 'literal', 'words', 'meaning'."""
        legs = ["literal"] if self.literal[place] else []
        legs += ["words"] if self.words[place] > 0 else []
        return legs + (["meaning"] if self.meaning[place] > self.floor else [])


class Search:
    """Texts by their words and, with an embedding, by their meaning; they are numbered from 0 as they were added."""

    def __init__(self, embed: Embedding | None, floor: float = MEANING_FLOOR) -> None:
        self.floor = floor
        self.texts: list[str] = []
        self.index = WordIndex()
        self.meaning = None if embed is None else MeaningIndex(embed)

    def add(self, text: str) -> int:
        """Add a text and give its number."""
        self.texts.append(text)
        if self.meaning is not None:
            self.meaning.add(text)
        return self.index.add(text)

    def find(
        self,
        query: str,
        seen: Array,
        among: Array | None = None,
        neighbours: tuple[Array, Array] | None = None,
        *,
        most: int | None = None,
        ahead: Array | None = None,
        fusion: str = "scores",
        literals_first: bool = True,
    ) -> Hits:
        """Find texts.

        Parameters
        ----------
        query : str
        seen : ndarray of bool
            Which texts the caller may see: the words' statistics are counted over these.
        among : ndarray of bool, optional
            Which of them are searched; all when left out.
        neighbours : (ndarray, ndarray) of int, optional
            See `WordIndex.bm25`.
        most : int, optional
            How many to give; all when left out.
        ahead : ndarray of bool, optional
            Which texts come before all others.
        fusion : {'scores', 'ranks', 'words', 'meaning'}
            How the legs are joined; all but the first are for comparing.
        literals_first : bool
            False, for comparing too: literals do not count.

        Returns
        -------
        Hits
            Those that share a word or a literal with the query, or whose meaning is above the floor.
        """
        numbers = np.flatnonzero(seen if among is None else seen & among)
        found = parts(query)
        words = self.index.bm25(stems(found), seen, neighbours)[numbers]
        literal = np.zeros(len(numbers), dtype=np.int64)
        if literals_first:
            literal = self._literal(query, found, seen)[numbers]
        meaning = np.full(len(numbers), np.nan)
        if self.meaning is not None and fusion != "words":
            meaning = self.meaning.cosines(query, numbers)
        # A comparison with NaN is false: without an embedding nothing is found by its meaning.
        hit = (words > 0) | (literal > 0) | (meaning > self.floor)
        score = np.round(_fused(words, meaning, fusion), SCORE_DIGITS)
        kept = np.flatnonzero(hit)
        first = np.zeros(len(numbers), dtype=bool) if ahead is None else ahead[numbers]
        found_in_all = len(kept)
        if most is not None and most < found_in_all:
            # Sorting tens of thousands to show ten takes longest of all: those past the place are dropped before.
            rank = (first[kept] * _STEP + literal[kept]) * _STEP + score[kept]
            kept = kept[rank >= np.partition(rank, found_in_all - most)[found_in_all - most]]
        # What comes ahead, then literals, then the score, then the newest.
        order = kept[np.lexsort((-numbers[kept], -score[kept], -literal[kept], ~first[kept]))][:most]
        return Hits(
            numbers[order], score[order], words[order], meaning[order], literal[order], self.floor, found_in_all
        )

    def _literal(self, query: str, found: list[str], seen: Array) -> Array:
        result = np.zeros(len(self.texts), dtype=np.int64)
        wanted = literals(query)
        for literal in wanted:
            having = self.index.phrase(parts(literal))
            having = having[seen[having]]
            result[having] += 1
            if len(having) <= LITERALS_CHECKED:
                for number in having.tolist():
                    result[number] += _exactness(literal, self.texts[number])
        # The whole query, where it is no literal already: a text that has it word for word comes first.
        if len(found) <= PHRASE_PARTS and found not in [parts(literal) for literal in wanted]:
            having = self.index.phrase(found)
            result[having[seen[having]]] += 1
        return result


def _fused(words: Array, meaning: Array, fusion: str) -> Array:
    by_words = words / (words.max(initial=0.0) or 1.0)
    if fusion == "words" or np.isnan(meaning).any():
        return by_words
    if fusion == "ranks":
        result: Array = 1 / (RANK_FUSION_K + _ranks(words)) + 1 / (RANK_FUSION_K + _ranks(meaning))
        return result
    if fusion == "meaning":
        return meaning
    low, high = meaning.min(initial=1.0), meaning.max(initial=-1.0)
    by_meaning = (meaning - low) / ((high - low) or 1.0)
    return np.asarray(by_words + MEANING_WEIGHT * by_meaning)


def _ranks(scores: Array) -> Array:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _exactness(literal: str, text: str) -> int:
    """Tell how exactly a text has a literal: 0 in parts only, 1 as written, 2 in the same case too.

    As written means that it is not a piece of a longer identifier, such as ``pool_pre_ping`` in ``pool_pre_ping_v2``.
    """
    same, any_case = _patterns(literal)
    if same.search(text):
        return 2
    return 1 if any_case.search(text) else 0


@lru_cache(maxsize=256)
def _patterns(literal: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Not after or before a letter, a digit, or a joining mark with one behind it.
    begin, end = r"(?<![\w])(?<![\w][-./:@#])(?<![-])", r"(?![\w])(?![-./:@#][\w])"
    if literal.startswith("-"):
        begin = r"(?<![\w-])"
    whole = f"{begin}{re.escape(literal)}{end}"
    return re.compile(whole), re.compile(whole, re.IGNORECASE)
