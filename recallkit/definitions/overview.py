"""The overview: a function in plain words, and as a picture, written from its document alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from recallkit.definitions.computation import ComputationDefinition
from recallkit.definitions.filters import ABSENT
from recallkit.definitions.recall import RecallDefinition
from recallkit.definitions.shapes import SHAPES
from recallkit.definitions.words import SchemaWords, function_words, listed, plain

PROGRAM_LINE = "The program is TypeScript and is shown under Source."
_INITIAL_AT_MOST = 2_000

Definition = RecallDefinition | ComputationDefinition


@dataclass(frozen=True, slots=True)
class Node:
    """A box of the picture."""

    id: str
    kind: Literal["filter", "view", "answer", "input", "program", "output"]
    label: str


@dataclass(frozen=True, slots=True)
class Diagram:
    """The picture as data: its boxes, and the arrows between them as pairs of ids."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


def overview(definition: Definition, used_by: Iterable[tuple[str, str]] | None = None) -> str:
    """A definition in plain words, as Markdown.

    Parameters
    ----------
    definition : RecallDefinition or ComputationDefinition
    used_by : iterable of (type, name), optional
        The active definitions of the playbook that use this one; left out when there are none.

    Returns
    -------
    str
        Everything that the format's section "The overview" says, in its order.
    """
    parts = [plain(definition.description) if definition.description else "This function has no description yet."]
    if isinstance(definition, RecallDefinition):
        parts += _recall(definition)
    else:
        parts += _computation(definition)
    users = list(dict.fromkeys(used_by or ()))
    if users:
        parts.append("\n".join(["**Used by**", "", *(f"- {function_words(*user)}" for user in users)]))
    return "\n\n".join(parts) + "\n"


def _recall(definition: RecallDefinition) -> Iterator[str]:
    yield "\n".join(["**What it remembers**", "", *(f"- {each.sentence()}" for each in definition.filters)])
    yield "**What it keeps**"
    yield _value("The view", definition.view_schema)
    if definition.initial not in ("null", "{}", "[]", '""'):
        shown = definition.initial
        if len(shown) > _INITIAL_AT_MOST:
            shown = f"{shown[:_INITIAL_AT_MOST]}…"
        yield f"Before any event it is:\n\n{_fenced(shown, 'json')}"
    yield "**What it answers**"
    if definition.input_schema is not None:
        yield _value("A run is given", definition.input_schema)
    elif definition.answers:
        yield _value("A run is given", None)
    if definition.answers:
        yield _value("It answers", definition.output_schema)
    elif definition.output_schema is not None:
        yield _value("It answers the view itself", definition.output_schema)
    else:
        yield "It answers the view itself."
    yield "**How the view is kept**"
    yield _fenced(_drawn(definition), "text")
    yield PROGRAM_LINE


def _computation(definition: ComputationDefinition) -> Iterator[str]:
    yield "**What it needs**"
    yield _value("Its input", definition.input_schema)
    yield "**What it produces**"
    if definition.shape:
        yield SHAPES[definition.shape].words
    else:
        yield _value("Its output", definition.output_schema)
    yield PROGRAM_LINE


def _value(beginning: str, schema: Any) -> str:
    """A schema as a sentence and, below it, the fields of its records."""
    joined = f"{beginning} is" if not beginning.endswith(("given", "answers", "itself")) else beginning
    if schema is None:
        return f"{joined} any JSON value."
    words = SchemaWords(schema)
    separator = "," if beginning.endswith("itself") else ""
    sentence = " ".join([f"{joined}{separator} {words.phrase(schema)}.", *words.notes(schema)])
    fields = list(words.lines(schema))
    return "\n".join([sentence, "", *fields]) if fields else sentence


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def diagram(definition: Definition) -> Diagram:
    """The picture of a definition as data.

    Returns
    -------
    Diagram
        Of a recall function: each filter to the view, the view (and the input, where there is one) to the
        answer. Of a computation function: the input to the program, the program to the output.
    """
    if isinstance(definition, ComputationDefinition):
        program = (
            Node("input", "input", "Input"),
            Node("program", "program", "Program"),
            Node("output", "output", "Output"),
        )
        return Diagram(program, (("input", "program"), ("program", "output")))
    filters = tuple(
        Node(f"filter-{number}", "filter", _filter_label(definition, number))
        for number in range(len(definition.filters))
    )
    nodes = (
        *filters,
        Node("view", "view", "View"),
        Node("answer", "answer", "Answer" if definition.answers else "The view"),
    )
    edges = (*((each.id, "view") for each in filters), ("view", "answer"))
    if definition.answers:
        return Diagram((*nodes, Node("input", "input", "Input")), (*edges, ("input", "answer")))
    return Diagram(nodes, edges)


def _filter_label(definition: RecallDefinition, number: int) -> str:
    found = definition.filters[number]
    named = [str(found.attributes[name]) for name in ("type", "subject", "source") if name in found.attributes]
    others = [name for name in found.attributes if name not in ("type", "subject", "source")]
    if found.expression is not None or found.data is not ABSENT:
        others.append("data")
    label = " ".join(" ".join(named).split())
    return f"{label} by {listed(others)}" if others else label


def _drawn(definition: RecallDefinition) -> str:
    """The picture in characters, for where none can be drawn."""
    labels = [_filter_label(definition, number) for number in range(len(definition.filters))]
    labels = [each if len(each) <= 60 else f"{each[:59]}…" for each in labels]
    wide = max(map(len, labels))
    end = " ──▶ view ──▶ answer" if definition.answers else " ──▶ view ──▶ answer (the view itself)"
    if len(labels) == 1:
        return f"{labels[0]}{end}"
    middle = (len(labels) - 1) // 2
    lines = []
    for row, label in enumerate(labels):
        if row == 0:
            corner = "┬" if row == middle else "┐"
        elif row == len(labels) - 1:
            corner = "┘"
        else:
            corner = "┼" if row == middle else "┤"
        lines.append(f"{label.ljust(wide)} ─{corner}{end.replace(' ──▶', '──▶', 1) if row == middle else ''}")
    return "\n".join(lines)
