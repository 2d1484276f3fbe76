"""Where a playbook is kept: connections, transactions with one writer, and the follower's lock.

The drivers themselves (sqlite3, psycopg) rather than SQLAlchemy: some forty statements that both stores read alike,
and transactions and locks that must be exactly these.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from recallkit.errors import Conflict, InvalidInput, RecallkitError, Unavailable
from recallkit.playbook.addresses import check_file, read_address

BUSY_SECONDS: Final = 30.0
IDLE_CONNECTIONS: Final = 8
LOCK_POLL_SECONDS: Final = 0.02


class Db:
    """A connection inside a transaction; statements have ``?`` for their values on both stores."""

    def __init__(self, store: Store, connection: Any) -> None:
        self._store = store
        self._connection = connection

    def _execute(self, sql: str, values: Sequence[Any]) -> Any:
        try:
            return self._store._run(self._connection, sql, values)
        except self._store.driver_errors as error:
            raise self._store.translate(error) from error

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return every row."""
        try:
            return list(self._execute(sql, values).fetchall())
        except self._store.driver_errors as error:
            raise self._store.translate(error) from error

    def one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        rows = self.all(sql, *values)
        return rows[0] if rows else None

    def must(self, sql: str, *values: Any) -> tuple[Any, ...]:
        """Return the first row, which is there."""
        row = self.one(sql, *values)
        assert row is not None
        return row

    def run(self, sql: str, *values: Any) -> int:
        """Execute a statement; return how many rows it touched."""
        count: int = self._execute(sql, values).rowcount
        return count

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement once a row."""
        try:
            self._store._run_many(self._connection, sql, rows)
        except self._store.driver_errors as error:
            raise self._store.translate(error) from error


class Store(ABC):
    """One playbook's database.

    Attributes
    ----------
    kind : str
        'sqlite' or 'postgresql'.
    key : str
        The same for every Store of this process on the same playbook.
    shown : str
        Its address without a password.
    """

    kind: str
    key: str
    shown: str
    int_type = "INTEGER"
    bytes_type = "BLOB"
    driver_errors: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self._idle: list[Any] = []
        self._lock = threading.Lock()
        self._closed = False
        self._owner = os.getpid()

    # -- connections ---------------------------------------------------------------------------------------------

    def check_open(self) -> None:
        """Refuse a playbook that is closed, or that another process opened.

        Raises
        ------
        Conflict
            Kind ``closed`` or ``forked``.
        """
        if self.foreign:
            words = "The playbook belongs to the process that was forked; open it again with rk.Playbook(url)."
            raise Conflict(words, "forked")
        if self._closed:
            raise Conflict("The playbook is closed; open it again with rk.Playbook(url).", "closed")

    def _take(self) -> Any:
        self.check_open()
        with self._lock:
            self.check_open()
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except self.driver_errors as error:
            # without the driver's own words in the traceback: they may repeat a part of the address
            raise self.translate(error) from None

    def _give_back(self, connection: Any) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        self._drop(connection)

    def _drop(self, connection: Any) -> None:
        with contextlib.suppress(*self.driver_errors):
            connection.close()

    @contextlib.contextmanager
    def _transaction(self, *begin: str) -> Iterator[Db]:
        connection = self._take()
        db = Db(self, connection)
        ended = False
        try:
            for statement in begin:
                db.run(statement)
            yield db
            db.run("COMMIT")
            ended = True
        except BaseException:
            # a connection whose rollback fails is of no more use
            with contextlib.suppress(RecallkitError):
                db.run("ROLLBACK")
                ended = True
            raise
        finally:
            if ended:
                self._give_back(connection)
            else:
                self._drop(connection)

    @abstractmethod
    def read(self) -> contextlib.AbstractContextManager[Db]:
        """Open a transaction that sees one moment of the database."""

    @abstractmethod
    def write(self) -> contextlib.AbstractContextManager[Db]:
        """Open a transaction as the one writer; what it recorded is seen by all once it ends, in its order."""

    def close(self) -> None:
        """Close every connection; later operations are refused."""
        if self.foreign:
            # they are the parent's: closing them here would end its transactions and let go of its locks
            self._closed = True
            return
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            self._drop(connection)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def foreign(self) -> bool:
        """Whether another process opened it, from which this one was forked."""
        return self._owner != os.getpid()

    # -- the follower's lock -------------------------------------------------------------------------------------

    @abstractmethod
    def try_follow(self) -> Any:
        """Take the follower's lock: a handle for :meth:`end_follow`, or None when another follower has it.

        It is released with its process or its connection, however that ends. Only one follower then folds a page; that
        no page is folded twice *into a view* rests on the view's row alone, which moves on only from where it was read.
        """

    @abstractmethod
    def end_follow(self, handle: Any) -> None:
        """Release the follower's lock."""

    def follow_lock(self, seconds: float) -> Any:
        """Wait for the follower's lock.

        Raises
        ------
        Unavailable
            Another follower kept it all that time.
        """
        until = time.monotonic() + seconds
        while (handle := self.try_follow()) is None:
            if time.monotonic() > until:
                raise Unavailable("Another follower keeps this playbook's views; try again later.", retry_after=5)
            time.sleep(LOCK_POLL_SECONDS)
        return handle

    # -- what the drivers differ in --------------------------------------------------------------------------------

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _run(self, connection: Any, sql: str, values: Sequence[Any]) -> Any: ...

    @abstractmethod
    def _run_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None: ...

    @abstractmethod
    def translate(self, error: Exception) -> RecallkitError:
        """Put a driver's error into words that say what to do."""

    @abstractmethod
    def tables(self, db: Db) -> set[str]:
        """Return the names of the tables there are."""


