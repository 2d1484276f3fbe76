"""What the fact system is made of: commits of files, the facts that an extractor finds in them, who may read them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from recallkit.errors import InvalidInput
from recallkit.memory.arguments import moment, shown, wrong
from recallkit.memory.bounds import FACT_TEXT_CHARACTERS, FACTS_OF_A_COMMIT, PATH_CHARACTERS

Readers: TypeAlias = frozenset[str] | None
"""Who may read; None is everyone in the space."""

KINDS: Final = ("entity", "literal")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Commit:
    """A version of a file, as an extractor receives it.

    Attributes
    ----------
    id : str
        The id of the event that recorded it.
    space, path, text, author : str
    version : int or str
        The number of this version of the path, counted over those that all readers of this one may read.
    readers : frozenset of str or None
        Who may read it; None is everyone in the space.
    time : int
        When it was recorded, in milliseconds since 1970.
    """

    id: str
    space: str
    path: str
    version: int | str
    text: str
    author: str
    readers: Readers
    time: int


@dataclass(frozen=True, slots=True)
class Fact:
    """What an extractor says: a triple, and the lines that it comes from.

    Attributes
    ----------
    subject, predicate, object : str
    object_kind : {'entity', 'literal'}
    line_start, line_end : int
        The lines of the commit's text, from 1, both included.
    section, anchor : str or None
        The heading above the lines, and its anchor in a rendered page.
    confidence : float
        0 to 1.
    valid_from, valid_to : int or None
        When it was true in the world, in milliseconds since 1970. Without ``valid_from`` it counts from its commit;
        without ``valid_to`` it is still true.
    single : bool
        Whether its subject has one such value at a time in the whole space: then it retires another value that an
        earlier commit of *another* path stated. Within one path, what a new version no longer states is retired always.
    """

    subject: str
    predicate: str
    object: str
    line_start: int
    line_end: int
    object_kind: str = "literal"
    section: str | None = None
    anchor: str | None = None
    confidence: float = 1.0
    valid_from: int | None = None
    valid_to: int | None = None
    single: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes a statement in a later version the same statement: its lines may move."""
        return (
            self.subject,
            self.predicate,
            self.object,
            self.object_kind,
            self.valid_from,
            self.valid_to,
            self.confidence,
        )

    @property
    def about(self) -> tuple[str, str]:
        """Its subject and predicate, case apart: what two values contradict each other about."""
        return self.subject.casefold(), self.predicate.casefold()


Extractor: TypeAlias = Callable[[Commit], Iterable[Fact | Mapping[str, Any]]]
Synthesizer: TypeAlias = Callable[[str, list[dict[str, Any]]], str]

_NAMES: Final = {"objectKind": "object_kind", "lineStart": "line_start", "lineEnd": "line_end"}
_FIELDS: Final = frozenset(Fact.__dataclass_fields__)


def taken(found: Any, text: str) -> tuple[Fact, ...]:
    """Check what an extractor gave, and give it as facts, each statement once.

    Raises
    ------
    ValueError
        It gave something that is no list of facts about this text; the words say which and why.
    """
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise ValueError(f"it gave {shown(found)}, which is no list of facts")
    lines = text.count("\n") + 1
    kept: dict[tuple[Any, ...], Fact] = {}
    for place, each in enumerate(found, start=1):
        if place > FACTS_OF_A_COMMIT:
            raise ValueError(f"it gave more than {FACTS_OF_A_COMMIT:,} facts")
        try:
            fact = _fact(each, lines)
        except InvalidInput as error:
            raise ValueError(f"fact {place}: {error}") from None
        kept.setdefault(fact.key, fact)
    return tuple(kept.values())


