"""Work is counted to the step, and the stack ends where the format says: the pinned engine's own figures."""

from __future__ import annotations

import pytest
from small_documents import computation, events, recall

import recallkit as rk

# A function that calls itself, and the same that returns at once: the difference in steps is its calls, since the
# engine counts a step a call (the one that overflows is counted in both).
DEEPER = "export function r(n: number): number { return r(n + 1) + 1; }\n"
ONCE = "export function r(n: number): number { return n + 1; }\n"
CALLS = "{ try { return r(0); } catch { return -1; } }"
# The same, told by the function itself.
COUNTED = """{
  let deepest = 0;
  const r = (n: number): number => { deepest = n; return r(n + 1) + 1; };
  try { r(1); } catch { return deepest; }
  return -1;
}"""


def test_a_function_that_calls_itself_overflows_after_5459_calls_in_a_run() -> None:
    deep = computation(f"{DEEPER}export default function (input: Input): Output {CALLS}").run()
    once = computation(f"{ONCE}export default function (input: Input): Output {CALLS}").run()
    assert (deep.output, once.output) == (-1, 1)
    assert deep.steps - once.steps == 5_459
    assert computation(f"export default function (input: Input): Output {COUNTED}").run().output == 5_459


def test_it_overflows_after_5459_calls_in_a_fold_too() -> None:
    deep = recall(f"{DEEPER}export function fold(view: View, event: Event): View {CALLS}").fold(events(1))
    once = recall(f"{ONCE}export function fold(view: View, event: Event): View {CALLS}").fold(events(1))
    assert (deep.view, once.view) == (-1, 1)
    assert deep.trace.steps[0] - once.trace.steps[0] == 5_459
    assert recall(f"export function fold(view: View, event: Event): View {COUNTED}").fold(events(1)).view == 5_459


def test_it_overflows_after_5459_calls_in_an_answer_too() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View { return view; }\n"
        f"export function answer(view: View, input: Input): Output {COUNTED}"
    )
    assert function.run(function.fold([])).output == 5_459


def test_the_overflow_is_an_error_that_the_program_may_catch_at_the_same_depth_every_time() -> None:
    body = """export default function (input: Input): Output {
  let deepest = 0;
  const r = (n: number): number => { deepest = n; return r(n + 1) + 1; };
  const once = (): number => {
    try { r(1); } catch (error) { return error instanceof Error ? deepest : -1; }
    return -2;
  };
  return Array.from({ length: 5 }, once);
}"""
    depths = computation(body).run().output
    assert len(set(depths)) == 1
    assert depths[0] > 5_000


@pytest.mark.parametrize(("turns", "steps"), [(0, 0), (1, 2), (1_000, 2_000), (100_000, 200_000)])
def test_a_turn_of_a_loop_is_two_steps(turns: int, steps: int) -> None:
    body = """export function fold(view: View, event: Event): View {
  const turns = Number(event.data);
  let n = 0;
  while (n < turns) n++;
  return n;
}"""
    trace = recall(body).fold(events(0, turns)).trace
    assert trace.steps[1] - trace.steps[0] == steps
    assert trace.checkpoints[1] == trace.steps[1] // 10_000


@pytest.mark.parametrize(("rows", "checkpoints"), [(1_000, 0), (2_000, 0), (3_911, 1)])
def test_the_formats_program_spends_the_checkpoints_that_the_format_tells(
    campaign_pace: str, rows: int, checkpoints: int
) -> None:
    pace = rk.load(campaign_pace)
    assert isinstance(pace, rk.ComputationFunction)
    given = [
        {"campaign": f"campaign-{number % 100:02d}", "cost_cents": number % 977, "budget_cents": 500_000}
        for number in range(rows)
    ]
    run = pace.run({"rows": given, "period": {"days_elapsed": 12, "days_total": 30}})
    assert run.ending == "succeeded"
    assert run.record["work"] == checkpoints


def test_the_work_of_one_fold_does_not_depend_on_those_before_it() -> None:
    body = """export function fold(view: View, event: Event): View {
  let n = 0;
  for (let i = 0; i < Number(event.data); i++) n += i % 3;
  return n;
}"""
    function = recall(body)
    alone = function.fold(events(30_000)).trace.steps[0]
    after = function.fold(events(7, 12_345, 30_000, 1, 30_000)).trace.steps
    assert after[2] == after[4] == alone


def test_500_checkpoints_may_be_spent_and_not_one_more() -> None:
    body = """export function fold(view: View, event: Event): View {
  const turns = Number(event.data);
  for (let i = 0; i < turns; i++) { /* a turn is two steps */ }
  return turns;
}"""
    function = recall(body)
    over = int(function.fold(events(0)).trace.steps[0])
    most = (5_009_999 - over) // 2
    trace = function.fold(events(most)).trace
    assert (trace.steps[0], trace.checkpoints[0]) == (5_009_999, 500)
    stalled = function.fold(events(most + 1)).stall
    assert stalled is not None
    assert stalled.kind == "work"


def test_a_fold_that_returns_its_view_does_no_work_worth_a_checkpoint() -> None:
    trace = recall("export function fold(view: View, event: Event): View { return view; }").fold(events(1, 2, 3)).trace
    assert trace.checkpoints.tolist() == [0, 0, 0]
    assert set(trace.steps) == {1}
