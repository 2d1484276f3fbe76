"""The retrieval benchmark: ``python -m recallkit.memory.benchmark [PATH…]``.

For each data file its hash, then recall at 5, 10, 25 and 50 by category, per retriever: the mean over the questions of
the share of their evidence turns among the first so many. Then, of the identifier test, how often the text that names a
literal comes first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from recallkit.errors import RecallkitError
from recallkit.memory.benchmark_conversations import Conversation, read_conversations
from recallkit.memory.benchmark_identifiers import SEED, cases
from recallkit.memory.bounds import RECALL_AT, TEAM_LIMIT_MOST
from recallkit.memory.embeddings import default_embedding
from recallkit.memory.search import Search
from recallkit.memory.team import TeamMemory

Retriever: TypeAlias = Callable[[TeamMemory, str], list[str]]
Figures: TypeAlias = dict[str, dict[str, dict[str, float]]]


def _leg(fusion: str, literals_first: bool = False) -> Retriever:
    def retrieve(team: TeamMemory, query: str) -> list[str]:
        fold = team._caught_up()
        hits = fold.search.find(query, fold.visible("reader"), fusion=fusion, literals_first=literals_first)
        return [fold.memories[number].id for number in hits.numbers[:TEAM_LIMIT_MOST]]

    return retrieve


def _whole(team: TeamMemory, query: str) -> list[str]:
    return team.recall(query, caller="reader", limit=TEAM_LIMIT_MOST).ids


RETRIEVERS: dict[str, Retriever] = {
    "words (BM25)": _leg("words"),
    "meaning": _leg("meaning"),
    "rank fusion": _leg("ranks"),
    "hybrid": _leg("scores", literals_first=True),
    "hybrid, neighbours": _whole,
}


def measure(conversations: Sequence[Conversation]) -> Figures:
    """Give, per retriever and category, the recall at each number, in percent."""
    found: dict[str, dict[str, list[list[float]]]] = {name: {} for name in RETRIEVERS}
    for conversation in conversations:
        team = TeamMemory()
        ids: dict[str, tuple[int, int]] = {}
        for turn in conversation.turns:
            ids[team.remember(turn.text, author="talk", thread=turn.session)] = turn.id
        for question in conversation.questions:
            for name, retrieve in RETRIEVERS.items():
                got = [ids[id] for id in retrieve(team, question.text)]
                shares = [len(question.evidence & set(got[:most])) / len(question.evidence) for most in RECALL_AT]
                for category in (question.category, "all"):
                    found[name].setdefault(category, []).append(shares)
    return {
        name: {
            category: {
                **{
                    f"R@{most}": round(100 * float(value), 1)
                    for most, value in zip(RECALL_AT, np.mean(rows, 0), strict=True)
                },
                "questions": len(rows),
            }
            for category, rows in sorted(categories.items())
        }
        for name, categories in found.items()
    }


def identifiers(seed: int = SEED) -> dict[str, dict[str, int]]:
    """Give, per retriever and kind of literal, how often the text that names a literal comes first."""
    made = cases(seed)
    search = Search(default_embedding())
    naming: list[int] = []
    for case in made:
        # The one that names it is the oldest, so that no tie falls its way.
        naming.append(search.add(case.naming))
        for text in case.others:
            search.add(text)
    seen = np.ones(len(search.texts), dtype=bool)
    result: dict[str, dict[str, int]] = {}
    legs = {"words (BM25)": "words", "meaning": "meaning", "rank fusion": "ranks", "hybrid": "scores"}
    for name, fusion in legs.items():
        for literals_first in (False, True) if fusion == "scores" else (False,):
            label = f"{name}, literals first" if literals_first else name
            counts = result.setdefault(label, {})
            for case, number in zip(made, naming, strict=True):
                hits = search.find(case.literal, seen, fusion=fusion, literals_first=literals_first)
                first = bool(len(hits.numbers)) and int(hits.numbers[0]) == number
                counts[case.kind] = counts.get(case.kind, 0) + first
                counts["all"] = counts.get("all", 0) + first
    return result


def _table(figures: Figures) -> str:
    heads = [f"R@{most}" for most in RECALL_AT]
    lines = [f"{'retriever':<20} {'category':<12} {'questions':>9} " + " ".join(f"{head:>6}" for head in heads)]
    for name, categories in figures.items():
        for category, row in categories.items():
            values = " ".join(f"{row[head]:>6.1f}" for head in heads)
            lines.append(f"{name:<20} {category:<12} {row['questions']:>9,} {values}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 when it measured, 1 when a file could not be read."""
    parser = argparse.ArgumentParser(prog="python -m recallkit.memory.benchmark", description=__doc__.split("\n\n")[1])
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="a data file of conversations and questions"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of the identifier test (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args(arguments)
    told: dict[str, Any] = {"files": []}
    for path in given.paths:
        try:
            data = path.read_bytes()
            conversations = read_conversations(data)
        except (OSError, RecallkitError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
        digest, figures = hashlib.sha256(data).hexdigest(), measure(conversations)
        told["files"].append({"name": path.name, "sha256": digest, "figures": figures})
        if not given.json:
            print(f"{path.name}  sha256 {digest}\n\n{_table(figures)}\n")
    told["identifiers"] = {"seed": given.seed, "first": identifiers(given.seed)}
    if given.json:
        print(json.dumps(told, indent=2))
    else:
        print(f"identifiers (seed {given.seed}): the text that names the literal comes first")
        for name, counts in told["identifiers"]["first"].items():
            kinds = ", ".join(f"{kind} {count}" for kind, count in counts.items() if kind != "all")
            print(f"  {name:<24} {counts['all']:>3} of 200   ({kinds})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
