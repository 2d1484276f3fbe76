"""Fuzz the kit for some minutes: documents, histories, inputs and hostile modules.

    python scripts/fuzz.py --minutes 3 [--seed 5] [--kinds documents,histories,folds,runs,hostile]

Looks for crashes (an exception that is no word of the kit's own), hangs (more time than the bounds allow) and escapes
(a run that shows what no program may see). Ends with 0 when it found none, else with 1 and what to repeat it with: each
case has a seed of its own, and `--seed N --cases 1` runs the case N alone.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recallkit as rk

ROOT = Path(__file__).parent.parent
SLOW_SECONDS = 40.0  # a fold's or a run's own bound is 10 seconds; a loaded machine gets some more
WORDS = [
    "constructor", "__proto__", "toString", "", " ", "\u2028", "\x00", "ü", "😀", "\ud800", "a" * 300, "${", "}", "---",
    "1e400", "-0", "null", "~", "on", "0x1F", "2026-01-01", "*a", "&a", "!!js", "<<", "[", "{", "|", ">", "%", "@", "`",
]  # fmt: skip
FRAGMENTS = [
    "view", "event", "input", "event.data", "[]", "{}", "null", "undefined", "NaN", "-0", "1n", "Symbol()", "() => 1",
    "new Map()", "new Date(0)", "new Date()", "[1, , 2]", "'x'.repeat(1e6)", "'ü'.repeat(3e5)", "new Array(1e7)",
    "Array(1e5).fill(0)", "JSON.stringify(view)", "{ get a() { throw 1; } }", "{ get a() { for (;;) {} } }",
    "new Proxy({}, { get() { return this; } })", "new Proxy([], {})", "Object.create(null)", "Object.create([])",
    "{ __proto__: null }", "{ ['__proto__']: 1 }", "[...'abc']", "(() => { throw new Error('x'.repeat(3000)); })()",
    "(() => { throw { get message() { for (;;) {} } }; })()", "(() => { for (;;) {} })()",
    "/^(a+)+$/.test('a'.repeat(50))",
    "(function f(): any { return f() + 1; })()", "Reflect.ownKeys(globalThis)", "structuredClone", "eval('1')",
    "({}).constructor.constructor('return 1')", "(globalThis as any).process", "new ArrayBuffer(1e9)",
    "((v: any) => { for (let i = 0; i < 600; i++) v = [v]; return v; })(1)", "new Uint8Array(9)", "1e308 * 10",
    "(() => { const l: any[] = []; for (;;) l.push(new Array(1e5).fill(l)); })()",
    "String.prototype.concat = () => '{}'",
    "Object.prototype.toJSON = () => 1 as any", "Array.prototype[Symbol.iterator] = null as any", "9007199254740993",
]  # fmt: skip
LIES = [
    fragment
    for fragment in FRAGMENTS
    if not any(each in fragment for each in (": any", "as any", "event", "view", "input", "structuredClone"))
]
# What no value that comes out of a sandbox may show.
ESCAPES = ("/usr/", "site-packages", "recallkit/sandbox", "PYTHONPATH", "wasmtime")


class Found(Exception):
    """What a case found: a hang or an escape; every other exception is a crash."""


def value(chance: random.Random, depth: int = 0) -> Any:
    """Draw a JSON value, odd ones often."""
    kind = chance.randrange(9 if depth < 6 else 6)
    if kind == 0:
        return chance.choice([None, True, False])
    if kind == 1:
        return chance.choice([0, -1, 1, 2**53, 2**53 + 1, 10**30, -(2**63)])
    if kind == 2:
        return chance.choice([0.5, -0.0, 1e-7, 1e21, 1.7e308, 5e-324, 2.0])
    if kind in (3, 4, 5):
        return text(chance)
    if kind == 6:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 7:
        return {text(chance)[:20]: value(chance, depth + 1) for _ in range(chance.randrange(4))}
    inner: Any = 1
    for _ in range(chance.choice([5, 509, 511, 512, 513, 700])):
        inner = [inner]
    return inner


def text(chance: random.Random) -> str:
    """Draw a text."""
    if chance.random() < 0.6:
        return chance.choice(WORDS)
    return "".join(chr(chance.choice([chance.randrange(32, 127), chance.randrange(0, 0x3000)])) for _ in range(9))


def expression(chance: random.Random) -> str:
    """Draw an expression of TypeScript out of fragments."""
    first, second = chance.choice(FRAGMENTS), chance.choice(FRAGMENTS)
    form = chance.choice(
        ["{0}", "[{0}, {1}]", "{{ a: {0}, b: [{1}] }}", "({0}) ?? ({1})", "[{0}].map((x: any) => x)", "({0}, {1})"]
    )
    return form.format(first, second)


def documents() -> list[str]:
    """The documents to start from."""
    return [path.read_text("utf-8") for path in sorted((ROOT / "notebooks" / "functions").glob("*.md"))]


def mutated(chance: random.Random, source: str) -> str:
    """Change a text here and there: cut, repeat, swap, insert."""
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(source) + 1)
        length = chance.choice([1, 1, 3, 20, 200])
        change = chance.randrange(5)
        if change == 0:
            source = source[:at] + source[at + length :]
        elif change == 1:
            source = source[:at] + source[at : at + length] * chance.choice([2, 2, 50]) + source[at + length :]
        elif change == 2:
            source = source[:at] + text(chance) + source[at:]
        elif change == 3:
            source = source[:at] + chance.choice(FRAGMENTS) + source[at:]
        else:
            lines = source.split("\n")
            chance.shuffle(lines) if chance.random() < 0.1 else lines.insert(
                chance.randrange(len(lines)), chance.choice(lines)
            )
            source = "\n".join(lines)
    return source


def event(chance: random.Random, number: int) -> dict[str, Any]:
    """Draw an event that the documents may take, sound or not."""
    made: dict[str, Any] = {"specversion": "1.0", "id": f"e{number}", "source": "/s", "type": "t"}
    if chance.random() < 0.9:
        made["data"] = value(chance)
    if chance.random() < 0.5:
        made["time"] = chance.choice(
            ["2026-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "soon", "2026-02-31T25:00:00Z", 5]
        )
    if chance.random() < 0.3:
        made[chance.choice(["subject", "depth", "caller", "UPPER", "data_base64", "id", "type"])] = value(chance)
    return made


def recall(body: str, schema: str = "") -> str:
    return (
        f"---\nlanguage: typescript\nsource: {{events: [{{type: t}}]}}\nview: {{initial: null{schema}}}\n---\n{body}\n"
    )


def check_documents(chance: random.Random) -> str:
    """`rk.check` never raises, whatever it is given, and what it finds no error in loads."""
    source = mutated(chance, chance.choice(documents()))
    given: Any = source if chance.random() < 0.9 else source.encode("utf-8", "surrogatepass")
    problems = rk.check(given)
    for problem in problems:
        str(problem)
        if problem.line is not None and not 1 <= problem.line <= source.count("\n") + 2:
            raise Found(f"a problem stands on line {problem.line}: {problem}")
    if any(problem.severity == "error" for problem in problems):
        return "refused"
    if isinstance(given, str):
        function = rk.load(given if "\n" in given else given + "\n")
        function.overview()
    return "loaded"


def read_histories(chance: random.Random) -> str:
    """A history is read or refused in the kit's own words, and what was read folds."""
    events: list[Any] = [event(chance, number) for number in range(chance.randrange(12))]
    if chance.random() < 0.2:
        events.insert(0, value(chance))
    history = rk.read_history(events)
    function = rk.load(recall("export function fold(view: View, event: Event): View { return event.data ?? null; }"))
    folding = function.fold(history, progress=False)  # type: ignore[union-attr]
    _safe(folding.view_text)
    return f"{folding.state}{f' ({folding.stall.kind})' if folding.stall else ''}"


