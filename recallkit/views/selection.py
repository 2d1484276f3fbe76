"""Which events of a history a recall function considers, and by which of its filters (recall, Filters)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recallkit.definitions.filters import Absent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recallkit.definitions.recall import RecallDefinition
    from recallkit.events.history import History


@dataclass(frozen=True, slots=True)
class Selection:
    """The events whose attributes some filter matches, in recorded order.

    Attributes
    ----------
    seqs : array of int64
        Their positions in the history.
    masks : array of uint8
        For each, one bit a filter whose attributes match it; the data decides inside the sandbox.
    sizes : array of int64
        The bytes of each event's text.
    """

    seqs: NDArray[np.int64]
    masks: NDArray[np.uint8]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seqs)


def select(definition: RecallDefinition, history: History, *, name: str | None = None) -> Selection:
    """Choose the events that a definition's filters may take.

    Parameters
    ----------
    definition : RecallDefinition
        Whose filters.
    history : History
        The events.
    name : str, optional
        The function's name in its playbook: it never folds the events of its own runs (recall, The events).

    Returns
    -------
    Selection
        The considered events; a filter's condition on data is left to the sandbox.
    """
    masks = np.zeros(len(history), dtype=np.uint8)
    for bit, each in enumerate(definition.filters):
        masks[each.matches_attributes(history)] |= np.uint8(1 << bit)
    if name is not None:
        own = history.equals("subject", f"recall/{name}")
        own[own] = [str(source).startswith("/runs/") for source in history.attribute("source")[own]]
        masks[own] = 0
    chosen = np.flatnonzero(masks)
    seqs = history.seqs[chosen]
    return Selection(seqs, masks[chosen], history.sizes()[chosen])


def conditions(definition: RecallDefinition) -> list[tuple[bool, str]]:
    """Return each filter's condition on data for the page loop: (compiled, text)."""
    told: list[tuple[bool, str]] = []
    for each, expression in zip(definition.filters, definition.expressions, strict=True):
        if expression is not None:
            told.append((True, f"(($data) => (\n{expression}\n))"))
        elif isinstance(each.data, Absent):
            told.append((False, "null"))
        else:
            value: dict[str, Any] = {"kind": "value", "value": each.data}
            told.append((False, json.dumps(value)))
    return told
