"""The command report: a template over a document and a history, as a page, a notebook and figures."""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from recallkit.cli_files import writable, write_text
from recallkit.cli_sources import STDIN, Source, UsageError, history_name, load_function, read_source
from recallkit.cli_words import FINE, REFUSED, USAGE, clean, count, one_line, paint, say
from recallkit.errors import InvalidInput, RecallkitError

# Errors of a cell that are about what the command was given, not about the fold.
_USAGE_ERRORS: Final = ("HistoryError", "InvalidInput", "FileNotFoundError", "PermissionError")


def report(options: Namespace) -> int:
    """`recallkit report DOC HISTORY -o report.html`."""
    from recallkit import report as reports
    from recallkit.functions import RecallFunction

    if options.document == STDIN and options.history == STDIN:
        raise UsageError("The document and the history cannot both be standard input; name a file for one.")
    page, notebook, figures, beside = places(options.output)
    for path in (page, notebook, figures):
        writable(path, "report")
    given = parameters(options)
    source = read_source(options.document)
    function = load_function(source)
    if not isinstance(function, RecallFunction):
        raise UsageError(f"{one_line(source.name)} is a computation function, which folds nothing; a report folds.")
    name = options.name or source.stem
    with tempfile.TemporaryDirectory(prefix="recallkit-") as place, _files(options, source, Path(place)) as files:
        work = Path(place) / "work"
        work.mkdir()
        shown = history_name(options.history)
        try:
            made = reports.execute(
                files[0],
                files[1],
                work,
                template=options.template,
                name=name,
                parameters=given,
                shown_history=shown if shown != options.history and options.history != STDIN else None,
                seconds=options.execution_timeout,
                progress=_progress,
            )
        except reports.ReportFailed as failed:
            return _failed(failed, notebook)
    return _write(options, made, given, shown, name, (page, notebook, figures, beside))


def places(output: str) -> tuple[str, str, str, str]:
    """Where the page, the executed notebook, the figures and a large scrubber go: beside each other."""
    place = Path(output)
    if place.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"The report is an HTML page: name it such as {one_line(place.with_suffix('.html'))}.")
    stem = str(place.with_suffix(""))
    return output, f"{stem}.executed.ipynb", f"{stem}.figures.json", f"{stem}.scrubber.html"


def parameters(options: Namespace) -> dict[str, Any]:
    """Read the -p options by what the template takes, and say how each was read."""
    from recallkit.report import _tools, find_template, kind_of, parameters_of, read_parameter

    _, nbformat = _tools()
    try:
        known = parameters_of(nbformat.read(find_template(options.template), as_version=4))
    except InvalidInput:
        raise
    except Exception as error:
        raise UsageError(f"The template {one_line(options.template)} is no notebook: {one_line(error)[:200]}") from None
    given: dict[str, Any] = {}
    for each in options.parameter or []:
        name, equals, text = each.partition("=")
        if not equals:
            raise UsageError(f"-p takes name=value, not {one_line(each)}.")
        if history_name(text) != text:
            raise UsageError("-p keeps its value in the report, a password too; give such an address as HISTORY.")
        given[name] = read_parameter(name, text, known)
        shown = json.dumps(given[name], ensure_ascii=False)
        say(f"{one_line(name)} = {one_line(shown)[:80]}, {kind_of(given[name])}", to=sys.stderr)
    return given


@contextmanager
def _files(options: Namespace, source: Source, place: Path) -> Iterator[tuple[str, str]]:
    """Give the document and the history as what a kernel can open: standard input becomes a file."""
    from recallkit.cli_sources import _ADDRESS, _regular

    document = place / f"{source.stem or 'document'}.md"
    document.write_bytes(source.data)
    if options.history != STDIN and _ADDRESS.match(options.history) and not Path(options.history).exists():
        yield str(document), options.history
        return
    if options.history != STDIN and not Path(options.history).exists():
        raise UsageError(f"There is no file {one_line(options.history)}; name the history to read.")
    with _regular(options.history) as path:
        yield str(document), str(Path(path).absolute())


def _progress(number: int, of: int, title: str, seconds: float) -> None:
    say(f"{number:>3} of {of}  {one_line(title)[:60]}  {seconds:,.1f} s", to=sys.stderr)


def _failed(failed: Any, notebook: str) -> int:
    """Say what a cell failed with; keep what was executed by then, so that it can be looked at."""
    words = clean(failed.words).strip()
    where = f"recallkit: the report's cell {failed.cell} ({one_line(failed.title)})"
    say(f"{where} {paint('failed', 'bold', 'red', to=sys.stderr)}: {one_line(failed.error)}: {words}", to=sys.stderr)
    if failed.notebook is not None:
        write_text(_text(failed.notebook), notebook, "executed notebook")
        say(f"What was executed by then is in {one_line(notebook)}.", to=sys.stderr)
    return USAGE if failed.error in _USAGE_ERRORS else REFUSED


def _write(
    options: Namespace, made: Any, given: dict[str, Any], shown: str, name: str, to: tuple[str, str, str, str]
) -> int:
    from recallkit import __version__
    from recallkit.report_page import fits_inside, render

    page, notebook, figures, beside = to
    try:
        told = json.loads(made.figures)
    except ValueError as error:
        raise RecallkitError(f"The template wrote figures that are no JSON: {error}") from None
    about = {"document": options.document, "history": shown, "template": options.template, **given}
    about["recallkit"] = __version__
    title = str(given.get("title") or f"{name or 'A function'} over {Path(shown).name}")
    text = render(made.notebook, title, about, made.page, Path(beside).name)
    write_text(made.figures.rstrip("\n"), figures, "figures")
    write_text(_text(made.notebook), notebook, "executed notebook")
    if made.page is not None and not fits_inside(made.page):
        write_text(made.page, beside, "scrubber")
    write_text(text, page, "report")
    state = told.get("state", "live")
    if state != "live":
        stall = told.get("stall") or {}
        say(f"The view is {paint(state, 'bold', 'red')}: {one_line(stall.get('error', ''))}")
    elif not told.get("folded", 1):
        say("No event was folded; the view is the initial one.")
    size = Path(page).stat().st_size
    say(f"The report is in {one_line(page)}, {count(size, 'byte')}: open it in any browser.")
    say(f"The executed notebook is in {one_line(notebook)}, the figures in {one_line(figures)}.")
    ran = told.get("run")
    if ran is not None and ran.get("ending") != "succeeded":
        say(f"The run did not succeed: {one_line(ran.get('ending'))}.")
        return REFUSED
    return FINE if state == "live" else REFUSED


def _text(notebook: Any) -> str:
    """A notebook's text without widgets' states and the folders that are gone when it is read."""
    import nbformat

    notebook.metadata.pop("widgets", None)
    notebook.metadata.pop("papermill", None)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return text
