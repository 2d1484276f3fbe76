"""Pictures of what the memories give back: facts in both times, a board of signals, the two legs of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from recallkit.errors import InvalidInput
from recallkit.memory.arguments import moment

if TYPE_CHECKING:
    import pandas as pd

    from recallkit.memory.recalled import Recalled
    from recallkit.notebook.chart import Chart

_STATUSES: Final = ("pending", "claimed", "acknowledged", "expired")
_LETTERS: Final = 44
_ROWS: Final = 60


def facts_timeline(frame: pd.DataFrame, *, now: Any = None) -> Chart:
    """Draw facts in both times: when each was true in the world, and when the graph believed it.

    Parameters
    ----------
    frame : DataFrame
        Of `Facts.timeline`; its first 60 rows are drawn.
    now : datetime, str or int, optional
        Where what has not ended is drawn to; a day after the last date when left out.

    Returns
    -------
    Chart
    """
    import altair as alt
    import pandas as pd

    from recallkit.notebook.chart import PALETTE, styled

    _columns(frame, "valid_from", "recorded_from", "subject")
    if frame.empty:
        raise InvalidInput("There is no fact to draw.", "/frame")
    given = frame.head(_ROWS)
    last: Any = given[["valid_from", "valid_to", "recorded_from", "recorded_to"]].max().max()
    end = last + pd.Timedelta(days=1) if now is None else pd.Timestamp(moment("now", now), unit="ms", tz="UTC")
    parts = []
    for name, words in (("valid", "true in the world"), ("recorded", "believed")):
        begin, to = given[f"{name}_from"], given[f"{name}_to"]
        parts.append(
            pd.DataFrame(
                {
                    "fact": _labels(given),
                    "place": range(len(given)),
                    "time": words,
                    "from": begin.dt.tz_localize(None),
                    "to": to.fillna(end).where(to.notna() | (begin < end), begin).dt.tz_localize(None),
                    "open": to.isna(),
                }
            )
        )
    data = pd.concat(parts, ignore_index=True)
    order = alt.EncodingSortField(field="place", op="min", order="ascending")
    y = alt.Y("fact:N", title=None, sort=order, axis=alt.Axis(labelLimit=300))
    times = ["true in the world", "believed"]
    colour = alt.Color("time:N", title=None, scale=alt.Scale(domain=times, range=PALETTE[:2]))
    base = alt.Chart(data).encode(y=y, yOffset=alt.YOffset("time:N", sort=times))
    bars = base.mark_bar(height=8, cornerRadius=3, opacity=0.85).encode(
        x=alt.X("from:T", title=None), x2="to:T", color=colour
    )
    open_ends = base.transform_filter("datum.open").mark_point(shape="triangle-right", filled=True, size=60, opacity=1)
    layers = alt.layer(bars, open_ends.encode(x="to:T", color=colour))
    return _chart(
        styled(layers, "Facts in two times; an arrow has not ended", 34 * len(given) + 20), "facts", len(given)
    )


def signal_board(found: Recalled) -> Chart:
    """Draw signals as a board: a column a status, the order of the recall from top to bottom."""
    import altair as alt
    import pandas as pd

    from recallkit.notebook.chart import PALETTE, styled

    rows = found.results[:_ROWS]
    if not rows or "status" not in rows[0]:
        raise InvalidInput("A board takes a recall of signals that found some.", "/found")
    places = dict.fromkeys(_STATUSES, 0)
    data = []
    for row in rows:
        status = row["status"] or "memory"
        place = places.get(status, 0)
        places[status] = place + 1
        by = f"{row['claimed_by']} has it" if status == "claimed" else f"by {row['actor']}" if row["actor"] else ""
        data.append({"status": status, "place": place, "text": _cut(row["text"], 26), "by": by})
    columns = [status for status in places if status in _STATUSES or places[status]]
    axis = alt.Axis(orient="top", labelAngle=0)
    base = alt.Chart(pd.DataFrame(data)).encode(
        x=alt.X("status:N", sort=columns, title=None, scale=alt.Scale(domain=columns), axis=axis),
        y=alt.Y("place:O", title=None, axis=None),
        color=alt.Color("status:N", legend=None, scale=alt.Scale(domain=columns, range=PALETTE)),
    )
    card = base.mark_rect(opacity=0.2, cornerRadius=5)
    words = base.mark_text(dy=-6, fontSize=10, color="gray").encode(text="text:N")
    small = base.mark_text(dy=9, fontSize=9, opacity=0.8).encode(text="by:N")
    tall = 46 * max(places.values())
    return _chart(styled(alt.layer(card, words, small), "Signals by their status", tall), "signals", len(rows))


def search_legs(found: Recalled) -> Chart:
    """Draw the two legs of a hybrid search: how well each result matches by words and by meaning, with its place."""
    import altair as alt
    import pandas as pd

    from recallkit.notebook.chart import ACCENT, styled

    rows = found.results[:_ROWS]
    if not rows or "matched_by" not in rows[0]:
        raise InvalidInput("The legs are those of a team recall that found something.", "/found")
    data = pd.DataFrame(
        [
            {
                "words": row["words"] or 0.0,
                "meaning": row["meaning"] or 0.0,
                "text": f"{place}. {_cut(row['text'], _LETTERS)}",
                "literal": "yes" if "literal" in row["matched_by"] else "no",
            }
            for place, row in enumerate(rows, start=1)
        ]
    )
    wide = max(float(data["words"].max()) * 1.8, 0.5)
    low, high = float(data["meaning"].min()) - 0.1, float(data["meaning"].max()) + 0.1
    base = alt.Chart(data).encode(
        x=alt.X("words:Q", title="by words (BM25)", scale=alt.Scale(domain=[0, wide])),
        y=alt.Y("meaning:Q", title="by meaning (cosine)", scale=alt.Scale(domain=[low, high], zero=False)),
    )
    points = base.mark_point(filled=True, size=80, color=ACCENT, opacity=1).encode(
        shape=alt.Shape("literal:N", title="holds the query's exact name", scale=alt.Scale(domain=["no", "yes"]))
    )
    names = base.mark_text(align="left", dx=8, fontSize=10, color="gray").encode(text="text:N")
    return _chart(styled(alt.layer(points, names), "The two legs of the search", 260), "legs", len(rows))


def _labels(frame: pd.DataFrame) -> list[str]:
    """Name each row; rows that read the same are told apart by what they cite."""
    labels: list[str] = []
    for row in frame.to_dict("records"):
        text = _cut(f"{row['subject']} – {row['predicate']}: {row['object']}", _LETTERS)
        number = 2
        label = text
        while label in labels:
            label, number = f"{text} ({number})", number + 1
        labels.append(label)
    return labels


def _columns(frame: Any, *names: str) -> None:
    missing = [name for name in names if name not in getattr(frame, "columns", ())]
    if missing:
        raise InvalidInput(f"The frame lacks the column {missing[0]}; it is that of facts.timeline().", "/frame")


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _chart(altair: Any, kind: str, rows: int) -> Chart:
    from recallkit.notebook.chart import Chart

    return Chart(altair, kind, rows, rows)
