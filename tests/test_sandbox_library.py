"""The sandbox's library: what is there, what is not, dates, and what freezing keeps (both formats, The sandbox)."""

# The programs in these tests stand one to a line.
# ruff: noqa: E501

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sandbox_runs import run_folds, run_program

from recallkit.definitions import loading

GLOBALS = [
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "Error",
    "EvalError",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Infinity",
    "Int8Array",
    "Int16Array",
    "Int32Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "SharedArrayBuffer",
    "String",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint8Array",
    "Uint16Array",
    "Uint32Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakSet",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "unescape",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "undefined",
]


def value_of(expression: str, given: Any = None) -> Any:
    """The value of an expression in a run."""
    ended = run_program(f"export default function (input) {{ return {expression}; }}", given)
    assert ended.kind == "returned", ended
    return ended.value


def outcomes(attempts: list[str], *, frozen: bool = False) -> list[str]:
    """'worked', or the name of the error, of each statement."""
    tried = ", ".join(f"() => {{ {attempt} }}" for attempt in attempts)
    body = (
        f"return [{tried}].map((each) => {{ try {{ each(); return 'worked'; }} "
        "catch (error) { return Object.prototype.toString.call(error) === '[object Error]' ? String(error.name) : 'odd'; } });"
    )
    if frozen:
        (ended,) = run_folds(f"export function helper() {{}} export function fold(view, event) {{ {body} }}", [None])
    else:
        ended = run_program(f"export default function (input) {{ {body} }}")
    assert ended.kind == "returned", ended
    return list(ended.value)


def cases(shared: Path, area: str) -> list[dict[str, Any]]:
    every = json.loads((shared / "cases" / "conformance.json").read_text(encoding="utf-8"))
    return [case for case in every if case["area"] == area and case["type"] == "computation"]


def test_the_cases_of_the_library_come_out_as_they_say(shared: Path) -> None:
    tried = 0
    for case in cases(shared, "library"):
        expect = case["expect"]
        if expect["refused"]:
            continue
        definition = loading.read(case["document"])
        ended = run_program(definition.module, case.get("input"))
        tried += 1
        if expect["ending"] == "succeeded":
            assert ended.kind == "returned", (case["id"], ended)
            assert ended.value == expect["output"], case["id"]
        else:
            assert (ended.kind, ended.line) == ("raised", expect["error_line"]), (case["id"], ended)
            for words in expect["detail_contains"]:
                assert words in ended.words, case["id"]
    assert tried >= 10


@pytest.mark.parametrize("frozen", [False, True])
def test_the_globals_are_the_list_and_nothing_more(frozen: bool) -> None:
    body = "return Reflect.ownKeys(globalThis).filter((key) => typeof key === 'string').toSorted();"
    if frozen:
        (ended,) = run_folds(f"export function fold() {{ {body} }}", [None])
    else:
        ended = run_program(f"export default function () {{ {body} }}")
    assert ended.value == sorted(GLOBALS)


def test_math_has_no_randomness() -> None:
    assert (
        value_of("['random' in Math, 'getHours' in Date.prototype, 'getTimezoneOffset' in Date.prototype]")
        == [False] * 3
    )


def test_every_local_time_method_of_a_date_is_absent() -> None:
    local = [
        "toDateString",
        "toTimeString",
        "toLocaleDateString",
        "toLocaleTimeString",
        "getTimezoneOffset",
        "getYear",
        "getFullYear",
        "getMonth",
        "getDate",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
        "getDay",
        "setMilliseconds",
        "setSeconds",
        "setMinutes",
        "setHours",
        "setDate",
        "setMonth",
        "setYear",
        "setFullYear",
    ]
    assert value_of(f"{json.dumps(local)}.filter((name) => name in Date.prototype)") == []


