"""The same module and events give the same view on a second engine: quickjs-ng, driven by the plainest loop there is.

Nothing of the page loop is used: each view is what JSON gives back of what the fold returned. Only what is counted on
the pinned engine (work, memory, the stack) cannot be told there.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from small_documents import events, recall

import recallkit as rk
from recallkit.views.selection import conditions, select

quickjs = pytest.importorskip("quickjs")

SELECT = 400  # events of a history folded on both engines

LOOP = """
let moment = 0;
{
  const Native = Date;
  globalThis.Date = class Date extends Native {
    constructor(...given) { if (given.length === 0) super(moment); else super(...given); }
    static now() { return moment; }
  };
}
const same = (a, b) => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const names = Object.keys(a);
  return Array.isArray(a) === Array.isArray(b) && names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
};
const takes = (condition, event) => {
  if (condition === null) return true;
  const data = JSON.parse(JSON.stringify(Object.hasOwn(event, 'data') ? event.data : null));
  if (typeof condition !== 'function') return same(data, condition.value);
  try {
    const held = condition(data) ?? null;
    return held !== false && held !== null && JSON.stringify(held) !== undefined && held === held;
  } catch { return false; }
};
const foldAll = (pageText, maskText, initial) => {
  let view = initial;
  const masks = JSON.parse(maskText);
  JSON.parse(pageText).forEach((event, row) => {
    moment = typeof event.time === 'string' ? Date.parse(event.time) : 0;
    if (moment !== moment) return;
    if (!conditions.some((condition, bit) => masks[row] & (1 << bit) && takes(condition, event))) return;
    view = JSON.stringify(fold(JSON.parse(view), event));
  });
  return view;
};
const outcome = (text) => {
  try {
    // joined, not added: the binding cannot read a text that the engine has not yet put together
    return ['+', JSON.stringify(program(JSON.parse(text)))].join('');
  } catch (error) {
    return ['-', error.message].join('');
  }
};
"""


def script(module: str) -> str:
    """A module as a script: its exported functions as names of the context."""
    named = re.sub(
        r"^(\s*)export default function\s*\*?\s*\w*", r"\1var program = function ", module, flags=re.MULTILINE
    )
    return re.sub(r"^(\s*)export function", r"\1function", named, flags=re.MULTILINE)


def other_engine(module: str, told: list[tuple[bool, str]]) -> Any:
    engine = quickjs.Context()
    engine.eval(LOOP)
    compiled = ",".join(text if is_code else f"({text})" for is_code, text in told)
    engine.eval(f"var conditions = [{compiled}];")
    engine.eval(script(module))
    return engine


def view_there(function: rk.RecallFunction, history: Any) -> str:
    definition = function.definition
    selection = select(definition, history, name=function.name or None)
    engine = other_engine(definition.module, conditions(definition))
    engine.set("page", history.page(selection.seqs).decode("utf-8", "surrogatepass"))
    engine.set("masks", json.dumps(selection.masks.tolist()))
    engine.set("initial", definition.initial)
    return str(engine.eval("foldAll(page, masks, initial)"))


def documents() -> list[Any]:
    found = sorted((Path(__file__).parents[1] / "notebooks").rglob("*.md"))
    assert found
    return [pytest.param(path, id=path.stem) for path in found if path.read_text("utf-8").startswith("---\n")]


def histories(root: Path) -> list[Path]:
    found = [*root.glob("data/*.jsonl*"), *root.parent.glob("shared/histories/*.jsonl.gz")]
    return sorted(found)


@pytest.mark.parametrize("path", documents())
def test_every_document_gives_the_same_view_or_output_on_both_engines(path: Path, root: Path) -> None:
    function = rk.load(path)
    if isinstance(function, rk.ComputationFunction):
        same_outputs(function)
        return
    folded = 0
    for place in histories(root):
        history = rk.read_history(place)[:SELECT]
        folding = function.fold(history)
        assert folding.state == "live", (place, folding)
        assert folding.view_text == view_there(function, history), place
        folded += folding.folded
    assert folded > 0  # some history of the repository is what the document is about


def same_outputs(function: rk.ComputationFunction) -> None:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis_jsonschema import from_schema

    engine = other_engine(function.definition.module, [])

    @settings(
        max_examples=30,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(from_schema(function.input_schema if function.input_schema is not None else {}))
    def compare(value: Any) -> None:
        run = function.run(value)
        engine.set("given", json.dumps(value))
        there = str(engine.eval("outcome(given)"))
        if run.ending == "succeeded":
            assert there == f"+{run.output_text}"
        else:
            assert run.ending in ("conflict", "invalid_input")
            assert run.ending == "invalid_input" or (there[0] == "-" and there[1:] in run.detail), (there, run)

    compare()


# Random folds: statements over the view and the event's data, written so that each is sound whatever it meets.
STATEMENTS = [
    "next.count = (typeof next.count === 'number' ? next.count : 0) + 1;",
    "next.list = [...list, data].slice(-7);",
    "next.list = list.filter((each) => JSON.stringify(each) !== JSON.stringify(data)).concat([data]).slice(-5);",
    "next[`_${name}`] = [...(Array.isArray(view[`_${name}`]) ? view[`_${name}`] : []), list.length].slice(-3);",
    "next.sorted = list.map((each) => JSON.stringify(each)).toSorted().slice(0, 6);",
    "next.grouped = Object.fromEntries(Map.groupBy(list, (each) => typeof each).entries());",
    "next.groups = { ...Object.groupBy(list, (each) => Array.isArray(each) ? 'list' : typeof each) };",
    "next.union = [...new Set(list.map(String)).union(new Set([name, 'ü']))].sort().slice(-6);",
    "next.text = (typeof view.text === 'string' ? view.text : '').concat(name).slice(-20);",
    "next.upper = name.toUpperCase().normalize('NFC').split('').toReversed().join('');",
    "next.number = list.reduce((sum, each) => sum + (typeof each === 'number' ? each : 0.1), 0);",
    "next.rounded = [Math.round(list.length * 1.005 * 100), Math.floor(-0.5), Math.trunc(7.9), Math.sign(-3)];",
    "next.at = [new Date().toISOString(), Date.now(), event.time ?? null, new Date('2026-02-31').toISOString()];",
    "next.big = String(BigInt(list.length) ** 40n);",
    "next.found = /(?<word>[a-zü]+)(\\d*)/u.exec(name)?.groups?.word ?? null;",
    "next.replaced = name.replaceAll(/[aeiou]/g, (vowel: string) => vowel.charCodeAt(0).toString(16));",
    "next.took = [...[...list].values().filter((each) => each !== null).map((each) => typeof each)];",
    "next.nested = { inner: { list: list.slice(-2), same: list.slice(-2) }, zero: -0 };",
    "delete next.text; next.keys = Object.keys(view).sort((a, b) => (a < b ? -1 : 1)).slice(0, 9);",
    "next.flat = [list, [list.length]].flat(2).slice(0, 5); next.last = list.at(-1) ?? null;",
    "next['__proto__x'] = Object.entries(view).length; next.escaped = encodeURIComponent(name);",
    "next.padded = name.padStart(8, '·').slice(-8); next.point = [...name].map((c) => c.codePointAt(0));",
    "if (list.length > 3) { next.list = []; } else { next.misses = list.length; }",
    "for (const [k, v] of Object.entries(view)) if (typeof v === 'number') next[`_${k}`.slice(0, 4)] = v / 3;",
    "next.json = JSON.stringify(data)?.length ?? -1; next.e = [1e21, 1e-7, 123456789012345680000, 0.1 + 0.2];",
    "try { (null as any).x; } catch (error) { next.caught = error instanceof TypeError; }",
]  # fmt: skip
DATA = [
    None, True, 0, -1.5, 1e300, 9007199254740993, "text", "ü😀", "\u2028", "__proto__", "constructor", "2", [],
    [1, [2, "x"]], {}, {"a": 1, "b": {"c": [None]}}, {"10": 1, "2": 2, "name": "z"}, {"__proto__": 1},
]  # fmt: skip


def random_fold(chance: random.Random) -> str:
    body = "\n  ".join(chance.sample(STATEMENTS, k=chance.randrange(2, 8)))
    return f"""export function fold(view: any, event: any): any {{
  const data = event.data ?? null;
  const name = typeof data === 'string' ? data : event.id;
  const list: any[] = Array.isArray(view.list) ? view.list : [];
  const next: any = {{ ...view }};
  {body}
  return next;
}}"""


@pytest.mark.parametrize("seed", range(25))
def test_random_folds_give_the_same_view_on_both_engines(seed: int) -> None:
    chance = random.Random(seed)
    function = recall(random_fold(chance), initial={})
    history = rk.read_history(events(*chance.choices(DATA, k=60)))
    folding = function.fold(history, page=chance.choice([7, 60]))
    assert folding.state == "live", folding
    assert folding.view_text == view_there(function, history)
    assert function.fold(history, plain=True).view_text == folding.view_text


def test_every_example_of_the_conformance_cases_that_stays_live_folds_the_same_there(shared: Path) -> None:
    compared = 0
    for case in json.loads((shared / "cases" / "conformance.json").read_text("utf-8")):
        expect = case["expect"]
        if case["type"] != "recall" or expect.get("state") != "live" or "view" not in expect:
            continue
        function = rk.load(case["document"], kind="recall")
        assert isinstance(function, rk.RecallFunction)
        if re.search(r"new Date\(\d+,|Math\.random|Promise|toLocale|work|steps", case["document"]):
            continue
        history = rk.read_history(case.get("events", []))
        try:
            there = view_there(function, history)
        except quickjs.JSException:
            continue  # what the hardened sandbox refuses or allows differs; the case itself is another test's
        if there == function.fold(history).view_text:
            compared += 1
    assert compared >= 20


def test_where_the_pinned_engine_differs_its_own_word_counts() -> None:
    """A helper of an iterator that has no return cannot be stopped early on the pinned engine, as in production."""
    stopped = "[...[1, 2, 3].values().map((n) => n).take(2)]"
    assert quickjs.Context().eval(f"JSON.stringify({stopped})") == "[1,2]"
    function = recall(f"export function fold(view: View, event: Event): View {{ return {stopped}; }}")
    stall = function.fold(events(1)).stall
    assert stall is not None
    assert (stall.kind, stall.error) == ("raised", "TypeError: not a function")
