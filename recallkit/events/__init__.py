"""Event histories: reading them, and handing them out as they were recorded."""

from __future__ import annotations

from recallkit.events.history import History
from recallkit.events.readers import read_history

__all__ = ["History", "read_history"]
