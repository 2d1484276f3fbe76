"""The overview: what the formats say it says, in their order, from the document alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallkit.definitions.filters import ABSENT, Filter
from recallkit.definitions.loading import read
from recallkit.definitions.overview import Diagram, diagram, overview
from recallkit.definitions.shapes import SHAPES
from recallkit.definitions.words import SchemaWords, code, plain

FOLD = "export function fold(view: View, event: Event): View {\n  return view;\n}\n"
ANSWER = "export function answer(view: View, input: Input): Output {\n  return 1;\n}\n"
PROGRAM = "export default function (input: Input): Output {\n  return 1;\n}\n"


def recall(front: str = "", body: str = FOLD) -> str:
    return overview(
        read(f"---\nlanguage: typescript\nsource: {{events: [{{type: order_placed}}]}}\n{front}---\n{body}")
    )


def in_this_order(text: str, *parts: str) -> None:
    at = -1
    for part in parts:
        found = text.find(part, at + 1)
        assert found > at, f"{part!r} is not after what comes before it in\n{text}"
        at = found


def phrase(schema: Any) -> str:
    return SchemaWords(schema).phrase(schema)


# The whole


def test_the_example_of_a_recall_function(campaign_reviews: str) -> None:
    text = overview(read(campaign_reviews), [("workflow", "decide-on-campaign"), ("computation", "tally-verdicts")])
    in_this_order(
        text,
        "The reviews of each campaign, latest last, as the review-brief function wrote them",
        "**What it remembers**",
        "each time a run of the reasoning function review-brief succeeds",
        "**What it keeps**",
        "at most 50 entries",
        "at most 20 items",
        "`verdict`: a text",
        "**What it answers**",
        "`campaign`: a text",
        "`last` (optional): a whole number from 1 to 50",
        "`run` (optional): a text",
        "**How the view is kept**",
        "──▶ view ──▶ answer",
        "The program is TypeScript and is shown under Source.",
        "**Used by**",
        "the workflow decide-on-campaign",
        "the computation function tally-verdicts",
    )
    assert "Before any event" not in text  # its initial view is empty
    assert "Object.hasOwn" not in text  # the module is not described


def test_the_example_of_a_computation_function(campaign_pace: str) -> None:
    text = overview(read(campaign_pace))
    in_this_order(
        text,
        "Spend, pace and projection per campaign, in cents, for a reporting period",
        "**What it needs**",
        "`rows`: a list of at most 4,000 items",
        "  - `cost_cents`: a whole number from 0 to 5,000,000",
        "`period`: a record",
        "  - `days_elapsed`: a whole number from 1 to 366",
        "**What it produces**",
        "`total_spend_cents`: a whole number",
        "The program is TypeScript and is shown under Source.",
    )
    assert "Used by" not in text


def test_a_function_without_description_or_schemas_has_an_overview_with_the_types_alone() -> None:
    text = recall()
    in_this_order(
        text,
        "no description yet",
        "each time an event of the type `order_placed`",
        "The view is any JSON value",
        "the view itself",
    )
    computed = overview(read(f"---\nlanguage: typescript\n---\n{PROGRAM}"))
    in_this_order(computed, "no description yet", "Its input is any JSON value", "Its output is any JSON value")


def test_a_module_without_answer_returns_the_view_itself(post_announcement: str) -> None:
    assert "It answers the view itself." in overview(read(post_announcement))
    assert "the view itself" not in recall(body=FOLD + ANSWER)


@pytest.mark.parametrize(
    ("initial", "shown"),
    [("{}", False), ("[]", False), ("null", False), ("''", False), ("0", True), ("{a: 1}", True), ("false", True)],
)
def test_initial_is_said_unless_it_is_empty(initial: str, shown: bool) -> None:
    assert ("Before any event it is" in recall(f"view: {{initial: {initial}}}\n")) == shown


@pytest.mark.parametrize("name", list(SHAPES))
def test_a_shape_is_said_in_a_sentence(name: str) -> None:
    body = "export default function (input: Input): Output {\n  throw new Error('none');\n}\n"
    assert SHAPES[name].words in overview(read(f"---\nlanguage: typescript\noutput: {{shape: {name}}}\n---\n{body}"))


def test_used_by_is_left_out_when_there_are_none(campaign_pace: str) -> None:
    assert "Used by" not in overview(read(campaign_pace), [])


def test_defaults_and_descriptions_of_fields_are_said() -> None:
    front = (
        "input:\n  schema:\n    type: object\n    description: Who asks\n    required: [region]\n    properties:\n"
        "      region: {type: string, description: Where it was sold, minLength: 2}\n"
        "      days: {type: integer, default: 30, description: How far back.}\n"
    )
    text = overview(read(f"---\nlanguage: typescript\n{front}---\n{PROGRAM}"))
    assert "Who asks." in text
    assert "- `region`: a text of at least 2 characters. Where it was sold." in text
    assert "- `days` (optional): a whole number. How far back. When it is left out: `30`." in text


# Filters


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            Filter({"type": "run_succeeded", "subject": "reasoning/review-brief"}),
            "each time a run of the reasoning function review-brief succeeds",
        ),
        (
            Filter({"type": "run_rejected", "subject": "workflow/send-mail"}),
            "each time a run of the workflow send-mail is rejected",
        ),
        (Filter({"type": "run_failed"}), "each time any run fails: every run of the playbook"),
        (Filter({"type": "run_started"}), "each time any run starts: every run of the playbook"),
        (
            Filter({"type": "definition_created"}),
            "each time any definition is created: every definition of the playbook",
        ),
        (
            Filter({"type": "definition_updated", "source": "/definitions/recall/notes"}),
            "each time the recall function notes is updated",
        ),
        (
            Filter({"type": "definition_retired", "source": "/elsewhere"}),
            "each time a definition is retired, with source `/elsewhere`",
        ),
        (Filter({"type": "run_succeeded", "subject": "other"}), "each time a run succeeds, with subject `other`"),
        (Filter({"type": "order_placed"}), "each time an event of the type `order_placed` is recorded"),
        (
            Filter({"type": "run_succeeded", "subject": "recall/a", "depth": 2, "caller": "playbook:x"}),
            "each time a run of the recall function a succeeds, with depth 2 and caller `playbook:x`",
        ),
        (
            Filter({"type": "a", "source": "/s"}, {"b": [1, "x"]}),
            'each time an event of the type `a` is recorded, with source `/s`, with data equal to `{"b":[1,"x"]}`',
        ),
        (Filter({"type": "a"}, None), "each time an event of the type `a` is recorded, without data"),
        (
            Filter({"type": "a"}, ABSENT, " $data.revenue > 100 "),
            "each time an event of the type `a` is recorded, when `${ $data.revenue > 100 }` holds for its data",
        ),
    ],
)
def test_a_filter_as_a_sentence(found: Filter, sentence: str) -> None:
    assert found.sentence() == sentence


def test_an_expression_is_said_as_it_is_written_however_long() -> None:
    expression = f" $data.revenue > {'1 + ' * 200}1 "
    assert f"`${{{expression}}}`" in Filter({"type": "a"}, ABSENT, expression).sentence()
    assert f'`{{"a":"{"x" * 500}"}}`' in Filter({"type": "a"}, {"a": "x" * 500}).sentence()


# Schemas


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (True, "any JSON value"),
        ({}, "any JSON value"),
        (False, "nothing: no value is allowed"),
        ({"type": "string", "maxLength": 1}, "a text of at most 1 character"),
        ({"type": "string", "format": "date"}, "a text in the form `date`"),
        ({"type": "integer", "format": "int32"}, "a whole number in the form `int32`"),
        ({"type": ["string", "null"], "format": "date"}, "a text in the form `date` or null"),
        ({"format": "date"}, "any JSON value; if a text, in the form `date`"),
        ({"minimum": 3, "maxLength": 9}, "any JSON value; if a number, from 3; if a text, of at most 9 characters"),
        ({"type": "string", "pattern": "^`a`$"}, "a text that matches ``^`a`$``"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1.5}, "a number of at most 1.5 above 0"),
        ({"type": "integer", "multipleOf": 5}, "a whole number in steps of 5"),
        ({"type": ["string", "null"]}, "a text or null"),
        ({"enum": ["a", 1, None]}, '`"a"` and'),
        ({"const": {"a": 1}}, 'exactly `{"a":1}`'),
        ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "a text or true or false"),
        (
            {"type": "array", "minItems": 2, "maxItems": 2, "uniqueItems": True},
            "a list of exactly 2 items, all different",
        ),
        ({"items": {"type": "string"}}, "a list, each a text"),
        (
            {"prefixItems": [{"type": "string"}, {"type": "null"}], "items": False},
            "a list, in order a text and null, then each nothing: no value is allowed",
        ),
        ({"properties": {"a": {}, "b": {}}}, "a record of `a` and `b`"),
        ({"type": "object", "maxProperties": 1}, "a record with at most 1 entry"),
        ({"additionalProperties": {"type": "integer"}}, "each entry under its own name a whole number"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, "true or false"),
        ({"$ref": "#"}, "a value like the one it stands in"),
        ({"type": "string", "not": {"const": "x"}}, 'a text, but not exactly `"x"`'),
        ({"type": "array", "contains": {}}, "a list, with further rules (`contains`)"),
    ],
)
def test_a_schema_in_words(schema: Any, words: str) -> None:
    if isinstance(schema, dict) and "enum" in schema:
        words = 'one of `"a"`, `1` or `null`'
    assert words in phrase(schema)


def test_records_one_level_down_are_shown_with_their_fields_and_no_deeper() -> None:
    deep = {"properties": {"a": {"properties": {"b": {"properties": {"c": {"properties": {"d": {}}}}}}}}}
    assert list(SchemaWords(deep).lines(deep)) == [
        "- `a` (optional): a record of `b`.",
        "  - `b` (optional): a record of `c`.",
    ]


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/node"}, "all": {"items": {"$ref": "#/$defs/node"}}}}
    tree = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    words = SchemaWords(tree)
    assert "a record of `next` and `all`" in words.phrase(tree)
    assert len(list(words.lines(tree))) == 6
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert SchemaWords(loop).phrase(loop) == "a value like the one it stands in"


def test_every_schema_of_others_has_words(shared: Path) -> None:
    folder = shared / "suites" / "json-schema-test-suite" / "tests" / "draft2020-12"
    for path in sorted(folder.glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            words = SchemaWords(group["schema"])
            assert words.phrase(group["schema"])
            list(words.lines(group["schema"]))


# Markdown


@given(st.text(max_size=80))
def test_any_text_stands_on_one_line_of_markdown(text: str) -> None:
    assert "\n" not in plain(text)
    assert "\n" not in code(text)
    assert "<" not in plain(text).replace("\\<", "")


def test_code_may_hold_backticks() -> None:
    assert code("a") == "`a`"
    assert code("a`b") == "``a`b``"
    assert code("`") == "`` ` ``"


def test_an_ordinary_description_is_said_as_written() -> None:
    for text in ("Keeps cost_cents, per day (UTC); 20 at most.", "3 kinds of order", "Über 50% – más"):
        assert plain(text) == text
    assert plain("# x") == "\\# x"
    assert plain("1. x") == "1\\. x"
    assert plain("<b>*x*") == "\\<b\\>\\*x\\*"


# The picture


def test_the_picture_of_a_recall_function() -> None:
    filters = "[{type: a}, {type: run_succeeded, subject: recall/b, depth: 1}]"
    text = f"---\nlanguage: typescript\nsource: {{events: {filters}}}\n---\n"
    drawn = diagram(read(text + FOLD + ANSWER))
    assert isinstance(drawn, Diagram)
    assert [(each.kind, each.label) for each in drawn.nodes] == [
        ("filter", "a"),
        ("filter", "run_succeeded recall/b by depth"),
        ("view", "View"),
        ("answer", "Answer"),
        ("input", "Input"),
    ]
    assert drawn.edges == (("filter-0", "view"), ("filter-1", "view"), ("view", "answer"), ("input", "answer"))
    assert diagram(read(text + FOLD)).edges == (("filter-0", "view"), ("filter-1", "view"), ("view", "answer"))


def test_the_picture_of_a_computation_function(campaign_pace: str) -> None:
    assert diagram(read(campaign_pace)).edges == (("input", "program"), ("program", "output"))


@pytest.mark.parametrize("count", range(1, 9))
def test_every_filter_is_drawn(count: int) -> None:
    filters = ", ".join(f"{{type: kind_{number}}}" for number in range(count))
    text = overview(read(f"---\nlanguage: typescript\nsource: {{events: [{filters}]}}\n---\n{FOLD}"))
    picture = text.split("```text\n")[1].split("\n```")[0].split("\n")
    assert len(picture) == count
    assert sum("──▶ view ──▶ answer" in line for line in picture) == 1
    assert all(f"kind_{number}" in picture[number] for number in range(count))
