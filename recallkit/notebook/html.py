"""How the public objects show themselves in a notebook: HTML that follows the page's light or dark.

Everything that comes from a document, a history or a fold is escaped: it is a stranger's. Nothing here holds an
address, a timing or a random id, so that saved outputs compare equal.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, Final

from recallkit.bounds import VIEW_BYTES
from recallkit.notebook.head import lines_around
from recallkit.notebook.markdown import to_html
from recallkit.notebook.pictures import picture, sparkline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recallkit.errors import Problem, Refused
    from recallkit.events.history import History
    from recallkit.folding import Folding
    from recallkit.views.runs import Run
    from recallkit.views.stalls import Stall

# For edges, lines and carets: no colour of words is dark enough on white and light enough on near black at once, so
# words are in the page's own text colour, thinned where they matter less.
GOOD: Final = "#2a9d57"
BAD: Final = "#e5534b"
WARN: Final = "#bf8a1b"
ACCENT: Final = "#4a8fe0"

_TYPES_SHOWN: Final = 12
_PROBLEMS_SHOWN: Final = 20
_OUTPUT_SHOWN: Final = 4_000
_QUIET: Final = "opacity:.7"
_CODE: Final = (
    "margin:.3em 0;padding:.5em .7em;overflow-x:auto;border-radius:5px;background:rgba(128,128,128,.12);"
    "color:inherit;font:12px/1.45 var(--jp-code-font-family,ui-monospace,monospace);white-space:pre"
)


def _card(title: str, badge: str, colour: str, *parts: str) -> str:
    chip = (
        f'<span style="margin-left:.6em;padding:0 .6em;border:1px solid {colour};border-radius:9px;'
        f'background:{colour}26;font-size:85%;font-weight:600">{escape(badge)}</span>'
        if badge
        else ""
    )
    body = "".join(part for part in parts if part)
    return (
        '<div class="recallkit" style="max-width:60em;padding:.6em .9em;border:1px solid rgba(128,128,128,.4);'
        f'border-radius:7px"><div><strong>{escape(title)}</strong>{chip}</div>{body}</div>'
    )


def _bar(colour: str) -> str:
    return f"padding-left:.6em;border-left:3px solid {colour}"


def _line(words: str, style: str = "") -> str:
    return f'<div style="overflow-wrap:anywhere;{style}">{escape(words)}</div>'


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    cell = 'style="padding:.1em .9em .1em 0;text-align:left;vertical-align:top;background:none"'
    top = "".join(f"<th {cell}>{escape(name)}</th>" for name in head)
    body = "".join(
        f'<tr style="background:none">{"".join(f"<td {cell}>{escape(str(each))}</td>" for each in row)}</tr>'
        for row in rows
    )
    return f'<table style="margin:.3em 0;border:0"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def function_html(function: Any) -> str:
    """Show a function: its overview, with the picture drawn."""
    from recallkit.definitions.overview import diagram

    kind = "recall function" if function.definition.kind == "recall" else "computation function"
    words = function.overview()
    warnings = [problem_line(each) for each in function.problems[:_PROBLEMS_SHOWN]]
    return _card(
        function.name or kind,
        kind if function.name else "",
        ACCENT,
        f'<div style="margin:.5em 0">{picture(diagram(function.definition))}</div>',
        to_html(words),
        "".join(warnings),
    )


def history_html(history: History) -> str:
    """Show a history: how many events of each type, from when to when."""
    counts = history.counts()
    shown = counts.head(_TYPES_SHOWN)
    rows = [
        (each.type, f"{each.events:,}", _moment(each.first), _moment(each.last))
        for each in shown.itertuples(index=False)
    ]
    rest = len(counts) - len(shown)
    if rest:
        others = int(counts["events"].iloc[_TYPES_SHOWN:].sum())
        rows.append((f"and {rest:,} more types", f"{others:,}", "", ""))
    first, last = (counts["first"].min(), counts["last"].max()) if len(counts) else (None, None)
    span = f"from {_moment(first)} to {_moment(last)}" if _moment(first) else "without times" if len(history) else ""
    told = len(history.problems)
    badge = f"{told:,} problem{'' if told == 1 else 's'}" if told else ""
    problems = _line("history.problems tells each of them", _QUIET) if told else ""
    return _card(
        f"History of {len(history):,} event{'' if len(history) == 1 else 's'}",
        badge,
        WARN,
        _line(span, _QUIET),
        _table(("type", "events", "first", "last"), rows) if rows else "",
        problems,
    )


def _moment(time: Any) -> str:
    return "" if time is None or time != time else time.strftime("%Y-%m-%d %H:%M")


def folding_html(folding: Folding) -> str:
    """Show a folding: how it stands, and the view's bytes through the history as a small line."""
    colours = {"live": GOOD, "stalled": BAD, "stopped": WARN}
    standing = folding.standing
    rows = [("folded", f"{folding.folded:,} of {len(folding.history):,} events")]
    size = len(folding.view_text.encode("utf-8", "surrogatepass"))
    rows.append(("view", f"{size:,} bytes, {size / VIEW_BYTES:.1%} of {VIEW_BYTES:,}"))
    if standing["checkpoint"] is not None:
        rows.append(("read to", f"{standing['checkpoint']} of {standing['checkpoint_at'] or 'no time'}"))
    if standing["last_event"] is not None:
        rows.append(("last event", str(standing["last_event"]["id"])))
    sizes = folding._fold.ledger.column("bytes")
    return _card(
        folding.function.name or "Folding",
        folding.state,
        colours[folding.state],
        "" if folding.folded or folding.stall is not None else _line(folding.words, _QUIET),
        _table(("", ""), rows).replace("<thead><tr><th", "<thead hidden><tr><th"),
        sparkline(sizes, ACCENT) if folding.folded > 1 else "",
        stall_html(folding.stall, folding.function.source, card=False) if folding.stall is not None else "",
    )


