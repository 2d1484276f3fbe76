"""The charts: aggregated first, drawn offline, changed for nobody else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scrubbed import ROOT, reviews, stalled

import recallkit as rk
from recallkit.bounds import FOLD_CHECKPOINTS, STEPS_PER_CHECKPOINT, VIEW_BYTES
from recallkit.errors import InvalidInput
from recallkit.notebook import charts as charts_of
from recallkit.notebook.charts import binned

KINDS = ["size", "work", "timings", "lag", "paths", "types"]


@pytest.fixture(autouse=True)
def _static() -> Iterator[None]:
    charts_of.use("static")
    yield
    charts_of.use("static")


def drawn(chart: Any, layer: int = 0) -> pd.DataFrame:
    """What a layer draws; Altair keeps what all layers share in the chart itself."""
    found = [each for each in (chart.altair.layer[layer].data, chart.altair.data) if isinstance(each, pd.DataFrame)]
    return found[0]


def texts(svg: str) -> list[str]:
    """The words of a drawing."""
    return [(each.text or "").strip() for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]


@pytest.mark.parametrize("kind", KINDS)
def test_each_shows_itself_as_svg_without_a_network(kind: str) -> None:
    chart = getattr(reviews().charts, kind)()
    bundle, _ = chart._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert bundle["text/plain"] == f"<Chart {kind} of 81 events>"
    ElementTree.fromstring(bundle["image/svg+xml"])
    assert "currentColor" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert "#010203" not in bundle["image/svg+xml"]


def test_bounds_are_drawn() -> None:
    assert f"bound: {VIEW_BYTES:,} bytes" in texts(reviews().charts.size().svg())
    steps = FOLD_CHECKPOINTS * STEPS_PER_CHECKPOINT
    assert f"bound: 500 checkpoints, {steps:,} steps" in texts(reviews().charts.work().svg())
    assert "bound: 10 seconds" in texts(reviews().charts.timings().svg())


def test_size_draws_the_view_s_bytes() -> None:
    folding = reviews()
    data = drawn(folding.charts.size())
    sizes = [len(folding.function.definition.initial), *folding.trace["view_bytes"]]
    assert data["high"].tolist() == sizes
    assert data["number"].tolist() == list(range(len(sizes)))


def test_foldings_are_compared_in_one_chart() -> None:
    svg = reviews().charts.size(stalled()).svg()
    assert "campaign-reviews (1)" in texts(svg)
    assert "the view (2)" in texts(svg)
    with pytest.raises(InvalidInput):
        reviews().charts.size(3)


def test_types_tell_what_was_folded() -> None:
    data = drawn(reviews().charts.types())
    folded = data[data["what"] == "folded"].set_index("type")["events"]
    assert folded["run_succeeded"] == 81
    assert folded.sum() == 81
    assert data["events"].sum() == 301


def test_lag_is_the_age_of_the_newest_folded_event() -> None:
    folding = reviews()
    data = drawn(folding.charts.lag())
    at = dict(zip(data["number"], data["high"], strict=True))
    seqs = folding.trace["seq"].tolist()
    assert at[seqs[0]] == at[seqs[-1]] == 0
    times = folding.history.events["time"]
    between = seqs[4] + 1
    if between not in seqs:
        assert at[between] == pytest.approx((times[between] - times[seqs[4]]).total_seconds())
    assert min(at) == seqs[0]


def test_data_is_aggregated_first() -> None:
    values = np.arange(100_000)
    frame = binned(values, values)
    assert len(frame) == 500
    assert frame["low"].iloc[0] == 0
    assert frame["high"].iloc[-1] == 99_999
    assert (frame["high"] >= frame["low"]).all()
    assert len(binned(np.empty(0), np.empty(0))) == 0
    assert binned(np.array([7]), np.array([3])).to_dict("list") == {"number": [7], "low": [3], "high": [3]}


def test_a_long_history_draws_few_rows(functions: Path) -> None:
    events = [
        {
            "specversion": "1.0",
            "id": f"{n}",
            "type": "run_succeeded",
            "source": f"/runs/{n}",
            "subject": "reasoning/review-brief",
        }
        for n in range(3_000)
    ]
    folding = rk.load(functions / "campaign-reviews.md").fold(events)
    for kind in KINDS:
        chart = getattr(folding.charts, kind)()
        assert chart.rows <= 2_000
        assert sum(len(drawn(chart, layer)) for layer in range(len(chart.altair.layer))) <= 4_000
        assert len(chart.svg()) < 400_000


def test_histories_that_give_nothing_to_draw(functions: Path) -> None:
    fn = rk.load(functions / "campaign-reviews.md")
    other = [{"specversion": "1.0", "id": "1", "type": "other", "source": "/s"}]
    for folding in (fn.fold([]), fn.fold(other)):
        for kind in KINDS:
            ElementTree.fromstring(getattr(folding.charts, kind)().svg())


def test_strangers_names_are_text(functions: Path) -> None:
    events = [{"specversion": "1.0", "id": "1", "type": "<script>alert(1)</script>", "source": "/s"}]
    folding = rk.load(functions / "campaign-reviews.md").fold(events)
    bundle, _ = folding.charts.types()._repr_mimebundle_()
    assert "<script" not in bundle["text/html"]
    assert "<script>alert(1)</script>" in texts(bundle["image/svg+xml"])


def test_charts_are_saved_without_a_browser(tmp_path: Path) -> None:
    svg = reviews().charts.size().save(tmp_path / "size.svg")
    assert texts(svg.read_text(encoding="utf-8"))[0]
    png = reviews().charts.size().save(tmp_path / "size.png")
    assert png.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidInput, match=r"\.svg or \.png"):
        reviews().charts.size().save(tmp_path / "size.pdf")


def test_interactive_is_a_widget_and_static_comes_back() -> None:
    charts_of.use("interactive")
    bundle, _ = reviews().charts.size()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "<Chart size of 81 events>"
    charts_of.use("static")
    assert "image/svg+xml" in reviews().charts.size()._repr_mimebundle_()[0]
    wrong: Any = "canvas"
    with pytest.raises(InvalidInput):
        charts_of.use(wrong)


def test_nothing_changes_for_other_charts() -> None:
    script = (
        "import altair as alt\n"
        "before = (alt.renderers.active, alt.data_transformers.active, alt.theme.active)\n"
        "import recallkit as rk, recallkit.notebook.charts\n"
        f"f = rk.load({str(ROOT / 'notebooks/functions/campaign-reviews.md')!r}).fold([])\n"
        "f.charts.size()._repr_mimebundle_()\n"
        "assert (alt.renderers.active, alt.data_transformers.active, alt.theme.active) == before\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_importing_the_kit_brings_no_charts_and_no_widgets() -> None:
    script = "import sys, recallkit; assert not {'altair', 'anywidget', 'ipywidgets', 'vl_convert'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
