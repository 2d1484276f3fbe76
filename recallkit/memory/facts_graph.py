"""The graph of a space: facts in two times, a fold over the settled commits of its paths in the order of the log.

The rules, for a commit of a path by readers R (the whole of it can be read off the commits; no clock decides anything):

- A statement that a fact of the path makes already, for R at least, changes nothing: the fact goes on, with its
  citation.
- A fact of the path that the commit does not state is closed, when all of the fact's readers are among R. So a commit
  of fewer readers never retires a fact of more.
- Where the commit states a new value of the same subject and predicate, the fact has *changed*: it is written again,
  recorded from here, with the valid time that it had. Otherwise, and in a commit that says it is a correction, it only
  closes.
- A fact marked ``single`` retires, by the same rule, an older value that another path of the space stated.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np

from recallkit.memory.facts_model import Entry, Fact, Readers, covers, may_read
from recallkit.memory.search_index import Growing, WordIndex

Array: TypeAlias = np.ndarray[Any, Any]

NEVER: Final = np.iinfo(np.int64).max
"""The position at which what is still believed is closed, and at which a row that was taken back opens."""


@dataclass(frozen=True, slots=True)
class Closing:
    """That a fact is no longer believed: from which commit on, and, when it changed, until when it was true."""

    position: int
    time: int
    until: int | None


@dataclass(slots=True, eq=False)
class Row:
    """A fact as the graph keeps it.

    Attributes
    ----------
    number : int
        Its place in the arrays of its space.
    id : str
    entry : Entry
        The commit that states it: what it cites.
    fact : Fact
    opened, opened_at : int
        The position and the time of the commit that recorded it; for a past value, of the one that changed it.
    valid_to : int or None
    origin : Row or None
        For a past value, the fact that it was.
    """

    number: int
    id: str
    entry: Entry
    fact: Fact
    opened: int
    opened_at: int
    valid_to: int | None
    origin: Row | None = None
    by_path: Closing | None = None
    by_space: Closing | None = None
    closing: Closing | None = None
    past: Row | None = None

    @property
    def valid_from(self) -> int:
        """When it began to be true: as the extractor said, or when it was committed."""
        given = self.fact.valid_from
        return self.entry.commit.time if given is None else given

    @property
    def stamp(self) -> Readers:
        """Who might read it when it was recorded; retiring goes by this."""
        return self.entry.commit.readers


@dataclass(slots=True, eq=False)
class Path:
    """A path of a space: its commits in the order of the log, and the facts that it states now."""

    name: str
    number: int
    entries: list[Entry] = field(default_factory=list)
    folded: int = 0  # how many entries the rows below are of
    skipped: int = 0  # how many of those were not settled then
    live: list[Row] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    versions: Counter[Readers] = field(default_factory=Counter)


class Space:
    """The paths and the facts of a space."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.paths: dict[str, Path] = {}
        self.names: list[str] = []
        self._pending: dict[str, dict[int, Entry]] = {}  # by word, then by position
        self.unsettled = 0
        self.rows: list[Row] = []
        self.by_id: dict[str, Row] = {}
        self.words = WordIndex()
        self.opened = Growing(np.int64)
        self.closed = Growing(np.int64)
        self.reader_class = Growing(np.int32)
        self.path_number = Growing(np.int32)
        self.stated = Growing(np.int64)  # the position of the commit that states it
        self.ordinal = Growing(np.int32)
        self.tuned = Growing(np.bool_)  # whether it was ever pinned, forgotten, restored or read
        self.single = False
        self._about: dict[tuple[str, str], list[Row]] = {}
        self._classes: dict[Readers, int] = {}
        self._commits: Counter[Readers] = Counter()

    # Commits

    def path(self, name: str) -> Path:
        found = self.paths.get(name)
        if found is None:
            found = self.paths[name] = Path(name, len(self.paths))
            insort(self.names, name)
        return found

    def add(self, entry: Entry) -> None:
        """Take in a commit, which stays pending until a recall needs it."""
        self.path(entry.commit.path).entries.append(entry)
        self._commits[entry.readers] += 1
        if entry.facts is None:
            self.unsettled += 1
            for word in entry.words:
                self._pending.setdefault(word, {})[entry.position] = entry

    def settled(self, entry: Entry) -> None:
        """Take a commit off what is pending."""
        self.unsettled -= 1
        for word in entry.words:
            self._pending[word].pop(entry.position, None)
        entry.words = frozenset()

    def set_readers(self, name: str, readers: Readers) -> bool:
        """Change who may read what a path has stated up to now; False when there is no such path."""
        path = self.paths.get(name)
        if path is None:
            return False
        for entry in path.entries:
            self._commits[entry.readers] -= 1
            self._commits[readers] += 1
            entry.readers = readers
        for row in path.rows:
            self.reader_class[row.number] = self._class(readers)
        return True

    def take_readers(self, today: Mapping[str, Readers]) -> None:
        """Take over who may read each commit today, by its mark; for a space folded up to the past."""
        self._commits.clear()
        for path in self.paths.values():
            for entry in path.entries:
                entry.readers = today.get(entry.digest, entry.readers)
                self._commits[entry.readers] += 1

    def known_to(self, caller: str | None) -> bool:
        """Tell whether anything was ever committed here that the caller may read."""
        return any(count > 0 and may_read(readers, caller) for readers, count in self._commits.items())

    def within(self, scope: str | None) -> Iterator[Path]:
        """Give the paths at or under a scope: ``alice`` has ``alice/notes.md`` and not ``alice2/notes.md``."""
        if scope is None:
            yield from (self.paths[name] for name in self.names)
            return
        if scope in self.paths:
            yield self.paths[scope]
        begin, end = bisect_left(self.names, f"{scope}/"), bisect_left(self.names, f"{scope}0")  # 0 comes after /
        yield from (self.paths[name] for name in self.names[begin:end])

    def waiting(self, *words: str) -> list[Entry]:
        """Give the pending commits that have the rarest of some words."""
        return list(min((self._pending.get(word, {}) for word in words), key=len).values())

    # The fold

    def fold(self, path: Path) -> None:
        """Bring the facts of a path up to its settled commits."""
        again: list[Row] = []
        done = path.entries[: path.folded] if path.skipped else []
        if path.skipped and sum(entry.facts is None for entry in done) != path.skipped:
            # One that could not be settled before its successors was settled now: from the beginning.
            again = path.rows
            for row in again:
                self._take_back(row)
            path.live, path.rows, path.folded, path.skipped = [], [], 0, 0
        for entry in path.entries[path.folded :]:
            path.folded += 1
            if entry.facts is None:
                path.skipped += 1
            else:
                self._apply(path, entry)
        for about in dict.fromkeys(row.fact.about for row in again):
            self._settle_values(about)

    def _apply(self, path: Path, entry: Entry) -> None:
        readers = entry.commit.readers
        stated = {fact.key: place for place, fact in enumerate(entry.facts or ())}
        before, kept, ended = path.live, [], []
        for row in before:
            if row.fact.key in stated and covers(row.stamp, readers):
                del stated[row.fact.key]
                kept.append(row)
            elif covers(readers, row.stamp):
                ended.append(row)
            else:
                kept.append(row)
        facts = [(place, entry.facts[place]) for place in stated.values()] if entry.facts else []
        made = [self._open(path, entry, fact, place) for place, fact in facts]
        path.live = kept + made
        for row in ended:
            until = None if entry.correction else _changed(row, before, made)
            row.by_path = Closing(entry.position, entry.commit.time, until)
            self._close(path, row)
        for about in dict.fromkeys(row.fact.about for row in made):
            self._settle_values(about)

    def _open(self, path: Path, entry: Entry, fact: Fact, place: int) -> Row:
        id = f"{entry.digest}-{place:04d}"
        row = self._new(path, id, entry, fact, entry.position, entry.commit.time, fact.valid_to, place)
        self._about.setdefault(fact.about, []).append(row)
        self.single = self.single or fact.single
        return row

    def _new(
        self, path: Path, id: str, entry: Entry, fact: Fact, opened: int, at: int, to: int | None, place: int
    ) -> Row:
        number = self.words.add(f"{fact.subject} {fact.predicate} {fact.object} {fact.section or ''}")
        row = Row(number, id, entry, fact, opened, at, to)
        self.rows.append(row)
        self.by_id[id] = row
        path.rows.append(row)
        self.opened.append(opened)
        self.closed.append(NEVER)
        self.reader_class.append(self._class(entry.readers))
        self.path_number.append(path.number)
        self.stated.append(entry.position)
        self.ordinal.append(place)
        self.tuned.append(False)
        return row

    def _settle_values(self, about: tuple[str, str]) -> None:
        """Close, among the values of a subject and predicate, those that a later ``single`` one retires."""
        rows = self._about.get(about, [])
        if not any(row.fact.single for row in rows):
            return
        rows.sort(key=lambda row: row.opened)
        for place, row in enumerate(rows):
            found = next((later for later in rows[place + 1 :] if _retires(later, row)), None)
            if found is None:
                row.by_space = None
            else:
                until = None if found.entry.correction else found.valid_from
                row.by_space = Closing(found.opened, found.opened_at, until)
            self._close(self.paths[row.entry.commit.path], row)

    def _close(self, path: Path, row: Row) -> None:
        """Close a fact at the earlier of its two closings, and write it again with its valid time where it changed."""
        ends = [end for end in (row.by_path, row.by_space) if end is not None]
        end = min(ends, key=lambda end: end.position, default=None)
        if end == row.closing:
            return
        row.closing = end
        self.closed[row.number] = row.closing.position if row.closing else NEVER
        until = end.until if end is not None else None
        if row.past is not None:
            self._take_back(row.past)
            path.rows.remove(row.past)
            row.past = None
        if end is not None and until is not None and until > row.valid_from:
            to = until if row.valid_to is None else min(row.valid_to, until)
            place = int(self.ordinal.values[row.number])
            row.past = self._new(path, f"{row.id}~", row.entry, row.fact, end.position, end.time, to, place)
            row.past.origin = row

    def _take_back(self, row: Row) -> None:
        self.opened[row.number] = NEVER
        self.by_id.pop(row.id, None)
        rows = self._about.get(row.fact.about, [])
        if row in rows:
            rows.remove(row)

    # Readers

    def _class(self, readers: Readers) -> int:
        return self._classes.setdefault(readers, len(self._classes))

    def readable(self, caller: str | None) -> Array:
        """Tell, for each class of readers, whether the caller is among them."""
        return np.fromiter(
            (may_read(readers, caller) for readers in self._classes), dtype=bool, count=len(self._classes)
        )


def _changed(row: Row, before: list[Row], made: list[Row]) -> int | None:
    """Give the moment from which another value holds; None when none is new to the fact's readers."""
    known = {each.fact.object for each in before if each.fact.about == row.fact.about and covers(each.stamp, row.stamp)}
    begins = [new.valid_from for new in made if new.fact.about == row.fact.about and new.fact.object not in known]
    return min(begins, default=None)


def _retires(later: Row, row: Row) -> bool:
    return (
        later.fact.single
        and later.opened > row.opened
        and later.entry.commit.path != row.entry.commit.path
        and later.fact.object != row.fact.object
        and covers(later.stamp, row.stamp)
    )
