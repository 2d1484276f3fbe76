"""Large files, read in ranges by several processes: the same history as one process gives, whatever is in the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recallkit as rk
import recallkit.events.problems
from recallkit.errors import HistoryError
from recallkit.events import History, many, read_history, readers

pytestmark = pytest.mark.skipif(not many.can_read(), reason="files are shared between processes on POSIX alone")

EVENT = {"specversion": "1.0", "id": "1", "type": "made", "source": "/here"}


def in_ranges(path: Path, range_bytes: int, processes: int = 1) -> History:
    start = 3 if path.read_bytes()[:3] == b"\xef\xbb\xbf" else 0
    readings, buffer = many.read_in_processes(path, start, processes=processes, range_bytes=range_bytes)
    return readers._history(readings, buffer, buffer, start, ".jsonl", str(path))


def told(read: Callable[[], History]) -> History | str:
    try:
        return read()
    except HistoryError as error:
        return str(error)


def assert_same(found: History | str, expected: History | str) -> None:
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    pd.testing.assert_frame_equal(found.problems, expected.problems)
    pd.testing.assert_frame_equal(found.events, expected.events)
    assert found.seqs.tolist() == expected.seqs.tolist()
    assert found.page(found.seqs) == expected.page(expected.seqs)
    assert found.clocks().tolist() == expected.clocks().tolist()
    for name in ("id", "type", "source", "subject", "datacontenttype", "x", "x1", "x33"):
        assert found.attribute(name).tolist() == expected.attribute(name).tolist()
        for value in set(map(str, found.attribute(name))) | {"1", 1}:
            assert found.equals(name, value).tolist() == expected.equals(name, value).tolist()


def made(**members: Any) -> bytes:
    return json.dumps({**EVENT, **members}, ensure_ascii=False).encode("utf-8", "surrogatepass")


good = st.builds(
    lambda id, source, rest: made(id=id, source=source, **rest),
    st.sampled_from(["1", "2", "é😀", "x" * 40, "", "2" * 9]),
    st.sampled_from(["/a", "/b", "/ü"]),
    st.fixed_dictionaries(
        {},
        optional={
            "subject": st.sampled_from(["s", "t"]),
            "time": st.sampled_from(
                ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00.123+02:00", "2026-02-30T00:00:00Z", "noon"]
            ),
            "x": st.sampled_from(["a", 1, True, "1", None]),
            "x1": st.sampled_from([1, False]),
            "data": st.sampled_from([None, -0.0, 12345678901234567890, {"a": "}{\n"}, [[]], "\ud83d", "x" * 1_100]),
            "datacontenttype": st.sampled_from(["application/json", "no"]),
        },
    ),
)
many_names = st.integers(0, 50).map(lambda first: made(**{f"x{n}": n for n in range(first, first + 8)}))
hostile = st.sampled_from(
    [
        b"", b" ", b"\t ", b"{}", b"[]", b"}{", b"{", b"}", b"null", b"\xff", b'{"id":"\xff"}', b"\xef\xbb\xbf",
        b"{}{}", b"{} {}", b'{"a":[{}', b"{}]}", b"[" * 2_000, b'{"a":' * 600 + b"1" + b"}" * 600,
        made() + b" " + made(), made() + made(id="2"), b" " + made() + b"  ", b"x" * 700, b'"specversion"',
        b'{"id":"1","type":"t","source":"s"}', b'{"specversion":"0.3","id":"1","type":"t","source":"s"}',
        made(data={"a": [1, {"b": 2}]})[:-1], b'1}', b'{"specversion":"1.0","id":"1","type":"t","source":"s","data":{',
        made(Bad=1), made(id=5), made(data="\\ud800"),
        b'{"specversion":"1.0","id":"a","id":"b","type":"t","source":"s"}',
    ]
)  # fmt: skip
contents = st.builds(
    lambda bom, lines, end, last: bom + b"".join(line + end for line, end in zip(lines, end, strict=False)) + last,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.one_of(good, good, many_names, hostile), min_size=1, max_size=14),
    st.lists(st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n"]), min_size=14, max_size=14),
    st.sampled_from([b"", made(id="last"), b"{"]),
)


@given(contents, st.sampled_from([1, 2, 3, 7, 40, 100, 333, 5_000]), st.sampled_from([16, 100, 512 * 1024]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_ranges_give_what_one_reading_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, range_bytes: int, block: int
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    expected = told(lambda: read_history(path))
    with monkeypatch.context() as patched:
        patched.setattr(many, "BLOCK_BYTES", block)
        assert_same(told(lambda: in_ranges(path, range_bytes)), expected)


@given(st.lists(st.sampled_from(["a", "b", "é", 1, True, None, "c" * 30]), max_size=60), st.integers(1, 400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_columns_of_every_kind_are_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: list[Any], range_bytes: int
) -> None:
    path = tmp_path / "a.jsonl"
    lines = [made(id=str(n), x=value, y=f"{value}{n}", z=n) for n, value in enumerate(values)]
    path.write_bytes(b"\n".join([made(), *lines]))
    expected = read_history(path)
    with monkeypatch.context() as patched:
        # So that some ranges keep a table, some texts, and some values.
        patched.setattr("recallkit.events.columns._PACKED_FROM", 2)
        patched.setattr(many, "BLOCK_BYTES", 64)
        found = in_ranges(path, range_bytes)
    assert_same(found, expected)
    for name in ("y", "z"):
        assert found.attribute(name).tolist() == expected.attribute(name).tolist()
        assert found.where(x="a").attribute(name).tolist() == expected.where(x="a").attribute(name).tolist()


def test_the_table_of_problems_is_cut_at_the_same_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recallkit.events.problems, "PROBLEM_ROWS", 7)
    path = tmp_path / "a.jsonl"
    lines = [made(id=str(n), data=2**60 + 1) if n % 2 else made(id="") for n in range(40)]
    path.write_bytes(b"\n".join(lines))
    for size in (1, 50, 300, 10_000):
        assert_same(in_ranges(path, size), read_history(path))


def sample(path: Path, count: int = 3_000) -> Path:
    lines = [made(id=str(n), type=f"t{n % 3}", source=f"/{n}", x=n, data={"n": "é" * (n % 50)}) for n in range(count)]
    lines[count // 2] = b"no json"
    path.write_bytes(b"\n".join(lines))
    return path


def test_several_processes_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample(tmp_path / "a.jsonl")
    expected = read_history(path)
    read: list[int] = []
    ours = many.read_range
    # This process leaves every range but the first to the others.
    monkeypatch.setattr(many, "_numbers", lambda pipe: [int.from_bytes(os.read(pipe, 4), "little")])
    monkeypatch.setattr(many, "read_range", lambda task, number: read.append(number) or ours(task, number))
    assert_same(in_ranges(path, 20_000, processes=3), expected)
    assert len(read) == 1


def test_a_large_file_is_read_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample(tmp_path / "a.jsonl")
    expected = read_history(path)
    monkeypatch.setattr(many, "FROM_BYTES", 1)
    monkeypatch.setattr(many, "RANGE_BYTES", 10_000)
    calls: list[Path] = []
    ours = many.read_in_processes
    monkeypatch.setattr(many, "read_in_processes", lambda path, *rest: calls.append(path) or ours(path, *rest))
    assert_same(read_history(path), expected)
    assert calls == [path]


@pytest.mark.parametrize(
    "dies",
    [
        "import os; os._exit(3)",
        "import os, sys, json; os.read(json.loads(sys.argv[2])['ranges'], 4); os.kill(os.getpid(), 9)",
        "import os, sys, json; os.read(json.loads(sys.argv[2])['ranges'], 4); print('[[0,', end='', flush=True)",
    ],
)
def test_what_a_process_left_undone_is_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: str) -> None:
    path = sample(tmp_path / "a.jsonl")
    expected = read_history(path)
    monkeypatch.setattr(many, "_START", dies)
    assert_same(in_ranges(path, 20_000, processes=3), expected)


def test_ctrl_c_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample(tmp_path / "a.jsonl")
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*given: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*given, **options))
        return started[-1]

    def interrupt(task: many.Task, number: int) -> many.Done:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(many, "read_range", interrupt)
    with pytest.raises(KeyboardInterrupt):
        in_ranges(path, 20_000, processes=3)
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)


def test_a_file_that_shrinks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample(tmp_path / "a.jsonl")
    ours = many.read_range

    def shrink(task: many.Task, number: int) -> many.Done:
        os.truncate(path, 50_000)
        return ours(task, number)

    monkeypatch.setattr(many, "read_range", shrink)
    with pytest.raises(HistoryError, match="changed while it was read"):
        in_ranges(path, 20_000)


def test_a_script_without_a_main_guard_works(tmp_path: Path) -> None:
    path = sample(tmp_path / "a.jsonl")
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(rk.__file__).parents[1])!r})\n"
        "print('begun')\nimport recallkit as rk\nfrom recallkit.events import many\n"
        "many.FROM_BYTES, many.BYTES_A_PROCESS, many.RANGE_BYTES, many._cores = 1, 1, 20_000, lambda: 3\n"
        f"print(len(rk.read_history({str(path)!r})))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["begun", "2999"], done.stderr
