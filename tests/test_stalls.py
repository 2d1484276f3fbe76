"""When a view stalls: each kind of the format's table made to happen, with what it tells and what is kept.

The body of each document starts on line 7, so that the fold's own first line is line 8.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from small_documents import events, recall

import recallkit as rk
from recallkit.sandbox import pool
from recallkit.views import fold as folds
from recallkit.views.runs import stall_words
from recallkit.views.session import FoldSession

# Adds up numbers; what another kind of data does is each test's own.
COUNTS = """export function fold(view: View, event: Event): View {
  if (typeof event.data === 'number' && typeof view === 'number') return view + event.data;
  %s
}"""


def stalled(body: str, bad: Any = "bad", *, template: str = COUNTS, **fields: Any) -> rk.Folding:
    """Fold 1, 2, the bad event and 3: the view must stand at 3 with the bad event told."""
    function = recall(template % body, **fields)
    folding = function.fold(events(1, 2, bad, 3))
    stands(folding)
    return folding


def stands(folding: rk.Folding, seq: int = 2) -> None:
    """What every stall keeps: the view before, the earlier events' rows, seeking, and what a run is told."""
    stall = folding.stall
    assert stall is not None
    assert folding.state == "stalled"
    assert (stall.seq, stall.folded) == (seq, seq)
    assert stall.event == {"id": f"e{seq}", "type": "t", "time": f"2026-01-01T00:{seq:02d}:00.000Z"}
    views = [0, 1, 3, 6][: seq + 1]
    assert folding.view == views[-1]
    assert folding.trace.event_id.tolist() == [f"e{number}" for number in range(seq)]
    assert [folding.at(number).view for number in range(seq + 1)] == views
    assert folding.at(seq).event == folding.history.event(seq - 1)
    with pytest.raises(rk.InvalidInput):
        folding.at(seq + 1)
    standing = folding.standing
    assert (standing["state"], standing["folded"]) == ("stalled", seq)
    assert standing["last_event"] == {"id": f"e{seq - 1}", "time": f"2026-01-01T00:{seq - 1:02d}:00.000Z"}
    told = {"event": stall.event, "kind": stall.kind, "error": stall.error, "line": stall.line}
    assert standing["stalled"] == told
    run = folding.function.run(folding)
    assert (run.ending, run.kind, run.output) == ("conflict", "stalled", None)
    line = f" on line {stall.line}" if stall.line is not None else ""
    where = f"The view stopped at an event of the type t of 2026-01-01T00:{seq:02d}:00.000Z"
    assert run.detail.startswith(f"{where}: {stall_words(stall)}{line}.")
    assert f"e{seq}" not in run.detail
    assert stall.error not in run.detail
    # another fold goes on meanwhile
    assert recall(COUNTS % "return view;").fold(events(1, 2)).view == 3


def told(folding: rk.Folding) -> tuple[str, int | None, str]:
    assert folding.stall is not None
    return folding.stall.kind, folding.stall.line, folding.stall.error


# -- raised ----------------------------------------------------------------------------------------


def test_a_fold_that_raises_tells_its_own_error_and_its_line() -> None:
    assert told(stalled("throw new TypeError(`no number: ${event.data}`);")) == (
        "raised",
        9,
        "TypeError: no number: bad",
    )


def test_the_line_is_that_of_the_helper_that_made_the_error() -> None:
    helper = "\n\nexport function refuse(): never {\n  throw new RangeError('refused');\n}"
    folding = stalled("", template=COUNTS.replace("%s", "return refuse();") + helper + "%s")
    assert told(folding) == ("raised", 13, "RangeError: refused")


def test_a_stack_overflow_is_an_error_raised() -> None:
    kind, line, error = told(stalled("const deeper = (n: number): number => deeper(n + 1) + 1; return deeper(0);"))
    assert (kind, line) == ("raised", 9)
    assert "stack overflow" in error


def test_what_is_thrown_and_no_error_has_no_line() -> None:
    assert told(stalled("throw 'only words';")) == ("raised", None, "only words")
    assert told(stalled("throw { name: 'Refusal', message: 'not this' };")) == ("raised", None, "Refusal: not this")


