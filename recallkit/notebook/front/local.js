// Answers the scrubber's questions inside a saved page, where no kernel is: the same requests and replies as answers.py.

import { Marks, Tree, branchOf, briefText, children, cutText, followed, kindOf, rowOf, sizesOf } from "./tree.js";

const OPEN_BRANCHES = 200;
const CHANGES_SHOWN = 20;
const LINE_POINTS = 400;
const NEAR = 4;

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const names = (pointer) => pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

function put(target, name, value) {
  // The data may hold a member named __proto__: it is data, never a prototype.
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

function member(value, name) {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Apply a JSON Patch, then put moved members in their place: [pointer, the names that come last]. */
export function applyPatch(value, patch, orders) {
  const held = { value };
  for (const { op, path, value: given } of patch) {
    const way = names(path);
    if (!way.length) {
      held.value = structuredClone(given);
      continue;
    }
    const last = way.pop();
    const target = way.reduce(member, held.value);
    if (Array.isArray(target)) {
      if (op === "add") target.splice(Number(last), 0, structuredClone(given));
      else if (op === "remove") target.splice(Number(last), 1);
      else target[Number(last)] = structuredClone(given);
    } else if (op === "remove") delete target[last];
    else put(target, last, structuredClone(given));
  }
  for (const [pointer, moved] of orders) {
    const target = names(pointer).reduce(member, held.value);
    for (const name of moved) {
      const kept = member(target, name);
      delete target[name];
      put(target, name, kept);
    }
  }
  return held.value;
}

export class LocalSource {
  /** @param page what saved_page.py wrote: head, segments (base64 of deflate), each segment's first number. */
  constructor(page) {
    this.head = page.head;
    this.page = page;
    this.segments = new Map();
    this.present = null;
    this.trees = [];
  }

  async ask(request) {
    if (request.ask === "moment") return this.moment(request);
    if (request.ask === "find") return this.find(request);
    if (request.ask === "trail") return this.trail(request);
    return { error: `nothing answers ${request.ask}` };
  }

  async segment(number) {
    let place = this.page.firsts.length - 1;
    while (this.page.firsts[place] > number) place -= 1;
    if (!this.segments.has(place)) this.segments.set(place, inflate(this.page.segments[place]));
    const segment = await this.segments.get(place);
    return { first: this.page.firsts[place], ...segment };
  }

  async step(number) {
    const { first, steps } = await this.segment(number);
    return steps[number - first];
  }

  /** The view at a place, as a value that is patched on from step to step. */
  async value(number) {
    const { first, view, steps } = await this.segment(number);
    let present = this.present;
    if (!present || present.number > number || present.number < first) present = { number: first, value: JSON.parse(view) };
    while (present.number < number) {
      const { patch, orders } = steps[present.number + 1 - first];
      present = { number: present.number + 1, value: applyPatch(present.value, patch, orders ?? []) };
    }
    this.present = present;
    return present.value;
  }

  async tree(number) {
    const known = this.trees.find((each) => each.number === number);
    if (known) return known.tree;
    const tree = new Tree(JSON.stringify(await this.value(number)));
    this.trees = [{ number, tree }, ...this.trees].slice(0, 4);
    return tree;
  }

  async moment(request) {
    const { first, last } = this.head;
    const number = Math.max(first, Math.min(Math.trunc(request.n), last));
    const step = await this.step(number);
    const stalled = Boolean(step.stalled);
    const standing = stalled ? number - 1 : number;
    const before = number > first && !stalled ? await this.tree(number - 1) : await this.tree(standing);
    const view = await this.tree(standing);
    // The first place of a slice has no view before it here, so it shows no changes.
    const marks = new Marks(before === view ? [] : step.patch, before, view);
    const wanted = request.follow ? followed(view, marks.changes, request.view ?? []) : (request.view ?? []);
    const [seq, bytes, delta, steps, checkpoints, us, memory] = step.cost;
    const told = { n: number, stalled, seq, bytes, delta, steps, checkpoints, us, memory };
    told.root = rowOf("", view.text);
    told.view = branches(view, wanted, marks);
    told.event = step.event === null ? null : branches(new Tree(step.event), request.event ?? [], null);
    told.changes = { total: marks.changes.length, shown: marks.changes.slice(0, CHANGES_SHOWN) };
    if (request.sizes !== undefined && request.sizes !== null) told.sizes = sizesOf(view, request.sizes) ?? sizesOf(view, "");
    if (request.pin !== undefined && request.pin !== null) told.pin = this.pin(request.pin, number, view);
    return told;
  }

  pin(path, number, view) {
    const here = view.at(path);
    const points = this.followed?.path === path ? this.followed.points : [];
    let place = points.findIndex(([at]) => at > number);
    if (place < 0) place = points.length;
    const near = points.slice(Math.max(0, place - NEAR), place + NEAR - 1).map(([at, , text]) => [at, text]);
    return { path, text: briefText(here), there: here !== null, near };
  }

  async find({ what, n, step, query, path }) {
    const { first, last } = this.head;
    const wanted = (query ?? "").toLowerCase();
    if (what === "search" && !wanted) return { found: null, at: n, done: true };
    for (let number = n + step; number > first && number <= last; number += step) {
      if (await this.matches(what, number, wanted, path ?? "")) return { found: number, at: number, done: true };
    }
    return { found: null, at: n, done: true };
  }

  async matches(what, number, wanted, path) {
    const step = await this.step(number);
    if (what === "search") return (step.event ?? "").toLowerCase().includes(wanted);
    if (step.stalled) return false;
    if (what === "change") return step.patch.length > 0 || (step.orders ?? []).length > 0;
    return (await this.textAt(path, number)) !== (await this.textAt(path, number - 1));
  }

  async textAt(path, number) {
    const here = names(path).reduce(member, await this.value(number));
    return here === undefined ? null : JSON.stringify(here);
  }

  async trail({ path }) {
    const points = [];
    let before;
    for (let number = this.head.first; number <= this.head.last; number += 1) {
      if ((await this.step(number)).stalled) break;
      const text = await this.textAt(path, number);
      if (text !== before || !points.length) points.push([number, valueOf(text), cutText(text ?? "", 80)]);
      before = text;
    }
    this.followed = { path, points };
    const every = Math.ceil(points.length / LINE_POINTS) || 1;
    const line = points.filter((_, place) => place % every === 0).map(([at, value]) => [at, value]);
    return { path, done: true, seen: this.head.last, exact: true, changes: Math.max(0, points.length - 1), line };
  }
}

function branches(tree, wanted, marks) {
  const told = wanted.slice(0, OPEN_BRANCHES).map(([pointer, offset]) => branchOf(tree, pointer, offset, marks));
  return told.filter((each) => each !== null);
}

function valueOf(text) {
  if (text === null) return null;
  const kind = kindOf(text);
  if (kind === "number") return Number(text);
  if (kind === "object" || kind === "array") return children(text).length;
  if (kind === "string") return text.length;
  return text === "true" ? 1 : 0;
}
