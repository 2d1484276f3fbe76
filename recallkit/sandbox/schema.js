// The schema check: a JSON Schema (2020-12, draft-07) compiled once into closures. `test` of a record says
// whether a value passes; the words for what is wrong are found in a second walk, only when something is.

const yes = () => true;
const no = () => false;

function makeChecker(schema, options = {}) {
  const { memory = null, frozen = false, documents = {} } = options;
  const resolver = makeResolver(schema, documents);
  const compiled = new Map(); // schema object -> Map of dynamic scope -> record
  let records = 0;
  const numbers = new Map(); // schema object -> its number, for the keys of dynamic scopes

  const numberOf = (node) => {
    if (!numbers.has(node)) numbers.set(node, numbers.size);
    return numbers.get(node);
  };

  // The dynamic scope as far as it matters: for each dynamic anchor, the outermost schema that has it.
  function enter(scope, resource) {
    if (!resolver.dynamic || resource.dynamics.size === 0) return scope;
    let changed;
    for (const [name, node] of resource.dynamics) {
      if (!(changed ?? scope).names.has(name)) {
        changed ??= { names: new Map(scope.names), key: '' };
        changed.names.set(name, node);
      }
    }
    if (changed === undefined) return scope;
    changed.key = [...changed.names].map(([name, node]) => name + '=' + numberOf(node)).sort().join(' ');
    return changed;
  }

  function compile(node, outer, scope) {
    if (!isRecord(node)) return { schema: node, test: node === false ? no : yes, kind: '', source: '' };
    const resource = resolver.homeOf(node) ?? outer;
    const here = enter(scope, resource);
    if (!compiled.has(node)) compiled.set(node, new Map());
    const known = compiled.get(node);
    if (known.has(here.key)) return known.get(here.key);
    const dialect = resource.dialect;
    const record = { schema: node, resource, scope: here, dialect, id: ++records, test: undefined, bare: undefined, kind: '', source: '',
      whole: undefined, shallow: false, ref: undefined, dynamicRef: undefined, regexps: undefined };
    known.set(here.key, record);
    build(record);
    return record;
  }

  const kid = (record, node) => compile(node, record.resource, record.scope);
  // A record that is still being built (a recursive schema) is reached through itself.
  const link = (record) => record.test ?? ((value) => record.test(value));
  const test = (record, node) => link(kid(record, node));
  const { leftOver, begin } = makeMarker(kid);

  function target(record, reference, dynamic) {
    const found = resolver.resolve(record.resource, reference);
    let node = found.schema;
    if (dynamic && found.anchor !== undefined) node = record.scope.names.get(found.anchor) ?? node;
    return compile(node, resolver.homeOf(node) ?? found.resource, record.scope);
  }

  function build(record) {
    const { schema: s, dialect } = record;
    if (dialect.legacy && hasOwn(s, '$ref')) {
      record.ref = target(record, s.$ref, false);
      record.test = record.bare = link(record.ref);
      record.kind = record.ref.kind;
      record.source = record.ref.source;
      return;
    }
    const has = (name) => hasOwn(s, name) && !dialect.without.has(name);
    const whole = [];
    if (has('const')) whole.push(constTest(s.const));
    if (has('enum')) whole.push(enumTest(s.enum));
    const typed = byType(record, has);
    if (has('$ref')) { record.ref = target(record, s.$ref, false); whole.push(link(record.ref)); }
    if (!dialect.legacy && has('$dynamicRef')) {
      record.dynamicRef = target(record, s.$dynamicRef, true);
      whole.push(link(record.dynamicRef));
    }
    if (has('allOf')) for (const each of s.allOf) whole.push(test(record, each));
    if (has('anyOf')) {
      const branches = s.anyOf.map((each) => test(record, each));
      whole.push((value) => {
        for (let i = 0; i < branches.length; i++) if (branches[i](value)) return true;
        return false;
      });
    }
    if (has('oneOf')) {
      const branches = s.oneOf.map((each) => test(record, each));
      whole.push((value) => {
        let matches = 0;
        for (let i = 0; i < branches.length; i++) if (branches[i](value) && ++matches > 1) return false;
        return matches === 1;
      });
    }
    if (has('not')) {
      const refused = test(record, s.not);
      whole.push((value) => !refused(value));
    }
    if (has('if') && (has('then') || has('else'))) {
      const when = test(record, s.if);
      const then = has('then') ? test(record, s.then) : yes;
      const otherwise = has('else') ? test(record, s.else) : yes;
      whole.push((value) => (when(value) ? then(value) : otherwise(value)));
    }
    if (!dialect.legacy && has('unevaluatedItems')) whole.push(leftItems(record, s.unevaluatedItems));
    if (!dialect.legacy && has('unevaluatedProperties')) whole.push(leftMembers(record, s.unevaluatedProperties));
    const all = typed === yes ? whole : [typed, ...whole];
    if (whole.length > 0) record.kind = record.source = '';
    let passes = all.length === 0 ? yes : all.length === 1 ? all[0] : both(all);
    record.bare = passes;
    const looksInside = ['items', 'additionalProperties', 'properties'].some((name) => hasOwn(s, name));
    if (memory !== null && !record.shallow && (looksInside || whole.length > 0)) passes = remembering(passes, record.id);
    record.test = passes;
  }

  function both(tests) {
    if (tests.length === 2) { const [a, b] = tests; return (value) => a(value) && b(value); }
    return (value) => {
      for (let i = 0; i < tests.length; i++) if (!tests[i](value)) return false;
      return true;
    };
  }

  // Remembers each list and object that passed. A record's verdict depends on the value alone (its dynamic scope is part
  // of the record), so this holds as long as they do not change.
  function remembering(passes, id) {
    const { known, note, answers } = memory;
    return (value) => {
      if (typeof value !== 'object' || value === null) return passes(value);
      known(value, id);
      if (answers[4] === 1) return true;
      if (!passes(value)) return false;
      note(value, id);
      return true;
    };
  }

  // What asks the members of a list or an object that did not pass before, where each is asked the same alone.
  const newPartsOf = (child, least, most) => (
    memory !== null && mayHold(child.schema) ? newParts(memory, child, least, most) : null);

  function constTest(wanted) {
    if (typeof wanted !== 'object' || wanted === null) return (value) => value === wanted;
    return (value) => equal(value, wanted);
  }

  function enumTest(choices) {
    const plain = new Set(choices.filter((each) => typeof each !== 'object' || each === null));
    const deep = choices.filter((each) => typeof each === 'object' && each !== null);
    return (value) => {
      if (typeof value !== 'object' || value === null) return setHas(plain, value);
      for (let i = 0; i < deep.length; i++) if (equal(value, deep[i])) return true;
      return false;
    };
  }

  // The keywords that look at one type of value each, with `type` itself.
  function byType(record, has) {
    const { schema: s } = record;
    const types = !has('type') ? undefined : isArray(s.type) ? s.type : [s.type];
    const allows = (name) => types === undefined || types.includes(name);
    const text = allows('string') ? textTest(s, has) : no;
    let number = numberTest(s, has);
    if (!allows('number')) {
      const inner = number;
      number = !allows('integer') ? no : inner === yes ? isInteger : (value) => isInteger(value) && inner(value);
    }
    const boolean = allows('boolean') ? yes : no;
    const list = allows('array') ? listOf(record, has) : no;
    const object = allows('object') ? objectOf(record, has) : no;
    const nullOk = allows('null');
    if (text === yes && number === yes && boolean === yes && list === yes && object === yes && nullOk) return yes;
    if (types !== undefined && types.length === 1) {
      switch (types[0]) {
        case 'string':
          if (has('maxLength') && !has('minLength') && !has('pattern')) {
            const most = s.maxLength;
            record.source = `typeof v === 'string' && (v.length <= ${+most} || codePoints(v) <= ${+most})`;
            return (v) => typeof v === 'string' && (v.length <= most || codePoints(v) <= most);
          }
          if (text === yes) record.kind = 'string';
          return text === yes ? (v) => typeof v === 'string' : (v) => typeof v === 'string' && text(v);
        case 'number':
          if (number === yes) record.kind = 'number';
          return number === yes ? (v) => typeof v === 'number' : (v) => typeof v === 'number' && number(v);
        case 'integer':
          if (!has('exclusiveMinimum') && !has('exclusiveMaximum') && !has('multipleOf')) {
            const least = has('minimum') ? s.minimum : -Infinity;
            const most = has('maximum') ? s.maximum : Infinity;
            record.source = `typeof v === 'number' && v >= ${+least} && v <= ${+most} && ((v | 0) === v || isInteger(v))`;
            return (v) => typeof v === 'number' && v >= least && v <= most && ((v | 0) === v || isInteger(v));
          }
          return (v) => typeof v === 'number' && number(v);
        case 'boolean': record.kind = 'boolean'; return (v) => typeof v === 'boolean';
        case 'null': return (v) => v === null;
        case 'array': return list === yes ? (v) => isArray(v) : (v) => isArray(v) && list(v);
        case 'object':
          if (record.whole !== undefined) return record.whole;
          return (v) => typeof v === 'object' && v !== null && !isArray(v) && object(v);
      }
    }
    return (v) => {
      switch (typeof v) {
        case 'string': return text(v);
        case 'number': return number(v);
        case 'boolean': return boolean(v);
        default: return v === null ? nullOk : isArray(v) ? list(v) : object(v);
      }
    };
  }

  function textTest(s, has) {
    const least = has('minLength') ? s.minLength : 0;
    const most = has('maxLength') ? s.maxLength : Infinity;
    const regexp = has('pattern') ? new RegExp(s.pattern, 'u') : undefined;
    if (least === 0 && most === Infinity && regexp === undefined) return yes;
    return (text) => {
      // A text has at most as many characters as code units, so most texts need no counting.
      const units = text.length;
      if (units < least) return false;
      if ((least > 0 && units < 2 * least) || units > most) {
        const count = codePoints(text);
        if (count < least || count > most) return false;
      }
      return regexp === undefined || exec(regexp, text) !== null;
    };
  }

  function numberTest(s, has) {
    const tests = [];
    if (has('minimum')) { const n = s.minimum; tests.push((v) => v >= n); }
    if (has('maximum')) { const n = s.maximum; tests.push((v) => v <= n); }
    if (has('exclusiveMinimum')) { const n = s.exclusiveMinimum; tests.push((v) => v > n); }
    if (has('exclusiveMaximum')) { const n = s.exclusiveMaximum; tests.push((v) => v < n); }
    if (has('multipleOf')) { const n = s.multipleOf; tests.push((v) => isMultiple(v, n)); }
    return tests.length === 0 ? yes : tests.length === 1 ? tests[0] : both(tests);
  }

  function objectOf(record, has) {
    const { schema: s, dialect } = record;
    const slots = [];
    const required = has('required') ? new Set(s.required) : new Set();
    if (has('properties')) {
      for (const name of keysOf(s.properties)) {
        const child = kid(record, s.properties[name]);
        slots.push({ name, needed: required.has(name), known: true, kind: child.test ? child.kind : '',
          source: child.test ? child.source : '', test: link(child) });
        required.delete(name);
      }
    }
    // Looking up whether a small open record passed before costs as much as asking it again.
    record.shallow = slots.length <= 8 && slots.every((slot) => slot.kind !== '' || slot.source !== '')
      && !['additionalProperties', 'patternProperties', 'minProperties', 'maxProperties', 'propertyNames'].some(has);
    for (const name of required) slots.push({ name, needed: true, known: false, kind: '', source: '', test: yes });
    const patterns = [];
    if (has('patternProperties')) {
      for (const { pattern, regexp } of regexpsOf(record)) {
        patterns.push({ regexp, test: test(record, s.patternProperties[pattern]) });
      }
    }
    const together = [];
    if (!dialect.legacy && has('dependentRequired')) addDependencies(record, s.dependentRequired, together);
    if (!dialect.legacy && has('dependentSchemas')) addDependencies(record, s.dependentSchemas, together);
    if (dialect.legacy && has('dependencies')) addDependencies(record, s.dependencies, together);
    const child = kid(record, has('additionalProperties') ? s.additionalProperties : true);
    const rest = link(child);
    const parts = {
      slots, patterns, together, closed: rest === no, rest: rest === yes || rest === no ? null : rest,
      least: has('minProperties') ? s.minProperties : 0,
      most: has('maxProperties') ? s.maxProperties : Infinity,
      names: has('propertyNames') ? test(record, s.propertyNames) : null,
    };
    parts.anew = newPartsOf(child, parts.least, parts.most);
    const free = slots.length === 0 && patterns.length === 0 && together.length === 0 && rest === yes
      && parts.least === 0 && parts.most === Infinity && parts.names === null;
    if (free) return yes;
    record.whole = recordTest(parts, frozen);
    return objectTest(parts, frozen);
  }

  function addDependencies(record, map, together) {
    for (const name of keysOf(map)) {
      const wanted = map[name];
      const passes = isArray(wanted) ? (object) => {
        for (let i = 0; i < wanted.length; i++) if (!hasOwn(object, wanted[i])) return false;
        return true;
      } : test(record, wanted);
      together.push((object) => !hasOwn(object, name) || passes(object));
    }
  }

  function listOf(record, has) {
    const { schema: s, dialect } = record;
    let first = [], rest = yes, kind = '', anew = null;
    const least = has('minItems') ? s.minItems : 0;
    const most = has('maxItems') ? s.maxItems : Infinity;
    if (dialect.legacy && has('items') && isArray(s.items)) {
      first = s.items.map((each) => test(record, each));
      if (has('additionalItems')) rest = test(record, s.additionalItems);
    } else {
      if (!dialect.legacy && has('prefixItems')) first = s.prefixItems.map((each) => test(record, each));
      if (has('items')) {
        const child = kid(record, s.items);
        rest = link(child);
        if (child.test) kind = child.kind;
        anew = newPartsOf(child, least, most);
      }
    }
    const parts = {
      first, kind, rest: rest === yes ? null : rest, anew, least, most,
      unique: has('uniqueItems') && s.uniqueItems === true,
      contains: has('contains') ? test(record, s.contains) : null,
      atLeast: !dialect.legacy && has('minContains') ? s.minContains : 1,
      atMost: !dialect.legacy && has('maxContains') ? s.maxContains : Infinity,
    };
    const free = first.length === 0 && rest === yes && parts.least === 0 && parts.most === Infinity && !parts.unique
      && parts.contains === null;
    return free ? yes : listTest(parts);
  }

  function leftItems(record, node) {
    const passes = test(record, node);
    return (value) => {
      if (!isArray(value)) return true;
      for (const place of leftOver(record, value)) if (!passes(value[place])) return false;
      return true;
    };
  }

  function leftMembers(record, node) {
    const passes = test(record, node);
    return (value) => {
      if (!isRecord(value)) return true;
      for (const name of leftOver(record, value)) if (!passes(value[name])) return false;
      return true;
    };
  }

  const root = compile(schema, resolver.root, { names: new Map(), key: '' });
  const tools = { kid, leftOver };
  const passes = root.bare ?? root.test; // a view is seldom the one before
  // The verdict never hangs on the words: what has run before may have broken what those are made with.
  const refusal = (value, limit) => {
    let found = [];
    try { found = explain(root, value, tools, limit); } catch { /* the plain sentence will do */ }
    return found.length > 0 ? found : [{ path: '', words: 'must match its schema' }];
  };
  const issues = (value, limit) => {
    begin();
    let passed;
    try {
      passed = passes(value);
    } catch {
      return [{ path: '', words: 'is nested too deeply for its schema to be checked' }]; // the stack was not enough
    }
    return passed ? undefined : refusal(value, limit);
  };
  const check = (value) => {
    begin();
    try {
      if (passes(value)) return undefined;
    } catch {
      // told below
    }
    return issues(value, 1)?.[0];
  };
  check.all = (value, limit) => issues(value, limit) ?? [];
  return check;
}
