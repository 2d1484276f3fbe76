"""Published events recorded: each once, whoever publishes it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recallkit.errors import Conflict
from recallkit.events.records import new_id
from recallkit.playbook.listing import Record
from recallkit.playbook.publishing import Publication, parsed, same
from recallkit.playbook.recording import PUBLISHED, NewRecord, append, identity
from recallkit.playbook.store import Db


def publish(db: Db, publications: Sequence[Publication], now_ms: int) -> list[Record]:
    """Record events in the writer's transaction; return each as it is stored.

    Raises
    ------
    Conflict
        Another event with the source and id of one of them is recorded, or among them.
    """
    told: list[Record] = []
    new: list[NewRecord] = []
    met: dict[bytes, Publication] = {}
    for each in publications:
        key = identity(each.event["source"], each.event["id"])
        known = met.get(key)
        stored = (known.event, known.filled) if known is not None else _stored(db, key, each)
        if stored is None:
            met[key] = each
            new.append(_record(each, now_ms))
            told.append(Record(each.event))
        elif same(each, *stored):
            told.append(Record(stored[0]))
        else:
            words = f"Another event with the source {each.event['source']} and the id {each.event['id']}"
            raise Conflict(f"{words} is recorded, with different content.")
    append(db, new)
    return told


def _stored(db: Db, key: bytes, new: Publication) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    if "id" in new.filled:
        return None
    row = db.one("SELECT event, filled FROM records WHERE identity = ? ORDER BY position LIMIT 1", key)
    return None if row is None else (parsed(str(row[0]).encode("utf-8")), tuple(str(row[1]).split(",")))


def _record(each: Publication, now_ms: int) -> NewRecord:
    event = each.event
    return NewRecord(
        id=new_id(now_ms),
        type=event["type"],
        stream="events",
        at_ms=now_ms,
        event=each.text,
        event_id=event["id"],
        source=event["source"],
        origin=PUBLISHED,
        filled=each.filled,
    )
