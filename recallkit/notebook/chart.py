"""One chart: how it looks, how it shows itself without a network, how it is saved."""

from __future__ import annotations

import hashlib
import os
import re
from html import escape
from pathlib import Path
from typing import Any, Final, Literal

from recallkit.errors import InvalidInput
from recallkit.files import check_writable, write_text, write_whole

ACCENT: Final = "#4a8fe0"
# A picture of more than that is of no use on a screen or on paper, and takes gigabytes to draw.
MOST_SCALE: Final = 20
RULE: Final = "#e5534b"
PALETTE: Final = [ACCENT, "#9b72cf", "#e0a030", "#2a9d8f", "#e5534b", "#7a9a3a", "#8a94a0"]
# Stands for the page's own text colour until it is known where the chart is drawn.
_TEXT: Final = "#010203"
# Reads on white and on near black, for a picture that cannot know what it stands on.
_MIDDLE: Final = "#7c8086"
_DARK_ON_WHITE: Final = "#24292f"

_mode: Literal["static", "interactive"] = "static"


def use(mode: Literal["static", "interactive"]) -> None:
    """Choose how charts show themselves from now on.

    Parameters
    ----------
    mode : {'static', 'interactive'}
        'static' draws SVG, which shows everywhere; 'interactive' shows a chart with tooltips and zoom, which needs a
        running kernel and adds about 0.9 MB to a saved notebook. Neither needs a network.
    """
    global _mode
    if mode not in ("static", "interactive"):
        raise InvalidInput(f"use takes 'static' or 'interactive'; this is {mode!r}.")
    _mode = mode


class Chart:
    """A chart that shows itself in a notebook, without a network and without changing anything for other charts.

    Attributes
    ----------
    altair : altair.LayerChart
        The chart as Altair has it, to build on.
    rows : int
        How many rows it draws.
    """

    def __init__(self, altair: Any, kind: str, events: int, rows: int) -> None:
        self.altair = altair
        self.rows = rows
        self._kind = kind
        self._events = events

    def __repr__(self) -> str:
        return f"<Chart {self._kind} of {self._events:,} event{'' if self._events == 1 else 's'}>"

    def svg(self, colour: str = _MIDDLE) -> str:
        """Return the chart as SVG; `colour` is that of its words and axes."""
        import vl_convert

        text: str = vl_convert.vegalite_to_svg(self.altair.to_dict(), vl_version=_version())
        return text.replace(_TEXT, colour)

    def save(self, path: str | os.PathLike[str], *, scale: float = 2.0) -> Path:
        """Write the chart as SVG or PNG, as the path's ending says; no browser and no network are needed.

        Raises
        ------
        InvalidInput
            The path ends in neither ``.svg`` nor ``.png``, or nothing can be written there.
        """
        target = check_writable(path, "chart")
        ending = target.suffix.lower()
        if ending not in (".svg", ".png"):
            raise InvalidInput(f"A chart is saved as .svg or .png; {target.name} ends in neither.")
        given: Any = scale
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= MOST_SCALE:
            raise InvalidInput(f"scale takes a number above 0, at most {MOST_SCALE}; this is {scale!r}.")
        drawn = _with_back(self.svg(_DARK_ON_WHITE))
        if ending == ".svg":
            return write_text(target, "chart", drawn)
        import vl_convert

        picture = vl_convert.svg_to_png(drawn, scale=scale)
        return write_whole(target, "chart", lambda place: place.write_bytes(picture))

    def _repr_mimebundle_(self, **_: Any) -> Any:
        if _mode == "interactive":
            import altair as alt

            alt.JupyterChart.enable_offline()
            shown = alt.JupyterChart(self.altair.configure(**_config(_MIDDLE)))._repr_mimebundle_()
            bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
            return {**(bundle or {}), "text/plain": repr(self)}, metadata
        drawn = self.svg()
        return {"text/html": _inline(drawn, repr(self)), "image/svg+xml": drawn, "text/plain": repr(self)}, {}


def styled(chart: Any, title: str, tall: int) -> Any:
    """Give a chart its size, its title and the kit's looks."""
    import altair as alt

    titled = alt.TitleParams(title, anchor="start", fontSize=13, color=_TEXT, offset=8)
    return chart.properties(width=620, height=tall, title=titled).configure(**_config(_TEXT))


def _config(colour: str) -> dict[str, Any]:
    axis = {
        "labelColor": colour,
        "titleColor": colour,
        "domainColor": colour,
        "tickColor": colour,
        "gridColor": colour,
        "domainOpacity": 0.4,
        "tickOpacity": 0.4,
        "gridOpacity": 0.14,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 14,  # a reader's font may be wider than the one that was measured
        "labelLimit": 240,
    }
    legend = {"labelColor": colour, "titleColor": colour, "orient": "top", "labelFontSize": 11, "symbolOpacity": 1}
    return {
        "axis": axis,
        "legend": legend,
        "title": {"color": colour},
        "view": {"stroke": None},
        "background": "transparent",
        "font": "sans-serif",
    }


def _version() -> str:
    import altair as alt

    # Altair names the Vega-Lite that it writes, such as v6.1.0; vl-convert knows it by its first two numbers.
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def _with_back(svg: str) -> str:
    return re.sub(r"(<svg\b[^>]*>)", r'\1<rect width="100%" height="100%" fill="#ffffff"/>', svg, count=1)


def _inline(svg: str, words: str) -> str:
    """Return SVG to stand in a page: in the page's own text colour, with names that meet no other chart's."""
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="([\w-]+)"', rf'id="rk{mark}-\1"', svg)
    svg = re.sub(r"url\(#([\w-]+)\)", rf"url(#rk{mark}-\1)", svg).replace(_MIDDLE, "currentColor")
    label = escape(words.strip("<>"))
    style = "max-width:100%;height:auto;background:none;color:var(--jp-content-font-color1,inherit)"
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" style="{style}" ', 1)
