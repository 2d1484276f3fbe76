"""The follower: passes over a playbook's history, a page at a time, that bring its views up to date."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from recallkit.bounds import FOLD_SECONDS, PAGE_RECORDS, PAGE_SECONDS, PAGES_PER_PASS
from recallkit.errors import RecallkitError
from recallkit.playbook import views as rows
from recallkit.playbook.paging import Aborted, RecordPage, Share, read_page
from recallkit.playbook.store import Store
from recallkit.playbook.views import LIVE, STALLED, Moved, ViewRow
from recallkit.views.selection import Selection, select
from recallkit.views.session import FoldSession

if TYPE_CHECKING:
    from recallkit.definitions.recall import RecallDefinition

log = logging.getLogger("recallkit.playbook")

SESSIONS_KEPT: Final = 8
"""Sandboxes kept ready between pages; each takes some 45 MB."""
FOLDERS: Final = max(1, min(4, os.cpu_count() or 1))
"""Views of a page folded at the same time, each in a worker of its own."""
GRACE_SECONDS: Final = 0.5
OPENING_SECONDS: Final = 10.0
LOCK_SECONDS: Final = 60.0
STOP_SECONDS: Final = 1.0


@dataclass
class Pass:
    """What a pass did.

    Attributes
    ----------
    pages : int
        How many pages it read.
    records, folds : int
        The records read, and the folds, over all views.
    more : bool
        Whether there is more to read at once; a view whose fold ran out of time or crashed waits for the next pass.
    failed : list of str
        The views whose fold ran out of its time, or crashed its worker, in this pass.
    """

    pages: int = 0
    records: int = 0
    folds: int = 0
    more: bool = False
    failed: list[str] = field(default_factory=list)


class _Job(threading.Thread):
    """A view's share of a page, in a thread that mostly waits for its worker process."""

    def __init__(
        self, follower: Follower, view: ViewRow, page: RecordPage, selection: Selection, seconds: float
    ) -> None:
        super().__init__(daemon=True, name=f"recallkit-{view.name}")
        self.view = view
        self.moved: Moved | None = None
        self.error: BaseException | None = None
        self.began: float | None = None
        self._follower = follower
        self._page = page
        self._selection = selection
        self._seconds = seconds
        self._slot = threading.Lock()
        self._has_slot = False
        self.share: Share | None = None

    def run(self) -> None:
        follower = self._follower
        follower.slots.acquire()
        with self._slot:
            self._has_slot = True
        self.began = time.monotonic()
        try:
            self.moved = follower.fold(self, self.view, self._page, self._selection, self._seconds)
        except BaseException as error:
            self.error = error
        finally:
            self.leave_slot()
            follower.done(self)

    def leave_slot(self) -> None:
        """Let another view fold: a slow fold holds back no other."""
        with self._slot:
            if self._has_slot:
                self._has_slot = False
                self._follower.slots.release()

    @property
    def slow(self) -> bool:
        """Whether it folds past its time, or its sandbox takes long to open: the pass goes on without it."""
        if self.began is None:
            return False
        folding = self.share.began if self.share is not None else None
        if folding is not None:
            return time.monotonic() - folding > self._seconds + GRACE_SECONDS
        return time.monotonic() - self.began > OPENING_SECONDS

    @property
    def more(self) -> bool:
        """Whether it left something to read at once."""
        moved = self.moved
        if moved is None or moved.state == STALLED or moved.failed_at:
            return False
        return moved.position < self._page.newest


