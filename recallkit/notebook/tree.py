"""JSON text as a tree that opens one level at a time: only what is shown is ever read out or sent.

The same walk is written in ``front/tree.js`` for saved pages; a test holds the two to each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

# Of a container a row shows so much; a scalar longer than a row's text can be opened and paged.
INLINE_CHARACTERS: Final = 100
ROW_CHARACTERS: Final = 160
TEXT_CHARACTERS: Final = 2_000
PAGE_ROWS: Final = 50
GHOST_ROWS: Final = 20
# Of an event that changed more, this many changes are told; the rows' own marks are never cut.
CHANGES_TOLD: Final = 100
# The tree opens by itself down to so many of an event's changes.
FOLLOWED: Final = 3

Child = tuple[str | int, str]
Branch = dict[str, Any]

_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])
_lists = msgspec.json.Decoder(list[msgspec.Raw])
_scanner = json.JSONDecoder()
_SPACE: Final = " \t\n\r"
_PLACE: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_KINDS: Final = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}


def kind_of(text: str) -> str:
    """Return the kind of a JSON text: object, array, string, number, boolean or null."""
    return _KINDS.get(text[:1], "number")


def children(text: str) -> list[Child]:
    """Return the members of a JSON object or list, each with its own JSON text; none of a scalar."""
    kind = kind_of(text)
    if kind not in ("object", "array"):
        return []
    try:
        if kind == "object":
            return [(name, str(raw, "utf-8")) for name, raw in _objects.decode(text).items()]
        return list(enumerate(str(raw, "utf-8") for raw in _lists.decode(text)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _scan(text, kind == "object")


def _scan(text: str, named: bool) -> list[Child]:
    """Do the same with the standard library, which takes the escaped lone surrogates that msgspec refuses."""
    found: dict[str | int, str] = {}
    at = _skip(text, 1)
    while text[at] not in "]}":
        key: str | int = len(found)
        if named:
            key, at = _scanner.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _scanner.raw_decode(text, at)
        found[key] = text[at:end]
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return list(found.items())


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def count_of(text: str) -> int:
    """Return how many members a JSON text has; 0 for a scalar."""
    kind = kind_of(text)
    try:
        if kind == "object":
            return len(_objects.decode(text))
        if kind == "array":
            return len(_lists.decode(text))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return len(_scan(text, kind == "object"))
    return 0


def parts(pointer: str) -> list[str]:
    """Split a JSON Pointer (RFC 6901) into its names."""
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]


def join(pointer: str, key: str | int) -> str:
    """Return the pointer of a member."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


class Tree:
    """A JSON text whose levels are read when they are first opened, and remembered."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._members: dict[str, dict[str | int, str]] = {}

    def members(self, pointer: str) -> dict[str | int, str]:
        """Return the members of what stands at a pointer; none where nothing does."""
        known = self._members.get(pointer)
        if known is None:
            here = self.at(pointer)
            known = self._members[pointer] = {} if here is None else dict(children(here))
        return known

    def at(self, pointer: str) -> str | None:
        """Return the JSON text at a pointer; None where there is nothing."""
        if not pointer:
            return self.text
        parent, _, name = pointer.rpartition("/")
        above = self.at(parent)
        if above is None:
            return None
        key: str | int = name.replace("~1", "/").replace("~0", "~")
        if kind_of(above) == "array":
            if not _PLACE.fullmatch(name):
                return None
            key = int(name)
        return self.members(parent).get(key)


def size(text: str) -> int:
    """Return the bytes of a JSON text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def shown(text: str, most: int = ROW_CHARACTERS) -> str:
    """Return a JSON text cut for a row."""
    most = INLINE_CHARACTERS if kind_of(text) in ("object", "array") else most
    return text if len(text) <= most else text[:most] + "…"


def row(key: str | int, text: str) -> dict[str, Any]:
    """Return what a row of the tree shows of a member."""
    kind = kind_of(text)
    told: dict[str, Any] = {"key": key, "kind": kind, "text": shown(text)}
    if kind in ("object", "array"):
        told["count"] = count_of(text)
        told["opens"] = told["count"] > 0
    else:
        told["opens"] = len(text) > ROW_CHARACTERS
    return told


