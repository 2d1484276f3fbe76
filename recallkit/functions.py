"""What a person holds of a document: a RecallFunction or a ComputationFunction. Thin faces over the parts below."""

from __future__ import annotations

import contextlib
import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallkit.bounds import PAGE_MS, PAGE_RECORDS
from recallkit.definitions import loading
from recallkit.errors import InvalidInput, Problem
from recallkit.views.values import NOT_GIVEN

if TYPE_CHECKING:
    from recallkit.definitions.computation import ComputationDefinition
    from recallkit.definitions.fields import Kind
    from recallkit.definitions.recall import RecallDefinition
    from recallkit.folding import Folding
    from recallkit.views.lag import Replay
    from recallkit.views.runs import Run


class _Function:
    """What both kinds of function show."""

    def __init__(self, definition: Any, name: str = "") -> None:
        self.definition = definition
        self.name = name

    @property
    def called(self) -> str:
        """What to call the function in a sentence: its name, else its description."""
        words = (self.description or "no description yet").replace("\n", " ")
        return self.name or f"the function with the description {words[:60]!r}"

    @property
    def source(self) -> str:
        """The document's text."""
        text: str = self.definition.source
        return text

    @property
    def description(self) -> str | None:
        """The document's description."""
        text: str | None = self.definition.description
        return text

    @property
    def input_schema(self) -> Any:
        """The schema of a run's input; None when any JSON goes in."""
        return self.definition.input_schema

    @property
    def output_schema(self) -> Any:
        """The schema of a run's output; None when any JSON may come out."""
        return self.definition.output_schema

    @property
    def types(self) -> str:
        """The TypeScript declarations that the module was checked against."""
        text: str = self.definition.types
        return text

    @property
    def problems(self) -> list[Problem]:
        """What production would refuse and the kit takes, as problems of the severity 'warning'."""
        return list(self.definition.warnings)

    def overview(self, used_by: list[tuple[str, str]] | None = None) -> str:
        """Return the function in plain words, as Markdown (recall and computation, The overview)."""
        from recallkit.definitions.overview import overview

        pairs = isinstance(used_by, list | tuple) and all(map(_is_pair, used_by))
        if used_by is not None and not pairs:
            raise InvalidInput(
                "used_by takes a list of pairs of a type and a name, such as ('workflow', 'pace-report')."
            )
        return overview(self.definition, used_by)

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        words = (self.description or "no description yet").replace("\n", " ")
        return f"<{type(self).__name__}{name}: {words if len(words) <= 60 else words[:59] + '…'}>"

    def _repr_html_(self) -> str:
        from recallkit.notebook.html import function_html

        return function_html(self)


