"""Foldings on a Dask cluster: what folds and what is folded go there, and what each fold gave comes back.

A folding that comes back is one of this process: it holds the caller's own function and history, so it seeks, scrubs
and resumes here.
"""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recallkit.errors import Unavailable
from recallkit.folding import Folding
from recallkit.parallel import Failed, FoldOptions, Pair, Result, fold_one, resolved
from recallkit.progress import watching
from recallkit.views.fold import Fold

if TYPE_CHECKING:
    from recallkit.events.history import History
    from recallkit.functions import RecallFunction

ASK_SECONDS = 1.0
LOSSES = 3  # a fold is sent again so often, less one, when the machine that folds it is lost


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise Unavailable("There is no Dask here; pip install recallkit[dask] brings it.") from error


class ClusterStop:
    """An event that the scheduler keeps, by name: set once for every fold, wherever it runs; asked once a second."""

    def __init__(self, name: str) -> None:
        dask = _distributed()
        self._event = dask.Event(name, client=dask.get_client())
        self._asked = 0.0
        self._set = False

    def is_set(self) -> bool:
        if not self._set and time.monotonic() - self._asked > ASK_SECONDS:
            self._set = bool(self._event.is_set())
            self._asked = time.monotonic()
        return self._set


def on_cluster(pairs: list[Pair], client: Any, progress: bool, options: FoldOptions) -> list[Result]:
    """Fold each pair on the cluster; give the results in order.

    Raises
    ------
    Unavailable
        Dask is not installed.
    """
    job = _Job(pairs, client, options)
    stopped = False
    try:
        for place in range(len(pairs)):
            job.send(place)
    except KeyboardInterrupt:
        stopped = True
        job.stop.set()
    with watching(job.total, progress) as show:
        while job.sent:
            try:
                job.advance()
                if show:
                    show(job.done, job.total)
            except KeyboardInterrupt:
                if stopped:
                    client.cancel(list(job.sent))
                    raise
                stopped = True
                job.stop.set()
    if options.get("trace", True):
        for result in job.results:
            if isinstance(result, Folding):
                _ = result.trace
    return [
        each if each is not None else _not_begun(pair, options) for each, pair in zip(job.results, pairs, strict=True)
    ]


class _Job:
    """The folds of one call: which are out, and what came back. A fold whose machine is lost is sent again."""

    def __init__(self, pairs: list[Pair], client: Any, options: FoldOptions) -> None:
        self.results: list[Result | None] = [None] * len(pairs)
        self.sent: dict[Any, int] = {}
        self.total = self.done = 0
        self._dask = _distributed()
        self._pairs = pairs
        self._client = client
        self._options = options
        self._name = f"recallkit-stop-{uuid.uuid4()}"
        self.stop = self._dask.Event(self._name, client=client)
        self._known: dict[int, tuple[RecallFunction, History]] = {}
        self._histories: dict[int, Any] = {}
        self._losses = [0] * len(pairs)

    def send(self, place: int) -> None:
        """Send a pair to the cluster; one that is refused here, or cannot be sent, has failed."""
        try:
            if place not in self._known:
                self._known[place] = resolved(self._pairs[place])
                self.total += len(self._known[place][1])
        except Exception as error:
            self.results[place] = Failed(error)
            return
        function, history = self._known[place]
        try:
            if id(history) not in self._histories:
                self._histories[id(history)] = self._client.scatter([history], hash=False)[0]
            there = self._histories[id(history)]
            self.sent[self._client.submit(_fold, function, there, self._options, self._name, pure=False)] = place
        except OSError as error:  # the machine was lost while the history went there, or there is none
            self._lost(place, error)
        except Exception as error:
            self._settle(place, Failed(error))

    def advance(self) -> None:
        """Wait until something came back, or was lost."""
        try:
            finished = self._dask.wait(list(self.sent), return_when="FIRST_COMPLETED").done
        except self._dask.CancelledError as error:
            # what only a lost machine held is lost with it, the history too
            self._histories.clear()
            for future in [each for each in self.sent if each.cancelled()] or list(self.sent):
                self._lost(self.sent.pop(future), error)
            return
        for future in finished:
            self._take(future, self.sent.pop(future))

    def _take(self, future: Any, place: int) -> None:
        function, history = self._known[place]
        try:
            given = future.result()
        except (self._dask.CancelledError, self._dask.comm.CommClosedError) as error:
            self._lost(place, error)
        except self._dask.KilledWorker as error:
            self._losses[place] = LOSSES  # the cluster has tried it again itself
            self._lost(place, error)
        except Exception as error:
            self._settle(place, Failed(error))
        else:
            self._settle(place, Folding(function, Fold(definition=function.definition, history=history, **given)))

    def _settle(self, place: int, result: Result) -> None:
        self.results[place] = result
        self.done += len(self._known[place][1])

    def _lost(self, place: int, error: Exception) -> None:
        self._losses[place] += 1
        if self._losses[place] < LOSSES:
            self.send(place)
            return
        lost = Unavailable(
            f"The cluster lost the machine that folded this several times ({type(error).__name__}): fold it when "
            "the cluster is well, or here, without client=."
        )
        lost.__cause__ = error
        self._settle(place, Failed(lost))


def _fold(function: RecallFunction, history: History, options: FoldOptions, stop: str) -> dict[str, Any]:
    """On a worker: fold, and give what the caller does not have yet."""
    fold = fold_one(function, history, options, ClusterStop(stop))._fold
    return {each.name: getattr(fold, each.name) for each in fields(fold) if each.name not in ("definition", "history")}


def _not_begun(pair: Pair, options: FoldOptions) -> Result:
    """Give the folding of a pair that Ctrl-C kept from the cluster: stopped, with nothing folded."""
    stop = threading.Event()
    stop.set()
    try:
        return fold_one(*resolved(pair), options, stop)
    except Exception as error:
        return Failed(error)
