// The fast way's memory (the design, section 3): what the plain way writes out and reads back after each fold, known from what
// the fold made alone. For a frozen context, and for modules that write to nothing but what they made (checker/writes.mjs).
// An expression: (utf8, size) => (seen, revised) => memo; `size` gives the bytes of a plain list or object.
//
// memo(value) → {bytes, value}: the size of the JSON text, and what it reads back as, made of what is new and of what is
// remembered. Otherwise undefined: then write() says what is the matter, or carries it.
//   seen     a WeakMap of each list and object of the last view to its record: {bytes, levels, stamp, above}
//   revised  {count, values, olds, added, counts}: the lists and objects that took the place of an old one, what is new in each,
//            and how many members it has
// As JSON gives a value back, no list or object stands in two places of it: what is remembered is kept in the first place, and
// copied to the others. A record's `levels` is at least the depth; where it may be too deep, write() decides.
(utf8, size) => {
  'use strict';
  const { getPrototypeOf } = Reflect;
  const { stringify } = JSON;
  const { keys, values, getOwnPropertySymbols } = Object;
  const { isArray } = Array;
  const ObjectPrototype = Object.prototype;
  const ArrayPrototype = Array.prototype;
  const LEVELS = 512;
  const AHEAD = 8; // how far a member is sought in the old list or object, where some were dropped before it
  const MOST = 64; // more revisions than these, and all is walked

  return (seen, revised = { count: 0, values: [], olds: [], added: [], counts: [] }) => {
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
    const nameSize = (name) => sizes[name] ?? sizeOf(name);
    // the bytes of what is no list and no object
    const sizeOfAll = (members) => (members.length === 0 ? 0 : size(members) - members.length - 1);
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
      if (strict && known !== undefined) return undefined;
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
      if (plain === length) return remember(copy, here, size(copy), 0);
      return remember(copy, here, length + 1 + inner + (plain === 0 ? 0 : size(others) - plain - 1), deepest);
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
        bytes += nameSize(name);
      }
      if (i !== length) return undefined;
      const plain = others.length;
      if (plain === length) return remember(copy, here, size(copy), 0);
      return remember(copy, here, bytes + (plain === 0 ? 0 : size(others) - plain - 1), deepest);
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

    // The usual fold makes a new version of a few lists and objects, with nearly the same members in the same order. Set beside
    // the old version, what both have is passed by a comparison, and only what is new is walked. Each part of the old view is
    // used once at most; one that has moved elsewhere leaves it all to the walk above.
    let last; // what memo gave last, and its names and members where they are known
    let lastNames = null;
    let lastMembers = null;
    let strict = false;
    let pause = 0; // memos to come that try no revision, after some that failed
    let failures = 0;
    let pending = 0;
    const records = [];
    const sizesOf = [];
    const levelsOf = [];
    let revisedBytes;
    let revisedLevels;
    const revise = (value, old, level) => {
      const list = isArray(value);
      const known = seen.get(old);
      if (known === undefined || level > LEVELS || list !== isArray(old)) return false;
      let copy = value;
      let members;
      let before;
      let names = null;
      let oldNames = null;
      if (list) {
        if (getPrototypeOf(value) !== ArrayPrototype || value.toJSON !== undefined) return false;
        members = copy = [...value];
        if (value.length !== copy.length) return false;
        before = old;
      } else {
        if (getPrototypeOf(value) !== ObjectPrototype) return false;
        names = keys(value);
        members = values(value);
        oldNames = old === last ? (lastNames ?? keys(old)) : keys(old);
        before = old === last ? (lastMembers ?? values(old)) : values(old);
      }
      const { length } = members;
      const most = before.length;
      const gone = []; // old lists and objects
      const lost = []; // and what is neither
      const come = []; // places of new lists and objects
      const added = [];
      let bytes = known.bytes + (length > 1 ? length - 1 : 0) - (most > 1 ? most - 1 : 0);
      let i = 0;
      let j = 0;
      for (;;) {
        let member;
        while (i < length && j < most && (member = members[i]) === before[j] && (list || names[i] === oldNames[j])) {
          if (member === 0 && 1 / member < 0) return false;
          i++;
          j++;
        }
        const here = i < length;
        if (!here && j === most) break;
        member = members[i];
        let until = most; // what is dropped of the old
        if (here) {
          const end = j + AHEAD < most ? j + AHEAD : most;
          until = j + 1;
          while (until < end && (member !== before[until] || (!list && names[i] !== oldNames[until]))) until++;
          if (until >= end) {
            if (typeof member === 'object' && member !== null) {
              come[come.length] = i;
            } else {
              if (!loose(member)) return false;
              added[added.length] = member;
            }
            until = j;
            if (!list) {
              bytes += nameSize(names[i]);
              if (j < most && names[i] === oldNames[j]) until++;
            }
            i++;
          }
        }
        while (j < until) {
          const out = before[j];
          if (typeof out === 'object' && out !== null) {
            gone[gone.length] = out;
            bytes -= seen.get(out).bytes;
          } else {
            lost[lost.length] = out;
          }
          if (!list) bytes -= nameSize(oldNames[j]);
          j++;
        }
      }
      bytes += sizeOfAll(added) - sizeOfAll(lost);
      let { levels } = known;
      for (let place = 0; place < come.length; place++) {
        const member = members[come[place]];
        if (seen.get(member) !== undefined) return false;
        for (let each = 0; each < pending; each++) if (revised.values[each] === member) return false;
        const saved = pending;
        if (place < gone.length && revise(member, gone[place], level + 1)) {
          bytes += revisedBytes;
          if (revisedLevels >= levels) levels = revisedLevels + 1;
        } else {
          pending = saved;
          const made = leaf(member, level + 1) ?? walk(member, level + 1, false);
          if (made === undefined) return false;
          made.above = known;
          bytes += made.bytes;
          if (made.levels >= levels) levels = made.levels + 1;
        }
        added[added.length] = copied;
        if (copied === member) continue;
        if (list) copy[come[place]] = copied;
        else if (names[come[place]] === '__proto__') return false;
        else members[come[place]] = value[names[come[place]]] = copied;
      }
      if (level + levels > LEVELS + 1 || pending >= MOST) return false;
      revised.values[pending] = copy;
      revised.olds[pending] = old;
      revised.added[pending] = added;
      revised.counts[pending] = length;
      if (level === 1) {
        lastNames = names;
        lastMembers = members;
      }
      records[pending] = known;
      sizesOf[pending] = revisedBytes = bytes;
      levelsOf[pending++] = revisedLevels = levels;
      copied = copy;
      return true;
    };
    // A new object that holds no list and no object is taken as it is: whoever made it is done with it.
    const leaf = (value, level) => {
      if (level > LEVELS || getPrototypeOf(value) !== ObjectPrototype) return undefined;
      const members = values(value);
      for (let i = 0; i < members.length; i++) {
        const member = members[i];
        if (typeof member !== 'string' && !loose(member)) return undefined;
      }
      const here = { __proto__: null, bytes: size(value), levels: 1, stamp: now, above: null };
      seen.set(value, here);
      copied = value;
      return here;
    };
    const commit = () => {
      for (let i = 0; i < pending; i++) {
        const record = records[i];
        record.bytes = sizesOf[i];
        record.levels = levelsOf[i];
        seen.delete(revised.olds[i]);
        seen.set(revised.values[i], record);
      }
      revised.count = pending;
      failures = 0;
    };
    const tryRevise = (value) => {
      if (last === undefined) return false;
      if (pause > 0) {
        pause--;
        return false;
      }
      pending = 0;
      strict = true;
      const done = revise(value, last, 1);
      strict = false;
      if (done) commit();
      else pause = failures < 6 ? 2 ** failures++ : 64;
      return done;
    };
    return (value) => {
      if (typeof value !== 'object' || value === null) {
        last = undefined;
        lastNames = lastMembers = null;
        return loose(value) ? { __proto__: null, bytes: size([value]) - 2, value } : undefined;
      }
      revised.count = 0;
      let known = seen.get(value);
      copied = value;
      if (known === undefined) {
        now++;
        count = 0;
        strict = false;
        if (tryRevise(value)) {
          known = records[pending - 1];
        } else {
          last = undefined;
          lastNames = lastMembers = null;
          known = walk(value, 1, false);
          if (known !== undefined && !apart()) {
            now++;
            known = walk(value, 1, true);
          }
          if (known === undefined) return undefined;
        }
      }
      known.above = null;
      if (last !== copied) {
        // only a revision knows the names of what it gives
        if (revised.count === 0) lastNames = lastMembers = null;
        last = copied;
      }
      return { __proto__: null, bytes: known.bytes, value: copied };
    };
  };
}
