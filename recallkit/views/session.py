"""A recall function loaded into a sandbox: pages of events go in, the ledger of their folds comes out.

The scrubber, the command line, the reports, the playbook and the tests all fold through this one room.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from recallkit.bounds import (
    FILTER_CHECKPOINTS,
    FOLD_CHECKPOINTS,
    FOLD_MEMORY_BYTES,
    FOLD_SECONDS,
    VIEW_BYTES,
)
from recallkit.definitions.schemas import Schema
from recallkit.sandbox import Reply, Sandbox
from recallkit.sandbox.protocol import LEDGER_COLUMNS
from recallkit.views.selection import conditions
from recallkit.views.trace import FOLDED, OUTCOME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recallkit.definitions.recall import RecallDefinition
    from recallkit.events.history import History
    from recallkit.views.selection import Selection

# How long the sandbox folds before it answers: a person who stops a fold waits no longer than this.
SLICE_SECONDS = 0.25
NO_LIMIT = 1 << 52
# A keyframe takes about 3 ns a byte of folding time, and its compression 10 of the kernel's meanwhile; at 17 times
# the first between two of them, they cost a sixteenth of the folds, however large the view.
KEYFRAME_MS_A_BYTE = 0.00005

NO_ROWS = np.empty((0, LEDGER_COLUMNS))

# How a view is checked after each fold (page_keep.js). All give the same; 'fast' is for modules that write to nothing
# they did not make.
Way = Literal["fast", "owned", "plain", "written"]


def way_of(definition: RecallDefinition) -> Way:
    """Return how a document's views are checked: 'owned' where its module may write to what it did not make."""
    return "owned" if definition.writes else "fast"


# The ways that keep the view as the module made it, which may take more memory than the same view read from its text: a
# fold that runs out of memory in one of them is done again in the plain way.
AS_MADE: Final[tuple[Way, ...]] = ("fast", "owned")


@dataclass(frozen=True, slots=True)
class Advance:
    """What a stretch of folding gave.

    Attributes
    ----------
    rows : ndarray
        The ledger's row for each event handled: bytes, steps, microseconds, outcome, memory pages.
    next : int
        How many of the page's events are done with.
    folded : int
        How many events the view has folded in all.
    ended : str
        'page', 'until', 'stopped', 'stalled', 'unread' where the page's own events did not fit the memory, or the cut
        'work', 'memory', 'time', 'died'.
    stall : dict or None
        What the page loop knows of a stall.
    reply : Reply
        As the sandbox gave it.
    frames : list of tuple
        The keyframes: after how many folds each, and the view as JSON text in UTF-8.
    copied : int
        How many of the views were written out and read back.
    """

    rows: NDArray[np.float64]
    next: int
    folded: int
    ended: str
    stall: dict[str, Any] | None
    reply: Reply
    frames: tuple[tuple[int, bytes], ...] = ()
    copied: int = 0


class Page(NamedTuple):
    """A page of events: a JSON array of them, the mask of each as another, and how many they are."""

    text: bytes
    masks: str
    length: int


def page_of(history: History, selection: Selection, start: int, stop: int) -> Page:
    """Return considered events `start` to `stop` as a page."""
    masks = json.dumps(selection.masks[start:stop].tolist())
    return Page(history.page(selection.seqs[start:stop]), masks, stop - start)