class SqliteStore(Store):
    """A playbook in an SQLite file, in WAL mode; ``synchronous=FULL``: what was recorded outlives a power cut."""

    kind = "sqlite"
    driver_errors = (sqlite3.Error,)
    _writers: ClassVar[dict[str, threading.RLock]] = {}
    _writers_lock: ClassVar = threading.Lock()

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        if path is not None:
            check_file(path)
        # without a path: a playbook for one sitting, in a folder that goes with it
        self._end_folder: Callable[[], object] = lambda: None
        if path is None:
            folder = tempfile.mkdtemp(prefix="recallkit-")
            self._end_folder = weakref.finalize(self, _remove_folder, folder, os.getpid())
            self.path = Path(folder, "playbook.db")
        else:
            self.path = path.absolute()
        self.shown = str(self.path) if path is not None else "a playbook in memory"
        self.key = f"sqlite:{os.path.realpath(self.path)}"
        with self._writers_lock:
            # threads of one process wait here, in turn, instead of polling the file's lock
            self._writer = self._writers.setdefault(self.key, threading.RLock())

    def _connect(self) -> Any:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1_000)}")
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not names or "playbook" in names:  # another program's file, soon refused, stays as it is
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def read(self) -> contextlib.AbstractContextManager[Db]:
        return self._transaction("BEGIN")

    @contextlib.contextmanager
    def write(self) -> Iterator[Db]:
        self.check_open()
        with self._writer, self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    def _run(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        return connection.execute(sql, values)

    def _run_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        connection.executemany(sql, rows)

    def tables(self, db: Db) -> set[str]:
        return {
            row[0] for row in db.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        }

    def translate(self, error: Exception) -> RecallkitError:
        name = str(getattr(error, "sqlite_errorname", None) or "")
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return InvalidInput(f"{self.shown} is no SQLite database, or a damaged one: {error}.", "/url")
        if name.startswith("SQLITE_FULL"):
            return Unavailable("The disk is full: nothing was recorded. Make room, then try again.", "full")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            words = (
                f"Another process is writing to {self.shown} for longer than {BUSY_SECONDS:g} seconds; try again later."
            )
            return Unavailable(words, "busy", 5)
        if name.startswith("SQLITE_READONLY"):
            words = f"{self.shown} cannot be written to; check its permissions and those of its folder."
            return InvalidInput(words, "/url")
        if name.startswith("SQLITE_CANTOPEN"):
            words = f"{self.shown} cannot be opened: {error}. Check its permissions and those of its folder."
            return InvalidInput(words, "/url")
        return Unavailable(f"The playbook's database failed: {error}.", "store")

    def try_follow(self) -> Any:
        self.check_open()
        # SQLite's own lock on a second, empty file: the system lets go of it when the process ends, on every platform
        connection = None
        try:
            connection = sqlite3.connect(
                f"{self.path}-follow", timeout=0, isolation_level=None, check_same_thread=False
            )
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                return None
            raise self.translate(error) from error
        return connection

    def end_follow(self, handle: Any) -> None:
        handle.close()

    def close(self) -> None:
        super().close()
        if not self.foreign:
            self._end_folder()

    @classmethod
    def _forget(cls) -> None:
        """Forget, in a forked child, who writes: the thread that did stayed behind."""
        cls._writers_lock = threading.Lock()
        cls._writers = {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SqliteStore._forget)


def _remove_folder(folder: str, owner: int) -> None:
    # a forked child that ends must leave its parent's playbook where it is
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def open_store(url: str | os.PathLike[str]) -> Store:
    """Open the store that an address names; nothing is connected to yet.

    Parameters
    ----------
    url : str or path
        ``sqlite:///file.db`` (``sqlite:////`` for an absolute path), ``sqlite://`` for one that is gone when it is
        closed, ``postgresql://…/database`` (``?schema=name`` for a schema other than ``recallkit``), or a path.

    Raises
    ------
    InvalidInput
        It names neither.
    """
    address = read_address(url)
    if address.connect:
        from recallkit.playbook.postgres import PostgresStore

        return PostgresStore(address)
    return SqliteStore(address.path)
