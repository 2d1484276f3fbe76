"""Freezing: nothing a fold writes outside its view reaches the next fold, by any route (recall, The module)."""

# The programs in these tests stand one to a line.
# ruff: noqa: E501

from __future__ import annotations

import pytest
from sandbox_runs import run_folds, run_program
from test_sandbox_library import outcomes

import recallkit as rk

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


@pytest.mark.parametrize(
    "assignment",
    [
        "(step as any) = 5;",
        "(step as any)++;",
        "[(step as any)] = [1];",
        "for ((step as any) of [1]) {}",
        "((fold as any)!) ??= 1;",
    ],
)
def test_a_module_cannot_keep_state_in_the_name_of_a_function(assignment: str) -> None:
    document = f"""---
language: typescript
source: {{events: [{{type: t}}]}}
---
export function step(by: number): number {{ return by; }}
export function fold(view: View, event: Event): View {{
  {assignment}
  return step(1);
}}
"""
    problems = [problem for problem in rk.check(document) if "because it is a function" in problem.words]
    assert [problem.line for problem in problems] == [7]
