"""Worker processes: started when first needed, kept ready between sandboxes, ended with this process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from typing import Any

from recallkit.errors import EngineError
from recallkit.sandbox.outcomes import SandboxDied
from recallkit.sandbox.protocol import read_frame, write_frame

IDLE_KEPT = 4
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from recallkit.sandbox.worker import main; main()"


class Worker:
    """A worker process and the pipes to it. Used by one sandbox at a time."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C in a terminal or a notebook is for the person's process, which decides.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, json.dumps([path or os.getcwd() for path in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=os.name == "posix",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._sending = threading.Lock()
        self._ready = False
        # A thread of its own reads, so that Ctrl-C while a reply is awaited never cuts a frame in two.
        self._replies: queue.SimpleQueue[tuple[dict[str, Any], list[bytes]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True, name="recallkit-reader").start()
        self.owner = os.getpid()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, header: dict[str, Any], *blobs: bytes) -> None:
        """Send a command; its reply must be received before the next."""
        self._owned()
        self._await_ready()
        try:
            with self._sending:
                write_frame(self._in, header, *blobs)
        except OSError as error:
            raise SandboxDied("The sandbox's worker process ended.") from error

    def _read(self) -> None:
        frame: tuple[dict[str, Any], list[bytes]] | None = ({}, [])
        while frame is not None:
            try:
                frame = read_frame(self._out)
            except (OSError, ValueError):
                frame = None
            self._replies.put(frame)

    def receive(self, timeout: float | None = None) -> tuple[dict[str, Any], list[bytes]]:
        """Wait for the reply of the last command, at most `timeout` seconds.

        Raises
        ------
        SandboxDied
            The process ended first.
        TimeoutError
            It did not answer in time; it may still.
        """
        try:
            frame = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None
        if frame is None:
            self._replies.put(None)
            raise SandboxDied("The sandbox's worker process ended.")
        if "broken" in frame[0]:
            raise EngineError(f"The sandbox broke down: {frame[0]['broken']}")
        return frame

    def _owned(self) -> None:
        # a command sent by a forked child would leave the parent with a reply that it did not ask for
        if self.owner != os.getpid():
            raise SandboxDied("The sandbox's worker belongs to the process that was forked.")

    def _await_ready(self) -> None:
        if not self._ready:
            self.receive()
            self._ready = True

    def stop(self) -> None:
        """Ask the call that is running to end soon."""
        self._owned()
        with self._sending:
            write_frame(self._in, {"op": "stop"})

    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._in, self._out):
            # closing writes out what was never sent, and nobody reads it any more
            with contextlib.suppress(OSError):
                pipe.close()


_idle: list[Worker] = []
_all: set[Worker] = set()
_lock = threading.RLock()  # a sandbox may be collected while a worker is taken


def take() -> Worker:
    """Return a worker nobody uses, starting one where there is none."""
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.owner == os.getpid() and worker.alive():
                return worker
        worker = Worker()
        _all.add(worker)
        return worker


def give_back(worker: Worker) -> None:
    """Return a worker whose sandbox is closed; it is kept for the next, or ended when enough are kept."""
    with _lock:
        if len(_idle) < IDLE_KEPT and worker.alive():
            _idle.append(worker)
            return
    discard(worker)


def discard(worker: Worker) -> None:
    """End a worker whose sandbox is dead or cannot be trusted to answer."""
    with _lock:
        _all.discard(worker)
    if worker.owner == os.getpid():
        worker.kill()


def warm() -> None:
    """Start a worker now, so that the first sandbox need not wait for it."""
    give_back(take())


def _forget() -> None:
    """After a fork, in the child: the workers are the parent's, and a thread that is not here may hold the lock."""
    global _lock
    _lock = threading.RLock()
    _idle.clear()
    _all.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@atexit.register
def _end_all() -> None:
    for worker in list(_all):
        if worker.owner == os.getpid():
            worker.kill()
