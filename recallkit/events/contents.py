"""The bytes of a file of events: unpacked where they are gzip, and read ahead in a thread where they are many."""

from __future__ import annotations

import gzip
import mmap
import os
import threading
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from recallkit.bounds import HISTORY_BYTES, MIB
from recallkit.errors import HistoryError

Buffer = bytes | bytearray | mmap.mmap

_PIECE: Final = 4 * MIB
_LARGE: Final = 16 * MIB


class Contents:
    """A file's bytes.

    A large file is read by a thread while its first events are already parsed: reading is mostly the system's work of
    giving out memory, during which Python can go on. Nothing may look at bytes that `wait` has not waited for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrived = 0
        self._failure: str | None = None
        self._news = threading.Condition()
        try:
            file = path.open("rb", buffering=0)
        except FileNotFoundError:
            raise HistoryError(f"There is no file {path}.") from None
        except OSError as error:
            raise HistoryError(f"{path} cannot be read: {error.strerror or error}.") from None
        except ValueError as error:
            raise HistoryError(f"{str(path)!r} is no path to a file: {error}.") from None
        size = os.fstat(file.fileno()).st_size
        if size > HISTORY_BYTES:
            file.close()
            raise HistoryError(_too_large(path))
        if size >= _LARGE and file.read(2) != b"\x1f\x8b":
            file.seek(0)
            # Memory of its own, not the file's: what was read stays as it was read.
            buffer = mmap.mmap(-1, size)
            self.buffer: Buffer = buffer
            threading.Thread(target=self._fill, args=(file, buffer), name="recallkit-read", daemon=True).start()
            return
        with file:
            file.seek(0)
            self.buffer = _read(path, file)
        self._arrived = len(self.buffer)

    def _fill(self, file: BinaryIO, buffer: mmap.mmap) -> None:
        size = len(buffer)
        failure = None
        with file, memoryview(buffer) as view:
            while self._arrived < size:
                try:
                    count = file.readinto(view[self._arrived : self._arrived + _PIECE])  # type: ignore[attr-defined]
                except OSError as error:
                    failure = f"{self.path} cannot be read: {error.strerror or error}."
                    break
                if not count:
                    failure = f"{self.path} grew shorter while it was read; read it again."
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


def _read(path: Path, file: BinaryIO) -> bytes | bytearray:
    """Read a file at once; unpack it, piece by piece within the bound, when it is gzip."""
    try:
        if file.read(2) != b"\x1f\x8b":
            file.seek(0)
            return file.read()
        file.seek(0)
        unpacked = bytearray()
        with gzip.GzipFile(fileobj=file) as stream:
            while piece := stream.read(_PIECE):
                unpacked += piece
                if len(unpacked) > HISTORY_BYTES:
                    raise HistoryError(_too_large(path))
        return unpacked
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise HistoryError(f"{path} is damaged: it is gzip, but does not unpack ({error}). Fetch it again.") from None
    except OSError as error:
        raise HistoryError(f"{path} cannot be read: {error.strerror or error}.") from None


def _too_large(path: Path) -> str:
    return f"{path} holds more than {HISTORY_BYTES:,} bytes of events; split it into parts."