def fold_modules(chance: random.Random) -> str:
    """Whatever a fold does, it ends live or stalled, and the view kept is one that JSON carries."""
    schema = chance.choice(["", ", schema: {type: [array, object, 'null']}", ", schema: {maxProperties: 1}"])
    lines = "\n  ".join(
        f"if (Math.abs(event.id.length) > 9) void ({expression(chance)});" for _ in range(chance.randrange(2))
    )
    body = f"export function fold(view: any, event: any): any {{\n  {lines}\n  return {expression(chance)};\n}}"
    source = recall(body, schema)
    if any(problem.severity == "error" for problem in rk.check(source)):
        return "refused"
    function = rk.load(source)
    folding = function.fold([event(chance, number) for number in range(6)], progress=False)  # type: ignore[union-attr]
    _safe(folding.view_text)
    json.loads(folding.view_text)
    for number in range(folding.folded + 1):
        _ = folding.at(number).view
    str(folding.standing)
    ended = function.run(folding, value(chance) if chance.random() < 0.5 else {})  # type: ignore[arg-type, call-arg]
    _ended(ended)
    return f"{folding.state}{f' ({folding.stall.kind})' if folding.stall else ''}"


def run_programs(chance: random.Random) -> str:
    """Whatever a program does and is given, its run ends in one of the format's ways."""
    body = f"export default function (input: Input): any {{\n  return {expression(chance)};\n}}".replace(
        "event.data", "input"
    )
    source = f"---\nlanguage: typescript\n---\n{body.replace('event', 'input').replace('view', 'input')}\n"
    if any(problem.severity == "error" for problem in rk.check(source)):
        return "refused"
    function = rk.load(source)
    given = value(chance) if chance.random() < 0.7 else {}
    return _ended(function.run(given))  # type: ignore[arg-type, call-arg]


