// The page loop's runs: one call of an exported function, or of a function given, under its bounds; and what comes before.

const running = {
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
