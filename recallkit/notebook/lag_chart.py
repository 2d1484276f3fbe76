"""A chart of how far views were behind over time: a playbook's pages, or the replay of a history's arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallkit.notebook.chart import PALETTE, Chart, styled

if TYPE_CHECKING:
    import pandas as pd

POINTS = 500


def lag_chart(frame: pd.DataFrame, title: str, *, high: str = "lag_ms") -> Chart:
    """Draw the lag of one view or several.

    Parameters
    ----------
    frame : DataFrame
        at (UTC), name, lag_ms, and the column `high`: the most of each stretch is drawn.
    """
    import altair as alt
    import pandas as pd

    parts = []
    names = frame["name"].drop_duplicates().tolist()
    for name in names:
        part = frame[frame["name"] == name].reset_index(drop=True)
        size = max(1, -(-len(part) * max(1, len(names)) // POINTS))
        groups = part.groupby(part.index // size)
        parts.append(pd.DataFrame({"at": groups["at"].first(), "high": groups[high].max() / 1_000, "name": name}))
    data = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"at": [], "high": [], "name": []})
    data["at"] = pd.to_datetime(data["at"], utc=True)
    legend = alt.Legend(orient="top") if len(names) > 1 else None
    x = alt.X("at:T", title=None, scale=alt.Scale(type="utc"))
    y = alt.Y("high:Q", title="seconds behind", axis=alt.Axis(tickCount=5))
    colour = alt.Color("name:N", title=None, scale=alt.Scale(range=PALETTE), legend=legend)
    base = alt.Chart(data)
    area = base.mark_area(opacity=0.15, interpolate="step-after").encode(x=x, y=y, color=colour)
    line = base.mark_line(strokeWidth=1.4, interpolate="step-after").encode(x=x, y=y, color=colour)
    return Chart(styled(alt.layer(area, line), title, 200), "lag", len(frame), len(data))
