"""The command fold, and what other commands tell of a fold too."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import IO, TYPE_CHECKING, Any, Final

from recallkit.bounds import FOLD_CHECKPOINTS, FOLD_MEMORY_BYTES, MIB, VIEW_BYTES
from recallkit.cli_files import trace_ending, writable, write_text, write_trace
from recallkit.cli_sources import STDIN, Source, UsageError, history_name, load_function, open_history, read_source
from recallkit.cli_words import (
    FINE,
    INTERRUPTED,
    REFUSED,
    Raw,
    bar,
    count,
    one_line,
    paint,
    pretty,
    say,
    say_json,
    share,
    stall_lines,
)
from recallkit.errors import InvalidInput

if TYPE_CHECKING:
    from recallkit.events.history import History
    from recallkit.folding import Folding
    from recallkit.functions import RecallFunction
    from recallkit.views.timeline import Moment

VIEW_LINES: Final = 40
PROBLEM_LINES: Final = 200


def fold(options: Namespace) -> int:
    """`recallkit fold DOC HISTORY`."""
    for path, what in ((options.trace, "trace"), (options.view, "view")):
        if path is not None and path != STDIN:
            writable(path, what)
    if options.trace is not None:
        trace_ending(options.trace)
    if options.json and options.view == STDIN:
        raise UsageError("--json and --view - both write to standard output; --json holds the view.")
    function, source, history = read_both(options)
    folding = function.fold(history, page=options.page, trace=False, **named(options))
    moment = None
    if options.at is not None:
        try:
            moment = folding.at(options.at)
        except InvalidInput as error:
            raise UsageError(f"--at: {error}") from None
    if options.trace is not None:
        write_trace(folding.trace, options.trace)
    text = folding.view_text if moment is None else moment.text
    if options.view is not None and options.view != STDIN:
        write_text(text, options.view, "view")
    if options.json:
        say_json(fold_members(folding, moment, options.problems))
    elif options.view == STDIN:
        say_fold(options, folding, source, sys.stderr)
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    else:
        say_fold(options, folding, source, sys.stdout)
        say_view(text, moment)
    return status_of(folding)


def status_of(folding: Folding) -> int:
    """The exit status that a folding's state asks for."""
    return {"live": FINE, "stopped": INTERRUPTED}.get(folding.state, REFUSED)


def read_both(options: Namespace) -> tuple[RecallFunction, Source, History]:
    """Read the recall function and the history that a command names."""
    from recallkit.functions import RecallFunction

    if options.document == STDIN and options.history == STDIN:
        raise UsageError("The document and the history cannot both be standard input; name a file for one.")
    source = read_source(options.document)
    function = load_function(source)
    if not isinstance(function, RecallFunction):
        raise UsageError(
            f"{one_line(source.name)} is a computation function, which folds nothing; run it with an input: "
            f"recallkit run {one_line(source.name)} --input JSON."
        )
    return function, source, open_history(options.history)


def named(options: Namespace) -> dict[str, Any]:
    """The function's name in its playbook, where it is given."""
    return {} if options.name is None else {"name": options.name}


def fold_members(folding: Folding, moment: Moment | None, problems: bool) -> dict[str, Any]:
    """What `recallkit fold --json` prints."""
    trace = folding.trace
    stall = folding.stall
    members: dict[str, Any] = {
        "state": folding.state,
        "events": len(folding.history),
        "considered": folding.considered,
        "folded": folding.folded,
        "passed_over": folding.passed_over,
        "view": Raw(folding.view_text),
        "view_bytes": size_of(folding.view_text),
        "standing": folding.standing,
        "stall": None,
        "work": {
            "steps": int(trace["steps"].sum()),
            "most_steps": int(trace["steps"].max()) if len(trace) else 0,
            "most_checkpoints": int(trace["checkpoints"].max()) if len(trace) else 0,
        },
        "problems": len(folding.history.problems),
    }
    if stall is not None:
        names = ("kind", "event", "error", "line", "seq", "folded", "steps", "details")
        members["stall"] = {name: getattr(stall, name) for name in names}
    if moment is not None:
        members["at"] = {
            "number": moment.number,
            "seq": moment.seq,
            "event": None if moment.seq is None else Raw(folding.history.text(moment.seq).strip()),
            "view": Raw(moment.text),
            "view_bytes": moment.bytes,
            "steps": moment.steps,
            "checkpoints": moment.checkpoints,
        }
    if problems:
        members["problem_rows"] = problem_rows(folding.history)
    return members


def problem_rows(history: History) -> list[dict[str, Any]]:
    """The problems of a history as JSON values: seq, line, id, kind, words."""
    rows = history.problems
    told = rows.astype(object).where(rows.notna(), None).to_dict("records")
    for row in told:
        for name in ("seq", "line"):
            row[name] = None if row[name] is None else int(row[name])
    return [{str(name): value for name, value in row.items()} for row in told]


def size_of(text: str) -> int:
    """How many bytes of UTF-8 a text takes."""
    return len(text.encode("utf-8", "surrogatepass"))


