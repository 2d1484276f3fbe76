"""The rows of views: where each has read to, how it stands, and the one way in which it moves on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from recallkit.events.records import iso_ms
from recallkit.playbook.recording import head
from recallkit.playbook.store import Db
from recallkit.views.stalls import Stall

BUILDING, LIVE, STALLED = "building", "live", "stalled"
PAGE_ROWS_KEPT: Final = 2_000
_COLUMNS: Final = (
    "name, version, save_order, state, folded, steps, position, checkpoint_ms, last_event, stalled, failed_at, "
    "overtimes, crashes"
)


@dataclass(frozen=True)
class ViewRow:
    """A view's row, without the view itself.

    Attributes
    ----------
    save_order : int
        The position of the record that saved this version: places for building go by it.
    state : str
        'building', 'live' or 'stalled'; whether one that is built has a place or waits follows from the others.
    position : int
        The position of the last record read; 0 before the first.
    failed_at : int
        The position of the event whose fold last ran out of its time or crashed its worker; 0 when none did.
    """

    name: str
    version: int
    save_order: int
    state: str
    folded: int
    steps: int
    position: int
    checkpoint_ms: int | None
    last_event: str | None
    stalled: str | None
    failed_at: int
    overtimes: int
    crashes: int

    @property
    def stall(self) -> Stall | None:
        return None if self.stalled is None else Stall(**json.loads(self.stalled))


@dataclass(frozen=True)
class Moved:
    """Where a page brought a view.

    Attributes
    ----------
    view : str or None
        The view as JSON text; None when the page folded nothing into it.
    records, folds, microseconds
        Of this page.
    """

    position: int
    checkpoint_ms: int | None
    state: str
    view: str | None = None
    steps: int = 0
    last_event: dict[str, Any] | None = None
    stall: Stall | None = None
    failed_at: int = 0
    overtimes: int = 0
    crashes: int = 0
    records: int = 0
    folds: int = 0
    microseconds: float = 0.0


def start_view(db: Db, name: str, version: int, initial: str, save_order: int) -> None:
    """Begin a view from the start of the history, in place of an earlier version's."""
    db.run("DELETE FROM views WHERE name = ?", name)
    db.run(
        f"INSERT INTO views ({_COLUMNS}, view) VALUES (?, ?, ?, ?, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, ?)",
        name,
        version,
        save_order,
        BUILDING,
        initial.encode("utf-8", "surrogatepass"),
    )


def view_rows(db: Db) -> list[ViewRow]:
    """Return every view, in the order saved."""
    return [ViewRow(*row) for row in db.all(f"SELECT {_COLUMNS} FROM views ORDER BY save_order")]


def view_row(db: Db, name: str) -> ViewRow | None:
    """Return one view."""
    row = db.one(f"SELECT {_COLUMNS} FROM views WHERE name = ?", name)
    return None if row is None else ViewRow(*row)


def view_text(db: Db, view: ViewRow) -> str | None:
    """Return the view itself, as JSON text; None when it has moved on since its row was read."""
    row = db.one(
        "SELECT view FROM views WHERE name = ? AND version = ? AND position = ?", view.name, view.version, view.position
    )
    return None if row is None else bytes(row[0]).decode("utf-8", "surrogatepass")


def with_places(views: Sequence[ViewRow], places: int) -> set[str]:
    """Return the names of the views that are built now: the first saved of those that are not built yet."""
    return set([view.name for view in views if view.state == BUILDING][:places])


def move_on(db: Db, view: ViewRow, to: Moved, at_ms: int) -> bool:
    """Write a view and where it has read to, in one statement; False when someone else moved it on meanwhile.

    The row moves on only from exactly where it was read: however many followers there are, a page is folded into a
    view once.
    """
    values: list[Any] = [to.state, to.position, to.checkpoint_ms, view.folded + to.folds, view.steps + to.steps]
    values += [None if to.last_event is None else json.dumps(to.last_event)]
    values += [None if to.stall is None else _stall_text(to.stall), to.failed_at, to.overtimes, to.crashes]
    changed = ""
    if to.view is not None:
        changed = ", view = ?"
        values.append(to.view.encode("utf-8", "surrogatepass"))
    sql = (
        "UPDATE views SET state = ?, position = ?, checkpoint_ms = ?, folded = ?, steps = ?, "
        "last_event = COALESCE(?, last_event), stalled = ?, failed_at = ?, overtimes = ?, crashes = ?"
        f"{changed} WHERE name = ? AND version = ? AND save_order = ? AND position = ? AND state = ? "
        "AND failed_at = ? AND overtimes = ? AND crashes = ?"
    )
    was = (view.name, view.version, view.save_order, view.position, view.state)
    if not db.run(sql, *values, *was, view.failed_at, view.overtimes, view.crashes):
        return False
    _note_page(db, view, to, at_ms)
    return True


