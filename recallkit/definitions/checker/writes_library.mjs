// What the built-ins that a module may call do to what they are given: the listed ones, and no other. Each entry is a function
// of a call, {heap, analysis, node, receiver, argument(i), all(from), count, spreads}, to the set of what it may give.
import { BUILTIN, PLAIN, PRIMITIVE, PURE, union } from "./writes_heap.mjs";

const primitive = () => PRIMITIVE;
const receiver = (call) => call.receiver;
const member = (call) => call.heap.elements(call.receiver);

/** A fresh object that holds what `holds` says. */
const fresh = (kind, holds) => (call) => call.make(kind, holds(call));
const elements = (call) => call.heap.elements(call.receiver);
// keys, values and entries are also functions of Object, where the receiver may be what `view[key]` inherits
const elementsOrTheirs = (call) => union(elements(call), call.heap.elements(call.all()));
const withArguments = (from) => (call) => union(elements(call), call.all(from));

/** A fresh list; or a fresh iterator, where the method may be an iterator's. */
const listOrIterator = (call, holds) => {
  const iterates = call.heap.some(call.receiver, (kind) => kind === "iterator" || kind === "builtin");
  return union(call.make("array", holds), iterates ? call.make("iterator", holds) : PRIMITIVE);
};

/** A fresh list or iterator of fresh pairs. */
const pairs = (kind, holds) => (call) => call.make(kind, call.make("array", holds(call), "pair"));

/** A fresh Map: what iterates it gives pairs, so the pairs are among what it holds. */
const map = (call, holds) => {
  const pair = call.make("array", holds, "pair");
  for (const each of pair) call.heap.objects[each].pair = true;
  return call.make("map", union(holds, pair));
};

/** A callback for each member: its parameters are the member, its index or key, and the whole. */
const each = (result) => (call) => {
  const members = elements(call);
  const keyed = call.heap.some(call.receiver, (kind) => kind === "map" || kind === "set");
  const given = call.callback(0, [members, keyed ? members : PRIMITIVE, call.receiver]);
  return result(call, given);
};

const compares = (result) => (call) => {
  const members = elements(call);
  if (call.count > 0) call.callback(0, [members, members]);
  return result(call);
};

const reduces = (call) => {
  const members = elements(call);
  const start = call.count > 1 || call.spreads ? call.argument(1) : members;
  let gathered = union(start, members);
  const role = call.analysis.variable(call.node);
  call.heap.add(role, gathered);
  gathered = call.callback(0, [role, members, PRIMITIVE, call.receiver]);
  call.heap.add(role, gathered);
  return role;
};

/** A method that changes the list it is called on. */
const changes = (name, given, result) => (call) => {
  call.mutates(name);
  const added = given(call);
  if (added !== undefined) call.fill(added);
  return result(call);
};

/** A method of a Map or a Set, which no view holds. */
const keeps = (result) => (call) => {
  const added = call.all();
  call.fillCollections(added);
  return result(call);
};

const texts = (call) => {
  const made = call.make("array", PRIMITIVE);
  call.heap.add(call.heap.members(made), made); // the groups of a match: an object of texts
  return made;
};

/** A method of texts whose first argument may be a pattern: a pattern of the language, never an object that acts as one. */
const pattern = (result) => (call) => {
  if (call.heap.some(call.argument(0), (kind) => kind !== "regexp" && !PLAIN.has(kind))) call.undecided("gives a text's method what may act as a pattern");
  return result(call);
};

const replaces = pattern((call) => {
  call.callback(1, new Array(40).fill(call.make("object", PRIMITIVE, "groups")));
  return PRIMITIVE;
});

/** A method of sets whose argument is a set: an object that acts as one could run anything. */
const sets = (result) => (call) => {
  if (call.heap.some(call.argument(0), (kind) => kind !== "set" && kind !== "map" && kind !== "view")) {
    call.undecided("gives a set's method what may act as a set");
  }
  return result(call);
};

const flattened = (call) => call.heap.reach(elements(call));

