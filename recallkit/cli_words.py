"""What the terminal shows: colours where they help, JSON that fits, problems with their line and a caret."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from recallkit.errors import Problem
    from recallkit.views.stalls import Stall

# The exit statuses of every command.
FINE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130

WIDTH: Final = 100
TAB: Final = 4
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# C0 but the line feed, DEL, C1, the marks that turn the writing direction, and lone surrogates: an id, an error or a
# file's name may hold any of them, and a terminal would obey them.
_UNSAFE: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Raw(str):
    """JSON text that goes into JSON output as it stands, so that no number is rewritten."""


def clean(text: object) -> str:
    """A text that a terminal shows rather than obeys."""
    return _UNSAFE.sub(_escaped, str(text))


def one_line(text: object) -> str:
    """The same, on one line."""
    return clean(text).replace("\n", "\\n")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return {9: "\\t", 13: "\\r"}.get(code, f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def width() -> int:
    """How many columns are written on."""
    return max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def paint(text: str, *styles: str, to: IO[str] | None = None) -> str:
    """A text in a style, where the output is a terminal that shows one."""
    stream = to if to is not None else sys.stdout
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or stream is None or not stream.isatty():
        return text
    return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


def bar(part: float, cells: int = 20) -> str:
    """A bar of so many cells, filled by a part from 0 to 1; anything above nothing shows."""
    eighths = min(cells * 8, max(round(part * cells * 8), 1 if part > 0 else 0))
    text = "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
    return text.ljust(cells, "·")


def share(part: float, whole: float) -> str:
    """A share in percent, never 0% of something."""
    percent = 100 * part / whole
    if part and percent < 0.1:
        return "under 0.1%"
    return f"{percent:.1f}%"


def count(number: int, noun: str) -> str:
    """A count with its noun: 1 event, 2,000 events."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# JSON


class _Number(str):
    pass


def read_engine(text: str) -> Any:
    """The engine's JSON text as values whose numbers keep their text."""
    return json.loads(text, parse_int=_Number, parse_float=_Number)


def pretty(text: str, columns: int | None = None, most_lines: int | None = None) -> tuple[str, int]:
    """JSON text in lines that fit, numbers as they stand; also how many lines were left out."""
    lines = _lay_out(read_engine(text), columns or width(), "", "", "")
    left = 0
    if most_lines is not None and len(lines) > most_lines:
        left = len(lines) - most_lines
        lines = lines[:most_lines]
    return clean("\n".join(lines)), left


def _flat(value: Any, room: int) -> str | None:
    """A value on one line, or None where it takes more room than there is."""
    if isinstance(value, _Number):
        text = str(value)
    elif isinstance(value, dict | list):
        brackets = "{}" if isinstance(value, dict) else "[]"
        parts = []
        used = 2
        members = value.items() if isinstance(value, dict) else ((None, each) for each in value)
        for key, each in members:
            head = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
            part = _flat(each, room - used - len(head))
            if part is None:
                return None
            parts.append(head + part)
            used += len(head) + len(part) + 2
            if used - 2 > room:
                return None
        text = f"{brackets[0]}{', '.join(parts)}{brackets[1]}"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= room else None


def _lay_out(value: Any, columns: int, indent: str, head: str, tail: str) -> list[str]:
    flat = _flat(value, columns - len(indent) - len(head) - len(tail))
    if flat is not None or not isinstance(value, dict | list) or not value:
        if flat is None:
            flat = value if isinstance(value, _Number) else json.dumps(value, ensure_ascii=False)
        return [f"{indent}{head}{flat}{tail}"]
    brackets = "{}" if isinstance(value, dict) else "[]"
    lines = [f"{indent}{head}{brackets[0]}"]
    members = list(value.items()) if isinstance(value, dict) else [(None, each) for each in value]
    for place, (key, each) in enumerate(members):
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        lines += _lay_out(each, columns, indent + "  ", name, "," if place < len(members) - 1 else "")
    lines.append(f"{indent}{brackets[1]}{tail}")
    return lines


