"""The strict YAML loader: YAML 1.2 core scalars, and nothing that JSON cannot say.

``read_yaml`` gives the value and where each part of it stands. Words such as ``on``, ``yes`` and
``2026-01-01`` are text; a number is the double that the engine would read.
"""

# mypy: disable-error-code="no-untyped-call"
# (PyYAML's stubs leave its parser untyped.)

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from recallkit.bounds import FRONT_MATTER_LEVELS
from recallkit.definitions.json_text import as_number, number_text
from recallkit.definitions.yaml_scanner import StrictParser, YamlRefused

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONE_RETURN = re.compile("\r(?!\n)")
# PyYAML reads these as line breaks, or drops them, as YAML 1.1 had it; in 1.2 they are characters as any.
_ONCE_BREAKS = "\x85\u2028\u2029\ufeff"

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """Where a value stands: line, column and index from 0, in code points of the text that was read."""

    line: int
    column: int
    index: int
    end: int = 0
    style: str | None = None


@dataclass(frozen=True)
class Wrong:
    """What keeps a text from being read, and where (from 0)."""

    words: str
    line: int
    column: int
    path: Path = ()


@dataclass
class YamlValue:
    """What was read: the JSON value, the place of every key and value, and what was wrong."""

    value: Any = None
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)
    empty: bool = False


def read_yaml(text: str) -> YamlValue:
    """Read one YAML document as a JSON value.

    Parameters
    ----------
    text : str
        The YAML, lines ending in LF or CRLF.

    Returns
    -------
    YamlValue
        ``wrong`` is empty when the text was read; otherwise ``value`` means nothing. Never raises on content.
    """
    found = YamlValue()
    for pattern, words in (
        (_UNPRINTABLE, "The character U+{:04X} cannot stand in YAML; write it as an escape in a double-quoted text"),
        (_LONE_RETURN, "A carriage return without a line feed (U+{:04X}) ends no line here; end lines with LF or CRLF"),
    ):
        match = pattern.search(text)
        if match:
            before = text[: match.start()]
            column = match.start() - (before.rfind("\n") + 1)
            found.wrong.append(Wrong(words.format(ord(match[0][0])), before.count("\n"), column))
            return found
    text += "" if text.endswith("\n") else "\n"  # the end of the text ends its last line too
    stand_ins = _stand_ins(text)
    try:
        parser = StrictParser(text.translate(stand_ins))
        _Reading(parser, found, {after: chr(before) for before, after in stand_ins.items()}).document()
    except YamlRefused as refused:
        found.wrong.append(_wrong(refused.words, refused.problem_mark))
    except MarkedYAMLError as error:
        parts = [part for part in (error.context, error.problem) if part]
        mark = error.problem_mark or error.context_mark
        found.wrong.append(_wrong(f"The front matter is not YAML: {', '.join(parts)}".replace("\n", " "), mark))
    except (YAMLError, ValueError, OverflowError) as error:
        found.wrong.append(Wrong(f"The front matter is not YAML: {error}".replace("\n", " "), 0, 0))
    return found


def scalar(text: str) -> Any:
    """What a plain scalar says under the core schema of YAML 1.2.

    Raises
    ------
    ValueError
        For a number that is not finite, which JSON cannot say.
    """
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    number: float
    if _DECIMAL.fullmatch(text):
        number = float(text)
    elif _OCTAL.fullmatch(text) or _HEX.fullmatch(text):
        try:
            number = float(int(text[2:], 8 if text[1] == "o" else 16))
        except OverflowError:
            number = math.inf
    elif _NOT_FINITE.fullmatch(text):
        number = math.nan
    else:
        return text
    if not math.isfinite(number):
        raise ValueError(f"{_short(text)} is no finite number, which JSON cannot say; a text stands in quotes")
    return as_number(number)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


def _wrong(words: str, mark: Any) -> Wrong:
    return Wrong(words, mark.line, mark.column) if mark else Wrong(words, 0, 0)


def _stand_ins(text: str) -> dict[int, str]:
    """A private character for each that YAML 1.1 read as a line break; one the text does not hold."""
    private = (chr(code) for code in range(0xF0000, 0xFFFFE))
    return {ord(once): next(each for each in private if each not in text) for once in _ONCE_BREAKS if once in text}


class _Reading:
    """One pass over the events of one document."""

    def __init__(self, parser: StrictParser, found: YamlValue, back: dict[str, str]) -> None:
        self.parser = parser
        self.found = found
        self.back = {ord(stand_in): once for stand_in, once in back.items()}

    def document(self) -> None:
        parser, found = self.parser, self.found
        parser.get_event()
        if parser.check_event(StreamEndEvent):
            found.empty = True
            return
        parser.get_event()
        first = parser.peek_event()
        found.empty = isinstance(first, ScalarEvent) and first.implicit[0] and not first.value
        found.value = self.node((), 1)
        parser.get_event()
        if parser.check_event(DocumentStartEvent):
            mark = parser.peek_event().start_mark
            raise YamlRefused("The front matter is one YAML document; a second one starts here", mark)

    def node(self, path: Path, level: int) -> Any:
        event = self.parser.get_event()
        self.found.values[path] = self.place(event)
        if isinstance(event, ScalarEvent):
            return self.text(event, path)
        if level > FRONT_MATTER_LEVELS:
            words = f"The front matter nests deeper than {FRONT_MATTER_LEVELS} levels"
            raise YamlRefused(words, event.start_mark)
        if isinstance(event, SequenceStartEvent):
            items: list[Any] = []
            while not self.parser.check_event(SequenceEndEvent):
                items.append(self.node((*path, len(items)), level + 1))
            self.parser.get_event()
            return items
        assert isinstance(event, MappingStartEvent)
        members: dict[str, Any] = {}
        while not self.parser.check_event(MappingEndEvent):
            event = self.parser.get_event()
            key = self.key(event, path)
            inner = (*path, key)
            if key in members:
                first = self.found.keys[inner].line
                self.error(
                    f"The key {_short(key)} appears twice in one mapping, first {self.distance(event, first)}",
                    event,
                    inner,
                )
                self.node((*inner, "again"), level + 1)
                continue
            self.found.keys[inner] = self.place(event)
            members[key] = self.node(inner, level + 1)
        self.parser.get_event()
        return members

    def distance(self, event: Any, first: int) -> str:
        up = event.start_mark.line - first
        return "on the same line" if not up else "on the line before" if up == 1 else f"{up} lines before"

    def key(self, event: Any, path: Path) -> str:
        if not isinstance(event, ScalarEvent):
            raise YamlRefused("A key is a text; a list or a mapping cannot be one in JSON", event.start_mark)
        value = self.text(event, path)
        if isinstance(value, str):
            return value
        if value is None:
            raise YamlRefused("A key is a text; put null in quotes, or name the key", event.start_mark)
        if isinstance(value, bool):
            return "true" if value else "false"
        return number_text(value)

    def text(self, event: ScalarEvent, path: Path) -> Any:
        text: str = event.value.translate(self.back) if self.back else event.value
        if event.implicit[0]:
            try:
                return scalar(text)
            except ValueError as error:
                self.error(str(error), event, path)
                return None
        if any("\ud800" <= each <= "\udfff" for each in text):
            # Two escapes of a surrogate pair are one character, as JSON has them.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return text

    def place(self, event: Any) -> Place:
        start, end = event.start_mark, event.end_mark
        return Place(start.line, start.column, start.index, end.index, getattr(event, "style", None))

    def error(self, words: str, event: Any, path: Path) -> None:
        mark = event.start_mark
        self.found.wrong.append(Wrong(words, mark.line, mark.column, path))
