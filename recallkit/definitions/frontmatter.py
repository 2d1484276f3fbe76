"""A document's two parts: the front matter on top, and the module below it.

The front matter opens with ``---`` on the document's first line and closes with the next ``---``. Every line
and column that a person sees counts the whole document from its opener, from 1; columns count UTF-16 code
units, as the compiler counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from recallkit.bounds import DOCUMENT_BYTES, PROBLEMS_TOLD
from recallkit.definitions.pointers import join_pointer, split_pointer
from recallkit.definitions.yaml_json import Path, Place, YamlValue, read_yaml
from recallkit.errors import Problem

BOM = "\ufeff"
_FENCE = re.compile(r"---[ \t]*\r?")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FIRST_LINE = 2  # of the front matter, in the document


@dataclass(frozen=True)
class Document:
    """A document as it was read.

    Attributes
    ----------
    text : str
        The whole document, without a byte order mark.
    front : dict
        The front matter as JSON values; empty when it could not be read.
    body : str
        The module, exactly as written: from the line after the closer to the end.
    body_line : int
        The document's line on which the body starts, from 1.
    problems : tuple of Problem
        What kept the document from being read, in the order of their lines.
    """

    text: str
    front: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    problems: tuple[Problem, ...] = ()
    yaml: YamlValue = field(default_factory=YamlValue, repr=False, compare=False)

    def locate(self, pointer: str) -> tuple[int, int]:
        """Where a JSON Pointer of the front matter stands.

        Parameters
        ----------
        pointer : str
            A JSON Pointer such as ``/view/schema``; what it names need not be there.

        Returns
        -------
        tuple of int
            Line and column, from 1, of the deepest part of the pointer that the front matter holds: of its key,
            or of the item of a list. The first line of the front matter where it holds none of it.
        """
        path = tuple(split_pointer(pointer))
        while path:
            found = self.place_of(path)
            if found:
                return _FIRST_LINE + found.line, self.column(found.line, found.column)
            path = path[:-1]
        return _FIRST_LINE, 1

    def place_of(self, path: Iterable[str], value: bool = False) -> Place | None:
        """The place of a key (or, with `value`, of what it holds), from 0 in the front matter; None when absent."""
        steps: Path = ()
        for step in path:
            inner = (*steps, step)
            if inner not in self.yaml.values:
                if not step.isdecimal() or (*steps, int(step)) not in self.yaml.values:
                    return None
                inner = (*steps, int(step))
            steps = inner
        if value:
            return self.yaml.values.get(steps)
        return self.yaml.keys.get(steps) or self.yaml.values.get(steps)

    def column(self, line: int, column: int) -> int:
        """A column of a front matter line (both from 0, in code points) as the compiler counts it, from 1."""
        lines = self.text.split("\n", line + _FIRST_LINE)
        text = lines[line + 1] if line + 1 < len(lines) else ""
        return utf16_length(text[:column]) + 1

    def problem(self, pointer: str, words: str, severity: Any = "error") -> Problem:
        """A problem that stands where `pointer` does."""
        line, column = self.locate(pointer)
        return Problem(words, severity, line, column, pointer)


def utf16_length(text: str) -> int:
    """How many UTF-16 code units a text takes."""
    return len(text) + sum(1 for each in text if ord(each) > 0xFFFF)


def read_document(source: str | bytes) -> Document:
    """Read a document: front matter, body, and where each part stands.

    Parameters
    ----------
    source : str or bytes
        The document; bytes are UTF-8. One byte order mark at its start is dropped.

    Returns
    -------
    Document
        Its ``problems`` say what kept it from being read (computation and recall, Fields and Bounds). Never
        raises on content.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        try:
            source = bytes(source).decode("utf-8")
        except UnicodeDecodeError as error:
            line = bytes(error.object[: error.start]).count(b"\n") + 1
            return _refused("", "A document is text in UTF-8; this byte is not", line)
    try:
        size = len(source.encode("utf-8"))
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        return _refused(source, "A document is text in UTF-8; it holds half of a surrogate pair", line)
    text = source.removeprefix(BOM)
    if size > DOCUMENT_BYTES:
        words = f"A document takes at most {DOCUMENT_BYTES:,} bytes in UTF-8; this one takes {size:,}"
        return _refused(text, words, 1)
    opener = _LINE.match(text)
    assert opener
    if not _FENCE.fullmatch(opener[0].removesuffix("\n")):
        return _refused(text, _not_an_opener(opener[0].rstrip()), 1)
    closer = _find_closer(text, opener.end())
    if closer is None:
        return _refused(text, "The front matter is never closed: a line of --- ends it", 1)
    front_text = text[opener.end() : closer.start()]
    body = text[closer.end() :]
    body_line = text.count("\n", 0, closer.end()) + 1 + (not closer[0].endswith("\n"))
    return _with_front(text, front_text, body, body_line)


def _refused(text: str, words: str, line: int) -> Document:
    return Document(text, problems=(Problem(words, line=line, column=1),))


def _not_an_opener(line: str) -> str:
    if line.startswith("+++"):
        return "The front matter is YAML between lines of ---; TOML between lines of +++ is not read"
    if line.startswith("---") and line.strip("- \t"):
        language = line.lstrip("-").strip()[:40]
        return f"The front matter is YAML and its first line is --- alone; {language} is never read or run"
    return "A document starts with its front matter: --- alone on the first line"


def _find_closer(text: str, start: int) -> re.Match[str] | None:
    for line in _LINE.finditer(text, start):
        if line[0].startswith("---") and _FENCE.fullmatch(line[0].removesuffix("\n")):
            return line
        if line.end() == len(text):
            return None
    return None


def _with_front(text: str, front_text: str, body: str, body_line: int) -> Document:
    found = read_yaml(front_text)
    unread = Document(text, {}, body, body_line, (), found)

    def problem(words: str, line: int, column: int, path: Path = ()) -> Problem:
        pointer = join_pointer(*path) if path else None
        return Problem(words, line=_FIRST_LINE + line, column=unread.column(line, column), pointer=pointer)

    problems = [problem(wrong.words, wrong.line, wrong.column, wrong.path) for wrong in found.wrong]
    if not problems and found.empty:
        problems.append(problem("The front matter is empty; it needs at least language: typescript", 0, 0))
    elif not problems and not isinstance(found.value, dict):
        problems.append(problem("The front matter is a mapping of fields, such as language: typescript", 0, 0))
    if not body.strip():
        words = "The body after the front matter is the TypeScript module; this document has none"
        problems.append(Problem(words, line=body_line, column=1))
    front = found.value if isinstance(found.value, dict) and not found.wrong else {}
    return Document(text, front, body, body_line, in_order(problems), found)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems sorted by their place, without repeats; at most 20 of a severity, then how many more."""
    unique = sorted(dict.fromkeys(problems), key=lambda each: (each.line or 1 << 30, each.column or 0))
    told: list[Problem] = []
    for severity, named in (("error", "problem"), ("warning", "warning")):
        kept = [each for each in unique if each.severity == severity]
        told += kept[:PROBLEMS_TOLD]
        more = len(kept) - PROBLEMS_TOLD
        if more > 0:
            told.append(Problem(f"and {more} more {named}{'s' if more > 1 else ''}", severity))  # type: ignore[arg-type]
    return tuple(sorted(told, key=lambda each: each.line or 1 << 30))
