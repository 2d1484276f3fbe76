"""The errors recallkit raises, and the problems it reports.

::

    RecallkitError                 everything below; catch this one to catch them all
    ├── Refused                    a document that cannot be saved; has .problems
    ├── HistoryError               a file, table or value that is no event history
    ├── InvalidInput               an argument, option or record the caller can correct; has .pointer
    ├── NotFound                   a name, id or version that is not there
    ├── Conflict                   a request that the present state refuses; has .kind
    ├── Unavailable                not now; try again later; has .kind and .retry_after
    ├── Stopped                    the person stopped a fold; what was folded is kept in .folding
    └── EngineError                the sandbox or the checker itself broke; not the document's fault
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document.

    Attributes
    ----------
    words : str
        What is wrong and what to do, on one line. The compiler's own words where it speaks.
    severity : {'error', 'warning'}
        An error keeps the document from being saved; a warning does not.
    line, column : int or None
        Where it stands, counted from 1 in the whole document (columns in UTF-16 code units, as the
        compiler counts them).
    pointer : str or None
        The JSON Pointer of the field in the front matter, such as ``/view/schema``; None in the module.
    """

    words: str
    severity: Severity = "error"
    line: int | None = None
    column: int | None = None
    pointer: str | None = None

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.line, self.column) if part is not None)
        parts = [f"line {where}" if where else "", self.pointer or "", self.severity, self.words]
        return ": ".join(part for part in parts if part)


class RecallkitError(Exception):
    """The base of every error that recallkit raises on purpose."""


class Refused(RecallkitError):
    """A document that cannot be saved.

    Attributes
    ----------
    problems : list of Problem
        Every problem found, in the order of their lines; warnings too.
    """

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        self.problems = list(problems)
        self.source = source
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __repr__(self) -> str:
        errors = sum(problem.severity == "error" for problem in self.problems)
        return f"<Refused with {errors} error{'' if errors == 1 else 's'}: {self.problems[0] if self.problems else ''}>"

    def _repr_html_(self) -> str:
        from recallkit.notebook.html import refused_html

        return refused_html(self)


class HistoryError(RecallkitError):
    """A file, table or value that is no event history."""


class InvalidInput(RecallkitError):
    """An argument, option or record that the caller can correct."""

    def __init__(self, words: str, pointer: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(words)


class NotFound(RecallkitError):
    """A name, id or version that is not there."""


class Conflict(RecallkitError):
    """A request that the present state refuses."""

    def __init__(self, words: str, kind: str | None = None) -> None:
        self.kind = kind
        super().__init__(words)


class Unavailable(RecallkitError):
    """Not now: the same request may succeed later."""

    def __init__(self, words: str, kind: str | None = None, retry_after: int | None = None) -> None:
        self.kind = kind
        self.retry_after = retry_after
        super().__init__(words)


class Stopped(RecallkitError):
    """A person stopped a fold; what was folded by then is kept."""

    def __init__(self, words: str, folding: Any = None) -> None:
        self.folding = folding
        super().__init__(words)


class EngineError(RecallkitError):
    """The sandbox or the checker itself broke down; the document is not at fault."""
