"""Runs: started, recorded, answered, ended, told."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recallkit.bounds import RETRY_AFTER_SECONDS, RUN_SECONDS
from recallkit.errors import Conflict, InvalidInput, NotFound, Problem, Unavailable
from recallkit.events.records import iso_ms, new_id, run_event
from recallkit.playbook import views
from recallkit.playbook.definitions import Definitions, active_version
from recallkit.playbook.listing import Listing, Record, check_limit, check_name, check_type, from_cursor, listed
from recallkit.playbook.publishing import json_kinds
from recallkit.playbook.recording import OWN, NewRecord, append
from recallkit.playbook.store import Db, Store
from recallkit.playbook.wakes import Turns
from recallkit.views.runs import NoTurn, Run, run_answer, run_program, written_input

if TYPE_CHECKING:
    from recallkit.definitions.loading import Definition

ABANDONED_MS: Final = 30_000
"""A run that was started so long ago and has no ending was cut off with its process; its id may run again."""
STATUSES: Final = ("started", "succeeded", "rejected", "failed")
TITLES: Final = {
    "invalid_input": ("Invalid input", 422),
    "conflict": ("Conflict", 409),
    "unavailable": ("Unavailable", 503),
    "failed": ("Failed", 500),
}
_PROBLEM_TYPE: Final = "https://on.auto/problems/"
_COLUMNS: Final = (
    "run_id, type, name, version, status, ending, output, told, record, steps, started_ms, started_by, finished_ms, "
    "started_position"
)


@dataclass(frozen=True, repr=False)
class PlaybookRun(Run):
    """A run that a playbook recorded: a Run, and what the playbook knows of it.

    Attributes
    ----------
    status : str
        'started', 'succeeded', 'rejected' or 'failed'; a run whose status is 'started' has the ending 'started'.
    rejection : dict or None
        With 'rejected' and 'failed': type, title, status, detail, reason, and kind and errors where there are some.
    retry_after : int or None
        With 'unavailable': after how many seconds to try again.
    started_at, finished_at : str or None
        ISO times in UTC.
    """

    run_id: str = ""
    type: str = ""
    name: str = ""
    definition_version: int = 0
    status: str = "started"
    rejection: dict[str, Any] | None = None
    retry_after: int | None = None
    started_at: str | None = None
    started_by: str = ""
    finished_at: str | None = None


class Runs:
    """A playbook's runs."""

    def __init__(
        self,
        store: Store,
        definitions: Definitions,
        now_ms: Callable[[], int],
        *,
        turns: Turns,
        places: int,
        seconds: float = RUN_SECONDS,
    ) -> None:
        self._store = store
        self._definitions = definitions
        self._now_ms = now_ms
        self._turns = turns
        self._places = places
        self._seconds = seconds

    def run(self, type: str, name: str, given: Any, run_id: str | None, caller: str) -> tuple[PlaybookRun, bool]:
        """Run a definition; the run, and whether anything was recorded."""
        text, refused = written_input(given, None)
        if refused is not None:
            # too large or too deep: nothing of it is recorded
            told = rejection_of(refused)
            return PlaybookRun(
                **vars(refused),
                run_id=run_id or "",
                type=type,
                name=name,
                status="rejected",
                rejection=told,
                started_by=caller,
            ), False
        with self._store.write() as db:
            if run_id is not None and (known := self._known(db, run_id, type, name, text)) is not None:
                return known, False
            version = active_version(db, type, name)
            now_ms = self._now_ms()
            run_id = run_id or new_id(now_ms)
            started = self._start(db, run_id, type, name, version, text, caller, now_ms)
        began = time.monotonic()
        definition = self._definitions.get(type, name, version)
        run = self._answer(definition, name, version, json.loads(text), now_ms, began)
        self._end(run_id, type, name, version, run, caller, started)
        with self._store.read() as db:
            return found(db, run_id), True

    def _answer(self, definition: Definition, name: str, version: int, given: Any, now_ms: int, began: float) -> Run:
        def turn() -> contextlib.AbstractContextManager[float]:
            return self._turn(began)

        if definition.kind == "computation":
            return run_program(definition, given, started_at=now_ms, seconds=self._seconds, turn=turn)
        with self._store.read() as db:
            view = views.view_row(db, name)
            if view is None or view.version != version:
                view, text, wait = None, "null", "A newer version of the function was saved meanwhile; try again later"
            elif view.state == views.BUILDING:
                text, wait = "null", views.not_ready(db, view, self._places)
            else:
                text, wait = views.view_text(db, view) or "null", ""
        return run_answer(
            definition,
            text,
            given,
            stall=view.stall if view is not None else None,
            not_ready=wait or None,
            read=views.read_of(view) if view is not None else None,
            started_at=now_ms,
            seconds=self._seconds,
            turn=turn,
        )

    @contextlib.contextmanager
    def _turn(self, began: float) -> Iterator[float]:
        """Wait for one of the four places; give the seconds that are left of the run's ten."""
        if not self._turns.take(max(0.0, began + self._seconds - time.monotonic())):
            raise NoTurn
        try:
            yield max(0.001, began + self._seconds - time.monotonic())
        finally:
            self._turns.end()

    def _known(self, db: Db, run_id: str, type: str, name: str, text: str) -> PlaybookRun | None:
        """Return the run of that id where it stands as recorded; None where it runs, again or for the first time."""
        row = db.one("SELECT type, name, input, status, ending, started_ms FROM runs WHERE run_id = ?", run_id)
        if row is None:
            return None
        same = json_kinds(json.loads(bytes(row[2]))) == json_kinds(json.loads(text))
        if (row[0], row[1]) != (type, name) or not same:
            raise Conflict(f"The run {run_id} is of another definition or has another input.")
        if row[3] == "started":
            if self._now_ms() - int(row[5]) < ABANDONED_MS:
                raise Unavailable(f"The run {run_id} is going on; get_run tells its ending.", None, RETRY_AFTER_SECONDS)
            return None
        return found(db, run_id) if row[4] in ("succeeded", "invalid_input") else None

    def _start(
        self, db: Db, run_id: str, type: str, name: str, version: int, text: str, caller: str, now_ms: int
    ) -> str:
        id = new_id(now_ms)
        record = _record(
            "run_started", id, run_id, type, name, version, caller, now_ms, data={"input": json.loads(text)}
        )
        position = append(db, [record])
        attempt = db.one("SELECT attempt FROM runs WHERE run_id = ?", run_id)
        db.run("DELETE FROM runs WHERE run_id = ?", run_id)
        values = (run_id, type, name, version, "started", "started", 1 if attempt is None else attempt[0] + 1)
        rest = (text.encode("utf-8", "surrogatepass"), None, "{}", "{}", 0, now_ms, caller, None, position, id)
        db.run(f"INSERT INTO runs VALUES ({', '.join('?' * 17)})", *values, *rest)
        return id

    def _end(self, run_id: str, type: str, name: str, version: int, run: Run, caller: str, started: str) -> None:
        now_ms = self._now_ms()
        id = new_id(now_ms)
        kind = {"succeeded": "run_succeeded", "failed": "run_failed"}.get(run.ending, "run_rejected")
        output = None if run.output_text is None else run.output_text.encode("utf-8", "surrogatepass")
        told = {
            "kind": run.kind,
            "detail": run.detail,
            "problems": [[each.words, each.severity, each.line, each.column, each.pointer] for each in run.problems],
        }
        rejected = {"reason": run.ending, "reason_kind": run.kind} if kind == "run_rejected" else {}
        data = {"reason": run.ending, **({"kind": run.kind} if run.kind else {}), "detail": run.detail}
        record = _record(
            kind, id, run_id, type, name, version, caller, now_ms, cause=started, output=output,
            data=data if kind == "run_rejected" else None, **rejected,
        )  # fmt: skip
        with self._store.write() as db:
            # another attempt under this id may have begun, had this one been taken for abandoned
            row = db.one("SELECT last_record FROM runs WHERE run_id = ?", run_id)
            if row is None or row[0] != started:
                return
            append(db, [record])
            db.run(
                "UPDATE runs SET status = ?, ending = ?, output = ?, told = ?, record = ?, steps = ?, finished_ms = ?, "
                "last_record = ? WHERE run_id = ?",
                {"run_succeeded": "succeeded", "run_failed": "failed"}.get(kind, "rejected"),
                run.ending,
                output,
                json.dumps(told),
                json.dumps(run.record),
                run.steps,
                now_ms,
                id,
                run_id,
            )


