"""Views kept on the way through a history, compressed and bounded in bytes, so that seeking refolds little."""

from __future__ import annotations

import bisect
import zlib

from recallkit.bounds import MIB

# Caches are bounded in bytes, not in steps: past this, every second keyframe is dropped and fewer are kept.
KEYFRAME_BYTES = 64 * MIB
# Seeking folds again what lies after a keyframe: half of this on average.
SPACING_MS = 10.0


class Keyframes:
    """The initial view and views on the way.

    Parameters
    ----------
    every : int, optional
        Folds between two keyframes. When left out they are apart by what folding took: 10 ms, more where the view is
        large, so that they cost little at any size. Whenever they pass `most_bytes` every second one is dropped.
    initial : str
        The view before any event, as JSON text.

    Attributes
    ----------
    every : int
        Folds between two keyframes from here on; 0: as `spacing` says.
    spacing : float
        Milliseconds of folding between two keyframes from here on.
    bytes : int
        What they take in memory.
    """

    def __init__(self, every: int | None = None, initial: str = "null", *, most_bytes: int = KEYFRAME_BYTES) -> None:
        self.every = every or 0
        self.spacing = 0.0 if every else SPACING_MS
        self._most = most_bytes
        self._at = [0]
        self._views = [_pack(initial.encode("utf-8", "surrogatepass"))]
        self.bytes = len(self._views[0])

    def __len__(self) -> int:
        return len(self._at)

    def add(self, frames: list[tuple[int, bytes]]) -> None:
        """Keep views: after how many folds each, and its JSON text in UTF-8."""
        for at, text in frames:
            if at <= self._at[-1]:
                continue
            packed = _pack(text)
            self._at.append(at)
            self._views.append(packed)
            self.bytes += len(packed)
        while self.bytes > self._most and len(self._at) > 2:
            self._thin()

    def _thin(self) -> None:
        self.every *= 2
        self.spacing *= 2
        self._at = self._at[::2]
        self._views = self._views[::2]
        self.bytes = sum(map(len, self._views))

    def before(self, folded: int) -> tuple[int, str]:
        """Return the last keyframe at or before `folded`: (folds, view as JSON text)."""
        place = bisect.bisect_right(self._at, folded) - 1
        return self._at[place], zlib.decompress(self._views[place]).decode("utf-8", "surrogatepass")


def _pack(text: bytes) -> bytes:
    return zlib.compress(text, 1)
