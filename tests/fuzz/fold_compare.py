"""Draws a case of a random module over random events, and folds it in every way: the rule itself, and each shortcut."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from fold_grammar import draw_module
from json_grammar import draw_events, draw_schema, draw_value

import recallkit as rk
from recallkit.definitions import loading
from recallkit.definitions.recall import RecallDefinition
from recallkit.views.fold import Fold, fold_history
from recallkit.views.session import Way, way_of

EXPRESSIONS = ["$data !== null", "typeof $data === 'object'", "($data as any).a.b", "JSON.stringify($data).length > 9"]


@dataclass(frozen=True)
class Compared:
    """A case that can be saved, folded.

    Attributes
    ----------
    text : str
        The document.
    way : str
        The way that its folds take of themselves: 'fast', or 'owned' where the module may write to its view.
    outcomes : dict of str to dict
        All that a person may see of the fold in each way. 'written' is the rule: the view written out, read back and
        compared after every fold.
    copied : int
        How many views its own way wrote out all the same.
    """

    text: str
    way: str
    outcomes: dict[str, dict[str, Any]]
    copied: int

    @property
    def stall(self) -> Any:
        return self.outcomes["written"]["stall"]

    def differences(self) -> dict[str, tuple[str, Any, Any]]:
        """Return what is otherwise: by the field's name the way, what it gives, and what the rule gives."""
        outcomes = self.outcomes
        if any(given["stall"] and given["stall"][0] == "memory" for given in outcomes.values()):
            # How far the memory reaches depends on what the kit keeps there beside the view, which differs by the way.
            # So much is asked for all the same: each stalls, and up to the first that does they agree.
            least = min(len(given["steps"]) for given in outcomes.values())
            outcomes = {
                way: {"state": given["state"]} | {name: given[name][:least] for name in ("bytes", "steps", "seqs")}
                for way, given in outcomes.items()
            }
        written = outcomes["written"]
        return {
            name: (way, given[name], written[name])
            for way, given in outcomes.items()
            for name in written
            if given[name] != written[name]
        }


def document(chance: Random, module: str) -> str:
    """Write the document of a module."""
    events: list[dict[str, Any]] = [{"type": "a"}, {"type": "b"}]
    if chance.random() < 0.2:
        events[0]["data"] = draw_value(chance) if chance.random() < 0.3 else f"${{{chance.choice(EXPRESSIONS)}}}"
    if chance.random() < 0.2:
        events.append({"type": "a"})
    view: dict[str, Any] = {"initial": chance.choice([None, {}, [], {"a": [{"n": 1}, {}]}, draw_value(chance)])}
    if chance.random() < 0.5:
        view["schema"] = draw_schema(chance, lenient=True)
    front = json.dumps({"language": "typescript", "source": {"events": events}, "view": view}, ensure_ascii=False)
    front = front.encode("utf-8", "replace").decode()  # a document holds no half of a surrogate pair
    return f"---\n{front}\n---\n{module}"


def outcome(fold: Fold) -> dict[str, Any]:
    """Return all that a person may see of a fold, but for its time and its memory."""
    stall = fold.stall
    number = len(fold.ledger)
    return {
        "state": fold.state,
        "done": fold.done,
        "view": fold.view,
        "views": [fold.keyframes.before(n) for n in range(number + 1)],
        "bytes": [fold.ledger.bytes_after(n + 1) for n in range(number)],
        "steps": [fold.ledger.cost(n)[0] for n in range(number)],
        "seqs": fold.ledger.seqs().tolist(),
        "stall": stall and (stall.kind, stall.error, stall.line, stall.seq, stall.folded, stall.steps, stall.details),
    }


def compare(chance: Random) -> Compared | None:
    """Draw a case and fold it in every way; None where the document cannot be saved."""
    text = document(chance, draw_module(chance))
    events = draw_events(chance, chance.choice([16, 16, 59]))
    # at 1 every view is written out; at others a shortcut goes on without, as it does for a person
    page, every = chance.randint(1, 20), chance.choice([1, 1, 3, 1000])
    try:
        definition = loading.read(text)
    except rk.Refused:
        return None
    assert isinstance(definition, RecallDefinition)
    history = rk.read_history(events)
    ways: list[Way] = [way_of(definition), "plain", "written"]
    folds = {way: fold_history(definition, history, page=page, keyframe_every=every, way=way) for way in ways}
    return Compared(text, ways[0], {way: outcome(fold) for way, fold in folds.items()}, folds[ways[0]].copied)
