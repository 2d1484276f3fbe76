"""Modules as authors write them: each fold makes a new version of a few parts of a growing view, and keeps the rest."""

from __future__ import annotations

import json
from random import Random

KEYS = {"object": ["o", "p", "é", "1", "__proto__"], "list": ["list", "l2", "0"], "any": ["a", "n", "x", "-1"]}


class Keeper:
    """Writes expressions that bring a part of the view up to date; every choice comes from `chance`."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.most = chance.choice([3, 6, 12, 40, 90])

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def entry(self) -> str:
        """Write something new to keep."""
        return self.pick(
            "e.data",
            "{ id: e.id, n: Number(e.id), data: e.data }",
            "{ id: e.id, more: [e.type, { at: e.time }] }",
            "[e.id, [e.data]]",
            "e.id",
            "Number(e.id) % 3",
            "{}",
            "[]",
            "{ id: e.id, text: 'é'.repeat(Number(e.id) % 40) }",
            "Object.groupBy([1, 2], (x) => 'k' + (x % 2))",
        )

    def update(self, part: str, kind: str, depth: int = 0) -> str:
        """Write a new version of a part."""
        if depth > 3:
            return self.pick(part, self.entry())
        if kind == "list":
            return self.list(part, depth)
        if kind == "object":
            return self.object(part, depth)
        return self.pick(
            part,
            self.entry(),
            self.entry(),
            f"(typeof {part} === 'number' ? {part} + 1 : 0)",
            self.object(part, depth),
        )

    def object(self, part: str, depth: int) -> str:
        chance = self.chance
        kind = chance.choice(["object", "list", "any"])
        key = json.dumps(chance.choice(KEYS[kind]), ensure_ascii=False)
        if chance.random() < 0.25:
            key = self.pick("e.type", "'k' + (Number(e.id) % 4)", "String(Number(e.id) % 12)")
        choice = chance.randrange(14)
        if choice < 7:
            return f"{{ ...rec({part}), [{key} as string]: {self.update(f'get({part}, {key})', kind, depth + 1)} }}"
        if choice == 7:
            return f"(({{ [{key} as string]: _, ...others }}: any) => others)(rec({part}))"
        if choice == 8:
            other = json.dumps(chance.choice(KEYS[kind]), ensure_ascii=False)
            return f"{{ ...rec({part}), [{key} as string]: get({part}, {other}), [{other}]: get({part}, {key}) }}"
        if choice == 9:
            inner = self.update("y", "any", depth + 2)
            return f"Object.fromEntries(Object.entries(rec({part})).map(([k, y]: any) => [k, {inner}]))"
        if choice == 10:
            return f"Object.fromEntries(Object.entries(rec({part})).filter(([k, y]: any, i: number) => i % 4 !== {chance.randrange(4)}))"
        if choice == 11:
            return f"Object.fromEntries(Object.entries(rec({part})).{self.pick('slice(-6)', 'toReversed()', 'toSorted()')})"
        if choice == 12:
            return (
                f"({self.pick('Number(e.id) % 3 === 0', 'e.type === `a`')} ? {self.object(part, depth + 1)} : {part})"
            )
        return f"Object.assign({{}}, rec({part}), {{ [{key} as string]: {self.entry()} }})"

    def list(self, part: str, depth: int) -> str:
        chance = self.chance
        place = chance.randrange(12)
        inner = self.update("y", self.pick("any", "object"), depth + 1)
        return self.pick(
            f"[...list({part}), {self.entry()}].slice(-{self.most})",
            f"[...list({part}), {self.entry()}].slice(-{self.most})",
            f"[{self.entry()}, ...list({part})].slice(0, {self.most})",
            f"list({part}).concat([{self.entry()}, {self.entry()}]).slice(-{self.most})",
            f"list({part}).filter((y: any, i: number) => i % {place + 2} !== {place // 2})",
            f"list({part}).map((y: any, i: number) => (i === {place} ? {inner} : y))",
            f"list({part}).map((y: any) => {inner})",
            f"(list({part}).length > {place} ? list({part}).with({place}, {self.entry()}) : list({part}))",
            f"list({part}).toSorted((p: any, q: any) => Number(get(p, 'n') ?? 0) - Number(get(q, 'n') ?? 0))",
            f"list({part}).toSpliced({place}, {chance.randrange(3)}, {self.entry()}).slice(-{self.most})",
            f"list({part}).{self.pick('toReversed()', 'slice(1)', 'slice(0, -1)', 'flat()')}.slice(-{self.most})",
            f"[...list({part}), get(v, 'o'), list({part})[0] ?? null].slice(-{self.most})",
            f"[...new Map(list({part}).map((y: any) => [JSON.stringify(get(y, 'id')), y])).values(), {self.entry()}].slice(-{self.most})",
        )

    def change(self) -> str:
        """Write a change of a part where it lies."""
        kind = self.pick("o", "p", "list", "l2", "0")
        key = json.dumps(self.chance.choice(KEYS["any"]))
        if kind in ("o", "p"):
            return self.pick(
                f"t = rec(t); t.{kind} = rec(t.{kind}); t.{kind}[{key}] = {self.entry()};",
                f"t = rec(t); (t.{kind} ??= {{}}); rec(t.{kind})[e.type] = {self.update('get(t, ' + key + ')', 'any', 2)};",
                f"delete rec(get(t, '{kind}'))[{key}]; delete rec(t)[{key}];",
                f"t = rec(t); t.{kind} = get(t, {key}); t[{key}] = null;",
                f"t = rec(t); t.{kind} = get(t, 'list');",
            )
        name = f"t[{json.dumps(kind)}]"
        return f"t = rec(t); {name} = list({name}); " + self.pick(
            f"{name}.push({self.entry()}); if ({name}.length > {self.most}) {name}.shift();",
            f"{name}.unshift({self.entry()}); {name}.length = Math.min({name}.length, {self.most});",
            f"for (const x of {name}) if (rec(x) === x) x.n = {self.entry()};",
            f"{name}.sort((p: any, q: any) => Number(get(p, 'n') ?? 0) - Number(get(q, 'n') ?? 0));",
            f"{name}.splice({self.chance.randrange(4)}, 1, {self.entry()});",
            f"if ({name}.length > 2) {name}[1] = {self.update(f'{name}[1]', 'any', 2)};",
            f"{name} = {name}.slice(-2).concat({name});",
            f"{name}.reverse();",
        )

    def module(self, helpers: str) -> str:
        """Write the module; a view past 40 kB begins anew, so that a case stays quick."""
        updates = [self.object("t", 0) for _ in range(self.chance.randint(1, 3))]
        lines = "\n".join(f"  t = {each};" for each in updates)
        if self.chance.random() < 0.35:
            changes = [self.change() for _ in range(self.chance.randint(1, 3))]
            lines = "\n".join(
                f"  {each}" for each in (changes if self.chance.random() < 0.7 else [*changes, lines.strip()])
            )
        seldom = ""
        if self.chance.randrange(4) == 0:
            seldom = f"  if (Number(e.id) % 7 === 3) return {self.pick('v', 't', 'rec(get(v, `o`))', '{ was: v }', '[t, v]', '{}')} as any;\n"
        return (
            f"export function fold(view: View, event: Event): View {{\n{helpers}  t = v;\n{lines}\n{seldom}"
            "  return (JSON.stringify(t).length > 40000 ? {} : t) as any;\n}\n"
        )
