"""One sandbox: a fresh engine with its own memory, in a worker process of its own.

The kernel never waits inside the engine: a call that does not come back is stopped by its checkpoints or its
deadline, else by its worker's watchdog, else by ending the worker from here.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from recallkit.bounds import RUN_MEMORY_BYTES
from recallkit.errors import EngineError
from recallkit.sandbox import pool
from recallkit.sandbox.outcomes import OutOfMemory, OutOfTime, OutOfWork, SandboxDied, SandboxRaised
from recallkit.sandbox.page_parts import page_source
from recallkit.sandbox.protocol import LEDGER_COLUMNS
from recallkit.sandbox.schema_parts import schema_source

LEDGER_ROWS = 1_000
WHY = {1: "work", 2: "memory", 3: "time", 4: "stopped"}
PHASES = ("idle", "filter", "fold", "check", "describe", "schema", "load")


@functools.cache
def _parts() -> tuple[bytes, ...]:
    # each is one expression; the page loop comes last and is given the others
    dates, harden, fitness = (
        (Path(__file__).parent / f"{name}.js").read_bytes() for name in ("dates", "harden", "fitness")
    )
    return dates, harden, fitness, schema_source().encode(), page_source().encode()


def _bytes(text: bytes | str) -> bytes:
    # half a character goes in as the engine itself keeps it
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call of the page loop gave.

    Attributes
    ----------
    text : str
        The value; empty when the call was cut short.
    cut : str or None
        Why it was cut short: 'work', 'memory', 'time', 'stopped' or 'died'; None when it returned.
    index, phase : int, str
        Which event of the page it was at, and what it was doing with it.
    steps : int
        The steps of the guarded call that was cut short.
    ledger : bytes
        A row of five doubles for each event asked for: bytes, steps, microseconds, outcome, memory pages.
    written : bytes
        The keyframes that were written beside the sandbox's memory, one after another.
    alive : bool
        Whether the sandbox can be used further.
    """

    text: str
    cut: str | None = None
    index: int = 0
    phase: str = "idle"
    steps: int = 0
    ledger: bytes = b""
    written: bytes = b""
    alive: bool = True


