"""Patterns are ECMAScript's, and none can hang the kernel."""

from __future__ import annotations

import pytest

from recallkit.definitions import patterns, schemas
from recallkit.definitions.issue_words import TOO_LONG
from recallkit.definitions.patterns import pattern_problems, search
from recallkit.definitions.schemas import Issue, Schema

HOPELESS = "^(([a-z])+.)+[A-Z]([a-z])+$"
LONG = "a" * 60


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^\p{Letter}+$", "żółw", True),
        (r"^\p{Script=Greek}$", "λ", True),
        (r"^.$", "\N{TURTLE}", True),
        (r"^\d$", "\N{ARABIC-INDIC DIGIT ONE}", False),
        (r"a$", "a\n", False),
        (r"\cA", "\x01", True),
        ("b", "abc", True),
    ],
)
def test_a_pattern_is_read_as_ecmascript_reads_it(pattern: str, text: str, found: bool) -> None:
    assert search([(pattern, text)]) == [found]


@pytest.mark.parametrize("pattern", ["(", r"\Z", r"^\-$", "(?<n>a)(?<n>b)", "a{2,1}"])
def test_what_ecmascript_refuses_is_a_problem_of_the_schema(pattern: str) -> None:
    assert set(pattern_problems([pattern, "fine"])) == {pattern}
    [(pointer, words)] = Schema({"properties": {"a": {"pattern": pattern}}}, "/input/schema").problems()
    assert pointer == "/input/schema/properties/a/pattern"
    assert "no regular expression of ECMAScript" in words
    [(pointer, _)] = Schema({"patternProperties": {pattern: True}}).problems()
    assert pointer.startswith("/patternProperties/")


def test_a_pattern_that_backtracks_for_ever_is_an_issue_and_spoils_no_other() -> None:
    schema = Schema({"items": {"anyOf": [{"pattern": "^b"}, {"pattern": HOPELESS}]}})
    assert schema.accepts(["b", "bcd"])
    told = Schema({"properties": {"slow": {"pattern": HOPELESS}, "quick": {"pattern": "^b"}}})
    assert told.issues({"slow": LONG, "quick": "c"}) == [
        Issue("/slow", f'could not be checked: the pattern "{HOPELESS}" takes too long'),
        Issue("/quick", 'must match the pattern "^b"'),
    ]
    assert told.issues({"quick": "b"}) == []


def test_a_member_whose_name_a_pattern_is_not_done_with_is_an_issue() -> None:
    schema = Schema({"patternProperties": {HOPELESS: {"type": "string"}}, "additionalProperties": False})
    assert [issue.pointer for issue in schema.issues({LONG: 1})] == [f"/{LONG}"]


def test_patterns_reached_only_through_other_patterns_are_tried() -> None:
    inner: dict[str, object] = {"pattern": "^z$"}
    value: object = "y"
    for _ in range(12):
        inner = {"patternProperties": {"^a$": inner, "^b$": False}}
        value = {"a": value}
    assert Schema(inner).issues(value) == [Issue("/a" * 12, 'must match the pattern "^z$"')]
    assert Schema({"not": inner}).accepts(value)


def test_the_rounds_of_a_check_share_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    # each `if` is reached only once the answer of the one around it is known, the slow patterns only behind them all
    monkeypatch.setattr(schemas, "SCHEMA_SECONDS", 0.0)
    inner: dict[str, object] = {"additionalProperties": {"pattern": HOPELESS}}
    for number in range(12):
        inner = {"if": {"properties": {"z": {"pattern": f"^{number}$"}}}, "else": inner}
    asked: list[int] = []
    monkeypatch.setattr(patterns, "search", lambda pairs: asked.append(len(pairs)) or [False] * len(pairs))
    value = {"z": "q", **{f"k{number}": LONG + str(number) for number in range(50)}}
    assert Schema(inner).issues(value) == [Issue("", TOO_LONG)]
    assert len(asked) < 12
    assert not Schema(inner).accepts(value)
