"""The ``recallkit`` command: its options, its help, and how every failure becomes words and an exit status.

Exit status: 0 fine; 1 refused, stalled, or a run that did not succeed; 2 a usage error, an unreadable file among
them; 130 stopped by the person (Ctrl-C); 141 when whoever reads the output went away.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from recallkit import __version__
from recallkit.bounds import PAGE_RECORDS

INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
USAGE: Final = 2
BROKEN: Final = 1

# command → the module that has it, as a function of the same name
COMMANDS: Final = {
    "check": "recallkit.cli_commands",
    "fold": "recallkit.cli_fold",
    "run": "recallkit.cli_commands",
    "scrub": "recallkit.cli_commands",
    "report": "recallkit.cli_report",
    "playbook": "recallkit.cli_playbook",
    "demo": "recallkit.cli_demo",
}
_ABOUT: Final = """\
Fold a history of events into a JSON view with a recall function, and see what it keeps and costs.

A recall function is a Markdown document with a small TypeScript module: fold(view, event) keeps the view, and
answer(view, input) answers from it. It runs on the same engine build as production, within the same bounds.
"""
_STATUS: Final = """\
exit status: 0 fine; 1 refused, stalled, or a run that did not succeed; 2 a usage error or an unreadable file;
130 stopped with Ctrl-C. With --json, standard output holds one JSON object and nothing else.
"""
_FIRST: Final = "new here? recallkit demo\n\n"


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong, and what may have been meant."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, "formatter_class": _Help, **options})

    def error(self, message: str) -> NoReturn:
        from recallkit.cli_words import one_line

        self.exit(USAGE, f"{self.prog}: {one_line(message)}{self._meant(message)}\nHelp: {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        # A command answers for its own options: the parser above it does not know their names.
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown

    def _meant(self, message: str) -> str:
        unknown = message.partition("unrecognized arguments: ")[2].split(" ")[0].partition("=")[0]
        known = [*self._option_string_actions] if unknown.startswith("-") else []
        if "invalid choice: '" in message:
            unknown, known = message.split("'")[1], list(COMMANDS)
        near = difflib.get_close_matches(unknown, known, 1)
        return f"; did you mean {near[0]}?" if near else ""


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str, **options: Any) -> None:
        from recallkit.cli_words import width

        super().__init__(prog, **{"max_help_position": 26, "width": width(), **options})


def whole(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of a whole number within bounds."""

    def read(text: str) -> int:
        words = "a whole number" + (f" from {least:,}" if least is not None else "")
        words += f" to {most:,}" if most is not None else ""
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"takes {words}, not {text[:40]!r}") from None
        if (least is not None and number < least) or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"takes {words}, not {text[:40]}")
        return number

    return read


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """Return a command by name; its part of the kit is loaded when it is called."""

    def call(options: argparse.Namespace) -> int:
        chosen: Callable[[argparse.Namespace], int] = getattr(import_module(COMMANDS[name]), name)
        return chosen(options)

    return call


