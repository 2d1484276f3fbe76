// One check of a document: its module against the types its schemas say, and its filters' expressions.
import { wordsOf } from "./compiler.mjs";
import { GONE_VALUES, inheritedNames, readEngine } from "./library.mjs";
import { applyRules, AT_ONCE, NOT_ERASABLE } from "./rules.mjs";
import { findWrites } from "./writes.mjs";

const ENTRIES = {
  computation: [
    {
      name: "default",
      required: true,
      type: "(input: Input) => Output",
      words: "The program is a module whose default export is a function (input: Input): Output",
    },
  ],
  recall: [
    {
      name: "fold",
      required: true,
      type: "(view: View, event: Event) => View",
      words: "The module exports a function fold(view: View, event: Event): View",
    },
    {
      name: "answer",
      required: false,
      type: "(view: View, input: Input) => Output",
      words: "The module's answer is a function answer(view: View, input: Input): Output",
    },
  ],
};

// What the compiler says of asynchronous code besides: what an async function must return, where await may stand.
const ASYNC_CODES = new Set([1055, 1058, 1064, 1065, 1308, 1375, 1378, 1432, 2318, 2468, 2504, 2697, 2705, 2712]);
// "'X' only refers to a type" and "Cannot use namespace 'X' as a value".
const ONLY_A_TYPE = new Set([2585, 2693, 2708]);

export class Check {
  constructor(ts, blankSourceFile, compiler) {
    this.ts = ts;
    this.blankSourceFile = blankSourceFile;
    this.compiler = compiler;
    this.inherited = inheritedNames(readEngine());
  }

  /**
   * @param request {kind, body, declarations, expressions: [text], assignments: the most a function may make}
   * @returns {problems: [{words, offset: in the body, or null, expression: index or null}], module, exports, expressions, writes}
   *   `module` is null where it cannot be made; `writes` tells why a fold may write to what it did not make: [{words, offset}],
   *   null where that was not analysed.
   */
  run(request) {
    const problems = [];
    const module = this.#checkModule(request, problems);
    const expressions = request.expressions.length === 0 ? [] : this.#checkExpressions(request, problems);
    return { problems, ...module, expressions };
  }

  #checkModule({ kind, body, declarations, assignments }, problems) {
    const tell = (words, offset) => problems.push({ words, offset: offset ?? 0, expression: null });
    const source = this.compiler.parse("/module.ts", body);
    const grammar = this.compiler.grammar(source);
    if (grammar.length > 0) {
      for (const each of grammar) tell(wordsOf(each.messageText), each.start);
      return { module: null, exports: [] };
    }
    const { findings, exports, crowded } = applyRules(this.ts, source, { assignments });
    for (const each of findings) tell(each.words, each.start);
    const entries = ENTRIES[kind];
    for (const entry of entries) {
      if (entry.required && !exports.has(entry.name) && !exportsInAnotherForm(this.ts, source, entry.name)) tell(entry.words, 0);
    }
    let writes = null;
    if (!crowded) {
      const present = entries.filter((entry) => exports.has(entry.name));
      const entrySource = this.compiler.parse("/entry.ts", entryText(present));
      const declared = this.compiler.parse("/declarations.d.ts", declarations);
      const told = this.compiler.analyse(
        new Map([["/declarations.d.ts", declared], ["/module.ts", source], ["/entry.ts", entrySource]]));
      for (const each of told(declared)) tell(`The types of the schemas: ${wordsOf(each.messageText)}`, 0);
      for (const each of told(source)) if (!isHidden(each, findings)) tell(wordsFor(each), each.start);
      for (const each of told(entrySource)) {
        const entry = present[lineOf(entrySource.text, each.start) - present.length];
        if (entry === undefined || awaits(this.ts, exports.get(entry.name))) continue; // the rules have told that
        tell(`${entry.words}: ${wordsOf(each.messageText)}`, exports.get(entry.name).getStart(source));
      }
      const fold = exports.get("fold");
      if (kind === "recall" && fold?.body !== undefined && problems.length === 0) {
        writes = findWrites(this.ts, source, told.checker, fold, this.inherited);
      }
    }
    const refused = new Set();
    const blanked = this.blankSourceFile(source, (node) => refused.add(node.getStart(source)));
    for (const start of refused) {
      if (!problems.some((each) => each.offset === start)) tell(NOT_ERASABLE, start);
    }
    return { module: blanked, exports: [...exports.keys()], writes };
  }

  #checkExpressions({ expressions, assignments }, problems) {
    const head = "export default ($data: any): unknown => (";
    const tail = "\n);\n";
    const sources = expressions.map((text, index) => this.compiler.parse(`/filter${index}.ts`, head + text + tail));
    const told = this.compiler.analyse(new Map(sources.map((source) => [source.fileName, source])));
    return sources.map((source, index) => {
      const before = problems.length;
      const text = expressions[index];
      const tell = (words, offset) =>
        problems.push({ words, offset: Math.max(0, Math.min((offset ?? 0) - head.length, text.length)), expression: index });
      const grammar = this.compiler.grammar(source);
      if (grammar.length > 0) {
        for (const each of grammar.slice(0, 1)) tell(wordsOf(each.messageText), each.start);
        return null;
      }
      const body = wholeExpression(this.ts, source, head.length - 1, source.text.length - 2);
      if (body === undefined) {
        tell("A filter's data is one expression, and its parentheses close within it", head.length);
        return null;
      }
      const { findings, crowded } = applyRules(this.ts, source, { assignments, topLevel: false });
      for (const each of findings) tell(each.words, each.start);
      if (!crowded) for (const each of told(source)) if (!isHidden(each, findings)) tell(wordsFor(each), each.start);
      const blanked = this.blankSourceFile(source, (node) => tell(NOT_ERASABLE, node.pos));
      return problems.length > before ? null : blanked.slice(body.getStart(source), body.end);
    });
  }
}

