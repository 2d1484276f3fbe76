"""What the operations give back: dicts with attributes, and lists with the cursor of the next page."""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from collections.abc import Iterable
from typing import Any, Final

from recallkit.errors import InvalidInput

LIST_MOST: Final = 100
LIST_USUAL: Final = 20
TYPES: Final = ("reasoning", "interaction", "computation", "recall", "workflow")
KEPT_TYPES: Final = ("recall", "computation")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{2,47}")


class Record(dict[str, Any]):
    """A dict whose members can be read as attributes too; one that is not there is None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)


class Listing(list[Record]):
    """A page of a list.

    Attributes
    ----------
    cursor : str or None
        Give it to the same operation for the next page; None at the end.
    """

    def __init__(self, rows: Iterable[Record] = (), cursor: str | None = None) -> None:
        super().__init__(rows)
        self.cursor = cursor


def listed(rows: list[tuple[int, Record]], limit: int, prefix: str) -> Listing:
    """Cut rows that were read one past the limit, and say where the next page begins."""
    more = len(rows) > limit
    kept = rows[:limit]
    return Listing((record for _, record in kept), to_cursor(prefix, kept[-1][0]) if more else None)


def to_cursor(prefix: str, position: int) -> str:
    """Write an opaque cursor."""
    return base64.urlsafe_b64encode(f"{prefix}:{position}".encode()).decode().rstrip("=")


def from_cursor(prefix: str, cursor: Any) -> int | None:
    """Read a cursor that this operation gave."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(str(cursor) + "=" * (-len(str(cursor)) % 4)).decode("ascii")
        found, _, digits = text.partition(":")
        if found == prefix and digits.isdigit() and len(digits) < 19:
            return int(digits)
    except (binascii.Error, ValueError):
        pass
    raise InvalidInput("The cursor is none that this operation gave.", "/cursor")


def check_limit(limit: Any) -> int:
    """Check how many rows are asked for."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIST_MOST:
        raise InvalidInput(f"limit takes a whole number from 1 to {LIST_MOST}.", "/limit")
    return limit


def check_type(type: Any, *, kept: bool = False) -> str:
    """Check a definition's type; with `kept`, one that this kit keeps."""
    if type not in TYPES:
        raise InvalidInput(f"type is one of {', '.join(TYPES)}.", "/type")
    if kept and type not in KEPT_TYPES:
        raise InvalidInput(f"This kit keeps recall and computation functions; not a {type} definition.", "/type")
    return str(type)


def check_name(name: Any) -> str:
    """Check a definition's name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        words = "name takes 3 to 48 lowercase letters, digits and hyphens, and starts with a letter."
        raise InvalidInput(words, "/name")
    return name


def check_run_id(run_id: Any) -> str:
    """Check a run's id, and write it in lower case."""
    try:
        if isinstance(run_id, uuid.UUID):
            return str(run_id)
        if isinstance(run_id, str) and len(run_id) == 36:
            return str(uuid.UUID(run_id))
    except ValueError:
        pass
    raise InvalidInput("run_id is a UUID, such as 0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b71.", "/run_id")


def check_caller(caller: Any) -> str:
    """Check who acts."""
    if not isinstance(caller, str) or not 1 <= len(caller) <= 256 or not caller.isprintable() or not caller.strip():
        raise InvalidInput("caller takes 1 to 256 printable characters.", "/caller")
    return caller
