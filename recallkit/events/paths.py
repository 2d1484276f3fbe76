"""Paths to files of events: shown safely in messages, and refused where they name no regular file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from recallkit.bounds import HISTORY_BYTES, PATH_CHARACTERS
from recallkit.errors import HistoryError

_KINDS: Final = (
    (stat.S_ISDIR, "a folder; name a file of events in it"),
    (stat.S_ISFIFO, "a pipe, no regular file; write what comes out of it to a file first"),
    (stat.S_ISSOCK, "a socket, no regular file; write what comes out of it to a file first"),
    (stat.S_ISCHR, "a device, no regular file; name a file of events"),
    (stat.S_ISBLK, "a device, no regular file; name a file of events"),
)


def shown(path: str | os.PathLike[str]) -> str:
    """Give a path as a message can print it: on one line, whole characters only, and cut in the middle when long."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)
    if len(text) <= PATH_CHARACTERS:
        return text
    half = (PATH_CHARACTERS - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def check_file(path: Path, *, bounded: bool = True) -> None:
    """Refuse what is no regular file, before it is opened: a pipe would wait, and a device has no end.

    ``bounded`` where the whole file is read, and so may not be larger than a history.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise HistoryError(f"There is no file {shown(path)}.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        raise HistoryError(f"{shown(path)} is no path to a file: {error}.") from None
    for is_kind, words in _KINDS:
        if is_kind(found.st_mode):
            raise HistoryError(f"{shown(path)} is {words}.")
    if bounded and found.st_size > HISTORY_BYTES:
        raise too_large(path)


def unreadable(path: Path, error: OSError) -> HistoryError:
    """Say that the system cannot read a file."""
    return HistoryError(f"{shown(path)} cannot be read: {error.strerror or error}.")


def too_large(path: Path) -> HistoryError:
    """Say that a file holds more than is read."""
    return HistoryError(f"{shown(path)} holds more than {HISTORY_BYTES:,} bytes of events; split it into parts.")
