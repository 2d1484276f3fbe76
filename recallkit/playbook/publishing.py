"""Which events may be published, and as what they are stored (reference facts, Publishing an event)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from recallkit.bounds import ATTRIBUTE_CHARACTERS, EVENT_BYTES, PUBLISHED_DATA_LEVELS
from recallkit.errors import InvalidInput
from recallkit.events.event import deeply, is_media_type, member_text, parse, too_deep
from recallkit.events.records import OWN_ATTRIBUTES, iso_ms, json_bytes, new_id
from recallkit.events.times import read_time
from recallkit.memory.arguments import shown
from recallkit.views.values import json_text, levels_past

SHORT, LONG, EXTENSIONS = 256, 1_024, 32
INTEGER_32: Final = 2**31
OWN_TYPES: Final = ("run_", "definition_", "tool_call_", "step_", "delivery_", "reply_", "request_")
OWN_SOURCES: Final = ("/runs/", "/definitions/", "/callers/")
_LENGTHS: Final = {
    "id": SHORT,
    "type": SHORT,
    "datacontenttype": SHORT,
    "source": LONG,
    "subject": LONG,
    "dataschema": LONG,
}
_CONTEXT: Final = ("specversion", "id", "type", "source", "subject", "time", "datacontenttype", "dataschema")
_REFUSED: Final = ("causationid", "correlationid", *OWN_ATTRIBUTES)
_NAME: Final = re.compile(rf"[a-z0-9]{{1,{ATTRIBUTE_CHARACTERS}}}")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef]")
_URI: Final = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2}|[^\x00-\x7f])+")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:.+")
_RELATIVE_COLON: Final = re.compile(r"[^/?#]*:")
_FRACTION: Final = re.compile(r"\.(\d+)")


@dataclass(frozen=True)
class Publication:
    """An event that may be recorded.

    Attributes
    ----------
    text : bytes
        As it is stored, with what was filled in.
    event : dict
        The same, parsed.
    filled : tuple of str
        What the playbook filled in: 'id', 'time', 'specversion'.
    """

    text: bytes
    event: dict[str, Any]
    filled: tuple[str, ...]


def read_publication(given: Any, now_ms: int) -> Publication:
    """Check an event that is to be published, and fill in what it leaves out.

    Parameters
    ----------
    given : mapping, str or bytes
        The event, or its JSON text, whose data is then stored exactly as written.
    now_ms : int
        The time of an event that says none.

    Raises
    ------
    InvalidInput
        No published event may be like this; ``.pointer`` says where, such as ``/event/source``.
    """
    event, data = _members(given)
    for name in ("source", "type"):
        if event.get(name) is None:
            raise InvalidInput(f"An event has a {name}; CloudEvents requires one.", f"/event/{name}")
    filled = [name for name in ("specversion", "id", "time") if event.get(name) is None]
    for name, value in event.items():
        if name in _CONTEXT:
            _check_context(name, value)
        elif name != "data":
            _check_extension(name, value)
    extensions = [name for name in event if name not in (*_CONTEXT, "data")]
    if len(extensions) > EXTENSIONS:
        raise InvalidInput(f"An event has at most {EXTENSIONS} extensions; this one has {len(extensions)}.", "/event")
    whole = {"specversion": "1.0", "id": new_id(now_ms), "time": iso_ms(now_ms), **event}
    stored = {name: whole[name] for name in (*_CONTEXT, *extensions) if name in whole}
    text = json_bytes(stored)
    if data is not None:
        text = text[:-1] + b',"data":' + data + b"}"
    if len(text) > EVENT_BYTES:
        words = f"An event takes at most {EVENT_BYTES:,} bytes as JSON; this one takes {len(text):,}."
        raise InvalidInput(words, "/event")
    return Publication(text, parsed(text), tuple(filled))


def parsed(text: bytes) -> dict[str, Any]:
    """Parse a stored event."""
    value: dict[str, Any] = deeply(lambda: parse(text.decode("utf-8")))
    return value


def same(new: Publication, stored: dict[str, Any], filled: tuple[str, ...]) -> bool:
    """Whether an event published again has the content of the one stored: times are compared as instants.

    What its publisher leaves to the playbook both times, or leaves out this time, does not tell them apart.
    """
    left = dict(new.event)
    right = dict(stored)
    for name in ("time", "specversion"):
        if name in new.filled:
            left.pop(name, None)
            right.pop(name, None)
    if "time" in left and "time" in right:
        left["time"], right["time"] = _instant(left["time"]), _instant(right["time"])
    return left == right and json_kinds(left.get("data")) == json_kinds(right.get("data"))


def json_kinds(value: Any) -> Any:
    """Return a value that compares as JSON does: true is not 1."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, dict):
        return {name: json_kinds(child) for name, child in value.items()}
    return [json_kinds(child) for child in value] if isinstance(value, list) else value


def _instant(text: str) -> Any:
    milliseconds, verdict = read_time(text)
    if verdict != "read":
        return text
    fraction = _FRACTION.search(text)
    return milliseconds // 1_000, (fraction.group(1) if fraction else "").rstrip("0")


