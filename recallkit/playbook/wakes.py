"""Who follows which playbook in this process: each event recorded here wakes its followers."""

from __future__ import annotations

import os
import threading
import time
from typing import Final

_lock = threading.Lock()
_followers: Final[dict[str, set[threading.Event]]] = {}
GIVEN_UP_SECONDS: Final = 0.1


def join(key: str, event: threading.Event) -> None:
    """Have an event set whenever the playbook of that key records something."""
    with _lock:
        _followers.setdefault(key, set()).add(event)


def leave(key: str, event: threading.Event) -> None:
    """Wake it no longer."""
    with _lock:
        _followers.get(key, set()).discard(event)


def wake(key: str) -> None:
    """Tell the playbook's followers that something was recorded."""
    with _lock:
        for event in _followers.get(key, ()):
            event.set()


class Turns:
    """So many at once, the others in the order they came."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._waiting: list[threading.Event] = []
        self._taken = 0

    def take(self, seconds: float | None = None, given_up: threading.Event | None = None) -> bool:
        """Wait for a turn, at most so many seconds and until it is given up; False when none came."""
        with self._lock:
            if self._taken < self._places and not self._waiting:
                self._taken += 1
                return True
            mine = threading.Event()
            self._waiting.append(mine)
        if given_up is None:
            came = mine.wait(seconds)
        else:
            end = None if seconds is None else time.monotonic() + seconds
            while not (came := mine.wait(GIVEN_UP_SECONDS)) and not given_up.is_set():
                if end is not None and time.monotonic() >= end:
                    break
        if not came:
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    return False
        return True

    def end(self) -> None:
        """Give the turn on."""
        with self._lock:
            if self._waiting:
                self._waiting.pop(0).set()
            else:
                self._taken -= 1


def _forget() -> None:
    """Forget, in a forked child, whom to wake: the followers stayed behind."""
    global _lock
    _lock = threading.Lock()
    _followers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
