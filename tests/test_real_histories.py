"""Histories that other systems recorded, folded by the documents of notebooks/functions; and small ones like them.

The recorded ones are in ../shared, and their tests are skipped where it is absent.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recallkit as rk


@pytest.fixture(scope="session")
def histories(shared: Path) -> Path:
    return shared / "histories"


def load(functions: Path, name: str) -> rk.RecallFunction:
    function = rk.load(functions / f"{name}.md")
    assert isinstance(function, rk.RecallFunction)
    return function


# -- a text and its patches ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("editing-sveltecomponent", 18_335), ("editing-json-crdt-patch", 18_639)])
def test_patches_rebuild_the_text_byte_for_byte(functions: Path, histories: Path, name: str, count: int) -> None:
    folding = load(functions, "editing-text").fold(rk.read_history(histories / f"{name}.jsonl.gz"))
    assert (folding.state, folding.folded) == ("live", count)
    assert folding.view["text"].encode() == (histories / f"{name}.expected.txt").read_bytes()


def test_the_recorded_texts_read_the_same_in_code_units_and_code_points(histories: Path) -> None:
    """Which of the two positions count cannot be told, and does not matter: no character lies past U+FFFF."""
    import gzip

    for name in ("editing-sveltecomponent", "editing-json-crdt-patch"):
        with gzip.open(histories / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            inserted = "".join(patch[2] for line in file for patch in json.loads(line)["data"]["patches"])
        assert max(inserted) <= "\uffff"


def test_a_small_text_is_rebuilt_too(functions: Path, data: Path) -> None:
    function = load(functions, "editing-text")
    folding = function.fold(rk.read_history(data / "typing.jsonl.gz"))
    expected = (data / "typing.expected.txt").read_text(encoding="utf-8")
    assert (folding.state, folding.folded) == ("live", 424)
    assert folding.view["text"] == expected
    run = function.run(folding, {"from": 3, "lines": 2})
    assert run.output["text"] == "\n".join(expected.split("\n")[2:4])
    assert run.output["lines"] == len(expected.split("\n"))


@settings(max_examples=15)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.integers(0, 12), st.integers(0, 4), st.text("ab😀\n", max_size=3)).map(list),
            st.sampled_from([None, [], [1], [1, 2], ["0", 0, "x"], [-1, 0, "x"], [0, 0.5, "x"], {"at": 0}]),
        ),
        max_size=12,
    )
)
def test_patches_count_utf16_code_units_and_what_is_no_patch_is_passed_over(
    functions: Path, patches: list[Any]
) -> None:
    units: list[str] = []
    for patch in patches:
        if (
            isinstance(patch, list)
            and len(patch) == 3
            and [type(p) for p in patch] == [int, int, str]
            and patch[0] >= 0
        ):
            at, deleted, inserted = patch
            encoded = inserted.encode("utf-16-le")
            units[at : at + deleted] = [encoded[i : i + 2].hex() for i in range(0, len(encoded), 2)]
    expected = bytes.fromhex("".join(units)).decode("utf-16-le", "surrogatepass")
    event = {"id": "1", "type": "editing.patched", "source": "s", "data": {"patches": patches}}
    text = load(functions, "editing-text").fold([event]).view["text"]
    assert text.encode("utf-16-le", "surrogatepass") == expected.encode("utf-16-le", "surrogatepass")


def test_a_text_too_long_is_cut_and_never_stalls(functions: Path) -> None:
    long = {"id": "1", "type": "editing.patched", "source": "s", "data": {"patches": [[0, 0, "\x01" * 100_000]]}}
    folding = load(functions, "editing-text").fold([long, {**long, "id": "2"}])
    assert folding.state == "live"
    assert len(folding.view["text"]) == 80_000
    assert folding.trace.view_bytes.max() <= 524_288


# -- rewards ---------------------------------------------------------------------------------------


def test_84_of_200_recorded_runs_were_rewarded(functions: Path, histories: Path) -> None:
    function = load(functions, "agent-rewards")
    history = rk.read_history(histories / "agent-taubench-airline.jsonl.gz")
    folding = function.fold(history)
    assert (len(history), folding.folded) == (5_708, 200)
    assert function.run(folding).output == {"runs": 200, "rewarded": 84, "percent": 42}


def test_a_small_desk_counts_its_rewards_too(functions: Path, data: Path) -> None:
    function = load(functions, "agent-rewards")
    history = rk.read_history(data / "agent-runs.jsonl.gz")
    ended = [event for event in map(history.event, range(len(history))) if event["type"].endswith("run.ended")]
    rewarded = sum(event["data"]["reward"] == 1 for event in ended)
    output = function.run(function.fold(history)).output
    assert output == {"runs": len(ended), "rewarded": rewarded, "percent": int(100 * rewarded / len(ended) + 0.5)}
    assert function.run(function.fold([])).output["percent"] is None


# -- metered subscriptions -------------------------------------------------------------------------


def told(state: dict[str, Any]) -> dict[str, Any]:
    """A state as the original system kept it, in the words of metered-billing.md."""

    def position(given: dict[str, Any]) -> dict[str, Any]:
        return {"sequence": int(given["sequenceNumber"]), "time": given["partitionTimestamp"]}

    def quantity(dimension: dict[str, Any]) -> dict[str, Any]:
        ((kind, meter),) = dimension["meter"].items()
        within = kind == "included"
        return {
            "dimension": dimension["dimension"],
            "included": dimension["included"],
            "left": meter["quantity"] if within else 0,
            "consumed": 0 if within else meter["consumedQuantity"],
            "total": 0 if within else meter["total"],
            "updated": meter["lastUpdate"],
        }

    def meter(given: dict[str, Any]) -> dict[str, Any]:
        subscription = given["subscription"]
        names = {"dimension": "dimension", "effectiveStartTime": "from", "quantity": "quantity"}
        return {
            "resource": subscription["resourceId"],
            "plan": subscription["plan"]["planId"],
            "start": subscription["subscriptionStart"],
            "renewal": subscription["renewalInterval"],
            "dimensions": {name: quantity(each) for name, each in subscription["plan"]["billingDimensions"].items()},
            "toReport": [
                {ours: usage[theirs] for theirs, ours in names.items()} for usage in given["usageToBeReported"]
            ],
            "last": position(given["lastProcessedMessage"]),
        }

    return {
        "last": position(state["lastProcessedMessage"]),
        "meters": [meter(each) for each in state["meters"]],
        "unprocessable": [
            {"position": position(each["position"]), "text": each["event"]["value"]["value"]}
            for each in state["unprocessable"]
        ],
    }


def kept(partition: dict[str, Any]) -> dict[str, Any]:
    """A partition of the view, with the sequences as the numbers they are."""

    def numbered(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: int(v) if name == "sequence" else numbered(v) for name, v in value.items()}
        return [numbered(each) for each in value] if isinstance(value, list) else value

    numbers: dict[str, Any] = numbered(partition)
    return numbers


def test_metered_billing_keeps_after_each_event_what_the_original_system_kept(functions: Path, histories: Path) -> None:
    history = rk.read_history(histories / "metered-billing.jsonl.gz")
    folding = load(functions, "metered-billing").fold(history)
    assert (folding.state, folding.folded) == ("live", 23)
    expected = json.loads((histories / "metered-billing.expected.json").read_text(encoding="utf-8"))
    binary = 0
    for number in range(1, 24):
        moment = folding.at(number)
        assert moment.event is not None
        binary += "data_base64" in moment.event
        name, sequence = moment.event["subject"], moment.event["sequence"]
        (state,) = [each["state"] for each in expected[name] if each["after"] == sequence]
        assert kept(moment.view[name]) == told(state), (name, sequence)
    assert binary == 3


def test_a_small_subscription_keeps_going_past_a_binary_event(functions: Path) -> None:
    def event(number: int, kind: str, time: str, **more: Any) -> dict[str, Any]:
        common = {"id": str(number), "source": "urn:m", "subject": "one", "sequence": str(number), "time": time}
        return {**common, "type": f"com.microsoft.metering.{kind}", **more}

    plan = {"planId": "p", "billingDimensions": {"calls": {"dimension": "api-calls", "included": 10}}}
    subscription = {
        "resourceId": "r",
        "subscriptionStart": "2026-01-31T12:00:00Z",
        "renewalInterval": "Monthly",
        "plan": plan,
    }
    broken = base64.b64encode(b"\xef\xbb\xbfno JSON \xe2\x82 \xf0\x9f\x98\x80").decode()
    folding = load(functions, "metered-billing").fold(
        [
            event(0, "SubscriptionPurchased", "2026-01-31T12:00:00Z", data={"subscription": subscription}),
            event(1, "Unprocessable", "2026-01-31T12:01:00Z", data_base64=broken),
            event(2, "UsageReported", "2026-01-31T12:02:00Z", data={"meterName": "calls", "quantity": 13}),
            event(3, "UsageReported", "2026-01-31T12:03:00Z", data={"meterName": "constructor", "quantity": 1}),
            event(4, "UsageReported", "2026-01-31T12:04:00Z", data="no fields"),
            event(5, "Ping", "2026-01-31T13:00:00Z", data={}),
        ]
    )
    assert folding.state == "live"
    partition = folding.view["one"]
    assert [each["text"] for each in partition["unprocessable"]] == ["no JSON \ufffd 😀"]
    assert partition["meters"][0]["toReport"] == [
        {"dimension": "api-calls", "from": "2026-01-31T12:00:00Z", "quantity": 3}
    ]
    assert partition["meters"][0]["dimensions"]["calls"]["left"] == 0


@settings(max_examples=40)
@given(st.binary(max_size=24))
def test_bytes_that_are_no_text_read_as_replacements_like_any_decoder_gives(functions: Path, data: bytes) -> None:
    event = {
        "id": "1",
        "source": "urn:m",
        "subject": "one",
        "type": "com.microsoft.metering.Unprocessable",
        "data_base64": base64.b64encode(data).decode(),
    }
    (message,) = load(functions, "metered-billing").fold([event]).view["one"]["unprocessable"]
    assert message["text"] == data.decode("utf-8-sig", "replace")


# -- how workflows ended ---------------------------------------------------------------------------


def test_104_of_128_recorded_workflows_ended_completed(functions: Path, histories: Path) -> None:
    function = load(functions, "temporal-endings")
    folding = function.fold(rk.read_history(histories / "temporal.jsonl.gz"))
    output = function.run(folding, {"type": "WorkflowExecutionFailed"}).output
    assert (folding.state, output["workflows"]) == ("live", 128)
    assert output["endings"]["WorkflowExecutionCompleted"] == 104
    assert len(output["named"]) == output["endings"]["WorkflowExecutionFailed"] == 5


def test_the_last_event_is_told_by_nanoseconds_and_by_what_was_recorded_later(functions: Path) -> None:
    function = load(functions, "temporal-endings")

    def ending(*told: tuple[str, str]) -> str:
        events = [
            {
                "id": str(number),
                "source": "s",
                "subject": "w",
                "type": f"io.temporal.WorkflowExecution{kind}",
                "time": time,
            }
            for number, (kind, time) in enumerate(told)
        ]
        last: str = function.fold(events).view["w"]["type"]
        return last.removeprefix("io.temporal.WorkflowExecution")

    assert (
        ending(("Failed", "2026-01-01T00:00:00.000000002Z"), ("Started", "2026-01-01T00:00:00.000000001Z")) == "Failed"
    )
    assert ending(("Started", "2026-01-01T00:00:00.1Z"), ("Failed", "2026-01-01T00:00:00.100000000Z")) == "Failed"
    assert ending(("Failed", "2026-01-01T00:00:00.09Z"), ("Started", "2026-01-01T00:00:00.1Z")) == "Started"
    assert ending(("Failed", "2026-01-01T02:00:00+02:00"), ("Started", "2026-01-01T00:00:01Z")) == "Started"


def test_the_largest_view_of_endings_fits(functions: Path) -> None:
    fill = "\x01"
    events = [
        {
            "id": str(number),
            "source": "s",
            "subject": f"{number:03d}{fill * 200}",
            "type": "io.temporal.WorkflowExecutionContinuedAsNew",
            "time": f"2026-01-01T00:00:00.{number:09d}Z",
        }
        for number in range(500)
    ]
    folding = load(functions, "temporal-endings").fold(events)
    assert folding.state == "live"
    assert len(folding.view) == 380
    assert next(iter(folding.view)).startswith("120")
    assert folding.trace.view_bytes.max() <= 511_101


def test_the_largest_view_of_metered_billing_fits(functions: Path) -> None:
    fill = "\x01" * 200

    def event(partition: int, number: int, kind: str, **more: Any) -> dict[str, Any]:
        return {
            "id": str(number),
            "source": "urn:m",
            "subject": f"{partition}{fill}",
            "sequence": fill,
            "time": "2026-01-31T12:00:00.000000000Z",
            "type": f"com.microsoft.metering.{kind}",
            **more,
        }

    names = {f"{number}{fill}": {"dimension": fill, "included": 0.1234567890123} for number in range(20)}
    plan = {"planId": fill, "billingDimensions": names}
    bought = {
        "resourceId": fill,
        "subscriptionStart": "2026-01-31T12:00:00.000000000Z",
        "renewalInterval": fill,
        "plan": plan,
    }
    broken = base64.b64encode(b"\x01" * 3_000).decode()
    told = [
        each
        for partition in range(12)
        for each in (
            event(partition, 0, "SubscriptionPurchased", data={"subscription": bought}),
            *(event(partition, number, "Unprocessable", data_base64=broken) for number in range(1, 12)),
        )
    ]
    folding = load(functions, "metered-billing").fold(told)
    assert (folding.state, len(folding.view)) == ("live", 8)
    (meter,) = folding.view[f"11{fill[:78]}"]["meters"]
    # what is left to be reported could be added to each
    assert folding.trace.view_bytes.max() + 8 * 40 * 700 < 524_288
    assert len(meter["dimensions"]) == 6


# -- the rest is read or refused with a reason -----------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("cdevents", 48), ("google-structured", 3), ("aws-eventbridge", 16)])
def test_vendors_events_are_read_or_told(histories: Path, name: str, count: int) -> None:
    history = rk.read_history(histories / f"{name}.jsonl.gz")
    passed_over = history.problems[history.problems.seq.isna()]
    assert len(history) + len(passed_over) >= count
    assert (passed_over.words.str.len() > 10).all()
