"""The one door to ``jsonschema`` and what it brings: imported here, and quickly.

Where ``rfc3987_syntax`` is installed, as it is beside Jupyter, importing ``jsonschema`` builds that package's grammar,
a second of work, for the formats ``iri`` and ``iri-reference`` that recallkit never checks. Here the grammar is built
when somebody first checks one of them; for everyone else in the process ``jsonschema`` is as it always is.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_GRAMMAR = "rfc3987_syntax"


@contextlib.contextmanager
def grammar_later() -> Iterator[None]:
    """While ``jsonschema`` is imported, let the grammar's package be a function that imports it when it is called."""
    if "jsonschema" in sys.modules or _GRAMMAR in sys.modules or find_spec(_GRAMMAR) is None:
        yield
        return

    def is_valid_syntax(term: str, value: str) -> bool:
        return bool(import_module(_GRAMMAR).is_valid_syntax(term, value))

    stand_in = ModuleType(_GRAMMAR)
    stand_in.is_valid_syntax = is_valid_syntax  # type: ignore[attr-defined]
    sys.modules[_GRAMMAR] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(_GRAMMAR) is stand_in:
            del sys.modules[_GRAMMAR]


with grammar_later():
    import referencing.jsonschema
    from jsonschema import Draft7Validator, Draft202012Validator, validators
    from jsonschema.exceptions import ValidationError
    from jsonschema_specifications import REGISTRY as SPECIFICATIONS
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable

DRAFT_2020 = referencing.jsonschema.DRAFT202012
DRAFT_7 = referencing.jsonschema.DRAFT7

__all__ = [
    "DRAFT_7",
    "DRAFT_2020",
    "SPECIFICATIONS",
    "Draft7Validator",
    "Draft202012Validator",
    "Registry",
    "Resource",
    "Unresolvable",
    "ValidationError",
    "validators",
]
