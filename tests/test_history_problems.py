"""What a history passes over, what it reports and keeps, and what is no history at all."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recallkit.events.contents
import recallkit.events.lines
import recallkit.events.problems
from recallkit.errors import HistoryError
from recallkit.events import History, read_history

EVENT = {"specversion": "1.0", "id": "1", "type": "made", "source": "/here"}
GOOD = json.dumps({**EVENT, "id": "good"})


def line(**members: Any) -> str:
    return json.dumps({**EVENT, **members})


def read_between(tmp_path: Path, bad: bytes) -> History:
    """Read a line between two good ones."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD.encode() + b"\n" + bad + b"\n" + line(id="after").encode() + b"\n")
    return read_history(path)


OPEN = '{"specversion":"1.0","id":"x","type":"t","source":"s",'


@pytest.mark.parametrize(
    ("bad", "kind", "words"),
    [
        ("no json", "not-json", "at character 1"),
        (OPEN + '"data":NaN}', "not-json", "NaN"),
        (OPEN + '"data":-Infinity}', "not-json", "Infinity"),
        (OPEN + '"data":[1,]}', "not-json", "character"),
        (OPEN + '"data":"a\tb"}', "not-json", "ontrol character"),
        (OPEN + '"data":01}', "not-json", ""),
        (OPEN + '"data":1}}', "not-json", "xtra data"),
        (OPEN + '"data":1} ' + OPEN + '"data":1}', "not-json", "xtra data"),
        ("\ufeff" + OPEN + '"data":1}', "not-json", "BOM"),
        (OPEN[:-1], "not-json", ""),
        ("[]", "not-an-object", "a list"),
        ('"text"', "not-an-object", "a text"),
        ("1", "not-an-object", "a number"),
        ("null", "not-an-object", "null"),
        (line(id=""), "no-id", "an empty text"),
        (line(id=7), "no-id", "a number"),
        (line(id=None), "no-id", "requires"),
        (line(type=""), "no-type", "type"),
        (line(source=["a"]), "no-source", "a list"),
        ('{"specversion":"1.0","type":"t","source":"s"}', "no-id", "no id"),
        ('{"specversion":"1.0","id":"t","source":"s"}', "no-type", "no type"),
        ('{"specversion":"1.0","id":"t","type":"s"}', "no-source", "no source"),
        ('{"id":"t","type":"s","source":"s"}', "no-specversion", '"specversion": "1.0"'),
        (line(specversion="0.3"), "bad-specversion", "0.3"),
        (line(specversion=1.0), "bad-specversion", "1.0"),
        (line(Region="eu"), "bad-name", "Region"),
        (line(**{"my.extension": "a"}), "bad-name", "my.extension"),
        (line(my_extension=None), "bad-name", "my_extension"),
        (line(**{"": "a"}), "bad-name", "lowercase"),
        (line(é="a"), "bad-name", "lowercase"),
        (line(region={"a": 1}), "bad-attribute", "an object"),
        (line(region=1.5), "bad-attribute", "a number"),
        (line(region=2**31), "bad-attribute", "past 32 bits"),
        (line(region="\ud800"), "bad-attribute", "lone surrogate"),
        (line(subject=1), "bad-attribute", "subject"),
        (line(subject=""), "bad-attribute", "empty"),
        (line(datacontenttype="xyz"), "bad-attribute", "media type"),
        (line(dataschema=""), "bad-attribute", "dataschema"),
        (line(time="lunchtime"), "bad-time", "RFC 3339"),
        (line(time="2026-01-01"), "bad-time", "RFC 3339"),
        (line(time="2026-13-01T00:00:00Z"), "bad-time", "RFC 3339"),
        (line(time=5), "bad-time", "a number"),
        (line(data=1, data_base64="AAAA"), "bad-attribute", "both"),
        (line(data_base64="no base64!"), "bad-attribute", "base64"),
        (line(data_base64=1), "bad-attribute", "base64"),
    ],
)
def test_what_cannot_be_read_is_passed_over_and_reported_once(tmp_path: Path, bad: str, kind: str, words: str) -> None:
    history = read_between(tmp_path, bad.encode("utf-8", "surrogatepass"))
    assert list(history.events["id"]) == ["good", "after"]
    assert len(history.problems) == 1
    row = history.problems.iloc[0]
    assert row["kind"] == kind
    assert row["line"] == 2
    assert pd.isna(row["seq"])
    assert words in row["words"]
    assert row["words"].endswith(".")