def test_a_long_error_is_cut_at_1024_bytes() -> None:
    _, _, error = told(stalled("throw new Error('ü'.repeat(2000));"))
    assert error.endswith("…")
    assert 1_022 <= len(error.removesuffix("…").encode()) <= 1_024


# -- work ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "for (;;) { /* for ever */ }",
        "try { for (;;) { /* for ever */ } } catch { return 0; }",
        "try { for (;;) { /* for ever */ } } finally { return 0; }",
        "return /(a+)+b/u.test('a'.repeat(40)) ? 1 : 0;",
    ],
)
def test_a_fold_past_its_work_stalls_and_cannot_catch_it(body: str) -> None:
    kind, line, error = told(stalled(body))
    assert (kind, line) == ("work", None)
    assert "500 checkpoints" in error


def test_a_filter_past_its_work_stalls_the_view() -> None:
    expression = "${ typeof $data === 'number' || Array.from({ length: 1e9 }, () => 1).length > 0 }"
    never = "${ (() => { if (typeof $data === 'number') return true; for (;;) { } })() }"
    for text in (never, expression):
        function = recall(COUNTS % "return view;", filters=[{"type": "t", "data": text}])
        folding = function.fold(events(1, 2, "bad", 3))
        stands(folding)
        assert folding.stall is not None
        if text is never:
            assert folding.stall.kind == "work"
            assert "filter's expression" in folding.stall.error
        else:
            assert folding.stall.kind in ("work", "memory")


def test_a_filter_that_raises_does_not_take_the_event() -> None:
    text = "${ $data > 0 && (() => { if ($data === 2) throw new Error('no'); return true; })() }"
    function = recall(COUNTS % "return view;", filters=[{"type": "t", "data": text}])
    folding = function.fold(events(1, 2, 3))
    assert (folding.state, folding.view, folding.folded) == ("live", 4, 2)


# -- memory ----------------------------------------------------------------------------------------

HOARDS = "const kept: string[] = []; for (let i = 0; ; i++) kept.push('x'.repeat(1 << 20) + i);"


@pytest.mark.parametrize("body", [HOARDS, f"try {{ {HOARDS} }} catch {{ return 0; }}"])
def test_a_fold_past_its_memory_stalls_even_when_it_catches_it(body: str) -> None:
    kind, line, error = told(stalled(body))
    assert (kind, line) == ("memory", None)
    assert "64 MiB" in error


# -- unfit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{ a: [1, undefined] }", "The view holds undefined at $.a[1], which JSON cannot carry"),
        ("NaN", "The view holds NaN at $, which JSON cannot carry"),
        ("{ 'a b': new Date(0) }", 'The view holds a Date at $["a b"], which JSON cannot carry'),
        ("new Map()", "The view holds a Map at $, which JSON cannot carry"),
        ("[1n]", "The view holds a bigint at $[0], which JSON cannot carry"),
    ],
)
def test_a_fold_that_returns_no_json_tells_the_path(value: str, words: str) -> None:
    folding = stalled(f"return {value} as unknown as View;")
    assert told(folding) == ("unfit", None, words)


def test_a_cycle_is_unfit() -> None:
    kind, _, error = told(stalled("const a: Json[] = []; a.push([a]); return a;"))
    assert kind == "unfit"
    assert "$[0][0]" in error


@pytest.mark.parametrize(("levels", "state"), [(512, "live"), (513, "stalled")])
def test_a_view_nests_at_most_512_levels(levels: int, state: str) -> None:
    body = """export function fold(view: View, event: Event): View {
  let deep: Json = 1;
  for (let level = 0; level < Number(event.data); level++) deep = [deep];
  return deep;
}"""
    folding = recall(body).fold(events(levels))
    assert folding.state == state
    if folding.stall is not None:
        assert told(folding)[0] == "unfit"
        assert "nests deeper than 512 levels at $[0][0]" in folding.stall.error
        assert folding.view == 0


# -- size ------------------------------------------------------------------------------------------


