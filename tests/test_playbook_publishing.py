"""Publishing: which events a playbook takes, what it fills in, and when the same event comes again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recallkit as rk
from recallkit.bounds import EVENT_BYTES
from recallkit.playbook.publishing import read_publication

NOW = 1_790_000_000_000


def event(**changes: Any) -> dict[str, Any]:
    """An ordinary event, changed; a member that is set to ... is left out."""
    whole = {"source": "/shop", "type": "order_placed", "id": "o-1", "time": "2026-10-01T09:00:00Z", **changes}
    return {name: value for name, value in whole.items() if value is not ...}


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


REFUSED = [
    ("source missing", event(source=...), "/event/source"),
    ("source null", event(source=None), "/event/source"),
    ("type missing", event(type=...), "/event/type"),
    ("a number as source", event(source=1), "/event/source"),
    ("an empty source", event(source=""), "/event/source"),
    ("a source that is too long", event(source="/" + "a" * 1024), "/event/source"),
    ("a source with a space", event(source="/a b"), "/event/source"),
    ("a source with a broken escape", event(source="/a%2"), "/event/source"),
    ("a run's source", event(source="/runs/1"), "/event/source"),
    ("a definition's source", event(source="/definitions/recall/x"), "/event/source"),
    ("a caller's source", event(source="/callers/ana"), "/event/source"),
    ("an empty id", event(id=""), "/event/id"),
    ("an id of spaces", event(id="  "), "/event/id"),
    ("an id that is too long", event(id="a" * 257), "/event/id"),
    ("an id with a control character", event(id="a\x01"), "/event/id"),
    ("an id with a lone surrogate", event(id="a\ud800"), "/event/id"),
    ("an id with a noncharacter", event(id="a\uffff"), "/event/id"),
    ("an id with a high noncharacter", event(id="a\U0001fffe"), "/event/id"),
    ("a type that is too long", event(type="a" * 257), "/event/type"),
    ("a type of a run", event(type="run_started"), "/event/type"),
    ("a type of a run that is new", event(type="run_paused"), "/event/type"),
    ("a type of a definition", event(type="definition_created"), "/event/type"),
    ("a type of a tool call", event(type="tool_call_made"), "/event/type"),
    ("a type of a step", event(type="step_ended"), "/event/type"),
    ("a type of a delivery", event(type="delivery_made"), "/event/type"),
    ("a type of a reply", event(type="reply_given"), "/event/type"),
    ("a subject of spaces", event(subject=" "), "/event/subject"),
    ("a subject that is too long", event(subject="a" * 1025), "/event/subject"),
    ("another specversion", event(specversion="0.3"), "/event/specversion"),
    ("a number as specversion", event(specversion=1.0), "/event/specversion"),
    ("a datacontenttype that is none", event(datacontenttype="json"), "/event/datacontenttype"),
    ("a dataschema that is relative", event(dataschema="/order.json"), "/event/dataschema"),
    ("a time that is none", event(time="yesterday"), "/event/time"),
    ("a time without an offset", event(time="2026-10-01T09:00:00"), "/event/time"),
    ("a day that does not exist", event(time="2026-02-30T09:00:00Z"), "/event/time"),
    ("ten digits of a second", event(time="2026-10-01T09:00:00.0123456789Z"), "/event/time"),
    ("a time of milliseconds", event(time=1), "/event/time"),
    *((name, event(**{name: "x"}), f"/event/{name}") for name in (
        "causationid", "correlationid", "caller", "depth", "calldepth", "calledby", "definitionversion", "triggerkind",
        "triggerreference")),
    ("an extension with a capital", event(Region="eu"), "/event/Region"),
    ("an extension that is too long", event(**{"a" * 21: "x"}), "/event/" + "a" * 21),
    ("an extension that is a number", event(region=1.5), "/event/region"),
    ("an extension past 32 bits", event(region=2**31), "/event/region"),
    ("an extension that is an object", event(region={}), "/event/region"),
    ("33 extensions", event(**{f"x{number}": "" for number in range(33)}), "/event"),
    ("data too deep", event(data=nested(511)), "/event/data"),
    ("data that is no JSON", event(data={1}), "/event/data"),
    ("data with a key that is no text", event(data={1: 2}), "/event/data"),
    ("data that is not a number", event(data=float("nan")), "/event/data"),
    ("an event that is too large", event(data="x" * EVENT_BYTES), "/event"),
    ("data in base64", event(data_base64="aGk="), "/event/data_base64"),
    ("a list", [], "/event"),
    ("a text that is no JSON", "{", "/event"),
    ("a text that is no object", "[]", "/event"),
    ("nothing", None, "/event"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "pointer"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_no_published_event_may_be_like_this(given: Any, pointer: str) -> None:
    with pytest.raises(rk.InvalidInput) as refused:
        read_publication(given, NOW)
    assert refused.value.pointer == pointer
    assert str(refused.value)


@pytest.mark.parametrize(
    "given",
    [
        event(source="urn:isbn:0451450523"),
        event(source="?a=b#c"),
        event(source="a" * 1024),
        event(subject="Straße 😀"),
        event(time="2026-10-01T09:00:00.123456789+02:00"),
        event(time="2026-10-01t09:00:00z"),
        event(time="2016-12-31T23:59:60Z"),
        event(datacontenttype="application/json; charset=utf-8", dataschema="https://example.com/a.json"),
        event(region="eu", urgent=True, weight=-(2**31)),
        event(**{f"x{number}": "" for number in range(32)}),
        event(data=nested(510)),
        event(data=None),
        event(type="rerun_started", subject="runs"),
        event(data="x" * (EVENT_BYTES - 200)),
    ],
)
def test_an_event_may_be_like_this_and_is_stored_as_it_is(given: dict[str, Any]) -> None:
    publication = read_publication(given, NOW)
    assert publication.event == {"specversion": "1.0", **given}
    assert len(publication.text) <= EVENT_BYTES
    assert publication.filled == ("specversion",)


def test_what_is_absent_is_filled_in(playbook: rk.Playbook) -> None:
    stored = playbook.publish_event({"source": "/shop", "type": "order_placed"})
    assert stored["specversion"] == "1.0"
    assert stored["id"][14] == "7"
    assert len(stored["id"]) == 36
    assert len(stored["time"]) == 24
    assert stored["time"].endswith("Z")
    assert playbook.history().event(0) == stored
    assert playbook.get_event(stored["id"]).data == stored


def test_the_text_of_data_is_stored_as_it_was_written(playbook: rk.Playbook) -> None:
    data = '{"zero":-0, "big":12345678901234567890,"b":1.0,"é":"\\ud800"}'
    playbook.publish_event(f'{{"source":"/shop","type":"t","id":"1","time":"2026-10-01T09:00:00Z","data":{data}}}')
    assert data in playbook.history().text(0)


def test_the_same_event_again_records_nothing_and_answers_as_the_first_time(playbook: rk.Playbook) -> None:
    first = playbook.publish_event({"source": "/shop", "type": "t", "id": "1", "data": {"a": 1, "b": [2]}})
    again = playbook.publish_event({"type": "t", "data": {"b": [2.0], "a": 1}, "id": "1", "source": "/shop"})
    assert again == first
    assert len(playbook.history()) == 1
    # another source makes another event
    playbook.publish_event({"source": "/store", "type": "t", "id": "1"})
    assert len(playbook.history()) == 2


def test_times_compare_as_instants(playbook: rk.Playbook) -> None:
    first = playbook.publish_event(event(time="2026-10-01T09:00:00.5Z"))
    assert playbook.publish_event(event(time="2026-10-01T11:00:00.500+02:00")) == first
    with pytest.raises(rk.Conflict):
        playbook.publish_event(event(time="2026-10-01T09:00:00.501Z"))


@pytest.mark.parametrize(
    "change", [{"type": "u"}, {"data": 2}, {"data": True}, {"data": ...}, {"subject": "s"}, {"region": "eu"}]
)
def test_different_content_under_the_same_source_and_id_is_a_conflict(
    playbook: rk.Playbook, change: dict[str, Any]
) -> None:
    playbook.publish_event(event(data=1))
    with pytest.raises(rk.Conflict, match="different content"):
        playbook.publish_event(event(**{"data": 1, **change}))
    assert len(playbook.history()) == 1


def test_several_are_recorded_in_their_order_or_none(playbook: rk.Playbook) -> None:
    told = playbook.publish_events(event(id=f"o-{number}") for number in (3, 1, 2, 1))
    assert [each["id"] for each in told] == ["o-3", "o-1", "o-2", "o-1"]
    assert playbook.history().attribute("id").tolist() == ["o-3", "o-1", "o-2"]
    with pytest.raises(rk.InvalidInput):
        playbook.publish_events([event(id="o-4"), event(id="")])
    with pytest.raises(rk.Conflict):
        playbook.publish_events([event(id="o-5"), event(id="o-1", data=1)])
    assert len(playbook.history()) == 3


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(data=JSON)
def test_any_json_data_comes_back_as_it_was_published(data: Any) -> None:
    publication = read_publication(event(data=data), NOW)
    assert json.dumps(publication.event["data"]) == json.dumps(data)
    assert read_publication(publication.text, NOW).text == publication.text


def test_many_at_once_are_each_compared_with_what_is_recorded(playbook: rk.Playbook) -> None:
    many = [event(id=f"o-{number}", data=number) for number in range(1_100)]
    playbook.publish_events(many[5:700:3])
    told = playbook.publish_events(many)
    assert [each["data"] for each in told] == list(range(1_100))
    assert len(playbook.history()) == 1_100
    with pytest.raises(rk.Conflict, match="o-1099"):
        playbook.publish_events([*many[:1_099], event(id="o-1099", data="another"), event(id="new")])
    assert len(playbook.history()) == 1_100


def test_the_events_after_a_position_are_read_by_the_beginning_of_their_type(playbook: rk.Playbook) -> None:
    for type in ("a.x", "a%y", "ab", "b.x", "A.x"):
        playbook.publish_event({"source": "/s", "type": type, "id": type})
    told = playbook.events_after(0)
    assert [json.loads(text)["id"] for _, text in told] == ["a.x", "a%y", "ab", "b.x", "A.x"]
    assert [position for position, _ in told] == [1, 2, 3, 4, 5]
    assert [json.loads(text)["id"] for _, text in playbook.events_after(0, prefix="a.")] == ["a.x"]
    assert [json.loads(text)["id"] for _, text in playbook.events_after(0, prefix="a%")] == ["a%y"]
    assert [position for position, _ in playbook.events_after(2, prefix="a")] == [3]
    assert playbook.events_after(5) == playbook.events_after(2**80) == playbook.events_after(0, prefix="c") == []
    for position, prefix in (("1", ""), (True, ""), (0, 5)):
        with pytest.raises(rk.InvalidInput):
            playbook.events_after(position, prefix=prefix)  # type: ignore[arg-type]