def test_the_utc_methods_of_a_date_are_there() -> None:
    names = ["FullYear", "Month", "Date", "Hours", "Minutes", "Seconds", "Milliseconds"]
    wanted = [f"{verb}UTC{name}" for verb in ("get", "set") for name in names] + ["getUTCDay", "getTime", "setTime"]
    wanted += ["valueOf", "toJSON", "toISOString", "toUTCString"]
    assert value_of(f"{json.dumps(wanted)}.filter((name) => typeof Date.prototype[name] !== 'function')") == []


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026", "2026-01-01T00:00:00.000Z"),
        ("2026-05", "2026-05-01T00:00:00.000Z"),
        ("2026-05-06", "2026-05-06T00:00:00.000Z"),
        ("-000001-05-06", "-000001-05-06T00:00:00.000Z"),
        ("+012026-05-06T07:08Z", "+012026-05-06T07:08:00.000Z"),
        ("2026-05-06T07:08:09.123456789+01:00", "2026-05-06T06:08:09.123Z"),
        ("2026-02-31", "2026-03-03T00:00:00.000Z"),
        ("2026-01-01T24:00Z", "2026-01-02T00:00:00.000Z"),
    ],
)
def test_dates_that_work(text: str, iso: str) -> None:
    assert value_of("[new Date(input).toISOString(), new Date(Date.parse(input)).toISOString()]", text) == [iso, iso]


@pytest.mark.parametrize(
    "text",
    [
        "2026-13",
        "2026-00-01",
        "2026-01-32",
        "-000000-01-01",
        "+275761-01-01",
        "2026-01-01T24:01Z",
        "2026-01-01T09:00:60Z",
        "2026-01-01T09Z",
        "2026-01-01T09:00:00.Z",
        "2026-01-01T09:00:00.1234567891Z",
        "2026-01-01T09:00:00,5Z",
        "2026-01-01T09:00:00",
        "2026-01-01T09:00:00+0100",
        "2026-01-01T09:00:00+01",
        "2026-01-01T09:00:00z",
        "2026-01-01 09:00:00Z",
        " 2026-01-01",
        "2026-01-01\n",
        "20260101",
        "2026-1-1",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "1 January 2026 UTC",
        "",
        "0",
    ],
)
def test_texts_that_are_no_date_raise(text: str) -> None:
    quoted = json.dumps(text)
    assert outcomes([f"new Date({quoted})", f"Date.parse({quoted})"]) == ["TypeError"] * 2


def test_what_would_read_the_time_zone_raises_a_type_error() -> None:
    attempts = [
        "new Date(2026, 0, 1)",
        "new Date(2026, 0)",
        "Date()",
        "Date(0)",
        "String(new Date(0))",
        "`${new Date(0)}`",
        "new Date(0) + ''",
        "new Date(0) + 1",
        "({})[new Date(0)]",
        "new Date(0).toString()",
        "new Date(0).toLocaleString()",
        "[new Date(0)].toLocaleString()",
        "new Date(0)[Symbol.toPrimitive]('string')",
        "new Date(0)[Symbol.toPrimitive]('default')",
        "new Date(undefined)",
        "new Date(null)",
        "new Date(true)",
        "new Date({})",
        "new Date([2026])",
        "new Date(Object(5))",
        "new Date(10n)",
        "new Date(new Proxy(new Date(0), {}))",
        "Date.parse(5)",
        "Reflect.construct(Date, [2026, 0])",
        "Reflect.apply(Date, undefined, [])",
    ]
    assert outcomes(attempts) == ["TypeError"] * len(attempts)


def test_dates_are_numbers_where_a_number_is_wanted() -> None:
    got = value_of("((a, b) => [a - b, a < b, a >= b, +a, a * 2, Number(b), Math.max(a, b)])(new Date(9), new Date(4))")
    assert got == [5, False, True, 9, 18, 4, 9]


def test_the_clock_is_the_moment_and_cannot_be_moved_or_passed_by() -> None:
    got = value_of(
        "[Date.now(), new Date().getTime(), Reflect.construct(Date, []).getTime(), new (class extends Date {})().getTime(), "
        "new (Object.getPrototypeOf(class extends Date {}))().getTime(), new Date.prototype.constructor().getTime(), "
        "Reflect.construct(Date, [], Object).getTime === undefined, Date.length, Date.name, new Date(8) instanceof Date]"
    )
    assert got == [1767323045678] * 6 + [True, 7, "Date", True]


