// Asks a far kernel for the places beside the one that is shown, before a person goes there.

const KEPT = 6;
const REST = 300;

export class Ahead {
  /** @param source what answers; a near one (inside the page) is asked only when something is wanted. */
  constructor(source) {
    this.source = source;
    this.asked = new Map();
    this.step = 0;
    this.at = null;
    this.timer = null;
  }

  /** Ask for a moment: at once where it was asked for before. */
  async moment(request) {
    clearTimeout(this.timer);
    const reply = await this.ask(request);
    if (reply.error) this.clear();
    return reply;
  }

  ask(request) {
    const key = JSON.stringify(request);
    const reply = this.asked.get(key) ?? this.source.ask(request);
    this.asked.delete(key);
    this.asked.set(key, reply);
    while (this.asked.size > KEPT) this.asked.delete(this.asked.keys().next().value);
    return reply;
  }

  /** After a place was shown: ask for the next one where a person goes evenly, for both neighbours once they rest. */
  shown(request, { first, last }) {
    if (!this.source.far) return;
    const { n } = request;
    const step = this.at === null ? 0 : n - this.at;
    const even = step !== 0 && (step === this.step || Math.abs(step) === 1);
    if (step !== 0) this.step = step;
    this.at = n;
    const ask = (steps, wait) => {
      const [place, ...rest] = steps.map((each) => n + each).filter((each) => each >= first && each <= last);
      if (place === undefined) return;
      this.timer = setTimeout(async () => {
        await this.ask({ ...request, n: place });
        if (this.at === n) ask(rest.map((each) => each - n), REST);
      }, wait);
    };
    clearTimeout(this.timer);
    ask([...new Set(even ? [this.step, 1, -1] : [1, -1])], even ? 0 : REST);
  }

  /** Forget what was asked for: the answers would now be others. */
  clear() {
    clearTimeout(this.timer);
    this.asked.clear();
  }
}
