// What JSON can carry (computation, The sandbox; recall, The module). An expression: (utf8) => {fit, write, text}.
// Evaluated before the document's module: it holds on to every function of the library that it uses.
//   write(value)  → {text, value}: the JSON text and what it reads back as; or what keeps it from being JSON:
//                   {what, path}: the first thing, in the order of the value, that JSON cannot carry, such as "a Date" at "$.campaigns[0].at"
//                   {deep: true, path}: a list or object at level 513. What a getter or a Proxy raises is thrown on.
//   fit(value)    → undefined, or the same record
//   text(value)   → the JSON text of a record of the page loop's own, whatever a program did to the prototypes
// `utf8(text)` gives the bytes of a text in UTF-8; it is given none that was added up.
// No template literals: the engine makes their text with String.prototype.concat, which a run's program may change.
(utf8) => {
  'use strict';
  const { apply, getPrototypeOf, getOwnPropertyDescriptor } = Reflect;
  const { parse, stringify } = JSON;
  const { keys, values, hasOwn } = Object;
  const { isArray } = Array;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;
  const { slice } = String.prototype;
  const { join } = ArrayPrototype;
  const { exec } = RegExp.prototype;
  const toText = String;
  const LEVELS = 512;
  const isName = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

  // The quick way, in two walks around the engine's own JSON. The first reads every list and object once, in their order, and
  // bounds the depth, which the engine's stringify does not; the second compares what was read with what the text reads back
  // as. Where they are the same, nothing was dropped, replaced or converted.
  const gather = (value, level, read) => {
    if (level > LEVELS || value.toJSON !== undefined) return false;
    const members = values(value);
    const { length } = members;
    if (isArray(value)) {
      if (value.length !== length) return false;
    } else {
      const prototype = getPrototypeOf(value);
      if (prototype !== ObjectPrototype && prototype !== null) return false;
    }
    read.list[read.count++] = members;
    for (let i = 0; i < length; i++) {
      const member = members[i];
      if (typeof member === 'object' && member !== null && !gather(member, level + 1, read)) return false;
    }
    return true;
  };
  const compare = (copy, read) => {
    const members = read.list[read.at++];
    const others = values(copy);
    const { length } = others;
    if (members.length !== length) return false;
    for (let i = 0; i < length; i++) {
      const one = members[i];
      const other = others[i];
      if (one !== other && !(typeof one === 'object' && one !== null && typeof other === 'object' && other !== null && compare(other, read))) {
        return false;
      }
    }
    return true;
  };
  const quick = (value) => {
    const read = { __proto__: null, list: [], count: 0, at: 0 };
    if (!gather(value, 1, read)) return undefined;
    const written = stringify(value);
    if (typeof written !== 'string') return undefined;
    const copy = parse(written);
    if (typeof copy !== 'object' || copy === null || !compare(copy, read) || !untouched()) return undefined;
    return { __proto__: null, text: written, value: copy };
  };
  // A program may have given every object or list members: then the quick comparison proves nothing.
  const untouched = () => keys(ObjectPrototype).length === 0 && keys(ArrayPrototype).length === 0;

  // What does not fit, in words.
  const nameOf = (value) => {
    try {
      const prototype = getPrototypeOf(value);
      const { constructor } = prototype;
      const name = typeof constructor === 'function' ? getOwnPropertyDescriptor(constructor, 'name')?.value : undefined;
      if (typeof name === 'string' && name !== '') return 'a ' + apply(slice, name, [0, 100]);
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
        return value === null ? undefined : 'a ' + typeof value;
    }
  };
  const step = (path, key) => (apply(exec, isName, [key]) === null ? path + '[' + stringify(key) + ']' : path + '.' + key);

  // The careful way: reads each member once, names what does not fit, and writes what does.
  class Unfit {
    #record;
    constructor(record) {
      this.#record = record;
    }
    // undefined for whatever else was thrown
    static recordOf(thrown) {
      return typeof thrown === 'object' && thrown !== null && #record in thrown ? thrown.#record : undefined;
    }
  }
  const { recordOf } = Unfit;
  const refuse = (record) => {
    throw new Unfit({ __proto__: null, ...record });
  };
  const attempt = (path, read) => {
    try {
      return read();
    } catch (raised) {
      return refuse({ raised });
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
        const inner = path + '[' + i + ']';
        if (!attempt(inner, () => hasOwn(value, i))) refuse({ what: 'an empty place', path: inner });
        written += (i ? ',' : '') + careful(attempt(inner, () => value[i]), inner, level + 1, here);
      }
      return '[' + written + ']';
    }
    const names = attempt(path, () => keys(value));
    for (let i = 0; i < names.length; i++) {
      const inner = step(path, names[i]);
      written += (i ? ',' : '') + stringify(names[i]) + ':' + careful(attempt(inner, () => value[names[i]]), inner, level + 1, here);
    }
    return '{' + written + '}';
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
        return parting(one[names[i]], other[names[i]], isArray(one) ? path + '[' + i + ']' : step(path, names[i]));
      }
    }
    return path;
  };

  const write = (value) => {
    if (typeof value === 'object' && value !== null) {
      try {
        const found = quick(value);
        if (found !== undefined) return found;
      } catch {
        // A BigInt, or a getter that raises: the careful way says which.
      }
    }
    try {
      const written = careful(value, '$', 1, null);
      const copy = parse(written);
      const again = careful(value, '$', 1, null);
      if (again !== written) refuse({ what: 'a member that changes between reads', path: parting(copy, parse(again), '$') });
      // in one piece: the engine keeps what was added up as a tree of texts, where nothing may read it as it lies
      return { __proto__: null, text: apply(join, [written], ['']), value: copy };
    } catch (error) {
      const record = recordOf(error);
      if (record === undefined) throw error;
      if ('raised' in record) throw record.raised;
      return record;
    }
  };
  const fit = (value) => {
    const written = write(value);
    return written.text === undefined ? written : undefined;
  };

  // A record of the page loop's own as JSON text. In a run the program may have put a toJSON on every object.
  const text = (value) => {
    if (typeof value !== 'object' || value === null) return stringify(value) ?? 'null';
    const list = isArray(value);
    const names = keys(value);
    let written = '';
    for (let i = 0; i < names.length; i++) {
      const member = value[names[i]];
      if (member === undefined && !list) continue;
      written += (written === '' ? '' : ',') + (list ? '' : stringify(names[i]) + ':') + text(member);
    }
    return list ? '[' + written + ']' : '{' + written + '}';
  };

  return { __proto__: null, fit, write, text };
}