def json_object(members: Mapping[str, Any]) -> str:
    """One JSON object on one line; a `Raw` member goes in as it stands."""
    parts = [f"{json.dumps(name)}:{_json(value)}" for name, value in members.items()]
    text = "{" + ",".join(parts) + "}"
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _json(value: Any) -> str:
    if isinstance(value, Raw):
        return value
    if isinstance(value, Mapping):
        return json_object(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# Problems of a document


def problem_lines(name: str, problems: Iterable[Problem], source: str, to: IO[str] | None = None) -> list[str]:
    """Problems as a compiler tells them: ``name:line:column: error: words``, the line, and a caret."""
    document = source.split("\n")
    lines: list[str] = []
    for problem in problems:
        where = "".join(f":{part}" for part in (problem.line, problem.column) if part is not None)
        colour = "red" if problem.severity == "error" else "yellow"
        severity = paint(f"{problem.severity}:", "bold", colour, to=to)
        field = f" ({one_line(problem.pointer)})" if problem.pointer and problem.pointer not in problem.words else ""
        lines.append(f"{one_line(name)}{where}: {severity} {one_line(problem.words)}{field}")
        lines += excerpt(document, problem.line, problem.column, to=to)
    return lines


def excerpt(document: list[str], line: int | None, column: int | None, to: IO[str] | None = None) -> list[str]:
    """A line of a document under its number, and a caret below the column (in UTF-16 units, from 1)."""
    if line is None or not 1 <= line <= len(document):
        return []
    text = document[line - 1].rstrip("\r")
    at = 0 if column is None else _place(text, column)
    room = width() - 10
    # Letters that a terminal must not obey are shown as their escapes, which take more room: cut what is shown.
    before = _visible(text[max(0, at - WIDTH) : at])
    start = max(0, len(before) - room * 2 // 3)
    shown = before[start:] + _visible(text[at : at + WIDTH])
    cut_left = "…" if start or at > WIDTH else ""
    cut_right = "…" if len(shown) > room or at + WIDTH < len(text) else ""
    gutter = f"{line:>5} │ "
    lines = [f"{paint(gutter, 'dim', to=to)}{cut_left}{shown[:room]}{cut_right}"]
    if column is not None:
        pad = " " * (_columns(before[start:]) + len(cut_left))
        lines.append(f"{paint('      │ ', 'dim', to=to)}{pad}{paint('^', 'bold', 'red', to=to)}")
    return lines


def _place(text: str, column: int) -> int:
    """Where a column counted in UTF-16 units stands in a text."""
    units = 1
    for place, letter in enumerate(text):
        if units >= column:
            return place
        units += 2 if ord(letter) > 0xFFFF else 1
    return len(text)


def _visible(text: str) -> str:
    return one_line(text.replace("\t", " " * TAB))


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) != 0 for letter in text)


def stall_lines(name: str, stall: Stall, source: str, to: IO[str] | None = None) -> list[str]:
    """A stall: its place and words, the document's line, the event, and what it would take to go on."""
    line = f":{stall.line}" if stall.line is not None else ""
    label = paint(f"stalled ({stall.kind}):", "bold", "red", to=to)
    lines = [f"{one_line(name)}{line}: {label} {one_line(stall.error)}"]
    lines += excerpt(source.split("\n"), stall.line, None, to=to)
    when = f", {one_line(stall.event['time'])}" if stall.event["time"] is not None else ""
    lines.append(f"  at event {stall.seq}: {one_line(stall.event['type'])} {one_line(stall.event['id'])}{when}")
    lines.append(f"  The view of the {count(stall.folded, 'event')} folded before it is kept.")
    for part in stall.details.get("largest", [])[:5]:
        lines.append(f"    {part['bytes']:>11,} bytes at {one_line(part['path']) or 'the top'}")
    return lines


# What is printed


def say(*lines: str, to: IO[str] | None = None) -> None:
    """Print lines to standard output, or where it is said."""
    for line in lines:
        print(line, file=to if to is not None else sys.stdout)


def say_json(members: dict[str, Any]) -> None:
    """Print one JSON object, in UTF-8 whatever the terminal's encoding is."""
    data = json_object(members).encode("utf-8") + b"\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def problem_members(problem: Problem) -> dict[str, Any]:
    """A problem as JSON output holds it."""
    return {name: getattr(problem, name) for name in ("severity", "line", "column", "pointer", "words")}
