"""Definitions: saved in versions, retired, told."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from recallkit.definitions import loading
from recallkit.errors import Conflict, InvalidInput, NotFound
from recallkit.events.records import definition_event, iso_ms, new_id
from recallkit.playbook import views
from recallkit.playbook.compiled import pack, unpack
from recallkit.playbook.listing import (
    Listing,
    Record,
    check_caller,
    check_limit,
    check_name,
    check_type,
    from_cursor,
    listed,
)
from recallkit.playbook.recording import OWN, NewRecord, append
from recallkit.playbook.store import Db, Store

if TYPE_CHECKING:
    from recallkit.definitions.loading import Definition

MEDIA_TYPE: Final = "text/markdown"
CACHED: Final = 64
_COLUMNS: Final = "type, name, version, status, created_ms, created_by, updated_ms, retired_ms"


class Definitions:
    """A playbook's definitions, compiled once a version."""

    def __init__(self, store: Store, kit: str) -> None:
        self._store = store
        self._kit = kit
        self._cache: OrderedDict[tuple[str, str, int], Definition] = OrderedDict()

    def get(self, type: str, name: str, version: int) -> Definition:
        """Return a version's definition, compiled."""
        key = (type, name, version)
        found = self._cache.get(key)
        if found is None:
            with self._store.read() as db:
                source, compiled, kit = db.must(
                    "SELECT source, compiled, kit FROM definition_versions WHERE type = ? AND name = ? AND version = ?",
                    *key,
                )
            found = unpack(type, bytes(source), bytes(compiled), same_kit=kit == self._kit)
            self.keep(type, name, version, found)
        return found

    def keep(self, type: str, name: str, version: int, definition: Definition) -> None:
        """Remember a version's definition."""
        self._cache[type, name, version] = definition
        while len(self._cache) > CACHED:
            self._cache.popitem(last=False)

    def save_version(self, db: Db, type: str, name: str, version: int, definition: Definition) -> None:
        """Write a version."""
        source = definition.source.encode("utf-8", "surrogatepass")
        row = (type, name, version, source, pack(definition), self._kit)
        db.run("INSERT INTO definition_versions VALUES (?, ?, ?, ?, ?, ?)", *row)


def read_source(type: str, source: Any) -> Definition:
    """Check a document that is to be saved: a text, a path, or a loaded function.

    Raises
    ------
    Refused
        It cannot be saved; ``.problems`` say why.
    """
    text = getattr(source, "source", source)
    if not isinstance(text, str | bytes | os.PathLike):
        raise InvalidInput("source is the document's text, or the path of its file.", "/source")
    return loading.read(text, type)  # type: ignore[arg-type]


