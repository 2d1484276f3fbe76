"""The required cases of the JSON Schema test suite, on the host and in the page loop; both agree on the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import shared_dir
from page_checker import page_issues

from recallkit.definitions.schema_dialects import specification_documents
from recallkit.definitions.schemas import Schema

DRAFTS = {"draft2020-12": None, "draft7": "http://json-schema.org/draft-07/schema#"}
REQUIRED = {"draft2020-12": 1299, "draft7": 927}
# Optional cases that come out otherwise, file by file, and why.
DIFFERENT = {
    ("draft2020-12", "dependencies-compatibility.json"): "2020-12 has no `dependencies`; it is an unknown keyword",
    ("draft2020-12", "format-assertion.json"): "a format is an annotation: the formats say it is not checked",
    ("draft2020-12", "cross-draft.json"): "2019-09 is not read",
    ("draft7", "cross-draft.json"): "2019-09 is not read",
    ("draft7", "content.json"): "content keywords are annotations, as 2020-12 has them",
}


def suite() -> Path:
    return shared_dir() / "suites" / "json-schema-test-suite"


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    remotes = suite() / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(remotes).as_posix()}": json.loads(path.read_text(encoding="utf-8"))
        for path in remotes.rglob("*.json")
    }


def groups(draft: str, folder: str) -> list[tuple[str, str, Any, list[Any]]]:
    """(file, description, schema, cases) of a folder of the suite."""
    found = []
    for path in sorted((suite() / "tests" / draft / folder).glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = group["schema"]
            if DRAFTS[draft] and isinstance(schema, dict) and "$schema" not in schema:
                schema = {"$schema": DRAFTS[draft], **schema}
            found.append((path.name, group["description"], schema, group["tests"]))
    return found


def on_the_host(found: list[Any], documents: dict[str, Any]) -> list[list[list[tuple[str, str]]]]:
    told = []
    for _, _, schema, tests in found:
        checked = Schema(schema, documents=documents)
        told.append([[(issue.pointer, issue.words) for issue in checked.issues(test["data"])] for test in tests])
    return told


def in_the_page(found: list[Any], documents: dict[str, Any], **options: bool) -> list[list[list[tuple[str, str]]]]:
    documents = specification_documents() | documents
    told = []
    for file in sorted({each[0] for each in found}):
        cases = [
            {"schema": schema, "values": [test["data"] for test in tests], "documents": documents}
            for name, _, schema, tests in found
            if name == file
        ]
        told += page_issues(cases, **options)
    return told


def wrong(found: list[Any], told: list[list[list[tuple[str, str]]]]) -> list[tuple[str, str, str]]:
    return [
        (file, description, test["description"])
        for (file, description, _, tests), issues in zip(found, told, strict=True)
        for test, each in zip(tests, issues, strict=True)
        if (not each) != test["valid"]
    ]


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_host_gives_every_required_verdict(draft: str, documents: dict[str, Any]) -> None:
    found = groups(draft, "")
    assert sum(len(tests) for *_, tests in found) == REQUIRED[draft]
    assert wrong(found, on_the_host(found, documents)) == []


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize(
    "options", [{}, {"frozen": True}, {"memory": True, "frozen": True}], ids=["plain", "frozen", "memory"]
)
def test_the_page_loop_gives_every_required_verdict(
    draft: str, options: dict[str, bool], documents: dict[str, Any]
) -> None:
    found = groups(draft, "")
    assert wrong(found, in_the_page(found, documents, **options)) == []


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("folder", ["", "optional", "optional/format"])
def test_the_page_loop_says_what_the_host_says(draft: str, folder: str, documents: dict[str, Any]) -> None:
    found = groups(draft, folder)
    assert in_the_page(found, documents) == on_the_host(found, documents)


@pytest.mark.parametrize("draft", DRAFTS)
def test_optional_cases_match_but_for_those_with_a_reason(draft: str, documents: dict[str, Any]) -> None:
    found = groups(draft, "optional")
    files = {file for file, *_ in wrong(found, on_the_host(found, documents))}
    assert files <= {file for name, file in DIFFERENT if name == draft}


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_schema_of_the_suite_is_a_schema(draft: str, documents: dict[str, Any]) -> None:
    for file, description, schema, _ in groups(draft, ""):
        assert Schema(schema, documents=documents).problems() == [], (file, description)


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_second_engine_gives_the_same_verdicts(draft: str, documents: dict[str, Any]) -> None:
    quickjs = pytest.importorskip("quickjs")
    from recallkit.sandbox.schema_parts import schema_source

    engine = quickjs.Context()
    engine.eval(f"globalThis.makeChecker = {schema_source()}")
    engine.set("documents", json.dumps(specification_documents() | documents))
    found = groups(draft, "")
    told = []
    for _, _, schema, tests in found:
        engine.set("asked", json.dumps([schema, [test["data"] for test in tests]]))
        text = engine.eval("""(() => {
          const [schema, values] = JSON.parse(asked);
          const check = makeChecker(schema, { documents: JSON.parse(documents) });
          return JSON.stringify(values.map((value) => check.all(value, 9)));
        })()""")
        told.append(json.loads(text))
    assert wrong(found, told) == []
