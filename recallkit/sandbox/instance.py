"""One engine in wasm: its memory, its context, and calls into it. Runs in the worker process, on one thread."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import wasmtime

from recallkit.bounds import PAGE_RECORDS, STACK_BYTES
from recallkit.sandbox.protocol import LEDGER_COLUMNS
from recallkit.sandbox.wasm import Program

WASM_PAGE = 65_536
INITIAL_PAGES = 256
CONTROL_BYTES = 80
# The shapes that measure.wat remembers during a reading and the numbers that it leaves to the page loop.
SHAPES_BYTES = 64 * 8
NUMBERS_BYTES = 1_024 * 8
LEDGER_BYTES = PAGE_RECORDS * LEDGER_COLUMNS * 8
# ctx->interrupt_counter of the pinned build: starts at 10,000 and falls by one a step.
COUNTER_OFFSET = 232
# Where the runtime keeps the address of its texts, an object its shape, and a shape its prototype.
ATOMS_OFFSET, SHAPE_OFFSET, PROTOTYPE_OFFSET = 56, 20, 44
MODULE_FLAG = 1
# The page loop's frames lie below a document's on the engine's stack, and a fold has one more of them than a run.
# This much more lets a function that calls itself, called by the document's own export, reach exactly the 5,459 calls
# that the format gives for 1 MiB (computation, Bounds): in a run, and in a fold too ("as for a computation function").
# A call takes 192 bytes; each figure is near the middle of those that give 5,459 (tests/test_work.py measures it).
RUN_STACK_ALLOWANCE = 208
FOLD_STACK_ALLOWANCE = 528


class EngineTrap(Exception):
    """The wasm trapped: this instance is dead."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave: its text, or the error's text when it raised."""

    text: str | None
    error: str | None


