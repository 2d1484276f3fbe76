"""Facts with citations, in two times: committed as files, extracted when needed, filtered before ranked."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from recallkit.errors import InvalidInput, NotFound, RecallkitError
from recallkit.memory import facts_files, facts_query
from recallkit.memory.arguments import (
    flag,
    iso,
    name,
    optional_moment,
    optional_name,
    query,
    shown,
    whole,
    wrong,
)
from recallkit.memory.bounds import FACT_LIMIT, FACT_LIMIT_MOST
from recallkit.memory.facts_files import FactGraph, Passage, RecalledFacts
from recallkit.memory.facts_fold import FactsFold
from recallkit.memory.facts_graph import Row, Space
from recallkit.memory.facts_model import Entry, Extractor, Synthesizer, may_read, path_text
from recallkit.memory.facts_query import Moment, Question
from recallkit.memory.facts_settle import Settled
from recallkit.memory.facts_synthesis import sentences
from recallkit.memory.facts_writing import FactsWriting, who
from recallkit.memory.log import present

if TYPE_CHECKING:
    import pandas as pd

_PASTS_KEPT = 4


class _Opened(NamedTuple):
    """What a call reads: a fold and its space at a moment; and those of today, whose settling is what is told."""

    fold: FactsFold
    space: Space
    scope: str | None
    moment: Moment
    today: FactsFold
    space_today: Space


class Facts(FactsWriting):
    """The fact system over a playbook, a history, or memory.

    Parameters
    ----------
    source : Playbook, History, MemoryLog or None
        Where commits are recorded and read; None keeps them in memory.
    extract : callable, optional
        From a `Commit` to its facts (`Fact` or mappings with the same fields). It is called once a commit, when a
        recall first needs it, and must depend on the commit alone. The default, `Markdown`, reads forms and no
        sentences. An extractor with a true attribute ``single`` may give facts that retire those of other paths.
    synthesize : callable, optional
        From a query and the facts that the caller may read to a text. The default writes cited sentences.

    Notes
    -----
    A space is known to a caller once something was committed there that the caller may read. Who wrote a commit is
    among its readers.
    """

    def __init__(
        self, source: Any = None, *, extract: Extractor | None = None, synthesize: Synthesizer | None = None
    ) -> None:
        if synthesize is not None and not callable(synthesize):
            raise wrong("synthesize", f"must be callable, but it is {shown(synthesize)}.")
        self._synthesize = synthesize or sentences
        self._pasts: OrderedDict[tuple[int, int], FactsFold] = OrderedDict()
        super().__init__(source, extract)

    def __repr__(self) -> str:
        with self._lock:
            try:
                fold = self._caught_up()
            except RecallkitError:  # such as a playbook that is closed: a repr shows it, and raises nothing
                return f"<Facts over {self.log!r}>"
            commits, pending = len(fold.entries), sum(space.unsettled for space in fold.spaces.values())
        return f"<Facts of {commits:,} commit{'' if commits == 1 else 's'}, {pending:,} of them pending>"

    def recall(
        self,
        space: str,
        query: str,
        *,
        caller: str | None = None,
        as_of: Any = None,
        scope: str | None = None,
        synthesize: bool = False,
        limit: int = FACT_LIMIT,
        include_archived: bool = False,
        now: Any = None,
    ) -> RecalledFacts:
        """Recall the facts of a space that answer a query.

        Parameters
        ----------
        space, query : str
        caller : str, optional
            Who asks. Without one only what everyone in the space may read is given.
        as_of : datetime, str or int, optional
            Give what was believed at this moment (milliseconds since 1970, RFC 3339, a datetime): facts recorded after
            it, or closed at or before it, are left out. Who may read them is today's matter.
        scope : str, optional
            A path or folder: only it is settled and searched.
        synthesize : bool
            Also write an answer over the facts given, in ``.answer``.
        limit : int
            1 to 1,000.
        include_archived : bool
            Also give forgotten facts; does nothing with ``as_of``.
        now : datetime, str or int, optional
            The clock, for tests.

        Returns
        -------
        RecalledFacts
            ``.results`` (dicts with the specification's fields), ``.answer``, ``.left_out``, ``.notes`` (how many
            pending commits were settled, and what could not be).

        Raises
        ------
        InvalidInput
            An argument is wrong, or ``as_of`` lies in the future.
        NotFound
            The space or the scope holds nothing that the caller may read.
        """
        words = _query(query)
        limit = whole("limit", limit, 1, FACT_LIMIT_MOST)
        synthesize = flag("synthesize", synthesize)
        include_archived = flag("include_archived", include_archived)
        with self._lock:
            opened = self._opened(space, scope, caller, as_of, now)
            fold, at, scope, when = opened[:4]
            question = Question.of(words)
            done = self._settle_query(opened.today, opened.space_today, question, scope, caller)
            if fold is not opened.today:
                self._settle_query(fold, at, question, scope, caller)
            found = facts_query.matches(at, question)
            archived = include_archived and not when.past
            chosen = facts_query.select(fold, at, found, when, scope, caller, archived=archived)
            ranked = facts_query.rank(fold, at, chosen.matches, question, when, limit)
            results = [_result(fold, each, when) for each in ranked]
        answer = self._answer(words, results) if synthesize else None
        request: dict[str, Any] = {
            "space": space,
            "query": words,
            "caller": caller,
            "as_of": iso(when.time) if when.past else None,
        }
        request |= {"scope": scope, "synthesize": synthesize, "limit": limit, "include_archived": include_archived}
        left = {
            "past the limit": len(chosen.matches.numbers) - len(results),
            "forgotten": chosen.archived,
            "no longer believed": chosen.closed,
        }
        return RecalledFacts("facts", results, request=request, left_out=left, answer=answer, notes=_notes(done))

    def files(
        self, space: str, *, caller: str | None = None, as_of: Any = None, scope: str | None = None, now: Any = None
    ) -> RecalledFacts:
        """Give the map of files: each path with its newest version that the caller may read. Nothing is settled."""
        with self._lock:
            _, at, scope, when = self._opened(space, scope, caller, as_of, now)[:4]
            rows = facts_files.file_rows(at, when, scope, caller)
        request = {"space": space, "caller": caller, "as_of": iso(when.time) if when.past else None, "scope": scope}
        return RecalledFacts("facts: files", rows, request=request)

    def graph(
        self,
        space: str,
        *,
        caller: str | None = None,
        as_of: Any = None,
        scope: str | None = None,
        include_archived: bool = False,
        now: Any = None,
    ) -> FactGraph:
        """Give the whole graph that the caller may see, in the order of paths and lines; all of it is settled."""
        include_archived = flag("include_archived", include_archived)
        with self._lock:
            opened = self._opened(space, scope, caller, as_of, now)
            fold, at, scope, when = opened[:4]
            done = self._settle_all(opened.today, opened.space_today, scope, caller)
            if fold is not opened.today:
                self._settle_all(fold, at, scope, caller)
            rows = facts_query.everything(fold, at, when, scope, caller)
            if not include_archived or when.past:
                rows = [row for row in rows if not fold.archived(row.id, when.position)]
            results = facts_files.fact_rows(fold, rows, when)
        request = {"space": space, "caller": caller, "as_of": iso(when.time) if when.past else None, "scope": scope}
        return FactGraph("facts: graph", results, request=request, notes=_notes(done))

    def timeline(
        self, space: str, *, caller: str | None = None, scope: str | None = None, now: Any = None
    ) -> pd.DataFrame:
        """Give every fact that was ever recorded and that the caller may read, in both times.

        Returns
        -------
        DataFrame
            id, subject, predicate, object, path, version, line, valid_from, valid_to, recorded_from, recorded_to (UTC;
            NaT where it has not ended), archived.
        """
        import pandas as pd

        with self._lock:
            fold, at, scope, when = self._opened(space, scope, caller, None, now)[:4]
            self._settle_all(fold, at, scope, caller)
            facts = facts_files.all_times(fold, at, when, scope, caller)
        rows = [
            {key: fact[key] for key in ("id", "subject", "predicate", "object", "archived")}
            | {
                "path": fact["citation"]["path"],
                "version": fact["citation"]["version"],
                "line": fact["citation"]["lineStart"],
            }
            | {f"{short}_{end}": fact[f"{short}Time"][end] for short in ("valid", "recorded") for end in ("from", "to")}
            for fact in facts
        ]
        columns = "id subject predicate object path version line valid_from valid_to recorded_from recorded_to archived"
        frame = pd.DataFrame(rows, columns=pd.Index(columns.split()))
        for column in ("valid_from", "valid_to", "recorded_from", "recorded_to"):
            frame[column] = pd.to_datetime(frame[column].astype("Int64"), unit="ms", utc=True)
        return frame

    def passage(
        self, citation: Any, *, caller: str | None = None, space: str | None = None, context: int = 2
    ) -> Passage:
        """Show the lines that a citation points at, through the readers of the version that it names.

        Parameters
        ----------
        citation : dict
            A result of a recall, or its ``citation``.
        caller : str, optional
        space : str, optional
            Where the citation does not say it.
        context : int
            How many lines to show before and after.

        Raises
        ------
        NotFound
            There is no such version that the caller may read.
        """
        if isinstance(citation, Mapping) and isinstance(citation.get("citation"), Mapping):
            citation = citation["citation"]
        if not isinstance(citation, Mapping):
            raise wrong("citation", f"must be a result or its citation, but it is {shown(citation)}.")
        optional_name("caller", caller)
        context = whole("context", context, 0, 1_000)
        place = name("space", citation.get("space", space))
        path = path_text("path", citation.get("path"))
        with self._lock:
            at = self._caught_up().spaces.get(place)
            found = at.paths.get(path) if at is not None else None
            entry = (
                next((each for each in reversed(found.entries) if _is_cited(each, citation, caller)), None)
                if found
                else None
            )
        if entry is None:
            version = shown(citation.get("version"))
            raise NotFound(
                f"There is no version {version} of {shown(path)} in {shown(place)} that {who(caller)} may read."
            )
        most = len(facts_files.lines_of(entry.commit.text))
        begin = whole("lineStart", citation.get("lineStart"), 1, most)
        end = whole("lineEnd", citation.get("lineEnd", begin), begin, most)
        return facts_files.passage(entry, citation, begin, end, context)

    def settle(self, space: str | None = None, *, scope: str | None = None) -> int:
        """Settle all pending commits, of a space or of all, and give how many were; answers stay the same."""
        with self._lock:
            fold = self._caught_up()
            if space is not None and name("space", space) not in fold.spaces:
                raise NotFound(f"There is no space {shown(space)}.")
            scope = None if scope is None else path_text("scope", scope)
            before = sum(at.unsettled for at in fold.spaces.values())
            for at in [fold.spaces[space]] if space is not None else list(fold.spaces.values()):
                for path in list(at.within(scope)):
                    self._settler.path(fold, at, path, None, Settled())
            return before - sum(at.unsettled for at in fold.spaces.values())

    # What the calls share

    def _opened(self, space: str, scope: str | None, caller: str | None, as_of: Any, now: Any) -> _Opened:
        """Check where and when a call reads, and give what it reads; call it under the lock."""
        space = name("space", space)
        caller = optional_name("caller", caller)
        if scope is not None:
            scope = path_text("scope", str(scope).removesuffix("/") if scope != "/" else scope)
        clock, then = present(now), optional_moment("as_of", as_of)
        if then is not None and then > clock:
            raise wrong("as_of", f"is {iso(then)}, which lies in the future; it is {iso(clock)} now.")
        fold = self._caught_up()
        at = fold.spaces.get(space)
        if at is None or not at.known_to(caller):
            raise NotFound(f"There is no space {shown(space)} with anything that {who(caller)} may read.")
        if scope is not None and not any(
            may_read(entry.readers, caller) for path in at.within(scope) for entry in path.entries
        ):
            raise NotFound(
                f"There is no path at or under {shown(scope)} in {shown(space)} that {who(caller)} may read."
            )
        if then is None:
            return _Opened(fold, at, scope, Moment(fold.head, clock, False), fold, at)
        if fold.in_order:
            return _Opened(fold, at, scope, Moment(fold.position_at(then), then, True), fold, at)
        past = self._past(fold, then)
        return _Opened(past, past.spaces.get(space) or Space(space), scope, Moment(past.head, then, True), fold, at)

    def _past(self, fold: FactsFold, then: int) -> FactsFold:
        """Fold the events up to a moment, where clocks went back and a moment is no position; readers are today's."""
        key = (then, fold.head)
        past = self._pasts.get(key)
        if past is None:
            past = FactsFold()
            for record in self.log.read(-1, f"{self.prefix}."):
                if record.time <= then:
                    past.apply(record)
            self._pasts[key] = past
            if len(self._pasts) > _PASTS_KEPT:
                self._pasts.popitem(last=False)
            today = {mark: entry.readers for mark, entry in fold.entries.items()}
            for at in past.spaces.values():
                at.take_readers(today)
        return past

    def _settle_query(
        self, fold: FactsFold, at: Space, question: Question, scope: str | None, caller: str | None
    ) -> Settled:
        done = Settled()

        def candidates() -> list[Row]:
            found = facts_query.matches(at, question)
            found = found.only(facts_query.inside(at, found.numbers, scope))
            found = found.only(facts_query.readable(at, found.numbers, caller))
            return [at.rows[number] for number in found.numbers.tolist()]

        self._settler.query(fold, at, question.waiting, scope, caller, done, candidates)
        return done

    def _settle_all(self, fold: FactsFold, at: Space, scope: str | None, caller: str | None) -> Settled:
        done = Settled()
        wide = at.single or bool(getattr(self._settler.extract, "single", None))
        self._settler.everything(fold, at, None if wide else scope, caller, done)
        return done

    def _answer(self, words: str, results: list[dict[str, Any]]) -> str:
        try:
            answer = self._synthesize(words, copy.deepcopy(results))
        except RecallkitError:
            raise
        except Exception as error:
            raise InvalidInput(f"synthesize failed: {type(error).__name__}: {error}", "/synthesize") from error
        if not isinstance(answer, str):
            raise wrong("synthesize", f"must give a text, but it gave {shown(answer)}.")
        return answer


def _result(fold: FactsFold, each: facts_query.Ranked, when: Moment) -> dict[str, Any]:
    result = facts_query.as_result(fold, each.row, when)
    has = ["an exact name"] if each.exact else []
    result["why"] = f"matched {', '.join([*has, *each.words])}; {facts_query.cited(result['citation'])}"
    result["relevance"], result["salience"] = each.relevance, each.salience
    return result


def _notes(done: Settled) -> dict[str, Any]:
    return {"settled": done.commits, **({"not settled": done.failures} if done.failures else {})}


def _query(text: Any) -> str:
    words = query("query", text, may_be_empty=False)
    if not Question.of(words).words:
        raise wrong("query", f"holds no letter and no digit: {shown(words)}.")
    return words


def _is_cited(entry: Entry, citation: Mapping[str, Any], caller: str | None) -> bool:
    commit = citation.get("commit")
    same = entry.commit.id == commit if commit is not None else entry.commit.version == citation.get("version")
    return same and not entry.removed and may_read(entry.readers, caller)
