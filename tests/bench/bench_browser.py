"""How long a person waits for a step in the scrubber, in a real browser: python tests/bench/bench_browser.py [EVENTS]

JupyterLab in Chromium, a notebook whose cell folds 100,000 events of W1 of ../shared/bench and shows folding.scrub();
then keys and clicks. What is timed is the whole of it, in the page: from the key or the pointer (the event's own clock)
to the frame in which the view of that place is on the screen: through the widget, the kernel, the sandbox and back.
Beside it stand the same steps on a page saved of 5,000 of the events, its size, and how long it takes to open. Between
two steps a person waits 150 ms; "held down" is a key that repeats as fast as the page hears it. Nothing here is
asserted but that every place is shown.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

from bench_fold import machine
from browser.server import OFFLINE, chromium, run_all, start
from reference import ROOT, bench_folder, make_events

SAVED = 5_000
PAUSE = 150

# Heard before the scrubber hears it; the frame after the one in which the place stands in the page is on the screen.
WATCH = """
(root) => {
  const told = { began: null, waiting: [] };
  const begin = (event) => { told.began = event.timeStamp; };
  for (const name of ["keydown", "pointerdown"]) document.addEventListener(name, begin, true);
  new MutationObserver(() => {
    const { began } = told;
    const shown = Number(root.dataset.shown);
    requestAnimationFrame(() => setTimeout(() => {
      const place = told.waiting.findIndex(({ number }) => number === shown);
      if (place < 0) return;
      const [{ settle }] = told.waiting.splice(place, 1);
      settle(performance.now() - began);
    }, 0));
  }).observe(root, { attributes: true, attributeFilter: ["data-shown"] });
  window.shownAt = (number) => new Promise((settle, refuse) => {
    told.waiting.push({ number, settle });
    setTimeout(() => refuse(new Error(`${number} was not shown within a minute, but ${root.dataset.shown}`)), 60000);
  });
}
"""
NOTEBOOK = """\
import recallkit as rk
history = rk.read_history("w1.jsonl")
folding = rk.load("campaign-reviews.md").fold(history, progress=False)
folding.scrub()
"""

Figures = dict[str, dict[str, float]]


class Steps:
    """Steps in the scrubber of a page, each timed in the page."""

    def __init__(self, page: Any, last: int) -> None:
        self.page, self.last = page, last
        self.root = page.locator(".rk-scrubber").first
        self.root.evaluate(WATCH)
        self.strip = self.root.locator(".rk-strip-drawing")

    def wait(self, number: int, act: Callable[[], None]) -> float:
        """Act, and return the milliseconds until `number` was on the screen."""
        shown = self.page.evaluate_handle("(number) => ({ done: window.shownAt(number) })", number)
        act()
        took: float = shown.evaluate("({ done }) => done")
        assert self.root.get_attribute("data-shown") == str(number)
        self.page.wait_for_timeout(PAUSE)
        return took

    def focus(self) -> None:
        self.root.get_by_role("slider", name="Events folded").focus()

    def key(self, key: str, number: int) -> float:
        return self.wait(number, lambda: self.page.keyboard.press(key))

    def start_at(self, number: int) -> None:
        """Go there by the number field, untimed."""
        field = self.root.get_by_role("spinbutton", name="Go to event")
        field.fill(str(number))
        self.wait(number, lambda: self.page.keyboard.press("Enter"))
        self.focus()

    def click(self, part: float) -> float:
        """Click at a part of the strip's width."""
        self.strip.scroll_into_view_if_needed()
        box = self.strip.bounding_box()
        x, y = round(box["x"] + part * box["width"]), box["y"] + 40
        number = round((x - box["x"]) / box["width"] * self.last)
        return self.wait(number, lambda: self.page.mouse.click(x, y))

    def held(self, count: int) -> list[float]:
        """Hold the right arrow: how far apart in time the views are on the screen."""
        self.page.evaluate(
            "([root, times]) => { window.seenTimes = times; new MutationObserver(() =>"
            " requestAnimationFrame(() => times.push(performance.now())))"
            ".observe(root, { attributes: true, attributeFilter: ['data-shown'] }); }",
            [self.root.element_handle(), []],
        )
        for _ in range(count):
            self.page.keyboard.down("ArrowRight")
        self.page.keyboard.up("ArrowRight")
        self.page.wait_for_timeout(1_000)
        times: list[float] = self.page.evaluate("window.seenTimes")
        return [after - before for before, after in itertools.pairwise(times)]

    def measure(self, count: int) -> Iterator[tuple[str, list[float]]]:
        """Take each kind of step `count` times."""
        middle, rng = self.last // 2, random.Random(5)
        page = max(10, round(self.last / 20))
        self.start_at(middle)
        yield "next", [self.key("ArrowRight", middle + 1 + each) for each in range(count)]
        yield "previous", [self.key("ArrowLeft", middle + count - 1 - each) for each in range(count)]
        parts = [rng.random() for _ in range(count)]
        yield "random seek (a click)", [self.click(part) for part in parts]
        self.start_at(0)
        pages = min(count, 19)
        up = [self.key("PageUp", page * (each + 1)) for each in range(pages)]
        yield "page up and down", up + [self.key("PageDown", page * (pages - each - 1)) for each in range(pages)]
        self.start_at(middle)
        ends = [(key, number) for _ in range(max(1, count // 4)) for key, number in (("Home", 0), ("End", self.last))]
        yield "home and end", [self.key(key, number) for key, number in ends]
        self.start_at(middle // 2)
        yield "held down: between views", self.held(2 * count)


def row(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "steps": len(times),
        "median_ms": statistics.median(ordered),
        "p95_ms": ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))],
        "slowest_ms": ordered[-1],
    }


def show(title: str, figures: Figures) -> None:
    print(f"\n{title}\n  {'':26} {'steps':>6} {'median':>9} {'p95':>9} {'slowest':>9}")
    for name, each in figures.items():
        times = "".join(f" {each[key]:6,.0f} ms" for key in ("median_ms", "p95_ms", "slowest_ms"))
        print(f"  {name:26} {each['steps']:6.0f}{times}")


def in_lab(browser: Any, home: Path, events: int, count: int) -> Figures:
    """Fold in a notebook's cell and step through it in JupyterLab."""
    import nbformat

    document = (ROOT / "notebooks" / "functions" / "campaign-reviews.md").read_bytes()
    (home / "campaign-reviews.md").write_bytes(document)
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    made.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "Python 3"}
    nbformat.write(made, home / "w1.ipynb")
    process, address = start(home, "w1.ipynb")
    try:
        page = browser.new_page(viewport={"width": 1300, "height": 1200})
        page.goto(address)
        run_all(page, 600)
        page.keyboard.press("Control+b")
        page.wait_for_timeout(1_000)
        return {name: row(times) for name, times in Steps(page, events).measure(count)}
    finally:
        process.terminate()
        process.wait(30)


