"""The check of a document's TypeScript: the formats' table of refusals, row by row (computation, Checked when it is
saved; recall, The module), its places, and the JavaScript it gives."""

from __future__ import annotations

from typing import Any

import pytest

from recallkit.definitions.checker import Checked, Expression, check_module
from recallkit.definitions.types import declarations

READS_NOTHING = "A program reads nothing but its arguments: it imports no module and builds no code"
NOTHING_ELSE = "A module holds its types and its exported functions and nothing else, so that two calls share nothing"
AT_ONCE = "The program is a function that answers at once; it awaits nothing"
ERASABLE = "This syntax is not allowed when 'erasableSyntaxOnly' is enabled"
PROGRAM = "The program is a module whose default export is a function (input: Input): Output"

LINE = 7  # the document's line on which the bodies below begin


def check(kind: Any, body: str, *expressions: str, **schemas: Any) -> Checked:
    places = [Expression(text, 5, 12, f"/source/events/{index}/data") for index, text in enumerate(expressions)]
    return check_module(kind, body, LINE, declarations(kind, **schemas), places)


def program(body: str, **schemas: Any) -> Checked:
    return check("computation", body, **schemas)


def inside(statements: str, **schemas: Any) -> Checked:
    """A program of these statements, the first on the document's line 8."""
    return program(f"export default function (input: Input): Output {{\n{statements}\nreturn null;\n}}", **schemas)


def told(checked: Checked) -> list[tuple[int | None, str]]:
    return [(each.line, each.words) for each in checked.problems]


GOOD = "export default function (input: Input): Output {\n  return 1;\n}"
FOLD = "export function fold(view: View, event: Event): View {\n  return view;\n}"


def test_an_ordinary_program_and_module_pass() -> None:
    checked = program(GOOD)
    assert checked.problems == []
    assert checked.exports == ("default",)
    both = check("recall", f"{FOLD}\nexport function answer(view: View, input: Input): Output {{ return input; }}")
    assert both.problems == []
    assert both.exports == ("fold", "answer")


@pytest.mark.parametrize(
    "statement",
    [
        "import { a } from './a.ts';",
        "import type { A } from './a.ts';",
        "import './a.ts';",
        "import a = require('./a');",
        "export * from './a.ts';",
        "export { a } from './a.ts';",
        "export type { A } from './a.ts';",
        "declare global { var a: number; }",
        "declare const a: number;",
        "declare function a(): number;",
        "declare class A {}",
        "declare module 'a' {}",
        "declare namespace A {}",
        "declare enum A {}",
        "export declare function a(): void;",
        "declare type A = number;",
        "type A = import('./a.ts').A;",
        "type A = typeof import('./a.ts');",
    ],
)
def test_a_module_imports_and_declares_nothing(statement: str) -> None:
    assert (LINE, READS_NOTHING) in told(program(f"{statement}\n{GOOD}"))


@pytest.mark.parametrize(
    "statement",
    [
        "eval('1');",
        "eval?.('1');",
        "require('fs');",
        "new Function('return 1');",
        "Function('return 1');",
        "import('./a.ts');",
        "import/**/('./a.ts');",
        "import.meta;",
        "const url: unknown = import.meta.url;",
        "const f = (): unknown => eval('1');",
        "class A { b = new Function('return 1'); }",
    ],
)
def test_a_program_builds_no_code(statement: str) -> None:
    assert told(inside(statement)) == [(LINE + 1, READS_NOTHING)]


@pytest.mark.parametrize("way", ["globalThis.eval('1');", "(0, eval)('1');", "const f = Function;", "(eval)('1');"])
def test_no_other_way_to_code_passes(way: str) -> None:
    assert inside(way).problems


@pytest.mark.parametrize(
    "statement",
    [
        "let a = 0;",
        "const a = 0;",
        "var a: number;",
        "class A {}",
        "export class A {}",
        "export const a = 1;",
        "export const f = (): number => 1;",
        "function f(): number { return 1; }",
        "if (1) {}",
        "'use strict';",
        ";",
        "export {};",
        "{ }",
        "label: for (;;) break label;",
    ],
)
def test_a_module_holds_types_and_exported_functions_and_nothing_else(statement: str) -> None:
    assert (LINE, NOTHING_ELSE) in told(program(f"{statement}\n{GOOD}"))


