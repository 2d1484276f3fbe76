// What JSON can carry (computation, The sandbox; recall, The module). An expression: (utf8) => {fit, write, text, makeMemo}.
// Evaluated before the document's module: it holds on to every function of the library that it uses.
//   write(value)  → {text, value}: the JSON text and what it reads back as; or what keeps it from being JSON:
//                   {what, path}: the first thing, in the order of the value, that JSON cannot carry, such as "a Date" at "$.campaigns[0].at"
//                   {deep: true, path}: a list or object at level 513; {raised, path}: a getter raised `raised`
//   fit(value)    → undefined, or the same record
//   text(value)   → the JSON text of a record of the page loop's own, whatever a program did to the prototypes
//   makeMemo(seen) → memo; see below
// `utf8(text)` gives the bytes of a text in UTF-8.
(utf8) => {
  'use strict';
  const { apply, getPrototypeOf, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const { parse, stringify } = JSON;
  const { keys, values, getOwnPropertyDescriptors, hasOwn } = Object;
  const { isArray } = Array;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;
  const { get: mapGet, set: mapSet } = WeakMap.prototype;
  const { slice } = String.prototype;
  const { exec } = RegExp.prototype;
  const toText = String;
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
    return 'an object of another prototype';
  };
  const primitiveUnfit = (value) => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return undefined;
      case 'number':
        return value - value === 0 ? undefined : toText(value);
      case 'undefined':
        return 'undefined';
      case 'function':
        return 'a function';
      default:
        return value === null ? undefined : `a ${typeof value}`;
    }
  };
  const step = (path, key) => (apply(exec, isName, [key]) === null ? `${path}[${stringify(key)}]` : `${path}.${key}`);

  // The careful way: reads each member once, names what does not fit, and writes what does.
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
  // A toJSON is never asked. One that shows is told as the function it is; here is one that does not show, or that a class of
  // lists has. What a program put on the prototypes of every object and list is not the value's own.
  const hidesToJSON = (value, list) => {
    for (let each = value; each !== null && each !== ObjectPrototype && each !== ArrayPrototype; each = getPrototypeOf(each)) {
      const member = getOwnPropertyDescriptor(each, 'toJSON');
      if (member !== undefined && (list || !member.enumerable)) return typeof value.toJSON === 'function';
    }
    return false;
  };
  const careful = (value, path, level, above) => {
    if (typeof value !== 'object' || value === null) {
      const what = primitiveUnfit(value);
      return what === undefined ? stringify(value) : refuse({ what, path });
    }
    for (let each = above; each !== null; each = each.above) {
      if (each.value === value) refuse({ what: 'a cycle', path });
    }
    const list = attempt(path, () => isArray(value));
    if (!list) {
      const prototype = attempt(path, () => getPrototypeOf(value));
      if (prototype !== ObjectPrototype && prototype !== null) refuse({ what: nameOf(value), path });
    }
    if (level > LEVELS) refuse({ deep: true, path });
    if (attempt(path, () => hidesToJSON(value, list))) refuse({ what: 'a toJSON', path });
    const here = { __proto__: null, value, above };
    let written = '';
    if (list) {
      const length = attempt(path, () => value.length);
      for (let i = 0; i < length; i++) {
        const inner = `${path}[${i}]`;
        if (!attempt(inner, () => hasOwn(value, i))) refuse({ what: 'an empty place', path: inner });
        written += (i ? ',' : '') + careful(attempt(inner, () => value[i]), inner, level + 1, here);
      }
      return `[${written}]`;
    }
    const names = attempt(path, () => keys(value));
    for (let i = 0; i < names.length; i++) {
      const inner = step(path, names[i]);
      written += `${i ? ',' : ''}${stringify(names[i])}:${careful(attempt(inner, () => value[names[i]]), inner, level + 1, here)}`;
    }
    return `{${written}}`;
  };
  // Where two readings of one value part: a getter, or a Proxy, that answers differently the second time.
  const parting = (one, other, path) => {
    if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return path;
    const names = keys(one);
    const others = keys(other);
    if (isArray(one) !== isArray(other) || names.length !== others.length) return path;
    for (let i = 0; i < names.length; i++) {
      if (names[i] !== others[i]) return path;
      if (stringify(one[names[i]]) !== stringify(other[names[i]])) {
        return parting(one[names[i]], other[names[i]], isArray(one) ? `${path}[${i}]` : step(path, names[i]));
      }
    }
    return path;
  };

  const write = (value) => {
    if (typeof value === 'object' && value !== null) {
      try {
        const written = stringify(value);
        if (typeof written === 'string') {
          const copy = parse(written);
          if (typeof copy === 'object' && copy !== null && same(value, copy, 1) && untouched()) {
            return { __proto__: null, text: written, value: copy };
          }
        }
      } catch {
        // A cycle, a BigInt, a getter that raises, too deep for the engine: the careful way says which.
      }
    }
    try {
      const written = careful(value, '$', 1, null);
      const copy = parse(written);
      const again = careful(value, '$', 1, null);
      if (again !== written) refuse({ what: 'a member that changes between reads', path: parting(copy, parse(again), '$') });
      return { __proto__: null, text: written, value: copy };
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
  // have changed one since. `levels` is 0 for what is no list and no object.
  const makeMemo = (seen) => {
    // Whether JSON gives a primitive value back as it is.
    const carried = (value) => {
      if (typeof value === 'number') return value - value === 0 && (value !== 0 || 1 / value > 0);
      return typeof value === 'string' || value === null || typeof value === 'boolean';
    };
    let deepest = 0; // the greatest height among the members that were just walked
    const walk = (value, level) => {
      const known = apply(mapGet, seen, [value]);
      if (known !== undefined) {
        if (known.levels > deepest) deepest = known.levels;
        return known.bytes;
      }
      if (level > LEVELS) return -1;
      const outer = deepest;
      deepest = 0;
      const prototype = getPrototypeOf(value);
      const list = isArray(value);
      const members = getOwnPropertyDescriptors(value);
      const names = ownKeys(members);
      let { length } = names;
      if (list) {
        // the last of a list's own names is its length: any more of them are extra members, any fewer are empty places
        if (prototype !== ArrayPrototype || --length !== value.length || names[length] !== 'length') return -1;
      } else if (prototype !== ObjectPrototype) return -1;
      // brackets and commas, names and colons; then the members, the primitive ones all at once
      let bytes = length === 0 ? 2 : length + 1;
      const loose = [];
      let count = 0;
      for (let i = 0; i < length; i++) {
        const name = names[i];
        const member = members[name];
        if (typeof name !== 'string' || !('value' in member) || !member.enumerable) return -1;
        const inner = member.value;
        if (typeof inner === 'object' && inner !== null) {
          const size = walk(inner, level + 1);
          if (size < 0) return -1;
          bytes += size;
        } else if (carried(inner)) loose[count++] = inner;
        else return -1;
      }
      if (!list && length !== 0) bytes += utf8(stringify(names)) - 1;
      if (count !== 0) bytes += utf8(stringify(loose)) - count - 1;
      const levels = deepest + 1;
      apply(mapSet, seen, [value, { __proto__: null, bytes, levels }]);
      deepest = outer > levels ? outer : levels;
      return bytes;
    };
    return (value) => {
      if (typeof value !== 'object' || value === null) {
        return carried(value) ? { __proto__: null, bytes: utf8(stringify(value)), levels: 0 } : undefined;
      }
      deepest = 0;
      const bytes = walk(value, 1);
      return bytes < 0 || deepest > LEVELS ? undefined : { __proto__: null, bytes, levels: deepest };
    };
  };

  const text = (value) => careful(value, '$', 1, null);

  return { __proto__: null, fit, write, text, makeMemo };
}
