"""How a view stands: the fields of the format's table *The standing of a view*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recallkit.events.history import History
    from recallkit.views.fold import Fold
    from recallkit.views.stalls import Stall


def standing(fold: Fold, *, version: int = 1) -> dict[str, Any]:
    """Return the standing of a view folded over a history in a file.

    Returns
    -------
    dict
        state, version, checkpoint, checkpoint_at, last_event, folded, lag_ms, newest_record_at, and stalled (None
        unless the view stalled).
    """
    history = fold.history
    read = fold.done if fold.done < len(fold.selection) else None
    last_read = len(history) - 1 if read is None else _row(history, fold, read) - 1
    at = _last_time(history, last_read)
    newest = _last_time(history, len(history) - 1)
    lag = None if at is None or newest is None else max(0, int((newest - at).total_seconds() * 1_000))
    return {
        "state": fold.state,
        "version": version,
        "checkpoint": None if last_read < 0 else f"seq:{int(history.seqs[last_read])}",
        "checkpoint_at": iso(at),
        "last_event": last_event(fold),
        "folded": fold.folded,
        "lag_ms": lag,
        "newest_record_at": iso(newest),
        "stalled": None if fold.stall is None else stalled(fold.stall),
    }


def last_event(fold: Fold) -> dict[str, Any] | None:
    """Return the id and time of the last event the view folded, None before the first."""
    if not fold.folded:
        return None
    event = fold.history.event(fold.ledger.seq(fold.folded - 1))
    return {"id": event["id"], "time": event.get("time")}


def stalled(stall: Stall) -> dict[str, Any]:
    """Return what the standing of a stalled view says."""
    return {"event": stall.event, "kind": stall.kind, "error": stall.error, "line": stall.line}


def iso(time: Any) -> str | None:
    """Return a timestamp as the formats write it: ISO in UTC, with milliseconds."""
    if time is None:
        return None
    text: str = time.strftime("%Y-%m-%dT%H:%M:%S.")
    return f"{text}{time.microsecond // 1_000:03d}Z"


def _row(history: History, fold: Fold, place: int) -> int:
    return int(history.seqs.searchsorted(fold.selection.seqs[place]))


def _last_time(history: History, row: int) -> Any:
    if row < 0:
        return None
    times = history.events["time"].iloc[: row + 1].dropna()
    return None if times.empty else times.iloc[-1]
