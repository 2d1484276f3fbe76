"""Following in the background: a thread of passes, woken by what is recorded here, else each second."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Self

from recallkit.bounds import PASS_SECONDS, PLAYBOOKS_AT_ONCE
from recallkit.errors import Conflict, RecallkitError
from recallkit.playbook import wakes
from recallkit.playbook.wakes import Turns

if TYPE_CHECKING:
    from recallkit.playbook.follower import Follower
    from recallkit.playbook.store import Store

log = logging.getLogger("recallkit.playbook")


def _places() -> int:
    given = os.environ.get("RECALL_PLAYBOOKS_AT_ONCE", "")
    return int(given) if given.isdecimal() and len(given) < 10 and int(given) else PLAYBOOKS_AT_ONCE


# Of all the playbooks that this process follows, so many have a pass at once; the others wait for their turn.
_turns = Turns(_places())


def _forget() -> None:
    """Have all turns free in a forked child: who had them stayed behind."""
    global _turns
    _turns = Turns(_places())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Following:
    """Follows a playbook while its ``with`` block runs; ``error`` is what the last pass failed with, if it did."""

    def __init__(self, follower: Follower, store: Store) -> None:
        self._follower = follower
        self._store = store
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._users = 0
        self._lock = threading.Lock()
        self.error: Exception | None = None
        self.passes = 0

    @property
    def stopped(self) -> bool:
        """Whether it was stopped for good."""
        return self._stop.is_set()

    def __enter__(self) -> Self:
        self._store.check_open()
        with self._lock:
            if self.stopped:
                raise Conflict("This following has ended; begin another with playbook.following().", "closed")
            self._users += 1
            if self._thread is None:
                wakes.join(self._store.key, self._wake)
                self._thread = threading.Thread(target=self._run, daemon=True, name="recallkit-follower")
                self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            self.stop()

    def stop(self) -> None:
        """Stop after the fold that runs; nothing of an unfinished page is written."""
        self._stop.set()
        self._wake.set()
        wakes.leave(self._store.key, self._wake)
        thread = self._thread
        if thread is not None:
            self._follower.abort()
            thread.join()
        self._thread = None

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            more = False
            if not _turns.take(given_up=self._stop):
                return
            try:
                if not self._stop.is_set():
                    told = self._follower.follow_on()
                    more = told is not None and told.more
                self.error = None
                self.passes += 1
            except RecallkitError as error:
                # a database that is busy or gone for a while: the next pass tries again
                if str(error) != str(self.error):
                    log.warning("A pass failed: %s", error)
                self.error = error
            except Exception as error:
                log.exception("A pass failed")
                self.error = error
            finally:
                _turns.end()
            if not more:
                self._wake.wait(PASS_SECONDS)
