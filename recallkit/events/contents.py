"""The bytes of a file of events: unpacked where they are gzip, and read ahead in a thread where they are many."""

from __future__ import annotations

import mmap
import os
import threading
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from recallkit.bounds import HISTORY_BYTES, MIB
from recallkit.errors import HistoryError
from recallkit.events.paths import check_file, shown, too_large, unreadable

Buffer = bytes | bytearray | mmap.mmap

_PIECE: Final = 4 * MIB
_LARGE: Final = 16 * MIB
_GZIP: Final = 16 + zlib.MAX_WBITS


class Contents:
    """A file's bytes; ``cut`` tells that they are gzip whose end is missing.

    A large file is read by a thread while its first events are already parsed: reading is mostly the system's work of
    giving out memory, during which Python can go on. Nothing may look at bytes that `wait` has not waited for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrived = 0
        self._failure: str | None = None
        self._news = threading.Condition()
        self.cut = False
        check_file(path)
        try:
            file = path.open("rb", buffering=0)
        except OSError as error:
            raise unreadable(path, error) from None
        size = os.fstat(file.fileno()).st_size
        if size >= _LARGE and file.read(2) != b"\x1f\x8b":
            file.seek(0)
            # Memory of its own, not the file's: what was read stays as it was read.
            buffer = mmap.mmap(-1, size)
            self.buffer: Buffer = buffer
            threading.Thread(target=self._fill, args=(file, buffer), name="recallkit-read", daemon=True).start()
            return
        with file:
            file.seek(0)
            self.buffer, self.cut = _read(path, file)
        self._arrived = len(self.buffer)

    def _fill(self, file: BinaryIO, buffer: mmap.mmap) -> None:
        size = len(buffer)
        failure = None
        with file, memoryview(buffer) as view:
            while self._arrived < size:
                try:
                    count = file.readinto(view[self._arrived : self._arrived + _PIECE])  # type: ignore[attr-defined]
                except OSError as error:
                    failure = str(unreadable(self.path, error))
                    break
                if not count:
                    failure = f"{shown(self.path)} grew shorter while it was read; read it again."
                    break
                with self._news:
                    self._arrived += count
                    self._news.notify_all()
        with self._news:
            self._failure = failure
            self._news.notify_all()

    def wait(self, end: int) -> None:
        """Wait until the bytes before ``end`` are there."""
        if self._arrived >= end:
            return
        with self._news:
            self._news.wait_for(lambda: self._arrived >= end or self._failure is not None)
        if self._failure is not None:
            raise HistoryError(self._failure)

    def whole(self) -> Buffer:
        """Wait for all bytes, and give them."""
        self.wait(len(self.buffer))
        return self.buffer


def _read(path: Path, file: BinaryIO) -> tuple[bytes | bytearray, bool]:
    """Read a file within the bound, unpacking it when it is gzip; tell whether the end of the gzip is missing."""
    try:
        first = file.read(2)
        if first == b"\x1f\x8b":
            return _unpack(path, file, first)
        plain = bytearray(first)
        # A regular file may have no size, or grow while it is read.
        while piece := file.read(_PIECE):
            plain += piece
            if len(plain) > HISTORY_BYTES:
                raise too_large(path)
        return bytes(plain), False
    except zlib.error as error:
        words = f"{shown(path)} is damaged: it is gzip, but does not unpack ({error}). Fetch it again."
        raise HistoryError(words) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _unpack(path: Path, file: BinaryIO, piece: bytes) -> tuple[bytearray, bool]:
    """Unpack gzip, member after member, never more than a piece at a time; what comes before a missing end is kept."""
    unpacked = bytearray()
    member = zlib.decompressobj(wbits=_GZIP)
    while True:
        if member.eof:
            # Blocks of tapes are filled up with zeros; anything else is the next member.
            while piece and not (piece := piece.lstrip(b"\0")):
                piece = file.read(_PIECE)
            if not piece:
                return unpacked, False
            member = zlib.decompressobj(wbits=_GZIP)
        more = member.decompress(piece, _PIECE)
        unpacked += more
        if len(unpacked) > HISTORY_BYTES:
            raise too_large(path)
        piece = member.unused_data or member.unconsumed_tail or file.read(_PIECE)
        if not piece and not more and not member.eof:
            return unpacked, True
