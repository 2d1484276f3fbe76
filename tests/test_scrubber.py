"""The scrubber: what it is told at each place, and a saved page that tells the same."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrubbed import VIEWS, in_node, reviews, stalled, wild

from recallkit.errors import InvalidInput
from recallkit.notebook.answers import Answers
from recallkit.notebook.deltas import applied, delta, patch_of
from recallkit.notebook.front import module, styles
from recallkit.notebook.head import STRIP_BINS, head, strip
from recallkit.notebook.replay import replay
from recallkit.notebook.saved_page import save
from recallkit.notebook.scrubber import Scrubber
from recallkit.notebook.tree import Tree, children
from recallkit.views.patches import difference

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=5),
    max_leaves=24,
)


class TestTrees:
    @given(JSON_VALUES, st.sampled_from([None, 1]))
    def test_members_are_those_of_the_json(self, value: Any, indent: int | None) -> None:
        text = json.dumps(value, indent=indent)
        members = children(text)
        if isinstance(value, dict):
            assert [(key, json.loads(each)) for key, each in members] == list(value.items())
        elif isinstance(value, list):
            assert [json.loads(each) for _, each in members] == value
        else:
            assert members == []

    def test_texts_that_only_the_standard_library_reads(self) -> None:
        text = '{"\\ud800": ["\\udfff", 1.50, {"a" : [] }], "b":-0}'
        assert children(text) == [("\ud800", '["\\udfff", 1.50, {"a" : [] }]'), ("b", "-0")]
        assert Tree(text).at("/\ud800/2/a") == "[]"

    def test_pointers(self) -> None:
        tree = Tree('{"a/b":{"~":[10,{"":3}]},"":1}')
        assert tree.at("/a~1b/~0/1/") == "3"
        assert tree.at("/") == "1"
        assert tree.at("") == tree.text
        for nowhere in ("/a", "/a~1b/~0/2", "/a~1b/~0/-1", "/a~1b/~0/01", "/a~1b/~0/x", "//x"):
            assert tree.at(nowhere) is None

    @pytest.mark.parametrize(
        "text", [json.dumps(view) for view in VIEWS] + ['{ "a" : [ 1 , { } ] , "b":"\\\\\\"" }', "[]", "{}"]
    )
    def test_the_front_end_reads_the_same(self, text: str) -> None:
        told = in_node("result = children(given).map(([key, text]) => [key, text]);", text)
        assert told == [list(each) for each in children(text)]


class TestDeltas:
    @given(JSON_VALUES, JSON_VALUES)
    def test_the_patch_is_that_of_the_whole_values(self, before: Any, after: Any) -> None:
        trees = Tree(json.dumps(before)), Tree(json.dumps(after))
        assert patch_of(*trees) == difference(before, after)

    @given(JSON_VALUES, JSON_VALUES)
    def test_a_patch_and_its_orders_rebuild_the_text(self, before: Any, after: Any) -> None:
        patch, orders = delta(Tree(json.dumps(before)), Tree(json.dumps(after)))
        value = applied(json.loads(json.dumps(before)), patch)
        for pointer, names in orders:
            target = value
            for name in pointer.split("/")[1:]:
                name = name.replace("~1", "/").replace("~0", "~")
                target = target[int(name)] if isinstance(target, list) else target[name]
            for name in names:
                target[name] = target.pop(name)
        assert json.dumps(value) == json.dumps(after)

    def test_replayed_views_are_the_timeline_s(self) -> None:
        for folding in (reviews(), wild(), stalled()):
            told = dict(replay(folding._fold))
            assert [told[n] for n in range(folding.folded + 1)] == [
                folding.at(n).text for n in range(folding.folded + 1)
            ]
        assert [n for n, _ in replay(reviews()._fold, 70, 75)] == list(range(70, 76))


def asks(folding: Any) -> list[dict[str, Any]]:
    """A request for each place, with branches open that are there, that are not, and pages past the end."""
    branches = [["", 0], ["/list", 0], ["/list/0", 0], ["/text", 2_000], ["/~0a~1b", 0], ["/2", 0], ["/key 129", 50]]
    branches += [["/newsletter", 0], ["/newsletter/3", 0], ["/absent", 0]]
    made = []
    for number in range(-1, folding.folded + 3):
        request = {"ask": "moment", "n": number, "view": branches, "event": [["", 0], ["/data", 0]]}
        request |= {"sizes": "/list" if number % 2 else "", "pin": "/newsletter" if number % 3 else "/list/0"}
        made.append(request | {"follow": number % 2 == 0})
    return made


class TestAnswers:
    def test_a_moment_tells_what_the_fold_says(self) -> None:
        folding = reviews()
        answers = Answers(folding)
        for number in range(1, folding.folded + 1):
            moment, told = folding.at(number), answers.answer({"ask": "moment", "n": number, "view": [["", 0]]})
            row = folding.trace.iloc[number - 1]
            assert (told["bytes"], told["delta"], told["steps"]) == (row.view_bytes, row.view_delta, row.steps)
            assert (told["seq"], told["memory"]) == (row.seq, row.memory_bytes)
            assert told["changes"]["total"] == len(moment.patch)
            assert [each["key"] for each in told["view"][0]["rows"]] == list(moment.view)[:50]
            marked = {each["key"]: each["mark"] for each in told["view"][0]["rows"] if each["mark"]}
            touched = {each["path"].split("/")[1].replace("~1", "/").replace("~0", "~") for each in moment.patch}
            assert set(marked) | {each["key"] for each in told["view"][0]["gone"]} == touched

    def test_marks(self) -> None:
        answers = Answers(wild())
        told = answers.answer({"ask": "moment", "n": 4, "view": [["", 0], ["/list", 0], ["/~0a~1b", 0]]})
        root, rows, odd = told["view"]
        assert {each["key"]: each["mark"] for each in root["rows"]} == {
            "list": "inside",
            "count": "changed",
            "~a/b": "inside",
        }
        assert [(each["text"], each["mark"]) for each in rows["rows"]] == [("2", ""), ("3", ""), ("4", "added")]
        assert rows["gone"] == [{"key": "0", "text": "1", "mark": "removed"}]
        assert {each["key"]: each["mark"] for each in odd["rows"]} == {
            "0": "",
            "__proto__": "inside",
            "constructor": "added",
        }

    def test_what_is_taken_from_a_list_is_told_with_its_old_places(self) -> None:
        before, after = Tree("[0,1,2,3]"), Tree("[0,3]")
        from recallkit.notebook.tree import Marks

        marks = Marks(patch_of(before, after), before, after)
        assert marks.gone == {"": [("1", "1"), ("2", "2")]}

    def test_nothing_large_travels(self) -> None:
        folding = wild()
        for request in asks(folding):
            assert len(json.dumps(Answers(folding).answer(request))) < 40_000

    def test_the_stall_has_a_place_of_its_own(self) -> None:
        folding = stalled()
        told = Answers(folding).answer({"ask": "moment", "n": 10**9, "view": [["", 0]], "event": [["", 0]]})
        assert told["n"] == folding.folded + 1
        assert told["stalled"]
        assert told["seq"] == folding.stall.seq
        assert told["changes"]["total"] == 0
        assert told["bytes"] == len(folding.view_text.encode())
        shown = head(folding)["stall"]
        assert shown["line"] == folding.stall.line
        here = next(each["text"] for each in shown["lines"] if each["line"] == shown["line"])
        assert here.strip().startswith("if (event.id")

    def test_requests_without_sense(self) -> None:
        answers = Answers(reviews())
        for request in ({}, {"ask": "fly"}, {"ask": "moment"}, {"ask": "moment", "n": "x"}, {"ask": "find", "n": 1}):
            assert "error" in answers.answer(request)

    @pytest.mark.parametrize("step", [1, -1])
    def test_changes_are_found(self, step: int) -> None:
        folding = wild()
        texts = [folding.at(n).text for n in range(folding.folded + 1)]
        changed = [n for n in range(1, len(texts)) if texts[n] != texts[n - 1]]
        assert len(changed) < folding.folded
        assert walked(Answers(folding), {"what": "change", "step": step}, step, folding) == changed[::step]

    def test_searches_are_found(self) -> None:
        folding = reviews()
        wanted = [n for n in range(1, folding.folded + 1) if "spring-sale" in folding.history.text(folding.at(n).seq)]
        found = walked(Answers(folding), {"what": "search", "query": "Spring-SALE"}, 1, folding)
        assert found == wanted
        assert len(wanted) > 2
        assert Answers(folding).find({"what": "search", "query": "", "n": 0, "step": 1})["found"] is None

    @pytest.mark.parametrize("step", [1, -1])
    def test_touches_of_a_pinned_path_are_found(self, step: int) -> None:
        folding = reviews()
        values = [folding.at(n).view.get("spring-sale") for n in range(folding.folded + 1)]
        wanted = [n for n in range(1, len(values)) if values[n] != values[n - 1]]
        assert (
            walked(Answers(folding), {"what": "pin", "path": "/spring-sale", "step": step}, step, folding)
            == wanted[::step]
        )

    def test_a_search_that_runs_out_of_its_time_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("recallkit.notebook.answers.SLICE_SECONDS", -1)
        folding = reviews()
        values = [folding.at(n).view.get("spring-sale") for n in range(folding.folded + 1)]
        wanted = [n for n in range(1, len(values)) if values[n] != values[n - 1]]
        assert walked(Answers(folding), {"what": "pin", "path": "/spring-sale", "step": 1}, 1, folding) == wanted

    def test_a_path_is_followed_through_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("recallkit.notebook.answers.SLICE_SECONDS", -1)
        folding = reviews()
        answers = Answers(folding)
        for _ in range(folding.folded + 2):
            trail = answers.answer({"ask": "trail", "path": "/spring-sale"})
        assert trail["done"]
        lengths = [len(folding.at(n).view.get("spring-sale", ())) for n in range(folding.folded + 1)]
        steps = [n for n in range(1, len(lengths)) if lengths[n] != lengths[n - 1]]
        assert [n for n, _ in trail["line"]] == [0, *steps]
        assert [value for _, value in trail["line"][1:]] == [lengths[n] for n in steps]
        near = answers.answer({"ask": "moment", "n": steps[2], "pin": "/spring-sale"})["pin"]["near"]
        assert [n for n, _ in near] == [0, *steps][0 : 3 + 4]

    def test_the_strip_never_grows(self) -> None:
        sizes, steps = np.arange(100_000) % 997, np.arange(100_000) % 1_009
        told = strip(sizes, steps, 0)
        assert len(told["starts"]) == STRIP_BINS
        assert max(told["high"]) == 996 == told["peak"]["bytes"]
        assert max(told["steps"]) == 1_008
        assert told["starts"][0] == 0


def walked(answers: Answers, ask: dict[str, Any], step: int, folding: Any) -> list[int]:
    """Every place that one finds by asking on, from one end to the other."""
    at, found = (0 if step > 0 else folding.folded + 1), []
    for _ in range(10_000):
        told = answers.answer({"ask": "find", "n": at, "step": step, **ask})
        assert "error" not in told
        if told["found"] is not None:
            found.append(told["found"])
        elif told["done"]:
            return found
        at = told["at"]
    raise AssertionError("it never ends")


class Page(HTMLParser):
    """What a browser would see: the elements, and the texts inside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.texts: dict[str, str] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id") or dict(attrs).get("type") or tag

    def handle_data(self, data: str) -> None:
        self.texts[self._inside] = self.texts.get(self._inside, "") + data


