"""Views kept on the way through a history, compressed and bounded in bytes, so that seeking refolds little."""

from __future__ import annotations

import bisect
import zlib

from recallkit.bounds import MIB

# Caches are bounded in bytes, not in steps: past this, every second keyframe is dropped and fewer are kept.
KEYFRAME_BYTES = 64 * MIB
FIRST_EVERY = 64


class Keyframes:
    """The initial view and a view every so many folds.

    Parameters
    ----------
    every : int, optional
        Folds between two keyframes; when left out, 64 at first and doubled whenever they pass 64 MiB.
    initial : str
        The view before any event, as JSON text.
    """

    def __init__(self, every: int | None = None, initial: str = "null", *, most_bytes: int = KEYFRAME_BYTES) -> None:
        self.every = every or FIRST_EVERY
        self._most = most_bytes
        self._at = [0]
        self._views = [_pack(initial)]
        self.bytes = len(self._views[0])

    def __len__(self) -> int:
        return len(self._at)

    def due(self, before: int, after: int) -> bool:
        """Whether some of the folds after `before`, up to `after`, make a keyframe."""
        return after // self.every > before // self.every

    def add(self, before: int, after: int, texts: list[str]) -> None:
        """Keep the views of the folds in (`before`, `after`] that are multiples of ``every``."""
        first = (before // self.every + 1) * self.every
        for number, text in enumerate(texts):
            at = first + number * self.every
            if at > after or at <= self._at[-1]:
                continue
            packed = _pack(text)
            self._at.append(at)
            self._views.append(packed)
            self.bytes += len(packed)
        while self.bytes > self._most and len(self._at) > 2:
            self._thin()

    def _thin(self) -> None:
        self.every *= 2
        kept = [place for place, at in enumerate(self._at) if at % self.every == 0]
        self._at = [self._at[place] for place in kept]
        self._views = [self._views[place] for place in kept]
        self.bytes = sum(map(len, self._views))

    def before(self, folded: int) -> tuple[int, str]:
        """Return the last keyframe at or before `folded`: (folds, view as JSON text)."""
        place = bisect.bisect_right(self._at, folded) - 1
        return self._at[place], zlib.decompress(self._views[place]).decode("utf-8", "surrogatepass")


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