function awaits(ts, declaration) {
  const isAsync = declaration.modifiers?.some((each) => each.kind === ts.SyntaxKind.AsyncKeyword) ?? false;
  return isAsync || declaration.asteriskToken !== undefined;
}

function entryText(entries) {
  const imports = entries.map(({ name }, index) => `import { ${name} as entry${index} } from "./module";`);
  const uses = entries.map(({ type }, index) => `export const use${index}: ${type} = entry${index};`);
  return [...imports, ...uses].join("\n");
}

function lineOf(text, offset) {
  return text.slice(0, offset).split("\n").length - 1;
}

/** The parenthesised body of the arrow function that is the file's one statement, where it spans the whole text. */
function wholeExpression(ts, source, start, end) {
  const [statement, more] = source.statements;
  if (more !== undefined || statement === undefined || !ts.isExportAssignment(statement)) return undefined;
  const body = ts.isArrowFunction(statement.expression) ? statement.expression.body : undefined;
  const whole = body !== undefined && ts.isParenthesizedExpression(body) && body.getStart(source) === start && body.end === end;
  return whole ? body : undefined;
}

/** Whether a finding of the rules says already what the compiler says here, in other words. */
function isHidden({ start, code }, findings) {
  return findings.some(
    (each) =>
      each.hides &&
      (start === undefined || (start >= each.start && start < each.end) || (each.words === AT_ONCE && ASYNC_CODES.has(code))),
  );
}

function wordsFor(diagnostic) {
  const words = wordsOf(diagnostic.messageText);
  if (!ONLY_A_TYPE.has(diagnostic.code)) return words;
  const name = /'([^']+)'/u.exec(words)?.[1];
  return GONE_VALUES.has(name) ? `Cannot find name '${name}'.` : words;
}

/** Whether a name is exported, though not as a function declaration: the rules have told what is wrong with that. */
function exportsInAnotherForm(ts, source, name) {
  return source.statements.some((statement) => {
    if (ts.isExportAssignment(statement)) return name === "default";
    if (ts.isExportDeclaration(statement)) {
      const named = statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause) ? statement.exportClause.elements : [];
      return named.some((each) => each.name.text === name);
    }
    const has = (kind) => statement.modifiers?.some((each) => each.kind === kind) ?? false;
    if (!has(ts.SyntaxKind.ExportKeyword) || ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return false;
    if (has(ts.SyntaxKind.DefaultKeyword)) return name === "default";
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.some((each) => ts.isIdentifier(each.name) && each.name.text === name);
    }
    return statement.name?.text === name;
  });
}
