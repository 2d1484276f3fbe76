"""Signals: every sentence, parameter, default and bound of their specification, on every place they stand on."""

from __future__ import annotations

import hashlib
import inspect
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from memory_harness import PLACES, open_place, written

import recallkit as rk
from recallkit.errors import Conflict, InvalidInput, NotFound
from recallkit.memory import MemoryLog, Signals

HERE = "project:shop"


@pytest.fixture(params=PLACES)
def signals(request: pytest.FixtureRequest, tmp_path: Path) -> Signals:
    return Signals(open_place(request, tmp_path))


def test_the_signature_is_the_specifications() -> None:
    parameters = inspect.signature(Signals.recall).parameters
    assert {name: parameter.default for name, parameter in parameters.items() if name not in ("self", "now")} == {
        "namespace": inspect.Parameter.empty,
        "query": "",
        "kind": None,
        "actor": None,
        "limit": 10,
        "since": None,
        "tags_any": None,
        "session_id": None,
        "signal_status": None,
        "correlation_id": None,
        "evidence_context": None,
    }


def test_an_entry_comes_back_with_what_was_stored(signals: Signals) -> None:
    given: dict[str, Any] = {
        "kind": "signal",
        "text": "Invoices need a second look — «naïve» 🧾\nby noon",
        "tags": ["billing", "urgent"],
        "actor": "ann",
        "session_id": "s1",
        "correlation_id": "c1",
        "expires_at": "2030-01-01T00:00:00.000Z",
    }
    id = signals.store(namespace=HERE, **given)
    assert isinstance(id, str)
    found = signals.recall(namespace=HERE)
    (result,) = found.results
    assert {name: result[name] for name in given} == given
    assert result["id"] == id
    assert result["status"] == "pending"
    assert found.frame["text"].tolist() == [given["text"]]
    assert "Invoices" in repr(found)
    assert "Invoices" in found._repr_html_()


def test_a_read_sees_what_was_written_a_moment_before_by_anyone(signals: Signals) -> None:
    other = Signals(signals.log)
    for number in range(5):
        id = (signals if number % 2 else other).store(namespace=HERE, text=f"note {number}")
        assert signals.recall(namespace=HERE).ids[0] == id == other.recall(namespace=HERE).ids[0]


def test_order_is_insertion_whatever_the_clocks_say(signals: Signals) -> None:
    ids = [signals.store(namespace=HERE, kind="signal", text="x", now=now) for now in (9_000, 1_000, 5_000)]
    assert signals.recall(namespace=HERE).ids == ids[::-1]
    assert signals.recall(namespace=HERE, kind="signal", since=ids[0]).ids == ids[1:]


def test_tags_are_joined_by_or_and_filters_by_and(signals: Signals) -> None:
    a = signals.store(namespace=HERE, text="one", tags=["x"], actor="ann")
    b = signals.store(namespace=HERE, text="two", tags=["y"], actor="ann")
    signals.store(namespace=HERE, text="three", tags=["z"], actor="ann")
    signals.store(namespace=HERE, text="four", tags=["x"], actor="bob")
    found = signals.recall(namespace=HERE, tags_any=["x", "y"], actor="ann")
    assert found.ids == [b, a]
    assert found.left_out == {"forgotten": 0, "of another actor": 1, "without such a tag": 1, "past the limit": 0}


def test_the_limit_is_10_unless_said_and_1_to_100(signals: Signals) -> None:
    ids = [signals.store(namespace=HERE, text=f"note {n}") for n in range(101)][::-1]
    assert signals.recall(namespace=HERE).ids == ids[:10]
    assert signals.recall(namespace=HERE, limit=1).ids == ids[:1]
    assert signals.recall(namespace=HERE, limit=100).ids == ids[:100]
    assert signals.recall(namespace=HERE, limit=100).left_out["past the limit"] == 1


def test_a_namespace_matches_exactly(signals: Signals) -> None:
    signals.store(namespace="project:shop", text="here")
    signals.store(namespace="project:shop2", text="there")
    assert [result["text"] for result in signals.recall(namespace="project:shop")] == ["here"]
    for near in ("project:sho", "Project:shop", "project:", "project:shop "):
        with pytest.raises(NotFound, match="namespace"):
            signals.recall(namespace=near)


