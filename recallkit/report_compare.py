"""Two foldings side by side, for the report template ``compare``: what each cost, and where their views differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recallkit.report import FIGURES
from recallkit.report_parts import save_scrubber
from recallkit.views.patches import Patch, difference

if TYPE_CHECKING:
    import pandas as pd

    from recallkit.folding import Folding
    from recallkit.views.runs import Run

# Up to so many events the views after every one are compared; of a longer history those at so many places first.
EVERY_EVENT: Final = 5_000
PLACES: Final = 100


@dataclass(frozen=True)
class Difference:
    """The first event after which two views over one history differ.

    Attributes
    ----------
    seq : int
        The event's place in the history; -1 where the initial views differ.
    event : dict or None
        The event.
    patch : list of dict
        From the first view to the second, as a JSON Patch.
    one, two : str
        The two views, as JSON text.
    """

    seq: int
    event: dict[str, Any] | None
    patch: Patch
    one: str
    two: str


@dataclass(frozen=True)
class Compared:
    """What a comparison found.

    Attributes
    ----------
    first : Difference or None
        Where the views first differ; None where they do not, or where the histories are two.
    looked : int
        After how many events the views were compared.
    last : list of dict
        From the first function's last view to the second's.
    """

    first: Difference | None
    looked: int
    last: Patch


def compare(one: Folding, two: Folding) -> Compared:
    """Compare two foldings: their last views, and over one history their views after each event.

    Of a history of more than 5,000 events the views at a hundred places are compared, and then every one of those
    between the last place where they are the same and the first where they are not.
    """
    last = _patch(one.view_text, two.view_text)
    if one.history is not two.history:
        return Compared(None, 0, last)
    events = len(one.history)
    if events <= EVERY_EVENT:
        return _walk(one, two, 0, events, 0, last)
    same, looked = 0, 0
    for place in range(PLACES + 1):
        seq = events * place // PLACES
        looked += 1
        if _patch(_text(one, seq), _text(two, seq)):
            return _walk(one, two, same, seq, looked, last)
        same = seq
    return Compared(None, looked, last)


def _walk(one: Folding, two: Folding, start: int, stop: int, looked: int, last: Patch) -> Compared:
    """Compare the views before event `start` of the history, and after each event up to `stop`."""
    views = zip_longest(_views(one, start, stop), _views(two, start, stop))
    for seq, (first, second) in enumerate(views, start):
        looked += 1
        patch = _patch(first, second)
        if patch:
            event = one.history.event(seq - 1) if seq else None
            return Compared(Difference(seq - 1, event, patch, first, second), looked, last)
    return Compared(None, looked, last)


def _folded(folding: Folding, seq: int) -> int:
    """How many events are folded once the first `seq` of the history were handled; a stall folds no more."""
    ledger = folding._fold.ledger
    return int(ledger.seqs(0, folding.folded).searchsorted(seq))


def _text(folding: Folding, seq: int) -> str:
    return folding.timeline.text(_folded(folding, seq))


def _views(folding: Folding, start: int, stop: int) -> Iterator[str]:
    """Give the view once the first `start` events of the history were handled, and after each up to `stop`."""
    from recallkit.notebook.replay import replay

    begin, end = _folded(folding, start), _folded(folding, stop)
    taken = folding._fold.ledger.seqs(begin, end)
    views = replay(folding._fold, begin, end)
    _, text = next(views)
    yield text
    place = 0
    for seq in range(start, stop):
        if place < len(taken) and taken[place] == seq:
            place += 1
            _, text = next(views)
        yield text


def _patch(first: str, second: str) -> Patch:
    return [] if first == second else difference(json.loads(first), json.loads(second))


def costs(one: Folding, two: Folding, names: tuple[str, str]) -> pd.DataFrame:
    """What each folding cost, a column each, in words; the third is the second's figure over the first's."""
    import pandas as pd

    table: dict[str, dict[str, int | float]] = {}
    for folding, name in zip((one, two), names, strict=True):
        trace = folding.trace
        some = len(trace) > 0
        table[name] = {
            "events folded": folding.folded,
            "bytes of the view": len(folding.view_text.encode("utf-8", "surrogatepass")),
            "most bytes of the view": int(trace.view_bytes.max()) if some else 0,
            "steps": int(trace.steps.sum()),
            "most steps of a fold": int(trace.steps.max()) if some else 0,
            "most checkpoints of a fold": int(trace.checkpoints.max()) if some else 0,
            "memory, MiB": round(float(trace.memory_bytes.max()) / 2**20, 1) if some else 0,
            "median fold, µs": round(float(trace.fold_us.median()), 1) if some else 0,
            "all folds, s": round(float(trace.fold_us.sum()) / 1e6, 2) if some else 0,
        }
    first, second = (table[name] for name in names)
    return pd.DataFrame(
        {
            names[0]: [f"{value:,}" for value in first.values()],
            names[1]: [f"{value:,}" for value in second.values()],
            "ratio": [f"{second[row] / value:.2f}" if value else "" for row, value in first.items()],
        },
        index=list(first),
    )


def types(one: Folding, two: Folding, names: tuple[str, str], top: int) -> pd.DataFrame:
    """The folds and steps of each type of event, the types first that took the most."""
    import pandas as pd

    parts = [
        folding.trace.groupby("type", observed=True).agg(folds=("steps", "size"), steps=("steps", "sum"))
        for folding in (one, two)
    ]
    table = pd.concat(parts, axis=1, keys=list(names)).fillna(0).astype(int)
    if not len(table):
        return table
    order = table[[(name, "steps") for name in names]].T.max().sort_values(ascending=False, kind="stable").index
    return table.loc[order].head(top)


def changes(patch: Patch, one: str, two: str, names: tuple[str, str], top: int) -> pd.DataFrame:
    """A patch between two views' texts as a table: each path that differs, and what the two have there."""
    import pandas as pd

    from recallkit.notebook.tree import Marks, Tree

    marks = Marks(patch[:top], Tree(one), Tree(two))
    rows = []
    taken: dict[str, int] = {}
    for change in marks.changes:
        path = change["path"]
        parent, _, last = path.rpartition("/")
        if change["op"] == "remove" and last.isdigit():
            # A patch takes items from a list one by one, at the same place each time; the table names their own places.
            taken[path] = taken.get(path, -1) + 1
            path = f"{parent}/{int(last) + taken[path]}"
        rows.append((path or "the whole view", change.get("was", ""), change.get("text", "")))
    return pd.DataFrame(rows, columns=["path", *names])