@pytest.mark.parametrize(
    "entry", ["export default () => 1;", "export default 1;", "export default class {}", "export default f;"]
)
def test_a_default_export_of_another_form_is_nothing_else(entry: str) -> None:
    lines = told(program(entry))
    assert (LINE, NOTHING_ELSE) in lines
    assert not any(words == PROGRAM for _, words in lines)


def test_types_interfaces_helpers_and_overloads_may_stand_at_the_top() -> None:
    body = (
        "type A = number;\ninterface B { a: A }\nexport type C = B;\nexport interface D { c: C }\n"
        "export function f(a: number): number;\nexport function f(a: string): string;\n"
        "export function f(a: number | string): number | string { return a; }\n" + GOOD
    )
    assert program(body).problems == []


@pytest.mark.parametrize(
    "statement",
    [
        "async function f() {}",
        "const f = async () => 1;",
        "const f = { async g() {} };",
        "class A { async f() {} }",
        "async function* f() {}",
        "await 1;",
        "for await (const a of [1]) {}",
    ],
)
def test_a_program_awaits_nothing(statement: str) -> None:
    lines = told(inside(statement))
    assert (LINE + 1, AT_ONCE) in lines
    assert {words for _, words in lines} == {AT_ONCE}


@pytest.mark.parametrize("head", ["async function", "function*", "async function*"])
def test_an_entry_that_awaits_or_generates_is_told_once(head: str) -> None:
    assert told(program(f"export default {head} (input: Input): Output {{\n  return input;\n}}"))[0] == (LINE, AT_ONCE)


def test_an_exported_helper_is_no_generator_but_an_inner_function_may_be() -> None:
    assert (LINE, AT_ONCE) in told(program(f"export function* f(): Generator<number> {{ yield 1; }}\n{GOOD}"))
    assert inside("function* f(): Generator<number> { yield 1; }\nfor (const a of f()) { String(a); }").problems == []


@pytest.mark.parametrize(
    "statement",
    [
        "enum A { B }",
        "const enum A { B }",
        "namespace A { export const b = 1; }",
        "namespace A { type B = 1 }",
        "module A {}",
    ],
)
def test_enums_and_namespaces_are_refused(statement: str) -> None:
    assert told(program(f"{statement}\n{GOOD}")) == [(LINE, f"{ERASABLE}.")]


@pytest.mark.parametrize(
    "statement",
    [
        "class A { constructor(readonly a: number) {} }",
        "class A { constructor(private a: number) {} }",
        "const d = (a: unknown, b: unknown): void => {};\n@d class A {}",
        "const d = (a: unknown, b: unknown): void => {};\nclass A { @d f(): void {} }",
        "class A { accessor a = 1; }",
        "const a = <number>input;",
        "using a = { b: 1 } as any;",
    ],
)
def test_syntax_that_is_no_type_to_erase_is_refused(statement: str) -> None:
    line = LINE + 1 + statement.count("\n")
    assert [each for each in told(inside(statement)) if ERASABLE in each[1]] == [(line, f"{ERASABLE}.")]


def test_a_missing_entry_is_told_at_the_first_line() -> None:
    assert told(program("\n\nexport function f(): number { return 1; }")) == [(LINE, PROGRAM)]
    missing = told(check("recall", "type A = 1;"))
    assert missing == [(LINE, "The module exports a function fold(view: View, event: Event): View")]


@pytest.mark.parametrize(
    "signature",
    ["(input: Input, more: string): Output", "(input: string): Output", "(input: Input): Date", "(input: Input): void"],
)
def test_an_entry_of_another_signature_is_told_at_the_export_with_the_compilers_words(signature: str) -> None:
    checked = program(f"type A = 1;\nexport default function {signature} {{\n  throw new Error();\n}}")
    line, words = told(checked)[-1]
    assert line == LINE + 1
    assert words.startswith(f"{PROGRAM}: Type '")
    assert "is not assignable to type" in words
    assert "\n" not in words


def test_an_entry_of_fewer_parameters_fits() -> None:
    assert program("export default function (): Output { return 1; }").problems == []
    assert check("recall", "export function fold(): View { return 1; }").problems == []


