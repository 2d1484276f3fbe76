"""How a call into a sandbox ends when it does not return."""

from __future__ import annotations

from recallkit.errors import EngineError, RecallkitError


class SandboxOutcome(RecallkitError):
    """The base of the ways in which the code inside a sandbox ended."""


class SandboxRaised(SandboxOutcome):
    """The code raised an error; `words` is its text, `line` where it was made (None when unknown)."""

    def __init__(self, words: str, line: int | None = None) -> None:
        self.words = words
        self.line = line
        super().__init__(words)


class OutOfWork(SandboxOutcome):
    """The code spent more checkpoints than it may."""


class OutOfMemory(SandboxOutcome):
    """The code needed more memory than its sandbox has."""


class OutOfTime(SandboxOutcome):
    """The code ran longer than it may."""


class SandboxDied(EngineError):
    """The worker process ended without a word."""
