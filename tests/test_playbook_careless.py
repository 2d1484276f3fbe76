"""A playbook in careless hands: forks, what was closed or ended, arguments of the wrong kind."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recallkit as rk
from recallkit.errors import Conflict, InvalidInput, RecallkitError

EVENT = {"source": "/s", "type": "t"}
LONG = 10**5_000  # Python refuses to write so long a number


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_child_that_ends_leaves_a_playbook_in_memory() -> None:
    code = (
        "import os, sys, recallkit as rk\n"
        "playbook = rk.Playbook('sqlite://')\n"
        "if os.fork() == 0: sys.exit(0)\n"
        "os.wait()\n"
        "playbook.publish_event({'source': '/s', 'type': 't'})\n"
        "playbook.follow()\n"
        "folder = playbook._store.path.parent\n"
        "assert folder.is_dir()\n"
        "playbook.close()\n"
        "assert not folder.exists()\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=Path(__file__).parent.parent)


def test_a_playbook_whose_folder_went_away_fails_in_words(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    with rk.Playbook(tmp_path / "gone" / "playbook.db") as playbook:
        (tmp_path / "gone").rename(tmp_path / "moved")
        with pytest.raises(RecallkitError, match="cannot be opened"):
            playbook.follow()


def test_what_is_closed_or_ended_is_not_entered_again(playbook: rk.Playbook) -> None:
    following = playbook.following()
    with following:
        pass
    with pytest.raises(Conflict, match=r"begin another with playbook\.following\(\)"), following:
        pass
    with playbook.following():
        pass
    unused = playbook.following()
    playbook.close()
    with pytest.raises(Conflict, match="closed"), unused:
        pass
    with pytest.raises(Conflict, match="closed"), playbook:
        pass


@pytest.mark.parametrize("events", ["", "abc", b"", {}, EVENT], ids=repr)
def test_a_single_event_is_no_list(playbook: rk.Playbook, events: Any) -> None:
    with pytest.raises(InvalidInput, match="publish_event takes a single one"):
        playbook.publish_events(events)
    assert len(playbook.history()) == 0


@pytest.mark.parametrize(
    ("pointer", "call"),
    [
        ("/page_records", lambda: rk.Playbook("sqlite://", page_records=-LONG)),
        ("/max_functions", lambda: rk.Playbook("sqlite://", max_functions=-LONG)),
        ("/fold_seconds", lambda: rk.Playbook("sqlite://", fold_seconds=LONG)),
        ("/fold_seconds", lambda: rk.Playbook("sqlite://", fold_seconds=True)),
        ("/clock", lambda: rk.Playbook("sqlite://", clock=lambda: LONG).publish_event(EVENT)),
        ("/event", lambda: rk.Playbook("sqlite://").publish_event({**EVENT, LONG: 1})),
        ("/event/data", lambda: rk.Playbook("sqlite://").publish_event({**EVENT, "data": LONG})),
        ("/newest_first", lambda: rk.Playbook("sqlite://").list_playbook_events(newest_first="no")),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_the_wrong_kind_is_named(pointer: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.pointer == pointer


def test_a_setting_of_other_digits_is_no_setting() -> None:
    environment = {**os.environ, "RECALL_PLAYBOOKS_AT_ONCE": "\u00b2"}
    subprocess.run([sys.executable, "-c", "import recallkit.playbook.background"], check=True, env=environment)


def test_the_file_of_another_program_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE other (a)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="something else"):
        rk.Playbook(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["other.db"]


def test_no_traceback_repeats_a_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(RecallkitError) as caught:
        rk.Playbook("postgresql://u:s3cret@127.0.0.1:1/db?sslmode=s3cret")
    assert "s3cret" not in "".join(traceback.TracebackException.from_exception(caught.value).format()).replace(
        'rk.Playbook("postgresql://u:s3cret@127.0.0.1:1/db?sslmode=s3cret")', ""
    )