@pytest.mark.parametrize("bad", [b"\xff", b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"])
def test_bytes_that_are_not_utf8(tmp_path: Path, bad: bytes) -> None:
    history = read_between(tmp_path, OPEN.encode() + b'"data":"' + bad + b'"}')
    assert list(history.events["id"]) == ["good", "after"]
    assert history.problems["kind"].tolist() == ["not-utf8"]
    assert history.problems["line"].tolist() == [2]


@pytest.mark.parametrize("levels", [513, 600, 5_000, 1_000_000])
@pytest.mark.parametrize(("opener", "closer"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("closed", [True, False])
def test_data_deeper_than_512_levels(tmp_path: Path, levels: int, opener: str, closer: str, closed: bool) -> None:
    data = opener * levels + "0" + (closer * levels if closed else "")
    history = read_between(tmp_path, (OPEN + '"data":' + data + "}").encode())
    assert len(history) == 2
    assert history.problems["kind"].tolist() == ["too-deep"]
    assert "512" in history.problems["words"][0]


def test_brackets_in_texts_are_no_levels(tmp_path: Path) -> None:
    history = read_between(tmp_path, line(data={"a": "[{" * 5_000, 'b\\"[': ["\\", '"[' * 600]}).encode())
    assert len(history) == 3
    assert history.problems.empty
    wide = read_between(tmp_path, line(data=[[] for _ in range(2_000)]).encode())
    assert len(wide) == 3


def test_lists_of_dicts_are_reported_by_their_place() -> None:
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep]
    circle: list[Any] = []
    circle.append(circle)
    given = [
        EVENT, "text", {**EVENT, "id": None}, {**EVENT, "data": float("nan")}, {**EVENT, "data": deep},
        {**EVENT, "data": circle}, {**EVENT, 5: "a"}, {**EVENT, "data": object()}, {**EVENT, "id": "2"},
    ]  # fmt: skip
    history = read_history(given)
    while isinstance(deep, list):
        deep = deep.pop()
    assert list(history.events["id"]) == ["1", "2"]
    assert list(zip(history.problems["line"], history.problems["kind"], strict=True)) == [
        (2, "not-an-object"), (3, "no-id"), (4, "not-json"), (5, "too-deep"), (6, "not-json"),
        (7, "not-json"), (8, "not-json"),
    ]  # fmt: skip


def test_a_bad_event_of_an_array_does_not_lose_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        f'[\n{GOOD},\n{OPEN}"data": NaN}},\n{line(id="2")},\n{line(id="3", data=json.loads("[" * 600 + "]" * 600))}\n]'
    )
    history = read_history(path)
    assert list(history.events["id"]) == ["good", "2"]
    assert list(zip(history.problems["line"], history.problems["kind"], strict=True)) == [
        (3, "not-json"),
        (5, "too-deep"),
    ]


# Reported and kept


def kinds(history: History) -> list[tuple[str, int]]:
    return [(kind, int(seq)) for kind, seq in zip(history.problems["kind"], history.problems["seq"], strict=True)]


def test_a_repeated_source_and_id(tmp_path: Path) -> None:
    events = [EVENT, {**EVENT, "source": "/there"}, EVENT, {**EVENT, "data": 1}]
    history = History.from_events(events)
    assert len(history) == 4
    assert kinds(history) == [("repeated", 2), ("repeated", 3)]
    assert "The same event" in history.problems["words"][0]
    assert "Another event" in history.problems["words"][1]


def test_a_time_before_the_one_before() -> None:
    times = ["2026-01-03T00:00:00Z", None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
    history = History.from_events([{**EVENT, "id": str(n), "time": t} for n, t in enumerate(times)])
    assert kinds(history) == [("earlier-time", 2)]
    assert "2 days before that of item 1" in history.problems["words"][0]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("9007199254740993", True),
        ("-9007199254740993", True),
        ("9007199254740992", False),
        ("-9007199254740992", False),
        ("12345678901234567890", True),
        ("[1, 12345678901234567890]", True),
        ("1" * 400, True),
        ('"12345678901234567890"', False),
        ('"x: 12345678901234567890"', False),
        ('{"12345678901234567890": 1}', False),
        ("1234567890.12345678901234567890", False),
        ("0.12345678901234567890", False),
        ("1e20", False),
        ('["\\"", 12345678901234567890]', True),
    ],
)
def test_an_integer_past_what_the_engine_keeps_exact(tmp_path: Path, data: str, told: bool) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(GOOD + "\n" + OPEN + '"data":' + data + "}\n")
    history = read_history(path)
    assert len(history) == 2
    assert kinds(history) == ([("big-integer", 1)] if told else [])


def test_an_integer_is_found_wherever_a_block_begins(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = "".join(line(id=str(n), data=[12345678901234567890 + n, "x" * (n % 97)]) + "\n" for n in range(6_000))
    path.write_text(text)
    history = read_history(path)
    assert [seq for _, seq in kinds(history)] == list(range(6_000))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ('"\\ud800"', True), ('"\\uDC00x"', True), ('"\\ud83d\\ude00"', False), ('"\\uD83D\\uDE00"', False),
        ('"\\ud83d\\ud83d\\ude00"', True), ('"\\ude00\\ud83d"', True), ('"\\\\ud800"', False), ('"\\\\\\ud800"', True),
        ('{"\\ud800":1}', True), ('"😀"', False),
    ],
)  # fmt: skip
def test_half_a_character(tmp_path: Path, data: str, told: bool) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(OPEN + '"data":' + data + "}\n", encoding="utf-8")
    history = read_history(path)
    assert kinds(history) == ([("lone-surrogate", 0)] if told else [])
    assert history.events["data"][0] == data
    assert history.text(0) == OPEN + '"data":' + data + "}"
    assert len(History.from_events([history.event(0)])) == 1