class Sandbox:
    """A fresh engine, hardened as the formats say.

    Parameters
    ----------
    memory_bytes : int
        The most memory the engine may have (64 MiB for a fold, 256 MiB for a run).
    frozen : bool
        Whether globals are frozen once the module is loaded: so for folds, not for runs.
    moment : float
        The time of the document's clock, in milliseconds since the epoch.

    Raises
    ------
    EngineError
        The engine cannot be started.
    """

    def __init__(self, *, memory_bytes: int = RUN_MEMORY_BYTES, frozen: bool = True, moment: float = 0.0) -> None:
        self._frozen = frozen
        self._awaited = False  # whether a reply of a call begun was not taken yet
        self._worker: pool.Worker | None = pool.take()
        harden = json.dumps({"frozen": frozen, "moment": moment})
        header = {
            "op": "open",
            "memory": memory_bytes,
            "folds": frozen,
            "ledger": LEDGER_ROWS * LEDGER_COLUMNS * 8,
            "harden": harden,
        }
        reply = self._exchange(header, *_parts())[0]
        if "trap" in reply:
            self.close()
            raise EngineError(f"The sandbox could not be opened: {reply['trap']}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # forgotten, not closed: at the interpreter's end the pipes may be gone, so nothing is asked of the worker
        if getattr(self, "_worker", None) is not None and not sys.is_finalizing():
            with contextlib.suppress(Exception):
                self.kill()

    @property
    def alive(self) -> bool:
        """Whether the sandbox can be called: not once closed, and after a fork by the process that opened it alone."""
        return self._worker is not None and self._worker.owner == os.getpid()

    def close(self) -> None:
        """Drop the engine; its worker is kept ready for another."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if self._awaited:  # Ctrl-C came between a call and its reply, which the next sandbox must not take for its own
            pool.discard(worker)
            return
        try:
            worker.send({"op": "close"})
            worker.receive()
        except EngineError:
            pool.discard(worker)
        except BaseException:
            pool.discard(worker)
            raise
        else:
            pool.give_back(worker)

    def kill(self) -> None:
        """End the worker at once, whatever it does."""
        worker, self._worker = self._worker, None
        if worker is not None:
            pool.discard(worker)

    def stop(self) -> None:
        """Ask the running call to end at its next fold or checkpoint (from another thread)."""
        if self._worker is not None:
            self._worker.stop()

    def _exchange(self, header: dict[str, Any], *blobs: bytes) -> tuple[dict[str, Any], list[bytes]]:
        if self._worker is None:
            raise EngineError("The sandbox is closed.")
        try:
            self._worker.send(header, *blobs)
            return self._worker.receive()
        except BaseException:
            # the pipes hold a reply that nobody will read: this worker is of no more use
            self.kill()
            raise

    def send(self, name: str, *texts: bytes, rows: int = 0, seconds: float | None = None) -> None:
        """Begin a call of one of the page loop's functions; its reply is taken with :meth:`receive`."""
        if self._worker is None:
            raise EngineError("The sandbox is closed.")
        self._awaited = True
        self._worker.send({"op": "call", "name": name, "rows": rows, "seconds": seconds}, *texts)

    def receive(self, timeout: float | None = None) -> Reply:
        """Wait for the reply of the call begun; a worker that died is told as the cut 'died'.

        Raises
        ------
        TimeoutError
            No reply came within `timeout` seconds; it may still come.
        """
        if self._worker is None:
            raise EngineError("The sandbox is closed.")
        try:
            told = self._worker.receive(timeout)
            self._awaited = False
            return self._read(*told)
        except SandboxDied:
            self.kill()
            return Reply("", cut="died", alive=False)

    def ask(self, name: str, *texts: bytes | str, rows: int = 0, seconds: float | None = None) -> Reply:
        """Call one of the page loop's functions (page_*.js) with texts and wait for its reply."""
        self.send(name, *(_bytes(t) for t in texts), rows=rows, seconds=seconds)
        try:
            return self.receive()
        except BaseException:
            self.kill()
            raise

    def must(self, name: str, *texts: bytes | str) -> str:
        """Call one of the page loop's own functions, which cannot fail because of a document."""
        reply = self.ask(name, *texts)
        if reply.cut is not None:
            raise EngineError(f"The sandbox failed at {name}: {reply.cut}")
        return reply.text

    def _read(self, header: dict[str, Any], blobs: list[bytes]) -> Reply:
        text = blobs[0].decode("utf-8", "surrogatepass") if blobs and "overtime" not in header else ""
        _, ledger, written = [*blobs, b"", b"", b""][:3]
        if "overtime" in header:
            ledger = blobs[0]
        if "overtime" in header:
            self.kill()
        cut = self._cut(header)
        if cut is None and "error" in header:
            raise EngineError(f"The page loop failed: {header['error']}")
        spent = header.get("checkpoints", 0) * 10_000 + (10_000 - header.get("left", 10_000))
        phase = PHASES[header.get("phase", 0)]
        alive = "overtime" not in header and "trap" not in header
        return Reply(text, cut, header.get("index", 0), phase, spent, ledger, written, alive)

    @staticmethod
    def _cut(header: dict[str, Any]) -> str | None:
        if "overtime" in header:
            return "memory" if header.get("why") == 2 else "time"
        if "trap" in header:
            return "memory" if header.get("why") == 2 or header["trap"] == "out of memory" else "died"
        if "error" in header:
            return WHY.get(header.get("why", 0))
        return None

    def load_module(self, source: str) -> str | None:
        """Evaluate a document's module; return None, or the engine's words when it does not load."""
        header, _ = self._exchange(
            {"op": "module", "frozen": self._frozen, "seconds": 10.0}, source.encode("utf-8", "surrogatepass")
        )
        if "trap" in header:
            raise EngineError(f"The sandbox failed while a module was loaded: {header['trap']}")
        if "overtime" in header:
            self.kill()
            return "the module did not load in time"
        refused: str | None = header.get("refused")
        return refused

    def load_conditions(self, conditions: list[tuple[bool, str]]) -> str | None:
        """Set the filters' conditions on data: (compiled, text); return None or the words of a refusal."""
        header, _ = self._exchange(
            {"op": "conditions", "compiled": [compiled for compiled, _ in conditions]},
            *(text.encode("utf-8", "surrogatepass") for _, text in conditions),
        )
        refused: str | None = header.get("refused") or header.get("trap")
        return refused

    def call(self, source: str, *texts: str, checkpoints: int = 100, seconds: float = 2.0) -> str:
        """Call a function of the host's own, given as the source of an expression, with texts.

        Parameters
        ----------
        source : str
            A JavaScript expression whose value is a function of texts that returns a text.
        texts : str
            Its arguments.
        checkpoints, seconds
            What it may spend.

        Raises
        ------
        SandboxRaised, OutOfWork, OutOfMemory, OutOfTime
            How it ended otherwise.
        """
        settings = json.dumps({"checkpoints": checkpoints, "milliseconds": seconds * 1_000})
        blobs = [text.encode("utf-8", "surrogatepass") for text in (source, settings, *texts)]
        reply = self._read(*self._exchange({"op": "guard", "seconds": seconds}, *blobs))
        if reply.cut in ("work", "time", "memory"):
            if not reply.alive:
                self.kill()
            raise {"work": OutOfWork, "time": OutOfTime, "memory": OutOfMemory}[reply.cut]()
        if reply.cut is not None:
            self.kill()
            raise SandboxDied("The sandbox's worker process ended.")
        if reply.text.startswith("+"):
            return reply.text[1:]
        told = json.loads(reply.text)
        if told["kind"] == "memory":
            raise OutOfMemory
        raise SandboxRaised(told["described"]["words"], told["described"]["line"])
