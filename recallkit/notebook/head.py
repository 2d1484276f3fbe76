"""What a scrubber is told once: how far the history goes, its strip at the width of a screen, its bounds, its stall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recallkit.bounds import FOLD_CHECKPOINTS, FOLD_MEMORY_BYTES, FOLD_SECONDS, STEPS_PER_CHECKPOINT, VIEW_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recallkit.folding import Folding
    from recallkit.views.stalls import Stall

STRIP_BINS: Final = 800
_LINES_AROUND: Final = 2


def head(folding: Folding, first: int = 0, last: int | None = None) -> dict[str, Any]:
    """Describe a folding for the scrubber, at a size that does not grow with the history.

    Parameters
    ----------
    folding : Folding
    first, last : int
        The part that a saved page shows, in folded events; all of it when left out.
    """
    fold = folding._fold
    folded = fold.folded
    # One place more than there are views: where the stall is shown.
    end = folded + (folding.stall is not None)
    last = end if last is None else last
    stall = folding.stall if last > folded else None
    initial = len(folding.function.definition.initial.encode("utf-8", "surrogatepass"))
    sizes = np.concatenate([[initial], fold.ledger.column("bytes")])[first : last + 1]
    steps = np.concatenate([[0], fold.ledger.column("steps")])[first : last + 1]
    if stall is not None:
        sizes, steps = np.append(sizes, sizes[-1]), np.append(steps, stall.steps)
    name = folding.function.name or "recall function"
    return {
        "title": name,
        "words": _words(folding),
        "state": folding.state,
        "first": first,
        "last": last,
        "folded": folded,
        "events": len(folding.history),
        "bounds": {
            "bytes": VIEW_BYTES,
            "checkpoints": FOLD_CHECKPOINTS,
            "steps": STEPS_PER_CHECKPOINT,
            "seconds": FOLD_SECONDS,
            "memory": FOLD_MEMORY_BYTES,
        },
        "strip": strip(sizes, steps, first),
        "stall": None if stall is None else told_stall(folding.function.source, stall),
    }


def _words(folding: Folding) -> str:
    stall = folding.stall
    if stall is None:
        return folding.words
    total = len(folding.history)
    return f"stalled: {folding.folded:,} of {total:,} events folded, then event {stall.seq:,} of the history stopped it"


def strip(sizes: NDArray[Any], steps: NDArray[Any], first: int) -> dict[str, Any]:
    """Aggregate the views' bytes and the folds' steps to at most ``STRIP_BINS`` bins.

    Returns
    -------
    dict
        starts (the first number of each bin), low, high (the views' bytes), steps (the most of one fold), and the
        peaks with the number they are at.
    """
    count = len(sizes)
    bins = min(count, STRIP_BINS)
    starts = np.arange(bins) * count // bins
    return {
        "starts": (starts + first).tolist(),
        "low": np.minimum.reduceat(sizes, starts).tolist(),
        "high": np.maximum.reduceat(sizes, starts).tolist(),
        "steps": np.maximum.reduceat(steps, starts).tolist(),
        "peak": {"bytes": int(sizes.max()), "at": int(sizes.argmax()) + first},
        "most": {"steps": int(steps.max()), "at": int(steps.argmax()) + first},
    }


def told_stall(source: str, stall: Stall) -> dict[str, Any]:
    """Say what a stall was, with the lines of the document around it."""
    return {
        "kind": stall.kind,
        "error": stall.error,
        "line": stall.line,
        "lines": lines_around(source, stall.line, _LINES_AROUND),
        "largest": stall.details.get("largest", [])[:5],
        "pointer": stall.details.get("pointer"),
    }


def lines_around(source: str, line: int | None, around: int) -> list[dict[str, Any]]:
    """Return the lines of a document around one of them; none where there is no such line."""
    lines = source.split("\n")
    if line is None or not 1 <= line <= len(lines):
        return []
    begin, end = max(1, line - around), min(len(lines), line + around)
    return [{"line": number, "text": lines[number - 1][:400]} for number in range(begin, end + 1)]
