"""JSON Schemas of documents: whether they are schemas at all, what production would refuse, what they accept."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from recallkit.bounds import EXACT_INTEGER, MIB, SCHEMA_ISSUES, SCHEMA_SECONDS
from recallkit.definitions import schema_dialects
from recallkit.definitions.issue_words import TOO_DEEP, TOO_LONG, escaped
from recallkit.definitions.json_schema import ValidationError
from recallkit.definitions.json_text import engine_order
from recallkit.definitions.schema_keywords import words_of
from recallkit.definitions.schema_run import Run, TooMuch, active

T = TypeVar("T")
_ROUNDS = 8
_DEEP_FRAMES = 120_000
_DEEP_STACK = 256 * MIB
_deep = threading.Lock()


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong with a value.

    Attributes
    ----------
    pointer : str
        The JSON Pointer of the place in the value; empty for the value itself.
    words : str
        What must be so there: ``must be a string``.
    """

    pointer: str
    words: str


class Schema:
    """A JSON Schema (2020-12, or draft-07 where ``$schema`` says so) as a document holds it.

    Parameters
    ----------
    json : JSON value
        The schema.
    pointer : str
        Where it stands in its document, such as ``/view/schema``; put before the pointers of its problems.
    documents : mapping of str to JSON value, optional
        Other schemas by their URI, for references. Nothing is ever fetched.
    """

    def __init__(self, json: Any, pointer: str = "", documents: Mapping[str, Any] | None = None) -> None:
        self.json = as_doubles(json)
        self.pointer = pointer
        self.documents = dict(documents or {})

    def problems(self) -> list[tuple[str, str]]:
        """Say why this is no schema.

        Returns
        -------
        list of (pointer, words)
            Empty for a schema that can be used. Pointers begin with the schema's own.
        """
        from recallkit.definitions.schema_problems import problems_of

        try:
            found = deeply(lambda: problems_of(self))
        except RecursionError:
            found = [("", f"The schema {TOO_LONG}.")]
        return [(self.pointer + pointer, words) for pointer, words in found]

    def warnings(self) -> list[tuple[str, str]]:
        """Say what of this schema production would refuse, though the kit takes it.

        Returns
        -------
        list of (pointer, words)
        """
        from recallkit.definitions.schema_production import warnings_of

        return [(self.pointer + pointer, words) for pointer, words in deeply(lambda: warnings_of(self.json))]

    def pattern_pointers(self) -> list[str]:
        """Where the schema uses ``pattern``, which a computation function's schema may not."""
        from recallkit.definitions.schema_production import keyword_pointers

        return [self.pointer + pointer for pointer in keyword_pointers(self.json, "pattern")]

    def issues(self, value: Any) -> list[Issue]:
        """Say what is wrong with a value.

        Parameters
        ----------
        value : JSON value
            Numbers count as the doubles that the engine would hold.

        Returns
        -------
        list of Issue
            Empty when the schema accepts the value. In the order of their places: a value before its members,
            members and items as they stand; at most 10,000.
        """
        value = as_doubles(value)
        try:
            return deeply(lambda: self._issues(value))
        except RecursionError:
            return [Issue("", TOO_DEEP)]
        except TooMuch:
            return [Issue("", TOO_LONG)]

    def accepts(self, value: Any) -> bool:
        """Whether the schema accepts a value."""
        value = as_doubles(value)
        try:
            return deeply(lambda: self._settled(lambda: next(self._validator.iter_errors(value), None) is None))
        except (RecursionError, TooMuch):
            return False

    def page_options(self) -> dict[str, Any]:
        """What ``makeChecker`` of the page loop needs beside the schema: ``documents`` for its references."""
        documents = self.documents
        if "json-schema.org" in json.dumps([self.json, documents]):
            documents = {**schema_dialects.specification_documents(), **documents}
        return {"documents": documents} if documents else {}

    @cached_property
    def _validator(self) -> Any:
        registry = schema_dialects.registry_of(self.documents, schema_dialects.draft_2020().SPECIFICATION)
        made = schema_dialects.dialect_of(self.json, schema_dialects.draft_2020(), registry)
        if not made.MODERN:
            registry = schema_dialects.registry_of(self.documents, made.SPECIFICATION)
        return made(schema=self.json, registry=registry)

    @cached_property
    def _dynamic(self) -> bool:
        return '"$dynamicRef"' in json.dumps([self.json, self.documents]) or "json-schema.org" in str(self.json)

    def _issues(self, value: Any) -> list[Issue]:
        def find() -> list[ValidationError]:
            found: dict[tuple[str, str], ValidationError] = {}
            for error in self._validator.iter_errors(value):
                pointer = "".join(f"/{escaped(str(part))}" for part in error.path)
                found.setdefault((pointer, words_of(error)), error)
                if len(found) >= SCHEMA_ISSUES:
                    break
            return list(found.values())

        errors = self._settled(find)
        places = _Places(value)
        errors.sort(key=lambda error: places.of(error.path))
        return [Issue("".join(f"/{escaped(str(part))}" for part in error.path), words_of(error)) for error in errors]

    def _settled(self, find: Callable[[], T]) -> T:
        """Run a check until it had to guess no pattern's answer.

        A round guesses that patterns it has not asked about match, and collects them; they are then asked about
        all together. A text reached only behind another pattern's answer takes another round.
        """
        from recallkit.definitions.patterns import search

        known: dict[tuple[str, str], bool | None] = {}
        end = time.monotonic() + SCHEMA_SECONDS
        for turn in range(_ROUNDS + 1):
            active.run = run = Run(known, alone=turn == _ROUNDS, remember=not self._dynamic, end=end)
            result = find()
            if not run.pending:
                return result
            asked = list(run.pending)
            known.update(zip(asked, search(asked), strict=True))
        return result


class _Places:
    """Positions of paths in a value, to sort by: the engine's order of members, the order of items."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._orders: dict[int, dict[str, int]] = {}

    def of(self, path: Any) -> list[int]:
        here, places = self._value, []
        for part in path:
            if isinstance(here, dict):
                order = self._orders.get(id(here))
                if order is None:
                    order = {name: place for place, (name, _) in enumerate(engine_order(here))}
                    self._orders[id(here)] = order
                places.append(order[part])
            else:
                places.append(part)
            here = here[part]
        return places


def as_doubles(value: Any) -> Any:
    """A JSON value with its numbers as the engine would hold them; the value itself where they are so already."""
    waiting, large = [value], False
    while waiting and not large:
        here = waiting.pop()
        if isinstance(here, dict):
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
        elif isinstance(here, int) and not isinstance(here, bool):
            large = abs(here) > EXACT_INTEGER
    return deeply(lambda: _rounded(value)) if large else value


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > EXACT_INTEGER:
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value


def deeply(work: Callable[[], T]) -> T:
    """Run work that may recurse deeply: here when that is enough, else on a thread with a large stack.

    Raises
    ------
    RecursionError
        The large stack was not enough either.
    """
    try:
        return work()
    except RecursionError:
        pass
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller's thread
            failure.append(error)

    # The limit belongs to the whole interpreter, so one at a time may raise it.
    with _deep:
        limit = sys.getrecursionlimit()
        size = threading.stack_size(_DEEP_STACK)
        try:
            sys.setrecursionlimit(max(limit, _DEEP_FRAMES))
            thread = threading.Thread(target=run, name="recallkit-deep", daemon=True)
            thread.start()
            threading.stack_size(size)
            thread.join()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome[0]
