"""From one view to the next, to the letter: a JSON Patch, and the order of members, of which a patch does not speak."""

from __future__ import annotations

import json
from typing import Any

from recallkit.notebook.tree import Tree, join, kind_of, parts
from recallkit.views.patches import Patch, difference

# Where members stand in another order once the patch is applied: a pointer, and the names that come last.
Orders = list[tuple[str, list[str]]]


def patch_of(before: Tree, after: Tree) -> Patch:
    """Return the difference of two views, parsing only what differs in its text."""
    return _parsed(before, after)[0]


def delta(before: Tree, after: Tree) -> tuple[Patch, Orders]:
    """Return the patch from one view to the next and the moves that put its members in their order."""
    patch, old, new = _parsed(before, after)
    orders: Orders = []
    if before.text == after.text:
        return patch, orders
    if isinstance(old, dict) and isinstance(new, dict):
        # Of an object only the members that differ were parsed; the order is that of all its names.
        names = [str(name) for name in after.members("")]
        kept = set(names)
        have = [str(name) for name in before.members("") if name in kept]
        seen = set(have)
        _moves("", have + [name for name in names if name not in seen], names, orders)
        patched = applied(old, patch)
        for name, value in new.items():
            _orders(patched[name], value, join("", name), orders)
    else:
        _orders(applied(old, patch), new, "", orders)
    return patch, orders


def _parsed(before: Tree, after: Tree) -> tuple[Patch, Any, Any]:
    if before.text == after.text:
        return [], None, None
    if kind_of(before.text) == kind_of(after.text) == "object":
        old, new = before.members(""), after.members("")
        changed = {name for name, text in old.items() if new.get(name) != text} | (new.keys() - old.keys())
        first = {name: json.loads(text) for name, text in old.items() if name in changed}
        second = {name: json.loads(text) for name, text in new.items() if name in changed}
        return difference(first, second), first, second
    first, second = json.loads(before.text), json.loads(after.text)
    return difference(first, second), first, second


def applied(value: Any, patch: Patch) -> Any:
    """Apply a JSON Patch in place, where it can, and return the result."""
    for each in patch:
        way = parts(each["path"])
        if not way:
            value = each["value"]
            continue
        target = value
        for name in way[:-1]:
            target = target[int(name)] if isinstance(target, list) else target[name]
        last = way[-1]
        if isinstance(target, list):
            if each["op"] == "add":
                target.insert(int(last), each["value"])
            elif each["op"] == "remove":
                del target[int(last)]
            else:
                target[int(last)] = each["value"]
        elif each["op"] == "remove":
            del target[last]
        else:
            target[last] = each["value"]
    return value


def _orders(have: Any, want: Any, pointer: str, orders: Orders) -> None:
    if have is want:
        return
    if isinstance(want, dict):
        _moves(pointer, list(have), list(want), orders)
        for name, value in want.items():
            _orders(have[name], value, join(pointer, name), orders)
    elif isinstance(want, list):
        for place, value in enumerate(want):
            _orders(have[place], value, join(pointer, place), orders)


def _moves(pointer: str, have: list[str], want: list[str], orders: Orders) -> None:
    if have == want:
        return
    place = 0
    for name in have:
        if place < len(want) and name == want[place]:
            place += 1
    orders.append((pointer, want[place:]))
