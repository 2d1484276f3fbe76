// Calls, as the analysis of writes follows them: of the module's own functions, of listed built-ins and methods, and of nothing else.
import { PLAIN, PRIMITIVE, VIEW, union } from "./writes_heap.mjs";
import { CONSTRUCTORS, FUNCTIONS, METHODS, PURE_FUNCTIONS } from "./writes_library.mjs";

export class Calls {
  constructor(analysis) {
    this.analysis = analysis;
    this.ts = analysis.ts;
  }

  /** The whole name of a global, or of a global's member, such as Object.keys; undefined for anything else. */
  globalName(node) {
    const { ts, analysis } = this;
    if (ts.isIdentifier(node)) {
      const declarations = analysis.symbolOf(node)?.declarations ?? [];
      const isGlobal = declarations.length > 0 && declarations.every((each) => each.getSourceFile() !== analysis.source);
      return isGlobal ? node.text : undefined;
    }
    if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.name)) return undefined;
    const holder = ts.skipOuterExpressions(node.expression);
    const of = ts.isIdentifier(holder) ? this.globalName(holder) : undefined;
    return of === undefined ? undefined : `${of}.${node.name.text}`;
  }

  call(node) {
    const { ts, analysis } = this;
    const callee = ts.skipOuterExpressions(node.expression);
    const name = this.globalName(callee);
    if (name !== undefined) {
      const call = new Call(analysis, node, PRIMITIVE);
      const known = FUNCTIONS.get(name);
      if (known !== undefined) return known(call);
      if (PURE_FUNCTIONS.has(name)) return PRIMITIVE;
      return analysis.undecided(node, `calls ${name}, which is not followed`);
    }
    if (ts.isPropertyAccessExpression(callee) || ts.isElementAccessExpression(callee)) return this.method(node, callee);
    const functions = analysis.value(callee);
    const call = new Call(analysis, node, PRIMITIVE);
    return this.invoke(node, functions, (fn) => call.bind(fn));
  }

  construct(node) {
    const { ts, analysis } = this;
    const name = this.globalName(ts.skipOuterExpressions(node.expression));
    const call = new Call(analysis, node, PRIMITIVE);
    const known = name === undefined ? undefined : CONSTRUCTORS.get(name);
    if (known !== undefined) return known(call);
    return analysis.undecided(node, `makes ${name === undefined ? "an object of a class" : `a ${name}`}, which is not followed`);
  }

  method(node, callee) {
    const { analysis } = this;
    const { heap } = analysis;
    const receiver = analysis.value(callee.expression);
    const name = analysis.memberName(callee);
    const call = new Call(analysis, node, receiver);
    if (name === undefined) return analysis.undecided(node, "calls a method by a computed name");
    const known = METHODS.get(name);
    if (known === undefined) return analysis.undecided(node, `calls ${name}, which is not followed`);
    for (const each of receiver) {
      const { kind, named, holds } = heap.objects[each];
      if (kind === "function" || kind === "pure") return analysis.undecided(node, "calls a method of a function");
      if (named && heap.some(holds, (inner) => inner === "builtin")) {
        return analysis.undecided(node, `calls ${name} of what may hold a built-in under that name`);
      }
    }
    return known(call);
  }

  /** Call what may be functions; anything else raises. */
  invoke(node, functions, bind) {
    const { analysis } = this;
    const results = [];
    for (const each of functions) {
      const { kind, fn } = analysis.heap.objects[each];
      if (kind === "builtin") analysis.undecided(node, "calls what may be an inherited built-in");
      else if (kind === "function") {
        bind(fn);
        results.push(fn.gives);
      }
    }
    return union(...results);
  }
}

/** One call: what it is called on, and what it is given. */
class Call {
  constructor(analysis, node, receiver) {
    this.analysis = analysis;
    this.heap = analysis.heap;
    this.node = node;
    this.receiver = receiver;
    this.before = []; // the arguments that stand before any that is spread
    this.rest = PRIMITIVE; // and what any after those may be
    this.spreads = false;
    for (const argument of node.arguments ?? []) {
      const value = analysis.item(argument);
      this.spreads ||= analysis.ts.isSpreadElement(argument);
      if (this.spreads) this.rest = union(this.rest, value);
      else this.before.push(value);
    }
  }

  get count() {
    return this.before.length;
  }

  argument(index) {
    return this.before[index] ?? this.rest;
  }

  all(from = 0) {
    return union(...this.before.slice(from), this.rest);
  }

  bind(fn) {
    const most = Math.max(this.before.length, fn.node.parameters.length);
    for (let i = 0; i < most; i++) this.heap.add(fn.parameter(i), this.argument(i));
    if (this.spreads) this.heap.add(fn.parameter(most), this.rest);
  }

  make(kind, holds, role = "") {
    return this.analysis.made(this.node, kind, holds, `${kind} ${role}`);
  }

  undecided(words) {
    return this.analysis.undecided(this.node, words);
  }

  /** Let a built-in call the argument at a place with what it gives it; what it may give. */
  callback(index, given) {
    return this.analysis.calls.invoke(this.node, this.argument(index), (fn) => {
      given.forEach((value, place) => this.heap.add(fn.parameter(place), value));
    });
  }

  /** The built-in changes the list that it is called on. */
  mutates(name) {
    for (const each of this.receiver) this.heap.touch(each);
    if (this.receiver.has(VIEW)) this.analysis.tell(this.node, `calls ${name} on what it did not make`);
  }

  /** The lists that it is called on hold more. */
  fill(values) {
    for (const each of this.receiver) {
      const { kind } = this.heap.objects[each];
      if (kind === "view" || kind === "builtin") continue;
      if (!PLAIN.has(kind)) this.undecided("changes what is no list");
      else this.analysis.hold(each, values, this.node);
    }
  }

  fillCollections(values) {
    for (const each of this.receiver) {
      const { kind, holds } = this.heap.objects[each];
      if (kind !== "map" && kind !== "set") continue; // it raises
      this.analysis.hold(each, values, this.node);
      if (kind !== "map") continue;
      for (const pair of holds) if (this.heap.objects[pair].pair) this.analysis.hold(pair, values, this.node);
    }
  }

  /** Object.assign: it sets members, and one may be named __proto__. */
  assigns() {
    const target = this.argument(0);
    const sources = this.heap.elements(this.all(1));
    if (this.spreads) this.undecided("spreads what Object.assign assigns to");
    if (target.has(VIEW)) this.analysis.tell(this.node, "calls Object.assign on what it did not make");
    const wrapped = this.make("object", sources); // where the target is a primitive
    for (const each of target) {
      const { kind } = this.heap.objects[each];
      if (kind === "view" || kind === "builtin") continue;
      if (!PLAIN.has(kind)) this.undecided("calls Object.assign on what is no plain list or object");
      else this.analysis.inherit(each, sources, this.node);
    }
    return union(target, wrapped);
  }
}