def test_fold_and_answer_have_their_signatures() -> None:
    body = f"{FOLD}\nexport function answer(view: View, input: string): Output {{ return input; }}"
    ((line, words),) = told(check("recall", body))
    assert line == LINE + 3
    assert "answer(view: View, input: Input): Output" in words
    ((line, words),) = told(check("recall", "export function fold(view: number, event: Event): View { return view; }"))
    assert line == LINE
    assert "fold(view: View, event: Event): View" in words


def test_a_type_of_the_modules_own_does_not_stand_for_the_declared_one() -> None:
    body = "type Input = { mine: string };\nexport default function (input: Input): Output {\n  return input.mine;\n}"
    ((line, words),) = told(program(body))
    assert (line, words.startswith(PROGRAM)) == (LINE + 1, True)


def assignments(count: int, what: str = "n++;") -> str:
    return "let n = 0, box = { n: 0 };\n" + f"{what}\n" * count


@pytest.mark.parametrize("what", ["n++;", "--n;", "n += 1;", "n = 1;", "box.n = 1;", "n ||= 1;", "[n] = [1];"])
def test_a_function_assigns_at_most_500_times(what: str) -> None:
    assert inside(assignments(500, what)).problems == []
    ((line, words),) = told(inside(assignments(501, what) + "const wrong: string = 1;"))
    assert line == LINE + 1 + 501
    assert words == (
        "A function may assign to its variables at most 500 times, since the compiler's analysis of each assignment "
        "grows with the others; keep the values in a list, an object or a loop"
    )


def test_each_function_counts_its_own_assignments_and_declarations_are_none() -> None:
    inner = "const f = (): void => {\n" + assignments(300) + "};\n"
    assert inside(assignments(300) + inner).problems == []
    assert inside("".join(f"let a{index} = {index};\n" for index in range(600))).problems == []


def test_a_syntax_error_is_the_compilers_at_its_line() -> None:
    checked = program("export default function (input: Input): Output {\n  return { a: };\n}")
    assert [(each.line, each.column, each.words) for each in checked.problems] == [
        (LINE + 1, 15, "Expression expected.")
    ]
    assert checked.module == ""


def test_what_stands_past_the_end_is_told_at_the_last_line() -> None:
    for tail in ("", "\n", "\n\n\n"):
        ((line, _),) = told(program("export default function (input: Input): Output {\n  return 1;" + tail))
        assert line == LINE + 1


def test_the_example_of_a_type_error() -> None:
    schema = {"type": "object", "properties": {"period": {"type": "object"}}}
    ((line, words),) = told(inside("input.perod;", input=schema))
    assert line == LINE + 1
    assert words == "Property 'perod' does not exist on type 'Input'. Did you mean 'period'?"


def test_the_mode_is_strict_with_exact_optional_properties_and_no_more() -> None:
    assert inside("const f = (a) => a;").problems
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert "exactOptionalPropertyTypes" in inside("const a: Input = { a: undefined };", input=schema).problems[0].words
    assert inside("const unused = 1;\nconst a: number = [1][5];\nif (1 > 2) return 1;\nreturn 2;").problems == []


@pytest.mark.parametrize(
    "comment",
    ["// @ts-ignore", "// @ts-expect-error", "/* @ts-ignore */", "// @ts-nocheck", '/// <reference lib="dom" />'],
)
def test_no_comment_switches_the_check_off(comment: str) -> None:
    assert inside(f"{comment}\nconst a: string = 1;").problems
    at_the_top = program(f"{comment}\nexport default function (input: Input): Output {{\n  return fetch('x');\n}}")
    assert [each.line for each in at_the_top.problems] == [LINE + 2]


def test_lines_end_at_line_feeds_alone_and_columns_count_utf16_units() -> None:
    checked = inside("const a = '\u2028😀'; const b: string = 1;\n/* \u2029 \r x */\nconst c: string = 2;")
    assert [(each.line, each.column) for each in checked.problems] == [(LINE + 1, 24), (LINE + 3, 7)]


