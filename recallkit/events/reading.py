"""What was read of a part of a history; the parts of one, read in any processes, are joined in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from recallkit.events.columns import Array, Column, Part, join
from recallkit.events.problems import Problems, Row

NAMED_COLUMNS: Final = 32
"""Extensions beyond this many different names are kept event by event, not as columns."""


@dataclass(slots=True)
class Reading:
    """The events of a part: where each one's text stands, their attributes, and their problems.

    Lines and seqs (in ``problems``, ``rare`` and ``unreadable``) count from the part's own beginning.
    """

    starts: Array
    ends: Array
    lines: Array
    times: Array
    hashes: Array
    ids: Part
    columns: dict[str, Part]
    extensions: dict[str, Part]
    rare: dict[int, dict[str, Any]]
    unreadable: list[tuple[int, str]]
    problems: Problems
    looked_like_events: bool
    count_lines: int


@dataclass(slots=True)
class Joined:
    """The events of a whole history."""

    starts: Array
    ends: Array
    lines: Array
    times: Array
    hashes: Array
    ids: Column
    columns: dict[str, Column]
    extensions: dict[str, Column]
    rare: dict[int, dict[str, Any]]
    unreadable: list[tuple[int, str]]
    problems: Problems


def join_readings(parts: Sequence[Reading]) -> Joined:
    """Join parts as if they had been read one after another by one reader."""
    problems = Problems()
    rare: dict[int, dict[str, Any]] = {}
    unreadable: list[tuple[int, str]] = []
    lines: list[Array] = []
    names: list[str] = []
    seq = line = 0
    for part in parts:
        problems.extend(part.problems, seq, line)
        rare.update((seq + row, members) for row, members in part.rare.items())
        unreadable.extend((seq + row, text) for row, text in part.unreadable)
        lines.append(part.lines + line)
        _learn(names, [*part.extensions, *(name for members in part.rare.values() for name in members)])
        seq, line = seq + len(part.starts), line + part.count_lines
    extensions = {name: join([_column(part, name) for part in parts]) for name in names}
    _move_to_rare(parts, set(names), rare)
    return Joined(
        starts=_concatenated([part.starts for part in parts]),
        ends=_concatenated([part.ends for part in parts]),
        lines=_concatenated(lines),
        times=_concatenated([part.times for part in parts]),
        hashes=_concatenated([part.hashes for part in parts]),
        ids=join([part.ids for part in parts]),
        columns={name: join([part.columns[name] for part in parts]) for name in parts[0].columns},
        extensions=extensions,
        rare=rare,
        unreadable=unreadable,
        problems=problems,
    )


def first_problem(parts: Sequence[Reading]) -> Row | None:
    """Give the first problem that the parts report."""
    problems, line = Problems(), 0
    for part in parts:
        problems.extend(part.problems, 0, line)
        if problems.rows:
            return problems.rows[0]
        line += part.count_lines
    return None


def _learn(names: list[str], more: Sequence[str]) -> None:
    """Add names in the order in which one reader would have met them, while there is room for columns."""
    for name in more:
        if len(names) < NAMED_COLUMNS and name not in names:
            names.append(name)


def _column(part: Reading, name: str) -> Part:
    """Give a part's column of an extension, taking it out of what is kept event by event where it stands there."""
    if name in part.extensions:
        return part.extensions[name]
    found = {row: members[name] for row, members in part.rare.items() if name in members}
    if not found:
        return np.zeros(len(part.starts), dtype=np.int8), [None]
    return [found.get(row) for row in range(len(part.starts))]


def _move_to_rare(parts: Sequence[Reading], names: set[str], rare: dict[int, dict[str, Any]]) -> None:
    """Keep event by event what one reader would have had no column for, and nothing that it would."""
    for seq, members in list(rare.items()):
        rest = {name: value for name, value in members.items() if name not in names}
        if rest:
            rare[seq] = rest
        else:
            del rare[seq]
    before = 0
    for part in parts:
        for name, values in part.extensions.items():
            if name not in names:
                for row, value in enumerate(join([values]).objects().tolist()):
                    if value is not None:
                        rare.setdefault(before + row, {})[name] = value
        before += len(part.starts)


def long_names(
    extensions: Iterable[str], kept_rare: dict[int, dict[str, Any]], is_long: Callable[[str], bool]
) -> list[str]:
    """Give the names of extensions that are longer than a filter can write."""
    rare: set[str] = {name for members in kept_rare.values() for name in members}
    return sorted(name for name in {*extensions, *rare} if is_long(name))


def _concatenated(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