/** Methods by name, whatever they are called on: the value's own member of that name is data, and raises when called. */
export const METHODS = new Map(Object.entries({
  // lists, and texts where they have the same
  at: member,
  concat: (call) => listOrIterator(call, union(elements(call), call.all(), call.heap.elements(call.all()))),
  copyWithin: changes("copyWithin", () => undefined, receiver),
  entries: pairs("iterator", elementsOrTheirs),
  every: each(primitive),
  fill: changes("fill", (call) => call.argument(0), receiver),
  filter: each((call) => listOrIterator(call, elements(call))),
  find: each(member),
  findIndex: each(primitive),
  findLast: each(member),
  findLastIndex: each(primitive),
  flat: fresh("array", flattened),
  flatMap: each((call, given) => listOrIterator(call, union(given, call.heap.elements(given)))),
  forEach: each(primitive),
  includes: primitive,
  indexOf: primitive,
  join: primitive,
  keys: fresh("iterator", elementsOrTheirs),
  lastIndexOf: primitive,
  map: each(listOrIterator),
  pop: changes("pop", () => undefined, member),
  push: changes("push", (call) => call.all(), primitive),
  reduce: reduces,
  reduceRight: reduces,
  reverse: changes("reverse", () => undefined, receiver),
  shift: changes("shift", () => undefined, member),
  slice: fresh("array", elements),
  some: each(primitive),
  sort: compares(changes("sort", () => undefined, receiver)),
  splice: changes("splice", (call) => call.all(2), fresh("array", elements)),
  toReversed: fresh("array", elements),
  toSorted: compares(fresh("array", elements)),
  toSpliced: fresh("array", withArguments(2)),
  unshift: changes("unshift", (call) => call.all(), primitive),
  values: fresh("iterator", elementsOrTheirs),
  with: fresh("array", withArguments(1)),
  // iterators
  drop: fresh("iterator", elements),
  next: fresh("object", elements),
  take: fresh("iterator", elements),
  toArray: fresh("array", elements),
  // Map and Set
  add: keeps(receiver),
  clear: primitive,
  delete: primitive,
  get: member,
  has: primitive,
  set: keeps(receiver),
  difference: sets(fresh("set", elements)),
  intersection: sets(fresh("set", (call) => union(elements(call), call.heap.elements(call.argument(0))))),
  isDisjointFrom: sets(primitive),
  isSubsetOf: sets(primitive),
  isSupersetOf: sets(primitive),
  symmetricDifference: sets(fresh("set", (call) => union(elements(call), call.heap.elements(call.argument(0))))),
  union: sets(fresh("set", (call) => union(elements(call), call.heap.elements(call.argument(0))))),
  // texts and patterns
  exec: texts,
  match: pattern(texts),
  matchAll: pattern((call) => call.make("iterator", texts(call), "matches")),
  replace: replaces,
  replaceAll: replaces,
  search: pattern(primitive),
  split: pattern(fresh("array", primitive)),
  test: primitive,
  valueOf: receiver,
}));
for (const name of [
  "charAt", "charCodeAt", "codePointAt", "endsWith", "isWellFormed", "localeCompare", "normalize", "padEnd", "padStart", "repeat", "startsWith",
  "substr", "substring", "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase", "toUpperCase", "toWellFormed", "trim", "trimEnd", "trimStart",
  "toExponential", "toFixed", "toPrecision", "toString", "hasOwnProperty", "propertyIsEnumerable",
  "getTime", "toISOString", "setTime", "getUTCDate", "getUTCDay", "getUTCFullYear", "getUTCHours", "getUTCMilliseconds", "getUTCMinutes",
  "getUTCMonth", "getUTCSeconds", "setUTCDate", "setUTCFullYear", "setUTCHours", "setUTCMilliseconds", "setUTCMinutes", "setUTCMonth", "setUTCSeconds",
]) {
  METHODS.set(name, primitive);
}

