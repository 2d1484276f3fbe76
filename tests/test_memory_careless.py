"""The three systems in careless hands: numbers too long to write, moments at the end of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import recallkit as rk
from recallkit.errors import InvalidInput
from recallkit.memory import Facts, Signals, TeamMemory, arguments
from recallkit.memory.log import MemoryLog

LONG = 10**5_000  # Python refuses to write so long a number


@pytest.mark.parametrize(
    ("pointer", "call"),
    [
        ("/namespace", lambda: Signals().recall(namespace=LONG)),  # type: ignore[arg-type]
        ("/limit", lambda: Signals().recall(namespace="n", limit=LONG)),
        ("/expires_at", lambda: Signals().store(namespace="n", kind="signal", text="t", actor="a", expires_at=LONG)),
        ("/lease", lambda: Signals().claim("x", actor="a", lease=LONG)),
        ("/now", lambda: Signals().claim("x", actor="a", now=LONG)),
        ("/query", lambda: TeamMemory().recall(LONG, caller="a")),  # type: ignore[arg-type]
        ("/as_of", lambda: Facts().recall("s", "q", as_of=LONG)),
    ],
)
def test_a_number_too_long_to_write_is_refused_in_words(pointer: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.pointer == pointer


def test_a_value_that_cannot_write_itself_is_told_by_its_type() -> None:
    assert arguments.shown(LONG) == "a value of the type int that cannot be shown"


def test_a_lease_past_the_year_9999_is_refused_and_nothing_is_written() -> None:
    log = MemoryLog()
    signals = Signals(log)
    id = signals.store(namespace="n", kind="signal", text="t", actor="a", now="9999-12-31T23:59:00Z")
    with pytest.raises(InvalidInput, match="year 9999"):
        signals.claim(id, actor="a", lease=60, now="9999-12-31T23:59:30Z")
    assert len(log) == 1
    assert signals.claim(id, actor="a", lease=10, now="9999-12-31T23:59:30Z") == "9999-12-31T23:59:40.000Z"
    with pytest.raises(InvalidInput, match="year 9999"):
        signals.extend(id, actor="a", lease=60, now="9999-12-31T23:59:35Z")
    [result] = signals.recall(namespace="n", now="9999-12-31T23:59:36Z").results
    assert result["lease_until"] == "9999-12-31T23:59:40.000Z"


def test_a_lease_past_the_year_9999_that_someone_published_is_passed_over() -> None:
    log = MemoryLog()
    signals = Signals(log)
    id = signals.store(namespace="n", kind="signal", text="t", actor="a", now="9999-12-31T23:59:00Z")
    stored = next(iter(log.read(-1, "")))
    kind = stored.type.rpartition(".")[0] + ".claimed"
    event = {"specversion": "1.0", "id": "c", "source": "/x", "type": kind, "time": "9999-12-31T23:59:30Z"}
    log.publish({**event, "data": {"entry": id, "actor": "b", "lease": 60}})
    [result] = signals.recall(namespace="n", now="9999-12-31T23:59:40Z").results
    assert (result["status"], result["lease_until"]) == ("pending", None)


def test_a_repr_over_a_closed_playbook_says_so() -> None:
    playbook = rk.Playbook("sqlite://")
    systems = Signals(playbook), TeamMemory(playbook), Facts(playbook)
    playbook.close()
    assert ["(closed)" in repr(system) for system in systems] == [True, True, True]
