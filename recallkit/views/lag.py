"""How far a view would have been behind: a history's arrivals replayed on a virtual clock with measured fold times.

The rules are the playbook's (recall, How the view is kept; Bounds): pages of up to 1,000 records, a page's folding at
most 2 seconds from its first fold, checked before each fold; ten pages a pass; a pass woken by every event recorded
here, or at latest each second. Nothing is folded here, and nothing waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recallkit.bounds import PAGE_MS, PAGE_RECORDS, PAGE_SECONDS, PAGES_PER_PASS, PASS_SECONDS
from recallkit.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Page:
    """A page of the replay, in virtual milliseconds since the first arrival.

    Attributes
    ----------
    began, ended : float
        When it was read, and when the view was written.
    records, folds : int
        Of this page.
    fold_ms : float
        The time of its folds.
    worst_ms, lag_ms : float
        How far the view was behind just before it was written, and just after.
    behind : int
        How many records that had arrived were not read after it.
    """

    began: float
    ended: float
    records: int
    folds: int
    fold_ms: float
    worst_ms: float
    lag_ms: float
    behind: int


def replay_lag(
    arrivals: NDArray[np.float64],
    fold_ms: NDArray[np.float64],
    *,
    page_ms: float = PAGE_MS,
    woken: bool = True,
    page_records: int = PAGE_RECORDS,
    page_seconds: float = PAGE_SECONDS,
) -> list[Page]:
    """Replay arrivals through the follower's rules.

    Parameters
    ----------
    arrivals : ndarray of float64
        When each record arrives, in milliseconds, never falling.
    fold_ms : ndarray of float64
        What its fold takes; NaN where the function does not fold it.
    page_ms : float
        What a page takes beside its folds.
    woken : bool
        Whether events are recorded by the process that follows; else each is met at the next second's pass.

    Returns
    -------
    list of Page
    """
    pages: list[Page] = []
    folded = ~np.isnan(fold_ms)
    cost = np.where(folded, fold_ms, 0.0)
    spent = np.concatenate([[0.0], np.cumsum(cost)])
    counts = np.concatenate([[0], np.cumsum(folded)])
    now, cursor, in_pass = 0.0, 0, 0
    while cursor < len(arrivals):
        if arrivals[cursor] > now:
            # nothing to read: the next pass begins with the next event, or with the next second
            now = float(arrivals[cursor])
            if not woken:
                # the quotient of a time next to nothing is 0, and a pass is never before the event
                now = max(now, float(np.ceil(now / (PASS_SECONDS * 1_000)) * PASS_SECONDS * 1_000))
            in_pass = 0
        elif in_pass == PAGES_PER_PASS:
            in_pass = 0  # the playbook goes on at the next pass, at once when no other playbook waits
        in_pass += 1
        arrived = int(np.searchsorted(arrivals, now, side="right"))
        stop = min(arrived, cursor + page_records)
        # the first event whose fold would begin once the page's time is over
        over = int(np.searchsorted(spent, spent[cursor] + page_seconds * 1_000, side="left"))
        stop = min(stop, max(over, cursor + 1))
        began = now
        took = float(spent[stop] - spent[cursor])
        now += page_ms + took
        known = int(np.searchsorted(arrivals, now, side="right"))
        newest = float(arrivals[known - 1])
        before = float(arrivals[cursor - 1]) if cursor else float(arrivals[0])
        worst = newest - before if known > cursor else 0.0
        folds = int(counts[stop] - counts[cursor])
        lag = max(0.0, newest - float(arrivals[stop - 1]))
        pages.append(Page(began, now, stop - cursor, folds, took, max(worst, lag), lag, known - stop))
        cursor = stop
    return pages


class Replay:
    """What a view's lag would have been over a history's arrivals.

    Attributes
    ----------
    speed : float
        How many times faster than recorded the events arrived.
    frame : DataFrame
        A row a page that was written: at (UTC, on the virtual clock), records, folds, fold_ms, behind (records that
        had arrived and were not read), lag_ms (after the page) and worst_ms (just before it).
    """

    def __init__(
        self, name: str, speed: float, start_ms: float, last_ms: float, pages: list[Page], events: int
    ) -> None:
        self.name = name
        self.speed = speed
        self.events = events
        self._start = start_ms
        self._last = last_ms
        self._pages = pages

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        ended = np.array([page.ended for page in self._pages], dtype=np.float64)
        at = pd.to_datetime((self._start + ended).astype("int64"), unit="ms", utc=True)
        columns: dict[str, Any] = {"at": at}
        for name in ("records", "folds", "fold_ms", "behind", "lag_ms", "worst_ms"):
            columns[name] = [getattr(page, name) for page in self._pages]
        return pd.DataFrame(columns)

    @property
    def lag_ms(self) -> float:
        """The most that the view was behind, in milliseconds."""
        return max((page.worst_ms for page in self._pages), default=0.0)

    @property
    def busy(self) -> float:
        """The part of the time from the first arrival to the last page that went into pages; 1 is all of it."""
        if not self._pages or not self._pages[-1].ended:
            return 0.0
        return sum(page.ended - page.began for page in self._pages) / self._pages[-1].ended

    @property
    def keeps_up(self) -> bool:
        """Whether the view had read the last event within a pass and a page of its arrival."""
        if not self._pages:
            return True
        return self._pages[-1].ended - self._last <= (PASS_SECONDS + PAGE_SECONDS) * 1_000

    def chart(self) -> Any:
        """Draw how far the view was behind over time."""
        from recallkit.notebook.lag_chart import lag_chart

        frame = self.frame.assign(name=self.name)
        return lag_chart(frame, f"Lag of {self.name} at {self.speed:g} times the traffic", high="worst_ms")

    @property
    def words(self) -> str:
        """What came out, in a sentence."""
        verdict = "keeps up" if self.keeps_up else "does not keep up"
        most = self.lag_ms
        lag = f"{most:,.0f} ms" if most < 10_000 else f"{most / 1_000:,.0f} seconds"
        return f"at {self.speed:g} times the traffic {self.name} {verdict}: {lag} behind at most, busy {self.busy:.1%}"

    def __repr__(self) -> str:
        return f"<Replay of {self.events:,} events at {self.speed:g} times the traffic>"


def replay_folding(folding: Any, *, speed: float = 1.0, woken: bool = True, page_ms: float = PAGE_MS) -> Replay:
    """Replay the arrivals of a folded history, with the times that its folds took.

    Raises
    ------
    InvalidInput
        `speed` is no number above 0, or `page_ms` none from 0.
    """
    given: Any = speed
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < float("inf"):
        raise InvalidInput("speed takes a number above 0, such as 10 for ten times the traffic.")
    given = page_ms
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
        raise InvalidInput("page_ms takes a number of milliseconds from 0.")
    history = folding.history
    clocks = history.clocks()
    # recorded order decides: an event whose own time is earlier still arrives after the one before it
    known = np.maximum.accumulate(clocks) if len(clocks) else clocks
    start = float(known[0]) if len(known) else 0.0
    if start == 0.0 and len(known) and (known > 0).any():
        start = float(known[known > 0][0])
    arrivals = np.maximum(known - start, 0.0) / speed
    fold_ms = np.full(len(arrivals), np.nan)
    trace = folding.trace
    fold_ms[np.searchsorted(history.seqs, trace.seq.to_numpy())] = trace.fold_us.to_numpy() / 1_000
    if folding.stall is not None:
        # nothing is read past the event that a view stalled at
        end = int(np.searchsorted(history.seqs, folding.stall.seq))
        arrivals, fold_ms = arrivals[:end], fold_ms[:end]
    pages = replay_lag(arrivals, fold_ms, page_ms=page_ms, woken=woken)
    last = float(arrivals[-1]) if len(arrivals) else 0.0
    name = folding.function.name or "the view"
    return Replay(name, speed, start, last, pages, len(arrivals))
