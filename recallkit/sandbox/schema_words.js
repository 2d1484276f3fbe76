// The words for what is wrong. Runs only on a value that was refused; schemas.py says the same of the same value.

const ISSUES_FOUND = 10000;
const SHOWN = 80;
const TYPE_WORDS = { __proto__: null, string: 'a string', number: 'a number', integer: 'a whole number',
  boolean: 'true or false', null: 'null', array: 'a list', object: 'an object' };

function cut(text) {
  let end = 0;
  for (let count = 0; end < text.length; count++) {
    if (count === SHOWN) return slice(text, 0, end) + '…';
    const unit = charCodeAt(text, end);
    const pair = unit >= 0xd800 && unit <= 0xdbff && end + 1 < text.length
      && charCodeAt(text, end + 1) >= 0xdc00 && charCodeAt(text, end + 1) <= 0xdfff;
    end += pair ? 2 : 1;
  }
  return text;
}

const shown = (value) => cut(stringify(value));
const counted = (count, one, many) => count + ' ' + (count === 1 ? one : many);
const anyOfWords = (list) => {
  if (list.length === 1) return list[0];
  return list.slice(0, -1).join(', ') + ' or ' + list[list.length - 1];
};
const escaped = (name) => name.replaceAll('~', '~0').replaceAll('/', '~1');

