"""Following: pages and passes, places for building, stalls, overtimes, crashes, and views that go on beside them."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from small_documents import events, recall_text

import recallkit as rk
from recallkit.bounds import PLAYBOOKS_AT_ONCE
from recallkit.playbook import follower, views
from recallkit.playbook.follower import Follower
from recallkit.sandbox import pool
from recallkit.views.session import FoldSession

COUNTS = """export function fold(view: View, event: Event): View {
  if (typeof event.data === 'number' && typeof view === 'number') return view + event.data;
  %s
}"""
ADDS = recall_text(COUNTS % "return view;")
MANY_LISTS = recall_text("""export function fold(view: View): View {
  return Array.isArray(view) ? view : Array.from({ length: 150000 }, () => []);
}""")
RAISES = recall_text(COUNTS % "throw new Error('not a number');")
NATIVE = recall_text(COUNTS % "return 'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b');")


def save(playbook: rk.Playbook, *names: str, source: str = ADDS) -> None:
    for name in names:
        playbook.create_definition(type="recall", name=name, source=source)


def standing(playbook: rk.Playbook, name: str) -> dict[str, Any]:
    told: dict[str, Any] = playbook.get_definition(type="recall", name=name).standing
    return told


def states(playbook: rk.Playbook) -> list[str]:
    return playbook.standing().state.tolist()


def test_a_view_is_built_from_the_start_and_then_follows(playbook: rk.Playbook) -> None:
    playbook.import_history(events(1, 2, 3))
    save(playbook, "adds")
    before = standing(playbook, "adds")
    assert (before["state"], before["folded"], before["version"]) == ("rebuilding", 0, 1)
    assert [before[name] for name in ("checkpoint", "checkpoint_at", "last_event", "lag_ms", "stalled")] == [None] * 5
    told = playbook.follow()
    assert (told.pages, told.records, told.folds, told.more) == (1, 4, 3, False)
    assert (playbook.view("adds"), standing(playbook, "adds")["state"]) == (6, "live")
    playbook.publish_event({"source": "/s", "type": "t", "data": 4})
    playbook.publish_event({"source": "/s", "type": "other", "data": 100})
    assert playbook.view("adds") == 6
    assert playbook.follow().folds == 1
    assert playbook.view("adds") == 10
    assert playbook.follow().pages == 0


def test_a_view_of_no_event_is_live_after_a_pass(playbook: rk.Playbook) -> None:
    save(playbook, "adds")
    playbook.follow()
    told = standing(playbook, "adds")
    assert (told["state"], told["folded"], told["last_event"], told["lag_ms"]) == ("live", 0, None, 0)


def test_a_pass_reads_ten_pages_and_the_next_goes_on(playbook_url: str) -> None:
    with rk.Playbook(playbook_url, page_records=10) as playbook:
        save(playbook, "adds")
        playbook.import_history(events(*range(1, 130)))
        first = playbook.follow()
        assert (first.pages, first.records, first.more) == (10, 100, True)
        halfway = standing(playbook, "adds")
        assert (halfway["state"], halfway["folded"], halfway["checkpoint"]) == ("rebuilding", 99, "seq:99")
        second = playbook.follow()
        assert (second.pages, second.records, second.more) == (3, 30, False)
        assert playbook.view("adds") == sum(range(1, 130))


def test_pages_hold_up_to_1000_records(playbook: rk.Playbook) -> None:
    save(playbook, "adds")
    playbook.import_history(events(*range(2500)))
    told = playbook.catch_up()
    assert (told.pages, told.records) == (3, 2501)
    assert playbook.lag().records.tolist() == [1000, 1000, 501]
    assert playbook.lag().behind.tolist() == [1501, 501, 0]
    assert playbook.view("adds") == sum(range(2500))


def test_a_page_ends_before_its_next_fold_once_its_time_is_over(playbook: rk.Playbook) -> None:
    playbook._follower._page_seconds = 0.0
    save(playbook, "adds", "again")
    playbook.import_history(events(1, 2, 3, 4))
    told = playbook.follow()
    # at least one fold runs a page, and the rest waits for the next
    assert told.pages == 4
    assert (playbook.view("adds"), playbook.view("again")) == (10, 10)
    lag = playbook.lag()
    assert lag[lag.name == "adds"].folds.max() == 1


def test_each_view_is_written_once_a_page(playbook: rk.Playbook, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, int]] = []
    move_on = views.move_on

    def noting(db: Any, view: Any, to: Any, at_ms: int) -> bool:
        written.append((view.name, to.position))
        return move_on(db, view, to, at_ms)

    monkeypatch.setattr(views, "move_on", noting)
    save(playbook, "adds", "again")
    playbook.import_history(events(*range(1500)))
    playbook.catch_up()
    assert sorted(written) == [("adds", 1000), ("adds", 1502), ("again", 1000), ("again", 1502)]


def test_four_views_are_built_at_once_and_the_others_wait_in_the_order_saved(playbook_url: str) -> None:
    with rk.Playbook(playbook_url, page_records=5) as playbook:
        names = [f"view-{number}" for number in range(6)]
        playbook.import_history(events(*range(60)))
        save(playbook, *names)
        assert states(playbook) == ["rebuilding"] * 4 + ["waiting"] * 2
        waiting = playbook.run_definition(type="recall", name="view-5")
        assert (waiting.ending, waiting.kind, waiting.retry_after) == ("unavailable", "rebuilding", 5)
        assert "behind 5 others" in waiting.detail
        # a newer version of the first waits behind all
        playbook.update_definition(type="recall", name="view-0", source=ADDS.replace("a test", "another"))
        assert playbook.standing().name.tolist() == [*names[1:], "view-0"]
        assert states(playbook) == ["rebuilding"] * 4 + ["waiting"] * 2
        playbook.catch_up()
        assert states(playbook) == ["live"] * 6
        assert {playbook.view(name) for name in names} == {sum(range(60))}


def test_how_many_are_built_at_once_is_a_setting(playbook_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_MAX_REBUILDS", "1")
    with rk.Playbook(playbook_url) as playbook:
        save(playbook, "first", "second", "third", source=RAISES)
        playbook.publish_event({"source": "/s", "type": "t"})
        assert states(playbook) == ["rebuilding", "waiting", "waiting"]
        playbook.catch_up()
        # a stalled view counts for none of the places
        assert states(playbook) == ["stalled"] * 3


def test_a_run_is_refused_while_its_view_is_built(playbook_url: str) -> None:
    hour = [{**each, "time": f"2026-01-01T{number:02d}:00:00.000Z"} for number, each in enumerate(events(*range(20)))]
    with rk.Playbook(playbook_url, page_records=1) as playbook:
        playbook.import_history(hour)
        clock = playbook._clock
        playbook._clock = lambda: 1767225600000  # 2026-01-01T00:00:00Z
        save(playbook, "adds")
        playbook._clock = clock
        begun = playbook.run_definition(type="recall", name="adds")
        assert (begun.ending, begun.kind, begun.detail) == (
            "unavailable",
            "rebuilding",
            "The view is not begun yet; try again later",
        )
        playbook.follow()
        run = playbook.run_definition(type="recall", name="adds")
        assert (run.ending, run.kind) == ("unavailable", "rebuilding")
        assert run.detail.startswith("The view is being built: it has folded 10 events and is ")
        assert run.rejection is not None
        assert (run.rejection["type"], run.rejection["status"]) == ("https://on.auto/problems/rebuilding", 503)


def test_a_stalled_view_blocks_no_other_and_its_repair_is_built_from_the_start(playbook: rk.Playbook) -> None:
    save(playbook, "raises", source=RAISES)
    save(playbook, "adds")
    playbook.publish_events({**each, "source": "/shop"} for each in events(1, 2, "three", 4))
    playbook.catch_up()
    assert states(playbook) == ["stalled", "live"]
    assert (playbook.view("raises"), playbook.view("adds")) == (3, 7)
    told = standing(playbook, "raises")
    assert told["stalled"] == {
        "event": {"id": "e2", "type": "t", "time": "2026-01-01T00:02:00.000Z"},
        "kind": "raised",
        "error": "Error: not a number",
        "line": 9,
    }
    assert (told["folded"], told["last_event"]["id"]) == (2, "e1")
    run = playbook.run_definition(type="recall", name="raises")
    assert (run.ending, run.kind, run.retry_after) == ("conflict", "stalled", None)
    assert run.detail.startswith(
        "The view stopped at an event of the type t of 2026-01-01T00:02:00.000Z: the fold raised an error on line 9."
    )
    assert "not a number" not in run.detail
    assert "e2" not in run.detail
    assert run.rejection is not None
    assert run.rejection["status"] == 409
    # its other events wait
    playbook.publish_event({"source": "/s", "type": "t", "data": 5})
    assert playbook.follow().folds == 1
    assert standing(playbook, "raises")["folded"] == 2
    playbook.update_definition(type="recall", name="raises", source=ADDS)
    assert standing(playbook, "raises") == {**standing(playbook, "raises"), "state": "rebuilding", "folded": 0}
    playbook.catch_up()
    assert standing(playbook, "raises")["version"] == 2
    assert (states(playbook), playbook.view("raises")) == (["live", "live"], 12)
    assert playbook.run_definition(type="recall", name="raises").output == 12


def test_a_module_that_writes_to_its_view_stalls_with_the_view_of_the_fold_before(playbook: rk.Playbook) -> None:
    """What the failing fold wrote before it failed is not seen, though the view lies in the sandbox between folds."""
    writes = """export function fold(view: View, event: Event): View {
  const kept = view as Json[];
  kept.push(event.data ?? null);
  if (event.data === 'bad') throw new Error('no');
  return kept;
}"""
    playbook.import_history(events(1, 2, "bad", 3))
    save(playbook, "writes", source=recall_text(writes, initial=[]))
    playbook.follow()
    told = standing(playbook, "writes")
    assert (told["state"], told["folded"], told["stalled"]["kind"]) == ("stalled", 2, "raised")
    assert playbook.view("writes") == [1, 2]
    playbook.update_definition(
        type="recall", name="writes", source=recall_text(writes.replace("throw", "if (false) throw"), initial=[])
    )
    playbook.follow()
    assert playbook.view("writes") == [1, 2, "bad", 3]


def test_a_function_never_folds_its_own_runs(playbook: rk.Playbook) -> None:
    body = "export function fold(view: View, event: Event): View { return [...(view as Json[]), event.subject ?? '']; }"
    filters = [{"type": "run_succeeded"}, {"type": "definition_created"}]
    save(playbook, "watches", "watched", source=recall_text(body, initial=[], filters=filters))
    for _ in range(2):
        playbook.catch_up()
        playbook.run_definition(type="recall", name="watches")
        playbook.run_definition(type="recall", name="watched")
    playbook.catch_up()
    # both definitions' own events are folded, about itself too
    assert playbook.view("watches") == ["", "", "recall/watched", "recall/watched"]
    assert playbook.view("watched") == ["", "", "recall/watches", "recall/watches"]


def test_an_event_that_the_engine_cannot_date_is_passed_over_and_told_once(
    playbook: rk.Playbook, caplog: pytest.LogCaptureFixture
) -> None:
    save(playbook, "adds", "again")
    playbook.publish_event({"source": "/s", "type": "t", "data": 1})
    playbook.publish_event({"source": "/s", "type": "t", "time": "2016-12-31T23:59:60Z", "data": 100})
    playbook.publish_event({"source": "/s", "type": "t", "data": 2})
    with caplog.at_level(logging.WARNING, "recallkit.playbook"):
        playbook.catch_up()
        playbook.update_definition(type="recall", name="adds", source=ADDS + "\n")
        playbook.catch_up()
    assert (playbook.view("adds"), playbook.view("again")) == (3, 3)
    assert caplog.messages == playbook.passed_over() == ["Record 4 is passed over: its time cannot be read."]


# -- overtimes and crashes ------------------------------------------------------------------------------------------


def test_a_fold_that_runs_out_of_its_time_is_tried_on_twenty_passes_and_then_stalls(playbook_url: str) -> None:
    with rk.Playbook(playbook_url, fold_seconds=0.1) as playbook:
        save(playbook, "slow", source=NATIVE)
        save(playbook, "adds")
        playbook.import_history(events(1, 2, "slow", 4))
        for number in range(1, 20):
            told = playbook.follow()
            assert told.failed == ["slow"]
            row = playbook.standing().set_index("name").loc["slow"]
            assert (row.state, row.folded, row.checkpoint) == ("rebuilding", 2, "seq:3")
            if number == 1:
                assert (standing(playbook, "adds")["state"], playbook.view("adds")) == ("live", 7)
                assert not told.more
        playbook.follow()
        stalled = standing(playbook, "slow")["stalled"]
        assert (stalled["kind"], stalled["event"]["id"]) == ("time", "e2")
        assert "20 times" in stalled["error"]
        assert playbook.view("slow") == 3
        run = playbook.run_definition(type="recall", name="slow")
        assert (run.ending, run.kind) == ("conflict", "stalled")
        assert "the fold ran out of its 10 seconds twenty times" in run.detail


def test_overtimes_are_counted_anew_once_a_page_completes(playbook_url: str) -> None:
    with rk.Playbook(playbook_url, fold_seconds=0.1) as playbook:
        # this one comes to an end, after a second or so
        save(playbook, "slow", source=NATIVE.replace("4e6", "6e4").replace("2e6", "3e4"))
        playbook.import_history(events(1, "slow", 2))
        for _ in range(3):
            assert playbook.follow().failed == ["slow"]
        # a machine that is faster for a while
        playbook._follower._fold_seconds = 60.0
        # a page ends after two seconds, so that a slow machine takes several passes
        for _ in range(6):
            assert playbook.follow().failed == []
            with playbook._store.read() as db:
                row = views.view_row(db, "slow")
            assert row is not None
            assert (row.overtimes, row.failed_at) == (0, 0)
            if row.state == "live":
                break
        assert (row.state, row.folded) == ("live", 3)


def test_a_slow_fold_holds_back_no_other_view(playbook_url: str) -> None:
    with rk.Playbook(playbook_url, fold_seconds=2.5) as playbook:
        playbook._follower._page_seconds = 0.05
        save(playbook, "slow", source=NATIVE)
        save(playbook, "adds")
        playbook.import_history(events(1, "slow"))
        with playbook.following():
            for number in range(5):
                playbook.publish_event({"source": "/s", "type": "t", "data": 1})
                until(lambda number=number: playbook.view("adds") == 2 + number)  # type: ignore[misc]
            # the slow fold's own try is not over, or it was tried again: it has not stalled
            assert standing(playbook, "slow")["state"] == "rebuilding"


DIES = """
import os
import recallkit.sandbox.worker as worker
do_call = worker.Host.do_call
seen = {"marked": False}
def dying(self, header, blobs):
    if header["name"] == "run" and len(blobs) > 5:
        seen["marked"] = b'"crash"' in blobs[5]
    if header["name"] == "run" and seen["marked"]:
        os._exit(9)
    return do_call(self, header, blobs)
