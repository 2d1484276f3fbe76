"""Reads a large file of lines in several processes, to the same history as one process gives.

The file is cut at even places; a range holds the lines that begin in it. The processes take the numbers of ranges from
one pipe until it is empty, this process too. What they read they keep in memory that they share: the file's bytes in
one place, the columns of each process in another, mapped here and never copied. A range whose process ended before it
told the end of it is read again here.

The processes run a command of their own, never the person's script, so that a script without a main guard works.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from recallkit.bounds import MIB
from recallkit.errors import HistoryError
from recallkit.events.lines import BLOCK_BYTES, Reader
from recallkit.events.paths import shown, unreadable
from recallkit.events.reading import Reading

FROM_BYTES: Final = 96 * MIB
"""A file smaller than this is read before a second process has started."""
BYTES_A_PROCESS: Final = 48 * MIB
RANGE_BYTES: Final = 8 * MIB
_MOST_RANGES: Final = 8_192  # four bytes each: what a pipe holds before anybody reads from it
_NUMBER: Final = struct.Struct("<I")
_ALIGNED: Final = 64
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from recallkit.events.many import work; work()"
)


class _Changed(Exception):
    """The file is not what it was when its reading began."""


@dataclass(frozen=True, slots=True)
class Task:
    """Where the file, the memory for its bytes and the pipe of ranges are, and how the file is cut."""

    file: int
    kept: int
    ranges: int
    size: int
    start: int
    range_bytes: int


@dataclass(slots=True)
class Done:
    """What a range gave, and the bytes of the file that it took: none where ``begin`` is ``end``."""

    number: int
    begin: int
    end: int
    reading: Reading | None


def can_read() -> bool:
    """Tell whether this system lets processes share files by number."""
    return os.name == "posix" and bool(sys.executable)


def read_in_processes(
    path: Path, start: int, *, processes: int | None = None, range_bytes: int | None = None
) -> tuple[list[Reading], mmap.mmap]:
    """Read a file of lines.

    Parameters
    ----------
    path : Path
        A regular file that is not empty.
    start : int
        Where its first line begins.
    processes : int, optional
        How many read, this one among them.
    range_bytes : int, optional
        The length of a range.

    Returns
    -------
    list of Reading
        In the order of the file.
    mmap
        The file's bytes as they were read.

    Raises
    ------
    HistoryError
        When the file cannot be read, or changes while it is.
    """
    try:
        with path.open("rb", buffering=0) as file, _memory() as kept:
            size = os.fstat(file.fileno()).st_size
            kept.truncate(size)
            if processes is None:
                processes = min(_cores(), max(1, size // BYTES_A_PROCESS))
            range_bytes = max(range_bytes or RANGE_BYTES, -(-size // _MOST_RANGES))
            done = _read(Task(file.fileno(), kept.fileno(), -1, size, start, range_bytes), processes)
            end = 0
            for each in done:
                if each.begin != each.end:
                    if each.begin != end:
                        raise _Changed
                    end = each.end
            if end != size:
                raise _Changed
            buffer = mmap.mmap(kept.fileno(), size, access=mmap.ACCESS_READ)
            return [each.reading for each in done if each.reading is not None], buffer
    except _Changed:
        raise HistoryError(f"{shown(path)} changed while it was read; read it again.") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _read(task: Task, processes: int) -> list[Done]:
    """Read every range, and give them in their order."""
    count = -(-task.size // task.range_bytes)
    taken, given = os.pipe()
    helpers: list[_Helper] = []
    done: dict[int, Done] = {}
    try:
        task = Task(task.file, task.kept, taken, task.size, task.start, task.range_bytes)
        with open(given, "wb") as pipe:
            pipe.write(b"".join(_NUMBER.pack(number) for number in range(count)))
        helpers.extend(_Helper(task) for _ in range(min(processes, count) - 1))
        for number in _numbers(taken):
            done[number] = read_range(task, number)
        for helper in helpers:
            done.update((each.number, each) for each in helper.results())
    finally:
        os.close(taken)
        for helper in helpers:
            helper.end()
    for number in range(count):
        if number not in done:
            done[number] = read_range(task, number)
    return [done[number] for number in range(count)]


class _Helper:
    """A process that reads ranges."""

    def __init__(self, task: Task) -> None:
        self._columns = _memory()
        paths = json.dumps([path or os.getcwd() for path in sys.path])
        told = json.dumps({**asdict(task), "columns": self._columns.fileno()})
        # A session of its own: Ctrl-C is for the person's process, which ends this one.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, paths, told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(task.file, task.kept, task.ranges, self._columns.fileno()),
            start_new_session=True,
        )

    def results(self) -> Iterator[Done]:
        """Wait for the process to end, and give what it finished."""
        assert self._process.stdout is not None
        told = self._process.stdout.read()
        size = os.fstat(self._columns.fileno()).st_size
        if not size:
            return
        memory = memoryview(mmap.mmap(self._columns.fileno(), size, access=mmap.ACCESS_READ))
        # The last line has no end where the process was killed while it wrote.
        for line in told.split(b"\n")[:-1]:
            (at, length), *places = json.loads(line)
            buffers = [memory[begin : begin + size] for begin, size in places]
            yield pickle.loads(memory[at : at + length], buffers=buffers)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._columns):
            if pipe is not None:
                pipe.close()


def work() -> None:
    """Read ranges until none is left; this is the whole life of a helping process."""
    told = json.loads(sys.argv[2])
    columns = told.pop("columns")
    task = Task(**told)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    out = sys.stdout.buffer
    at = 0
    with open(columns, "wb", buffering=0) as file:
        for number in _numbers(task.ranges):
            buffers: list[pickle.PickleBuffer] = []
            text = pickle.dumps(read_range(task, number), protocol=5, buffer_callback=buffers.append)
            places = []
            for piece in (memoryview(text), *(buffer.raw() for buffer in buffers)):
                at += -at % _ALIGNED
                places.append([at, len(piece)])
                _write(file.fileno(), piece, at)
                at += len(piece)
            out.write(json.dumps(places).encode("ascii") + b"\n")
            out.flush()


def _end_with_parent() -> None:
    # Nothing is ever written there: it ends when the process that asked has ended, however that came.
    sys.stdin.buffer.read(1)
    os._exit(1)


def _numbers(pipe: int) -> Iterator[int]:
    while len(word := os.read(pipe, _NUMBER.size)) == _NUMBER.size:
        yield int(_NUMBER.unpack(word)[0])


def read_range(task: Task, number: int) -> Done:
    """Read the lines that begin in a range, and keep their bytes."""
    begin = number * task.range_bytes
    end = min(begin + task.range_bytes, task.size)
    if number:
        before = _bytes(task, begin - 1, end - begin)
        newline = before.find(b"\n")
        if newline < 0:
            return Done(number, begin, begin, None)
        begin += newline
    else:
        # The first line is this range's, however far a byte order mark moves it.
        end = min(max(end, task.start + 1), task.size)
        _write(task.kept, memoryview(_bytes(task, 0, task.start)), 0)
    reader = Reader()
    place, lines = max(begin, task.start), 0
    for block, length in _blocks(task, place, end):
        lines += reader.read(block, place, 1 + lines)
        place += length
    return Done(number, begin, place, reader.finish(lines))


def _blocks(task: Task, place: int, end: int) -> Iterator[tuple[bytes, int]]:
    """Give blocks of whole lines until a line begins at ``end`` or after it, each with the bytes that it takes up."""
    wanted = BLOCK_BYTES
    while place < end:
        data = _bytes(task, place, min(wanted, task.size - place))
        last = end - place - 1
        newline = data.find(b"\n", last) if len(data) > last else -1
        if newline < 0 and place + len(data) == task.size:
            newline = len(data)
        if newline < 0:
            newline = data.rfind(b"\n")
        if newline < 0:
            wanted *= 2
            continue
        taken = data[: newline + 1]
        _write(task.kept, memoryview(taken), place)
        yield data[:newline], len(taken)
        place += len(taken)
        wanted = BLOCK_BYTES


def _bytes(task: Task, place: int, length: int) -> bytes:
    """Read bytes of the file."""
    parts: list[bytes] = []
    while length:
        piece = os.pread(task.file, length, place)
        if not piece:
            raise _Changed
        parts.append(piece)
        place, length = place + len(piece), length - len(piece)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write(file: int, data: memoryview, place: int) -> None:
    while data:
        written = os.pwrite(file, data, place)
        data, place = data[written:], place + written


def _memory() -> IO[Any]:
    """Make a file in memory; on the disk where the system has none such."""
    try:
        return open(os.memfd_create("recallkit"), "w+b", buffering=0)
    except (AttributeError, OSError):
        return tempfile.TemporaryFile(buffering=0)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