class Instance:
    """The engine with its own memory of at most `memory_bytes`; `folds`: whether it serves folds or runs."""

    def __init__(self, program: Program, memory_bytes: int, *, folds: bool = False) -> None:
        self._store = wasmtime.Store(program.engine)
        self._store.set_wasi(wasmtime.WasiConfig())
        limits = wasmtime.Limits(INITIAL_PAGES, memory_bytes // WASM_PAGE)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(limits))
        linker = wasmtime.Linker(program.engine)
        linker.define_wasi()
        linker.define(self._store, "host", "memory", self._memory)
        linker.define_instance(self._store, "known", linker.instantiate(self._store, program.known))
        write = linker.instantiate(self._store, program.write)
        linker.define_instance(self._store, "write", write)
        written = write.exports(self._store)
        out, begin = written["out"], written["begin"]
        assert isinstance(out, wasmtime.Memory)
        assert isinstance(begin, wasmtime.Global)
        self._out, self._out_begin = out, begin.value(self._store)
        measure = linker.instantiate(self._store, program.measure)
        linker.define_instance(self._store, "measure", measure)
        work = linker.instantiate(self._store, program.work).exports(self._store)
        imports = [
            self._memory if wanted.name == "a" else work[wanted.name or ""] for wanted in program.quickjs.imports
        ]
        quickjs = wasmtime.Instance(self._store, program.quickjs, imports).exports(self._store)
        self._functions = {name: quickjs[export] for name, export in program.exports.items()}
        self._run(quickjs["u"])
        self.control = self._call("malloc", CONTROL_BYTES)
        self.ledger = self._call("malloc", LEDGER_BYTES)
        self.write(self.control, bytes(CONTROL_BYTES))
        self._run(work["set_control"], self.control)
        self._runtime = self._call("QTS_NewRuntime")
        allowance = FOLD_STACK_ALLOWANCE if folds else RUN_STACK_ALLOWANCE
        self._call("QTS_RuntimeSetMaxStackSize", self._runtime, STACK_BYTES + allowance)
        self._call("QTS_RuntimeEnableInterruptHandler", self._runtime)
        self._context = self._call("QTS_NewContext", self._runtime, 0)
        self.counter = self._context + COUNTER_OFFSET
        self._undefined = self._call("QTS_GetUndefined")
        self._no_budget()
        self._lay_out(measure.exports(self._store)["set_layout"], written["set_layout"])

    def _lay_out(self, set_layout: object, write_layout: object) -> None:
        """Tell measure.wat and write.wat where things lie in this instance."""
        block = self._call("malloc", SHAPES_BYTES + NUMBERS_BYTES)
        self.numbers = block + SHAPES_BYTES
        shapes, kept = [], []
        for source in (b"({})", b"[]"):
            value, _ = self.evaluate(source, b"kit", module=False)
            kept.append(value)
            shapes.append(self._word(self._word(value) + SHAPE_OFFSET))
        layout = (self._runtime + ATOMS_OFFSET, self._word(shapes[0] + PROTOTYPE_OFFSET), shapes[1], block)
        self._run(set_layout, *layout)
        self._run(write_layout, layout[0])
        for value in kept:
            self.free(value)

    def _word(self, at: int) -> int:
        return int.from_bytes(self.read(at, 4), "little")

    def _no_budget(self) -> None:
        self.write(self.control + 4, struct.pack("<i", -1))
        self.write(self.control + 32, struct.pack("<d", float("inf")))

    def _run(self, function: object, *arguments: object) -> int:
        try:
            return function(self._store, *arguments)  # type: ignore[operator, no-any-return]
        except (wasmtime.Trap, wasmtime.WasmtimeError) as error:
            raise EngineTrap(str(error).splitlines()[0]) from error

    def _call(self, name: str, *arguments: object) -> int:
        return self._run(self._functions[name], *arguments)

    def address(self) -> int:
        """Return where the wasm memory starts in this process; it never moves (wasmtime reserves its range)."""
        return ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def read(self, at: int, length: int) -> bytes:
        return ctypes.string_at(self.address() + at, length)

    def write(self, at: int, data: bytes) -> None:
        ctypes.memmove(self.address() + at, data, len(data))

    def written(self, length: int) -> bytes:
        """Return what write.wat wrote."""
        start = ctypes.addressof(self._out.data_ptr(self._store).contents) + self._out_begin
        return ctypes.string_at(start, length)

    def _text(self, data: bytes) -> int:
        at = self._call("malloc", len(data) + 1)
        if not at:
            raise MemoryError
        self.write(at, data + b"\0")
        return at

    def _string_at(self, value: int) -> str:
        at = self._call("QTS_GetString", self._context, value)
        if not at:
            raise MemoryError
        text = ctypes.string_at(self.address() + at).decode("utf-8", "surrogatepass")
        self._call("QTS_FreeCString", self._context, at)
        return text

    def free(self, value: int) -> None:
        self._call("QTS_FreeValuePointer", self._context, value)

    def string(self, data: bytes) -> int:
        """Return a handle of a text made from UTF-8."""
        at = self._text(data)
        value = self._call("QTS_NewString", self._context, at)
        self._call("free", at)
        return value

    def buffer(self, at: int, length: int) -> int:
        """Return a handle of an ArrayBuffer over the engine's own memory."""
        return self._call("QTS_NewArrayBuffer", self._context, at, length)

    def function(self, which: int) -> int:
        """Return a handle of a native function that work.wat answers."""
        name = self._text(b"native")
        value = self._call("QTS_NewFunction", self._context, name, 1, 0, which)
        self._call("free", name)
        return value

    def evaluate(self, source: bytes, name: bytes, *, module: bool) -> tuple[int, str | None]:
        """Evaluate source; return a handle (a namespace for a module) and None, or 0 and the error's text."""
        code, file = self._text(source), self._text(name)
        flags = MODULE_FLAG if module else 0
        value = self._call("QTS_Eval", self._context, code, len(source), file, 0, flags)
        self._call("free", code)
        self._call("free", file)
        error = self._error(value)
        return (0, error) if error is not None else (value, None)

    def _error(self, value: int) -> str | None:
        error = self._call("QTS_ResolveException", self._context, value)
        if not error:
            return None
        if struct.unpack("<i", self.read(self.control + 8, 4))[0]:
            self.free(error)  # interrupted: the control block says why, and reading the error could run its code
            return "interrupted"
        dump = self._call("QTS_Dump", self._context, error)
        text = ctypes.string_at(self.address() + dump).decode("utf-8", "replace") if dump else ""
        self.free(error)
        return text

    def member(self, value: int, name: str) -> int:
        key = self.string(name.encode())
        found = self._call("QTS_GetProp", self._context, value, key)
        self.free(key)
        return found

    def call(self, function: int, arguments: Sequence[int]) -> tuple[int, str | None]:
        """Call a function; return the handle of its value and None, or 0 and the error's text."""
        table = self._call("malloc", 4 * max(1, len(arguments)))
        self.write(table, struct.pack(f"<{len(arguments)}I", *arguments))
        value = self._call("QTS_Call", self._context, function, self._undefined, len(arguments), table)
        self._call("free", table)
        error = self._error(value)
        return (0, error) if error is not None else (value, None)

    def call_text(self, function: int, texts: Sequence[bytes]) -> Answer:
        """Call a function with texts; its value as a text."""
        arguments = [self.string(text) for text in texts]
        value, error = self.call(function, arguments)
        for argument in arguments:
            self.free(argument)
        if error is not None:
            return Answer(None, error)
        text = self._string_at(value)
        self.free(value)
        return Answer(text, None)
