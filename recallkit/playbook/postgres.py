"""A playbook in PostgreSQL: the same tables in a schema of their own, and advisory locks."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import re
from collections.abc import Sequence
from typing import Any, Final

from recallkit.errors import InvalidInput, RecallkitError, Unavailable
from recallkit.playbook.addresses import Address
from recallkit.playbook.store import Db, Store

_PLACE: Final = re.compile(r"\?")
WRITER, FOLLOWER = 1, 2


class PostgresStore(Store):
    """A playbook in PostgreSQL. Its one writer holds a transaction's advisory lock, its follower a session's."""

    kind = "postgresql"
    int_type = "BIGINT"
    bytes_type = "BYTEA"

    def __init__(self, address: Address) -> None:
        super().__init__()
        try:
            self._driver: Any = importlib.import_module("psycopg")
        except ImportError:
            raise InvalidInput("A playbook in PostgreSQL needs psycopg: pip install 'recallkit[postgres]'.") from None
        self.driver_errors = (self._driver.Error,)
        self.schema = address.schema
        self._url = address.connect
        self._secrets = address.secrets
        self.shown = address.shown
        self.key = f"{address.connect}#{self.schema}"
        # advisory locks belong to a database: the schema tells its playbooks apart
        self._number = int.from_bytes(hashlib.sha256(self.schema.encode()).digest()[:4], "big", signed=True)

    def _connect(self) -> Any:
        try:
            connection = self._driver.connect(
                self._url, autocommit=True, connect_timeout=10, application_name="recallkit", client_encoding="utf8"
            )
        except self._driver.ProgrammingError as error:
            # what libpq says of an option there is none of, and of a value that an option does not take
            raise InvalidInput(f"The address cannot be read: {self._said(error)}.", "/url") from None
        try:
            connection.execute("SET synchronous_commit = on")
            connection.execute("SET client_min_messages = warning")
            if not self._has_schema(connection):
                # under the writer's lock: two that make it at once would fail, IF NOT EXISTS or not
                connection.execute("BEGIN")
                connection.execute(f"SELECT pg_advisory_xact_lock({self._number}, {WRITER})")
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self.schema}")
                connection.execute("COMMIT")
            connection.execute(f"SET search_path = {self.schema}")
        except self._driver.Error:
            connection.close()
            raise
        return connection

    def _has_schema(self, connection: Any) -> bool:
        found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.schema,)).fetchone()
        return found is not None

    def read(self) -> contextlib.AbstractContextManager[Db]:
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def write(self) -> contextlib.AbstractContextManager[Db]:
        # the lock ends with the transaction, after what it wrote can be seen: positions appear in their order
        return self._transaction("BEGIN", f"SELECT pg_advisory_xact_lock({self._number}, {WRITER})")

    def _run(self, connection: Any, sql: str, values: Sequence[Any]) -> Any:
        return connection.execute(_PLACE.sub("%s", sql), values)

    def _run_many(self, connection: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with connection.cursor() as cursor:
            cursor.executemany(_PLACE.sub("%s", sql), rows)

    def tables(self, db: Db) -> set[str]:
        return {row[0] for row in db.all("SELECT tablename FROM pg_tables WHERE schemaname = ?", self.schema)}

    def translate(self, error: Exception) -> RecallkitError:
        said, state = self._said(error), getattr(error, "sqlstate", None) or ""
        if state == "53100":
            return Unavailable("The disk is full: nothing was recorded. Make room, then try again.", "full")
        if isinstance(error, self._driver.OperationalError) and state[:2] in ("", "08", "28", "3D", "57"):
            words = f"PostgreSQL cannot be reached: {said}"
            return Unavailable(
                f"{words}; check that it runs, and the host, port, user and database of the address.", "store", 5
            )
        if isinstance(error, self._driver.errors.InsufficientPrivilege):
            return InvalidInput(f"{self.shown} cannot be written to: {said}.", "/url")
        return Unavailable(f"The playbook's database failed: {said}.", "store")

    def _said(self, error: Exception) -> str:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        for secret in self._secrets:
            said = said.replace(secret, "…")
        return said

    def try_follow(self) -> Any:
        connection = self._take()
        try:
            sql = f"SELECT pg_try_advisory_lock({self._number}, {FOLLOWER})"
            if connection.execute(sql).fetchone()[0]:
                return connection
        except self._driver.Error as error:
            self._drop(connection)
            raise self.translate(error) from error
        self._give_back(connection)
        return None

    def end_follow(self, handle: Any) -> None:
        try:
            handle.execute(f"SELECT pg_advisory_unlock({self._number}, {FOLLOWER})")
        except self._driver.Error:
            self._drop(handle)  # the lock went with the connection
        else:
            self._give_back(handle)
