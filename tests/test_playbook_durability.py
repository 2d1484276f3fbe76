"""Killed, raced, forked: no event is lost, none is folded twice. ``tests/playbook_harness.py`` does more of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from playbook_harness import FUNCTIONS, check, prepare, publish

import recallkit as rk
from recallkit.playbook import views
from recallkit.playbook.views import Moved

COUNTS = FUNCTIONS["counts"]
HARNESS = Path(__file__).parent / "playbook_harness.py"


def harness(*arguments: object) -> Any:
    # the package under test, wherever it is installed, and the tests' own helpers
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(rk.__file__).parents[1]), str(HARNESS.parent)]),
    }
    command = [sys.executable, str(HARNESS), *map(str, arguments)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


def script(code: str, url: str) -> str:
    """Run a script beside the package under test, wherever it is installed; give what it printed."""
    package = os.pathsep.join([str(Path(rk.__file__).parents[1]), str(HARNESS.parent)])
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, url],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": package},
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_killed_at_random_moments_it_loses_nothing(playbook_url: str) -> None:
    told = harness("kill", playbook_url, "--times", 6, "--spread", 1.0)
    assert told["kills"] == 6
    assert told["events"] > 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_two_followers_fold_each_page_once(playbook_url: str) -> None:
    told = harness("race", playbook_url, "--seconds", 4)
    assert all(process["published"] > 0 for process in told["processes"])


def test_a_view_moves_on_only_from_where_it_was_read(playbook: rk.Playbook) -> None:
    """Two followers that read the same row: the second one's page is dropped."""
    playbook.create_definition(type="recall", name="counts", source=COUNTS)
    publish(playbook, 1)
    with playbook._store.read() as db:
        row = views.view_row(db, "counts")
    assert row is not None
    moved = Moved(2, 0, views.LIVE, view='{"mine":1}', folds=1)
    with playbook._store.write() as db:
        assert views.move_on(db, row, moved, 0)
    with playbook._store.write() as db:
        assert not views.move_on(db, row, Moved(2, 0, views.LIVE, view='{"theirs":1}', folds=1), 0)
    assert playbook.view("counts") == {"mine": 1}
    assert playbook.standing().folded.tolist() == [1]
    assert len(playbook.lag()) == 1


def test_a_newer_version_is_not_moved_on_by_a_page_of_the_older(playbook: rk.Playbook) -> None:
    playbook.create_definition(type="recall", name="counts", source=COUNTS)
    publish(playbook, 1)
    with playbook._store.read() as db:
        row = views.view_row(db, "counts")
    assert row is not None
    playbook.update_definition(type="recall", name="counts", source=COUNTS + "\n")
    with playbook._store.write() as db:
        assert not views.move_on(db, row, Moved(2, 0, views.LIVE, view="1", folds=1), 0)
    playbook.catch_up()
    assert playbook.view("counts")["count"] == 1


def test_one_follower_has_the_lock_at_a_time(playbook_url: str) -> None:
    with rk.Playbook(playbook_url) as one, rk.Playbook(playbook_url) as two:
        handle = one._store.try_follow()
        assert handle is not None
        assert two._store.try_follow() is None
        assert two._follower.follow_on() is None
        with pytest.raises(rk.Unavailable, match="Another follower"):
            two._store.follow_lock(0.05)
        one._store.end_follow(handle)
        assert two.follow().pages == 0


