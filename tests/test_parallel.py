"""Several foldings at once: on cores and on a cluster, the same as one by one; none holds another back."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recallkit as rk
from recallkit import parallel_cluster
from recallkit.parallel import Failed
from recallkit.sandbox import pool

COUNTER = """---
language: typescript
source:
  events:
    - type: counted
view:
  initial: {"count": 0}
---
export function fold(view: View, event: Event): View {
  return { count: (view as any).count + BY };
}
"""

BROKEN_AT = """---
language: typescript
source:
  events:
    - type: counted
view:
  initial: {"count": 0}
---
export function fold(view: View, event: Event): View {
  if (event.data === 3) throw new Error("no threes");
  return { count: (view as any).count + 1 };
}
"""

ENDLESS = """---
language: typescript
source:
  events:
    - type: counted
view:
  initial: {"count": 0}
---
export function fold(view: View, event: Event): View {
  let sum = 0;
  for (let i = 0; i < 3e5; i++) sum += i;
  return { count: (view as any).count + 1 };
}
"""


@contextlib.contextmanager
def once(begun: Callable[[], bool], act: Callable[[], None]) -> Iterator[None]:
    """Act half a second after what runs inside has begun, however fast this machine is; a failure of it is raised."""
    left = threading.Event()
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            while not begun():
                if left.wait(0.02):
                    raise AssertionError("it ended before it was seen to begin")
            if left.wait(0.5):
                raise AssertionError("it ended within half a second: too soon to be disturbed")
            act()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join()
    if failed:
        raise failed[0]


def kill_all(pids: Iterable[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def counter(by: int) -> rk.RecallFunction:
    function = rk.load(COUNTER.replace("BY", str(by)))
    assert isinstance(function, rk.RecallFunction)
    return function


def counted(count: int) -> rk.History:
    return rk.History.from_events(
        {"id": str(place), "type": "counted", "source": "/t", "data": place} for place in range(count)
    )


def test_many_functions_over_one_history_give_what_each_gives_alone() -> None:
    history = counted(2_500)
    functions = [counter(by) for by in (1, 2, 3)]
    foldings = rk.fold_all(functions, history)
    assert [folding.view for folding in foldings] == [{"count": 2_500}, {"count": 5_000}, {"count": 7_500}]
    for function, folding in zip(functions, foldings, strict=True):
        alone = function.fold(history)
        assert folding.function is function
        assert folding.history is history
        assert folding.standing == alone.standing
        columns = ["seq", "view_bytes", "steps", "checkpoints"]
        assert folding.trace[columns].equals(alone.trace[columns])
        assert folding.at(1_234).text == alone.at(1_234).text


def test_one_function_over_many_histories_in_the_order_given() -> None:
    foldings = rk.fold_each(counter(1), [counted(size) for size in (30, 0, 1_200, 7)])
    assert [folding.view["count"] for folding in foldings] == [30, 0, 1_200, 7]
    assert [folding.state for folding in foldings] == ["live"] * 4


def test_a_mapping_gives_a_dict_by_its_names() -> None:
    by_name = rk.fold_all({"two": counter(2), "one": counter(1)}, counted(5))
    assert list(by_name) == ["two", "one"]
    assert by_name["two"].view == {"count": 10}
    assert {name: each.folded for name, each in rk.fold_each(counter(1), {"a": counted(2)}).items()} == {"a": 2}


def test_documents_and_files_are_loaded_and_read(campaign_reviews: str, functions: Path, data: Path) -> None:
    path = data / "three-reviews.jsonl"
    foldings = rk.fold_all([functions / "campaign-reviews.md", campaign_reviews], path)
    assert foldings[0].view == foldings[1].view == rk.load(campaign_reviews).fold(path).view
    assert foldings[0].history is foldings[1].history
    (each,) = rk.fold_each(campaign_reviews, [path])
    assert each.view == foldings[0].view


def test_a_stall_a_refusal_and_a_lost_file_hold_none_back(tmp_path: Path) -> None:
    stalled, refused, live = rk.fold_all([rk.load(BROKEN_AT), COUNTER, counter(1)], counted(10))
    assert stalled.state == "stalled"
    assert stalled.stall.seq == 3
    assert isinstance(refused, Failed)
    assert refused.state == "failed"
    assert isinstance(refused.error, rk.Refused)
    with pytest.raises(rk.Refused):
        _ = refused.view
    with pytest.raises(AttributeError):
        _ = refused.no_such_name
    assert live.view == {"count": 10}
    lost, found = rk.fold_each(counter(1), [tmp_path / "none.jsonl", counted(3)])
    assert isinstance(lost.error, rk.HistoryError)
    assert found.view == {"count": 3}


def test_a_slip_in_the_call_is_told_before_anything_is_folded(tmp_path: Path, functions: Path) -> None:
    with pytest.raises(rk.InvalidInput, match="ComputationFunction does not"):
        rk.fold_all([rk.load(functions / "campaign-pace.md")], counted(1))
    with pytest.raises(rk.InvalidInput, match="as a list, or as a dict by name, not as a str"):
        rk.fold_each(counter(1), "events.jsonl")
    with pytest.raises(rk.InvalidInput, match="no option pages; it has page, trace"):
        rk.fold_all([counter(1)], counted(1), pages=3)
    with pytest.raises(rk.InvalidInput, match="workers takes a whole number from 1"):
        rk.fold_all([counter(1)], counted(1), workers=0)
    with pytest.raises(rk.HistoryError):
        rk.fold_all([counter(1)], tmp_path / "none.jsonl")
    assert rk.fold_all([], counted(1)) == []


def test_options_are_those_of_a_fold() -> None:
    (folding,) = rk.fold_all([counter(1)], counted(100), page=7, keyframe_every=10, trace=False, plain=True, workers=1)
    assert "trace" not in folding.__dict__
    assert folding.view == {"count": 100}


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent as a signal")
def test_ctrl_c_keeps_what_was_folded_and_each_goes_on() -> None:
    history = counted(3_000)
    quick, slow = counter(1), rk.load(ENDLESS)
    timer = threading.Timer(2.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        foldings = rk.fold_all([quick, slow, slow, quick], history, workers=2)
    finally:
        timer.cancel()
        timer.join()
    assert foldings[0].view == {"count": 3_000}
    assert [folding.state for folding in foldings[1:3]] == ["stopped", "stopped"]
    for folding in foldings:
        assert folding.view == {"count": folding.folded}
        assert folding.folded == len(folding.trace)
    assert foldings[1].folded < 3_000
    assert foldings[3].state == "stopped"
    assert foldings[3].folded == 0
    foldings[3].resume()
    assert (foldings[3].state, foldings[3].view) == ("live", {"count": 3_000})


@pytest.mark.skipif(os.name == "nt", reason="the worker is killed by a signal")
def test_a_sandbox_that_is_killed_holds_none_back_and_changes_nothing() -> None:
    history = counted(200)
    killed: list[int] = []

    def kill() -> None:
        busy = [worker for worker in pool._all if worker not in pool._idle and worker.alive()]
        killed.extend(worker.pid for worker in busy)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    with once(lambda: len(pool._all) > len(pool._idle), kill):
        foldings = rk.fold_all([rk.load(ENDLESS) for _ in range(3)] + [counter(1)], history, workers=2)
    assert killed
    assert [folding.state for folding in foldings] == ["live"] * 4
    assert [folding.view for folding in foldings] == [{"count": 200}] * 4
    assert [len(folding.trace) for folding in foldings] == [200] * 4


def test_many_that_stall_or_are_refused_stay_in_their_places() -> None:
    wanted = ["live", "stalled", "failed", "live", "failed", "stalled", "live"]
    made = {"live": lambda: counter(1), "stalled": lambda: rk.load(BROKEN_AT), "failed": lambda: COUNTER}
    foldings = rk.fold_all([made[each]() for each in wanted], counted(300), workers=3)
    assert [folding.state for folding in foldings] == wanted


def test_foldings_and_histories_can_be_pickled() -> None:
    folding = counter(1).fold(counted(300))
    assert folding.at(150).view == {"count": 150}
    again = pickle.loads(pickle.dumps(folding))
    assert again.view == folding.view
    assert again.at(123).view == {"count": 123}
    assert again.standing == folding.standing


def test_a_part_of_a_history_is_pickled_without_the_rest() -> None:
    history = counted(5_000)
    part = history[4_000:4_010]
    data = pickle.dumps(part)
    assert len(data) < 20_000
    again = pickle.loads(data)
    assert again.seqs.tolist() == list(range(4_000, 4_010))
    assert again.page(again.seqs) == history.page(part.seqs)
    assert again.events.equals(part.events)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, of its dependencies
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        )
        with cluster, distributed.Client(cluster) as client:
            yield client


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same(client: Any) -> None:
    history = counted(2_000)
    functions = {"one": counter(1), "broken": rk.load(BROKEN_AT), "refused": COUNTER}
    here = rk.fold_all(functions, history)
    there = rk.fold_all(functions, history, client=client)
    assert list(there) == list(here)
    assert isinstance(there["refused"].error, rk.Refused)
    for name in ("one", "broken"):
        assert there[name].history is history
        assert there[name].function is functions[name]
        assert there[name].standing == here[name].standing
        assert there[name].stall == here[name].stall
        columns = ["seq", "event_id", "view_bytes", "steps", "checkpoints"]
        assert there[name].trace[columns].equals(here[name].trace[columns])
    assert there["one"].at(777).view == {"count": 777}
    assert there["one"].at(777).patch == [{"op": "replace", "path": "/count", "value": 777}]
    assert there["one"].scrub() is not None


@pytest.mark.filterwarnings("ignore")
def test_each_history_on_a_cluster_and_what_is_lost_there(client: Any, tmp_path: Path) -> None:
    some = rk.fold_each(counter(1), [counted(40), tmp_path / "none.jsonl", counted(100)[90:]], client=client)
    assert isinstance(some[1].error, rk.HistoryError)
    assert [some[place].view["count"] for place in (0, 2)] == [40, 10]


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent as a signal")
@pytest.mark.filterwarnings("ignore")
def test_ctrl_c_on_a_cluster_keeps_what_was_folded(client: Any) -> None:
    history = counted(3_000)
    timer = threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        foldings = rk.fold_all([rk.load(ENDLESS) for _ in range(3)], history, client=client)
    finally:
        timer.cancel()
        timer.join()
    assert {folding.state for folding in foldings} == {"stopped"}
    for folding in foldings:
        assert folding.view == {"count": folding.folded}
        assert folding.folded < 3_000


@pytest.mark.skipif(os.name == "nt", reason="the machine is killed by a signal")
@pytest.mark.filterwarnings("ignore")
def test_a_machine_of_the_cluster_that_is_killed_holds_none_back(client: Any) -> None:
    client.wait_for_workers(2)
    before = set(client.run(os.getpid).values())
    with once(lambda: any(client.processing().values()), lambda: kill_all(before)):
        foldings = rk.fold_all([rk.load(ENDLESS) for _ in range(3)], counted(200), client=client)
    assert [folding.view for folding in foldings] == [{"count": 200}] * 3
    client.wait_for_workers(2)
    assert not before & set(client.run(os.getpid).values())


@pytest.mark.skipif(os.name == "nt", reason="the machine is killed by a signal")
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_every_machine_again_and_again_is_told_in_words(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_cluster, "LOSSES", 1)
    client.wait_for_workers(2)
    pids = list(client.run(os.getpid).values())
    with once(lambda: any(client.processing().values()), lambda: kill_all(pids)):
        (lost,) = rk.fold_all([rk.load(ENDLESS)], counted(400), client=client)
    assert isinstance(lost.error, rk.Unavailable)
    with pytest.raises(rk.Unavailable, match="lost the machine that folded this"):
        _ = lost.view
    client.wait_for_workers(2)
