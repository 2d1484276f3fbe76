"""What the command line writes: a trace, a view, a page. Whole files or none: a full disk leaves no half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recallkit.cli_sources import UsageError, copy_hint
from recallkit.cli_words import one_line

if TYPE_CHECKING:
    import pandas as pd

TRACES: Final = (".parquet", ".csv", ".json")


def writable(path: str, what: str) -> None:
    """Refuse a place that nothing can be written to, before any work is done for it."""
    place = Path(path)
    folder = place.parent
    if place.is_dir():
        raise UsageError(f"{one_line(path)} is a folder; name the file that takes the {what}.")
    if not folder.is_dir():
        raise UsageError(f"There is no folder {one_line(folder)} to write the {what} in; make it first.")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"Nothing can be written in {one_line(folder)}; give the {what} another place.")


def trace_ending(path: str) -> str:
    """The ending of a trace's file, which says how it is written."""
    ending = Path(path).suffix.lower()
    if ending not in TRACES:
        raise UsageError(
            f"A trace is written as {', '.join(TRACES[:-1])} or {TRACES[-1]}; {one_line(path)} ends otherwise."
        )
    return ending


def write_trace(trace: pd.DataFrame, path: str) -> None:
    """Write a trace as its file's ending says."""
    ending = trace_ending(path)
    for name in ("event_id", "type"):
        # half a surrogate pair, which an id may hold, is no text that a file can
        trace = trace.assign(**{name: [str(text).encode("utf-8", "backslashreplace").decode() for text in trace[name]]})

    def write(place: Path) -> None:
        if ending == ".parquet":
            trace.to_parquet(place, index=False)
        elif ending == ".csv":
            trace.to_csv(place, index=False, date_format="%Y-%m-%dT%H:%M:%S.%fZ")
        else:
            trace.to_json(place, orient="records", date_format="iso", force_ascii=False)

    write_whole(path, "trace", write)


def write_text(text: str, path: str, what: str) -> None:
    """Write a text in UTF-8, with a line feed at its end."""
    write_whole(path, what, lambda place: place.write_bytes(f"{text}\n".encode("utf-8", "backslashreplace")))


def write_whole(path: str, what: str, write: Callable[[Path], object]) -> None:
    """Let a file be written beside its place, and put it there once it is whole."""
    writable(path, what)
    target = Path(os.path.realpath(path))
    made: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=".recallkit-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        made = Path(name)
        write(made)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        made.chmod(mode)
        made.replace(target)
    except OSError as error:
        words = error.strerror or str(error)
        raise UsageError(f"The {what} cannot be written to {one_line(path)}: {words}{copy_hint(path)}.") from None
    finally:
        if made is not None:
            with contextlib.suppress(OSError):
                made.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
