"""Draws schemas and values, and asks the host and the page loop what is wrong with each."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from json_grammar import draw_schema, draw_value
from page_checker import page_issues

from recallkit.definitions.schemas import Schema

WAYS = {"plain": {}, "frozen": {"frozen": True}, "remembering": {"memory": True, "frozen": True}}
Told = list[list[tuple[str, str]]]


def draw_case(chance: Random) -> dict[str, Any]:
    """Draw a schema and some values, one of them several times over, as the page loop's check remembers what it saw."""
    values = [draw_value(chance) for _ in range(chance.randint(2, 6))]
    repeated = chance.choice(values)
    values.append({"a": repeated, "b": [repeated, repeated], "n": {"a": repeated}})
    return {"schema": draw_schema(chance, lenient=chance.random() < 0.4), "values": values}


def on_the_host(case: dict[str, Any]) -> Told:
    """Say what the host says of a case's values, once the schema is found to be one."""
    schema = Schema(case["schema"])
    problems = schema.problems()
    assert problems == [], (case["schema"], problems)
    return [[(issue.pointer, issue.words) for issue in schema.issues(value)] for value in case["values"]]


def compare(cases: list[dict[str, Any]]) -> tuple[list[Told], list[tuple[int, str, Told]]]:
    """Return what the host says of each case; and where the page loop says otherwise, the case, the way, the words."""
    here = [on_the_host(case) for case in cases]
    found = []
    for way, options in WAYS.items():
        there = page_issues(cases, **options)
        found += [(number, way, told) for number, told in enumerate(there) if told != here[number]]
    return here, found
