"""The one law of the three systems: to write is to publish an event, to read is to fold what was published.

A log stands over nothing (it keeps its events in memory), over a `History` (whose events are only read; new ones are
kept in memory after them) or over a playbook (its records, and ``publish_event``). Order is the position in the log,
never a clock.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

from recallkit.errors import InvalidInput
from recallkit.events.event import check, deeply, parse
from recallkit.events.problems import Fault
from recallkit.events.records import iso_ms, json_bytes, new_id
from recallkit.events.times import read_time
from recallkit.memory.bounds import WRITTEN_EVENT_BYTES

if TYPE_CHECKING:
    from recallkit.events.history import History


@dataclass(frozen=True, slots=True)
class Record:
    """An event as the systems fold it.

    Attributes
    ----------
    position : int
        Its place in the log; later ones are larger, with gaps.
    id, type : str
    time : int
        Milliseconds since 1970; an event without a time has that of the last one before it that had one, else 0.
    data : object
        Its data; an object in every event that the systems wrote themselves.
    """

    position: int
    id: str
    type: str
    time: int
    data: Any


@runtime_checkable
class Log(Protocol):
    """What a system writes to and reads from."""

    def publish(self, event: Mapping[str, Any]) -> None:
        """Record a CloudEvent, after every other one."""

    def read(self, after: int, prefix: str) -> Iterable[Record]:
        """Read the events after a position whose type begins with a prefix, in order of position."""

    def history(self) -> History:
        """Give everything recorded as a History."""


class MemoryLog:
    """A log in memory, alone or after the events of a history; several systems may share one.

    Parameters
    ----------
    history : History, optional
        It is read only.
    """

    def __init__(self, history: History | None = None) -> None:
        self._base = history
        self._first = 0 if history is None or not len(history) else int(history.seqs[-1]) + 1
        self._events: list[dict[str, Any]] = []
        self._clock = 0 if history is None or not len(history) else int(history.clocks()[-1])
        self._clocks: list[int] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._events) + (0 if self._base is None else len(self._base))

    def __repr__(self) -> str:
        count = len(self)
        return f"<MemoryLog of {count:,} event{'' if count == 1 else 's'}>"

    def publish(self, event: Mapping[str, Any]) -> None:
        """Keep an event; it is copied, so later changes to the one given do nothing."""
        text = json_bytes(dict(event))
        if len(text) > WRITTEN_EVENT_BYTES:
            raise InvalidInput(
                f"An event takes at most {WRITTEN_EVENT_BYTES:,} bytes as JSON; this takes {len(text):,}."
            )
        kept = json.loads(text)
        fault = check(kept)
        if isinstance(fault, Fault):
            raise InvalidInput(fault.words)
        moment = read_time(kept["time"])[0] if "time" in kept else -1
        with self._lock:
            self._clock = moment if moment >= 0 else self._clock
            self._clocks.append(self._clock)
            self._events.append(kept)

    def read(self, after: int, prefix: str) -> Iterable[Record]:
        """Read the events after a position whose type begins with a prefix."""
        if self._base is not None and after < self._first - 1:
            yield from self._from_base(after, prefix)
        begin = max(after - self._first + 1, 0)
        for place in range(begin, len(self._events)):
            event = self._events[place]
            if event["type"].startswith(prefix):
                data = event.get("data")
                yield Record(self._first + place, event["id"], event["type"], self._clocks[place], data)

    def _from_base(self, after: int, prefix: str) -> Iterable[Record]:
        history = self._base
        assert history is not None
        clocks = history.clocks()
        for row, kind in enumerate(history.attribute("type")):
            seq = int(history.seqs[row])
            if seq > after and kind.startswith(prefix):
                event = history.event(seq)
                yield Record(seq, event["id"], kind, int(clocks[row]), event.get("data"))

    def history(self) -> History:
        """Give everything as a History, to fold it, to write it to a file or to hand it to another system."""
        from recallkit.events.history import History

        base = () if self._base is None else self._base
        return History.from_events([*base, *self._events])


class PlaybookLog:
    """The log of a playbook: its records, and ``publish_event``."""

    def __init__(self, playbook: Any) -> None:
        self._playbook = playbook
        self._clock = 0

    def __repr__(self) -> str:
        return f"<PlaybookLog of {self._playbook!r}>"

    def publish(self, event: Mapping[str, Any]) -> None:
        """Publish an event to the playbook."""
        self._playbook.publish_event(dict(event))

    def read(self, after: int, prefix: str) -> Iterable[Record]:
        """Read the events after a position whose type begins with a prefix."""
        for position, text in self._playbook.events_after(after, prefix=prefix):
            event = deeply(partial(parse, text))
            moment = read_time(event["time"])[0] if isinstance(event.get("time"), str) else -1
            self._clock = moment if moment >= 0 else self._clock
            yield Record(position, event["id"], event["type"], self._clock, event.get("data"))

    def history(self) -> History:
        """Give what a fold sees of the playbook."""
        found: History = self._playbook.history()
        return found


def open_log(source: Any) -> Log:
    """Give the log over a source: None, a History, a playbook, or a log itself."""
    from recallkit.events.history import History

    if source is None:
        return MemoryLog()
    if isinstance(source, History):
        return MemoryLog(source)
    if isinstance(source, MemoryLog | PlaybookLog):
        return source
    if hasattr(source, "publish_event"):
        return PlaybookLog(source)
    if isinstance(source, Log):
        return source
    raise InvalidInput(
        f"source may be None, a History, a Playbook or a MemoryLog; it is {type(source).__name__}.", "/source"
    )


class Fold(Protocol):
    """What a system keeps of its events: a memo that can be dropped and folded again."""

    def apply(self, record: Record) -> None:
        """Fold one event; an event that breaks the rules changes nothing and is counted as passed over."""


F = TypeVar("F", bound=Fold)


class System(Generic[F]):
    """What the three systems share: their log, the memo of it, and writing.

    A subclass names its `prefix` (its events' types begin with it and a dot) and makes its empty fold.
    """

    prefix: str

    def __init__(self, source: Any = None) -> None:
        self.log: Log = open_log(source)
        self._lock = threading.RLock()
        self._fold: F = self._empty()
        self._position = -1

    def _empty(self) -> F:
        raise NotImplementedError

    def drop_memo(self) -> None:
        """Forget everything that was worked out; the next call folds the log again, with the same results."""
        with self._lock:
            self._fold = self._empty()
            self._position = -1

    def history(self) -> History:
        """Give the history behind this memory, with what was written to it."""
        return self.log.history()

    def _caught_up(self) -> F:
        """Fold what was recorded since, by anyone. Call it under the lock, and use the fold under the same one."""
        for record in self.log.read(self._position, f"{self.prefix}."):
            self._fold.apply(record)
            self._position = record.position
        return self._fold

    def _publish(self, verb: str, data: Mapping[str, Any], *, now: int, subject: str | None = None) -> str:
        """Publish an event and give its id; the caller has checked everything before."""
        id = new_id(now)
        event: dict[str, Any] = {
            "specversion": "1.0",
            "id": id,
            "type": f"{self.prefix}.{verb}",
            "source": f"/memory/{self.prefix}",
            "subject": subject or id,
            "time": iso_ms(now),
            "datacontenttype": "application/json",
            "data": {name: value for name, value in data.items() if value is not None},
        }
        self.log.publish(event)
        return id


def present(now: Any) -> int:
    """Give the moment that a call works at: the one given, or the clock's."""
    from recallkit.memory.arguments import moment

    return int(time.time() * 1_000) if now is None else moment("now", now)
