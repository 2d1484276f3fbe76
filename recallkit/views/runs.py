"""Runs: an input checked, an answer or a program called under its bounds, an output checked, a record filled.

The endings and their words are the formats' (recall and computation, *How a run ends*).
"""

from __future__ import annotations

import contextlib
import datetime
import json
import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from recallkit.bounds import (
    ANSWER_CHECKPOINTS,
    COMPUTATION_OUTPUT_BYTES,
    INPUT_BYTES,
    ISSUES_TOLD,
    LEVELS,
    MIB,
    OVERTIMES,
    PROGRAM_CHECKPOINTS,
    RECALL_OUTPUT_BYTES,
    RUN_MEMORY_BYTES,
    RUN_SECONDS,
)
from recallkit.definitions.schemas import Schema
from recallkit.definitions.shapes import SHAPES
from recallkit.errors import EngineError, InvalidInput, Problem
from recallkit.sandbox import Reply, Sandbox
from recallkit.views.stalls import Stall, cut, engine_words, stopped_part, unfit_words
from recallkit.views.values import NOT_GIVEN, json_text, levels_past

if TYPE_CHECKING:
    from recallkit.definitions.computation import ComputationDefinition
    from recallkit.definitions.recall import RecallDefinition

Ending = Literal["succeeded", "invalid_input", "unavailable", "conflict", "failed"]

# Waits for a turn to run, of which a playbook has four; gives the seconds that are left of the run's ten.
Turn = Callable[[], contextlib.AbstractContextManager[float]]
MOST_MOMENT = 8.64e15  # the milliseconds on either side of the epoch that a Date reaches (ECMA-262, Time Values)
STARTED_AT_WORDS = "started_at takes a datetime, a text such as 2026-10-01T09:00:00Z, or milliseconds"

# What went wrong at the event a view stopped at, in fixed words (recall, When a view stalls).
STALL_WORDS = {
    "raised": "the fold raised an error",
    "work": "the {part} did more than its work",
    "memory": "the fold used more memory than its sandbox",
    "unfit": "the fold returned what JSON cannot carry, or a value deeper than 512 levels",
    "size": "the fold returned a view larger than 512 KiB",
    "schema": "the fold returned a view that view.schema refuses",
    "refused": "the module does not load",
    "time": "the {part} ran out of {whose} 10 seconds",
    "crash": "the worker folding the page crashed at this event",
}


class NoTurn(Exception):
    """No turn came within the run's time."""


@dataclass(frozen=True)
class Run:
    """How a run ended.

    Attributes
    ----------
    ending : str
        'succeeded', 'invalid_input', 'unavailable', 'conflict' or 'failed'.
    kind : str or None
        With 'conflict': 'unworkable' or 'stalled'; with 'unavailable': 'rebuilding' or None.
    output : JSON value
        What the run returned; None unless it succeeded.
    detail : str
        What went wrong, in a sentence; empty when it succeeded.
    problems : list of Problem
        With 'invalid_input': a sentence and a pointer for each problem of the input.
    record : dict
        With 'succeeded': language, work (checkpoints), duration_ms, input_bytes, output_bytes; a recall function's
        also has view (version, checkpoint, checkpoint_at, last_event, folded).
    output_text : str or None
        The output as the engine wrote it.
    steps : int
        The work in steps.
    """

    ending: Ending
    kind: str | None = None
    output: Any = None
    detail: str = ""
    problems: list[Problem] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    output_text: str | None = None
    steps: int = 0

    @property
    def ok(self) -> bool:
        """Whether the run succeeded."""
        return self.ending == "succeeded"

    def __repr__(self) -> str:
        # short and the same at every run: no duration, no output
        kind = f": {self.kind}" if self.kind else ""
        return f"<Run {self.ending}{kind}{f', {self.detail}' if self.detail else ''}>"

    def _repr_html_(self) -> str:
        from recallkit.notebook.html import run_html

        return run_html(self)


def moment_of(started_at: datetime.datetime | str | float | None) -> float:
    """Return the milliseconds since the epoch of a start time: a datetime, ISO text, milliseconds, or now."""
    if started_at is None:
        return float(int(time.time() * 1_000))
    given: Any = started_at
    if isinstance(given, bool):
        raise InvalidInput(f"{STARTED_AT_WORDS}.")
    try:
        if isinstance(given, str):
            given = datetime.datetime.fromisoformat(given)
        if isinstance(given, datetime.datetime):
            # pandas' NaT is a datetime that has no moment: it raises ValueError here
            given = given if given.tzinfo is not None else given.replace(tzinfo=datetime.UTC)
            return float(round(given.timestamp() * 1_000))
        if isinstance(given, numbers.Real) and abs(moment := float(given)) <= MOST_MOMENT:
            return moment
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(f"{STARTED_AT_WORDS}; not {started_at!r:.60}.")


