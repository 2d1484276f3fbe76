"""The state of one check of a value on the host: how much it may still do, and what it knows already."""

from __future__ import annotations

import threading
import time

from recallkit.bounds import SCHEMA_SECONDS, SCHEMA_STEPS


class TooMuch(Exception):
    """A check that would take too long."""


class Run:
    """The state of one check: what is known of its patterns, and how much it may still do."""

    def __init__(
        self,
        known: dict[tuple[str, str], bool | None],
        *,
        alone: bool = False,
        remember: bool = False,
        end: float | None = None,
    ) -> None:
        self.known = known
        # Verdicts of schemas on lists and objects; not where a dynamic reference lets one schema mean several.
        self.verdicts: dict[tuple[int, int], bool] | None = {} if remember else None
        self.pending: dict[tuple[str, str], None] = {}
        self.alone = alone  # ask about each pattern at once instead of guessing and asking about all together
        self.steps = 0
        # the rounds of one check share their seconds: the moment that they end at, as time.monotonic() has it
        self.end = time.monotonic() + SCHEMA_SECONDS if end is None else end

    def step(self) -> None:
        self.steps += 1
        if self.steps > SCHEMA_STEPS or (self.steps % 1024 == 0 and time.monotonic() > self.end):
            raise TooMuch

    def found(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern is in the text; a guess (and a wish to know) where nobody has asked yet."""
        pair = (pattern, text)
        if pair not in self.known:
            if not self.alone:
                self.pending[pair] = None
                return True
            if time.monotonic() > self.end:
                raise TooMuch
            from recallkit.definitions.patterns import search

            self.known[pair] = search([pair])[0]
        return self.known[pair]


class _Active(threading.local):
    """The run of this thread: ``jsonschema`` hands keywords no state of ours."""

    def __init__(self) -> None:
        self.run = Run({})


active = _Active()
