"""Where the recall systems of memory are tried: on nothing, on a history from a file, on a playbook of each store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recallkit as rk

PLACES = ("memory", "history", "sqlite", "postgresql")


def open_place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Give the source that a fixture's parameter names; playbooks are closed after the test."""
    if request.param == "memory":
        return None
    if request.param == "history":
        path = tmp_path / "events.jsonl"
        event = (
            '{"specversion":"1.0","id":"%d","type":"order.placed","source":"/shop","time":"2026-01-01T00:00:0%dZ"}\n'
        )
        path.write_text("".join(event % (n, n) for n in range(3)), encoding="utf-8")
        return rk.read_history(path)
    url = f"sqlite:///{tmp_path / 'playbook.db'}"
    if request.param == "postgresql":
        import uuid

        server = request.getfixturevalue("postgres_server")
        url = f"{server}{'&' if '?' in server else '?'}schema=t{uuid.uuid4().hex}"
    playbook = rk.Playbook(url)
    request.addfinalizer(playbook.close)
    return playbook


def written(system: Any) -> int:
    """Count the events that stand in a system's log."""
    return len(system.history())
