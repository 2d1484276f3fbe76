// The sandbox's own library, as TypeScript declarations: the compiler's library files for ES2025 less everything
// that the sandbox lacks. What the engine has stands in engine-library.json, which scripts/list_engine_library.py
// asks of the engine itself; what the sandbox takes away besides stands here.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));

const ENTRY = "lib.es2025.d.ts";

// Gone from the sandbox although the engine has them (computation, The sandbox).
const GONE = new Set(["eval", "Function", "WeakRef", "FinalizationRegistry", "Promise", "Intl", "Atomics"]);
const GONE_MEMBERS = {
  Math: /^random$/u,
  Date: /^(?:[gs]et(?:FullYear|Year|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds)|getTimezoneOffset|to(?:Locale)?(?:Date|Time)String)$/u,
};

// Interfaces that describe objects of another name's prototype.
const SAME_PROTOTYPE = {
  ReadonlyArray: "Array",
  ReadonlyMap: "Map",
  ReadonlySet: "Set",
  IteratorObject: "Iterator",
  CallableFunction: "Function",
  NewableFunction: "Function",
};

/** The names whose values are left out; their interfaces stay, so a diagnostic may say that they are only types. */
export const GONE_VALUES = GONE;

/** What the engine has: {global name: {own: [member], members: [member of what it constructs]}}. */
export function readEngine() {
  return JSON.parse(readFileSync(join(HERE, "engine-library.json"), "utf8"));
}

/** The names that an object, a list or a primitive inherits from the built-ins. */
export function inheritedNames(engine) {
  return new Set(["Object", "Array", "String", "Number", "Boolean", "BigInt", "Symbol"].flatMap((name) => engine[name].members));
}

/** What a library is made from, as a hash: one made of anything else is out of date. */
export function libraryKey(ts) {
  const hash = createHash("sha256").update(ts.version);
  for (const name of ["library.mjs", "engine-library.json"]) hash.update(readFileSync(join(HERE, name)));
  return hash.digest("hex");
}

/**
 * Make the library.
 * @param ts the compiler
 * @param libFolder the folder of the compiler's lib.*.d.ts files
 * @param engine the parsed engine-library.json
 * @returns a list of {name, text}: the scripts in one file, and each file that is a module in one of its own
 */
export function makeLibrary(ts, libFolder, engine) {
  const scripts = [];
  const modules = [];
  for (const name of filesOf(libFolder, ENTRY)) {
    const source = ts.createSourceFile(name, readFileSync(join(libFolder, name), "utf8"), ts.ScriptTarget.ESNext, true);
    const text = lessen(ts, source, engine);
    if (ts.isExternalModule(source)) modules.push({ name: `sandbox.${name}`, text });
    else scripts.push(text);
  }
  return [{ name: "sandbox.d.ts", text: scripts.join("\n") }, ...modules];
}

function filesOf(folder, entry, seen = new Set()) {
  if (seen.has(entry)) return seen;
  const text = readFileSync(join(folder, entry), "utf8");
  for (const [, name] of text.matchAll(/^\/\/\/ <reference lib="([^"]+)" \/>/gmu)) filesOf(folder, `lib.${name}.d.ts`, seen);
  return seen.add(entry);
}

function lessen(ts, source, engine) {
  const visitor = (context) => {
    const filtered = (nodes, keep) => context.factory.createNodeArray(nodes.filter(keep).map((node) => ts.visitNode(node, visit)));
    const visit = (node) => {
      if (ts.isInterfaceDeclaration(node)) {
        const keep = memberFilter(ts, node.name.text, engine);
        return context.factory.updateInterfaceDeclaration(
          node, node.modifiers, node.name, node.typeParameters, node.heritageClauses, node.members.filter(keep));
      }
      if (ts.isModuleBlock(node)) {
        const owner = node.parent.name.text;
        const values = GONE.has(owner) ? () => false : owner === "global" ? globalFilter(engine) : ownFilter(owner, engine);
        return context.factory.updateModuleBlock(node, filtered(node.statements, (each) => keepStatement(ts, each, values)));
      }
      return ts.visitEachChild(node, visit, context);
    };
    return (file) =>
      context.factory.updateSourceFile(file, filtered(file.statements, (each) => keepStatement(ts, each, globalFilter(engine))));
  };
  const { transformed } = ts.transform(source, [visitor]);
  return ts.createPrinter({ removeComments: true }).printFile(transformed[0]);
}

function keepStatement(ts, statement, has) {
  if (ts.isFunctionDeclaration(statement)) return has(statement.name.text);
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.every((each) => has(each.name.text));
  return true;
}

function globalFilter(engine) {
  return (name) => !GONE.has(name) && Object.hasOwn(engine, name);
}

function ownFilter(owner, engine) {
  return (name) => Object.hasOwn(engine, owner) && engine[owner].own.includes(name);
}

function memberFilter(ts, name, engine) {
  const allowed = namesAllowed(name, engine);
  return (member) => {
    if (name === "DateConstructor") {
      if (ts.isCallSignatureDeclaration(member)) return false;
      if (ts.isConstructSignatureDeclaration(member) && member.parameters.length > 1) return false;
    }
    const key = member.name && keyOf(ts, member.name);
    return key === undefined || allowed === undefined || allowed(key);
  };
}

function namesAllowed(name, engine) {
  const gone = (owner, key) => Object.hasOwn(GONE_MEMBERS, owner) && GONE_MEMBERS[owner].test(key);
  const constructed = name.endsWith("Constructor") ? name.slice(0, -"Constructor".length) : undefined;
  if (constructed !== undefined && Object.hasOwn(engine, constructed)) {
    return (key) => !gone(constructed, key) && engine[constructed].own.includes(key);
  }
  if (name === "Iterator") return undefined; // the protocol, which any object may follow, and not the engine's class
  const owner = Object.hasOwn(SAME_PROTOTYPE, name) ? SAME_PROTOTYPE[name] : name;
  if (!Object.hasOwn(engine, owner)) return undefined;
  const { own, members } = engine[owner];
  return (key) => !gone(owner, key) && (members ?? own).includes(key);
}

function keyOf(ts, name) {
  if (ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isNumericLiteral(name)) return name.text;
  if (ts.isComputedPropertyName(name) && ts.isPropertyAccessExpression(name.expression)) return `@@${name.expression.name.text}`;
  return undefined;
}
