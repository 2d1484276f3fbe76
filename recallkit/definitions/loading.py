"""From a document's text to a definition, or to the problems that keep it from being saved."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from recallkit.bounds import DOCUMENT_BYTES, MIB
from recallkit.definitions.checker import warm
from recallkit.errors import InvalidInput, Problem, Refused

if TYPE_CHECKING:
    from recallkit.definitions.computation import ComputationDefinition
    from recallkit.definitions.fields import Kind
    from recallkit.definitions.frontmatter import Document
    from recallkit.definitions.recall import RecallDefinition

Definition: TypeAlias = "RecallDefinition | ComputationDefinition"
Source = str | bytes | os.PathLike[str]

_WANTED = "a path, or the document's text, which starts with ---"
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
        The document's text. A path is read, and one line that names a file; one that looks like a path and names none
        is a problem.
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
    try:
        text = _text_or_file(source)
    except InvalidInput as error:
        if not isinstance(source, str):
            raise
        if _looks_like_path(source):
            return [Problem(str(error))]
        text = source  # a line of something else: told what a document starts with
    return list(_read(text, kind)[1])


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
    text = _text_or_file(source)
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
    return _text_or_file(source)


def _read(text: str | bytes, kind: Kind | None) -> tuple[Definition | None, Sequence[Problem]]:
    given: Any = kind
    if given is not None and not (isinstance(given, str) and given in ("recall", "computation")):
        raise InvalidInput(f"A document is of the kind recall or computation, not {kind!r:.60}")
    # The compiler loads in a process of its own while this one imports the parts that read a document.
    warm()
    from recallkit.definitions.frontmatter import read_document

    document = read_document(text)
    if (kind or detect_kind(document)) == "recall":
        from recallkit.definitions.recall import read_recall

        return read_recall(document)
    from recallkit.definitions.computation import read_computation

    return read_computation(document)


def is_text(source: object) -> bool:
    """Whether a document is given as its text: bytes, or a str of several lines or one that starts with ``---``."""
    if isinstance(source, str):
        return "\n" in source or source.lstrip("\ufeff").startswith("---")
    return isinstance(source, bytes | bytearray | memoryview)


def _looks_like_path(source: str) -> bool:
    return source.endswith((".md", ".markdown")) or any(mark in source for mark in ("/", os.sep))


def _text_or_file(source: Source) -> str | bytes:
    if is_text(source):
        return source if isinstance(source, str) else bytes(source)  # type: ignore[arg-type]
    try:
        path = os.fsdecode(source)
    except TypeError:
        raise InvalidInput(f"A document is a text or the path of a file, not {type(source).__name__}") from None
    if not path.strip():
        raise InvalidInput(f"The document is empty; give {_WANTED}")
    try:
        found = os.stat(path)
        if stat.S_ISREG(found.st_mode) and found.st_size <= MIB:
            return Path(path).read_bytes()
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {_shown(path)}; give {_WANTED}") from None
    except OSError as error:
        words = error.strerror or type(error).__name__
        raise InvalidInput(f"The file {_shown(path)} cannot be read: {words}; give {_WANTED}") from None
    except ValueError:
        raise InvalidInput(f"{_shown(path)} is no path of a file; give {_WANTED}") from None
    # a pipe would wait, and a device has no end
    if stat.S_ISREG(found.st_mode):
        words = f"takes {found.st_size:,} bytes; a document takes at most {DOCUMENT_BYTES:,}"
        raise InvalidInput(f"The file {_shown(path)} {words}")
    what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
    raise InvalidInput(f"{_shown(path)} is {what}; give {_WANTED}")


def _shown(path: str) -> str:
    from recallkit.events.paths import shown  # it brings pandas, which a document that is there does not need

    return shown(path)