@pytest.fixture(params=[reviews, wild, stalled], ids=["reviews", "wild", "stalled"])
def folding(request: pytest.FixtureRequest) -> Any:
    return request.param()


OPEN = "const source = new LocalSource(given.page);\nconst { head } = given.page;\nresult = [];\n"
TEXTS = OPEN + (
    "const last = Math.min(head.last, head.folded);\n"
    "for (let n = head.first; n <= last; n += 1) result.push((await source.tree(n)).text);"
)


class TestSavedPages:
    def test_it_answers_as_the_kernel_does(self, folding: Any, tmp_path: Path) -> None:
        page = json.loads(Page(save(folding, tmp_path / "page.html").read_text(encoding="utf-8")).texts["fold"])
        requests = asks(folding)
        # In order and against it, so that both ways of reaching a view are tried.
        requests += requests[::-3]
        script = OPEN + "for (const each of given.requests) result.push(await source.ask(each));"
        told = in_node(script, {"page": page, "requests": requests})
        answers = Answers(folding)
        for request, reply in zip(requests, told, strict=True):
            assert reply == json.loads(json.dumps(answers.answer(request))), request

    @pytest.mark.parametrize("every", [1, 7, 1_000])
    def test_its_views_are_exact_at_every_keyframe_distance(self, folding: Any, every: int, tmp_path: Path) -> None:
        target = save(folding, tmp_path / "page.html", keyframe_every=every)
        page = json.loads(Page(target.read_text(encoding="utf-8")).texts["fold"])
        assert in_node(TEXTS, {"page": page}) == [folding.at(n).text for n in range(folding.folded + 1)]

    def test_it_finds_what_the_kernel_finds(self, folding: Any, tmp_path: Path) -> None:
        page = json.loads(Page(save(folding, tmp_path / "page.html").read_text(encoding="utf-8")).texts["fold"])
        finds = [
            {"ask": "find", "n": number, "step": step, **what}
            for number in range(folding.folded + 2)
            for step in (1, -1)
            for what in (
                {"what": "change"},
                {"what": "search", "query": "SPRING"},
                {"what": "pin", "path": "/list"},
                {"what": "pin", "path": "/newsletter/2"},
            )
        ]
        script = OPEN + "for (const each of given.finds) result.push((await source.ask(each)).found);"
        told = in_node(script, {"page": page, "finds": finds})
        answers = Answers(folding)
        for find, found in zip(finds, told, strict=True):
            # The kernel answers long searches in parts.
            reply = answers.answer(find)
            while reply["found"] is None and not reply["done"]:
                reply = answers.answer(find | {"n": reply["at"]})
            assert found == reply["found"], find

    def test_a_part(self, tmp_path: Path) -> None:
        folding = reviews()
        target = save(folding, tmp_path / "page.html", start=20, stop=30)
        page = json.loads(Page(target.read_text(encoding="utf-8")).texts["fold"])
        assert (page["head"]["first"], page["head"]["last"]) == (20, 30)
        assert in_node(TEXTS, {"page": page}) == [folding.at(n).text for n in range(20, 31)]
        for wrong in ({"start": -1}, {"start": 5, "stop": 4}, {"stop": 10_000}, {"keyframe_every": 0}):
            with pytest.raises(InvalidInput):
                save(folding, tmp_path / "no.html", **wrong)
        assert not (tmp_path / "no.html").exists()

    def test_data_never_becomes_markup(self, folding: Any, tmp_path: Path) -> None:
        text = save(folding, tmp_path / "page.html").read_text(encoding="utf-8")
        page = Page(text)
        scripts = [attributes for tag, attributes in page.tags if tag == "script"]
        assert [each.get("type") for each in scripts] == ["application/json", "module"]
        assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "link", "object")]
        assert "onerror" not in [name for _, attributes in page.tags for name in attributes]

    def test_it_needs_no_network_and_may_not_use_one(self, tmp_path: Path) -> None:
        text = save(reviews(), tmp_path / "page.html").read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
        assert policy
        assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
        assert not re.findall(r"(?:src|href)=", text)

    def test_past_its_bound_it_is_refused_and_says_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(
            InvalidInput, match=r"more than 2,000 bytes.*save\(path, start=0, stop=\d+\).*keyframe_every"
        ):
            save(reviews(), tmp_path / "page.html", most_bytes=2_000)
        assert list(tmp_path.iterdir()) == []


