"""The playbook: the formats' runtime on one machine. A thin face over the parts beside it."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from recallkit.bounds import FOLD_SECONDS, PAGE_RECORDS, RECALL_MAX_FUNCTIONS, RECALL_MAX_REBUILDS, RUNS_AT_ONCE
from recallkit.errors import InvalidInput, NotFound
from recallkit.events.records import history_of
from recallkit.memory.arguments import shown
from recallkit.playbook import definitions as defining
from recallkit.playbook import running, views
from recallkit.playbook.background import Following
from recallkit.playbook.definitions import Definitions
from recallkit.playbook.follower import Follower, Pass
from recallkit.playbook.importing import Imported, import_events
from recallkit.playbook.listing import Listing, Record, check_name, check_run_id, check_type
from recallkit.playbook.published import publish
from recallkit.playbook.publishing import read_publication
from recallkit.playbook.recording import clean, events_after, find_record, list_records
from recallkit.playbook.running import PlaybookRun, Runs
from recallkit.playbook.schema import prepare
from recallkit.playbook.store import Db, open_store
from recallkit.playbook.wakes import Turns, wake
from recallkit.views.values import NOT_GIVEN

if TYPE_CHECKING:
    import pandas as pd

    from recallkit.definitions.recall import RecallDefinition
    from recallkit.events.history import History

CALLER = "kit"
LONGEST_SECONDS = 1_000_000
LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that an event's time can say."""


