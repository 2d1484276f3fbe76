"""Histories: every event in recorded order, with the exact text it was recorded as, from every kind of source."""

from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recallkit.events.contents
from recallkit.errors import HistoryError, InvalidInput
from recallkit.events import History, read_history
from recallkit.events.columns import join
from recallkit.events.event import examine
from recallkit.events.lines import Reader
from recallkit.events.problems import Fault
from recallkit.events.times import NO_TIME, read_time, read_times

EVENT = {"specversion": "1.0", "id": "1", "type": "made", "source": "/here"}


def line(**members: Any) -> str:
    return json.dumps({**EVENT, **members}, separators=(",", ":"))


def write(path: Path, *lines: str) -> Path:
    path.write_bytes("".join(each + "\n" for each in lines).encode("utf-8", "surrogatepass"))
    return path


# Texts


@pytest.mark.parametrize(
    "data",
    [
        "-0",
        "12345678901234567890",
        "1e400",
        "1.0",
        '"\\ud83d\\ude00"',
        '"\\ud800"',
        '{"a":1,"a":2}',
        '{ "b" : [ 1 ,\t2 ] }',
        "0.1000000000000000055511151231257827",
        '{"__proto__":1}',
        "null",
    ],
)
def test_text_is_kept_exactly(tmp_path: Path, data: str) -> None:
    text = '{"specversion":"1.0","id":"1","type":"t","source":"s","data":' + data + "}"
    history = read_history(write(tmp_path / "a.jsonl", text))
    assert history.text(0) == text
    assert history.page([0]) == f"[{text}]".encode()
    assert history.events["data"][0] == data


