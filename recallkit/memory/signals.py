"""Signals: memories and coordination signals in namespaces, recalled by filters and polled by a cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from recallkit.errors import Conflict, InvalidInput
from recallkit.memory import arguments
from recallkit.memory.bounds import LEASE_SECONDS, LEASE_SECONDS_MOST, SIGNAL_LIMIT, SIGNAL_LIMIT_MOST
from recallkit.memory.log import System, present
from recallkit.memory.recalled import Recalled
from recallkit.memory.receipts import Signer
from recallkit.memory.signals_fold import ACKNOWLEDGED, Entry, SignalsFold, entry_of, lease_end, revision_of
from recallkit.memory.signals_recall import check_evidence, recall, receipt_of, request_of

Moment = datetime | str | int | float
_UNSAID: Any = object()


class Signals(System[SignalsFold]):
    """A bridge between agents: durable memories, and signals that are claimed, worked on and acknowledged.

    Parameters
    ----------
    source : None, History, Playbook or MemoryLog
        Nothing: a log in memory. A history is read only, and what is written stays in memory after it.
    receipt_key : bytes, optional
        What receipts are signed with; one of this object's own when left out.

    Notes
    -----
    A signal's status is worked out when it is asked for: acknowledged, else expired, else claimed while its lease
    lives, else pending. A cursor follows what is stored later; it never brings an older signal back, whatever becomes
    of it, so look for those with `sweep`.
    """

    prefix = "signals"

    def __init__(self, source: Any = None, *, receipt_key: bytes | None = None) -> None:
        super().__init__(source)
        self._signer = Signer(receipt_key)

    def _empty(self) -> SignalsFold:
        return SignalsFold()

    def __repr__(self) -> str:
        return f"<Signals over {self.log!r}>"

    # Writing

    def store(
        self,
        *,
        namespace: str,
        kind: Literal["memory", "signal"] = "memory",
        text: str,
        tags: Iterable[str] = (),
        actor: str | None = None,
        session_id: str | None = None,
        correlation_id: str | None = None,
        expires_at: Moment | None = None,
        now: Moment | None = None,
    ) -> str:
        """Store an entry and give its id.

        Parameters
        ----------
        namespace : str
            Such as ``project:shop``, ``domain:billing`` or ``global``; it is there once something is stored in it.
        text : str
            At most 64 KiB of UTF-8.
        tags : iterable of str
            At most 64.
        expires_at : datetime, str or number, optional
            From then on the entry is expired: a datetime with its zone, RFC 3339 text, or milliseconds since 1970.
        now : datetime, str or number, optional
            The moment of writing; the clock's when left out.

        Raises
        ------
        InvalidInput
            An argument is wrong; the error says which and why, and nothing is written.
        """
        moment = present(now)
        given = {
            "namespace": namespace,
            "kind": kind,
            "text": text,
            "tags": tags,
            "actor": actor,
            "session_id": session_id,
            "correlation_id": correlation_id,
            "expires_at": expires_at,
        }
        kept = entry_of(given)
        kept["tags"] = list(kept["tags"])
        kept["expires_at"] = arguments.iso(kept["expires_at"])
        with self._lock:
            return self._publish("stored", kept, now=moment)

    def claim(self, id: str, *, actor: str, lease: float | timedelta = LEASE_SECONDS, now: Moment | None = None) -> str:
        """Claim a signal for a while; give the moment until which the lease lives.

        When two claim at once, the one recorded first has it, and the other one is told so.

        Parameters
        ----------
        lease : float or timedelta
            Seconds; 300 when left out, at most a week.

        Raises
        ------
        Conflict
            It is claimed by someone else (kind ``claimed``), was ``acknowledged`` or has ``expired``.
        NotFound
            There is no such entry.
        """
        return self._leased("claimed", id, actor, lease, now)

    def extend(
        self, id: str, *, actor: str, lease: float | timedelta = LEASE_SECONDS, now: Moment | None = None
    ) -> str:
        """Extend one's own living lease to at least so long from now; give the moment until which it lives.

        Raises
        ------
        Conflict
            As for `claim`; or the lease ran out (kind ``lapsed``).
        """
        return self._leased("extended", id, actor, lease, now)

    def _leased(self, verb: str, id: str, actor: str, lease: float | timedelta, now: Moment | None) -> str:
        id, actor = arguments.name("id", id), arguments.name("actor", actor)
        seconds = arguments.seconds("lease", lease, LEASE_SECONDS_MOST)
        moment = present(now)
        with self._lock:
            fold = self._caught_up()
            may = fold.may_claim if verb == "claimed" else fold.may_extend
            may(id, actor, moment)
            lease_end(moment, seconds)
            event = self._publish(verb, {"entry": id, "actor": actor, "lease": seconds}, now=moment, subject=id)
            fold = self._caught_up()
            entry = fold.entry(id)
            if entry.lease_event != event:
                # Someone else's event was recorded between the look and the writing; their order decides.
                fold.may_claim(id, actor, moment)
                raise Conflict(f"The signal {id} was claimed by {entry.claimed_by} a moment before.", "claimed")
            return cast(str, arguments.iso(entry.lease_until))

    def acknowledge(self, id: str, *, actor: str, now: Moment | None = None) -> None:
        """Acknowledge a signal: its work is done. The same actor again changes nothing.

        Raises
        ------
        Conflict
            Someone else holds it (kind ``claimed``) or ``acknowledged`` it, or it has ``expired``.
        """
        id, actor = arguments.name("id", id), arguments.name("actor", actor)
        moment = present(now)
        with self._lock:
            fold = self._caught_up()
            if self._done_by(fold.entry(id), actor):
                return
            fold.may_claim(id, actor, moment)
            self._publish("acknowledged", {"entry": id, "actor": actor}, now=moment, subject=id)
            fold = self._caught_up()
            if not self._done_by(fold.entry(id), actor):
                fold.may_claim(id, actor, moment)

    def _done_by(self, entry: Entry, actor: str) -> bool:
        return entry.status(0) == ACKNOWLEDGED and entry.acknowledged_by == actor

    def revise(
        self,
        id: str,
        *,
        text: str = _UNSAID,
        tags: Iterable[str] = _UNSAID,
        expires_at: Moment | None = _UNSAID,
        actor: str | None = None,
        now: Moment | None = None,
    ) -> None:
        """Change an entry's text, tags or expiry (None: it never expires); it keeps its id, actor and place."""
        id, actor = arguments.name("id", id), arguments.optional_name("actor", actor)
        moment = present(now)
        given: dict[str, Any] = {}
        if text is not _UNSAID:
            given["text"] = text
        if tags is not _UNSAID:
            given["tags"] = tags
        if expires_at is None:
            given["never_expires"] = True
        elif expires_at is not _UNSAID:
            given["expires_at"] = expires_at
        changes = revision_of(given)
        if "tags" in changes:
            changes["tags"] = list(changes["tags"])
        if "expires_at" in changes:
            never = changes["expires_at"] is None
            changes |= {"never_expires": True} if never else {"expires_at": arguments.iso(changes["expires_at"])}
        with self._lock:
            self._caught_up().entry(id)
            self._publish("revised", {"entry": id, "actor": actor, **changes}, now=moment, subject=id)

    def forget(self, id: str, *, actor: str | None = None, now: Moment | None = None) -> None:
        """Take an entry out of every later recall; a cursor that points at it still works."""
        id, actor = arguments.name("id", id), arguments.optional_name("actor", actor)
        moment = present(now)
        with self._lock:
            self._caught_up().entry(id)
            self._publish("forgotten", {"entry": id, "actor": actor}, now=moment, subject=id)

    # Reading

    def recall(
        self,
        *,
        namespace: str,
        query: str = "",
        kind: Literal["memory", "signal"] | None = None,
        actor: str | None = None,
        limit: int = SIGNAL_LIMIT,
        since: str | None = None,
        tags_any: Iterable[str] | None = None,
        session_id: str | None = None,
        signal_status: Literal["pending", "claimed", "acknowledged", "expired"] | None = None,
        correlation_id: str | None = None,
        evidence_context: Mapping[str, str] | None = None,
        now: Moment | None = None,
    ) -> Recalled:
        """Recall entries by filters, or poll for signals stored after a cursor.

        Parameters
        ----------
        namespace : str
            Matched exactly.
        query : str
            The entry has every word of it, by stems and without small words. Empty: filters only.
        kind, actor, session_id, correlation_id, signal_status : str, optional
            Filters, joined by AND.
        limit : int
            1 to 100.
        since : str, optional
            An entry's id, or the ``next_since`` of a recall, of the same namespace; it needs an empty query and
            ``kind="signal"``. Entries then come by insertion, without a gap or a repeat; else the newest come first.
        tags_any : iterable of str, optional
            Any of these is enough.
        evidence_context : mapping, optional
            Labels that the caller declares: ``model``, ``harness``, ``chat_template``. The receipt holds their SHA-256
            digests; nothing else depends on them.

        Returns
        -------
        Recalled
            ``next_since`` is a text after an empty query with ``kind="signal"``: the last stored entry of the page, or
            the cursor given when the page is empty. In every other mode it is None.

        Raises
        ------
        NotFound
            Nothing was ever stored in the namespace, or the cursor is unknown.
        InvalidInput
            An argument is wrong; the error says which and why.
        """
        request = request_of(
            namespace=namespace,
            query=query,
            kind=kind,
            actor=actor,
            limit=limit,
            since=since,
            tags_any=tags_any,
            session_id=session_id,
            signal_status=signal_status,
            correlation_id=correlation_id,
        )
        if evidence_context is not None:
            check_evidence(evidence_context)
        moment = present(now)
        with self._lock:
            found = recall(self._caught_up(), request, moment)
        receipt = receipt_of(evidence_context, request, found.ids)
        found.receipt = None if receipt is None else self._signer.sign(receipt)
        return found

    def verify(self, receipt: Mapping[str, Any]) -> bool:
        """Tell whether a receipt is one that this object, or one with the same key, signed."""
        return self._signer.verify(receipt)

    def sweep(
        self,
        *,
        namespace: str,
        limit: int = SIGNAL_LIMIT_MOST,
        skip: int = 0,
        now: Moment | None = None,
        **filters: Any,
    ) -> Recalled:
        """Give the signals that wait for someone, the oldest first: what a cursor has gone past and that is pending.

        A lapsed lease makes a signal pending again without moving it, so a poll never tells of it. A worker polls with
        a cursor, and sweeps now and then.

        Parameters
        ----------
        skip : int
            How many to pass by, for the next page.
        **filters
            Those of `recall`: actor, tags_any, session_id, correlation_id, query.
        """
        unknown = set(filters) - {"actor", "tags_any", "session_id", "correlation_id", "query"}
        if unknown:
            raise InvalidInput(f"sweep takes no {', '.join(sorted(unknown))}.")
        given: dict[str, Any] = dict.fromkeys(("actor", "tags_any", "session_id", "correlation_id"))
        rest = {"kind": "signal", "since": None, "signal_status": "pending"}
        request = request_of(**{**given, "query": "", **filters, **rest, "namespace": namespace, "limit": limit})
        skipped = arguments.whole("skip", skip, 0, 2**31)
        moment = present(now)
        with self._lock:
            return recall(self._caught_up(), request, moment, oldest_first=True, skip=skipped)

    @property
    def passed_over(self) -> int:
        """How many events of signals broke a rule and changed nothing, such as the second of two claims at once."""
        with self._lock:
            return self._caught_up().passed_over
