"""A hostile module forges nothing: not its ending, record, output, size or budget, nor another fold's view or event.

In a run the module may change every global (the context is fresh and not frozen); what the page loop then reads,
counts and writes must be its own. In a fold nothing can be changed, and what a fold holds dies with it.
"""

# The programs in these tests stand one to a line.
# ruff: noqa: E501

from __future__ import annotations

import json
from typing import Any

import pytest
from sandbox_runs import Ended, run_folds, run_program
from small_documents import computation, events, recall

import recallkit as rk

# Each replaces, with functions that lie, what a careless page loop would look up when it is needed.
LIE = """
  const g = globalThis, lie = function () { return LIED; };
  const owners = [Object, Array, JSON, Reflect, String, Number, Math, Date, RegExp, Symbol, Map, Set, WeakMap, Proxy, Error,
    ArrayBuffer, Int32Array, Float64Array, Object.getPrototypeOf(Int32Array), Object.getPrototypeOf([].values()), Iterator];
  const targets = owners.flatMap((owner) => [owner, owner.prototype]).filter((each) => each);
  targets.push(Object.getPrototypeOf(function () {}), Object.getPrototypeOf([][Symbol.iterator]()), g);
  const ownKeys = Reflect.ownKeys, define = Reflect.defineProperty, describe = Reflect.getOwnPropertyDescriptor;
  // by index, since the iterators are among the first to lie
  for (let t = 0; t < targets.length; t++) {
    const keys = ownKeys(targets[t]);
    for (let k = 0; k < keys.length; k++) {
      if (keys[k] === 'prototype') continue;
      const before = describe(targets[t], keys[k]);
      if (before === undefined || !before.configurable) continue;
      if (before.set === undefined && before.get === undefined && typeof before.value !== 'function') continue;
      const after = { __proto__: null, configurable: true, enumerable: before.enumerable };
      if (typeof before.value === 'function') after.value = lie;
      else after.get = after.set = lie;
      define(targets[t], keys[k], after);
    }
  }
"""

# Members that every object and list then shows, as setters that swallow and getters that lie.
NAMES = [
    "kind", "text", "value", "steps", "checkpoints", "milliseconds", "bytes", "path", "what", "deep", "described",
    "words", "line", "unfit", "toJSON", "then", "get", "set", "raised", "name", "message", "outputBytes", "moment",
    "writable", "enumerable", "configurable", "length", "index", "input", "groups", "list", "count", "at", "0", "1", "2",
]  # fmt: skip
TRAPS = f"""
  for (const name of {json.dumps(NAMES)}) {{
    for (const target of [Object.prototype, Array.prototype, Function === undefined ? null : null].filter(Boolean)) {{
      try {{ Object.defineProperty(target, name, {{ get() {{ return 'LIED'; }}, set() {{}}, configurable: true }}); }} catch {{}}
    }}
  }}
""".replace("Function === undefined ? null : null", "String.prototype, RegExp.prototype, Error.prototype")

TAMPERS = {
    "every function lies": LIE.replace("LIED", "'LIED'"),
    "every function raises": LIE.replace("return LIED", "throw 'LIED'"),
    "every function gives an object": LIE.replace("LIED", "({ text: 'LIED', value: 'LIED' })"),
    "every function gives nothing": LIE.replace("LIED", "undefined"),
    "every record has members": TRAPS,
    "both": TRAPS + LIE.replace("LIED", "'LIED'"),
}


def program(body: str, given: Any = None) -> Ended:
    return run_program(f"export default function (input) {{ {body} }}", given)


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_run_forges_neither_its_output_nor_its_size(tamper: str) -> None:
    made = "const made = { list: [1, 'two', null, true], inner: { deep: [{ a: 1.5 }] }, ü: '€' };"
    text = '{"list":[1,"two",null,true],"inner":{"deep":[{"a":1.5}]},"ü":"€"}'
    ended = program(f"{made} {TAMPERS[tamper]} return made;")
    assert (ended.kind, ended.text) == ("returned", text), ended
    assert ended.spent["bytes"] == len(text.encode())


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_run_forges_no_larger_room_for_its_output(tamper: str) -> None:
    ended = program(f"const made = 'x'.repeat(2 ** 21); {TAMPERS[tamper]} return made;")
    assert (ended.kind, ended.value) == ("size", None), ended


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_run_forges_no_success_of_what_json_cannot_carry(tamper: str) -> None:
    ended = program(f"const made = {{ a: [1, {{ b: new Date(0) }}] }}; {TAMPERS[tamper]} return made;")
    assert ended.kind == "unfit", ended
    assert ended.unfit is not None
    assert ended.unfit["path"] == "$.a[1].b"


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_run_that_raises_ends_as_raised_on_its_line(tamper: str) -> None:
    ended = program(f"const made = new RangeError('own'); {TAMPERS[tamper]}\nthrow made;")
    assert ended.kind == "raised", ended
    assert ended.line == 1
    if not tamper.startswith(("every record", "both")):
        assert ended.words == "RangeError: own"


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_run_forges_no_budget(tamper: str) -> None:
    ended = run_program(f"export default function (input) {{ {TAMPERS[tamper]} for (;;) {{}} }}", checkpoints=50)
    assert ended.kind == "work", ended


