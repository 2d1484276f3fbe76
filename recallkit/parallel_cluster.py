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
    dask = _distributed()
    name = f"recallkit-stop-{uuid.uuid4()}"
    stop = dask.Event(name, client=client)
    results: list[Result | None] = [None] * len(pairs)
    known: dict[Any, tuple[int, RecallFunction, History]] = {}
    sent: dict[int, Any] = {}
    stopped = False
    try:
        for place, pair in enumerate(pairs):
            try:
                function, history = resolved(pair)
            except Exception as error:
                results[place] = Failed(error)
                continue
            if id(history) not in sent:
                sent[id(history)] = client.scatter([history], hash=False)[0]
            future = client.submit(_fold, function, sent[id(history)], options, name, pure=False)
            known[future] = (place, function, history)
    except KeyboardInterrupt:
        stopped = True
        stop.set()
    total = sum(len(history) for _, _, history in known.values())
    done, waiting = 0, set(known)
    with watching(total, progress) as show:
        while waiting:
            try:
                finished, waiting = dask.wait(waiting, return_when="FIRST_COMPLETED")
                for future in finished:
                    place, function, history = known[future]
                    results[place] = _taken(future, function, history)
                    done += len(history)
                if show:
                    show(done, total)
            except KeyboardInterrupt:
                if stopped:
                    client.cancel(list(known))
                    raise
                stopped = True
                stop.set()
    if options.get("trace", True):
        for result in results:
            if isinstance(result, Folding):
                _ = result.trace
    return [each if each is not None else _not_begun(pair, options) for each, pair in zip(results, pairs, strict=True)]


def _fold(function: RecallFunction, history: History, options: FoldOptions, stop: str) -> dict[str, Any]:
    """On a worker: fold, and give what the caller does not have yet."""
    fold = fold_one(function, history, options, ClusterStop(stop))._fold
    return {each.name: getattr(fold, each.name) for each in fields(fold) if each.name not in ("definition", "history")}


def _taken(future: Any, function: RecallFunction, history: History) -> Result:
    error = future.exception()
    if error is not None:
        return Failed(error)
    return Folding(function, Fold(definition=function.definition, history=history, **future.result()))


def _not_begun(pair: Pair, options: FoldOptions) -> Result:
    """Give the folding of a pair that Ctrl-C kept from the cluster: stopped, with nothing folded."""
    stop = threading.Event()
    stop.set()
    try:
        return fold_one(*resolved(pair), options, stop)
    except Exception as error:
        return Failed(error)