class RecallFunction(_Function):
    """A recall function: a document whose module folds events into a view (recall, A function document)."""

    definition: RecallDefinition

    def fold(
        self,
        history: Any,
        *,
        page: int = PAGE_RECORDS,
        progress: bool = True,
        trace: bool = True,
        keyframe_every: int | None = None,
        tries: int = 1,
        name: str | None = None,
        plain: bool = False,
    ) -> Folding:
        """Fold a history, one event at a time, in the pinned engine.

        Parameters
        ----------
        history : History or anything that ``read_history`` reads
            The events, in recorded order.
        page : int
            Records a page, 1 to 1,000. The view, steps and checkpoints are the same at every size.
        progress : bool
            Show a bar with an estimate when a fold takes longer than a second (never where no one looks).
        trace : bool
            Whether ``folding.trace`` is built at once; it is built when first asked for otherwise.
        keyframe_every : int, optional
            Folds between two kept views; chosen by their bytes when left out.
        tries : int
            How often a fold that runs out of its 10 seconds is tried before the view stalls. A playbook tries
            twenty times, over as many passes; here, where the machine is the same, once.
        name : str, optional
            The function's name in its playbook: the events of its own runs are left out.
        plain : bool
            Check the whole view after every fold, also where the fast way is provably the same.

        Returns
        -------
        Folding
            Also when the view stalled, and when a person stopped it (Ctrl-C): ``folding.state`` says so.
        """
        from recallkit.folding import Folding
        from recallkit.progress import watching
        from recallkit.views.fold import fold_history

        if name is not None and not isinstance(name, str):
            raise InvalidInput(f"name takes the function's name in its playbook, a text; this one is {name!r:.60}.")
        read = _history(history)
        with watching(len(read), progress) as watcher:
            fold = fold_history(
                self.definition,
                read,
                page=page,
                keyframe_every=keyframe_every,
                tries=tries,
                name=name if name is not None else (self.name or None),
                way="plain" if plain else None,
                watcher=watcher,
            )
        folding = Folding(self, fold)
        if trace:
            with contextlib.suppress(KeyboardInterrupt):  # it is built when first asked for, and the folding is kept
                _ = folding.trace
        return folding

    def follow(self, history: Any, *, speed: float = 1.0, woken: bool = True, page_ms: float = PAGE_MS) -> Replay:
        """Say how far the view would have been behind: the history's arrivals, replayed with the folds' own times.

        Parameters
        ----------
        history : Folding, History or anything that ``read_history`` reads
            A folding of this function saves folding it again, as for another speed.
        speed : float
            How many times faster than recorded the events arrive: 10 is ten times the traffic.
        woken : bool
            Whether the events are recorded by the process that follows; else each waits for the next second's pass.
        page_ms : float
            What reading a page and writing its view take, in milliseconds.

        Returns
        -------
        Replay
            ``.frame``, ``.chart()``, ``.keeps_up``, ``.lag_ms`` (the most), ``.busy``.
        """
        from recallkit.folding import Folding
        from recallkit.views.lag import replay_folding

        if isinstance(history, Folding):
            self._own(history)
            folding = history
        else:
            folding = self.fold(history, trace=False)
        return replay_folding(folding, speed=speed, woken=woken, page_ms=page_ms)

    def _own(self, folding: Folding) -> None:
        """Refuse a folding that is of another function, or of another text of this one: its view may mean all else."""
        other = folding.function
        if other.source == self.source:
            return  # the same document, though it was loaded twice
        if self.name and other.name == self.name:
            words = f"This folding was folded by another text of {self.name}"
        else:
            words = f"This folding is of {other.called}, not of {self.called}"
        raise InvalidInput(f"{words}; fold its history with this function first: fn.fold(folding.history).")

    def run(
        self,
        folding: Folding,
        input: Any = NOT_GIVEN,
        *,
        started_at: datetime.datetime | str | float | None = None,
    ) -> Run:
        """Answer a run from a folded view (recall, How a run ends).

        Parameters
        ----------
        folding : Folding
            What this function kept of a history; one that another function folded, or another text of this one, is
            refused.
        input : JSON value
            The run's input; ``{}`` when left out.
        started_at : datetime, text or milliseconds, optional
            The moment that the answer's clock shows; now when left out.
        """
        from recallkit.folding import Folding
        from recallkit.views.runs import run_answer

        if not isinstance(folding, Folding):
            raise InvalidInput("run takes a folding first, such as fn.fold(history), then the input.")
        self._own(folding)
        return run_answer(
            self.definition,
            folding.view_text,
            input,
            stall=folding.stall,
            read=folding.read,
            started_at=started_at,
        )


class ComputationFunction(_Function):
    """A computation function: a document whose program turns an input into an output (computation)."""

    definition: ComputationDefinition

    @property
    def shape(self) -> str | None:
        """The output's shape: 'series', 'categories', 'table', 'text' or None."""
        return self.definition.shape

    def run(
        self,
        input: Any = NOT_GIVEN,
        *,
        started_at: datetime.datetime | str | float | None = None,
    ) -> Run:
        """Run the program with an input (computation, How a run ends).

        Parameters
        ----------
        input : JSON value
            The run's input; ``{}`` when left out.
        started_at : datetime, text or milliseconds, optional
            The moment that the program's clock shows; now when left out.
        """
        from recallkit.views.runs import run_program

        return run_program(self.definition, input, started_at=started_at)


def load(source: str | os.PathLike[str], *, kind: Kind | None = None) -> RecallFunction | ComputationFunction:
    """Read, check and compile a document.

    Parameters
    ----------
    source : str or path
        The document's path, or its text.
    kind : {'recall', 'computation'}, optional
        Which type it is of; told from the document when left out.

    Raises
    ------
    Refused
        The document cannot be saved; ``.problems`` says why, each with its line.
    InvalidInput
        There is no such file.
    Unavailable
        No checker is ready.
    """
    definition = loading.read(source, kind)
    name = "" if loading.is_text(source) else Path(os.fsdecode(source)).stem
    if definition.kind == "recall":
        return RecallFunction(definition, name)
    return ComputationFunction(definition, name)


def check(source: Any, *, kind: Kind | None = None) -> list[Problem]:
    """Say what is wrong with a document's text; an empty list of errors means that it can be saved.

    Parameters
    ----------
    source : str
        The document's text (or its path).

    Returns
    -------
    list of Problem
        In the order of lines; those of the severity 'warning' do not keep it from being saved.
    """
    return loading.check(source, kind)


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(isinstance(part, str) for part in given)


def _history(given: Any) -> Any:
    from recallkit.events.history import History

    if isinstance(given, History):
        return given
    from recallkit.events.readers import read_history

    return read_history(given)
