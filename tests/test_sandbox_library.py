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
