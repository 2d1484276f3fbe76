// The page loop's keeping of a view: what a fold returned is checked and becomes the view, in one of four ways.

// The bytes of a list's or an object's JSON text, where it is plain data as measure.wat reads it; -1 where it cannot say.
// Numbers of many decimals are left to their texts.
const measured = () => {
  let bytes = control[4];
  const count = control[17];
  if (bytes < 0 || count === 0) return bytes;
  for (let i = 0; i < count; i++) {
    const text = toText(numbers[i]);
    bytes += text.length;
    learnNative(text, i);
  }
  return bytes;
};
const measure = (value) => {
  measureNative(value);
  return measured();
};
// How many hold what is measured when nothing but the page loop does: step's variable, keep's and measure's argument, and
// the native function's.
const OURS = 4;
const fitness = makeFitness(utf8);

// What the schema's check asks, where a view's parts are remembered: which record of the schema a list or an object passed
// as, when it was last noted. known(value, id) answers in `answers[4]`. fresh(value, id, members) puts the members that did
// not pass as that record into `members`, a list of nulls; their count is in answers[4], -1: too many; of all in [19].
const memory = { __proto__: null, known: knownNative, note: noteNative, fresh: freshNative, answers: control, members: [] };
for (let i = 0; i < 1024; i++) memory.members[i] = null;

let checkView = null;
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
//             it is plain data, and reads only what the fold made (known.wat)
const keep = (value) => {
  control[11] = PHASE.check;
  control[0] = 0;
  control[1] = WRITING;
  let back;
  let bytes = -1;
  let text = null;
  if (settings.way === 'fast') {
    remeasureNative(value, view);
    bytes = control[17] === 0 ? control[4] : measured();
    back = value;
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
  view = back;
  viewText = text;
  viewBytes = bytes;
  spoiled = false;
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
