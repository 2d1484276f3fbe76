"""A computation function's document: its fields checked, its program compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recallkit.bounds import LANGUAGE
from recallkit.definitions.checker import check_module
from recallkit.definitions.fields import Findings, check_description, check_fields, check_language, check_schema
from recallkit.definitions.frontmatter import Document, in_order
from recallkit.definitions.schemas import Schema
from recallkit.definitions.shapes import SHAPES
from recallkit.definitions.types import declarations
from recallkit.errors import Problem


@dataclass(frozen=True)
class ComputationDefinition:
    """A computation function that can be saved.

    Attributes
    ----------
    source : str
        The document's text.
    input_schema, output_schema : JSON Schema or None
        As written; the output schema of a shape is the shape's own.
    shape : {'series', 'categories', 'table', 'text'} or None
        The output's shape, whose extra rule a run checks too.
    module : str
        JavaScript: the types are blanks, every line and column is the document's.
    types : str
        The declarations the program was checked against.
    warnings : tuple of Problem
        What production would refuse and the kit takes.
    """

    source: str
    module: str
    types: str
    document: Document = field(repr=False)
    description: str | None = None
    input_schema: Any = None
    output_schema: Any = None
    shape: str | None = None
    warnings: tuple[Problem, ...] = ()
    writes: tuple[str, ...] = ()
    language: str = LANGUAGE
    kind: Literal["computation"] = "computation"


def read_computation(document: Document) -> tuple[ComputationDefinition | None, Sequence[Problem]]:
    """Check a computation function's document.

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
        No checker is ready to compile the program.
    """
    if document.problems and not document.front:
        return None, document.problems
    found = Findings(document, list(document.problems))
    check_fields(document, "computation", found)
    output = document.front.get("output")
    if isinstance(output, dict) and "shape" in output and "schema" in output:
        found.error(
            "/output/shape", "output.shape names a schema of its own, so it is not allowed beside output.schema"
        )
    if found.fail():
        return None, in_order(found.problems)
    description = check_description(document, found)
    check_language(document, found)
    shape = (output or {}).get("shape")
    if shape is not None and shape not in SHAPES:
        found.error("/output/shape", f"output.shape is one of {', '.join(SHAPES)}")
    for section in ("input", "output"):
        _refuse_patterns(check_schema(document, section, found), found)
    if found.fail():
        return None, in_order(found.problems)
    input_schema = (document.front.get("input") or {}).get("schema")
    output_schema = SHAPES[shape].schema if shape else (output or {}).get("schema")
    types = declarations("computation", input=input_schema, output=output_schema)
    checked = check_module("computation", document.body, document.body_line, types, ())
    found.problems += checked.problems
    problems = in_order(found.problems)
    if found.fail():
        return None, problems
    return ComputationDefinition(
        source=document.text,
        document=document,
        description=description,
        input_schema=input_schema,
        output_schema=output_schema,
        shape=shape,
        module=checked.module,
        types=types,
        warnings=tuple(problems),
        writes=checked.writes,
    ), problems


def _refuse_patterns(schema: Schema | None, found: Findings) -> None:
    """A pattern is refused in a computation function's schemas (computation, Types)."""
    refused = schema.pattern_pointers() if schema else []
    # What is refused needs no warning beside it.
    found.problems = [each for each in found.problems if each.severity == "error" or each.pointer not in refused]
    for pointer in refused:
        found.error(pointer, "A pattern is refused in a computation function's schema; check the text in the program")
