"""What one fold changed, as a JSON Patch (RFC 6902)."""

from __future__ import annotations

from typing import Any

Patch = list[dict[str, Any]]


def difference(before: Any, after: Any) -> Patch:
    """Return the operations that turn one JSON value into another.

    Objects are compared member by member; a member that went and came back elsewhere in the order counts as
    unchanged, since a patch does not speak of order. Lists keep what they share at both ends.

    Returns
    -------
    list of dict
        ``op`` ('add', 'remove' or 'replace'), ``path`` (a JSON Pointer) and, but for 'remove', ``value``.
    """
    patch: Patch = []
    _compare(before, after, "", patch)
    return patch


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same; true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    return bool((numbers or type(a) is type(b)) and a == b)


def _compare(a: Any, b: Any, path: str, patch: Patch) -> None:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in a:
            if name not in b:
                patch.append({"op": "remove", "path": f"{path}/{_escape(name)}"})
        for name, value in b.items():
            where = f"{path}/{_escape(name)}"
            if name not in a:
                patch.append({"op": "add", "path": where, "value": value})
            else:
                _compare(a[name], value, where, patch)
    elif isinstance(a, list) and isinstance(b, list):
        _compare_lists(a, b, path, patch)
    elif not same(a, b):
        patch.append({"op": "replace", "path": path, "value": b})


def _compare_lists(a: list[Any], b: list[Any], path: str, patch: Patch) -> None:
    head = 0
    while head < min(len(a), len(b)) and same(a[head], b[head]):
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and same(a[-1 - tail], b[-1 - tail]):
        tail += 1
    if head + tail == min(len(a), len(b)) or len(a) == len(b):
        _splice(a, b, head, tail, path, patch)
        return
    # a window that slid: some left at the front, others came at the end
    for shift in range(max(1, len(a) - len(b)), len(a) - head):  # what is left of a must have room in b
        if same(a[head + shift], b[head]) and all(map(same, a[head + shift :], b[head : len(a) - shift])):
            patch.extend({"op": "remove", "path": f"{path}/{head}"} for _ in range(shift))
            for place in range(len(a) - shift, len(b)):
                patch.append({"op": "add", "path": f"{path}/{place}", "value": b[place]})
            return
    _splice(a, b, head, tail, path, patch)


def _splice(a: list[Any], b: list[Any], head: int, tail: int, path: str, patch: Patch) -> None:
    old, new = len(a) - head - tail, len(b) - head - tail
    if old == new and old and len(a) == len(b):
        # equally long: perhaps a window that slid by a few, else member by member
        for shift in range(1, min(old, 8)):
            if all(map(same, a[head + shift : len(a) - tail], b[head : len(b) - tail - shift])):
                patch.extend({"op": "remove", "path": f"{path}/{head}"} for _ in range(shift))
                for place in range(len(b) - tail - shift, len(b) - tail):
                    patch.append({"op": "add", "path": f"{path}/{place}", "value": b[place]})
                return
    common = min(old, new)
    for place in range(head, head + common):
        _compare(a[place], b[place], f"{path}/{place}", patch)
    for _ in range(old - common):
        patch.append({"op": "remove", "path": f"{path}/{head + common}"})
    for place in range(head + common, head + new):
        patch.append({"op": "add", "path": f"{path}/{place}", "value": b[place]})