def _note_page(db: Db, view: ViewRow, to: Moved, at_ms: int) -> None:
    newest, newest_ms = newest_record(db)
    lag = 0 if newest_ms is None or to.checkpoint_ms is None else max(0, newest_ms - to.checkpoint_ms)
    number = int(db.must("SELECT COALESCE(MAX(number), 0) FROM pages WHERE name = ?", view.name)[0]) + 1
    row = (number, view.name, view.version, at_ms, to.position, to.records, to.folds, round(to.microseconds))
    db.run("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row, newest - to.position, lag)
    db.run("DELETE FROM pages WHERE name = ? AND number <= ?", view.name, number - PAGE_ROWS_KEPT)


def _stall_text(stall: Stall) -> str:
    names = ("kind", "event", "error", "line", "seq", "folded", "steps", "details")
    return json.dumps({name: getattr(stall, name) for name in names})


def newest_record(db: Db) -> tuple[int, int | None]:
    """Return the position of the newest record and when it was recorded; 0 and None before the first."""
    row = db.one("SELECT position, at_ms FROM records ORDER BY position DESC LIMIT 1")
    return (0, None) if row is None else (int(row[0]), int(row[1]))


def read_of(view: ViewRow) -> dict[str, Any]:
    """Return what a run's record says it read."""
    return {
        "version": view.version,
        "checkpoint": f"seq:{view.position - 1}" if view.position else None,
        "checkpoint_at": iso_ms(view.checkpoint_ms),
        "last_event": None if view.last_event is None else json.loads(view.last_event),
        "folded": view.folded,
    }


def standing_of(view: ViewRow, views: Sequence[ViewRow], newest_ms: int | None, places: int) -> dict[str, Any]:
    """Return the standing of a view: the fields of the format's table."""
    state = view.state
    if state == BUILDING:
        state = "rebuilding" if view.name in with_places(views, places) else "waiting"
    lag = None
    if view.checkpoint_ms is not None and newest_ms is not None:
        lag = max(0, newest_ms - view.checkpoint_ms)
    stall = view.stall
    stalled = None
    if stall is not None:
        stalled = {"event": stall.event, "kind": stall.kind, "error": stall.error, "line": stall.line}
    return {
        "state": state,
        **read_of(view),
        "lag_ms": lag,
        "newest_record_at": iso_ms(newest_ms),
        "stalled": stalled,
    }


def not_ready(db: Db, view: ViewRow, places: int) -> str:
    """Say why a run of a view that is not built yet is refused: not begun, waiting, or how far it has come."""
    views = view_rows(db)
    built = with_places(views, places)
    if view.name not in built:
        ahead = sum(other.state == BUILDING and other.save_order < view.save_order for other in views)
        words = f"The view waits to be built, behind {ahead} {'other' if ahead == 1 else 'others'}"
    elif view.position == 0:
        words = "The view is not begun yet"
    else:
        _, newest_ms = newest_record(db)
        behind = max(0, (newest_ms or 0) - (view.checkpoint_ms or 0))
        count = f"{view.folded:,} event{'' if view.folded == 1 else 's'}"
        left = head(db) - view.position
        words = f"The view is being built: it has folded {count} and is {length(behind)} behind"
        words += f", {left:,} record{'' if left == 1 else 's'} to read"
    return f"{words}; try again later"


def length(milliseconds: int) -> str:
    """Say a length of time in its largest whole unit."""
    for name, size in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000)):
        if milliseconds >= size:
            count = milliseconds // size
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    return "less than a second"
