"""The views of a fold one after another, folded again in stretches: for searches, trails and saved pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recallkit.bounds import FOLD_SECONDS, MIB
from recallkit.errors import InvalidInput
from recallkit.views.selection import Selection
from recallkit.views.session import FoldSession, page_of

if TYPE_CHECKING:
    from recallkit.views.fold import Fold

# The views of a stretch wait in the sandbox's 64 MiB until they are fetched together.
STRETCH_BYTES = 4 * MIB
STRETCH_FOLDS = 256


def replay(fold: Fold, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, str]]:
    """Yield the view after `start` folds, then after each fold up to `stop`: (how many were folded, JSON text)."""
    stop = fold.folded if stop is None else stop
    number, text = fold.keyframes.before(start)
    if number >= start:
        yield number, text
    if number >= stop:
        return
    session = FoldSession(fold.definition, initial=text, folded=number, way=fold.way, again=True)
    try:
        while number < stop:
            count = min(stop - number, _stretch(fold, number))
            for text in _views(fold, session, number, number + count):
                number += 1
                if number >= start:
                    yield number, text
    finally:
        session.close()


def _stretch(fold: Fold, number: int) -> int:
    total, count = 0, 0
    while count < STRETCH_FOLDS and number + count < fold.folded:
        total += fold.ledger.bytes_after(number + count + 1)
        if total > STRETCH_BYTES and count:
            break
        count += 1
    return count


def _views(fold: Fold, session: FoldSession, start: int, stop: int) -> list[str]:
    taken = fold.ledger.seqs(start, stop)
    rows = fold.selection.seqs.searchsorted(taken)
    part = Selection(taken, fold.selection.masks[rows], fold.selection.sizes[rows])
    session.load(page_of(fold.history, part, 0, len(taken)))
    texts: list[str] = []
    done = 0
    while done < len(taken):
        advance = session.advance(done, seconds=FOLD_SECONDS, every=1)
        if advance.next <= done or advance.ended not in ("page", "until"):
            raise InvalidInput(f"The fold did not repeat itself at event {int(taken[done])}.")
        texts += [text.decode("utf-8", "surrogatepass") for _, text in advance.frames]
        done = advance.next
    return texts
