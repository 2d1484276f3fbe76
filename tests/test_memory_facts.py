"""Facts, sentence by sentence: what a recall gives, hides and refuses; pins, scopes, passages, views, settling."""

from __future__ import annotations

from typing import Any

import pytest

from recallkit.errors import InvalidInput, NotFound, RecallkitError
from recallkit.memory import Facts, MemoryLog
from recallkit.memory.facts_extract import Markdown
from recallkit.memory.facts_model import Commit, Fact

T = 1_777_593_600_000  # 2026-05-01
DAY = 86_400_000
NOW = T + 100 * DAY


def commit(facts: Facts, path: str, text: str, **options: Any) -> str:
    return facts.commit(space="team", path=path, text=text, **{"author": "alice", "now": T, **options})


def recall(facts: Facts, query: str, **options: Any) -> Any:
    return facts.recall("team", query, **{"caller": "alice", "now": NOW, **options})


def objects(found: Any) -> list[str]:
    return [fact["object"] for fact in found.results]


@pytest.fixture
def facts() -> Facts:
    return Facts()


def test_a_fact_carries_the_fields_of_the_specification(facts: Facts) -> None:
    commit(facts, "alice/tools.md", "# Alice\n\n## Tools\n\n- Alice – note app: [[Obsidian]]")
    (fact,) = recall(facts, "What note-taking app does Alice use?").facts
    assert fact["subject"] == "Alice"
    assert fact["predicate"] == "note app"
    assert (fact["object"], fact["objectKind"]) == ("Obsidian", "entity")
    cites = {name: fact["citation"][name] for name in ("path", "version", "section", "anchor", "lineStart", "lineEnd")}
    assert cites == {
        "path": "alice/tools.md",
        "version": 1,
        "section": "Tools",
        "anchor": "tools",
        "lineStart": 5,
        "lineEnd": 5,
    }
    assert fact["validTime"] == {"from": T, "to": None}
    assert fact["recordedTime"] == {"from": T, "to": None}
    assert fact["confidence"] == 1.0
    assert (fact["pinned"], fact["archived"]) == (False, False)
    assert isinstance(fact["id"], str)
    assert "alice/tools.md version 1, section Tools, line 5" in fact["why"]


def test_a_read_never_misses_a_commit(facts: Facts) -> None:
    for place in range(5):
        commit(facts, f"n{place}.md", f"Plum – number: n{place}", now=T + place)
        assert objects(recall(facts, f"n{place}"))[0] == f"n{place}"


def test_only_what_matters_to_the_query_is_settled(facts: Facts) -> None:
    seen: list[str] = []

    def extract(each: Commit) -> list[Fact]:
        seen.append(each.path)
        return Markdown()(each)

    facts = Facts(extract=extract)
    commit(facts, "bulk.md", "\n".join(f"Cargo – bale {place}: heavy" for place in range(2_000)))
    commit(facts, "alice.md", "Alice – app: Obsidian")
    found = recall(facts, "Alice")
    assert seen == ["alice.md"]
    assert found.notes["settled"] == 1
    assert recall(facts, "alice app").notes["settled"] == 0
    assert seen == ["alice.md"]
    assert facts.settle() == 1
    assert seen == ["alice.md", "bulk.md"]


