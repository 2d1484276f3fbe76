"""Views read where they lie in the engine (measure.wat): their bytes, their fitness, whether they may stay there."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_documents import events as some_events
from small_documents import recall

import recallkit as rk
from recallkit.views.fold import Fold, fold_history
from recallkit.views.session import Way

PUSHES = recall(
    "export function fold(view: View, event: Event): View {\n"
    "  (view as Json[]).push(event.data ?? null);\n  return view;\n}",
    initial=[],
)
WAYS = get_args(Way)[1:]  # those of a module that writes to its view
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(ANY_TEXT, inner, max_size=5),
    max_leaves=25,
)


def events(*data: Any) -> rk.History:
    return rk.read_history(some_events(*data))


def every_way(function: rk.RecallFunction, history: rk.History) -> dict[str, Fold]:
    return {way: fold_history(function.definition, history, way=way, keyframe_every=1) for way in WAYS}


def told(fold: Fold) -> tuple[Any, ...]:
    stall = fold.stall and (fold.stall.kind, fold.stall.error, fold.stall.line, fold.stall.seq, fold.stall.details)
    rows = [(fold.ledger.bytes_after(n + 1), fold.ledger.cost(n)[0]) for n in range(fold.folded)]
    return fold.state, fold.view, rows, [fold.keyframes.before(n) for n in range(fold.folded + 1)], stall


def same(function: rk.RecallFunction, history: rk.History) -> Fold:
    """Fold in every way; return the owned fold once all told the same."""
    folds = every_way(function, history)
    assert told(folds["owned"]) == told(folds["written"])
    assert told(folds["plain"]) == told(folds["written"])
    assert folds["written"].copied == folds["plain"].copied >= folds["written"].folded
    return folds["owned"]


@given(st.lists(ANY_JSON, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_a_view_that_stays_where_it_lies_has_the_bytes_of_its_text(values: list[Any]) -> None:
    fold = same(PUSHES, events(*values))
    for number in range(1, fold.folded + 1):
        at, text = fold.keyframes.before(number)
        assert at == number
        assert fold.ledger.bytes_after(number) == len(text.encode("utf-8", "surrogatepass"))


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.decimals(-1000, 1000, places=3).map(float), max_size=40
    )
)
@settings(max_examples=40, deadline=None)
def test_numbers_have_the_bytes_that_the_engine_writes(values: list[float]) -> None:
    fold = same(PUSHES, events(values))
    assert fold.ledger.bytes_after(1) == len(fold.view)


@pytest.mark.parametrize(
    "value",
    [
        0.1 + 0.2, 1e21, 1e-7, 1e-6, 123456789012345.6, 999999999999999.9, 5e-324, 1.7976931348623157e308, -0.5, 2**31,
        -(2**31), 2**53, 1e15, 1e14 + 0.5, 0.0000012345, 100.25, "\u007f\u2028\u0000\u001f\b\t\n\f\r\"\\/", "\ud83d",
        "\ude00 ", "😀", "\ude00\ud83d", "é" * 9, "x" * 7 + "é", "1234567\n", {"0": 1, "10": 2, "-1": 3, "01": 4},
        {"": {}}, {"__proto__": [1]}, {"\"q\"": 1, "é": 2, "€": 3},
    ],
    ids=ascii,
)  # fmt: skip
def test_the_edges_of_texts_and_numbers(value: Any) -> None:
    assert same(PUSHES, events(value)).copied == 0


def test_a_view_that_nothing_else_holds_is_not_copied() -> None:
    fold = same(PUSHES, events(*[{"n": number, "list": [number]} for number in range(50)]))
    assert fold.folded == 50
    assert fold.copied == 0


@pytest.mark.parametrize(
    ("name", "body", "copies"),
    [
        ("two places hold one object", "const one = { n: 0 }; kept.a = one; kept.b = one;", True),
        ("the same, met again and written to", "kept.a.n += 1; kept.b = kept.a;", True),
        ("texts that were added up",
         "kept.t = kept.t + 'ab€'.repeat(400); kept.t = kept.t.slice(-3000) + kept.t.slice(0, 9);", False),
        ("halves of a pair that were added up",
         "kept.t = 'x'.repeat(600) + '\\ud83d'; kept.t = kept.t + ('\\ude00' + 'y'.repeat(600));", False),
        ("a member that was deleted", "delete (kept as any).b; kept.b = { n: 3 };", False),
        ("a member that is deleted", "delete kept.extra; kept.extra2 = 1; delete kept.extra2;", False),
        ("a frozen part", "kept.a = Object.freeze({ n: kept.a.n + 1 });", True),
        ("a sealed part", "kept.b = Object.seal({ n: 1 });", True),
        ("a list that shrank", "kept.list.push(1, 2, 3); kept.list.length = 2;", False),
        ("a list set past its end", "kept.list.length = 0; kept.list[0] = 1; kept.list[1] = 2;", False),
        ("a sorted list", "kept.list = [3, 1, 2].sort(); kept.list.reverse();", False),
        ("minus nothing", "kept.n = -0;", True),
        ("an object without a prototype", "kept.a = Object.assign(Object.create(null), { n: 1 });", True),
        ("the whole view in a weak map", "new WeakMap().set(kept, 1); kept.n += 1;", False),
        ("a function that calls itself and holds the view",
         "const again = (n: number): number => (n < 1 ? kept.n : again(n - 1)); kept.n = again(3) + 1;", True),
        ("a new view around the old parts", "return { ...kept, n: kept.n + 1 } as unknown as View;", False),
    ],
)  # fmt: skip
def test_what_a_module_does_to_its_view_comes_out_the_same(name: str, body: str, copies: bool) -> None:
    function = recall(
        "type One = { n: number };\n"
        "type Kept = { a: One; b: One; t: string; n: number; list: number[]; extra?: number; extra2?: number };\n"
        "export function fold(view: View, event: Event): View {\n  const kept = view as unknown as Kept;\n"
        f"  kept.n += 1;\n  {body}\n  return view;\n}}",
        initial={"a": {"n": 1}, "b": {"n": 2}, "t": "", "n": 0, "list": [], "extra": 1},
    )
    fold = same(function, events(*range(6)))
    assert fold.folded == 6
    assert (fold.copied > 0) == copies, name


@pytest.mark.parametrize(
    "value",
    [
        "undefined", "NaN", "-Infinity", "() => 1", "new Date(0)", "[1, , 2]", "new Map()", "10n", "Symbol('s')",
        "{ get a() { return 1; } }", "{ toJSON: () => 1 }", "new (class { x = 1 })()", "Object.assign([1], { x: 1 })",
        "new Proxy({}, {})", "/x/", "{ [Symbol('s')]: 1 }", "Object.defineProperty({}, 'h', { value: 1 })",
        "new String('s')", "new Uint8Array(2)", "(function () { return arguments; })()", "new Error('e')",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["kept.v = VALUE;", "kept.deep = [{ v: VALUE }];", "return VALUE as never;"])
def test_what_json_cannot_carry_is_told_the_same(value: str, where: str) -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  const kept = view as any;\n"
        f"  kept.n = (kept.n ?? 0) + 1;\n  if (kept.n === 3) {{ {where.replace('VALUE', f'({value}) as any')} }}\n"
        "  return view;\n}",
        initial={},
    )
    folds = every_way(function, events(*range(4)))
    assert told(folds["owned"]) == told(folds["plain"]) == told(folds["written"])
    if folds["written"].stall is not None:
        assert json.loads(folds["owned"].view) == {"n": 2}


@pytest.mark.parametrize("depth", [510, 511, 512, 513])
def test_the_deepest_view_is_the_same(depth: int) -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  let at: any = view;\n"
        f"  for (let level = 2; level <= {depth}; level++) at = at.a = {{}};\n  return view;\n}}",
        initial={},
    )
    folds = every_way(function, events(0))
    assert told(folds["owned"]) == told(folds["plain"]) == told(folds["written"])
    assert folds["owned"].state == ("live" if depth <= 512 else "stalled")


def test_a_stall_leaves_the_view_of_the_fold_before() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  const kept = view as any;\n  kept.n += 1;\n"
        "  if (kept.n === 40) { kept.n = -1; throw new Error('no'); }\n  return view;\n}",
        initial={"n": 0},
    )
    for way in WAYS:
        fold = fold_history(function.definition, events(*range(60)), way=way)
        assert (fold.state, fold.folded, fold.view) == ("stalled", 39, '{"n":39}')


def test_more_numbers_than_the_block_holds_are_written_out() -> None:
    values = [number + 0.1 + 0.2 + number / 7 for number in range(1, 3_000)]
    assert same(PUSHES, events(values)).copied == 1


def test_a_view_with_one_object_in_ever_so_many_places_ends_for_its_memory() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  let at: any = [0];\n"
        "  for (let level = 0; level < 45; level++) at = [at, at];\n  return at;\n}",
        initial=[],
    )
    kinds = {way: fold_history(function.definition, events(0), way=way).stall for way in ("fast", "owned", "plain")}
    assert {way: stall and stall.kind for way, stall in kinds.items()} == dict.fromkeys(kinds, "memory")


def test_a_view_that_grows_and_shrinks_is_the_same_with_and_without_its_memory() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View {\n  const kept = view as Json[];\n"
        "  const n = Number(event.data);\n  const more = Array.from({ length: n }, (_, i) => ({ i, n }));\n"
        "  return n === 0 ? kept.slice(-3) : [...kept.slice(1), ...more, [n]];\n}",
        initial=[],
    )
    history = events(*[5, 300, 300, 200, 1, 0, 2, 400, 400, 1, 1, 0, 0, 700, 3, 0])
    folds = [fold_history(function.definition, history, way=way, keyframe_every=1) for way in get_args(Way)]
    assert all(told(fold) == told(folds[-1]) for fold in folds)
    assert folds[0].folded == 16