def found(db: Db, run_id: str) -> PlaybookRun:
    """Return a run as get_run tells it."""
    row = db.one(f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?", run_id)
    if row is None:
        raise NotFound(f"There is no run {run_id}.")
    told = json.loads(row[7])
    output = None if row[6] is None else bytes(row[6]).decode("utf-8", "surrogatepass")
    problems = [
        Problem(words, severity, line, column, pointer)
        for words, severity, line, column, pointer in told.get("problems", [])
    ]
    run = Run(
        ending=row[5],
        kind=told.get("kind"),
        output=None if output is None else json.loads(output),
        detail=told.get("detail", ""),
        problems=problems,
        record=json.loads(row[8]),
        output_text=output,
        steps=row[9],
    )
    return PlaybookRun(
        **vars(run),
        run_id=row[0],
        type=row[1],
        name=row[2],
        definition_version=row[3],
        status=row[4],
        rejection=rejection_of(run),
        retry_after=RETRY_AFTER_SECONDS if run.ending == "unavailable" else None,
        started_at=iso_ms(row[10]),
        started_by=row[11],
        finished_at=iso_ms(row[12]),
    )


def rejection_of(run: Run) -> dict[str, Any] | None:
    """Return the problem that ended a run, as production tells it; None for one that succeeded or goes on."""
    if run.ending not in TITLES:
        return None
    title, status = TITLES[run.ending]
    problem: dict[str, Any] = {
        "type": _PROBLEM_TYPE + (run.kind or run.ending),
        "title": (run.kind or title).capitalize(),
        "status": status,
        "detail": run.detail,
        "reason": run.ending,
    }
    if run.problems:
        problem["errors"] = [{"detail": each.words, "pointer": each.pointer} for each in run.problems]
    if run.kind is not None:
        problem["kind"] = run.kind
    return problem


def list_runs(db: Db, *, type: str | None, name: str | None, status: str | None, limit: Any, cursor: Any) -> Listing:
    """List runs, the newest first, without outputs and records."""
    most = check_limit(limit)
    before = from_cursor("r", cursor)
    where: list[str] = []
    values: list[Any] = []
    for column, value in (("type", type and check_type(type)), ("name", name and check_name(name)), ("status", status)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if status is not None and status not in STATUSES:
        raise InvalidInput(f"status is one of {', '.join(STATUSES)}.", "/status")
    if before is not None:
        where.append("started_position < ?")
        values.append(before)
    filtered = f"WHERE {' AND '.join(where)}" if where else ""
    rows = db.all(
        f"SELECT run_id, started_position FROM runs {filtered} ORDER BY started_position DESC LIMIT ?",
        *values,
        most + 1,
    )
    told = [(int(row[1]), _listed(found(db, row[0]))) for row in rows]
    return listed(told, most, "r")


def _listed(run: PlaybookRun) -> Record:
    names = ("run_id", "type", "name", "definition_version", "status", "started_at", "started_by", "finished_at")
    record = Record({name: getattr(run, name) for name in names})
    if run.rejection is not None:
        record["rejection"] = run.rejection
    return record


def _record(
    kind: Any,
    id: str,
    run_id: str,
    type: str,
    name: str,
    version: int,
    caller: str,
    now_ms: int,
    *,
    cause: str | None = None,
    output: bytes | None = None,
    data: dict[str, Any] | None = None,
    reason: str | None = None,
    reason_kind: str | None = None,
) -> NewRecord:
    attributes = {"caller": caller, "definitionversion": version, "causationid": cause, "correlationid": run_id}
    event = run_event(
        kind,
        id=id,
        run_id=run_id,
        type=type,
        name=name,
        at_ms=now_ms,
        attributes=attributes,
        output=output,
        reason=reason,
        reason_kind=reason_kind,
    )
    if kind == "run_succeeded" and output is not None and b'"output_bytes":' in event[-40:]:
        data = {"output": json.loads(output)}
    return NewRecord(
        id=id,
        type=kind,
        stream=f"runs/{run_id}",
        at_ms=now_ms,
        event=event,
        event_id=id,
        source=f"/runs/{run_id}",
        origin=OWN,
        caller=caller,
        run_id=run_id,
        definition=f"{type}/{name}",
        version=version,
        causation=cause,
        correlation=run_id,
        data=data,
    )