def test_a_commit_that_drops_a_word_still_retires_the_fact_that_had_it(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    recall(facts, "Obsidian")
    commit(facts, "a.md", "Nothing to say.", now=T + DAY)
    assert objects(recall(facts, "Obsidian")) == []


def test_a_changed_fact_is_written_again_with_its_valid_time(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    commit(facts, "a.md", "Alice – app: Notion", now=T + 9 * DAY)
    new, old = recall(facts, "Alice app").results
    assert (new["object"], new["validTime"]) == ("Notion", {"from": T + 9 * DAY, "to": None})
    assert (old["object"], old["validTime"]) == ("Obsidian", {"from": T, "to": T + 9 * DAY})
    assert old["recordedTime"] == {"from": T + 9 * DAY, "to": None}
    assert old["citation"]["version"] == 1
    (before,) = recall(facts, "Alice app", as_of=T + 8 * DAY).results
    assert (before["object"], before["validTime"]["to"]) == ("Obsidian", None)


def test_a_correction_only_closes(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    commit(facts, "a.md", "Alice – app: Notion", correction=True, now=T + DAY)
    found = recall(facts, "Alice app")
    assert objects(found) == ["Notion"]
    assert found.left_out["no longer believed"] == 1
    commit(facts, "a.md", "Alice is gone.", now=T + 2 * DAY)
    assert objects(recall(facts, "Alice app")) == []


def test_a_statement_that_moves_goes_on(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    (before,) = recall(facts, "app").results
    facts.pin(before["id"], now=T)
    commit(facts, "a.md", "Above.\n\nAlice – app: Obsidian\nAlice – desk: Left", now=T + DAY)
    after = recall(facts, "app").results[0]
    assert after["id"] == before["id"]
    assert after["pinned"]
    assert str(facts.passage(after, caller="alice")) == "Alice – app: Obsidian"


def test_values_of_one_file_do_not_retire_each_other_nor_those_of_another(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – likes: Tea\nAlice – likes: Coffee")
    commit(facts, "b.md", "Alice – likes: Cocoa", now=T + DAY)
    assert sorted(objects(recall(facts, "likes"))) == ["Cocoa", "Coffee", "Tea"]


def test_a_single_value_retires_that_of_another_file() -> None:
    facts = Facts(extract=Markdown(single=["status"]))
    commit(facts, "may/a.md", "Deploy – status: blocked")
    assert objects(recall(facts, "deploy status")) == ["blocked"]
    commit(facts, "june/b.md", "Deploy – Status: done", now=T + DAY)
    done, blocked = recall(facts, "deploy status", scope=None).results
    assert (done["object"], blocked["object"]) == ("done", "blocked")
    assert blocked["validTime"]["to"] == T + DAY
    # A commit outside the scope still retires what is inside.
    (past,) = recall(facts, "deploy status", scope="may").results
    assert past["validTime"]["to"] == T + DAY


def test_fewer_readers_never_retire_a_fact_of_more(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    commit(facts, "a.md", "Alice – app: Notion", author="bob", readers=["bob"], now=T + DAY)
    assert objects(recall(facts, "app", caller="carol")) == ["Obsidian"]
    assert objects(recall(facts, "app", caller="bob")) == ["Notion", "Obsidian"]
    assert recall(facts, "app", caller="bob").results[1]["validTime"]["to"] is None
    commit(facts, "a.md", "Alice – app: Logseq", now=T + 2 * DAY)
    assert objects(recall(facts, "app", caller="carol")) == ["Logseq", "Obsidian"]


def test_readers_are_those_named_and_the_author(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian", author="alice", readers=["bob"])
    assert objects(recall(facts, "app", caller="alice")) == objects(recall(facts, "app", caller="bob")) == ["Obsidian"]
    for caller in ("carol", None):
        with pytest.raises(NotFound, match="There is no space 'team'"):
            recall(facts, "app", caller=caller)
    with pytest.raises(NotFound):
        facts.files("team", caller="carol")


def test_todays_readers_decide_about_the_past(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    commit(facts, "b.md", "Bob – app: Vim")
    assert recall(facts, "Alice", caller="carol", as_of=T)
    facts.set_readers(space="team", path="a.md", readers=["bob"], author="alice", now=T + DAY)
    assert not recall(facts, "Alice", caller="carol", as_of=T)
    assert not recall(facts, "Alice", caller="carol")
    assert recall(facts, "Alice", caller="bob", as_of=T)
    facts.set_readers(space="team", path="a.md", readers=None, author="bob", now=T + 2 * DAY)
    assert recall(facts, "Alice", caller="carol", as_of=T)


def test_spaces_are_apart(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    facts.commit(space="other", path="a.md", text="Alice – app: Notion", author="bob", now=T)
    assert objects(recall(facts, "app")) == ["Obsidian"]
    assert objects(facts.recall("other", "app", now=NOW)) == ["Notion"]


def test_as_of_leaves_out_what_was_recorded_later_or_closed_by_then(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    facts.remove(space="team", path="a.md", author="alice", now=T + DAY)
    assert objects(recall(facts, "app", as_of=T - 1)) == []
    assert objects(recall(facts, "app", as_of=T)) == ["Obsidian"]
    assert objects(recall(facts, "app", as_of=T + DAY - 1)) == ["Obsidian"]
    assert objects(recall(facts, "app", as_of=T + DAY)) == []
    assert objects(recall(facts, "app", as_of="2026-05-01")) == ["Obsidian"]


def test_as_of_knows_what_was_pinned_and_forgotten_by_then(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    (fact,) = recall(facts, "app").results
    facts.pin(fact["id"], now=T + DAY)
    facts.forget(fact["id"], now=T + 2 * DAY)
    assert recall(facts, "app", as_of=T).results[0]["pinned"] is False
    assert recall(facts, "app", as_of=T + DAY).results[0]["pinned"] is True
    assert recall(facts, "app", as_of=T + 2 * DAY, include_archived=True).results == []


def test_forgotten_facts_can_be_found_and_restored(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    (fact,) = recall(facts, "app").results
    facts.forget(fact["id"], now=T)
    found = recall(facts, "app")
    assert not found.results
    assert found.left_out["forgotten"] == 1
    (archived,) = recall(facts, "app", include_archived=True).results
    assert archived["archived"]
    facts.restore_fact(archived["id"], now=T)
    assert recall(facts, "app").ids == [fact["id"]]


def test_a_forgotten_fact_does_not_come_back_as_a_past_value(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    facts.forget(recall(facts, "app").ids[0], now=T)
    commit(facts, "a.md", "Alice – app: Notion", now=T + DAY)
    assert objects(recall(facts, "app")) == ["Notion"]


def test_among_equally_relevant_facts_salience_then_recency_decide(facts: Facts) -> None:
    for place, name in enumerate(("First", "Second", "Third")):
        commit(facts, f"{place}.md", f"Plum – tool: {name}", now=T + place * DAY)
    assert objects(recall(facts, "plum")) == ["Third", "Second", "First"]
    ids = dict(zip(objects(recall(facts, "plum")), recall(facts, "plum").ids, strict=True))
    facts.access(ids["Second"], now=T + 50 * DAY)
    assert objects(recall(facts, "plum")) == ["Second", "Third", "First"]
    facts.access(ids["First"], now=T + 90 * DAY)
    assert objects(recall(facts, "plum")) == ["First", "Second", "Third"], "an access fades"
    facts.pin(ids["Third"], now=T + 91 * DAY)
    assert objects(recall(facts, "plum")) == ["Third", "First", "Second"]
    facts.unpin(ids["Third"], now=T + 91 * DAY)
    assert objects(recall(facts, "plum")) == ["First", "Second", "Third"]
    assert objects(recall(facts, "plum second")) == ["Second", "First", "Third"], "relevance comes before salience"


def test_an_exact_name_comes_first(facts: Facts) -> None:
    commit(facts, "a.md", "Pool – before ping: checks the pool\nPing – pool pre: pool ping pre")
    commit(facts, "b.md", "pool_pre_ping – owner: Bob")
    assert recall(facts, "who owns pool_pre_ping in the pool?").results[0]["subject"] == "pool_pre_ping"


def test_a_scope_is_matched_on_whole_names(facts: Facts) -> None:
    for path in ("alice/a.md", "alice/b/c.md", "alice2/a.md", "alice"):
        commit(facts, path, f"Plum – place: {path}")
    assert sorted(objects(recall(facts, "plum", scope="alice"))) == ["alice", "alice/a.md", "alice/b/c.md"]
    assert objects(recall(facts, "plum", scope="alice/b/")) == ["alice/b/c.md"]
    assert objects(recall(facts, "plum", scope="alice2/a.md")) == ["alice2/a.md"]
    with pytest.raises(NotFound, match="at or under 'alic'"):
        recall(facts, "plum", scope="alic")


def test_a_scope_restricts_what_is_settled(facts: Facts) -> None:
    commit(facts, "alice/a.md", "Plum – place: here")
    commit(facts, "bob/a.md", "Plum – place: there")
    assert recall(facts, "plum", scope="alice").notes["settled"] == 1
    assert recall(facts, "plum").notes["settled"] == 1


def test_the_limit_is_50_unless_said(facts: Facts) -> None:
    commit(facts, "a.md", "\n".join(f"Plum – number: {place}" for place in range(60)))
    found = recall(facts, "plum")
    assert len(found) == 50
    assert found.left_out["past the limit"] == 10
    assert objects(recall(facts, "plum", limit=3)) == ["0", "1", "2"]


def test_an_answer_is_written_only_when_asked_for(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian\nBob – desk: Left")
    assert recall(facts, "app").answer is None
    answer = recall(facts, "app", synthesize=True).answer
    assert answer == "Alice – app: Obsidian [a.md version 1, line 1]."
    nothing = recall(facts, "zebra", synthesize=True).answer
    assert "[" not in nothing
    assert nothing.startswith("No fact")


def test_a_synthesis_of_ones_own_takes_its_place(facts: Facts) -> None:
    def write(query: str, found: list[dict[str, Any]]) -> str:
        found[0]["subject"] = "somebody else"  # it holds copies
        return f"{query}: {len(found)}"

    facts = Facts(synthesize=write)
    commit(facts, "a.md", "Alice – app: Obsidian")
    found = recall(facts, "app", synthesize=True)
    assert found.answer == "app: 1"
    assert found.results[0]["subject"] == "Alice"


def test_a_citation_shows_its_passage_through_the_readers(facts: Facts) -> None:
    commit(facts, "a.md", "One.\n\nAlice – app: <Obsidian>\n\nFive.", readers=["bob"])
    commit(facts, "a.md", "Changed.", author="alice", readers=["bob"], now=T + DAY)
    (fact,) = recall(facts, "app", as_of=T).results
    shown = facts.passage(fact["citation"], caller="bob")
    assert shown.text == "Alice – app: <Obsidian>"
    assert (shown.path, shown.version, shown.line_start) == ("a.md", 1, 3)
    assert ">    3 Alice" in repr(shown)
    assert "&lt;Obsidian&gt;" in shown._repr_html_()
    plain = {name: value for name, value in fact["citation"].items() if name != "commit"}
    assert facts.passage(plain, caller="bob").text == shown.text
    for caller in ("carol", None):
        with pytest.raises(NotFound):
            facts.passage(fact["citation"], caller=caller)
    with pytest.raises(NotFound):
        facts.passage({**fact["citation"], "commit": "another"}, caller="bob")


def test_the_map_of_files_and_the_graph_go_through_the_same_readers(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    commit(facts, "a.md", "Alice – app: Notion\nAlice – lead: Bob", now=T + DAY)
    commit(facts, "b.md", "Bob – secret: x", author="bob", readers=["bob"], now=T + DAY)
    mapped = facts.files("team", caller="alice", now=NOW)
    assert [(each["path"], each["version"], each["versions"]) for each in mapped] == [("a.md", 2, 2)]
    assert facts.files("team", caller="bob", now=NOW).frame["path"].tolist() == ["a.md", "b.md"]
    assert facts.files("team", caller="alice", as_of=T, now=NOW).results[0]["version"] == 1
    graph = facts.graph("team", caller="alice", now=NOW)
    assert graph.edges["object"].tolist() == ["Obsidian", "Notion", "Bob"]
    assert set(graph.nodes["name"]) == {"Alice", "Obsidian", "Notion", "Bob"}
    assert len(facts.graph("team", caller="bob", now=NOW)) == 4
    facts.remove(space="team", path="a.md", author="alice", now=T + 2 * DAY)
    assert facts.files("team", caller="alice", now=NOW).results == []


def test_a_timeline_shows_both_times(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian (since 2026-01-01)")
    commit(facts, "a.md", "Alice – app: Notion", now=T + DAY)
    frame = facts.timeline("team", caller="alice", now=NOW)
    assert frame["object"].tolist() == ["Obsidian", "Obsidian", "Notion"]
    assert frame["recorded_to"].notna().tolist() == [True, False, False]
    assert frame["valid_to"].notna().tolist() == [False, True, False]
    assert str(frame["valid_from"][0].date()) == "2026-01-01"


def test_an_extractor_of_ones_own_may_give_mappings() -> None:
    def extract(each: Commit) -> list[dict[str, Any]]:
        return [
            {
                "subject": each.path,
                "predicate": "words",
                "object": str(len(each.text.split())),
                "lineStart": 1,
                "lineEnd": 1,
                "objectKind": "literal",
                "confidence": 0.25,
            }
        ]

    facts = Facts(extract=extract)
    commit(facts, "plum.md", "one two three words")
    (fact,) = recall(facts, "plum words").results
    assert (fact["object"], fact["confidence"]) == ("4", 0.25)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda each: 1 / 0, "ZeroDivisionError"),
        (lambda each: "text", "no list of facts"),
        (lambda each: [3], "neither a Fact nor a mapping"),
        (lambda each: [Fact("a", "b", "", 1, 1)], "object must be a text"),
        (lambda each: [Fact("a", "b", "c", 1, 9)], "not within the text"),
        (lambda each: [Fact("a", "b", "c", 1, 1, confidence=2)], "confidence is 2"),
        (lambda each: [Fact("a", "b", "c", 1, 1, object_kind="thing")], "objectKind"),
        (lambda each: [Fact("a", "b", "c", 1, 1, valid_from=5, valid_to=4)], "before valid_from"),
        (lambda each: [{"subject": "a", "colour": "b"}], "no field of a fact"),
        (lambda each: [{"subject": "a"}], "lacks a field"),
    ],
)
def test_a_failing_extractor_is_told_and_tried_again(given: Any, words: str) -> None:
    broken = True

    def extract(each: Commit) -> Any:
        return given(each) if broken and each.path == "bad.md" else Markdown()(each)

    facts = Facts(extract=extract)
    commit(facts, "bad.md", "Alice – app: Obsidian")
    commit(facts, "good.md", "Alice – desk: Left")
    found = recall(facts, "Alice")
    assert objects(found) == ["Left"]
    assert words in found.notes["not settled"][0]
    commit(facts, "bad.md", "Alice – app: Notion", now=T + DAY)
    broken = False
    assert objects(recall(facts, "Alice")) == ["Notion", "Left", "Obsidian"]


def test_the_memo_can_be_dropped(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    facts.pin(recall(facts, "app").ids[0], now=T)
    before = recall(facts, "app").results
    facts.drop_memo()
    facts.forget(before[0]["id"], now=T)
    assert recall(facts, "app", include_archived=True).results == [{**before[0], "archived": True}]


def test_a_recall_writes_nothing(facts: Facts) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    recall(facts, "app", synthesize=True)
    facts.graph("team", now=NOW)
    assert len(facts.log) == 1  # type: ignore[arg-type]


def test_events_that_break_the_rules_change_nothing() -> None:
    log = MemoryLog()
    facts = Facts(log)
    commit(facts, "a.md", "Alice – app: Obsidian")
    before = recall(facts, "app").to_dict()
    kinds = ("committed", "removed", "pinned", "forgotten", "shared", "accessed", "unheard")
    for place, kind in enumerate(kinds):
        for data in (None, 3, {}, {"space": "team", "path": 4, "text": "x"}, {"fact": 7}, {"fact": "no such"}):
            log.publish(
                {"id": f"{place}-{data}", "source": "/x", "type": f"facts.{kind}", "specversion": "1.0", "data": data}
            )
    assert recall(facts, "app").to_dict() | {"notes": None} == before | {"notes": None}


BAD = [
    ({"space": ""}, "space is empty"),
    ({"space": "a\nb"}, "control character"),
    ({"path": "/a.md"}, "a path begins at its space"),
    ({"path": "a/../b.md"}, "without . or"),
    ({"path": "a//b.md"}, "begins at its space"),
    ({"path": "a\\b.md"}, "parted by /"),
    ({"path": 3}, "must be a path"),
    ({"path": "a" * 1_025}, "at most 1,024"),
    ({"text": ""}, "text is empty"),
    ({"text": "x" * 1_000_000}, "1,000,000 bytes"),
    ({"text": "\ud800"}, "lone surrogate"),
    ({"author": None}, "author must be a text"),
    ({"readers": "bob"}, "list of texts"),
    ({"readers": [""]}, "readers is empty"),
    ({"readers": [f"r{place}" for place in range(257)]}, "at most 256"),
    ({"correction": "yes"}, "True or False"),
    ({"now": "yesterday"}, "no moment"),
]


@pytest.mark.parametrize(("wrong", "words"), BAD)
def test_a_bad_commit_says_what_is_wrong_and_writes_nothing(facts: Facts, wrong: dict[str, Any], words: str) -> None:
    good = {"space": "team", "path": "a.md", "text": "x", "author": "alice", "readers": None, "now": T}
    with pytest.raises(InvalidInput, match=words):
        facts.commit(**{**good, **wrong})
    assert len(facts.log) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"query": ""}, "query is empty"),
        ({"query": "  "}, "query is empty"),
        ({"query": "?!"}, "no letter and no digit"),
        ({"query": "x" * 1_000_000}, "1,000,000 characters"),
        ({"query": None}, "query must be a text"),
        ({"limit": 0}, "limit is 0; it may be 1 to 1,000"),
        ({"limit": 1_001}, "limit is 1,001"),
        ({"limit": True}, "whole number"),
        ({"as_of": NOW + 1}, "lies in the future"),
        ({"as_of": "soon"}, "no moment"),
        ({"scope": "../x"}, "scope is"),
        ({"scope": "nowhere"}, "There is no path at or under 'nowhere'"),
        ({"space": "nowhere"}, "There is no space 'nowhere'"),
        ({"synthesize": 1}, "synthesize must be True or False"),
        ({"include_archived": None}, "include_archived must be"),
        ({"caller": 3}, "caller must be a text"),
    ],
)
def test_a_bad_recall_says_what_is_wrong_and_writes_nothing(facts: Facts, wrong: dict[str, Any], words: str) -> None:
    commit(facts, "a.md", "Alice – app: Obsidian")
    good = {"space": "team", "query": "app", "caller": "alice", "now": NOW}
    with pytest.raises(RecallkitError, match=words):
        facts.recall(**{**good, **wrong})
    assert len(facts.log) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["pin", "unpin", "forget", "restore_fact", "access"])
def test_what_is_not_there_cannot_be_tuned(facts: Facts, verb: str) -> None:
    commit(facts, "b.md", "Bob – secret: x", author="bob", readers=["bob"])
    (secret,) = recall(facts, "secret", caller="bob").ids
    for id, caller in (("none", None), (secret, "alice"), (f"{secret}~", "bob")):
        with pytest.raises(NotFound, match="There is no fact"):
            getattr(facts, verb)(id, caller=caller)
    assert len(facts.log) == 1  # type: ignore[arg-type]


def test_files_that_are_not_there_cannot_be_removed_or_shared(facts: Facts) -> None:
    commit(facts, "b.md", "Bob – secret: x", author="bob", readers=["bob"])
    for path in ("a.md", "b.md"):
        with pytest.raises(NotFound, match="There is no file"):
            facts.remove(space="team", path=path, author="alice")
        with pytest.raises(NotFound, match="There is no file"):
            facts.set_readers(space="team", path=path, readers=None, author="alice")
    assert len(facts.log) == 1  # type: ignore[arg-type]


def test_parts_that_cannot_be_called_are_refused() -> None:
    with pytest.raises(InvalidInput, match="extract"):
        Facts(extract=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="synthesize"):
        Facts(synthesize="text")  # type: ignore[arg-type]
