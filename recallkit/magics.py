"""The magics of a notebook: ``%load_ext recallkit``, then a document in a cell, a history and a fold in a line.

::

    %%recall NAME [-q]                        the cell below is a recall function's document, from its --- on
    %%computation NAME [-q]                   the same for a computation function
    %recall_history NAME = SOURCE [-q]        a history: a file, a database's address, or a variable
    %recall_fold NAME = FUNCTION HISTORY [-q] [--page N] [--plain] [--name NAME] [--allow-stall]

Left of ``=`` stands the variable that takes the value. Without it the two line magics return the value, so that
``history = %recall_history events.jsonl`` works as any magic does. A name such as ``campaign-reviews`` is the
function's name in its playbook, and its variable is ``campaign_reviews``. As in every line magic of IPython,
``{expression}`` and ``$variable`` are put in.

A magic that fails raises, so that its cell fails where nobody looks on (papermill, nbval, a report); it shows its words
and no traceback. A view that stalls fails ``%recall_fold`` too, after the variable is set; ``--allow-stall`` shows it
and goes on.
"""

from __future__ import annotations

import argparse
import difflib
import keyword
import re
import shlex
from collections.abc import Callable
from typing import Any, Final, NoReturn

from recallkit.bounds import PAGE_RECORDS
from recallkit.errors import RecallkitError, Refused

_ASSIGNMENT: Final = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_NAME: Final = re.compile(r"[^\W\d][\w-]*")
_QUIET: Final = ("-q", "--quiet")


class MagicFailed(RecallkitError):
    """A magic that failed; IPython shows its words and no traceback.

    Attributes
    ----------
    problems : list of Problem
        Of a document that was refused; else empty.
    """

    def __init__(self, words: str, problems: list[Any] | None = None) -> None:
        self.problems = problems or []
        super().__init__(words)

    def _render_traceback_(self) -> list[str]:
        return str(self).split("\n")


class _Options(argparse.ArgumentParser):
    """Reads a magic's line; what it does not know is an error in words, and nothing exits."""

    def __init__(self, usage: str) -> None:
        super().__init__(usage=usage, add_help=False, allow_abbrev=False)
        self.add_argument(*_QUIET, action="store_true")

    def error(self, message: str) -> NoReturn:
        unknown = message.partition("unrecognized arguments: ")[2].split(" ")[0]
        near = difflib.get_close_matches(unknown, self._option_string_actions, 1) if unknown.startswith("-") else []
        meant = f"; did you mean {near[0]}?" if near else ""
        raise MagicFailed(f"{message}{meant}\nUsage: {self.usage}")

    def read(self, line: str) -> argparse.Namespace:
        lexer = shlex.shlex(line, posix=True)
        lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
        try:
            words = list(lexer)
        except ValueError:
            raise MagicFailed(f"a quote is not closed\nUsage: {self.usage}") from None
        return self.parse_args(words)


