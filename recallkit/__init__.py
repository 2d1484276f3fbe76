"""recallkit: a bench for recall functions, where a history of events is folded to a view and the fold is watched.

Importing it is cheap: a name below brings its part of the kit, and with it pandas, the engine or Node, when it is first
read.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recallkit.errors import (
    Conflict,
    EngineError,
    HistoryError,
    InvalidInput,
    NotFound,
    Problem,
    RecallkitError,
    Refused,
    Stopped,
    Unavailable,
)

if TYPE_CHECKING:
    from recallkit.events.history import History
    from recallkit.events.readers import read_history
    from recallkit.folding import Folding
    from recallkit.functions import ComputationFunction, RecallFunction, check, load
    from recallkit.parallel import fold_all, fold_each
    from recallkit.playbook.playbook import Playbook

__version__ = "0.1.0"

__all__ = [
    "ComputationFunction",
    "Conflict",
    "EngineError",
    "Folding",
    "History",
    "HistoryError",
    "InvalidInput",
    "NotFound",
    "Playbook",
    "Problem",
    "RecallFunction",
    "RecallkitError",
    "Refused",
    "Stopped",
    "Unavailable",
    "__version__",
    "check",
    "fold_all",
    "fold_each",
    "load",
    "read_history",
]

# name → the module that has it (PEP 562). Keep it equal to the imports for type checkers above.
_LAZY = {
    "ComputationFunction": "recallkit.functions",
    "Folding": "recallkit.folding",
    "History": "recallkit.events.history",
    "Playbook": "recallkit.playbook.playbook",
    "RecallFunction": "recallkit.functions",
    "check": "recallkit.functions",
    "fold_all": "recallkit.parallel",
    "fold_each": "recallkit.parallel",
    "load": "recallkit.functions",
    "read_history": "recallkit.events.readers",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'recallkit' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def load_ipython_extension(ipython: Any) -> None:
    """Add the magics to a shell: ``%load_ext recallkit``."""
    from recallkit.magics import RecallMagics

    RecallMagics(ipython).register()
