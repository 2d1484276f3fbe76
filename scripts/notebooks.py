"""Brings the lessons to the form they are kept in: ``python scripts/notebooks.py [--check] [NOTEBOOK ...]``.

Outputs are stripped, so that a lesson's difference in a review is what somebody wrote; the tests run each lesson and
look at what comes out. Cell ids are numbers in order, and no widget's state or machine's name is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

FOLDER = Path(__file__).parent.parent / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def normal(text: str) -> str:
    """Return a notebook's text in the form it is kept in."""
    notebook = nbformat.reads(text, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        cell["id"] = f"cell-{number:02}"
        cell.source = cell.source.strip("\n")
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    language = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": language})
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return nbformat.writes(notebook, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Rewrite the notebooks, or with --check say which are not in their form."""
    only_check = "--check" in arguments
    named = [Path(each) for each in arguments if not each.startswith("-")]
    wrong = []
    for path in named or sorted(FOLDER.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        kept = normal(text)
        if kept != text:
            wrong.append(path)
            if not only_check:
                path.write_text(kept, encoding="utf-8")
    for path in wrong:
        print(f"{path}: {'not in its form; run scripts/notebooks.py' if only_check else 'rewritten'}")
    return 1 if wrong and only_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
