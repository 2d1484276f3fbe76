// The page loop: folds a page of events inside the sandbox, one call of the host a page; also runs answers,
// programs and small helper functions under their bounds. One expression: given the host's buffers and the
// parts loaded before it, it returns the functions that the host calls by name. Texts in, texts out.
//
// control (Int32): 0 checkpoints, 1 budget, 2 why, 3 stop, 4 bytes, 5 sequence, 10 index, 11 phase, 14 memory pages,
//   15 held, 16 references, 17 numbers, 18 visited
// control (Float64): 3 clock, 4 deadline (milliseconds, monotonic)
(controlBuffer, counterBuffer, ledgerBuffer, numbersBuffer, tick, utf8Native, measureNative, makeDates, harden, makeFitness, makeChecker) => {
  'use strict';
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
  const Memory = WeakMap;

  const control = new Int32Array(controlBuffer);
  const time = new Float64Array(controlBuffer);
  const counter = new Int32Array(counterBuffer);
  const ledger = new Float64Array(ledgerBuffer);
  const numbers = new Float64Array(numbersBuffer);
  const COLUMNS = 5;
  const PERIOD = 10000;
  const PHASE = { idle: 0, filter: 1, fold: 2, check: 3, describe: 4, schema: 5 };
  const WHY_MEMORY = 2;
  // What writing out a returned value may spend, apart from the call: a getter or a Proxy in it may never come back,
  // and what does not end is stopped by its work on every machine. A view or an output at its bound spends under 30.
  const WRITING = 5000;
  const utf8 = (text) => {
    utf8Native(text);
    return control[4];
  };
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
  // Reading so many members takes as long as the fast way's memory of them.
  const LIGHT = 1000;
  const now = () => {
    tick();
    return time[3];
  };
  const fitness = makeFitness(utf8, size);

  let dates;
  let subject;

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

  // ---- folding -------------------------------------------------------------------------------------------
  let settings = null;
  let fold = null;
  let checkView = null;
  let memo = null;
  let light = true;
  const revised = { __proto__: null, count: 0, values: [], olds: [], added: [], counts: [] };
  let conditions = [];
  let view = null;
  let spoiled = false; // whether a fold that may write to its view was given it, and did not return
  let viewText = 'null';
  let viewBytes = 4;
  let folded = 0;
  let events = [];
  let masks = [];
  let next = 0;
  let stall = null;
  let copied = 0; // how many views of the last run were written out and read back
  // keyframes of the last run: after how many folds, and the view's text; and the milliseconds folded since the one before
  let frames = [];
  let frameFolds = [];
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
      light = control[18] <= LIGHT;
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

  const failed = (thrown, kind) => {
    if (control[2] === WHY_MEMORY) {
      stall = { kind: 'memory' };
      return;
    }
    // set before the error is read, in case the reading is interrupted
    stall = { kind, described: { words: UNREADABLE, line: null } };
    describe(thrown, stall.described);
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

  return {
    // harden the globals; before any of the document's code is read
    harden(text) {
      dates = harden(parse(text), makeDates);
      return '';
    },
    subject(namespace) {
      subject = namespace;
      return '';
    },
    freeze() {
      dates.freeze(subject);
      return '';
    },
    // settings of a fold: {way, folded, schema, schemaOptions, checkpoints, filterCheckpoints, milliseconds, viewBytes}
    setup(text, initial, ...expressions) {
      settings = parse(text);
      fold = subject?.fold ?? null;
      view = parse(initial);
      viewText = stringify(view);
      viewBytes = utf8(viewText);
      spoiled = false;
      light = settings.way === 'fast';
      const unwritten = light || settings.way === 'memo';
      folded = settings.folded;
      sinceFrame = foldsSinceFrame = 0;
      checkView = settings.schema === undefined ? null : makeChecker(settings.schema, { frozen: true, memo: unwritten, revised, ...settings.schemaOptions });
      memo = unwritten ? fitness.makeMemo(new Memory(), revised) : null;
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
    load(page, maskText) {
      events = parse(page);
      masks = parse(maskText);
      next = 0;
      frames = [];
      frameFolds = [];
      return '';
    },
    // Folds on from where the page stands, until its end, the moment given, or `most` folds; the ledger has a row an event.
    // A keyframe is kept after so many folds (`every`), or once the folds since the last took so many milliseconds (`spacing`)
    // and by so many milliseconds a byte (`price`) more than writing this view out; 0: none is kept in that way.
    run(milliseconds, most, every, spacing, price) {
      let moment = now();
      const until = moment + +milliseconds;
      const last = folded + +most;
      const everyFolds = +every;
      const least = +spacing;
      const perByte = +price;
      frames = [];
      frameFolds = [];
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
        const after = now();
        sinceFrame += after - moment;
        moment = after;
        if (folded !== before) {
          foldsSinceFrame++;
          const due = everyFolds > 0 ? foldsSinceFrame >= everyFolds : least > 0 && sinceFrame >= least && sinceFrame >= perByte * viewBytes;
          if (due) {
            apply(push, frames, [written()]);
            apply(push, frameFolds, [folded]);
            kept += viewText.length;
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
      return stringify({ next, folded, ended, stall, copied, frames: frames.length });
    },
    // After an interruption: where the page stands, and what was known of the stall.
    state() {
      unbounded();
      return stringify({ next, folded, ended: 'interrupted', stall, copied, frames: 0 });
    },
    frames: () => (frames.length === 0 ? '' : stringify(frameFolds) + '\n' + apply(join, frames, ['\n'])),
    view: written,

    // ---- runs: one call of an exported function, or of a function given, under its bounds -----------------
    // settings: {name, checkpoints, milliseconds, moment, outputBytes, parsed}
    invoke(text, ...texts) {
      const wanted = parse(text);
      settings = wanted;
      dates.setMoment(wanted.moment);
      const target = subject[wanted.name];
      const values = [];
      for (let i = 0; i < texts.length; i++) apply(push, values, [parse(texts[i])]);
      const single = values.length === 1;
      let value;
      let left;
      let count;
      let raised = false;
      control[11] = PHASE.fold;
      begin(wanted.checkpoints, wanted.milliseconds);
      const start = time[3];
      try {
        // the choice is made before the counter is set: it would cost steps of its own
        if (single) {
          counter[0] = PERIOD;
          value = target(values[0]);
          left = counter[0];
          count = control[0];
          control[1] = -1;
        } else {
          counter[0] = PERIOD;
          value = target(values[0], values[1]);
          left = counter[0];
          count = control[0];
          control[1] = -1;
        }
      } catch (thrown) {
        left = counter[0];
        count = control[0];
        raised = true;
        value = thrown;
      }
      control[1] = -1;
      tick();
      const steps = count * PERIOD + (PERIOD - left);
      const spent = { steps, checkpoints: count, milliseconds: time[3] - start };
      if (control[2] === WHY_MEMORY) return fitness.text({ ...spent, kind: 'memory' });
      if (raised) {
        stall = null;
        failed(value, 'raised');
        return fitness.text({ ...spent, ...stall });
      }
      let written;
      control[11] = PHASE.check;
      control[0] = 0;
      control[1] = WRITING;
      try {
        written = fitness.write(value);
        if (control[2] === WHY_MEMORY) return fitness.text({ ...spent, kind: 'memory' });
        if (written.text === undefined) return fitness.text({ ...spent, kind: 'unfit', unfit: written });
      } catch (thrown) {
        stall = null;
        failed(thrown, 'unfit');
        return fitness.text({ ...spent, ...stall });
      }
      unbounded();
      const bytes = utf8(written.text);
      if (bytes > wanted.outputBytes) return fitness.text({ ...spent, kind: 'size', bytes });
      return fitness.text({ ...spent, bytes }) + '\n' + written.text;
    },
    // Calls a function of the host's own with texts; its value is a text.
    guard(target, text, ...texts) {
      const wanted = parse(text);
      control[11] = PHASE.fold;
      settings = wanted;
      begin(wanted.checkpoints, wanted.milliseconds);
      try {
        const value = apply(target, undefined, texts);
        unbounded();
        return '+' + value;
      } catch (thrown) {
        control[1] = -1;
        if (control[2] === WHY_MEMORY) return fitness.text({ kind: 'memory' });
        stall = null;
        failed(thrown, 'raised');
        unbounded();
        return fitness.text(stall);
      }
    },
  };
}
