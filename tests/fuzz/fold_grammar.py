"""Random folds: modules drawn from a grammar that reads, copies, spreads, sorts, mutates, shares, catches, tests identity
and freezes, and the comparison of their fast and plain way. Used by test_fast_way.py and by the fuzzing command beside.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import recallkit as rk
from recallkit.definitions import loading
from recallkit.views.fold import Fold, fold_history
from recallkit.views.session import Way, way_of

NAMES = ["a", "b", "list", "n", "1", "0", "__proto__", "toString", "toJSON", "constructor", "length", "é"]
HELPERS = """\
  const v = view as any, e = event as any;
  const list = (x: any): any[] => (Array.isArray(x) ? x : []);
  const rec = (x: any): any => (typeof x === 'object' && x !== null && !Array.isArray(x) ? x : {});
  const get = (x: any, k: any): any => (typeof x === 'object' && x !== null && Object.hasOwn(x, k) ? x[k] : null);
  const cut = (x: any, deep: number): any => Array.isArray(x) ? (deep > 4 ? x.length : x.slice(-5).map((y) => cut(y, deep + 1)))
    : typeof x === 'object' && x !== null ? (deep > 4 ? 'deep' : Object.fromEntries(Object.entries(x).slice(-6).map(([k, y]) => [k, cut(y, deep + 1)])))
    : typeof x === 'string' ? x.slice(0, 40) : x;
  const small = (x: any): boolean => (JSON.stringify(x) ?? '').length < 3000;
  let t: any = null, u: any = [], w: any = {};