def test_recorded_order_is_kept_whatever_the_times_say(tmp_path: Path) -> None:
    times = ["2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
    history = read_history(write(tmp_path / "a.jsonl", *(line(id=str(n), time=t) for n, t in enumerate(times))))
    assert list(history.events["id"]) == ["0", "1", "2"]
    assert list(history.events["seq"]) == [0, 1, 2]


def test_last_of_repeated_names_wins_as_in_the_engine(tmp_path: Path) -> None:
    text = '{"specversion":"1.0","id":"a","id":"b","type":5,"type":"t","source":"s","x":{},"x":"y","data":1,"data":2}'
    history = read_history(write(tmp_path / "a.jsonl", text))
    assert history.events.loc[0, ["id", "type", "data"]].tolist() == ["b", "t", "2"]
    assert history.events["extensions"][0] == {"x": "y"}
    assert history.text(0) == text


def test_blanks_around_an_event_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf  " + line(id="1").encode() + b" \r\n\r\n\t\n" + line(id="2").encode() + b"\r")
    history = read_history(path)
    assert [history.text(0), history.text(1)] == [line(id="1"), line(id="2")]
    assert history.problems.empty


# The frame


def test_events_frame_has_its_columns(tmp_path: Path) -> None:
    history = read_history(
        write(
            tmp_path / "a.jsonl",
            line(subject="x", time="2026-01-01T01:00:00.1239+01:00", depth=2, data={"a": 1}),
            line(id="2"),
        )
    )
    events = history.events
    assert list(events.columns) == ["seq", "id", "type", "source", "subject", "time", "extensions", "data"]
    assert events["seq"].dtype == np.int64
    assert str(events["time"].dtype) == "datetime64[ms, UTC]"
    assert events["time"][0] == pd.Timestamp("2026-01-01T00:00:00.123Z")
    assert events["time"].isna()[1]
    assert events["extensions"][0] == {"depth": 2}
    assert events["data"][0] == '{"a":1}'
    assert [events[name][1] for name in ("subject", "extensions", "data")] == [None, None, None]


def test_attributes_are_given_as_recorded() -> None:
    history = History.from_events(
        [
            {
                **EVENT,
                "depth": 2,
                "time": "2026-01-01T00:00:00.123456789Z",
                "datacontenttype": "text/plain",
                "data": "x",
            },
            {**EVENT, "id": "2", "depth": "2", "flag": True},
            {**EVENT, "id": "3", "flag": 1, "class": "a", "2nd": "b"},
        ]
    )
    assert history.attribute("depth").tolist() == [2, "2", None]
    assert history.attribute("flag").tolist() == [None, True, 1]
    assert history.attribute("flag")[1] is True
    assert history.attribute("flag")[2] is not True
    assert history.attribute("time")[0] == "2026-01-01T00:00:00.123456789Z"
    assert history.attribute("datacontenttype").tolist() == ["text/plain", None, None]
    assert history.attribute("specversion").tolist() == ["1.0"] * 3
    assert history.attribute("class").tolist() == [None, None, "a"]
    assert history.attribute("2nd").tolist() == [None, None, "b"]
    assert history.attribute("nobody").tolist() == [None] * 3


@pytest.mark.parametrize(
    ("value", "expected"), [(2, [0]), (2.0, [0]), ("2", [1]), (True, [3]), (1, [2]), (None, []), (False, []), ("", [])]
)
def test_equality_converts_nothing(value: Any, expected: list[int]) -> None:
    values: list[Any] = [2, "2", 1, True, None]
    history = History.from_events([{**EVENT, "id": str(n), "depth": each} for n, each in enumerate(values)])
    assert np.flatnonzero(history.equals("depth", value)).tolist() == expected


def test_many_extensions_do_not_need_a_column_each() -> None:
    events = [{**EVENT, "id": str(n), f"x{n}": n, "common": "c"} for n in range(100)]
    history = History.from_events(events)
    assert [json.loads(history.text(n)) for n in range(100)] == events
    assert all(history.events["extensions"][n] == {f"x{n}": n, "common": "c"} for n in range(100))
    assert history.attribute("x99").tolist() == [None] * 99 + [99]
    assert np.flatnonzero(history.equals("x99", 99)).tolist() == [99]


def test_values_that_all_differ_stay_right() -> None:
    # Enough different values that a column gives up its table.
    count = 60_000
    history = History.from_events({**EVENT, "id": str(n), "source": f"/{n}", "trace": f"t{n}"} for n in range(count))
    assert history.events["source"].tolist() == [f"/{n}" for n in range(count)]
    assert np.flatnonzero(history.equals("trace", "t59999")).tolist() == [59_999]
    assert history.where(source="/7").seqs.tolist() == [7]


# Parts


def test_a_history_can_be_sent_to_another_process() -> None:
    history = History.from_events([{**EVENT, "id": str(n), "type": f"t{n % 2}", "data": n} for n in range(10)])
    history.where(type="t1")
    again = pickle.loads(pickle.dumps(history))
    assert again.page(again.seqs) == history.page(history.seqs)
    assert again.where(type="t1").seqs.tolist() == [1, 3, 5, 7, 9]
    pd.testing.assert_frame_equal(again.events, history.events)


def test_a_large_file_is_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.contents, "_LARGE", 1)
    monkeypatch.setattr(recallkit.events.contents, "_PIECE", 1_000)
    path = write(tmp_path / "a.jsonl", *(line(id=str(n), data="x" * (n % 300)) for n in range(3_000)))
    history = read_history(path)
    assert [history.event(n)["id"] for n in range(3_000)] == [str(n) for n in range(3_000)]
    assert pickle.loads(pickle.dumps(history)).text(2_999) == history.text(2_999)
    path.write_text(json.dumps(json.loads(history.page(range(100)))))
    assert len(read_history(path)) == 100


