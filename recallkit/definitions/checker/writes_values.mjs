// Where values go in the analysis of writes.mjs: variables and functions, patterns, members read and written.
import { BUILTIN, Heap, INHERITED, PLAIN, PRIMITIVE, PURE, union } from "./writes_heap.mjs";
import { Calls } from "./writes_calls.mjs";

export const NOT_ITS_OWN = "what it did not make";

export class Values {
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
