"""What JSON can carry: named with where it stands first, else written as JSON.stringify writes it (both formats, The module)."""

# The programs in these tests stand one to a line.
# ruff: noqa: E501

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_runs import run_folds, run_program

from recallkit import sandbox as sandboxes
from recallkit.definitions import loading
from recallkit.sandbox import Sandbox

FITNESS = (Path(sandboxes.__file__).parent / "fitness.js").read_text(encoding="utf-8")
# the bytes of a text in UTF-8, where the page loop has a native one
UTF8 = """(text) => { let bytes = 0; for (let i = 0; i < text.length; i++) { const unit = text.charCodeAt(i);
  bytes += unit < 128 ? 1 : unit < 2048 ? 2 : unit >= 0xd800 && unit < 0xdc00 ? (i++, 4) : 3; } return bytes; }"""


def unfit_of(body: str) -> tuple[str, str] | None:
    """The first thing that a program's value holds and JSON cannot carry, and where; None when it is carried."""
    ended = run_program(f"export default function (input) {{ {body} }}")
    if ended.kind == "returned":
        return None
    assert ended.kind == "unfit", ended
    assert ended.unfit is not None
    return "deep" if ended.unfit.get("deep") else ended.unfit["what"], ended.unfit["path"]


def carried(body: str) -> str:
    """The JSON text of what a program returned."""
    ended = run_program(f"export default function (input) {{ {body} }}")
    assert ended.kind == "returned", ended
    return ended.text


def test_the_cases_of_fitness_come_out_as_they_say(shared: Path) -> None:
    every = json.loads((shared / "cases" / "conformance.json").read_text(encoding="utf-8"))
    tried = 0
    for case in every:
        if case["area"] != "fitness" or case["type"] != "computation":
            continue
        tried += 1
        expect = case["expect"]
        ended = run_program(loading.read(case["document"]).module, case.get("input"))
        if expect["ending"] == "succeeded":
            assert ended.kind == "returned", (case["id"], ended)
            if "output" in expect:
                assert json.dumps(ended.value) == json.dumps(expect["output"]), case["id"]
            continue
        if ended.unfit is None:
            told = f"{ended.words}"
        elif ended.unfit.get("deep"):
            told = f"deeper than 512 levels at {ended.unfit['path']}"
        else:
            told = f"The answer holds {ended.unfit['what']} at {ended.unfit['path']}, which JSON cannot carry"
        for words in expect["detail_contains"]:
            assert words in told, (case["id"], told)
    assert tried >= 25


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("new Date(0)", "a Date"),
        ("new Map()", "a Map"),
        ("new Set()", "a Set"),
        ("new (class Crate {})()", "a Crate"),
        ("new Uint8Array(2)", "a Uint8Array"),
        ("new ArrayBuffer(2)", "a ArrayBuffer"),
        ("Object(1)", "a Number"),
        ("Object('x')", "a String"),
        ("Object(true)", "a Boolean"),
        ("() => 1", "a function"),
        ("class {}", "a function"),
        ("new Proxy(() => 1, {})", "a function"),
        ("1n", "a bigint"),
        ("Symbol('x')", "a symbol"),
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("undefined", "undefined"),
        ("/x/", "a RegExp"),
        ("new RangeError('x')", "a RangeError"),
        ("Object.create({ a: 1 })", "a Object"),
        ("Object.create(Object.create(null))", "an object of another prototype"),
        ("JSON.parse('{\"__proto__\":1}', (key, value) => key === '' ? new Map() : value)", "a Map"),
    ],
)
def test_what_json_cannot_carry_is_named(expression: str, what: str) -> None:
    assert unfit_of(f"return {expression};") == (what, "$")
    assert unfit_of(f"return [1, {{ a: 'x', b: {expression}, c: NaN }}];") == (what, "$[1].b")


def test_a_hole_and_undefined_are_told_apart() -> None:
    assert unfit_of("return [1, , 3];") == ("an empty place", "$[1]")
    assert unfit_of("return [1, undefined, 3];") == ("undefined", "$[1]")
    assert unfit_of("Array.prototype[1] = 5; return [1, , 3];") == ("an empty place", "$[1]")


