// The page loop's folding: filters on data, one event's fold, and a page of them.

let fold = null;
let conditions = [];
let folded = 0;
let events = [];
let masks = [];
let next = 0;
// keyframes of the last run: after how many folds; the bytes of each that write.wat wrote, -1 for others; and the texts of
// those. And the milliseconds folded since the one before.
let frameFolds = [];
let frameSizes = [];
let frames = [];
let sinceFrame = 0;
let foldsSinceFrame = 0;

const sameJson = (a, b) => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isArray(a) !== isArray(b)) return false;
  const names = keys(a);
  if (names.length !== keys(b).length) return false;
  for (let i = 0; i < names.length; i++) {
    if (!hasOwn(b, names[i]) || !sameJson(a[names[i]], b[names[i]])) return false;
  }
  return true;
};

// Whether a filter whose attributes matched takes the event by its data; undefined when the stall is set.
const takes = (condition, event) => {
  const data = hasOwn(event, 'data') ? event.data : null;
  if (condition.kind === 'value') return sameJson(data, condition.value);
  control[11] = PHASE.filter;
  begin(settings.filterCheckpoints, settings.milliseconds);
  let held;
  let raised = false;
  try {
    // a copy: what an expression writes to reaches neither the fold nor the next expression
    const read = typeof data === 'object' && data !== null ? parse(stringify(data)) : data;
    counter[0] = PERIOD;
    held = condition.expression(read);
    if (held === undefined) held = null;
    // a function, a Date or NaN is no JSON value: not taken
    else if (typeof held !== 'boolean' && fitness.fit(held) !== undefined) held = null;
  } catch {
    raised = true;
  }
  unbounded();
  if (control[2] === WHY_MEMORY) {
    stall = { kind: 'memory', where: 'filter' };
    return undefined;
  }
  return !raised && held !== false && held !== null;
};

// Whether the event is folded: the first filter that takes it decides, later expressions are not run.
const considered = (event, mask) => {
  for (let bit = 0; bit < conditions.length; bit++) {
    if (!(mask & (1 << bit))) continue;
    const condition = conditions[bit];
    if (condition === null) return true;
    const took = takes(condition, event);
    if (took !== false) return took;
  }
  return false;
};

// Folds one event; writes its row of the ledger; false when the view stalled at it.
const step = (i) => {
  let event = events[i];
  const row = i * COLUMNS;
  control[10] = i;
  ledger[row] = viewBytes;
  ledger[row + 1] = 0;
  ledger[row + 2] = 0;
  ledger[row + 3] = 0;
  control[11] = PHASE.filter;
  const moment = typeof event.time === 'string' ? parseTime(event.time) : 0;
  if (moment !== moment) {
    ledger[row + 3] = 2;
    return true;
  }
  dates.setMoment(moment);
  const took = considered(event, masks[i]);
  if (took === undefined) return false;
  if (!took) return true;
  ledger[row + 3] = 3;
  control[11] = PHASE.fold;
  let value;
  let left;
  let spent;
  let raised = false;
  spoiled = settings.way === 'owned';
  begin(settings.checkpoints, settings.milliseconds);
  const start = time[3];
  try {
    counter[0] = PERIOD;
    value = fold(view, event);
    left = counter[0];
    spent = control[0];
    control[1] = -1; // here: the jump out of the try is a step too, and not the fold's
  } catch (thrown) {
    left = counter[0];
    spent = control[0];
    raised = true;
    value = thrown;
  }
  control[1] = -1;
  tick();
  ledger[row + 1] = spent * PERIOD + (PERIOD - left);
  ledger[row + 2] = (time[3] - start) * 1000;
  ledger[row + 4] = control[14];
  if (raised) {
    failed(value, 'raised');
    return false;
  }
  if (control[2] !== WHY_MEMORY) {
    if (spoiled) event = events[i] = view = viewText = null;
    try {
      keep(value);
    } catch (thrown) {
      // reading a value may run its own code (a getter, a Proxy)
      failed(thrown, 'unfit');
    }
  }
  if (control[2] === WHY_MEMORY) stall = { kind: 'memory' };
  unbounded();
  if (stall !== null) return false;
  ledger[row] = viewBytes;
  ledger[row + 3] = 1;
  folded++;
  return true;
};

