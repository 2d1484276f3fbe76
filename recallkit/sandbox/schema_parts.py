"""The schema check of the page loop, joined from its parts into one JavaScript expression."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

# The order matters: each part uses the names of those before it.
PARTS: Final = (
    "schema_base.js",
    "schema_refs.js",
    "schema_members.js",
    "schema_evaluated.js",
    "schema.js",
    "schema_words.js",
)


@cache
def schema_source() -> str:
    """Give the source of ``makeChecker``: an expression to evaluate before the sandbox is hardened.

    Returns
    -------
    str
        JavaScript whose value is a function ``(schema, options) => check``. ``options`` may hold ``memory``
        (what remembers the lists and objects that passed, page_keep.js; sound where they never change), ``frozen`` (the
        built-in prototypes cannot change: members are read without asking whether they are own) and
        ``documents`` (schemas by URI, for references). ``check(value)`` gives undefined, or the first issue
        as ``{path, words}``; ``check.all(value, limit)`` gives a list of them.
    """
    folder = resources.files(__package__)
    body = "\n".join(folder.joinpath(part).read_text(encoding="utf-8") for part in PARTS)
    return f"(() => {{\n'use strict';\n{body}\nreturn makeChecker;\n}})()"