class RecallMagics:
    """The magics of one IPython shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def register(self) -> None:
        """Give the magics to the shell; IPython's own line magic ``%recall`` stays."""
        for name, kind, call in (
            ("recall", "cell", self.recall),
            ("computation", "cell", self.computation),
            ("recall_history", "line", self.recall_history),
            ("recall_fold", "line", self.recall_fold),
        ):
            self.shell.register_magic_function(_short(call), magic_kind=kind, magic_name=name)

    def recall(self, line: str, cell: str) -> None:
        """%%recall NAME: the cell is a recall function's document; NAME is then the function."""
        self._document("recall", line, cell)

    def computation(self, line: str, cell: str) -> None:
        """%%computation NAME: the cell is a computation function's document; NAME is then the function."""
        self._document("computation", line, cell)

    def recall_history(self, line: str) -> Any:
        """%recall_history NAME = SOURCE: read a history from a file, an address or a variable."""
        from recallkit.events.readers import read_history

        target, rest = _target(line)
        options = _Options("%recall_history NAME = SOURCE [-q]")
        options.add_argument("source", metavar="SOURCE")
        chosen = options.read(rest)
        return self._give(target, read_history(self._value(chosen.source)), chosen.quiet)

    def recall_fold(self, line: str) -> Any:
        """%recall_fold NAME = FUNCTION HISTORY: fold a history; a stall fails the cell unless --allow-stall."""
        from recallkit.functions import RecallFunction, load

        target, rest = _target(line)
        options = _Options(
            "%recall_fold NAME = FUNCTION HISTORY [-q] [--page N] [--plain] [--name NAME] [--allow-stall]"
        )
        options.add_argument("function", metavar="FUNCTION")
        options.add_argument("history", metavar="HISTORY")
        options.add_argument("--page", type=int, default=PAGE_RECORDS)
        options.add_argument("--plain", action="store_true")
        options.add_argument("--allow-stall", action="store_true")
        options.add_argument("--name", default=None)
        chosen = options.read(rest)
        function = self._value(chosen.function)
        if isinstance(function, str):
            function = load(function)
        if not isinstance(function, RecallFunction):
            kind = "a computation function" if hasattr(function, "shape") else f"a {type(function).__name__}"
            raise MagicFailed(f"{chosen.function} is {kind}; a recall function folds")
        folding = function.fold(
            self._value(chosen.history), page=chosen.page, plain=chosen.plain, name=chosen.name, trace=False
        )
        given = self._give(target, folding, chosen.quiet)
        if folding.stall is not None and not chosen.allow_stall:
            raise MagicFailed(f"{folding.stall}\n--allow-stall shows a stalled view and goes on.")
        return given

    def _document(self, kind: Any, line: str, cell: str) -> None:
        from recallkit.cli_words import count, problem_lines
        from recallkit.definitions import loading
        from recallkit.functions import ComputationFunction, RecallFunction

        options = _Options(f"%%{kind} NAME [-q]")
        options.add_argument("name", metavar="NAME")
        chosen = options.read(line)
        variable = chosen.name.replace("-", "_")
        if not _NAME.fullmatch(chosen.name) or keyword.iskeyword(variable):
            raise MagicFailed(f"{chosen.name!r} is no name for a function: use letters, digits and - or _")
        try:
            definition = loading.read(cell.encode("utf-8", "surrogatepass"), kind)
        except Refused as refused:
            self._show(refused)
            told = problem_lines(variable, refused.problems, cell)
            where = "Lines count in the document, whose line 1 is the one below the magic."
            raise MagicFailed("\n".join([*told, where]), refused.problems) from None
        # A playbook's names hold no underscore.
        name = chosen.name.replace("_", "-")
        made = RecallFunction if definition.kind == "recall" else ComputationFunction
        function: Any = made(definition, name)
        self.shell.user_ns[variable] = function
        if chosen.quiet:
            return
        warnings = function.problems
        print(f"{variable}: fine, a {kind} function" + (f", {count(len(warnings), 'warning')}" if warnings else ""))
        for problem in problem_lines(variable, warnings, cell):
            print(problem)

    def _value(self, text: str) -> Any:
        """What a word of a line stands for: the variable of that name, else the word itself."""
        return self.shell.user_ns.get(text, text) if text.isidentifier() else text

    def _give(self, target: str | None, value: Any, quiet: bool) -> Any:
        """Put a value into its variable and show it, or return it where no variable is named."""
        if target is None:
            return value
        self.shell.user_ns[target] = value
        if not quiet:
            self._show(value)
        return None

    def _show(self, value: Any) -> None:
        from IPython.display import display

        display(value)  # type: ignore[no-untyped-call]


def _target(line: str) -> tuple[str | None, str]:
    """Read ``name = rest``; without a name all of it is the rest."""
    found = _ASSIGNMENT.fullmatch(line)
    if found is None:
        return None, line
    if keyword.iskeyword(found[1]):
        raise MagicFailed(f"{found[1]} is a word of Python's own; choose another name")
    return found[1], found[2]


def _short(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let the kit's errors fail the cell in their own words; a bug keeps its traceback."""

    def magic(line: str, cell: str | None = None) -> Any:
        try:
            return call(line) if cell is None else call(line, cell)
        except MagicFailed:
            raise
        except RecallkitError as error:
            raise MagicFailed(str(error), getattr(error, "problems", None)) from None

    magic.__doc__ = call.__doc__
    magic.__name__ = call.__name__
    return magic
