"""`recallkit demo`: the whole story on the campaign example, in a terminal."""

from __future__ import annotations

import shlex
import textwrap
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recallkit.bounds import VIEW_BYTES
from recallkit.cli_fold import figures, types_of
from recallkit.cli_words import (
    FINE,
    INTERRUPTED,
    REFUSED,
    count,
    one_line,
    paint,
    pretty,
    say,
    share,
    stall_lines,
    width,
)
from recallkit.examples import example

if TYPE_CHECKING:
    from recallkit.folding import Folding

DOCUMENT: Final = "campaign-reviews.md"
HISTORY: Final = "campaign-reviews.jsonl"
ROWS: Final = 7
# The guard that the example document has, and what an author in a hurry would have written.
GUARDED: Final = "(typeof given === 'string' ? given : JSON.stringify(given))"
CARELESS: Final = "(given as string)"
INPUT: Final = {"campaign": "spring-sale", "last": 2}


def demo(options: Namespace) -> int:
    """Fold the example's history, look at it on the way, ask it, and break it on purpose."""
    import recallkit as rk
    from recallkit.functions import RecallFunction

    path, events = example("functions", DOCUMENT), example("data", HISTORY)
    title("A recall function keeps a view of what happened")
    function = rk.load(path)
    assert isinstance(function, RecallFunction)
    say(*textwrap.wrap(f"{DOCUMENT}: {one_line(function.description)}.", width()), "")
    say(*(paint(f"  {line}", "dim") for line in parts_of(function.source)))
    say("", "It was checked with the TypeScript compiler, and runs on production's build of the engine.")

    history = rk.read_history(events)
    title(f"{count(len(history), 'event')} to fold, in recorded order")
    say(*textwrap.wrap(f"{HISTORY}: {types_of(history)}", width()))
    folding = function.fold(history)
    if folding.state == "stopped":
        say("Stopped by you.")
        return INTERRUPTED
    say("", *rows(folding))
    say("", *figures(folding))

    title("The view after three of them")
    say(pretty(folding.at(3).text, width() - 2)[0])

    title(f"A run answers from the view: the last {INPUT['last']} reviews of {INPUT['campaign']}")
    ran = function.run(folding, INPUT)
    say(pretty(ran.output_text or "null", width() - 2)[0])

    title("What a stall looks like")
    broken = function.source.replace(GUARDED, CARELESS)
    say("The same document, by an author in a hurry, who believes that every verdict is a text:", "")
    hurried = rk.load(broken)
    assert isinstance(hurried, RecallFunction)
    stalled = hurried.fold(history)
    if stalled.stall is not None:
        say(*stall_lines(DOCUMENT, stalled.stall, broken))
        given = history.events["data"].iloc[stalled.stall.seq]
        say(f"  The event's data: {one_line(given)}")

    title("What to do next")
    say(*next_steps(path, events))
    return FINE if folding.state == "live" and stalled.stall is not None else REFUSED


def title(words: str) -> None:
    """Print a heading."""
    say("", paint(f"── {words} {'─' * max(2, width() - len(words) - 4)}", "bold", "cyan"), "")


def parts_of(source: str) -> list[str]:
    """The lines of the document that show how it works: its filter, and the two functions' heads."""
    lines = source.split("\n")
    first = lines.index("source:")
    heads = [line for line in lines if line.startswith(("export function fold", "export function answer"))]
    return [*lines[first : first + 4], "…", *(f"{line} … }}" for line in heads)]


def rows(folding: Folding) -> list[str]:
    """A table of the view at some events on the way: the change, the size against its bound, the work."""
    last = folding.folded
    chosen = sorted({1, 2, 3, *(round(last * part / (ROWS - 3)) for part in range(1, ROWS - 2))})
    head = f"{'folded':>6}  {'when':11}  {'what the fold changed':24}  {'view':>11}  {'of its bound':>12}  {'steps':>5}"
    lines = [paint(head, "bold")]
    for number in chosen:
        moment = folding.at(number)
        when = str((moment.event or {}).get("time") or "")[5:16].replace("T", " ")
        change = moment.patch[0] if moment.patch else None
        words = "nothing" if change is None else one_line(f"{change['op']} {change['path']}")
        more = f" and {len(moment.patch) - 1} more" if len(moment.patch) > 1 else ""
        words = words if len(words) + len(more) <= 24 else words[: 23 - len(more)] + "…"
        size = share(moment.bytes, VIEW_BYTES)
        lines.append(
            f"{number:>6}  {when:11}  {words + more:24}  {moment.bytes:>5,} bytes  {size:>12}  {moment.steps:>5,}"
        )
    return lines


def next_steps(path: Path, events: Path) -> list[str]:
    """Commands to go on with, as they can be pasted."""
    doc, history = shlex.quote(shown(path)), shlex.quote(shown(events))
    return [
        "Take the example and change it:",
        f"  cp {doc} mine.md",
        "  recallkit check mine.md",
        f"  recallkit fold mine.md {history} --trace trace.csv",
        f'  recallkit run mine.md {history} --input \'{{"campaign": "spring-sale"}}\'',
        f"  recallkit scrub mine.md {history} -o page.html",
    ]


def shown(path: Path) -> str:
    """A path as a person here would write it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