const ofArgument = (call) => call.heap.elements(call.argument(0));
const groups = (kind) => (call) => {
  const items = ofArgument(call);
  const keys = call.callback(1, [items, PRIMITIVE]);
  const lists = call.make("array", items, "group");
  return kind === "map" ? map(call, union(lists, keys)) : call.make(kind, lists);
};

/** Functions of the globals, by their whole name. */
export const FUNCTIONS = new Map(Object.entries({
  Array: (call) => call.make("array", call.all()),
  "Array.from": (call) => {
    const items = ofArgument(call);
    const mapped = call.count > 1 || call.spreads ? call.callback(1, [items, PRIMITIVE]) : PRIMITIVE;
    return call.make("array", union(items, mapped));
  },
  "Array.of": (call) => call.make("array", call.all()),
  "JSON.parse": (call) => {
    if (call.count !== 1 || call.spreads) return call.undecided("gives JSON.parse a function that it calls on parts of the value");
    const made = call.make("json", PRIMITIVE);
    call.heap.add(call.heap.members(made), made);
    return made;
  },
  "JSON.stringify": (call) => {
    const acts = (kind) => kind === "function" || kind === "builtin" || kind === "pure";
    if (call.spreads || call.heap.some(call.argument(1), acts)) call.undecided("gives JSON.stringify what it may call on parts of the value");
    return PRIMITIVE;
  },
  "Map.groupBy": groups("map"),
  "Object.assign": (call) => call.assigns(),
  "Object.entries": pairs("array", ofArgument),
  "Object.fromEntries": (call) => call.make("object", call.heap.elements(ofArgument(call))),
  "Object.groupBy": groups("object"),
  "Object.values": (call) => call.make("array", ofArgument(call)),
  "Object.keys": (call) => call.make("array", PRIMITIVE),
  "Object.getOwnPropertyNames": (call) => call.make("array", PRIMITIVE),
}));

/** Constructors, by name. */
export const CONSTRUCTORS = new Map(Object.entries({
  Array: (call) => call.make("array", call.all()),
  Date: (call) => call.make("date", PRIMITIVE),
  Map: (call) => map(call, call.heap.elements(ofArgument(call))),
  RegExp: pattern((call) => call.make("regexp", PRIMITIVE)),
  Set: (call) => {
    const items = ofArgument(call);
    return call.make("set", items);
  },
}));
for (const name of ["Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"]) {
  const make = (call) => call.make("error", union(call.all(), call.heap.elements(call.all())));
  CONSTRUCTORS.set(name, make);
  FUNCTIONS.set(name, make);
}

/** Functions that call nothing of the module's and give a primitive, whatever they are given. */
export const PURE_FUNCTIONS = new Set([
  "Array.isArray", "BigInt", "Boolean", "Date.UTC", "Date.now", "Date.parse", "Number", "Number.isFinite", "Number.isInteger", "Number.isNaN",
  "Number.isSafeInteger", "Number.parseFloat", "Number.parseInt", "Object.hasOwn", "Object.is", "Object.isExtensible", "Object.isFrozen", "Object.isSealed", "String", "String.fromCharCode",
  "String.fromCodePoint", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "isFinite", "isNaN", "parseFloat",
  "parseInt", "unescape",
]);
for (const name of [
  "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clz32", "cos", "cosh", "exp", "expm1", "floor", "fround", "hypot",
  "imul", "log", "log10", "log1p", "log2", "max", "min", "pow", "round", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]) {
  PURE_FUNCTIONS.add(`Math.${name}`);
}

/** Globals that may stand as values: what they are is frozen, and a call of it under another name is undecided. */
export const GLOBALS = new Set([
  "Array", "BigInt", "Boolean", "Date", "Error", "EvalError", "JSON", "Map", "Math", "Number", "Object", "RangeError", "ReferenceError", "RegExp",
  "Set", "String", "SyntaxError", "TypeError", "URIError",
]);

/** Globals that are primitives. */
export const PRIMITIVE_GLOBALS = new Set(["undefined", "NaN", "Infinity"]);

export const pureValue = new Set([PURE]);
export const builtinValue = new Set([BUILTIN]);
