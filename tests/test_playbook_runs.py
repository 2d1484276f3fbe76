"""Runs through the operations: every ending and kind, what is recorded of it, ids that come again, turns."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from small_documents import events, recall_text

import recallkit as rk
from recallkit.bounds import INPUT_BYTES, RECALL_OUTPUT_BYTES
from recallkit.playbook.running import Runs
from recallkit.playbook.wakes import Turns
from recallkit.views.runs import Run

KEEPS = "return typeof event.data === 'number' ? event.data : view;"
FOLD = f"export function fold(view: View, event: Event): View {{ {KEEPS} }}"
ID = "0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b71"


def answering(body: str, **fields: Any) -> str:
    """A recall function that answers so; the answer stands on line 8."""
    return recall_text(f"{FOLD}\nexport function answer(view: View, input: Input): Output {{ {body} }}", **fields)


def program(body: str, front: str = "description: a test") -> str:
    """A computation function; its body stands on line 5."""
    return f"---\nlanguage: typescript\n{front}\n---\nexport default function (input: Input): Json {{ {body} }}\n"


def recall_run(playbook: rk.Playbook, source: str, input: Any = ..., **options: Any) -> Any:
    playbook.create_definition(type="recall", name="asked", source=source)
    playbook.import_history(events(1, 2, 3))
    playbook.catch_up()
    given = {} if input is ... else {"input": input}
    return playbook.run_definition(type="recall", name="asked", **given, **options)


def test_a_run_of_a_recall_function_succeeds_and_says_what_it_read(playbook: rk.Playbook) -> None:
    run = recall_run(playbook, answering("return (view as number) * 2;"))
    assert (run.ending, run.status, run.output, run.ok) == ("succeeded", "succeeded", 6, True)
    told = playbook.get_definition(type="recall", name="asked").standing
    view = {name: told[name] for name in ("version", "checkpoint", "checkpoint_at", "last_event", "folded")}
    assert run.record["view"] == {**view, "version": 1, "folded": 3, "checkpoint": "seq:3"}
    assert run.record["view"]["last_event"] == {"id": "e2", "time": "2026-01-01T00:02:00.000Z"}
    assert {"language", "work", "duration_ms", "input_bytes", "output_bytes", "view"} == set(run.record)
    assert (run.record["input_bytes"], run.record["output_bytes"], run.record["work"]) == (2, 1, 0)
    again = playbook.get_run(run.run_id)
    assert again == run
    assert isinstance(again, Run)
    assert (run.definition_version, run.started_by, run.rejection) == (1, "kit", None)
    assert run.started_at <= run.finished_at


def test_a_run_without_answer_returns_the_view(playbook: rk.Playbook) -> None:
    run = recall_run(playbook, recall_text(FOLD))
    assert (run.output, run.record["work"], run.record["duration_ms"]) == (3, 0, 0)


def test_a_run_never_waits_for_its_view(playbook: rk.Playbook) -> None:
    first = recall_run(playbook, recall_text(FOLD))
    playbook.publish_event({"source": "/s", "type": "t", "data": 9})
    second = playbook.run_definition(type="recall", name="asked")
    assert (second.output, second.record["view"]["folded"]) == (first.output, 3)


SIZE = "return 'x'.repeat(%d);"
UNWORKABLE = [
    ("raised", "throw new Error('no such campaign');", "The answer raised an error on line 8: Error: no such campaign"),
    ("overflow", "const f = (n: number): number => f(n + 1) + 1; return f(0);", "raised an error"),
    ("work", "for (;;) {}", "more work than a run may, 500 checkpoints"),
    (
        "memory",
        "const a: string[] = []; for (;;) a.push('x'.repeat(1e6) + a.length);",
        "more memory than a run may, 256 MiB",
    ),
    ("unfit", "return NaN;", "NaN"),
    ("deep", "let v: Json = 1; for (let i = 0; i < 513; i++) v = [v]; return v;", "deeper than 512 levels"),
    ("size", SIZE % (RECALL_OUTPUT_BYTES - 1), f"past the {RECALL_OUTPUT_BYTES:,} an output may take"),
]


@pytest.mark.parametrize(("body", "words"), [case[1:] for case in UNWORKABLE], ids=[case[0] for case in UNWORKABLE])
def test_an_answer_that_gives_no_output_is_unworkable(playbook: rk.Playbook, body: str, words: str) -> None:
    run = recall_run(playbook, answering(body))
    assert (run.ending, run.kind, run.status, run.output) == ("conflict", "unworkable", "rejected", None)
    assert words in run.detail
    assert run.rejection == {
        "type": "https://on.auto/problems/unworkable",
        "title": "Unworkable",
        "status": 409,
        "detail": run.detail,
        "reason": "conflict",
        "kind": "unworkable",
    }
    assert run.retry_after is None
    assert playbook.get_run(run.run_id) == run


def test_an_output_that_the_schema_refuses_is_unworkable(playbook: rk.Playbook) -> None:
    source = answering("return 2;", output={"schema": {"type": "number", "maximum": 1}})
    run = recall_run(playbook, source)
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert "output.schema" in run.detail


def test_the_largest_output_fits_with_its_record(playbook: rk.Playbook) -> None:
    run = recall_run(playbook, answering(SIZE % (RECALL_OUTPUT_BYTES - 2)))
    assert run.ok
    assert run.record["output_bytes"] == RECALL_OUTPUT_BYTES
    assert len(playbook.get_run(run.run_id).output) == RECALL_OUTPUT_BYTES - 2
    assert playbook.history().event(5)["data"] == {"output_bytes": RECALL_OUTPUT_BYTES}


def test_an_input_that_misses_its_schema_is_invalid_and_recorded(playbook: rk.Playbook) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "number"}}}
    run = recall_run(playbook, answering("return input.a;", input={"schema": schema}), {"a": "x"})
    assert (run.ending, run.kind, run.status) == ("invalid_input", None, "rejected")
    assert [problem.pointer for problem in run.problems] == ["/a"]
    assert run.rejection["status"] == 422
    assert run.rejection["errors"] == [{"detail": run.problems[0].words, "pointer": "/a"}]
    assert playbook.get_run(run.run_id) == run
    assert playbook.list_playbook_events(type="run_started")[0].data == {"input": {"a": "x"}}


def test_an_input_is_checked_before_the_views_state(playbook: rk.Playbook) -> None:
    source = answering("return 1;", input={"schema": {"type": "object", "required": ["a"]}})
    playbook.create_definition(type="recall", name="asked", source=source)
    assert playbook.run_definition(type="recall", name="asked").ending == "invalid_input"
    assert playbook.run_definition(type="recall", name="asked", input={"a": 1}).kind == "rebuilding"


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("given", [nested(513), "x" * INPUT_BYTES, {1: 2}, float("nan"), {"a": object()}])
def test_an_input_too_large_too_deep_or_no_json_is_refused_and_records_nothing(
    playbook: rk.Playbook, given: Any
) -> None:
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    run = playbook.run_definition(type="computation", name="echo", input=given, run_id=ID)
    assert (run.ending, run.status) == ("invalid_input", "rejected")
    assert len(playbook.history()) == 1
    with pytest.raises(rk.NotFound):
        playbook.get_run(ID)
    assert playbook.run_definition(type="computation", name="echo", input=nested(512), run_id=ID).ok


def test_an_input_left_out_is_an_empty_object_and_null_is_null(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    assert playbook.run_definition(type="computation", name="echo").output == {}
    assert playbook.run_definition(type="computation", name="echo", input=None).output is None


def test_an_answer_that_takes_too_long_is_unavailable(playbook: rk.Playbook) -> None:
    playbook._runs._seconds = 0.2
    run = recall_run(playbook, answering("return 'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b');"))
    assert (run.ending, run.kind, run.retry_after) == ("unavailable", None, 5)
    assert run.detail.startswith("The answer took longer than a run may")
    assert run.rejection["status"] == 503
    assert playbook.history().event(5)["data"] == {"reason": "unavailable"}


def test_a_runtime_that_breaks_down_fails_the_run(playbook: rk.Playbook, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise rk.EngineError("no engine")

    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    monkeypatch.setattr("recallkit.views.runs.Sandbox", broken)
    run = playbook.run_definition(type="computation", name="echo", run_id=ID)
    assert (run.ending, run.status, run.rejection["status"]) == ("failed", "failed", 500)
    failed = playbook.history().event(2)
    assert (failed["type"], "data" in failed) == ("run_failed", False)
    monkeypatch.undo()
    assert playbook.run_definition(type="computation", name="echo", run_id=ID).ok


# -- ids ------------------------------------------------------------------------------------------------------------


def test_the_same_id_again_gives_a_success_as_recorded(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="now", source=program("return Date.now();"))
    first = playbook.run_definition(type="computation", name="now", input={"a": 1}, run_id=ID.upper())
    assert first.run_id == ID
    again = playbook.run_definition(type="computation", name="now", input={"a": 1.0}, run_id=ID)
    assert again == first
    assert len(playbook.history()) == 3
    with pytest.raises(rk.Conflict):
        playbook.run_definition(type="computation", name="now", input={"a": True}, run_id=ID)
    playbook.create_definition(type="computation", name="other", source=program("return 1;"))
    with pytest.raises(rk.Conflict):
        playbook.run_definition(type="computation", name="other", input={"a": 1}, run_id=ID)


def test_after_a_conflict_the_latest_version_runs_under_the_same_id(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="fixed", source=program("throw new Error();"))
    assert playbook.run_definition(type="computation", name="fixed", run_id=ID).kind == "unworkable"
    playbook.update_definition(type="computation", name="fixed", source=program("return 1;"))
    run = playbook.run_definition(type="computation", name="fixed", run_id=ID)
    assert (run.output, run.definition_version) == (1, 2)
    types = [each.type for each in playbook.list_playbook_events() if each.metadata.get("run_id") == ID]
    assert types == ["run_started", "run_rejected", "run_started", "run_succeeded"]
    assert [each.run_id for each in playbook.list_runs()] == [ID]


def test_an_invalid_input_comes_back_as_recorded(playbook: rk.Playbook) -> None:
    wants = program("return 1;", "input: { schema: { type: object, required: [a] } }")
    playbook.create_definition(type="computation", name="wants", source=wants)
    first = playbook.run_definition(type="computation", name="wants", run_id=ID)
    playbook.update_definition(type="computation", name="wants", source=program("return 1;"))
    assert playbook.run_definition(type="computation", name="wants", run_id=ID) == first
    assert first.ending == "invalid_input"


def test_a_run_that_goes_on_is_not_begun_twice_and_one_cut_off_runs_again(
    playbook: rk.Playbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))

    def cut_off(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runs, "_answer", cut_off)
    with pytest.raises(KeyboardInterrupt):
        playbook.run_definition(type="computation", name="echo", run_id=ID)
    monkeypatch.undo()
    assert (playbook.get_run(ID).status, playbook.get_run(ID).ending) == ("started", "started")
    with pytest.raises(rk.Unavailable):
        playbook.run_definition(type="computation", name="echo", run_id=ID)
    clock = playbook._clock
    playbook._runs._now_ms = lambda: clock() + 60_000
    assert playbook.run_definition(type="computation", name="echo", run_id=ID).ok


# -- turns ----------------------------------------------------------------------------------------------------------


def test_four_run_at_once_and_one_that_finds_no_turn_is_unavailable(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    turns = playbook._runs._turns
    for _ in range(4):
        assert turns.take(0)
    playbook._runs._seconds = 0.05
    run = playbook.run_definition(type="computation", name="echo", run_id=ID)
    assert (run.ending, run.kind, run.retry_after) == ("unavailable", None, 5)
    assert "found no turn" in run.detail
    turns.end()
    playbook._runs._seconds = 10.0
    assert playbook.run_definition(type="computation", name="echo", run_id=ID).ok


def test_turns_come_in_the_order_asked() -> None:
    turns = Turns(1)
    assert turns.take()
    order: list[int] = []
    threads = []
    for number in range(3):
        thread = threading.Thread(target=lambda number=number: (turns.take(), order.append(number), turns.end()))
        thread.start()
        while len(turns._waiting) <= number:
            pass
        threads.append(thread)
    assert not turns.take(0.01)
    turns.end()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2]
    assert turns.take(0)


def test_runs_at_the_same_time_all_end(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    ended: list[Any] = []

    def ask(number: int) -> None:
        ended.append(playbook.run_definition(type="computation", name="echo", input=number).output)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == list(range(6))
    assert len(playbook.history()) == 13


# -- lists ----------------------------------------------------------------------------------------------------------


def test_runs_are_listed_the_newest_first_a_page_at_a_time(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    playbook.create_definition(type="computation", name="raises", source=program("throw 1;"))
    made = [playbook.run_definition(type="computation", name="echo", input=number).run_id for number in range(4)]
    made.append(playbook.run_definition(type="computation", name="raises").run_id)
    first = playbook.list_runs(limit=2)
    second = playbook.list_runs(limit=2, cursor=first.cursor)
    third = playbook.list_runs(limit=2, cursor=second.cursor)
    assert [run.run_id for page in (first, second, third) for run in page] == made[::-1]
    assert third.cursor is None
    assert all("output" not in run and "record" not in run for run in playbook.list_runs())
    assert [run.run_id for run in playbook.list_runs(name="raises")] == made[4:]
    assert [run.run_id for run in playbook.list_runs(status="rejected")] == made[4:]
    assert playbook.list_runs(status="rejected")[0].rejection["kind"] == "unworkable"
    assert len(playbook.list_runs(type="computation")) == 5
    assert playbook.list_runs(type="recall") == []


def test_runs_are_woken_followers_too(playbook: rk.Playbook) -> None:
    body = "export function fold(view: View, event: Event): View { return (view as number) + 1; }"
    playbook.create_definition(
        type="recall", name="runs", source=recall_text(body, filters=[{"type": "run_succeeded"}])
    )
    playbook.create_definition(type="computation", name="echo", source=program("return input;"))
    for _ in range(3):
        playbook.run_definition(type="computation", name="echo")
    playbook.catch_up()
    assert playbook.view("runs") == 3
