"""What is remembered of a view's parts (known.wat): the fast way gives what the rule gives, whatever is shared."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_documents import events as some_events
from small_documents import recall

import recallkit as rk
from recallkit.views.fold import Fold, fold_history
from recallkit.views.selection import select
from recallkit.views.session import FoldSession, page_of


def events(*data: Any) -> rk.History:
    return rk.read_history(some_events(*data))


def told(fold: Fold) -> tuple[Any, ...]:
    stall = fold.stall and (fold.stall.kind, fold.stall.error, fold.stall.line, fold.stall.seq, fold.stall.details)
    rows = [(fold.ledger.bytes_after(n + 1), fold.ledger.cost(n)[0]) for n in range(fold.folded)]
    return fold.state, fold.view, rows, [fold.keyframes.before(n) for n in range(fold.folded + 1)], stall


def same(function: rk.RecallFunction, history: rk.History) -> Fold:
    """Fold in the fast way and by the rule itself; return the fast fold once both told the same."""
    assert function.definition.writes == ()
    fast, written = (
        fold_history(function.definition, history, way=way, keyframe_every=1) for way in ("fast", "written")
    )
    assert told(fast) == told(written)
    return fast


# Moves, copies, drops and doubles parts of the view as the event says.
MOVES = """export function fold(view: View, event: Event): View {
  const v = view as any, [what, i, j, given] = event.data as any;
  const keys = Object.keys(v), a = keys[i % keys.length], b = keys[j % keys.length];
  switch (what) {
    case 'set': return { ...v, [a]: given };
    case 'add': return { ...v, [b]: Array.isArray(v[b]) ? [...v[b], given] : [v[b], given] };
    case 'swap': return { ...v, [a]: v[b], [b]: v[a] };
    case 'share': return { ...v, [a]: v[b] };
    case 'wrap': return { ...v, [a]: { inner: v[a], outer: { again: v[b] } } };
    case 'unwrap': return { ...v, [a]: v[a]?.inner ?? null };
    case 'drop': return Object.fromEntries(Object.entries(v).filter(([name]) => name === 'root' || name !== a)) as any;
    case 'name': return { ...v, ['k' + j % 40]: [v[a]] };
    case 'flat': return { ...v, [a]: Array.isArray(v[a]) ? v[a].flat() : [1, 2.5, given] };
    default: return v;
  }
}"""
WHAT = ["set", "add", "swap", "share", "wrap", "unwrap", "drop", "name", "flat", "keep"]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)
STEPS = st.lists(
    st.tuples(st.sampled_from(WHAT), st.integers(0, 50), st.integers(0, 50), VALUES), min_size=1, max_size=40
)


@given(STEPS)
@settings(max_examples=80, deadline=None)
def test_parts_that_move_are_measured_as_they_are_written(steps: list[Any]) -> None:
    same(recall(MOVES, initial={"root": []}), events(*map(list, steps)))


# Members whose schemas differ: a part that moves from one to another has passed the one, not the other.
PLACES = {
    "type": "object",
    "properties": {
        "root": {"type": "array", "items": {"not": {"type": "boolean"}}},
        "k1": {
            "anyOf": [
                {"type": "array", "items": {"type": ["array", "number", "string", "null"]}},
                {"type": ["object", "null"]},
            ]
        },
        "k2": {"type": ["array", "object", "string", "number", "null"], "maxItems": 6, "maxProperties": 3},
        "k3": {"$ref": "#/$defs/tree"},
    },
    "additionalProperties": {"$ref": "#/$defs/any"},
    "maxProperties": 30,
    "$defs": {
        "tree": {
            "items": {"$ref": "#/$defs/tree"},
            "additionalProperties": {"$ref": "#/$defs/tree"},
            "not": {"const": True},
        },
        "any": {
            "additionalProperties": {"$ref": "#/$defs/any"},
            "items": {"maxItems": 5, "additionalProperties": {"not": {"type": "null"}}},
        },
    },
}


@given(STEPS)
@settings(max_examples=80, deadline=None)
def test_parts_that_move_are_checked_as_if_nothing_were_remembered(steps: list[Any]) -> None:
    initial = {"root": [], "k1": [[1]], "k2": {}, "k3": [{"a": []}]}
    same(recall(MOVES, initial=initial, schema=PLACES), events(*map(list, steps)))


def test_a_list_of_very_many_new_parts_is_asked_for_each_and_the_wrong_one_found() -> None:
    module = """export function fold(view: View, event: Event): View {
  const v = view as any[], n = event.data as number;
  return [...v, ...Array.from({ length: n }, (_, i) => ({ n: n === 1500 && i === 1400 ? 'no' : i }))];
}"""
    schema = {"type": "array", "maxItems": 4_000, "items": {"type": "object", "properties": {"n": {"type": "number"}}}}
    fold = same(recall(module, initial=[], schema=schema), events(3, 1_200, 2, 1, 1_100, 1_500))
    assert fold.stall is not None
    assert (fold.folded, fold.stall.kind) == (5, "schema")
    fold = same(recall(module, initial=[], schema=schema), events(3_999, 1, 1))
    assert fold.stall is not None
    assert (fold.folded, fold.stall.kind) == (2, "schema")


def test_a_part_whose_place_in_memory_becomes_anothers_is_not_taken_for_it() -> None:
    chance = random.Random(7)
    steps = [
        [chance.choice(WHAT[:9]), chance.randrange(50), chance.randrange(50), made(chance, 3)] for _ in range(4000)
    ]
    fold = same(recall(MOVES, initial={"root": [], "a": 1, "b": [[]]}), events(*steps))
    assert fold.stall is None or fold.folded > 300


def made(chance: random.Random, level: int) -> Any:
    kind = chance.randrange(7 if level else 4)
    if kind == 0:
        return chance.randrange(-5, 10 ** chance.randrange(1, 14))
    if kind == 1:
        return chance.choice([0.1, 1 / 3, -2.5, 1e21, 5e-324, 123456789.125, chance.random()])
    if kind in (2, 3):
        return "xé€😀\n"[: chance.randrange(6)] * chance.randrange(20)
    if kind in (4, 5):
        return [made(chance, level - 1) for _ in range(chance.randrange(5))]
    return {f"n{chance.randrange(30)}": made(chance, level - 1) for _ in range(chance.randrange(5))}


def test_levels_are_counted_from_the_outermost_though_the_inner_are_remembered() -> None:
    deeper = recall("export function fold(view: View): View { return [view]; }", initial=[])
    fold = same(deeper, events(*range(600)))
    assert (fold.folded, fold.stall and fold.stall.kind) == (511, "unfit")
    down = "export function fold(view: View): View { let v = view; for (let i = 0; i < 200; i++) v = [v]; return v; }"
    fold = same(recall(down, initial=[]), events(*range(4)))
    assert (fold.folded, fold.stall and fold.stall.kind) == (2, "unfit")


def test_more_parts_than_there_were_places_for() -> None:
    module = """export function fold(view: View, event: Event): View {
  const v = view as any[];
  return [...v, ...Array.from({ length: event.data as number }, (_, i) => (i % 2 ? {} : [])), [event.data!]];
}"""
    fold = same(recall(module, initial=[]), events(10, 7_000, 1, 30_000, 1, 90_000, 1, 1, 60_000))
    assert fold.stall is not None
    assert (fold.folded, fold.stall.kind) == (8, "size")


def test_one_part_in_very_many_places_is_refused_for_its_size() -> None:
    fold = same(
        recall("export function fold(view: View): View { return [view, view]; }", initial=[]), events(*range(40))
    )
    assert fold.stall is not None
    assert (fold.folded, fold.stall.kind) == (16, "size")


@pytest.mark.parametrize("odd", ["-0", "undefined", "[,1]", "new Map()", "new Date(0)", "1e400"])
def test_what_json_changes_or_refuses_comes_out_as_by_the_rule_and_what_follows_too(odd: str) -> None:
    module = f"""export function fold(view: View, event: Event): View {{
  const v = view as any;
  if (event.data === 3) return {{ ...v, odd: {{ deep: [{odd}, v.list] }} }} as any;
  return {{ ...v, list: [...v.list, {{ n: event.data! }}], last: v.list }};
}}"""
    same(recall(module, initial={"list": []}), events(*range(7)))


def test_numbers_of_many_decimals_are_known_after_the_first_time() -> None:
    module = """export function fold(view: View, event: Event): View {
  const v = view as any;
  return { ...v, ['k' + (event.data as number % 90)]: [event.data as number / 7, { mean: event.data as number / 13 }] };
}"""
    same(recall(module, initial={}), events(*range(3_000)))


NAMES = [
    "10",
    "9",
    "0",
    "01",
    "-1",
    "2026-01-01",
    "2147483647",
    "2147483648",
    "4294967294",
    "4294967295",
    "1e3",
    "é1",
    "__proto__x",
]


@given(st.lists(st.tuples(st.sampled_from(NAMES) | st.text(), VALUES), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_keyframes_have_the_order_of_names_that_the_engine_writes(steps: list[Any]) -> None:
    module = """export function fold(view: View, event: Event): View {
  const v = view as any, [name, given] = event.data as any;
  return { [name + 'x']: given, ...v, [name]: [given, v[name] ?? {}] };
}"""
    same(recall(module, initial={}), events(*map(list, steps)))


@pytest.mark.parametrize(
    ("view", "natively"),
    [
        (
            {
                "a": [1, -2, 0.5, 1e-7, 1 / 3, 1e21, 123456789012345.6],
                "b": 'é€😀\n\x00\x1f"\\' * 9,
                "c": [None, True, False],
            },
            True,
        ),
        ([], True),
        ("x" * 5_000, False),
        (12, False),  # its text is at hand
        ({"2": 1, "10": {"1": 2}, "a": 3}, True),
        ({"4294967294": 1}, False),  # the engine puts it before other names, wherever it was set
    ],
)
def test_keyframes_are_written_beside_the_sandbox(view: Any, natively: bool) -> None:
    function = recall("export function fold(view: View): View { return view; }", initial=view)
    history = events(1, 2)
    session = FoldSession(function.definition)
    try:
        session.load(page_of(history, select(function.definition, history), 0, 2))
        advance = session.advance(every=1)
    finally:
        session.close()
    texts = [text for _, text in advance.frames]
    assert texts == [session_text(function)] * 2
    assert advance.reply.written == (b"".join(texts) if natively else b"")


def session_text(function: rk.RecallFunction) -> bytes:
    return function.definition.initial.encode("utf-8", "surrogatepass")
