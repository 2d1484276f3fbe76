"""What JSON can carry, and the fast way's memory of it, joined into one JavaScript expression."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def fitness_source() -> str:
    """Give the source of ``makeFitness``: an expression to evaluate before the sandbox is hardened.

    Returns
    -------
    str
        JavaScript whose value is a function ``(utf8, size) => {fit, write, text, makeMemo}``; see fitness.js
        and memo.js.
    """
    folder = resources.files(__package__)
    fitness, memo = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("fitness.js", "memo.js"))
    joined = "const made = fitness(utf8); return { __proto__: null, ...made, makeMemo: memo(utf8, size) };"
    return f"((fitness, memo) => (utf8, size) => {{ {joined} }})(\n{fitness},\n{memo})"
