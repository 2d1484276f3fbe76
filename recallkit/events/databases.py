"""Histories from a table in SQLite or PostgreSQL, opened read-only; names are quoted, never pasted into SQL."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from recallkit.errors import HistoryError
from recallkit.events.history import History
from recallkit.events.paths import check_file, shown
from recallkit.events.tables import from_columns

_ORDERS: Final = ("seq", "position", "global_position")
"""Columns that say the recorded order, where the address names none with ``order``."""


def read_table(address: str) -> History:
    """Read a table named by an address such as ``sqlite:///events.db?table=events``.

    Parameters
    ----------
    address : str
        ``table`` names the table (``schema.table`` in PostgreSQL), ``order`` the column of the recorded order. Without
        ``order`` it is ``seq``, ``position`` or ``global_position`` where the table has one; else the order in which
        SQLite stored the rows.

    Raises
    ------
    HistoryError
        When there is no such table, or it has no columns id, type and source.
    """
    parts = urlsplit(address)
    options = parse_qsl(parts.query, keep_blank_values=True)
    named = dict(options)
    table, order = named.get("table"), named.get("order")
    shown = address.split("@")[-1] if "@" in address else address
    if not table:
        raise HistoryError(f"{shown} names no table; add ?table=name to the address.")
    if parts.scheme == "sqlite":
        return _read_sqlite(parts.path, table, order)
    rest = [(key, value) for key, value in options if key not in ("table", "order")]
    bare = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(rest), ""))
    return _read_postgresql(bare, shown, table, order)


def _quoted(name: str) -> str:
    if "\0" in name:
        raise HistoryError("A table's name holds no NUL character.")
    return '"' + name.replace('"', '""') + '"'


def _choose_order(names: Sequence[str], order: str | None, table: str) -> str | None:
    if order is not None:
        if order not in names:
            raise HistoryError(f"The table {table} has no column {order} to order by (it has {', '.join(names)}).")
        return order
    return next((each for each in _ORDERS if each in names), None)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]], name: str) -> History:
    columns = dict(zip(names, (list(each) for each in zip(*rows, strict=True)), strict=False)) if rows else {}
    for each in names:
        columns.setdefault(each, [])
    columns.pop("seq", None)
    for each, values in columns.items():
        columns[each] = [
            bytes(value).decode("utf-8", "replace") if isinstance(value, bytes | memoryview) else value
            for value in values
        ]
    return from_columns(dict(columns), len(rows), name=name)


def _read_sqlite(place: str, table: str, order: str | None) -> History:
    # sqlite:///file is relative and sqlite:////file absolute, as elsewhere.
    path = Path(unquote(place.removeprefix("/")))
    check_file(path, bounded=False)
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?", (table,)
            ).fetchone()
            if found is None:
                have = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
                listed = ", ".join(str(row[0]) for row in have[:12]) or "none"
                raise HistoryError(f"{shown(path)} has no table {table} (it has {listed}).")
            cursor = connection.execute(f"SELECT * FROM {_quoted(table)} LIMIT 0")
            names = [str(each[0]) for each in cursor.description]
            by = _choose_order(names, order, table)
            ordering = f" ORDER BY {_quoted(by)}" if by is not None else ""
            rows = connection.execute(f"SELECT * FROM {_quoted(table)}{ordering}").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise HistoryError(f"{shown(path)} cannot be read as an SQLite database: {error}.") from None
    return _columns(names, rows, f"{shown(path)}, table {table}")


def _read_postgresql(address: str, shown: str, table: str, order: str | None) -> History:
    try:
        psycopg: Any = importlib.import_module("psycopg")
    except ImportError:
        raise HistoryError("Reading from PostgreSQL needs psycopg: pip install 'psycopg[binary]'.") from None
    quoted = ".".join(_quoted(part) for part in table.split("."))
    try:
        with psycopg.connect(address, connect_timeout=10, options="-c default_transaction_read_only=on") as connection:
            cursor = connection.execute(f"SELECT * FROM {quoted} LIMIT 0")
            names = [each.name for each in cursor.description or ()]
            by = _choose_order(names, order, table)
            if by is None:
                raise HistoryError(
                    f"The table {table} does not say the recorded order; add order=column to the address."
                )
            rows = connection.execute(f"SELECT * FROM {quoted} ORDER BY {_quoted(by)}").fetchall()
    except psycopg.Error as error:
        raise HistoryError(f"{shown} cannot be read: {str(error).strip().splitlines()[0]}.") from None
    return _columns(names, rows, f"table {table}")