def test_a_class_of_dates_keeps_its_prototype_and_its_dates() -> None:
    got = value_of(
        "(() => { class Due extends Date { late() { return this.getTime() > 5; } } const due = new Due('1970-01-01T00:00:00.007Z'); "
        "return [due.late(), due instanceof Due, due.toISOString(), Object.getPrototypeOf(due) === Due.prototype]; })()"
    )
    assert got == [True, True, "1970-01-01T00:00:00.007Z", True]


FROZEN = [
    "Math.seen = 1",
    "globalThis.seen = 1",
    "globalThis.Math = 1",
    "delete globalThis.Math",
    "Array.prototype.seen = 1",
    "Array.prototype[0] = 1",
    "Array.prototype.push(1)",
    "Array.prototype.length = 1",
    "Object.prototype.seen = 1",
    "Object.prototype.constructor = 1",
    "Object.prototype.toString = 1",
    "Error.prototype.name = 'x'",
    "Error.prototype.message = 'x'",
    "Error.prepareStackTrace = () => 1",
    "Error.stackTraceLimit = 1",
    "Error.captureStackTrace = 1",
    "JSON.parse = 1",
    "Date.now = 1",
    "Date.seen = 1",
    "Date.prototype.seen = 1",
    "Function",
    "(function () {}).constructor.seen = 1",
    "helper.seen = 1",
    "helper.prototype.seen = 1",
    "helper.prototype.constructor = 1",
    "Object.setPrototypeOf(Array.prototype, null)",
    "Object.setPrototypeOf(globalThis, null)",
    "Object.setPrototypeOf(helper, null)",
    "Object.prototype.__proto__ = {}",
    "Object.prototype.__defineGetter__('seen', () => 1)",
    "Object.defineProperty(Object.prototype, 'seen', { value: 1 })",
    "Object.defineProperty(Object.prototype, 'constructor', { value: 1 })",
    "Object.getPrototypeOf(function () {}).seen = 1",
    "Object.getPrototypeOf(function* () {}).seen = 1",
    "Object.getPrototypeOf(function* () {}).prototype.next = 1",
    "Object.getPrototypeOf(async () => 1).seen = 1",
    "Object.getPrototypeOf(async function* () {}).seen = 1",
    "Object.getPrototypeOf(async function* () {}).prototype.seen = 1",
    "Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype).seen = 1",
    "Object.getPrototypeOf((async () => 1)()).seen = 1",
    "Object.getPrototypeOf([].values()).next = 1",
    "Object.getPrototypeOf(''[Symbol.iterator]()).next = 1",
    "Object.getPrototypeOf(new Map().keys()).next = 1",
    "Object.getPrototypeOf(new Set().keys()).next = 1",
    "Object.getPrototypeOf('a'.matchAll(/a/g)).next = 1",
    "Object.getPrototypeOf([].values().map(() => 1)).next = 1",
    "Object.getPrototypeOf(Iterator.from({ next() {} })).next = 1",
    "Object.getPrototypeOf(Iterator.concat([1])).next = 1",
    "Iterator.prototype.seen = 1",
    "Iterator.prototype.map = 1",
    "Object.getPrototypeOf(Uint8Array).seen = 1",
    "Object.getPrototypeOf(Uint8Array.prototype).seen = 1",
    "Float16Array.prototype.seen = 1",
    "Symbol.prototype.seen = 1",
    "Symbol.seen = 1",
    "RegExp.prototype.exec = 1",
    "RegExp.prototype.lastIndex = 1",
    "RegExp.prototype.compile.seen = 1",
    "Map.prototype.get.seen = 1",
    "Object.getOwnPropertyDescriptor(Object.prototype, 'constructor').get.seen = 1",
    "Object.getOwnPropertyDescriptor(Object.prototype, 'constructor').set.seen = 1",
    "Object.getOwnPropertyDescriptor(Object.prototype, 'constructor').set.call(Object.prototype, 1)",
    "Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.seen = 1",
    "Reflect.ownKeys.seen = 1",
    "Proxy.seen = 1",
    "WeakMap.prototype.seen = 1",
    "Array.prototype[Symbol.unscopables].seen = 1",
    "(() => { 'use strict'; return Object.getOwnPropertyDescriptor(Object.getPrototypeOf(function () {}), 'caller').get; })().seen = 1",
    "(function () { return Object.getOwnPropertyDescriptor(arguments, 'callee').get; })().seen = 1",
    "Object.getPrototypeOf((function () { return arguments; })()).seen = 1",
    "((strings) => strings)`a`.seen = 1",
    "((strings) => strings.raw)`a`.seen = 1",
]


