"""The command line: what each command prints, its exit status, and that nothing that it is given breaks it."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recallkit as rk
from recallkit import cli, cli_words
from recallkit.cli_sources import UsageError, parse_input
from recallkit.errors import EngineError, Problem, Unavailable

SPRING = '{"campaign": "spring-sale", "last": 1}'
LATEST = [
    {"at": "2026-10-03T16:40:05.000Z", "verdict": "approve", "run": "/runs/0199a3c4-7d2e-7c1a-9b3f-2f1e0d9c8b73"},
]
COUNTER = """---
description: {words}
language: typescript
source:
  events:
    - type: {type}
view:
  initial: 0
---
export function fold(view: View, event: Event): View {{
  {body}
}}
"""


class Called:
    """What a command gave."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call the command in this process."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("RECALLKIT_TRACEBACK", raising=False)

    def run(*arguments: object) -> Called:
        status = cli.main([str(each) for each in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Called(status, out, err)

    return run


def spawn(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """Start the command as its own process."""
    command = [sys.executable, "-m", "recallkit", *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{"cwd": Path(rk.__file__).parent.parent, **pipes, **options})


@pytest.fixture
def reviews(functions: Path) -> Path:
    return functions / "campaign-reviews.md"


@pytest.fixture
def three(data: Path) -> Path:
    return data / "three-reviews.jsonl"


def document(
    folder: Path, body: str = "return (view as number) + 1;", *, type: str = "tick", words: str = "Counts"
) -> Path:
    path = folder / "counter.md"
    path.write_text(COUNTER.format(body=body, type=type, words=words), encoding="utf-8")
    return path


def ticks(folder: Path, count: int, **more: Any) -> Path:
    path = folder / "ticks.jsonl"
    event = {"specversion": "1.0", "type": "tick", "source": "/t", "time": "2026-01-01T00:00:00Z", **more}
    path.write_text("".join(json.dumps({**event, "id": str(n)}) + "\n" for n in range(count)), encoding="utf-8")
    return path


# Help and usage


def commands() -> dict[str, argparse.ArgumentParser]:
    parser = cli.make_parser()
    return dict(next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices)


def test_every_command_and_option_is_in_the_readme(root: Path) -> None:
    section = (
        (root / "README.md").read_text(encoding="utf-8").partition("\n## The command line\n")[2].partition("\n## ")[0]
    )
    known = {"--version", "--help"}
    for name, parser in commands().items():
        assert f"`recallkit {name}" in section, name
        known |= {option for option in parser._option_string_actions if option != "-h"}
    assert {option for option in known if not re.search(rf"(?<![\w-]){option}\b", section)} == set()
    # and nothing is documented that there is not
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", section)) - known == set()


def test_every_command_has_a_module_that_does_it() -> None:
    from importlib import import_module

    assert set(commands()) == set(cli.COMMANDS)
    assert all(callable(getattr(import_module(module), name)) for name, module in cli.COMMANDS.items())


@pytest.mark.parametrize("name", [None, *cli.COMMANDS])
def test_help_teaches(call: Any, name: str | None) -> None:
    told = call(*([name] if name else []), "--help")
    assert told.status == 0
    assert "exit status" in told.out
    assert ("example: recallkit " + str(name) in told.out) if name else "recallkit demo" in told.out


def test_the_version(call: Any) -> None:
    told = call("--version")
    assert (told.status, told.out) == (0, f"recallkit {rk.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["fol"], "did you mean fold?"),
        (["fold", "a", "b", "--pag", "3"], "did you mean --page?"),
        (["fold", "a", "b", "--trac", "x.csv"], "did you mean --trace?"),
        (["fold", "a"], "HISTORY"),
        (["fold", "a", "b", "--page", "0"], "a whole number from 1 to 1,000, not 0"),
        (["fold", "a", "b", "--page", "many"], "a whole number from 1 to 1,000"),
        (["fold", "a", "b", "--trace", "x.txt"], ".parquet, .csv or .json"),
        (["fold", "a", "b", "--trace", "no/such/x.csv"], "There is no folder no/such"),
        (["fold", "a", "b", "--json", "--view", "-"], "standard output"),
        (["fold", "-", "-"], "cannot both be standard input"),
        (["run", "-", "-", "--input", "-"], "Only one"),
        (["scrub", "a", "b"], "--output"),
        (["check", "nothing.md"], "There is no file nothing.md"),
        (["fold", "a", "b", "--at", "x"], "takes a whole number, not 'x'"),
        (["check", "."], ". is a folder"),
        (["check", "a\x1b[31m\n"], r"a\x1b[31m\n"),
    ],
)
def test_a_usage_error_has_status_2_and_says_what_to_do(call: Any, arguments: list[str], words: str) -> None:
    told = call(*arguments)
    assert told.status == 2
    assert words in told.err
    assert (told.json["error"]["kind"] == "usage") if "--json" in arguments else (told.out == "")


# check


def test_check_of_a_fine_document(call: Any, reviews: Path) -> None:
    told = call("check", reviews)
    assert (told.status, told.out, told.err) == (0, f"{reviews}: fine, a recall function\n", "")
    assert call("check", reviews, "--json").json == {"ok": True, "kind": "recall", "problems": []}


def test_check_prints_problems_as_a_compiler_does(call: Any, tmp_path: Path) -> None:
    path = document(tmp_path, "return vew;")
    told = call("check", path)
    lines = told.out.split("\n")
    assert told.status == 1
    assert lines[0].startswith(f"{path}:11:10: error: ")
    assert "vew" in lines[0]
    assert lines[1] == "   11 │   return vew;"
    assert lines[2] == "      │ " + " " * 9 + "^"
    assert lines[-2] == f"{path}: refused: 1 error"
    same = call("check", path, "--json")
    assert same.status == 1
    assert same.json["ok"] is False
    [problem] = same.json["problems"]
    assert (problem["severity"], problem["line"], problem["column"]) == ("error", 11, 10)


def test_the_caret_stands_below_its_column() -> None:
    def shown(text: str, column: int) -> tuple[str, int]:
        _, line, caret = cli_words.problem_lines("d.md", [Problem("w", line=1, column=column)], text)
        return line.partition("│ ")[2], caret.partition("│ ")[2].index("^")

    assert shown("const x = 1;", 7) == ("const x = 1;", 6)
    assert shown("\tx", 2) == ("    x", 4)
    assert shown("'😀' x", 6) == ("'😀' x", 5)  # two UTF-16 units, and two columns of a terminal
    line, at = shown("a" * 500 + "b" + "c" * 500, 501)
    assert line[at] == "b"
    assert len(line) <= cli_words.width()
    assert shown("short", 99) == ("short", 5)


# fold


def test_fold_shows_the_view_and_what_it_took(call: Any, reviews: Path, three: Path) -> None:
    told = call("fold", reviews, three)
    assert (told.status, told.err) == (0, "")
    assert "3 read, 3 considered, 3 folded" in told.out
    assert "375 bytes" in told.out
    assert '"reject: the budget is not stated"' in told.out


def test_fold_as_json_is_one_object(call: Any, reviews: Path, three: Path) -> None:
    told = call("fold", reviews, three, "--json")
    found = told.json
    assert (told.status, told.err) == (0, "")
    assert (found["state"], found["events"], found["folded"], found["view_bytes"]) == ("live", 3, 3, 375)
    assert found["view"]["spring-sale"][-1:] == LATEST
    assert found["standing"]["folded"] == 3
    assert found["stall"] is None


def test_numbers_stay_as_the_engine_wrote_them(call: Any, tmp_path: Path) -> None:
    path = document(tmp_path, "return [1e21, 12345678901234567890, 0.1 + 0.2];")
    history = ticks(tmp_path, 1)
    numbers = "[1e+21,12345678901234567000,0.30000000000000004]"
    assert f'"view":{numbers},' in call("fold", path, history, "--json").out
    assert call("fold", path, history, "--view", "-").out == numbers + "\n"
    assert numbers.replace(",", ", ") in call("fold", path, history).out


@pytest.mark.parametrize("page", [1, 2, 1000])
def test_the_view_is_the_same_at_every_page(call: Any, reviews: Path, data: Path, page: int) -> None:
    found = call("fold", reviews, data / "campaign-reviews.jsonl", "--json", "--page", page).json
    assert (found["folded"], found["view_bytes"]) == (81, 9595)


def test_the_view_on_the_way(call: Any, reviews: Path, three: Path) -> None:
    assert "view before any event" in call("fold", reviews, three, "--at", 0).out
    told = call("fold", reviews, three, "--at", 2)
    assert "view after 2 folded events" in told.out
    assert "/spring-sale" in told.out
    assert call("fold", reviews, three, "--at", -1, "--json").json["at"]["number"] == 3
    wrong = call("fold", reviews, three, "--at", 4)
    assert wrong.status == 2
    assert "from 0 to 3" in wrong.err


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
def test_a_trace_is_written(call: Any, reviews: Path, three: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"trace.{ending}"
    told = call("fold", reviews, three, "--trace", path)
    assert told.status == 0
    assert f"The trace is in {path}." in told.out
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv, "json": pd.read_json}[ending]
    frame = read(path)
    assert frame["view_bytes"].tolist()[-1] == 375
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_no_half_of_a_trace(
    call: Any, reviews: Path, three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: pd.DataFrame, path: Path, **options: Any) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    path = tmp_path / "trace.csv"
    path.write_text("before")
    told = call("fold", reviews, three, "--trace", path)
    assert told.status == 2
    assert "No space left on device" in told.err
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_stall_has_status_1_its_event_its_words_and_its_line(call: Any, tmp_path: Path) -> None:
    body = "if (event.id === '2') throw new Error('enough\\u001b[31m'); return (view as number) + 1;"
    path, history = document(tmp_path, body), ticks(tmp_path, 5)
    told = call("fold", path, history)
    assert told.status == 1
    assert f"{path}:11: stalled (raised): Error: enough\\x1b[31m" in told.out
    assert "   11 │   if (event.id" in told.out
    assert "at event 2: tick 2, 2026-01-01T00:00:00Z" in told.out
    same = call("fold", path, history, "--json")
    assert same.status == 1
    assert (same.json["state"], same.json["view"], same.json["folded"]) == ("stalled", 2, 2)
    assert (same.json["stall"]["kind"], same.json["stall"]["line"], same.json["stall"]["event"]["id"]) == (
        "raised",
        11,
        "2",
    )


def test_a_view_that_is_too_large_names_its_largest_paths(call: Any, tmp_path: Path) -> None:
    told = call("fold", document(tmp_path, "return { big: 'x'.repeat(600000), small: 1 };"), ticks(tmp_path, 1))
    assert told.status == 1
    assert "stalled (size)" in told.out
    assert "524,288" in told.out
    assert re.search(r"600,00\d bytes at .*big", told.out)


def test_a_refused_document_has_status_1(call: Any, tmp_path: Path) -> None:
    path, history = document(tmp_path, "return vew;"), ticks(tmp_path, 1)
    for command in (
        ["fold", path, history],
        ["run", path, history],
        ["scrub", path, history, "-o", tmp_path / "p.html"],
    ):
        told = call(*command)
        assert (told.status, told.out) == (1, "")
        assert told.err.startswith(f"{path}:11:10: error: ")
    assert call("fold", path, history, "--json").json["error"]["problems"][0]["line"] == 11


def test_no_event_matched_any_filter(call: Any, tmp_path: Path) -> None:
    told = call("fold", document(tmp_path, type="tock"), ticks(tmp_path, 3))
    assert told.status == 0
    assert "No event matched any filter" in told.out
    assert "tick (3)" in told.out


def test_an_empty_history_is_fine(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    told = call("fold", document(tmp_path), path)
    assert told.status == 0
    assert "The history is empty" in told.out


def test_problems_of_a_history_are_counted_and_listed(call: Any, tmp_path: Path) -> None:
    path = ticks(tmp_path, 3)
    with path.open("a") as file:
        file.write('no json\n{"id": "9"}\n')
    told = call("fold", document(tmp_path), path)
    assert told.status == 0
    assert "The history has 2 problems: 2 passed over" in told.out
    assert "--problems" in told.out
    listed = call("fold", document(tmp_path), path, "--problems")
    assert "  line 4: " in listed.out
    assert "  line 5: " in listed.out
    found = call("fold", document(tmp_path), path, "--problems", "--json").json
    assert (found["problems"], [row["line"] for row in found["problem_rows"]]) == (2, [4, 5])


def test_a_long_view_is_cut_and_says_how_to_see_the_rest(call: Any, tmp_path: Path) -> None:
    path, history = (
        document(tmp_path, "return Array.from({ length: 2000 }, (_, i) => `number ${i}`);"),
        ticks(tmp_path, 1),
    )
    told = call("fold", path, history)
    assert told.out.count("\n") < 70
    assert "lines more; the whole view with --view FILE" in told.out
    out = tmp_path / "view.json"
    assert call("fold", path, history, "--view", out).status == 0
    assert len(json.loads(out.read_text())) == 2000


def test_the_events_of_its_own_runs_are_left_out_by_name(call: Any, tmp_path: Path) -> None:
    path = ticks(tmp_path, 2, source="/runs/1", subject="recall/mine")
    assert call("fold", document(tmp_path), path, "--json").json["folded"] == 2
    assert call("fold", document(tmp_path), path, "--json", "--name", "mine").json["folded"] == 0


# run


def test_run_of_the_formats_example(call: Any, reviews: Path, three: Path) -> None:
    told = call("run", reviews, three, "--input", SPRING)
    assert told.status == 0
    assert json.loads(told.out) == LATEST
    found = call("run", reviews, three, "--input", SPRING, "--json").json
    assert (found["ending"], found["output"], found["record"]["view"]["folded"]) == ("succeeded", LATEST, 3)


def test_run_of_a_computation_function(call: Any, functions: Path, tmp_path: Path) -> None:
    rows = [
        {"campaign": "a", "cost_cents": 1, "budget_cents": 2},
        {"campaign": "a", "cost_cents": 1, "budget_cents": 3},
    ]
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"rows": rows[:1], "period": {"days_elapsed": 1, "days_total": 2}}))
    told = call("run", functions / "campaign-pace.md", "--input", f"@{path}", "--json")
    assert (told.status, told.json["output"]["total_spend_cents"]) == (0, 1)
    path.write_text(json.dumps({"rows": rows, "period": {"days_elapsed": 1, "days_total": 2}}))
    told = call("run", functions / "campaign-pace.md", "--input", f"@{path}")
    assert told.status == 1
    assert "conflict, unworkable: The program raised an error on line 30: Error: The rows of a disagree" in told.err
    told = call("run", functions / "campaign-pace.md", "--input", '{"rows": 1}')
    assert told.status == 1
    assert "/rows: " in told.err


