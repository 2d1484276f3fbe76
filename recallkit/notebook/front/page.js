// The scrubber in a saved page.

import { LocalSource } from "./local.js";
import { Scrubber } from "./scrubber.js";

const page = JSON.parse(document.getElementById("fold").textContent);
const place = Number(new URLSearchParams(location.hash.slice(1)).get("event") ?? Number.NaN);
const root = document.getElementById("scrubber");
const moved = (number) => history.replaceState(null, "", `#event=${number}`);
// A page opens at its first event, or where its address says; it tells the story from there.
const position = Number.isInteger(place) ? place : Math.min(page.head.last, page.head.first + 1);
globalThis.scrubber = new Scrubber(root, new LocalSource(page), { position, moved });
