"""The library a document is checked against is the sandbox's own: a name the sandbox lacks is a name the compiler
lacks (computation, Checked when it is saved; The sandbox)."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
from pathlib import Path

import pytest

from recallkit.bounds import RUN_MEMORY_BYTES
from recallkit.definitions.checker import check_module
from recallkit.definitions.checker.process import ASSETS, HERE, node_path
from recallkit.definitions.types import declarations
from recallkit.sandbox import Sandbox

TYPES = declarations("computation")


ABSENT = set(
    re.findall(
        r"\w+",
        "fetch setTimeout setInterval queueMicrotask console process require performance crypto structuredClone "
        "document navigator window self Buffer URL TextEncoder TextDecoder AbortController Intl Atomics WeakRef "
        "Promise Function FinalizationRegistry WebAssembly module exports __dirname Temporal ShadowRealm alert "
        "AsyncFunction setImmediate importScripts Deno Bun std os scriptArgs print gc Event",
    )
)
LOCAL_TIME = set(
    re.findall(
        r"\w+",
        "getFullYear getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds getTimezoneOffset getYear "
        "setFullYear setMonth setDate setHours setMinutes setSeconds setMilliseconds setYear toDateString toTimeString "
        "toLocaleDateString toLocaleTimeString",
    )
)


def problems(statements: str) -> list[str]:
    body = f"export default function (input: Input): Output {{\n{statements}\nreturn null;\n}}"
    return [each.words for each in check_module("computation", body, 1, TYPES).problems]


@pytest.mark.parametrize(
    "name",
    sorted(ABSENT),
)
def test_a_name_the_sandbox_lacks_cannot_be_found(name: str) -> None:
    (words,) = problems(f"const a: unknown = {name};")
    assert words.startswith(f"Cannot find name '{name}'.")


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("Math.random();", "Property 'random' does not exist on type 'Math'"),
        ("Array.fromAsync([]);", "Property 'fromAsync' does not exist on type 'ArrayConstructor'"),
        ("Error.captureStackTrace({});", "Property 'captureStackTrace' does not exist on type 'ErrorConstructor'"),
        ("RegExp.lastMatch;", "Property 'lastMatch' does not exist on type 'RegExpConstructor'"),
        ("new Date(2026, 0, 1);", "Expected 0-1 arguments, but got 3"),
        ("Date();", "is not callable"),
        ("new Intl.NumberFormat('en');", "Cannot find name 'Intl'"),
        ("Promise.resolve(1);", "Cannot find name 'Promise'"),
        ("const f: unknown = new (class { f = Function.prototype })();", "Cannot find name 'Function'"),
    ],
)
def test_a_member_the_sandbox_lacks_does_not_exist(use: str, words: str) -> None:
    (told,) = problems(use)
    assert words in told


@pytest.mark.parametrize(
    "member",
    sorted(LOCAL_TIME),
)
def test_every_local_time_method_of_a_date_is_absent(member: str) -> None:
    (words,) = problems(f"new Date(0).{member};")
    assert words.startswith(f"Property '{member}' does not exist on type 'Date'.")


@pytest.mark.parametrize(
    "use",
    [
        "new Date(0).toLocaleString();",  # passes the check, and raises when it runs
        "new Date(); new Date(0); new Date(new Date()); new Date('2026-01-01');",
        "new Date(0).getUTCHours(); new Date(0).setUTCDate(1); new Date(0).toISOString(); Date.UTC(2026, 0);",
        "[3, 1].toSorted(); [1].with(0, 2); [1].findLast((n) => n > 0); [1].at(-1); [[1]].flat();",
        "Map.groupBy([1], (n) => n); Object.groupBy([1], (n) => n); Object.hasOwn({}, 'a');",
        "new Set([1]).union(new Set([2])); new Set([1]).isSubsetOf(new Set([2]));",
        "[1].values().map((n) => n).filter((n) => n > 0).take(1).toArray(); Iterator.from([1]).drop(1);",
        "1n + 2n; BigInt(1); BigInt.asIntN(8, 1n); new Float16Array(1); Math.f16round(1);",
        "'a'.replaceAll('a', 'b'); 'a'.isWellFormed(); 'ä'.localeCompare('b'); 'a'.at(0);",
        "/a/v.test('a'); RegExp.escape('.'); escape('a'); parseInt('1'); Date.now();",
        "new WeakMap<object, number>(); new WeakSet(); new Proxy({}, {}); Reflect.ownKeys({});",
        "Symbol('a'); new DataView(new ArrayBuffer(1));",
        "new Error('a', { cause: 1 }).cause; new AggregateError([1]).errors; encodeURIComponent('a');",
        "const f: Function = () => 1; const w: WeakRef<object> | undefined = undefined;",
        "const i: Intl.Locale | undefined = undefined;",
        "function* f(): Generator<number, void, unknown> { yield 1; } const it: Iterator<number> = f(); it.next();",
        "globalThis.Math.max(1); (globalThis as any).x; globalThis.JSON.parse('1');",
        "'abc'.match(/b/)?.index; [...'ab'.matchAll(/a/g)].map((each) => each[0]);",
        "(1).toLocaleString(); [1].toLocaleString();",
    ],
)
def test_the_library_of_the_language_is_there(use: str) -> None:
    assert problems(use) == []


def test_the_listing_of_the_engine_is_what_the_pinned_engine_has(root: Path) -> None:
    script = root / "scripts" / "list_engine_library.py"
    if not script.exists():
        pytest.skip("the scripts are not in a wheel")
    names = runpy.run_path(str(script))
    assert (HERE / "engine-library.json").read_text(encoding="utf-8") == names["written"](names["ask_engine"]())


def test_the_library_made_when_the_wheel_is_built_is_up_to_date(root: Path, tmp_path: Path) -> None:
    if not (root / "scripts" / "make_library.mjs").exists():
        pytest.skip("the scripts are not in a wheel")
    (tmp_path / "checker").mkdir()
    (tmp_path / "checker" / "node_modules").symlink_to(ASSETS / "node_modules")
    subprocess.run([node_path(), root / "scripts" / "make_library.mjs", tmp_path], check=True, timeout=60)
    made = json.loads((tmp_path / "checker" / "library.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in made["files"]] == ["sandbox.d.ts", "sandbox.lib.es2025.iterator.d.ts"]


LISTED = """() => {
  const keysOf = (value) => {
    const keys = new Set();
    for (let each = value; each !== null && each !== undefined; each = Object.getPrototypeOf(each)) {
      for (const key of Reflect.ownKeys(each)) {
        keys.add(typeof key === 'symbol' ? '@@' + key.description.slice(7) : key);
      }
    }
    return [...keys];
  };
  const cause = { cause: 1 };
  const samples = {
    RegExp: /a/, Array: [], String: new String(''), Error: new Error('a', cause),
    AggregateError: new AggregateError([1]),
  };
  const listed = {};
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = globalThis[name];
    const known = value !== null && (typeof value === 'object' || typeof value === 'function') && value !== globalThis;
    listed[name] = { own: known ? keysOf(value) : [], members: known ? keysOf(samples[name] ?? value.prototype) : [] };
  }
  return JSON.stringify(listed);
}"""

# Protocols that objects follow and no global's prototype; and what only types say.
NO_PROTOTYPE = {"Iterator", "Function", "Promise", "WeakRef", "FinalizationRegistry", "Atomics", "Intl"}


def test_every_value_and_member_of_the_library_is_in_the_hardened_sandbox() -> None:
    with Sandbox(memory_bytes=RUN_MEMORY_BYTES, frozen=False) as sandbox:
        has = json.loads(sandbox.call(LISTED))
    files = json.loads((ASSETS / "library.json").read_text(encoding="utf-8"))["files"]
    values: set[str] = set()
    lacking = set()
    checked = 0
    for indent, text in zip((0, 4), (each["text"] for each in files), strict=True):
        values |= set(re.findall(rf"^ {{{indent}}}(?:declare )?(?:var|function|const) (\w+)", text, re.MULTILINE))
        interfaces = rf"^ {{{indent}}}interface (\w+)[^{{\n]*\{{\n(.*?)^ {{{indent}}}\}}$"
        member = rf'^ {{{indent + 4}}}(?:readonly )?(?:\[Symbol\.(\w+)\]|"?(\w+)"?)\??[(<:]'
        for name, block in re.findall(interfaces, text, re.MULTILINE | re.DOTALL):
            constructed = name.removesuffix("Constructor")
            listed = has.get(constructed)
            if listed is None or constructed in NO_PROTOTYPE:
                continue
            own = listed["own"] if constructed != name or name in ("Math", "JSON") else listed["members"]
            for symbol, plain in re.findall(member, block, re.MULTILINE):
                checked += plain != "new"
                if plain != "new" and (f"@@{symbol}" if symbol else plain) not in own:
                    lacking.add(f"{name}.{symbol or plain}")
    assert len(values) > 50
    assert values - has.keys() == set()
    assert lacking == set()
    assert checked > 700
