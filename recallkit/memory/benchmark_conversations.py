"""Conversations with questions whose evidence is known (the form of LoCoMo): their turns, and recall by category."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recallkit.errors import InvalidInput

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")

TurnId = tuple[int, int]


@dataclass(frozen=True)
class Turn:
    """A turn of a conversation: its text has its session's date, who said it, and what a picture showed."""

    id: TurnId
    session: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question, its category, and the turns that hold its evidence."""

    text: str
    category: str
    evidence: frozenset[TurnId]


@dataclass(frozen=True)
class Conversation:
    """A conversation and what is asked about it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read_conversations(data: bytes) -> list[Conversation]:
    """Read a data file; questions without evidence are left out."""
    try:
        loaded = json.loads(data)
        return [_conversation(place, each) for place, each in enumerate(loaded)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"The file is no list of conversations with questions: {error!r}.") from error


def _conversation(place: int, given: dict[str, Any]) -> Conversation:
    name = str(given.get("sample_id", place))
    questions = []
    for each in given["qa"]:
        ids = [id for text in each.get("evidence", ()) for id in _ids(text)]
        if ids:
            category = CATEGORIES.get(each["category"], str(each["category"]))
            questions.append(Question(str(each["question"]), category, frozenset(ids)))
    return Conversation(name, tuple(_turns(given["conversation"])), tuple(questions))


def _turns(given: dict[str, Any]) -> Iterator[Turn]:
    sessions = [(int(found[1]), name) for name in given if (found := _SESSION.fullmatch(name))]
    for _, name in sorted(sessions):
        date = given.get(f"{name}_date_time", "")
        for turn in given[name]:
            picture = f" ({turn['blip_caption']})" if turn.get("blip_caption") else ""
            text = f"{date}. {turn['speaker']}: {turn['text']}{picture}"
            yield Turn(_ids(turn["dia_id"])[0], name, text)


def _ids(text: Any) -> list[TurnId]:
    return [(int(session), int(turn)) for session, turn in _TURN.findall(str(text))]
