"""Files that are cut off, values that are no JSON, and places that are no files: what is kept, and what is said."""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recallkit.events.contents
import recallkit.events.paths
import recallkit.events.tables
from recallkit.errors import HistoryError
from recallkit.events import History, read_history

EVENT = {"specversion": "1.0", "id": "1", "type": "made", "source": "/here"}


def events(count: int) -> list[dict[str, Any]]:
    return [{**EVENT, "id": str(n), "data": {"text": f"]}},{{[ {n}", "n": [n]}} for n in range(count)]


# Cut off


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".json.gz"])
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_that_is_cut_off_keeps_its_whole_events(
    tmp_path: Path, ending: str, wrap: bool, indent: int | None
) -> None:
    given = events(5)
    text = json.dumps({"about": {"n": [1]}, "events": given} if wrap else given, indent=indent)
    path = tmp_path / f"a{ending}"
    seen = set()
    starts = [text.index(f'"id": "{n}"') for n in range(5)]
    first = text.index('"1.0"')
    for cut in sorted({*range(first, len(text), 7), *(at for at in range(first, len(text)) if text[at - 1] in "]},")}):
        part = text[:cut].encode()
        path.write_bytes(gzip.compress(part) if ending.endswith("gz") else part)
        # An event is whole once its last brace is there; what follows it may be missing.
        closed = [text.rindex("}", 0, start) for start in [*starts[1:], len(text) if not wrap else len(text) - 1]]
        whole = sum(place < cut for place in closed)
        if not whole and ending == ".jsonl":
            # Read as lines then, each of which is told.
            continue
        if not whole:
            with pytest.raises(HistoryError, match=r"no (whole )?event|before the first whole event|is no event"):
                read_history(path)
            continue
        history = read_history(path)
        seen.add(len(history))
        assert [history.event(n) for n in range(len(history))] == given[:whole]
        if wrap and "]" in text[closed[-1] : cut]:
            continue
        assert history.problems["kind"].tolist() == ["cut-off"]
        assert f"after {whole} whole events" in history.problems["words"][0]
        assert history.problems["line"][0] == text[:cut].count("\n") + 1
    assert seen == {1, 2, 3, 4, 5}


def test_text_after_a_list_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(events(2)) + "\n\n" + json.dumps(events(3)))
    history = read_history(path)
    assert len(history) == 2
    assert history.problems["kind"].tolist() == ["not-json"]
    assert history.problems["line"].tolist() == [3]


def test_gzip_that_is_cut_off_keeps_its_whole_events(tmp_path: Path) -> None:
    rng = random.Random(1)
    given = [{**each, "data": rng.randbytes(30).hex()} for each in events(300)]
    packed = gzip.compress("".join(json.dumps(each) + "\n" for each in given).encode())
    path = tmp_path / "a.jsonl.gz"
    counts = []
    for cut in range(2_000, len(packed), 1_999):
        path.write_bytes(packed[:cut])
        history = read_history(path)
        counts.append(len(history))
        assert [dict(each) for each in history] == given[: len(history)]
        assert history.problems["kind"].tolist() == ["cut-off"]
        assert f"after {len(history)} whole events" in history.problems["words"][0]
        assert "gzip" in history.problems["words"][0]
    assert counts == sorted(counts)
    assert counts[-1] > 200
    # Only the check sum at the end is missing: every event is there.
    path.write_bytes(packed[:-8])
    history = read_history(path)
    assert len(history) == 300
    assert history.problems["kind"].tolist() == ["cut-off"]


def test_gzip_of_many_members_and_damaged_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = [(json.dumps(each) + "\n").encode() for each in events(3)]
    path.write_bytes(b"".join(map(gzip.compress, lines)) + bytes(600))
    assert len(read_history(path)) == 3
    assert read_history(path).problems.empty
    packed = bytearray(gzip.compress(b"".join(lines)))
    packed[-6] ^= 1
    path.write_bytes(packed)
    with pytest.raises(HistoryError, match="damaged"):
        read_history(path)


def test_gzip_that_ends_in_a_full_piece_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.contents, "_PIECE", 64)
    path = tmp_path / "a.jsonl.gz"
    text = b"".join((json.dumps(each) + "\n").encode() for each in events(40))
    for size in range(len(text) - 130, len(text)):
        path.write_bytes(gzip.compress(text[:size] + b" " * 64))
        assert "cut-off" not in read_history(path).problems["kind"].tolist()


# Line ends


def test_lines_that_end_with_cr_alone_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    given = events(3)
    path.write_bytes("".join(json.dumps(each) + "\r" for each in given).encode())
    history = read_history(path)
    assert [dict(each) for each in history] == given
    assert history.text(1) == json.dumps(given[1])
    assert history.problems.empty


def test_a_lone_cr_between_events_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    one, two, three = (json.dumps(each) for each in events(3))
    path.write_bytes(f"{one}\r{two}\r\n{three}\n".encode())
    history = read_history(path)
    assert list(history.events["id"]) == ["2"]
    assert history.problems["line"].tolist() == [1]
    assert "carriage return" in history.problems["words"][0]


