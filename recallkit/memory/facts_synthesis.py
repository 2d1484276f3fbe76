"""The default synthesis: an answer in sentences, each with its citation, written without a model."""

from __future__ import annotations

from typing import Any

from recallkit.memory.arguments import iso
from recallkit.memory.bounds import SENTENCES
from recallkit.memory.facts_query import cited

NOTHING = "No fact that you may read answers this."


def sentences(query: str, facts: list[dict[str, Any]]) -> str:
    """Write what is known, the most relevant first: what is true now before what was.

    Parameters
    ----------
    query : str
        Not used: the facts are in order of relevance already.
    facts : list of dict
        Those that the caller may read.

    Returns
    -------
    str
        A sentence a fact with its citation in brackets; with no facts it says so and cites nothing.
    """
    if not facts:
        return NOTHING
    kept = facts[:SENTENCES]
    lines = [_sentence(fact) for fact in sorted(kept, key=lambda fact: fact["validTime"]["to"] is not None)]
    more = len(facts) - len(kept)
    if more:
        lines.append(f"{more:,} more {'fact is' if more == 1 else 'facts are'} less relevant.")
    return " ".join(lines)


def _sentence(fact: dict[str, Any]) -> str:
    said = f"{fact['subject']} – {fact['predicate']}: {fact['object']}"
    valid = fact["validTime"]
    when = f"From {_day(valid['from'])} until {_day(valid['to'])}: " if valid["to"] is not None else ""
    sure = "" if fact["confidence"] >= 0.75 else ", unsure"
    return f"{when}{said}{sure} [{cited(fact['citation'])}]."


def _day(milliseconds: int) -> str:
    return str(iso(milliseconds))[:10]
