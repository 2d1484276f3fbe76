"""JSON as others test it: what a parser must take, must refuse, and may do either with, as the data of an event."""

from __future__ import annotations

import json
from pathlib import Path

from recallkit.errors import HistoryError
from recallkit.events import read_history

HEAD = b'{"specversion":"1.0","id":"%d","type":"t","source":"s","data":'


def test_as_the_data_of_an_event(shared: Path, tmp_path: Path) -> None:
    folder = shared / "suites" / "json-test-suite-nst" / "test_parsing"
    paths = sorted(folder.glob("*.json"))
    assert len(paths) == 318
    # A line break would end the event. A tab is the same to JSON: a blank between tokens, refused inside a text.
    texts = [path.read_bytes().replace(b"\n", b"\t") for path in paths]
    (tmp_path / "a.jsonl").write_bytes(b"".join(HEAD % n + text + b"}\n" for n, text in enumerate(texts)))
    history = read_history(tmp_path / "a.jsonl")
    read = {int(each) for each in history.events["id"]}
    passed_over = history.problems[history.problems["seq"].isna()]
    assert set(passed_over["line"] - 1) == set(range(len(paths))) - read
    assert passed_over["words"].str.len().min() > 20
    for number, path in enumerate(paths):
        verdict = path.name[0]
        assert verdict in "yni"
        if verdict != "i":
            assert (number in read) is (verdict == "y"), path.name
    for row, number in enumerate(history.events["id"].map(int)):
        assert history.text(row).encode() == HEAD % number + texts[number] + b"}"
        assert history.events["data"][row].encode() == texts[number].strip(b" \t\r\n")
    assert len(json.loads(history.page(history.seqs))) == len(history)


def test_each_alone_never_breaks(shared: Path, tmp_path: Path) -> None:
    paths = sorted((shared / "suites" / "json-test-suite-nst").glob("*/*.json"))
    for number, path in enumerate(paths):
        single = tmp_path / f"{number}.json"
        single.write_bytes(b"[" + HEAD % number + path.read_bytes() + b"}]")
        try:
            history = read_history(single)
        except HistoryError:
            continue
        assert len(history) <= 1
        assert len(history) + len(history.problems) >= 1


def test_values_that_parsers_change_are_kept(shared: Path, tmp_path: Path) -> None:
    paths = sorted((shared / "suites" / "json-test-suite-nst" / "test_transform").glob("*.json"))
    assert len(paths) == 22
    for path in paths:
        text = HEAD % 1 + path.read_bytes().strip() + b"}"
        (tmp_path / "a.json").write_bytes(text)
        history = read_history(tmp_path / "a.json")
        if path.name.endswith("_invalid_codepoint.json") or path.name.endswith("_invalid_codepoints.json"):
            assert len(history) + len(history.problems) >= 1
        else:
            assert history.text(0).encode() == text, path.name
