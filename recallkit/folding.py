"""A folding: a history folded by a recall function. A thin face over the views below."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from recallkit.views import standing as standings
from recallkit.views.fold import Fold, go_on
from recallkit.views.timeline import Moment, Timeline

if TYPE_CHECKING:
    import pandas as pd

    from recallkit.events.history import History
    from recallkit.functions import RecallFunction
    from recallkit.views.stalls import Stall


class Folding:
    """What a recall function keeps of a history.

    Attributes
    ----------
    function : RecallFunction
        What folded.
    history : History
        What was folded.
    """

    def __init__(self, function: RecallFunction, fold: Fold) -> None:
        self.function = function
        self._fold = fold

    def __getstate__(self) -> dict[str, Any]:
        # The timeline holds an open sandbox; it is made again.
        return {name: value for name, value in self.__dict__.items() if name != "timeline"}

    @property
    def history(self) -> History:
        return self._fold.history

    @property
    def state(self) -> str:
        """'live', 'stalled', or 'stopped' when a person stopped it; ``resume()`` goes on."""
        return self._fold.state

    @property
    def view_text(self) -> str:
        """The view as the engine wrote it: JSON text."""
        return self._fold.view

    @property
    def view(self) -> Any:
        """The view as Python values."""
        import json

        return json.loads(self._fold.view)

    @property
    def stall(self) -> Stall | None:
        """Why and where the view stalled: ``.kind``, ``.event``, ``.error``, ``.line``; None when it did not."""
        return self._fold.stall

    @property
    def folded(self) -> int:
        """How many events the view has folded."""
        return self._fold.folded

    @property
    def considered(self) -> int:
        """How many events the attributes of some filter match; the data decides which of them are folded."""
        return len(self._fold.selection)

    @property
    def passed_over(self) -> list[int]:
        """The seqs of considered events whose time the engine cannot read; they are passed over."""
        return list(self._fold.passed_over)

    @property
    def way(self) -> str:
        """How the view was checked after each fold; the same comes of each way.

        'fast': by what the fold made alone, for a module that provably writes to nothing it did not make. 'owned': the
        whole view was read where it lies, and was taken as it was where nothing else held a part of it; see
        ``why_owned``. 'plain': written out and read back after each fold, as asked for.
        """
        return self._fold.way

    @property
    def copied(self) -> int:
        """How many of the views were written out and read back: all of them in the plain way, few in the others."""
        return self._fold.copied

    @property
    def why_owned(self) -> tuple[str, ...]:
        """Why the way is not 'fast': where the module may write to what it did not make."""
        return self._fold.definition.writes

    @property
    def why_plain(self) -> tuple[str, ...]:
        """Why the way is 'plain': asked for, or for want of memory; nothing where it is another way."""
        if self._fold.way != "plain":
            return ()
        return (
            ("the view as the module made it did not fit the sandbox's memory",)
            if self._fold.forgot
            else ("asked for",)
        )

    @property
    def standing(self) -> dict[str, Any]:
        """How the view stands: the fields of the format's table *The standing of a view*."""
        return standings.standing(self._fold)

    @property
    def read(self) -> dict[str, Any]:
        """What a run's record says it read: version, checkpoint, checkpoint_at, last_event, folded."""
        told = self.standing
        return {name: told[name] for name in ("version", "checkpoint", "checkpoint_at", "last_event", "folded")}

    @cached_property
    def trace(self) -> pd.DataFrame:
        """What each fold did and cost: a row a folded event (see :func:`recallkit.views.trace.trace`)."""
        from recallkit.views.trace import trace

        initial = len(self.function.definition.initial.encode("utf-8", "surrogatepass"))
        return trace(self._fold.ledger, self._fold.history, initial)

    @cached_property
    def timeline(self) -> Timeline:
        """The views by number of folded events."""
        return Timeline(self._fold)

    def at(self, number: int) -> Moment:
        """Return the view after `number` folded events: ``.view``, ``.bytes``, ``.event``, ``.patch``.

        Parameters
        ----------
        number : int
            0 is the initial view; a number below 0 counts from the end: -1 is the view as it stands now.
        """
        return self.timeline.at(number)

    def resume(self, *, progress: bool = True) -> None:
        """Go on with a fold that was stopped."""
        from recallkit.progress import watching

        try:
            with watching(len(self._fold.selection), progress) as watcher:
                go_on(self._fold, watcher=watcher)
        finally:
            for name in ("trace", "timeline"):
                self.__dict__.pop(name, None)

    def scrub(self, **options: Any) -> Any:
        """Return the scrubber: a widget that seeks through the history; ``.save(path)`` writes one page to keep."""
        from recallkit.notebook.scrubber import Scrubber

        return Scrubber(self, **options)

    @property
    def charts(self) -> Any:
        """Charts of this folding: ``.size()``, ``.work()``, ``.timings()``."""
        from recallkit.notebook.charts import Charts

        return Charts(self)

    @property
    def words(self) -> str:
        """How the view stands, in a sentence."""
        considered, total = len(self._fold.selection), len(self.history)
        size = f"{len(self.view_text.encode('utf-8', 'surrogatepass')):,} bytes"
        if self.stall is not None:
            return f"{self.stall}; {self.folded:,} events folded before it, the view kept at {size}"
        if self.state == "stopped":
            return f"stopped after {self.folded:,} folded events of {considered:,} considered; resume() goes on"
        if not total:
            return f"live: the history is empty, the view is the initial one, {size}"
        if not self.folded:
            return f"live, but no event matched any filter: 0 of {total:,} events folded, the view is the initial one"
        return f"live: {self.folded:,} of {total:,} events folded, the view takes {size}"

    def __repr__(self) -> str:
        return f"<Folding {self.words}>"

    def _repr_html_(self) -> str:
        from recallkit.notebook.html import folding_html

        return folding_html(self)