@pytest.mark.parametrize("chunk", [FROZEN[at : at + 20] for at in range(0, len(FROZEN), 20)])
def test_nothing_outside_the_view_can_be_written_by_a_fold(chunk: list[str]) -> None:
    got = dict(zip(chunk, outcomes(chunk, frozen=True), strict=True))
    assert {attempt: name for attempt, name in got.items() if name not in ("TypeError", "ReferenceError")} == {}


def test_everything_a_fold_reaches_is_frozen() -> None:
    module = """
    export function helper() {}
    export function fold(view, event) {
      const seen = new Set(), loose = [];
      const walk = (value, path) => {
        if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return;
        if (seen.has(value)) return;
        seen.add(value);
        if (!Object.isFrozen(value)) loose.push(path);
        walk(Object.getPrototypeOf(value), path + '.__proto__');
        for (const key of Reflect.ownKeys(value)) {
          const member = Reflect.getOwnPropertyDescriptor(value, key);
          for (const part of ['value', 'get', 'set']) walk(member[part], path + '.' + String(key));
        }
      };
      walk(globalThis, 'globalThis');
      walk(helper, 'helper');
      walk(fold, 'fold');
      for (const value of [function () {}, function* () {}, async () => 1, async function* () {}, [].values(), ''[Symbol.iterator](),
        new Map().keys(), new Set().keys(), 'a'.matchAll(/a/g), [].values().take(1), Iterator.from({ next() {} }), (async () => 1)(),
        // a generator's own prototype is as new as its function: the one above it is shared
        Object.getPrototypeOf((async function* () {})()), Object.getPrototypeOf((function* () {})()), /a/, 1n, Symbol(), new Date(), new Uint8Array(1), new WeakMap(), new WeakSet()]) {
        walk(Object.getPrototypeOf(value), String(Object.prototype.toString.call(value)));
      }
      return { loose, count: seen.size };
    }
    """
    (ended,) = run_folds(module, [None])
    assert ended.kind == "returned", ended
    assert ended.value["loose"] == []
    assert ended.value["count"] > 500


def test_what_is_frozen_does_not_keep_its_names_from_other_objects() -> None:
    module = """
    export function Made() { this.kept = 1; }
    export function fold(view, event) {
      const made = new Made();
      made.constructor = 2;
      for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'toLocaleString']) view[name] = name;
      view.constructor = 'again';
      const list = [1];
      list.constructor = 3;
      const error = new RangeError('far');
      error.name = 'Far';
      error.message = 'near';
      class Torn extends Error { constructor() { super('t'); this.name = 'Torn'; } }
      const bare = Object.create({ deep: 1 });
      bare.toString = 5;
      return [view, made.constructor, list.constructor, [1, 2].map((n) => n), String(error), String(new Torn()), bare.toString,
        Object.getOwnPropertyDescriptor(view, 'constructor'), {}.constructor === Object, [].constructor === Array,
        Object.keys(view).length, Reflect.set({}, 'constructor', 1), Reflect.set(Object.freeze({}), 'constructor', 1, {})];
    }
    """
    (ended,) = run_folds(module, [{}])
    assert ended.kind == "returned", ended
    names = ["constructor", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "toLocaleString"]
    view = {name: name for name in names} | {"constructor": "again"}
    own = {"value": "again", "writable": True, "enumerable": True, "configurable": True}
    assert ended.value == [view, 2, 3, [1, 2], "Far: near", "Torn: t", 5, own, True, True, 6, True, True]


