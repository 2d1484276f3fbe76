"""The small histories: made again they are the same, and they hold what the lessons need."""

from __future__ import annotations

import gzip
import hashlib
import json
import runpy
from pathlib import Path
from typing import Any

import pytest


def text_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def events_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text_of(path).splitlines()]


def test_making_them_again_gives_the_same_texts(data: Path, tmp_path: Path) -> None:
    runpy.run_path(str(data / "make_data.py"))["make"](tmp_path)
    made = {path.name: text_of(path) for path in tmp_path.iterdir()}
    kept = {path.name: text_of(path) for path in data.iterdir() if path.is_file() and path.name != "make_data.py"}
    assert made == kept


def test_the_manifest_tells_each_file(data: Path) -> None:
    told = {entry["file"]: entry for entry in json.loads((data / "MANIFEST.json").read_text(encoding="utf-8"))["files"]}
    besides = {"MANIFEST.json", "make_data.py"}
    assert told.keys() == {path.name for path in data.iterdir() if path.is_file()} - besides
    for name, entry in told.items():
        assert entry["sha256"] == hashlib.sha256(text_of(data / name)).hexdigest()
        assert entry["events"] in (None, len(text_of(data / name).splitlines()))
        assert entry["origin"].startswith("made up by")


@pytest.mark.parametrize(
    "name", ["agent-runs.jsonl.gz", "campaign-reviews.jsonl", "three-reviews.jsonl", "typing.jsonl.gz"]
)
def test_each_is_a_clean_history_of_cloudevents(data: Path, name: str) -> None:
    events = events_of(data / name)
    assert all(event["specversion"] == "1.0" and event["type"] and event["source"] for event in events)
    assert len({(event["source"], event["id"]) for event in events}) == len(events)
    times = [event["time"] for event in events]
    assert times == sorted(times)


def test_the_campaign_history_holds_what_a_filter_must_leave_out_and_what_a_fold_must_guard_against(
    data: Path,
) -> None:
    events = events_of(data / "campaign-reviews.jsonl")
    assert {"run_started", "run_failed", "run_rejected", "definition_created"} <= {event["type"] for event in events}
    reviews = [
        event["data"]
        for event in events
        if (event["type"], event.get("subject")) == ("run_succeeded", "reasoning/review-brief")
    ]
    assert 50 < len(reviews) < len(events) / 2
    outputs = [review.get("output") for review in reviews if "output" in review]
    assert any("output_bytes" in review for review in reviews)
    assert {type(output) for output in outputs} == {str, list, type(None), dict}
    records = [output for output in outputs if isinstance(output, dict)]
    campaigns = [record["campaign"] for record in records]
    assert {"constructor", "__proto__", "toString"} <= set(campaigns)
    assert any(isinstance(campaign, int) for campaign in campaigns)
    assert any(len(campaign) > 100 for campaign in campaigns if isinstance(campaign, str))
    assert any("verdict" not in record for record in records)
    assert any(not isinstance(record.get("verdict", ""), str) for record in records)


def test_the_typing_history_adds_up_to_its_text(data: Path) -> None:
    text = ""
    for event in events_of(data / "typing.jsonl.gz"):
        for position, deleted, inserted in event["data"]["patches"]:
            text = text[:position] + inserted + text[position + deleted :]
    assert text == (data / "typing.expected.txt").read_text(encoding="utf-8")


def test_the_example_documents_are_the_formats(functions: Path, shared: Path) -> None:
    for name, format in (
        ("campaign-reviews.md", "recall-function-format.txt"),
        ("post-announcement.md", "recall-function-format.txt"),
        ("campaign-pace.md", "computation-function-format.txt"),
    ):
        assert (functions / name).read_text(encoding="utf-8") in (shared / "spec" / format).read_text(encoding="utf-8")
