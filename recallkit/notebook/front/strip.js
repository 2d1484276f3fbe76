// The whole history at a glance: the view's bytes above, the work of each fold below, the stall where it is.

import { count, h, share, svg } from "./dom.js";

const WIDTH = 800;
const BYTES_TOP = 12;
const BYTES_HEIGHT = 46;
const STEPS_TOP = 66;
const STEPS_HEIGHT = 20;
const HEIGHT = 88;

export class Strip {
  /** @param seek called with the number of folded events that was clicked or dragged to. */
  constructor(head, seek) {
    this.head = head;
    this.seek = seek;
    // Over the drawing, not in it: a step moves it and draws nothing anew.
    this.cursor = h("div", { class: "rk-place-mark" });
    this.tip = h("div", { class: "rk-tip", hidden: true });
    this.drawing = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "rk-strip-drawing", "aria-hidden": "true" },
      ...this.shapes(),
    );
    const label = this.label();
    this.element = h("div", { class: "rk-strip", role: "img", "aria-label": label }, this.drawing, ...this.notes(), h("div", { class: "rk-place-room" }, this.cursor), this.tip);
    this.listen();
  }

  x(number) {
    const { first, last } = this.head;
    return last === first ? 0 : ((number - first) / (last - first)) * WIDTH;
  }

  shapes() {
    const { strip, bounds, stall, last } = this.head;
    const { starts, low, high, steps } = strip;
    // Where the view comes near its bound the bound is in the picture; a small view fills the picture by itself.
    this.near = strip.peak.bytes > bounds.bytes / 4;
    const most = this.near ? bounds.bytes : Math.max(1, strip.peak.bytes);
    const y = (bytes) => BYTES_TOP + BYTES_HEIGHT * (1 - Math.min(1, bytes / most));
    const xs = starts.map((start) => this.x(start));
    const ends = xs.map((_, at) => xs[at + 1] ?? WIDTH);
    const tops = high.map((bytes, at) => `${xs[at].toFixed(1)},${y(bytes).toFixed(1)} ${ends[at].toFixed(1)},${y(bytes).toFixed(1)}`);
    const bottoms = low.map((bytes, at) => `${ends[at].toFixed(1)},${y(bytes).toFixed(1)} ${xs[at].toFixed(1)},${y(bytes).toFixed(1)}`);
    const floor = BYTES_TOP + BYTES_HEIGHT;
    const area = `M0,${floor} L${tops.join(" ")} L${WIDTH},${floor}Z`;
    const band = `M${tops.join(" ")} L${bottoms.reverse().join(" ")}Z`;
    const work = Math.max(1, strip.most.steps);
    const bars = steps
      .map((spent, at) => [spent, xs[at], Math.max(0.6, (ends[at] - xs[at]) * 0.8)])
      .filter(([spent]) => spent > 0)
      .map(([spent, x, wide]) => {
        const tall = Math.max(0.8, (spent / work) * STEPS_HEIGHT);
        return `M${x.toFixed(1)},${STEPS_TOP + STEPS_HEIGHT}v${-tall.toFixed(1)}h${wide.toFixed(1)}v${tall.toFixed(1)}z`;
      });
    const shapes = [
      svg("path", { class: "rk-area", d: area }),
      svg("path", { class: "rk-line", d: band, "vector-effect": "non-scaling-stroke" }),
      svg("path", { class: "rk-bars", d: bars.join("") }),
      svg("line", { class: "rk-floor", x1: 0, x2: WIDTH, y1: floor, y2: floor, "vector-effect": "non-scaling-stroke" }),
    ];
    if (this.near) {
      const at = y(bounds.bytes);
      shapes.push(svg("line", { class: "rk-bound", x1: 0, x2: WIDTH, y1: at, y2: at, "vector-effect": "non-scaling-stroke" }));
    }
    if (stall) {
      const at = Math.min(WIDTH - 1, this.x(last));
      shapes.push(svg("line", { class: "rk-stall-mark", x1: at, x2: at, y1: 0, y2: HEIGHT, "vector-effect": "non-scaling-stroke" }));
    }
    return shapes;
  }

  notes() {
    const { strip, bounds, stall } = this.head;
    const bytes = `view: peak ${count(strip.peak.bytes)} bytes, ${share(strip.peak.bytes, bounds.bytes)} of ${count(bounds.bytes)}`;
    const work = `work: most ${count(strip.most.steps)} steps a fold, ${share(strip.most.steps, bounds.steps * bounds.checkpoints)} of the bound`;
    return [
      h("span", { class: "rk-note rk-note-bytes" }, bytes),
      h("span", { class: "rk-note rk-note-work" }, work),
      stall ? h("span", { class: "rk-note rk-note-stall" }, `stalled: ${stall.kind}`) : null,
    ].filter(Boolean);
  }

  label() {
    const { strip, bounds, stall, last } = this.head;
    const words = `The history in a strip. The view is largest at event ${count(strip.peak.at)}, ${count(strip.peak.bytes)} of ${count(bounds.bytes)} bytes. `;
    const work = `The most work is at event ${count(strip.most.at)}, ${count(strip.most.steps)} steps.`;
    return words + work + (stall ? ` The view stalled at event ${count(last)}.` : "");
  }

  numberAt(event) {
    const { left, width } = this.drawing.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - left) / Math.max(1, width)));
    return Math.round(this.head.first + part * (this.head.last - this.head.first));
  }

  listen() {
    let held = false;
    this.element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      held = true;
      this.element.setPointerCapture(event.pointerId);
      this.seek(this.numberAt(event));
      event.preventDefault();
    });
    this.element.addEventListener("pointermove", (event) => {
      const number = this.numberAt(event);
      this.hint(number, event);
      if (held) this.seek(number);
    });
    for (const name of ["pointerup", "pointercancel"]) this.element.addEventListener(name, () => (held = false));
    this.element.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  hint(number, event) {
    const { starts, low, high, steps } = this.head.strip;
    let at = starts.findIndex((start) => start > number);
    at = (at < 0 ? starts.length : at) - 1;
    const bytes = low[at] === high[at] ? count(low[at]) : `${count(low[at])} to ${count(high[at])}`;
    this.tip.textContent = `event ${count(number)}: ${bytes} bytes, ${count(steps[at])} steps`;
    this.tip.hidden = false;
    const { left, width } = this.element.getBoundingClientRect();
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(width - wide, event.clientX - left - wide / 2))}px`;
  }

  show(number) {
    this.cursor.style.transform = `translateX(${(this.x(number) / WIDTH) * 100}%)`;
  }
}
