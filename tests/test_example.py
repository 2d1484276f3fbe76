"""The format's own examples, to the letter: the view after three runs, and what a run returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recallkit as rk

# As the format prints them (recall, A function document).
VIEW = """
{
  "autumn-launch": [
    {
      "at": "2026-09-30T14:02:11.000Z",
      "verdict": "approve",
      "run": "/runs/0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b71"
    }
  ],
  "spring-sale": [
    {
      "at": "2026-10-01T09:15:42.000Z",
      "verdict": "reject: the budget is not stated",
      "run": "/runs/0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b72"
    },
    {
      "at": "2026-10-03T16:40:05.000Z",
      "verdict": "approve",
      "run": "/runs/0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b73"
    }
  ]
}
"""
OUTPUT = """
[
  {
    "at": "2026-10-03T16:40:05.000Z",
    "verdict": "approve",
    "run": "/runs/0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b73"
  }
]
"""


def compact(text: str) -> str:
    """The same JSON as the engine writes it: the keys in the order they stand."""
    return json.dumps(json.loads(text), separators=(",", ":"))


@pytest.fixture(scope="module")
def function(functions: Path) -> rk.RecallFunction:
    loaded = rk.load(functions / "campaign-reviews.md")
    assert isinstance(loaded, rk.RecallFunction)
    return loaded


@pytest.fixture(scope="module")
def folding(function: rk.RecallFunction, data: Path) -> rk.Folding:
    return function.fold(rk.read_history(data / "three-reviews.jsonl"))


def test_the_document_is_the_formats_own(campaign_reviews: str, post_announcement: str, shared: Path) -> None:
    spec = (shared / "spec" / "recall-function-format.txt").read_text(encoding="utf-8")
    assert campaign_reviews.strip() in spec
    assert post_announcement.strip() in spec


def test_the_view_after_three_runs_is_the_formats(folding: rk.Folding) -> None:
    assert folding.view_text == compact(VIEW)
    assert folding.state == "live"
    assert folding.folded == 3


def test_the_formats_input_gives_the_formats_output(function: rk.RecallFunction, folding: rk.Folding) -> None:
    run = function.run(folding, {"campaign": "spring-sale", "last": 1})
    assert run.ending == "succeeded"
    assert run.output_text == compact(OUTPUT)
    assert run.output == json.loads(OUTPUT)


def test_the_run_records_what_it_read(function: rk.RecallFunction, folding: rk.Folding) -> None:
    record = function.run(folding, {"campaign": "spring-sale", "last": 1}).record
    assert record["view"]["folded"] == 3
    last = {"id": "0199a3c4-7d2e-7c1a-9b3f-3f1e0d9c8b73", "time": "2026-10-03T16:40:05.000Z"}
    assert record["view"]["last_event"] == last
    assert record["work"] == 0
    assert record["input_bytes"] == len('{"campaign":"spring-sale","last":1}')
    assert record["output_bytes"] == len(compact(OUTPUT))


def test_each_fold_spends_no_checkpoint(folding: rk.Folding) -> None:
    assert folding.trace.checkpoints.tolist() == [0, 0, 0]


@pytest.mark.parametrize("campaign", ["constructor", "toString", "__proto__"])
def test_a_campaign_with_an_inherited_name_is_one_like_any_other(function: rk.RecallFunction, campaign: str) -> None:
    event = {
        "specversion": "1.0",
        "id": "1",
        "type": "run_succeeded",
        "source": "/runs/1",
        "subject": "reasoning/review-brief",
        "time": "2026-10-03T16:40:05.000Z",
        "data": {"output": {"campaign": campaign, "verdict": "approve"}},
    }
    assert function.run(function.fold([]), {"campaign": campaign}).output == []
    folding = function.fold([event])
    assert list(folding.view) == [campaign]
    output = function.run(folding, {"campaign": campaign}).output
    assert output == [{"at": "2026-10-03T16:40:05.000Z", "verdict": "approve", "run": "/runs/1"}]


def test_the_largest_view_takes_what_the_format_worked_out(function: rk.RecallFunction) -> None:
    """50 campaigns of 20 reviews, every name and verdict of control characters: 488,251 bytes."""
    control = "\x01"
    folding = function.fold(
        [
            {
                "specversion": "1.0",
                "id": str(number),
                "type": "run_succeeded",
                "source": f"/runs/0199a3c4-7d2e-7c1a-9b3f-{number:012x}",
                "subject": "reasoning/review-brief",
                "time": f"2026-10-03T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
                "data": {"output": {"campaign": chr(number % 50 + 1000) + control * 120, "verdict": control * 80}},
            }
            for number in range(1_000)
        ],
    )
    # the first character of each name tells the campaigns apart and takes 2 bytes of UTF-8 where the bound counts 6
    assert folding.state == "live"
    assert folding.trace.view_bytes.iloc[-1] == 488_251 - 50 * (6 - 2)


def test_the_second_example_keeps_the_last_50_outputs(functions: Path) -> None:
    keeps = rk.load(functions / "post-announcement.md")
    assert isinstance(keeps, rk.RecallFunction)
    posts = [
        {
            "specversion": "1.0",
            "id": str(number),
            "type": "run_succeeded",
            "source": f"/runs/{number}",
            "subject": "reasoning/post-announcement",
            "time": "2026-10-03T16:40:05.000Z",
            "data": {"output": {"post": "ü" * number}} if number % 2 else {"output_bytes": 300_000},
        }
        for number in range(4_060, 4_120)
    ]
    folding = keeps.fold(posts)
    assert len(folding.view) == 50
    assert [entry["output"] is None for entry in folding.view[:2]] == [True, False]
    # {"post":"üü…"} takes 11 bytes and 2 for each ü: 4,090 of them fit in 8,192 bytes, 4,091 do not
    kept = {entry["run"]: entry["output"] for entry in folding.view}
    assert kept["/runs/4089"] is not None
    assert kept["/runs/4091"] is None
    assert keeps.run(folding).output == folding.view