def say_fold(options: Namespace, folding: Folding, source: Source, to: IO[str]) -> None:
    """Say how a fold went: the state, then what it took of each bound."""
    history = folding.history
    state = {"live": ("bold", "green"), "stalled": ("bold", "red")}.get(folding.state, ("bold", "yellow"))
    doc, events = one_line(source.name), one_line(history_name(options.history))
    say(f"{doc} over {events}: {paint(folding.state, *state, to=to)}", to=to)
    say(*figures(folding), to=to)
    if folding.stall is not None:
        say(*stall_lines(source.name, folding.stall, source.text, to=to), to=to)
    if folding.state == "stopped":
        say(f"Stopped by you after {count(folding.folded, 'folded event')}; what was folded stands below.", to=to)
    if not len(history):
        say("The history is empty, so the view is the initial one.", to=to)
    elif folding.state == "live" and not folding.considered:
        words = "No event matched any filter, so the view is the initial one. Compare the document's source.events"
        say(f"{words} with the history's types: {types_of(history)}.", to=to)
    elif folding.state == "live" and not folding.folded:
        words = "No event was folded: attributes matched a filter, but no data did; the view is the initial one"
        say(f"{words}.", to=to)
    if folding.passed_over:
        words = (
            f"{count(len(folding.passed_over), 'event')} passed over: the engine cannot read the time, first of event"
        )
        say(f"{words} {folding.passed_over[0]}.", to=to)
    say_problems(history, options.problems, to)
    for path, what in ((options.trace, "trace"), (options.view, "view")):
        if path is not None and path != STDIN:
            say(f"The {what} is in {one_line(path)}.", to=to)


def types_of(history: History, most: int = 6) -> str:
    """The types of a history's events, most frequent first."""
    counts = history.attribute("type").value_counts()
    told = [f"{one_line(name)} ({number:,})" for name, number in counts.head(most).items()]
    return ", ".join(told) + (f" and {count(len(counts) - most, 'other')}" if len(counts) > most else "")


def say_problems(history: History, every: bool, to: IO[str]) -> None:
    """Say how many problems a history has, or each of them."""
    rows = history.problems
    if not len(rows):
        return
    over = int(rows["seq"].isna().sum())
    head = f"The history has {count(len(rows), 'problem')}: {over:,} passed over, {len(rows) - over:,} kept but odd"
    if not every:
        say(f"{head}; see them with --problems.", to=to)
        return
    say(f"{head}.", to=to)
    for row in problem_rows(history)[:PROBLEM_LINES]:
        where = f"line {row['line']}: " if row["line"] is not None else ""
        where += f"event {row['seq']}: " if row["seq"] is not None else ""
        say(f"  {where}{one_line(row['kind'])}: {one_line(row['words'])}", to=to)
    if len(rows) > PROBLEM_LINES:
        say(f"  and {len(rows) - PROBLEM_LINES:,} more, all of them with --json --problems", to=to)


def figures(folding: Folding) -> list[str]:
    """What a fold took of each bound, a line each."""
    trace = folding.trace
    size = size_of(folding.view_text)
    events = f"{len(folding.history):,} read, {folding.considered:,} considered, {folding.folded:,} folded"
    lines = [f"  events  {events}"]
    lines.append(f"  view    {size:,} bytes  {bar(size / VIEW_BYTES)}  {share(size, VIEW_BYTES)} of {VIEW_BYTES:,}")
    if len(trace):
        most = int(trace["view_bytes"].max())
        if most > size:
            lines[-1] += f"; {most:,} at its largest"
        steps = int(trace["steps"].max())
        work = f"{int(trace['checkpoints'].max()):,} of {FOLD_CHECKPOINTS} checkpoints"
        lines.append(f"  work    {steps:,} steps in the heaviest fold, {work}; {int(trace['steps'].sum()):,} in all")
        memory = int(trace["memory_bytes"].max()) // MIB
        lines.append(f"  memory  {memory} of {FOLD_MEMORY_BYTES // MIB} MiB")
        spent = trace["fold_us"]
        lines.append(f"  time    {spent.median():,.0f} µs for the median fold, {spent.sum() / 1e6:,.2f} s for all")
    return lines


def say_view(text: str, moment: Moment | None) -> None:
    """Print a view, cut where it is long."""
    if moment is None:
        say(paint("view", "bold"))
    elif moment.event is None:
        say(paint("view before any event", "bold"))
    else:
        told = f"{one_line(moment.event['type'])} {one_line(moment.event['id'])} (event {moment.seq})"
        head = paint(f"view after {count(moment.number, 'folded event')}", "bold")
        say(f"{head}, the last one {told}")
        for change in moment.patch[:8]:
            say(f"  {change['op']:<8}{one_line(change['path']) or 'the whole view'}")
        if len(moment.patch) > 8:
            say(f"  and {len(moment.patch) - 8:,} changes more")
    shown, left = pretty(text, most_lines=VIEW_LINES)
    say(shown)
    if left:
        say(paint(f"… {count(left, 'line')} more; the whole view with --view FILE, --view - or --json", "dim"))
