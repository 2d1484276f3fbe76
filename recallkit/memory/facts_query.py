"""The query over the graph, in an order that never changes: temporal selection, readers, ranking, limit.

Ranking receives only what the caller may read. Its statistics are counted over the facts that match the query and that
the caller may read, so that neither facts of others nor commits that are still pending move a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recallkit.memory.arguments import iso
from recallkit.memory.bounds import SCORE_DIGITS
from recallkit.memory.facts_fold import FactsFold
from recallkit.memory.facts_graph import NEVER, Array, Row, Space
from recallkit.memory.search_words import literals, parts, stem, stems


@dataclass(frozen=True, slots=True)
class Moment:
    """The state that a recall reads: up to a position of the log, as at a time; `past` when it was asked for."""

    position: int
    time: int
    past: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A query in words.

    Attributes
    ----------
    words : tuple of str
        The stems to match; without the small words, unless there are no others.
    waiting : tuple of str
        The stems by which pending commits are found: of all parts of what is meant literally, too.
    literal : tuple of tuple of str
        The parts of each identifier or quoted phrase.
    small : bool
        Whether the query has nothing but small words, which are matched as they are written.
    """

    words: tuple[str, ...]
    waiting: tuple[str, ...]
    literal: tuple[tuple[str, ...], ...]
    small: bool

    @classmethod
    def of(cls, query: str) -> Question:
        """Read a query; it has no words when it holds no letter and no digit."""
        found = parts(query)
        literal = tuple(tuple(parts(each)) for each in literals(query))
        words = tuple(dict.fromkeys(stems(found)))
        small = not words
        words = words or tuple(dict.fromkeys(found))
        also = [stem(part) for each in literal for part in each]
        waiting = tuple(dict.fromkeys([*(map(stem, words) if small else words), *also]))
        return cls(words, waiting, literal, small)


@dataclass(slots=True)
class Matches:
    """The rows that have a word of the query: for each word its rows, and those that have each literal."""

    by_word: list[Array]
    by_literal: list[Array]
    numbers: Array

    def only(self, kept: Array) -> Matches:
        """Give the matches among some rows only; `kept` has a boolean for each of `numbers`."""
        numbers = self.numbers[kept]
        size = int(self.numbers[-1]) + 1 if len(self.numbers) else 0
        chosen = np.zeros(size, dtype=bool)
        chosen[numbers] = True
        by_word = [rows[chosen[rows]] for rows in self.by_word]
        return Matches(by_word, [rows[chosen[rows]] for rows in self.by_literal], numbers)


def matches(space: Space, question: Question) -> Matches:
    """Look the query's words up."""
    find = space.words.having_parts if question.small else space.words.having
    by_word = [np.asarray(each, dtype=np.int64) for each in find(question.words)]
    by_literal = [np.asarray(space.words.phrase(each), dtype=np.int64) for each in question.literal]
    found = np.zeros(len(space.rows), dtype=bool)
    for rows in (*by_word, *by_literal):
        found[rows] = True
    return Matches(by_word, by_literal, np.flatnonzero(found))


def believed(space: Space, numbers: Array, moment: Moment) -> Array:
    """The temporal selection: recorded at or before the moment, and not closed at or before it."""
    chosen: Array = (space.opened.values[numbers] <= moment.position) & (space.closed.values[numbers] > moment.position)
    return chosen


def readable(space: Space, numbers: Array, caller: str | None) -> Array:
    """The filter of readers, by each fact's own stamp as it stands today."""
    chosen: Array = space.readable(caller)[space.reader_class.values[numbers]] if len(numbers) else np.empty(0, bool)
    return chosen


def inside(space: Space, numbers: Array, scope: str | None) -> Array:
    """The facts of the paths at or under a scope."""
    if scope is None:
        return np.ones(len(numbers), dtype=bool)
    allowed = np.zeros(len(space.paths), dtype=bool)
    allowed[[path.number for path in space.within(scope)]] = True
    chosen: Array = allowed[space.path_number.values[numbers]]
    return chosen


@dataclass(slots=True)
class Selected:
    """What may be ranked, and how many facts that the caller may read were left out before."""

    matches: Matches
    closed: int
    archived: int


def select(
    fold: FactsFold,
    space: Space,
    found: Matches,
    moment: Moment,
    scope: str | None,
    caller: str | None,
    *,
    archived: bool,
) -> Selected:
    """Select in time and by readers, and leave out what is forgotten."""
    found = found.only(inside(space, found.numbers, scope))
    now = believed(space, found.numbers, moment)
    allowed = readable(space, found.numbers, caller)
    ended = np.count_nonzero(~now & allowed & (space.closed.values[found.numbers] <= moment.position))
    found = found.only(now & allowed)
    hidden = forgotten(fold, space, found.numbers, moment.position)
    kept = found if archived or not hidden.any() else found.only(~hidden)
    return Selected(kept, int(ended), int(np.count_nonzero(hidden)) if not archived else 0)