def test_a_query_finds_stems_and_takes_every_word(signals: Signals) -> None:
    a = signals.store(namespace=HERE, text="The invoices are generated nightly")
    b = signals.store(namespace=HERE, text="An invoice was lost")
    assert signals.recall(namespace=HERE, query="invoice").ids == [b, a]
    assert signals.recall(namespace=HERE, query="when do the invoices generate?").ids == [a]
    assert signals.recall(namespace=HERE, query="the").ids == [a]
    assert signals.recall(namespace=HERE, query="   ").ids == [b, a]


def test_polling_goes_on_from_the_cursor(signals: Signals) -> None:
    ids = [signals.store(namespace=HERE, kind="signal", text=f"signal {n}") for n in range(5)]
    signals.store(namespace=HERE, kind="memory", text="no signal")
    first = signals.recall(namespace=HERE, kind="signal", limit=2)
    assert first.ids == [ids[4], ids[3]]
    assert first.next_since == ids[4]
    page = signals.recall(namespace=HERE, kind="signal", since=ids[0], limit=2)
    assert (page.ids, page.next_since) == (ids[1:3], ids[2])
    page = signals.recall(namespace=HERE, kind="signal", since=page.next_since)
    assert (page.ids, page.next_since) == (ids[3:], ids[4])
    page = signals.recall(namespace=HERE, kind="signal", since=page.next_since)
    assert (page.ids, page.next_since) == ([], ids[4])


@pytest.mark.parametrize("more", [{}, {"kind": "memory"}, {"kind": "signal", "query": "signal"}, {"query": "signal"}])
def test_other_modes_give_no_cursor(more: dict[str, Any]) -> None:
    signals = Signals()
    signals.store(namespace=HERE, kind="signal", text="a signal")
    assert signals.recall(namespace=HERE, **more).next_since is None


def test_since_takes_a_memorys_id_and_outlives_what_it_points_at(signals: Signals) -> None:
    anchor = signals.store(namespace=HERE, kind="memory", text="anchor")
    id = signals.store(namespace=HERE, kind="signal", text="later")
    signals.forget(anchor)
    assert signals.recall(namespace=HERE, kind="signal", since=anchor).ids == [id]


def test_changes_never_bring_an_older_signal_back_but_a_sweep_does(signals: Signals) -> None:
    id = signals.store(namespace=HERE, kind="signal", text="work", now=0)
    last = signals.store(namespace=HERE, kind="signal", text="other work", now=0)
    signals.claim(id, actor="ann", lease=10, now=0)
    signals.acknowledge(last, actor="bob", now=0)
    signals.revise(id, text="work, revised", now=0)
    assert signals.sweep(namespace=HERE, now=9_999).ids == []
    assert signals.recall(namespace=HERE, kind="signal", since=last, now=20_000).ids == []
    assert signals.sweep(namespace=HERE, now=10_000).ids == [id]
    assert signals.sweep(namespace=HERE, now=10_000, skip=1).ids == []


def test_status_is_worked_out_at_the_moment_asked(signals: Signals) -> None:
    id = signals.store(namespace=HERE, kind="signal", text="work", expires_at=100_000, now=0)
    assert signals.claim(id, actor="ann", lease=10, now=1_000) == "1970-01-01T00:00:11.000Z"

    def status(now: int) -> str:
        (result,) = signals.recall(namespace=HERE, now=now).results
        assert signals.recall(namespace=HERE, signal_status=result["status"], now=now).ids == [id]
        return str(result["status"])

    assert [status(now) for now in (10_999, 11_000, 99_999, 100_000)] == ["claimed", "pending", "pending", "expired"]
    signals.acknowledge(id, actor="bob", now=50_000)
    assert status(200_000) == "acknowledged"


def test_a_lease_is_its_holders_until_it_runs_out(signals: Signals) -> None:
    id = signals.store(namespace=HERE, kind="signal", text="work", now=0)
    signals.claim(id, actor="ann", lease=timedelta(seconds=10), now=0)
    for act in (signals.claim, signals.extend, signals.acknowledge):
        with pytest.raises(Conflict, match="claimed by ann until") as caught:
            act(id, actor="bob", now=9_000)
        assert caught.value.kind == "claimed"
    assert signals.extend(id, actor="ann", lease=20, now=9_000) == "1970-01-01T00:00:29.000Z"
    assert signals.extend(id, actor="ann", lease=1, now=9_000) == "1970-01-01T00:00:29.000Z"
    with pytest.raises(Conflict, match="not claimed by ann"):
        signals.extend(id, actor="ann", now=29_000)
    signals.claim(id, actor="bob", now=29_000)
    signals.acknowledge(id, actor="bob", now=29_000)
    before = written(signals)
    signals.acknowledge(id, actor="bob", now=30_000)
    assert written(signals) == before
    for actor, act in (("ann", signals.acknowledge), ("bob", signals.claim)):
        with pytest.raises(Conflict, match="acknowledged by bob"):
            act(id, actor=actor, now=30_000)
    assert written(signals) == before