def create(
    definitions: Definitions, db: Db, definition: Definition, name: str, caller: str, now_ms: int, most: int
) -> None:
    """Save a new definition, in the writer's transaction."""
    type = definition.kind
    if _row(db, type, name) is not None:
        raise Conflict(f"There is a {type} function {name} already, or there was one: a name is never used again.")
    _check_room(db, type, most - 1, most)
    row = (type, name, 1, "active", now_ms, caller, now_ms, None)
    db.run(f"INSERT INTO definitions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
    definitions.save_version(db, type, name, 1, definition)
    position = _record(db, "definition_created", type, name, 1, caller, now_ms)
    if definition.kind == "recall":
        views.start_view(db, name, 1, definition.initial, position)


def update(
    definitions: Definitions, db: Db, definition: Definition, name: str, caller: str, now_ms: int, most: int
) -> int:
    """Save a new version, in the writer's transaction; the same text again records nothing.

    Returns
    -------
    int
        The latest version.
    """
    type = definition.kind
    version = active_version(db, type, name)
    latest = db.must(
        "SELECT source FROM definition_versions WHERE type = ? AND name = ? AND version = ?", type, name, version
    )
    if bytes(latest[0]) == definition.source.encode("utf-8", "surrogatepass"):
        return version
    _check_room(db, type, most, most)
    version += 1
    db.run(
        "UPDATE definitions SET version = ?, updated_ms = ? WHERE type = ? AND name = ?", version, now_ms, type, name
    )
    definitions.save_version(db, type, name, version, definition)
    position = _record(db, "definition_updated", type, name, version, caller, now_ms)
    if definition.kind == "recall":
        views.start_view(db, name, version, definition.initial, position)
    return version


def retire(db: Db, type: str, name: str, caller: str, now_ms: int) -> bool:
    """Retire a definition, in the writer's transaction; False when it was retired already."""
    row = _row(db, type, name)
    if row is None:
        raise NotFound(f"There is no {type} function {name}.")
    if row[3] == "retired":
        return False
    db.run(
        "UPDATE definitions SET status = 'retired', updated_ms = ?, retired_ms = ? WHERE type = ? AND name = ?",
        now_ms,
        now_ms,
        type,
        name,
    )
    if type == "recall":
        db.run("DELETE FROM views WHERE name = ?", name)
        db.run("DELETE FROM pages WHERE name = ?", name)
    _record(db, "definition_retired", type, name, None, caller, now_ms)
    return True


def active_version(db: Db, type: str, name: str) -> int:
    """Return the latest version of a definition that is active.

    Raises
    ------
    NotFound
        There is none, or it is retired.
    """
    row = _row(db, type, name)
    if row is None:
        raise NotFound(f"There is no {type} function {name}.")
    if row[3] != "active":
        raise NotFound(f"The {type} function {name} is retired.")
    return int(row[2])


def told(definitions: Definitions, db: Db, type: str, name: str, places: int) -> Record:
    """Return a definition as get_definition tells it."""
    row = _row(db, type, name)
    if row is None:
        raise NotFound(f"There is no {type} function {name}.")
    record = _told(row)
    found = db.must(
        "SELECT source, compiled, kit FROM definition_versions WHERE type = ? AND name = ? AND version = ?",
        type,
        name,
        record["version"],
    )
    from recallkit.definitions.overview import overview

    definition = unpack(type, bytes(found[0]), bytes(found[1]), same_kit=True)
    record["source"] = definition.source
    for field in ("description", "input_schema", "output_schema"):
        if getattr(definition, field) is not None:
            record[field] = getattr(definition, field)
    if definition.warnings:
        record["warnings"] = [
            {"detail": each.words, "pointer": each.pointer, "line": each.line} for each in definition.warnings
        ]
    record["overview"] = overview(definition)
    view = views.view_row(db, name) if type == "recall" else None
    if view is not None:
        newest_ms = views.newest_record(db)[1]
        record["standing"] = views.standing_of(view, views.view_rows(db), newest_ms, places)
    return record


def list_all(db: Db, *, type: str | None, status: str | None, limit: Any, cursor: Any) -> Listing:
    """List definitions in the order first saved."""
    most = check_limit(limit)
    after = from_cursor("d", cursor) or 0
    where, values = ["r.position > ?"], [after]
    if type is not None:
        where.append("d.type = ?")
        values.append(check_type(type))  # type: ignore[arg-type]
    if status is not None:
        if status not in ("active", "retired"):
            raise InvalidInput("status is active or retired.", "/status")
        where.append("d.status = ?")
        values.append(status)  # type: ignore[arg-type]
    columns = ", ".join(f"d.{column}" for column in _COLUMNS.split(", "))
    rows = db.all(
        f"SELECT {columns}, r.position FROM definitions d JOIN records r ON r.type = 'definition_created' "
        f"AND r.origin = 'own' AND r.definition = d.type || '/' || d.name WHERE {' AND '.join(where)} "
        "ORDER BY r.position LIMIT ?",
        *values,
        most + 1,
    )
    return listed([(int(row[8]), _told(row)) for row in rows], most, "d")


def _told(row: tuple[Any, ...]) -> Record:
    type, name, version, status, created_ms, created_by, updated_ms, retired_ms = row[:8]
    record = Record(
        type=type,
        name=name,
        version=version,
        status=status,
        media_type=MEDIA_TYPE,
        created_at=iso_ms(created_ms),
        created_by=created_by,
        updated_at=iso_ms(updated_ms),
    )
    if retired_ms is not None:
        record["retired_at"] = iso_ms(retired_ms)
    return record


def _row(db: Db, type: str, name: str) -> tuple[Any, ...] | None:
    return db.one(f"SELECT {_COLUMNS} FROM definitions WHERE type = ? AND name = ?", type, name)


def _check_room(db: Db, type: str, allowed: int, most: int) -> None:
    if type != "recall":
        return
    active = int(db.must("SELECT COUNT(*) FROM definitions WHERE type = 'recall' AND status = 'active'")[0])
    if active > allowed:
        raise Conflict(
            f"A playbook keeps at most {most} recall functions (RECALL_MAX_FUNCTIONS); this one keeps {active}. "
            "Retire one first."
        )


def _record(db: Db, kind: Any, type: str, name: str, version: int | None, caller: str, now_ms: int) -> int:
    id = new_id(now_ms)
    attributes = {"caller": caller, "definitionversion": version}
    event = definition_event(kind, id=id, type=type, name=name, at_ms=now_ms, attributes=attributes)
    record = NewRecord(
        id=id,
        type=kind,
        stream=f"definitions/{type}/{name}",
        at_ms=now_ms,
        event=event,
        event_id=id,
        source=f"/definitions/{type}/{name}",
        origin=OWN,
        caller=caller,
        definition=f"{type}/{name}",
        version=version,
        data={} if version is None else {"version": version},
    )
    return append(db, [record])


def check_identity(type: Any, name: Any, caller: Any) -> tuple[str, str, str]:
    """Check what every operation on a definition is given."""
    return check_type(type, kept=True), check_name(name), check_caller(caller)