def test_a_part_keeps_its_seqs() -> None:
    history = History.from_events([{**EVENT, "id": str(n), "type": f"t{n % 2}"} for n in range(10)])
    part = history.where(type="t1")[1:3]
    assert part.seqs.tolist() == [3, 5]
    assert part.events["id"].tolist() == ["3", "5"]
    assert part.event(5)["id"] == "5"
    assert json.loads(part.page([5, 3]))[0]["id"] == "5"
    with pytest.raises(InvalidInput, match="seq 4"):
        part.text(4)
    with pytest.raises(InvalidInput):
        part.page([4])
    with pytest.raises(InvalidInput):
        history[::-1]
    assert [each["id"] for each in part] == ["3", "5"]


def test_pages_come_in_the_order_asked() -> None:
    history = History.from_events([{**EVENT, "id": str(n)} for n in range(5)])
    assert [each["id"] for each in json.loads(history.page([4, 0, 4]))] == ["4", "0", "4"]
    assert history.page([]) == b"[]"
    for wrong in ([-1], [5]):
        with pytest.raises(InvalidInput):
            history.page(wrong)


def test_clock_is_the_last_time_that_stood() -> None:
    times = [None, "1970-01-01T00:00:01Z", None, "2026-02-30T00:00:00Z", "1970-01-01T00:00:02.5Z"]
    history = History.from_events([{**EVENT, "id": str(n), "time": t} for n, t in enumerate(times)])
    assert history.clocks().tolist() == [0.0, 1000.0, 1000.0, 1000.0, 2500.0]
    assert history.clocks().dtype == np.float64


def test_counts_by_type() -> None:
    history = History.from_events([{**EVENT, "id": str(n), "type": "ab"[n % 3 > 0]} for n in range(6)])
    assert history.counts()[["type", "events"]].values.tolist() == [["b", 4], ["a", 2]]


def test_repr_is_short_and_stable() -> None:
    history = History.from_events([EVENT, {**EVENT, "id": "2"}, {"id": "3"}])
    assert repr(history) == "<History of 2 events, 1 problem>"
    assert repr(History.from_events([])) == "<History of 0 events>"


def test_written_lines_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{**EVENT, "data": {"a": [1, "\n"]}}, {**EVENT, "id": "2"}], indent=2))
    history = read_history(path)
    history.to_jsonl(tmp_path / "b.jsonl")
    again = read_history(tmp_path / "b.jsonl")
    assert [again.event(n) for n in range(2)] == [history.event(n) for n in range(2)]
    assert (tmp_path / "b.jsonl").read_bytes().count(b"\n") == 2


def test_deep_data_is_read_at_the_bound() -> None:
    data: Any = "x"
    for _ in range(512):
        data = [data]
    history = History.from_events([{**EVENT, "data": data}])
    assert len(history) == 1
    assert history.event(0)["data"] == data
    assert history.events["data"][0] == "[" * 512 + '"x"' + "]" * 512


# Sources


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "a.jsonl", "a"):
        (tmp_path / name).write_bytes(gzip.compress((line() + "\n").encode()))
        assert len(read_history(tmp_path / name)) == 1


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".json.gz"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [False, True])
def test_arrays_are_read_under_any_ending(tmp_path: Path, ending: str, indent: int | None, wrap: bool) -> None:
    events = [{**EVENT, "id": str(n), "data": {"n": [n, "],["]}} for n in range(3)]
    text = json.dumps({"events": events} if wrap else events, indent=indent).encode()
    path = tmp_path / f"a{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    history = read_history(path)
    assert [history.event(n) for n in range(3)] == events
    assert history.problems.empty


def test_lines_are_read_under_the_ending_json(tmp_path: Path) -> None:
    assert len(read_history(write(tmp_path / "a.json", line(), line(id="2"), line(id="3")))) == 3


