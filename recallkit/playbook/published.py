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

LOOKED_UP = 500


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
    keys = [identity(each.event["source"], each.event["id"]) for each in publications]
    # an id that was filled in just now is nobody else's
    recorded = _recorded(db, [key for key, each in zip(keys, publications, strict=True) if "id" not in each.filled])
    for key, each in zip(keys, publications, strict=True):
        known = met.get(key)
        stored = (known.event, known.filled) if known is not None else recorded.get(key)
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


def _recorded(db: Db, keys: list[bytes]) -> dict[bytes, tuple[dict[str, Any], tuple[str, ...]]]:
    """Look up which events are recorded, the first of each; many at once, since each look is a trip to the store."""
    found: dict[bytes, tuple[dict[str, Any], tuple[str, ...]]] = {}
    for start in range(0, len(keys), LOOKED_UP):
        part = keys[start : start + LOOKED_UP]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT identity, event, filled FROM records WHERE identity IN ({marks}) ORDER BY position"
        for key, event, filled in db.all(sql, *part):
            if bytes(key) not in found:
                found[bytes(key)] = parsed(str(event).encode("utf-8")), tuple(str(filled).split(","))
    return found


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
