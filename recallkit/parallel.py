"""Several foldings at once: many functions over one history, or one function over many, on all cores or on a cluster.

Each fold runs in a sandbox's worker process already, so threads here keep the cores busy: they only move pages out and
rows in. ``tests/bench/bench_parallel.py`` measures it, beside processes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from recallkit.bounds import PAGE_RECORDS
from recallkit.errors import InvalidInput
from recallkit.folding import Folding
from recallkit.functions import RecallFunction, _history, load
from recallkit.progress import watching
from recallkit.views.fold import Stop, Watcher, fold_history

if TYPE_CHECKING:
    from recallkit.events.history import History

TICK_SECONDS = 0.2


class FoldOptions(TypedDict, total=False):
    """What ``RecallFunction.fold`` takes too."""

    page: int
    trace: bool
    keyframe_every: int | None
    tries: int
    name: str | None
    plain: bool


@dataclass(frozen=True)
class Failed:
    """Stands where a folding would: its document is refused, its history cannot be read, or a machine was lost.

    Attributes
    ----------
    error : Exception
        Why. Asking for a view, or anything else that only a folding has, raises it.
    state : str
        'failed'.
    """

    error: Exception
    state: str = "failed"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Folding, name):
            raise self.error
        raise AttributeError(f"A failed folding has no {name!r}")

    def __repr__(self) -> str:
        return f"<Failed {type(self.error).__name__}: {self.error}>"


Result = Folding | Failed
Pair = tuple[Any, Any]
"""A function and a history, both as they were given."""


def fold_all(
    functions: Any,
    history: Any,
    *,
    client: Any = None,
    workers: int | None = None,
    progress: bool = True,
    **options: Unpack[FoldOptions],
) -> Any:
    """Fold one history with many functions, on all cores.

    Parameters
    ----------
    functions : iterable or mapping of RecallFunction
        What folds; a path or the text of a document is loaded.
    history : History or anything that ``read_history`` reads
        The events; read once.
    client : dask.distributed.Client, optional
        A cluster to fold on, in place of this machine's cores (``pip install recallkit[dask]``); its workers need
        recallkit too.
    workers : int, optional
        Folds at a time on this machine; as many as there are cores when left out.
    progress : bool
        Show a bar when it takes longer than a second.
    **options
        What ``RecallFunction.fold`` takes: page, trace, keyframe_every, tries, name, plain.

    Returns
    -------
    list of Folding, or dict by the mapping's keys
        In the order given. One that stalls, fails or is refused holds none of the others back: a `Failed` with its
        ``error`` stands in its place. After Ctrl-C each keeps what it folded: its state is 'stopped', and its
        ``resume()`` goes on.

    Raises
    ------
    HistoryError
        The history cannot be read.
    InvalidInput
        One of the functions is no recall function, or an option is none of a fold's.
    """
    names, each = _listed(functions, "functions")
    for given in each:
        _recall(given)
    read = _history(history)
    return _together(names, [(given, read) for given in each], client, workers, progress, options)


def fold_each(
    function: Any,
    histories: Any,
    *,
    client: Any = None,
    workers: int | None = None,
    progress: bool = True,
    **options: Unpack[FoldOptions],
) -> Any:
    """Fold many histories with one function, on all cores.

    Parameters
    ----------
    function : RecallFunction
        What folds; a path or the text of a document is loaded.
    histories : iterable or mapping of History
        What is folded; anything that ``read_history`` reads is read.
    client, workers, progress, **options
        As for `fold_all`.

    Returns
    -------
    list of Folding, or dict by the mapping's keys
        As from `fold_all`.

    Raises
    ------
    Refused, InvalidInput
        The function's document, as from ``load``; an option that is none of a fold's.
    """
    names, each = _listed(histories, "histories")
    loaded = _function(function)
    return _together(names, [(loaded, given) for given in each], client, workers, progress, options)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _listed(given: Any, what: str) -> tuple[list[Any] | None, list[Any]]:
    if isinstance(given, Mapping):
        return list(given), list(given.values())
    if isinstance(given, str | bytes | os.PathLike) or not isinstance(given, Iterable):
        raise InvalidInput(f"Give the {what} as a list, or as a dict by name, not as a {type(given).__name__}.")
    return None, list(given)


def _recall(given: Any) -> None:
    if not isinstance(given, str | os.PathLike | RecallFunction):
        raise InvalidInput(f"Only a recall function folds; a {type(given).__name__} does not.")


def _function(given: Any) -> RecallFunction:
    function = load(given) if isinstance(given, str | os.PathLike) else given
    _recall(function)
    assert isinstance(function, RecallFunction)
    return function


def resolved(pair: Pair) -> tuple[RecallFunction, History]:
    """Return the function and the history, loaded and read where they are not yet."""
    return _function(pair[0]), _history(pair[1])


def _together(
    names: list[Any] | None,
    pairs: list[Pair],
    client: Any,
    workers: int | None,
    progress: bool,
    options: FoldOptions,
) -> Any:
    known = FoldOptions.__annotations__
    if unknown := sorted(set(options) - set(known)):
        raise InvalidInput(f"A fold has no option {unknown[0]}; it has {', '.join(known)}.")
    if workers is not None and workers < 1:
        raise InvalidInput(f"workers takes a whole number from 1; this one is {workers}.")
    if client is None:
        results = _on_cores(pairs, min(workers or cores(), len(pairs) or 1), progress, options)
    else:
        from recallkit.parallel_cluster import on_cluster

        results = on_cluster(pairs, client, progress, options)
    return results if names is None else dict(zip(names, results, strict=True))


def fold_one(
    function: RecallFunction, history: History, options: FoldOptions, stop: Stop, watcher: Watcher | None = None
) -> Folding:
    """Fold a history until it is done or `stop` is set."""
    name = options.get("name")
    fold = fold_history(
        function.definition,
        history,
        page=options.get("page", PAGE_RECORDS),
        keyframe_every=options.get("keyframe_every"),
        tries=options.get("tries", 1),
        name=name if name is not None else (function.name or None),
        way="plain" if options.get("plain") else None,
        watcher=watcher,
        stop=stop,
    )
    return Folding(function, fold)


def _on_cores(pairs: list[Pair], workers: int, progress: bool, options: FoldOptions) -> list[Result]:
    stop = threading.Event()
    done = [(0, 0)] * len(pairs)

    def work(place: int) -> Result:
        def told(folded: int, of: int) -> None:
            done[place] = (folded, of)

        try:
            function, history = resolved(pairs[place])
            return fold_one(function, history, options, stop, told)
        except Exception as error:
            return Failed(error)

    with ThreadPoolExecutor(workers, "recallkit-fold") as pool:
        futures = [pool.submit(work, place) for place in range(len(pairs))]
        _await(futures, stop, progress, lambda: (sum(each[0] for each in done), _total(pairs, done)))
    results = [future.result() for future in futures]
    if options.get("trace", True):
        for result in results:
            if isinstance(result, Folding):
                _ = result.trace
    return results


def _total(pairs: list[Pair], done: list[tuple[int, int]]) -> int:
    """Say how many events there are in all; of a fold not yet begun, those of its history."""
    total = 0
    for pair, (_, of) in zip(pairs, done, strict=True):
        total += of or (len(pair[1]) if hasattr(pair[1], "seqs") else 0)
    return total


def _await(futures: list[Future[Result]], stop: threading.Event, progress: bool, count: Callable[[], Any]) -> None:
    """Wait for all, telling how far they are; Ctrl-C stops each where it is, and a second one gives up."""
    with watching(0, progress) as show:
        waiting: set[Future[Result]] = set(futures)
        while waiting:
            try:
                waiting = wait(waiting, TICK_SECONDS if show else None).not_done
                if show:
                    show(*count())
            except KeyboardInterrupt:
                if stop.is_set():
                    raise
                stop.set()
