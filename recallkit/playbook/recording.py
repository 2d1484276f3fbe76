"""Records: what a playbook keeps of its history, appended in one order, and told page by page."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from recallkit.events.records import iso_ms
from recallkit.playbook.listing import Listing, Record, check_limit, from_cursor, listed
from recallkit.playbook.store import Db

PUBLISHED, IMPORTED, OWN = "published", "imported", "own"
_COLUMNS: Final = (
    "position, id, type, stream, stream_position, at_ms, caller, origin, identity, event_id, run_id, definition, "
    "version, causation, correlation, size, event, data, filled"
)
_INSERT: Final = f"INSERT INTO records ({_COLUMNS}) VALUES ({', '.join('?' * 19)})"
_TOLD: Final = (
    "position, id, type, stream, stream_position, at_ms, caller, origin, event_id, run_id, definition, version, "
    "causation, correlation, event, data"
)


@dataclass(frozen=True)
class NewRecord:
    """A record to append.

    Attributes
    ----------
    event : bytes
        The CloudEvent that a fold sees, as JSON.
    event_id, source : str
        Of that event; together its identity.
    data : dict, optional
        What the record holds beyond the event: a run's input.
    filled : tuple of str
        Which of the event's attributes the publisher left to the playbook.
    """

    id: str
    type: str
    stream: str
    at_ms: int
    event: bytes
    event_id: str
    source: str
    origin: str
    caller: str | None = None
    run_id: str | None = None
    definition: str | None = None
    version: int | None = None
    causation: str | None = None
    correlation: str | None = None
    data: dict[str, Any] | None = None
    filled: tuple[str, ...] = ()


def identity(source: str, id: str) -> bytes:
    """Return the digest of an event's identity."""
    return hashlib.sha256(f"{len(source)}:{source}{id}".encode("utf-8", "surrogatepass")).digest()


def clean(text: str) -> str:
    """Return a text for a column that is looked up and shown, without what a TEXT of PostgreSQL refuses."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def head(db: Db) -> int:
    """Return the position of the newest record; 0 before the first."""
    return int(db.must("SELECT COALESCE(MAX(position), 0) FROM records")[0])


def append(db: Db, records: Sequence[NewRecord]) -> int:
    """Append records, in the writer's transaction; return the position of the last."""
    position = head(db)
    streams: dict[str, int] = {}
    rows: list[tuple[Any, ...]] = []
    for each in records:
        position += 1
        stream = clean(each.stream)
        if stream not in streams:
            last = db.must("SELECT COALESCE(MAX(stream_position), 0) FROM records WHERE stream = ?", stream)
            streams[stream] = int(last[0])
        streams[stream] += 1
        row = (
            position,
            each.id,
            clean(each.type),
            stream,
            streams[stream],
            each.at_ms,
            each.caller,
            each.origin,
            identity(each.source, each.event_id),
            clean(each.event_id),
            each.run_id,
            each.definition,
            each.version,
            each.causation,
            each.correlation,
            len(each.event),
            each.event.decode("utf-8"),
            None if each.data is None else json.dumps(each.data),
            ",".join(each.filled),
        )
        rows.append(row)
    if len(rows) == 1:
        db.run(_INSERT, *rows[0])
    elif rows:
        db.many(_INSERT, rows)
    return position


def list_records(db: Db, *, type: str | None, newest_first: bool, limit: Any, cursor: Any) -> Listing:
    """List the history's records by the order recorded."""
    most = check_limit(limit)
    prefix = "n" if newest_first else "o"
    after = from_cursor(prefix, cursor)
    where: list[str] = []
    values: list[Any] = []
    if type is not None:
        where.append("type = ?")
        values.append(clean(type))
    if after is not None:
        where.append("position < ?" if newest_first else "position > ?")
        values.append(after)
    filtered = f"WHERE {' AND '.join(where)}" if where else ""
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT {_TOLD} FROM records {filtered} ORDER BY position {order} LIMIT ?"
    rows = db.all(sql, *values, most + 1)
    return listed([(int(row[0]), told(row)) for row in rows], most, prefix)


def events_after(db: Db, position: int, prefix: str) -> list[tuple[int, str]]:
    """Return the events after a position whose type begins with a prefix: each one's position and its text."""
    # substr, so that both stores go by position, which is short when little is new
    sql = "SELECT position, event FROM records WHERE position > ? AND substr(type, 1, ?) = ? ORDER BY position"
    return [(int(row[0]), str(row[1])) for row in db.all(sql, position, len(prefix), prefix)]


def find_record(db: Db, id: str) -> Record | None:
    """Find a record by its id, or by the id of the event that it holds (the first recorded of those)."""
    row = db.one(f"SELECT {_TOLD} FROM records WHERE id = ?", clean(id))
    row = row or db.one(f"SELECT {_TOLD} FROM records WHERE event_id = ? ORDER BY position LIMIT 1", clean(id))
    return None if row is None else told(row)


def told(row: tuple[Any, ...]) -> Record:
    """Return a record as the history tells it: id, type, summary, data, metadata."""
    position, id, type, stream, place, at_ms, caller, origin, event_id, run_id, definition, version = row[:12]
    causation, correlation, event, data = row[12:]
    if origin == OWN:
        held = json.loads(data) if data is not None else json.loads(event).get("data")
    else:
        held = json.loads(event)
    metadata: dict[str, Any] = {
        "stream": stream,
        "position": place,
        "global_position": position,
        "correlation_id": correlation,
        "causation_id": causation,
        "at": iso_ms(at_ms),
        "by": caller,
    }
    if run_id is not None:
        metadata["run_id"] = run_id
    if definition is not None:
        kind, _, name = definition.partition("/")
        metadata["definition"] = {"type": kind, "name": name, "version": version}
    summary = _summary(type, origin, definition, event_id, held)
    return Record(id=id, type=type, summary=summary, data=held, metadata=metadata)


def _summary(type: str, origin: str, definition: str | None, event_id: str, held: Any) -> str:
    if origin != OWN:
        verb = "published" if origin == PUBLISHED else "imported"
        return f"The event {event_id} of the type {type} was {verb}"
    what = f"{definition}"
    if type == "run_rejected":
        kind = f", {held['kind']}" if held.get("kind") else ""
        return f"A run of {what} was rejected: {held['reason']}{kind}"
    words = {
        "run_started": f"A run of {what} started",
        "run_succeeded": f"A run of {what} succeeded",
        "run_failed": f"A run of {what} failed",
        "definition_created": f"{what} was saved",
        "definition_updated": f"A new version of {what} was saved",
        "definition_retired": f"{what} was retired",
    }
    return words[type]
