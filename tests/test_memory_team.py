"""Team memory: every sentence, parameter, default and bound of its specification, on every place it stands on."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from memory_harness import PLACES, open_place, written
from test_memory_search import hashed

import recallkit as rk
from recallkit.errors import Conflict, InvalidInput, NotFound
from recallkit.memory import MemoryLog, TeamMemory
from recallkit.memory.team_projects import normal_remote, normal_root


@pytest.fixture(params=PLACES)
def team(request: pytest.FixtureRequest, tmp_path: Path) -> TeamMemory:
    return TeamMemory(open_place(request, tmp_path), embed=hashed)


def texts(found: Any) -> list[str]:
    return [result["text"] for result in found.results]


def test_the_signature_is_the_specifications() -> None:
    parameters = inspect.signature(TeamMemory.recall).parameters
    assert {name: parameter.default for name, parameter in parameters.items() if name not in ("self", "agent")} == {
        "query": inspect.Parameter.empty,
        "caller": inspect.Parameter.empty,
        "scope": "org",
        "space": None,
        "project": None,
        "limit": 10,
    }


def test_the_limit_is_10_unless_said_and_1_to_50(team: TeamMemory) -> None:
    ids = {team.remember(f"pool {n}", author="ann") for n in range(51)}
    whole = team.recall("pool", caller="ann", limit=50)
    assert len(whole) == 50
    assert set(whole.ids) < ids
    assert whole.left_out["past the limit"] == 1
    assert team.recall("pool", caller="ann").ids == whole.ids[:10]
    assert team.recall("pool", caller="ann", limit=1).ids == whole.ids[:1]


def test_the_specifications_examples_are_taken(team: TeamMemory) -> None:
    auth = team.remember("In the API we handle auth errors with a retry", author="ann")
    invoices = team.remember("The invoices generate at night", author="ann", space="billing")
    outside = team.remember("The invoices generate nowhere else", author="ann")
    middle = team.remember("In the middle of moving the queue", author="ann", agent="coder", visibility="private")
    token = team.remember("KLIO_METRICS_TOKEN is read at start-up", author="ann")
    assert team.recall("how do we handle auth errors in the API?", caller="bob").ids[0] == auth
    found = team.recall("when do invoices generate?", caller="bob", space="billing", limit=5)
    assert found.ids[0] == invoices
    assert outside not in found.ids
    question = "what was I in the middle of?"
    assert team.recall(question, caller="ann", scope="agent", agent="coder").ids == [middle]
    assert team.recall("KLIO_METRICS_TOKEN", caller="bob").ids[0] == token


def test_a_memory_comes_back_with_what_was_remembered(team: TeamMemory) -> None:
    id = team.remember("Invoices at noon", author="ann", agent="coder", space="billing", visibility="private")
    assert isinstance(id, str)
    found = team.recall("invoices", caller="ann")
    (result,) = found.results
    expected = {
        "id": id,
        "author": "ann",
        "agent": "coder",
        "space": "billing",
        "project": None,
        "visibility": "private",
    }
    assert {name: result[name] for name in expected} == expected
    assert "words" in result["matched_by"]
    assert "shares words (invoices)" in result["why"]
    assert "private to you" in result["why"]
    assert found.frame["id"].tolist() == [id]
    assert "Invoices at noon" in found._repr_html_()


def test_a_read_sees_what_another_wrote_a_moment_before(team: TeamMemory) -> None:
    other = TeamMemory(team.log, embed=hashed)
    for number in range(4):
        id = other.remember(f"pool note{number}", author="bob")
        assert team.recall(f"note{number}", caller="ann").ids[0] == id


def test_private_is_the_authors_and_shared_is_everyones(team: TeamMemory) -> None:
    mine = team.remember("pool secret", author="ann", visibility="private")
    ours = team.remember("pool plan", author="ann")
    assert set(team.recall("pool", caller="ann").ids) == {mine, ours}
    assert team.recall("pool", caller="bob").ids == [ours]
    assert team.recall("pool", caller="ann", scope="private").ids == [mine]
    assert team.recall("pool", caller="bob", scope="private").ids == []


def test_agent_is_what_the_agent_wrote_and_the_caller_may_see(team: TeamMemory) -> None:
    team.remember("pool secret", author="ann", agent="coder", visibility="private")
    ours = team.remember("pool plan", author="ann", agent="coder")
    team.remember("pool other", author="bob", agent="tester")
    assert team.recall("pool", caller="bob", scope="agent", agent="coder").ids == [ours]
    assert len(team.recall("pool", caller="ann", scope="agent", agent="coder")) == 2
    with pytest.raises(NotFound, match="agent=…"):
        team.recall("pool", caller="ann", scope="agent")
    team.remember("pool by itself", author="coder", agent="coder")
    assert len(team.recall("pool", caller="coder", scope="agent")) == 2


def test_superseded_memories_never_come_back(team: TeamMemory) -> None:
    team.register_project("api", members=["ann"])
    one = team.remember("pool of one", author="ann", project="api", space="infra")
    two = team.remember("pool of two", author="ann", supersedes=one, space="other")
    three = team.remember("pool of three", author="ann", supersedes=two)
    narrowings: list[dict[str, Any]] = [{}, {"project": "api"}, {"space": "infra"}, {"scope": "agent", "agent": "x"}]
    team.remember("something", author="ann", agent="x")
    for narrowing in narrowings:
        found = team.recall("pool", caller="ann", **narrowing)
        assert not {one, two} & set(found.ids), narrowing
        assert found.left_out["superseded"] == 2
    assert team.recall("pool", caller="ann").ids == [three]
    assert team.recall("pool", caller="ann").results[0]["supersedes"] == [two]
    team.forget(three)
    for narrowing in narrowings:
        assert not {one, two, three} & set(team.recall("pool", caller="ann", **narrowing).ids)


def test_one_that_is_there_already_may_supersede(team: TeamMemory) -> None:
    old = team.remember("pool old", author="ann")
    new = team.remember("pool new", author="bob")
    team.supersede(old, successor=new, by="bob")
    assert team.recall("pool", caller="ann").ids == [new]
    with pytest.raises(InvalidInput, match="the newer one"):
        team.supersede(new, successor=old)


def test_a_successor_less_visible_is_refused_and_nothing_is_written(team: TeamMemory) -> None:
    team.register_project("api", members=["ann"])
    team.register_project("web", members=["ann"])
    team.add_member("ann", space="closed")
    shared = team.remember("pool plan", author="ann")
    in_api = team.remember("pool plan of api", author="ann", project="api")
    before = written(team)
    less: list[dict[str, Any]] = [
        {"supersedes": shared, "visibility": "private"},
        {"supersedes": shared, "project": "api"},
        {"supersedes": in_api, "project": "web"},
        {"supersedes": in_api, "project": "api", "visibility": "private"},
        {"supersedes": shared, "space": "closed"},
        {"supersedes": [in_api, shared], "project": "api"},
    ]
    for given in less:
        with pytest.raises(Conflict, match="less visible") as caught:
            team.remember("pool new", author="ann", **given)
        assert caught.value.kind == "less_visible"
    assert written(team) == before
    team.remember("pool new of api", author="ann", project="api", supersedes=in_api)
    team.remember("pool new", author="ann", supersedes=shared)
    mine = team.remember("pool mine", author="ann", visibility="private")
    team.remember("pool mine, told to all", author="ann", supersedes=mine)


def test_nobody_supersedes_or_forgets_what_they_may_not_see(team: TeamMemory) -> None:
    secret = team.remember("pool secret", author="ann", visibility="private")
    before = written(team)
    with pytest.raises(NotFound, match="no memory with the id") as hidden:
        team.remember("pool new", author="bob", supersedes=secret)
    with pytest.raises(NotFound, match="no memory with the id") as absent:
        team.remember("pool new", author="bob", supersedes="unknown")
    assert str(hidden.value).replace(secret, "unknown") == str(absent.value)
    with pytest.raises(NotFound):
        team.forget(secret, by="bob")
    assert written(team) == before
    team.forget(secret, by="ann")
    assert team.recall("pool", caller="ann").ids == []
    with pytest.raises(NotFound):
        team.forget(secret)


def test_a_project_comes_first_then_what_is_unfiled_never_another(team: TeamMemory) -> None:
    team.register_project("api", name="API", members=["ann", "bob"])
    team.register_project("web", name="Web", members=["ann"])
    unfiled = [team.remember(f"pool pool pool unfiled {n}", author="bob") for n in range(3)]
    other = team.remember("pool pool pool of web", author="ann", project="web")
    own = team.remember("a long text about many other things, and once about a pool", author="bob", project="api")
    found = team.recall("pool", caller="ann", project="API")
    assert found.ids[0] == own
    assert set(found.ids[1:]) == set(unfiled)
    assert found.left_out["in other projects"] == 1
    assert "fills up after the project's" in found.results[1]["why"]
    assert team.recall("pool", caller="ann", project="api", limit=2).ids == [own, found.ids[1]]
    assert other in team.recall("pool", caller="ann").ids
    assert other not in team.recall("pool", caller="bob").ids
    assert {own, other}.isdisjoint(team.recall("pool", caller="cy").ids)


def test_a_project_is_named_by_remote_root_id_or_display_name(team: TeamMemory) -> None:
    remote = "git@git.example.com:Shop/api.git"
    team.register_project("p1", name="The API", remote=remote, root="/srv/api/", members=["ann"])
    team.register_project("p2", name="Twin", members=["ann"])
    team.register_project("p3", name="twin ", members=["ann", "bob"])
    id = team.remember("pool", author="ann", project="p1")
    names = ["p1", remote, "https://git.example.com/Shop/api", "ssh://git@git.example.com:22/Shop/api.git/", "/srv/api"]
    for name in [*names, "the  api", "https://ann:token@git.example.com/Shop/api.git"]:
        assert team.recall("pool", caller="ann", project=name).ids == [id]
    with pytest.raises(InvalidInput, match="display name of several: p2, p3"):
        team.recall("pool", caller="ann", project="TWIN")
    # Only those that one belongs to are meant.
    assert team.recall("pool", caller="bob", project="Twin").ids == []
    assert "token" not in "".join(team.history().text(seq) for seq in team.history().seqs)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("git@github.com:org/repo.git", "github.com/org/repo"),
        ("https://GitHub.com/org/repo/", "github.com/org/repo"),
        ("https://user:secret@github.com/org/repo.git", "github.com/org/repo"),
        ("ssh://git@github.com/org/repo", "github.com/org/repo"),
        ("ssh://git@host:2222/org/repo.git", "host:2222/org/repo"),
        ("git://host:9418/org/repo", "host/org/repo"),
        ("host:org/repo", "host/org/repo"),
        ("ftp://host/x", None),
        ("https://host", None),
        ("https://host:port/x", None),
        ("C:\\code\\api", None),
        ("The API", None),
        ("/srv/api", None),
    ],
)
def test_git_remotes_are_normalised(given: str, expected: str | None) -> None:
    assert normal_remote(given) == expected


def test_root_paths_are_normalised() -> None:
    assert normal_root("/srv//api/../api/") == "/srv/api"
    assert normal_root("C:\\Code\\api\\") == normal_root("c:/Code/api") == "c:/Code/api"
    assert normal_root("srv/api") is None


def test_a_registered_name_is_no_other_projects(team: TeamMemory) -> None:
    given: dict[str, Any] = {"name": "API", "remote": "https://h/o/r", "root": "/srv/api"}
    assert team.register_project("api", **given) == "api"
    before = written(team)
    team.register_project("api", **given)
    assert written(team) == before
    for other in (
        {"id": "api", "name": "Other"},
        {"id": "b", "remote": "git@h:o/r.git"},
        {"id": "b", "root": "/srv/api/"},
    ):
        with pytest.raises(Conflict, match=r"registered|is that of the project api"):
            team.register_project(**other)
    for wrong in (
        {"id": "b", "remote": "not a remote"},
        {"id": "b", "root": "srv"},
        {"id": ""},
        {"id": "b", "name": ""},
    ):
        with pytest.raises(InvalidInput):
            team.register_project(**wrong)
    assert written(team) == before
    team.register_project("api", **given, members=["ann"])
    assert written(team) == before + 1


def test_a_space_confines_and_is_its_members_once_it_has_any(team: TeamMemory) -> None:
    inside = team.remember("pool inside", author="ann", space="infra")
    team.remember("pool outside", author="ann")
    assert team.recall("pool", caller="bob", space="infra").ids == [inside]
    assert team.recall("pool", caller="bob", space="infra").left_out["in other spaces"] == 1
    team.add_member("ann", space="infra")
    assert inside not in team.recall("pool", caller="bob").ids
    with pytest.raises(NotFound, match="space 'infra' is none that you may see"):
        team.recall("pool", caller="bob", space="infra")
    with pytest.raises(NotFound, match="space 'infra' is none that bob belongs to"):
        team.remember("pool", author="bob", space="infra")
    assert team.recall("pool", caller="ann", space="infra").ids == [inside]
    team.add_member("bob", space="infra")
    assert team.recall("pool", caller="bob", space="infra").ids == [inside]
    team.add_member("ann", space="empty")
    assert team.recall("pool", caller="ann", space="empty").ids == []


def test_an_exact_identifier_beats_what_is_merely_about_it() -> None:
    team = TeamMemory()
    named = team.remember("KLIO_METRICS_TOKEN is read at start-up", author="ann")
    for _ in range(20):
        team.remember("metrics metrics token token: how we handle the klio metrics and their token", author="ann")
    scattered = team.remember("a klio of metrics, each with a token", author="ann")
    found = team.recall("KLIO_METRICS_TOKEN", caller="bob", limit=50)
    assert found.ids[0] == named
    assert found.results[0]["matched_by"][0] == "literal"
    assert "literal" not in next(result for result in found if result["id"] == scattered)["matched_by"]
    assert team.recall("klio metrics token", caller="bob").ids[0] == named


def test_a_paraphrase_is_found_by_its_meaning() -> None:
    pytest.importorskip("wordllama")
    team = TeamMemory()
    id = team.remember("Employees get 25 days off a year", author="ann")
    team.remember("The build server has 16 cores", author="ann")
    found = team.recall("vacation policy", caller="bob")
    assert found.ids == [id]
    assert found.results[0]["matched_by"] == ["meaning"]
    assert TeamMemory(team.log, embed=False).recall("vacation policy", caller="bob").ids == []
    assert TeamMemory(team.log, floor=0.9).recall("vacation policy", caller="bob").ids == []


def test_a_thread_lends_the_words_around_but_never_hidden_ones() -> None:
    team = TeamMemory(embed=False)
    team.remember("which database do we take?", author="ann", thread="t")
    answer = team.remember("the second one, agreed", author="bob", thread="t")
    assert answer in team.recall("database", caller="cy").ids
    other = TeamMemory(embed=False)
    other.remember("which database do we take?", author="ann", thread="t", visibility="private")
    other.remember("the second one, agreed", author="bob", thread="t")
    assert other.recall("database", caller="cy").ids == []


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"query": ""}, InvalidInput, "query is empty"),
    ({"query": " \n"}, InvalidInput, "query is empty"),
    ({"query": None}, InvalidInput, "query must be a text"),
    ({"query": "x" * 1_048_576}, InvalidInput, "1,048,576 characters; at most 2,000"),
    ({"caller": ""}, InvalidInput, "caller is empty"),
    ({"caller": None}, InvalidInput, "caller must be a text"),
    ({"scope": "team"}, InvalidInput, "scope is 'team'; it may be 'org', 'agent', 'private'"),
    ({"scope": None}, InvalidInput, "scope is None"),
    ({"limit": 0}, InvalidInput, "limit is 0; it may be 1 to 50"),
    ({"limit": 51}, InvalidInput, "limit is 51"),
    ({"limit": 1.0}, InvalidInput, "limit must be a whole number"),
    ({"space": "nowhere"}, NotFound, "space 'nowhere'"),
    ({"space": "hidden"}, NotFound, "space 'hidden'"),
    ({"space": ""}, InvalidInput, "space is empty"),
    ({"project": "nowhere"}, NotFound, "project 'nowhere' is none that you belong to"),
    ({"project": "api"}, NotFound, "project 'api' is none that you belong to"),
    ({"project": 4}, InvalidInput, "project must be a text"),
    ({"agent": "coder"}, InvalidInput, "agent is for scope='agent'"),
    ({"agent": "nobody", "scope": "agent"}, NotFound, "No agent 'nobody'"),
]


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG)
def test_a_wrong_recall_says_which_and_why(wrong: dict[str, Any], error: type[Exception], words: str) -> None:
    team = TeamMemory(embed=hashed)
    team.register_project("api", members=["bob"])
    team.remember("pool", author="bob", space="hidden", visibility="private")
    before = written(team)
    with pytest.raises(error, match=words):
        team.recall(**{"query": "pool", "caller": "ann", **wrong})
    assert written(team) == before


WRONG_MEMORIES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"text": ""}, InvalidInput, "text is empty"),
    ({"text": "x" * 1_048_576}, InvalidInput, "1,048,576 bytes; at most 65,536"),
    ({"text": 5}, InvalidInput, "text must be a text"),
    ({"author": ""}, InvalidInput, "author is empty"),
    ({"author": None}, InvalidInput, "author must be a text"),
    ({"agent": "a\tb"}, InvalidInput, "control character"),
    ({"visibility": "public"}, InvalidInput, "visibility is 'public'"),
    ({"visibility": None}, InvalidInput, "visibility is None"),
    ({"project": "nowhere"}, NotFound, "project 'nowhere'"),
    ({"project": "api"}, NotFound, "project 'api'"),
    ({"supersedes": "unknown"}, NotFound, "no memory with the id 'unknown'"),
    ({"supersedes": [1]}, InvalidInput, "supersedes must be a text"),
    ({"supersedes": [str(n) for n in range(33)]}, InvalidInput, "33 texts; at most 32"),
]


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG_MEMORIES)
def test_a_wrong_memory_says_which_and_why_and_is_not_written(
    wrong: dict[str, Any], error: type[Exception], words: str
) -> None:
    team = TeamMemory(embed=hashed)
    team.register_project("api", members=["bob"])
    before = written(team)
    with pytest.raises(error, match=words):
        team.remember(**{"text": "pool", "author": "ann", **wrong})
    assert written(team) == before


def test_members_are_added_to_what_is_there(team: TeamMemory) -> None:
    before = written(team)
    for given in ({}, {"project": "a", "space": "b"}):
        with pytest.raises(InvalidInput, match="either project or space"):
            team.add_member("ann", **given)
    with pytest.raises(NotFound, match="project 'api' is not registered"):
        team.add_member("ann", project="api")
    with pytest.raises(InvalidInput, match="member is empty"):
        team.add_member("", space="s")
    assert written(team) == before


def test_the_memo_can_be_dropped_and_a_history_read_again(team: TeamMemory, tmp_path: Path) -> None:
    team.register_project("api", members=["ann"])
    old = team.remember("pool old", author="ann")
    team.remember("pool new", author="ann", supersedes=old)
    team.remember("pool api", author="ann", project="api", thread="t")
    before = team.recall("pool", caller="ann").to_dict()
    team.drop_memo()
    assert team.recall("pool", caller="ann").to_dict() == before
    team.history().to_jsonl(tmp_path / "team.jsonl")
    again = TeamMemory(rk.read_history(tmp_path / "team.jsonl"), embed=hashed)
    assert again.recall("pool", caller="ann").to_dict() == before
    assert again.passed_over == team.passed_over == 0


def test_a_history_of_wrong_events_is_passed_over() -> None:
    events: list[dict[str, Any]] = [
        {"id": "1", "type": "team.remembered", "source": "/x", "data": {"text": "pool", "author": "ann"}},
        {"id": "2", "type": "team.remembered", "source": "/x", "data": {"text": "pool", "author": 1}},
        {
            "id": "3",
            "type": "team.remembered",
            "source": "/x",
            "data": {"text": "pool", "author": "ann", "visibility": "private", "supersedes": ["1"]},
        },
        {"id": "4", "type": "team.forgotten", "source": "/x", "data": {"memory": "9"}},
        {"id": "5", "type": "team.member_added", "source": "/x", "data": {"member": "ann", "project": "none"}},
        {
            "id": "6",
            "type": "team.remembered",
            "source": "/x",
            "data": {"text": "pool", "author": "a", "project": "none"},
        },
    ]
    team = TeamMemory(rk.History.from_events(events), embed=hashed)
    assert team.recall("pool", caller="bob").ids == ["1"]
    assert team.passed_over == 5


def test_embed_and_floor_are_checked() -> None:
    with pytest.raises(InvalidInput, match="embed must be a callable"):
        TeamMemory(embed="wordllama")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="floor must be a cosine"):
        TeamMemory(embed=False, floor=2)


def test_signals_and_a_team_may_share_one_log() -> None:
    from recallkit.memory import Signals

    log = MemoryLog()
    team, signals = TeamMemory(log, embed=False), Signals(log)
    team.remember("pool", author="ann")
    signals.store(namespace="global", text="pool")
    assert len(team.recall("pool", caller="bob")) == len(signals.recall(namespace="global")) == 1
    assert len(log) == 2
