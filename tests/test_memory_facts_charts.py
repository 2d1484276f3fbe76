"""Pictures of what the memories give back: drawn without a network, with the words of what they show."""

from __future__ import annotations

import pandas as pd
import pytest

from recallkit.errors import InvalidInput
from recallkit.memory import Facts, Signals, TeamMemory
from recallkit.memory.charts import facts_timeline, search_legs, signal_board

NOW = "2026-06-01"


def test_a_timeline_draws_every_fact_in_both_times() -> None:
    facts = Facts()
    for day, app in (("2026-05-01", "Obsidian"), ("2026-05-09", "Notion")):
        facts.commit(space="team", path="a.md", text=f"Alice – app: {app}", author="alice", now=day)
    drawn = facts_timeline(facts.timeline("team", now=NOW), now=NOW).svg()
    for words in ("Obsidian", "Obsidian (2)", "Notion", "true in the world", "believed"):
        assert words in drawn
    assert facts_timeline(facts.timeline("team", now=NOW)).rows == 3


def test_a_board_has_a_column_a_status() -> None:
    signals = Signals()
    for text in ("Check invoices", "Deploy the till"):
        signals.store(namespace="shop", kind="signal", text=text, actor="ann", now="2026-05-01")
    found = signals.recall(namespace="shop", kind="signal", now=NOW)
    signals.claim(found.ids[0], actor="bob", now=NOW)
    drawn = signal_board(signals.recall(namespace="shop", kind="signal", now=NOW)).svg()
    for words in ("pending", "claimed", "acknowledged", "expired", "Check invoices", "bob has it", "by ann"):
        assert words in drawn


def test_the_legs_show_words_and_meaning() -> None:
    team = TeamMemory(embed=False)
    team.remember("The pool uses pool_pre_ping", author="ann")
    drawn = search_legs(team.recall("pool_pre_ping", caller="ann")).svg()
    for words in ("1. The pool uses pool_pre_ping", "by words", "by meaning"):
        assert words in drawn


def test_what_cannot_be_drawn_is_said() -> None:
    facts = Facts()
    facts.commit(space="team", path="a.md", text="Nothing.", author="alice")
    with pytest.raises(InvalidInput, match="no fact to draw"):
        facts_timeline(facts.timeline("team"))
    with pytest.raises(InvalidInput, match="lacks the column valid_from"):
        facts_timeline(pd.DataFrame({"x": [1]}))
    found = facts.recall("team", "nothing")
    with pytest.raises(InvalidInput, match="signals"):
        signal_board(found)
    with pytest.raises(InvalidInput, match="team recall"):
        search_legs(found)