def test_of_two_claims_at_once_the_first_recorded_has_it(signals: Signals) -> None:
    id = signals.store(namespace=HERE, kind="signal", text="work", now=0)
    # Another process looked at the same moment, and published first.
    other = Signals(signals.log)
    other._caught_up()
    plain = other._publish

    def late(verb: str, data: Any, *, now: int, subject: str | None = None) -> str:
        signals.claim(id, actor="ann", now=0)
        return plain(verb, data, now=now, subject=subject)

    other._publish = late  # type: ignore[method-assign]
    with pytest.raises(Conflict, match="claimed by ann"):
        other.claim(id, actor="bob", now=0)
    assert signals.recall(namespace=HERE, now=1).results[0]["claimed_by"] == "ann"
    assert signals.passed_over == 1


def test_many_threads_claim_one_signal_once() -> None:
    log = MemoryLog()
    id = Signals(log).store(namespace=HERE, kind="signal", text="work")
    won: list[str] = []

    def work(actor: str) -> None:
        try:
            Signals(log).claim(id, actor=actor)
            won.append(actor)
        except Conflict:
            pass

    threads = [threading.Thread(target=work, args=(f"agent {n}",)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


def test_a_revision_keeps_the_entrys_place(signals: Signals) -> None:
    first = signals.store(namespace=HERE, text="Invoices at midnight", tags=["old"], expires_at=5, now=0)
    second = signals.store(namespace=HERE, text="Other")
    signals.revise(first, text="Invoices at noon", tags=["new"], expires_at=None, actor="bob")
    found = signals.recall(namespace=HERE)
    assert found.ids == [second, first]
    assert found.results[1]["text"] == "Invoices at noon"
    assert found.results[1]["expires_at"] is None
    assert found.results[1]["revisions"] == 1
    assert signals.recall(namespace=HERE, query="midnight").ids == []
    assert signals.recall(namespace=HERE, query="noon").ids == [first]
    assert signals.recall(namespace=HERE, tags_any=["old"]).ids == []
    assert signals.recall(namespace=HERE, tags_any=["new"]).ids == [first]


def test_a_forgotten_entry_is_gone_from_every_recall(signals: Signals) -> None:
    id = signals.store(namespace=HERE, kind="signal", text="secret")
    signals.forget(id)
    assert signals.recall(namespace=HERE).ids == []
    assert signals.recall(namespace=HERE).left_out["forgotten"] == 1
    for act in (lambda: signals.forget(id), lambda: signals.claim(id, actor="a"), lambda: signals.revise(id, text="x")):
        with pytest.raises(NotFound, match="forgotten"):
            act()


def test_evidence_is_digested_and_changes_nothing_else(signals: Signals) -> None:
    for n in range(3):
        signals.store(namespace=HERE, text=f"note {n}")
    labels = {"model": "model-x", "harness": "bench", "chat_template": "{{ messages }}"}
    with_labels = signals.recall(namespace=HERE, evidence_context=labels)
    without = signals.recall(namespace=HERE)
    assert with_labels.results == without.results
    assert without.receipt is None
    receipt = with_labels.receipt
    assert receipt is not None
    assert receipt["evidence"] == {name: hashlib.sha256(value.encode()).hexdigest() for name, value in labels.items()}
    assert not any(value in repr(receipt) or value in repr(with_labels.to_dict()) for value in labels.values())
    assert signals.verify(receipt)
    assert not signals.verify({**receipt, "results": "0" * 64})
    assert not Signals().verify(receipt)
    assert Signals(receipt_key=b"k" * 32).verify(Signals(receipt_key=b"k" * 32)._signer.sign({"a": "b"}))


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"namespace": "nowhere"}, NotFound, "namespace 'nowhere'"),
    ({"namespace": ""}, InvalidInput, "namespace is empty"),
    ({"namespace": None}, InvalidInput, "namespace must be a text"),
    ({"namespace": "x" * 257}, InvalidInput, "257 characters; at most 256"),
    ({"limit": 0}, InvalidInput, "limit is 0; it may be 1 to 100"),
    ({"limit": 101}, InvalidInput, "limit is 101"),
    ({"limit": True}, InvalidInput, "limit must be a whole number"),
    ({"limit": 2.0}, InvalidInput, "limit must be a whole number"),
    ({"limit": "5"}, InvalidInput, "limit must be a whole number"),
    ({"kind": "note"}, InvalidInput, "kind is 'note'; it may be 'memory', 'signal'"),
    ({"signal_status": "acked"}, InvalidInput, "signal_status is 'acked'"),
    ({"signal_status": "pending", "kind": "memory"}, InvalidInput, "signal_status is for signals"),
    ({"tags_any": "deploy"}, InvalidInput, "tags_any must be a list"),
    ({"tags_any": [""]}, InvalidInput, "tags_any is empty"),
    ({"tags_any": [1]}, InvalidInput, "tags_any must be a text"),
    ({"tags_any": [str(n) for n in range(65)]}, InvalidInput, "65 texts; at most 64"),
    ({"query": None}, InvalidInput, "query must be a text"),
    ({"query": "?!"}, InvalidInput, "no letter or digit"),
    ({"query": "x" * 1_048_576}, InvalidInput, "1,048,576 characters"),
    ({"actor": ""}, InvalidInput, "actor is empty"),
    ({"session_id": 7}, InvalidInput, "session_id must be a text"),
    ({"correlation_id": "a\nb"}, InvalidInput, "control character"),
    ({"since": "THERE", "kind": "signal"}, InvalidInput, "another namespace"),
    ({"since": "unknown", "kind": "signal"}, NotFound, "since is no entry's id"),
    ({"since": "HERE"}, InvalidInput, "since is for polling.*kind is None"),
    ({"since": "HERE", "kind": "memory"}, InvalidInput, "kind is 'memory'"),
    ({"since": "HERE", "kind": "signal", "query": "x"}, InvalidInput, "the query is not empty"),
    ({"since": "", "kind": "signal"}, InvalidInput, "since is empty"),
    ({"evidence_context": {"user": "ann"}}, InvalidInput, "has 'user'; only model, harness, chat_template"),
    ({"evidence_context": {"model": 4}}, InvalidInput, "evidence_context.model must be a text"),
    ({"evidence_context": {"model": "x" * 20_000}}, InvalidInput, "20,000 bytes"),
    ({"evidence_context": "model"}, InvalidInput, "must be a dict"),
    ({"now": datetime(2026, 1, 1)}, InvalidInput, "no time zone"),
]


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG)
def test_a_wrong_recall_says_which_and_why(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    signals = Signals()
    ids = {name: signals.store(namespace=name, kind="signal", text="x") for name in ("HERE", "THERE")}
    given = {"namespace": "HERE", **wrong}
    given = {name: ids.get(value, value) if name == "since" else value for name, value in given.items()}
    with pytest.raises(error, match=words):
        signals.recall(**given)
    assert written(signals) == 2


WRONG_STORES: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "text is empty"),
    ({"text": "  \n"}, "text is empty"),
    ({"text": "x" * 1_048_576}, "1,048,576 bytes; at most 65,536"),
    ({"text": "ä" * 40_000}, "80,000 bytes"),
    ({"text": b"bytes"}, "text must be a text"),
    ({"text": "\ud800"}, "lone surrogate"),
    ({"text": "a\0b"}, "U\\+0000"),
    ({"namespace": " "}, "namespace is empty"),
    ({"kind": "Memory"}, "kind is 'Memory'"),
    ({"tags": "deploy"}, "tags must be a list"),
    ({"tags": ["x" * 300]}, "300 characters"),
    ({"actor": 5}, "actor must be a text"),
    ({"expires_at": "tomorrow"}, "expires_at is no moment"),
    ({"expires_at": "2026-02-30T00:00:00Z"}, "expires_at is no moment"),
    ({"expires_at": datetime(2026, 1, 1)}, "expires_at has no time zone"),
    ({"expires_at": float("nan")}, "expires_at must be a moment"),
    ({"expires_at": -1}, "1970 to 9999"),
    ({"expires_at": True}, "expires_at must be a moment"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG_STORES)