def test_paths_name_keys_that_are_names_and_quote_the_others() -> None:
    assert unfit_of("return { a: { $b_1: [[NaN]] } };") == ("NaN", "$.a.$b_1[0][0]")
    assert unfit_of("return { 'a b': { '2': { '': { 'é\"': NaN } } } };") == ("NaN", '$["a b"]["2"][""]["é\\""]')
    assert unfit_of("return JSON.parse('{\"__proto__\":[1]}', (key, v) => v === 1 ? 1n : v);") == (
        "a bigint",
        "$.__proto__[0]",
    )


def test_the_first_in_the_order_of_the_value_is_named() -> None:
    assert unfit_of("return { b: [1, [NaN]], a: undefined, 1: { x: [new Set()] } };") == ("a Set", '$["1"].x[0]')
    deep = "let v = []; for (let i = 0; i < 600; i++) v = [v];"
    assert unfit_of(f"{deep} return [NaN, v];") == ("NaN", "$[0]")
    assert unfit_of(f"{deep} return {{ v, n: NaN }};") == ("deep", "$.v" + "[0]" * 511)


@pytest.mark.parametrize(
    ("levels", "fits"), [(1, True), (511, True), (512, True), (513, False), (3000, False), (100_000, False)]
)
def test_depth_is_counted_from_the_outermost_list_or_object(levels: int, fits: bool) -> None:
    made = unfit_of(f"let v = 0; for (let i = 0; i < {levels}; i++) v = i % 2 ? [v] : {{ k: v }}; return v;")
    if fits:
        assert made is None
    else:
        assert made is not None
        assert made[0] == "deep"
        assert made[1].count("[0]") + made[1].count(".k") == 512


def test_a_cycle_is_told_where_it_closes() -> None:
    assert unfit_of("const a = { b: [] }; a.b.push(a); return a;") == ("a cycle", "$.b[0]")
    assert unfit_of("const a = []; a[0] = a; return { a };") == ("a cycle", "$.a[0]")
    assert unfit_of("const a = {}; a.b = 1; return [a, a, { a }];") is None


def test_what_is_carried_is_written_as_the_format_says() -> None:
    assert (
        carried("return [-0, 1e21, 1e-7, 0.1 + 0.2, 2 ** 53];") == "[0,1e+21,1e-7,0.30000000000000004,9007199254740992]"
    )
    assert (
        carried("const one = { n: 1 }; return { left: one, right: [one, one] };")
        == '{"left":{"n":1},"right":[{"n":1},{"n":1}]}'
    )
    assert carried("return { [Symbol('q')]: new Date(0), kept: 1 };") == '{"kept":1}'
    assert carried("return Object.defineProperty({ a: 1 }, 'b', { value: NaN });") == '{"a":1}'
    assert carried("return Object.assign([1, 2], { extra: NaN });") == "[1,2]"
    assert carried("return new (class Shelf extends Array {})(1, 2);") == "[1,2]"
    assert carried("return Object.assign(Object.create(null), { b: 1, a: 2 });") == '{"b":1,"a":2}'
    assert carried("return { get a() { return 7; }, get b() { return [1]; } };") == '{"a":7,"b":[1]}'
    assert carried("return new Proxy({ a: 1 }, { get: (target, key) => target[key] });") == '{"a":1}'
    assert carried("return new Proxy([1, 2], {});") == "[1,2]"
    assert carried('return JSON.parse(\'{"__proto__":{"a":1},"toJSON":2}\');') == '{"__proto__":{"a":1},"toJSON":2}'
    assert (
        carried("return { toString: 'x', constructor: 1, length: 2 };") == '{"toString":"x","constructor":1,"length":2}'
    )
    assert carried("return '\\ud800\\u2028\\u0000é😀\"';") == '"\\ud800\u2028\\u0000é😀\\""'


def test_a_member_equal_to_what_it_would_inherit_is_still_refused() -> None:
    assert unfit_of("return { toString: Object.prototype.toString };") == ("a function", "$.toString")
    assert unfit_of("return { a: { constructor: undefined } };") == ("undefined", "$.a.constructor")


def test_a_to_json_is_never_asked() -> None:
    assert unfit_of("return { label: { toJSON: () => 'L' } };") == ("a function", "$.label.toJSON")
    assert unfit_of("return [Object.defineProperty({ a: 1 }, 'toJSON', { value: () => ({ a: 1 }) })];") == (
        "a toJSON",
        "$[0]",
    )
    assert unfit_of("return Object.assign([1], { toJSON: () => [1] });") == ("a toJSON", "$")
    assert unfit_of("return new (class Shelf extends Array { toJSON() { return [1]; } })();") == ("a toJSON", "$")