def test_a_killed_followers_lock_is_free(playbook_url: str) -> None:
    rk.Playbook(playbook_url).close()
    code = f"""
import sys, time, recallkit as rk
playbook = rk.Playbook({playbook_url!r})
handle = playbook._store.try_follow()
assert handle is not None
print("held", flush=True)
time.sleep(600)
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=HARNESS.parent.parent)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with rk.Playbook(playbook_url) as playbook:
        assert playbook._store.try_follow() is None
        holder.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
        handle = playbook._store.follow_lock(30.0)
        playbook._store.end_follow(handle)


def test_a_kept_sandbox_is_not_used_once_another_process_moved_the_view(playbook_url: str) -> None:
    with rk.Playbook(playbook_url) as one, rk.Playbook(playbook_url) as two:
        one.create_definition(type="recall", name="counts", source=COUNTS)
        for number in range(6):
            publish(one, number)
            (one if number % 2 else two).catch_up()
        assert one.view("counts") == {"count": 6, "sum": 15, "last": [0, 1, 2, 3, 4, 5], "ties": 0}


def test_the_harness_finds_what_is_wrong(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'playbook.db'}"
    prepare(url)
    with rk.Playbook(url) as playbook:
        for number in range(3):
            publish(playbook, number)
        playbook.catch_up()
        with playbook._store.write() as db:
            db.run("UPDATE views SET folded = folded + 1 WHERE name = 'counts'")
    with pytest.raises(AssertionError):
        check(url)


def test_a_new_playbook_may_be_opened_by_many_at_once(playbook_url: str) -> None:
    for number in range(3):
        together = threading.Barrier(8)
        errors: list[Exception] = []
        ids: set[str] = set()

        def open_it(url: str, together: threading.Barrier, errors: list[Exception], ids: set[str]) -> None:
            together.wait()
            try:
                with rk.Playbook(url) as playbook:
                    ids.add(playbook.id)
            except Exception as error:
                errors.append(error)

        arguments = (f"{playbook_url}{number}", together, errors, ids)
        threads = [threading.Thread(target=open_it, args=arguments) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert len(ids) == 1


MIGRATED = """
import os, random, signal, sys, time, recallkit as rk
chance = random.Random(5)
for turn in range(20):
    url = f"{sys.argv[1]}{turn}"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"x")
        try:
            rk.Playbook(url).close()
        finally:
            os._exit(0)
    os.read(read, 1)
    time.sleep(chance.random() * 0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with rk.Playbook(url) as playbook:
        playbook.publish_event({"source": "/s", "type": "t"})
        assert len(playbook.history()) == 1
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_killed_while_its_tables_are_made_a_playbook_opens_again(playbook_url: str) -> None:
    script(MIGRATED, playbook_url)


INTERRUPTED = """
import os, signal, sys, threading, time, recallkit as rk
from playbook_harness import check, prepare, publish
url = sys.argv[1]
prepare(url)
playbook = rk.Playbook(url)
for number in range(40):
    publish(playbook, number)
timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
try:
    with playbook.following():
        timer.start()
        while True:
            publish(playbook, number := number + 1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert "recallkit-follower" not in [thread.name for thread in threading.enumerate()]
# and one pass in the caller's hands, cut off while it folds
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        publish(playbook, number := number + 1)
        playbook.follow()
except KeyboardInterrupt:
    print("again", flush=True)
# the playbook goes on
publish(playbook, 10_000)
playbook.catch_up()
playbook.close()
check(url)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_ctrl_c_ends_following_and_the_playbook_goes_on(playbook_url: str) -> None:
    assert script(INTERRUPTED, playbook_url).split() == ["interrupted", "again"]


FORKED = """
import os, sys, recallkit as rk
from playbook_harness import check, prepare, publish
url = sys.argv[1]
prepare(url)
playbook = rk.Playbook(url)

def in_child(act):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0

def refused():
    reads = (playbook.history, playbook.standing, playbook.following, playbook.follow, playbook.catch_up)
    for act in (*reads, lambda: publish(playbook, 0, "/old")):
        try:
            act()
        except rk.Conflict as error:
            assert error.kind == "forked" and "open it again" in str(error)
        else:
            raise AssertionError(act)
    playbook.close()

def opened_again():
    refused()
    with rk.Playbook(url) as own, own.following() as following:
        for number in range(5):
            publish(own, number, f"/child/{turn}")
        assert following.error is None

for turn in range(4):
    publish(playbook, turn, "/parent")
    with playbook.following():
        in_child(refused)
    playbook.follow()
    in_child(opened_again)
    publish(playbook, turn, "/parent/again")
playbook.close()
assert check(url)["events"] == 28
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_forked_child_opens_the_playbook_again_and_breaks_nothing(playbook_url: str) -> None:
    script(FORKED, playbook_url)
