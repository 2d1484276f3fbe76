// The rules of the formats that are not the compiler's: what a module may hold, and what it may not do. One walk over
// the tree, before the compiler analyses anything.

export const READS_NOTHING = "A program reads nothing but its arguments: it imports no module and builds no code";
export const NOTHING_ELSE =
  "A module holds its types and its exported functions and nothing else, so that two calls share nothing";
export const AT_ONCE = "The program is a function that answers at once; it awaits nothing";
export const NOT_ERASABLE = "This syntax is not allowed when 'erasableSyntaxOnly' is enabled.";
export const tooManyAssignments = (most) =>
  `A function may assign to its variables at most ${most} times, since the compiler's analysis of each assignment grows ` +
  "with the others; keep the values in a list, an object or a loop";

const CODE_BUILDERS = new Set(["require", "eval", "Function"]);

/**
 * Walk a module or an expression.
 * @returns {findings: [{start, end, words, hides}], exports: Map name → declaration, crowded: boolean}
 *   `hides`: what the compiler says inside this range is left out, since the finding says it already.
 */
export function applyRules(ts, source, { assignments, topLevel = true }) {
  const findings = [];
  const exports = new Map();
  const told = (node, words, hides = false) =>
    findings.push({ start: node.getStart(source), end: hides ? endOfUse(ts, node) : node.end, words, hides });

  if (topLevel) for (const statement of source.statements) judgeStatement(ts, statement, told, exports);
  // The compiler refuses to assign to a function, but not through a cast; a module would keep state in its own name.
  const functions = new Set([...exports.values()].map((declaration) => declaration.name?.text));
  const judgeTarget = (node) => {
    if (!ts.isAsExpression(node) && !ts.isSatisfiesExpression(node)) return;
    const target = ts.skipOuterExpressions(node);
    if (ts.isIdentifier(target) && functions.has(target.text) && ts.isAssignmentTarget(node)) {
      told(node, `Cannot assign to '${target.text}' because it is a function.`, true);
    }
  };
  let crowded = false;
  const counts = [0]; // of the functions around the node, the innermost last
  const visit = (node) => {
    judgeNode(ts, node, told);
    judgeTarget(node);
    if (isAssignment(ts, node)) {
      counts[counts.length - 1] += 1;
      if (counts[counts.length - 1] === assignments + 1) {
        told(node, tooManyAssignments(assignments));
        crowded = true;
      }
    }
    const opens = ts.isFunctionLike(node);
    if (opens) counts.push(0);
    ts.forEachChild(node, visit);
    if (opens) counts.pop();
  };
  visit(source);
  return { findings, exports, crowded };
}

function judgeStatement(ts, statement, told, exports) {
  const has = (kind) => statement.modifiers?.some((each) => each.kind === kind) ?? false;
  if (
    ts.isImportDeclaration(statement) || ts.isImportEqualsDeclaration(statement) ||
    (ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined) || has(ts.SyntaxKind.DeclareKeyword)
  ) {
    return told(statement, READS_NOTHING, true);
  }
  if (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) return undefined;
  if (ts.isEnumDeclaration(statement) || ts.isModuleDeclaration(statement)) return told(statement.name, NOT_ERASABLE, true);
  if (ts.isFunctionDeclaration(statement) && has(ts.SyntaxKind.ExportKeyword)) {
    const name = has(ts.SyntaxKind.DefaultKeyword) ? "default" : statement.name?.text;
    if (name !== undefined && !exports.has(name)) exports.set(name, statement);
    if (statement.asteriskToken !== undefined) told(statement, AT_ONCE);
    return undefined;
  }
  return told(statement, NOTHING_ELSE);
}

function judgeNode(ts, node, told) {
  const { SyntaxKind } = ts;
  switch (node.kind) {
    case SyntaxKind.CallExpression:
    case SyntaxKind.NewExpression: {
      const called = node.expression;
      if (called.kind === SyntaxKind.ImportKeyword || (ts.isIdentifier(called) && CODE_BUILDERS.has(called.text))) {
        told(node, READS_NOTHING, true);
      }
      break;
    }
    case SyntaxKind.ImportType:
      told(node, READS_NOTHING, true);
      break;
    case SyntaxKind.MetaProperty:
      if (node.keywordToken === SyntaxKind.ImportKeyword) told(node, READS_NOTHING, true);
      break;
    case SyntaxKind.AwaitExpression:
      told(node, AT_ONCE, true);
      break;
    case SyntaxKind.ForOfStatement:
      if (node.awaitModifier !== undefined) told(node.awaitModifier, AT_ONCE, true);
      break;
    case SyntaxKind.AsyncKeyword:
      // The compiler's own words about the type that an async function returns would say nothing more.
      if (ts.isFunctionLike(node.parent)) told(node, AT_ONCE, true);
      break;
    case SyntaxKind.Decorator:
    case SyntaxKind.AccessorKeyword:
      told(node, NOT_ERASABLE, true);
      break;
    case SyntaxKind.VariableDeclarationList:
      // `using` is newer than the engine, and is no type that could be erased.
      if ((node.flags & ts.NodeFlags.Using) !== 0 && (node.flags & ts.NodeFlags.Const) === 0) told(node, NOT_ERASABLE, true);
      else if ((node.flags & ts.NodeFlags.AwaitUsing) === ts.NodeFlags.AwaitUsing) told(node, AT_ONCE, true);
      break;
  }
}

/** Where the use of an expression's value ends: what the compiler says of `import.meta.url` says nothing more. */
function endOfUse(ts, node) {
  let used = node;
  while ((ts.isPropertyAccessExpression(used.parent) || ts.isCallExpression(used.parent)) && used.parent.expression === used) {
    used = used.parent;
  }
  return used.end;
}

function isAssignment(ts, node) {
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.kind;
    return operator >= ts.SyntaxKind.FirstAssignment && operator <= ts.SyntaxKind.LastAssignment;
  }
  return (
    (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
    (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken)
  );
}