class FoldSession:
    """A recall function's sandbox for pages of events.

    Parameters
    ----------
    definition : RecallDefinition
        What folds.
    initial : str, optional
        The view to start from, as JSON text; the definition's initial view when left out.
    folded : int
        How many events that view has folded.
    seconds : float
        The time one fold may take.
    way : str, optional
        How the view is checked after a fold; as :func:`way_of` says when left out.
    again : bool
        Whether it folds only what was folded before: those views passed their schema, and are not checked again.
    """

    def __init__(
        self,
        definition: RecallDefinition,
        *,
        initial: str | None = None,
        folded: int = 0,
        seconds: float = FOLD_SECONDS,
        way: Way | None = None,
        again: bool = False,
    ) -> None:
        self._definition = definition
        self._seconds = seconds
        self.way = way or way_of(definition)
        self._again = again
        self._page = Page(b"[]", "[]", 0)
        self._unread = False  # whether the page is not in the sandbox yet
        self.sandbox = Sandbox(memory_bytes=FOLD_MEMORY_BYTES, frozen=True)
        self.refused = self.sandbox.load_module(definition.module)
        if self.refused is None:
            self.refused = self.sandbox.load_conditions(conditions(definition))
        if self.refused is None:
            self.restore(definition.initial if initial is None else initial, folded)

    @property
    def alive(self) -> bool:
        return self.sandbox.alive

    def restore(self, view: str, folded: int) -> None:
        """Put a view in place of the present one, as JSON text."""
        settings: dict[str, Any] = {
            "checkpoints": FOLD_CHECKPOINTS,
            "filterCheckpoints": FILTER_CHECKPOINTS,
            "milliseconds": self._seconds * 1_000,
            "viewBytes": VIEW_BYTES,
            "folded": folded,
            "way": self.way,
        }
        if self._definition.view_schema is not None and not self._again:
            settings["schema"] = self._definition.view_schema
            settings["schemaOptions"] = Schema(self._definition.view_schema, "/view/schema").page_options()
        self.sandbox.must("setup", json.dumps(settings), view)

    def load(self, page: Page) -> None:
        """Load a page; it goes into the sandbox as its folding begins."""
        self._page = page
        self._unread = True

    def send(
        self, *, seconds: float = SLICE_SECONDS, most: int = NO_LIMIT, every: int = 0, spacing: float = 0.0
    ) -> None:
        """Begin folding on from where the page stands; take the reply with :meth:`receive`.

        Parameters
        ----------
        seconds, most
            How long, and how many folds, it goes on.
        every : int
            Keep a keyframe after so many folds; 0: as `spacing` says.
        spacing : float
            Keep a keyframe once the folds since the last took so many milliseconds, more where the view is large;
            0: keep none.
        """
        price = KEYFRAME_MS_A_BYTE if spacing else 0.0
        texts = [str(setting).encode() for setting in (seconds * 1_000, most, every, spacing, price)]
        if self._unread:
            texts += [self._page.text, self._page.masks.encode()]
        self.sandbox.send("run", *texts, rows=self._page.length, seconds=self._seconds)

    def receive(self, done: int, timeout: float | None = None) -> Advance:
        """Wait for the reply; `done` events of the page were handled before."""
        reply = self.sandbox.receive(timeout)
        unread, self._unread = self._unread, False
        if unread and reply.cut == "memory" and reply.phase in ("idle", "load"):
            return Advance(NO_ROWS, done, 0, "unread", None, reply)
        rows = np.frombuffer(reply.ledger, "<f8").reshape(-1, LEDGER_COLUMNS)
        if reply.cut is None:
            told, *texts = reply.text.split("\n")
            told = json.loads(told)
            handled = told["next"] + (told["ended"] == "stalled")
            return _advance(rows[done:handled], told["ended"], told, reply, texts)
        if not reply.alive:
            if not len(rows):
                # it died without a word: nothing is known of what it did since it last answered
                return Advance(NO_ROWS, done, 0, reply.cut, None, reply)
            rows = rows[done : reply.index]
            return Advance(rows, reply.index, int((rows[:, OUTCOME] == FOLDED).sum()), reply.cut, None, reply)
        told = json.loads(self.sandbox.must("state"))
        return _advance(rows[done : told["next"]], reply.cut, told, reply)

    def advance(
        self, done: int = 0, *, seconds: float = SLICE_SECONDS, most: int = NO_LIMIT, every: int = 0
    ) -> Advance:
        """Fold on and wait."""
        self.send(seconds=seconds, most=most, every=every)
        return self.receive(done)

    def view(self) -> str:
        """Return the view as JSON text."""
        return self.sandbox.must("view")

    def close(self) -> None:
        self.sandbox.close()


def _advance(
    rows: NDArray[np.float64], ended: str, told: dict[str, Any], reply: Reply, texts: Sequence[str] = ()
) -> Advance:
    left, at, frames = iter(texts), 0, []
    for folds, size in zip(told["frames"], told["sizes"], strict=True):
        frames.append(
            (folds, next(left).encode("utf-8", "surrogatepass") if size < 0 else reply.written[at : at + size])
        )
        at += max(size, 0)
    return Advance(rows, told["next"], told["folded"], ended, told["stall"], reply, tuple(frames), told["copied"])


def crowded(advance: Advance, length: int) -> bool:
    """Whether the memory ran out where it may not have for the event alone: in a page of `length` events."""
    stall = advance.stall
    return length > 1 and (advance.ended in ("memory", "unread") or (stall is not None and stall["kind"] == "memory"))


def pages(sizes: NDArray[np.int64], start: int, records: int, most_bytes: int) -> int:
    """Return where the page that starts at `start` ends: so many records, or fewer when they are large."""
    stop, total = start, 0
    while stop < len(sizes) and stop - start < records:
        total += int(sizes[stop])
        if total > most_bytes and stop > start:
            break
        stop += 1
    return stop
