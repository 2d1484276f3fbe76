"""Regular expressions of schemas, as ECMAScript reads them, which cannot hang.

JSON Schema's patterns are ECMAScript's (with the ``u`` flag). Python's ``re`` is another language, and one that
can backtrack for hours; so patterns run in the sandbox's engine, under a budget of checkpoints and seconds.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from recallkit.bounds import MIB, PATTERN_CHECKPOINTS, PATTERN_SECONDS

# The patterns of the meta-schemas themselves, each the same in both languages once `$` is `\Z`.
_OWN: Final = {
    "^[^#]*#?$": re.compile(r"[^#]*#?\Z"),
    "^[A-Za-z_][-A-Za-z0-9._]*$": re.compile(r"[A-Za-z_][-A-Za-z0-9._]*\Z"),
}
_COMPILE: Final = """(text) => JSON.stringify(JSON.parse(text).map((pattern) => {
  try { new RegExp(pattern, 'u'); return null; } catch (error) { return error.message; }
}))"""
_SEARCH: Final = """(text) => {
  const compiled = new Map();
  return JSON.stringify(JSON.parse(text).map(([pattern, subject]) => {
    if (!compiled.has(pattern)) compiled.set(pattern, new RegExp(pattern, 'u'));
    return compiled.get(pattern).exec(subject) !== null;
  }));
}"""


class _Engine:
    """One sandbox for all patterns of this process, replaced when a pattern broke it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandbox: Any = None
        self._owner = 0

    def call(self, source: str, value: Any, seconds: float) -> Any:
        from recallkit.sandbox import Sandbox
        from recallkit.sandbox.outcomes import SandboxDied, SandboxOutcome

        with self._lock:
            if self._sandbox is None or self._owner != os.getpid():
                if self._owner != os.getpid():
                    atexit.register(self._drop)
                self._sandbox, self._owner = Sandbox(memory_bytes=64 * MIB), os.getpid()
            try:
                text = self._sandbox.call(source, json.dumps(value), checkpoints=PATTERN_CHECKPOINTS, seconds=seconds)
            except (SandboxOutcome, SandboxDied):
                self._drop()
                raise
            return json.loads(text)

    def _drop(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()


_engine = _Engine()


def pattern_problems(patterns: Iterable[str]) -> dict[str, str]:
    """Say which patterns are no regular expressions of ECMAScript.

    Parameters
    ----------
    patterns : iterable of str

    Returns
    -------
    dict
        For each pattern that does not compile with the ``u`` flag, the engine's words.
    """
    from recallkit.sandbox.outcomes import SandboxDied, SandboxOutcome

    wanted = [each for each in dict.fromkeys(patterns) if each not in _OWN]
    if not wanted:
        return {}
    try:
        told = _engine.call(_COMPILE, wanted, PATTERN_SECONDS)
    except (SandboxOutcome, SandboxDied):
        if len(wanted) == 1:
            return {wanted[0]: "it takes too long to compile"}
        half = len(wanted) // 2
        return pattern_problems(wanted[:half]) | pattern_problems(wanted[half:])
    return {pattern: words for pattern, words in zip(wanted, told, strict=True) if words is not None}


def search(pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
    """Look for patterns in texts.

    Parameters
    ----------
    pairs : sequence of (pattern, text)

    Returns
    -------
    list of bool or None
        Whether the pattern is found in the text; None where it took too long, or all of them together did.
    """
    from recallkit.sandbox.outcomes import SandboxDied, SandboxOutcome

    found: list[bool | None] = [None] * len(pairs)
    asked = []
    for place, (pattern, text) in enumerate(pairs):
        if pattern in _OWN:
            found[place] = _OWN[pattern].match(text) is not None
        else:
            asked.append(place)
    end = time.monotonic() + PATTERN_SECONDS
    # All in one call; where that is too much, halves, so that one bad pattern spoils only its own answer.
    waiting = [asked] if asked else []
    while waiting:
        places = waiting.pop()
        left = end - time.monotonic()
        if left <= 0:
            break
        try:
            told = _engine.call(_SEARCH, [pairs[place] for place in places], left)
        except (SandboxOutcome, SandboxDied):
            if len(places) > 1:
                half = len(places) // 2
                waiting += [places[half:], places[:half]]
            continue
        for place, answer in zip(places, told, strict=True):
            found[place] = answer
    return found
