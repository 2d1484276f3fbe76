"""Reports: a template notebook run over a document and a history, and what it says as one HTML page.

A template is a notebook with a cell tagged ``parameters``; that cell is the list of what it takes. The templates stand
in ``notebooks/reports/``. papermill runs them in a kernel of this very environment; :mod:`recallkit.report_page` makes
the page, and :mod:`recallkit.report_parts` has what the templates call.
"""

from __future__ import annotations

import ast
import difflib
import json
import logging
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from recallkit.errors import InvalidInput, NotFound, RecallkitError, Unavailable
from recallkit.examples import example

# What the command fills in; a person names them by arguments and options.
GIVEN: Final = ("document", "history", "name", "folder")
TEMPLATE: Final = "fold"
EXECUTION_SECONDS: Final = 600
FIGURES: Final = "figures.json"
PAGE: Final = "scrubber.html"
# The history's address where it holds a password: an executed notebook keeps its parameters, and must not keep that.
ADDRESS: Final = "RECALLKIT_REPORT_HISTORY"

Progress = Callable[[int, int, str, float], None]


class ReportFailed(RecallkitError):
    """A cell of a report failed.

    Attributes
    ----------
    cell : int
        Which of the template's code cells, counted from 1.
    title : str
        What the cell is about.
    error : str
        The name of the error's class.
    words : str
        What it said.
    notebook : notebook
        What was executed by then.
    """

    def __init__(self, cell: int, title: str, error: str, words: str, notebook: Any) -> None:
        self.cell, self.title, self.error, self.words, self.notebook = cell, title, error, words, notebook
        super().__init__(f"cell {cell} ({title}) failed: {error}: {words}")


@dataclass(frozen=True)
class Executed:
    """A template that ran to its end: the notebook, its figures as JSON text, and its scrubber's page or None."""

    notebook: Any
    figures: str
    page: str | None


def find_template(template: str) -> Path:
    """Find a template by its name in ``notebooks/reports/``, or by its path.

    Raises
    ------
    InvalidInput
        There is none.
    """
    if template.endswith(".ipynb"):
        if Path(template).is_file():
            return Path(template)
        raise InvalidInput(f"There is no template {template}.")
    try:
        return example("reports", f"{template}.ipynb")
    except NotFound as error:
        raise InvalidInput(f"There is no template {template}: {str(error).rpartition(': ')[2]}.") from None


def parameters_of(notebook: Any) -> dict[str, Any]:
    """Return what a template takes, each with its default: the literals of its cell tagged ``parameters``.

    Raises
    ------
    InvalidInput
        It has no such cell, or the cell is no list of names and literals.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and "parameters" in cell.metadata.get("tags", []):
            return _literals(cell.source)
    raise InvalidInput("The template has no cell tagged parameters.")


def _literals(source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.Assign):
                (target,), value = statement.targets, statement.value
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                target, value = statement.target, statement.value
            else:
                raise ValueError
            if not isinstance(target, ast.Name):
                raise ValueError
            found[target.id] = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        words = "The template's parameters cell holds something other than names and literals."
        raise InvalidInput(words) from None
    return found


def read_parameter(name: str, text: str, known: Mapping[str, Any]) -> Any:
    """Read ``-p name=text`` as the kind of value that the template's default is.

    A text stays as it is written, so that ``1.10`` and ``true`` are texts; a number, a boolean, a list and an object
    are read as JSON. Where the default is None, JSON is tried, and what is no JSON is a text.

    Raises
    ------
    InvalidInput
        The template takes no such parameter, or the text is no value of its kind.
    """
    check_name(name, known)
    default = known[name]
    if isinstance(default, str):
        return text
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        if default is None:
            return text
        value = None
    check_value(name, value, default, text)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def check_name(name: str, known: Mapping[str, Any]) -> None:
    """Refuse a parameter that the template does not take."""
    takes = [each for each in known if each not in GIVEN]
    if name in GIVEN:
        raise InvalidInput(f"{name} is filled in by the command itself; the parameters are {', '.join(takes)}.")
    if name not in known:
        near = difflib.get_close_matches(name, takes, 1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise InvalidInput(f"The template takes no parameter {name}; {meant}The parameters are {', '.join(takes)}.")


def check_value(name: str, value: Any, default: Any, shown: str) -> None:
    """Refuse a value of another kind than the default's."""
    kinds: dict[type, tuple[str, type | tuple[type, ...]]] = {
        bool: ("true or false", bool),
        int: ("a whole number", int),
        float: ("a number", (int, float)),
        list: ("a list as JSON", list),
        dict: ("an object as JSON", dict),
        str: ("a text", str),
    }
    words, fits = kinds.get(type(default), ("", object))
    if not isinstance(value, fits) or (isinstance(value, bool) and type(default) in (int, float)):
        raise InvalidInput(f"The parameter {name} takes {words}, not {shown[:60]}.")