def test_a_view_past_its_size_tells_its_bytes_the_bound_and_the_biggest_path() -> None:
    folding = stalled("return { small: 'x', big: { 'a/b': 'y'.repeat(524_288), c: [] } };")
    kind, line, error = told(folding)
    size = len('{"small":"x","big":{"a/b":"","c":[]}}') + 524_288
    assert (kind, line) == ("size", None)
    assert f"{size:,} bytes" in error
    assert "524,288" in error
    assert "/big" in error
    assert folding.stall is not None
    details = folding.stall.details
    assert (details["bytes"], details["bound"]) == (size, 524_288)
    assert [part["path"] for part in details["largest"]] == ["/big", "/big/a~1b"]
    assert details["largest"][1]["bytes"] == 524_290


@pytest.mark.parametrize(("length", "state"), [(524_286, "live"), (524_287, "stalled")])
def test_a_view_takes_524288_bytes_and_not_one_more(length: int, state: str) -> None:
    body = "export function fold(view: View, event: Event): View { return 'x'.repeat(Number(event.data)); }"
    assert recall(body).fold(events(length)).state == state


def test_the_size_is_counted_in_utf8() -> None:
    body = "export function fold(view: View, event: Event): View { return String(event.data).repeat(100_000); }"
    folding = recall(body).fold(events("x", "ü", "€", "😀"))
    assert folding.trace.view_bytes.tolist() == [100_002, 200_002, 300_002, 400_002]


# -- schema ----------------------------------------------------------------------------------------


def test_a_view_that_its_schema_refuses_tells_the_pointer() -> None:
    schema = {"type": ["integer", "object"], "properties": {"list": {"type": "array", "maxItems": 2}}}
    folding = stalled("return { list: [1, 2, 3] } as unknown as View;", schema=schema)
    kind, line, error = told(folding)
    assert (kind, line) == ("schema", None)
    assert "view.schema refuses the view: /list" in error
    assert folding.stall is not None
    assert folding.stall.details["pointer"] == "/list"


# -- refused ---------------------------------------------------------------------------------------


def test_a_module_that_compiles_and_does_not_load_stalls_at_the_first_considered_event() -> None:
    groups = "(" * 300 + ")" * 300
    body = f"export function fold(view: View, event: Event): View {{\n  return /{groups}/.test('x') ? 1 : 2;\n}}"
    function = recall(body)
    folding = function.fold([{"specversion": "1.0", "id": "o", "type": "other", "source": "/s"}, *events(1, 2)])
    assert told(folding) == ("refused", 8, "The module does not load: SyntaxError: too many captures")
    assert folding.stall is not None
    assert (folding.stall.event["id"], folding.folded, folding.view) == ("e0", 0, 0)
    assert folding.at(0).view == 0
    assert len(folding.trace) == 0
    # no event, no stall
    assert function.fold([]).state == "live"


# -- time ------------------------------------------------------------------------------------------

# One huge search polls nothing: only ending its worker stops it.
NATIVE = "return 'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b');"


def folded(body: str, *given: Any, **options: Any) -> rk.Folding:
    function = recall(COUNTS % body)
    return rk.Folding(function, folds.fold_history(function.definition, rk.read_history(events(*given)), **options))


@pytest.mark.parametrize("body", [NATIVE, "for (;;) { Date.UTC(2026); /a{1,9}/u.test('aaa'); }"])
def test_a_fold_past_its_seconds_stalls_also_inside_native_work(body: str) -> None:
    folding = folded(body, 1, 2, "bad", 3, seconds=0.2)
    assert folding.stall is not None
    if body is NATIVE:
        assert told(folding) == ("time", None, "The fold ran out of its 0.2 seconds and was stopped")
    else:
        assert folding.stall.kind in ("time", "work")  # whichever comes first on this machine
    stands(folding)


def test_a_fold_past_its_seconds_is_tried_as_often_as_told_before_it_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(FoldSession, "__init__", _counting(FoldSession.__init__, opened))
    folding = folded(NATIVE, 1, 2, "bad", 3, seconds=0.1, tries=3)
    assert told(folding) == ("time", None, "The fold ran out of its 0.1 seconds 3 times and was stopped")
    assert len(opened) >= 3
    stands(folding)


