"""Small documents and histories made on the spot, for the tests of folds and runs."""

from __future__ import annotations

import datetime
import json
from typing import Any

import recallkit as rk

START = datetime.datetime(2026, 1, 1)


def recall_text(body: str, *, initial: Any = 0, filters: list[Any] | None = None, **fields: Any) -> str:
    """Return a recall function's document over events of the type ``t``; the body starts on line 7."""
    front = {"events": filters or [{"type": "t"}]}
    view = {"initial": initial, **({"schema": fields.pop("schema")} if "schema" in fields else {})}
    rest = json.dumps(fields)[1:-1] if fields else "description: a test"
    return f"---\nlanguage: typescript\nsource: {json.dumps(front)}\nview: {json.dumps(view)}\n{rest}\n---\n{body}\n"


def recall(body: str, **fields: Any) -> rk.RecallFunction:
    function = rk.load(recall_text(body, **fields))
    assert isinstance(function, rk.RecallFunction)
    return function


def computation(body: str, **fields: Any) -> rk.ComputationFunction:
    """Return a computation function; the body starts on line 5."""
    rest = json.dumps(fields)[1:-1] if fields else "description: a test"
    function = rk.load(f"---\nlanguage: typescript\n{rest}\n---\n{body}\n")
    assert isinstance(function, rk.ComputationFunction)
    return function


def events(*data: Any) -> list[dict[str, Any]]:
    """Return an event of the type ``t`` a minute for each data given."""
    return [
        {
            "specversion": "1.0",
            "id": f"e{number}",
            "type": "t",
            "source": "/s",
            "time": f"{START + datetime.timedelta(minutes=number):%Y-%m-%dT%H:%M:00.000Z}",
            "data": each,
        }
        for number, each in enumerate(data)
    ]