def run_answer(
    definition: RecallDefinition,
    view: str,
    given: Any = NOT_GIVEN,
    *,
    stall: Stall | None = None,
    not_ready: str | None = None,
    read: dict[str, Any] | None = None,
    started_at: datetime.datetime | str | float | None = None,
    seconds: float = RUN_SECONDS,
    turn: Turn | None = None,
) -> Run:
    """Run a recall function: answer over a view, or the view itself.

    Parameters
    ----------
    definition : RecallDefinition
        Whose answer.
    view : str
        The view as JSON text.
    given : JSON value
        The input; ``{}`` when left out.
    stall : Stall, optional
        The view's stall: the run is then refused.
    not_ready : str, optional
        Why the view is not built yet: the run is then refused.
    read : dict, optional
        What the record says the run read.
    turn : callable, optional
        Waits for a turn to run; see Turn.
    """
    moment = moment_of(started_at)
    text, refused = written_input(given, definition.input_schema)
    if refused is not None:
        return refused
    if not_ready is not None:
        return Run("unavailable", "rebuilding", detail=not_ready)
    if stall is not None:
        return Run("conflict", "stalled", detail=stalled_detail(stall))
    if definition.answers:
        bounds = _Bounds("answer", "answer", ANSWER_CHECKPOINTS, RECALL_OUTPUT_BYTES, seconds)
        outcome = _invoke(definition.module, bounds, moment, [view, text], turn)
        if isinstance(outcome, Run):
            return outcome
        output_text, told = outcome
    else:
        output_text, told = view, {"checkpoints": 0, "milliseconds": 0.0, "steps": 0}
    refused = _output("answer" if definition.answers else "view", output_text, definition.output_schema, None)
    if refused is not None:
        return refused
    record = _record(definition.language, told, text, output_text)
    if read is not None:
        record["view"] = read
    return Run("succeeded", output=json.loads(output_text), record=record, output_text=output_text, steps=told["steps"])


def run_program(
    definition: ComputationDefinition,
    given: Any = NOT_GIVEN,
    *,
    started_at: datetime.datetime | str | float | None = None,
    seconds: float = RUN_SECONDS,
    turn: Turn | None = None,
) -> Run:
    """Run a computation function with an input; ``{}`` when left out."""
    moment = moment_of(started_at)
    text, refused = written_input(given, definition.input_schema)
    if refused is not None:
        return refused
    bounds = _Bounds("default", "program", PROGRAM_CHECKPOINTS, COMPUTATION_OUTPUT_BYTES, seconds)
    outcome = _invoke(definition.module, bounds, moment, [text], turn)
    if isinstance(outcome, Run):
        return outcome
    output_text, told = outcome
    refused = _output("program's output", output_text, definition.output_schema, definition.shape)
    if refused is not None:
        return refused
    record = _record(definition.language, told, text, output_text)
    return Run("succeeded", output=json.loads(output_text), record=record, output_text=output_text, steps=told["steps"])


def stall_words(stall: Stall) -> str:
    """Say what went wrong at a stall's event in fixed words, with what was stopped and how often it was tried."""
    whose = "its" if stall.details.get("where") is None else "the fold's"
    words = STALL_WORDS[stall.kind].format(part=stopped_part(stall.details), whose=whose)
    tries = stall.details.get("tries", 1)
    return words if tries == 1 else f"{words} {'twenty' if tries == OVERTIMES else tries} times"


def stalled_detail(stall: Stall) -> str:
    """Say why a run of a stalled view is refused: never the fold's own message, an id or a value."""
    words = stall_words(stall)
    when = f" of {stall.event['time']}" if stall.event["time"] else ""
    line = f" on line {stall.line}" if stall.line is not None else ""
    return (
        f"The view stopped at an event of the type {stall.event['type']}{when}: {words}{line}. "
        "Save a corrected version; its view is built again from the start."
    )


@dataclass(frozen=True, slots=True)
class _Bounds:
    name: str
    noun: str
    checkpoints: int
    output_bytes: int
    seconds: float


def written_input(given: Any, schema: Any) -> tuple[str, Run | None]:
    """Check a run's input and write it as JSON text, or refuse it; without a schema, its depth and size alone."""
    value = {} if given is NOT_GIVEN else given
    if levels_past(value, LEVELS):
        words = f"The input nests deeper than {LEVELS} levels"
        return "", _invalid([Problem(words, pointer="")])
    try:
        text = json_text(value)
    except (TypeError, ValueError) as error:
        return "", _invalid([Problem(f"The input is not JSON: {error}", pointer="")])
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > INPUT_BYTES:
        return "", _invalid(
            [Problem(f"The input takes {size:,} bytes as JSON; a run's takes {INPUT_BYTES:,}", pointer="")]
        )
    if schema is not None:
        issues = Schema(schema, "/input/schema").issues(value)
        if issues:
            return "", _invalid([Problem(issue.words, pointer=issue.pointer) for issue in issues])
    return text, None


