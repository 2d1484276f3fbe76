"""tests/memory/INDEX.md names a test for each sentence of the three memory systems: all are there, none is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
INDEX = TESTS / "memory" / "INDEX.md"
SPECIFICATIONS = ("signal-recall.txt", "team-memory-recall.txt", "fact-recall.txt")
# What a page has besides its sentences: titles of one to four words, tags, the heads and rules of tables
ORNAMENT = re.compile(r"\s*(#+ .*|<[^>]*>|</?\w+|\| Name \|.*|\|[-| ]*|Table.*|Field.*|Option.*|```.*|[{}\[\]]+)\s*")


def rows() -> list[tuple[str, str, str]]:
    """The rows as (specification, words, tests)."""
    found, title = [], ""
    for line in INDEX.read_text("utf-8").split("\n"):
        if line.startswith("## "):
            title = line[3:]
        elif line.startswith("| ") and not line.startswith(("| sentence", "| ---")):
            words, tests = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
            found.append((title, words.replace("\\|", "|"), tests))
    return found


def test_every_row_names_tests_that_exist_or_says_why_none_can() -> None:
    assert {row[0] for row in rows()} == set(SPECIFICATIONS)
    for _, words, tests in rows():
        if tests.startswith("not observable here: "):
            continue
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tests)
        assert named, words
        for file, name in named:
            assert f"\ndef {name}(" in (TESTS / file).read_text("utf-8"), (words, file, name)


def places(specification: str, text: str) -> list[int]:
    """Where each row's words stand in a text, in their order."""
    at, found = 0, []
    for _, words, _ in (row for row in rows() if row[0] == specification):
        for part in words.split(" … "):
            place = text.find(" ".join(part.split()), at)
            assert place >= 0, words
            found.append(place)
            at = place + 1
    return found


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_every_paragraph_of_a_specification_has_a_row_in_its_order(specification: str, shared: Path) -> None:
    text = (shared / "spec" / specification).read_text("utf-8")
    whole = " ".join(text.split())
    found = places(specification, whole)
    at = 0
    for paragraph in re.split(r"\n\s*\n|\n(?=\|)|(?<=\|)\n|\n(?=[^\n]*\t)", text):
        said = " ".join(line.strip() for line in paragraph.split("\n") if not ORNAMENT.fullmatch(line))
        if len(re.findall(r"\w{2,}", said)) < 6:
            continue
        flat = " ".join(paragraph.split())
        begin = whole.index(flat, at)
        at = begin + len(flat)
        assert any(begin <= place < at for place in found), flat
