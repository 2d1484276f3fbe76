// JSON text as a tree that opens one level at a time. The same walk as tree.py, which says why; a test holds the two
// to each other. Texts are cut by code points, as Python cuts them.

const INLINE_CHARACTERS = 100;
const ROW_CHARACTERS = 160;
const TEXT_CHARACTERS = 2000;
const PAGE_ROWS = 50;
const GHOST_ROWS = 20;
const CHANGES_TOLD = 100;
const FOLLOWED = 3;

const KINDS = { "{": "object", "[": "array", '"': "string", t: "boolean", f: "boolean", n: "null" };

export const kindOf = (text) => KINDS[text[0]] ?? "number";
const isContainer = (kind) => kind === "object" || kind === "array";

function cutAt(text, most) {
  if (text.length <= most) return null;
  const start = Array.from(text.slice(0, 2 * most + 2)).slice(0, most).join("");
  return start.length < text.length ? start : null;
}

/** The members of a JSON object or list, each with its own JSON text. */
export function children(text) {
  const kind = kindOf(text);
  if (!isContainer(kind)) return [];
  const named = kind === "object";
  const found = new Map();
  let at = 1;
  const skip = () => {
    while (" \t\n\r".includes(text[at])) at += 1;
  };
  const pass = () => {
    if (text[at] === '"') {
      at += 1;
      while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      at += 1;
      return;
    }
    let depth = 0;
    for (; at < text.length; at += 1) {
      const unit = text[at];
      if (unit === '"') {
        at += 1;
        while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      } else if (unit === "{" || unit === "[") depth += 1;
      else if (unit === "}" || unit === "]") {
        if (depth === 0) return;
        depth -= 1;
        if (depth === 0) {
          at += 1;
          return;
        }
      } else if (depth === 0 && (unit === "," || " \t\n\r".includes(unit))) return;
    }
  };
  skip();
  while (at < text.length && text[at] !== "}" && text[at] !== "]") {
    let key = found.size;
    if (named) {
      const begin = at;
      pass();
      key = JSON.parse(text.slice(begin, at));
      skip();
      at += 1;
      skip();
    }
    const begin = at;
    pass();
    found.set(key, text.slice(begin, at));
    skip();
    if (text[at] === ",") {
      at += 1;
      skip();
    }
  }
  return [...found];
}

export const partsOf = (pointer) =>
  pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

