"""What the command line reads: a document, a history and an input, each within bounds and with words for what fails."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recallkit.bounds import DOCUMENT_BYTES, HISTORY_BYTES, LEVELS, MIB
from recallkit.cli_words import one_line
from recallkit.errors import HistoryError, Problem, Refused

if TYPE_CHECKING:
    from recallkit.events.history import History
    from recallkit.functions import ComputationFunction, RecallFunction

READ_BYTES: Final = 16 * MIB
_ADDRESS: Final = re.compile(r"(sqlite|postgres|postgresql):")
_CONSTANT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b')
STDIN: Final = "-"


class UsageError(Exception):
    """The command, or a file that it names, is at fault; the words say what to do."""


@dataclass(frozen=True)
class Source:
    """A document as it was read: how it is named, its bytes, and its text for showing."""

    name: str
    data: bytes
    stem: str

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace").removeprefix("\ufeff")


def read_source(path: str) -> Source:
    """Read a document, from standard input for ``-``."""
    data = _bytes(path, "document")
    name = "<stdin>" if path == STDIN else path
    if len(data) > READ_BYTES:
        words = f"The document takes more than {READ_BYTES:,} bytes; it may take {DOCUMENT_BYTES:,}"
        raise Refused([Problem(words)], "")
    return Source(name, data, "" if path == STDIN else Path(path).stem)


def load_function(source: Source) -> RecallFunction | ComputationFunction:
    """Check and compile a document; raises Refused."""
    from recallkit.definitions import loading
    from recallkit.functions import ComputationFunction, RecallFunction

    definition = loading.read(source.data)
    if definition.kind == "recall":
        return RecallFunction(definition, source.stem)
    return ComputationFunction(definition, source.stem)


def history_name(source: str) -> str:
    """How a history is named to a person: an address without its password."""
    if source == STDIN:
        return "<stdin>"
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:…@", source) if _ADDRESS.match(source) else source


def open_history(source: str) -> History:
    """Read a history: a file, a database's address, or standard input for ``-``."""
    from recallkit.events.readers import read_history

    if source != STDIN and not os.path.exists(source):
        if _ADDRESS.match(source):
            return read_history(source)
        raise HistoryError(f"There is no file {one_line(source)}.")
    with _regular(source) as path:
        try:
            return read_history(path)
        except HistoryError as error:
            raise HistoryError(str(error).replace(path, history_name(source))) from None


@contextlib.contextmanager
def _regular(source: str) -> Iterator[str]:
    """Give the path of a plain file; a pipe is first written to one, since a history is read more than once over."""
    if source != STDIN:
        try:
            mode = os.stat(source).st_mode
        except OSError as error:
            raise HistoryError(f"{one_line(source)} cannot be read: {error.strerror}.") from None
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
            raise HistoryError(f"{one_line(source)} is a device, not a file of events.")
        if not stat.S_ISFIFO(mode):
            # a file whose name looks like a database's address is still a file
            yield f".{os.sep}{source}" if _ADDRESS.match(source) else source
            return
    with tempfile.TemporaryDirectory(prefix="recallkit-") as folder:
        path = Path(folder) / "events"
        left = HISTORY_BYTES
        with _stdin_or(source) as stream, path.open("wb") as file:
            while left > 0 and (piece := stream.read(min(MIB, left))):
                file.write(piece)
                left -= len(piece)
        yield str(path)


@contextlib.contextmanager
def _stdin_or(source: str) -> Iterator[Any]:
    if source != STDIN:
        with open(source, "rb") as file:
            yield file
        return
    if sys.stdin is None:
        raise UsageError("There is no standard input to read; name a file.")
    yield sys.stdin.buffer


def _bytes(path: str, what: str) -> bytes:
    try:
        with _stdin_or(path) as file:
            data: bytes = file.read(READ_BYTES + 1)
            return data
    except FileNotFoundError:
        from recallkit.events.paths import shown

        raise UsageError(f"There is no file {shown(path)}; name the {what} to read.") from None
    except IsADirectoryError:
        raise UsageError(f"{one_line(path)} is a folder; name the {what} in it.") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise UsageError(f"{one_line(path)} cannot be read: {words}.") from None


# An input


def read_input(given: str) -> Any:
    """Read a run's input: JSON text, ``@file``, or standard input for ``-``; strict JSON, the last of a key wins."""
    if given == STDIN or given.startswith("@"):
        path = given if given == STDIN else given[1:]
        if not path:
            raise UsageError(
                "--input @ lacks a name: write @ and the path of a JSON file, such as --input @input.json."
            )
        data = _bytes(path, "input")
        where = "standard input" if path == STDIN else one_line(path)
        if len(data) > READ_BYTES:
            raise UsageError(f"The input in {where} takes more than {READ_BYTES:,} bytes.")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(f"The input in {where} is not UTF-8 at byte {error.start + 1:,}.") from None
    else:
        text, where = given, "--input"
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise UsageError("The input in --input is not UTF-8.")
    return parse_input(text, where)


def parse_input(text: str, where: str = "--input") -> Any:
    """Parse strict JSON; a usage error shows the place where it is none.

    An integer stays exact, as in a document; ``-0`` stays negative, which the engine can tell from 0.
    """
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=_integer, parse_float=_float)
    except json.JSONDecodeError as error:
        raise UsageError(_not_json(text, where, error.msg, error.pos)) from None
    except _Constant as error:
        place = next((each.start() for each in _CONSTANT.finditer(text) if not each[0].startswith('"')), 0)
        raise UsageError(_not_json(text, where, f"{error} is no JSON", place)) from None
    except _TooLarge as error:
        place = max(0, text.find(str(error)))
        raise UsageError(_not_json(text, where, "No number is as large as this one", place)) from None
    except RecursionError:
        raise UsageError(f"The input in {where} nests deeper than {LEVELS} levels.") from None


class _Constant(Exception):
    pass


class _TooLarge(Exception):
    pass


def _no_constant(name: str) -> Any:
    raise _Constant(name)


def _integer(text: str) -> int | float:
    if len(text) > 400 or (len(text) > 300 and _float(text)):
        raise _TooLarge(text)
    number = int(text)
    return -0.0 if text == "-0" else number


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _TooLarge(text)
    return number


def _not_json(text: str, where: str, words: str, place: int) -> str:
    line = text.count("\n", 0, place) + 1
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    shown = text[start : end if end >= 0 else len(text)]
    column = place - start
    first = max(0, column - 40)
    part = one_line(shown[first : first + 70].replace("\t", " "))
    mark = " " * (len(one_line(shown[first:column].replace("\t", " "))) + (first > 0))
    told = f"line {line}, column {column + 1}" if line > 1 or "\n" in text else f"column {column + 1}"
    lead = "…" if first else ""
    hint = _hint(text)
    return f"The input in {where} is not JSON: {words}, at {told}.\n  {lead}{part}\n  {mark}^{hint}"


def _hint(text: str) -> str:
    if not text.strip():
        return (
            '\nLeave --input out for the empty input {}, or give JSON such as --input \'{"campaign": "spring-sale"}\'.'
        )
    if text.lstrip()[:1] in "{[" and '"' not in text:
        return "\nThe shell takes double quotes away: put single quotes around the whole, or give --input @file."
    return ""
