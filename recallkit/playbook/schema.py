"""The tables of a playbook's database, and how an older one is brought to them.

Both stores have the same tables; ``{int}`` and ``{bytes}`` are the words that differ.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from recallkit.errors import Conflict, InvalidInput
from recallkit.events.records import new_id

if TYPE_CHECKING:
    from recallkit.playbook.store import Db, Store

_FIRST: Final = """
-- The history: every record, in the order recorded. event is the CloudEvent that a fold sees, as JSON text;
-- data what the record holds beyond it (a run's input); identity the digest of the event's source and id.
CREATE TABLE records (
    position {int} PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, stream TEXT NOT NULL,
    stream_position {int} NOT NULL, at_ms {int} NOT NULL, caller TEXT, origin TEXT NOT NULL,
    identity {bytes} NOT NULL, event_id TEXT NOT NULL, run_id TEXT, definition TEXT, version {int},
    causation TEXT, correlation TEXT, size {int} NOT NULL, event TEXT NOT NULL, data TEXT, filled TEXT NOT NULL);
CREATE INDEX records_identity ON records (identity);
CREATE INDEX records_event_id ON records (event_id);
CREATE UNIQUE INDEX records_stream ON records (stream, stream_position);
CREATE INDEX records_type ON records (type, position);
CREATE TABLE definitions (
    type TEXT NOT NULL, name TEXT NOT NULL, version {int} NOT NULL, status TEXT NOT NULL,
    created_ms {int} NOT NULL, created_by TEXT NOT NULL, updated_ms {int} NOT NULL, retired_ms {int},
    PRIMARY KEY (type, name));
-- source and compiled are bytes: a document may hold characters that a TEXT of PostgreSQL refuses.
CREATE TABLE definition_versions (
    type TEXT NOT NULL, name TEXT NOT NULL, version {int} NOT NULL, source {bytes} NOT NULL,
    compiled {bytes} NOT NULL, kit TEXT NOT NULL, PRIMARY KEY (type, name, version));
-- One row a recall function: the view and where it has read to, always written together.
CREATE TABLE views (
    name TEXT PRIMARY KEY, version {int} NOT NULL, save_order {int} NOT NULL, state TEXT NOT NULL,
    view {bytes} NOT NULL, folded {int} NOT NULL, steps {int} NOT NULL, position {int} NOT NULL,
    checkpoint_ms {int}, last_event TEXT, stalled TEXT, failed_at {int} NOT NULL, overtimes {int} NOT NULL,
    crashes {int} NOT NULL);
-- What each page of each view did: the lag over time, and what folding cost.
CREATE TABLE pages (
    number {int} NOT NULL, name TEXT NOT NULL, version {int} NOT NULL, at_ms {int} NOT NULL,
    position {int} NOT NULL, records {int} NOT NULL, folds {int} NOT NULL, fold_us {int} NOT NULL,
    behind {int} NOT NULL, lag_ms {int} NOT NULL, PRIMARY KEY (name, number));
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, version {int} NOT NULL, status TEXT NOT NULL,
    ending TEXT NOT NULL, attempt {int} NOT NULL, input {bytes} NOT NULL, output {bytes}, told TEXT NOT NULL,
    record TEXT NOT NULL, steps {int} NOT NULL, started_ms {int} NOT NULL, started_by TEXT NOT NULL,
    finished_ms {int}, started_position {int} NOT NULL, last_record TEXT NOT NULL);
CREATE INDEX runs_started ON runs (started_position);
-- Events that a fold passed over, each told to the operator once.
CREATE TABLE passed_over (position {int} PRIMARY KEY, words TEXT NOT NULL);
"""

# version → what brings the version before it there; an empty database is of the version 0
MIGRATIONS: Final[dict[int, str]] = {1: _FIRST}
VERSION: Final = max(MIGRATIONS)


def prepare(store: Store) -> str:
    """Make a playbook's tables, or bring an older kit's up to date; return the playbook's id.

    Raises
    ------
    Conflict
        A newer kit made the database (kind ``version``): it is left as it is.
    InvalidInput
        The database holds something else.
    """
    with store.read() as db:
        found = _version(db, store)
    if found is not None and found >= VERSION:
        _refuse_newer(found)
    else:
        with store.write() as db:
            found = _version(db, store)
            if found is None:
                db.run("CREATE TABLE playbook (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
                db.run("INSERT INTO playbook VALUES ('kit', 'recallkit'), ('schema', '0')")
                db.run("INSERT INTO playbook VALUES ('id', ?)", new_id())
                found = 0
            _refuse_newer(found)
            for version in range(found + 1, VERSION + 1):
                text = MIGRATIONS[version].format(int=store.int_type, bytes=store.bytes_type)
                for statement in re.sub(r"--.*", "", text).split(";"):
                    if statement.strip():
                        db.run(statement)
            db.run("UPDATE playbook SET value = ? WHERE key = 'schema'", str(VERSION))
    with store.read() as db:
        return str(db.must("SELECT value FROM playbook WHERE key = 'id'")[0])


def _version(db: Db, store: Store) -> int | None:
    tables = store.tables(db)
    if "playbook" in tables:
        rows = dict(db.all("SELECT key, value FROM playbook WHERE key IN ('kit', 'schema')"))
        if rows.get("kit") == "recallkit" and str(rows.get("schema")).isdigit():
            return int(rows["schema"])
    if tables:
        raise InvalidInput(
            f"{store.shown} is a database of something else (it has the table {min(tables)}); a playbook needs one of "
            "its own.",
            "/url",
        )
    return None


def _refuse_newer(found: int) -> None:
    if found > VERSION:
        raise Conflict(
            f"A newer recallkit made this playbook (its tables are of version {found}, this kit's are of {VERSION}); "
            "update recallkit, or open another.",
            "version",
        )
