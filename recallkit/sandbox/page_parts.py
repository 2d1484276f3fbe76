"""The page loop, joined from its parts into one JavaScript expression."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

# The order matters: each part uses the names of those before it.
PARTS: Final = ("page_base.js", "page_keep.js", "page_fold.js", "page_run.js")
# What the worker gives it: its buffers, its native functions, and the values of the other parts (worker.py, do_open).
GIVEN: Final = (
    "controlBuffer, counterBuffer, ledgerBuffer, numbersBuffer, "
    "tick, utf8Native, measureNative, learnNative, "
    "remeasureNative, knownNative, noteNative, freshNative, forget, writeNative, "
    "makeDates, harden, makeFitness, makeChecker"
)


@cache
def page_source() -> str:
    """Give the source of the page loop: an expression to evaluate before the sandbox is hardened.

    Returns
    -------
    str
        JavaScript whose value is a function of what `GIVEN` names; it gives an object of the functions that the host
        calls.
    """
    folder = resources.files(__package__)
    body = "\n".join(folder.joinpath(part).read_text(encoding="utf-8") for part in PARTS)
    return f"({GIVEN}) => {{\n'use strict';\n{body}\nreturn {{ __proto__: null, ...running, ...folding }};\n}}"
