// The tight loops: an object's members and a list's items. Each maker takes what was compiled and gives a
// closure that allocates nothing on the way through a value that passes.

// Where built-in prototypes cannot change, a name that they lack is own when it is there at all.
const plainName = (name, frozen) => frozen && !(name in ObjectPrototype);

// slots: [{name, needed, known, kind, source, test}]; kind is the plain type that says all of the member's schema, or ''.
function memberTest(slots, frozen) {
  const quick = slots.filter((slot) => plainName(slot.name, frozen));
  const slow = slots.filter((slot) => !plainName(slot.name, frozen));
  const names = quick.map((slot) => slot.name);
  const kinds = quick.map((slot) => slot.kind);
  const needed = quick.map((slot) => slot.needed);
  const tests = quick.map((slot) => slot.test);
  const count = quick.length;
  // Gives how many of the named members are there, or -1 when one is wrong or missing.
  const walkQuick = (object) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const value = object[names[i]];
      if (value === undefined) {
        if (needed[i]) return -1;
        continue;
      }
      const kind = kinds[i];
      if (kind === '' ? !tests[i](value) : typeof value !== kind) return -1;
      found++;
    }
    return found;
  };
  if (slow.length === 0) return walkQuick;
  return (object) => {
    let found = walkQuick(object);
    if (found < 0) return -1;
    for (let i = 0; i < slow.length; i++) {
      const slot = slow[i];
      if (!hasOwn(object, slot.name)) {
        if (slot.needed) return -1;
        continue;
      }
      const value = object[slot.name];
      if (slot.kind === '' ? !slot.test(value) : typeof value !== slot.kind) return -1;
      found++;
    }
    return found;
  };
}

// One function, made from text, for the commonest schema of all, or undefined: an object whose members are named, open or
// closed. A call costs the engine as much as reading ten members, so what a member's schema says in a line stands in it:
// `source`, about `v`. Names go in as JSON, bounds as numbers; past so many members, time is not spent on calls.
const MOST_SLOTS = 32;
function recordTest(parts, frozen) {
  const { slots, least, most, closed, rest, patterns, names, together } = parts;
  const simple = rest === null && patterns.length === 0 && names === null && together.length === 0 && least === 0
    && most === Infinity && slots.length > 0 && slots.length <= MOST_SLOTS
    && slots.every((slot) => plainName(slot.name, frozen) && (slot.known || !closed));
  if (!simple) return undefined;
  const tests = [];
  let body = "'use strict'; return (o) => { if (typeof o !== 'object' || o === null || isArray(o)) return false; let v, n = 0;";
  for (const { name, needed, known, kind, source, test } of slots) {
    let asked = kind !== '' ? `typeof v === '${kind}'` : source;
    if (!known) asked = 'true';
    if (asked === '') {
      asked = `tests[${tests.length}](v)`;
      tests[tests.length] = test;
    }
    body += `v = o[${stringify(name)}]; if (v === undefined) { ${needed ? 'return false; ' : ''}} else if (${asked}) n++; else return false;`;
  }
  body += closed ? 'return keysOf(o).length === n; }' : 'return true; }';
  return makeFunction('tests', 'isArray', 'keysOf', 'isInteger', 'codePoints', body)(tests, isArray, keysOf, isInteger, codePoints);
}

// Whether a schema asks of an object how many members it has, and each of them alone, whatever its name.
function asksEachMember({ slots, rest, patterns, names, together }) {
  return slots.length === 0 && rest !== null && patterns.length === 0 && names === null && together.length === 0;
}
// Whether a schema lets a list or an object pass, as far as its type tells.
const mayHold = (schema) => isRecord(schema) && (!hasOwn(schema, 'type')
  || (isArray(schema.type) ? schema.type : [schema.type]).some((type) => type === 'array' || type === 'object'));
