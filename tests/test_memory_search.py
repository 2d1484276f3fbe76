"""Search: parts, stems and literals; BM25 over what may be seen; phrases; fusion; and the measured figures."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallkit.errors import InvalidInput
from recallkit.memory.benchmark import identifiers, main, measure
from recallkit.memory.benchmark_conversations import read_conversations
from recallkit.memory.benchmark_identifiers import cases
from recallkit.memory.search import Search
from recallkit.memory.search_index import WordIndex
from recallkit.memory.search_words import literals, parts, stem, stems

WORDS = ("pool", "ping", "disk", "night", "bill")


def hashed(texts: list[str]) -> Any:
    """An embedding that is no model's: a text's words by their letters."""
    rows = np.zeros((len(texts), 8))
    for row, text in enumerate(texts):
        for part in parts(text):
            rows[row, sum(map(ord, part)) % 8] += 1
    return rows


def everything(search: Search) -> Any:
    return np.ones(len(search.texts), dtype=bool)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pool_pre_ping", ["pool", "pre", "ping"]),
        ("--dry-run=true", ["dry", "run", "true"]),
        ("getUserToken2", ["getusertoken2"]),
        ("src/App.tsx:42", ["src", "app", "tsx", "42"]),
        ("Straße ﬁn É", ["strasse", "fin", "é"]),
        ("e\u0301", ["é"]),
        ("数据库 ok", ["数", "据", "库", "ok"]),
        ("", []),
        ("…!?", []),
    ],
)
def test_parts_are_runs_of_letters_and_digits_case_apart(text: str, expected: list[str]) -> None:
    assert parts(text) == expected


def test_stems_are_porters_and_leave_small_words_out() -> None:
    assert stems(parts("The invoices were generated nightly")) == ["invoic", "gener", "nightli"]
    assert stem("caresses") == "caress"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what does pool_pre_ping do?", ["pool_pre_ping"]),
        ("why did getUserToken fail, and --dry-run?", ["getUserToken", "--dry-run"]),
        ("see src/app.py (commit a1b2c3d)", ["src/app.py", "a1b2c3d"]),
        ('the message "connection reset by peer" again', ["connection reset by peer"]),
        ("ECONNRESET on PROJ-123 with v1.2.3", ["ECONNRESET", "PROJ-123", "v1.2.3"]),
        ("what is Caroline's well-known plan for the 2nd of May 2023 at 10am?", []),
        ("deploy", ["deploy"]),
        ("the deploy of today", []),
    ],
)
def test_literals_are_what_looks_like_an_identifier(query: str, expected: list[str]) -> None:
    assert literals(query) == expected


texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=0, max_size=6).map(" ".join), max_size=8)


@given(texts=texts, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), data=st.data())
def test_bm25_counts_over_what_may_be_seen_only(texts: list[str], query: list[str], data: Any) -> None:
    seen = np.array([data.draw(st.booleans()) for _ in texts], dtype=bool)
    index = WordIndex()
    for text in texts:
        index.add(text)
    kept = [text.split() for text, see in zip(texts, seen, strict=True) if see]
    average = sum(map(len, kept)) / len(kept) if kept else 1
    expected = []
    for text, see in zip(texts, seen, strict=True):
        score = 0.0
        for word in dict.fromkeys(query) if see else ():
            having = sum(word in other for other in kept)
            count = Counter(text.split())[word]
            if count:
                rarity = math.log(1 + (len(kept) - having + 0.5) / (having + 0.5))
                score += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text.split()) / average))
        expected.append(score)
    assert index.bm25(query, seen) == pytest.approx(expected)


@given(texts=texts, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_a_phrase_is_its_parts_side_by_side_in_order(texts: list[str], query: list[str]) -> None:
    index = WordIndex()
    for text in texts:
        index.add(text)
    wanted = f" {' '.join(query)} "
    assert index.phrase(query).tolist() == [n for n, text in enumerate(texts) if wanted in f" {text} "]


@given(texts=texts, hidden=texts, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join))
def test_texts_that_may_not_be_seen_change_no_figure(texts: list[str], hidden: list[str], query: str) -> None:
    alone, among = Search(hashed), Search(hashed)
    places = []
    for place in range(max(len(texts), len(hidden))):
        if place < len(hidden):
            among.add(hidden[place])
        if place < len(texts):
            alone.add(texts[place])
            places.append(among.add(texts[place]))
    seen = np.zeros(len(among.texts), dtype=bool)
    seen[places] = True
    one, two = alone.find(query, everything(alone)), among.find(query, seen)
    assert [places[number] for number in one.numbers] == two.numbers.tolist()
    for figure in ("score", "words", "meaning", "literal"):
        assert getattr(one, figure).tobytes() == getattr(two, figure).tobytes()


def test_neighbours_lend_their_words_at_a_smaller_weight() -> None:
    index = WordIndex()
    for text in ("pool night", "disk", "bill", "ping"):
        index.add(text)
    seen = np.ones(4, dtype=bool)
    around = (np.array([-1, 0, 1, -1]), np.array([1, 2, -1, -1]))
    scores = index.bm25(["pool"], seen, around)
    assert scores[0] > scores[1] > 0
    assert scores[2:].tolist() == [0, 0]
    assert index.bm25(["pool"], np.array([False, True, True, True]), around).tolist() == [0, 0, 0, 0]


def test_an_index_grows_and_finds_the_newest_text() -> None:
    search = Search(hashed)
    for n in range(3_000):
        search.add(f"text{n} pool")
    search.find("pool", everything(search))
    number = search.add("the newest_of_all")
    assert search.find("newest_of_all", everything(search)).numbers[0] == number


@pytest.mark.parametrize("weaker", ["pool_pre_pings", "pool_pre_ping_v2", "pre_pool_ping", "POOL_PRE_PING"])
def test_the_text_that_names_a_literal_comes_before_its_twins(weaker: str) -> None:
    search = Search(hashed)
    named = search.add("we set `pool_pre_ping` once")
    search.add(f"{weaker} {weaker} {weaker}")
    search.add("pool of pre made ping")
    hits = search.find("pool_pre_ping", everything(search))
    assert hits.numbers[0] == named
    assert hits.matched_by(0)[:2] == ["literal", "words"]


def test_without_an_embedding_words_alone_find() -> None:
    search = Search(None)
    search.add("pool night")
    search.add("disk")
    hits = search.find("pool", everything(search))
    assert hits.numbers.tolist() == [0]
    assert np.isnan(hits.meaning).all()


@pytest.mark.parametrize(
    ("embed", "words"),
    [
        (lambda texts: [[1.0]], "shape"),
        (lambda texts: [[float("nan")] for _ in texts], "not finite"),
        (lambda texts: ["x" for _ in texts], "no vectors"),
        (lambda texts: [[1.0] * len(texts) for _ in texts], "dimensions after"),
    ],
)
def test_a_wrong_embedding_says_what_is_wrong(embed: Any, words: str) -> None:
    search = Search(embed)
    for _ in range(2):
        search.add("pool")
    with pytest.raises(InvalidInput, match=words):
        search.find("pool night", everything(search))


def test_the_identifier_cases_are_ten_kinds_and_the_same_each_time() -> None:
    made = cases()
    assert made == cases()
    assert made != cases(seed=21)
    assert len(made) == len({case.literal for case in made}) == 200
    assert set(Counter(case.kind for case in made).values()) == {20}
    assert len({case.kind for case in made}) == 10
    for case in made:
        assert case.literal in case.naming
        assert len(case.others) >= 5


def test_identifiers_come_first_200_times_of_200() -> None:
    pytest.importorskip("wordllama")
    first = identifiers()
    assert first["hybrid, literals first"]["all"] == 200
    assert max(counts["all"] for name, counts in first.items() if "first" not in name) < 100


def test_recall_of_the_conversations_reaches_the_measured_figures(shared: Path) -> None:
    pytest.importorskip("wordllama")
    path = shared / "suites" / "locomo" / "locomo-first-five.json"
    if not path.is_file():
        pytest.skip("the conversations are not here")
    figures = measure(read_conversations(path.read_bytes()))
    assert figures["hybrid, neighbours"]["all"]["R@10"] >= 74
    assert figures["hybrid"]["all"]["R@10"] >= 66
    assert {row["questions"] for row in (each["all"] for each in figures.values())} == {997}


def test_the_benchmark_prints_the_hash_and_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("wordllama")
    turns = [{"speaker": "Ann", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(("a pool", "the disk"), 1)]
    talk = {"session_1": turns, "session_1_date_time": "1 May 2026"}
    asked = [
        {"question": "which pool?", "evidence": ["D1:1; D1:2", "D:1:2"], "category": 4},
        {"question": "none?", "evidence": [], "category": 1},
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"conversation": talk, "qa": asked}]), encoding="utf-8")
    assert main([str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (file,) = told["files"]
    assert len(file["sha256"]) == 64
    assert file["figures"]["hybrid, neighbours"]["single-hop"]["questions"] == 1
    assert told["identifiers"]["first"]["hybrid, literals first"]["all"] == 200
    assert main([str(path)]) == 0
    assert file["sha256"] in capsys.readouterr().out
    path.write_text("{}", encoding="utf-8")
    assert main([str(tmp_path / "absent.json")]) == 1
    path.write_text("[1]", encoding="utf-8")
    assert main([str(path)]) == 1
