"""What the default extractor reads out of Markdown, and what it leaves alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recallkit.memory.facts_extract import Markdown
from recallkit.memory.facts_model import Commit, Fact, taken

MAY = 1_777_593_600_000
DAY = 86_400_000


def facts(text: str, path: str = "alice/my-notes.md") -> list[Fact]:
    return Markdown()(Commit("c1", "team", path, 1, text, "alice", None, 0))


def told(text: str, path: str = "alice/my-notes.md") -> list[tuple[str, str, str, int]]:
    return [(fact.subject, fact.predicate, fact.object, fact.line_start) for fact in facts(text, path)]


def test_front_matter_keys_are_predicates_of_the_file() -> None:
    text = "---\ntitle: Shop\nstatus: live # since May\ntags: [a, 'b c']\nowners:\n  - Ann\n  - Bob\nempty:\n---\n"
    assert told(text) == [
        ("Shop", "status", "live", 3),
        ("Shop", "tags", "a", 4),
        ("Shop", "tags", "b c", 4),
        ("Shop", "owners", "Ann", 6),
        ("Shop", "owners", "Bob", 7),
    ]


def test_without_a_title_the_first_heading_or_the_file_name_is_the_subject() -> None:
    assert told("---\nstatus: live\n---\n# The shop\n") == [("The shop", "status", "live", 2)]
    assert told("---\nstatus: live\n---\n") == [("my notes", "status", "live", 2)]
    assert told("**Status:** live", "status.v2.md") == [("status v2", "Status", "live", 1)]


def test_bold_predicates_belong_to_their_heading() -> None:
    text = (
        "# Shop\n\n## Till ##\n- **Owner:** Ann\n* **Key**: `k1`\n__Place:__ back\n1. **No:** 1\n- [x] **Done:** yes\n"
    )
    assert told(text) == [
        ("Till", "Owner", "Ann", 4),
        ("Till", "Key", "k1", 5),
        ("Till", "Place", "back", 6),
        ("Till", "No", "1", 7),
        ("Till", "Done", "yes", 8),
    ]
    assert {(fact.section, fact.anchor) for fact in facts(text)} == {("Till", "till")}


def test_lines_that_state_a_triple() -> None:
    text = "Ann – role: lead\n- Bob — role: **cook**\nCy - role: guest\nwell-known thing: no\nA sentence: it ends."
    assert told(text) == [("Ann", "role", "lead", 1), ("Bob", "role", "cook", 2), ("Cy", "role", "guest", 3)]


def test_tables_have_their_subjects_in_the_first_column() -> None:
    text = (
        "# Pools\n\n| pool | size | owner |\n|------|:----:|---|\n| main | 5 | [[Ann]] |\n"
        "| spare | - | a \\| b |\n\n| no | table |\n"
    )
    assert told(text) == [
        ("main", "size", "5", 5),
        ("main", "owner", "Ann", 5),
        ("spare", "owner", "a | b", 6),
    ]


def test_fenced_code_and_sentences_are_left_alone() -> None:
    assert told("```yaml\nAnn – role: lead\n```\nAnn is the lead.\n~~~\n**A:** b\n~~~~\nBob – role: cook") == [
        ("Bob", "role", "cook", 8)
    ]


def test_an_object_may_say_when_it_held() -> None:
    text = (
        "Ann – role: lead (since 2026-05-01)\nAnn – desk: left (until 2026-05-02)\n"
        "Ann – car: red (2026-05-01 to 2026-05-03)\nAnn – hat: blue (from 2026-05 until 2026-05-02T00:00Z)\n"
        "Ann – pen: old (2026-05-03 to 2026-05-01)\nAnn – tea: green (2026-13-45 to 2026-05-01)"
    )
    assert [(fact.object, fact.valid_from, fact.valid_to) for fact in facts(text)] == [
        ("lead", MAY, None),
        ("left", None, MAY + DAY),
        ("red", MAY, MAY + 2 * DAY),
        ("blue", MAY, MAY + DAY),
        ("old", None, None),
        ("green", None, MAY),
    ]


def test_front_matter_bounds_the_whole_file() -> None:
    text = "---\nvalid_from: 2026-05-01\nconfidence: 0.5\n---\nAnn – role: lead\nAnn – desk: left (since 2026-05-02)"
    assert [(fact.valid_from, fact.confidence) for fact in facts(text)] == [(MAY, 0.5), (MAY + DAY, 0.5)]


def test_links_and_names_are_entities() -> None:
    kinds = {fact.object: fact.object_kind for fact in facts(
        "A – x: [[Obsidian]]\nA – x: [a note](notes.md)\nA – x: @bob\nA – x: Ann de Vries\nA – x: Left and right\n"
        "A – x: 42\nA – x: 2026-05-01\nA – x: It works.\nA – x: maybe?\nA – x: Yes"
    )}  # fmt: skip
    assert [name for name, kind in kinds.items() if kind == "entity"] == ["Obsidian", "a note", "@bob", "Ann de Vries"]
    assert next(fact.confidence for fact in facts("A – x: maybe?")) == 0.5


def test_anchors_are_those_of_a_rendered_page() -> None:
    text = "## What's *new*?\nA – x: 1\n## What's new?\nA – x: 2\n## Ünder_score — x\nA – x: 3"
    assert [fact.anchor for fact in facts(text)] == ["whats-new", "whats-new-1", "ünder_score--x"]


def test_line_endings_of_other_systems_count_as_lines() -> None:
    assert told("# A\r\n\r\nAnn – role: lead\r\n") == [("Ann", "role", "lead", 3)]


lines = st.sampled_from(
    (
        "---",
        "a: b",
        "- x",
        "# H",
        "## ",
        "**P:** o",
        "**",
        "A – b: c",
        "| a | b |",
        "|---|---|",
        "| c |",
        "```",
        "",
        ": :",
        "– –:",
    )
)


@given(st.lists(lines | st.text(max_size=30), max_size=20))
def test_any_text_gives_facts_that_are_taken(found: list[str]) -> None:
    text = "\n".join(found)
    for fact in taken(facts(text), text):
        assert fact.subject
        assert 1 <= fact.line_start <= text.count("\n") + 1