def test_the_runs_clock(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "clock.md"
    path.write_text("---\nlanguage: typescript\n---\nexport default function (): number {\n  return Date.now();\n}\n")
    assert call("run", path, "--started-at", "2026-10-01T09:00:00Z").out == "1790845200000\n"
    for wrong in ("yesterday", "", "\x1b"):
        told = call("run", path, "--started-at", wrong)
        assert told.status == 2
        assert "--started-at takes a time" in told.err


def test_a_history_goes_with_a_recall_function_only(call: Any, functions: Path, reviews: Path, three: Path) -> None:
    told = call("run", reviews)
    assert told.status == 2
    assert "answers from a history" in told.err
    told = call("run", functions / "campaign-pace.md", three)
    assert told.status == 2
    assert "reads no history" in told.err
    assert call("fold", functions / "campaign-pace.md", three).status == 2


def test_a_stalled_view_refuses_its_run(call: Any, tmp_path: Path) -> None:
    path, history = document(tmp_path, "throw new Error('no');"), ticks(tmp_path, 1)
    told = call("run", path, history, "--json")
    assert told.status == 1
    assert (told.json["ending"], told.json["kind"]) == ("conflict", "stalled")
    assert "stalled (raised)" in call("run", path, history).err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "column 2"),
        ('{"a": NaN}', "NaN is no JSON, at column 7"),
        ('["NaN", -Infinity]', "-Infinity is no JSON, at column 9"),
        ("[1, 1e999]", "No number is as large as this one, at column 5"),
        ("1" * 5000, "No number is as large"),
        ("{a: 1}", "single quotes"),
        ("[1,\n 2,\n oops]", "line 3, column 2"),
        ("[" * 100_000, "nests deeper"),
        ('"\x00"', "is not JSON"),
        ("'a'", "is not JSON"),
        ("[1,]", "is not JSON"),
    ],
)
def test_an_input_that_is_no_json_shows_its_place(call: Any, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as told:
        parse_input(text)
    assert len(str(told.value)) < 600


def test_the_last_of_a_key_wins_and_zero_keeps_its_sign() -> None:
    assert parse_input('{"a": 1, "a": 2}') == {"a": 2}
    assert str(parse_input("-0")) == "-0.0"
    assert parse_input("12345678901234567890") == 12345678901234567890


@given(st.text(max_size=60) | st.text(alphabet='[]{}",:0123456789.eE+-NaInfinity\n\\u', max_size=60))
def test_any_input_parses_or_is_a_usage_error(text: str) -> None:
    try:
        value = parse_input(text)
    except UsageError:
        return
    json.dumps(value, allow_nan=False)


def test_an_input_file_that_cannot_be_read(call: Any, functions: Path, tmp_path: Path) -> None:
    pace = functions / "campaign-pace.md"
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe{}")
    for given_, words in (
        (f"@{binary}", "not UTF-8"),
        ("@", "lacks a name"),
        (f"@{tmp_path}", "is a folder"),
        ("@no.json", "no file"),
    ):
        told = call("run", pace, "--input", given_)
        assert told.status == 2
        assert words in told.err


# scrub


def test_scrub_hands_the_page_to_the_scrubber(
    call: Any, reviews: Path, three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Widget:
        def save(self, path: str) -> None:
            Path(path).write_text("<!doctype html>")

    monkeypatch.setattr("recallkit.folding.Folding.scrub", lambda self: Widget())
    told = call("scrub", reviews, three, "-o", tmp_path / "page.html")
    assert told.status == 0
    assert f"The page is in {tmp_path / 'page.html'}, 15 bytes" in told.out


def test_scrub_writes_the_page(call: Any, reviews: Path, three: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    told = call("scrub", reviews, three, "-o", path)
    assert (told.status, told.err) == (0, "")
    assert f"The page is in {path}, {path.stat().st_size:,} bytes" in told.out
    assert path.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


# demo


def test_the_demo_tells_the_whole_story(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = call("demo")
    assert (told.status, told.err) == (0, "")
    assert "301 read, 81 considered, 81 folded" in told.out
    assert "campaign-reviews.md:44: stalled (raised): TypeError" in told.out
    assert "recallkit check mine.md" in told.out
    assert "\x1b" not in told.out  # no colours where no terminal is
    story = told.out.partition("What to do next")[0]
    assert max(map(len, story.split("\n"))) <= 110
    assert list(tmp_path.iterdir()) == []


# What goes wrong


@pytest.mark.parametrize("kind", ["random", "zeros", "empty", "folder", "device", "large", "missing"])
def test_what_is_no_document_is_refused(call: Any, tmp_path: Path, three: Path, kind: str) -> None:
    path = tmp_path / "no.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
        if not path.exists():
            pytest.skip("there is no such device here")
    elif kind != "missing":
        made = {
            "random": bytes(range(256)) * 40,
            "zeros": bytes(5000),
            "empty": b"",
            "large": b"---\n" + b"a" * 10_000_000,
        }
        path.write_bytes(made[kind])
    for command in (["check", path], ["fold", path, three], ["run", path]):
        told = call(*command)
        assert told.status == (2 if kind in ("folder", "missing") else 1)
        assert len(told.out + told.err) < 3000
        assert re.search("[\x00-\x09\x0b-\x1f]", told.out + told.err) is None


@pytest.mark.parametrize("kind", ["random", "gzip", "folder", "device", "missing", "words", "parquet", "csv"])
def test_what_is_no_history_is_a_usage_error(call: Any, tmp_path: Path, reviews: Path, kind: str) -> None:
    name = {"gzip": "no.jsonl.gz", "parquet": "no.parquet", "csv": "no.csv"}.get(kind, "no.jsonl")
    path = tmp_path / name
    if kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
        if not path.exists():
            pytest.skip("there is no such device here")
    elif kind != "missing":
        made = {"gzip": b"\x1f\x8b" + bytes(100), "words": b"some\nwords\n"}
        path.write_bytes(made.get(kind, bytes(range(256)) * 40))
    told = call("fold", reviews, path, "--json")
    assert told.status == 2
    assert told.json["error"]["kind"] == "usage"
    assert 0 < len(told.err) < 1000


def test_a_huge_line_does_not_lose_the_others(call: Any, tmp_path: Path) -> None:
    path = ticks(tmp_path, 2)
    with path.open("a") as file:
        file.write('{"id":"' + "x" * 8_000_000 + "\n")
    found = call("fold", document(tmp_path), path, "--json").json
    assert (found["folded"], found["problems"]) == (2, 1)


def test_odd_file_names(call: Any, tmp_path: Path, reviews: Path, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a b.md", "ü\n\x1b[31m.md", "sqlite:x.md", "'; rm.md"):
        shutil.copy(reviews, name)
        shutil.copy(three, f"{name}.jsonl")
        told = call("fold", name, f"{name}.jsonl")
        assert told.status == 0
        assert "\x1b" not in told.out
    shutil.copy(reviews, "--json")
    assert call("check", "--", "--json").status == 0


@given(
    st.lists(
        st.sampled_from(
            ["check", "fold", "run", "demo", "--json", "--at", "-1", "--", "-h", "x", "", "--input", "{}", "-o"]
        )
        | st.text(max_size=8),
        max_size=5,
    )
)
@settings(max_examples=60)
def test_any_arguments_end_with_a_status(arguments: list[str]) -> None:
    if "demo" in arguments or "-" in arguments:
        return  # these are fine and take long, or wait for standard input
    assert cli.main(arguments) in (0, 1, 2)


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (EngineError("The worker broke."), 1, "The document is not at fault"),
        (Unavailable("No checker is ready."), 1, "Not available now: No checker is ready."),
        (MemoryError(), 1, "memory"),
        (KeyboardInterrupt(), 130, "stopped"),
        (RuntimeError("odd"), 1, "recallkit itself failed: RuntimeError: odd"),
        (PermissionError(13, "Permission denied", "x"), 1, "Permission denied"),
    ],
)
def test_no_error_is_a_traceback(
    call: Any,
    reviews: Path,
    three: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
    words: str,
) -> None:
    def fail(*given: Any, **more: Any) -> None:
        raise error

    monkeypatch.setattr("recallkit.functions.RecallFunction.fold", fail)
    told = call("fold", reviews, three)
    assert told.status == status
    assert words in told.err


def test_standard_input_takes_the_place_of_a_file(reviews: Path, three: Path) -> None:
    for arguments, path in ((["fold", reviews, "-", "--json"], three), (["fold", "-", three, "--json"], reviews)):
        with path.open("rb") as file:
            done = spawn(*arguments, stdin=file)
            out, _ = done.communicate()
        assert (done.returncode, json.loads(out)["view_bytes"]) == (0, 375)


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
def test_a_reader_that_goes_away_is_no_error(reviews: Path, data: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = spawn("fold", reviews, data / "campaign-reviews.jsonl", stdout=writing)
    os.close(writing)
    _, err = done.communicate()
    assert (done.returncode, err) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_under_standard_output(reviews: Path, three: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = spawn("fold", reviews, three, stdout=full)
        _, err = done.communicate()
    assert done.returncode == 2
    assert err.decode() == "recallkit: standard output cannot be written: No space left on device.\n"


# Ctrl-C

SLOW = "for (let i = 0; i < 150000; i++) {} return (view as number) + 1;"
QUICK = "return (view as number) + 1;"
NATIVE = "if (event.id === '3') new Array(4294967295).join(''); return (view as number) + 1;"
# Sends a real Ctrl-C a moment after the first folds were asked for, so that no slow start can be hit instead.
INTERRUPTED = """
import os, signal, sys, threading
from recallkit.views.session import FoldSession
send, timers = FoldSession.send, []
def press():
    os.kill(os.getpid(), signal.SIGINT)
def watched(self, **given):
    if not timers:
        timers.append(threading.Timer(float(sys.argv.pop()), press))
        timers[0].start()
    send(self, **given)
FoldSession.send = watched
"""
COMMAND = INTERRUPTED + "from recallkit import cli; sys.exit(cli.main(sys.argv[1:-1]))"
FOLD = """
import recallkit as rk
folding = rk.load(sys.argv[1]).fold(rk.read_history(sys.argv[2]))
timers[0].cancel()
print(folding.state, folding.folded, folding.view, len(folding.trace))
folding.resume()
print(folding.state, folding.folded, folding.view, folding.at(folding.folded // 2).view)
"""


def interrupted(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code in a process that is interrupted, in seconds, as the last argument says."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    folder = Path(rk.__file__).parent.parent
    return subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=folder)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("way", ["--json", "--problems"])
def test_ctrl_c_stops_a_long_fold_and_keeps_what_was_folded(tmp_path: Path, way: str) -> None:
    path, history = document(tmp_path, SLOW), ticks(tmp_path, 50_000)
    done = interrupted(COMMAND, "fold", path, history, way, 1)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    if way == "--json":
        found = json.loads(done.stdout)
        assert found["state"] == "stopped"
        assert 0 < found["folded"] < 50_000
        assert found["view"] == found["folded"]
    else:
        assert "Stopped by you after" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(("body", "count", "delay"), [(SLOW, 300, 0.6), (QUICK, 100_000, 0.1), (QUICK, 100_000, 0.35)])
def test_a_fold_that_was_stopped_goes_on_to_the_same_view(tmp_path: Path, body: str, count: int, delay: float) -> None:
    done = interrupted(INTERRUPTED + FOLD, document(tmp_path, body), ticks(tmp_path, count), delay)
    assert done.stderr == ""
    first, after = done.stdout.splitlines()
    state, folded, view, rows = first.split()
    assert folded == view == rows
    assert state == ("live" if int(folded) == count else "stopped")
    assert after == f"live {count} {count} {count // 2}"


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_while_native_work_runs_keeps_the_folds_before_it(tmp_path: Path) -> None:
    code = INTERRUPTED + FOLD.partition("folding.resume()")[0]
    done = interrupted(code, document(tmp_path, NATIVE), ticks(tmp_path, 10), 1)
    assert (done.stdout, done.stderr) == ("stopped 3 3 3\n", "")


# Ctrl-C again: at once, or while the view is folded again from the last keyframe.
AT_ONCE = """
def press():
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.0005)
"""
WHILE_IT_REFOLDS = """
from recallkit.views import fold as folds
refold = folds.refold
def pressing(*given):
    folds.refold = refold
    press()
    refold(*given)
    print("never", file=sys.stderr)
folds.refold = pressing
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("again", "body", "stopped"),
    [(AT_ONCE, SLOW, True), (AT_ONCE, NATIVE, False), (WHILE_IT_REFOLDS, NATIVE, False)],
    ids=["at once", "in native work", "while it refolds"],
)
def test_a_second_ctrl_c_loses_nothing_that_was_kept(tmp_path: Path, again: str, body: str, stopped: bool) -> None:
    code = "import time\n" + INTERRUPTED + again + (FOLD if stopped else FOLD.partition("folding.resume()")[0])
    code += "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = interrupted(code, document(tmp_path, body), ticks(tmp_path, 300), 0.6 if stopped else 1.5)
    assert done.stderr == ""
    first, *after, restored = done.stdout.splitlines()
    state, folded, view, rows = first.split()
    assert (state, restored) == ("stopped", "True")
    assert folded == view == rows
    assert after == (["live 300 300 150"] if stopped else [])
    if not stopped:
        # a person who stops the refold too gets the last keyframe, here the initial view
        assert int(folded) == (0 if again is WHILE_IT_REFOLDS else 3)