worker.Host.do_call = dying
"""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that die, without a word, where a page holds the marker."""
    monkeypatch.setattr(pool, "_idle", [])
    monkeypatch.setattr(pool, "IDLE_KEPT", 0)
    monkeypatch.setattr(pool, "_START", pool._START.replace("main()", f"exec({DIES!r}); main()"))


@pytest.mark.usefixtures("dying")
def test_a_crash_is_found_at_its_event_and_what_is_before_it_is_kept(playbook: rk.Playbook) -> None:
    save(playbook, "crashes", "again")
    playbook.import_history(events(*range(1, 7), "crash", 7))
    assert sorted(playbook.follow().failed) == ["again", "crashes"]
    told = standing(playbook, "crashes")
    assert (told["state"], told["folded"], playbook.view("crashes")) == ("rebuilding", 6, 21)
    with playbook._store.read() as db:
        row = views.view_row(db, "crashes")
    assert row is not None
    assert (row.crashes, row.failed_at, row.position) == (1, 9, 8)


@pytest.mark.slow
@pytest.mark.usefixtures("dying")
def test_a_worker_that_crashes_on_twenty_passes_stalls_the_view(tmp_path: Any) -> None:
    with rk.Playbook(tmp_path / "playbook.db") as playbook:
        save(playbook, "crashes")
        playbook.import_history(events(1, "crash", 3))
        for _ in range(20):
            assert standing(playbook, "crashes")["state"] == "rebuilding"
            playbook.follow()
        stalled = standing(playbook, "crashes")["stalled"]
        assert (stalled["kind"], stalled["event"]["id"]) == ("crash", "e1")
        run = playbook.run_definition(type="recall", name="crashes")
        assert "the worker folding the page crashed at this event twenty times" in run.detail


