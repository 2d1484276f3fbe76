"""JSON Pointers (RFC 6901): their steps, and back."""

from __future__ import annotations


def split_pointer(pointer: str) -> list[str]:
    """The steps of a JSON Pointer; none for the empty one, which is the whole value."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def join_pointer(*steps: str | int) -> str:
    """The JSON Pointer of some steps."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
