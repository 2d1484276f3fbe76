"""The fold over the events of facts: commits, who may read them, and what was pinned, forgotten, restored and read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from recallkit.memory.bounds import HALF_LIFE_DAYS, PIN_SALIENCE
from recallkit.memory.facts_graph import Space
from recallkit.memory.facts_model import Commit, Entry, Readers, covers, digest
from recallkit.memory.log import Record
from recallkit.memory.search_words import parts, stem

_TUNING: Final = ("pinned", "unpinned", "forgotten", "restored", "accessed")
_HALF_LIFE_MS: Final = HALF_LIFE_DAYS * 86_400_000


@dataclass(slots=True)
class Tuning:
    """What was done with a fact: the position, the time and the verb of each event."""

    events: list[tuple[int, int, str]] = field(default_factory=list)

    def last(self, yes: str, no: str, upto: int) -> bool | None:
        """Tell which of two verbs came last; None for neither."""
        return next((verb == yes for at, _, verb in reversed(self.events) if at <= upto and verb in (yes, no)), None)

    def accesses(self, upto: int, now: int) -> float:
        """Add up the accesses, each half as much after a half-life."""
        ages = (max(now - time, 0) for at, time, verb in self.events if verb == "accessed" and at <= upto)
        return sum(float(0.5 ** (age / _HALF_LIFE_MS)) for age in ages)


class FactsFold:
    """What the fact system keeps of a log; a memo that can be dropped.

    Attributes
    ----------
    spaces : dict of str to Space
    ids : set of str
        Of all events of the system.
    passed_over : int
        Events of the system that break its rules.
    in_order : bool
        Whether no event's clock is before that of an earlier event; then a moment is a position.
    """

    def __init__(self) -> None:
        self.spaces: dict[str, Space] = {}
        self.tuning: dict[str, Tuning] = {}
        self.entries: dict[str, Entry] = {}
        self.ids: set[str] = set()
        self.passed_over = 0
        self.in_order = True
        self._positions: list[int] = []
        self._times: list[int] = []

    def apply(self, record: Record) -> None:
        """Fold one event."""
        if self._times and record.time < self._times[-1]:
            self.in_order = False
        self._positions.append(record.position)
        self._times.append(record.time)
        self.ids.add(record.id)
        verb = record.type.rsplit(".", 1)[-1]
        data = record.data
        if not isinstance(data, Mapping):
            self.passed_over += 1
        elif verb in ("committed", "removed"):
            self._commit(record, data, verb == "removed")
        elif verb in _TUNING and isinstance(data.get("fact"), str):
            self._tune(data["fact"], record, verb)
        elif verb == "shared" and isinstance(data.get("space"), str) and _are_readers(data.get("readers")):
            space = self.spaces.get(data["space"])
            found = space is not None and space.set_readers(str(data.get("path")), _readers(data.get("readers")))
            self.passed_over += not found
        else:
            self.passed_over += 1

    def _commit(self, record: Record, data: Mapping[str, Any], removed: bool) -> None:
        space, path, author = data.get("space"), data.get("path"), data.get("author", "")
        text, given, version = data.get("text", "" if removed else None), data.get("readers"), data.get("version")
        texts = (space, path, text, author)
        named = version is None or (isinstance(version, str | int) and not isinstance(version, bool))
        if (
            not all(isinstance(each, str) for each in texts)
            or not space
            or not path
            or not named
            or not _are_readers(given)
        ):
            self.passed_over += 1
            return
        assert isinstance(space, str)
        assert isinstance(path, str)
        readers = _readers(given)
        at = self.spaces.get(space)
        if at is None:
            at = self.spaces[space] = Space(space)
        versions = at.path(path).versions
        if version is None:
            version = 1 + sum(count for earlier, count in versions.items() if covers(earlier, readers))
        versions[readers] += 1
        commit = Commit(record.id, space, path, version, str(text), str(author), readers, record.time)
        basis = (space, path, record.id, commit.text, sorted(readers) if readers is not None else None)
        mark = digest(*basis)
        repeat = 0
        while mark in self.entries:
            repeat += 1
            mark = digest(*basis, repeat)
        entry = Entry(
            commit, record.position, mark, readers, correction=data.get("correction") is True, removed=removed
        )
        if removed:
            entry.facts = ()
        else:
            entry.words = words_of(f"{path} {commit.text}")
        self.entries[mark] = entry
        at.add(entry)
        if removed and not any(each.facts is None for each in at.paths[path].entries):
            at.fold(at.paths[path])

    def _tune(self, id: str, record: Record, verb: str) -> None:
        self.tuning.setdefault(id, Tuning()).events.append((record.position, record.time, verb))
        entry = self.entry_of(id)
        if entry is not None:
            space = self.spaces[entry.commit.space]
            for name in (id, f"{id}~"):
                if name in space.by_id:
                    space.tuned[space.by_id[name].number] = True

    def entry_of(self, id: str) -> Entry | None:
        """Give the commit that a fact's id names."""
        return self.entries.get(id.partition("-")[0])

    # Moments

    def position_at(self, time: int) -> int:
        """Give the position of the last event at or before a moment, -1 for none; for clocks in order."""
        place = bisect_right(self._times, time)
        return self._positions[place - 1] if place else -1

    @property
    def head(self) -> int:
        return self._positions[-1] if self._positions else -1

    # Tuning

    def pinned(self, id: str, upto: int) -> bool:
        found = self.tuning.get(id)
        return bool(found and found.last("pinned", "unpinned", upto))

    def archived(self, id: str, upto: int) -> bool:
        """Tell whether a fact is forgotten; the past value of a forgotten fact is, unless it was restored itself."""
        for name in (id, id.removesuffix("~")):
            found = self.tuning.get(name)
            said = found.last("forgotten", "restored", upto) if found else None
            if said is not None:
                return said
        return False

    def salience(self, id: str, upto: int, now: int) -> float:
        """Give the weight of a fact among equally relevant ones: a pin, and accesses that fade."""
        found = self.tuning.get(id)
        if found is None:
            return 0.0
        return round(PIN_SALIENCE * self.pinned(id, upto) + found.accesses(upto, now), 9)


def words_of(text: str) -> frozenset[str]:
    """Give the stems of all words of a text, the small ones too."""
    return frozenset(map(stem, set(parts(text))))


def _are_readers(given: Any) -> bool:
    return given is None or (isinstance(given, list) and all(isinstance(each, str) for each in given))


def _readers(given: Any) -> Readers:
    return None if given is None else frozenset(given)
