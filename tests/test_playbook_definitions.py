"""Definitions through the operations, and bad input to every one: clear words, nothing half-written."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_documents import events, recall_text

import recallkit as rk
from recallkit.playbook import schema
from recallkit.playbook.store import SqliteStore

FOLD = recall_text("export function fold(view: View, event: Event): View { return event.data ?? null; }")
OTHER = FOLD.replace("a test", "another")
ECHO = "---\nlanguage: typescript\n---\nexport default function (input: Input): Json { return input; }\n"


def test_a_definition_is_told_with_its_standing_and_overview(playbook: rk.Playbook) -> None:
    told = playbook.create_definition(type="recall", name="keeps", source=FOLD, caller="ana")
    assert told == playbook.get_definition(type="recall", name="keeps")
    assert (told.type, told.name, told.version, told.status) == ("recall", "keeps", 1, "active")
    assert (told.media_type, told.created_by, told.source) == ("text/markdown", "ana", FOLD)
    assert told.description == "a test"
    assert told.standing["state"] == "rebuilding"
    assert told.overview.startswith("a test")
    assert "Used by" not in told.overview
    assert "input_schema" not in told
    assert "retired_at" not in told
    assert told.retired_at is None
    echo = playbook.create_definition(type="computation", name="keeps", source=ECHO)
    assert "standing" not in echo
    assert echo.overview


def test_versions_count_from_1_and_the_same_text_records_nothing(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="recall", name="keeps", source=FOLD)
    assert playbook.update_definition(type="recall", name="keeps", source=FOLD).version == 1
    assert playbook.update_definition(type="recall", name="keeps", source=OTHER).version == 2
    assert playbook.update_definition(type="recall", name="keeps", source=FOLD).version == 3
    assert [event["definitionversion"] for event in playbook.history()] == [1, 2, 3]


def test_retiring_is_for_good(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="recall", name="keeps", source=FOLD)
    told = playbook.retire_definition(type="recall", name="keeps")
    assert (told.status, told.retired_at is not None, told.standing) == ("retired", True, None)
    assert playbook.retire_definition(type="recall", name="keeps") == told
    assert len(playbook.history()) == 2
    assert playbook.standing().empty
    with pytest.raises(rk.Conflict, match="never used again"):
        playbook.create_definition(type="recall", name="keeps", source=FOLD)
    for refused in (playbook.update_definition, lambda **options: playbook.run_definition(type="recall", name="keeps")):
        with pytest.raises(rk.NotFound, match="retired"):
            refused(type="recall", name="keeps", source=OTHER)
    playbook.catch_up()


def test_a_bad_document_is_refused_even_where_the_name_is_taken(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="recall", name="keeps", source=FOLD)
    with pytest.raises(rk.Refused) as refused:
        playbook.create_definition(type="recall", name="keeps", source=FOLD.replace("event.data", "evnt.data"))
    assert refused.value.problems[0].line == 7
    with pytest.raises(rk.Conflict):
        playbook.create_definition(type="recall", name="keeps", source=OTHER)
    with pytest.raises(rk.Refused):
        playbook.create_definition(type="computation", name="other", source=FOLD)
    assert len(playbook.history()) == 1


def test_a_playbook_keeps_so_many_recall_functions(playbook_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with rk.Playbook(playbook_url, max_functions=2) as playbook:
        playbook.create_definition(type="recall", name="first", source=FOLD)
        playbook.create_definition(type="recall", name="second", source=FOLD)
        with pytest.raises(rk.Conflict, match="RECALL_MAX_FUNCTIONS"):
            playbook.create_definition(type="recall", name="third", source=FOLD)
        playbook.create_definition(type="computation", name="third", source=ECHO)
        assert playbook.update_definition(type="recall", name="first", source=OTHER).version == 2
    # lowering it below what the playbook keeps refuses saves and nothing else
    monkeypatch.setenv("RECALL_MAX_FUNCTIONS", "1")
    with rk.Playbook(playbook_url) as playbook:
        with pytest.raises(rk.Conflict, match="at most 1"):
            playbook.update_definition(type="recall", name="first", source=FOLD)
        playbook.catch_up()
        assert playbook.standing().state.tolist() == ["live", "live"]
        playbook.retire_definition(type="recall", name="second")
        playbook.update_definition(type="recall", name="first", source=FOLD)
        with pytest.raises(rk.Conflict):
            playbook.create_definition(type="recall", name="fourth", source=FOLD)


def test_thirty_two_is_the_usual_bound(playbook: rk.Playbook) -> None:
    assert playbook._max_functions == 32


def test_definitions_are_listed_in_the_order_saved(playbook: rk.Playbook) -> None:
    for name in ("ccc", "aaa", "bbb"):
        playbook.create_definition(type="recall", name=name, source=FOLD)
    playbook.create_definition(type="computation", name="aaa", source=ECHO)
    playbook.update_definition(type="recall", name="ccc", source=OTHER)
    playbook.retire_definition(type="recall", name="aaa")
    first = playbook.list_definitions(limit=3)
    assert [each.name for each in first] == ["ccc", "aaa", "bbb"]
    assert [each.type for each in playbook.list_definitions(limit=3, cursor=first.cursor)] == ["computation"]
    assert [each.name for each in playbook.list_definitions(type="recall", status="active")] == ["ccc", "bbb"]
    assert first[0].version == 2


def test_a_definition_is_compiled_once_a_version_and_kept(
    playbook_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "keeps.md"
    path.write_text(FOLD, "utf-8")
    with rk.Playbook(playbook_url) as playbook:
        playbook.create_definition(type="recall", name="keeps", source=path)
        loaded = rk.load(ECHO)
        playbook.create_definition(type="computation", name="echo", source=loaded)
        playbook.import_history(events(1, 2))

    def unused(*_: Any) -> Any:
        raise AssertionError("the compiler was asked")

    monkeypatch.setattr("recallkit.definitions.recall.check_module", unused)
    monkeypatch.setattr("recallkit.definitions.computation.check_module", unused)
    with rk.Playbook(playbook_url) as playbook:
        playbook.catch_up()
        assert playbook.view("keeps") == 2
        assert playbook.run_definition(type="computation", name="echo", input=5).output == 5
        definition = playbook._definitions.get("computation", "echo", 1)
        for field in ("source", "module", "types", "description", "input_schema", "output_schema", "shape", "writes"):
            assert getattr(definition, field) == getattr(loaded.definition, field)


# -- bad input ------------------------------------------------------------------------------------------------------

BAD_NAMES = ["ab", "a" * 49, "Keeps", "1abc", "a_b", "", None, 5, "keeps\n", "keeps/x"]
Call = Callable[[rk.Playbook], Any]
BAD: list[tuple[str, Call, type[Exception], str | None]] = [
    ("a type there is none of", lambda p: p.get_definition(type="view", name="keeps"), rk.InvalidInput, "/type"),
    (
        "a type the kit lacks",
        lambda p: p.create_definition(type="workflow", name="keeps", source=FOLD),
        rk.InvalidInput,
        "/type",
    ),
    ("no type", lambda p: p.run_definition(type=None, name="keeps"), rk.InvalidInput, "/type"),
    ("a list as type", lambda p: p.get_definition(type=[], name="keeps"), rk.InvalidInput, "/type"),
    ("no such function to get", lambda p: p.get_definition(type="recall", name="absent"), rk.NotFound, None),
    ("no such function to run", lambda p: p.run_definition(type="recall", name="absent"), rk.NotFound, None),
    (
        "no such function to update",
        lambda p: p.update_definition(type="recall", name="absent", source=FOLD),
        rk.NotFound,
        None,
    ),
    ("no such function to retire", lambda p: p.retire_definition(type="recall", name="absent"), rk.NotFound, None),
    ("another type's name", lambda p: p.run_definition(type="computation", name="keeps"), rk.NotFound, None),
    (
        "a number as source",
        lambda p: p.create_definition(type="recall", name="other", source=5),
        rk.InvalidInput,
        "/source",
    ),
    (
        "a file there is none of",
        lambda p: p.create_definition(type="recall", name="other", source="no.md"),
        rk.InvalidInput,
        None,
    ),
    (
        "a document that is too large",
        lambda p: p.create_definition(type="recall", name="other", source=FOLD + "/" * 65536),
        rk.Refused,
        None,
    ),
    (
        "an empty caller",
        lambda p: p.create_definition(type="recall", name="other", source=FOLD, caller=""),
        rk.InvalidInput,
        "/caller",
    ),
    (
        "a caller that is too long",
        lambda p: p.run_definition(type="recall", name="keeps", caller="a" * 257),
        rk.InvalidInput,
        "/caller",
    ),
    (
        "a run id that is none",
        lambda p: p.run_definition(type="recall", name="keeps", run_id="1"),
        rk.InvalidInput,
        "/run_id",
    ),
    ("a run id in braces", lambda p: p.get_run("{" + str(uuid.uuid4())[:34] + "}"), rk.InvalidInput, "/run_id"),
    ("no such run", lambda p: p.get_run(str(uuid.uuid4())), rk.NotFound, None),
    ("no run id", lambda p: p.get_run(None), rk.InvalidInput, "/run_id"),
    ("no such record", lambda p: p.get_event("absent"), rk.NotFound, None),
    ("a number as record", lambda p: p.get_event(5), rk.InvalidInput, "/id"),
    ("a limit of none", lambda p: p.list_runs(limit=0), rk.InvalidInput, "/limit"),
    ("a limit past 100", lambda p: p.list_playbook_events(limit=101), rk.InvalidInput, "/limit"),
    ("a limit that is true", lambda p: p.list_definitions(limit=True), rk.InvalidInput, "/limit"),
    ("a cursor that is none", lambda p: p.list_runs(cursor="!"), rk.InvalidInput, "/cursor"),
    ("a number as cursor", lambda p: p.list_playbook_events(cursor=5), rk.InvalidInput, "/cursor"),
    (
        "another list's cursor",
        lambda p: p.list_runs(cursor=p.list_playbook_events(limit=1).cursor),
        rk.InvalidInput,
        "/cursor",
    ),
    ("a cursor with other letters", lambda p: p.list_runs(cursor="é"), rk.InvalidInput, "/cursor"),
    ("a status there is none of", lambda p: p.list_runs(status="waiting"), rk.InvalidInput, "/status"),
    ("a status of definitions", lambda p: p.list_definitions(status="live"), rk.InvalidInput, "/status"),
    ("a number as type of event", lambda p: p.list_playbook_events(type=5), rk.InvalidInput, "/type"),
    ("no such view", lambda p: p.view("absent"), rk.NotFound, None),
    ("no history", lambda p: p.import_history(5), rk.HistoryError, None),
    ("no event", lambda p: p.publish_event(5), rk.InvalidInput, "/event"),
    ("no events", lambda p: p.publish_events(None), rk.InvalidInput, "/events"),
    ("no pass", lambda p: p.catch_up(passes=0), rk.InvalidInput, "/passes"),
    ("a text as passes", lambda p: p.catch_up(passes="all"), rk.InvalidInput, "/passes"),
]


@pytest.mark.parametrize(("call", "error", "pointer"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_refused_with_clear_words_and_nothing_is_written(
    playbook: rk.Playbook, call: Call, error: type[Exception], pointer: str | None
) -> None:
    playbook.create_definition(type="recall", name="keeps", source=FOLD)
    playbook.publish_event({"source": "/s", "type": "t"})
    before = playbook.list_playbook_events()
    with pytest.raises(error) as raised:
        call(playbook)
    assert str(raised.value)
    assert getattr(raised.value, "pointer", None) == pointer
    assert playbook.list_playbook_events() == before


OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("no recall function", {"max_functions": 0}, "max"),
    ("half a place", {"max_rebuilds": 2.5}, "max"),
    ("true places", {"max_rebuilds": True}, "max"),
    ("a text as places", {"max_rebuilds": "4"}, "max"),
    ("pages of nothing", {"page_records": 0}, "page_records"),
    ("pages of a text", {"page_records": "x"}, "page_records"),
    ("no time for a fold", {"fold_seconds": 0}, "fold_seconds"),
    ("no number of seconds", {"fold_seconds": float("nan")}, "fold_seconds"),
    ("endless folds", {"fold_seconds": float("inf")}, "fold_seconds"),
    ("a text as seconds", {"fold_seconds": "x"}, "fold_seconds"),
    ("a number as clock", {"clock": 5}, "clock"),
]


@pytest.mark.parametrize(("options", "name"), [case[1:] for case in OPTIONS], ids=[case[0] for case in OPTIONS])
def test_a_bad_option_is_refused_when_a_playbook_is_opened(tmp_path: Path, options: Any, name: str) -> None:
    with pytest.raises(rk.InvalidInput) as raised:
        rk.Playbook(tmp_path / "it.db", **options)
    assert name in str(raised.value).lower()
    assert name in str(raised.value.pointer).lower()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("now", [-1, 253_402_300_800_000, 1.5, "now", None, True])
def test_a_clock_of_no_moment_records_nothing(playbook_url: str, now: Any) -> None:
    told: list[Any] = [1_790_000_000_000]
    with rk.Playbook(playbook_url, clock=lambda: told[0]) as playbook:
        playbook.create_definition(type="recall", name="keeps", source=FOLD)
        told[0] = now
        for call in (
            lambda: playbook.publish_event({"source": "/s", "type": "t"}),
            lambda: playbook.create_definition(type="recall", name="other", source=FOLD),
            lambda: playbook.retire_definition(type="recall", name="keeps"),
            lambda: playbook.run_definition(type="recall", name="keeps"),
        ):
            with pytest.raises(rk.InvalidInput, match="clock"):
                call()
        assert len(playbook.list_playbook_events()) == 1


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_bad_name_is_refused_by_every_operation(playbook: rk.Playbook, name: Any) -> None:
    for operation in (playbook.create_definition, playbook.update_definition):
        with pytest.raises(rk.InvalidInput) as raised:
            operation(type="recall", name=name, source=FOLD)
        assert raised.value.pointer == "/name"
    for operation in (playbook.get_definition, playbook.retire_definition, playbook.run_definition):
        with pytest.raises(rk.InvalidInput):
            operation(type="recall", name=name)


def test_what_no_text_column_takes_is_no_error(playbook: rk.Playbook) -> None:
    assert playbook.list_playbook_events(type="a\0b") == []
    with pytest.raises(rk.NotFound):
        playbook.get_event("a\0b")
    with pytest.raises(rk.NotFound):
        playbook.get_event("\ud800")


def test_a_closed_playbook_refuses_everything(playbook_url: str) -> None:
    playbook = rk.Playbook(playbook_url)
    playbook.create_definition(type="recall", name="keeps", source=FOLD)
    playbook.close()
    playbook.close()
    assert "closed" in repr(playbook)
    calls: list[Callable[[], Any]] = [
        lambda: playbook.publish_event({"source": "/s", "type": "t"}),
        lambda: playbook.create_definition(type="recall", name="other", source=FOLD),
        lambda: playbook.run_definition(type="recall", name="keeps"),
        playbook.history,
        playbook.standing,
        playbook.follow,
        playbook.list_runs,
    ]
    for call in calls:
        with pytest.raises(rk.Conflict, match="closed"):
            call()


# -- databases ------------------------------------------------------------------------------------------------------


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE things (x)")
    other.close()
    with pytest.raises(rk.InvalidInput, match="something else"):
        rk.Playbook(path)
    (tmp_path / "text.db").write_text("not a database, but a text of some length\n" * 30)
    with pytest.raises(rk.InvalidInput, match="no SQLite database"):
        rk.Playbook(tmp_path / "text.db")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("things",)]
    other.close()


def test_a_newer_kits_playbook_is_refused_and_an_older_ones_migrated(
    playbook_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rk.Playbook(playbook_url) as playbook:
        playbook.publish_event({"source": "/s", "type": "t", "id": "1"})
        number = playbook.id
    newer = {**schema.MIGRATIONS, 2: "CREATE TABLE more (x {int}); ALTER TABLE runs ADD COLUMN extra TEXT;"}
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", newer)
        patched.setattr(schema, "VERSION", 2)
        with rk.Playbook(playbook_url) as playbook:
            assert (playbook.id, len(playbook.history())) == (number, 1)
            with playbook._store.read() as db:
                assert "more" in playbook._store.tables(db)
        rk.Playbook(playbook_url).close()
    with pytest.raises(rk.Conflict, match="newer recallkit") as refused:
        rk.Playbook(playbook_url)
    assert refused.value.kind == "version"


def test_a_migration_that_fails_changes_nothing(playbook_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rk.Playbook(playbook_url).close()
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, 2: "CREATE TABLE more (x {int}); CREATE NONSENSE;"})
        patched.setattr(schema, "VERSION", 2)
        with pytest.raises(rk.Unavailable):
            rk.Playbook(playbook_url)
    with rk.Playbook(playbook_url) as playbook, playbook._store.read() as db:
        assert "more" not in playbook._store.tables(db)


def test_a_full_disk_records_nothing_by_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = SqliteStore._connect

    def small(self: SqliteStore) -> Any:
        connection = connect(self)
        connection.execute("PRAGMA max_page_count = 90")
        return connection

    monkeypatch.setattr(SqliteStore, "_connect", small)
    with rk.Playbook(tmp_path / "small.db") as playbook:
        playbook.create_definition(type="recall", name="keeps", source=FOLD)

        def fill() -> None:
            for number in range(100):
                several = [{"source": "/s", "type": "t", "id": f"{number}-{n}", "data": "x" * 5000} for n in range(3)]
                playbook.publish_events(several)

        with pytest.raises(rk.Unavailable, match="disk is full") as full:
            fill()
        assert full.value.kind == "full"
        recorded = playbook.history().where(type="t").attribute("id").tolist()
        assert len(recorded) % 3 == 0
        with pytest.raises(rk.Unavailable):
            playbook.create_definition(type="computation", name="echo", source=ECHO + "//" + "x" * 60000)
        assert playbook.list_definitions(type="computation") == []
    monkeypatch.undo()
    with rk.Playbook(tmp_path / "small.db") as playbook:
        playbook.catch_up()
        assert playbook.standing().folded.tolist() == [len(recorded)]


def test_a_writer_that_keeps_the_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallkit.playbook.store.BUSY_SECONDS", 0.05)
    with rk.Playbook(tmp_path / "busy.db") as playbook:
        other = sqlite3.connect(tmp_path / "busy.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(rk.Unavailable, match="Another process"):
            playbook.publish_event({"source": "/s", "type": "t"})
        other.execute("ROLLBACK")
        other.close()
        playbook.publish_event({"source": "/s", "type": "t"})


def test_sqlite_is_in_wal_mode_and_outlives_a_power_cut(tmp_path: Path) -> None:
    with rk.Playbook(tmp_path / "playbook.db") as playbook:
        connection = playbook._store._connect()
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        connection.close()


def test_a_playbook_for_one_sitting_leaves_nothing(tmp_path: Path) -> None:
    with rk.Playbook("sqlite://") as playbook:
        path = playbook._store.path  # type: ignore[attr-defined]
        playbook.publish_event({"source": "/s", "type": "t"})
        assert path.exists()
    assert not path.parent.exists()