"""
# What a cast makes of any value: the view's parts are read, kept, copied and shared in every way the grammar knows.


class Writer:
    """Writes one module; every choice comes from `chance`."""

    def __init__(self, chance: Random, mutate: float) -> None:
        self.chance = chance
        self.mutate = mutate
        self.own = ["u", "w"]
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def name(self) -> str:
        return json.dumps(self.chance.choice(NAMES), ensure_ascii=False)

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def plain(self) -> str:
        return self.pick(
            "0", "1", "-1.5", "'s'", "'😀'", "null", "true", "e.id", "e.type", "list(v).length", "-0", '"\\ud800"'
        )

    def value(self, depth: int = 0) -> str:
        """Write an expression: a part of the view or the event, a copy of one, or something new that may hold both."""
        if depth > 3:
            return self.pick("v", "e.data", "t", "u", "w", self.plain())
        kind = self.chance.randrange(24)
        inner = lambda: self.value(depth + 1)  # noqa: E731
        if kind < 3:
            return self.pick("v", "e.data", "t", "u", "w")
        if kind < 7:
            return f"get({inner()}, {self.name()})"
        if kind == 7:
            return f"{{ ...rec({inner()}), [{self.name()} as string]: {inner()} }}"
        if kind == 8:
            return f"{{ a: {inner()}, b: {inner()} }}"
        if kind == 9:
            return f"[...list({inner()}), {inner()}]"
        if kind == 10:
            return f"[{inner()}, {inner()}]"
        if kind == 11:
            return (
                f"list({inner()}).map((x) => {self.pick('x', '[x]', '({ x })', '({ ...rec(x), n: 1 })', 'typeof x')})"
            )
        if kind == 12:
            keep = self.pick("i > 0", "typeof x === 'object'", "x !== v", "x")
            return f"list({inner()}).filter((x, i) => {keep})"
        if kind == 13:
            compare = self.pick("1", "JSON.stringify(x) < JSON.stringify(y) ? -1 : 1", "x === y ? 0 : -1")
            return f"list({inner()}).toSorted((x, y) => {compare})"
        if kind == 14:
            return f"Object.fromEntries(Object.entries(rec({inner()})).{self.pick('reverse()', 'slice(-3)', 'slice(1)', 'toSorted()')})"
        if kind == 15:
            return f"({self.test(depth)} ? {inner()} : {inner()})"
        if kind == 16:
            return f"(([{inner()}] as any[])[0] {self.pick('??', '||', '&&')} {inner()})"
        if kind == 17:
            return f"list({inner()}).reduce((x: any, y: any) => {self.pick('[x, y]', 'y', 'x', '({ ...rec(x), y })')}, {inner()})"
        if kind == 18:
            return f"list({inner()}).{self.pick('at(-1)', 'slice(-2)', 'flat()', 'toReversed()', 'concat(1)', 'find((x) => x)')}"
        if kind == 19:
            return "[...new " + self.pick("Set(list(%s))", "Map(Object.entries(rec(%s)))") % inner() + "]"
        if kind == 20:
            return f"JSON.parse(JSON.stringify({inner()}) ?? 'null')"
        if kind == 21:
            return f"Object.{self.pick('values', 'keys', 'entries')}(rec({inner()}))"
        if kind == 22:
            return f"{{ ...Object.groupBy(list({inner()}), (x) => typeof x) }}"
        return self.plain()

    def test(self, depth: int = 0) -> str:
        one, other = f"({self.value(depth + 1)} as any)", f"({self.value(depth + 1)} as any)"
        return self.pick(
            f"{one} === {other}", f"{one} !== {other}", f"list({one}).includes({other})", f"list({one}).indexOf({other}) >= 0",
            f"Object.is({one}, {other})", f"new Set([{one}, {other}]).size === 1", f"Object.isFrozen({one})", f"[{one}][0]",
            f"'a' in rec({one})", f"Object.hasOwn(rec({one}), 'b')",
        )  # fmt: skip

    def statement(self, depth: int = 0) -> str:
        kind = self.chance.randrange(17 if depth < 2 else 11)
        if self.chance.random() < self.mutate:
            return self.mutation()
        if kind < 3:
            return f"{self.pick('t', 'u', 'w')} = {self.value()};"
        if kind == 3:
            name = self.fresh()
            own = self.pick(f"[...list({self.value()})]", f"{{ ...rec({self.value()}) }}")
            return f"const {name}: any = {own}; {self.change(name)} {self.change(name)} {self.pick('t', 'u', 'w')} = {name};"
        if kind == 4:
            return f"const [{(a := self.fresh())} = 1, ...{(b := self.fresh())}]: any[] = list({self.value()}); t = [{a}, {b}];"
        if kind == 5:
            return f"const {{ a: {(a := self.fresh())}, ...{(b := self.fresh())} }} = rec({self.value()}); {b}.a = {a}; w = {b};"
        if kind == 6:
            return f"w = {{ ...rec(w), same: {self.test()} }};"
        if kind == 7:
            name = self.fresh()
            return f"const {name} = JSON.parse(JSON.stringify({self.value()}) ?? '[]'); if ({name} && {name}.a) {name}.a.x = {self.value()}; t = {name};"
        if kind == 8:
            return f"e.data = {{ n: {self.value()} }}; {self.pick('t = e.data;', 'e.data.n = 1;', 'delete e.data;')}"
        if kind == 9:
            name = self.fresh()
            return f"const {name} = new Map<any, any>(); for (const x of list({self.value()})) {name}.set(x, ({name}.get(x) ?? 0) + 1); t = [...{name}];"
        if kind == 10:
            return f"switch ({self.value()} as any) {{ case {self.value()} as any: t = 1; break; default: u = [u]; }}"
        if kind == 11:
            return f"if ({self.test()}) {{ {self.statement(depth + 1)} }} else {{ {self.statement(depth + 1)} }}"
        if kind == 12:
            return f"for (const {(x := self.fresh())} of list({self.value()})) {{ t = [{x}, {self.plain()}]; if ({self.test()}) break; {self.statement(depth + 1)} }}"
        if kind == 13:
            return f"try {{ {self.statement(depth + 1)} if ({self.test()}) throw {self.value()}; }} catch (x) {{ t = x instanceof Error ? x.message : x; }}"
        if kind == 14:
            return f"for (const {(x := self.fresh())} in rec({self.value()})) {{ w = {{ ...rec(w), [{x}]: {self.value()} }}; }}"
        if kind == 15:
            f, x = self.fresh(), self.fresh()
            return f"const {f} = ({x}: any, n: number): any => (n > 2 ? {x} : {f}([{x}, {self.value()}][n % 2], n + 1)); t = {f}({self.value()}, 0);"
        return f"t = cut({self.value()}, 0);"

    def change(self, own: str) -> str:
        """Write a change of what the fold made."""
        return self.pick(
            f"{own}.length = 2;", f"{own}[{self.name()}] = {self.value()};", f"delete {own}[{self.name()}];", f"{own}.b = {self.value()};",
            f"if (Array.isArray({own})) {own}.push({self.value()});", f"if (Array.isArray({own})) {own}.sort();",
            f"if (Array.isArray({own})) {own}.splice(0, 1, {self.value()});", f"Object.assign({own}, {self.value()});",
            f"if (Array.isArray({own})) {own}.reverse().fill({self.value()}, 0, 1);", f"[{own}.a, {own}.b] = [{self.value()}, 1];",
        )  # fmt: skip

    def mutation(self) -> str:
        """Write a change of what it may not have made."""
        part = self.value(2)
        return self.pick(
            f"rec({part}).x = {self.value()};", f"list({part}).push({self.value()});", f"list({part}).sort();", f"delete rec({part}).a;",
            f"list({part}).map((x, i, all) => all.length = 1);", f"Object.assign(rec({part}), {{ n: 1 }});", f"Object.freeze({part});",
            f"for (const x of list({part})) rec(x).seen = 1;", f"Object.defineProperty(rec({part}), 'q', {{ value: 1 }});",
        )  # fmt: skip

    def result(self) -> str:
        odd = self.chance.randrange(60)
        if odd == 0:
            return self.pick(
                "new Date(0)",
                "{ a: undefined }",
                "[() => 1]",
                "NaN",
                "new Map()",
                "[,]",
                "{ n: 1n } as any",
                "undefined",
            )
        if odd == 1:
            return "{ t, u, w, v, e }"
        made = self.pick(
            "{ ...rec(v), t, u }",
            "[...list(v), t].slice(-6)",
            "{ t, u, w, v }",
            "t",
            "[v, t]",
            "{ ...rec(v), [e.type]: w }",
            "w",
        )
        return f"((out: any) => (small(out) ? out : cut(out, 0)))({made})" if self.chance.random() < 0.9 else made


def draw_module(chance: Random) -> str:
    """Write a module."""
    writer = Writer(chance, mutate=chance.choice([0, 0, 0, 0.05]))
    lines = [writer.statement() for _ in range(chance.randint(1, 6))]
    if chance.randrange(40) == 0:
        lines.append(
            "if (Math.abs(Number(e.id)) > 3) "
            + writer.pick(
                "for (;;) ;", "throw e.data;", "null!.x;", "rec(v).a.b.c;", "(function f(): any { return f() + 1; })();"
            )
        )
    text = "\n".join(f"  {line}" for line in lines)
    return f"export function fold(view: View, event: Event): View {{\n{HELPERS}{text}\n  return ({writer.result()}) as any;\n}}\n"


def draw_value(chance: Random, depth: int = 0) -> Any:
    """Draw a JSON value."""
    kind = chance.randrange(9 if depth < 4 else 5)
    if kind < 5:
        return chance.choice([None, True, 0, -0.0, 7, 1.5, 1e21, "", "s", "\ud800", "é\u2028", "a" * 30, 2**53])
    if kind < 7:
        return [draw_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(NAMES): draw_value(chance, depth + 1) for _ in range(chance.randrange(4))}


def draw_events(chance: Random) -> list[dict[str, Any]]:
    """Draw events of a few types."""
    return [
        {"specversion": "1.0", "id": str(n), "type": chance.choice("ab"), "source": "/s", "time": f"2026-01-01T00:{n:02d}:00.000Z",
         "data": draw_value(chance)}
        for n in range(chance.randint(4, 16))
    ]  # fmt: skip


SCHEMAS: list[Any] = [
    None, None, None,
    {"type": ["object", "array"], "maxItems": 5, "maxProperties": 5},
    {"additionalProperties": {"type": ["array", "object", "null", "string", "number", "boolean"], "maxItems": 4, "items": {"not": {"const": 7}}}},
    {"items": {"uniqueItems": True, "properties": {"a": {"type": ["object", "array", "null"]}}}, "properties": {"t": {"maxProperties": 3}}},
]  # fmt: skip


def document(module: str, initial: Any, schema: Any) -> str:
    """Return the document of a module."""
    view = {"initial": initial} if schema is None else {"initial": initial, "schema": schema}
    front = f"language: typescript\nsource: {{ events: [{{ type: a }}, {{ type: b }}] }}\nview: {json.dumps(view)}"
    return f"---\n{front}\n---\n{module}"


def outcome(fold: Fold) -> dict[str, Any]:
    """Return all that a person may see of a fold, but for its time and its memory."""
    stall = fold.stall
    number = len(fold.ledger)
    return {
        "state": fold.state,
        "view": fold.view,
        "views": [fold.keyframes.before(n)[1] for n in range(number + 1)],
        "bytes": [fold.ledger.bytes_after(n + 1) for n in range(number)],
        "steps": [fold.ledger.cost(n)[0] for n in range(number)],
        "stall": stall and (stall.kind, stall.error, stall.line, stall.seq, stall.folded, stall.steps, stall.details),
    }


def compare(chance: Random) -> tuple[str, str, dict[str, Any], dict[str, Any]] | None:
    """Draw a case and fold it in every way: (document, its own way, that way's outcome, the written way's).

    Where the plain way differs from the written one its outcome stands in the place of its own way's. None where the
    document cannot be saved.
    """
    module, events = draw_module(chance), draw_events(chance)
    text = document(module, chance.choice([None, {}, [], {"a": [{"n": 1}, {}]}]), chance.choice(SCHEMAS))
    page = chance.randint(1, 20)
    try:
        definition = loading.read(text)
    except rk.Refused:
        return None
    history = rk.read_history(events)
    ways: tuple[Way, ...] = (way_of(definition), "plain", "written")
    own, plain, written = (
        outcome(fold_history(definition, history, page=page, keyframe_every=1, way=way)) for way in ways
    )
    return text, ways[0], own if plain == written else plain, written
