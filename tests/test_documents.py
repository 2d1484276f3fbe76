"""Documents: which are read, which are refused, with the pointer, the line and a sentence (both formats, Fields)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recallkit as rk
from recallkit.bounds import DOCUMENT_BYTES
from recallkit.definitions import checker, recall
from recallkit.definitions.computation import ComputationDefinition
from recallkit.definitions.frontmatter import in_order, read_document
from recallkit.definitions.loading import check, detect_kind, read, read_path_or_text
from recallkit.definitions.recall import RecallDefinition
from recallkit.definitions.shapes import SHAPES
from recallkit.errors import InvalidInput, Problem, Refused, Unavailable

FOLD = "export function fold(view: View, event: Event): View {\n  return view;\n}\n"
PROGRAM = "export default function (input: Input): Output {\n  return 1;\n}\n"


def recall_text(front: str = "", body: str = FOLD, events: str = "source: {events: [{type: order_placed}]}\n") -> str:
    return f"---\nlanguage: typescript\n{events}{front}---\n{body}"


def computation_text(front: str = "", body: str = PROGRAM) -> str:
    return f"---\nlanguage: typescript\n{front}---\n{body}"


def only(problems: list[Problem]) -> Problem:
    errors = [each for each in problems if each.severity == "error"]
    assert len(errors) == 1, [str(each) for each in errors]
    return errors[0]


def told(text: str) -> tuple[str | None, int | None]:
    problem = only(check(text))
    return problem.pointer, problem.line


# What is read


def test_the_formats_examples_are_read(campaign_reviews: str, post_announcement: str, campaign_pace: str) -> None:
    reviews, announcements, pace = read(campaign_reviews), read(post_announcement), read(campaign_pace)
    assert isinstance(reviews, RecallDefinition)
    assert isinstance(announcements, RecallDefinition)
    assert isinstance(pace, ComputationDefinition)
    assert (reviews.answers, announcements.answers) == (True, False)
    assert (reviews.initial, announcements.initial) == ("{}", "[]")
    assert reviews.description == "The reviews of each campaign, latest last, as the review-brief function wrote them"
    assert reviews.input_schema["required"] == ["campaign"]
    assert announcements.input_schema is None
    assert pace.output_schema["required"] == ["campaigns", "total_spend_cents"]
    assert check(campaign_reviews) == check(post_announcement) == check(campaign_pace) == []


def test_initial_is_null_when_left_out_and_json_as_the_engine_has_it() -> None:
    assert read(recall_text()).initial == "null"  # type: ignore[union-attr]
    text = recall_text('view:\n  initial: {b: 1.0, 10: -0, 9: 9007199254740993, a: "\\ud800é", e: 1e21, f: 1e-7}\n')
    found = read(text)
    assert isinstance(found, RecallDefinition)
    assert found.initial == '{"9":9007199254740992,"10":0,"b":1,"a":"\\ud800é","e":1e+21,"f":1e-7}'


def test_the_module_keeps_the_documents_lines(campaign_reviews: str) -> None:
    found = read(campaign_reviews)
    written = campaign_reviews.split("\n")
    line = next(number for number, text in enumerate(written) if text.startswith("export function answer"))
    assert found.module.split("\n")[line].startswith("export function answer(")


def test_a_byte_order_mark_crlf_and_blanks_after_the_fences_are_taken() -> None:
    text = "\ufeff" + recall_text("view: {initial: 7}\n").replace("---\n", "--- \t\n").replace("\n", "\r\n")
    for source in (text, text.encode("utf-8")):
        found = read(source)
        assert isinstance(found, RecallDefinition)
        assert found.initial == "7"
    wrong = only(check(text.replace("return view", "return vieww")))
    assert (wrong.line, wrong.column) == (7, 10)


def test_a_second_byte_order_mark_is_refused() -> None:
    assert only(check("\ufeff\ufeff" + recall_text())).line == 1


def test_the_kind_is_told_from_the_document() -> None:
    def kind(front: str, body: str) -> str:
        return detect_kind(read_document(f"---\n{front}\n---\n{body}"))

    assert kind("source: {events: []}", PROGRAM) == "recall"
    assert kind("view: {}", PROGRAM) == "recall"
    assert kind("language: typescript", FOLD) == "recall"
    assert kind("language: typescript", PROGRAM) == "computation"
    assert any("source.events is required" in each.words for each in check(computation_text(body=FOLD)))
    assert any(each.pointer == "/source" for each in check(recall_text(), "computation"))


def test_the_body_is_kept_as_written() -> None:
    document = read_document("---\na: 1\n---\n\n  x\r\n---\ny")
    assert (document.body, document.body_line) == ("\n  x\r\n---\ny", 4)


# The document as a whole


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "--- alone on the first line"),
        ("x", "--- alone on the first line"),
        (" ---\na: 1\n---\nx", "--- alone on the first line"),
        ("----\na: 1\n----\nx", "--- alone on the first line"),
        ("---js\n{}\n---\nx", "js is never read or run"),
        ("---toml\na = 1\n---\nx", "toml is never read or run"),
        ("---json\n{}\n---\nx", "json is never read or run"),
        ("+++\na = 1\n+++\nx", "TOML"),
        ("---\na: 1\n", "never closed"),
        ("---\na: 1\n --- \nx", "never closed"),
        ("---", "never closed"),
        ("\n---\na: 1\n---\nx", "--- alone on the first line"),
    ],
)
def test_what_opens_no_front_matter_is_refused_at_line_1(source: str, words: str) -> None:
    problem = only(check(source))
    assert problem.line == 1
    assert words in problem.words


@pytest.mark.parametrize(("front", "line"), [("", 2), ("# nothing\n", 2), ("- a\n", 2), ("text\n", 2), ("~\n", 2)])
def test_front_matter_that_is_no_mapping_is_refused(front: str, line: int) -> None:
    assert only(check(f"---\n{front}---\n{PROGRAM}")).line == line


def test_bytes_that_are_not_utf_8_are_refused_with_their_line() -> None:
    problem = only(check(b"---\nlanguage: typescript\n---\n// \xff\n"))
    assert problem.line == 4
    assert "UTF-8" in problem.words
    assert only(check("---\nlanguage: typescript\n---\n// \ud800\n")).line == 4


@pytest.mark.parametrize("filling", ["x", "é", "😀"])
def test_a_document_takes_65_536_bytes_of_utf_8(filling: str) -> None:
    start = recall_text() + "//"
    room = DOCUMENT_BYTES - len(start.encode())
    size = len(filling.encode())
    fitting = start + filling * (room // size) + "x" * (room % size)
    assert len(fitting.encode()) == DOCUMENT_BYTES
    assert check(fitting) == []
    assert "65,536 bytes in UTF-8; this one takes 65,537" in only(check(fitting + "x")).words
    # the bound is on the document's bytes, and a byte order mark, though it is dropped when read, takes three of them
    for marked in ("\ufeff" + fitting, ("\ufeff" + fitting).encode()):
        assert "this one takes 65,539" in only(check(marked)).words
    assert read("\ufeff" + fitting[:-3]).kind == read(fitting).kind


def test_a_document_without_a_body_is_refused_with_its_other_problems() -> None:
    problems = check("---\nlanguage: typescript\nkeep: 1\n---\n \n")
    assert [(each.pointer, each.line) for each in problems] == [("/keep", 3), (None, 5)]
    assert "this document has none" in problems[1].words


# Fields


@pytest.mark.parametrize("name", ["model", "config", "tools", "output.format", "input.default"])
@pytest.mark.parametrize("make", [recall_text, computation_text])
def test_the_fields_of_a_reasoning_function_do_not_apply(make: Any, name: str) -> None:
    section, _, inner = name.partition(".")
    front = f"{section}:\n  {inner}: x\n" if inner else f"{section}: x\n"
    problem = only(check(make(front)))
    assert problem.pointer == "/" + name.replace(".", "/")
    assert f"{name} is a field of a reasoning function and does not apply here" in problem.words


@pytest.mark.parametrize(
    ("text", "pointer", "line"),
    [
        (recall_text("keep: 1\n"), "/keep", 4),
        (recall_text("view:\n  initial: 0\n  keep: 5\n"), "/view/keep", 6),
        (recall_text("output:\n  shape: series\n"), "/output/shape", 5),
        (recall_text(events="source:\n  events: [{type: a}]\n  runs: 1\n"), "/source/runs", 5),
        (computation_text("view: {initial: 0}\n").replace("view:", "viewing:"), "/viewing", 3),
        (computation_text("a/b: 1\n"), "/a~1b", 3),
    ],
)
def test_unknown_fields_are_refused_and_the_known_ones_listed(text: str, pointer: str, line: int) -> None:
    problem = only(check(text))
    assert (problem.pointer, problem.line) == (pointer, line)
    assert " takes " in problem.words


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        (recall_text("view: 5\n"), "/view"),
        (recall_text("view:\n"), "/view"),
        (recall_text("view: {schema: text}\n"), "/view/schema"),
        (recall_text("input: [1]\n"), "/input"),
        (recall_text("description: 5\n"), "/description"),
        (recall_text("description: [a]\n"), "/description"),
        (recall_text(events="source: [a]\n"), "/source"),
        (recall_text(events="source: {events: {type: a}}\n"), "/source/events"),
        (recall_text(events="source: {}\n"), "/source/events"),
        (recall_text(events="source:\n"), "/source"),
        (recall_text(events="view: {}\n"), "/source"),
        (computation_text("output: {schema: 5}\n"), "/output/schema"),
        (computation_text("output: {shape: 5}\n"), "/output/shape"),
        (computation_text("output: {shape: pie}\n"), "/output/shape"),
        (computation_text("output: {shape: text, schema: {}}\n"), "/output/shape"),
    ],
)
def test_wrong_kinds_of_value_and_missing_fields_are_refused(text: str, pointer: str) -> None:
    assert told(text)[0] == pointer


@pytest.mark.parametrize("language", ["python", "TypeScript", "javascript", "'typescript '"])
def test_another_language_is_refused_in_the_formats_sentence(language: str) -> None:
    for make in (recall_text, computation_text):
        problem = only(check(make().replace("typescript", language)))
        assert problem.words == "The playbook's one language is TypeScript; write the program as a TypeScript function"
        assert (problem.pointer, problem.line) == ("/language", 2)


def test_a_language_that_is_no_text_is_refused_in_the_same_sentence() -> None:
    assert "one language is TypeScript" in only(check(computation_text().replace("typescript", "5"))).words


@pytest.mark.parametrize(("length", "fits"), [(0, False), (1, True), (1_000, True), (1_001, False)])
@pytest.mark.parametrize("character", ["k", "😀"])
def test_a_description_takes_1_to_1_000_characters(character: str, length: int, fits: bool) -> None:
    problems = check(computation_text(f'description: "{character * length}"\n'))
    assert [each.pointer for each in problems] == ([] if fits else ["/description"])


# Schemas and the initial view


def test_a_schema_that_is_none_is_refused_at_its_line() -> None:
    problem = only(check(recall_text("view:\n  initial: 0\n  schema:\n    type: integer\n    minimum: low\n")))
    assert (problem.pointer, problem.line) == ("/view/schema/minimum", 8)


def test_initial_must_match_the_schema_and_null_stands_for_none() -> None:
    problem = only(
        check(
            recall_text("view:\n  initial: {a: [1, x]}\n  schema: {additionalProperties: {items: {type: integer}}}\n")
        )
    )
    assert (problem.pointer, problem.line) == ("/view/initial/a/1", 5)
    assert "view.schema refuses view.initial" in problem.words
    missing = only(check(recall_text("view: {schema: {type: array}}\n")))
    assert (missing.pointer, missing.line) == ("/view/initial", 4)
    assert check(recall_text('view: {schema: {type: [array, "null"]}}\n')) == []


def test_the_size_of_initial_is_checked_before_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    front = 'view:\n  initial: "ééé"\n  schema: {type: integer}\n'
    assert "view.schema refuses" in only(check(recall_text(front))).words
    monkeypatch.setattr(recall, "VIEW_BYTES", 7)
    problem = only(check(recall_text(front)))
    assert (problem.pointer, problem.words) == (
        "/view/initial",
        "view.initial takes at most 7 bytes as JSON; this one takes 8",
    )
    monkeypatch.setattr(recall, "VIEW_BYTES", 8)
    assert "view.schema refuses" in only(check(recall_text(front))).words


def test_a_pattern_is_refused_in_a_computation_function_and_warned_of_in_a_recall_function() -> None:
    front = "input:\n  schema:\n    properties:\n      pattern: {type: string, pattern: '^a'}\n"
    problem = only(check(computation_text(front)))
    assert (problem.pointer, problem.line) == ("/input/schema/properties/pattern/pattern", 6)
    assert len(check(computation_text(front))) == 1  # told once, as an error
    warning = check(recall_text(front))
    assert [(each.severity, each.pointer) for each in warning] == [
        ("warning", "/input/schema/properties/pattern/pattern")
    ]
    assert read(recall_text(front)).warnings == tuple(warning)


def test_a_shapes_schema_is_the_output_schema() -> None:
    bodies = {
        "series": 'return [{ x: 1, y: 2 }, { x: 2, y: null, series: "b" }];',
        "categories": 'return [{ category: "a", value: 2 }];',
        "table": 'return [{ a: 1, b: "x", c: null }];',
        "text": 'return "a";',
    }
    for name, shape in SHAPES.items():
        body = f"export default function (input: Input): Output {{\n  {bodies[name]}\n}}\n"
        found = read(computation_text(f"output: {{shape: {name}}}\n", body))
        assert isinstance(found, ComputationDefinition)
        assert (found.output_schema, found.shape) == (shape.schema, name)


def test_the_rules_of_the_shapes() -> None:
    series = SHAPES["series"].rule
    assert series is not None
    assert series([]) is None
    assert series([{"x": 1, "y": 1}, {"x": 1, "y": 2}, {"x": 3.5, "y": None}]) is None
    assert series([{"x": 2, "y": 1}, {"x": 1, "y": 1}])[0] == "/1/x"  # type: ignore[index]
    assert series([{"x": "2026-02", "y": 1, "series": "a"}, {"x": "2026-01", "y": 1, "series": "b"}]) is None
    assert series([{"x": "2026-02", "y": 1}, {"x": "2026-01", "y": 1}])[0] == "/1/x"  # type: ignore[index]
    assert series([{"x": "2026-02", "y": 1}, {"x": 3, "y": 1}])[0] == "/1/x"  # type: ignore[index]
    categories, table = SHAPES["categories"].rule, SHAPES["table"].rule
    assert categories is not None
    assert table is not None
    assert categories([{"category": "a", "value": 1}, {"category": "a", "value": 1, "series": "b"}]) is None
    assert categories([{"category": "a", "value": 1}, {"category": "a", "value": 2}])[0] == "/1/category"  # type: ignore[index]
    assert table([{"a": 1, "b": 2}, {"b": 1, "a": None}]) is None
    assert table([{"a": 1}, {"a": 1, "b": 2}])[0] == "/1"  # type: ignore[index]
    assert table([{"a": 1}, {}])[0] == "/1"  # type: ignore[index]


# The order and number of problems


def test_yaml_errors_end_the_reading() -> None:
    problems = check("---\nlanguage: python\nkeep: 1\na: 1\na: 2\n---\nlet x\n")
    assert [each.line for each in problems] == [5]


def test_unknown_fields_and_wrong_kinds_come_before_the_rest() -> None:
    text = recall_text("keep: 1\nview: 5\n").replace("typescript", "python")
    assert [each.pointer for each in check(text)] == ["/keep", "/view"]


def test_language_schemas_filters_and_initial_are_told_together_and_the_compiler_is_not_asked() -> None:
    events = "source:\n  events:\n    - {type: a, depth: 0}\n    - {Type: a}\n"
    view = "view:\n  initial: x\n  schema: {type: integer}\ninput: {schema: {type: texts}}\n"
    problems = check(recall_text(view, "let x = nothing;\n", events).replace("typescript", "python"))
    assert [(each.pointer, each.line) for each in problems] == [
        ("/language", 2),
        ("/source/events/0/depth", 5),
        ("/source/events/1/type", 6),
        ("/source/events/1/Type", 6),
        ("/view/initial", 8),
        ("/input/schema/type", 10),
    ]


def test_compiler_problems_stand_at_the_documents_line() -> None:
    problem = only(check(recall_text("view: {initial: 0}\n", "\n" + FOLD.replace("return view", "return nothing"))))
    assert (problem.line, problem.pointer) == (8, None)
    assert "Cannot find name 'nothing'" in problem.words


def test_at_most_20_problems_are_told_and_then_how_many_more() -> None:
    front = "".join(f"field{number}: 1\n" for number in range(23))
    problems = check(computation_text(front))
    assert len(problems) == 21
    assert [each.line for each in problems[:20]] == list(range(3, 23))
    assert "3 more problems" in problems[20].words


def test_problems_are_sorted_by_line_without_repeats() -> None:
    one, two = Problem("b", line=2), Problem("a", line=1)
    assert in_order([one, two, one]) == (two, one)


# Doors


def test_a_path_or_a_text(tmp_path: Path) -> None:
    file = tmp_path / "function.md"
    file.write_text(computation_text(), encoding="utf-8")
    assert read(file).source == read(str(file)).source == read(computation_text()).source
    assert check(file) == check(str(file)) == []
    assert read_path_or_text(str(file)) == computation_text().encode()
    assert read_path_or_text("---") == "---"


def test_a_missing_file_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no file"):
        read(tmp_path / "none.md")
    with pytest.raises(InvalidInput, match="There is no file"):
        read("none.md")
    with pytest.raises(InvalidInput, match="is a folder; give a path"):
        read(tmp_path)
    with pytest.raises(InvalidInput, match="There is no file x/y"):
        read("x/y")


@pytest.mark.parametrize("source", [None, 5, 5.0, True, [], {}, object(), ["---"]])
def test_what_is_neither_text_nor_path_is_refused_in_words(source: Any) -> None:
    for function in (read, check):
        with pytest.raises(InvalidInput, match=f"a text or the path of a file, not {type(source).__name__}"):
            function(source)


@pytest.mark.parametrize("source", ["", " ", "\ufeff"])
def test_an_empty_document_is_told_as_that(source: str) -> None:
    with pytest.raises(InvalidInput):
        read(source)
    assert only(check(source)).words == "A document starts with its front matter: --- alone on the first line"
    with pytest.raises(InvalidInput, match="The document is empty; give a path, or the document's text"):
        read("")


def test_a_path_that_is_not_there_is_a_problem_of_a_check(tmp_path: Path) -> None:
    # check never raises on content, and a line that looks like a path is told as one
    wanted = "give a path, or the document's text, which starts with ---"
    for path, words in {
        "none.md": f"There is no file none.md; {wanted}",
        "./no where.markdown": f"There is no file ./no where.markdown; {wanted}",
        str(tmp_path): f"{tmp_path} is a folder; {wanted}",
        "a\ud800.md": f"a\\ud800.md is no path of a file; {wanted}",
        "a\0.md": f"a\\x00.md is no path of a file; {wanted}",
    }.items():
        problem = only(check(path))
        assert problem == Problem(words)
    long = only(check("x" * 5000 + ".md"))
    assert "File name too long" in long.words
    assert len(long.words) < 400
    with open(tmp_path / "large.md", "wb") as file:
        file.truncate(3 << 30)
    assert "takes 3,221,225,472 bytes; a document takes at most 65,536" in only(check(str(tmp_path / "large.md"))).words
    assert only(check("hello")).line == 1  # a text that opens no front matter


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert "is no regular file" in only(check(str(tmp_path / "pipe.md"))).words
    with pytest.raises(InvalidInput, match="is no regular file"):
        read(tmp_path / "pipe.md")


def test_the_bytes_of_a_document_or_of_a_path(tmp_path: Path) -> None:
    class Place:
        def __fspath__(self) -> bytes:
            return os.fsencode(tmp_path / "place.md")

    (tmp_path / "place.md").write_text(computation_text(), encoding="utf-8")
    assert rk.load(Place()).name == "place"
    assert rk.load(computation_text().encode()).name == ""
    assert rk.load("\ufeff" + computation_text()).name == ""


def test_a_refused_document_carries_its_problems() -> None:
    with pytest.raises(Refused) as refused:
        read(computation_text("keep: 1\n"))
    assert [each.pointer for each in refused.value.problems] == ["/keep"]
    assert "keep is no field" in str(refused.value)


def test_no_ready_checker_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_ready(*_: Any) -> checker.Checked:
        raise Unavailable("no checker is ready")

    monkeypatch.setattr("recallkit.definitions.computation.check_module", none_ready)
    with pytest.raises(Unavailable):
        check(computation_text())
    assert only(check(computation_text("keep: 1\n"))).pointer == "/keep"  # told without one


FRONT_LINES = """\
language: typescript
language:
source: {events: [{type: a}]}
source: {events: []}
source: {events: [5, {data: '${ }'}, {type: '${ x }'}]}
view:
view: {initial: 1}
view: {schema: {$ref: '#/a'}}
  schema: {type: 5}
input: {schema: true}
output: {shape: series}
- x
a: &b
\tq: 1
description: ''
#
'
__proto__: 1"""
FRONTS = st.lists(st.sampled_from(FRONT_LINES.split("\n")), max_size=5)


@settings(max_examples=60)
@given(FRONTS, st.sampled_from(["", "\n", FOLD, "let", "\x00"]), st.sampled_from(["\n", "\r\n"]))
def test_check_never_raises_on_content(front: list[str], body: str, end: str) -> None:
    text = end.join(["---", *front, "---", body])
    problems = check(text)
    lines = [each.line for each in problems if each.line]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_check_never_raises_on_what_is_no_document(source: str | bytes) -> None:
    assert check(source)