def test_a_page_too_large_for_the_sandbox_is_folded_in_parts(
    playbook: rk.Playbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many small lists as a page's 2 MiB of text can hold nearly take the 64 MiB: no room is left for the view's."""
    endings = []
    receive = FoldSession.receive

    def told(self: FoldSession, *given: Any) -> Any:
        advance = receive(self, *given)
        endings.append(advance.ended)
        return advance

    monkeypatch.setattr(FoldSession, "receive", told)
    save(playbook, "lists", source=MANY_LISTS)
    lists = [[]] * 60_000
    playbook.import_history([{**event, "data": lists} for event in events(*range(22))])
    playbook.catch_up()
    assert {"stalled", "unread", "memory"} & set(endings)  # it was tried in full
    assert playbook.view("lists") == [[]] * 150_000
    assert standing(playbook, "lists")["folded"] == 22


# -- in the background ----------------------------------------------------------------------------------------------


def until(ready: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_following_brings_views_up_to_date_as_events_are_recorded(playbook: rk.Playbook) -> None:
    save(playbook, "adds")
    with playbook.following() as following:
        for number in range(1, 6):
            playbook.publish_event({"source": "/s", "type": "t", "data": number})
        until(lambda: playbook.view("adds") == 15)
        assert following.error is None
    threads = [thread.name for thread in threading.enumerate()]
    assert "recallkit-follower" not in threads
    playbook.publish_event({"source": "/s", "type": "t", "data": 1})
    time.sleep(0.05)
    assert playbook.view("adds") == 15
    with playbook.following():
        until(lambda: playbook.view("adds") == 16)


def test_what_another_playbook_object_records_is_followed_too(playbook_url: str) -> None:
    with rk.Playbook(playbook_url) as one, rk.Playbook(playbook_url) as other:
        save(one, "adds")
        with one.following():
            other.publish_event({"source": "/s", "type": "t", "data": 3})
            until(lambda: other.view("adds") == 3)


def test_a_failing_pass_is_told_and_tried_again(playbook: rk.Playbook, monkeypatch: pytest.MonkeyPatch) -> None:
    save(playbook, "adds")
    playbook.publish_event({"source": "/s", "type": "t", "data": 1})
    failing = threading.Event()
    failing.set()
    move_on = views.move_on

    def broken(*arguments: Any) -> bool:
        if failing.is_set():
            raise rk.Unavailable("not now")
        return move_on(*arguments)

    monkeypatch.setattr(views, "move_on", broken)
    with playbook.following() as following:
        until(lambda: following.error is not None)
        failing.clear()
        until(lambda: playbook.view("adds") == 1)


def test_four_playbooks_are_followed_at_once_and_the_fifth_has_its_turn(
    playbook_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: set[Follower] = set()
    crowd: list[int] = []
    watched = threading.Lock()
    gate = threading.Event()  # until it opens, who has a turn keeps it
    follow_on = Follower.follow_on

    def counted(self: Follower) -> follower.Pass | None:
        with watched:
            inside.add(self)
            crowd.append(len(inside))
        assert gate.wait(120)
        try:
            return follow_on(self)
        finally:
            with watched:
                inside.discard(self)

    monkeypatch.setattr(Follower, "follow_on", counted)
    with contextlib.ExitStack() as stack:
        playbooks = [stack.enter_context(rk.Playbook(f"{playbook_url}{number}")) for number in range(7)]
        for each in playbooks:
            save(each, "adds")
            each.publish_event({"source": "/s", "type": "t", "data": 1})
        stack.callback(gate.set)
        for each in playbooks:
            stack.enter_context(each.following())
        until(lambda: len(inside) == PLAYBOOKS_AT_ONCE)
        waiting = [each for each in playbooks if each._follower not in inside]
        assert len(waiting) == 3
        time.sleep(0.3)
        assert [each.view("adds") for each in playbooks] == [0] * 7
        # one that waits for its turn can be closed meanwhile, and no turn is lost with it
        closed = waiting[0]
        closed.close()
        assert len(inside) == PLAYBOOKS_AT_ONCE
        gate.set()
        # the others are kept busy: who waits has its turn all the same
        busy = [each for each in playbooks if each not in waiting]
        sums = dict.fromkeys(busy, 1)
        end = time.monotonic() + 120
        while [each.view("adds") for each in waiting[1:]] != [1, 1]:
            assert time.monotonic() < end
            for each in busy:
                each.publish_event({"source": "/s", "type": "t", "data": 1})
                sums[each] += 1
        for each in busy:
            until(lambda each=each: each.view("adds") == sums[each])  # type: ignore[misc]
        assert max(crowd) == PLAYBOOKS_AT_ONCE


def test_closing_stops_a_fold_that_goes_on(playbook_url: str) -> None:
    with rk.Playbook(playbook_url) as playbook:
        save(playbook, "slow", source=NATIVE)
        playbook.import_history(events("slow"))
        playbook.follow = None  # type: ignore[assignment, method-assign]
        following = playbook.following()
        following.__enter__()
        until(lambda: bool(playbook._follower._jobs))
    assert not playbook._follower._jobs
    with rk.Playbook(playbook_url) as again:
        assert standing(again, "slow")["folded"] == 0


def test_sandboxes_are_kept_between_pages_and_not_more_than_a_few(
    playbook_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "SESSIONS_KEPT", 2)
    opened: list[int] = []
    start = FoldSession.__init__

    def counting(self: FoldSession, *arguments: Any, **options: Any) -> None:
        opened.append(1)
        start(self, *arguments, **options)

    monkeypatch.setattr(FoldSession, "__init__", counting)
    with rk.Playbook(playbook_url, page_records=5) as playbook:
        save(playbook, "adds", "again")
        playbook.import_history(events(*range(40)))
        playbook.catch_up()
        assert len(opened) == 2
        save(playbook, "third")
        playbook.catch_up()
        assert len(playbook._follower._sessions) == 2
        playbook.publish_event({"source": "/s", "type": "t", "data": 1})
        playbook.catch_up()
        assert {playbook.view(name) for name in ("adds", "again", "third")} == {sum(range(40)) + 1}