class Follower:
    """Keeps a playbook's views.

    Parameters
    ----------
    definition : callable
        Gives the definition of a recall function's version.
    now_ms : callable
        The playbook's clock.
    places : int
        How many views are built at once.
    """

    def __init__(
        self,
        store: Store,
        definition: Callable[[str, int], RecallDefinition],
        now_ms: Callable[[], int],
        *,
        places: int,
        fold_seconds: float = FOLD_SECONDS,
        page_records: int = PAGE_RECORDS,
        page_seconds: float = PAGE_SECONDS,
    ) -> None:
        self._store = store
        self._definition = definition
        self._now_ms = now_ms
        self._places = places
        self._fold_seconds = fold_seconds
        self._page_records = page_records
        self._page_seconds = page_seconds
        self.slots = threading.Semaphore(FOLDERS)
        self.stopping = threading.Event()
        self._changed = threading.Condition()
        self._jobs: dict[str, _Job] = {}
        self._sessions: OrderedDict[str, tuple[int, int, FoldSession]] = OrderedDict()
        self._served: dict[str, int] = {}
        self._tick = 0
        self._passing = threading.Lock()
        self._handle: object = None

    # -- passes ----------------------------------------------------------------------------------------------------

    def follow(self) -> Pass:
        """Do one pass, slow folds to their end."""
        self._store.check_open()  # before the lock, which in a forked child nobody may ever let go of
        with self._passing:
            if self._handle is None:
                self._handle = self._store.follow_lock(LOCK_SECONDS)
            try:
                told = self._pass()
                slow = list(self._jobs.values())
                self._wait(lambda: not self._jobs)
                self._collect(told)
                told.more |= any(job.more for job in slow)
                return told
            except KeyboardInterrupt:
                self.abort()
                raise
            finally:
                self._release()

    def follow_on(self) -> Pass | None:
        """Do one pass in the background: slow folds go on beside the next; None while another follower is at it."""
        with self._passing:
            if self._handle is None:
                self._handle = self._store.try_follow()
                if self._handle is None:
                    return None
            try:
                return self._pass()
            finally:
                self._release()

    def _release(self) -> None:
        # kept while a slow fold goes on: nobody else should begin the same one
        if self._handle is not None and not self._jobs:
            handle, self._handle = self._handle, None
            self._store.end_follow(handle)

    def _pass(self) -> Pass:
        told = Pass()
        tried: set[str] = set()
        self._failed: list[str] = []
        while not self.stopping.is_set():
            with self._store.read() as db:
                newest = rows.newest_record(db)[0]
                views = rows.view_rows(db)
                places = rows.with_places(views, self._places)
                behind = [
                    view
                    for view in views
                    if (view.state == LIVE or view.name in places) and (view.position < newest or view.state != LIVE)
                ]
                behind = [view for view in behind if view.name not in tried and view.name not in self._jobs]
                if not behind or told.pages >= PAGES_PER_PASS:
                    told.more = bool(behind)
                    break
                group = self._choose(behind)
                ahead = [view.position for view in behind if view.position > group[0].position]
                until = min(ahead, default=None)
                page = read_page(db, group[0].position, self._page_records, until, newest)
            told.pages += 1
            told.records += len(page)
            self._fold_page(group, page, told)
            self._collect(told)
            tried.update(told.failed)
        return told

    def _collect(self, told: Pass) -> None:
        with self._changed:
            told.failed += self._failed
            self._failed = []

    def _choose(self, behind: list[ViewRow]) -> list[ViewRow]:
        """Choose the views of the next page: those that stand at one place, the longest unserved, else the furthest."""
        first = min(behind, key=lambda view: (self._served.get(view.name, 0), -view.position))
        group = [view for view in behind if view.position == first.position]
        self._tick += 1
        for view in group:
            self._served[view.name] = self._tick
        return group

    def _fold_page(self, group: list[ViewRow], page: RecordPage, told: Pass) -> None:
        self._report(page.unreadable, "its event cannot be read")
        jobs: list[_Job] = []
        for view in group:
            selection = select(self._definition(view.name, view.version), page.history, name=view.name)
            if len(selection):
                jobs.append(_Job(self, view, page, selection, self._page_seconds))
            else:
                self._skip(view, page)
        # the views of a page share its two seconds where there are more than fold at once
        share = self._page_seconds * min(1.0, FOLDERS / max(1, len(jobs)))
        for job in jobs:
            job._seconds = share
            with self._changed:
                self._jobs[job.view.name] = job
            job.start()
        self._wait(lambda: all(not job.is_alive() or job.slow or job.view.name not in self._jobs for job in jobs))
        for job in jobs:
            if job.view.name in self._jobs:
                job.leave_slot()
            if job.moved is not None:
                told.folds += job.moved.folds
            elif job.error is not None and not isinstance(job.error, Aborted):
                raise job.error

    def _wait(self, ready: Callable[[], bool]) -> None:
        with self._changed:
            while not ready():
                self._changed.wait(0.05)

    # -- one view's share, on its job's thread ---------------------------------------------------------------------

    def fold(self, job: _Job, view: ViewRow, page: RecordPage, selection: Selection, seconds: float) -> Moved:
        """Fold a view's share of a page and write it."""
        session = self._kept(view)
        share = job.share = Share(
            view,
            self._definition(view.name, view.version),
            page,
            selection,
            text=lambda: self._text(view),
            session=session,
            seconds=seconds,
            stopping=self.stopping,
            fold_seconds=self._fold_seconds,
        )
        moved = None
        try:
            moved, passed = share.run()
            self._report(passed, "its time cannot be read")
            if not self._write(view, moved):
                moved = Moved(view.position, view.checkpoint_ms, view.state)
                return moved
            if moved.failed_at:
                with self._changed:
                    self._failed.append(view.name)
            if moved.state != STALLED and share.session is not None and share.session.alive:
                self._keep(view, moved, share.session)
                share.session = None
            return moved
        finally:
            if share.session is not None:
                share.session.close() if moved is not None else share.session.sandbox.kill()

    def done(self, job: _Job) -> None:
        """Take a job off the list of those that fold."""
        with self._changed:
            self._jobs.pop(job.view.name, None)
            self._changed.notify_all()

    def _text(self, view: ViewRow) -> str | None:
        with self._store.read() as db:
            return rows.view_text(db, view)

    def _skip(self, view: ViewRow, page: RecordPage) -> None:
        """Move a view over a page that holds nothing for it."""
        position = int(page.positions[-1]) if len(page) else view.position
        checkpoint = int(page.at_ms[-1]) if len(page) else view.checkpoint_ms
        state = LIVE if position == page.newest else view.state
        moved = Moved(position, checkpoint, state, records=len(page))
        if self._write(view, moved) and view.name in self._sessions:
            with self._changed:
                version, _, session = self._sessions[view.name]
                self._sessions[view.name] = (version, position, session)

    def _write(self, view: ViewRow, moved: Moved) -> bool:
        with self._store.write() as db:
            return rows.move_on(db, view, moved, self._now_ms())

    def _report(self, positions: list[int], why: str) -> None:
        """Tell the operator of each event that a fold passed over, once."""
        for position in positions:
            words = f"Record {position} is passed over: {why}."
            with self._store.write() as db:
                new = db.run("INSERT INTO passed_over VALUES (?, ?) ON CONFLICT (position) DO NOTHING", position, words)
            if new:
                log.warning("%s", words)

    # -- sandboxes kept between pages ------------------------------------------------------------------------------

    def _kept(self, view: ViewRow) -> FoldSession | None:
        with self._changed:
            kept = self._sessions.pop(view.name, None)
        if kept is None:
            return None
        version, position, session = kept
        # another follower may have moved the view on, or a newer version replaced it
        if (version, position) == (view.version, view.position) and session.alive:
            return session
        session.close()
        return None

    def _keep(self, view: ViewRow, moved: Moved, session: FoldSession) -> None:
        with self._changed:
            self._sessions[view.name] = (view.version, moved.position, session)
            over = [self._sessions.popitem(last=False)[1][2] for _ in range(len(self._sessions) - SESSIONS_KEPT)]
        for each in over:
            each.close()

    def abort(self) -> None:
        """Stop what folds: at its next fold, or else by ending its worker."""
        self.stopping.set()
        deadline = time.monotonic() + STOP_SECONDS
        self._wait(lambda: not self._jobs or time.monotonic() > deadline)
        for job in list(self._jobs.values()):
            share = job.share
            if share is not None and share.session is not None:
                share.session.sandbox.kill()
        self._wait(lambda: not self._jobs)
        self.stopping.clear()

    def close(self) -> None:
        """Stop what folds and end the sandboxes; nothing of an unfinished page is written."""
        self.abort()
        self.stopping.set()
        with self._changed:
            sessions, self._sessions = list(self._sessions.values()), OrderedDict()
        for _, _, session in sessions:
            session.close()
        with self._passing:
            try:
                self._release()
            except RecallkitError:
                pass  # the lock went with its connection
