// Whether a fold can write to an object that it did not make itself (recall, The module; the fast way, page_keep.js).
//
// A points-to analysis over the compiler's tree: it follows where the view's parts may go, through variables, members, calls and
// callbacks, in no order and for all calls at once, until nothing new is learnt. Names are resolved by the compiler; types are
// never trusted, since a cast may say anything. A write to what may be a part of the view is told; so is everything that the
// analysis does not follow. What it does not tell cannot happen. The event's parts and whatever the fold makes are its own:
// no fold before or after it holds them.
import { EVENT, PRIMITIVE, TooLarge, VIEW, union } from "./writes_heap.mjs";
import { Expressions } from "./writes_expressions.mjs";

const MOST_REASONS = 20;

/**
 * @param inherited the names that lists, objects and primitives inherit from built-ins
 * @returns why the module may write, [{words, offset}] in the order of the text: empty when it provably does not
 */
export function findWrites(ts, source, checker, fold, inherited) {
  const analysis = new Analysis(ts, source, checker, inherited);
  try {
    analysis.run(fold);
  } catch (error) {
    // a tree too deep for this walk, or too large for its bounds
    return [{ words: error instanceof TooLarge ? "is too large to analyse" : "nests too deeply to analyse", offset: fold.getStart(source) }];
  }
  return analysis.reasons();
}

class Analysis extends Expressions {
  run(fold) {
    const entry = this.functionOf(fold);
    this.heap.add(entry.parameter(0), new Set([VIEW]));
    this.heap.add(entry.parameter(1), new Set([EVENT]));
    do {
      this.heap.changed = false;
      for (const each of this.functions.values()) this.walkFunction(each); // grows while it is walked
    } while (this.heap.changed);
  }

  reasons() {
    return [...this.found.values()].sort((a, b) => a.offset - b.offset).slice(0, MOST_REASONS);
  }


  statement(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    this.heap.spend(1);
    switch (node.kind) {
      case K.Block:
        for (const each of node.statements) this.statement(each);
        break;
      case K.VariableStatement:
        this.declarations(node.declarationList);
        break;
      case K.ExpressionStatement:
        this.value(node.expression);
        break;
      case K.IfStatement:
        this.value(node.expression);
        this.statement(node.thenStatement);
        if (node.elseStatement !== undefined) this.statement(node.elseStatement);
        break;
      case K.DoStatement:
      case K.WhileStatement:
        this.value(node.expression);
        this.statement(node.statement);
        break;
      case K.ForStatement:
        if (node.initializer !== undefined) this.initializer(node.initializer);
        if (node.condition !== undefined) this.value(node.condition);
        if (node.incrementor !== undefined) this.value(node.incrementor);
        this.statement(node.statement);
        break;
      case K.ForOfStatement:
      case K.ForInStatement: {
        const iterated = this.value(node.expression);
        const each = node.kind === K.ForOfStatement ? this.heap.elements(iterated) : PRIMITIVE;
        if (ts.isVariableDeclarationList(node.initializer)) {
          for (const declaration of node.initializer.declarations) this.declare(declaration, each);
        } else {
          this.assign(node.initializer, each);
        }
        this.statement(node.statement);
        break;
      }
      case K.SwitchStatement:
        this.value(node.expression);
        for (const clause of node.caseBlock.clauses) {
          if (ts.isCaseClause(clause)) this.value(clause.expression);
          for (const each of clause.statements) this.statement(each);
        }
        break;
      case K.LabeledStatement:
        this.statement(node.statement);
        break;
      case K.ReturnStatement:
        if (node.expression !== undefined) this.heap.add(this.current.gives, this.value(node.expression));
        break;
      case K.ThrowStatement:
        this.heap.add(this.thrown, this.value(node.expression));
        break;
      case K.TryStatement:
        this.statement(node.tryBlock);
        if (node.catchClause !== undefined) {
          const { variableDeclaration, block } = node.catchClause;
          const raised = this.made(node.catchClause, "error", PRIMITIVE); // the engine's own
          if (variableDeclaration !== undefined) this.bind(variableDeclaration.name, union(this.thrown, raised));
          this.statement(block);
        }
        if (node.finallyBlock !== undefined) this.statement(node.finallyBlock);
        break;
      case K.FunctionDeclaration:
        if (node.body !== undefined) this.functionOf(node);
        break;
      case K.EmptyStatement:
      case K.DebuggerStatement:
      case K.BreakStatement:
      case K.ContinueStatement:
      case K.TypeAliasDeclaration:
      case K.InterfaceDeclaration:
        break;
      default:
        this.undecided(node, `has ${this.kindWords(node)}, which is not followed`);
    }
  }

  initializer(node) {
    if (this.ts.isVariableDeclarationList(node)) this.declarations(node);
    else this.value(node);
  }

  declarations(list) {
    for (const declaration of list.declarations) {
      if (declaration.initializer !== undefined) this.declare(declaration, this.value(declaration.initializer));
    }
  }

  declare(declaration, value) {
    const { ts } = this;
    if ((ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.BlockScoped) === 0) {
      // `var e = …` in a catch clause assigns to the clause's own e, though it declares one of the function
      if (ts.findAncestor(declaration, (each) => ts.isCatchClause(each))) this.undecided(declaration, "has a var in a catch clause");
    }
    this.bind(declaration.name, value);
  }

  kindWords(node) {
    const words = this.ts.SyntaxKind[node.kind].replace(/([a-z])([A-Z])/gu, "$1 $2").toLowerCase();
    return `${/^[aeiou]/u.test(words) ? "an" : "a"} ${words}`;
  }
}
