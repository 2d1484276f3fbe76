// What the analysis of writes knows of values: a value is a set of the objects it may be, an object is known by where it was
// made. A primitive is no object: the empty set. What an object holds, under whatever name, is one set.
//
// Three objects stand for what the module did not make: the view with all its parts, the event with all of its, and the
// built-ins that a value inherits or a global names, which are frozen.

export const VIEW = 0;
export const EVENT = 1;
export const BUILTIN = 2;
// A listed built-in function taken as a value, such as Number in `.map(Number)`: it calls nothing and gives a primitive.
export const PURE = 3;

/** The set of no object: a primitive. */
export const PRIMITIVE = new Set();
export const INHERITED = new Set([BUILTIN]);

/** Kinds of object that the module may write members to, and that may stand for a prototype without a surprise. */
export const PLAIN = new Set(["view", "event", "object", "array", "json"]);

/** The analysis gives up past this many objects or this much work: the module counts as writing. */
const MOST_OBJECTS = 4000;
const MOST_WORK = 3_000_000;

export class TooLarge extends Error {}

export class Heap {
  constructor() {
    /** {kind, holds: what its members may be, named: whether its own members may hide those that it inherits, written: whether it is, fn} */
    this.objects = [
      { kind: "view", holds: new Set([VIEW]), named: true },
      { kind: "event", holds: new Set([EVENT]), named: true },
      { kind: "builtin", holds: new Set([BUILTIN]), named: false },
      { kind: "pure", holds: new Set([BUILTIN]), named: false },
    ];
    this.sites = new Map();
    /** Whether anything was learnt since it was last set to false. */
    this.changed = false;
    this.work = 0;
  }

  kind(object) {
    return this.objects[object].kind;
  }

  /** The object that a place in the module makes; `role` where it makes several. */
  site(node, kind, role = "", fn = undefined) {
    let roles = this.sites.get(node);
    if (roles === undefined) this.sites.set(node, (roles = new Map()));
    let id = roles.get(role);
    if (id === undefined) {
      id = this.objects.length;
      if (id > MOST_OBJECTS) throw new TooLarge();
      this.objects.push({ kind, holds: new Set(), named: kind === "object" || kind === "json", fn });
      roles.set(role, id);
      this.changed = true;
    }
    return id;
  }

  /** Add what `from` has to `into`, and note whether that was new. */
  add(into, from) {
    if (from === into) return;
    this.spend(from.size);
    for (const object of from) {
      if (!into.has(object)) {
        into.add(object);
        this.changed = true;
      }
    }
  }

  spend(work) {
    this.work += 1 + work;
    if (this.work > MOST_WORK) throw new TooLarge();
  }

  /** Note that an object is written to. */
  touch(object) {
    const known = this.objects[object];
    if (!known.written) this.changed = known.written = true;
    return true;
  }

  /** What the members of these objects may be, by any name that they have of their own or by index. */
  members(objects) {
    if (objects.size === 1) {
      const [only] = objects;
      return this.objects[only].holds;
    }
    const all = new Set();
    for (const object of objects) {
      this.spend(this.objects[object].holds.size);
      for (const member of this.objects[object].holds) all.add(member);
    }
    return all;
  }

  /** What iterating these objects may give: their members, but a built-in holds nothing that can be iterated. */
  elements(objects) {
    return this.members(this.only(objects, (kind) => kind !== "builtin" && kind !== "pure" && kind !== "function"));
  }

  /** Everything that can be reached from these objects, themselves among it. */
  reach(objects) {
    const all = new Set(objects);
    for (const object of all) {
      this.spend(this.objects[object].holds.size);
      for (const member of this.objects[object].holds) all.add(member);
    }
    return all;
  }

  only(objects, keep) {
    const kept = new Set();
    for (const object of objects) if (keep(this.kind(object))) kept.add(object);
    return kept;
  }

  some(objects, test) {
    for (const object of objects) if (test(this.kind(object))) return true;
    return false;
  }
}

export function union(...sets) {
  const filled = sets.filter((set) => set.size > 0);
  if (filled.length === 0) return PRIMITIVE;
  if (filled.length === 1) return filled[0];
  const all = new Set(filled[0]);
  for (let i = 1; i < filled.length; i++) for (const each of filled[i]) all.add(each);
  return all;
}