BACKTRACKS = "^(a|aa)*$"
ENDLESS = '"a".repeat(60) + "!"'


@pytest.mark.parametrize("way", [None, "owned", "plain"])
def test_a_check_against_the_schema_that_runs_out_of_time_is_told_as_that(way: Any) -> None:
    schema = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": BACKTRACKS}]}
    function = recall(COUNTS % f"return {ENDLESS};", schema=schema)
    history = rk.read_history(events(1, 2, "bad", 3))
    folding = rk.Folding(function, folds.fold_history(function.definition, history, seconds=0.3, way=way))
    assert told(folding) == (
        "time",
        None,
        "The check of the view against view.schema ran out of the fold's 0.3 seconds and was stopped; "
        "a pattern of the schema may backtrack without end",
    )
    stands(folding)
    detail = "the check of the view against view.schema ran out of the fold's 10 seconds. Save a corrected version"
    assert detail in function.run(folding).detail


def test_a_filter_that_runs_out_of_time_is_told_as_that() -> None:
    filters = [{"type": "t", "data": "${ 'a'.repeat(4e6 * Number($data !== 1)).indexOf('a'.repeat(2e6) + 'b') }"}]
    function = recall(COUNTS % "return view;", filters=filters)
    fold = folds.fold_history(function.definition, rk.read_history(events(1, 2)), seconds=0.2)
    assert fold.stall is not None
    assert (fold.stall.kind, fold.folded) == ("time", 1)
    assert fold.stall.error == "The filter's expression ran out of the fold's 0.2 seconds and was stopped"


def test_reading_what_a_fold_returned_that_never_ends_is_told_as_that() -> None:
    body = "return new Proxy({}, { ownKeys() { for (;;) {} } });"
    folding = stalled(body)
    assert told(folding) == (
        "work",
        None,
        "The reading of what the fold returned did more work than it may and was stopped",
    )


@pytest.mark.slow
def test_a_fold_has_10_seconds() -> None:
    folding = stalled(NATIVE)
    assert told(folding) == ("time", None, "The fold ran out of its 10 seconds and was stopped")


def _counting(function: Any, calls: list[Any]) -> Any:
    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **options)

    return counted


# -- crash -----------------------------------------------------------------------------------------

# Makes a worker process that dies, without a word, at the call number `CALL` that folds a page with the marker in it.
DIES = """
import os
import recallkit.sandbox.worker as worker
do_call = worker.Host.do_call
seen = {"marked": False, "runs": 0}
def dying(self, header, blobs):
    if header["name"] == "run" and len(blobs) > 5:
        seen.update(marked=b'"crash"' in blobs[5], runs=0)
    if header["name"] == "run" and seen["marked"]:
        seen["runs"] += 1
        if seen["runs"] == %d:
            os._exit(9)
    return do_call(self, header, blobs)
worker.Host.do_call = dying
"""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Any:
    def workers_that_die(call: int) -> None:
        monkeypatch.setattr(pool, "_idle", [])
        monkeypatch.setattr(pool, "IDLE_KEPT", 0)
        start = pool._START.replace("main()", f"exec({DIES % call!r}); main()")
        monkeypatch.setattr(pool, "_START", start)

    return workers_that_die


@pytest.mark.slow
def test_a_worker_that_dies_at_an_event_twenty_times_stalls_the_view_there(dying: Any) -> None:
    dying(1)
    folding = recall(COUNTS % "return view;").fold(events(1, 2, "crash", 3))
    assert told(folding) == ("crash", None, "The worker folding the page crashed at this event 20 times")
    assert (folding.folded, folding.view) == (2, 3)
    assert folding.trace.event_id.tolist() == ["e0", "e1"]
    assert [folding.at(number).view for number in range(3)] == [0, 1, 3]


