"""What each fold cost: a row an event, kept as columns, shown as a DataFrame."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from recallkit.bounds import STEPS_PER_CHECKPOINT

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from recallkit.events.history import History

WASM_PAGE_BYTES = 65_536
# The columns of the page loop's rows, and what the outcome says of an event.
BYTES, STEPS, MICROSECONDS, OUTCOME, MEMORY = range(5)
FOLDED, UNREADABLE = 1, 2


class Ledger:
    """The rows of the page loop for the events that were folded, in order."""

    def __init__(self) -> None:
        self._seqs = array("q")
        self._bytes = array("q")
        self._steps = array("q")
        self._microseconds = array("d")
        self._memory = array("q")

    def __len__(self) -> int:
        return len(self._seqs)

    def extend(self, seqs: NDArray[np.int64], rows: NDArray[np.float64]) -> None:
        """Add the rows of folded events: bytes, steps, microseconds, outcome, memory pages."""
        self._seqs.frombytes(seqs.astype(np.int64).tobytes())
        for column, place in (
            (self._bytes, BYTES),
            (self._steps, STEPS),
            (self._microseconds, MICROSECONDS),
            (self._memory, MEMORY),
        ):
            column.frombytes(rows[:, place].astype(column.typecode).tobytes())

    def cut(self, folded: int) -> None:
        """Forget the rows after so many folds."""
        for column in (self._seqs, self._bytes, self._steps, self._microseconds, self._memory):
            del column[folded:]

    def seqs(self, start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
        """Return the seqs of folds number `start` to `stop`."""
        return np.array(self._seqs[start:stop], dtype=np.int64)

    def seq(self, number: int) -> int:
        """Return the seq of fold number `number`, from 0."""
        return self._seqs[number]

    def bytes_after(self, folded: int) -> int:
        """Return the view's bytes after so many folds, from 1."""
        return self._bytes[folded - 1]

    def memory_after(self, folded: int) -> int:
        """Return the most bytes of memory that the sandbox had taken after so many folds, from 1."""
        return self._memory[folded - 1] * WASM_PAGE_BYTES

    def cost(self, number: int) -> tuple[int, float]:
        """Return the steps and microseconds of fold number `number`, from 0."""
        return self._steps[number], self._microseconds[number]

    def column(self, name: str) -> NDArray[Any]:
        """Return a column: seqs, bytes, steps, microseconds or memory."""
        values: array[Any] = getattr(self, f"_{name}")
        return np.array(values, dtype=np.float64 if values.typecode == "d" else np.int64)


def trace(ledger: Ledger, history: History, initial_bytes: int) -> pd.DataFrame:
    """Return what each fold did and cost.

    Returns
    -------
    DataFrame
        A row a folded event: seq, event_id, type, time (UTC), view_bytes, view_delta (bytes more than before),
        steps, checkpoints (10,000 steps each), fold_us (microseconds of the fold itself), memory_bytes (the most the
        sandbox had taken by then).
    """
    import pandas as pd

    seqs = ledger.column("seqs")
    events = history.events
    rows = np.searchsorted(history.seqs, seqs)
    view_bytes = ledger.column("bytes")
    steps = ledger.column("steps")
    before = np.concatenate([[initial_bytes], view_bytes[:-1]]) if len(view_bytes) else view_bytes
    return pd.DataFrame(
        {
            "seq": seqs,
            "event_id": events["id"].take(rows).array,
            "type": events["type"].take(rows).array,
            "time": events["time"].take(rows).array,
            "view_bytes": view_bytes,
            "view_delta": view_bytes - before,
            "steps": steps,
            "checkpoints": steps // STEPS_PER_CHECKPOINT,
            "fold_us": ledger.column("microseconds"),
            "memory_bytes": ledger.column("memory") * WASM_PAGE_BYTES,
        }
    )
