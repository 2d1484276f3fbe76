"""What a scrubber asks and what it is told: requests and replies as JSON values, whatever carries them.

``front/local.js`` answers the same requests inside a saved page; a test holds the two to each other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recallkit.bounds import STEPS_PER_CHECKPOINT
from recallkit.notebook.deltas import patch_of
from recallkit.notebook.replay import replay
from recallkit.notebook.trail import Trail
from recallkit.notebook.tree import Marks, Tree, branch, brief, follow, row, sizes

if TYPE_CHECKING:
    from recallkit.folding import Folding

# A search answers within this time: with what it found, or with how far it came, and is then asked on.
SLICE_SECONDS: Final = 0.25
OPEN_BRANCHES: Final = 200
CHANGES_SHOWN: Final = 20

Reply = dict[str, Any]


class Answers:
    """The answering side of a scrubber, over a folding."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self._fold = folding._fold
        self._trails: dict[str, Trail] = {}
        self._kept: dict[int, Tree] = {}
        self._walk: _Walk | None = None

    @property
    def last(self) -> int:
        """The last place: the number of folded events, and one more where the view stalled."""
        return self._fold.folded + (self._fold.stall is not None)

    def answer(self, request: dict[str, Any]) -> Reply:
        """Answer a request; one that makes no sense gets a reply with ``error``."""
        try:
            ask = request["ask"]
            if ask == "moment":
                return self.moment(request)
            if ask == "find":
                return self.find(request)
            if ask == "trail":
                return self.trail(request)
        except (KeyError, TypeError, ValueError) as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {"error": f"nothing answers {ask!r}"}

    def moment(self, request: dict[str, Any]) -> Reply:
        """Tell what stands at a place: the open branches of the view and of the event, the changes, the costs."""
        number = max(0, min(int(request["n"]), self.last))
        stalled = number > self._fold.folded
        # The view before comes first: views are folded forwards, so that the other one is then a single fold away.
        earlier = self._tree(number - 1) if number and not stalled else None
        view = self._tree(min(number, self._fold.folded))
        before = view if earlier is None else earlier
        marks = Marks([] if before is view else patch_of(before, view), before, view)
        event = self._event(number)
        told: Reply = {"n": number, "stalled": stalled, **self._costs(number)}
        told["root"] = row("", view.text)
        wanted = request.get("view", [])
        if request.get("follow"):
            wanted = follow(view, marks.changes, wanted)
        told["view"] = _branches(view, wanted, marks)
        told["event"] = None if event is None else _branches(event, request.get("event", []), None)
        told["changes"] = {"total": len(marks.changes), "shown": marks.changes[:CHANGES_SHOWN]}
        if request.get("sizes") is not None:
            told["sizes"] = sizes(view, request["sizes"]) or sizes(view, "")
        if request.get("pin") is not None:
            told["pin"] = self._pin(request["pin"], number, view)
        return told

    def _costs(self, number: int) -> Reply:
        fold = self._fold
        if number > fold.folded:
            assert fold.stall is not None
            size = len(fold.view.encode("utf-8", "surrogatepass"))
            steps = fold.stall.steps
            cost = {"bytes": size, "delta": 0, "steps": steps, "us": None, "memory": None}
            return {**cost, "checkpoints": steps // STEPS_PER_CHECKPOINT, "seq": fold.stall.seq}
        initial = len(fold.definition.initial.encode("utf-8", "surrogatepass"))
        if not number:
            cost = {"bytes": initial, "delta": 0, "steps": 0, "us": None, "memory": None}
            return {**cost, "checkpoints": 0, "seq": None}
        steps, microseconds = fold.ledger.cost(number - 1)
        size = fold.ledger.bytes_after(number)
        before = fold.ledger.bytes_after(number - 1) if number > 1 else initial
        return {
            "bytes": size,
            "delta": size - before,
            "steps": steps,
            "us": round(microseconds, 1),
            "memory": fold.ledger.memory_after(number),
            "checkpoints": steps // STEPS_PER_CHECKPOINT,
            "seq": fold.ledger.seq(number - 1),
        }

    def _tree(self, number: int) -> Tree:
        """Return the view after `number` folds; the last two are remembered with the levels they were opened to."""
        tree = self._kept.pop(number, None) or Tree(self._folding.timeline.text(number))
        self._kept[number] = tree
        while len(self._kept) > 2:
            del self._kept[next(iter(self._kept))]
        return tree

    def _event(self, number: int) -> Tree | None:
        fold = self._fold
        if not number:
            return None
        seq = fold.stall.seq if fold.stall is not None and number > fold.folded else fold.ledger.seq(number - 1)
        return Tree(fold.history.text(seq).strip())

    def event_text(self, number: int) -> str | None:
        """Return the JSON text of the event of a place; None at 0."""
        event = self._event(number)
        return None if event is None else event.text

    def cost_row(self, number: int) -> list[Any]:
        """Return what a saved page keeps of a place's costs."""
        told = self._costs(number)
        return [told[name] for name in ("seq", "bytes", "delta", "steps", "checkpoints", "us", "memory")]

    def _pin(self, path: str, number: int, view: Tree) -> Reply:
        trail = self._trails.get(path)
        told: Reply = {"path": path, "text": brief(view.at(path)), "there": view.at(path) is not None}
        told["near"] = [] if trail is None else trail.near(number)
        return told

    def trail(self, request: dict[str, Any]) -> Reply:
        """Follow a path through time, a slice at a time."""
        path = str(request["path"])
        trail = self._trails.get(path)
        if trail is None:
            self._trails.clear()  # one path is pinned at a time
            trail = self._trails[path] = Trail(self._fold, path)
        trail.go_on(SLICE_SECONDS)
        return trail.told()

    def find(self, request: dict[str, Any]) -> Reply:
        """Look for the next place, or the one before, from `n` on; ``done`` is false where it should be asked on."""
        what, step = request["what"], 1 if request["step"] > 0 else -1
        number = int(request["n"])
        until = time.monotonic() + SLICE_SECONDS
        if what == "search":
            return self._search(str(request["query"]), number, step, until)
        path = str(request.get("path") or "") if what == "pin" else ""
        return self._changed(path, number, step, until)

    def _search(self, query: str, number: int, step: int, until: float) -> Reply:
        wanted = query.lower()
        if not wanted:
            return {"found": None, "at": number, "done": True}
        number += step
        while 1 <= number <= self.last:
            if wanted in (self.event_text(number) or "").lower():
                return {"found": number, "at": number, "done": True}
            if number % 64 == 0 and time.monotonic() > until:
                return {"found": None, "at": number, "done": False}
            number += step
        return {"found": None, "at": number, "done": True}

    def _changed(self, path: str, number: int, step: int, until: float) -> Reply:
        """Find where the value at a path is another than just before; the whole view where the path is empty."""
        fold = self._fold
        if step > 0:
            return self._changed_after(path, number, until)
        number = min(number, fold.folded + 1)
        while number > 1:
            number -= 1
            if (not path and self._grew(number)) or self._value(path, number) != self._value(path, number - 1):
                return {"found": number, "at": number, "done": True}
            if time.monotonic() > until:
                return {"found": None, "at": number, "done": False}
        return {"found": None, "at": 0, "done": True}

    def _changed_after(self, path: str, number: int, until: float) -> Reply:
        folded = self._fold.folded
        if number >= folded:
            return {"found": None, "at": number, "done": True}
        if not path and self._grew(number + 1):
            return {"found": number + 1, "at": number + 1, "done": True}
        walk = self._walk
        if walk is None or (walk.path, walk.at) != (path, number):
            walk = _Walk(path, number, self._value(path, number), self._views(number + 1, folded))
        self._walk = None
        for at, text in walk.views:
            here = Tree(text).at(path)
            if here != walk.value:
                return {"found": at, "at": at, "done": True}
            if time.monotonic() > until:
                self._walk = _Walk(path, at, here, walk.views)
                return {"found": None, "at": at, "done": False}
        return {"found": None, "at": folded, "done": True}

    def _grew(self, number: int) -> bool:
        """Whether a fold left a view of another size: it changed then, without anything being folded again."""
        return bool(self._costs(number)["delta"])

    def _value(self, path: str, number: int) -> str | None:
        return Tree(self._folding.timeline.text(number)).at(path)

    def _views(self, start: int, stop: int) -> Iterator[tuple[int, str]]:
        # Near places come from the timeline, whose sandbox is warm; a long way is folded again in stretches.
        for number in range(start, min(stop, start + _NEAR) + 1):
            yield number, self._folding.timeline.text(number)
        if start + _NEAR < stop:
            yield from replay(self._fold, start + _NEAR + 1, stop)


_NEAR: Final = 8


@dataclass(frozen=True, slots=True)
class _Walk:
    """A search that ran out of its time: where it is, the value there, and the views to come."""

    path: str
    at: int
    value: str | None
    views: Iterator[tuple[int, str]]


def _branches(tree: Tree, wanted: list[Any], marks: Marks | None) -> list[Reply]:
    told = []
    for pointer, offset in wanted[:OPEN_BRANCHES]:
        found = branch(tree, str(pointer), int(offset), marks)
        if found is not None:
            told.append(found)
    return told