def hostile_modules(chance: random.Random) -> str:
    """A module that the check never saw: it tampers, then returns or raises; the run's record stays the page loop's."""
    sys.path.insert(0, str(ROOT / "tests"))
    import sandbox_runs

    tampers = [
        f"try {{ {owner}{member} = () => ({chance.choice(LIES)}); }} catch {{}}"
        for owner in chance.sample(
            ["Object.prototype.", "Array.prototype.", "String.prototype.", "JSON.", "Reflect.", "Object."], 3
        )
        for member in chance.sample(
            ["concat", "toJSON", "join", "push", "stringify", "apply", "keys", "get", "kind", "text"], 3
        )
    ]
    ended = sandbox_runs.run_program(
        f"export default function (input) {{ const made = {{ a: [1, 'ü'] }}; {' '.join(tampers)} return made; }}",
        checkpoints=200,
    )
    if ended.kind == "returned" and ended.text != '{"a":[1,"ü"]}':
        raise Found(f"a forged output: {ended.text!r} of {tampers}")
    return ended.kind


def _safe(shown: str) -> None:
    for name in ESCAPES:
        if name in shown:
            raise Found(f"{name} came out of the sandbox: {shown[:200]}")


def _ended(run: Any) -> str:
    if run.ending not in ("succeeded", "invalid_input", "unavailable", "conflict"):
        raise Found(f"a run ended {run.ending}: {run.detail}")
    if len(run.detail.encode("utf-8", "surrogatepass")) > 8_000:
        raise Found(f"a detail of {len(run.detail)} characters")
    _safe(run.detail + (run.output_text or ""))
    return f"{run.ending}{f' ({run.kind})' if run.kind else ''}"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "documents": check_documents,
    "histories": read_histories,
    "folds": fold_modules,
    "runs": run_programs,
    "hostile": hostile_modules,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=3.0, help="how long to look; the last case may end later")
    parser.add_argument("--seed", type=int, default=None, help="the first case's number; drawn when left out")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="at most so many cases")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    asked = parser.parse_args()
    kinds = [name.strip() for name in asked.kinds.split(",")]
    first = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**9)
    until = time.monotonic() + asked.minutes * 60
    outcomes: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    number = first
    while time.monotonic() < until and number - first < asked.cases:
        chance = random.Random(number)
        kind = chance.choice(kinds)
        start = time.monotonic()
        try:
            outcome = KINDS[kind](chance)
        except (rk.InvalidInput, rk.HistoryError, rk.Unavailable) as error:
            outcome = type(error).__name__
        except Exception:
            outcome = "CRASH"
            wrong.append(f"case {number} ({kind}):\n{traceback.format_exc(limit=-6)}")
        took = time.monotonic() - start
        if took > SLOW_SECONDS:
            wrong.append(f"case {number} ({kind}) took {took:.0f} seconds")
        outcomes[kind, outcome] += 1
        number += 1
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:10} {outcome:24} {count:7,}")
    print(f"{number - first:,} cases from seed {first}: {len(wrong)} wrong")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
