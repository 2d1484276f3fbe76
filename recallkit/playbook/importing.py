"""A history from a file, recorded in a playbook as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recallkit.errors import Conflict
from recallkit.events.records import new_id
from recallkit.playbook.publishing import json_kinds, parsed
from recallkit.playbook.recording import IMPORTED, NewRecord, append, identity
from recallkit.playbook.store import Db

if TYPE_CHECKING:
    from recallkit.events.history import History

BATCH = 500


@dataclass(frozen=True)
class Imported:
    """What an import did.

    Attributes
    ----------
    recorded : int
        How many events were recorded.
    known : int
        How many were in the playbook already, with the same content.
    passed_over : int
        How many the history itself passed over; its ``problems`` say why.
    """

    recorded: int
    known: int
    passed_over: int


def import_events(db: Db, history: History) -> Imported:
    """Record a history's events, in the writer's transaction.

    An event that the history holds twice is recorded twice, as a fold over the history sees it; one that the playbook
    had before is not recorded again, so that an import can be repeated.
    """
    ids, sources = history.attribute("id"), history.attribute("source")
    types = history.attribute("type")
    keys = [identity(source, id) for source, id in zip(sources, ids, strict=True)]
    known = _known(db, keys)
    records: list[NewRecord] = []
    for row, (seq, at) in enumerate(zip(history.seqs.tolist(), history.clocks().tolist(), strict=True)):
        text = history.text(seq)
        if keys[row] in known:
            if not any(_same(text, other) for other in known[keys[row]]):
                words = f"The playbook has another event with the source {sources[row]} and the id {ids[row]}"
                raise Conflict(f"{words}; nothing is imported.")
            continue
        record = NewRecord(
            id=new_id(int(at) if at > 0 else None),
            type=types[row],
            stream="events",
            at_ms=int(at),
            event=text.encode("utf-8"),
            event_id=ids[row],
            source=sources[row],
            origin=IMPORTED,
        )
        records.append(record)
    append(db, records)
    problems = history.problems
    return Imported(len(records), len(history) - len(records), int(problems["seq"].isna().sum()))


def _known(db: Db, keys: list[bytes]) -> dict[bytes, list[str]]:
    found: dict[bytes, list[str]] = {}
    if db.one("SELECT 1 FROM records WHERE origin <> 'own' LIMIT 1") is None:
        return found
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        marks = ", ".join("?" * len(part))
        for key, event in db.all(f"SELECT identity, event FROM records WHERE identity IN ({marks})", *part):
            found.setdefault(bytes(key), []).append(str(event))
    return found


def _same(left: str, right: str) -> bool:
    if left == right:
        return True
    one: Any = parsed(left.encode("utf-8"))
    other: Any = parsed(right.encode("utf-8"))
    return bool(json_kinds(one) == json_kinds(other))
