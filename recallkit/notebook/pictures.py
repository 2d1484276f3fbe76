"""Small drawings as inline SVG: a function's picture, and a line no taller than a row of text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recallkit.definitions.overview import Diagram

_ROW: Final = 40
_BOX: Final = 28
_LETTER: Final = 6.6
_COLOURS: Final = {
    "filter": "#bf8a1b",
    "view": "#4a8fe0",
    "answer": "#2a9d57",
    "input": "#9b72cf",
    "program": "#4a8fe0",
    "output": "#2a9d57",
}


def picture(diagram: Diagram) -> str:
    """Draw a definition: filters to the view, the view and the input to the answer, from left to right."""
    columns: dict[str, int] = {}
    for node in diagram.nodes:
        columns[node.id] = _column(node.id, diagram)
    widths: dict[int, float] = {}
    for node in diagram.nodes:
        place = columns[node.id]
        widths[place] = max(widths.get(place, 0), 26 + _LETTER * len(_short(node.label)))
    lefts: dict[int, float] = {}
    x = 4.0
    for place in sorted(widths):
        lefts[place] = x
        x += widths[place] + 46
    tallest = max(sum(columns[node.id] == place for node in diagram.nodes) for place in widths)
    boxes: dict[str, tuple[float, float, float]] = {}
    for place in widths:
        inside = [node for node in diagram.nodes if columns[node.id] == place]
        top = (tallest - len(inside)) * _ROW / 2
        for row, node in enumerate(inside):
            boxes[node.id] = (lefts[place], top + row * _ROW + 6, widths[place])
    arrows = [_arrow(boxes[start], boxes[end]) for start, end in diagram.edges]
    drawn = [_box(boxes[node.id], _short(node.label), _COLOURS[node.kind]) for node in diagram.nodes]
    wide, tall = x - 42, tallest * _ROW + 2
    words = escape("; ".join(f"{_label(diagram, start)} to {_label(diagram, end)}" for start, end in diagram.edges))
    return (
        f'<svg viewBox="0 0 {wide:.0f} {tall}" width="{wide:.0f}" height="{tall}" role="img" aria-label="{words}" '
        'style="max-width:100%;height:auto;color:inherit">' + "".join(arrows) + "".join(drawn) + "</svg>"
    )


def _column(node: str, diagram: Diagram) -> int:
    """Return how many arrows lead to a box at most; a box that nothing leads to stands just before where it leads."""
    before = [start for start, end in diagram.edges if end == node]
    if before:
        return 1 + max(_depth(start, diagram) for start in before)
    after = [_depth(end, diagram) for start, end in diagram.edges if start == node]
    return min(after, default=1) - 1


def _depth(node: str, diagram: Diagram) -> int:
    return max((1 + _depth(start, diagram) for start, end in diagram.edges if end == node), default=0)


def _label(diagram: Diagram, node: str) -> str:
    return next(each.label for each in diagram.nodes if each.id == node)


def _short(label: str) -> str:
    return label if len(label) <= 48 else f"{label[:47]}…"


def _box(box: tuple[float, float, float], label: str, colour: str) -> str:
    x, y, wide = box
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{_BOX}" rx="6" fill="{colour}" fill-opacity=".16" '
        f'stroke="{colour}"/><text x="{x + wide / 2:.0f}" y="{y + 18:.0f}" text-anchor="middle" fill="currentColor" '
        f'font-size="12" font-family="var(--jp-ui-font-family, sans-serif)">{escape(label)}</text>'
    )


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x1, y1 = start[0] + start[2], start[1] + _BOX / 2
    x2, y2 = end[0] - 3, end[1] + _BOX / 2
    bend = (x1 + x2) / 2
    return (
        f'<path d="M{x1:.0f},{y1:.0f}C{bend:.0f},{y1:.0f} {bend:.0f},{y2:.0f} {x2:.0f},{y2:.0f}" fill="none" '
        f'stroke="currentColor" stroke-opacity=".6"/><path d="M{x2 + 2:.0f},{y2:.0f}l-7,-4v8z" fill="currentColor" '
        'fill-opacity=".6"/>'
    )


def sparkline(values: NDArray[Any], colour: str, *, bins: int = 240, tall: int = 36) -> str:
    """Draw the largest value of each of at most `bins` stretches as a line over an area, from zero up."""
    import numpy as np

    count = min(bins, len(values))
    starts = np.arange(count) * len(values) // count
    tops = np.maximum.reduceat(values, starts)
    most = max(1, int(tops.max()))
    step = 480 / max(1, count - 1)
    points = [f"{place * step:.1f},{tall - 1 - (tall - 4) * int(top) / most:.1f}" for place, top in enumerate(tops)]
    line = " ".join(points)
    return (
        f'<svg viewBox="0 0 480 {tall}" width="480" height="{tall}" preserveAspectRatio="none" role="img" '
        f'aria-label="the bytes of the view through the history, at most {most:,}" '
        f'style="display:block;max-width:100%"><polygon points="0,{tall} {line} 480,{tall}" fill="{colour}" '
        f'fill-opacity=".2"/><polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/></svg>'
    )
