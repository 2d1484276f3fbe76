// What the keywords beside `unevaluatedProperties` and `unevaluatedItems` look at in a value. Rare, so it walks the
// schema instead of compiling it; kid(record, schema) gives the compiled record of a schema within a record's.

function makeMarker(kid) {
  let walk = 0; // counts the checks, so that what was remembered in one is not taken for another
  const begin = () => { walk++; };

  // Whether a branch passes, remembered within one check: marking what was evaluated asks again and again.
  function passesBranch(record, value) {
    if (!isRecord(record.schema) || typeof value !== 'object' || value === null) return record.test(value);
    record.seen ??= new WeakMap();
    const before = record.seen.get(value);
    if (before !== undefined && before.walk === walk) return before.ok;
    const ok = record.test(value);
    record.seen.set(value, { walk, ok });
    return ok;
  }

  // What the keywords of a schema evaluate of a value, the schema's own `unevaluated…` (at the top) left out.
  // Keywords that must pass anyway count whether or not they do: where one fails, the value is refused for that.
  function mark(record, value, found, top) {
    const { schema: s, dialect } = record;
    if (!isRecord(s) || dialect.legacy) return;
    const has = (name) => hasOwn(s, name);
    if (isArray(value)) {
      if (has('prefixItems') && s.prefixItems.length > found.count) found.count = s.prefixItems.length;
      if (has('items') || (has('unevaluatedItems') && !top)) found.all = true;
      if (has('contains')) {
        const contains = kid(record, s.contains);
        for (let i = 0; i < value.length; i++) if (contains.test(value[i])) setAdd(found.names, i);
      }
    } else {
      if (has('properties')) for (const name of keysOf(s.properties)) setAdd(found.names, name);
      if (has('patternProperties')) {
        for (const name of keysOf(value)) {
          for (const { regexp } of regexpsOf(record)) {
            if (exec(regexp, name) !== null) setAdd(found.names, name);
          }
        }
      }
      if (has('additionalProperties') || (has('unevaluatedProperties') && !top)) found.all = true;
      if (has('dependentSchemas')) {
        for (const name of keysOf(s.dependentSchemas)) {
          if (hasOwn(value, name)) mark(kid(record, s.dependentSchemas[name]), value, found, false);
        }
      }
    }
    if (record.ref !== undefined) mark(record.ref, value, found, false);
    if (record.dynamicRef !== undefined) mark(record.dynamicRef, value, found, false);
    if (has('allOf')) for (const each of s.allOf) mark(kid(record, each), value, found, false);
    for (const name of ['anyOf', 'oneOf']) {
      if (!has(name)) continue;
      for (const each of s[name]) {
        const branch = kid(record, each);
        if (passesBranch(branch, value)) mark(branch, value, found, false);
      }
    }
    if (has('if')) {
      const when = kid(record, s.if);
      const holds = passesBranch(when, value);
      if (holds) mark(when, value, found, false);
      if (holds && has('then')) mark(kid(record, s.then), value, found, false);
      if (!holds && has('else')) mark(kid(record, s.else), value, found, false);
    }
  }

  // The members (or places) of a value that nothing beside `unevaluated…` looks at.
  function leftOver(record, value) {
    const found = { names: new Set(), count: 0, all: false };
    mark(record, value, found, true);
    const left = [];
    if (found.all) return left;
    if (isArray(value)) {
      for (let i = found.count; i < value.length; i++) if (!setHas(found.names, i)) left[left.length] = i;
    } else {
      const keys = keysOf(value);
      for (let i = 0; i < keys.length; i++) if (!setHas(found.names, keys[i])) left[left.length] = keys[i];
    }
    return left;
  }

  return { leftOver, begin };
}