def _members(given: Any) -> tuple[dict[str, Any], bytes | None]:
    """Return an event's members, without those that are null, and the JSON text of its data."""
    if isinstance(given, str | bytes):
        text = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
        if too_deep(text, PUBLISHED_DATA_LEVELS + 1):
            raise _too_deep()
        try:
            event = deeply(lambda: parse(text.decode("utf-8")))
        except ValueError as error:
            raise InvalidInput(f"The event is not JSON: {error}.", "/event") from None
        data = member_text(text, "data") if isinstance(event, dict) and "data" in event else None
    elif isinstance(given, Mapping):
        event = dict(given)
        data = _data(event["data"]) if "data" in event else None
    else:
        event = None
    if not isinstance(event, dict):
        raise InvalidInput("An event is an object with source and type.", "/event")
    for name in event:
        if not isinstance(name, str):
            raise InvalidInput(f"An attribute's name is a text, not {shown(name)}.", "/event")
    if "data_base64" in event:
        raise InvalidInput("Publish an event's data as JSON in data, not in data_base64.", "/event/data_base64")
    return {name: value for name, value in event.items() if value is not None and name != "data"}, data


def _data(value: Any) -> bytes:
    if levels_past(value, PUBLISHED_DATA_LEVELS):
        raise _too_deep()
    try:
        text = deeply(lambda: json_text(value))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"An event's data is a JSON value: {error}.", "/event/data") from None
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return deeply(lambda: json.dumps(value, allow_nan=False, separators=(",", ":"))).encode("ascii")


def _too_deep() -> InvalidInput:
    return InvalidInput(f"An event's data nests at most {PUBLISHED_DATA_LEVELS} levels.", "/event/data")


def _check_context(name: str, value: Any) -> None:
    pointer = f"/event/{name}"
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is a text.", pointer)
    if name == "specversion":
        if value != "1.0":
            raise InvalidInput("specversion is 1.0.", pointer)
        return
    if name == "time":
        _check_time(value, pointer)
        return
    most = _LENGTHS[name]
    if not 1 <= len(value) <= most:
        raise InvalidInput(f"{name} takes 1 to {most:,} characters; this one has {len(value):,}.", pointer)
    if _CONTROL.search(value) or any(ord(letter) & 0xFFFE == 0xFFFE for letter in value):
        raise InvalidInput(f"{name} holds no control character, lone surrogate or noncharacter.", pointer)
    if name in ("id", "type", "subject") and not value.strip():
        raise InvalidInput(f"{name} holds something other than spaces.", pointer)
    if name in ("source", "dataschema"):
        _check_uri(name, value, pointer)
    if name == "source" and value.startswith(OWN_SOURCES):
        words = "Sources under /runs/, /definitions/ and /callers/ are the playbook's own; give another source."
        raise InvalidInput(words, pointer)
    if name == "type" and value.startswith(OWN_TYPES):
        raise InvalidInput(f"The type {value} is one of the playbook's own; give another type.", pointer)
    if name == "datacontenttype" and not is_media_type(value):
        raise InvalidInput("datacontenttype is a media type, such as application/json.", pointer)


def _check_uri(name: str, value: str, pointer: str) -> None:
    absolute = _SCHEME.fullmatch(value) is not None
    if _URI.fullmatch(value) is None or (not absolute and _RELATIVE_COLON.match(value)):
        raise InvalidInput(f"{name} is a URI reference, such as /shop/orders.", pointer)
    if name == "dataschema" and not absolute:
        raise InvalidInput("dataschema is an absolute URI, such as https://example.com/order.json.", pointer)


def _check_time(value: str, pointer: str) -> None:
    _, verdict = read_time(value)
    # a leap second is a time, though no fold can read it: such an event is passed over
    leap = verdict == "unreadable" and value[17:19] == "60" and read_time(f"{value[:17]}59{value[19:]}")[1] == "read"
    if verdict != "read" and not leap:
        raise InvalidInput("time is RFC 3339 and a day that exists, such as 2026-10-03T16:40:05.000Z.", pointer)
    fraction = _FRACTION.search(value)
    if fraction and len(fraction.group(1)) > 9:
        raise InvalidInput("time has at most 9 digits after its second.", pointer)


def _check_extension(name: str, value: Any) -> None:
    pointer = f"/event/{name[:60].replace('~', '~0').replace('/', '~1')}"
    if name in _REFUSED:
        raise InvalidInput(f"{name} is the playbook's to give; no published event carries it.", pointer)
    if not _NAME.fullmatch(name):
        words = f"An extension is named in at most {ATTRIBUTE_CHARACTERS} lowercase letters and digits."
        raise InvalidInput(words, pointer)
    if isinstance(value, str):
        if _CONTROL.search(value) or any(ord(letter) & 0xFFFE == 0xFFFE for letter in value):
            raise InvalidInput(f"{name} holds no control character, lone surrogate or noncharacter.", pointer)
    elif not isinstance(value, bool) and not (isinstance(value, int) and -INTEGER_32 <= value < INTEGER_32):
        raise InvalidInput(f"{name} is a text, a boolean or a 32-bit whole number.", pointer)
