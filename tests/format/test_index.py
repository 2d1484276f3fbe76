"""INDEX.md names a test for each sentence of the two formats: every one of them is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
INDEX = Path(__file__).parent / "INDEX.md"
FORMATS = {
    "Recall function format": "recall-function-format.txt",
    "Computation function format": "computation-function-format.txt",
}


def rows() -> list[tuple[str, str, str]]:
    """The rows as (format, words, tests)."""
    found, title = [], ""
    for line in INDEX.read_text("utf-8").split("\n"):
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("| ") and not line.startswith(("| sentence", "| ---")):
            words, tests = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
            found.append((title, words.replace("\\|", "|"), tests))
    return found


def test_every_row_names_tests_that_exist_or_says_why_none_can() -> None:
    known: dict[str, set[str]] = {}
    for _, words, tests in rows():
        if tests.startswith("not observable here: "):
            continue
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tests)
        assert named, words
        for file, name in named:
            if file not in known:
                known[file] = set(re.findall(r"^def (test_\w+)", (TESTS / file).read_text("utf-8"), re.MULTILINE))
            assert name in known[file], (words, file, name)


@pytest.mark.parametrize("title", FORMATS)
def test_the_words_stand_in_the_format_in_their_order(title: str, shared: Path) -> None:
    text = " ".join((shared / "spec" / FORMATS[title]).read_text("utf-8").split())
    at = 0
    for _, words, _ in (row for row in rows() if row[0] == title):
        for part in words.split(" … "):
            found = text.find(" ".join(part.split()), at)
            assert found >= 0, words
            at = found + 1


def test_every_section_of_both_formats_has_its_rows() -> None:
    titles = [row[0] for row in rows()]
    assert {title: titles.count(title) >= 100 for title in FORMATS} == dict.fromkeys(FORMATS, True)