// Gives the issues in the order of their places in the value (an object before its members, members as they
// stand), and at one place in the order of the keywords below.
function explain(root, value, tools, limit) {
  const issues = [];
  const seen = new Set();

  function tell(at, words) {
    if (issues.length >= ISSUES_FOUND) return;
    const key = at.path + ' ' + words;
    if (setHas(seen, key)) return;
    setAdd(seen, key);
    issues.push({ at, words, order: issues.length });
  }

  const member = (at, object, name) => (
    { path: at.path + '/' + escaped(name), up: at, place: keysOf(object).indexOf(name), depth: at.depth + 1 });
  const item = (at, place) => ({ path: at.path + '/' + place, up: at, place, depth: at.depth + 1 });

  function walk(record, value, at) {
    if (record.test(value) || issues.length >= ISSUES_FOUND) return;
    const { schema: s, dialect } = record;
    if (s === false) { tell(at, 'must be left out'); return; }
    const down = (node, value, at) => walk(tools.kid(record, node), value, at);
    if (dialect.legacy && record.ref !== undefined) { walk(record.ref, value, at); return; }
    const has = (name) => hasOwn(s, name) && !dialect.without.has(name);
    const modern = !dialect.legacy;
    if (has('type')) {
      const types = isArray(s.type) ? s.type : [s.type];
      if (!types.some((name) => isType(value, name))) {
        tell(at, 'must be ' + anyOfWords(types.map((name) => TYPE_WORDS[name] ?? shown(name))));
      }
    }
    if (has('const') && !equal(value, s.const)) tell(at, 'must be ' + shown(s.const));
    if (has('enum') && !s.enum.some((each) => equal(value, each))) {
      const told = s.enum.slice(0, 10).map(shown);
      const more = s.enum.length - told.length;
      tell(at, told.length === 0 ? 'must be left out' : 'must be '
        + (more > 0 ? 'one of ' + told.join(', ') + ' and ' + more + ' more' : anyOfWords(told)));
    }
    if (isRecord(value)) walkObject(record, value, at, has, modern, down);
    else if (isArray(value)) walkList(record, value, at, has, modern, down);
    else if (typeof value === 'string') walkText(s, value, at, has);
    else if (typeof value === 'number') walkNumber(s, value, at, has);
    if (record.ref !== undefined) walk(record.ref, value, at);
    if (record.dynamicRef !== undefined) walk(record.dynamicRef, value, at);
    if (has('allOf')) for (const each of s.allOf) down(each, value, at);
    if (has('anyOf') && !s.anyOf.some((each) => tools.kid(record, each).test(value))) {
      tell(at, 'must match at least one of the ' + counted(s.anyOf.length, 'schema', 'schemas') + ' of anyOf');
    }
    if (has('oneOf')) {
      const matches = s.oneOf.filter((each) => tools.kid(record, each).test(value)).length;
      if (matches !== 1) {
        tell(at, 'must match exactly one of the ' + counted(s.oneOf.length, 'schema', 'schemas') + ' of oneOf, not '
          + (matches === 0 ? 'none' : matches));
      }
    }
    if (has('not') && tools.kid(record, s.not).test(value)) tell(at, 'must not match the schema of not');
    if (has('if')) {
      if (tools.kid(record, s.if).test(value)) { if (has('then')) down(s.then, value, at); }
      else if (has('else')) down(s.else, value, at);
    }
    if (isRecord(value)) {
      const dependent = modern ? (has('dependentSchemas') ? s.dependentSchemas : {})
        : has('dependencies') ? s.dependencies : {};
      for (const name of keysOf(dependent)) {
        if (!isArray(dependent[name]) && hasOwn(value, name)) down(dependent[name], value, at);
      }
    }
    if (modern && has('unevaluatedItems') && isArray(value)) {
      for (const place of tools.leftOver(record, value)) down(s.unevaluatedItems, value[place], item(at, place));
    }
    if (modern && has('unevaluatedProperties') && isRecord(value)) {
      for (const name of tools.leftOver(record, value)) {
        down(s.unevaluatedProperties, value[name], member(at, value, name));
      }
    }
  }

  function walkObject(record, value, at, has, modern, down) {
    const { schema: s } = record;
    const names = keysOf(value);
    if (has('required')) {
      for (const name of s.required) if (!hasOwn(value, name)) tell(at, 'must have the member ' + shown(name));
    }
    if (has('minProperties') && names.length < s.minProperties) {
      tell(at, 'must have at least ' + counted(s.minProperties, 'member', 'members') + ', not ' + names.length);
    }
    if (has('maxProperties') && names.length > s.maxProperties) {
      tell(at, 'must have at most ' + counted(s.maxProperties, 'member', 'members') + ', not ' + names.length);
    }
    if (has('propertyNames')) {
      const rule = tools.kid(record, s.propertyNames);
      for (const name of names) {
        if (rule.test(name)) continue;
        const first = explain(rule, name, tools, 1)[0];
        tell(member(at, value, name), 'must have another name: the name ' + first.words);
      }
    }
    const lists = modern ? (has('dependentRequired') ? s.dependentRequired : {})
      : has('dependencies') ? s.dependencies : {};
    for (const name of keysOf(lists)) {
      if (!isArray(lists[name]) || !hasOwn(value, name)) continue;
      for (const wanted of lists[name]) {
        if (!hasOwn(value, wanted)) tell(at, 'must have the member ' + shown(wanted) + ' beside ' + shown(name));
      }
    }
    const properties = has('properties') ? s.properties : {};
    for (const name of keysOf(properties)) {
      if (hasOwn(value, name)) down(properties[name], value[name], member(at, value, name));
    }
    const patterns = has('patternProperties') ? regexpsOf(record) : [];
    for (const { pattern, regexp } of patterns) {
      for (const name of names) {
        if (exec(regexp, name) !== null) down(s.patternProperties[pattern], value[name], member(at, value, name));
      }
    }
    if (has('additionalProperties')) {
      for (const name of names) {
        if (hasOwn(properties, name) || patterns.some(({ regexp }) => exec(regexp, name) !== null)) continue;
        down(s.additionalProperties, value[name], member(at, value, name));
      }
    }
  }

  function walkList(record, value, at, has, modern, down) {
    const { schema: s } = record;
    if (has('minItems') && value.length < s.minItems) {
      tell(at, 'must have at least ' + counted(s.minItems, 'item', 'items') + ', not ' + value.length);
    }
    if (has('maxItems') && value.length > s.maxItems) {
      tell(at, 'must have at most ' + counted(s.maxItems, 'item', 'items') + ', not ' + value.length);
    }
    if (has('uniqueItems') && s.uniqueItems === true) {
      const pair = twins(value);
      if (pair !== undefined) {
        tell(at, 'must have no two equal items, but ' + pair[0] + ' and ' + pair[1] + ' are equal');
      }
    }
    const tuple = !modern && has('items') && isArray(s.items);
    const first = tuple ? s.items : modern && has('prefixItems') ? s.prefixItems : [];
    for (let i = 0; i < first.length && i < value.length; i++) down(first[i], value[i], item(at, i));
    const rest = tuple ? (has('additionalItems') ? s.additionalItems : true) : has('items') ? s.items : true;
    for (let i = first.length; i < value.length; i++) down(rest, value[i], item(at, i));
    if (has('contains')) {
      const rule = tools.kid(record, s.contains);
      let matches = 0;
      for (let i = 0; i < value.length; i++) if (rule.test(value[i])) matches++;
      const least = modern && has('minContains') ? s.minContains : 1;
      const most = modern && has('maxContains') ? s.maxContains : Infinity;
      const words = (bound, limit) => 'must have at ' + bound + ' '
        + counted(limit, 'item that matches', 'items that match') + ' contains, not ' + matches;
      if (matches < least) tell(at, words('least', least));
      if (matches > most) tell(at, words('most', most));
    }
  }

  function walkText(s, value, at, has) {
    const length = codePoints(value);
    if (has('minLength') && length < s.minLength) {
      tell(at, 'must be at least ' + counted(s.minLength, 'character', 'characters') + ' long, not ' + length);
    }
    if (has('maxLength') && length > s.maxLength) {
      tell(at, 'must be at most ' + counted(s.maxLength, 'character', 'characters') + ' long, not ' + length);
    }
    if (has('pattern') && exec(new RegExp(s.pattern, 'u'), value) === null) {
      tell(at, 'must match the pattern ' + shown(s.pattern));
    }
  }

  function walkNumber(s, value, at, has) {
    if (has('minimum') && value < s.minimum) tell(at, 'must be at least ' + shown(s.minimum));
    if (has('maximum') && value > s.maximum) tell(at, 'must be at most ' + shown(s.maximum));
    if (has('exclusiveMinimum') && value <= s.exclusiveMinimum) {
      tell(at, 'must be more than ' + shown(s.exclusiveMinimum));
    }
    if (has('exclusiveMaximum') && value >= s.exclusiveMaximum) {
      tell(at, 'must be less than ' + shown(s.exclusiveMaximum));
    }
    if (has('multipleOf') && !isMultiple(value, s.multipleOf)) tell(at, 'must be a multiple of ' + shown(s.multipleOf));
  }

  walk(root, value, { path: '', up: undefined, place: 0, depth: 0 });
  const places = (at) => {
    const list = [];
    for (let here = at; here.up !== undefined; here = here.up) list[here.depth - 1] = here.place;
    return list;
  };
  for (const issue of issues) issue.places = places(issue.at);
  issues.sort((one, two) => {
    const a = one.places, b = two.places;
    for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
    return a.length - b.length || one.order - two.order;
  });
  return issues.slice(0, limit).map(({ at, words }) => ({ path: at.path, words }));
}