class Playbook:
    """Definitions and events stored, each recall function's view kept, runs answered.

    Parameters
    ----------
    url : str or path
        ``sqlite:///playbook.db`` (made when it is not there), ``sqlite://`` for one that is gone when it is closed, or
        ``postgresql://…`` (its tables stand in the schema ``recallkit``, or ``?schema=name``).
    max_functions, max_rebuilds : int, optional
        Recall functions kept, and views built at once; the settings RECALL_MAX_FUNCTIONS and RECALL_MAX_REBUILDS of
        the environment, else 32 and 4.
    clock : callable, optional
        Gives milliseconds since 1970; the machine's clock when left out.
    fold_seconds, page_records : optional
        What one fold may take, and records a page: for trying out what happens at their bounds.

    Raises
    ------
    InvalidInput
        The address names no playbook.
    Conflict
        A newer kit made it (kind ``version``).
    Unavailable
        It cannot be reached.
    """

    def __init__(
        self,
        url: str | os.PathLike[str],
        *,
        max_functions: int | None = None,
        max_rebuilds: int | None = None,
        clock: Callable[[], int] | None = None,
        fold_seconds: float = FOLD_SECONDS,
        page_records: int = PAGE_RECORDS,
    ) -> None:
        from recallkit import __version__

        self._max_functions = _setting("RECALL_MAX_FUNCTIONS", max_functions, RECALL_MAX_FUNCTIONS)
        self._places = _setting("RECALL_MAX_REBUILDS", max_rebuilds, RECALL_MAX_REBUILDS)
        seconds: Any = fold_seconds
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_SECONDS:
            words = f"fold_seconds is a number of seconds above 0, at most {LONGEST_SECONDS:,}"
            raise InvalidInput(f"{words}; not {shown(seconds)}.", "/fold_seconds")
        page_records = _whole("page_records", page_records)
        self._store = open_store(url)
        self._clock = _checked_clock(clock)
        self._definitions = Definitions(self._store, __version__)
        self._following: Following | None = None
        try:
            self.id = prepare(self._store)
        except BaseException:
            self._store.close()
            raise
        self._runs = Runs(self._store, self._definitions, self._clock, turns=Turns(RUNS_AT_ONCE), places=self._places)
        self._follower = Follower(
            self._store,
            self._recall,
            self._clock,
            places=self._places,
            fold_seconds=fold_seconds,
            page_records=page_records,
        )
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        self._store.check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Playbook {self._store.shown}{' (closed)' if self._store.closed else ''}>"

    def close(self) -> None:
        """Stop following, end the sandboxes and close the database; in a forked child only this object of it."""
        if self._store.closed:
            return
        if self._store.foreign:
            self._store.close()
            return
        if self._following is not None:
            self._following.stop()
        self._follower.close()
        self._store.close()

    @contextlib.contextmanager
    def _recording(self) -> Iterator[Db]:
        with self._store.write() as db:
            yield db
        wake(self._store.key)

    def _recall(self, name: str, version: int) -> RecallDefinition:
        return self._definitions.get("recall", name, version)  # type: ignore[return-value]

    # -- definitions -----------------------------------------------------------------------------------------------

    def create_definition(self, *, type: str, name: str, source: Any, caller: str = CALLER) -> Record:
        """Save a function under a new name; a recall function's view is built from the start of the history.

        Parameters
        ----------
        type : {'recall', 'computation'}
        name : str
            3 to 48 lowercase letters, digits and hyphens; one per type, never used again.
        source : str, path or function
            The document.
        caller : str
            Who acts; events carry it.

        Returns
        -------
        Record
            As :meth:`get_definition` gives it.

        Raises
        ------
        Refused
            The document cannot be saved; also where the name is taken.
        Conflict
            The name is taken, or the playbook keeps as many recall functions as it may.
        InvalidInput, Unavailable
            An argument is wrong (``.pointer``); no checker is ready.
        """
        type, name, caller = defining.check_identity(type, name, caller)
        definition = defining.read_source(type, source)
        with self._recording() as db:
            defining.create(self._definitions, db, definition, name, caller, self._clock(), self._max_functions)
        self._definitions.keep(type, name, 1, definition)
        return self.get_definition(type=type, name=name)

    def update_definition(self, *, type: str, name: str, source: Any, caller: str = CALLER) -> Record:
        """Save a new version, whose view is built from the start; the identical text again records nothing."""
        type, name, caller = defining.check_identity(type, name, caller)
        definition = defining.read_source(type, source)
        with self._recording() as db:
            version = defining.update(
                self._definitions, db, definition, name, caller, self._clock(), self._max_functions
            )
        self._definitions.keep(type, name, version, definition)
        return self.get_definition(type=type, name=name)

    def retire_definition(self, *, type: str, name: str, caller: str = CALLER) -> Record:
        """Retire a function: it runs no more, and its name is never used again. Twice is as once."""
        type, name, caller = defining.check_identity(type, name, caller)
        with self._recording() as db:
            defining.retire(db, type, name, caller, self._clock())
        return self.get_definition(type=type, name=name)

    def get_definition(self, *, type: str, name: str) -> Record:
        """Return a definition: its fields, ``.overview``, and a recall function's ``.standing``.

        Raises
        ------
        NotFound
            There is none of that name.
        """
        type, name = check_type(type, kept=True), check_name(name)
        with self._store.read() as db:
            return defining.told(self._definitions, db, type, name, self._places)

    def list_definitions(
        self, *, type: str | None = None, status: str | None = None, limit: int = 20, cursor: str | None = None
    ) -> Listing:
        """List definitions in the order first saved, a page at a time."""
        with self._store.read() as db:
            return defining.list_all(db, type=type, status=status, limit=limit, cursor=cursor)

    # -- events ----------------------------------------------------------------------------------------------------

    def publish_event(self, event: Any) -> Record:
        """Record an event; the same source and id with the same content again records nothing.

        Parameters
        ----------
        event : mapping, or its JSON text
            CloudEvents 1.0: source and type; id, time and specversion are filled in.

        Returns
        -------
        Record
            The event as it is stored.

        Raises
        ------
        InvalidInput
            No published event may be like this; ``.pointer`` says where.
        Conflict
            Another event with this source and id is recorded.
        """
        return self.publish_events([event])[0]

    def publish_events(self, events: Iterable[Any]) -> list[Record]:
        """Record events in one transaction, all or none; see :meth:`publish_event`."""
        many: Any = events
        if not isinstance(many, Iterable) or isinstance(many, str | bytes | Mapping):
            raise InvalidInput("events is a list of events; publish_event takes a single one.", "/events")
        read = [read_publication(event, self._clock()) for event in events]
        with self._recording() as db:
            return publish(db, read, self._clock())

    def import_history(self, source: Any, *, progress: bool = False) -> Imported:
        """Record the events of a history as they are: their order, times, ids and texts are kept.

        Parameters
        ----------
        source : History or anything that ``read_history`` reads

        Returns
        -------
        Imported
            How many were recorded, and how many were in the playbook already.

        Raises
        ------
        Conflict
            The playbook has another event with the source and id of one of them; nothing is recorded.
        """
        from recallkit.events.readers import read_history

        history = read_history(source)
        with self._recording() as db:
            return import_events(db, history)

    def list_playbook_events(
        self,
        *,
        type: str | None = None,
        newest_first: bool = False,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Listing:
        """List the history: every record, with a run's input and output, a page at a time."""
        if type is not None and not isinstance(type, str):
            raise InvalidInput("type is a text.", "/type")
        if not isinstance(newest_first, bool):
            raise InvalidInput("newest_first is True or False.", "/newest_first")
        with self._store.read() as db:
            return list_records(db, type=type, newest_first=newest_first, limit=limit, cursor=cursor)

    def get_event(self, id: str) -> Record:
        """Return a record of the history by its id, or by the id of a published event."""
        if not isinstance(id, str):
            raise InvalidInput("id is a text.", "/id")
        with self._store.read() as db:
            found = find_record(db, id)
        if found is None:
            raise NotFound(f"The history has no record {id[:100]}.")
        return found

    def events_after(self, position: int, *, prefix: str = "") -> list[tuple[int, str]]:
        """Return what a fold sees of the records after a position: each event's position and JSON text, in order.

        Parameters
        ----------
        position : int
            Of the last record read; 0 for all.
        prefix : str
            What the events' types begin with; all events when left out.
        """
        if isinstance(position, bool) or not isinstance(position, int):
            raise InvalidInput("position is a whole number.", "/position")
        if not isinstance(prefix, str):
            raise InvalidInput("prefix is a text.", "/prefix")
        with self._store.read() as db:
            return events_after(db, max(0, min(position, 2**62)), clean(prefix))

    def history(self) -> History:
        """Return what a fold sees: the events of all records, in the order recorded."""
        with self._store.read() as db:
            texts = [str(row[0]).encode("utf-8") for row in db.all("SELECT event FROM records ORDER BY position")]
        return history_of(texts, repr(self))[0]

    # -- runs ------------------------------------------------------------------------------------------------------

    def run_definition(
        self, *, type: str, name: str, input: Any = NOT_GIVEN, run_id: str | None = None, caller: str = CALLER
    ) -> PlaybookRun:
        """Run a function's latest version; a recall function's run never waits for its view.

        Parameters
        ----------
        input : JSON value, optional
            ``{}`` when left out.
        run_id : UUID, optional
            The same id again: a success, or an input that was refused, comes back as recorded; after any other ending
            the latest version runs again.

        Returns
        -------
        PlaybookRun
            Whatever its ending. An input too large or too deep ends it too, but records nothing.

        Raises
        ------
        NotFound
            There is no such function, or it is retired.
        Conflict
            The run id is of another definition or input.
        """
        type, name, caller = defining.check_identity(type, name, caller)
        run_id = None if run_id is None else check_run_id(run_id)
        run, recorded = self._runs.run(type, name, {} if input is NOT_GIVEN else input, run_id, caller)
        if recorded:
            wake(self._store.key)
        return run

    def get_run(self, run_id: str) -> PlaybookRun:
        """Return a run, with its output and record."""
        with self._store.read() as db:
            return running.found(db, check_run_id(run_id))

    def list_runs(
        self,
        *,
        type: str | None = None,
        name: str | None = None,
        status: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Listing:
        """List runs, the newest first, without their outputs and records."""
        with self._store.read() as db:
            return running.list_runs(db, type=type, name=name, status=status, limit=limit, cursor=cursor)

    # -- following -------------------------------------------------------------------------------------------------

    def follow(self) -> Pass:
        """Do one pass: at most ten pages of up to 1,000 records; slow folds are waited for."""
        return self._follower.follow()

    def catch_up(self, *, passes: int = 10_000) -> Pass:
        """Do passes until every view is up to date, or stalled, or only waits to be tried again."""
        told = Pass()
        for _ in range(_whole("passes", passes)):
            one = self.follow()
            told.pages += one.pages
            told.records += one.records
            told.folds += one.folds
            told.failed, told.more = one.failed, one.more
            if not one.more:
                break
        return told

    def following(self) -> Following:
        """Return a context manager that follows in the background: woken by each event recorded, else each second."""
        self._store.check_open()
        with self._starting:
            if self._following is None or self._following.stopped:
                self._following = Following(self._follower, self._store)
            return self._following

    def standing(self) -> pd.DataFrame:
        """Return how each view stands: a row a recall function, the fields of the format's table."""
        import pandas as pd

        with self._store.read() as db:
            every = views.view_rows(db)
            newest_ms = views.newest_record(db)[1]
        rows = [{"name": view.name, **views.standing_of(view, every, newest_ms, self._places)} for view in every]
        columns = ["name", "state", "version", "checkpoint", "checkpoint_at", "last_event", "folded", "lag_ms"]
        return pd.DataFrame(rows, columns=[*columns, "newest_record_at", "stalled"])

    def view(self, name: str) -> Any:
        """Return a recall function's view as it stands."""
        import json

        return json.loads(self.view_text(name))

    def view_text(self, name: str) -> str:
        """Return a recall function's view as it stands, as the engine wrote it."""
        with self._store.read() as db:
            view = views.view_row(db, check_name(name))
            if view is None:
                raise NotFound(f"There is no recall function {name}.")
            return views.view_text(db, view) or "null"

    def lag(self) -> pd.DataFrame:
        """Return how far each view was behind over time: a row a page that was written.

        Returns
        -------
        DataFrame
            at (UTC), name, version, position, records, folds, fold_ms, behind (records) and lag_ms.
        """
        import pandas as pd

        columns = ["at", "name", "version", "position", "records", "folds", "fold_ms", "behind", "lag_ms"]
        with self._store.read() as db:
            rows = db.all(
                "SELECT at_ms, name, version, position, records, folds, fold_us, behind, lag_ms FROM pages "
                "ORDER BY at_ms, name, number"
            )
        frame = pd.DataFrame(rows, columns=columns)
        frame["at"] = pd.to_datetime(frame["at"].astype("int64"), unit="ms", utc=True)
        frame["fold_ms"] = frame["fold_ms"].astype("float64") / 1_000
        return frame

    def lag_chart(self) -> Any:
        """Draw how far each view was behind over time."""
        from recallkit.notebook.lag_chart import lag_chart

        return lag_chart(self.lag(), "Lag of the playbook's views")

    def passed_over(self) -> list[str]:
        """Return what folds passed over, each told once."""
        with self._store.read() as db:
            return [row[0] for row in db.all("SELECT words FROM passed_over ORDER BY position")]


def _setting(name: str, given: int | None, usual: int) -> int:
    if given is not None:
        return _whole(name.removeprefix("RECALL_").lower(), given)
    written = os.environ.get(name, str(usual)).strip()
    return _whole(name, int(written) if written.isdecimal() and len(written) < 10 else written)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{name} is a whole number from 1; not {shown(value)}.", f"/{name}")
    return value


def _checked_clock(clock: Callable[[], int] | None) -> Callable[[], int]:
    if clock is None:
        return lambda: time.time_ns() // 1_000_000
    if not callable(clock):
        raise InvalidInput("clock is a function without arguments; it gives milliseconds since 1970.", "/clock")

    def checked() -> int:
        now: Any = clock()
        if isinstance(now, bool) or not isinstance(now, int) or not 0 <= now <= LATEST_MS:
            words = "The clock gave no whole number of milliseconds of the years 1970 to 9999"
            raise InvalidInput(f"{words}: {shown(now)}.", "/clock")
        return int(now)

    return checked
