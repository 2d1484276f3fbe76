// What JSON can carry (computation, The sandbox; recall, The module). An expression: (utf8) => {fit, write, text, makeMemo}.
// Evaluated before the document's module: it holds on to every function of the library that it uses.
//   write(value)  → {text, value}: the JSON text and what it reads back as; or what keeps it from being JSON:
//                   {what, path}: the first thing, in the order of the value, that JSON cannot carry, such as "a Date" at "$.campaigns[0].at"
//                   {deep: true, path}: a list or object at level 513. What a getter or a Proxy raises is thrown on.
//   fit(value)    → undefined, or the same record
//   text(value)   → the JSON text of a record of the page loop's own, whatever a program did to the prototypes
//   makeMemo(seen) → memo: the size and depth of a value whose parts were measured before; see below
// `utf8(text)` gives the bytes of a text in UTF-8; it is given none that was added up.
// No template literals: the engine makes their text with String.prototype.concat, which a run's program may change.
(utf8) => {
  'use strict';
  const { apply, getPrototypeOf, getOwnPropertyDescriptor } = Reflect;
  const { parse, stringify } = JSON;
  const { keys, values, getOwnPropertySymbols, hasOwn, is } = Object;
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

  // The fast way's memory (see the design, section 3), for a frozen context only. memo(value) → {bytes, levels, value}: the size
  // of the JSON text, its depth (0 for what is no list and no object), and what it reads back as, made of copies of what is
  // new and of what it remembers. Otherwise undefined: then write() says what is the matter, or carries it.
  // `seen` is a WeakMap of each list and object that was walked, to its record; nothing may have changed one since. As JSON
  // gives a value back, no list or object is in two places of it: what is remembered is kept in the first place, and copied to
  // the others. A record's `stamp` is the number of the last memo that kept it, `above` the record it was kept in.
  const makeMemo = (seen) => {
    let copied; // the last container that was walked
    let now = 0;
    const kept = []; // the records that were kept in what is new, and those of what is new around them
    const around = [];
    let count = 0;
    // the bytes of names, quotes and colon with them
    let sizes = { __proto__: null };
    let named = 0;
    const sizeOf = (name) => {
      if (++named > 10000) {
        sizes = { __proto__: null };
        named = 1;
      }
      return (sizes[name] = utf8(stringify(name)) + 1);
    };
    const loose = (value) => {
      if (typeof value === 'number') return value - value === 0 && (value !== 0 || 1 / value > 0);
      return typeof value === 'string' || value === null || typeof value === 'boolean';
    };
    const isKept = (record) => {
      for (let each = record; each !== null; each = each.above) if (each.stamp === now) return true;
      return false;
    };
    const remember = (copy, here, bytes, deepest) => {
      if (deepest >= LEVELS) return undefined;
      copied = copy;
      here.bytes = bytes;
      here.levels = deepest + 1;
      seen.set(copy, here);
      return here;
    };
    // What is remembered of a member that goes in here, or what a walk of it finds; `afresh` remembers nothing.
    const place = (member, level, afresh, here) => {
      const known = afresh ? undefined : seen.get(member);
      if (known === undefined || isKept(known)) {
        const made = walk(member, level, afresh || known !== undefined);
        if (made !== undefined) made.above = here;
        return made;
      }
      known.stamp = now;
      kept[count] = known;
      around[count++] = here;
      copied = member;
      return known;
    };
    // The two walks read every member twice, as write() does: a member that answers otherwise the second time is not carried.
    const walkList = (value, level, afresh) => {
      const here = { __proto__: null, bytes: 0, levels: 0, stamp: now, above: null };
      const copy = [...value];
      const { length } = copy;
      if (value.length !== length) return undefined;
      const others = [];
      let inner = 0;
      let deepest = 0;
      for (let i = 0; i < length; i++) {
        const member = copy[i];
        if (member !== value[i]) return undefined;
        if (typeof member !== 'object' || member === null) {
          if (!loose(member)) return undefined;
          others[others.length] = member;
          continue;
        }
        const known = place(member, level + 1, afresh, here);
        if (known === undefined) return undefined;
        if (copied !== member) copy[i] = copied;
        if (known.levels > deepest) deepest = known.levels;
        inner += known.bytes;
      }
      const plain = others.length;
      if (plain === length) return remember(copy, here, utf8(stringify(copy)), 0);
      return remember(copy, here, length + 1 + inner + (plain === 0 ? 0 : utf8(stringify(others)) - plain - 1), deepest);
    };
    const walkObject = (value, level, afresh) => {
      const prototype = getPrototypeOf(value);
      if (prototype !== ObjectPrototype && prototype !== null) return undefined;
      const here = { __proto__: null, bytes: 0, levels: 0, stamp: now, above: null };
      const copy = { ...value };
      const again = values(value);
      const { length } = again;
      if (getOwnPropertySymbols(copy).length !== 0) return undefined;
      const others = [];
      let bytes = length + 1;
      let deepest = 0;
      let i = 0;
      for (const name in copy) {
        const member = copy[name];
        if (member !== again[i++]) return undefined;
        if (typeof member !== 'object' || member === null) {
          if (!loose(member)) return undefined;
          others[others.length] = member;
        } else {
          const known = place(member, level + 1, afresh, here);
          if (known === undefined) return undefined;
          if (copied !== member) {
            if (name === '__proto__') return undefined;
            copy[name] = copied;
          }
          if (known.levels > deepest) deepest = known.levels;
          bytes += known.bytes;
        }
        bytes += sizes[name] ?? sizeOf(name);
      }
      if (i !== length) return undefined;
      const plain = others.length;
      if (plain === length) return remember(copy, here, utf8(stringify(copy)), 0);
      return remember(copy, here, bytes + (plain === 0 ? 0 : utf8(stringify(others)) - plain - 1), deepest);
    };
    const walk = (value, level, afresh) => {
      if (level > LEVELS || value.toJSON !== undefined) return undefined;
      return isArray(value) ? walkList(value, level, afresh) : walkObject(value, level, afresh);
    };
    // Whether nothing that was kept lies inside something else that was kept; says where each is now.
    const apart = () => {
      let clear = null;
      for (let i = 0; i < count; i++) {
        const { above } = kept[i];
        if (above !== clear) {
          if (isKept(above)) return false;
          clear = above;
        }
        kept[i].above = around[i];
      }
      return true;
    };
    return (value) => {
      if (typeof value !== 'object' || value === null) {
        const written = write(value);
        return written.text === undefined || is(value, -0) ? undefined : { __proto__: null, bytes: utf8(written.text), levels: 0, value };
      }
      let known = seen.get(value);
      copied = value;
      if (known === undefined) {
        now++;
        count = 0;
        known = walk(value, 1, false);
        if (known === undefined) return undefined;
        if (!apart()) {
          now++;
          known = walk(value, 1, true);
        }
      }
      known.above = null;
      return { __proto__: null, bytes: known.bytes, levels: known.levels, value: copied };
    };
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

  return { __proto__: null, fit, write, text, makeMemo };
}
