"""A path followed through time: where its value changed and to what, and a line of it that fits a screen."""

from __future__ import annotations

import bisect
import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from recallkit.notebook.replay import replay
from recallkit.notebook.tree import Tree, brief, count_of, kind_of

if TYPE_CHECKING:
    from recallkit.views.fold import Fold

# Up to so many folded events every view is looked at; past it, this many of them, spread evenly.
EVERY_VIEW: Final = 3_000
SAMPLES: Final = 400
LINE_POINTS: Final = 400
NEAR: Final = 4


class Trail:
    """A pinned path over a whole fold, followed a slice of time at a go so that the kernel stays responsive."""

    def __init__(self, fold: Fold, path: str) -> None:
        self.path = path
        self.exact = fold.folded <= EVERY_VIEW
        self.done = False
        self._folded = fold.folded
        self._views = replay(fold) if self.exact else _samples(fold)
        self._numbers: list[int] = []
        self._texts: list[str] = []
        self._values: list[float | None] = []
        self._last: str | None = None
        self._seen = 0

    def go_on(self, seconds: float) -> None:
        """Follow on for about so long."""
        until = time.monotonic() + seconds
        for number, text in self._views:
            self._seen = number
            here = Tree(text).at(self.path)
            if here != self._last or not self._numbers:
                self._numbers.append(number)
                self._texts.append(brief(here, 80))
                self._values.append(value_of(here))
                self._last = here
            if time.monotonic() > until:
                return
        self.done = True

    def told(self) -> dict[str, Any]:
        """Tell the line: at most 400 places, each with its value where that is a number or has a count."""
        every = -(-len(self._numbers) // LINE_POINTS) or 1
        line = list(zip(self._numbers[::every], self._values[::every], strict=True))
        return {
            "path": self.path,
            "done": self.done,
            "seen": self._seen,
            "exact": self.exact,
            "changes": max(0, len(self._numbers) - 1),
            "line": [list(point) for point in line],
        }

    def near(self, number: int) -> list[list[Any]]:
        """Return the changes around a place: [number, text], the last few before it and the next few."""
        place = bisect.bisect_right(self._numbers, number)
        begin, end = max(0, place - NEAR), min(len(self._numbers), place + NEAR - 1)
        return [[self._numbers[at], self._texts[at]] for at in range(begin, end)]


def value_of(text: str | None) -> float | None:
    """Return what a line can draw of a value: a number, or how many members or characters it has; None where absent."""
    if text is None:
        return None
    kind = kind_of(text)
    if kind == "number":
        return float(json.loads(text))
    if kind in ("object", "array"):
        return float(count_of(text))
    return float(len(text)) if kind == "string" else float(text == "true")


def _samples(fold: Fold) -> Iterator[tuple[int, str]]:
    """Yield kept views, spread evenly: nothing is folded again."""
    last = -1
    for sample in range(SAMPLES + 1):
        number, text = fold.keyframes.before(fold.folded * sample // SAMPLES)
        if number > last:
            yield number, text
            last = number
    if last < fold.folded:
        yield fold.folded, fold.view
