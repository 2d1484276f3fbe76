// The scrubber as a widget: its questions go to the kernel as messages, one reply for each.

import { h } from "./dom.js";
import { Scrubber } from "./scrubber.js";

// A search or a long refold may take a while; a kernel that is gone never answers.
const PATIENCE = 20000;

class KernelSource {
  constructor(model) {
    this.model = model;
    this.head = model.get("head");
    this.far = true;
    this.prefix = Math.random().toString(36).slice(2);
    this.count = 0;
    this.waiting = new Map();
    this.hear = (message) => {
      const settle = this.waiting.get(message?.id);
      if (settle) settle(message.reply);
    };
    model.on("msg:custom", this.hear);
  }

  ask(request) {
    const id = `${this.prefix}-${(this.count += 1)}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle({ error: "The kernel does not answer. Run the cell again to scrub." }), PATIENCE);
      const settle = (reply) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        resolve(reply);
      };
      this.waiting.set(id, settle);
      this.model.send({ id, request });
    });
  }

  close() {
    this.model.off("msg:custom", this.hear);
  }
}

function render({ model, el }) {
  const root = h("div");
  el.append(root);
  const source = new KernelSource(model);
  let timer = null;
  let sent = model.get("position");
  const moved = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Where the person is by now, not where they were: an older place must never pull them back.
      sent = scrubber.wanted;
      if (model.get("position") === sent) return;
      model.set("position", sent);
      model.save_changes();
    }, 200);
  };
  const scrubber = new Scrubber(root, source, { position: sent, moved });
  const told = () => {
    const place = model.get("position");
    if (place === sent) return; // our own word, or its echo
    sent = place;
    scrubber.seek(place);
  };
  model.on("change:position", told);
  return () => {
    clearTimeout(timer);
    model.off("change:position", told);
    scrubber.close();
    source.close();
  };
}

export default { render };
