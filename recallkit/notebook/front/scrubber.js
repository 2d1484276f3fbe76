// The scrubber: what a person does becomes a place to show; the newest wish wins, and what is shown is asked for once.

import { Ahead } from "./ahead.js";
import { button, count, followTheme, h, icon } from "./dom.js";
import { changeList, meters, pinBox, sizeList, stallBox } from "./panels.js";
import { TreeView } from "./rows.js";
import { Strip } from "./strip.js";

const SPEEDS = [[2, "2 events a second"], [10, "10 events a second"], [50, "50 events a second"], [0, "as fast as it folds"]];
const AIMS = [["change", "changed the view"], ["search", "matches the search"], ["pin", "touched the pinned path"]];

export class Scrubber {
  /** @param source `head`, and `ask(request)` that gives a promise of the reply. */
  constructor(root, source, { position, moved = () => {} } = {}) {
    this.source = source;
    this.ahead = new Ahead(source);
    this.head = source.head;
    this.moved = moved;
    this.open = { view: new Map([["", 0]]), event: new Map([["", 0], ["/data", 0]]) };
    this.shut = new Set();
    this.sizes = "";
    this.pin = null;
    this.trail = null;
    this.playing = false;
    this.finding = 0;
    this.shown = null;
    this.wanted = position ?? this.head.last;
    this.asking = false;
    this.root = root;
    this.build();
    this.stopTheme = followTheme(root);
    this.seek(this.wanted);
  }

