// What JSON can carry (computation, The sandbox; recall, The module). An expression: () => {fit, write, makeMemo}.
// Evaluated before the document's module: it holds on to every function of the library that it uses.
//   write(value)  → {text, value}: the JSON text and what it reads back as; or what keeps it from being JSON:
//                   {what, path}: the first thing, in the order of the value, that JSON cannot carry, such as "a Date" at "$.campaigns[0].at"
//                   {deep: true, path}: a list or object at level 513; {raised, path}: a getter raised `raised`
//   fit(value)    → undefined, or the same record
//   makeMemo(seen, utf8) → memo; see below
() => {
  'use strict';
  const { apply, getPrototypeOf, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const { parse, stringify } = JSON;
  const { keys, values, getOwnPropertyDescriptors, is, hasOwn } = Object;
  const { isArray } = Array;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;
  const { get: mapGet, set: mapSet } = WeakMap.prototype;
  const { join } = ArrayPrototype;
  const { slice } = String.prototype;
  const { exec } = RegExp.prototype;
  const text = String;
  const LEVELS = 512;
  const isName = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

  // Is `copy`, which was read back from the text of `value`, the same value? Then nothing was dropped, replaced or converted.
  const same = (value, copy, level) => {
    if (level > LEVELS || value.toJSON !== undefined) return false;
    if (isArray(value)) {
      const { length } = value;
      if (!isArray(copy) || copy.length !== length) return false;
      for (let i = 0; i < length; i++) {
        const one = value[i];
        const other = copy[i];
        if (one !== other && !(typeof one === 'object' && one !== null && typeof other === 'object' && other !== null && same(one, other, level + 1))) {
          return false;
        }
      }
      return true;
    }
    const prototype = getPrototypeOf(value);
    if ((prototype !== ObjectPrototype && prototype !== null) || isArray(copy)) return false;
    const ones = values(value);
    const others = values(copy);
    const { length } = ones;
    if (others.length !== length) return false;
    for (let i = 0; i < length; i++) {
      const one = ones[i];
      const other = others[i];
      if (one !== other && !(typeof one === 'object' && one !== null && typeof other === 'object' && other !== null && same(one, other, level + 1))) {
        return false;
      }
    }
    return true;
  };
  // A program may have given every object or list members: then the quick comparison proves nothing.
  const untouched = () => keys(ObjectPrototype).length === 0 && keys(ArrayPrototype).length === 0;

  // What does not fit, in words.
  const nameOf = (value) => {
    try {
      const prototype = getPrototypeOf(value);
      const { constructor } = prototype;
      const name = typeof constructor === 'function' ? getOwnPropertyDescriptor(constructor, 'name')?.value : undefined;
      if (typeof name === 'string' && name !== '') return `a ${apply(slice, name, [0, 100])}`;
    } catch {
      // A constructor that raises when it is read names nothing.
    }
    return 'an object of a class';
  };
  const primitiveUnfit = (value) => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return undefined;
      case 'number':
        return value - value === 0 ? undefined : text(value);
      case 'undefined':
        return 'undefined';
      case 'function':
        return 'a function';
      default:
        return value === null ? undefined : `a ${typeof value}`;
    }
  };
  const step = (path, key) => (apply(exec, isName, [key]) === null ? `${path}[${stringify(key)}]` : `${path}.${key}`);

  // The careful way: reads each member twice, names what does not fit, and writes what does.
  class Unfit {
    constructor(record) {
      this.record = record;
    }
  }
  const refuse = (record) => {
    throw new Unfit({ __proto__: null, ...record });
  };
  const attempt = (path, read) => {
    try {
      return read();
    } catch (raised) {
      return refuse({ raised, path });
    }
  };
  const careful = (value, path, level, above) => {
    const refused = typeof value === 'object' && value !== null ? undefined : primitiveUnfit(value);
    if (refused !== undefined) refuse({ what: refused, path });
    if (typeof value !== 'object' || value === null) return stringify(value);
    for (let each = above; each !== null; each = each.above) {
      if (each.value === value) refuse({ what: 'a cycle', path });
    }
    const list = attempt(path, () => isArray(value));
    if (!list) {
      const prototype = attempt(path, () => getPrototypeOf(value));
      if (prototype !== ObjectPrototype && prototype !== null) refuse({ what: nameOf(value), path });
    }
    if (level > LEVELS) refuse({ deep: true, path });
    const here = { __proto__: null, value, above };
    const parts = [];
    const member = (key, inner) => {
      const found = attempt(inner, () => value[key]);
      const again = attempt(inner, () => value[key]);
      if (!is(found, again)) refuse({ what: 'a member that changes between reads', path: inner });
      return careful(found, inner, level + 1, here);
    };
    if (list) {
      const length = attempt(path, () => value.length);
      for (let i = 0; i < length; i++) {
        const inner = `${path}[${i}]`;
        if (!attempt(inner, () => hasOwn(value, i))) refuse({ what: 'an empty place', path: inner });
        parts[i] = member(i, inner);
      }
    } else {
      const names = attempt(path, () => keys(value));
      for (let i = 0; i < names.length; i++) parts[i] = `${stringify(names[i])}:${member(names[i], step(path, names[i]))}`;
    }
    // An own toJSON that does not show, or that a list has beside its elements.
    if (attempt(path, () => hasOwn(value, 'toJSON')) && typeof attempt(path, () => value.toJSON) === 'function') {
      refuse({ what: 'a toJSON', path });
    }
    return list ? `[${apply(join, parts, [','])}]` : `{${apply(join, parts, [','])}}`;
  };

  const write = (value) => {
    if (typeof value === 'object' && value !== null) {
      try {
        const written = stringify(value);
        if (typeof written === 'string') {
          const copy = parse(written);
          if (typeof copy === 'object' && copy !== null && same(value, copy, 1) && untouched()) return { __proto__: null, text: written, value: copy };
        }
      } catch {
        // A cycle, a BigInt, a getter that raises, too deep for the engine: the careful way says which.
      }
    }
    try {
      const written = careful(value, '$', 1, null);
      return { __proto__: null, text: written, value: parse(written) };
    } catch (error) {
      if (error instanceof Unfit) return error.record;
      throw error;
    }
  };
  const fit = (value) => {
    const written = write(value);
    return written.text === undefined ? written : undefined;
  };

  // The fast way's memory (see the design, section 3). memo(value) → {bytes, levels} for a value that is, as it stands,
  // what its JSON text reads back as: plain lists and objects of data members, no negative zero. Otherwise undefined: then
  // write() says what is the matter, or carries it. `seen` remembers each list and object that was walked; so nothing may
  // have changed one since. `utf8(text)` gives the bytes of a text in UTF-8. `levels` is 0 for what is no list and no object.
  const makeMemo = (seen, utf8) => {
    const primitive = (value) => {
      if (typeof value === 'string') return utf8(stringify(value));
      if (typeof value === 'number') return value - value === 0 && (value !== 0 || 1 / value > 0) ? stringify(value).length : -1;
      if (value === true || value === null) return 4;
      return value === false ? 5 : -1;
    };
    let deepest = 0; // the greatest height among the members that were just walked
    const walk = (value, level) => {
      if (typeof value !== 'object' || value === null) return primitive(value);
      const known = apply(mapGet, seen, [value]);
      if (known !== undefined) {
        if (known.levels > deepest) deepest = known.levels;
        return known.bytes;
      }
      if (level > LEVELS) return -1;
      const outer = deepest;
      deepest = 0;
      const prototype = getPrototypeOf(value);
      let bytes = 1;
      if (isArray(value)) {
        const { length } = value;
        if (prototype !== ArrayPrototype || ownKeys(value).length !== length + 1) return -1;
        for (let i = 0; i < length; i++) {
          const member = getOwnPropertyDescriptor(value, i);
          if (member === undefined || !('value' in member)) return -1;
          const size = walk(member.value, level + 1);
          if (size < 0) return -1;
          bytes += size + 1;
        }
        if (length === 0) bytes = 2;
      } else {
        if (prototype !== ObjectPrototype) return -1;
        const members = getOwnPropertyDescriptors(value);
        const names = ownKeys(members);
        const { length } = names;
        for (let i = 0; i < length; i++) {
          const name = names[i];
          const member = members[name];
          if (typeof name !== 'string' || !('value' in member) || !member.enumerable) return -1;
          const size = walk(member.value, level + 1);
          if (size < 0) return -1;
          bytes += size + 2 + utf8(stringify(name));
        }
        if (length === 0) bytes = 2;
      }
      const levels = deepest + 1;
      apply(mapSet, seen, [value, { __proto__: null, bytes, levels }]);
      deepest = outer > levels ? outer : levels;
      return bytes;
    };
    return (value) => {
      deepest = 0;
      const bytes = walk(value, 1);
      return bytes < 0 || deepest > LEVELS ? undefined : { __proto__: null, bytes, levels: deepest };
    };
  };

  return { __proto__: null, fit, write, makeMemo };
}
