"""What a fold sees of a playbook's own records: the facts of its runs and definitions, as CloudEvents.

The format's table *The events* (recall) to the attribute: a run's input and a record's other content never enter.
"""

from __future__ import annotations

import json
import secrets
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from recallkit.bounds import EVENT_BYTES, PUBLISHED_DATA_LEVELS
from recallkit.events.event import examine

if TYPE_CHECKING:
    from recallkit.events.history import History

RUN_TYPES: Final = ("run_started", "run_succeeded", "run_rejected", "run_failed")
DEFINITION_TYPES: Final = ("definition_created", "definition_updated", "definition_retired")
OWN_ATTRIBUTES: Final = (
    "caller",
    "definitionversion",
    "depth",
    "calldepth",
    "calledby",
    "triggerkind",
    "triggerreference",
)
"""The extension attributes of the playbook's own events; no published event carries one."""


def new_id(now_ms: int | None = None) -> str:
    """Make a UUIDv7: its first 48 bits are the time, so that ids sort roughly as they were made."""
    moment = int(time.time() * 1_000) if now_ms is None else now_ms
    bits = (moment & (1 << 48) - 1) << 80 | secrets.randbits(80)
    bits = bits & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62
    return str(uuid.UUID(int=bits))


def iso_ms(milliseconds: int | float | None) -> str | None:
    """Write milliseconds since 1970 as the formats do: ISO in UTC, 24 characters."""
    if milliseconds is None:
        return None
    return f"{np.datetime_as_string(np.datetime64(int(milliseconds), 'ms'), unit='ms')}Z"


def json_bytes(value: Any) -> bytes:
    """Write a JSON value compactly, as UTF-8; a lone surrogate is escaped, as the engine does."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def run_event(
    kind: Literal["run_started", "run_succeeded", "run_rejected", "run_failed"],
    *,
    id: str,
    run_id: str,
    type: str,
    name: str,
    at_ms: int,
    attributes: Mapping[str, Any],
    output: bytes | None = None,
    reason: str | None = None,
    reason_kind: str | None = None,
) -> bytes:
    """Write the event of a run's start or ending.

    Parameters
    ----------
    attributes : mapping
        caller, definitionversion, causationid, correlationid and the like; those that are None are left out.
    output : bytes, optional
        A success's output as JSON. Where the event would take more than 240 KiB with it, or its data would nest past
        510 levels, the event has ``output_bytes`` instead.
    reason, reason_kind : str, optional
        A rejection's.
    """
    event = _own(kind, id, f"/runs/{run_id}", f"{type}/{name}", at_ms, attributes)
    if kind == "run_rejected":
        event["data"] = {"reason": reason, **({} if reason_kind is None else {"kind": reason_kind})}
    if kind != "run_succeeded" or output is None:
        return json_bytes(event)
    whole = json_bytes(event)[:-1] + b',"data":{"output":' + output + b"}}"
    if len(whole) <= EVENT_BYTES and not _deep(output):
        return whole
    event["data"] = {"output_bytes": len(output)}
    return json_bytes(event)


def definition_event(
    kind: Literal["definition_created", "definition_updated", "definition_retired"],
    *,
    id: str,
    type: str,
    name: str,
    at_ms: int,
    attributes: Mapping[str, Any],
) -> bytes:
    """Write the event of a definition that was saved or retired; it has no data."""
    return json_bytes(_own(kind, id, f"/definitions/{type}/{name}", None, at_ms, attributes))


def _own(
    kind: str, id: str, source: str, subject: str | None, at_ms: int, attributes: Mapping[str, Any]
) -> dict[str, Any]:
    event: dict[str, Any] = {"specversion": "1.0", "id": id, "type": kind, "source": source}
    if subject is not None:
        event["subject"] = subject
    event["time"] = iso_ms(at_ms)
    order = ("caller", "depth", "calldepth", "calledby", "triggerkind", "triggerreference")
    for name in (*order, "definitionversion", "causationid", "correlationid"):
        if attributes.get(name) is not None:
            event[name] = attributes[name]
    return event


def _deep(output: bytes) -> bool:
    from recallkit.events.event import too_deep

    # the data is one level around the output
    return too_deep(output, PUBLISHED_DATA_LEVELS - 1)


def history_of(texts: Sequence[bytes], name: str = "") -> tuple[History, np.ndarray[Any, np.dtype[np.int64]]]:
    """Make a history of recorded events.

    Parameters
    ----------
    texts : sequence of bytes
        The events' JSON texts in recorded order.

    Returns
    -------
    history : History
        Its events; one that cannot be read is passed over.
    places : ndarray of int64
        For each event of the history, its place among `texts`.
    """
    from recallkit.events.building import build
    from recallkit.events.lines import Reader

    def made(given: Sequence[bytes]) -> History:
        block = b"\n".join(given)
        sizes = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
        starts = np.cumsum(sizes + 1) - (sizes + 1)
        reader = Reader()
        if given:
            reader.read_texts(block, list(given), starts, sizes, np.arange(1, len(given) + 1, dtype=np.int64))
        return build([reader.finish()], block, assume=True, unit="record", name=name)

    history = made(texts)
    places = np.arange(len(texts), dtype=np.int64)
    if len(history) != len(texts):
        places = np.array([i for i, text in enumerate(texts) if isinstance(examine(text), dict)], dtype=np.int64)
        history = made([texts[i] for i in places.tolist()])
    return history, places