def test_a_polluted_prototype_changes_nothing_that_is_written() -> None:
    assert carried("Object.prototype.toJSON = () => 'forged'; return { a: [1, { b: 2 }] };") == '{"a":[1,{"b":2}]}'
    assert carried("Array.prototype.toJSON = () => 'forged'; return [1, [2]];") == "[1,[2]]"
    assert (
        carried("String.prototype.toJSON = Number.prototype.toJSON = () => 'forged'; return ['x', 1, true, null];")
        == '["x",1,true,null]'
    )
    assert (
        carried(
            "JSON.stringify = () => '1'; Object.keys = Object.values = () => []; Array.isArray = () => true; return { a: 1 };"
        )
        == '{"a":1}'
    )
    assert carried("Object.prototype.extra = 1; return { a: 1 };") == '{"a":1}'
    assert (
        carried("Array.prototype[Symbol.iterator] = function* () { yield 5; }; return [1, { a: 2 }];") == '[1,{"a":2}]'
    )
    assert unfit_of("Object.prototype.toJSON = () => 'forged'; return { a: NaN };") == ("NaN", "$.a")


def test_a_getter_that_changes_between_reads_is_refused() -> None:
    unstable = "let n = 0; return { ok: 1, odd: { get a() { return n++; } } };"
    assert unfit_of(unstable) == ("a member that changes between reads", "$.odd.a")
    proxy = "let n = 0; return [new Proxy({ a: 1 }, { get: (t, k) => (k === 'a' ? n++ : t[k]) })];"
    assert unfit_of(proxy) == ("a member that changes between reads", "$[0].a")
    late = "let n = 0; return { get a() { return n++ < 1 ? 1 : new Date(0); } };"
    assert unfit_of(late) == ("a Date", "$.a")


def test_a_getter_that_raises_is_told_by_its_own_error() -> None:
    ended = run_program("export default function () { return { get a() {\n throw new RangeError('no grams'); } }; }")
    assert (ended.words, ended.line) == ("RangeError: no grams", 2)
    ended = run_program("export default function () { return new Proxy({}, { ownKeys() { throw 'keys'; } }); }")
    assert ended.words == "keys"


def test_naming_a_value_runs_no_surprise() -> None:
    assert unfit_of("return new (class { static get name() { throw 1; } })();") == (
        "an object of another prototype",
        "$",
    )
    assert unfit_of("return Object.create({ get constructor() { throw 1; } });") == (
        "an object of another prototype",
        "$",
    )
    named = unfit_of(
        "const f = function () {}; Object.defineProperty(f, 'name', { value: 'x'.repeat(1e6) }); return new f();"
    )
    assert named == ("a " + "x" * 100, "$")


def test_a_view_is_written_the_same_way_in_the_frozen_sandbox() -> None:
    module = "export function fold(view, event) { return view === 0 ? { seen: [new Date()] } : [view, -0, { constructor: 1 }]; }"
    unfit, fit = run_folds(module, [0, 1])
    assert unfit.unfit is not None
    assert (unfit.unfit["what"], unfit.unfit["path"]) == ("a Date", "$.seen[0]")
    assert fit.text == '[1,0,{"constructor":1}]'


# ---- every JSON value ----------------------------------------------------------------------------------------------

NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(
    ["", "__proto__", "toString", "constructor", "1", "\ud800", "😀"]
)
NAMES = TEXTS.filter(lambda name: name != "toJSON")
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Sandbox]:
    with Sandbox(frozen=True) as sandbox:
        assert sandbox.load_module("export function fold(view, event) { return view; }") is None
        yield sandbox


def ask(sandbox: Sandbox, body: str, *values: Any) -> Any:
    made = f"const fitness = ({FITNESS})({UTF8}); const given = texts.map((text) => JSON.parse(text));"
    source = f"(...texts) => {{ {made} {body} }}"
    return json.loads(sandbox.call(source, *(json.dumps(value) for value in values), checkpoints=2000))


@given(value=VALUES)
@settings(max_examples=60)
def test_every_json_value_is_written_as_json_stringify_writes_it(engine: Sandbox, value: Any) -> None:
    body = """
      const [value] = given, text = JSON.stringify(value), written = fitness.write(value);
      return JSON.stringify([fitness.fit(value) === undefined, written.text === text, JSON.stringify(written.value) === text,
        fitness.text(value) === text]);
    """
    assert ask(engine, body, value) == [True] * 4
