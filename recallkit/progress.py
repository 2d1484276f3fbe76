"""A bar with an estimate for long folds, shown only where a person looks."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

DELAY_SECONDS = 1.0


def in_notebook() -> bool:
    """Whether this code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = ipython.get_ipython()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


@contextlib.contextmanager
def watching(total: int, wanted: bool = True) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call with how many events of how many are done, or None where nothing is to be shown."""
    notebook = wanted and in_notebook()
    if not wanted or not (notebook or sys.stderr.isatty()):
        yield None
        return
    if notebook:
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm  # type: ignore[assignment]
    with tqdm(total=total, delay=DELAY_SECONDS, unit=" events", leave=False, desc="folding", mininterval=0.2) as bar:

        def show(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield show