def test_a_wrong_store_says_which_and_why_and_writes_nothing(wrong: dict[str, Any], words: str) -> None:
    signals = Signals()
    with pytest.raises(InvalidInput, match=words):
        signals.store(**{"namespace": HERE, "text": "fine", **wrong})
    assert written(signals) == 0


def test_wrong_changes_write_nothing(signals: Signals) -> None:
    memory = signals.store(namespace=HERE, kind="memory", text="no signal")
    signal = signals.store(namespace=HERE, kind="signal", text="work", now=0, expires_at=10)
    before = written(signals)
    tries: list[tuple[Any, type[Exception], str]] = [
        (lambda: signals.claim(memory, actor="ann"), InvalidInput, "is a memory"),
        (lambda: signals.claim("unknown", actor="ann"), NotFound, "no entry"),
        (lambda: signals.claim(signal, actor="ann", now=10), Conflict, "expired at 1970-01-01T00:00:00.010Z"),
        (lambda: signals.claim(signal, actor="", now=0), InvalidInput, "actor is empty"),
        (lambda: signals.claim(signal, actor="a", lease=0, now=0), InvalidInput, "lease is 0 seconds"),
        (lambda: signals.claim(signal, actor="a", lease=10**7, now=0), InvalidInput, "at most 604,800"),
        (lambda: signals.claim(signal, actor="a", lease="5", now=0), InvalidInput, "lease must be a number"),  # type: ignore[arg-type]
        (lambda: signals.extend(signal, actor="a", now=0), Conflict, "not claimed by a"),
        (lambda: signals.acknowledge(memory, actor="a"), InvalidInput, "is a memory"),
        (lambda: signals.revise(signal), InvalidInput, "changes nothing"),
        (lambda: signals.revise(signal, text=""), InvalidInput, "text is empty"),
        (lambda: signals.forget("unknown"), NotFound, "no entry"),
        (lambda: signals.sweep(namespace=HERE, kind="memory"), InvalidInput, "sweep takes no kind"),
    ]
    for act, error, words in tries:
        with pytest.raises(error, match=words):
            act()
    assert written(signals) == before