// Keeps the view as a keyframe; gives the bytes that it takes.
const keepFrame = () => {
  apply(push, frameFolds, [folded]);
  if (viewText === null) {
    writeNative(view, control[18], viewBytes);
    if (control[4] >= 0) {
      control[18] = control[4];
      apply(push, frameSizes, [viewBytes]);
      return viewBytes;
    }
  }
  apply(push, frameSizes, [-1]);
  apply(push, frames, [written()]);
  return viewText.length;
};
const load = (page, maskText) => {
  control[10] = 0;
  control[11] = PHASE.load;
  events = masks = null; // the page before makes room
  events = parse(page);
  masks = parse(maskText);
  next = 0;
  control[11] = PHASE.idle;
};

const folding = {
  // settings of a fold: {way, folded, schema, schemaOptions, checkpoints, filterCheckpoints, milliseconds, viewBytes}
  setup(text, initial, ...expressions) {
    settings = parse(text);
    fold = subject?.fold ?? null;
    view = parse(initial);
    spoiled = false;
    // where a fold may write to its view before it fails, the text of the view before it is at hand
    viewText = settings.way === 'plain' || settings.way === 'written' ? stringify(view) : null;
    viewBytes = measure(view);
    if (viewBytes < 0) viewBytes = utf8(written());
    forget();
    folded = settings.folded;
    sinceFrame = foldsSinceFrame = 0;
    checkView = settings.schema === undefined ? null : makeChecker(settings.schema, { frozen: true, memory: settings.way === 'fast' ? memory : null, ...settings.schemaOptions });
    return '';
  },
  conditions(...given) {
    conditions = [];
    for (let i = 0; i < given.length; i++) {
      const condition = given[i];
      apply(push, conditions, [
        typeof condition === 'function' ? { kind: 'expression', expression: condition } : parse(condition),
      ]);
    }
    return '';
  },
  // Folds on from where the page stands, until its end, the moment given, or `most` folds; the ledger has a row an event.
  // A keyframe is kept after so many folds (`every`), or once the folds since the last took so many milliseconds (`spacing`)
  // and by so many milliseconds a byte (`price`) more than writing this view out; 0: none is kept in that way. The first
  // line of what it gives tells how far it came; each line after it is a keyframe that write.wat did not write.
  // A page that is given with its masks takes the place of the one before; in one call with its folds, at one depth of the stack.
  run(milliseconds, most, every, spacing, price, page, maskText) {
    if (page !== undefined) load(page, maskText);
    let moment = now();
    const until = moment + +milliseconds;
    const last = folded + +most;
    const everyFolds = +every;
    const least = +spacing;
    const perByte = +price;
    frames = [];
    frameFolds = [];
    frameSizes = [];
    control[18] = 0;
    copied = 0;
    let kept = 0;
    let ended = 'page';
    while (next < events.length) {
      if (control[3] !== 0) {
        ended = 'stopped';
        break;
      }
      const before = folded;
      if (!step(next)) {
        ended = 'stalled';
        break;
      }
      events[next] = null;
      next++;
      const after = time[3]; // the clock as the fold's end read it
      sinceFrame += after - moment;
      moment = after;
      if (folded !== before) {
        foldsSinceFrame++;
        const due = everyFolds > 0 ? foldsSinceFrame >= everyFolds : least > 0 && sinceFrame >= least && sinceFrame >= perByte * viewBytes;
        if (due) {
          kept += keepFrame();
          sinceFrame = foldsSinceFrame = 0;
          moment = now();
        }
      }
      if (folded >= last || kept > 4194304 || moment > until) {
        ended = next < events.length ? 'until' : 'page';
        break;
      }
    }
    control[11] = PHASE.idle;
    const told = [stringify({ next, folded, ended, stall, copied, frames: frameFolds, sizes: frameSizes })];
    apply(push, told, frames);
    frames = frameFolds = frameSizes = null;
    return apply(join, told, ['\n']);
  },
  // After an interruption: where the page stands, and what was known of the stall.
  state() {
    unbounded();
    return stringify({ next, folded, ended: 'interrupted', stall, copied, frames: [], sizes: [] });
  },
  view: written,
};
