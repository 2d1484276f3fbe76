"""What was passed over or looks wrong in a history: collected, counted, and kept to a bounded table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recallkit.bounds import PROBLEM_ROWS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Fault:
    """Why one event was passed over: a short kind, and a sentence that says what is wrong and what to do."""

    kind: str
    words: str
    id: str | None = None


class Row(NamedTuple):
    """One row of ``History.problems``; seq is None where the event was passed over."""

    seq: int | None
    line: int | None
    id: str | None
    kind: str
    words: str


class Problems:
    """Rows in the order they were found, at most ``PROBLEM_ROWS`` of them; past that each kind is only counted."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.counts: Counter[str] = Counter()

    def add(self, seq: int | None, line: int | None, id: str | None, kind: str, words: str) -> None:
        """Count one problem, and keep its row while there is room."""
        self.counts[kind] += 1
        if len(self.rows) < PROBLEM_ROWS:
            self.rows.append(Row(seq, line, id, kind, words))

    def count(self, kind: str, more: int) -> None:
        """Count problems whose rows nobody will read, once the table is full."""
        self.counts[kind] += more

    def extend(self, others: Problems, seq: int, line: int) -> None:
        """Add the problems of the next part, whose seqs and lines count from its own beginning."""
        self.counts.update(others.counts)
        for row in others.rows[: PROBLEM_ROWS - len(self.rows)]:
            moved_seq = None if row.seq is None else row.seq + seq
            moved_line = None if row.line is None else row.line + line
            self.rows.append(Row(moved_seq, moved_line, row.id, row.kind, row.words))

    @property
    def full(self) -> bool:
        """Whether a new row would only be counted."""
        return len(self.rows) >= PROBLEM_ROWS

    def frame(self) -> pd.DataFrame:
        """Give the table, in the order of lines, with a summary row of each kind that had no room."""
        import pandas as pd

        rows = sorted(self.rows, key=lambda row: row.line if row.line is not None else -1)
        told = Counter(row.kind for row in rows)
        for kind, count in self.counts.items():
            if count > told[kind]:
                words = f"{count - told[kind]:,} more problems of the kind {kind}, {count:,} in all."
                rows.append(Row(None, None, None, kind, words))
        columns: list[Any] = [[row[place] for row in rows] for place in range(5)]
        return pd.DataFrame(
            {
                "seq": pd.array(columns[0], dtype="Int64"),
                "line": pd.array(columns[1], dtype="Int64"),
                "id": pd.Series(columns[2], dtype=object),
                "kind": pd.Series(columns[3], dtype=object),
                "words": pd.Series(columns[4], dtype=object),
            }
        )
