"""The commands check, run and scrub: each prints what it has to say and returns its exit status."""

from __future__ import annotations

import contextlib
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from recallkit.cli_files import writable
from recallkit.cli_fold import named, read_both, say_fold, status_of
from recallkit.cli_sources import STDIN, UsageError, load_function, open_history, read_input, read_source
from recallkit.cli_words import (
    FINE,
    INTERRUPTED,
    REFUSED,
    USAGE,
    Raw,
    count,
    one_line,
    paint,
    pretty,
    problem_lines,
    problem_members,
    say,
    say_json,
    stall_lines,
)
from recallkit.errors import EngineError, InvalidInput, Refused, Unavailable

# check


def check(options: Namespace) -> int:
    """`recallkit check DOC`."""
    from recallkit.definitions import loading
    from recallkit.definitions.frontmatter import read_document

    try:
        source = read_source(options.document)
        problems = loading.check(source.data)
        kind = loading.detect_kind(read_document(source.data))
        text = source.text
    except Refused as refused:
        problems, kind, text = refused.problems, None, ""
    errors = [problem for problem in problems if problem.severity == "error"]
    if options.json:
        told = [problem_members(problem) for problem in problems]
        say_json({"ok": not errors, "kind": kind, "problems": told})
        return REFUSED if errors else FINE
    name = "<stdin>" if options.document == STDIN else options.document
    say(*problem_lines(name, problems, text))
    warnings = len(problems) - len(errors)
    more = f", {count(warnings, 'warning')}" if warnings else ""
    if errors:
        say(f"{one_line(name)}: refused: {count(len(errors), 'error')}{more}")
        return REFUSED
    say(f"{one_line(name)}: {paint('fine', 'bold', 'green')}, a {kind} function{more}")
    return FINE


# run


def run(options: Namespace) -> int:
    """`recallkit run DOC [HISTORY] --input JSON`."""
    from recallkit.functions import ComputationFunction

    if [options.document, options.history, options.input].count(STDIN) > 1:
        raise UsageError("Only one of the document, the history and the input can be standard input.")
    given = {} if options.input is None else {"input": read_input(options.input)}
    source = read_source(options.document)
    function = load_function(source)
    name = one_line(source.name)
    try:
        if isinstance(function, ComputationFunction):
            if options.history is not None:
                raise UsageError(
                    f"{name} is a computation function, which reads no history: leave {one_line(options.history)} out."
                )
            ran = function.run(**given, started_at=moment_of(options.started_at))
        else:
            if options.history is None:
                raise UsageError(
                    f"{name} is a recall function, which answers from a history: "
                    f"recallkit run {name} HISTORY --input JSON."
                )
            moment = moment_of(options.started_at)
            history = open_history(options.history)
            folding = function.fold(history, trace=False, **named(options))
            if folding.state == "stopped":
                words = f"Stopped by you after {count(folding.folded, 'folded event')}; nothing was run."
                if options.json:
                    say_json({"ending": None, "error": {"kind": "stopped", "words": words}})
                say(words, to=sys.stderr)
                return INTERRUPTED
            if folding.stall is not None and not options.json:
                say(*stall_lines(source.name, folding.stall, source.text, to=sys.stderr), to=sys.stderr)
            ran = function.run(folding, **given, started_at=moment)
    except InvalidInput as error:
        raise UsageError(str(error)) from None
    if options.json:
        output = None if ran.output_text is None else Raw(ran.output_text)
        problems = [problem_members(problem) for problem in ran.problems]
        members = {"ending": ran.ending, "kind": ran.kind, "output": output, "detail": ran.detail}
        say_json({**members, "problems": problems, "record": ran.record, "steps": ran.steps})
        return FINE if ran.ok else REFUSED
    if ran.ok and ran.output_text is not None:
        say(pretty(ran.output_text)[0])
        record = ran.record
        words = f"{ran.steps:,} steps, {count(record['work'], 'checkpoint')}, {record['duration_ms']:,} ms"
        say(paint(f"succeeded: {words}, {record['output_bytes']:,} bytes", "dim", to=sys.stderr), to=sys.stderr)
        return FINE
    ending = ran.ending if ran.kind is None else f"{ran.ending}, {ran.kind}"
    words = f"the input has {count(len(ran.problems), 'problem')}" if ran.problems else one_line(ran.detail)
    say(f"{name}: {paint(ending, 'bold', 'red', to=sys.stderr)}: {words}", to=sys.stderr)
    for problem in ran.problems:
        say(f"  {one_line(problem.pointer or 'the input')}: {one_line(problem.words)}", to=sys.stderr)
    return REFUSED


def moment_of(text: str | None) -> float | None:
    """A run's start from its option."""
    if text is None:
        return None
    from recallkit.views.runs import moment_of as read

    try:
        return read(text)
    except (InvalidInput, OverflowError, ValueError):
        raise UsageError(f"--started-at takes a time such as 2026-10-01T09:00:00Z, not {one_line(text)}.") from None


# scrub


def scrub(options: Namespace) -> int:
    """`recallkit scrub DOC HISTORY -o page.html`."""
    writable(options.output, "page")
    function, source, history = read_both(options)
    folding = function.fold(history, trace=False, **named(options))
    try:
        widget = folding.scrub()
    except ModuleNotFoundError as error:
        raise Unavailable(f"The scrubber needs {error.name}; install it: pip install {error.name}") from None
    with contextlib.redirect_stdout(None):  # it says the page's size, which is said below
        widget.save(options.output)
    say_fold(options, folding, source, sys.stdout)
    size = Path(options.output).stat().st_size
    say(f"The page is in {one_line(options.output)}, {size:,} bytes: open it in any browser.")
    return status_of(folding)


# What goes wrong anywhere


def failed(error: Exception, source_name: str | None) -> tuple[int, list[str], dict[str, Any]]:
    """The status, the words and the JSON members for an error that a command ends with."""
    kind = type(error).__name__
    if isinstance(error, Refused):
        lines = problem_lines(source_name or "document", error.problems, error.source, to=sys.stderr)
        problems = [problem_members(problem) for problem in error.problems]
        return REFUSED, lines, {"error": {"kind": "refused", "problems": problems}}
    if isinstance(error, Unavailable):
        words = f"Not available now: {error}"
        return REFUSED, [f"recallkit: {words}"], {"error": {"kind": "unavailable", "words": words}}
    if isinstance(error, EngineError):
        words = f"The runtime itself broke down: {error} The document is not at fault; try again."
        return REFUSED, [f"recallkit: {one_line(words)}"], {"error": {"kind": "failed", "words": words}}
    words = str(error) or kind
    return USAGE, [f"recallkit: {words}"], {"error": {"kind": "usage", "words": words}}