def test_one_event_is_a_history(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(EVENT, indent=2))
    assert read_history(tmp_path / "a.json").event(0) == EVENT


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "[]", '{"events": []}'])
def test_an_empty_history_is_valid(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    history = read_history(path)
    assert len(history) == 0
    assert history.problems.empty
    assert history.page([]) == b"[]"
    assert list(history.events.columns) == ["seq", "id", "type", "source", "subject", "time", "extensions", "data"]
    assert str(history.events["time"].dtype) == "datetime64[ms, UTC]"
    assert history.clocks().tolist() == []
    assert history.counts().empty


def test_a_history_is_given_back() -> None:
    history = History.from_events([EVENT])
    assert read_history(history) is history


def test_values_of_other_libraries_are_written_as_json() -> None:
    history = read_history(
        [
            {
                **EVENT,
                "depth": np.int64(3),
                "time": pd.Timestamp("2026-01-01", tz="Europe/Paris"),
                "data": {"x": np.float64(0.5), "t": (1, 2)},
            }
        ]
    )
    assert history.event(0)["depth"] == 3
    assert history.event(0)["time"] == "2025-12-31T23:00:00.000Z"
    assert history.event(0)["data"] == {"x": 0.5, "t": [1, 2]}


def sample() -> History:
    return History.from_events(
        [
            {
                **EVENT,
                "id": "1",
                "time": "2026-01-01T00:00:00.123Z",
                "subject": "a",
                "depth": 2,
                "data": {"x": [1, None]},
            },
            {**EVENT, "id": "2", "region": "eu", "data": "text"},
            {**EVENT, "id": "3", "data": None},
        ]
    )


def assert_same(history: History, expected: History) -> None:
    def known(event: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in event.items() if value is not None}

    assert [known(each) for each in history] == [known(each) for each in expected]
    assert set(history.problems["kind"]) <= {"assumed-specversion"}


def test_its_own_frame_reads_back() -> None:
    assert_same(read_history(sample().events.assign(specversion="1.0")), sample())
    assert set(read_history(sample().events).problems["kind"]) == {"assumed-specversion"}


def test_its_own_frame_reads_back_from_parquet(tmp_path: Path) -> None:
    sample().events.assign(specversion="1.0").to_parquet(tmp_path / "a.parquet")
    assert_same(read_history(tmp_path / "a.parquet"), sample())


def test_its_own_frame_reads_back_from_csv(tmp_path: Path) -> None:
    sample().events.assign(specversion="1.0").to_csv(tmp_path / "a.csv", index=False)
    again = read_history(tmp_path / "a.csv")
    assert_same(again, sample())
    assert again.events["time"][0] == sample().events["time"][0]


def test_frame_with_a_column_per_attribute() -> None:
    frame = pd.DataFrame(
        {
            "id": ["1", "2", "3"],
            "type": "t",
            "source": "s",
            "specversion": "1.0",
            "time": pd.to_datetime(["2026-01-01", None, "2026-01-02T00:00:00.000001"], format="ISO8601"),
            "depth": [1, np.nan, 3],
            "flag": pd.array([True, pd.NA, False], dtype="boolean"),
            "label": pd.Categorical(["x", None, "y"]),
            "data": [{"a": 1}, None, [1, 2]],
        }
    )
    history = read_history(frame)
    assert history.event(0) == {
        "id": "1", "type": "t", "source": "s", "specversion": "1.0",
        "time": "2026-01-01T00:00:00.000Z", "depth": 1, "flag": True, "label": "x", "data": {"a": 1},
    }  # fmt: skip
    assert history.event(1) == {"id": "2", "type": "t", "source": "s", "specversion": "1.0"}
    assert history.event(2)["time"] == "2026-01-02T00:00:00.000001Z"
    assert history.event(2)["depth"] == 3
    assert history.event(2)["flag"] is False


def test_texts_of_a_data_column_are_json_only_when_all_are() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "type": "t", "source": "s", "data": ['{"a":1}', "[2]"]})
    assert [event["data"] for event in read_history(frame)] == [{"a": 1}, [2]]
    frame["data"] = ['{"a":1}', "two"]
    assert [event["data"] for event in read_history(frame)] == ['{"a":1}', "two"]


