"""The tour in JupyterLab, run and scrubbed in a real browser with the network cut, in both themes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scrubbed import reviews

from browser.conftest import ARTEFACTS
from browser.seen import Seen
from browser.server import run_all

pytestmark = pytest.mark.slow


@pytest.mark.timeout(400)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tour(open_page: Callable[..., Any], lab: Callable[[str], str], theme: str) -> None:
    # The browser's own preference is the other one: it is the Lab's theme that counts.
    page = open_page(lab(theme), theme="dark" if theme == "light" else "light", width=1100, height=1300)
    run_all(page)
    page.keyboard.press("Control+b")
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    seen = Seen(page, reviews())
    seen.root.scroll_into_view_if_needed()
    seen.check(81)
    seen.focus_slider()
    page.keyboard.press("Home")
    seen.at(0)
    for number in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        seen.check(number)
    page.keyboard.press("PageUp")
    seen.check(13)
    box = seen.root.locator(".rk-strip-drawing").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.52, box["y"] + 30)
    seen.check(round(0.52 * 81))
    page.mouse.move(box["x"] + box["width"] * 0.52, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 30, steps=15)
    page.mouse.up()
    seen.check(round(0.9 * 81))
    seen.named("Next event").focus()
    page.keyboard.press("Enter")
    seen.check(round(0.9 * 81) + 1)
    # and it stays there: the place that the kernel is told never pulls a person back
    page.wait_for_timeout(700)
    seen.check(round(0.9 * 81) + 1)
    # Enter in the number field seeks; JupyterLab would take it for itself
    seen.named("Go to event").fill("33")
    page.keyboard.press("Enter")
    seen.check(33)
    # the notebook's own keys did nothing meanwhile: no cell was added, none deleted
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert seen.root.get_attribute("data-theme") == theme
    seen.root.screenshot(path=ARTEFACTS / f"lab-scrubber-{theme}.png")
    chart = page.locator("svg[aria-label^='Chart size']").first
    chart.scroll_into_view_if_needed()
    assert chart.bounding_box()["height"] > 150
    page.screenshot(path=ARTEFACTS / f"lab-charts-{theme}.png")
    page.locator(".recallkit").first.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / f"lab-function-{theme}.png")
    page.locator(".recallkit", has_text="Refused").first.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / f"lab-refused-{theme}.png")


@pytest.mark.timeout(400)
def test_at_800_pixels(open_page: Callable[..., Any], lab: Callable[[str], str]) -> None:
    page = open_page(lab("light"), width=800, height=1500)
    run_all(page)
    page.keyboard.press("Control+b")  # the file browser makes room, as a person would
    page.wait_for_timeout(500)
    seen = Seen(page, reviews())
    seen.root.scroll_into_view_if_needed()
    seen.check(81)
    seen.root.screenshot(path=ARTEFACTS / "lab-scrubber-800-light.png")
    assert seen.root.evaluate("(root) => root.scrollWidth <= root.clientWidth + 1")