def _invalid(problems: list[Problem]) -> Run:
    told = "; ".join(f"{p.pointer}: {p.words}" if p.pointer else p.words for p in problems[:ISSUES_TOLD])
    return Run("invalid_input", detail=told, problems=problems)


def _invoke(
    module: str, bounds: _Bounds, moment: float, texts: list[str], turn: Turn | None = None
) -> Run | tuple[str, dict[str, Any]]:
    if turn is not None:
        try:
            with turn() as left:
                return _call(module, bounds, moment, texts, left)
        except NoTurn:
            words = f"The run found no turn within its {bounds.seconds:g} seconds; try again later"
            return Run("unavailable", detail=words)
    return _call(module, bounds, moment, texts, bounds.seconds)


def _call(
    module: str, bounds: _Bounds, moment: float, texts: list[str], seconds: float
) -> Run | tuple[str, dict[str, Any]]:
    settings = {
        "name": bounds.name,
        "checkpoints": bounds.checkpoints,
        "milliseconds": seconds * 1_000,
        "moment": moment,
        "outputBytes": bounds.output_bytes,
    }
    try:
        with Sandbox(memory_bytes=RUN_MEMORY_BYTES, frozen=False, moment=moment) as sandbox:
            refused = sandbox.load_module(module)
            if refused is not None:
                words, line = engine_words(refused)
                where = f" on line {line}" if line is not None else ""
                return _unworkable(f"The module does not load{where}: {cut(words)}")
            reply = sandbox.ask("invoke", json.dumps(settings), *texts, seconds=seconds)
            if reply.cut is not None:
                return _cut_short(sandbox, reply, bounds)
    except EngineError as error:
        return Run("failed", detail=f"The runtime itself broke down: {error}")
    head, _, text = reply.text.partition("\n")
    told = json.loads(head)
    if "kind" in told:
        return _went_wrong(told, bounds)
    return text, told


def _cut_short(sandbox: Sandbox, reply: Reply, bounds: _Bounds) -> Run:
    if reply.phase == "describe" and reply.alive:
        told = json.loads(sandbox.must("state"))["stall"]
        return _went_wrong(told, bounds)
    if reply.cut == "died":
        return Run("failed", detail="The runtime itself broke down: the worker of the run ended")
    if reply.cut == "time":
        noun = bounds.noun
        return Run(
            "unavailable", detail=f"The {noun} took longer than a run may, {bounds.seconds:g} seconds; try again later."
        )
    return _went_wrong({"kind": reply.cut}, bounds)


def _went_wrong(told: dict[str, Any], bounds: _Bounds) -> Run:
    noun, kind = bounds.noun, told["kind"]
    if kind == "work":
        words = f"The {noun} did more work than a run may, {bounds.checkpoints} checkpoints, and was stopped."
    elif kind == "memory":
        words = f"The {noun} used more memory than a run may, {RUN_MEMORY_BYTES // MIB} MiB, and was stopped."
    elif kind == "size":
        took = f"{told['bytes']:,} bytes as JSON"
        words = f"The answer takes {took}, past the {bounds.output_bytes:,} an output may take."
    elif kind == "unfit" and "unfit" in told:
        words = f"{unfit_words(told['unfit'], 'answer')}."
    else:
        described = told["described"]
        line = f" on line {described['line']}" if described["line"] is not None else ""
        words = f"The {noun} raised an error{line}: {cut(described['words'])}"
    return _unworkable(words)


def _unworkable(words: str) -> Run:
    return Run("conflict", "unworkable", detail=words)


def _output(noun: str, text: str, schema: Any, shape: str | None) -> Run | None:
    value = json.loads(text)
    told: list[tuple[str, str]] = []
    if schema is not None:
        told = [(issue.pointer, issue.words) for issue in Schema(schema, "/output/schema").issues(value)]
    if not told and shape is not None:
        rule = SHAPES[shape].rule
        broken = rule(value) if rule is not None else None
        told = [broken] if broken is not None else []
    if not told:
        return None
    parts = [f"{cut(pointer)}{': ' if pointer else ''}{cut(words)}" for pointer, words in told[:ISSUES_TOLD]]
    what = f"the shape {shape}" if shape is not None else "output.schema"
    return _unworkable(f"The {noun} does not match {what}: {'; '.join(parts)}")


def _record(language: str, told: dict[str, Any], text: str, output_text: str) -> dict[str, Any]:
    return {
        "language": language,
        "work": told["checkpoints"],
        "duration_ms": round(told["milliseconds"]),
        "input_bytes": len(text.encode("utf-8", "surrogatepass")),
        "output_bytes": len(output_text.encode("utf-8", "surrogatepass")),
    }
