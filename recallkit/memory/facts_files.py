"""The two views beside recall, the map of files and the graph, and passages: through the same readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from recallkit.memory.arguments import iso
from recallkit.memory.facts_fold import FactsFold
from recallkit.memory.facts_graph import NEVER, Path, Row, Space
from recallkit.memory.facts_model import Entry, may_read
from recallkit.memory.facts_query import Moment, as_result, cited, in_place, inside, readable
from recallkit.memory.recalled import Recalled

if TYPE_CHECKING:
    import pandas as pd


class RecalledFacts(Recalled):
    """What a recall of facts gives back; ``facts`` is another name for ``results``, the specification's."""

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The facts, in order."""
        return self.results


class FactGraph(RecalledFacts):
    """The graph as the caller may see it: ``edges`` are the facts, ``nodes`` what they are about and name."""

    @property
    def edges(self) -> pd.DataFrame:
        """A row a fact: subject, predicate, object, objectKind, path, version, line, confidence, pinned, archived."""
        import pandas as pd

        names = ("id", "subject", "predicate", "object", "objectKind", "confidence", "pinned", "archived")
        rows = [
            {name: fact[name] for name in names}
            | {
                "path": fact["citation"]["path"],
                "version": fact["citation"]["version"],
                "line": fact["citation"]["lineStart"],
            }
            for fact in self.results
        ]
        return pd.DataFrame(rows, columns=pd.Index([*names, "path", "version", "line"]))

    @property
    def nodes(self) -> pd.DataFrame:
        """A row an entity, case apart: name, and in how many facts it is the subject and the object."""
        import pandas as pd

        named: dict[str, str] = {}
        counts: dict[str, list[int]] = {}
        for fact in self.results:
            ends = [(fact["subject"], 0)] + ([(fact["object"], 1)] if fact["objectKind"] == "entity" else [])
            for name, side in ends:
                key = named.setdefault(name.casefold(), name)
                counts.setdefault(key, [0, 0])[side] += 1
        rows = [{"name": name, "as_subject": sides[0], "as_object": sides[1]} for name, sides in counts.items()]
        return pd.DataFrame(rows, columns=pd.Index(["name", "as_subject", "as_object"]))


@dataclass(frozen=True, slots=True)
class Passage:
    """The lines that a citation points at.

    Attributes
    ----------
    path : str
    version : int or str
    section, anchor : str or None
    line_start, line_end : int
    text : str
        The lines, as they were committed.
    author : str
    time : int
        When the version was recorded, in milliseconds since 1970.
    around : tuple of (int, str)
        The lines with those before and after them, numbered.
    """

    path: str
    version: int | str
    section: str | None
    anchor: str | None
    line_start: int
    line_end: int
    text: str
    author: str
    time: int
    around: tuple[tuple[int, str], ...]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        lines = [f"{'>' if self._cited(number) else ' '} {number:>4} {line}" for number, line in self.around]
        return "\n".join([f"<Passage of {self._head()}>", *lines])

    def _head(self) -> str:
        return f"{self.path} version {self.version}, by {self.author or 'nobody named'}, {str(iso(self.time))[:10]}"

    def _cited(self, number: int) -> bool:
        return self.line_start <= number <= self.line_end

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<div>{number:>4} {f'<mark>{escape(line)}</mark>' if self._cited(number) else escape(line)}</div>"
            for number, line in self.around
        )
        return f"<p><b>{escape(self._head())}</b></p><pre style='white-space:pre-wrap'>{rows}</pre>"


def place_of(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Give where a fact stands: path, version, line."""
    cites = fact["citation"]
    return {"path": cites["path"], "version": cites["version"], "line": cites["lineStart"]}


def lines_of(text: str) -> list[str]:
    """Split a text into lines as the extractor counts them."""
    return text.replace("\r\n", "\n").split("\n")


def passage(entry: Entry, citation: Mapping[str, Any], begin: int, end: int, context: int) -> Passage:
    """Cut the lines of a citation out of the commit that it names."""
    lines = lines_of(entry.commit.text)
    first, last = max(begin - context, 1), min(end + context, len(lines))
    return Passage(
        entry.commit.path,
        entry.commit.version,
        citation.get("section"),
        citation.get("anchor"),
        begin,
        end,
        "\n".join(lines[begin - 1 : end]),
        entry.commit.author,
        entry.commit.time,
        tuple((number, lines[number - 1]) for number in range(first, last + 1)),
    )


def newest(path: Path, moment: Moment, caller: str | None) -> tuple[Entry | None, int]:
    """Give the newest version of a path at a moment that the caller may read, and how many such versions there are."""
    seen = [entry for entry in path.entries if entry.position <= moment.position and may_read(entry.readers, caller)]
    return (seen[-1] if seen else None), sum(not entry.removed for entry in seen)


def file_rows(space: Space, moment: Moment, scope: str | None, caller: str | None) -> list[dict[str, Any]]:
    """Give the map of files: each path with the newest version that the caller may read."""
    rows = []
    for path in space.within(scope):
        entry, versions = newest(path, moment, caller)
        if entry is None or entry.removed:
            continue
        commit = entry.commit
        count = f"{versions} version{'' if versions == 1 else 's'}"
        author, day = commit.author or "nobody named", str(iso(commit.time))[:10]
        rows.append(
            {
                "id": commit.id,
                "text": commit.path,
                "why": f"version {commit.version} by {author}, {day}; {count}",
                "path": commit.path,
                "version": commit.version,
                "versions": versions,
                "author": commit.author,
                "recordedTime": commit.time,
                "lines": len(lines_of(commit.text)),
                "bytes": len(commit.text.encode()),
            }
        )
    return rows


def fact_rows(fold: FactsFold, rows: Sequence[Row], moment: Moment) -> list[dict[str, Any]]:
    """Give facts as results whose reason is their citation."""
    results = []
    for row in rows:
        result = as_result(fold, row, moment)
        result["why"] = cited(result["citation"])
        results.append(result)
    return results


def all_times(
    fold: FactsFold, space: Space, moment: Moment, scope: str | None, caller: str | None
) -> list[dict[str, Any]]:
    """Give every fact that was ever recorded and that the caller may read: believed now or not."""
    import numpy as np

    numbers = np.flatnonzero((space.opened.values != NEVER) & (space.opened.values <= moment.position))
    numbers = numbers[inside(space, numbers, scope)]
    numbers = numbers[readable(space, numbers, caller)]
    return fact_rows(fold, in_place([space.rows[number] for number in numbers.tolist()]), moment)
