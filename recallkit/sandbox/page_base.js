// The page loop, in parts joined by page_parts.py: folds a page of events inside the sandbox, one call of the host a page;
// also runs answers, programs and small helper functions under their bounds. Given the host's buffers and the parts loaded
// before it, it gives the functions that the host calls by name. Texts in, texts out.
//
// This part: what all of it stands on: the control block, the clock, bounded stretches, and the words of what was thrown.
//
// control (Int32): 0 checkpoints, 1 budget, 2 why, 3 stop, 4 bytes, 5 sequence, 10 index, 11 phase, 14 memory pages,
//   15 held, 16 references, 17 numbers, 18 written, 19 members
// control (Float64): 3 clock, 4 deadline (milliseconds, monotonic)
const { parse, stringify } = JSON;
const { apply } = Reflect;
const { is, hasOwn, keys } = Object;
const isArray = Array.isArray;
const parseTime = Date.parse;
const toText = String;
const tagOf = Object.prototype.toString;
const isError = Error.isError ?? ((value) => apply(tagOf, value, []) === '[object Error]');
const getOwn = Reflect.getOwnPropertyDescriptor;
const execute = RegExp.prototype.exec;
const split = String.prototype.split;
const join = Array.prototype.join;
const push = Array.prototype.push;

const control = new Int32Array(controlBuffer);
const time = new Float64Array(controlBuffer);
const counter = new Int32Array(counterBuffer);
const ledger = new Float64Array(ledgerBuffer);
const numbers = new Float64Array(numbersBuffer);
const COLUMNS = 5;
const PERIOD = 10000;
const PHASE = { idle: 0, filter: 1, fold: 2, check: 3, describe: 4, schema: 5, load: 6 };
const WHY_MEMORY = 2;
// What writing out a returned value may spend, apart from the call: a getter or a Proxy in it may never come back,
// and what does not end is stopped by its work on every machine. A view or an output at its bound spends under 30.
const WRITING = 5000;
const utf8 = (text) => {
  utf8Native(text);
  return control[4];
};
const now = () => {
  tick();
  return time[3];
};

let dates;
let subject;
let settings = null;
let stall = null;

// Opens a bounded stretch: so many checkpoints, so many milliseconds from now.
const begin = (checkpoints, milliseconds) => {
  control[5]++;
  tick();
  time[4] = time[3] + milliseconds;
  control[2] = 0;
  control[0] = 0;
  control[1] = checkpoints;
};
const unbounded = () => {
  control[1] = -1;
  time[4] = Infinity;
};

// What was thrown, as a text, and its line: a thrown value may do anything while it is read.
const UNREADABLE = 'an error that cannot be read';
const LINE = /\(?document:(\d+)(?::\d+)?\)?$/m;
const lineOf = (thrown) => {
  if (!isError(thrown)) return null;
  const stack = getOwn(thrown, 'stack')?.value;
  if (typeof stack !== 'string') return null;
  const found = apply(execute, LINE, [stack]);
  return found === null ? null : +found[1];
};
const wordsOf = (thrown) => {
  if ((typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function') {
    const message = thrown.message;
    if (typeof message === 'string') {
      const name = thrown.name;
      return typeof name === 'string' && name !== '' ? name + ': ' + message : message;
    }
  }
  return toText(thrown);
};
const describe = (thrown, into) => {
  control[11] = PHASE.describe;
  begin(settings.checkpoints, settings.milliseconds);
  try {
    into.line = lineOf(thrown);
    into.words = wordsOf(thrown);
  } catch {
    // the fixed phrase stands
  }
  unbounded();
};

const failed = (thrown, kind) => {
  if (control[2] === WHY_MEMORY) {
    stall = { kind: 'memory' };
    return;
  }
  // set before the error is read, in case the reading is interrupted
  stall = { kind, described: { words: UNREADABLE, line: null } };
  describe(thrown, stall.described);
};
