// The page loop's keeping of a view: what a fold returned is checked and becomes the view, in one of five ways.

// The bytes of a list's or an object's JSON text, where it is plain data as measure.wat reads it; -1 where it cannot say.
const rest = [];
const measure = (value) => {
  measureNative(value);
  const bytes = control[4];
  const count = control[17];
  if (bytes < 0 || count === 0) return bytes;
  rest.length = 0;
  for (let i = 0; i < count; i++) rest[i] = numbers[i];
  return bytes + utf8(stringify(rest)) - count - 1;
};
const size = (value) => {
  const bytes = measure(value);
  return bytes < 0 ? utf8(stringify(value)) : bytes;
};
// How many hold what is measured when nothing but the page loop does: step's variable, keep's and measure's argument, and
// the native function's.
const OURS = 4;
// Reading so many members takes as long as the fast way's memory of them; and building that memory as long as so many
// readings, so that a short way from a keyframe does without.
const LIGHT = 1000;
const SHORT = 64;
const fitness = makeFitness(utf8, size);

let checkView = null;
let memo = null;
let light = true;
let readings = 0;
const revised = { __proto__: null, count: 0, values: [], olds: [], added: [], counts: [] };
let view = null;
let spoiled = false; // whether a fold that may write to its view was given it, and did not return
let viewText = 'null';
let viewBytes = 4;
let copied = 0; // how many views of the last run were written out and read back

// What a fold returned becomes the view, or the stall is set: JSON-fitness, depth, size, schema, in this order.
//   written   writes the view out and reads it back, and compares what it read: the rule itself
//   plain     writes and reads too; that it is plain data is seen where it lies (measure.wat)
//   owned     takes the view itself where it is plain data and nothing else holds any part of it: as good as read back
//   fast      for a module that can neither write to what it did not make nor notice sharing: takes the view itself where
//             it is plain data; once it has many members, walks only what the fold made (memo.js), as `memo` always does
const keep = (value) => {
  control[11] = PHASE.check;
  control[0] = 0;
  control[1] = WRITING;
  let back;
  let bytes = -1;
  let text = null;
  if (memo !== null && light) {
    bytes = measure(value);
    back = value;
    light = control[18] <= LIGHT || ++readings < SHORT;
    if (!light) memo = fitness.makeMemo(new Memory(), revised); // what it knew is of an older view
    revised.count = 0;
  } else if (memo !== null) {
    const known = memo(value);
    if (known !== undefined) {
      back = known.value;
      bytes = known.bytes;
      light = settings.way === 'fast' && bytes < LIGHT;
    }
  } else if (settings.way !== 'written') {
    bytes = measure(value);
    if (bytes > settings.viewBytes || (settings.way === 'owned' && control[15] === 0 && control[16] === OURS)) {
      back = value;
    } else if (bytes >= 0) {
      text = stringify(value);
      back = parse(text);
      copied++;
    }
  }
  if (bytes < 0) {
    copied++;
    const written = fitness.write(value);
    text = written.text;
    if (text === undefined) {
      stall = { kind: 'unfit', unfit: written };
      return;
    }
    back = written.value;
    bytes = utf8(text);
  }
  control[1] = -1;
  if (bytes > settings.viewBytes) {
    stall = { kind: 'size', bytes, largest: largest(back) };
    return;
  }
  if (checkView !== null) {
    control[11] = PHASE.schema;
    const issue = checkView(back);
    if (issue !== undefined) {
      stall = { kind: 'schema', bytes, issue };
      return;
    }
  }
  if (revised.count > 0) forget();
  view = back;
  viewText = text;
  viewBytes = bytes;
  spoiled = false;
};
// No old part of a view is held once its new version is kept.
const forget = () => {
  revised.count = revised.values.length = revised.olds.length = revised.added.length = revised.counts.length = 0;
};
const written = () => {
  if (spoiled) throw new Error('the last fold left no view');
  return (viewText ??= stringify(view));
};

// The biggest parts of a view, for the words of a stall: follows the heaviest member down.
const largest = (value) => {
  const trail = [];
  let path = '';
  let at = value;
  while (typeof at === 'object' && at !== null && trail.length < 4) {
    let best = null;
    let most = -1;
    for (const name of keys(at)) {
      const bytes = utf8(stringify(at[name]));
      if (bytes > most) {
        most = bytes;
        best = name;
      }
    }
    if (best === null) break;
    path += '/' + apply(join, apply(split, apply(join, apply(split, best, ['~']), ['~0']), ['/']), ['~1']);
    apply(push, trail, [{ path, bytes: most }]);
    at = at[best];
  }
  return trail;
};
