// Elements, made without markup: whatever strangers' data holds becomes text, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, contents) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...contents.flat().filter((each) => each !== null && each !== undefined));
  return element;
}

export const h = (tag, attributes = {}, ...contents) => filled(document.createElement(tag), attributes, contents);
export const svg = (tag, attributes = {}, ...contents) => filled(document.createElementNS(SVG, tag), attributes, contents);

/** A picture for a button: drawn, since a font's own signs differ from machine to machine. */
export function icon(name) {
  const paths = {
    first: "M4 3h2v10H4zM13 3v10L6.5 8z",
    back: "M11.5 3v10L5 8z",
    play: "M4.5 2.5v11L13 8z",
    pause: "M4 3h3v10H4zM9 3h3v10H9z",
    next: "M4.5 3v10L11 8z",
    last: "M10 3h2v10h-2zM3 3v10l6.5-5z",
    pin: "M8 1.5a4.2 4.2 0 0 0-4.2 4.2C3.800 9 8 14.500 8 14.500S12.200 9 12.200 5.700A4.200 4.200 0 0 0 8 1.500zm0 2.600a1.600 1.600 0 1 1 0 3.200 1.600 1.600 0 0 1 0-3.200z",
    up: "M8 4.500 13 11H3z",
    down: "M8 11.500 3 5h10z",
    open: "M6 3.500 10.500 8 6 12.500z",
    close: "M4 4l8 8M12 4l-8 8",
  };
  const drawn = { d: paths[name] };
  if (name === "close") Object.assign(drawn, { fill: "none", stroke: "currentColor", "stroke-width": 1.6 });
  return svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true", class: "rk-icon" }, svg("path", drawn));
}

export function button(label, name, onclick, attributes = {}) {
  return h("button", { type: "button", class: "rk-button", "aria-label": label, title: label, onclick, ...attributes }, icon(name));
}

/** Give an element these children; those that it has already are not touched. */
export function settle(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}

const grouped = new Intl.NumberFormat("en-US");
export const count = (number) => grouped.format(number);
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

export function share(part, whole) {
  const percent = (100 * part) / whole;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "< 0.1 %";
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

export function duration(microseconds) {
  if (microseconds === null) return "not measured";
  if (microseconds < 1000) return `${microseconds.toFixed(0)} µs`;
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(microseconds < 1e4 ? 1 : 0)} ms`;
  return `${(microseconds / 1e6).toFixed(1)} s`;
}

/** Follow the page's light or dark: what is really behind the element decides, in every front end. */
export function followTheme(element) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    let dark = media.matches;
    for (let up = element.parentElement; up; up = up.parentElement) {
      const parts = getComputedStyle(up).backgroundColor.match(/[\d.]+/g)?.map(Number) ?? [];
      if (parts.length >= 3 && (parts.length < 4 || parts[3] > 0.5)) {
        dark = 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] < 128;
        break;
      }
    }
    element.dataset.theme = dark ? "dark" : "light";
  };
  const later = () => setTimeout(apply, 60);
  const observer = new MutationObserver(later);
  for (const each of [document.documentElement, document.body]) {
    observer.observe(each, { attributes: true, attributeFilter: ["class", "style", "data-theme", "theme", "data-jp-theme-light", "data-jp-theme-name"] });
  }
  media.addEventListener("change", later);
  apply();
  later();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", later);
  };
}
