"""Foldings that the notebook's tests scrub through, and the front end run in Node."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import recallkit as rk
from recallkit.definitions.checker.process import node_path
from recallkit.notebook.front import module

ROOT = Path(__file__).parent.parent

# A fold that does everything a view may do: names that JavaScript knows, members moved, removed and put back, lists
# that slide, grow and shrink, long texts, numbers at their edges, whole views replaced.
WILD = """---
description: A view that changes in every way
language: typescript
source:
  events:
    - type: wild
view:
  initial: { count: 0, list: [], "~a/b": { "0": "zero" } }
---
export function fold(view: View, event: Event): View {
  const data = event.data;
  const given = typeof data === 'object' && data !== null && !Array.isArray(data) ? data.view : undefined;
  return given !== undefined ? given : view;
}
"""

VIEWS: list[Any] = [
    {"count": 1, "list": [1], "~a/b": {"0": "zero"}},
    {"count": 1, "list": [1, 2, 3], "~a/b": {"0": "zero", "__proto__": {"x": 1}}},
    {"list": [1, 2, 3], "count": 1, "~a/b": {"__proto__": {"x": 1}, "0": "zero"}},
    {"list": [2, 3, 4], "count": 1.5e-7, "~a/b": {"__proto__": {"x": 2}, "constructor": None, "0": "zero"}},
    {"list": [3, 4], "10": "ten", "count": 1e21, "2": {"b": 1, "a": [True, False, None]}, "text": "é😀" * 150},
    {"list": [3, 4, {"b": 1, "a": 2}], "10": "ten", "2": {"a": [True, False, None], "b": 1}, "text": "é😀" * 2_500},
    {"list": [{"a": 2, "b": 1}], "2": {"a": [None], "b": 1, "": {"": ""}}, "text": "x" * 161},
    {"list": [{"a": 2, "b": 1}], "2": {"a": [None], "b": 1, "": {"": ""}}, "text": "x" * 161},
    [1, [2, [3]], "</script><!--<script>"],
    [[2, [3]], "</script><!--<script>", {"\u2028": "\u2028", "\ud800": "\udfff"}],
    "only text",
    None,
    {f"key {number}": list(range(number)) for number in range(130)},
    {f"key {number}": list(range(number)) for number in reversed(range(130))},
]


@cache
def wild() -> Any:
    """A folding of WILD over VIEWS."""
    # Written as JSON text: a lone surrogate stays an escape, as a recorder would have written it.
    lines = [
        json.dumps({"specversion": "1.0", "id": f"{n}", "type": "wild", "source": "/t", "data": {"view": view, "n": n}})
        for n, view in enumerate(VIEWS)
    ]
    return rk.load(WILD).fold(rk.read_history([json.loads(line) for line in lines]))


@cache
def reviews() -> Any:
    """The campaign example over its small history."""
    fn = rk.load(ROOT / "notebooks" / "functions" / "campaign-reviews.md")
    return fn.fold(rk.read_history(ROOT / "data" / "campaign-reviews.jsonl"))


@cache
def stalled() -> Any:
    """The campaign example, made to fail half way, with words that would be markup."""
    source = (ROOT / "notebooks" / "functions" / "campaign-reviews.md").read_text(encoding="utf-8")
    event = reviews().at(40).event["id"]
    words = "<img src=x onerror=alert(1)></script><script>alert(1)</script>"
    broken = source.replace("): View {", f"): View {{\n  if (event.id === '{event}') throw new Error('{words}');", 1)
    return rk.load(broken).fold(reviews().history)


def in_node(script: str, given: Any) -> Any:
    """Run the saved page's answering side in Node; `script` sees `given` and the module's names, and sets `result`."""
    program = (
        module("local")
        + "\nlet text = '';\nfor await (const part of process.stdin) text += part;\n"
        + "const given = JSON.parse(text);\nlet result;\n"
        + script
        + "\nprocess.stdout.write(JSON.stringify(result));\n"
    )
    done = subprocess.run(
        [str(node_path()), "--input-type=module", "--eval", program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
