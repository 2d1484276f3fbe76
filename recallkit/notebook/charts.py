"""Charts of a folding: the view's size, the work and the time of its folds, what it is made of.

Every chart is aggregated before it is drawn: at most about 2,000 rows, whatever the history's length.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recallkit.bounds import FOLD_CHECKPOINTS, FOLD_SECONDS, STEPS_PER_CHECKPOINT, VIEW_BYTES
from recallkit.errors import InvalidInput
from recallkit.notebook.chart import ACCENT, PALETTE, RULE, Chart, styled, use
from recallkit.notebook.replay import replay

if TYPE_CHECKING:
    import pandas as pd

    from recallkit.folding import Folding

__all__ = ["Chart", "Charts", "use"]

BINS: Final = 500
TIMING_BINS: Final = 200
PATH_SAMPLES: Final = 120
PATHS: Final = 6
TYPES: Final = 20
FORMAT: Final = ",.0f"


def binned(numbers: Any, values: Any, bins: int = BINS) -> pd.DataFrame:
    """Aggregate values to at most `bins` stretches.

    Returns
    -------
    DataFrame
        number (where the stretch begins), low and high (the least and the largest value in it).
    """
    import pandas as pd

    numbers, values = np.asarray(numbers), np.asarray(values)
    count = min(bins, len(values))
    starts = np.arange(count) * len(values) // max(1, count)
    if not count:
        return pd.DataFrame({"number": [], "low": [], "high": []})
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return pd.DataFrame({"number": numbers[starts], "low": low, "high": high})


class Charts:
    """The charts of one folding; each shows itself in a notebook and saves itself to a file."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding

    def __repr__(self) -> str:
        return "<Charts: size(), work(), timings(), lag(), paths(), types()>"

    @property
    def _name(self) -> str:
        return self._folding.function.name or "the view"

    def size(self, *others: Folding) -> Chart:
        """Draw the view's bytes after each event, and the bound of 524,288.

        Parameters
        ----------
        *others : Folding
            More foldings, drawn in the same chart for comparison.
        """
        import altair as alt
        import pandas as pd

        frames = self._frames(others, "size", lambda folding: (0, _sizes(folding)))
        data = pd.concat(frames, ignore_index=True)
        scale, words = _scale(float(data["high"].max()), VIEW_BYTES)
        x = _x("events folded")
        y = alt.Y("high:Q", title=f"bytes of the view{words}", scale=scale, axis=alt.Axis(format=FORMAT, tickCount=5))
        colour = alt.Color("name:N", title=None, scale=alt.Scale(range=PALETTE), legend=_legend(bool(others)))
        base = alt.Chart(data.assign(low=data["low"].clip(lower=1), high=data["high"].clip(lower=1)))
        band = base.mark_area(opacity=0.25, interpolate="step-after").encode(x=x, y=y, y2="low:Q", color=colour)
        line = base.mark_line(interpolate="step-after", strokeWidth=1.8).encode(x=x, y=y, color=colour)
        layers = [band, line, *_rule(VIEW_BYTES, f"bound: {VIEW_BYTES:,} bytes", scale)]
        return self._chart(layers, "size", f"Size of the view of {self._name}", int(sum(map(len, frames))))

    def work(self, *others: Folding) -> Chart:
        """Draw the steps of each fold, the most of each stretch, and the bound of 500 checkpoints.

        Parameters
        ----------
        *others : Folding
            More foldings, drawn in the same chart for comparison.
        """
        import altair as alt
        import pandas as pd

        frames = self._frames(others, "work", lambda folding: (1, folding._fold.ledger.column("steps")))
        data = pd.concat(frames, ignore_index=True)
        bound = FOLD_CHECKPOINTS * STEPS_PER_CHECKPOINT
        scale, words = _scale(float(data["high"].max()) if len(data) else 1, bound)
        x = _x("events folded")
        y = alt.Y("high:Q", title=f"steps of a fold{words}", scale=scale, axis=alt.Axis(format=FORMAT, tickCount=5))
        colours = PALETTE if others else PALETTE[1:]
        colour = alt.Color("name:N", title=None, scale=alt.Scale(range=colours), legend=_legend(bool(others)))
        base = alt.Chart(data.assign(low=data["low"].clip(lower=1), high=data["high"].clip(lower=1)))
        band = base.mark_area(opacity=0.25, interpolate="step-after").encode(x=x, y=y, y2="low:Q", color=colour)
        line = base.mark_line(interpolate="step-after", strokeWidth=1.4).encode(x=x, y=y, color=colour)
        told = f"bound: {FOLD_CHECKPOINTS} checkpoints, {bound:,} steps"
        return self._chart(
            [band, line, *_rule(bound, told, scale)], "work", f"Work of each fold of {self._name}", len(data)
        )

    def _frames(
        self, others: tuple[Folding, ...], chart: str, column: Callable[[Folding], tuple[int, Any]]
    ) -> list[Any]:
        """A column of this folding and of others in bins, each with its name; `column` tells its first number too."""
        for each in others:
            if not hasattr(each, "function"):
                raise InvalidInput(f"{chart} takes foldings to compare with; this is a {type(each).__name__}.")
        frames = []
        for place, folding in enumerate((self._folding, *others), 1):
            first, values = column(folding)
            name = folding.function.name or "the view"
            frame = binned(np.arange(first, first + len(values)), values, BINS // (1 + len(others)))
            frames.append(frame.assign(name=f"{name} ({place})" if others else name))
        return frames

    def timings(self) -> Chart:
        """Draw the microseconds of the folds: the median, nine in ten and the slowest of each stretch."""
        import altair as alt
        import pandas as pd

        times = self._folding._fold.ledger.column("microseconds")
        count = min(TIMING_BINS, len(times))
        starts = np.arange(count) * len(times) // max(1, count)
        quantiles = [("slowest", 1.0), ("nine in ten", 0.9), ("median", 0.5)]
        if len(times) <= TIMING_BINS:
            quantiles = [("each fold", 0.5)]
        rows = []
        for start, end in itertools.pairwise([*starts.tolist(), len(times)]):
            for name, quantile in quantiles:
                value = max(0.1, float(np.quantile(times[start:end], quantile)))
                rows.append({"number": int(start) + 1, "fold": name, "us": value})
        data = pd.DataFrame(rows, columns=["number", "fold", "us"])
        scale = alt.Scale(type="log", nice=False)
        x = _x("events folded")
        y = alt.Y("us:Q", title="µs of a fold, log scale", scale=scale, axis=alt.Axis(format="~s", tickCount=5))
        order = [name for name, _ in quantiles]
        colours = alt.Scale(domain=order, range=[PALETTE[2], PALETTE[1], PALETTE[0]][-len(order) :])
        colour = alt.Color("fold:N", title=None, sort=order, scale=colours, legend=_legend(len(order) > 1))
        line = alt.Chart(data).mark_line(strokeWidth=1.4).encode(x=x, y=y, color=colour)
        bound = _rule(FOLD_SECONDS * 1e6, f"bound: {FOLD_SECONDS:g} seconds", scale)
        return self._chart([line, *bound], "timings", f"Time of each fold of {self._name}", len(data))

    def lag(self) -> Chart:
        """Draw how old the newest folded event is at each event of the history, in seconds of the events' own clock.

        A history in a file is read in one go, so nothing waits: what this shows is how stale a run's answer would have
        been at each moment, because the events between were none that the function folds.
        """
        import altair as alt

        fold = self._folding._fold
        history = self._folding.history
        clocks = history.clocks()
        last = np.searchsorted(fold.ledger.column("seqs"), history.seqs, side="right") - 1
        rows = np.searchsorted(history.seqs, fold.ledger.column("seqs"))
        known = last >= 0
        lag = np.maximum(0, clocks[known] - clocks[rows[last[known]]]) / 1_000 if known.any() else np.empty(0)
        data = binned(history.seqs[known], lag)
        x = _x("events of the history")
        y = alt.Y("high:Q", title="seconds since the last folded event", axis=alt.Axis(format="~s", tickCount=5))
        area = alt.Chart(data).mark_area(
            opacity=0.35, color=PALETTE[3], interpolate="step-after", line={"color": PALETTE[3]}
        )
        return self._chart([area.encode(x=x, y=y)], "lag", f"Age of what {self._name} knows", len(data))

    def paths(self) -> Chart:
        """Draw which members of the view take its bytes, through the history, from views kept on the way."""
        import altair as alt
        import pandas as pd

        from recallkit.notebook.tree import Tree, size

        samples = []
        for number, text in _sampled(self._folding):
            members = Tree(text).members("")
            samples.append((number, {str(key): size(value) for key, value in members.items()}))
        total: dict[str, int] = {}
        for _, weights in samples:
            for name, weight in weights.items():
                total[name] = max(total.get(name, 0), weight)
        heaviest = sorted(total, key=lambda name: -total[name])[:PATHS]
        rows = []
        for number, weights in samples:
            rows += [{"number": number, "path": _cut(name), "bytes": weights.get(name, 0)} for name in heaviest]
            rest = sum(weight for name, weight in weights.items() if name not in heaviest)
            rows.append({"number": number, "path": "others", "bytes": rest})
        data = pd.DataFrame(rows, columns=["number", "path", "bytes"])
        order = [*map(_cut, heaviest), "others"]
        colour = alt.Color("path:N", title=None, sort=order, scale=alt.Scale(domain=order, range=PALETTE))
        x = _x("events folded")
        y = alt.Y("bytes:Q", title="bytes of each member", stack="zero", axis=alt.Axis(format=FORMAT, tickCount=5))
        area = alt.Chart(data).mark_area(opacity=0.75, interpolate="step-after").encode(x=x, y=y, color=colour)
        return self._chart([area], "paths", f"What the view of {self._name} is made of", len(data))

    def types(self) -> Chart:
        """Draw how many events of each type the history has, and how many of them were folded."""
        import altair as alt
        import pandas as pd

        counts = self._folding.history.counts().head(TYPES)
        folded = self._folding.trace["type"].value_counts()
        rows = []
        for each in counts.itertuples(index=False):
            taken = int(folded.get(each.type, 0))
            rows.append({"type": _cut(str(each.type)), "what": "folded", "events": taken})
            rows.append({"type": _cut(str(each.type)), "what": "passed over", "events": int(str(each.events)) - taken})
        data = pd.DataFrame(rows, columns=["type", "what", "events"])
        order = [_cut(str(name)) for name in counts["type"]]
        y = alt.Y("type:N", title=None, sort=order)
        x = alt.X("events:Q", title="events", axis=alt.Axis(format=FORMAT, tickCount=6))
        domain = ["folded", "passed over"]
        colour = alt.Color("what:N", title=None, scale=alt.Scale(domain=domain, range=[ACCENT, "#9aa4af"]))
        bars = alt.Chart(data).mark_bar(height=13).encode(x=x, y=y, color=colour)
        return self._chart([bars], "types", "Events by type", len(data), tall=max(60, 22 * len(order)))

    def _chart(self, layers: list[Any], kind: str, title: str, rows: int, tall: int = 200) -> Chart:
        import altair as alt

        return Chart(styled(alt.layer(*layers), title, tall), kind, self._folding.folded, rows)


def _sizes(folding: Folding) -> Any:
    initial = len(folding.function.definition.initial.encode("utf-8", "surrogatepass"))
    return np.concatenate([[initial], folding._fold.ledger.column("bytes")])


def _x(title: str) -> Any:
    import altair as alt

    return alt.X("number:Q", title=title, scale=alt.Scale(nice=False), axis=alt.Axis(format=FORMAT, tickCount=10))


def _scale(peak: float, bound: int) -> tuple[Any, str]:
    """Choose a scale on which both what was measured and its bound can be read."""
    import altair as alt

    if peak * 4 < bound:
        return alt.Scale(type="log", domain=[1, bound * 1.6], nice=False, clamp=True), ", log scale"
    return alt.Scale(domain=[0, max(peak, bound) * 1.08], nice=False), ""


def _rule(bound: float, words: str, scale: Any) -> list[Any]:
    import altair as alt
    import pandas as pd

    base = alt.Chart(pd.DataFrame({"bound": [bound], "words": [words]}))
    y = alt.Y("bound:Q", scale=scale)
    rule = base.mark_rule(color=RULE, strokeDash=[5, 3], strokeWidth=1.4).encode(y=y)
    text = base.mark_text(color=RULE, align="left", baseline="bottom", dx=4, dy=-2, fontSize=11)
    return [rule, text.encode(y=y, x=alt.value(0), text="words:N")]


def _legend(wanted: bool) -> Any:
    import altair as alt

    return alt.Legend() if wanted else None


def _sampled(folding: Folding) -> Any:
    fold = folding._fold
    last = -1
    if fold.folded <= PATH_SAMPLES:
        yield from replay(fold)
        return
    for sample in range(PATH_SAMPLES):
        number, text = fold.keyframes.before(fold.folded * sample // PATH_SAMPLES)
        if number > last:
            yield number, text
            last = number
    if fold.folded > last:
        yield fold.folded, fold.view


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
