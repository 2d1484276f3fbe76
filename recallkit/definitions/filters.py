"""Filters: which events a recall function folds.

A filter names attributes with their exact values and, optionally, data: a value, or an expression over
``$data``. Several filters are tried in order; an event is folded when any of them takes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from recallkit.bounds import ATTRIBUTE_CHARACTERS, FILTERS
from recallkit.definitions.checker import Expression
from recallkit.definitions.frontmatter import Document
from recallkit.definitions.pointers import join_pointer

if TYPE_CHECKING:
    from recallkit.events.history import History

Report = Callable[[str, str], None]  # takes the pointer and the words of a problem

WHOLE_NUMBERS: Final = frozenset({"depth", "calldepth", "definitionversion"})
_NAME = re.compile(rf"[a-z0-9]{{1,{ATTRIBUTE_CHARACTERS}}}")


class Absent(Enum):
    """The filter names no data at all; data null is something else: it takes an event without data."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True)
class Filter:
    """One filter of ``source.events``.

    Attributes
    ----------
    attributes : dict
        Each attribute that an event must have, with its value: a text, or a whole number from 1 for depth,
        calldepth and definitionversion. In the order written.
    data : JSON value or ABSENT
        What the event's data must equal; ABSENT when the filter does not say, or says an expression.
    expression : str or None
        The TypeScript between ``${`` and ``}``, as written.
    """

    attributes: dict[str, str | int]
    data: Any = ABSENT
    expression: str | None = None

    def matches_attributes(self, history: History) -> NDArray[np.bool_]:
        """Which events have every attribute that this filter names; its data is not looked at.

        Parameters
        ----------
        history : History

        Returns
        -------
        ndarray of bool
            One for each event, in recorded order. Nothing is converted: ``"2"`` is not ``2``, nor is true ``1``.
        """
        taken = np.ones(len(history), dtype=np.bool_)
        for name, wanted in self.attributes.items():
            taken &= history.equals(name, wanted)
        return taken

    def sentence(self) -> str:
        """When the function takes an event by this filter, in words."""
        # Here, since words knows filters.
        from recallkit.definitions.words import filter_sentence

        return filter_sentence(self)


def is_expression(value: Any) -> bool:
    """Whether a value is an expression: a text that, trimmed, starts with ``${`` and ends with ``}``."""
    return isinstance(value, str) and value.strip().startswith("${") and value.strip().endswith("}")


def read_filters(
    document: Document, events: Sequence[Any], report: Report
) -> tuple[tuple[Filter, ...], tuple[Expression, ...]]:
    """The filters of ``source.events`` and the expressions in them, each checked.

    Parameters
    ----------
    document : Document
        Where the places of problems and expressions are found.
    events : sequence
        What ``source.events`` holds.
    report : callable
        Takes the pointer and the words of each problem.

    Returns
    -------
    tuple
        The filters, and the expressions of those that have one, in the same order.
    """
    if not 1 <= len(events) <= FILTERS:
        report("/source/events", f"source.events takes 1 to {FILTERS} filters; this one has {len(events)}")
    filters, expressions = [], []
    for number, written in enumerate(events):
        pointer = join_pointer("source", "events", number)
        if not isinstance(written, dict):
            report(
                pointer, "A filter is a mapping of attributes and the values they must have, such as type: order_placed"
            )
            continue
        found = _read_filter(written, pointer, report)
        filters.append(found)
        if found.expression is not None:
            expressions.append(_place(document, found.expression, f"{pointer}/data"))
    return tuple(filters), tuple(expressions)


def _read_filter(written: dict[str, Any], pointer: str, report: Report) -> Filter:
    if "type" not in written:
        report(f"{pointer}/type", "A filter names the type of the events it takes: type is required")
    attributes: dict[str, str | int] = {}
    data: Any = ABSENT
    expression: str | None = None
    for name, value in written.items():
        if name == "data":
            if is_expression(value):
                expression = value.strip()[2:-1]
            else:
                data = value
            continue
        words = _wrong(name, value)
        if words:
            report(pointer + join_pointer(name), words)
        else:
            attributes[name] = value
    return Filter(attributes, data, expression)


def _wrong(name: str, value: Any) -> str | None:
    if not _NAME.fullmatch(name):
        return (
            f"{name[:60]} names no attribute: CloudEvents names one in at most {ATTRIBUTE_CHARACTERS} lowercase "
            "letters and digits; a filter holds attributes and data"
        )
    if name in WHOLE_NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            return f"{name} is a whole number from 1; leave it out to take events that have none"
        return None
    if not isinstance(value, str) or not value:
        return (
            f"{name} is exactly the text that the event has, not empty; put a number or a word such as true in quotes"
        )
    if is_expression(value):
        return f"{name} is written out, never computed; only data may be an expression"
    return None


def _place(document: Document, text: str, pointer: str) -> Expression:
    """Where an expression starts: just after its ``${``, as the document has it."""
    line, column = document.locate(pointer)
    place = document.place_of(pointer.split("/")[1:], value=True)
    if place:
        front = document.text[document.text.index("\n") + 1 :]
        start = front.find("${", place.index, place.end)
        if start >= 0:
            start += 2
            before = front[:start]
            row = before.count("\n")
            return Expression(text, row + 2, document.column(row, start - (before.rfind("\n") + 1)), pointer)
    return Expression(text, line, column, pointer)