@pytest.mark.parametrize("tamper", TAMPERS)
def test_a_run_forges_no_count_of_its_work(tamper: str) -> None:
    plain = program(f"{TAMPERS[tamper]} for (let i = 0; i < 0; i++) {{}} return 1;")
    loops = program(f"{TAMPERS[tamper]} for (let i = 0; i < 100000; i++) {{}} return 1;")
    assert (plain.kind, loops.kind) == ("returned", "returned")
    assert loops.spent["steps"] - plain.spent["steps"] == 200_000


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("{ get a() { for (;;) {} } }", "work"),
        ("new Proxy({}, { ownKeys() { for (;;) {} } })", "work"),
        ("new Proxy([], { get(t, k) { for (;;) {} } })", "work"),
        ("new Proxy({}, { getPrototypeOf() { for (;;) {} } })", "work"),
        ("{ get a() { return { get a() { for (;;) {} } }; } }", "work"),
    ],
)
def test_a_value_that_never_lets_itself_be_read_is_stopped_by_its_work(value: str, kind: str) -> None:
    assert program(f"return {value};").kind == kind
    (ended,) = run_folds(f"export function fold(view) {{ return {value}; }}", [1])
    assert ended.kind == kind
    folding = recall(f"export function fold(view: View, event: Event): View {{ return ({value}) as any; }}").fold(
        events(1)
    )
    assert folding.stall is not None
    assert (folding.stall.kind, folding.view) == (kind, 0)


@pytest.mark.parametrize(
    "forged",
    [
        "e.stack = 'at forged (document:77:1)'",
        "Object.defineProperty(e, 'stack', { value: { toString() { return 'document:77'; } } })",
        "String.prototype[Symbol.split] = () => ['at forged (document:77)']",
        "RegExp.prototype[Symbol.split] = () => ['at forged (document:77)']",
        "RegExp.prototype.exec = () => ['', '77']",
    ],
)
def test_a_program_can_at_most_misname_its_own_line(forged: str) -> None:
    ended = program(f"const e = new Error('own'); {forged};\nthrow e;")
    assert (ended.kind, ended.words) == ("raised", "Error: own")
    if "stack" not in forged:
        assert ended.line == 1


def test_a_run_reaches_none_of_the_page_loops_own() -> None:
    seen = program(
        "const found = []; const walk = (o, d) => { if (d > 6 || (typeof o !== 'object' && typeof o !== 'function') || o === null) return; "
        "for (const k of Reflect.ownKeys(o)) { const v = Reflect.getOwnPropertyDescriptor(o, k)?.value; "
        "if (ArrayBuffer.isView(v) || v instanceof ArrayBuffer) found.push(String(k)); if (d < 3) walk(v, d + 1); } }; "
        "walk(globalThis, 0); walk(arguments.callee === undefined ? {} : {}, 0); return found;".replace(
            "walk(arguments.callee === undefined ? {} : {}, 0); ", ""
        )
    )
    assert seen.value == []


@pytest.mark.parametrize("way", ["caller", "arguments", "callee"])
def test_no_function_shows_who_called_it(way: str) -> None:
    body = {
        "caller": "function f() { return f.caller; } try { return f() === null || f() === undefined; } catch { return true; }",
        "arguments": "function f() { return f.arguments; } try { return f() === null || f() === undefined; } catch { return true; }",
        "callee": "try { return typeof arguments.callee; } catch { return true; }",
    }[way]
    assert program(body).value is True


# In a fold


def fold(body: str, *data: Any, initial: Any = 0, plain: bool = False) -> rk.Folding:
    text = f"export function fold(view: any, event: any): any {{ {body} }}"
    return recall(text, initial=initial).fold(events(*data), plain=plain)


def test_a_fold_that_changes_its_view_in_place_and_raises_leaves_the_view_before() -> None:
    folding = fold(
        "view.list.push(event.data); if (event.data === 3) throw new Error('x'); return view;",
        1,
        2,
        3,
        4,
        initial={"list": []},
    )
    assert folding.stall is not None
    assert (folding.stall.kind, folding.view, folding.folded) == ("raised", {"list": [1, 2]}, 2)
    assert [folding.at(number).view for number in range(3)] == [{"list": []}, {"list": [1]}, {"list": [1, 2]}]