def kind_of(value: Any) -> str:
    """Say of which kind a value is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "a number"


def execute(
    document: str | os.PathLike[str],
    history: str,
    folder: Path,
    *,
    template: str = TEMPLATE,
    name: str = "",
    parameters: Mapping[str, Any] | None = None,
    shown_history: str | None = None,
    seconds: int = EXECUTION_SECONDS,
    progress: Progress | None = None,
) -> Executed:
    """Run a template from top to bottom, in a kernel of this environment.

    Parameters
    ----------
    document, history
        The paths of the document and the events, or a database's address.
    folder : Path
        An empty folder that the figures and the scrubber's page are written to.
    template : str
        A template's name, or its path.
    name : str
        The function's name in its playbook.
    parameters : mapping
        Values of the template's parameters.
    shown_history : str, optional
        How the history is named in the notebook, where its address holds a password.
    seconds : int
        How long a cell may take.
    progress : callable, optional
        Called after each cell with its number, how many there are, its title, and its seconds.

    Raises
    ------
    ReportFailed
        A cell failed, or took too long.
    Unavailable
        papermill is not installed.
    InvalidInput
        A parameter that the template does not take.
    """
    papermill, nbformat = _tools()
    notebook = nbformat.read(find_template(template), as_version=4)
    known = parameters_of(notebook)
    for each, value in (parameters or {}).items():
        check_name(each, known)
        if known[each] is not None:
            check_value(each, value, known[each], repr(value))
    missing = [each for each in GIVEN if each not in known]
    if missing:
        raise InvalidInput(f"The template lacks the parameters {', '.join(missing)}, which the command fills in.")
    given = {"document": os.fspath(document), "history": shown_history or history, "name": name, "folder": str(folder)}
    source, target = folder / "template.ipynb", folder / "executed.ipynb"
    notebook.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "Python 3"}
    nbformat.write(notebook, source)
    hooks = _Hooks(notebook, progress)
    logging.getLogger("papermill").propagate = False  # what goes wrong is told once, in words
    try:
        papermill.execute_notebook(
            str(source),
            str(target),
            {**given, **(parameters or {})},
            kernel_name="python3",
            progress_bar=False,
            execution_timeout=seconds,
            kernel_manager_class=_kernel_class({ADDRESS: history} if shown_history else {}, folder),
            on_cell_start=hooks.start,
            on_cell_executed=hooks.done,
        )
    except Exception as error:
        raise _failure(
            error, hooks, seconds, nbformat.read(target, as_version=4) if target.exists() else None
        ) from None
    made = folder / FIGURES
    page = folder / PAGE
    return Executed(
        nbformat.read(target, as_version=4),
        made.read_text(encoding="utf-8") if made.exists() else "{}",
        page.read_text(encoding="utf-8") if page.exists() else None,
    )


def _tools() -> tuple[Any, Any]:
    try:
        import ipykernel  # noqa: F401
        import nbclient  # noqa: F401
        import nbconvert  # noqa: F401
        import nbformat
        import papermill
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"A report needs {error.name}, which is not installed; install it: pip install 'recallkit[notebook]'"
        ) from None
    return papermill, nbformat


class _Hooks:
    """Says which cell is done, and remembers which one runs."""

    def __init__(self, notebook: Any, progress: Progress | None) -> None:
        self.titles = titles(notebook)
        self.progress = progress
        self.title = "its beginning"
        self.cell = 0
        self.done_cells = 0
        self.began = 0.0

    def start(self, cell: Any, cell_index: int, **_: Any) -> None:
        # The cell that papermill puts in is none of the template's; it counts with the one above it.
        self.title = self.titles.get(cell.get("id"), self.title)
        self.cell = [*self.titles].index(cell["id"]) + 1 if cell.get("id") in self.titles else self.cell
        self.began = time.perf_counter()

    def done(self, cell: Any, cell_index: int, execute_reply: Any = None, **_: Any) -> None:
        if cell.cell_type != "code" or "injected-parameters" in cell.metadata.get("tags", []):
            return
        self.done_cells += 1
        if self.progress is not None:
            self.progress(self.done_cells, len(self.titles), self.title, time.perf_counter() - self.began)


def titles(notebook: Any) -> dict[str, str]:
    """Return what each code cell is about: its first line where that is a comment, else the heading above it."""
    found: dict[str, str] = {}
    heading = ""
    for cell in notebook.cells:
        first = cell.source.partition("\n")[0]
        if cell.cell_type == "markdown":
            heading = next((line.lstrip("# ") for line in cell.source.split("\n") if line.startswith("#")), heading)
        elif cell.cell_type == "code":
            comment = first[2:].strip() if first.startswith("# ") else ""
            if "parameters" in cell.metadata.get("tags", []):
                comment = "Parameters"
            found[cell["id"]] = comment or heading or first
    return found


def _kernel_class(environment: dict[str, str], folder: Path) -> Any:
    """Return a manager of kernels of the Python that runs this, whatever kernels are installed elsewhere."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from traitlets import default

    # The kernel imports this very recallkit, also where it stands in a folder that is not installed.
    place = Path(__file__).parent.parent
    if place.name not in ("site-packages", "dist-packages"):
        paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**environment, "PYTHONPATH": os.pathsep.join(paths)}

    class Kernel(AsyncKernelManager):
        @default("connection_file")
        def _in_the_folder(self) -> str:
            return str(folder / "kernel.json")

        @default("transport")
        def _sockets_of_files(self) -> str:
            # Nobody else on the machine hears them. A socket's path may take about 100 bytes.
            return "ipc" if os.name == "posix" and len(os.fsencode(folder)) < 80 else "tcp"

        @default("kernel_spec_manager")
        def _no_other_kernels(self) -> Any:
            return KernelSpecManager(kernel_dirs=[])

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            options["env"] = {**os.environ, **(options.get("env") or {}), **environment}
            # A kernel's own log; what a cell writes comes as an output.
            await self._async_start_kernel(**{**options, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})

    return Kernel


def _failure(error: Exception, hooks: _Hooks, seconds: int, notebook: Any) -> Exception:
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    if isinstance(error, papermill.PapermillExecutionError):
        return ReportFailed(hooks.cell, hooks.title, error.ename, error.evalue, notebook)
    if isinstance(error, CellTimeoutError):
        words = f"it took longer than the {seconds:,} seconds of --execution-timeout"
        return ReportFailed(hooks.cell, hooks.title, "Timeout", words, notebook)
    if isinstance(error, DeadKernelError):
        words = "its kernel died, as it does where the machine's memory does not suffice"
        return ReportFailed(hooks.cell, hooks.title, "DeadKernel", words, notebook)
    return error
