"""Three recall systems of memory over one event history: signals, team memory and facts.

Each is a fold over CloudEvents and a pure query over it. To write is to publish an event to a playbook, or to append it
to a history in memory; a read sees what was written a moment before; an index is a memo that can be dropped.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recallkit.memory.facts import Facts
    from recallkit.memory.log import MemoryLog
    from recallkit.memory.recalled import Recalled
    from recallkit.memory.signals import Signals
    from recallkit.memory.team import TeamMemory

__all__ = ["Facts", "MemoryLog", "Recalled", "Signals", "TeamMemory"]

# name → the module that has it (PEP 562)
_LAZY = {
    "Facts": "recallkit.memory.facts",
    "MemoryLog": "recallkit.memory.log",
    "Recalled": "recallkit.memory.recalled",
    "Signals": "recallkit.memory.signals",
    "TeamMemory": "recallkit.memory.team",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'recallkit.memory' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
