"""A recall function loaded into a sandbox: pages of events go in, the ledger of their folds comes out.

The scrubber, the command line, the reports, the playbook and the tests all fold through this one room.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from recallkit.bounds import (
    FILTER_CHECKPOINTS,
    FOLD_CHECKPOINTS,
    FOLD_MEMORY_BYTES,
    FOLD_SECONDS,
    VIEW_BYTES,
)
from recallkit.definitions.schemas import Schema
from recallkit.sandbox import Reply, Sandbox
from recallkit.views.selection import conditions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recallkit.definitions.recall import RecallDefinition
    from recallkit.events.history import History
    from recallkit.views.selection import Selection

# How long the sandbox folds before it answers: a person who stops a fold waits no longer than this.
SLICE_SECONDS = 0.25
NO_LIMIT = 1 << 52
# Writing a keyframe out takes about 20 ns a byte; at 17 times that between two of them, they cost a sixteenth of the
# folds, however large the view.
KEYFRAME_MS_A_BYTE = 0.00035

# How a view is checked after each fold (page_keep.js). All give the same; 'fast' and 'memo' are for modules that
# write to nothing they did not make.
Way = Literal["fast", "memo", "owned", "plain", "written"]


def way_of(definition: RecallDefinition) -> Way:
    """Return how a document's views are checked: 'owned' where its module may write to what it did not make."""
    return "owned" if definition.writes else "fast"


# The ways that remember each part of the view, in the sandbox's memory beside it: a view of very many tiny parts may
# fit without that and not with it, so a fold that runs out of memory in one of them is done again in the plain way.
REMEMBERING: Final[tuple[Way, ...]] = ("fast", "memo")


@dataclass(frozen=True, slots=True)
class Advance:
    """What a stretch of folding gave.

    Attributes
    ----------
    rows : tuple
        The ledger's row for each event handled: bytes, steps, microseconds, outcome, memory pages.
    next : int
        How many of the page's events are done with.
    folded : int
        How many events the view has folded in all.
    ended : str
        'page', 'until', 'stopped', 'stalled', or the cut 'work', 'memory', 'time', 'died'.
    stall : dict or None
        What the page loop knows of a stall.
    reply : Reply
        As the sandbox gave it.
    frames : int
        How many keyframes wait to be taken with :meth:`FoldSession.frames`.
    copied : int
        How many of the views were written out and read back.
    """

    rows: tuple[tuple[float, ...], ...]
    next: int
    folded: int
    ended: str
    stall: dict[str, Any] | None
    reply: Reply
    frames: int = 0
    copied: int = 0


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
        self._page_length = 0
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

    def load(self, history: History, selection: Selection, start: int, stop: int) -> None:
        """Load considered events `start` to `stop` as the page."""
        masks = json.dumps(selection.masks[start:stop].tolist())
        self.load_texts(history.page(selection.seqs[start:stop]), masks, stop - start)

    def load_texts(self, page: bytes, masks: str, length: int) -> None:
        """Load a page given as a JSON array of events."""
        self._page_length = length
        self.page_refused = self.sandbox.ask("load", page, masks).cut

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
        texts = (str(seconds * 1_000), str(most), str(every), str(spacing), str(price))
        self.sandbox.send("run", *(t.encode() for t in texts), rows=self._page_length, seconds=self._seconds)

    def receive(self, done: int, timeout: float | None = None) -> Advance:
        """Wait for the reply; `done` events of the page were handled before."""
        reply = self.sandbox.receive(timeout)
        if reply.cut is None:
            told = json.loads(reply.text)
            handled = told["next"] + (told["ended"] == "stalled")
            return _advance(reply.rows[done:handled], told["ended"], told, reply)
        if not reply.alive:
            if not reply.rows:
                # it died without a word: nothing is known of what it did since it last answered
                return Advance((), done, 0, reply.cut, None, reply)
            rows = reply.rows[done : reply.index]
            folded = sum(row[3] == 1 for row in rows)
            return Advance(rows, reply.index, folded, reply.cut, None, reply)
        told = json.loads(self.sandbox.must("state"))
        return _advance(reply.rows[done : told["next"]], reply.cut, told, reply)

    def advance(
        self, done: int = 0, *, seconds: float = SLICE_SECONDS, most: int = NO_LIMIT, every: int = 0
    ) -> Advance:
        """Fold on and wait."""
        self.send(seconds=seconds, most=most, every=every)
        return self.receive(done)

    def frames(self) -> list[tuple[int, str]]:
        """Return the keyframes of the last advance: after how many folds, and the view as JSON text."""
        at, _, texts = self.sandbox.must("frames").partition("\n")
        return list(zip(json.loads(at), texts.split("\n"), strict=True)) if at else []

    def view(self) -> str:
        """Return the view as JSON text."""
        return self.sandbox.must("view")

    def close(self) -> None:
        self.sandbox.close()


def _advance(rows: tuple[tuple[float, ...], ...], ended: str, told: dict[str, Any], reply: Reply) -> Advance:
    return Advance(rows, told["next"], told["folded"], ended, told["stall"], reply, told["frames"], told["copied"])


def pages(sizes: NDArray[np.int64], start: int, records: int, most_bytes: int) -> int:
    """Return where the page that starts at `start` ends: so many records, or fewer when they are large."""
    stop, total = start, 0
    while stop < len(sizes) and stop - start < records:
        total += int(sizes[stop])
        if total > most_bytes and stop > start:
            break
        stop += 1
    return stop
