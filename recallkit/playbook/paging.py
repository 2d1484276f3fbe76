"""One view's share of a page: its events folded until the page's end, its time, a stall, an overtime or a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from recallkit.bounds import CRASHES, FOLD_SECONDS, MIB, OVERTIMES, PAGE_RECORDS
from recallkit.errors import EngineError, RecallkitError
from recallkit.events.records import history_of
from recallkit.playbook.views import LIVE, STALLED, Moved, ViewRow
from recallkit.sandbox import Sandbox
from recallkit.views.fold import PAGE_BYTES
from recallkit.views.session import AS_MADE, SLICE_SECONDS, Advance, FoldSession, crowded, page_of, pages, way_of
from recallkit.views.stalls import Kind, Stall, make_stall, stopped_at
from recallkit.views.trace import FOLDED, MICROSECONDS, OUTCOME, STEPS, UNREADABLE

if TYPE_CHECKING:
    from recallkit.definitions.recall import RecallDefinition
    from recallkit.events.history import History
    from recallkit.playbook.store import Db
    from recallkit.views.selection import Selection

# A page of records lies in memory while its views fold it; large events make it shorter.
RECORDS_BYTES: Final = 16 * MIB


@dataclass(frozen=True)
class RecordPage:
    """Records that follow one place of the history.

    Attributes
    ----------
    start : int
        The position that they follow.
    positions, at_ms : ndarray of int64
        Where each stands, and when it was recorded.
    history : History
        The events of those that a fold can read.
    places : ndarray of int64
        For each event of the history, its place in the page.
    newest : int
        The position of the newest record when the page was read.
    """

    start: int
    positions: np.ndarray[Any, np.dtype[np.int64]]
    at_ms: np.ndarray[Any, np.dtype[np.int64]]
    history: History
    places: np.ndarray[Any, np.dtype[np.int64]]
    newest: int

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def unreadable(self) -> list[int]:
        """The positions of records whose events no fold can read."""
        if len(self.places) == len(self):
            return []
        missing = np.setdiff1d(np.arange(len(self)), self.places)
        return [int(position) for position in self.positions[missing]]


def read_page(db: Db, start: int, most: int, until: int | None, newest: int) -> RecordPage:
    """Read up to `most` records after a position, none after `until`, fewer where they are large."""
    last = newest if until is None else min(until, newest)
    sizes = db.all(
        "SELECT position, size FROM records WHERE position > ? AND position <= ? ORDER BY position LIMIT ?",
        start,
        last,
        most,
    )
    total, end = 0, start
    for position, size in sizes:
        total += size
        if total > RECORDS_BYTES and end > start:
            break
        end = position
    rows = db.all(
        "SELECT position, at_ms, event FROM records WHERE position > ? AND position <= ? ORDER BY position", start, end
    )
    history, places = history_of([str(row[2]).encode("utf-8") for row in rows])
    return RecordPage(
        start,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        history,
        places,
        newest,
    )


@dataclass
class _Progress:
    """How far into the page a view has come; text is None while only the sandbox has the view."""

    handled: int = 0
    folds: int = 0
    steps: int = 0
    microseconds: float = 0.0
    last: int | None = None
    passed: list[int] = field(default_factory=list)
    text: str | None = None


@dataclass(frozen=True)
class _End:
    stall: Stall | None = None
    failure: Literal["time", "crash"] | None = None
    steps: int = 0
    known: dict[str, Any] | None = None


class Aborted(RecallkitError):
    """The follower is stopped: what was folded of the page is dropped."""


class Share:
    """Folds one view's considered events of a page.

    Parameters
    ----------
    text : callable
        Gives the view as it stood before the page, or None when it has moved on; asked only when a sandbox is opened.
    session : FoldSession or None
        One kept from the page before, which holds exactly that view.
    seconds : float
        How long this share may fold, from its first fold, checked before each.
    stopping : Event
        Set when the follower stops.

    Attributes
    ----------
    session : FoldSession or None
        The sandbox, to be kept or closed once it has run.
    began : float or None
        When its first fold began, on the monotonic clock.
    """

    def __init__(
        self,
        view: ViewRow,
        definition: RecallDefinition,
        page: RecordPage,
        selection: Selection,
        *,
        text: Callable[[], str | None],
        session: FoldSession | None,
        seconds: float,
        stopping: threading.Event,
        fold_seconds: float = FOLD_SECONDS,
    ) -> None:
        self.session = session
        self._view = view
        self._definition = definition
        self._page = page
        self._selection = selection
        self._seconds = seconds
        self._fold_seconds = fold_seconds
        self._stopping = stopping
        self._text = text
        self._way = way_of(definition) if session is None else session.way
        self._now = _Progress()
        self._saved = _Progress()
        self._start = self._stop = 0
        self._most_bytes = PAGE_BYTES
        self.began: float | None = None
        self._suspect_until = 0
        self._goal: tuple[int, _End] | None = None
        self._end: _End | None = None

    def run(self) -> tuple[Moved, list[int]]:
        """Fold; return where the view comes to, and the positions of the events that it passed over."""
        while self._now.handled < len(self._selection) and self._end is None and not self._spent():
            try:
                self._chunk()
            except EngineError:
                self._died()
            self._reach_goal()
        if self._now.folds and self._now.text is None:
            session = self.session
            assert session is not None
            self._now.text = session.view()
        if self._end is not None:
            self._drop()  # what was folded to its failure must not be seen by the next try
        return self._moved(), [int(self._position(seq)) for seq in self._now.passed]

    def _spent(self) -> bool:
        if self._goal is not None or self.began is None:
            return False
        return time.monotonic() - self.began >= self._seconds and self._now.handled > 0

    def _open(self) -> FoldSession:
        if self.session is None or not self.session.alive:
            # from the last view that is known as text; what came after it is folded again
            if self._saved.text is None:
                self._saved.text = self._text()
                if self._saved.text is None:
                    raise Aborted
            self._now = replace(self._saved, passed=list(self._saved.passed))
            self._stop = self._now.handled + 1  # a module that ends its worker while it loads does so at this event
            self.session = FoldSession(
                self._definition,
                initial=self._saved.text,
                folded=self._view.folded + self._saved.folds,
                seconds=self._fold_seconds,
                way=self._way,
            )
        return self.session

    def _drop(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None

    def _chunk(self) -> None:
        session = self._open()
        start = self._now.handled
        stop = pages(self._selection.sizes, start, PAGE_RECORDS, self._most_bytes)
        if start < self._suspect_until:
            # one of these events ended a worker or did not fit: half as many at a time, until it stands alone
            stop = min(stop, start + max(1, (self._suspect_until - start) // 2))
        if self._goal is not None:
            stop = min(stop, self._goal[0])
        self._start, self._stop = start, stop
        if session.refused is not None:
            self._now.text = self._saved.text
            self._end = _End(self._stall("refused", {"words": session.refused}))
            return
        session.load(page_of(self._page.history, self._selection, start, stop))
        self.began = self.began or time.monotonic()
        while self._now.handled < stop and self._end is None and session.alive and not self._spent():
            if self._stopping.is_set():
                raise Aborted
            left = self._seconds - (time.monotonic() - self.began)
            advance = session.advance(self._now.handled - start, seconds=max(0.0, min(SLICE_SECONDS, left)))
            self._take(advance, start)
            if advance.ended not in ("page", "until"):
                self._ended(advance)
        if start < self._suspect_until and self._end is None and session.alive:
            self._now.text = session.view()
            self._saved = replace(self._now, passed=list(self._now.passed))

    def _take(self, advance: Advance, start: int) -> None:
        now, rows = self._now, advance.rows
        seqs = self._selection.seqs[now.handled : now.handled + len(rows)]
        folded = rows[:, OUTCOME] == FOLDED
        if folded.any():
            now.folds += int(folded.sum())
            now.steps += int(rows[folded, STEPS].sum())
            now.microseconds += float(rows[folded, MICROSECONDS].sum())
            now.last = int(seqs[folded][-1])
            now.text = None
        now.passed += seqs[rows[:, OUTCOME] == UNREADABLE].tolist()
        now.handled = start + advance.next

    def _ended(self, advance: Advance) -> None:
        ended, steps = advance.ended, advance.reply.steps
        known: Any = advance.stall
        if crowded(advance, self._stop - self._start):
            # the other events lay in the sandbox beside it: whether it fits is told by the event alone
            self._most_bytes = max(1, int(self._selection.sizes[self._start : self._stop].sum()) // 2)
            if ended != "unread":
                self._suspect_until = self._now.handled + 1
            self._drop()
        elif ended == "stalled" and known is not None:
            spent = int(advance.rows[-1, STEPS]) if len(advance.rows) else 0
            self._finish(_End(self._stall(known["kind"], known, spent)))
        elif ended == "work" and advance.reply.phase in ("fold", "filter", "check"):
            self._finish(_End(self._stall("work", stopped_at(advance.reply.phase), steps)))
        elif known is not None and advance.reply.phase == "describe":
            self._finish(_End(self._stall(known["kind"], known, steps)))
        elif ended == "memory":
            self._finish(_End(self._stall("memory", None, steps)))
        elif ended == "time":
            self._finish(_End(failure="time", steps=steps, known=stopped_at(advance.reply.phase)))
        elif ended == "stopped":
            raise Aborted
        elif ended == "unread":
            self._drop()
            self._finish(_End(self._stall("memory", None)))
        elif advance.reply.ledger or self._stop - self._now.handled == 1:
            self._finish(_End(failure="crash"))
        else:
            self._died()

    def _died(self) -> None:
        """A worker ended without a word, at one of the events it was given, or while it was given them."""
        self._drop()
        try:
            Sandbox().close()
        except EngineError:
            raise Aborted from None  # no worker starts at all: the machine's fault, not the event's
        if self._stop - self._now.handled <= 1:
            self._finish(_End(failure="crash"))
        else:
            self._suspect_until = self._stop

    def _finish(self, end: _End) -> None:
        """End at the event that stands next, with the view as it was before it."""
        if end.stall is not None and end.stall.kind == "memory" and self._way in AS_MADE:
            # again from the last view that is known, read from its text
            self._way = "plain"
            self._drop()
            self._now = replace(self._saved, passed=list(self._saved.passed))
            return
        at = self._now.handled
        if self._now.text is None and self.session is not None and self.session.alive:
            try:
                self._now.text = self.session.view()
            except EngineError:
                self._drop()
        if self._now.text is not None:
            self._end = end
        elif self._goal is not None:
            # the way back to it fails too: what is known stands, and the next pass tries again
            self._now = replace(self._saved, passed=list(self._saved.passed))
            self._end = end
        else:
            self._drop()
            self._goal = (at, end)
            self._now = replace(self._saved, passed=list(self._saved.passed))
            self._reach_goal()

    def _reach_goal(self) -> None:
        if self._goal is not None and self._end is None and self._now.handled >= self._goal[0]:
            if self._now.text is None and self.session is not None:
                self._now.text = self.session.view()
            self._end = self._goal[1]

    # -- what came of it -----------------------------------------------------------------------------------------

    def _position(self, seq: int) -> int:
        return int(self._page.positions[self._page.places[seq]])

    def _stall(self, kind: Kind, known: dict[str, Any] | None, steps: int = 0, tries: int = 1) -> Stall:
        seq = int(self._selection.seqs[self._now.handled])
        folded = self._view.folded + self._now.folds
        stall = make_stall(
            kind, known, self._page.history, seq, folded=folded, steps=steps, seconds=self._fold_seconds, tries=tries
        )
        return replace(stall, seq=self._position(seq) - 1)

    def _moved(self) -> Moved:
        view, page, now = self._view, self._page, self._now
        finished = now.handled >= len(self._selection) and self._end is None
        index = len(page) if finished else int(page.places[self._selection.seqs[now.handled]])
        position = int(page.positions[index - 1]) if index else view.position
        moved = Moved(
            position=position,
            checkpoint_ms=int(page.at_ms[index - 1]) if index else view.checkpoint_ms,
            state=LIVE if finished and position == page.newest else view.state,
            view=now.text if now.folds else None,
            steps=now.steps,
            last_event=self._last_event(),
            records=index,
            folds=now.folds,
            microseconds=now.microseconds,
        )
        if self._end is None:
            return moved
        if self._end.stall is not None:
            return replace(moved, state=STALLED, stall=self._end.stall)
        return self._failed(moved)

    def _failed(self, moved: Moved) -> Moved:
        """Count an overtime or a crash; the twentieth stalls the view."""
        assert self._end is not None
        at = self._position(int(self._selection.seqs[self._now.handled]))
        again = self._view.failed_at == at
        overtimes = (self._view.overtimes if again else 0) + (self._end.failure == "time")
        crashes = (self._view.crashes if again else 0) + (self._end.failure == "crash")
        moved = replace(moved, failed_at=at, overtimes=overtimes, crashes=crashes)
        if overtimes >= OVERTIMES:
            stall = self._stall("time", self._end.known, self._end.steps, overtimes)
            return replace(moved, state=STALLED, stall=stall)
        if crashes >= CRASHES:
            return replace(moved, state=STALLED, stall=self._stall("crash", None, 0, crashes))
        return moved

    def _last_event(self) -> dict[str, Any] | None:
        if self._now.last is None:
            return None
        event = self._page.history.event(self._now.last)
        return {"id": event["id"], "time": event.get("time")}