# Values that are no JSON


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({1: "a"}, "key 1 is a int"), ({None: "a"}, "key None"), ({True: 1}, "key True"),
        ([{"a": {1.5: 0}}], "key 1.5"),
        ({"a": {2, 1}}, "set"), (frozenset("a"), "frozenset"), (b"a", "bytes"), (bytearray(b"a"), "bytearray"),
        (float("nan"), "JSON"), ([float("inf")], "JSON"), (object(), "object"), ({(1, 2): 3}, "JSON"), (1j, "complex"),
    ],
)  # fmt: skip
def test_what_json_cannot_carry_is_passed_over_and_told(data: Any, words: str) -> None:
    history = History.from_events([EVENT, {**EVENT, "id": "2", "data": data}, {**EVENT, "id": "3"}])
    assert list(history.events["id"]) == ["1", "3"]
    assert history.problems["kind"].tolist() == ["not-json"]
    assert history.problems["line"].tolist() == [2]
    assert words in history.problems["words"][0]


def test_what_was_converted_is_kept_and_told() -> None:
    given = [{**EVENT, "id": ""}, {**EVENT, "data": {"a": [(1, 2)], "b": Decimal("1.10")}}, {**EVENT, "id": "2"}]
    history = History.from_events(given)
    assert history.event(0)["data"] == {"a": [[1, 2]], "b": "1.10"}
    assert history.problems["kind"].tolist() == ["no-id", "converted"]
    row = history.problems.iloc[1]
    assert (row["seq"], row["line"], row["id"]) == (0, 2, "1")
    assert "a Decimal as a text and a tuple as a list" in row["words"]


def test_a_column_that_stands_twice_is_named() -> None:
    frame = pd.DataFrame([["1", "t", "s", "a", "b"]], columns=["id", "type", "source", "region", "region"])
    with pytest.raises(HistoryError, match="column region twice"):
        read_history(frame)
    with pytest.raises(HistoryError, match="column 1 twice"):
        read_history(pd.DataFrame([["1", "t", "s", "a", "b"]], columns=["id", "type", "source", 1, "1"]))


def test_a_cell_of_extensions_that_holds_none_is_told() -> None:
    frame = pd.DataFrame({"id": ["1"], "type": "t", "source": "s", "specversion": "1.0", "extensions": [[1, 2]]})
    assert read_history(frame).problems["kind"].tolist() == ["bad-attribute"]


# Places that are no files


ENDINGS = (".jsonl", ".json", ".csv", ".parquet", ".jsonl.gz")


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices have names on POSIX alone")
@pytest.mark.parametrize("ending", ENDINGS)
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, ending: str) -> None:
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    zero = tmp_path / f"zero{ending}"
    zero.symlink_to("/dev/zero")
    for path, words in ((pipe, "a pipe"), (zero, "a device"), (Path("/dev/null"), "a device")):
        with pytest.raises(HistoryError, match=f"{words}, no regular file"):
            read_history(path)
    with pytest.raises(HistoryError, match="a pipe"):
        read_history(f"sqlite:///{pipe}?table=t")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_past_the_bound_is_refused(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.paths, "HISTORY_BYTES", 1_000)
    path = tmp_path / f"large{ending}"
    path.write_bytes(b" " * 1_001)
    with pytest.raises(HistoryError, match="more than 1,000 bytes"):
        read_history(path)


def test_a_file_that_grows_past_the_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.contents, "HISTORY_BYTES", 1_000)
    path = tmp_path / "grows.jsonl"
    path.write_bytes(b" " * 1_001)
    with pytest.raises(HistoryError, match="bytes of events; split it"):
        read_history(path)


def test_a_table_that_unpacks_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.tables, "HISTORY_BYTES", 1_000_000)
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame({"id": ["1"] * 300_000, "type": "t", "source": "s"})
    frame.to_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(HistoryError, match="bytes of events; split it"):
        read_history(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_odd_paths_are_printed_safely(tmp_path: Path, ending: str) -> None:
    odd = [
        "x" * 5_000,
        "a" * 150 + "/" + "b" * 150,
        "line\nbreak\x1b[31m",
        "\udcff" if os.name == "posix" else "no",
        "\ud800",
    ]
    for name in odd:
        for given in (str(tmp_path / f"{name}{ending}"), f"sqlite:///{tmp_path}/{name}{ending}?table=t"):
            with pytest.raises(HistoryError) as caught:
                read_history(given)
            words = str(caught.value)
            words.encode("utf-8")
            assert words.isprintable()
            assert len(words) < 400


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are no UTF-8")
def test_a_file_with_an_odd_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "\udcff.jsonl"
    path.write_text(json.dumps(EVENT) + "\n")
    history = read_history(path)
    assert len(history) == 1
    assert history.name.endswith("\\udcff.jsonl")
