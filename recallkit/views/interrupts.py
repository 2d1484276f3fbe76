"""Ctrl-C at a moment that leaves everything whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any, Self


def _handler() -> Any:
    """Return what handles Ctrl-C in this thread; None where it never comes."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    return handler if callable(handler) else None


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done: what it writes down belongs together.

    Only the main thread is ever interrupted; elsewhere, and where Ctrl-C is not Python's to handle, nothing is held.
    """
    before = _handler()
    if before is None:
        yield
        return
    held: list[Any] = []
    signal.signal(signal.SIGINT, lambda *told: held.append(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            before(*held[0])


class Interrupts:
    """Ctrl-C during work that keeps what it has: only the first raises KeyboardInterrupt, and only where it is heard.

    So what is done after the first is not cut short by a person who presses it twice; but a stretch of it that may
    take long, and that can be left, is run within :meth:`again`. Used as a context; nothing is raised as it begins and
    ends, so that the handler before it is always put back.

    Attributes
    ----------
    times : int
        How often Ctrl-C came.
    """

    def __init__(self) -> None:
        self.times = 0
        self._raises = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = _handler()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *told: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def listen(self) -> None:
        """Let the first Ctrl-C raise KeyboardInterrupt from here on."""
        self._raises = True
        if self.times:
            self._raises = False
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Let none raise any more."""
        self._raises = False

    def _handle(self, *told: Any) -> None:
        self.times += 1
        if self._raises:
            try:
                self._before(*told)  # a handler of the host's own may mean something else by it
            except KeyboardInterrupt:
                self._raises = False
                raise

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Let the next Ctrl-C raise KeyboardInterrupt as well, once, until the block is done."""
        before, self._raises = self._raises, True
        try:
            yield
        finally:
            self._raises = self._raises and before