class TestWidget:
    def test_it_answers_messages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        scrubber = Scrubber(reviews(), position=3)
        sent: list[Any] = []
        monkeypatch.setattr(scrubber, "send", sent.append)
        scrubber._handle_custom_msg({"id": "a-1", "request": {"ask": "moment", "n": 5, "view": [["", 0]]}}, [])
        scrubber._handle_custom_msg("nonsense", [])
        assert [each["id"] for each in sent] == ["a-1"]
        assert sent[0]["reply"]["n"] == 5

    def test_its_position_stays_within_the_history(self) -> None:
        scrubber = reviews().scrub()
        assert scrubber.position == reviews().folded
        scrubber.position = 10_000
        assert scrubber.position == reviews().folded
        scrubber.position = -4
        assert scrubber.position == 0

    def test_what_is_synchronised_stays_small(self) -> None:
        state = reviews().scrub().get_state()
        assert len(json.dumps(state["head"])) < 60_000
        assert len(state["_esm"]) < 70_000

    def test_it_has_a_static_stand_in(self) -> None:
        bundle, _ = Scrubber(stalled())._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in bundle
        assert bundle["text/plain"] == f"<Scrubber over {stalled().folded + 1} events>"
        assert "&lt;img src=x" in bundle["text/html"]
        assert "<img" not in bundle["text/html"]

    def test_it_says_how_large_the_page_is(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        target = reviews().scrub().save(tmp_path / "page.html")
        assert capsys.readouterr().out == f"page.html: {target.stat().st_size:,} bytes\n"


def test_the_front_end_is_one_module_with_no_markup_and_no_network() -> None:
    for kind in ("widget", "page"):
        text = module(kind)
        assert not re.findall(
            r"^\s*import\b|\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|\bfetch\(|https?://(?!www\.w3\.org/2000/svg)",
            text,
            re.MULTILINE,
        )
        assert "</script" not in text.lower()
    assert "</" not in styles()
    assert "url(" not in styles()


class TestAskingAhead:
    """Of a far kernel the places beside the one shown are asked for before anybody goes there."""

    SCRIPT = """
    const asked = [];
    let failing = false;
    const ask = async ({ n }) => { asked.push(n); return failing ? { error: "no" } : { n }; };
    const source = { far: given.far, ask };
    const ahead = new Ahead(source);
    const rest = (wait) => new Promise((done) => setTimeout(done, wait));
    const go = async (n) => {
      await ahead.moment({ n, pin: null });
      ahead.shown({ n, pin: null }, { first: 0, last: 9 });
    };
    """

    def asked(self, steps: str, *, far: bool = True) -> Any:
        return in_node(self.SCRIPT + steps + "\nahead.clear();\nresult = asked;", {"far": far})

    def test_the_next_place_the_same_way(self) -> None:
        assert self.asked("for (const n of [4, 5, 6, 7]) { await go(n); await rest(20); }") == [4, 5, 6, 7, 8]
        assert self.asked("for (const n of [4, 3, 2]) { await go(n); await rest(20); }") == [4, 3, 2, 1]

    def test_both_neighbours_once_a_person_rests(self) -> None:
        assert self.asked("await go(4); await rest(2500);") == [4, 5, 3]
        assert self.asked("await go(9); await rest(2500);") == [9, 8]

    def test_nothing_of_a_page_that_answers_itself(self) -> None:
        assert self.asked("await go(4); await rest(2500);", far=False) == [4]

    def test_what_changed_is_asked_anew(self) -> None:
        assert self.asked("await go(4); await go(5); await rest(20); ahead.clear(); await go(6);") == [4, 5, 6, 6]

    def test_an_error_is_not_kept(self) -> None:
        assert self.asked("failing = true; await go(4); failing = false; await go(4);") == [4, 4]