def test_a_name_cannot_be_assigned_to_what_is_frozen_or_no_object() -> None:
    attempts = [
        "Object.freeze({}).constructor = 1",
        "(5).constructor = 1",
        "'x'.toString = 1",
        "Object.freeze([]).constructor = 1",
    ]
    assert outcomes(attempts, frozen=True) == ["TypeError"] * 4


def test_a_run_is_a_fresh_context_where_a_write_works() -> None:
    module = "export default function () { Math.seen = 1; Array.prototype.seen = 2; return [Math.seen, [].seen]; }"
    assert [run_program(module).value, run_program(module).value] == [[1, 2]] * 2


ROUTES = {
    "a RegExp's lastIndex": "const rule = /a/g; rule.test('aa'); return [before(rule.lastIndex), rule.lastIndex];",
    "a template's strings": "const strings = ((s) => s)`a${1}`; try { strings.n = (strings.n ?? 0) + 1; } catch {} return [strings.n ?? null];",
    "a registered symbol": "const s = Symbol.for('n'); try { s.n = 1; } catch {} return [s.n ?? null, Symbol.keyFor(s)];",
    "a closure in an exported function": "let n = 0; n++; return [n];",
    "a default parameter": "const next = (list = []) => { list.push(1); return list.length; }; next(); return [next()];",
    "a static block": "class Count { static n = 0; static { Count.n++; } } return [Count.n];",
    "a generator": "const ids = (function* () { let n = 0; for (;;) yield n++; })(); ids.next(); return [ids.next().value];",
    "a WeakMap keyed by a frozen object": "const seen = new WeakMap(); const had = seen.has(Math); seen.set(Math, 1); return [had];",
    "Reflect.set on a global": "return [Reflect.set(JSON, 'n', 1), Reflect.has(JSON, 'n')];",
    "defineProperty on a function": "return [Reflect.defineProperty(fold, 'n', { value: 1 }), 'n' in fold];",
    "the arguments' prototype": "const p = Object.getPrototypeOf(arguments); try { p.n = 1; } catch {} return ['n' in p];",
    "a text's iterator": "const p = Object.getPrototypeOf(''[Symbol.iterator]()); return [Reflect.set(p, 'n', 1), 'n' in p];",
    "an error's stack": "try { Error.stack = 1; } catch {} return [Error.stack ?? null, typeof new Error('x').stack];",
    "the moment": "const d = new Date(); d.setTime(5); return [Date.now(), new Date().getTime()];",
    "a helper's own members": "try { before.n = (before.n ?? 0) + 1; } catch {} return [before.n ?? null];",
    "a helper's prototype": "try { before.prototype.n = 1; } catch {} return [new before(1).n ?? null];",
    "a resizable buffer": "const b = new ArrayBuffer(1, { maxByteLength: 8 }); b.resize(8); return [b.byteLength, new Uint8Array(8)[0]];",
    "a class made in the fold": "class A {} A.n = (A.n ?? 0) + 1; A.prototype.m = 1; return [A.n];",
    "a registered name of a global": "try { globalThis.n = 1; } catch {} return [typeof n];",
    "an implied global": "try { n = 1; } catch {} return [typeof n];",
}


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_a_fold_writes_outside_its_view_reaches_the_next(route: str) -> None:
    module = (
        f"export function before(given) {{ return given; }} export function fold(view, event) {{ {ROUTES[route]} }}"
    )
    first, second, third = run_folds(module, [None, None, None])
    assert first.kind == "returned", first
    assert first.text == second.text == third.text
