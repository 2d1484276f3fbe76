"""One page to keep: a file that scrubs through a fold without a kernel and without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recallkit.bounds import MIB
from recallkit.errors import InvalidInput
from recallkit.files import check_writable, write_text
from recallkit.notebook.answers import Answers
from recallkit.notebook.deltas import delta
from recallkit.notebook.front import module, styles
from recallkit.notebook.head import head
from recallkit.notebook.replay import replay
from recallkit.notebook.tree import Tree

if TYPE_CHECKING:
    from recallkit.folding import Folding

# A browser opens this much at once without complaint; a longer history is saved in parts.
MOST_BYTES: Final = 24 * MIB
SEGMENT_BYTES: Final = MIB
SEGMENT_FOLDS: Final = 128

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {scripts}; style-src {styles}; \
img-src data:; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>{css}</style>
</head>
<body class="rk-page">
<h1 class="rk-hidden">{title}</h1>
<main id="scrubber"><noscript>{summary} This page scrubs through it with JavaScript, which is off.</noscript></main>
<script type="application/json" id="fold">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def save(
    folding: Folding,
    path: str | os.PathLike[str],
    *,
    start: int = 0,
    stop: int | None = None,
    keyframe_every: int | None = None,
    most_bytes: int = MOST_BYTES,
) -> Path:
    """Write the page.

    Parameters
    ----------
    folding : Folding
    path : str or path
        The file; one that is there is replaced.
    start, stop : int
        The part to save, in folded events; all of it, with the stall, when left out.
    keyframe_every : int, optional
        Events between two views that are kept whole, at most 128 when left out. More of them make seeking faster and
        the page larger.
    most_bytes : int
        The bound on the file.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Raises
    ------
    InvalidInput
        The page would be larger than `most_bytes`, the part is none, or nothing can be written to `path`.
    """
    check_writable(path, "page")
    last = folding.folded + (folding.stall is not None)
    end = last if stop is None else stop
    if not 0 <= start <= end <= last:
        raise InvalidInput(f"start and stop take whole numbers from 0 to {last}, the first no later than the second.")
    if keyframe_every is not None and keyframe_every < 1:
        raise InvalidInput(f"keyframe_every takes a whole number from 1; this one is {keyframe_every}.")
    firsts: list[int] = []
    segments: list[str] = []
    total = 0
    for first, packed in _segments(folding, start, end, keyframe_every or SEGMENT_FOLDS):
        firsts.append(first)
        segments.append(base64.b64encode(packed).decode())
        total += len(segments[-1])
        if total > most_bytes:
            raise InvalidInput(
                f"The page would take more than {most_bytes:,} bytes: it took {total:,} by event {first:,} of {end:,}. "
                f"Save a part of it, such as save(path, start={start}, stop={max(start + 1, (first + start) // 2)}), "
                "keep fewer whole views with a larger keyframe_every, or raise most_bytes."
            )
    page = {"head": head(folding, start, end), "firsts": firsts, "segments": segments}
    return write_text(path, "page", render(page))


def render(page: dict[str, Any]) -> str:
    """Return the page's HTML; everything in it that the data decides is escaped."""
    # Inside a script element only "<" can end it or begin a comment; JSON says it another way.
    data = json.dumps(page, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
    script = module("page")
    css = styles()
    assert "</" not in css
    assert "</script" not in script.lower()
    assert "<!--" not in script
    return _PAGE.format(
        title=html.escape(f"{page['head']['title']}: recallkit scrubber"),
        summary=html.escape(page["head"]["words"]),
        css=css,
        script=script,
        data=data,
        scripts=_hash(script),
        styles=_hash(css),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _segments(folding: Folding, start: int, end: int, every: int) -> Iterator[tuple[int, bytes]]:
    """Yield stretches of the fold: a whole view, then each event with its cost and what it changed."""
    answers = Answers(folding)
    steps: list[dict[str, Any]] = []
    first, size, view = start, 0, ""
    before: Tree | None = None
    for number, text in replay(folding._fold, start, min(end, folding.folded)):
        if number < start:
            continue
        here = Tree(text)
        step: dict[str, Any] = {"event": answers.event_text(number), "cost": answers.cost_row(number)}
        step["patch"], orders = delta(before or here, here)
        if orders:
            step["orders"] = orders
        before = here
        if steps and (len(steps) >= every or size > SEGMENT_BYTES):
            yield first, _pack(view, steps)
            first, size, steps = number, 0, []
        if not steps:
            view = text
        steps.append(step)
        size += len(text) // every + len(step["event"] or "") + 200
    if end > folding.folded:
        kept = {"event": answers.event_text(end), "cost": answers.cost_row(end), "patch": [], "stalled": True}
        steps.append(kept)
    yield first, _pack(view, steps)


def _pack(view: str, steps: list[dict[str, Any]]) -> bytes:
    text = json.dumps({"view": view, "steps": steps}, ensure_ascii=True, separators=(",", ":"))
    return zlib.compress(text.encode(), 9)
