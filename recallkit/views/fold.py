"""Fold a history: pages of considered events through one sandbox, until the end, a stall or a person's stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from recallkit.bounds import CRASHES, FOLD_SECONDS, MIB, PAGE_RECORDS
from recallkit.errors import EngineError, InvalidInput
from recallkit.views.interrupts import Interrupts, undisturbed
from recallkit.views.keyframes import Keyframes
from recallkit.views.selection import Selection, select
from recallkit.views.session import AS_MADE, Advance, FoldSession, Page, Way, crowded, page_of, pages, way_of
from recallkit.views.stalls import Stall, make_stall, stopped_at
from recallkit.views.trace import FOLDED, OUTCOME, STEPS, UNREADABLE, Ledger

if TYPE_CHECKING:
    from recallkit.definitions.recall import RecallDefinition
    from recallkit.events.history import History

# A page's text lies in the sandbox's 64 MiB beside the view; a page of large events is cut shorter.
PAGE_BYTES = 2 * MIB
STOP_SECONDS = 0.7
LOOK_SECONDS = 0.25


# told how many of the considered events are done, and how many there are; see progress.py
Watcher = Callable[[int, int], None]


class Stop(Protocol):
    """Says whether a fold is to end where it is: a ``threading.Event``, for folds that Ctrl-C does not reach."""

    def is_set(self) -> bool: ...


@dataclass
class Fold:
    """What folding a history gave, in parts; Folding is its face.

    Attributes
    ----------
    state : str
        'live', 'stalled' or 'stopped' (a person stopped it; what was folded is kept).
    view : str
        The view as JSON text.
    ledger : Ledger
        A row a folded event.
    keyframes : Keyframes
        Views on the way, to seek from.
    passed_over : list of int
        The seqs of events whose time the engine cannot read (recall, The events).
    done : int
        How many of the considered events were handled.
    way : str
        How the view was checked after each fold: 'fast', 'owned', 'plain' or 'written'.
    copied : int
        How many of the views were written out and read back.
    forgot : bool
        Whether it went on in the plain way where the view as the module made it did not fit the sandbox's memory.
    """

    definition: RecallDefinition
    history: History
    selection: Selection
    state: Literal["live", "stalled", "stopped"] = "live"
    view: str = "null"
    stall: Stall | None = None
    ledger: Ledger = field(default_factory=Ledger)
    keyframes: Keyframes = field(default_factory=Keyframes)
    passed_over: list[int] = field(default_factory=list)
    done: int = 0
    name: str | None = None
    way: Way = "fast"
    copied: int = 0
    forgot: bool = False

    @property
    def folded(self) -> int:
        return len(self.ledger)

    def back_to(self, folded: int) -> None:
        """Forget the folds after so many: they are to be folded again."""
        if folded == self.folded:
            return
        first = self.ledger.seq(folded)
        self.ledger.cut(folded)
        self.done = int(self.selection.seqs.searchsorted(first))
        self.passed_over = [seq for seq in self.passed_over if seq < first]
        self.stall, self.state = None, "stopped"


def fold_history(
    definition: RecallDefinition,
    history: History,
    *,
    page: int = PAGE_RECORDS,
    keyframe_every: int | None = None,
    seconds: float = FOLD_SECONDS,
    tries: int = 1,
    name: str | None = None,
    way: Way | None = None,
    watcher: Watcher | None = None,
    stop: Stop | None = None,
) -> Fold:
    """Fold a history's events, one at a time, in recorded order.

    Parameters
    ----------
    definition : RecallDefinition
        What folds.
    history : History
        The events.
    page : int
        Records a page, 1 to 1,000; the same view, steps and checkpoints at every size.
    keyframe_every : int, optional
        Folds between two keyframes; chosen by what they cost when left out.
    seconds, tries
        What one fold may take, and how often one that ran out of it is tried before it stalls.
    name : str, optional
        The function's name: its own runs are left out.
    way : str, optional
        How the view is checked after each fold, whatever suits the document when left out; the same comes of each.
    stop : Stop, optional
        Once it is set, the fold ends as after Ctrl-C.
    """
    if not _whole(page) or not 1 <= page <= PAGE_RECORDS:
        raise InvalidInput(f"page takes a whole number from 1 to {PAGE_RECORDS}; this one is {page!r:.60}.")
    if keyframe_every is not None and (not _whole(keyframe_every) or keyframe_every < 1):
        raise InvalidInput(f"keyframe_every takes a whole number from 1; this one is {keyframe_every!r:.60}.")
    if not _whole(tries) or tries < 1:
        raise InvalidInput(f"tries takes a whole number from 1; this one is {tries!r:.60}.")
    fold = Fold(definition, history, select(definition, history, name=name), name=name)
    fold.way = way or way_of(definition)
    fold.view = definition.initial
    fold.keyframes = Keyframes(keyframe_every, fold.view)
    _Driver(fold, page, seconds, tries, watcher, stop).run()
    return fold


def _whole(given: object) -> bool:
    return hasattr(given, "__index__") and not isinstance(given, bool)


def go_on(fold: Fold, *, watcher: Watcher | None = None) -> None:
    """Go on with a fold that a person stopped."""
    if fold.state == "stopped":
        _Driver(fold, PAGE_RECORDS, FOLD_SECONDS, 1, watcher).run()


@dataclass(frozen=True, slots=True)
class _Sent:
    """A page in the sandbox: considered events `start` to `stop`, so many of them `done` with."""

    start: int
    stop: int
    done: int


class _Driver:
    def __init__(
        self,
        fold: Fold,
        page: int,
        seconds: float,
        tries: int,
        watcher: Watcher | None,
        stop: Stop | None = None,
    ) -> None:
        self.fold = fold
        self.page = page
        self.page_bytes = PAGE_BYTES
        self.seconds = seconds
        self.tries = tries
        self.watcher = watcher
        self.stop = stop
        self.session: FoldSession | None = None
        self.failures = 0
        self.failed_at = -1
        self.suspect_until = 0
        self.frames: list[tuple[int, bytes]] = []
        self.sent: _Sent | None = None  # what the sandbox folds now
        self.ahead: Page | None = None  # the page after it, where it is known
        self.interrupts = Interrupts()

    def run(self) -> None:
        with self.interrupts:
            try:
                self._fold()
            finally:
                try:
                    if self.session is not None:
                        self.session.close()
                    self.interrupts.hold()
                except KeyboardInterrupt:  # the first, in the last moment: all is folded
                    self._stopped()

    def _fold(self) -> None:
        fold = self.fold
        fold.state = "live"
        try:
            self.interrupts.listen()
            while fold.done < len(fold.selection) and fold.state == "live":
                if self.sent is None:
                    if self.stop is not None and self.stop.is_set():
                        raise KeyboardInterrupt
                    self._begin()
                else:
                    self._turn()
            fold.view = self._last_view()
            self._keep_frames()
        except KeyboardInterrupt:
            self._stopped()
            self._keep_frames()
            if self.session is not None:
                self.session.sandbox.kill()  # half a command may lie in its pipe, or a reply that nobody took
            fold.view = self._view_kept()

    def _stopped(self) -> None:
        if self.fold.stall is None:
            self.fold.state = "stopped"

    def _view_kept(self) -> str:
        """Return the view of a fold that was stopped; once the person stops that too, the fold ends at a keyframe."""
        fold = self.fold
        if self.interrupts.times < 2:
            try:
                with self.interrupts.again():
                    return view_after(fold, fold.folded)
            except KeyboardInterrupt:
                pass
        folded, text = fold.keyframes.before(fold.folded)
        fold.back_to(folded)
        return text

    def _last_view(self) -> str:
        if self.session is not None and self.session.alive and self.session.refused is None:
            try:
                return self.session.view()
            except EngineError:
                self.session.sandbox.kill()
        self._keep_frames()
        with self.interrupts.again():
            return view_after(self.fold, self.fold.folded)

    def _open(self) -> FoldSession:
        """Return the session, opened anew at the last view when the one before died."""
        if self.session is None or not self.session.alive:
            self._keep_frames()
            text = view_after(self.fold, self.fold.folded)
            self.session = FoldSession(
                self.fold.definition, initial=text, folded=self.fold.folded, seconds=self.seconds, way=self.fold.way
            )
        return self.session

    def _begin(self) -> None:
        """Send the next page into the sandbox, and let it fold."""
        fold = self.fold
        session = self._open()
        if session.refused is not None:
            self._stall("refused", {"words": session.refused})
            return
        start = fold.done
        stop = pages(fold.selection.sizes, start, self.page, self.page_bytes)
        if start < self.suspect_until:
            # one of these events crashed a worker or did not fit: half as many at a time, until it stands alone
            stop = min(stop, start + max(1, (self.suspect_until - start) // 2))
        session.load(page_of(fold.history, fold.selection, start, stop))
        self._send(session, _Sent(start, stop, 0))

    def _send(self, session: FoldSession, sent: _Sent) -> None:
        keyframes = self.fold.keyframes
        session.send(every=keyframes.every, spacing=keyframes.spacing)
        self.sent = sent

    def _go_on(self, session: FoldSession, sent: _Sent, advance: Advance) -> None:
        """Let the sandbox fold on at once: what it gave is taken while it does."""
        if advance.ended == "until":
            self._send(session, replace(sent, done=advance.next))
        elif advance.ended == "page" and self.ahead is not None:
            session.load(self.ahead)
            self._send(session, _Sent(sent.stop, sent.stop + self.ahead.length, 0))

    def _turn(self) -> None:
        """Wait for what was sent, let the sandbox fold on where it can, and take what it gave."""
        session, sent = self.session, self.sent
        assert session is not None
        assert sent is not None
        advance = self._wait(session, sent)
        self.sent = None
        if self.fold.state == "live":
            self._go_on(session, sent, advance)
        with undisturbed():
            self._take(advance, sent.start + sent.done)
            self.fold.done = sent.start + advance.next
            if advance.ended not in ("page", "until"):
                self._ended(session, advance, sent)
        if self.watcher is not None:
            self.watcher(self.fold.done, len(self.fold.selection))

    def _look_ahead(self, sent: _Sent) -> None:
        """Make the next page's text, and compress keyframes, while the sandbox folds."""
        self._keep_frames()
        fold = self.fold
        if sent.done == 0:
            self.ahead = None
            if self.suspect_until <= sent.stop < len(fold.selection):
                stop = pages(fold.selection.sizes, sent.stop, self.page, self.page_bytes)
                self.ahead = page_of(fold.history, fold.selection, sent.stop, stop)

    def _wait(self, session: FoldSession, sent: _Sent) -> Advance:
        try:
            self._look_ahead(sent)
            return self._receive(session, sent.done)
        except KeyboardInterrupt:
            self.fold.state = "stopped"
            session.sandbox.stop()
            try:
                return session.receive(sent.done, STOP_SECONDS)
            except (TimeoutError, KeyboardInterrupt):
                session.sandbox.kill()  # native work that looks at nothing
                raise KeyboardInterrupt from None

    def _receive(self, session: FoldSession, handled: int) -> Advance:
        while self.stop is not None:
            if self.stop.is_set():
                raise KeyboardInterrupt
            try:
                return session.receive(handled, LOOK_SECONDS)
            except TimeoutError:
                pass
        return session.receive(handled)

    def _take(self, advance: Advance, start: int) -> None:
        fold, rows = self.fold, advance.rows
        fold.copied += advance.copied
        seqs = fold.selection.seqs[start : start + len(rows)]
        folded = rows[:, OUTCOME] == FOLDED
        fold.ledger.extend(seqs[folded], rows[folded])
        fold.passed_over += seqs[rows[:, OUTCOME] == UNREADABLE].tolist()
        self.frames += advance.frames

    def _keep_frames(self) -> None:
        with undisturbed():
            self.fold.keyframes.add(self.frames)
            self.frames = []

    def _ended(self, session: FoldSession, advance: Advance, sent: _Sent) -> None:
        ended = advance.ended
        steps = advance.reply.steps
        if crowded(advance, sent.stop - sent.start):
            # the page's other events lay in the sandbox beside it: whether it fits is told by the event alone
            self.page_bytes = max(1, int(self.fold.selection.sizes[sent.start : sent.stop].sum()) // 2)
            if ended != "unread":
                self.suspect_until = self.fold.done + 1
            session.sandbox.kill()
            return
        if ended == "stopped" or (self.fold.state == "stopped" and ended == "time"):
            self.fold.state = "stopped"  # at a checkpoint, or by the watchdog where there was none
        elif ended == "stalled" and advance.stall is not None:
            spent = int(advance.rows[-1, STEPS]) if len(advance.rows) else 0
            self._stall(advance.stall["kind"], advance.stall, spent)
        elif ended == "work" and advance.reply.phase in ("fold", "filter", "check"):
            self._stall("work", stopped_at(advance.reply.phase), steps)
        elif advance.stall is not None and advance.reply.phase == "describe":
            # the error that was thrown never let itself be read
            self._stall(advance.stall["kind"], advance.stall, steps)
        elif ended == "memory":
            self._stall("memory", None, steps)
        elif ended == "time":
            self._again(session, "time", self.tries, steps, stopped_at(advance.reply.phase))
        elif ended == "unread":
            session.sandbox.kill()
            self._stall("memory", None)
        elif advance.reply.ledger or sent.stop - self.fold.done == 1:
            self._again(session, "crash", CRASHES, 0)
        else:
            # the worker died without a word, at one of these events
            self.suspect_until = sent.stop
            session.close()

    def _again(
        self,
        session: FoldSession,
        kind: Literal["time", "crash"],
        tries: int,
        steps: int,
        known: dict[str, object] | None = None,
    ) -> None:
        """Try the event again, in a new sandbox where the old one is dead, until its tries are spent."""
        self.failures = self.failures + 1 if self.failed_at == self.fold.done else 1
        self.failed_at = self.fold.done
        if self.failures >= tries:
            self._stall(kind, known, steps, tries=self.failures)
        else:
            # what the fold wrote to its view or its event before it was stopped must not be seen by the next try
            session.close()

    def _stall(self, kind: str, known: dict[str, object] | None, steps: int = 0, *, tries: int = 1) -> None:
        fold = self.fold
        if kind == "memory" and fold.way in AS_MADE:
            fold.way, fold.forgot = "plain", True
            if self.session is not None:
                self.session.close()
            return
        fold.state = "stalled"
        seq = int(fold.selection.seqs[fold.done])
        stall = make_stall(
            kind,  # type: ignore[arg-type]
            known,
            fold.history,
            seq,
            folded=fold.folded,
            steps=steps,
            seconds=self.seconds,
            tries=tries,
        )
        fold.stall = replace(stall, source=fold.definition.source)


def view_after(fold: Fold, folded: int, session: FoldSession | None = None) -> str:
    """Return the view after so many folds, as JSON text, folded again from the nearest keyframe before."""
    start, text = fold.keyframes.before(folded)
    if start == folded:
        return text
    own = session is None
    session = session or FoldSession(fold.definition, initial=text, folded=start, way=fold.way, again=True)
    try:
        if not own:
            session.restore(text, start)
        refold(fold, session, start, folded)
        return session.view()
    finally:
        if own:
            session.close()


def refold(fold: Fold, session: FoldSession, start: int, stop: int) -> None:
    """Fold events number `start` to `stop` of those folded before, in a session that holds the view after `start`."""
    taken = fold.ledger.seqs(start, stop)
    rows = fold.selection.seqs.searchsorted(taken)
    part = Selection(taken, fold.selection.masks[rows], fold.selection.sizes[rows])
    at = 0
    while at < len(taken):
        end = pages(part.sizes, at, PAGE_RECORDS, PAGE_BYTES)
        session.load(page_of(fold.history, part, at, end))
        done = 0
        while done < end - at:
            advance = session.advance(done, seconds=FOLD_SECONDS)
            if advance.next <= done or advance.ended not in ("page", "until"):
                raise InvalidInput(f"The fold did not repeat itself at event {int(taken[at + advance.next])}.")
            done = advance.next
        at = end
