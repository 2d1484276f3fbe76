"""Seek in a folded history: the view after any number of events, from the nearest keyframe."""

from __future__ import annotations

import json
import operator
import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recallkit.bounds import STEPS_PER_CHECKPOINT
from recallkit.errors import InvalidInput
from recallkit.views.fold import refold
from recallkit.views.patches import Patch, difference
from recallkit.views.session import FoldSession

if TYPE_CHECKING:
    from recallkit.views.fold import Fold

CACHED_BYTES = 16 << 20

# Each open sandbox is a process: those sought in last keep theirs, an earlier one opens another when it is asked again.
MOST_OPEN = 8
_open: dict[weakref.ref[Timeline], None] = {}  # the one used last stands last


@dataclass(frozen=True)
class Moment:
    """The view after some number of folded events.

    Attributes
    ----------
    number : int
        How many events were folded; 0 is the initial view.
    text : str
        The view as the engine wrote it, as JSON text.
    bytes : int
        Its size in UTF-8.
    event : dict or None
        The event folded last; None at 0.
    seq : int or None
        That event's place in the history.
    steps, checkpoints : int
        The work of that fold.
    microseconds : float
        The time of that fold when it was first folded.
    """

    number: int
    text: str
    bytes: int
    event: dict[str, Any] | None
    seq: int | None
    steps: int
    checkpoints: int
    microseconds: float
    _before: str | None = field(repr=False, default=None)

    @cached_property
    def view(self) -> Any:
        """The view as Python values."""
        return json.loads(self.text)

    @cached_property
    def patch(self) -> Patch:
        """What this event changed, as a JSON Patch (RFC 6902) from the view before; empty at 0."""
        return [] if self._before is None else difference(json.loads(self._before), self.view)

    def __repr__(self) -> str:
        return f"<Moment after {self.number:,} folded: a view of {self.bytes:,} bytes>"


def _shown(given: object) -> str:
    # a number of thousands of digits has no text
    large = isinstance(given, int) and given.bit_length() > 64
    return "far larger" if large else f"{given!r:.60}"


class Timeline:
    """Views by number of folded events. One sandbox stays open for it while it is used; close() drops it."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._session: FoldSession | None = None
        self._position = -1
        self._cache: OrderedDict[int, str] = OrderedDict()
        self._cached = 0
        self._lock = threading.Lock()
        self._ref = weakref.ref(self)

    def __len__(self) -> int:
        return self._fold.folded

    def at(self, number: int) -> Moment:
        """Return the view after `number` folded events, with the event that made it; -1 is the last.

        Raises
        ------
        InvalidInput
            `number` is no whole number from 0 to the number of folded events, nor one from the end.
        """
        folded = self._fold.folded
        place = self._place(number)
        if place is None:
            raise InvalidInput(
                f"at takes a whole number from 0 to {folded}, how many events are folded, or from the end, "
                f"-1 to -{folded + 1}; this one is {_shown(number)}."
            )
        number = place
        with self._lock:
            before = self._text(number - 1) if number else None
            text = self._text(number)
        size = len(text.encode("utf-8", "surrogatepass"))
        if number == 0:
            return Moment(0, text, size, None, None, 0, 0, 0.0)
        ledger = self._fold.ledger
        seq = ledger.seq(number - 1)
        steps, microseconds = ledger.cost(number - 1)
        event = self._fold.history.event(seq)
        return Moment(number, text, size, event, seq, steps, steps // STEPS_PER_CHECKPOINT, microseconds, before)

    def _place(self, number: object) -> int | None:
        """How many folded events a number means; None for what is no such number."""
        try:
            place = None if isinstance(number, bool) else operator.index(number)  # type: ignore[arg-type]
        except TypeError:
            place = None
        if place is None:
            return None
        place += self._fold.folded + 1 if place < 0 else 0
        return place if 0 <= place <= self._fold.folded else None

    def text(self, number: int) -> str:
        """Return the view after `number` folds as JSON text."""
        with self._lock:
            return self._text(number)

    def _text(self, number: int) -> str:
        if number in self._cache:
            self._cache.move_to_end(number)
            return self._cache[number]
        if number == self._fold.folded:
            return self._keep(number, self._fold.view)
        start, text = self._fold.keyframes.before(number)
        if start == number:
            return self._keep(number, text)
        session = self._session
        if session is None or not session.alive:
            fold = self._fold
            session = self._session = FoldSession(fold.definition, initial=text, folded=start, way=fold.way, again=True)
        elif not start <= self._position <= number:
            session.restore(text, start)
        else:
            start = self._position
        self._used()
        self._position = -1
        try:
            refold(self._fold, session, start, number)
        except BaseException:  # Ctrl-C too: a reply may still come that the next call would take for its own
            self._drop()
            raise
        self._position = number
        return self._keep(number, session.view())

    def _keep(self, number: int, text: str) -> str:
        if number not in self._cache:
            self._cache[number] = text
            self._cached += len(text)
            while self._cached > CACHED_BYTES and len(self._cache) > 2:
                self._cached -= len(self._cache.popitem(last=False)[1])
        return text

    def _used(self) -> None:
        _open.pop(self._ref, None)
        _open[self._ref] = None
        for ref in list(_open)[:-MOST_OPEN]:
            other = ref()
            if other is None:
                _open.pop(ref, None)
            elif other._lock.acquire(blocking=False):  # one that is seeking in another thread keeps its sandbox
                try:
                    other._drop()
                    _open.pop(ref, None)
                finally:
                    other._lock.release()

    def close(self) -> None:
        """Drop the sandbox that seeking keeps open."""
        with self._lock:
            self._drop()
        _open.pop(self._ref, None)

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
            self._position = -1
