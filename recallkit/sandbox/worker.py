"""The worker process: hosts one sandbox at a time, and is killed when a sandbox cannot be stopped otherwise.

Native work of the engine (one huge ``join``) polls nothing. Stopping it inside a process costs about 25% of
every fold (wasmtime's epochs, measured); a process that ends itself costs none, and takes no kernel with it.

Three threads: the main one reads commands, the engine's runs them on a large stack, the watchdog ends the process.
"""

from __future__ import annotations

import os
import queue
import struct
import sys
import threading
import time
from typing import IO, Any

from recallkit.sandbox.instance import CONTROL_BYTES, NUMBERS_BYTES, EngineTrap, Instance
from recallkit.sandbox.protocol import LEDGER_COLUMNS, read_frame, write_frame
from recallkit.sandbox.wasm import THREAD_STACK_BYTES, load

GRACE_SECONDS = 0.5
WATCH_SECONDS = 0.05
STOP_SECONDS = 0.3
FILE_NAME = b"document"


class Host:
    """The sandbox of this process, and the operations on it."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._program = load()
        self._instance: Instance | None = None
        self._api = 0
        self._members: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self.busy_until: float | None = None
        self.seconds = 0.0
        self.stopped: float | None = None
        self._sequence = -1
        self._answering = threading.Lock()

    # -- operations, on the engine's thread -----------------------------------------------------------------

    def answer(self, header: dict[str, Any], blobs: list[bytes]) -> None:
        self.seconds = header.get("seconds") or float("inf")
        self.stopped = None
        try:
            reply, out = getattr(self, "do_" + header["op"])(header, blobs)
        except EngineTrap as error:
            # out of memory inside the engine's own allocator, or an engine bug: this instance is dead, but its
            # memory can be read, and says how far it came
            reply, out = {"trap": str(error), **self._control()}, self._far(header)
            self._instance = None
        except MemoryError:
            reply, out = {"trap": "out of memory", **self._control()}, []
        finally:
            self.seconds = float("inf")
        with self._answering:
            write_frame(self._out, reply, *out)

    def do_open(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Make a fresh instance; blobs: harden, fitness, schema and page, as expressions."""
        self._instance = None
        instance = Instance(self._program, header["memory"], folds=header["folds"])
        parts = [self._must(instance.evaluate(source, b"kit", module=False)) for source in blobs]
        page = parts.pop()
        buffers = [
            instance.buffer(instance.control, CONTROL_BYTES),
            instance.buffer(instance.counter, 4),
            instance.buffer(instance.ledger, header["ledger"]),
            instance.buffer(instance.numbers, NUMBERS_BYTES),
        ]
        natives = [instance.function(which) for which in range(1, 11)]
        self._api = self._must(instance.call(page, [*buffers, *natives, *parts]))
        self._members, self._sources = {}, {}
        self._instance = instance
        self._ask("harden", header["harden"].encode())
        return {}, []

    def do_module(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Evaluate the document's module, and freeze when asked."""
        instance = self._live()
        namespace, error = instance.evaluate(blobs[0], FILE_NAME, module=True)
        if error is not None:
            return {"refused": error}, []
        self._must(instance.call(self._member("subject"), [namespace]))
        if header["frozen"]:
            self._ask("freeze")
        return {}, []

    def do_conditions(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Set the filters' data conditions: each blob a JSON condition or, where marked, an expression's function."""
        instance = self._live()
        handles = []
        for compiled, blob in zip(header["compiled"], blobs, strict=True):
            if compiled:
                value, error = instance.evaluate(blob, b"filter", module=False)
                if error is not None:
                    return {"refused": error}, []
                handles.append(value)
            else:
                handles.append(instance.string(blob))
        self._must(instance.call(self._member("conditions"), handles))
        return {}, []

    def do_call(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Call one of the page loop's functions with texts."""
        instance = self._live()
        answer = instance.call_text(self._member(header["name"]), blobs)
        return self._told(answer.text, answer.error, header.get("rows", 0))

    def do_guard(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Call a function given as source, with texts, under bounds."""
        instance = self._live()
        key = blobs[0].decode()
        if key not in self._sources:
            value, error = instance.evaluate(blobs[0], b"kit", module=False)
            if error is not None:
                return {"error": error, **self._control()}, []
            self._sources[key] = value
        texts = [instance.string(blob) for blob in blobs[1:]]
        value, error = instance.call(self._member("guard"), [self._sources[key], *texts])
        for text in texts:
            instance.free(text)
        if error is not None:
            return self._told(None, error, 0)
        text_value = instance._string_at(value)
        instance.free(value)
        return self._told(text_value, None, 0)

    def do_close(self, header: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        self._instance = None
        return {}, []

    # -- helpers ----------------------------------------------------------------------------------------------

    def _live(self) -> Instance:
        if self._instance is None:
            raise EngineTrap("the sandbox is closed")
        return self._instance

    def _must(self, result: tuple[int, str | None]) -> int:
        value, error = result
        if error is not None:
            raise EngineTrap(error)
        return value

    def _member(self, name: str) -> int:
        if name not in self._members:
            self._members[name] = self._live().member(self._api, name)
        return self._members[name]

    def _ask(self, name: str, *texts: bytes) -> None:
        answer = self._live().call_text(self._member(name), texts)
        if answer.error is not None:
            raise EngineTrap(answer.error)

    def _told(self, text: str | None, error: str | None, rows: int) -> tuple[dict[str, Any], list[bytes]]:
        header: dict[str, Any] = self._control() if rows or error is not None else {}
        if error is not None:
            header["error"] = error
        blobs = [(text or "").encode("utf-8", "surrogatepass")]
        if rows:
            blobs += [self._ledger(rows), self._keyframes() if error is None else b""]
        return header, blobs

    def _control(self) -> dict[str, Any]:
        if self._instance is None:
            return {}
        words = struct.unpack("<6i", self._instance.read(self._instance.control, 24))
        index, phase = struct.unpack("<2i", self._instance.read(self._instance.control + 40, 8))
        (left,) = struct.unpack("<i", self._instance.read(self._instance.counter, 4))
        return {"checkpoints": words[0], "why": words[2], "index": index, "phase": phase, "left": left}

    def _ledger(self, rows: int) -> bytes:
        instance = self._live()
        return instance.read(instance.ledger, rows * LEDGER_COLUMNS * 8)

    def _keyframes(self) -> bytes:
        instance = self._live()
        (length,) = struct.unpack("<i", instance.read(instance.control + 72, 4))
        return instance.written(length) if length else b""

    def _far(self, header: dict[str, Any]) -> list[bytes]:
        return [b"", self._ledger(header["rows"])] if self._instance is not None and header.get("rows") else []

    # -- the watchdog's and the reader's side -----------------------------------------------------------------

    def stop(self) -> None:
        """Ask the engine to end at its next checkpoint or fold; the watchdog ends what looks at neither."""
        self.stopped = time.monotonic()
        if (instance := self._instance) is not None:
            instance.write(instance.control + 12, struct.pack("<i", 1))

    def watch(self) -> None:
        """End the process when one guarded call has run past its seconds without a checkpoint to stop it."""
        seen, since = -1, time.monotonic()
        while True:
            time.sleep(WATCH_SECONDS)
            instance, seconds = self._instance, self.seconds
            if instance is None or seconds == float("inf"):
                seen = -1
                continue
            (sequence,) = struct.unpack("<i", instance.read(instance.control + 20, 4))
            if sequence != seen:
                seen, since = sequence, time.monotonic()
            elif self._overdue(since, seconds) and self._answering.acquire(blocking=False):
                control = self._control()
                rows = max(0, min(control["index"], 1_000))
                write_frame(self._out, {"overtime": True, **control}, self._ledger(rows) if rows else b"")
                os._exit(3)

    def _overdue(self, since: float, seconds: float) -> bool:
        """Whether the present call, at the same place since then, must be ended."""
        now = time.monotonic()
        stopped = self.stopped is not None and now - max(self.stopped, since) > STOP_SECONDS
        return stopped or now - since > seconds + GRACE_SECONDS


def main() -> None:
    """Serve commands until stdin ends."""
    commands: queue.SimpleQueue[tuple[dict[str, Any], list[bytes]]] = queue.SimpleQueue()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing printed by accident may reach the frames
    ready = threading.Event()
    host: list[Host] = []

    def serve() -> None:
        try:
            try:
                host.append(Host(out))
                write_frame(out, {"ready": True})
            except Exception as error:
                write_frame(out, {"broken": str(error)})
                os._exit(4)
            ready.set()
            while True:
                header, blobs = commands.get()
                try:
                    host[0].answer(header, blobs)
                except Exception as error:
                    write_frame(out, {"broken": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(5)  # nobody reads any more: whoever started this process is gone

    threading.stack_size(THREAD_STACK_BYTES)
    threading.Thread(target=serve, daemon=True).start()
    threading.stack_size(0)
    ready.wait()
    threading.Thread(target=host[0].watch, daemon=True).start()
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        if frame[0]["op"] == "stop":
            host[0].stop()
        else:
            commands.put(frame)
    os._exit(0)


if __name__ == "__main__":
    main()