def test_a_history_of_wrong_events_is_passed_over() -> None:
    good = {"namespace": HERE, "kind": "signal", "text": "good"}
    events = [
        {"id": "1", "type": "signals.stored", "source": "/x", "data": good},
        {"id": "1", "type": "signals.stored", "source": "/y", "data": {**good, "text": "the id is taken"}},
        {"id": "2", "type": "signals.stored", "source": "/x", "data": {**good, "kind": "other"}},
        {"id": "3", "type": "signals.stored", "source": "/x", "data": [1, 2]},
        {"id": "4", "type": "signals.stored", "source": "/x"},
        {"id": "5", "type": "signals.claimed", "source": "/x", "data": {"entry": "9", "actor": "ann", "lease": 5}},
        {"id": "6", "type": "signals.claimed", "source": "/x", "data": {"entry": "1", "actor": ["ann"], "lease": 5}},
        {"id": "7", "type": "signals.invented", "source": "/x", "data": {}},
        {"id": "8", "type": "signalsother", "source": "/x", "data": {}},
    ]
    signals = Signals(rk.History.from_events(events))
    assert signals.recall(namespace=HERE).ids == ["1"]
    assert signals.passed_over == 7


def test_two_systems_may_share_a_log_and_a_written_history_is_read_again(tmp_path: Path) -> None:
    log = MemoryLog()
    one, two = Signals(log), Signals(log)
    id = one.store(namespace=HERE, text="shared")
    assert two.recall(namespace=HERE).ids == [id]
    one.history().to_jsonl(tmp_path / "events.jsonl")
    again = Signals(rk.read_history(tmp_path / "events.jsonl"))
    assert again.recall(namespace=HERE).to_dict() == one.recall(namespace=HERE).to_dict()
    later = again.store(namespace=HERE, text="after the file")
    assert again.recall(namespace=HERE).ids == [later, id]
    assert len(again.history()) == 2


def test_a_source_of_another_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match="source may be None, a History, a Playbook"):
        Signals("events.jsonl")


def test_moments_may_be_written_in_any_of_their_forms() -> None:
    signals = Signals()
    forms: list[Any] = [
        datetime(2026, 5, 1, tzinfo=UTC),
        "2026-05-01T02:00:00+02:00",
        "2026-05-01",
        1_777_593_600_000,
        1_777_593_600_000.9,
    ]
    for form in forms:
        signals.store(namespace=HERE, text="x", expires_at=form)
    assert {result["expires_at"] for result in signals.recall(namespace=HERE)} == {"2026-05-01T00:00:00.000Z"}
