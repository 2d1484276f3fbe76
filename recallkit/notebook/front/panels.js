// The panels beside the trees: what changed, sizes, bars, a pinned path, the stall.

import { button, count, duration, h, plural, share, svg } from "./dom.js";
import { mark } from "./rows.js";
import { joinPath } from "./tree.js";

/** What this event changed, in lines. */
export function changeList(changes, seek) {
  if (!changes.total) return h("p", { class: "rk-quiet" }, "This event left the view as it was.");
  const names = { add: "added", replace: "changed", remove: "removed" };
  const rows = changes.shown.map((each) =>
    h(
      "li",
      { class: "rk-change" },
      mark(names[each.op]),
      h("button", { type: "button", class: "rk-path", title: "Follow this path through time", "data-focus": `change ${each.path}`, onclick: () => seek(each.path) }, each.path || "the whole view"),
      each.was ? h("del", { class: "rk-was" }, each.was) : null,
      each.text ? h("span", { class: "rk-now" }, each.text) : null,
    ),
  );
  const rest = changes.total - changes.shown.length;
  return h("ul", { class: "rk-plain" }, rows, rest ? h("li", { class: "rk-quiet" }, `and ${plural(rest, "more change")}`) : null);
}

/** Which part of the view takes the bytes. */
export function sizeList(sizes, open) {
  const bar = (name, bytes, onclick) => {
    const label = onclick
      ? h("button", { type: "button", class: "rk-path", "data-focus": `size ${name}`, onclick }, name)
      : h("span", { class: "rk-path-quiet" }, name);
    const part = sizes.bytes ? bytes / sizes.bytes : 0;
    const fill = svg("svg", { class: "rk-size-bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: 100 * part, height: 4 }));
    return h("li", { class: "rk-size" }, label, fill, h("span", { class: "rk-number" }, `${count(bytes)} · ${share(bytes, Math.max(1, sizes.bytes))}`));
  };
  const rows = sizes.rows.map((row) => bar(String(row.key), row.bytes, row.opens ? () => open(joinPath(sizes.path, row.key)) : null));
  if (sizes.rest.count) rows.push(bar(`${plural(sizes.rest.count, "other")}`, sizes.rest.bytes, null));
  const up = sizes.path ? button("Sizes one level up", "up", () => open(sizes.path.slice(0, sizes.path.lastIndexOf("/"))), { "data-focus": "size up" }) : null;
  return h("div", {}, h("div", { class: "rk-size-head" }, up, h("span", {}, `${sizes.path || "the whole view"}: ${count(sizes.bytes)} bytes`)), h("ul", { class: "rk-plain" }, rows));
}

/** A bar against a bound. */
export class Meter {
  constructor(name, bound) {
    this.name = name;
    this.bound = bound;
    this.fill = h("div", { class: "rk-fill" });
    this.words = h("span", { class: "rk-meter-words" });
    this.bar = h("div", { class: "rk-bar", role: "meter", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": bound }, this.fill);
    this.element = h("div", { class: "rk-meter" }, h("span", { class: "rk-meter-name" }, name), this.words, this.bar);
  }

  show(amount, words) {
    const part = amount === null ? 0 : amount / this.bound;
    this.fill.style.width = `${Math.min(100, 100 * part)}%`;
    this.fill.className = `rk-fill${part >= 1 ? " rk-over" : part >= 0.8 ? " rk-near" : ""}${part > 0 ? " rk-some" : ""}`;
    this.bar.setAttribute("aria-valuenow", amount === null ? 0 : Math.min(amount, this.bound));
    this.bar.setAttribute("aria-valuetext", words);
    this.words.textContent = words;
  }
}

export function meters(bounds) {
  const bytes = new Meter("View", bounds.bytes);
  const work = new Meter("Work", bounds.checkpoints * bounds.steps);
  const time = new Meter("Time", bounds.seconds * 1e6);
  const memory = new Meter("Memory", bounds.memory);
  const mebibytes = (amount) => (amount / 1048576).toFixed(0);
  return {
    element: h("div", { class: "rk-meters" }, bytes.element, work.element, time.element, memory.element),
    show(moment) {
      const delta = moment.delta ? ` (${moment.delta > 0 ? "+" : "−"}${count(Math.abs(moment.delta))})` : "";
      bytes.show(moment.bytes, `${count(moment.bytes)}${delta} of ${count(bounds.bytes)} bytes, ${share(moment.bytes, bounds.bytes)}`);
      work.show(moment.steps, `${plural(moment.steps, "step")}, ${moment.checkpoints} of ${bounds.checkpoints} checkpoints`);
      time.show(moment.us, moment.us === null ? "no fold here" : `${duration(moment.us)} of ${bounds.seconds} s`);
      memory.show(moment.memory, moment.memory === null ? "no fold here" : `${mebibytes(moment.memory)} of ${mebibytes(bounds.memory)} MiB`);
    },
  };
}

/** The stall, in its words, with the line of the document. */
export function stallBox(stall) {
  const lines = stall.lines.map(({ line, text }) => {
    const here = line === stall.line;
    const indent = text.length - text.trimStart().length;
    const caret = here ? `\n${" ".repeat(7 + indent)}${"^".repeat(Math.max(1, text.trim().length))}` : "";
    return h("span", { class: here ? "rk-code-here" : "" }, `${String(line).padStart(5)}  ${text}${caret}\n`);
  });
  const heaviest = stall.largest.map(({ path, bytes }) => h("li", {}, `${path}: ${count(bytes)} bytes`));
  return h(
    "section",
    { class: "rk-stall", role: "alert", "aria-label": "The stall" },
    h("strong", {}, `Stalled here (${stall.kind})${stall.line === null ? "" : ` on line ${stall.line}`}`),
    h("p", {}, stall.error),
    heaviest.length ? h("ul", { class: "rk-plain" }, heaviest) : null,
    lines.length ? h("pre", { class: "rk-code" }, lines) : null,
    h("p", { class: "rk-quiet" }, "The view below is the one before this event; it stays until the document is corrected."),
  );
}

/** A pinned path: its value here, a line through time, and its changes around this place. */
export function pinBox(pin, trail, head, here, acts) {
  const rows = pin.near.map(([number, text]) =>
    h("li", {}, h("button", { type: "button", class: `rk-path${number === here ? " rk-here" : ""}`, "data-focus": `near ${number}`, onclick: () => acts.seek(number) }, `event ${count(number)}`), " ", h("span", { class: "rk-now" }, text || "absent")),
  );
  const words = !trail ? "following…" : `${trail.exact ? plural(trail.changes, "change") : `${plural(trail.changes, "change")} seen at samples`}${trail.done ? "" : `, followed to event ${count(trail.seen)} so far`}`;
  return h(
    "section",
    { class: "rk-panel rk-pinned", "aria-label": `Pinned path ${pin.path}` },
    h("h3", {}, "Pinned ", h("code", {}, pin.path), h("span", { class: "rk-quiet" }, ` ${words}`), button("Unpin", "close", acts.unpin, { "data-focus": "unpin" })),
    trail ? trailLine(trail, head, here) : null,
    h("p", {}, "here: ", pin.there ? h("span", { class: "rk-now" }, pin.text) : h("span", { class: "rk-quiet" }, "absent")),
    h("ul", { class: "rk-plain rk-near-list" }, rows),
  );
}

function trailLine(trail, head, here) {
  const values = trail.line.map(([, amount]) => amount).filter((amount) => amount !== null);
  const low = Math.min(0, ...values);
  const high = Math.max(low + 1, ...values);
  const x = (number) => (head.last === head.first ? 0 : ((number - head.first) / (head.last - head.first)) * 800);
  const y = (amount) => 2 + 32 * (1 - (amount - low) / (high - low));
  let drawn = "";
  let pen = false;
  trail.line.forEach(([number, amount], at) => {
    if (amount === null) {
      pen = false;
      return;
    }
    const end = x(trail.line[at + 1]?.[0] ?? Math.min(trail.seen, head.last));
    drawn += `${pen ? "L" : "M"}${x(number).toFixed(1)},${y(amount).toFixed(1)}H${end.toFixed(1)}`;
    pen = true;
  });
  const cursor = svg("line", { class: "rk-cursor", x1: x(here), x2: x(here), y1: 0, y2: 36, "vector-effect": "non-scaling-stroke" });
  return svg("svg", { class: "rk-trail", viewBox: "0 0 800 36", preserveAspectRatio: "none", role: "img", "aria-label": `The value through time, from ${low} to ${high}` }, svg("path", { class: "rk-line", d: drawn, "vector-effect": "non-scaling-stroke" }), cursor);
}