// Asks those members of a list, or of an object, that did not pass as this record before, and how many there are in all.
// The list that `memory` (page_keep.js) puts them into is empty again before any of them is asked.
function newParts({ fresh, note, answers, members }, child, least, most) {
  const { id } = child;
  const asks = (member) => {
    if (!child.bare(member)) return false;
    if (typeof member === 'object' && member !== null) note(member, id);
    return true;
  };
  const bounded = least > 0 || most < Infinity;
  return (holder) => {
    fresh(holder, id, members);
    const count = answers[4];
    if (bounded && count >= 0 && (answers[19] < least || answers[19] > most)) {
      for (let i = 0; i < count; i++) members[i] = null;
      return false;
    }
    if (count === 0) return true;
    if (count === 1) {
      const member = members[0];
      members[0] = null;
      return asks(member);
    }
    let all = [];
    if (count > 0) {
      for (let i = 0; i < count; i++) {
        all[i] = members[i];
        members[i] = null;
      }
    } else {
      for (let i = 0; i < members.length; i++) members[i] = null;
      all = isArray(holder) ? holder : valuesOf(holder);
      if (all.length < least || all.length > most) return false;
    }
    for (let i = 0; i < all.length; i++) if (!asks(all[i])) return false;
    return true;
  };
}

// parts: {slots, least, most, closed, rest, patterns, names, together, anew}; gives object => boolean.
function objectTest(parts, frozen) {
  const { slots, least, most, closed, rest, patterns, names, together, anew } = parts;
  const walk = slots.length === 0 ? null : memberTest(slots, frozen);
  const known = new Set(slots.filter((slot) => slot.known).map((slot) => slot.name));
  // A closed object without patterns needs only counting: every member is one of those found.
  const countable = closed && patterns.length === 0 && slots.every((slot) => slot.known);
  const each = rest !== null || patterns.length > 0 || names !== null || (closed && !countable);
  if (walk !== null && !each && !countable && least === 0 && most === Infinity && together.length === 0) {
    return (object) => walk(object) >= 0;
  }
  if (asksEachMember(parts)) {
    if (anew !== null) return anew;
    return (object) => {
      const keys = keysOf(object), count = keys.length;
      if (count < least || count > most) return false;
      for (let i = 0; i < count; i++) if (!rest(object[keys[i]])) return false;
      return true;
    };
  }
  return (object) => {
    const found = walk === null ? 0 : walk(object);
    if (found < 0) return false;
    const keys = keysOf(object), count = keys.length;
    if (count < least || count > most) return false;
    if (countable && found !== count) return false;
    if (each) {
      for (let i = 0; i < count; i++) {
        const key = keys[i];
        if (names !== null && !names(key)) return false;
        let seen = setHas(known, key);
        for (let p = 0; p < patterns.length; p++) {
          if (exec(patterns[p].regexp, key) === null) continue;
          seen = true;
          if (!patterns[p].test(object[key])) return false;
        }
        if (seen) continue;
        if (closed) return false;
        if (rest !== null && !rest(object[key])) return false;
      }
    }
    for (let i = 0; i < together.length; i++) if (!together[i](object)) return false;
    return true;
  };
}

// parts: {first, kind, rest, anew, least, most, unique, contains, atLeast, atMost}; gives list => boolean.
function listTest(parts) {
  const { first, kind, rest, anew, least, most, unique, contains, atLeast, atMost } = parts;
  const before = first.length;
  const walk = kind !== ''
    ? (list, count) => {
      for (let i = before; i < count; i++) if (typeof list[i] !== kind) return false;
      return true;
    }
    : rest === null ? null : (list, count) => {
      for (let i = before; i < count; i++) if (!rest(list[i])) return false;
      return true;
    };
  if (before === 0 && !unique && contains === null) {
    if (anew !== null && rest !== null) return anew;
    if (rest !== null && kind === '') {
      return (list) => {
        const count = list.length;
        if (count < least || count > most) return false;
        for (let i = 0; i < count; i++) if (!rest(list[i])) return false;
        return true;
      };
    }
    return (list) => list.length >= least && list.length <= most && (walk === null || walk(list, list.length));
  }
  return (list) => {
    const count = list.length;
    if (count < least || count > most) return false;
    for (let i = 0; i < before && i < count; i++) if (!first[i](list[i])) return false;
    if (walk !== null && !walk(list, count)) return false;
    if (unique && twins(list) !== undefined) return false;
    if (contains === null) return true;
    let matches = 0;
    for (let i = 0; i < count; i++) if (contains(list[i]) && ++matches > atMost) return false;
    return matches >= atLeast;
  };
}
