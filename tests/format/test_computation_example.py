"""The computation function format's example, *A function document*: its output, its bounds and its figures."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from sandbox_runs import run_program

import recallkit as rk
from recallkit.bounds import INPUT_BYTES
from recallkit.definitions.json_text import json_text

# As the format prints them.
INPUT = """
{
  "rows": [
    { "campaign": "spring-sale", "cost_cents": 125000, "budget_cents": 800000 },
    { "campaign": "spring-sale", "cost_cents": 98050, "budget_cents": 800000 },
    { "campaign": "summer-launch", "cost_cents": 40000, "budget_cents": 300000 }
  ],
  "period": { "days_elapsed": 12, "days_total": 31 }
}
"""
OUTPUT = """
{
  "campaigns": [
    {
      "campaign": "spring-sale",
      "spend_cents": 223050,
      "budget_cents": 800000,
      "projected_cents": 576212,
      "pace_permille": 720
    },
    {
      "campaign": "summer-launch",
      "spend_cents": 40000,
      "budget_cents": 300000,
      "projected_cents": 103333,
      "pace_permille": 344
    }
  ],
  "total_spend_cents": 263050
}
"""


@pytest.fixture(scope="module")
def pace(campaign_pace: str) -> rk.ComputationFunction:
    function = rk.load(campaign_pace)
    assert isinstance(function, rk.ComputationFunction)
    return function


def rows(count: int) -> list[dict[str, Any]]:
    """So many rows of 100 campaigns, of the size of the format's: 3,911 of them and their period take 262,092 bytes."""
    return [
        {"campaign": f"campaign-{number % 100:02d}", "cost_cents": 9_805, "budget_cents": 800_000}
        for number in range(count)
    ]


def given(count: int) -> dict[str, Any]:
    return {"rows": rows(count), "period": {"days_elapsed": 12, "days_total": 31}}


def test_the_document_is_the_formats_own(campaign_pace: str, shared: Path) -> None:
    """A function document: "This example turns rows of campaign costs into spend, projection and pace"."""
    assert campaign_pace.strip() in (shared / "spec" / "computation-function-format.txt").read_text("utf-8")


def test_the_formats_input_gives_the_formats_output_and_spends_no_checkpoint(pace: rk.ComputationFunction) -> None:
    """A function document: "the run succeeds with this output, and its record shows that it spent 0 checkpoints"."""
    run = pace.run(json.loads(INPUT))
    assert run.ending == "succeeded"
    assert run.output_text == json.dumps(json.loads(OUTPUT), separators=(",", ":"))
    assert run.record["work"] == 0


@pytest.mark.parametrize(("count", "checkpoints"), [(1_000, 0), (2_000, 0), (3_911, 1)])
def test_the_example_spends_0_0_and_1_checkpoints(pace: rk.ComputationFunction, count: int, checkpoints: int) -> None:
    """Bounds: "The example above spends no checkpoint on 1,000 or 2,000 rows, and 1 checkpoint on 3,911"."""
    run = pace.run(given(count))
    assert (run.ending, run.record["work"]) == ("succeeded", checkpoints)


def test_4000_rows_spend_1_checkpoint_in_the_engine_though_no_run_takes_them(pace: rk.ComputationFunction) -> None:
    """Bounds: "… or 4,000 rows"; "The largest input a run takes holds 3,911 such rows (262,092 bytes)".

    4,000 rows are more bytes than a run takes: the program itself is called in the sandbox, past the run's check.
    """
    ended = run_program(pace.definition.module, given(4_000))
    assert ended.kind == "returned"
    assert ended.spent["checkpoints"] == 1
    refused = pace.run(given(4_000))
    assert refused.ending == "invalid_input"
    assert refused.problems[0].words == f"The input takes 268,055 bytes as JSON; a run's takes {INPUT_BYTES:,}"


def test_the_largest_input_holds_3911_rows() -> None:
    """Bounds: "The largest input a run takes holds 3,911 such rows (262,092 bytes)"."""
    sizes = {count: len(json_text(given(count)).encode()) for count in (3_911, 3_912)}
    assert sizes[3_911] == 262_092
    assert sizes[3_911] <= INPUT_BYTES < sizes[3_912]


def test_rows_that_disagree_end_conflict_unworkable_with_the_formats_sentence(pace: rk.ComputationFunction) -> None:
    """A function document: "Rows of one campaign must carry the same budget" … "Otherwise it raises an error"."""
    disagree = json.loads(INPUT)
    disagree["rows"][1]["budget_cents"] = 750_000
    run = pace.run(disagree)
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert run.detail == (
        "The program raised an error on line 30: Error: The rows of spring-sale disagree on its budget: "
        "800000 and 750000"
    )


def test_days_elapsed_may_not_pass_days_total(pace: rk.ComputationFunction) -> None:
    """A function document: "days_elapsed may not pass days_total"."""
    run = pace.run({"rows": [], "period": {"days_elapsed": 32, "days_total": 31}})
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert run.detail == "The program raised an error on line 22: Error: days_elapsed 32 is past days_total 31"