@pytest.mark.parametrize(
    "time", ["2026-12-31T23:59:60Z", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T00:00:00"]
)
def test_a_time_that_names_no_moment(time: str) -> None:
    history = History.from_events([{**EVENT, "time": time}])
    assert kinds(history) == [("unreadable-time", 0)]
    assert history.events["time"].isna()[0]
    assert history.attribute("time")[0] == time


def test_a_name_longer_than_a_filter_can_write() -> None:
    history = History.from_events([{**EVENT, "a" * 21: "x", "b" * 20: "y"}])
    assert history.problems["kind"].tolist() == ["long-name"]
    assert "a" * 21 in history.problems["words"][0]


def test_specversion_is_assumed_only_where_nobody_says_it(tmp_path: Path) -> None:
    without = {key: value for key, value in EVENT.items() if key != "specversion"}
    assert History.from_events([without]).problems["kind"].tolist() == ["assumed-specversion"]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({**without, "id": str(n)}) + "\n" for n in range(2)))
    history = read_history(path)
    assert len(history) == 2
    assert history.problems["kind"].tolist() == ["assumed-specversion"]
    path.write_text(path.read_text() + line(id="2", time="2026-02-30T00:00:00Z", x="y") + "\n")
    history = read_history(path)
    assert list(history.events["id"]) == ["2"]
    assert history.events["extensions"][0] == {"x": "y"}
    assert list(zip(history.problems["kind"], history.problems["line"], strict=True)) == [
        ("no-specversion", 1), ("no-specversion", 2), ("unreadable-time", 3),
    ]  # fmt: skip
    assert json.loads(history.page([0]))[0]["id"] == "2"


