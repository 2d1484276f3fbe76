"""What the report templates call: a document and a history opened, tables of a fold, and the figures written out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallkit.errors import InvalidInput, NotFound
from recallkit.examples import example
from recallkit.report import ADDRESS, FIGURES, PAGE

if TYPE_CHECKING:
    import pandas as pd

    from recallkit.events.history import History
    from recallkit.folding import Folding
    from recallkit.functions import RecallFunction
    from recallkit.views.runs import Run


def opened(document: str, history: str, name: str = "") -> tuple[RecallFunction, History, str]:
    """Open what a report is about: the function, its history, and a title. An example is found by its name."""
    from recallkit.cli_sources import open_history

    function = _function(document, name)
    events = open_history(os.environ.get(ADDRESS) or _found("data", history))
    return function, events, f"{function.name or 'A function'} over {_told(history)}"


def _function(document: str, name: str = "") -> RecallFunction:
    from recallkit.functions import RecallFunction, load

    function = load(_found("functions", document))
    if not isinstance(function, RecallFunction):
        raise InvalidInput(f"{document} is a computation function, which folds nothing.")
    if name:
        function.name = name
    return function


def _told(history: str) -> str:
    """How a history is named in a report: an address without its password, a file without its folders."""
    from recallkit.cli_sources import history_name

    address = os.environ.get(ADDRESS)
    return history_name(address) if address else Path(history).name


def opened_two(
    document: str, history: str, name: str, other: str, other_history: str
) -> tuple[tuple[RecallFunction, History], tuple[RecallFunction, History], tuple[str, str]]:
    """Open what a comparison is about: two functions, the history of each, and what tells them apart."""
    if not other and not other_history:
        raise InvalidInput(
            "A comparison takes a second function, -p other=FILE, or a second history, -p other_history=FILE, or both."
        )
    one, events, _ = opened(document, history, name)
    two = _function(other) if other else one
    other_events = events
    if other_history:
        from recallkit.cli_sources import open_history

        other_events = open_history(_found("data", other_history))
    names = [one.name or "the first", two.name or "the second"] if other else [_told(history), _told(other_history)]
    if names[0] == names[1]:
        names = [f"{each}, the {place}" for each, place in zip(names, ("first", "second"), strict=True)]
    return (one, events), (two, other_events), (names[0], names[1])


def _found(kind: Any, name: str) -> str:
    if os.path.exists(name):
        return name
    try:
        return str(example(kind, name))
    except NotFound:
        return name


def heaviest(folding: Folding, top: int = 10) -> pd.DataFrame:
    """The folds that took the most steps."""
    rows = folding.trace.nlargest(top, "steps")
    return rows[["seq", "event_id", "type", "steps", "checkpoints", "view_bytes", "view_delta"]]


def slowest_types(folding: Folding, top: int = 10) -> pd.DataFrame:
    """What the folds of each type of event cost."""
    groups = folding.trace.groupby("type", observed=True)
    told = groups.agg(
        folds=("steps", "size"), steps=("steps", "sum"), most_steps=("steps", "max"), added_bytes=("view_delta", "sum")
    )
    return told.sort_values("steps", ascending=False).head(top)


def written(folder: str, folding: Folding, run: Run | None, *, scrubber: bool = True, top: int = 10) -> None:
    """Write a report's figures and the scrubber's page into the folder that the command names."""
    if not folder:
        return
    from recallkit.cli_fold import fold_members
    from recallkit.cli_words import Raw, json_object
    from recallkit.files import write_text

    trace = folding.trace
    members = {
        "function": folding.function.name,
        "description": folding.function.description,
        **fold_members(folding, None, False),
        "heaviest": json.loads(heaviest(folding, top).to_json(orient="records")),
        "types": json.loads(slowest_types(folding, top).reset_index().to_json(orient="records")) if len(trace) else [],
        "run": None,
    }
    if run is not None:
        output = None if run.output_text is None else Raw(run.output_text)
        members["run"] = {"ending": run.ending, "kind": run.kind, "output": output, "detail": run.detail}
    write_text(Path(folder) / FIGURES, "figures", json_object(members) + "\n")
    if scrubber:
        save_scrubber(folder, folding)


def save_scrubber(folder: str, folding: Folding) -> None:
    """Save the scrubber's page where the command looks for it; say in the report why it is left out."""
    from IPython.display import Markdown, display

    from recallkit.notebook.saved_page import save

    try:
        save(folding, Path(folder) / PAGE)
    except InvalidInput as error:
        display(Markdown(f"The scrubber is left out. {error}"))  # type: ignore[no-untyped-call]
