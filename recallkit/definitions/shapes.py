"""The shapes that ``output.shape`` names: the kit's own design, all in one table.

The formats name ``series``, ``categories``, ``table`` and ``text`` and leave their schemas open. These are
lists of records (and one text) that ``pandas.DataFrame(output)`` and ``alt.Data(values=output)`` take as
they are. A shape may add a rule that a schema cannot say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "number"}


@dataclass(frozen=True)
class Shape:
    """One shape of an output.

    Attributes
    ----------
    name : str
        As ``output.shape`` gives it.
    schema : JSON Schema
        What the output must match; it stands as the function's output schema.
    words : str
        What the output is, in a sentence for the overview.
    rule : callable or None
        Takes an output that matches the schema; gives the pointer and the words of what the shape's own rule
        refuses first, or None.
    """

    name: str
    schema: dict[str, Any]
    words: str
    rule: Callable[[Any], tuple[str, str] | None] | None = None


def _points_in_order(points: list[dict[str, Any]]) -> tuple[str, str] | None:
    """The points of each series go up: x never falls, and is always a number or always a text."""
    last: dict[Any, float | str] = {}
    kind: type | None = None
    for number, point in enumerate(points):
        x = point["x"]
        this = str if isinstance(x, str) else float
        if kind not in (None, this):
            return f"/{number}/x", "The x of every point is a number, or of every point a text"
        kind = this
        name = point.get("series")
        if name in last and _before(x, last[name]):
            return (
                f"/{number}/x",
                f"The points of a series stand in order: {_shown(x)} comes after {_shown(last[name])}",
            )
        last[name] = x
    return None


def _before(x: Any, previous: Any) -> bool:
    if isinstance(x, str):
        # By UTF-16 code unit, as the program sorts.
        return x.encode("utf-16-be", "surrogatepass") < str(previous).encode("utf-16-be", "surrogatepass")
    return bool(x < previous)


def _shown(x: Any) -> str:
    return str(x) if len(str(x)) <= 40 else f"{str(x)[:40]}…"


def _one_each(entries: list[dict[str, Any]]) -> tuple[str, str] | None:
    """A category stands once in each series."""
    seen: set[tuple[Any, str]] = set()
    for number, entry in enumerate(entries):
        pair = (entry.get("series"), entry["category"])
        if pair in seen:
            return (
                f"/{number}/category",
                f"A category stands once in a series: {_shown(entry['category'])} stands twice",
            )
        seen.add(pair)
    return None


def _same_columns(rows: list[dict[str, Any]]) -> tuple[str, str] | None:
    """Every row has the columns of the first."""
    for number, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            missing = [name for name in rows[0] if name not in row]
            added = [name for name in row if name not in rows[0]]
            what = f"lacks {missing[0]}" if missing else f"has {added[0]} too"
            return f"/{number}", f"The rows of a table have the same columns: this one {_shown(what)}"
    return None


SHAPES: Final[dict[str, Shape]] = {
    shape.name: shape
    for shape in (
        Shape(
            "series",
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["x", "y"],
                    "properties": {
                        "x": {"anyOf": [_NUMBER, _TEXT]},
                        "y": {"anyOf": [_NUMBER, {"type": "null"}]},
                        "series": _TEXT,
                    },
                    "additionalProperties": False,
                },
            },
            "A series of points in order, each with x, a number or a date as text, y, a number or nothing, "
            "and, where there are several series, the series' name.",
            _points_in_order,
        ),
        Shape(
            "categories",
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["category", "value"],
                    "properties": {
                        "category": _TEXT,
                        "value": {"anyOf": [_NUMBER, {"type": "null"}]},
                        "series": _TEXT,
                    },
                    "additionalProperties": False,
                },
            },
            "A list of categories, each with its value, a number or nothing, "
            "and, where there are several series, the series' name.",
            _one_each,
        ),
        Shape(
            "table",
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": {
                        "anyOf": [_TEXT, _NUMBER, {"type": "boolean"}, {"type": "null"}],
                    },
                },
            },
            "A table: a list of rows with the same columns, each cell a text, a number, true, false or nothing.",
            _same_columns,
        ),
        Shape("text", {"type": "string"}, "A text."),
    )
}
