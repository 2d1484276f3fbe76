"""Why a view stalled, in words: the kinds of the format's table *When a view stalls*."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from recallkit.bounds import (
    CUT_MARK,
    ERROR_BYTES,
    FOLD_CHECKPOINTS,
    FOLD_MEMORY_BYTES,
    FOLD_SECONDS,
    LEVELS,
    MIB,
    VIEW_BYTES,
)

if TYPE_CHECKING:
    from recallkit.events.history import History

Kind = Literal["raised", "work", "memory", "unfit", "size", "schema", "refused", "time", "crash"]


@dataclass(frozen=True)
class Stall:
    """Where and why a fold could not take its event.

    Attributes
    ----------
    kind : str
        'raised', 'work', 'memory', 'unfit', 'size', 'schema', 'refused', 'time' or 'crash'.
    event : dict
        The event it stopped at: ``id``, ``type`` and ``time``.
    error : str
        The fold's own error, or what was wrong with what it returned; at most 1,024 bytes, then ``…``.
    line : int or None
        Where the error was made, in the document; None for every kind but 'raised' (and 'refused' where known).
    seq : int
        The event's place in the history.
    folded : int
        How many events were folded before it.
    steps : int
        What the fold had spent.
    details : dict
        For 'size': ``bytes``, ``bound`` and ``largest`` (the heaviest paths); for 'schema': ``pointer``; for 'unfit':
        ``path``; for 'time' and 'crash': ``tries``; and for 'time' and 'work' ``where``, unless the fold itself was
        stopped: its 'filter', the 'check' that reads what it returned, or that of the view against its 'schema'.
    source : str
        The document's text, so that the line can be shown.
    """

    kind: Kind
    event: dict[str, Any]
    error: str
    line: int | None
    seq: int
    folded: int
    steps: int
    details: dict[str, Any]
    source: str = field(default="", repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Stall {self}>"

    def _repr_html_(self) -> str:
        from recallkit.notebook.html import stall_html

        return stall_html(self, self.source)

    def __str__(self) -> str:
        where = f" on line {self.line}" if self.line is not None else ""
        who = f"{self.event['type']} {self.event['id']}"
        when = f" of {self.event['time']}" if self.event["time"] else ""
        return f"stalled ({self.kind}) at event {self.seq}, {who}{when}{where}: {self.error}"


def cut(text: str, most: int = ERROR_BYTES) -> str:
    """Cut a text at so many bytes of UTF-8, at whole characters, and mark it with … (computation, Bounds)."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return text
    end = most
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass") + CUT_MARK


def unfit_words(unfit: dict[str, Any], noun: str) -> str:
    """Say what JSON cannot carry, in the format's sentence (computation, The sandbox)."""
    path = cut(str(unfit.get("path", "$")))
    if unfit.get("deep"):
        return f"The {noun} nests deeper than {LEVELS} levels at {path}"
    return f"The {noun} holds {cut(unfit['what'])} at {path}, which JSON cannot carry"


def engine_words(dump: str) -> tuple[str, int | None]:
    """Return the words and the document's line of an error as the engine dumps it; other texts as they are, no line."""
    try:
        told = json.loads(dump)
        words = f"{told['name']}: {told['message']}"
    except (ValueError, TypeError, KeyError):
        return dump, None
    found = re.search(r"document:(\d+)", str(told.get("stack")))
    return words, int(found[1]) if found else None


# What the sandbox was at when it was stopped, where that was not the fold itself; by its phase.
_PARTS = {
    "filter": "filter's expression",
    "check": "reading of what the fold returned",
    "schema": "check of the view against view.schema",
}


def stopped_at(phase: str) -> dict[str, Any] | None:
    """Return what to tell `make_stall` of the phase in which the sandbox was stopped; None for the fold itself."""
    return {"where": phase} if phase in _PARTS else None


def stopped_part(told: dict[str, Any]) -> str:
    """Name what was stopped, by the ``where`` of a stall's record or details."""
    return _PARTS.get(str(told.get("where")), "fold")


def make_stall(
    kind: Kind,
    known: dict[str, Any] | None,
    history: History,
    seq: int,
    *,
    folded: int,
    steps: int = 0,
    seconds: float = FOLD_SECONDS,
    tries: int = 1,
) -> Stall:
    """Put what the page loop knows of a stall into words.

    Parameters
    ----------
    kind : str
        The kind of the format's table.
    known : dict or None
        The page loop's own record: described, unfit, bytes, largest, issue.
    history, seq
        Where the event is.
    """
    event = history.event(seq)
    told = {name: event.get(name) for name in ("id", "type", "time")}
    known = known or {}
    line: int | None = None
    details: dict[str, Any] = {}
    described = known.get("described")
    if described is not None:
        error, line = cut(described["words"]), described["line"]
    elif kind == "unfit":
        error = unfit_words(known["unfit"], "view")
        details["path"] = known["unfit"].get("path")
    elif kind == "size":
        details = {"bytes": known["bytes"], "bound": VIEW_BYTES, "largest": known["largest"]}
        parts = ", ".join(f"{cut(part['path'], 100)} takes {part['bytes']:,}" for part in known["largest"][:2])
        error = f"The view takes {known['bytes']:,} bytes as JSON, past the {VIEW_BYTES:,} a view may take"
        error += f"; {parts}" if parts else ""
    elif kind == "schema":
        issue = known["issue"]
        details = {"pointer": issue["path"], "bytes": known["bytes"]}
        error = (
            f"view.schema refuses the view: {cut(issue['path'])}{': ' if issue['path'] else ''}{cut(issue['words'])}"
        )
    elif kind == "work":
        details = dict(known)
        bound = "" if known.get("where") == "check" else f", {FOLD_CHECKPOINTS} checkpoints,"
        error = f"The {stopped_part(known)} did more work than it may{bound} and was stopped"
    elif kind == "memory":
        error = f"The fold used more memory than its sandbox has, {FOLD_MEMORY_BYTES // MIB} MiB"
    elif kind == "time":
        details = {"tries": tries, **known}
        whose = "its" if known.get("where") is None else "the fold's"
        often = f" {tries} times" if tries > 1 else ""
        error = f"The {stopped_part(known)} ran out of {whose} {seconds:g} seconds{often} and was stopped"
        error += "; a pattern of the schema may backtrack without end" if known.get("where") == "schema" else ""
    elif kind == "crash":
        details = {"tries": tries}
        error = f"The worker folding the page crashed at this event{f' {tries} times' if tries > 1 else ''}"
    else:
        words, line = engine_words(known.get("words", ""))
        error = f"The module does not load: {cut(words)}"
    return Stall(kind, told, error, line, seq, folded, steps, details)
