// What the schema check stands on: the engine's own functions, kept before any other code could change them,
// and small questions about JSON values. First of the parts that schema_parts.py joins into one expression.

const hasOwn = Object.hasOwn;
const isArray = Array.isArray;
const keysOf = Object.keys;
const valuesOf = Object.values;
const isInteger = Number.isInteger;
const stringify = JSON.stringify;
const ObjectPrototype = Object.prototype;
const makeFunction = Function;
const decodeText = decodeURIComponent;
// uncurry(f)(self, …args) calls f on self without looking anything up on a prototype.
const uncurry = (method) => uncurry.call.bind(method);
const charCodeAt = uncurry(String.prototype.charCodeAt);
const slice = uncurry(String.prototype.slice);
const exec = uncurry(RegExp.prototype.exec);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapHas = uncurry(Map.prototype.has);
const setHas = uncurry(Set.prototype.has);
const setAdd = uncurry(Set.prototype.add);
const sortList = uncurry(Array.prototype.sort);

const isRecord = (v) => typeof v === 'object' && v !== null && !isArray(v);
const own = (object, key) => (hasOwn(object, key) ? object[key] : undefined);

// The patterns of a compiled schema's patternProperties; made when first asked for, since a schema whose type keeps
// objects out compiles none, and yet is asked for the words of what an object has wrong.
function regexpsOf(record) {
  if (record.regexps === undefined) {
    const list = [];
    for (const pattern of keysOf(record.schema.patternProperties)) {
      list[list.length] = { pattern, regexp: new RegExp(pattern, 'u') };
    }
    record.regexps = list;
  }
  return record.regexps;
}

// Characters as JSON Schema counts them: code points, a lone surrogate as one.
function codePoints(text) {
  const units = text.length;
  let count = units;
  for (let i = 0; i < units - 1; i++) {
    const unit = charCodeAt(text, i);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = charCodeAt(text, i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) { count--; i++; }
    }
  }
  return count;
}

function equal(one, two) {
  if (one === two) return true;
  if (typeof one !== 'object' || typeof two !== 'object' || one === null || two === null) return false;
  if (isArray(one)) {
    if (!isArray(two) || one.length !== two.length) return false;
    for (let i = 0; i < one.length; i++) if (!equal(one[i], two[i])) return false;
    return true;
  }
  if (isArray(two)) return false;
  const keys = keysOf(one);
  if (keys.length !== keysOf(two).length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (!hasOwn(two, key) || !equal(one[key], two[key])) return false;
  }
  return true;
}

// One text for all values that are equal as JSON: members sorted by name, -0 as 0.
function canonical(value) {
  if (typeof value !== 'object' || value === null) return stringify(value);
  let text = '';
  if (isArray(value)) {
    for (let i = 0; i < value.length; i++) text += (i ? ',' : '') + canonical(value[i]);
    return '[' + text + ']';
  }
  const keys = sortList(keysOf(value));
  for (let i = 0; i < keys.length; i++) {
    text += (i ? ',' : '') + stringify(keys[i]) + ':' + canonical(value[keys[i]]);
  }
  return '{' + text + '}';
}

// The first two places of a list that hold equal items, or undefined.
function twins(list) {
  const places = new Map();
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    // A container's text starts with a mark that no plain item's has, so the two never meet.
    const key = typeof item === 'object' && item !== null ? canonical(item)
      : typeof item === 'string' ? '"' + item : item;
    if (mapHas(places, key)) return [mapGet(places, key), i];
    mapSet(places, key, i);
  }
  return undefined;
}

// A multiple: exact where the divisor is whole, else whether the quotient of the two doubles is whole.
function isMultiple(value, divisor) {
  if (isInteger(divisor)) return value % divisor === 0;
  const quotient = value / divisor;
  if (quotient - quotient !== 0) return value % divisor === 0; // the quotient overflowed
  return isInteger(quotient);
}

function isType(value, name) {
  switch (name) {
    case 'string': return typeof value === 'string';
    case 'number': return typeof value === 'number';
    case 'integer': return isInteger(value);
    case 'boolean': return typeof value === 'boolean';
    case 'null': return value === null;
    case 'array': return isArray(value);
    case 'object': return isRecord(value);
    default: return false;
  }
}