def test_a_budget_of_0_gives_a_pace_of_null(pace: rk.ComputationFunction) -> None:
    """A function document: "A budget of 0 gives a pace_permille of null"."""
    run = pace.run({"rows": [{"campaign": "a", "cost_cents": 5, "budget_cents": 0}], **period(1, 2)})
    assert run.output["campaigns"][0]["pace_permille"] is None


def period(elapsed: int, total: int) -> dict[str, Any]:
    return {"period": {"days_elapsed": elapsed, "days_total": total}}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"rows": [{"campaign": "a", "cost_cents": 5_000_001, "budget_cents": 0}]}, "/rows/0/cost_cents"),
        ({"rows": [{"campaign": "a", "cost_cents": -1, "budget_cents": 0}]}, "/rows/0/cost_cents"),
        ({"rows": [{"campaign": "a", "cost_cents": 1.5, "budget_cents": 0}]}, "/rows/0/cost_cents"),
        ({"rows": [{"campaign": "a", "cost_cents": 0, "budget_cents": 1_000_000_001}]}, "/rows/0/budget_cents"),
        (period(0, 31), "/period/days_elapsed"),
        (period(1, 367), "/period/days_total"),
    ],
)
def test_an_input_outside_the_bounds_is_invalid_with_a_pointer_to_each_value(
    pace: rk.ComputationFunction, change: dict[str, Any], pointer: str
) -> None:
    """A function document: "An input outside those bounds is invalid_input, with a pointer to each value"."""
    run = pace.run({**json.loads(INPUT), **change})
    assert (run.ending, run.kind) == ("invalid_input", None)
    assert [problem.pointer for problem in run.problems] == [pointer]


def test_at_most_4000_rows(pace: rk.ComputationFunction) -> None:
    """A function document: "at most 4,000 rows": short rows, so that their bytes fit an input."""
    short = [{"campaign": "", "cost_cents": 0, "budget_cents": 0}]
    assert pace.run({"rows": short * 4_000, **period(1, 1)}).ending == "succeeded"
    run = pace.run({"rows": short * 4_001, **period(1, 1)})
    assert (run.ending, [problem.pointer for problem in run.problems]) == ("invalid_input", ["/rows"])


def test_the_largest_intermediate_value_stays_exact(pace: rk.ComputationFunction) -> None:
    """A function document: "the largest intermediate value … is at most … 7.32 × 10^15. That is below 2^53"."""
    assert 4_000 * 5_000_000 * 366 * 1_000 == 7_320_000_000_000_000 < 2**53
    largest = [{"campaign": "", "cost_cents": 5_000_000, "budget_cents": 1_000_000_000}] * 4_000
    found = pace.run({"rows": largest, **period(1, 366)}).output["campaigns"][0]
    assert found["projected_cents"] == 7_320_000_000_000
    assert found["pace_permille"] == 7_320_000_000_000_000 // 1_000_000_000


def test_whatever_the_rows_the_example_computes_what_python_computes(pace: rk.ComputationFunction) -> None:
    """A function document: "turns rows of campaign costs into spend, projection and pace per campaign, in cents"."""
    chance = random.Random(5)
    for _ in range(20):
        budgets = {f"c{number}": chance.randrange(0, 10**9 + 1) for number in range(chance.randrange(1, 9))}
        drawn = [
            {"campaign": name, "cost_cents": chance.randrange(0, 5_000_001), "budget_cents": budgets[name]}
            for name in chance.choices(list(budgets), k=chance.randrange(0, 40))
        ]
        total = chance.randrange(1, 367)
        elapsed = chance.randrange(1, total + 1)
        output = pace.run({"rows": drawn, **period(elapsed, total)}).output
        assert output["total_spend_cents"] == sum(row["cost_cents"] for row in drawn)
        for each in output["campaigns"]:
            spend = sum(row["cost_cents"] for row in drawn if row["campaign"] == each["campaign"])
            budget = budgets[each["campaign"]]
            projected = spend * total // elapsed
            assert (each["spend_cents"], each["projected_cents"]) == (spend, projected)
            assert each["pace_permille"] == (projected * 1000 // budget if budget else None)
        names = [each["campaign"] for each in output["campaigns"]]
        assert names == sorted({row["campaign"] for row in drawn})


def test_the_documents_of_the_workflows_that_are_computation_functions(shared: Path) -> None:
    """In a workflow (recall): "The computation function tally-verdicts" counts approvals and rejections."""
    text = (shared / "spec" / "recall-function-format.txt").read_text("utf-8")
    start = text.index("---\ndescription: Counts the approvals and rejections")
    tally = rk.load(text[start : text.index("\nThe workflow decide-on-campaign")].rstrip() + "\n")
    assert isinstance(tally, rk.ComputationFunction)
    verdicts = ["approve", "reject: no budget", "rejected", "none", "approve"]
    run = tally.run({"reviews": [{"verdict": each} for each in verdicts], "advice": {"approve": True}})
    assert run.output == {"approvals": 2, "rejections": 2, "approve": True}