def test_the_javascript_keeps_every_line_and_column() -> None:
    body = (
        "type A = {\n  b: string;\n};\nexport default function <T>(input: Input): Output {\n"
        "  const a: A[] = [];\n  return a.length as number;\n}"
    )
    module = program(body).module
    lines = module.split("\n")
    assert lines[: LINE - 1] == [""] * (LINE - 1)
    assert [len(line) for line in lines[LINE - 1 :]] == [len(line) for line in body.split("\n")]
    assert lines[LINE + 3] == "  const a      = [];"
    assert lines[LINE + 4] == "  return a.length          ;"


def test_problems_come_in_the_order_of_their_lines_without_repeats() -> None:
    checked = inside("const a: string = 1; const b: string = 2;\nfetch('x');")
    assert told(checked) == [
        (LINE + 1, "Type 'number' is not assignable to type 'string'."),
        (LINE + 2, "Cannot find name 'fetch'."),
    ]


# Filters' expressions (recall, Filters)


def filtered(*expressions: str) -> Checked:
    return check("recall", FOLD, *expressions)


@pytest.mark.parametrize(
    "expression",
    [
        " $data.revenue > 100 ",
        "$data.dims.length > 1",
        "$data === null",
        "($data as { grams: number }).grams > 100",
        "$data.rows.some((row: { a: number }) => row.a > 1)",
        "new Date().toISOString() === $data.at",
        "$data.a // a comment",
        "$data.a,\n$data.b",
        "Object.hasOwn($data, 'a')",
    ],
)
def test_an_expression_reads_data_and_the_library(expression: str) -> None:
    checked = filtered(expression)
    assert checked.problems == []
    (javascript,) = checked.expressions
    assert javascript is not None
    assert (javascript[0], javascript[-1]) == ("(", ")")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("$event.data", "Cannot find name '$event'"),
        ("$input.limit < $data.grams", "Cannot find name '$input'"),
        ("fetch($data)", "Cannot find name 'fetch'"),
        ("arguments[0]", "Cannot find name 'arguments'"),
        ("$data as View", "Cannot find name 'View'"),
        ("Math.random() < $data", "Property 'random' does not exist on type 'Math'"),
        ("$data.grams > ", "Expression expected"),
        ("", "Expression expected"),
        ("$data) || ($data", "one expression"),
        ("$data); let stolen = 1; (stolen", "one expression"),
        ("$data), ($data", ""),
        ("$data /* open", ""),
        ("$data `", ""),
        ("eval($data)", READS_NOTHING),
        ("import($data)", READS_NOTHING),
        ("await $data", AT_ONCE),
        ("(async () => 1)()", AT_ONCE),
        ("<any>$data", ERASABLE),
    ],
)
def test_an_expression_names_nothing_else_and_is_one_expression(expression: str, words: str) -> None:
    checked = filtered("$data.ok", expression)
    assert checked.problems
    assert {(each.line, each.pointer) for each in checked.problems} == {(5, "/source/events/1/data")}
    assert words in " ".join(each.words for each in checked.problems)
    assert checked.expressions == ["($data.ok\n)", None]


def test_the_column_of_an_expressions_problem() -> None:
    (problem,) = filtered("$data.a > $b").problems
    assert (problem.line, problem.column) == (5, 12 + 10)


def test_the_names_a_filter_sees_are_not_the_modules() -> None:
    checked = check("recall", "export function fold(view: View, event: Event): View { return $data; }", "$data")
    assert told(checked) == [(LINE, "Cannot find name '$data'.")]


# Text that tries the checker itself


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\0",
        "\ud800",
        "export default function (input: Input): Output { return '\ud800'; }",
        "(" * 20_000,
        "export default function (input: Input): Output { return " + "[" * 5_000 + "]" * 5_000 + "; }",
        "export default function (input: Input): Output { return " + "1 + " * 15_000 + "1; }",
        "`${" * 3_000,
        "#!/usr/bin/env node\n" + GOOD,
        "<<<<<<< HEAD\n=======\n>>>>>>> x\n",
        "/*" * 1_000,
        "export default function (input: Input): Output { return /(/; }",
    ],
    ids=range(12),
)
def test_whatever_the_text_the_check_answers_within_the_document(body: str) -> None:
    last = LINE + body.count("\n")
    for each in program(body).problems:
        assert each.line in range(LINE, last + 1)
    assert program(GOOD).problems == []
