"""Load the pinned engine: check what it is, compile it once, keep the compiled module on disk.

Runs in the worker process only (worker.py). The formats count work on one build of QuickJS
(computation, The sandbox), so a file of another SHA-256 is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import wasmtime

from recallkit.errors import EngineError

PACKAGE = "@jitl/quickjs-wasmfile-release-sync 0.32.0"
SHA256 = "105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232"
# 1 MiB of engine stack takes far more native stack; wasmtime stops at the smaller of the two.
WASM_STACK_BYTES = 64 << 20
THREAD_STACK_BYTES = 256 << 20
ENGINE = Path(__file__).parent.parent / "assets" / "engine"


@dataclass(frozen=True, slots=True)
class Program:
    """The engine and the host's half, compiled, and the engine's names for its exports."""

    engine: wasmtime.Engine
    quickjs: wasmtime.Module
    work: wasmtime.Module
    measure: wasmtime.Module
    known: wasmtime.Module
    write: wasmtime.Module
    exports: dict[str, str]


def load() -> Program:
    """Return the compiled engine, from the disk cache when it is there.

    Raises
    ------
    EngineError
        The installed engine file is missing or is not the pinned build.
    """
    config = wasmtime.Config()
    config.max_wasm_stack = WASM_STACK_BYTES
    # Config has no property for it, and wasmtime refuses a wasm stack larger than its async stack.
    wasmtime._ffi.wasmtime_config_async_stack_size_set(config.ptr(), WASM_STACK_BYTES + (16 << 20))
    engine = wasmtime.Engine(config)
    try:
        wasm = (ENGINE / "engine.wasm").read_bytes()
        exports = json.loads((ENGINE / "engine.json").read_text("utf-8"))["exports"]
    except (OSError, KeyError, ValueError) as error:
        raise EngineError(f"The engine is missing from the installation ({error}); install recallkit again.") from error
    if hashlib.sha256(wasm).hexdigest() != SHA256:
        raise EngineError(f"The engine file is not {PACKAGE}; install recallkit again.")
    work, measure, known, write = (
        wasmtime.Module(engine, (Path(__file__).parent / f"{name}.wat").read_text("utf-8"))
        for name in ("work", "measure", "known", "write")
    )
    return Program(engine, _compiled(engine, wasm), work, measure, known, write, exports)


def cache_directory() -> Path:
    """Return where compiled modules are kept: RECALLKIT_CACHE, else the user's cache directory."""
    if chosen := os.environ.get("RECALLKIT_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "recallkit"


def _compiled(engine: wasmtime.Engine, wasm: bytes) -> wasmtime.Module:
    # A compiled module is machine code: it is loaded only from a directory that is the user's own.
    version = f"{metadata.version('wasmtime')}-{WASM_STACK_BYTES}-{sys.platform}"
    name = f"engine-{hashlib.sha256(wasm + version.encode()).hexdigest()[:24]}.cwasm"
    directory = cache_directory()
    path = directory / name
    if path.exists() and _is_ours(directory) and _is_ours(path):
        try:
            return wasmtime.Module.deserialize_file(engine, str(path))
        except wasmtime.WasmtimeError:
            pass  # written by another build of wasmtime, or cut short: compile again
    module = wasmtime.Module(engine, wasm)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if _is_ours(directory):
            descriptor, temporary = tempfile.mkstemp(dir=directory)
            with os.fdopen(descriptor, "wb") as file:
                file.write(module.serialize())
            os.replace(temporary, path)
    except OSError:
        pass  # a read-only home costs 0.4 s a process, nothing else
    return module


def _is_ours(path: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
