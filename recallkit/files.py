"""Files that the kit writes: whole or not at all, and words for a place that takes none."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from recallkit.bounds import MIB
from recallkit.errors import InvalidInput


def check_writable(path: str | os.PathLike[str], what: str) -> Path:
    """Refuse a place that nothing can be written to, before any work is done for it.

    Raises
    ------
    InvalidInput
        It is no path, a folder, or in a folder that is not there or that takes nothing.
    """
    try:
        place = Path(os.fsdecode(path))
    except (TypeError, ValueError):
        raise InvalidInput(f"The {what} needs the path of a file, not {_kind(path)}.") from None
    if not str(path) or "\0" in str(place):
        raise InvalidInput(f"The {what} needs the path of a file; {os.fsdecode(path)!r} is none.")
    try:
        _refuse(place, what)
    except OSError as error:
        raise _failed(place, what, error) from None
    return place


def _refuse(place: Path, what: str) -> None:
    if place.is_dir():
        raise InvalidInput(f"{place} is a folder; name the file that takes the {what}.")
    if not place.parent.is_dir():
        raise InvalidInput(f"There is no folder {place.parent} to write the {what} in; make it first.")
    if not os.access(place.parent, os.W_OK):
        raise InvalidInput(f"Nothing can be written in {place.parent}; give the {what} another place.")


def write_whole(path: str | os.PathLike[str], what: str, write: Callable[[Path], object]) -> Path:
    """Let a file be written beside its place, and put it there once it is whole: a full disk leaves no half of one.

    Parameters
    ----------
    path : str or path
        The file; one that is there is replaced and keeps its mode.
    what : str
        What is written, for the words.
    write : callable
        Writes to the path that it is given.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InvalidInput
        It cannot be written there.
    """
    place = check_writable(path, what)
    made: Path | None = None
    try:
        target = Path(os.path.realpath(place))
        if target.exists() and not target.is_file():
            write(target)  # a pipe or a device, such as /dev/null, is written to and never replaced
            return place
        handle, name = tempfile.mkstemp(prefix=".recallkit-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        made = Path(name)
        write(made)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        made.chmod(mode)
        made.replace(target)
    except OSError as error:
        raise _failed(place, what, error) from None
    finally:
        if made is not None:
            with contextlib.suppress(OSError):
                made.unlink(missing_ok=True)
    return place


def write_text(path: str | os.PathLike[str], what: str, text: str) -> Path:
    """Write a text in UTF-8, whole or not at all; what no UTF-8 can hold is written as an escape."""
    return write_whole(path, what, lambda place: place.write_bytes(text.encode("utf-8", "backslashreplace")))


def _failed(place: Path, what: str, error: OSError) -> InvalidInput:
    words = error.strerror or str(error)
    return InvalidInput(f"The {what} cannot be written to {place}: {words}{_room(place)}. Give it another place.")


def _room(place: Path) -> str:
    try:
        free = shutil.disk_usage(place.parent).free
    except OSError:
        return ""
    return f" ({free // MIB:,} MiB are free there)"


def _kind(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
