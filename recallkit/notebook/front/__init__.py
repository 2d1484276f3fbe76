"""The front end: ECMAScript modules written by hand, joined into one for anywidget and for saved pages."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final, Literal

_SHOWING: Final = ("dom.js", "strip.js", "rows.js", "panels.js", "ahead.js", "scrubber.js")
# Each file after those it imports from.
_ORDER: Final = {
    "widget": ("tree.js", *_SHOWING, "widget.js"),
    "page": ("tree.js", "local.js", *_SHOWING, "page.js"),
    "local": ("tree.js", "local.js", "ahead.js"),
}
_IMPORT: Final = re.compile(r'^import \{[^}]*\} from "\./[a-z]+\.js";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


@cache
def module(kind: Literal["widget", "page", "local"]) -> str:
    """Return the front end as one module that imports nothing.

    Parameters
    ----------
    kind : {'widget', 'page', 'local'}
        For anywidget; for a saved page; or only what needs no page, for the tests.
    """
    parts = []
    for name in _ORDER[kind]:
        text = _IMPORT.sub("", _read(name))
        parts.append(text if kind == "local" else _EXPORT.sub("", text))
    return "\n".join(parts)


@cache
def styles() -> str:
    """Return the style sheet."""
    return _read("scrubber.css")


def _read(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")
