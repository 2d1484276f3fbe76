"""The YAML of others: what YAML 1.2 says is read as it says, what it refuses is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from recallkit.definitions.frontmatter import read_document
from recallkit.definitions.yaml_json import read_yaml

# Valid YAML whose value JSON can say, refused on purpose: front matter has no anchors, aliases, tags or directives,
# and holds one document.
NOT_TAKEN = ("An anchor", "An alias", "A tag", "A directive", "one YAML document")

# YAML allows these and a front matter, which is a mapping, cannot meet them: a scalar at the left margin as a whole
# document, and a second document without its ---.
NO_MAPPING = {"7Z25", "DK3J", "FP8R", "M7A3"}


def _documents(text: str) -> list[Any]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


@pytest.fixture(scope="module")
def suite(shared: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((shared / "suites" / "yaml-test-suite" / "cases.json").read_text("utf-8"))
    return cases


def test_none_of_the_94_error_cases_is_read(suite: list[dict[str, Any]]) -> None:
    errors = [case for case in suite if case["error"]]
    assert len(errors) == 94
    assert [case["id"] for case in errors if not read_yaml(case["yaml"]).wrong] == []


def test_the_118_mappings_read_as_their_json_says(suite: list[dict[str, Any]]) -> None:
    mappings = [case for case in suite if case["single_mapping_document"]]
    assert len(mappings) == 118
    read = 0
    for case in mappings:
        found = read_yaml(case["yaml"])
        if found.wrong:
            assert any(words in found.wrong[0].words for words in NOT_TAKEN), (case["id"], found.wrong)
            continue
        read += 1
        assert found.value == json.loads(case["json_text"]), case["id"]
    assert read == 89  # the other 29 use anchors, aliases or tags


def test_every_other_valid_case_reads_as_its_json_says(suite: list[dict[str, Any]]) -> None:
    for case in suite:
        if case["error"] or not case["json_text"] or case["id"] in NO_MAPPING:
            continue
        found = read_yaml(case["yaml"])
        if found.wrong:
            assert any(words in found.wrong[0].words for words in NOT_TAKEN), (case["id"], found.wrong)
        else:
            assert [found.value] == _documents(case["json_text"]), case["id"]


def test_a_mapping_inside_a_document_stands_between_its_fences(suite: list[dict[str, Any]]) -> None:
    """The same as front matter of a document, where the text itself has no --- line."""
    for case in suite:
        text = case["yaml"]
        if not case["single_mapping_document"] or "---" in text or read_yaml(text).wrong:
            continue
        document = read_document(f"---\n{text}{'' if text.endswith(chr(10)) else chr(10)}---\nbody")
        assert document.problems == (), case["id"]
        assert document.front == json.loads(case["json_text"]), case["id"]


def test_the_245_scalars_of_the_core_schema(shared: Path) -> None:
    table = json.loads((shared / "suites" / "yaml-test-schema" / "data" / "schema-core.json").read_text("utf-8"))
    assert len(table) == 245
    for written, (kind, loaded, _) in table.items():
        found = read_yaml(f"value: {written}\n")
        if written.startswith("!"):
            assert "A tag" in found.wrong[0].words, written
            continue
        if kind in ("inf", "nan"):
            assert "no finite number" in found.wrong[0].words, written
            continue
        assert not found.wrong, (written, found.wrong)
        value = found.value["value"]
        expected = {
            "null": lambda text: None,
            "bool": lambda text: text == "true()",
            "int": int,
            "float": float,
            "str": str,
        }[kind](loaded)
        assert value == expected, written
        assert isinstance(value, bool) == isinstance(expected, bool), written
        if isinstance(value, float):
            assert math.isfinite(value)


PYTHON_PAIRS = (
    "chinese.txt",
    "extra-space.txt",
    "hello-markdown.md",
    "hello-world.txt",
    "network-diagrams.md",
    "unpretty.md",
)


@pytest.mark.parametrize("name", PYTHON_PAIRS)
def test_yaml_front_matter_splits_as_its_result_says(shared: Path, name: str) -> None:
    folder = shared / "suites" / "frontmatter" / "python-frontmatter" / "tests" / "yaml"
    expected = json.loads((folder / name).with_suffix(".result.json").read_text("utf-8"))
    document = read_document((folder / name).read_bytes())
    assert document.problems == ()
    assert document.body.strip() == expected.pop("content").strip()
    if name == "unpretty.md":
        # Their reader is of YAML 1.1, where yes is true; in 1.2, and here, it is text.
        expected["destination"]["encoding"]["xz"]["enabled"] = "yes"
        expected["destination"]["result"]["print_to_stdout"] = "yes"
    assert document.front == expected


def test_what_is_no_front_matter_of_ours_is_refused(shared: Path) -> None:
    folder = shared / "suites" / "frontmatter" / "python-frontmatter" / "tests"
    # Four dashes open none here (the runtime's rule), nor do +++ and {; an empty one says nothing.
    for name in ("yaml/extra-dash.txt", "toml/hello-toml.md", "json/hello-json.md", "empty/no-frontmatter.txt"):
        assert [problem.line for problem in read_document((folder / name).read_bytes()).problems] == [1], name
    assert [
        problem.line for problem in read_document((folder / "empty/empty-frontmatter.txt").read_bytes()).problems
    ] == [2]


def test_front_matter_in_another_language_is_refused_and_never_run(shared: Path) -> None:
    folder = shared / "suites" / "frontmatter" / "gray-matter"
    fenced = [path for path in sorted(folder.rglob("*.md")) if path.read_text("utf-8").startswith("---")]
    assert len(fenced) > 20
    for path in fenced:
        opener = path.read_text("utf-8").splitlines()[0]
        document = read_document(path.read_bytes())
        if opener.strip("- \t"):
            assert "never read or run" in document.problems[0].words, path.name
            assert document.front == {}, path.name


@pytest.mark.parametrize(
    "name", ["test/fixtures/complex.md", "benchmark/fixtures/complex.md", "test/fixtures/lang-yaml.md"]
)
def test_gray_matters_yaml_is_read(shared: Path, name: str) -> None:
    document = read_document((shared / "suites" / "frontmatter" / "gray-matter" / name).read_bytes())
    assert all("body" in problem.words for problem in document.problems), document.problems
    assert document.front