  build() {
    const { head } = this;
    this.strip = new Strip(head, (number) => this.seek(number));
    this.slider = h("input", { type: "range", class: "rk-slider", min: head.first, max: head.last, step: 1, "aria-label": "Events folded", oninput: () => this.seek(Number(this.slider.value)) });
    this.field = h("input", { type: "number", class: "rk-field", min: head.first, max: head.last, step: 1, "aria-label": "Go to event", onchange: () => this.seek(Number(this.field.value)) });
    this.playButton = button("Play", "play", () => this.play(!this.playing), { "data-key": "play" });
    this.speed = h("select", { class: "rk-select", "aria-label": "Speed" }, SPEEDS.map(([rate, words]) => h("option", { value: rate, selected: rate === 10 }, words)));
    this.aim = h("select", { class: "rk-select", "aria-label": "Go to the event that" }, AIMS.map(([name, words]) => h("option", { value: name }, words)));
    this.query = h("input", { type: "search", class: "rk-search", placeholder: "text in the event", "aria-label": "Search in events", oninput: () => (this.aim.value = "search") });
    this.status = h("span", { class: "rk-status", role: "status" });
    this.follow = h("input", { type: "checkbox", checked: true, onchange: () => this.again() });
    this.meters = meters(head.bounds);
    this.stall = h("div");
    this.viewHead = h("h3");
    this.view = new TreeView("view", this.acts("view"));
    this.event = new TreeView("event", this.acts("event"));
    this.eventHead = h("h3");
    this.changes = h("div", { class: "rk-scroll rk-short" });
    this.sizeBox = h("div", { class: "rk-sizes" });
    this.pinned = h("div");
    const step = (label, name, number) => button(label, name, () => this.seek(number()));
    const controls = h(
      "div",
      { class: "rk-controls", role: "group", "aria-label": "Step and play" },
      step("First", "first", () => head.first),
      step("Previous event", "back", () => this.wanted - 1),
      this.playButton,
      step("Next event", "next", () => this.wanted + 1),
      step("Last", "last", () => head.last),
      h("label", { class: "rk-place" }, "event ", this.field, h("span", {}, ` of ${count(head.last)}`)),
      this.speed,
    );
    const finders = h(
      "div",
      { class: "rk-controls", role: "group", "aria-label": "Find" },
      h("span", { class: "rk-quiet" }, "go to the event that"),
      this.aim,
      this.query,
      button("Previous such event", "up", () => this.find(-1), { "data-key": "before" }),
      button("Next such event", "down", () => this.find(1), { "data-key": "after" }),
      this.status,
    );
    const panel = (title, ...contents) => h("section", { class: "rk-panel" }, title, ...contents);
    this.root.classList.add("rk-scrubber");
    // JupyterLab's own keys would act on the notebook while a person steps through the fold.
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    this.root.setAttribute("tabindex", "-1");
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.replaceChildren(
      h("div", { class: "rk-head" }, h("h2", {}, head.title), h("span", { class: `rk-state rk-state-${head.state}` }, head.state), h("span", { class: "rk-words" }, head.words.replace(/^(live|stalled): /, ""))),
      this.strip.element,
      this.slider,
      h("div", { class: "rk-rows" }, controls, finders),
      this.meters.element,
      this.stall,
      h(
        "div",
        { class: "rk-columns" },
        h("div", { class: "rk-column" }, panel(h("div", { class: "rk-title" }, this.viewHead, h("label", { class: "rk-check" }, this.follow, "open what changed")), this.view.element), this.pinned),
        h(
          "div",
          { class: "rk-column" },
          panel(h("h3", {}, "What this event changed"), this.changes),
          panel(this.eventHead, this.event.element),
          panel(h("h3", {}, "Size by path"), this.sizeBox),
        ),
      ),
    );
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), select");
    if (event.target === this.query && event.key === "Enter") {
      this.find(event.shiftKey ? -1 : 1);
      event.preventDefault();
    }
    if (event.target === this.field && event.key === "Enter") {
      // JupyterLab takes the Enter that would tell of the change.
      this.seek(Number(this.field.value));
      event.preventDefault();
    }
    if (typing) return;
    const { first, last } = this.head;
    const page = Math.max(10, Math.round((last - first) / 20));
    const places = {
      ArrowLeft: this.wanted - 1, ArrowRight: this.wanted + 1, Home: first, End: last,
      PageUp: this.wanted + page, PageDown: this.wanted - page,
    };
    if (event.target === this.slider) Object.assign(places, { ArrowDown: this.wanted - 1, ArrowUp: this.wanted + 1 });
    if (event.key in places) this.seek(places[event.key]);
    else if (event.key === " " && !event.target.closest("button, input[type=checkbox], summary")) this.play(!this.playing);
    else if (event.key === "n") this.find(1);
    else if (event.key === "p") this.find(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show a place. While one is being asked for, only the newest wish is kept. */
  seek(number) {
    if (!Number.isFinite(number)) return Promise.resolve();
    const place = Math.max(this.head.first, Math.min(Math.trunc(number), this.head.last));
    if (place !== this.wanted) this.finding += 1;
    this.wanted = place;
    this.began = performance.now();
    this.mirror(place);
    return this.again();
  }

  again() {
    this.stale = true;
    this.running ??= this.run().finally(() => (this.running = null));
    return this.running;
  }

  async run() {
    while (this.stale) {
      this.stale = false;
      const began = this.began;
      const request = {
        ask: "moment", n: this.wanted, follow: this.follow.checked, sizes: this.sizes, pin: this.pin,
        view: [...this.open.view], event: [...this.open.event],
      };
      const moment = await this.ahead.moment(request);
      if (moment.error) {
        this.status.textContent = moment.error;
        this.root.dataset.error = moment.error;
        return;
      }
      this.show(moment);
      this.root.dataset.shown = moment.n;
      this.root.dataset.milliseconds = (performance.now() - began).toFixed(1);
      if (!this.stale) this.ahead.shown(request, this.head);
    }
    this.moved(this.wanted);
  }

  mirror(place) {
    this.slider.value = place;
    if (document.activeElement !== this.field) this.field.value = place;
    this.slider.setAttribute("aria-valuetext", `event ${count(place)} of ${count(this.head.last)}`);
    this.strip.show(place);
  }

  show(moment) {
    const reveal = this.follow.checked && this.shown?.n !== moment.n;
    this.shown = moment;
    const focus = document.activeElement?.dataset?.focus;
    if (document.activeElement === this.field && Number(this.field.value) !== moment.n) this.field.value = moment.n;
    this.meters.show(moment);
    this.stall.replaceChildren(...(moment.stalled && this.head.stall ? [stallBox(this.head.stall)] : []));
    const { root } = moment;
    const noun = root.kind === "array" ? "items" : "members";
    this.viewHead.textContent = moment.n === 0 ? "The initial view" : `View after event ${count(moment.stalled ? moment.n - 1 : moment.n)}`;
    const branches = moment.view.filter(({ path }) => !this.shut.has(path));
    if (moment.view.length) this.view.show(branches, reveal);
    else this.view.say(h("p", {}, h("span", { class: `rk-value rk-${root.kind}` }, root.text || `${count(root.count)} ${noun}`)));
    this.eventHead.textContent = moment.event === null ? "No event yet" : `Event ${count(moment.n)} · ${count(moment.seq)} in the history`;
    if (moment.event === null) this.event.say(h("p", { class: "rk-quiet" }, "Nothing is folded at 0: the view is the document's initial one."));
    else this.event.show(moment.event);
    this.changes.replaceChildren(
      moment.n === this.head.first
        ? h("p", { class: "rk-quiet" }, "The place to start from.")
        : moment.stalled ? h("p", { class: "rk-quiet" }, "This event changed nothing: its fold failed.") : changeList(moment.changes, (path) => this.setPin(path)),
    );
    if (moment.sizes) this.sizeBox.replaceChildren(sizeList(moment.sizes, (path) => this.setSizes(path)));
    const acts = { seek: (number) => this.seek(number), unpin: () => this.setPin(null) };
    this.pinned.replaceChildren(...(moment.pin ? [pinBox(moment.pin, this.trail, this.head, moment.n, acts)] : []));
    if (focus) [...this.root.querySelectorAll("[data-focus]")].find((each) => each.dataset.focus === focus)?.focus({ preventScroll: true });
  }

  acts(which) {
    const opened = this.open[which];
    return {
      toggle: (path, shut) => {
        if (shut) opened.delete(path);
        else opened.set(path, 0);
        if (which === "view") this.shut[shut ? "add" : "delete"](path);
        this.again();
      },
      page: (path, offset) => {
        opened.set(path, offset);
        if (which === "view") this.follow.checked = false;
        this.again();
      },
      pin: which === "view" ? (path) => this.setPin(path) : null,
    };
  }

  setSizes(path) {
    this.sizes = path;
    this.again();
  }

  async setPin(path) {
    this.pin = path;
    this.trail = null;
    if (path === null) {
      if (this.aim.value === "pin") this.aim.value = "change";
      this.again();
      return;
    }
    this.aim.value = "pin";
    this.again();
    for (;;) {
      const trail = await this.source.ask({ ask: "trail", path });
      if (this.pin !== path || trail.error) return;
      this.trail = trail;
      this.ahead.clear();
      this.again();
      if (trail.done) return;
    }
  }

  async find(step) {
    const what = this.aim.value;
    if (what === "search" && !this.query.value) return this.query.focus();
    if (what === "pin" && this.pin === null) return this.say("Pin a path first: the pin is beside each row of the view.");
    this.finding += 1;
    const ticket = this.finding;
    const request = { ask: "find", what, step, n: this.wanted, query: this.query.value, path: this.pin };
    this.say("looking…");
    for (;;) {
      const reply = await this.source.ask(request);
      if (ticket !== this.finding) return;
      if (reply.error) return this.say(reply.error);
      if (reply.found !== null) {
        this.say("");
        return this.seek(reply.found);
      }
      if (reply.done) return this.say(step > 0 ? "none after this event" : "none before this event");
      request.n = reply.at;
      this.say(`looking, at event ${count(reply.at)}…`);
    }
  }

  say(words) {
    this.status.textContent = words;
  }

  async play(on) {
    if (on === this.playing) return;
    this.playing = on;
    const label = on ? "Pause" : "Play";
    this.playButton.replaceChildren(icon(on ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
    if (!on) return;
    if (this.wanted >= this.head.last) await this.seek(this.head.first);
    while (this.playing && this.root.isConnected) {
      const rate = Number(this.speed.value);
      const began = performance.now();
      await this.seek(this.wanted + 1);
      if (this.wanted >= this.head.last || this.root.dataset.error) break;
      const rest = rate ? 1000 / rate - (performance.now() - began) : 0;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, rest)));
    }
    this.play(false);
  }

  close() {
    this.playing = false;
    this.ahead.clear();
    this.stopTheme();
  }
}
