"""`recallkit playbook URL …`: each action in words and as JSON, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_documents import events, recall_text

from recallkit import cli

FOLD = recall_text("export function fold(view: View, event: Event): View { return event.data ?? null; }")
RAISES = recall_text("export function fold(view: View, event: Event): View { throw new Error('no'); }")
ECHO = "---\nlanguage: typescript\n---\nexport default function (input: Input): Json { return input; }\n"


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], playbook_url: str) -> Any:
    def run(*arguments: object) -> tuple[int, Any, str]:
        capfd.readouterr()
        status = cli.main(["playbook", playbook_url, *map(str, arguments)])
        told = capfd.readouterr()
        return status, json.loads(told.out) if "--json" in arguments else told.out, told.err

    return run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("keeps", FOLD), ("raises", RAISES), ("echo", ECHO)):
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    lines = [json.dumps(each) for each in events(1, 2, 3)]
    (tmp_path / "events.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "new.jsonl").write_text('{"source":"/s","type":"t","data":-0}\n{"source":"/s","type":"t","data":4}\n')
    return tmp_path


def test_from_nothing_to_an_answer(call: Any, files: Path) -> None:
    assert call("init")[0] == 0
    assert call("save", "keeps", files / "keeps.md")[:2] == (0, "recall/keeps: version 1 is saved\n")
    assert call("save", "keeps", files / "keeps.md")[1] == "recall/keeps: version 1 was saved before\n"
    assert call("import", files / "events.jsonl")[1] == "imported 3 events\n"
    assert call("import", files / "events.jsonl")[1] == "imported 0 events (3 known before)\n"
    status, out, err = call("run", "keeps")
    assert (status, out) == (1, "")
    assert err.startswith("keeps: unavailable, rebuilding: The view is not begun yet")
    status, out, _ = call("follow", "--once")
    assert (status, out) == (0, "keeps: live, version 1, 3 events folded, 0.000 s behind\n")
    assert call("run", "keeps")[:2] == (0, "3\n")
    assert call("publish", files / "new.jsonl")[1] == "published 2 events\n"
    assert call("follow", "--seconds", "0")[0] == 0
    call("follow", "--once")
    assert call("run", "keeps", "--type", "recall")[1] == "4\n"


def test_each_action_as_json(call: Any, files: Path) -> None:
    assert call("init", "--json")[1]["records"] == 0
    saved = call("save", "echo", files / "echo.md", "--json")[1]
    assert saved == {"type": "computation", "name": "echo", "version": 1, "status": "active"}
    call("save", "keeps", files / "keeps.md")
    assert call("import", files / "events.jsonl", "--json")[1] == {"recorded": 3, "known": 0, "passed_over": 0}
    published = call("publish", files / "new.jsonl", "--json")[1]["published"]
    assert [each["source"] for each in published] == ["/s", "/s"]
    ran = call("run", "echo", "--input", '{"a": -0}', "--json")[1]
    assert (ran["ending"], ran["output"], ran["rejection"]) == ("succeeded", {"a": 0}, None)
    refused = call("run", "keeps", "--json")
    assert (refused[0], refused[1]["kind"], refused[1]["rejection"]["status"]) == (1, "rebuilding", 503)
    followed = call("follow", "--once", "--json")[1]["views"]
    assert [(view["name"], view["state"], view["folded"]) for view in followed] == [("keeps", "live", 5)]
    assert call("standing", "--json")[1]["views"] == followed


def test_a_stalled_view_has_status_1(call: Any, files: Path) -> None:
    call("init")
    call("save", "raises", files / "raises.md")
    call("import", files / "events.jsonl")
    status, out, _ = call("follow", "--once")
    assert status == 1
    assert out == "raises: stalled, version 1, 0 events folded, 0.000 s behind; raised at e0 on line 7: Error: no\n"
    assert call("run", "raises")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "absent"], "has no function absent"),
        (["run", "echo", "--type", "computation"], "There is no computation function echo"),
        (["publish", "absent.jsonl"], "cannot be read"),
        (["import", "absent.jsonl"], "absent.jsonl"),
        (["save", "no", "keeps.md"], "3 to 48"),
        (["forget"], "invalid choice"),
        ([], "required"),
    ],
)
def test_a_usage_error_has_status_2(
    call: Any, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(files)
    status, _, err = call(*arguments)
    assert status == 2
    assert words in err


def test_a_refused_event_and_a_refused_document(call: Any, files: Path) -> None:
    (files / "bad.jsonl").write_text('{"source":"/runs/1","type":"t"}')
    status, _, err = call("publish", files / "bad.jsonl")
    assert status == 2
    assert "playbook's own" in err
    (files / "bad.md").write_text(FOLD.replace("event.data", "evnt.data"), "utf-8")
    status, _, err = call("save", "keeps", files / "bad.md")
    assert status == 1


def test_a_file_that_is_no_playbook_yet(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["playbook", str(tmp_path / "absent.db"), "standing"]) == 2
    assert "init" in capfd.readouterr().err
    assert cli.main(["playbook", str(tmp_path / "absent.db"), "init"]) == 0
    assert cli.main(["playbook", str(tmp_path / "absent.db"), "standing"]) == 0


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
def test_a_sign_that_ends_a_line_elsewhere_ends_no_event(call: Any, files: Path, sign: str) -> None:
    line = json.dumps({"source": "/s", "type": "t", "data": f"a{sign}b"}, ensure_ascii=False)
    (files / "signs.jsonl").write_bytes(f"{line}\r\n{line}\n".encode())
    assert call("publish", files / "signs.jsonl")[:2] == (0, "published 2 events\n")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 200_000, "nest too deeply"),
        (b'[{"source":"/s","type":"t","data":' + b"[" * 20_000 + b"]" * 20_000 + b"}]", "nest too deeply"),
        (b'{"source":"/s\xff"', "no UTF-8 at byte 13"),
    ],
    ids=["open", "deep", "bytes"],
)
def test_events_that_cannot_be_read_are_a_usage_error(call: Any, files: Path, data: bytes, words: str) -> None:
    (files / "bad.json").write_bytes(data)
    status, _, err = call("publish", files / "bad.json")
    assert status == 2
    assert words in err


@pytest.mark.parametrize("seconds", ["nan", "-3", "inf"])
def test_seconds_that_are_no_length_of_time(call: Any, seconds: str) -> None:
    status, _, err = call("follow", f"--seconds={seconds}")
    assert status == 2
    assert "--seconds takes a number from 0" in err
