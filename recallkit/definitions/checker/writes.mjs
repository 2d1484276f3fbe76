// Whether a fold can write to an object that it did not make itself (recall, The module; see the host's fast way, fitness.js).
//
// A points-to analysis over the compiler's tree: it follows where the view's parts may go, through variables, members, calls and
// callbacks, in no order and for all calls at once, until nothing new is learnt. Names are resolved by the compiler; types are
// never trusted, since a cast may say anything. A write to what may be a part of the view is told; so is everything that the
// analysis does not follow. What it does not tell cannot happen. The event's parts and whatever the fold makes are its own:
// no fold before or after it holds them.
import { BUILTIN, EVENT, Heap, INHERITED, PLAIN, PRIMITIVE, PURE, TooLarge, VIEW, union } from "./writes_heap.mjs";
import { Calls } from "./writes_calls.mjs";
import { GLOBALS, PRIMITIVE_GLOBALS, PURE_FUNCTIONS, builtinValue, pureValue } from "./writes_library.mjs";

const MOST_REASONS = 20;
const NOT_ITS_OWN = "what it did not make";

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

class Analysis {
  constructor(ts, source, checker, inherited) {
    this.ts = ts;
    this.source = source;
    this.checker = checker;
    this.inherited = inherited;
    this.heap = new Heap();
    this.calls = new Calls(this);
    this.variables = new Map(); // by the compiler's symbol, or by a node
    this.functions = new Map(); // by declaration: {id, parameters: [set], rest: set, gives: set}
    this.thrown = new Set();
    this.found = new Map();
    this.current = undefined; // the function that is walked
  }

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

  tell(node, words) {
    const offset = node.getStart(this.source);
    this.found.set(`${offset} ${words}`, { words, offset });
  }

  undecided(node, words) {
    this.tell(node, words);
    return PRIMITIVE;
  }

  // ---- variables and functions ---------------------------------------------------------------------------------------

  variable(key) {
    let known = this.variables.get(key);
    if (known === undefined) this.variables.set(key, (known = new Set()));
    return known;
  }

  symbolOf(name) {
    const { parent } = name;
    if (this.ts.isShorthandPropertyAssignment(parent) && parent.name === name) return this.checker.getShorthandAssignmentValueSymbol(parent);
    return this.checker.getSymbolAtLocation(name);
  }

  /** The function that a declaration or an expression makes, walked from now on. */
  functionOf(declaration) {
    let known = this.functions.get(declaration);
    if (known === undefined) {
      known = new Function_(declaration, this.heap.site(declaration, "function"));
      this.heap.objects[known.id].fn = known;
      this.functions.set(declaration, known);
      this.heap.changed = true;
    }
    return known;
  }

  walkFunction(fn) {
    const { ts } = this;
    const { node } = fn;
    const before = this.current;
    this.current = fn;
    if (node.asteriskToken !== undefined) this.undecided(node, "is a generator");
    node.parameters.forEach((parameter, index) => {
      const rest = parameter.dotDotDotToken !== undefined;
      let value = fn.parameter(index);
      if (rest) value = this.made(parameter, "array", fn.from(index));
      if (parameter.initializer !== undefined) value = union(value, this.value(parameter.initializer));
      this.bind(parameter.name, value);
    });
    if (ts.isBlock(node.body)) this.statement(node.body);
    else this.heap.add(fn.gives, this.value(node.body));
    this.current = before;
  }

  /** A fresh object made at a node, as a value. */
  made(node, kind, holds, role = "") {
    const id = this.heap.site(node, kind, role);
    this.hold(id, holds, node);
    return new Set([id]);
  }

  /** Let an object hold more. Functions are not followed into what holds them. */
  hold(id, values, node) {
    if (values.has(PURE)) values = union(this.heap.only(values, (kind) => kind !== "pure"), INHERITED);
    if (this.heap.some(values, (kind) => kind === "function")) this.undecided(node, "keeps a function in a value");
    this.heap.add(this.heap.objects[id].holds, values);
  }

  // ---- patterns ------------------------------------------------------------------------------------------------------

