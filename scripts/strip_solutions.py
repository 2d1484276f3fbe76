"""Makes the students' copies of the lessons: ``python scripts/strip_solutions.py [-o FOLDER] [NOTEBOOK ...]``.

A cell tagged ``solution`` is left out; everything else stays as it is. The copies go to build/students, or where -o
says; the lessons themselves are not touched. They need an installed recallkit and nothing else: the documents and
histories that they read come with it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def without_solutions(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without its cells tagged ``solution``."""
    kept = [cell for cell in notebook["cells"] if "solution" not in cell.get("metadata", {}).get("tags", [])]
    return {**notebook, "cells": kept}


def main(arguments: list[str] | None = None) -> int:
    """Write the copies."""
    parser = argparse.ArgumentParser(description="Copies the lessons without their solutions.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "students", help="the folder to write to")
    parser.add_argument("notebooks", nargs="*", type=Path, help="the lessons; all of them when left out")
    options = parser.parse_args(arguments)
    lessons = options.notebooks or sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    options.output.mkdir(parents=True, exist_ok=True)
    for lesson in lessons:
        target = options.output / lesson.name
        if target.resolve() == lesson.resolve():
            print(f"{lesson} would be written over; name another folder with -o.", file=sys.stderr)
            return 2
        notebook = json.loads(lesson.read_text(encoding="utf-8"))
        stripped = without_solutions(notebook)
        target.write_text(json.dumps(stripped, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        print(f"{target}: {len(notebook['cells']) - len(stripped['cells'])} solution cells left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
