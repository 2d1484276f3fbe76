"""What signals keep of their events: the entries, their columns for filtering, and who may do what to them when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from recallkit.errors import Conflict, InvalidInput, NotFound, RecallkitError
from recallkit.memory import arguments
from recallkit.memory.bounds import LEASE_SECONDS_MOST, TAGS
from recallkit.memory.log import Record
from recallkit.memory.search_index import Array, Growing, WordIndex

KINDS: Final = ("memory", "signal")
STATUSES: Final = ("pending", "claimed", "acknowledged", "expired")
PENDING, CLAIMED, ACKNOWLEDGED, EXPIRED = range(4)


@dataclass(slots=True)
class Entry:
    """An entry as it stands; times are milliseconds since 1970."""

    row: int
    id: str
    namespace: str
    kind: str
    text: str
    tags: tuple[str, ...]
    actor: str | None
    session_id: str | None
    correlation_id: str | None
    expires_at: int | None
    stored_at: int
    position: int
    revised_at: int | None = None
    revised_by: str | None = None
    revisions: int = 0
    claimed_by: str | None = None
    claimed_at: int | None = None
    lease_until: int | None = None
    lease_event: str | None = None
    acknowledged_by: str | None = None
    acknowledged_at: int | None = None
    forgotten: bool = False
    words: int = -1

    def status(self, now: int) -> int:
        """Work out the status at a moment; the first of these holds: acknowledged, expired, claimed, pending."""
        if self.acknowledged_at is not None:
            return ACKNOWLEDGED
        if self.expires_at is not None and self.expires_at <= now:
            return EXPIRED
        return CLAIMED if self.lease_until is not None and self.lease_until > now else PENDING


@dataclass
class Columns:
    """A row an entry, for filtering many at once; a code of -1 is none."""

    namespace: Growing = field(default_factory=lambda: Growing(np.int32))
    signal: Growing = field(default_factory=lambda: Growing(np.bool_))
    actor: Growing = field(default_factory=lambda: Growing(np.int32))
    session: Growing = field(default_factory=lambda: Growing(np.int32))
    correlation: Growing = field(default_factory=lambda: Growing(np.int32))
    expires: Growing = field(default_factory=lambda: Growing(np.float64))
    lease: Growing = field(default_factory=lambda: Growing(np.float64))
    acknowledged: Growing = field(default_factory=lambda: Growing(np.bool_))
    forgotten: Growing = field(default_factory=lambda: Growing(np.bool_))
    words: Growing = field(default_factory=lambda: Growing(np.int64))

    def status(self, now: int) -> Array:
        """Work out the status of every row at a moment; see `Entry.status`."""
        found = np.where(self.lease.values > now, CLAIMED, PENDING)
        found = np.where(self.expires.values <= now, EXPIRED, found)
        result: Array = np.where(self.acknowledged.values, ACKNOWLEDGED, found)
        return result


class SignalsFold:
    """The fold of the events whose types begin with ``signals.``; an event that breaks a rule changes nothing."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.by_id: dict[str, Entry] = {}
        self.columns = Columns()
        self.index = WordIndex()
        self.row_of_words = Growing(np.int64)
        self.with_tag: dict[str, set[int]] = {}
        self.passed_over = 0
        self._codes: dict[str, int] = {}
        self._handlers: dict[str, Callable[[Record, Mapping[str, Any]], None]] = {
            "signals.stored": self._stored,
            "signals.claimed": self._claimed,
            "signals.extended": self._extended,
            "signals.acknowledged": self._acknowledged,
            "signals.revised": self._revised,
            "signals.forgotten": self._forgotten,
        }

    def apply(self, record: Record) -> None:
        """Fold one event."""
        handler = self._handlers.get(record.type)
        try:
            if handler is None or not isinstance(record.data, dict):
                raise InvalidInput("No event of signals is like this.")
            handler(record, record.data)
        except RecallkitError:
            self.passed_over += 1

    # What may be done; the writers ask the same before they publish

    def entry(self, id: str) -> Entry:
        """Give an entry that is there."""
        found = self.by_id.get(id)
        if found is None:
            raise NotFound(f"There is no entry with the id {arguments.shown(id)}.")
        if found.forgotten:
            raise NotFound(f"The entry {id} was forgotten.")
        return found

    def _open_signal(self, id: str, now: int) -> Entry:
        entry = self.entry(id)
        if entry.kind != "signal":
            raise InvalidInput(f"The entry {id} is a memory; only signals are claimed and acknowledged.", "/id")
        status = entry.status(now)
        if status == ACKNOWLEDGED:
            raise Conflict(f"The signal {id} was acknowledged by {entry.acknowledged_by}.", "acknowledged")
        if status == EXPIRED:
            raise Conflict(f"The signal {id} expired at {arguments.iso(entry.expires_at)}.", "expired")
        return entry

    def may_claim(self, id: str, actor: str, now: int) -> Entry:
        """Give a signal that an actor may claim: nobody else holds it."""
        entry = self._open_signal(id, now)
        if entry.status(now) == CLAIMED and entry.claimed_by != actor:
            until = arguments.iso(entry.lease_until)
            raise Conflict(f"The signal {id} is claimed by {entry.claimed_by} until {until}.", "claimed")
        return entry

    def may_extend(self, id: str, actor: str, now: int) -> Entry:
        """Give a signal whose lease an actor may extend: it is theirs, and it lives."""
        entry = self.may_claim(id, actor, now)
        if entry.status(now) != CLAIMED:
            raise Conflict(
                f"The signal {id} is not claimed by {actor}: a lease that ran out is claimed anew.", "lapsed"
            )
        return entry

    # The events

    def _stored(self, record: Record, data: Mapping[str, Any]) -> None:
        if record.id in self.by_id:
            raise Conflict("The id is taken.")
        kept = entry_of(data)
        entry = Entry(row=len(self.entries), id=record.id, stored_at=record.time, position=record.position, **kept)
        columns = self.columns
        columns.namespace.append(self._code("namespace", entry.namespace))
        columns.signal.append(entry.kind == "signal")
        columns.actor.append(self._code("actor", entry.actor))
        columns.session.append(self._code("session_id", entry.session_id))
        columns.correlation.append(self._code("correlation_id", entry.correlation_id))
        columns.expires.append(np.inf if entry.expires_at is None else entry.expires_at)
        columns.lease.append(-np.inf)
        columns.acknowledged.append(False)
        columns.forgotten.append(False)
        columns.words.append(-1)
        self.entries.append(entry)
        self.by_id[entry.id] = entry
        self._tag(entry)
        self._index(entry)

    def _claimed(self, record: Record, data: Mapping[str, Any]) -> None:
        actor, lease = _actor(data), _lease(data)
        entry = self.may_claim(_id(data), actor, record.time)
        entry.claimed_by, entry.claimed_at = actor, record.time
        self._lease(entry, record, lease_end(record.time, lease))

    def _extended(self, record: Record, data: Mapping[str, Any]) -> None:
        actor, lease = _actor(data), _lease(data)
        entry = self.may_extend(_id(data), actor, record.time)
        self._lease(entry, record, max(entry.lease_until or 0, lease_end(record.time, lease)))

    def _lease(self, entry: Entry, record: Record, until: int) -> None:
        entry.lease_until, entry.lease_event = until, record.id
        self.columns.lease[entry.row] = until

    def _acknowledged(self, record: Record, data: Mapping[str, Any]) -> None:
        actor = _actor(data)
        entry = self.may_claim(_id(data), actor, record.time)
        entry.acknowledged_by, entry.acknowledged_at = actor, record.time
        self.columns.acknowledged[entry.row] = True

    def _revised(self, record: Record, data: Mapping[str, Any]) -> None:
        entry = self.entry(_id(data))
        changes = revision_of(data)
        entry.revised_at, entry.revised_by = record.time, arguments.optional_name("actor", data.get("actor"))
        entry.revisions += 1
        if "expires_at" in changes:
            entry.expires_at = changes["expires_at"]
            self.columns.expires[entry.row] = np.inf if entry.expires_at is None else entry.expires_at
        if "tags" in changes:
            for tag in entry.tags:
                self.with_tag[tag].discard(entry.row)
            entry.tags = changes["tags"]
            self._tag(entry)
        if "text" in changes:
            entry.text = changes["text"]
            self._index(entry)

    def _forgotten(self, record: Record, data: Mapping[str, Any]) -> None:
        entry = self.entry(_id(data))
        entry.forgotten = True
        entry.text, entry.tags = "", ()
        self.columns.forgotten[entry.row] = True

    # Columns

    def _tag(self, entry: Entry) -> None:
        for tag in entry.tags:
            self.with_tag.setdefault(tag, set()).add(entry.row)

    def _index(self, entry: Entry) -> None:
        # A revised text is a new one in the index; the row's number says which of them counts.
        self.columns.words[entry.row] = self.index.add(entry.text)
        self.row_of_words.append(entry.row)

    def _code(self, what: str, value: str | None) -> int:
        return -1 if value is None else self._codes.setdefault(f"{what}:{value}", len(self._codes))

    def code(self, what: str, value: str) -> int:
        """Give the code of a value in its column; -2, which no row has, when no entry has it."""
        return self._codes.get(f"{what}:{value}", -2)


