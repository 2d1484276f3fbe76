"""The same on every store: views, steps and standings equal an uninterrupted fold's, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_documents import events, recall_text

import recallkit as rk
from recallkit.bounds import EVENT_BYTES
from recallkit.playbook import views
from recallkit.playbook.publishing import parsed

ROOT = Path(__file__).parent.parent
HISTORIES = {
    "campaign-reviews": "campaign-reviews.jsonl",
    "post-announcement": "campaign-reviews.jsonl",
    "agent-rewards": "agent-runs.jsonl.gz",
    "editing-text": "typing.jsonl.gz",
}
DOCUMENTS = sorted(path.stem for path in (ROOT / "notebooks" / "functions").glob("*.md"))


def same_as_a_fold(playbook: rk.Playbook, name: str, source: str) -> rk.Folding:
    """Hold a playbook's view to a fold of its history in a file."""
    function = rk.load(source, kind="recall")
    assert isinstance(function, rk.RecallFunction)
    folding = function.fold(playbook.history(), progress=False, name=name)
    assert playbook.view_text(name) == folding.view_text
    told = playbook.get_definition(type="recall", name=name).standing
    assert told == folding.standing
    with playbook._store.read() as db:
        row = views.view_row(db, name)
    assert row is not None
    assert row.steps == int(folding.trace.steps.sum())
    return folding


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_of_the_repository_keeps_the_same_view(playbook: rk.Playbook, document: str) -> None:
    source = (ROOT / "notebooks" / "functions" / f"{document}.md").read_text("utf-8")
    kind = "recall" if isinstance(rk.load(source), rk.RecallFunction) else "computation"
    playbook.create_definition(type=kind, name=document, source=source)
    history = rk.read_history(ROOT / "data" / HISTORIES.get(document, "campaign-reviews.jsonl"))
    assert playbook.import_history(history).recorded == len(history)
    playbook.catch_up()
    if kind == "computation":
        assert playbook.standing().empty
        return
    folding = same_as_a_fold(playbook, document, source)
    # and of the file itself, which lacks the record of the definition saved
    alone = rk.load(source).fold(history, progress=False, name=document)  # type: ignore[union-attr]
    assert (folding.view_text, folding.folded) == (alone.view_text, alone.folded)
    assert folding.trace.steps.tolist() == alone.trace.steps.tolist()
    imported = playbook.history()[1:]
    texts = [history.text(seq) for seq in history.seqs.tolist()]
    assert [imported.text(seq) for seq in imported.seqs.tolist()] == texts