def told(compared: Compared, names: tuple[str, str], top: int = 10) -> str:
    """Say in Markdown where the views differ."""
    first, count = compared.first, len(compared.last)
    at_the_end = f"At the end they differ in {count:,} place{'' if count == 1 else 's'}." if count else ""
    if first is not None:
        kind = "" if first.event is None else f", of type `{first.event['type']}`"
        where = "before any event" if first.seq < 0 else f"after event {first.seq:,} of the history{kind}"
        end = at_the_end or "At the end they are the same again."
        return f"The views of {names[0]} and {names[1]} first differ {where}. {end}"
    if compared.looked:
        looked = f"Compared after {compared.looked:,} events, the views are the same"
        return f"{looked}. {at_the_end}".strip()
    return at_the_end or "At the end the views are the same."


def written(
    folder: str, one: Folding, two: Folding, compared: Compared, runs: tuple[Run, Run] | None, *, scrubber: bool = True
) -> None:
    """Write the figures of a comparison, and the scrubber's page of the second folding."""
    if not folder:
        return
    from recallkit.cli_fold import fold_members
    from recallkit.cli_words import Raw, json_object
    from recallkit.files import write_text

    first = compared.first
    stalled = next((each for each in (one, two) if each.stall is not None), one)
    members: dict[str, Any] = {
        "state": stalled.state,
        "stall": None if stalled.stall is None else {"error": stalled.stall.error, "kind": stalled.stall.kind},
        "folded": max(one.folded, two.folded),
        "one": {"function": one.function.name, **fold_members(one, None, False)},
        "two": {"function": two.function.name, **fold_members(two, None, False)},
        "same_view": not compared.last,
        "compared": compared.looked,
        "first_difference": None if first is None else {"seq": first.seq, "event": first.event, "patch": first.patch},
        "differences": compared.last,
        "runs": None,
    }
    if runs is not None:
        members["runs"] = {
            name: {
                "ending": run.ending,
                "kind": run.kind,
                "output": None if run.output_text is None else Raw(run.output_text),
                "detail": run.detail,
            }
            for name, run in zip(("one", "two"), runs, strict=True)
        }
    write_text(Path(folder) / FIGURES, "figures", json_object(members) + "\n")
    if scrubber:
        save_scrubber(folder, two)
