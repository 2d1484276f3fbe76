"""From a document's text to a definition, or to the problems that keep it from being saved."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from recallkit.definitions.checker import warm
from recallkit.errors import InvalidInput, Problem, Refused

if TYPE_CHECKING:
    from recallkit.definitions.computation import ComputationDefinition
    from recallkit.definitions.fields import Kind
    from recallkit.definitions.frontmatter import Document
    from recallkit.definitions.recall import RecallDefinition

Definition: TypeAlias = "RecallDefinition | ComputationDefinition"
Source = str | bytes | os.PathLike[str]

_FOLD = re.compile(r"^[ \t]*export[ \t]+function[ \t]+fold\b", re.MULTILINE)


def detect_kind(document: Document) -> Kind:
    """Which kind of function a document is: recall when it names source or view or exports fold."""
    if "source" in document.front or "view" in document.front or _FOLD.search(document.body):
        return "recall"
    return "computation"


def check(source: Source, kind: Kind | None = None) -> list[Problem]:
    """Check a document as saving it would.

    Parameters
    ----------
    source : str, bytes or path
        The document's text. A path, or one line that names an existing file, is read.
    kind : {'recall', 'computation'}, optional
        Which kind of function it is; told from the document when left out.

    Returns
    -------
    list of Problem
        Sorted by line, warnings too; no error among them when the document would be saved. Never raises on
        content.

    Raises
    ------
    Unavailable
        No checker is ready to compile the module; try again.
    InvalidInput
        A path that cannot be read, or a kind that there is none of.
    """
    return list(_read(_text_or_file(source, must_exist=False), kind)[1])


def read(source: Source, kind: Kind | None = None) -> Definition:
    """Read a document into a definition.

    Parameters
    ----------
    source : str, bytes or path
        The document's text, or a path to it: a text has several lines or starts with ``---``.
    kind : {'recall', 'computation'}, optional
        Which kind of function it is; told from the document when left out.

    Returns
    -------
    RecallDefinition or ComputationDefinition

    Raises
    ------
    Refused
        The document cannot be saved; its ``problems`` say why.
    Unavailable, InvalidInput
        As for `check`.
    """
    text = _text_or_file(source, must_exist=True)
    definition, problems = _read(text, kind)
    if definition is None:
        raise Refused(problems, text if isinstance(text, str) else text.decode("utf-8", "replace"))
    return definition


def read_path_or_text(source: Source) -> str | bytes:
    """The text of a document that is given as text, or as the path of a file.

    A str with several lines, or that starts with ``---``, is the text itself; any other is a path.

    Raises
    ------
    InvalidInput
        There is no such file, or it cannot be read.
    """
    return _text_or_file(source, must_exist=True)


def _read(text: str | bytes, kind: Kind | None) -> tuple[Definition | None, Sequence[Problem]]:
    if kind not in (None, "recall", "computation"):
        raise InvalidInput(f"A document is of the kind recall or computation, not {kind!r}")
    # The compiler loads in a process of its own while this one imports the parts that read a document.
    warm()
    from recallkit.definitions.frontmatter import read_document

    document = read_document(text)
    if (kind or detect_kind(document)) == "recall":
        from recallkit.definitions.recall import read_recall

        return read_recall(document)
    from recallkit.definitions.computation import read_computation

    return read_computation(document)


def _text_or_file(source: Source, must_exist: bool) -> str | bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str):
        if "\n" in source or source.lstrip("\ufeff").startswith("---"):
            return source
        if not must_exist and not _is_file(source):
            return source
    elif not isinstance(source, os.PathLike):
        raise InvalidInput(f"A document is a text or the path of a file, not {type(source).__name__}")
    try:
        return Path(source).read_bytes()
    except FileNotFoundError:
        words = f"There is no file {os.fspath(source)!s}; give a path, or the document's text, which starts with ---"
        raise InvalidInput(words) from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"The file {os.fspath(source)!s} cannot be read: {error}") from None


def _is_file(source: str) -> bool:
    try:
        return bool(source) and Path(source).is_file()
    except (OSError, ValueError):
        return False
