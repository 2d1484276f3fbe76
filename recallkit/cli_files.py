"""What the command line writes: a trace, a view, a page. Whole files or none: a full disk leaves no half of one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recallkit import files
from recallkit.cli_sources import UsageError
from recallkit.cli_words import one_line
from recallkit.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

TRACES: Final = (".parquet", ".csv", ".json")


def writable(path: str, what: str) -> None:
    """Refuse a place that nothing can be written to, before any work is done for it."""
    with _usage():
        files.check_writable(path, what)


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
    with _usage():
        files.write_whole(path, what, write)


@contextlib.contextmanager
def _usage() -> Iterator[None]:
    """Turn the words for a place that cannot be written into those of a usage error."""
    try:
        yield
    except InvalidInput as error:
        raise UsageError(one_line(error)) from None
