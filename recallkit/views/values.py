"""JSON values on the host's side: how deep they nest, and their text as the sandbox is given it."""

from __future__ import annotations

import json
from typing import Any

NOT_GIVEN: Any = object()
"""Stands for an input that a person left out, where None is a value that they may give."""


def levels_past(value: Any, most: int) -> bool:
    """Whether a value nests deeper than `most` levels; level 1 is the outermost list or object.

    Walks level by level, so that neither depth nor a cycle can exhaust Python's stack.
    """
    level = [value]
    for _ in range(most + 1):
        inner: list[Any] = []
        found = False
        for each in level:
            if isinstance(each, dict):
                found = True
                inner.extend(child for child in each.values() if isinstance(child, dict | list | tuple))
            elif isinstance(each, list | tuple):
                found = True
                inner.extend(child for child in each if isinstance(child, dict | list | tuple))
        if not found:
            return False
        level = inner
    return True


def json_text(value: Any) -> str:
    """Return a value as compact JSON text.

    Raises
    ------
    TypeError, ValueError
        It is no JSON value: NaN, a set, a key that is no text.
    """
    _check_keys(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _check_keys(value: Any) -> None:
    # json.dumps would quietly write the key 1 as "1"
    if isinstance(value, dict):
        for key, child in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_keys(child)
    elif isinstance(value, list | tuple):
        for child in value:
            _check_keys(child)