def stall_html(stall: Stall, source: str = "", *, card: bool = True) -> str:
    """Show a stall: its words, and the document's line with a caret where the document is known."""
    event = stall.event
    where = f"at event {stall.seq}, {event['type']} {event['id']}" + (f" of {event['time']}" if event["time"] else "")
    line = f" on line {stall.line}" if stall.line is not None else ""
    parts = [
        _line(f"{where}, after {stall.folded:,} folded{line}", _QUIET),
        _line(stall.error, f"{_bar(BAD)};font-weight:600"),
    ]
    heaviest = stall.details.get("largest") or []
    if heaviest:
        parts.append(_table(("path", "bytes"), [(each["path"], f"{each['bytes']:,}") for each in heaviest[:5]]))
    if stall.line is not None and source:
        parts.append(_marked(source, stall.line, None))
    if card:
        return _card("Stall", stall.kind, BAD, *parts)
    return f'<div style="margin:.4em 0">{"".join(parts)}</div>'


def run_html(run: Run) -> str:
    """Show a run: its ending, then its output or what went wrong."""
    badge = run.ending + (f": {run.kind}" if run.kind else "")
    if run.ok:
        text = json.dumps(run.output, indent=2, ensure_ascii=False)
        shown = text if len(text) <= _OUTPUT_SHOWN else text[:_OUTPUT_SHOWN] + "…"
        work = (
            f"{run.record.get('work', 0)} checkpoints, {run.steps:,} steps, {run.record.get('output_bytes', 0):,} bytes"
        )
        return _card("Run", badge, GOOD, f'<pre style="{_CODE}">{escape(shown)}</pre>', _line(work, _QUIET))
    problems = [problem_line(each) for each in run.problems[:_PROBLEMS_SHOWN]]
    return _card("Run", badge, BAD, *(problems or [_line(run.detail)]))


def refused_html(refused: Refused) -> str:
    """Show a refusal: each problem, and its line of the document with a mark."""
    errors = sum(each.severity == "error" for each in refused.problems)
    parts = []
    for each in refused.problems[:_PROBLEMS_SHOWN]:
        parts.append(problem_line(each))
        if each.line is not None and refused.source:
            parts.append(_marked(refused.source, each.line, each.column))
    rest = len(refused.problems) - _PROBLEMS_SHOWN
    if rest > 0:
        parts.append(_line(f"and {rest} more", _QUIET))
    return _card("Refused", f"{errors} error{'' if errors == 1 else 's'}", BAD, *parts)


def problem_line(problem: Problem) -> str:
    """Show a problem: where, and in which words."""
    colour = BAD if problem.severity == "error" else WARN
    place = ":".join(str(each) for each in (problem.line, problem.column) if each is not None)
    where = " ".join(each for each in (f"line {place}" if place else "", problem.pointer or "") if each)
    return (
        f'<div style="margin-top:.4em;overflow-wrap:anywhere;{_bar(colour)}"><strong>'
        f"{problem.severity}</strong> <span style='{_QUIET}'>{escape(where)}</span> {escape(problem.words)}</div>"
    )


def _marked(source: str, line: int, column: int | None) -> str:
    """Draw a document's line between its neighbours, with a caret below it."""
    drawn = []
    for each in lines_around(source, line, 1):
        text = each["text"]
        row = f"{each['line']:>5}  {text}"
        if each["line"] != line:
            drawn.append(f'<span style="opacity:.65">{escape(row)}</span>')
            continue
        indent = len(text) - len(text.lstrip())
        # Columns count UTF-16 units, as the compiler does.
        place = indent if column is None else len(_units(text, column - 1))
        wide = max(1, len(text.strip())) if column is None else 1
        pad = "".join("\t" if unit == "\t" else " " for unit in text[:place])
        drawn.append(f"<strong>{escape(row)}</strong>")
        drawn.append(f'<span style="color:{BAD};font-weight:700">{" " * 7}{pad}{"^" * wide}</span>')
    return f'<pre style="{_CODE}">{chr(10).join(drawn)}</pre>' if drawn else ""


def _units(text: str, units: int) -> str:
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")