  /** Bind the names of a declaration. */
  bind(name, value) {
    const { ts } = this;
    if (ts.isIdentifier(name)) {
      const symbol = this.symbolOf(name);
      if (symbol === undefined) this.undecided(name, "declares what is not found");
      else this.heap.add(this.variable(symbol), value);
      return;
    }
    const list = ts.isArrayBindingPattern(name);
    for (const element of name.elements) {
      if (ts.isOmittedExpression(element)) continue;
      let part;
      if (element.dotDotDotToken !== undefined) {
        part = this.made(element, list ? "array" : "object", this.heap.elements(value));
      } else if (list) {
        part = this.heap.elements(value);
      } else {
        part = this.read(value, this.nameOf(element.propertyName ?? element.name), element);
      }
      if (element.initializer !== undefined) part = union(part, this.value(element.initializer));
      this.bind(element.name, part);
    }
  }

  /** Assign to a target: a name, a member, or a pattern of them. */
  assign(target, value) {
    const { ts } = this;
    const node = ts.skipOuterExpressions(target);
    if (ts.isIdentifier(node)) {
      const symbol = this.symbolOf(node);
      if (symbol === undefined) this.undecided(node, "assigns to what is not found");
      else this.heap.add(this.variable(symbol), value);
    } else if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
      const holder = this.value(node.expression);
      const name = this.memberName(node);
      this.write(holder, value, name, node, `assigns to a member of ${NOT_ITS_OWN}`);
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
      this.assign(node.left, union(value, this.value(node.right))); // a default in a pattern
    } else if (ts.isArrayLiteralExpression(node)) {
      for (const element of node.elements) {
        if (ts.isOmittedExpression(element)) continue;
        const parts = this.heap.elements(value);
        if (ts.isSpreadElement(element)) this.assign(element.expression, this.made(element, "array", parts));
        else this.assign(element, parts);
      }
    } else if (ts.isObjectLiteralExpression(node)) {
      for (const property of node.properties) {
        if (ts.isShorthandPropertyAssignment(property)) {
          let part = this.read(value, property.name.text, property);
          if (property.objectAssignmentInitializer !== undefined) part = union(part, this.value(property.objectAssignmentInitializer));
          this.assign(property.name, part);
        } else if (ts.isPropertyAssignment(property)) {
          this.assign(property.initializer, this.read(value, this.nameOf(property.name), property));
        } else if (ts.isSpreadAssignment(property)) {
          this.assign(property.expression, this.made(property, "object", this.heap.elements(value)));
        } else {
          this.undecided(property, "assigns in a way that is not followed");
        }
      }
    } else {
      this.undecided(node, "assigns in a way that is not followed");
    }
  }

  // ---- members -------------------------------------------------------------------------------------------------------

  /** The name of a property in a literal or a pattern; undefined for one that is computed. */
  nameOf(name) {
    const { ts } = this;
    if (ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isNumericLiteral(name)) return name.text;
    if (ts.isComputedPropertyName(name)) {
      this.value(name.expression);
      return ts.isStringLiteralLike(name.expression) || ts.isNumericLiteral(name.expression) ? name.expression.text : undefined;
    }
    return this.undecided(name, "names a member in a way that is not followed") && undefined;
  }

  /** The name of an accessed member; undefined for one that is computed. */
  memberName(access) {
    const { ts } = this;
    if (ts.isPropertyAccessExpression(access)) return ts.isIdentifier(access.name) ? access.name.text : this.undecided(access, "names a private member") && undefined;
    const { argumentExpression: key } = access;
    this.value(key);
    return ts.isStringLiteralLike(key) || ts.isNumericLiteral(key) ? key.text : undefined;
  }

  read(holders, name, node) {
    if (this.heap.some(holders, (kind) => kind === "function")) return this.undecided(node, "reads a member of a function");
    const foreign = this.heap.some(holders, (kind) => !PLAIN.has(kind));
    const inherits = name === undefined || foreign || this.inherited.has(name);
    return inherits ? union(this.heap.members(holders), INHERITED) : this.heap.members(holders);
  }

  /** Write a member; `name` is undefined where it is computed. */
  write(holders, values, name, node, words) {
    if (name === "__proto__") this.undecided(node, "assigns a prototype");
    for (const holder of [...holders]) {
      const { kind } = this.heap.objects[holder];
      if (kind === "view") {
        this.tell(node, words);
      } else if (kind === "builtin" || kind === "pure") {
        continue; // frozen: it raises
      } else if (!PLAIN.has(kind)) {
        this.undecided(node, "assigns to a member of what is no plain list or object");
      } else if (this.heap.touch(holder) && name === undefined) {
        // the name may be __proto__: then the members of the value are inherited
        this.inherit(holder, values, node);
      } else {
        const special = kind !== "object" && kind !== "json" && (values.has(BUILTIN) || values.has(PURE) || name === "constructor");
        if (special) this.undecided(node, "keeps what may be a built-in in a list or the event");
        this.hold(holder, values, node);
        this.heap.objects[holder].named = true;
      }
    }
  }

  inherit(holder, values, node) {
    if (this.heap.some(values, (kind) => !PLAIN.has(kind))) this.undecided(node, "keeps under a computed name what may be a built-in");
    this.hold(holder, values, node);
    this.hold(holder, this.heap.reach(values), node);
    this.heap.objects[holder].named = true;
  }

  // ---- statements ----------------------------------------------------------------------------------------------------

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

  // ---- expressions ---------------------------------------------------------------------------------------------------

  value(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    this.heap.spend(1);
    switch (node.kind) {
      case K.Identifier:
        return this.name(node);
      case K.ParenthesizedExpression:
      case K.AsExpression:
      case K.SatisfiesExpression:
      case K.NonNullExpression:
      case K.TypeAssertionExpression:
      case K.ExpressionWithTypeArguments:
        return this.value(node.expression);
      case K.NumericLiteral:
      case K.BigIntLiteral:
      case K.StringLiteral:
      case K.NoSubstitutionTemplateLiteral:
      case K.TrueKeyword:
      case K.FalseKeyword:
      case K.NullKeyword:
        return PRIMITIVE;
      case K.TemplateExpression:
        for (const span of node.templateSpans) this.value(span.expression);
        return PRIMITIVE;
      case K.RegularExpressionLiteral:
        return this.made(node, "regexp", PRIMITIVE);
      case K.TypeOfExpression:
      case K.VoidExpression:
        this.value(node.expression);
        return PRIMITIVE;
      case K.DeleteExpression: {
        const target = ts.skipOuterExpressions(node.expression);
        if (!ts.isPropertyAccessExpression(target) && !ts.isElementAccessExpression(target)) return this.undecided(node, "deletes what is no member");
        const holder = this.value(target.expression);
        this.memberName(target);
        for (const each of holder) this.heap.touch(each);
        if (holder.has(VIEW)) this.tell(node, `deletes a member of ${NOT_ITS_OWN}`);
        return PRIMITIVE;
      }
      case K.PrefixUnaryExpression:
      case K.PostfixUnaryExpression:
        if (node.operator === K.PlusPlusToken || node.operator === K.MinusMinusToken) this.assign(node.operand, PRIMITIVE);
        this.value(node.operand);
        return PRIMITIVE;
      case K.BinaryExpression:
        return this.binary(node);
      case K.ConditionalExpression:
        this.value(node.condition);
        return union(this.guarded(node.condition, node.whenTrue), this.value(node.whenFalse));
      case K.ArrayLiteralExpression:
        return this.made(node, "array", union(...node.elements.map((each) => this.item(each))));
      case K.ObjectLiteralExpression:
        return this.object(node);
      case K.PropertyAccessExpression:
      case K.ElementAccessExpression: {
        const pure = this.calls.globalName(node);
        if (pure !== undefined && PURE_FUNCTIONS.has(pure)) return pureValue;
        const holder = this.value(node.expression);
        return this.read(holder, this.memberName(node), node);
      }
      case K.ArrowFunction:
      case K.FunctionExpression:
        return new Set([this.functionOf(node).id]);
      case K.CallExpression:
        return this.calls.call(node);
      case K.NewExpression:
        return this.calls.construct(node);
      default:
        return this.undecided(node, `has ${this.kindWords(node)}, which is not followed`);
    }
  }

  /** The value of `a[k]` right after `Object.hasOwn(a, k)` held is a member of a's own, and no inherited built-in. */
  guarded(condition, node) {
    const { ts } = this;
    const read = ts.skipOuterExpressions(node);
    let test = ts.skipOuterExpressions(condition);
    while (ts.isBinaryExpression(test) && test.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken) test = ts.skipOuterExpressions(test.right);
    const asks = ts.isCallExpression(test) && test.arguments.length === 2 && this.calls.globalName(ts.skipOuterExpressions(test.expression)) === "Object.hasOwn";
    if (asks && ts.isElementAccessExpression(read)) {
      const [holder, key] = test.arguments;
      if (this.same(holder, read.expression) && this.same(key, read.argumentExpression)) {
        // a list or object as a key is one text, then another, when it changes between the two
        const keys = this.value(read.argumentExpression);
        const holders = this.value(read.expression);
        const steady = !this.heap.some(keys, (kind) => kind !== "view" && (kind !== "event" || this.heap.objects[EVENT].written));
        if (steady && !this.heap.some(holders, (kind) => kind === "function")) return this.heap.members(holders);
      }
    }
    return this.value(node);
  }

  /** Whether two expressions name the same thing: a variable, or a member of the same thing. */
  same(one, other) {
    const { ts } = this;
    const a = ts.skipOuterExpressions(one);
    const b = ts.skipOuterExpressions(other);
    if (ts.isIdentifier(a) && ts.isIdentifier(b)) return a.text === b.text && this.symbolOf(a) === this.symbolOf(b);
    if (!ts.isPropertyAccessExpression(a) || !ts.isPropertyAccessExpression(b)) return false;
    return a.name.text === b.name.text && this.same(a.expression, b.expression);
  }

  item(element) {
    if (this.ts.isOmittedExpression(element)) return PRIMITIVE;
    if (this.ts.isSpreadElement(element)) return this.heap.elements(this.value(element.expression));
    return this.value(element);
  }

  name(node) {
    const { text } = node;
    const symbol = this.symbolOf(node);
    const declarations = symbol?.declarations ?? [];
    if (declarations.length > 0 && declarations.every((each) => each.getSourceFile() === this.source)) {
      const body = declarations.find((each) => this.ts.isFunctionLike(each) && each.body !== undefined);
      const known = this.variable(symbol);
      return body === undefined ? known : union(known, new Set([this.functionOf(body).id]));
    }
    if (PRIMITIVE_GLOBALS.has(text)) return PRIMITIVE;
    if (PURE_FUNCTIONS.has(text)) return pureValue;
    if (GLOBALS.has(text)) return builtinValue;
    return this.undecided(node, `uses ${text}, which is not followed`);
  }

  object(node) {
    const { ts } = this;
    const parts = node.properties.map((property) => {
      if (ts.isSpreadAssignment(property)) return this.heap.elements(this.value(property.expression));
      if (ts.isShorthandPropertyAssignment(property)) return this.name(property.name);
      if (!ts.isPropertyAssignment(property)) return this.undecided(property, `has ${this.kindWords(property)}, which is not followed`);
      const name = this.nameOf(property.name);
      if (name === "__proto__") this.undecided(property, "gives an object a prototype");
      return this.value(property.initializer);
    });
    return this.made(node, "object", union(...parts));
  }

  binary(node) {
    const { ts } = this;
    const K = ts.SyntaxKind;
    const operator = node.operatorToken.kind;
    if (operator === K.EqualsToken) {
      const value = this.value(node.right);
      this.assign(node.left, value);
      return value;
    }
    if (operator >= K.FirstAssignment && operator <= K.LastAssignment) {
      const logical = operator === K.AmpersandAmpersandEqualsToken || operator === K.BarBarEqualsToken || operator === K.QuestionQuestionEqualsToken;
      const right = this.value(node.right);
      const given = logical ? right : PRIMITIVE;
      this.assign(node.left, given);
      return union(given, logical ? this.value(node.left) : PRIMITIVE);
    }
    const left = this.value(node.left);
    const right = operator === K.AmpersandAmpersandToken ? this.guarded(node.left, node.right) : this.value(node.right);
    if (operator === K.CommaToken) return right;
    if (operator === K.AmpersandAmpersandToken || operator === K.BarBarToken || operator === K.QuestionQuestionToken) return union(left, right);
    return PRIMITIVE;
  }
}

/** A function of the module: what its parameters may be, over all its calls, and what it may give. */
class Function_ {
  constructor(node, id) {
    this.node = node;
    this.id = id;
    this.parameters = [];
    this.gives = new Set();
  }

  parameter(index) {
    while (this.parameters.length <= index) this.parameters.push(new Set());
    return this.parameters[index];
  }

  /** What the arguments from a place on may be. */
  from(index) {
    return union(...this.parameters.slice(index));
  }
}
