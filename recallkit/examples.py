"""Where the example documents and the small histories stand: in the repository, or else in the wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from recallkit.errors import NotFound

_PACKAGE: Final = Path(__file__).parent
# The repository first: an editable install then reads what its author has just edited.
_PLACES: Final = {
    "functions": (_PACKAGE.parent / "notebooks" / "functions", _PACKAGE / "assets" / "examples" / "functions"),
    "data": (_PACKAGE.parent / "data", _PACKAGE / "assets" / "examples" / "data"),
    "reports": (_PACKAGE.parent / "notebooks" / "reports", _PACKAGE / "assets" / "examples" / "reports"),
}


def example(kind: Literal["functions", "data", "reports"], name: str) -> Path:
    """Find an example document or a small history, wherever the working folder is.

    Parameters
    ----------
    kind : {'functions', 'data', 'reports'}
        A function document, an event history, or a report's template.
    name : str
        The file's name, such as ``campaign-reviews.md`` or ``campaign-reviews.jsonl``.

    Returns
    -------
    pathlib.Path
        A file that exists.

    Raises
    ------
    NotFound
        No example has that name; the message lists those there are.
    """
    for place in _PLACES[kind]:
        if (place / name).is_file():
            return place / name
    names = sorted({path.name for place in _PLACES[kind] if place.is_dir() for path in place.iterdir()})
    raise NotFound(f"there is no example named {name} among {kind}: {', '.join(names) or 'none is installed'}")
