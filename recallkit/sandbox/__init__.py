"""The pinned engine in wasm, in a process of its own: loading it, bounding it, calling into it."""

from __future__ import annotations

from recallkit.sandbox.outcomes import (
    OutOfMemory,
    OutOfTime,
    OutOfWork,
    SandboxDied,
    SandboxOutcome,
    SandboxRaised,
)
from recallkit.sandbox.sandbox import Reply, Sandbox

__all__ = [
    "OutOfMemory",
    "OutOfTime",
    "OutOfWork",
    "Reply",
    "Sandbox",
    "SandboxDied",
    "SandboxOutcome",
    "SandboxRaised",
]
