"""Ctrl-C at a moment that leaves everything whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done: what it writes down belongs together.

    Only the main thread is ever interrupted; elsewhere, and where Ctrl-C is not Python's to handle, nothing is held.
    """
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(before):
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