def entry_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check what is stored, and give the fields of an entry."""
    return {
        "namespace": arguments.name("namespace", data.get("namespace")),
        "kind": arguments.one_of("kind", data.get("kind"), KINDS),
        "text": arguments.body("text", data.get("text")),
        "tags": arguments.names("tags", data.get("tags", ()), TAGS),
        "actor": arguments.optional_name("actor", data.get("actor")),
        "session_id": arguments.optional_name("session_id", data.get("session_id")),
        "correlation_id": arguments.optional_name("correlation_id", data.get("correlation_id")),
        "expires_at": arguments.optional_moment("expires_at", data.get("expires_at")),
    }


def revision_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check what a revision changes; a field that is not there stays."""
    changes: dict[str, Any] = {}
    if "text" in data:
        changes["text"] = arguments.body("text", data["text"])
    if "tags" in data:
        changes["tags"] = arguments.names("tags", data["tags"], TAGS)
    if data.get("never_expires") is True:
        changes["expires_at"] = None
    elif "expires_at" in data:
        changes["expires_at"] = arguments.moment("expires_at", data["expires_at"])
    if not changes:
        raise InvalidInput("A revision changes nothing: give text, tags or expires_at.")
    return changes


def _id(data: Mapping[str, Any]) -> str:
    return arguments.name("entry", data.get("entry"))


def _actor(data: Mapping[str, Any]) -> str:
    return arguments.name("actor", data.get("actor"))


def _lease(data: Mapping[str, Any]) -> float:
    return arguments.seconds("lease", data.get("lease"), LEASE_SECONDS_MOST)


def lease_end(begin: int, seconds: float) -> int:
    """Give the moment at which a lease runs out; no time says one after the year 9999."""
    until = begin + round(seconds * 1_000)
    if until > arguments.LATEST_MS:
        raise arguments.wrong("lease", "ends after the year 9999; give a shorter one.")
    return until