def test_problems_are_counted_past_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.problems, "PROBLEM_ROWS", 5)
    history = History.from_events([{**EVENT, "id": ""}] * 8 + [EVENT] * 4)
    assert len(history) == 4
    assert history.problems["kind"].tolist() == ["no-id"] * 5 + ["no-id", "repeated"]
    assert history.problems["words"][5].startswith("3 more problems of the kind no-id, 8 in all")
    assert history.problems["words"][6].startswith("3 more")


def test_problems_have_their_columns() -> None:
    problems = History.from_events([EVENT]).problems
    assert list(problems.columns) == ["seq", "line", "id", "kind", "words"]
    assert str(problems["seq"].dtype) == "Int64"


# No history


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), "binary"),
        ("a.jsonl", b"dear diary\nnothing happened\n", "Line 1"),
        ("a.json", b'{"a": 1}', "no event history"),
        ("a.json", b"[1, 2, 3]", "none of its 3 values"),
        ("a.json", b'{"events": 5}', "no list"),
        ("a.json", b'[{"a": 1}', "no event history"),
        ("a.jsonl", b'{"a": 1}\n{"b": 2}\n', "none of its 2 lines"),
        ("a.jsonl", "{}".encode("utf-16"), "UTF-16"),
        ("a.jsonl.gz", b"\x1f\x8bnot gzip at all", "damaged"),
        ("a.jsonl.gz", gzip.compress(GOOD.encode() * 100, mtime=0)[:-20], "damaged"),
        ("a.csv", b"when,what\n1,2\n", "no column id or type or source"),
        ("a.csv", b"id,type,source\n\xff,t,s\n", "UTF-8"),
        ("a.csv", b"id,type,source\n1,t,s,x,y\n", "line 2"),
        ("a.parquet", b"PAR1 no", "Parquet"),
    ],
)  # fmt: skip
def test_no_history_at_all(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(HistoryError) as caught:
        read_history(tmp_path / name)
    assert words in str(caught.value)
    assert name in str(caught.value)


def test_sources_that_are_none(tmp_path: Path) -> None:
    for source, words in [
        (tmp_path, "folder"), (tmp_path / "none.jsonl", "no file"), (tmp_path / "none.csv", "no file"),
        ("a\0b", "path"), (5, "int"), (None, "NoneType"),
        (EVENT, "dict"), (b"x", "bytes"), (pd.DataFrame({"a": [1]}), "no column"),
        ("sqlite:///x.db", "no table"), (f"sqlite:///{tmp_path}/x.db?table=t", "no file"),
    ]:  # fmt: skip
        with pytest.raises(HistoryError, match=words):
            read_history(source)


def test_sql_in_a_name_stays_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE events (id TEXT, type TEXT, source TEXT, specversion TEXT)")
        db.execute("INSERT INTO events VALUES ('1', 't', 's', '1.0')")
    db.close()
    for query in (
        'table=events"; DROP TABLE events; --',
        "table=events; DROP TABLE events",
        "table=(SELECT 1)",
        'table=events&order=id"; DROP TABLE events; --',
        "table=events&order=nothing",
    ):
        with pytest.raises(HistoryError):
            read_history(f"sqlite:///{path}?{query}")
    assert len(read_history(f"sqlite:///{path}?table=events")) == 1


def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"x" * 5_000)
    with pytest.raises(HistoryError, match="SQLite"):
        read_history(f"sqlite:///{tmp_path}/a.db?table=events")


def test_what_unpacks_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.contents, "HISTORY_BYTES", 20_000_000)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"0" * 40_000_000))
    with pytest.raises(HistoryError, match="split it"):
        read_history(path)


def test_a_line_too_large_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.lines, "LINE_BYTES", 1_000)
    history = read_between(tmp_path, line(id="large", data="x" * 2_000).encode())
    assert list(history.events["id"]) == ["good", "after"]
    assert history.problems["kind"].tolist() == ["too-large"]