def forgotten(fold: FactsFold, space: Space, numbers: Array, upto: int) -> Array:
    """Tell which facts were forgotten by a position and not restored since."""
    hidden = np.zeros(len(numbers), dtype=bool)
    for place in np.flatnonzero(space.tuned.values[numbers]).tolist():
        hidden[place] = fold.archived(space.rows[int(numbers[place])].id, upto)
    return hidden


@dataclass(frozen=True, slots=True)
class Ranked:
    """A result in its place."""

    row: Row
    relevance: float
    salience: float
    words: tuple[str, ...]
    exact: int


def rank(fold: FactsFold, space: Space, found: Matches, question: Question, moment: Moment, limit: int) -> list[Ranked]:
    """Rank what the caller may read: exact names, relevance, salience, recency, id; the first so many.

    Relevance is the sum of the weights of the words that a fact has, a word's weight being BM25's measure of how rare
    it is among the matching facts. How often and in how long a fact a word stands does not count: facts are short, and
    only so can two be equally relevant.
    """
    numbers = found.numbers
    total = len(numbers)
    if not total:
        return []
    size = int(numbers[-1]) + 1
    weights = np.zeros(size)
    for rows in found.by_word:
        weights[rows] += np.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5))
    names = np.zeros(size, dtype=np.int64)
    for rows in found.by_literal:
        names[rows] += 1
    relevance, exact = np.round(weights[numbers], SCORE_DIGITS), names[numbers]
    if total > limit:
        # Only those that may be among the first so many are put in order.
        coarse = exact * 1e6 + relevance
        kept = coarse >= np.partition(coarse, total - limit)[total - limit]
        numbers, relevance, exact = numbers[kept], relevance[kept], exact[kept]
    salience = np.zeros(len(numbers))
    for place in np.flatnonzero(space.tuned.values[numbers]).tolist():
        id = space.rows[int(numbers[place])].id
        salience[place] = fold.salience(id, moment.position, moment.time)
    past = np.fromiter((space.rows[number].origin is not None for number in numbers.tolist()), bool, len(numbers))
    keys = (past, space.ordinal.values[numbers], -space.stated.values[numbers], -salience, -relevance, -exact)
    order = np.lexsort(keys)[:limit]
    ranked = []
    for place in order.tolist():
        number = int(numbers[place])
        has = tuple(word for word, rows in zip(question.words, found.by_word, strict=True) if _has(rows, number))
        row = space.rows[number]
        ranked.append(Ranked(row, float(relevance[place]), float(salience[place]), has, int(exact[place])))
    return ranked


def _has(rows: Array, number: int) -> bool:
    place = int(np.searchsorted(rows, number))
    return place < len(rows) and int(rows[place]) == number


def as_result(fold: FactsFold, row: Row, moment: Moment) -> dict[str, Any]:
    """Give a fact as a caller sees it: the fields of the specification, and a text."""
    fact, commit, end = row.fact, row.entry.commit, row.closing
    to = end.time if end is not None and end.position <= moment.position else None
    said = f"{fact.subject} – {fact.predicate}: {fact.object}"
    return {
        "id": row.id,
        "text": said if row.valid_to is None else f"{said} ({window(row.valid_from, row.valid_to)})",
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "objectKind": fact.object_kind,
        "citation": {
            "space": commit.space,
            "path": commit.path,
            "version": commit.version,
            "section": fact.section,
            "anchor": fact.anchor,
            "lineStart": fact.line_start,
            "lineEnd": fact.line_end,
            "commit": commit.id,
        },
        "validTime": {"from": row.valid_from, "to": row.valid_to},
        "recordedTime": {"from": row.opened_at, "to": to},
        "confidence": fact.confidence,
        "pinned": fold.pinned(row.id, moment.position),
        "archived": fold.archived(row.id, moment.position),
    }


def cited(citation: dict[str, Any]) -> str:
    """Write a citation in one phrase."""
    first, last = citation["lineStart"], citation["lineEnd"]
    lines = f"line {first}" if first == last else f"lines {first}–{last}"
    section = f", section {citation['section']}" if citation["section"] else ""
    return f"{citation['path']} version {citation['version']}{section}, {lines}"


def window(begin: int, end: int) -> str:
    """Write a valid time that has ended, in days, or to the minute within one day."""
    first, last = str(iso(begin)), str(iso(end))
    size = 10 if first[:10] != last[:10] else 16
    return f"{first[:size]} to {last[:size]}".replace("T", " ")


def everything(fold: FactsFold, space: Space, moment: Moment, scope: str | None, caller: str | None) -> list[Row]:
    """Give all believed facts that the caller may read, by path and line."""
    numbers = np.flatnonzero(space.opened.values != NEVER)
    numbers = numbers[inside(space, numbers, scope)]
    numbers = numbers[believed(space, numbers, moment)]
    numbers = numbers[readable(space, numbers, caller)]
    return in_place([space.rows[number] for number in numbers.tolist()])


def in_place(rows: Sequence[Row]) -> list[Row]:
    """Put facts in the order of their paths, and within one in that of commits and lines."""
    return sorted(rows, key=lambda row: (row.entry.commit.path, row.entry.position, row.fact.line_start, row.id))
