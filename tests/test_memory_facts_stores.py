"""Facts over a history from a file, in memory, and a playbook on SQLite and PostgreSQL: the same answers everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import recallkit as rk
from recallkit.memory import Facts

T = 1_777_593_600_000
DAY = 86_400_000
NOW = T + 100 * DAY


def lived(facts: Facts) -> str:
    """Write a small life, and give what several callers then recall."""
    shared = {"space": "team", "author": "alice"}
    facts.commit(path="alice.md", text="Alice – app: Obsidian\nAlice – lead: Bob", now=T, **shared)
    facts.commit(path="bob.md", text="Bob – app: Vim", readers=["bob"], now=T + DAY, **shared)
    (lead,) = facts.recall("team", "lead", now=T + DAY).ids
    facts.pin(lead, now=T + 2 * DAY)
    facts.commit(path="alice.md", text="Alice – app: Notion\nAlice – lead: Bob", now=T + 3 * DAY, **shared)
    facts.set_readers(space="team", path="bob.md", readers=["cy"], author="alice", now=T + 4 * DAY)
    return asked(facts)


def asked(facts: Facts) -> str:
    told: list[Any] = []
    for caller in ("alice", "bob", "cy", None):
        for then in (None, T, T + 3 * DAY):
            found = facts.recall("team", "Alice Bob app", caller=caller, as_of=then, synthesize=True, now=NOW)
            told.append([found.results, found.answer, found.left_out])
        told.append(facts.graph("team", caller=caller, now=NOW).results)
        told.append(facts.files("team", caller=caller, now=NOW).results)
    return json.dumps(told)


def test_a_playbook_gives_what_memory_gives(playbook: rk.Playbook) -> None:
    expected = lived(Facts())
    facts = Facts(playbook)
    assert lived(facts) == expected
    assert asked(Facts(playbook)) == expected, "another process folds the same"
    assert asked(Facts(playbook.history())) == expected


def test_a_playbook_is_read_as_it_grows(playbook: rk.Playbook) -> None:
    one, other = Facts(playbook), Facts(playbook)
    one.commit(space="team", path="a.md", text="Alice – app: Obsidian", author="alice")
    assert len(other.recall("team", "app")) == 1
    other.commit(space="team", path="a.md", text="Nothing.", author="alice")
    assert len(one.recall("team", "app")) == 0


def test_a_history_from_a_file_gives_what_memory_gives(tmp_path: Path) -> None:
    facts = Facts()
    expected = lived(facts)
    path = tmp_path / "facts.jsonl"
    facts.history().to_jsonl(path)
    again = Facts(rk.read_history(path))
    assert asked(again) == expected
    again.commit(space="team", path="c.md", text="Cy – app: Emacs", author="cy", now=NOW)
    assert again.recall("team", "emacs", now=NOW).results
    assert asked(Facts(rk.read_history(path))) == expected, "the file is only read"


def test_other_events_of_the_history_are_passed_by() -> None:
    events = [
        {"id": "1", "type": "order.placed", "source": "/shop", "specversion": "1.0", "data": {"text": "x"}},
        {
            "id": "2",
            "type": "facts.committed",
            "source": "/elsewhere",
            "specversion": "1.0",
            "time": "2026-05-01T00:00:00Z",
            "data": {
                "space": "team",
                "path": "a.md",
                "version": "f00d",
                "text": "Alice – app: Obsidian",
                "author": "alice",
            },
        },
        {"id": "3", "type": "factsheet", "source": "/shop", "specversion": "1.0"},
    ]
    (fact,) = Facts(rk.History.from_events(events)).recall("team", "app").results
    assert fact["citation"]["version"] == "f00d"
    assert fact["recordedTime"]["from"] == T