def make_parser() -> Parser:
    """Return the parser of the whole command; the tests read the commands and options from it."""
    parser = Parser(prog="recallkit", description=_ABOUT, epilog=_FIRST + _STATUS)
    parser.add_argument("--version", action="version", version=f"recallkit {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)

    def add(name: str, short: str, long: str, example: str) -> Parser:
        told = commands.add_parser(
            name, help=short, description=f"{short}.\n\n{long}", epilog=f"example: {example}\n\n{_STATUS}"
        )
        told.set_defaults(call=_command(name), json=False, document=None)
        return told

    check = add(
        "check",
        "say what is wrong with a function document",
        "Every problem with its line and column, in the compiler's own words. Errors keep the document from being\n"
        "saved; a warning names what production would refuse and the kit takes.",
        "recallkit check campaign-reviews.md",
    )
    _document(check)
    _json(check)

    fold = add(
        "fold",
        "fold a history into a recall function's view",
        "Folds the events one at a time, in recorded order, and shows the view, its size, work, memory and time\n"
        "against their bounds. A stall is told with its event, its words and its line. Ctrl-C stops and keeps what\n"
        "was folded.",
        "recallkit fold campaign-reviews.md events.jsonl --trace trace.parquet",
    )
    _document(fold)
    _history(fold)
    _json(fold)
    fold.add_argument(
        "--trace", metavar="FILE", help="write a row a fold: .parquet, .csv or .json, by the file's ending"
    )
    fold.add_argument(
        "--view", metavar="FILE", help="write the view's JSON, as the engine wrote it; - for standard output"
    )
    fold.add_argument(
        "--at", metavar="N", type=whole(), help="show the view after N folded events; 0 is the initial one, -1 the last"
    )
    fold.add_argument(
        "--page",
        metavar="N",
        type=whole(1, PAGE_RECORDS),
        default=PAGE_RECORDS,
        help="events a page, 1 to 1,000 (1,000); the view is the same at every size",
    )
    fold.add_argument("--problems", action="store_true", help="list what is wrong or odd in the history")
    _name(fold)

    run = add(
        "run",
        "run a function with an input",
        "A recall function answers from the view that it folds of HISTORY; a computation function takes no HISTORY.",
        'recallkit run campaign-reviews.md events.jsonl --input \'{"campaign": "spring-sale"}\'',
    )
    _document(run)
    _history(run, needed=False)
    run.add_argument(
        "--input", metavar="JSON", help="the input as strict JSON, @FILE, or - for standard input; {} when left out"
    )
    run.add_argument(
        "--started-at",
        metavar="TIME",
        help="what the run's clock shows, such as 2026-10-01T09:00:00Z; now when left out",
    )
    _json(run)
    _name(run)

    scrub = add(
        "scrub",
        "write one page that scrubs through a fold",
        "One self-contained HTML file: it shows the view at every event, without a kernel or a network.",
        "recallkit scrub campaign-reviews.md events.jsonl -o page.html",
    )
    _document(scrub)
    _history(scrub)
    scrub.add_argument("-o", "--output", metavar="FILE", required=True, help="the page to write")
    scrub.add_argument("--problems", action="store_true", help="list what is wrong or odd in the history")
    _name(scrub)
    scrub.set_defaults(trace=None, view=None)

    report = add(
        "report",
        "run a report over a fold, as one page",
        "Runs a template notebook and writes what it shows as one HTML page that needs no network, the scrubber\n"
        "inside; and beside it the executed notebook (.executed.ipynb) and the figures (.figures.json). A value of -p\n"
        "is read as what the template's default is: a text as it stands, anything else as JSON.",
        "recallkit report campaign-reviews.md events.jsonl -o report.html -p top=5",
    )
    _document(report)
    _history(report)
    report.add_argument("-o", "--output", metavar="FILE", required=True, help="the page to write, a .html")
    report.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        action="append",
        help="a parameter of the template; may be given many times",
    )
    report.add_argument("--template", metavar="NAME", default="fold", help="fold, compare, or a notebook's path; fold")
    report.add_argument(
        "--execution-timeout", metavar="SECONDS", type=whole(1), default=600, help="how long a cell may take (600)"
    )
    _name(report)

    playbook = add(
        "playbook",
        "keep a playbook: save functions, record events, follow, run",
        "An SQLite file or a PostgreSQL database keeps definitions and events, and each recall function's view as\n"
        "events arrive.",
        "recallkit playbook sqlite:///playbook.db save campaign-reviews campaign-reviews.md",
    )
    _part("recallkit.cli_playbook", "add_arguments")(playbook)

    add(
        "demo",
        "show the whole story on an example, in half a minute",
        "Folds a marketing team's history with the example function, looks at the view on the way, asks it a\n"
        "question, and breaks it on purpose. It writes nothing.",
        "recallkit demo",
    )
    return parser


def _part(module: str, name: str) -> Callable[[Parser], None]:
    part: Callable[[Parser], None] = getattr(import_module(module), name)
    return part


def _document(parser: Parser) -> None:
    parser.add_argument("document", metavar="DOC", help="the function document, a Markdown file; - for standard input")


def _history(parser: Parser, needed: bool = True) -> None:
    parser.add_argument(
        "history",
        metavar="HISTORY",
        nargs=None if needed else "?",
        help="the events: .jsonl, .json, either gzipped, .csv, .parquet, sqlite:///FILE?table=NAME, postgresql://…; "
        "- for standard input",
    )


def _json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of words")


def _name(parser: Parser) -> None:
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="the function's name in its playbook, the file's name when left out; its own runs are not folded",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; never raises."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    _steady_streams()
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        status = PIPE_CLOSED
        _silence(sys.stdout)
    except KeyboardInterrupt:
        status = INTERRUPTED
        _complain("recallkit: stopped.")
    except OSError as error:  # standard output that takes nothing more, such as a file on a full disk
        status = USAGE
        _complain(f"recallkit: standard output cannot be written: {error.strerror or error}.")
        _silence(sys.stdout)
    return status


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = make_parser().parse_args(arguments)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else USAGE
    try:
        return int(options.call(options))
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except MemoryError:
        _complain("recallkit: the memory of this machine does not suffice; try a part of the history.")
        return BROKEN
    except Exception as error:
        return _failed(error, options)


def _failed(error: Exception, options: argparse.Namespace) -> int:
    """Say an error in words, and in JSON mode as the one object; return the exit status."""
    from recallkit.cli_commands import failed
    from recallkit.cli_sources import UsageError
    from recallkit.cli_words import one_line, say_json
    from recallkit.errors import RecallkitError

    if isinstance(error, OSError) and error.filename is None:
        raise error
    if os.environ.get("RECALLKIT_TRACEBACK"):
        import traceback

        traceback.print_exc()
    name = "<stdin>" if options.document == "-" else options.document
    if isinstance(error, UsageError | RecallkitError):
        status, lines, members = failed(error, name)
    else:
        words = f"recallkit itself failed: {type(error).__name__}: {one_line(error)[:500]}"
        lines = [f"recallkit: {words}", "Set RECALLKIT_TRACEBACK=1 to see where, and please report it."]
        status, members = BROKEN, {"error": {"kind": "failed", "words": words}}
    if options.json:
        say_json(members)
    _complain("\n".join(lines))
    return status


def _steady_streams() -> None:
    """Give both streams a form in which nothing that is printed can fail for its letters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - it lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _complain(words: str) -> None:
    with contextlib.suppress(OSError):
        print(words, file=sys.stderr)
        sys.stderr.flush()


def _silence(stream: Any) -> None:
    """Let what a stream still holds go nowhere, so that Python's own flush at exit cannot fail."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
