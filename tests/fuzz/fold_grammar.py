"""Random modules, drawn from a grammar that reads, copies, spreads, sorts, mutates, shares, catches, tests identity and
freezes: whatever a cast makes of any value. keeper_grammar.py has modules as authors write them.
"""

from __future__ import annotations

import json
from random import Random

from json_grammar import NAMES
from keeper_grammar import Keeper

HELPERS = """\
  const v = view as any, e = event as any;
  const list = (x: any): any[] => (Array.isArray(x) ? x : []);
  const rec = (x: any): any => (typeof x === 'object' && x !== null && !Array.isArray(x) ? x : {});
  const get = (x: any, k: any): any => (typeof x === 'object' && x !== null && Object.hasOwn(x, k) ? x[k] : null);
  const cut = (x: any, deep: number): any => Array.isArray(x) ? (deep > 4 ? 'list' : x.slice(-5).map((y) => cut(y, deep + 1)))
    : typeof x === 'object' && x !== null ? (deep > 4 ? 'deep' : Object.fromEntries(Object.entries(x).slice(-6).map(([k, y]) => [k, cut(y, deep + 1)])))
    : typeof x === 'string' ? x.slice(0, 40) : x;
  const small = (x: any): boolean => (JSON.stringify(x) ?? '').length < 3000;
  let t: any = null, u: any = [], w: any = {};
"""
# Functions beside fold, which may call each other.
BESIDE = """\
export function nest(x: any, n: number): any { for (let i = 0; i < n; i++) x = i % 2 ? [x] : { x }; return x; }
export function walk(x: any, see: (y: any) => any): any { see(x); if (typeof x === 'object' && x !== null) for (const y of Object.values(x)) walk(y, see); return x; }
export function same(x: any, y: any = x): boolean { return x === y; }
export function* each(x: any): any { yield x; yield [x]; }
"""


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
        return json.dumps(self.chance.choice(NAMES))

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def plain(self) -> str:
        return self.pick(
            "0", "1", "-1.5", "'s'", "'😀'", "null", "true", "e.id", "e.type", "list(v).length", "-0", '"\\ud800"',
            "1e21", "5e-324", "0.1 + 0.2", "2 ** 53 + 1", "1 / 3", "Number(e.id) * -0", "'\\ud83d' + '\\ude00'", "'\\u2028\\u0000\\\\\"'",
            "'x'.repeat(9000) + e.id", "`${e.id}é`.normalize('NFD')", "e.time", "new Date(e.time).toISOString()", "new Date(e.time).getTime()",
            "Date.now() % 1000", "new Date(Date.UTC(2026, 1, 29)).getUTCDate()", "'a-b-c'.split('-').join(e.id)", "'a1b22'.replace(/\\d+/g, (x) => x + x)",
            "/(?<y>\\d)/.exec(e.id)?.groups?.y ?? null", "'\\ud800x'.toWellFormed()", "parseInt(e.id, 36)", "[3, 1, 10].toSorted().join()",
        )  # fmt: skip

    def value(self, depth: int = 0) -> str:
        """Write an expression: a part of the view or the event, a copy of one, or something new that may hold both."""
        if depth > 3:
            return self.pick("v", "e.data", "t", "u", "w", self.plain())
        kind = self.chance.randrange(32)
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
        if kind == 23:
            return f"(list({inner()}).length > 0 ? list({inner()}).toSpliced(0, 1, {inner()}).with(0, {inner()}) : {inner()})"
        if kind == 24:
            return f"[...new Set(list({inner()})).{self.pick('union', 'intersection', 'difference', 'symmetricDifference')}(new Set(list({inner()})))]"
        if kind == 25:
            return f"[...Map.groupBy(list({inner()}), (x: any) => {self.pick('typeof x', 'x', 'same(x)')})].map(([k, group]: any) => ({{ k, group }}))"
        if kind == 26:
            return f"list({inner()}).values().map((x: any) => {self.pick('[x]', 'x', '({ x })')}).{self.pick('take(2)', 'drop(1)')}.toArray()"
        if kind == 27:
            return f"nest({inner()}, {self.pick('1', '2', '5', 'Number(e.id)')})"
        if kind == 28:
            return f"(({self.pick('{ a, ...x }', '{ a: { b: a = 1 } = {}, ...x }', '[a = 0, , ...x]')}: any) => ({{ a, x }}))({self.pick('rec', 'list')}({inner()}))"
        if kind == 29:
            return f"Array.from(list({inner()}), (x, i) => {self.pick('x', '[x, i]', '(i % 2 ? x : { x })')})"
        if kind == 30:
            return f"(JSON.stringify({inner()}) ?? '').{self.pick('length', 'slice(0, 30)', 'codePointAt(1) ?? 0')}"
        return self.plain()

    def test(self, depth: int = 0) -> str:
        one, other = f"({self.value(depth + 1)} as any)", f"({self.value(depth + 1)} as any)"
        return self.pick(
            f"{one} === {other}", f"{one} !== {other}", f"list({one}).includes({other})", f"list({one}).indexOf({other}) >= 0",
            f"Object.is({one}, {other})", f"new Set([{one}, {other}]).size === 1", f"Object.isFrozen({one})", f"[{one}][0]",
            f"'a' in rec({one})", f"Object.hasOwn(rec({one}), 'b')",
        )  # fmt: skip

    def statement(self, depth: int = 0) -> str:
        kind = self.chance.randrange(26 if depth < 2 else 11)
        if self.chance.random() < self.mutate:
            return self.mutation() if self.chance.random() < 0.7 else self.oddity()
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
            # an error that is kept is not followed
            caught = self.pick(
                "t = String(x);",
                "t = String(x);",
                "t = `${x}`.length;",
                "w = { ...rec(w), t };",
                "t = x instanceof Error ? x.message : x;",
            )
            return f"try {{ {self.statement(depth + 1)} if ({self.test()}) throw {self.value()}; }} catch (x) {{ {caught} }}"
        if kind == 14:
            return f"for (const {(x := self.fresh())} in rec({self.value()})) {{ w = {{ ...rec(w), [{x}]: {self.value()} }}; }}"
        if kind == 15:
            f, x = self.fresh(), self.fresh()
            return f"const {f} = ({x}: any, n: number): any => (n > 2 ? {x} : {f}(n % 2 ? {x} : {self.value()}, n + 1)); t = {f}({self.value()}, 0);"
        if kind == 16:
            a, b = self.fresh(), self.fresh()
            return f"{a}: for (const {b} of list({self.value()})) {{ for (const x of list({b})) {{ u = [x]; if ({self.test()}) continue {a}; {self.statement(depth + 1)} }} break {a}; }}"
        if kind == 17:
            n, f = self.fresh(), self.fresh()
            return (
                f"let {n}: any = 0; const {f} = () => {{ {n} = [{n}, {self.value()}]; return {n}; }}; {f}(); t = {f}();"
            )
        if kind == 18:
            name = self.fresh()
            return f"const {name}: any = {{ a: {self.value()} }}; try {{ {name}.b = {self.value()}; if ({self.test()}) (null as any).x; {name}.c = 1; }} catch {{ {name}.d = {self.value()}; }} t = {name};"
        if kind == 19:
            name = self.fresh()
            return f"const {name} = new Map<any, any>(Object.entries(rec({self.value()}))); {name}.set('k', {self.value()}); {name}.delete('a'); w = Object.fromEntries({name});"
        if kind == 20:
            return "[u, w] = [w, u];"
        if kind == 21:
            name = self.fresh()
            return f"const {name}: any[] = []; for (let i = 0; i < 3; i++) {name}.push({self.value()}); while ({name}.length > 2) {name}.shift(); t = {name};"
        if kind == 22:
            return f"try {{ {self.statement(depth + 1)} }} finally {{ w = [{self.plain()}, {self.value()}]; }}"
        if kind == 23:
            name = self.fresh()
            return f"let {name} = 0; walk({self.value()}, (x) => {{ if ({self.pick('x === v', 'same(x, t)', 'Array.isArray(x)')}) {name}++; }}); w = {{ ...rec(w), seen: {name} }};"
        if kind == 24:
            return f"if ({self.test()}) return {self.value()} as any;"
        return f"t = cut({self.value()}, 0);"

    def oddity(self) -> str:
        """Write what no analysis follows; or a value that is nearly plain, and is kept."""
        o = self.fresh()
        return f"const {o}: any = " + self.pick(
            f"{{ get a() {{ return {self.value()}; }} }}; t = {o}.a;", f"{{ get a() {{ return {self.value()}; }} }}; t = {o};", f"[...each({self.value()})]; t = {o};",
            f"new WeakMap<any, any>(); {o}.set(rec(v), {self.value()}); t = {o}.get(rec(v)) ?? null;", f"Reflect.ownKeys(rec({self.value()})); t = {o};",
            f"new Proxy(rec({self.value()}), {{ get: (x, k) => (k === 'a' ? 1 : (x as any)[k]) }}); t = {o}.a; w = {{ {o} }};",
            f"class {{ x = {self.value()} }}; t = new {o}().x;", f"class {{ x = {self.value()} }}; if ({self.test()}) t = new {o}();",
            f"JSON.parse('[1, {{}}]', (k, x) => (k === '1' ? {self.value()} : x)); t = {o};", f"JSON.stringify({self.value()}, (k, x) => x) ?? 0; t = {o};",
            f"[{self.value()}].map(Object.freeze); t = {o};", f"Object.create(null); {o}.a = {self.value()}; t = {o};", f"Object.create({{ b: 1 }}); {o}.a = 1; if ({self.test()}) t = {o};",
            f"{{ a: 1 }}; Object.defineProperty({o}, 'b', {{ value: {self.value()}, enumerable: {self.pick('true', 'false')} }}); t = {o};",
            f"{{ a: 1, [Symbol.iterator]: 1 }}; t = {o};", f"[1, 2]; {o}.b = {self.value()}; t = {o};", f"[1, 2]; {o}.length = {self.pick('1', '3', '100')}; t = {o}.length > 2 ? {o}.length : {o};",
            f"[1]; {o}[{self.pick('1', '2', '5', '70000')}] = {self.value()}; t = {o};", f"new (class extends Array {{}})(); {o}.push({self.value()}); t = {o};",
            f"{{ a: 1, b: 2, c: {self.value()} }}; delete {o}.{self.pick('a', 'b', 'c')}; {o}.a = {self.value()}; t = {o};", f"Object.seal([{self.value()}]); t = {o};",
            f"{{ n: new {self.pick('Number(1)', 'String(`s`)', 'Boolean(0)', 'Date(0)', 'Uint8Array(2)', 'Set([1])')} }}; if ({self.test()}) t = {o}; else t = String({o}.n);",
            f"{self.value()}; Object.setPrototypeOf(rec({o}), {self.pick('null', 'Object.prototype', '{}', 'Array.prototype')}); t = {o};",
            f"{self.pick('0 / 0', '1 / 0', '-0', '2 ** 31', '-(2 ** 31)', '2 ** 32 - 1', '1e300 * 10', '4.0', '0x7fffffff + 1', '10n')}; if ({self.test()}) t = {o};",
            f"['']; for (let i = 0; i < {self.pick('3', '40', '3000')}; i++) {o}[0] += {self.pick('e.id', '`é😀`', 'String.fromCharCode(0xd83d)', 'JSON.stringify(i)')}; t = {o};",
            f"Object.keys(rec({self.value()})); w = {{ ...rec(w), [String({o}[0])]: {o} }};", f"(v as any)?.a; (v as any).kept = {o}; t = {o};", f"[e, e.data]; t = {o};",
            f"(function (this: any) {{ return arguments; }} as any)({self.value()}); t = [...{o}]; if ({self.test()}) t = {o};", "1; (fold as any).last = v;", f"JSON.rawJSON?.('1') ?? 1; t = {o};".replace("JSON.rawJSON", "(JSON as any).rawJSON"),
        )  # fmt: skip

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
        part = self.pick("v", "e.data", self.value(2), self.value(2))
        return self.pick(
            f"rec({part}).x = {self.value()};", f"list({part}).push({self.value()});", f"list({part}).sort();", f"delete rec({part}).a;",
            f"list({part}).map((x, i, all) => all.length = 1);", f"Object.assign(rec({part}), {{ n: 1 }});", f"Object.freeze({part});",
            f"for (const x of list({part})) rec(x).seen = 1;", f"Object.defineProperty(rec({part}), 'q', {{ value: 1 }});",
            f"rec({part})[{self.name()}] = {self.value()};", f"list({part}).unshift({self.value()});", f"list({part}).pop();", f"list({part}).splice(0, 1, {self.value()}, {self.value()});",
            f"list({part})[3] = {self.value()};", f"list({part}).length = {self.pick('0', '2', '9')};", f"for (const k of Object.keys(rec({part})).slice(3)) delete rec({part})[k];",
            f"t = {part}; if (Array.isArray(t)) t.reverse(); u = t;", f"Object.values(rec({part})).forEach((x: any) => {{ if (Array.isArray(x)) x.push(e.id); else rec(x).id = e.id; }});",
            f"rec({part}).self = {part};" if self.chance.random() < 0.2 else f"rec({part}).twice = [t, t];", f"list({part}).fill({self.value()}, 1);", f"list({part}).copyWithin(0, 1);",
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
    """Write a module: now and then a part of it spends all of one bound, or raises."""
    if chance.random() < 0.4:
        return Keeper(chance).module(HELPERS)
    writer = Writer(chance, mutate=chance.choice([0, 0, 0.05, 0.4]))
    lines = [writer.statement() for _ in range(chance.randint(1, 6))]
    if chance.randrange(25) == 0:
        end = writer.pick(
            "for (;;) ;", "throw e.data;", "(null as any).x;", "rec(v).a.b.c;", "(function f(): any { return f() + 1; })();",
            "return nest(v, 509) as any;", "return nest(1, 512) as any;", "return nest(1, 513) as any;", "return 'ü'.repeat(262_143) as any;",
            "return ['x'.repeat(524_287), v] as any;", "const big: any[] = []; for (;;) big.push(new Array(1e5).fill(big));", "return v.map((x: any) => [x, v]) as any;",
            "throw Object.assign(new TypeError('odd'), { data: v });", "throw new RangeError(`${e.id}é`.repeat(2000));",
        )  # fmt: skip
        lines.insert(chance.randrange(len(lines) + 1), f"if (Math.abs(Number(e.id)) > 3) {{ {end} }}")
    text = "\n".join(f"  {line}" for line in lines)
    beside = BESIDE if any(f"{name}(" in text for name in ("each", "walk", "same", "nest")) else ""
    if "each(" not in text:
        beside = "".join(line for line in beside.splitlines(True) if "function*" not in line)
    return f"export function fold(view: View, event: Event): View {{\n{HELPERS}{text}\n  return ({writer.result()}) as any;\n}}\n{beside}"
