"""The check of a document's TypeScript, by the compiler itself, in a worker process of its own."""

from __future__ import annotations

from recallkit.definitions.checker.client import Checked, Expression, check_module, close, warm

__all__ = ["Checked", "Expression", "check_module", "close", "warm"]
