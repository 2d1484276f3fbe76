"""Makes a History of what was read: settles ``specversion``, and reports what looks wrong across events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recallkit.events import lint
from recallkit.events.columns import Column
from recallkit.events.contents import Buffer
from recallkit.events.event import is_long_name
from recallkit.events.history import History
from recallkit.events.problems import Problems
from recallkit.events.reading import Reading, join_readings, long_names
from recallkit.events.times import NO_TIME

_NO_VERSION = 'The event has no specversion; CloudEvents requires one, so add "specversion": "1.0".'


def build(readings: Sequence[Reading], buffer: Buffer, *, assume: bool, unit: str = "line", name: str = "") -> History:
    """Make the history.

    Parameters
    ----------
    readings : sequence of Reading
        The parts of the history, in their order; at least one.
    buffer : bytes or the like
        What the places of the events point into.
    assume : bool
        Whether events without ``specversion`` are taken as 1.0. A file's are only where it has several events and none
        of them says it: then whoever wrote the file leaves it out.
    name : str
        What the history was read from, for messages.
    """
    joined = join_readings(readings)
    ids, columns, extensions, rare = joined.ids, joined.columns, joined.extensions, joined.rare
    starts, ends, lines, times, hashes = joined.starts, joined.ends, joined.lines, joined.times, joined.hashes
    problems, unreadable = joined.problems, joined.unreadable

    versioned = columns["specversion"].equals("1.0")
    if not versioned.all():
        several = len(starts) > 1 and not versioned.any() and not problems.counts["bad-specversion"]
        if assume or several:
            count = int(np.count_nonzero(~versioned))
            who = "No event says its specversion" if count == len(starts) else f"{count:,} events do not say theirs"
            problems.add(None, None, None, "assumed-specversion", f"{who}; 1.0 is assumed.")
        else:
            place = np.cumsum(versioned) - 1
            problems = _without(problems, versioned, place)
            for row in np.flatnonzero(~versioned).tolist():
                problems.add(None, int(lines[row]), id_of(ids, row), "no-specversion", _NO_VERSION)
            unreadable = [(int(place[seq]), text) for seq, text in unreadable if versioned[seq]]
            rare = {int(place[seq]): members for seq, members in rare.items() if versioned[seq]}
            ids, hashes = ids.take(versioned), hashes[versioned]
            starts, ends, lines, times = (part[versioned] for part in (starts, ends, lines, times))
            columns = {name: column.take(versioned) for name, column in columns.items()}
            extensions = {name: column.take(versioned) for name, column in extensions.items()}

    _report_times(problems, unreadable, times, lines, ids, unit)
    _report_repeats(problems, buffer, starts, ends, lines, lint.repeated(hashes, ids, columns["source"]), ids, unit)
    for long in long_names(extensions, rare, is_long_name):
        words = f"The attribute name {long} is longer than 20 characters: a filter cannot name it."
        problems.add(None, None, None, "long-name", words)
    return History(
        buffer,
        starts=starts,
        ends=ends,
        ids=ids,
        times=times,
        columns=columns,
        extensions=extensions,
        rare=rare,
        problems=problems.frame(),
        name=name,
    )


def id_of(ids: Column, row: int) -> Any:
    """Give the id of one event."""
    return ids.take(np.array([row], dtype=np.int64)).objects()[0]


def _without(problems: Problems, kept: np.ndarray[Any, Any], place: np.ndarray[Any, Any]) -> Problems:
    """Give the problems less those of events that are passed over after all, with the places that events have now."""
    result = Problems()
    for row in problems.rows:
        if row.seq is None or kept[row.seq]:
            seq = None if row.seq is None else int(place[row.seq])
            result.add(seq, row.line, row.id, row.kind, row.words)
    return result


def _report_times(
    problems: Problems,
    unreadable: list[tuple[int, str]],
    times: np.ndarray[Any, Any],
    lines: np.ndarray[Any, Any],
    ids: Column,
    unit: str,
) -> None:
    for seq, text in unreadable:
        words = (
            f"The time {text} names no moment (a leap second, a day that does not exist, or no offset): "
            "a fold passes this event over. Correct it where the event is recorded."
        )
        problems.add(seq, int(lines[seq]), id_of(ids, seq), "unreadable-time", words)
    timed = times != NO_TIME
    found = lint.earlier(times, timed)
    for at, seq in enumerate(found.tolist()):
        if problems.full:
            problems.count("earlier-time", len(found) - at)
            break
        before = seq - 1
        while not timed[before]:
            before -= 1
        gap = _length(int(times[before] - times[seq]))
        words = f"The event's time is {gap} before that of {unit} {lines[before]}; the recorded order is kept."
        problems.add(seq, int(lines[seq]), id_of(ids, seq), "earlier-time", words)


def _report_repeats(
    problems: Problems,
    buffer: Buffer,
    starts: np.ndarray[Any, Any],
    ends: np.ndarray[Any, Any],
    lines: np.ndarray[Any, Any],
    found: list[tuple[int, int]],
    ids: Column,
    unit: str,
) -> None:
    for at, (seq, first) in enumerate(found):
        if problems.full:
            problems.count("repeated", len(found) - at)
            break
        same = buffer[starts[seq] : ends[seq]] == buffer[starts[first] : ends[first]]
        what = "The same event stands" if same else "Another event with the same source and id stands"
        words = f"{what} in {unit} {lines[first]} already; both are folded, so remove one if that is a mistake."
        problems.add(seq, int(lines[seq]), id_of(ids, seq), "repeated", words)


def _length(milliseconds: int) -> str:
    """Say a length of time in its largest unit."""
    for name, size in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000)):
        if milliseconds >= size:
            count = milliseconds // size
            return f"{count:,} {name}{'' if count == 1 else 's'}"
    return f"{milliseconds} ms"