@pytest.mark.parametrize("bad", ["raised", "size", "schema", "unfit", "work", "memory", "refused"])
def test_a_stalled_view_stands_as_its_fold_does(playbook: rk.Playbook, bad: str) -> None:
    bodies = {
        "raised": "throw new TypeError('no');",
        "size": "return 'x'.repeat(600000);",
        "schema": "return -1;",
        "unfit": "return undefined as unknown as View;",
        "work": "for (;;) {}",
        "memory": "return 'x'.padEnd(90_000_000, '-').length;",
        # the compiler takes so many groups, the engine does not: the module loads at no event
        "refused": f"return /{'(' * 300}{')' * 300}/.test('x') ? 1 : 2;",
    }
    body = f"""export function fold(view: View, event: Event): View {{
      if (event.data === 'bad') {{ {bodies[bad]} }}
      return typeof event.data === 'number' ? event.data : view;
    }}"""
    source = recall_text(body, initial=0, schema={"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]})
    playbook.create_definition(type="recall", name="stalls", source=source)
    playbook.import_history(events(1, 2, "bad", 4))
    playbook.catch_up()
    folding = same_as_a_fold(playbook, "stalls", source)
    assert folding.stall is not None
    assert folding.stall.kind == bad
    with playbook._store.read() as db:
        row = views.view_row(db, "stalls")
    assert row is not None
    assert row.stall == folding.stall


LISTS = """export function fold(view: View, event: Event): View {
  return [...view, [event.id, event.data ?? null, event.caller ?? null, Date.now()] as Json].slice(-40);
}"""


@settings(max_examples=8)
@given(
    data=st.lists(st.integers(-5, 5) | st.text(max_size=4) | st.none(), max_size=60),
    page=st.integers(1, 20),
    cuts=st.lists(st.integers(0, 60), max_size=3),
)
def test_a_view_is_the_same_however_its_history_falls_into_pages_and_openings(
    data: list[Any], page: int, cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = recall_text(
        LISTS, initial=[], schema={"type": "array"}, filters=[{"type": "t"}, {"type": "run_succeeded"}]
    )
    url = f"sqlite:///{tmp_path_factory.mktemp('pages') / 'playbook.db'}"
    places = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    whole = events(*data)
    with rk.Playbook(url) as playbook:
        playbook.create_definition(type="recall", name="lists", source=source)
    for start, stop in zip(places, places[1:] or [0], strict=False):
        with rk.Playbook(url, page_records=page) as playbook:
            playbook.publish_events(whole[start:stop])
            playbook.catch_up()
    with rk.Playbook(url, page_records=page) as playbook:
        playbook.catch_up()
        function = rk.load(source)
        folding = function.fold(playbook.history(), progress=False, page=7)  # type: ignore[union-attr]
        assert playbook.view_text("lists") == folding.view_text
        assert playbook.standing().folded.tolist() == [folding.folded]


# -- what a fold sees -----------------------------------------------------------------------------------------------

ECHO = "---\nlanguage: typescript\n---\nexport default function (input: Input): Json { return input; }\n"


def seen(playbook: rk.Playbook) -> list[dict[str, Any]]:
    return [playbook.history().event(seq) for seq in playbook.history().seqs.tolist()]


def test_what_a_fold_sees_of_runs_and_definitions(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="echo", source=ECHO, caller="ana")
    run = playbook.run_definition(type="computation", name="echo", input={"a": -0.0, "b": "é"}, caller="ben")
    playbook.update_definition(type="computation", name="echo", source=ECHO + "\n", caller="ana")
    playbook.retire_definition(type="computation", name="echo", caller="cy")
    created, started, succeeded, updated, retired = seen(playbook)
    records = playbook.list_playbook_events()
    assert [each["id"] for each in (created, started, succeeded, updated, retired)] == [each.id for each in records]
    assert all(len(each["time"]) == 24 and each["specversion"] == "1.0" for each in seen(playbook))
    base = {"specversion": "1.0", "source": "/definitions/computation/echo"}
    rest = {"id", "time"}
    assert {name: value for name, value in created.items() if name not in rest} == {
        **base, "type": "definition_created", "caller": "ana", "definitionversion": 1,
    }  # fmt: skip
    assert {name: value for name, value in updated.items() if name not in rest} == {
        **base, "type": "definition_updated", "caller": "ana", "definitionversion": 2,
    }  # fmt: skip
    assert {name: value for name, value in retired.items() if name not in rest} == {
        **base, "type": "definition_retired", "caller": "cy",
    }  # fmt: skip
    of_run = {
        "specversion": "1.0",
        "source": f"/runs/{run.run_id}",
        "subject": "computation/echo",
        "caller": "ben",
        "definitionversion": 1,
        "correlationid": run.run_id,
    }
    assert {name: value for name, value in started.items() if name not in rest} == {**of_run, "type": "run_started"}
    assert {name: value for name, value in succeeded.items() if name not in rest} == {
        **of_run, "type": "run_succeeded", "causationid": started["id"], "data": {"output": {"a": 0, "b": "é"}},
    }  # fmt: skip
    assert records[1].data == {"input": {"a": -0.0, "b": "é"}}
    assert records[2].metadata["causation_id"] == records[1].id


def test_a_rejected_run_has_its_reason_and_its_kind(playbook: rk.Playbook) -> None:
    raises = "---\nlanguage: typescript\n---\nexport default function (): Json { throw new Error('secret'); }\n"
    wants = ECHO.replace("typescript\n", "typescript\ninput: { schema: { type: object, required: [a] } }\n")
    playbook.create_definition(type="computation", name="raises", source=raises)
    playbook.create_definition(type="computation", name="wants", source=wants)
    playbook.run_definition(type="computation", name="raises")
    playbook.run_definition(type="computation", name="wants", input={})
    rejected = [each["data"] for each in seen(playbook) if each["type"] == "run_rejected"]
    assert rejected == [{"reason": "conflict", "kind": "unworkable"}, {"reason": "invalid_input"}]
    assert "secret" not in "".join(playbook.history().text(seq) for seq in playbook.history().seqs.tolist())


@pytest.mark.parametrize("past", [False, True])
def test_an_output_past_240_kib_is_told_as_its_size(playbook: rk.Playbook, past: bool) -> None:
    playbook.create_definition(type="computation", name="echo", source=ECHO)
    run = playbook.run_definition(type="computation", name="echo", input="")
    frame = len(playbook.history().text(2).encode())
    length = EVENT_BYTES - frame + past
    run = playbook.run_definition(type="computation", name="echo", input="é" * (length // 2) + "x" * (length % 2))
    assert run.ok
    assert run.record["output_bytes"] == length + 2
    text = playbook.history().text(4)
    event = parsed(text.encode())
    if past:
        assert event["data"] == {"output_bytes": length + 2}
        assert playbook.list_playbook_events()[4].data == {"output": run.output}
    else:
        assert len(text.encode()) == EVENT_BYTES
        assert event["data"] == {"output": run.output}
    assert playbook.get_run(run.run_id).output == run.output


@pytest.mark.parametrize(("levels", "told"), [(509, "output"), (510, "output_bytes"), (512, "output_bytes")])
def test_an_output_that_nests_deep_is_told_as_its_size(playbook: rk.Playbook, levels: int, told: str) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    playbook.create_definition(type="computation", name="echo", source=ECHO)
    assert playbook.run_definition(type="computation", name="echo", input=value).ok
    assert list(seen(playbook)[2]["data"]) == [told]


def test_no_input_is_ever_seen_by_a_fold(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="computation", name="drops", source=ECHO.replace("return input", "return 1"))
    playbook.run_definition(type="computation", name="drops", input={"secret": 1})
    assert all("secret" not in playbook.history().text(seq) for seq in range(3))


# -- imports --------------------------------------------------------------------------------------------------------


def test_an_import_can_be_repeated_and_keeps_what_the_history_repeats(playbook: rk.Playbook) -> None:
    twice = [*events(1, 2), *events(1)]
    assert playbook.import_history(twice).recorded == 3
    again = playbook.import_history([*twice, {**events(9)[0], "id": "new"}])
    assert (again.recorded, again.known) == (1, 3)
    assert playbook.history().attribute("id").tolist() == ["e0", "e1", "e0", "new"]
    with pytest.raises(rk.Conflict, match="nothing is imported"):
        playbook.import_history([{**events(9)[0], "id": "newer"}, *events(5)])
    assert len(playbook.history()) == 4


def test_an_import_keeps_order_times_ids_and_texts(playbook: rk.Playbook, tmp_path: Path) -> None:
    lines = [
        '{"specversion":"1.0","id":"b","type":"t","source":"/s","time":"2026-01-02T00:00:00Z","data":-0}',
        '{"specversion":"1.0", "id":"a","type":"t","source":"/s","time":"2026-01-01T00:00:00.1234567+02:00","data":1}',
        '{"specversion":"1.0","id":"nul\\u0000","type":"t\\u0000","source":"/s","data":12345678901234567890}',
    ]
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    playbook.import_history(path)
    assert [playbook.history().text(seq) for seq in range(3)] == lines
    recorded = [each.metadata["at"] for each in playbook.list_playbook_events()]
    assert recorded == ["2026-01-02T00:00:00.000Z", "2025-12-31T22:00:00.123Z", "2025-12-31T22:00:00.123Z"]
    assert playbook.import_history(path).known == 3


def test_a_published_event_that_was_imported_is_known(playbook: rk.Playbook) -> None:
    playbook.import_history(events(1))
    assert playbook.publish_event(events(1)[0])["id"] == "e0"
    with pytest.raises(rk.Conflict):
        playbook.publish_event(events(2)[0])
    assert len(playbook.history()) == 1