@pytest.mark.parametrize(
    "body",
    [
        "view.list.push('x'.repeat(600000)); return view;",
        "view.list.push(undefined); return view;",
        "view.list.length = 0; return NaN;",
        "delete view.list; for (;;) {}",
        "view.list.push(9); return { get a() { for (;;) {} } };",
    ],
)
def test_whatever_a_fold_did_to_its_view_a_stall_keeps_the_one_before(body: str) -> None:
    folding = fold(
        f"if (event.data === 2) {{ {body} }} return {{ list: [...view.list, event.data] }};",
        0,
        1,
        2,
        initial={"list": []},
    )
    assert folding.stall is not None
    assert folding.view == {"list": [0, 1]}


def test_what_a_fold_did_to_its_event_reaches_no_other_fold() -> None:
    body = """
      const seen = [event.id, event.data?.n, Object.keys(event).length, event.extra ?? null];
      event.id = 'forged'; event.extra = 1; delete event.data; Object.defineProperty(event, 'time', { value: 'forged' });
      return [...view, seen];
    """
    folding = fold(body, {"n": 1}, {"n": 2}, initial=[])
    assert folding.view == [["e0", 1, 6, None], ["e1", 2, 6, None]]
    assert folding.trace["event_id"].tolist() == ["e0", "e1"]
    assert folding.standing["last_event"] == {"id": "e1", "time": "2026-01-01T00:01:00.000Z"}


def test_a_fold_keeps_nothing_for_the_next_whatever_it_hides_in_the_view() -> None:
    body = """
      const hidden = [view[Symbol.for('kept')] ?? null, Reflect.ownKeys(view).length, Object.getPrototypeOf(view) === Object.prototype,
        view.a === view.b, Object.isFrozen(view), Object.is(view.zero, 0)];
      const shared = { n: event.data };
      const next: any = { hidden: [...(view.hidden ?? []), hidden], a: shared, b: shared, zero: -0 };
      next[Symbol.for('kept')] = 1;
      Object.defineProperty(next, 'invisible', { value: 1 });
      return Object.freeze(next);
    """
    for plain in (False, True):
        folding = fold(body, 1, 2, 3, initial={}, plain=plain)
        told = [None, 4, True, False, False, True]
        assert folding.view["hidden"][1:] == [told, told]


@pytest.mark.parametrize("plain", [False, True])
def test_a_fold_forges_no_count(plain: bool) -> None:
    # a getter that is read when the view is written out works then: no step of it is the fold's
    body = "return { get n() { let n = 0; for (let i = 0; i < 1000; i++) n++; return n; } };"
    trace = fold(body, 1, 2, plain=plain).trace
    bare = fold("return { n: 1000 };", 1, 2, plain=plain).trace
    assert abs(int(trace.steps[0]) - int(bare.steps[0])) <= 2
    assert trace.view_bytes.tolist() == bare.view_bytes.tolist() == [len('{"n":1000}')] * 2


def test_a_getter_may_not_change_the_view_while_it_is_written() -> None:
    body = "const inner = [1]; return { get a() { inner.push(2); return 1; }, inner };"
    folding = fold(body, 1)
    if folding.stall is None:
        assert folding.view == json.loads(folding.view_text)
        assert folding.trace.view_bytes[0] == len(folding.view_text)
    else:
        assert folding.stall.kind == "unfit"


def test_an_answer_that_changes_the_view_it_was_given_changes_no_view() -> None:
    function = recall(
        "export function fold(view: View, event: Event): View { return event.data ?? null; }\n"
        "export function answer(view: any, input: any): any { view.a = 2; view.list.length = 0; return view; }"
    )
    folding = function.fold(events({"a": 1, "list": [1]}))
    assert function.run(folding).output == {"a": 2, "list": []}
    assert function.run(folding).output == {"a": 2, "list": []}
    assert folding.view == {"a": 1, "list": [1]}


def test_a_program_is_told_no_more_of_the_host_than_the_formats_say() -> None:
    keys = computation(
        "export default function (input: Input): Output { return Reflect.ownKeys(globalThis).map(String).sort(); }"
    )
    told = keys.run().output
    assert not [name for name in told if name.startswith("_") or (name.lower() != name and name in ("QTS", "Module"))]
    assert "recallkit" not in json.dumps(told)


def test_the_engines_template_literals_forge_nothing() -> None:
    # found by the tampering above: the engine joins a template literal with String.prototype.concat
    forged = '{\\"steps\\":0,\\"checkpoints\\":0,\\"milliseconds\\":0}\\n\\"forged\\"'
    ended = program(f'String.prototype.concat = () => "{forged}"; return {{ own: [1, {{ a: 2 }}] }};')
    assert (ended.kind, ended.text) == ("returned", '{"own":[1,{"a":2}]}')
    assert program(f'String.prototype.concat = () => "{forged}"; return [undefined];').kind == "unfit"
    assert program(f'String.prototype.concat = () => "{forged}"; throw new Error("own");').words == "Error: own"
