"""A saved definition without the compiler: what its check made is kept beside the document, and read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recallkit.definitions.computation import ComputationDefinition
from recallkit.definitions.filters import read_filters
from recallkit.definitions.frontmatter import read_document
from recallkit.definitions.json_text import json_text
from recallkit.definitions.recall import RecallDefinition
from recallkit.definitions.shapes import SHAPES
from recallkit.errors import Problem

if TYPE_CHECKING:
    from recallkit.definitions.loading import Definition


def pack(definition: Definition) -> bytes:
    """Write what the check of a document made."""
    told: dict[str, Any] = {
        "module": definition.module,
        "types": definition.types,
        "writes": list(definition.writes),
        "warnings": [[each.words, each.line, each.column, each.pointer] for each in definition.warnings],
    }
    if isinstance(definition, RecallDefinition):
        told |= {"answers": definition.answers, "expressions": list(definition.expressions)}
    return json.dumps(told).encode("ascii")


def unpack(type: str, source: bytes, compiled: bytes, *, same_kit: bool) -> Definition:
    """Read a definition back.

    Parameters
    ----------
    same_kit : bool
        Whether this version of the kit checked it. What another found out about writes is not relied on: the plain
        way, which is the same in every observable, is taken instead.
    """
    told = json.loads(compiled)
    document = read_document(source.decode("utf-8", "surrogatepass"))
    front = document.front
    written = {section: (front.get(section) or {}).get("schema") for section in ("view", "input", "output")}
    common: dict[str, Any] = {
        "source": document.text,
        "document": document,
        "description": front.get("description"),
        "input_schema": written["input"],
        "module": told["module"],
        "types": told["types"],
        "warnings": tuple(Problem(words, "warning", line, column, at) for words, line, column, at in told["warnings"]),
        "writes": tuple(told["writes"]) if same_kit else ("checked by another version of the kit",),
    }
    if type == "computation":
        shape = (front.get("output") or {}).get("shape")
        return ComputationDefinition(
            **common, shape=shape, output_schema=SHAPES[shape].schema if shape else written["output"]
        )
    filters, _ = read_filters(document, front["source"]["events"], lambda *_: None)
    return RecallDefinition(
        **common,
        filters=filters,
        expressions=tuple(told["expressions"]),
        initial=json_text((front.get("view") or {}).get("initial")),
        view_schema=written["view"],
        output_schema=written["output"],
        answers=told["answers"],
    )