def _fact(given: Any, lines: int) -> Fact:
    if isinstance(given, Mapping):
        named = {_NAMES.get(str(name), str(name)): value for name, value in given.items()}
        unknown = sorted(set(named) - _FIELDS)
        if unknown:
            raise wrong(unknown[0], "is no field of a fact.")
        try:
            given = Fact(**named)
        except TypeError as error:
            raise InvalidInput(f"a fact lacks a field: {error}.") from None
    if not isinstance(given, Fact):
        raise InvalidInput(f"it is {shown(given)}, neither a Fact nor a mapping.")
    for name in ("subject", "predicate", "object"):
        value = getattr(given, name)
        if not isinstance(value, str) or not value.strip() or len(value) > FACT_TEXT_CHARACTERS:
            raise wrong(name, f"must be a text of 1 to {FACT_TEXT_CHARACTERS:,} characters, not {shown(value)}.")
    for name in ("section", "anchor"):
        value = getattr(given, name)
        if value is not None and not isinstance(value, str):
            raise wrong(name, f"must be a text or None, not {shown(value)}.")
    if given.object_kind not in KINDS:
        raise wrong("objectKind", f"is {shown(given.object_kind)}; it may be 'entity' or 'literal'.")
    sure = given.confidence
    if type(sure) not in (int, float) or not math.isfinite(sure) or not 0 <= sure <= 1:
        raise wrong("confidence", f"is {shown(sure)}; it may be 0 to 1.")
    for name in ("line_start", "line_end"):
        if type(getattr(given, name)) is not int:
            raise wrong(name, f"must be a whole number, not {shown(getattr(given, name))}.")
    if not 1 <= given.line_start <= given.line_end <= lines:
        raise wrong("lines", f"{given.line_start} to {given.line_end} are not within the text's {lines:,}.")
    values = {
        name: None if getattr(given, name) is None else moment(name, getattr(given, name))
        for name in ("valid_from", "valid_to")
    }
    begin, end = values["valid_from"], values["valid_to"]
    if begin is not None and end is not None and end < begin:
        raise wrong("valid_to", "lies before valid_from.")
    if (begin, end) == (given.valid_from, given.valid_to):
        return given
    return Fact(**{name: values.get(name, getattr(given, name)) for name in Fact.__dataclass_fields__})


@dataclass(slots=True, eq=False)
class Entry:
    """A commit as the fold keeps it, settled or not.

    Attributes
    ----------
    commit : Commit
    position : int
        Its place in the log.
    digest : str
        What the ids of its facts begin with.
    readers : frozenset of str or None
        Who may read it today; ``commit.readers`` is who might when it was recorded.
    correction : bool
        What it no longer states was never true.
    removed : bool
        The file is gone with it.
    facts : tuple of Fact or None
        What was extracted; None while it is pending.
    failed : str or None
        Why the extractor failed, the last time that it was tried.
    """

    commit: Commit
    position: int
    digest: str
    readers: Readers
    correction: bool = False
    removed: bool = False
    facts: tuple[Fact, ...] | None = None
    failed: str | None = None
    words: frozenset[str] = field(default_factory=frozenset)


def may_read(readers: Readers, caller: str | None) -> bool:
    """Tell whether a caller is among the readers; no caller reads only what everyone may."""
    return readers is None or (caller is not None and caller in readers)


def covers(wider: Readers, narrower: Readers) -> bool:
    """Tell whether all of the second readers are among the first."""
    return wider is None or (narrower is not None and narrower <= wider)


def digest(*parts: Any) -> str:
    """Give 20 hexadecimal digits that stand for some JSON values."""
    text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def path_text(argument: str, value: Any) -> str:
    """Take the path of a file or a folder in a space: names between slashes, none of them empty, ``.`` or ``..``."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(argument, f"must be a path such as alice/notes.md, but it is {shown(value)}.")
    if len(value) > PATH_CHARACTERS:
        raise wrong(argument, f"has {len(value):,} characters; at most {PATH_CHARACTERS:,} are taken.")
    if _CONTROL.search(value):
        raise wrong(argument, "holds a control character or a lone surrogate.")
    if "\\" in value:
        raise wrong(argument, f"is {shown(value)}; names in a path are parted by /.")
    if any(part in ("", ".", "..") or part != part.strip() for part in value.split("/")):
        raise wrong(
            argument, f"is {shown(value)}; a path begins at its space, such as alice/notes.md, without . or ..."
        )
    return value
