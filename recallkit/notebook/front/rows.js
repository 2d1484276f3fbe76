// A tree of JSON on the page, opened on demand. From one place to the next most rows are the same: those stay as they are.

import { button, count, h, icon, plural, settle } from "./dom.js";
import { joinPath } from "./tree.js";

const MARKS = { added: ["+", "added"], changed: ["~", "changed"], removed: ["−", "removed"], inside: ["•", "changed inside"] };

export function mark(name) {
  const [sign, words] = MARKS[name];
  return h("span", { class: `rk-mark rk-${name}`, title: words }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "rk-hidden" }, ` ${words} `));
}

const value = (kind, text) => h("span", { class: `rk-value rk-${kind}` }, text);

function summary(row) {
  const noun = row.kind === "array" ? "item" : "member";
  return h("span", { class: "rk-count" }, row.kind === "array" ? `[${plural(row.count, noun)}]` : `{${plural(row.count, noun)}}`);
}

export class TreeView {
  /** @param acts toggle(path, opened), page(path, offset), pin(path) or null where nothing can be pinned. */
  constructor(name, acts) {
    this.name = name;
    this.acts = acts;
    this.kept = new Map();
    this.next = new Map();
    this.element = h("div", { class: "rk-scroll" });
  }

  /** Show branches; with `reveal` the first row that was added, changed or removed is scrolled to. */
  show(found, reveal = false) {
    const branches = new Map(found.map((each) => [each.path, each]));
    const root = branches.get("");
    settle(this.element, [root ? this.list(root, branches) : h("p", { class: "rk-quiet" }, "nothing to open")]);
    this.kept = this.next;
    this.next = new Map();
    if (reveal) this.reveal();
  }

  /** Show something in place of a tree. */
  say(node) {
    this.kept.clear();
    this.element.replaceChildren(node);
  }

  reveal() {
    const box = this.element;
    const row = box.querySelector(".rk-row-added, .rk-row-changed, .rk-row-removed");
    if (!row) return;
    const { top, bottom } = row.getBoundingClientRect();
    const room = box.getBoundingClientRect();
    if (top < room.top || Math.min(bottom, top + 40) > room.bottom) box.scrollTop += top - room.top - room.height / 3;
  }

  /** The element made earlier under this name where it would be made alike, else a new one. */
  keep(id, sign, make) {
    const old = this.kept.get(id);
    const entry = old?.sign === sign ? old : { sign, node: make() };
    this.next.set(id, entry);
    return entry.node;
  }

  list(branch, branches) {
    const { path } = branch;
    const rows = [];
    if (branch.piece !== undefined) {
      const piece = h("pre", { class: "rk-piece", tabindex: 0, "aria-label": `text at ${path}` }, branch.piece);
      rows.push(this.keep(`piece ${path}`, JSON.stringify(branch), () => h("li", {}, piece, this.pager(branch, 2000, "characters"))));
    } else {
      if (!branch.total) rows.push(h("li", { class: "rk-quiet" }, branch.kind === "array" ? "[ ] empty" : "{ } empty"));
      for (const row of branch.rows) rows.push(this.item(row, joinPath(path, row.key), branches));
      for (const row of branch.gone ?? []) {
        rows.push(h("li", { class: "rk-row rk-row-removed" }, h("span", { class: "rk-room" }), mark("removed"), h("del", {}, h("span", { class: "rk-key" }, String(row.key)), ": ", row.text)));
      }
      if (branch.total > branch.rows.length) {
        const place = JSON.stringify([branch.offset, branch.total]);
        rows.push(this.keep(`pager ${path}`, place, () => h("li", {}, this.pager(branch, 50, "rows"))));
      }
    }
    const list = this.keep(`list ${path}`, "", () => h("ul", { class: "rk-tree", "aria-label": path === "" ? this.name : undefined }));
    settle(list, rows);
    return list;
  }

  item(row, path, branches) {
    const inner = branches.get(path);
    const item = this.keep(`item ${path}`, "", () => h("li"));
    item.className = `rk-row${row.mark ? ` rk-row-${row.mark}` : ""}`;
    const line = this.keep(`line ${path}`, JSON.stringify([row, Boolean(inner)]), () => this.line(row, path, Boolean(inner)));
    settle(item, inner ? [line, this.list(inner, branches)] : [line]);
    return item;
  }

  line(row, path, opened) {
    const { acts, name } = this;
    const toggle = row.opens
      ? h("button", { type: "button", class: `rk-toggle${opened ? " rk-open" : ""}`, "aria-expanded": opened ? "true" : "false", "aria-label": `${opened ? "Close" : "Open"} ${path}`, "data-focus": `${name} ${path}`, onclick: () => acts.toggle(path, opened) }, icon("open"))
      : h("span", { class: "rk-room" });
    const shown = opened && row.kind !== "string" ? null : row.text ? value(row.kind, row.text) : null;
    return h(
      "div",
      { class: "rk-line-of" },
      toggle,
      row.mark ? mark(row.mark) : null,
      h("span", { class: "rk-key" }, String(row.key)),
      h("span", { class: "rk-colon" }, ":"),
      row.count === undefined ? null : summary(row),
      shown,
      acts.pin ? h("button", { type: "button", class: "rk-pin", "aria-label": `Pin ${path}`, title: `Follow ${path} through time`, "data-focus": `pin ${path}`, onclick: () => acts.pin(path) }, icon("pin")) : null,
    );
  }

  pager(branch, size, noun) {
    const end = Math.min(branch.total, branch.offset + size);
    const go = (offset) => () => this.acts.page(branch.path, offset);
    const attributes = (name, off) => ({ "data-focus": `${name} ${branch.path}`, disabled: off });
    return h(
      "div",
      { class: "rk-pager" },
      button(`Earlier ${noun} of ${branch.path || "the whole"}`, "back", go(branch.offset - size), attributes("earlier", branch.offset === 0)),
      h("span", {}, `${count(branch.offset + 1)} to ${count(end)} of ${count(branch.total)} ${noun}`),
      button(`Later ${noun} of ${branch.path || "the whole"}`, "next", go(branch.offset + size), attributes("later", end >= branch.total)),
    );
  }
}
