"""Recall over signals: which entries a request takes, in which order, and the cursor for the next poll. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recallkit.errors import InvalidInput, NotFound
from recallkit.memory import arguments
from recallkit.memory.arguments import iso
from recallkit.memory.bounds import EVIDENCE_BYTES, EVIDENCE_LABELS, SIGNAL_LIMIT_MOST, TAGS
from recallkit.memory.recalled import Recalled
from recallkit.memory.search_index import Array
from recallkit.memory.search_words import STOP_WORDS, parts, stems
from recallkit.memory.signals_fold import KINDS, STATUSES, Entry, SignalsFold


@dataclass(frozen=True)
class Request:
    """What a recall asks of signals, checked."""

    namespace: str
    query: str
    kind: str | None
    actor: str | None
    limit: int
    since: str | None
    tags_any: tuple[str, ...]
    session_id: str | None
    signal_status: str | None
    correlation_id: str | None

    @property
    def polls(self) -> bool:
        """Whether this is a poll, which gives a cursor: an empty query for signals."""
        return self.kind == "signal" and not self.query


def request_of(**given: Any) -> Request:
    """Check the arguments of a recall, each by itself and together."""
    kind, status = given["kind"], given["signal_status"]
    request = Request(
        namespace=arguments.name("namespace", given["namespace"]),
        query=arguments.query("query", given["query"], may_be_empty=True),
        kind=None if kind is None else arguments.one_of("kind", kind, KINDS),
        actor=arguments.optional_name("actor", given["actor"]),
        limit=arguments.whole("limit", given["limit"], 1, SIGNAL_LIMIT_MOST),
        since=arguments.optional_name("since", given["since"]),
        tags_any=() if given["tags_any"] is None else arguments.names("tags_any", given["tags_any"], TAGS),
        session_id=arguments.optional_name("session_id", given["session_id"]),
        signal_status=None if status is None else arguments.one_of("signal_status", status, STATUSES),
        correlation_id=arguments.optional_name("correlation_id", given["correlation_id"]),
    )
    if request.query and not parts(request.query):
        raise arguments.wrong("query", f"has no letter or digit to search for: {arguments.shown(request.query)}.")
    if request.since is not None and not request.polls:
        why = "the query is not empty" if request.query else f"kind is {request.kind!r}"
        raise arguments.wrong("since", f"is for polling: it needs an empty query and kind='signal', but {why}.")
    if request.signal_status is not None and request.kind == "memory":
        raise arguments.wrong("signal_status", "is for signals; with kind='memory' nothing can have it.")
    return request


def receipt_of(labels: Any, request: Request, ids: list[str]) -> dict[str, Any] | None:
    """Give digests of the labels that a caller declares, and of what was asked and given; never a value.

    The labels are not authenticated, and the order of the results does not depend on them.
    """
    if labels is None:
        return None
    checked = check_evidence(labels)
    return {
        "evidence": {name: _digest(checked[name]) for name in EVIDENCE_LABELS if name in checked},
        "request": _digest(repr(sorted(asdict(request).items()))),
        "results": _digest("\n".join(ids)),
    }


def check_evidence(labels: Any) -> dict[str, str]:
    """Check the labels that a caller declares."""
    if not isinstance(labels, Mapping):
        raise arguments.wrong("evidence_context", f"must be a dict of labels, but it is {arguments.shown(labels)}.")
    for name in labels:
        if name not in EVIDENCE_LABELS:
            allowed = ", ".join(EVIDENCE_LABELS)
            raise arguments.wrong("evidence_context", f"has {arguments.shown(name)}; only {allowed} are accepted.")
    return {name: arguments.body(f"evidence_context.{name}", labels[name], EVIDENCE_BYTES) for name in labels}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def recall(fold: SignalsFold, request: Request, now: int, *, oldest_first: bool = False, skip: int = 0) -> Recalled:
    """Answer a request at a moment; `oldest_first` and `skip` are for a sweep, which gives no cursor.

    Raises
    ------
    NotFound
        The namespace or the cursor is unknown.
    InvalidInput
        The cursor is an entry of another namespace.
    """
    columns = fold.columns
    chosen = columns.namespace.values == fold.code("namespace", request.namespace)
    if not chosen.any():
        raise NotFound(f"Nothing was ever stored in the namespace {arguments.shown(request.namespace)}.")
    after = None if request.since is None else _anchor(fold, request)
    left: dict[str, int] = {}

    def keep(what: str, mask: Array) -> None:
        nonlocal chosen
        kept = chosen & mask
        left[what] = int(np.count_nonzero(chosen)) - int(np.count_nonzero(kept))
        chosen = kept

    keep("forgotten", ~columns.forgotten.values)
    if request.kind is not None:
        keep("of another kind", columns.signal.values == (request.kind == "signal"))
    if after is not None:
        keep("not after the cursor", np.arange(len(chosen)) > after)
    if request.actor is not None:
        keep("of another actor", columns.actor.values == fold.code("actor", request.actor))
    if request.session_id is not None:
        keep("of another session", columns.session.values == fold.code("session_id", request.session_id))
    if request.correlation_id is not None:
        code = fold.code("correlation_id", request.correlation_id)
        keep("of another correlation", columns.correlation.values == code)
    if request.tags_any:
        keep("without such a tag", _with_tags(fold, request.tags_any))
    if request.signal_status is not None:
        keep(
            "of another status", columns.signal.values & (columns.status(now) == STATUSES.index(request.signal_status))
        )
    if request.query:
        keep("without the words", _with_words(fold, request.query))

    rows = np.flatnonzero(chosen)
    # By insertion when polling, so that a reader goes on from the last; the newest first otherwise.
    ordered = rows if after is not None or oldest_first else rows[::-1]
    page = ordered[skip : skip + request.limit]
    left["past the limit"] = len(rows) - len(page)
    entries = [fold.entries[row] for row in page.tolist()]
    following = None
    if request.polls and not oldest_first:
        following = max(entries, key=lambda entry: entry.row).id if entries else request.since
    results = [_result(entry, request, now) for entry in entries]
    asked = {**asdict(request), "tags_any": list(request.tags_any)}
    return Recalled("signals", results, request=asked, left_out=left, next_since=following)


def _anchor(fold: SignalsFold, request: Request) -> int:
    # A forgotten entry stays an anchor: a cursor outlives what it points at.
    anchor = fold.by_id.get(request.since or "")
    if anchor is None:
        raise NotFound(f"since is no entry's id and no cursor: {arguments.shown(request.since)}.")
    if anchor.namespace != request.namespace:
        raise InvalidInput(
            f"since is an entry of another namespace than {arguments.shown(request.namespace)}; a cursor is its own's.",
            "/since",
        )
    return anchor.row


def _with_tags(fold: SignalsFold, tags: tuple[str, ...]) -> Array:
    mask = np.zeros(len(fold.entries), dtype=bool)
    for tag in tags:
        rows = fold.with_tag.get(tag, set())
        mask[np.fromiter(rows, dtype=np.int64, count=len(rows))] = True
    return mask


def _with_words(fold: SignalsFold, query: str) -> Array:
    """Which rows have every word of the query: by stems, or as written where the query has small words only."""
    mask = np.zeros(len(fold.entries), dtype=bool)
    found = list(dict.fromkeys(parts(query)))
    wanted = stems(found)
    having = fold.index.having(wanted) if wanted else fold.index.having_parts(found)
    met = np.zeros(len(fold.index), dtype=np.int64)
    for numbers in having:
        met[numbers] += 1
    numbers = np.flatnonzero(met == len(having))
    rows = fold.row_of_words.values[numbers]
    # Only the number that a row has now counts, not those of its texts before it was revised.
    mask[rows[fold.columns.words.values[rows] == numbers]] = True
    return mask


def _result(entry: Entry, request: Request, now: int) -> dict[str, Any]:
    signal = entry.kind == "signal"
    return {
        "id": entry.id,
        "text": entry.text,
        "namespace": entry.namespace,
        "kind": entry.kind,
        "tags": list(entry.tags),
        "actor": entry.actor,
        "session_id": entry.session_id,
        "correlation_id": entry.correlation_id,
        "status": _status(entry, now),
        "claimed_by": entry.claimed_by if signal and entry.lease_until and entry.lease_until > now else None,
        "lease_until": iso(entry.lease_until),
        "acknowledged_by": entry.acknowledged_by,
        "acknowledged_at": iso(entry.acknowledged_at),
        "expires_at": iso(entry.expires_at),
        "stored_at": iso(entry.stored_at),
        "revised_at": iso(entry.revised_at),
        "revisions": entry.revisions,
        "position": entry.position,
        "why": _why(entry, request, now),
    }


def _status(entry: Entry, now: int) -> str | None:
    """A signal's status; a memory has none, unless it expired."""
    status = STATUSES[entry.status(now)]
    return status if entry.kind == "signal" or status == "expired" else None


def _why(entry: Entry, request: Request, now: int) -> str:
    """Say which filters an entry passed."""
    said = [f"in {request.namespace}"]
    if request.kind:
        said.append(f"a {request.kind}")
    if request.since:
        said.append("stored after the cursor")
    for name in ("actor", "session_id", "correlation_id"):
        if getattr(request, name):
            said.append(f"{name} {getattr(request, name)}")
    if request.tags_any:
        said.append(f"tagged {', '.join(tag for tag in entry.tags if tag in request.tags_any)}")
    if request.signal_status:
        said.append(f"{STATUSES[entry.status(now)]} at the moment asked")
    if request.query:
        found = list(dict.fromkeys(parts(request.query)))
        wanted = [part for part in found if part not in STOP_WORDS] or found
        said.append(f"has the words {' '.join(wanted)}")
    return "; ".join(said)