export const joinPath = (pointer, key) => `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** A JSON text whose levels are read when they are first opened, and remembered. */
export class Tree {
  constructor(text) {
    this.text = text;
    this.known = new Map();
  }

  members(pointer) {
    let members = this.known.get(pointer);
    if (members === undefined) {
      const here = this.at(pointer);
      members = new Map(here === null ? [] : children(here));
      this.known.set(pointer, members);
    }
    return members;
  }

  /** The JSON text at a pointer, or null. */
  at(pointer) {
    if (!pointer) return this.text;
    const slash = pointer.lastIndexOf("/");
    const parent = pointer.slice(0, slash);
    const name = pointer.slice(slash + 1);
    const above = this.at(parent);
    if (above === null) return null;
    let key = name.replaceAll("~1", "/").replaceAll("~0", "~");
    if (kindOf(above) === "array") {
      if (!/^(0|[1-9][0-9]{0,9})$/.test(name)) return null;
      key = Number(name);
    }
    return this.members(parent).get(key) ?? null;
  }
}

const encoder = new TextEncoder();
export const sizeOf = (text) => encoder.encode(text).length;

export function cutText(text, most) {
  const start = cutAt(text, most);
  return start === null ? text : `${start}…`;
}

export const shownText = (text) => cutText(text, isContainer(kindOf(text)) ? INLINE_CHARACTERS : ROW_CHARACTERS);
export const briefText = (text) => (text === null ? "" : cutText(text, ROW_CHARACTERS));

export function rowOf(key, text) {
  const kind = kindOf(text);
  const told = { key, kind, text: shownText(text) };
  if (isContainer(kind)) {
    told.count = children(text).length;
    told.opens = told.count > 0;
  } else told.opens = cutAt(text, ROW_CHARACTERS) !== null;
  return told;
}

/** One page of what stands under a pointer; null where there is nothing to open. */
export function branchOf(tree, pointer, offset, marks) {
  const here = tree.at(pointer);
  if (here === null) return null;
  const kind = kindOf(here);
  if (!isContainer(kind)) {
    if (cutAt(here, ROW_CHARACTERS) === null) return null;
    const points = Array.from(here);
    const begin = Math.floor(Math.max(0, Math.min(offset, points.length - 1)) / TEXT_CHARACTERS) * TEXT_CHARACTERS;
    const piece = points.slice(begin, begin + TEXT_CHARACTERS).join("");
    return { path: pointer, kind, total: points.length, offset: begin, piece };
  }
  const members = [...tree.members(pointer)];
  const begin = Math.floor(Math.max(0, Math.min(offset, members.length - 1)) / PAGE_ROWS) * PAGE_ROWS;
  const rows = members.slice(begin, begin + PAGE_ROWS).map(([key, value]) => rowOf(key, value));
  const told = { path: pointer, kind, total: members.length, offset: begin, rows };
  if (marks) {
    for (const each of rows) each.mark = marks.of(joinPath(pointer, each.key));
    told.gone = (marks.gone.get(pointer) ?? []).slice(0, GHOST_ROWS).map(([key, was]) => ({ key, text: was, mark: "removed" }));
  }
  return told;
}

/** What an event changed, by pointer of the view after it. */
export class Marks {
  constructor(patch, before, after) {
    this.changes = [];
    this.gone = new Map();
    this.ops = new Map();
    this.within = new Set();
    const taken = new Map();
    for (const { op, path } of patch) {
      const change = { op, path };
      const told = this.changes.length < CHANGES_TOLD;
      const slash = path.lastIndexOf("/");
      const parent = slash < 0 ? "" : path.slice(0, slash);
      const name = path.slice(slash + 1);
      let old = path;
      if (op === "remove") {
        const shift = taken.get(path) ?? 0;
        taken.set(path, shift + 1);
        if (shift && /^[0-9]+$/.test(name)) old = `${parent}/${Number(name) + shift}`;
      } else {
        this.ops.set(path, op === "add" ? "added" : "changed");
        change.text = told ? briefText(after.at(path)) : "";
      }
      if (op !== "add") change.was = told ? briefText(before.at(old)) : "";
      if (op === "remove") {
        if (!this.gone.has(parent)) this.gone.set(parent, []);
        this.gone.get(parent).push([old ? partsOf(old).at(-1) : "", change.was]);
      }
      this.changes.push(change);
      for (let up = path; up; ) {
        up = up.slice(0, up.lastIndexOf("/"));
        this.within.add(up);
      }
    }
  }

  of(pointer) {
    return this.ops.get(pointer) ?? (this.within.has(pointer) ? "inside" : "");
  }
}

/** The branches to open: those wanted, and those above the first changes, each at the page that shows it. */
export function followed(tree, changes, wanted) {
  const opened = new Map(wanted);
  const led = new Map();
  for (const { path } of changes.slice(0, FOLLOWED)) {
    let pointer = "";
    for (const name of partsOf(path)) {
      if (!led.has(pointer)) {
        const place = [...tree.members(pointer).keys()].findIndex((key) => String(key) === name);
        led.set(pointer, Math.max(0, place));
      }
      pointer = joinPath(pointer, name);
    }
  }
  for (const [pointer, offset] of led) opened.set(pointer, offset);
  return [...opened];
}

/** What takes the bytes under a pointer: its heaviest members, and the rest together. */
export function sizesOf(tree, pointer, most = 8) {
  const here = tree.at(pointer);
  if (here === null) return null;
  const weighed = [...tree.members(pointer)].map(([key, value]) => [key, sizeOf(value), isContainer(kindOf(value))]);
  weighed.sort((a, b) => b[1] - a[1]);
  const rest = weighed.slice(most);
  return {
    path: pointer,
    bytes: sizeOf(here),
    rows: weighed.slice(0, most).map(([key, bytes, opens]) => ({ key, bytes, opens })),
    rest: { count: rest.length, bytes: rest.reduce((sum, each) => sum + each[1], 0) },
  };
}