def on_a_page(browser: Any, folder: Path, count: int) -> tuple[dict[str, float], Figures]:
    """Save a page and step through it; also its size, and how long it takes to open (the median of five)."""
    import recallkit as rk

    history = rk.read_history(folder / "w1.jsonl")
    events = min(SAVED, len(history))
    taken = rk.read_history(history.events.iloc[:events]) if events < len(history) else history
    folding = rk.load(folder / "campaign-reviews.md").fold(taken, progress=False)
    began = time.perf_counter()
    saved = folding.scrub().save(folder / "page.html")
    about = {"events": events, "saving_s": time.perf_counter() - began, "bytes": saved.stat().st_size}
    opened = []
    for _ in range(5):
        page = browser.new_page(viewport={"width": 1300, "height": 1200})
        page.goto(saved.as_uri(), wait_until="commit")
        page.wait_for_selector(".rk-scrubber[data-shown]")
        # from the start of the navigation to the frame that shows the first view
        opened.append(page.evaluate("new Promise((done) => requestAnimationFrame(() => done(performance.now())))"))
        if len(opened) < 5:
            page.close()
    about["opening_ms"] = statistics.median(opened)
    return about, {name: row(times) for name, times in Steps(page, events).measure(count)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", nargs="?", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=40, help="steps of each kind")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    path = chromium()
    if bench_folder() is None or path is None:
        print("This needs ../shared/bench, which makes the events, and Chromium; one is not here.", file=sys.stderr)
        return 2
    from playwright.sync_api import sync_playwright

    print(f"{options.events:,} events of W1, on {machine()}")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_events(home / "w1.jsonl", options.events, 100)
        browser = playwright.chromium.launch(executable_path=path, args=OFFLINE)
        print(f"Chromium {browser.version}, headless")
        lab = in_lab(browser, home, options.events, options.steps)
        show(f"JupyterLab, {options.events:,} events: from the input to the view on the screen", lab)
        about, saved = on_a_page(browser, home, options.steps)
        show(f"a saved page of {about['events']:,.0f} events", saved)
        print(
            f"  {about['bytes']:,.0f} bytes, saved in {about['saving_s']:.1f} s, on the screen "
            f"{about['opening_ms']:,.0f} ms after it was opened (the median of five)"
        )
        browser.close()
    if options.json:
        written = {"machine": machine(), "events": options.events, "lab": lab, "page": about | {"steps": saved}}
        options.json.write_text(json.dumps(written, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
