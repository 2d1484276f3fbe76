"""Ask the TypeScript compiler whether a document's module and its filters' expressions may be saved."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from recallkit.bounds import ASSIGNMENTS, CHECK_SECONDS
from recallkit.definitions.checker.process import Worker, WorkerDied, WorkerTimeout
from recallkit.errors import Problem, Unavailable

Kind = Literal["recall", "computation"]


@dataclass(frozen=True, slots=True)
class Expression:
    """A filter's data expression, without its ``${`` and ``}``.

    Attributes
    ----------
    text : str
        The expression as written.
    line, column : int
        Where its first character stands in the document, from 1.
    pointer : str
        The JSON Pointer of the filter's data, such as ``/source/events/0/data``.
    """

    text: str
    line: int
    column: int
    pointer: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of a document found and made.

    Attributes
    ----------
    problems : list of Problem
        In the order of their lines, none twice, every one at a line of the document. Empty when it may be saved.
    module : str
        The module as JavaScript: types blanked where they stood, and lines put on top, so that a line of it is the same
        line of the document. Empty where the module has syntax errors.
    exports : tuple of str
        The names of the functions it exports, ``'default'`` for the default one, in their order.
    expressions : list of (str or None)
        Each filter expression as JavaScript, in parentheses of its own; None where it is refused.
    writes : tuple of str
        Why the module may write to objects it did not make, or notice that two members share one; empty when it
        provably does neither.
    """

    problems: list[Problem]
    module: str
    exports: tuple[str, ...]
    expressions: list[str | None]
    writes: tuple[str, ...]


_lock = threading.Lock()
_worker: Worker | None = None

_TOO_LONG = (
    f"The check did not finish within {CHECK_SECONDS:g} seconds: simplify the types, or split the {{part}}; "
    "a busy machine may also have slowed it, so save it again when it is less busy"
)
_BROKE = "The compiler could not finish its check of this {part}: simplify the types, or split the {part}"


def check_module(
    kind: Kind, body: str, body_line: int, declarations: str, expressions: Sequence[Expression] = ()
) -> Checked:
    """Check a document's module and its filters' expressions with the TypeScript compiler.

    Parameters
    ----------
    kind : {'recall', 'computation'}
        Which functions the module must export.
    body : str
        The module: the text of the document after its front matter.
    body_line : int
        The document's line that the body begins on, from 1.
    declarations : str
        The types that the runtime declares; see `recallkit.definitions.types.declarations`.
    expressions : sequence of Expression
        The filters' data expressions. Only ``$data`` and the sandbox's library are in their scope.

    Returns
    -------
    Checked

    Raises
    ------
    Unavailable
        When no checker is ready: Node is missing, or the compiler does not start.

    Notes
    -----
    computation, Checked when it is saved. A check that takes more than `bounds.CHECK_SECONDS` of a ready checker is a
    problem of the document, and the checker is replaced.
    """
    request = {
        "kind": kind,
        "body": body,
        "declarations": declarations,
        "expressions": [each.text for each in expressions],
        "assignments": ASSIGNMENTS,
    }
    part = "module" if kind == "recall" else "program"
    try:
        answer = _ask(request)
    except WorkerTimeout:
        return _unchecked(_TOO_LONG.format(part=part), body_line, expressions)
    except WorkerDied:
        return _unchecked(_BROKE.format(part=part), body_line, expressions)
    if "failed" in answer:
        deep = answer["failed"] == "deep"
        words = f"The {part} nests too deeply for the compiler" if deep else _BROKE.format(part=part)
        return _unchecked(words, body_line, expressions)
    return _checked(answer["result"], body, body_line, expressions)


def warm(*, wait: bool = False) -> None:
    """Start the checker, so that the first check need not wait for it.

    Parameters
    ----------
    wait : bool
        Return only when it is ready. Otherwise it gets ready beside the caller, and a checker that cannot start is told
        by the first check.

    Raises
    ------
    Unavailable
        With `wait`, when no checker gets ready.
    """
    if not _lock.acquire(blocking=wait):
        return  # a check is going on: there is one
    try:
        worker = _current()
        if wait:
            worker.wait_ready()
    except Unavailable:
        if wait:
            raise
    finally:
        _lock.release()


