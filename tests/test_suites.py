"""Every folder of ../shared/suites has its outcome tested; here are those parts that no other test is about."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import HypothesisException
from hypothesis_jsonschema import from_schema
from test_types_accept import exact_type

from recallkit.definitions.checker import check_module
from recallkit.definitions.loading import check
from recallkit.definitions.schemas import Schema
from recallkit.definitions.types import declarations

# Where the outcome of each folder is tested.
TESTED = {
    "json-schema-test-suite": ["test_schema_suite.py"],
    "json-test-suite-nst": ["test_json_suite.py", "test_suites.py"],
    "cloudevents-conformance": ["test_cloudevents_suites.py"],
    "cloudevents-sdk-java-fixtures": ["test_cloudevents_suites.py"],
    "yaml-test-suite": ["test_yaml_suites.py"],
    "yaml-test-schema": ["test_yaml_suites.py"],
    "frontmatter": ["test_yaml_suites.py"],
    "json-schema-to-typescript": ["test_types.py", "test_suites.py"],
}


def test_every_folder_has_its_outcome_tested(shared: Path) -> None:
    folders = {path.name for path in (shared / "suites").iterdir() if path.is_dir()}
    assert folders - set(TESTED) <= {"locomo"}  # what the memory systems are measured on
    assert set(TESTED) <= folders
    for folder, files in TESTED.items():
        for file in files:
            assert folder in (Path(__file__).parent / file).read_text("utf-8"), (folder, file)


# JSON as a value of a document

FOLD = "export function fold(view: View, event: Event): View {\n  return view;\n}\n"
# What YAML 1.2, or what a document may hold, says otherwise than JSON.
REFUSED_AS_A_VALUE = {
    "y_object_duplicated_key": "a key that stands twice is refused",
    "y_object_duplicated_key_and_value": "a key that stands twice is refused",
    "y_string_nonCharacterInUTF-8_U+FFFF": "U+FFFF is no character of YAML",
    "y_string_with_del_character": "U+007F is no printable character of YAML",
    "y_string_unescaped_char_delete": "U+007F is no printable character of YAML",
}


def test_json_as_a_documents_value(shared: Path) -> None:
    refused = set()
    for path in sorted((shared / "suites" / "json-test-suite-nst" / "test_parsing").glob("*.json")):
        try:
            text = path.read_bytes().decode("utf-8").strip(" \t\r\n\ufeff").replace("\r", " ").replace("\n", " ")
        except UnicodeDecodeError:
            continue  # no document is like that: tests/test_documents.py
        document = (
            f"---\nlanguage: typescript\nsource: {{events: [{{type: t}}]}}\nview: {{initial: {text}}}\n---\n{FOLD}"
        )
        errors = [problem for problem in check(document, "recall") if problem.severity == "error"]
        for problem in errors:
            assert len(problem.words) > 20, path.name
        if path.name.startswith("y_") and errors:
            refused.add(path.stem)
    assert refused == set(REFUSED_AS_A_VALUE)


# What a schema accepts, the type accepts

LEFT_OUT = re.compile(r'"\$ref": "(?!#)|"(patternProperties|tsType|tsEnumNames|\$dynamicRef|\$recursiveRef)"')


@pytest.mark.slow
def test_the_types_of_the_outside_schemas_accept_what_the_schemas_accept(shared: Path) -> None:
    paths = sorted((shared / "suites" / "json-schema-to-typescript" / "inputs").glob("*.json"))
    compared = 0
    for path in paths:
        text = path.read_text("utf-8")
        schema = json.loads(text)
        if LEFT_OUT.search(text) or Schema(schema).problems():
            continue  # other files, types that no JSON Schema knows, or members that a closed type leaves out
        values = drawn(schema)
        if not values:
            continue
        lines = [f"type V{number} = {exact_type(value)};" for number, value in enumerate(values)]
        lines += [f"export function f{n}(v: V{n}): View {{ return v; }}" for n in range(len(values))]
        lines.append(FOLD)
        found = check_module("recall", "\n".join(lines), 1, declarations("recall", view=schema)).problems
        assert found == [], (path.name, lines, found)
        compared += 1
    assert compared >= 40


def typed(schema: Any) -> Any:
    """The schema as the formats read it: properties are an object, closed unless true opens it."""
    if isinstance(schema, list):
        return [typed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: each if name in ("enum", "const", "default") else typed(each) for name, each in schema.items()}
    if not {"type", "enum", "const", "$ref"} & set(schema):
        if isinstance(schema.get("properties"), dict) or isinstance(schema.get("additionalProperties"), dict | bool):
            made["type"] = "object"
        elif "items" in schema:
            made["type"] = "array"
    if isinstance(schema.get("properties"), dict) and schema.get("additionalProperties") is not True:
        made["additionalProperties"] = False
    return made


def drawn(schema: Any) -> list[Any]:
    """Some values that the schema accepts, as far as hypothesis-jsonschema can draw them."""
    values: list[Any] = []

    @settings(
        max_examples=3,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(from_schema(typed(schema)))
    def draw(value: Any) -> None:
        if len(json.dumps(value)) < 3_000 and Schema(schema).accepts(value):
            values.append(value)

    try:
        draw()
    except (HypothesisException, Exception):
        return []
    return values[:6]


@pytest.mark.parametrize("folder", TESTED)
def test_each_folder_names_its_licence(folder: str, shared: Path) -> None:
    assert (shared / "suites" / folder / "SOURCE.txt").is_file()