def test_a_packed_csv_table_is_read_as_the_table_is(tmp_path: Path) -> None:
    sample().events.assign(specversion="1.0").to_csv(tmp_path / "a.csv", index=False)
    packed = gzip.compress((tmp_path / "a.csv").read_bytes())
    for name in ("a.csv.gz", "packed.csv"):
        (tmp_path / name).write_bytes(packed)
        assert_same(read_history(tmp_path / "a.csv"), read_history(tmp_path / name))
    (tmp_path / "cut.csv.gz").write_bytes(packed[:-9])
    with pytest.raises(HistoryError, match=r"The gzip of .*cut\.csv\.gz ends too early"):
        read_history(tmp_path / "cut.csv.gz")


def test_an_empty_path_is_told_as_that() -> None:
    with pytest.raises(HistoryError, match="path is empty; name a file"):
        read_history("")


def test_csv_cells_are_texts_but_for_whole_number_attributes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,type,source,specversion,depth,region,data\n1,t,s,1.0,2,7,"{""a"": -0}"\n2,t,s,1.0,,,\n')
    history = read_history(path)
    assert history.event(0) == {
        "id": "1", "type": "t", "source": "s", "specversion": "1.0", "depth": 2, "region": "7", "data": {"a": 0},
    }  # fmt: skip
    assert '"data":{"a": -0}' in history.text(0)
    assert history.event(1) == {"id": "2", "type": "t", "source": "s", "specversion": "1.0"}


def test_sqlite_table(tmp_path: Path) -> None:
    path = tmp_path / "a b.db"
    with sqlite3.connect(path) as db:
        db.execute(
            'CREATE TABLE "my ""events""" (id TEXT, type TEXT, source TEXT, specversion TEXT, data TEXT, depth INTEGER)'
        )
        db.executemany(
            'INSERT INTO "my ""events""" VALUES (?, ?, ?, ?, ?, ?)',
            [("2", "t", "s", "1.0", '{"a":-0}', 1), ("1", "t", "s", "1.0", None, None)],
        )
    db.close()
    history = read_history(f'sqlite:///{path}?table=my+"events"')
    assert [each["id"] for each in history] == ["2", "1"]
    assert '"data":{"a":-0}' in history.text(0)
    assert history.event(1) == {"id": "1", "type": "t", "source": "s", "specversion": "1.0"}
    assert [each["id"] for each in read_history(f'sqlite:///{path}?table=my+"events"&order=id')] == ["1", "2"]


# Times


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-10-03T16:40:05.000Z", 1_791_045_605_000),
        ("2026-10-03T18:40:05+02:00", 1_791_045_605_000),
        ("2026-10-03T18:40:05.1+02:00", 1_791_045_605_100),
        ("2026-10-03T16:40:05.123999999Z", 1_791_045_605_123),
        ("2026-10-03T16:40:05.1239999999999Z", 1_791_045_605_123),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_times_are_read_to_the_millisecond(text: str, expected: int) -> None:
    assert read_time(text) == (expected, "read")
    values, rest = read_times([text, None])
    assert (values[0] if 0 not in rest else expected) == expected
    assert History.from_events([{**EVENT, "time": text}]).clocks()[0] == expected


TIME_LIKE = (
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]"
    r"(\.[0-9]{1,10})?(Z|[+-][0-2][0-9]:[0-6][0-9])?"
)


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.from_regex(TIME_LIKE, fullmatch=True),
            st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
            st.text(max_size=30),
        )
    )
)  # fmt: skip
def test_many_times_are_read_as_each_alone(texts: list[str | None]) -> None:
    values, rest = read_times(texts)
    for place, text in enumerate(texts):
        alone = (NO_TIME, "read") if text is None else read_time(text)
        if place in rest:
            assert text is not None
        else:
            assert (values[place], "read") == alone


# Round trips