def close() -> None:
    """End the checker. The next check starts another."""
    global _worker
    with _lock:
        worker, _worker = _worker, None
    if worker is not None:
        worker.kill()


def _current() -> Worker:
    """Give the worker, started anew when there is none that lives. Call it with the lock held."""
    global _worker
    if _worker is None or not _worker.alive():
        if _worker is not None:
            _worker.kill()
            _worker = None
        try:
            _worker = Worker()
        except OSError as error:
            raise Unavailable(f"No checker is ready: Node does not start: {error}") from error
    return _worker


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    """Ask a ready worker. One that dies in the middle is replaced, and asked once more."""
    with _lock:
        for attempt in (1, 2):
            worker = _current()
            worker.wait_ready()
            try:
                return worker.ask(request, CHECK_SECONDS)
            except WorkerTimeout:
                _restart()
                raise
            except WorkerDied:
                _restart()
                if attempt == 2:
                    raise
    raise AssertionError("unreachable")


def _restart() -> None:
    """Start the next worker beside the caller, so that the next check finds it ready."""
    try:
        _current()
    except Unavailable:
        pass  # the next check says so


def _unchecked(words: str, body_line: int, expressions: Sequence[Expression]) -> Checked:
    return Checked([Problem(words, line=body_line, column=1)], "", (), [None] * len(expressions), ("not analysed",))


def _checked(result: dict[str, Any], body: str, body_line: int, expressions: Sequence[Expression]) -> Checked:
    units = _Units(body)
    problems = []
    for each in result["problems"]:
        if each["expression"] is None:
            line, column = units.place(each["offset"])
            problems.append(Problem(each["words"], line=body_line + line, column=column + 1))
        else:
            problems.append(_expression_problem(each, expressions[each["expression"]]))
    unique = {(each.line, each.words): each for each in reversed(problems)}
    ordered = sorted(unique.values(), key=lambda each: (each.line or 0, each.column or 0))
    module = result["module"]
    return Checked(
        problems=ordered,
        module="" if module is None else "\n" * (body_line - 1) + module,
        exports=tuple(result["exports"]),
        expressions=list(result["expressions"]),
        writes=_writes(result.get("writes"), units, body_line),
    )


def _writes(found: list[dict[str, Any]] | None, units: _Units, body_line: int) -> tuple[str, ...]:
    if found is None:
        return ("not analysed",)
    told = [f"line {body_line + units.place(each['offset'])[0]}: {each['words']}" for each in found]
    return tuple(dict.fromkeys(told))


def _expression_problem(found: dict[str, Any], expression: Expression) -> Problem:
    # A text of several lines was folded by YAML, so only a text of one line tells its columns.
    single = "\n" not in expression.text
    column = expression.column + (found["offset"] if single else 0)
    return Problem(found["words"], line=expression.line, column=column, pointer=expression.pointer)


class _Units:
    """Lines and columns of offsets that the compiler counts in UTF-16 code units. Only LF ends a line here, as in the
    document; the compiler and the engine count other separators differently."""

    def __init__(self, text: str) -> None:
        self._encoded = text.rstrip().encode("utf-16-le", "surrogatepass")

    def place(self, offset: int) -> tuple[int, int]:
        """Give line and column, from 0; what stands past the last line with text stands at its end."""
        before = self._encoded[: 2 * offset].decode("utf-16-le", "surrogatepass")
        line = before.count("\n")
        tail = before.rpartition("\n")[2]
        return line, len(tail.encode("utf-16-le", "surrogatepass")) // 2


def _forget() -> None:
    """After a fork: the worker and the lock belong to the parent."""
    global _lock, _worker
    _lock = threading.Lock()
    if _worker is not None:
        _worker.disown()
    _worker = None


atexit.register(close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