def branch(tree: Tree, pointer: str, offset: int, marks: Marks | None = None) -> Branch | None:
    """Return one page of what stands under a pointer; None where there is nothing to open."""
    here = tree.at(pointer)
    if here is None:
        return None
    kind = kind_of(here)
    if kind not in ("object", "array"):
        if len(here) <= ROW_CHARACTERS:
            return None
        begin = max(0, min(offset, len(here) - 1)) // TEXT_CHARACTERS * TEXT_CHARACTERS
        piece = here[begin : begin + TEXT_CHARACTERS]
        return {"path": pointer, "kind": kind, "total": len(here), "offset": begin, "piece": piece}
    members = list(tree.members(pointer).items())
    begin = max(0, min(offset, len(members) - 1)) // PAGE_ROWS * PAGE_ROWS
    rows = [row(key, value) for key, value in members[begin : begin + PAGE_ROWS]]
    told: Branch = {"path": pointer, "kind": kind, "total": len(members), "offset": begin, "rows": rows}
    if marks is not None:
        for each in rows:
            each["mark"] = marks.of(join(pointer, each["key"]))
        told["gone"] = [
            {"key": key, "text": text, "mark": "removed"} for key, text in marks.gone.get(pointer, [])[:GHOST_ROWS]
        ]
    return told


class Marks:
    """What an event changed, by pointer of the view after it.

    Attributes
    ----------
    changes : list of dict
        Each operation of the patch: op ('add', 'remove', 'replace'), path, and the JSON texts ``text`` after it and
        ``was`` before it, cut for a row.
    gone : dict
        For each object or list, the members that were taken from it: their key before, and their text.
    """

    def __init__(self, patch: Sequence[dict[str, Any]], before: Tree, after: Tree) -> None:
        self.changes: list[dict[str, Any]] = []
        self.gone: dict[str, list[tuple[str | int, str]]] = {}
        self._ops: dict[str, str] = {}
        self._inside: set[str] = set()
        taken: dict[str, int] = {}
        for each in patch:
            op, path = each["op"], each["path"]
            told = len(self.changes) < CHANGES_TOLD
            change: dict[str, Any] = {"op": op, "path": path}
            parent, _, name = path.rpartition("/")
            old = path
            if op == "remove":
                # Members go from a list one by one at the same place: each time the next of the old ones.
                shift = taken.get(path, 0)
                taken[path] = shift + 1
                if shift and name.isdigit():
                    old = f"{parent}/{int(name) + shift}"
            elif op == "add" or op == "replace":
                self._ops[path] = "added" if op == "add" else "changed"
                change["text"] = brief(after.at(path)) if told else ""
            if op != "add":
                change["was"] = brief(before.at(old)) if told else ""
            if op == "remove":
                self.gone.setdefault(parent, []).append((parts(old)[-1] if old else "", change["was"]))
            self.changes.append(change)
            while path:
                path = path.rpartition("/")[0]
                self._inside.add(path)

    def of(self, pointer: str) -> str:
        """Return 'added', 'changed', 'inside' (something below it did) or ''."""
        mark = self._ops.get(pointer)
        if mark is not None:
            return mark
        return "inside" if pointer in self._inside else ""


def follow(tree: Tree, changes: Sequence[dict[str, Any]], wanted: Sequence[Sequence[Any]]) -> list[tuple[str, int]]:
    """Return the branches to open: those wanted, and those above the first changes, each at the page that shows it."""
    opened = {str(pointer): int(offset) for pointer, offset in wanted}
    led: dict[str, int] = {}
    for change in changes[:FOLLOWED]:
        pointer = ""
        for name in parts(change["path"]):
            if pointer not in led:
                led[pointer] = next((at for at, key in enumerate(tree.members(pointer)) if str(key) == name), 0)
            pointer = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
    return list({**opened, **led}.items())


def brief(text: str | None, most: int = ROW_CHARACTERS) -> str:
    """Return a JSON text in a line's room, whatever its kind."""
    if text is None:
        return ""
    return text if len(text) <= most else text[:most] + "…"


def sizes(tree: Tree, pointer: str, most: int = 8) -> dict[str, Any] | None:
    """Return what takes the bytes under a pointer: its heaviest members, and the rest together."""
    here = tree.at(pointer)
    if here is None:
        return None
    weighed = [
        (key, size(value), kind_of(value) in ("object", "array")) for key, value in tree.members(pointer).items()
    ]
    weighed.sort(key=lambda each: -each[1])
    rows = [{"key": key, "bytes": weight, "opens": opens} for key, weight, opens in weighed[:most]]
    rest = weighed[most:]
    return {
        "path": pointer,
        "bytes": size(here),
        "rows": rows,
        "rest": {"count": len(rest), "bytes": sum(weight for _, weight, _ in rest)},
    }
