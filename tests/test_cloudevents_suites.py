"""CloudEvents that others wrote: the conformance tests of the JSON format, and the fixtures of the Java SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recallkit.errors import HistoryError
from recallkit.events import read_history


def cases_of(shared: Path, name: str) -> list[dict[str, Any]]:
    path = shared / "suites" / "cloudevents-conformance" / "format" / "json" / f"{name}.json"
    tests: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8-sig"))["tests"]
    return tests


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_exactly_the_valid_events_are_read(shared: Path, tmp_path: Path, ending: str) -> None:
    valid, invalid = cases_of(shared, "valid-events"), cases_of(shared, "invalid-events")
    assert (len(valid), len(invalid)) == (10, 25)
    path = tmp_path / f"a{ending}"
    for number, test in enumerate(valid + invalid):
        path.write_text(json.dumps(test["event"]))
        history = read_history(path)
        read = len(history) == 1
        assert read is (number < 10), test["id"]
        assert len(history.problems) == (0 if read else 1), test["id"]


def test_all_in_one_file(shared: Path, tmp_path: Path) -> None:
    valid, invalid = cases_of(shared, "valid-events"), cases_of(shared, "invalid-events")
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(test["event"]) + "\n" for test in invalid + valid))
    history = read_history(path)
    assert list(history) == [test["event"] for test in valid]
    assert history.problems["line"][history.problems["seq"].isna()].tolist() == list(range(1, 26))


def test_batches(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for test in cases_of(shared, "valid-batches"):
        path.write_text(json.dumps(test["batch"]))
        history = read_history(path)
        assert list(history) == test["batch"]
        assert set(history.problems["kind"]) <= {"repeated"}
    for test in cases_of(shared, "invalid-batches"):
        path.write_text(json.dumps(test["batch"]))
        # The bad event of a batch is passed over; the good one beside it is not lost.
        history = read_history(path)
        assert len(history) == len(test["batch"]) - 1
        assert history.problems["seq"].isna().sum() == 1


def test_fixtures_of_the_java_sdk(shared: Path) -> None:
    folder = shared / "suites" / "cloudevents-sdk-java-fixtures" / "formats" / "json-jackson" / "src/test/resources"
    paths = sorted(folder.glob("*/*.json"))
    assert len(paths) == 31
    for path in paths:
        try:
            history = read_history(path)
        except HistoryError:
            count = 0
        else:
            count = len(history)
            assert len(history.problems) == 1 - count
        # Capitals are no CloudEvents name, though that SDK takes them; version 0.3 is another format.
        bad = (
            path.stem.startswith("fail_")
            or path.stem.endswith(("_invalid", "_upper_case"))
            or path.parent.name == "v03"
        )
        assert count == (0 if bad else 1), path.name