def test_a_worker_that_dies_is_replaced_and_what_was_folded_is_folded_once(
    dying: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies late in a page of which slices were answered; halves of the page then get by."""
    monkeypatch.setitem(FoldSession.send.__kwdefaults__, "seconds", 0.0)
    dying(3)
    folding = recall(COUNTS % "return view;").fold(events(1, 2, "crash", *range(40)))
    assert (folding.state, folding.view, folding.folded) == ("live", 3 + sum(range(40)), 43)
    assert folding.trace.event_id.tolist() == [f"e{number}" for number in range(43)]
    assert folding.at(3).view == 3


def test_a_worker_killed_from_outside_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    function = recall(COUNTS % "return view;")
    killed = []
    receive = FoldSession.receive

    def kill_once(self: FoldSession, done: int, timeout: float | None = None) -> Any:
        if not killed:
            assert self.sandbox._worker is not None
            killed.append(self.sandbox._worker.pid)
            self.sandbox._worker._process.kill()
        return receive(self, done, timeout)

    monkeypatch.setattr(FoldSession, "receive", kill_once)
    folding = function.fold(events(*range(50)))
    assert killed
    assert killed[0] != os.getpid()
    assert (folding.state, folding.view, folding.folded) == ("live", sum(range(50)), 50)


MANY_LISTS = """export function fold(view: View): View {
  return Array.isArray(view) ? view : Array.from({ length: 150000 }, () => []);
}"""


def test_a_page_that_does_not_fit_the_sandbox_is_folded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many small lists as a page's 2 MiB of text can hold nearly take the 64 MiB: no room is left for the view's."""
    endings = []
    receive = FoldSession.receive

    def told(self: FoldSession, *given: Any) -> Any:
        advance = receive(self, *given)
        endings.append(advance.ended)
        return advance

    monkeypatch.setattr(FoldSession, "receive", told)
    lists = [[]] * 60_000
    history = rk.read_history([{**event, "data": lists} for event in events(*range(22))])
    folding = recall(MANY_LISTS).fold(history)
    assert {"stalled", "unread", "memory"} & set(endings)  # it was tried in full
    assert folding.stall is None
    assert (folding.folded, folding.view) == (22, [[]] * 150_000)
    assert (folding.trace.view_bytes == 450_001).all()


def test_an_event_that_does_not_fit_the_sandbox_stalls_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [[]] * 1_500_000
    history = rk.read_history([*events(1, 2), {**events(3)[0], "id": "large", "data": lists}])
    folding = recall(COUNTS % "return view;").fold(history)
    assert told(folding)[0] == "memory"
    assert (folding.folded, folding.view) == (2, 3)
    assert folding.stall is not None
    assert folding.stall.event["id"] == "large"


# -- which verdict wins ----------------------------------------------------------------------------


def test_unfit_comes_before_size_and_size_before_schema() -> None:
    schema = {"type": ["integer", "object"], "maxProperties": 1}
    big = "'x'.repeat(600_000)"
    kinds = [
        told(stalled(f"return {{ a: {big}, b: undefined }} as unknown as View;", schema=schema))[0],
        told(stalled(f"return {{ a: {big}, b: 1 }} as unknown as View;", schema=schema))[0],
        told(stalled("return { a: 1, b: 1 } as unknown as View;", schema=schema))[0],
    ]
    assert kinds == ["unfit", "size", "schema"]


@pytest.mark.parametrize("page", [1, 2, 1_000])
def test_a_view_stalls_at_the_event_that_broke_it_however_pages_fall(page: int) -> None:
    folding = recall(COUNTS % "throw new Error('no');").fold(events(1, 2, "bad", 3), page=page)
    stands(folding)


def test_a_view_may_stall_at_its_first_event() -> None:
    folding = recall(COUNTS % "throw new Error('no');").fold(events("bad", 1))
    assert (folding.folded, folding.view, folding.standing["last_event"]) == (0, 0, None)
    assert folding.at(0).view == 0
    assert folding.standing["checkpoint"] is None
    assert "stalled (raised) at event 0" in repr(folding)


def test_a_view_whose_filters_matched_no_event_says_so() -> None:
    folding = recall(COUNTS % "return view;", filters=[{"type": "never"}]).fold(events(1, 2))
    assert (folding.state, folding.view) == ("live", 0)
    assert "no event matched any filter" in repr(folding)
