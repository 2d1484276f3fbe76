"""A recall function's document: its fields checked, its module compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recallkit.bounds import LANGUAGE, VIEW_BYTES
from recallkit.definitions.checker import check_module
from recallkit.definitions.fields import Findings, check_description, check_fields, check_language, check_schema
from recallkit.definitions.filters import Filter, read_filters
from recallkit.definitions.frontmatter import Document, in_order
from recallkit.definitions.json_text import json_text
from recallkit.definitions.schemas import Schema
from recallkit.definitions.types import declarations
from recallkit.errors import Problem


@dataclass(frozen=True)
class RecallDefinition:
    """A recall function that can be saved.

    Attributes
    ----------
    source : str
        The document's text.
    filters : tuple of Filter
        As ``source.events`` lists them.
    expressions : tuple of (str or None)
        For each filter, the JavaScript of its data expression; None where it has none.
    initial : str
        The view before any event, as JSON text with the engine's numbers and order of keys.
    view_schema, input_schema, output_schema : JSON Schema or None
        As written; None when left out.
    module : str
        JavaScript: the types are blanks, every line and column is the document's.
    answers : bool
        Whether the module exports answer; a run returns the view itself otherwise.
    types : str
        The declarations the module was checked against.
    warnings : tuple of Problem
        What production would refuse and the kit takes.
    writes : tuple of str
        Why a fold may write to objects it did not make; empty when it provably does not.
    """

    source: str
    filters: tuple[Filter, ...]
    expressions: tuple[str | None, ...]
    initial: str
    module: str
    answers: bool
    types: str
    document: Document = field(repr=False)
    description: str | None = None
    view_schema: Any = None
    input_schema: Any = None
    output_schema: Any = None
    warnings: tuple[Problem, ...] = ()
    writes: tuple[str, ...] = ()
    language: str = LANGUAGE
    kind: Literal["recall"] = "recall"


def read_recall(document: Document) -> tuple[RecallDefinition | None, Sequence[Problem]]:
    """Check a recall function's document.

    Parameters
    ----------
    document : Document
        As ``read_document`` gives it.

    Returns
    -------
    tuple
        The definition, or None when an error keeps it from being saved; and every problem, warnings too.

    Raises
    ------
    Unavailable
        No checker is ready to compile the module.
    """
    if document.problems and not document.front:
        return None, document.problems
    found = Findings(document, list(document.problems))
    check_fields(document, "recall", found)
    if found.fail():
        return None, in_order(found.problems)
    description = check_description(document, found)
    check_language(document, found)
    filters, expressions = read_filters(document, document.front["source"]["events"], found.error)
    schemas = {section: check_schema(document, section, found) for section in ("view", "input", "output")}
    view = document.front.get("view") or {}
    initial = json_text(view.get("initial"))
    if schemas["view"] or "schema" not in view:
        _check_initial(view, initial, schemas["view"], found)
    if found.fail():
        return None, in_order(found.problems)
    written = {section: (document.front.get(section) or {}).get("schema") for section in schemas}
    types = declarations("recall", **written)
    checked = check_module("recall", document.body, document.body_line, types, expressions)
    found.problems += checked.problems
    problems = in_order(found.problems)
    if found.fail():
        return None, problems
    compiled = iter(checked.expressions)
    return RecallDefinition(
        source=document.text,
        document=document,
        description=description,
        filters=filters,
        expressions=tuple(next(compiled) if each.expression is not None else None for each in filters),
        initial=initial,
        view_schema=written["view"],
        input_schema=written["input"],
        output_schema=written["output"],
        module=checked.module,
        answers="answer" in checked.exports,
        types=types,
        warnings=tuple(problems),
        writes=checked.writes,
    ), problems


def _check_initial(view: dict[str, Any], initial: str, schema: Schema | None, found: Findings) -> None:
    """The view before any event: its size first, then the view's schema (recall, Fields)."""
    size = len(initial.encode("utf-8"))
    if size > VIEW_BYTES:
        found.error(
            "/view/initial", f"view.initial takes at most {VIEW_BYTES:,} bytes as JSON; this one takes {size:,}"
        )
        return
    if schema is None:
        return
    issues = schema.issues(view.get("initial"))
    if not issues:
        return
    if "initial" not in view:
        words = "view.schema refuses null, which the view is before any event; give view.initial a value that it takes"
        found.error("/view/initial", words)
        return
    for issue in issues:
        found.error(f"/view/initial{issue.pointer}", f"view.schema refuses view.initial: {issue.words}")
