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
    from recallkit.cli_sources import history_name, open_history
    from recallkit.functions import RecallFunction, load

    function = load(_found("functions", document))
    if not isinstance(function, RecallFunction):
        raise InvalidInput(f"{document} is a computation function, which folds nothing.")
    if name:
        function.name = name
    address = os.environ.get(ADDRESS)
    events = open_history(address or _found("data", history))
    told = history_name(address) if address else Path(history).name
    return function, events, f"{function.name or 'A function'} over {told}"


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
    from IPython.display import Markdown, display

    if not folder:
        return
    from recallkit.cli_fold import fold_members
    from recallkit.cli_words import Raw, json_object
    from recallkit.files import write_text
    from recallkit.notebook.saved_page import save

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
        try:
            save(folding, Path(folder) / PAGE)
        except InvalidInput as error:
            display(Markdown(f"The scrubber is left out. {error}"))  # type: ignore[no-untyped-call]