json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
extension_names = st.from_regex("[a-z0-9]{1,6}", fullmatch=True).filter(
    lambda name: name not in EVENT and name not in ("data", "time")
)
events = st.builds(
    lambda head, extensions, rest: {**extensions, **head, **rest},
    st.fixed_dictionaries(
        {"specversion": st.just("1.0"), "id": texts, "type": texts, "source": texts}, optional={"subject": texts}
    ),
    st.dictionaries(extension_names, st.one_of(texts, st.booleans(), st.integers(-(2**31), 2**31 - 1)), max_size=3),
    st.fixed_dictionaries({}, optional={"data": json_values}),
)


@given(st.lists(events, max_size=12), st.booleans())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, given_events: list[dict[str, Any]], escaped: bool
) -> None:
    path = tmp_path_factory.mktemp("trip") / "a.jsonl"
    path.write_text(
        "".join(json.dumps(event, ensure_ascii=escaped) + "\n" for event in given_events), encoding="utf-8", newline=""
    )
    history = read_history(path)
    assert len(history) == len(given_events)
    assert json.loads(history.page(history.seqs)) == given_events
    history.to_jsonl(path)
    assert path.read_bytes().split(b"\n")[:-1] == [history.text(n).encode() for n in range(len(history))]
    again = read_history(given_events)
    assert [dict(event) for event in again] == given_events
    known = {*EVENT, "subject", "data"}
    assert [extension or {} for extension in again.events["extensions"]] == [
        {key: value for key, value in event.items() if key not in known} for event in given_events
    ]


odd = st.sampled_from(
    ["", "1.0", "0.3", "application/json", "xyz", 0, 2**31, 1.5, True, None, [], {}, "2026-01-01T00:00:00Z",
     "lunchtime", "2026-01-01T23:59:60Z", "\ud800", "é", "e30="]
)  # fmt: skip
odd_events = st.dictionaries(
    st.sampled_from(["id", "type", "source", "specversion", "subject", "time", "datacontenttype", "dataschema", "data",
                     "data_base64", "x", "Xy", "a.b", "é"]),
    odd,
).flatmap(lambda members: st.sampled_from([members, {**EVENT, **members}]))  # fmt: skip


@given(st.lists(odd_events, min_size=1, max_size=6))
def test_the_fast_way_keeps_what_the_careful_way_keeps(given_events: list[dict[str, Any]]) -> None:
    lines = [json.dumps(event).encode() for event in given_events]
    together = Reader()
    together.read(b"\n".join(lines), 0, 1)
    expected = [examine(each) for each in lines]
    assert join([together.ids.finish()]).objects().tolist() == [
        each["id"] for each in expected if not isinstance(each, Fault)
    ]
    told = [row.kind for row in together.problems.rows if row.seq is None]
    assert told == [each.kind for each in expected if isinstance(each, Fault)]


# Recorded elsewhere


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("editing-sveltecomponent", 18_335),
        ("editing-json-crdt-patch", 18_639),
        ("metered-billing", 23),
        ("temporal", 3_240),
        ("agent-taubench-airline", 5_708),
        ("cdevents", 48),
        ("google-structured", 3),
        ("aws-eventbridge", 16),
    ],
)
def test_recorded_histories(shared: Path, name: str, count: int) -> None:
    path = shared / "histories" / f"{name}.jsonl.gz"
    history = read_history(path)
    passed_over = int(history.problems["seq"].isna().sum())
    assert len(history) + passed_over == count
    assert passed_over == (1 if name == "google-structured" else 0)
    recorded = gzip.decompress(path.read_bytes()).splitlines()
    told = history.problems["line"][history.problems["seq"].isna()].tolist()
    kept = [text for number, text in enumerate(recorded, start=1) if number not in told]
    assert history.page(history.seqs) == b"[" + b",".join(kept) + b"]"
    assert history.events["time"].notna().all()


def test_capitals_in_a_name_are_reported(shared: Path) -> None:
    history = read_history(shared / "histories" / "google-structured.jsonl.gz")
    row = history.problems.iloc[0]
    assert row["kind"] == "bad-name"
    assert "lowercase" in row["words"]
