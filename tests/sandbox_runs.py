"""Runs modules in the real sandbox, without the faces: for the tests of what the sandbox lets them do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from recallkit.bounds import FOLD_CHECKPOINTS, FOLD_MEMORY_BYTES, PROGRAM_CHECKPOINTS, RUN_MEMORY_BYTES
from recallkit.sandbox import Sandbox

MOMENT = 1767323045678.0  # 2026-01-02T03:04:05.678Z


@dataclass(frozen=True)
class Ended:
    """How a call ended: `kind` is 'returned', 'raised', 'unfit', 'size', 'work', 'memory', 'time' or 'died'."""

    kind: str
    value: Any = None
    text: str = ""
    words: str = ""
    line: int | None = None
    unfit: dict[str, Any] | None = None
    spent: dict[str, Any] = field(default_factory=dict)


def _call(sandbox: Sandbox, name: str, checkpoints: int, texts: tuple[str, ...], seconds: float) -> Ended:
    settings = {
        "name": name,
        "checkpoints": checkpoints,
        "milliseconds": seconds * 1000,
        "moment": MOMENT,
        "outputBytes": 2**20,
    }
    reply = sandbox.ask("invoke", json.dumps(settings), *texts, seconds=seconds)
    if reply.cut is not None:
        return Ended(reply.cut)
    head, _, text = reply.text.partition("\n")
    told = json.loads(head)
    if "kind" not in told:
        return Ended("returned", json.loads(text), text, spent=told)
    described = told.get("described") or {}
    return Ended(told["kind"], words=described.get("words", ""), line=described.get("line"), unfit=told.get("unfit"))


def run_program(
    module: str, given: Any = None, *, seconds: float = 10.0, checkpoints: int = PROGRAM_CHECKPOINTS
) -> Ended:
    """Call the default export, as a computation function's run does: a fresh context that is not frozen."""
    with Sandbox(memory_bytes=RUN_MEMORY_BYTES, frozen=False, moment=MOMENT) as sandbox:
        refused = sandbox.load_module(module)
        assert refused is None, refused
        return _call(sandbox, "default", checkpoints, (json.dumps(given),), seconds)


def run_folds(module: str, views: list[Any]) -> list[Ended]:
    """Call `fold` once for each view given, all in one frozen context, as the folds of a page are."""
    with Sandbox(memory_bytes=FOLD_MEMORY_BYTES, frozen=True, moment=MOMENT) as sandbox:
        refused = sandbox.load_module(module)
        assert refused is None, refused
        ends = []
        for number, view in enumerate(views):
            event = json.dumps({"id": f"evt-{number}", "type": "t", "source": "/s"})
            ends.append(_call(sandbox, "fold", FOLD_CHECKPOINTS, (json.dumps(view), event), 10.0))
            if not sandbox.alive or ends[-1].kind in ("work", "memory", "time", "died"):
                break
        return ends
