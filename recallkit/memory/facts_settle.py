"""Settling: extracting what pending commits state, for a query only those that can matter to its answer.

More rather than less is settled, path by path, so that a path's commits are folded in order: those whose text or path
has a word of the query, those of a path that has a fact among the candidates, and those that name a candidate's
subject (a fact that is the only value of its subject may come from another file); again until nothing more is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field

from recallkit.memory.facts_fold import FactsFold, words_of
from recallkit.memory.facts_graph import Path, Row, Space
from recallkit.memory.facts_model import Entry, Extractor, Fact, may_read, taken

Kept = MutableMapping[str, tuple[Fact, ...]]


@dataclass(slots=True)
class Settled:
    """What a settle did: how many commits that the caller may read were settled, and what failed."""

    commits: int = 0
    failures: list[str] = field(default_factory=list)
    tried: set[int] = field(default_factory=set)


class Settler:
    """Settles commits with an extractor, whose facts are kept per commit."""

    def __init__(self, extract: Extractor, kept: Kept) -> None:
        self.extract = extract
        self.kept = kept

    def path(self, fold: FactsFold, space: Space, path: Path, caller: str | None, done: Settled) -> bool:
        """Settle every pending commit of a path, and fold them; False when there was nothing left to try."""
        waiting = [entry for entry in path.entries if entry.facts is None and id(entry) not in done.tried]
        if not waiting:
            return False
        before = len(space.rows)
        for entry in waiting:
            done.tried.add(id(entry))
            self._entry(space, entry, caller, done)
        space.fold(path)
        for row in space.rows[before:]:
            if row.id in fold.tuning or row.id.removesuffix("~") in fold.tuning:
                space.tuned[row.number] = True
        return True

    def _entry(self, space: Space, entry: Entry, caller: str | None, done: Settled) -> None:
        facts = self.kept.get(entry.digest)
        if facts is None:
            try:
                facts = taken(self.extract(entry.commit), entry.commit.text)
            except Exception as error:  # an extractor is anyone's: whatever it raises is told, and the rest goes on
                words = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
                entry.failed = words
        readable = may_read(entry.readers, caller)
        if facts is None:
            if readable:
                commit = entry.commit
                done.failures.append(
                    f"{commit.path} version {commit.version} is not settled, for its extractor failed: {entry.failed}"
                )
            return
        self.kept[entry.digest] = facts
        entry.facts, entry.failed = facts, None
        space.settled(entry)
        done.commits += readable

    def everything(self, fold: FactsFold, space: Space, scope: str | None, caller: str | None, done: Settled) -> None:
        """Settle all commits of the paths in a scope that have one the caller may read."""
        if not space.unsettled:
            return
        for path in list(space.within(scope)):
            if any(_readable(entry, caller) for entry in path.entries):
                self.path(fold, space, path, caller, done)

    def query(
        self,
        fold: FactsFold,
        space: Space,
        words: Sequence[str],
        scope: str | None,
        caller: str | None,
        done: Settled,
        candidates: Callable[[], Iterable[Row]],
    ) -> None:
        """Settle what can matter to a query.

        Parameters
        ----------
        words : sequence of str
            The stems of the query.
        candidates : callable
            Gives the rows that match the query for the caller, as settled up to now.
        """
        if not space.unsettled:
            return
        self._named(fold, space, words, scope, caller, done)
        subjects: set[str] = set()
        while space.unsettled:
            rows = list(candidates())
            moved = False
            for path in {id(path): path for path in (space.paths[row.entry.commit.path] for row in rows)}.values():
                moved |= self.path(fold, space, path, caller, done)
            # Only the one value of a subject is retired from another path; such a path may lie outside the scope.
            wide = scope if not (space.single or getattr(self.extract, "single", None)) else None
            for subject in {row.fact.subject for row in rows} - subjects:
                subjects.add(subject)
                moved |= self._about(fold, space, subject, wide, caller, done)
            if not moved:
                return

    def _named(
        self, fold: FactsFold, space: Space, words: Sequence[str], scope: str | None, caller: str | None, done: Settled
    ) -> None:
        for word in words:
            for entry in space.waiting(word):
                if _readable(entry, caller) and in_scope(entry.commit.path, scope):
                    self.path(fold, space, space.paths[entry.commit.path], caller, done)

    def _about(
        self, fold: FactsFold, space: Space, subject: str, scope: str | None, caller: str | None, done: Settled
    ) -> bool:
        """Settle the pending commits that have all words of a subject."""
        words = words_of(subject)
        if not words:
            return False
        moved = False
        for entry in space.waiting(*words):
            if words <= entry.words and _readable(entry, caller) and in_scope(entry.commit.path, scope):
                moved |= self.path(fold, space, space.paths[entry.commit.path], caller, done)
        return moved


def _readable(entry: Entry, caller: str | None) -> bool:
    # Who might read it when it was recorded counts too: then it may have retired a fact that the caller reads.
    return may_read(entry.readers, caller) or may_read(entry.commit.readers, caller)


def in_scope(path: str, scope: str | None) -> bool:
    """Tell whether a path lies at or under a scope, by whole names."""
    return scope is None or path == scope or path.startswith(f"{scope}/")
