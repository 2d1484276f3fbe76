"""A saved page, opened from a file in a real browser with the network cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrubbed import reviews, stalled

from browser.conftest import ARTEFACTS
from browser.seen import Seen

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    return reviews().scrub().save(tmp_path_factory.mktemp("page") / "page.html").as_uri()


def test_keys(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    seen = Seen(page, reviews())
    seen.check(1)
    seen.focus_slider()
    for key, number in (("End", 81), ("ArrowLeft", 80), ("ArrowLeft", 79), ("ArrowRight", 80), ("PageDown", 70)):
        page.keyboard.press(key)
        seen.check(number)
    page.keyboard.press("PageUp")
    seen.check(80)
    page.keyboard.press("Home")
    seen.at(0)
    assert seen.root.get_by_text("The initial view").is_visible()
    # fast: only the newest wish is shown, and nothing is lost
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    seen.check(40)


def test_mouse(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    seen = Seen(page, reviews()).at(1)
    box = seen.root.locator(".rk-strip-drawing").bounding_box()
    x, y = box["x"] + box["width"] * 0.52, box["y"] + 30
    page.mouse.move(x, y)
    assert "bytes" in seen.root.locator(".rk-tip").inner_text()
    page.mouse.click(x, y)
    seen.check(round(0.52 * 81))
    page.mouse.move(box["x"] + box["width"] * 0.2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, y, steps=12)
    page.mouse.up()
    seen.check(round(0.75 * 81))
    seen.named("Previous event").click()
    seen.check(round(0.75 * 81) - 1)
    seen.named("Last").click()
    seen.check(81)


def test_the_number_field_and_play(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    seen = Seen(page, reviews()).at(1)
    seen.named("Go to event").fill("33")
    page.keyboard.press("Enter")
    seen.check(33)
    seen.named("Speed").select_option("0")
    seen.named("Play").click()
    seen.check(81)
    assert seen.named("Play").is_visible()


def test_the_tree_opens_on_demand(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    seen = Seen(page, reviews()).at(1)
    seen.focus_slider()
    page.keyboard.press("End")
    seen.at(81)
    seen.named("Open /spring-sale").click()
    seen.named("Open /spring-sale/0").press("Enter")
    verdict = reviews().view["spring-sale"][0]["verdict"]
    seen.root.get_by_text(verdict).first.wait_for()
    # the focus stays where the person was
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Close /spring-sale/0"
    seen.named("Close /spring-sale").click()
    seen.root.get_by_role("button", name="Close /spring-sale/0").wait_for(state="detached")


def test_what_changed_is_in_sight(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    seen = Seen(page, reviews()).at(1)
    seen.focus_slider()
    page.keyboard.press("End")
    seen.check(81)
    seen.named("Open /spring-sale").click()
    page.keyboard.press("ArrowLeft")
    seen.check(80)
    hidden = """(box) => {
        const row = box.querySelector('.rk-row-added, .rk-row-changed, .rk-row-removed').getBoundingClientRect();
        const room = box.getBoundingClientRect();
        return row.top < room.top || row.top > room.bottom - 10;
    }"""
    assert not seen.root.locator(".rk-scroll", has=page.locator("[aria-label=view]")).first.evaluate(hidden)


def test_rows_that_stay_the_same_are_not_drawn_again(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(f"{saved}#event=42")
    seen = Seen(page, reviews()).at(42)
    seen.root.evaluate("(root) => root.querySelectorAll('.rk-line-of').forEach((each) => (each.marked = true))")
    seen.focus_slider()
    page.keyboard.press("ArrowRight")
    seen.check(43)
    kept = seen.root.evaluate(
        "(root) => [...root.querySelectorAll('.rk-line-of')].filter((each) => each.marked).length"
    )
    assert kept > 3


def test_search_and_pin(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    seen = Seen(page, reviews()).at(1)
    texts = {n: reviews().history.text(reviews().at(n).seq) for n in range(1, 82)}
    wanted = [n for n in texts if "summer-launch" in texts[n] and n > 1]
    seen.named("Search in events").fill("summer-launch")
    for number in wanted[:3]:
        page.keyboard.press("Enter")
        seen.check(number)
    seen.named("Pin /summer-launch").click()
    seen.root.get_by_role("region", name="Pinned path /summer-launch", exact=True).wait_for()
    before = seen.root.get_attribute("data-shown")
    assert before == str(wanted[2])
    seen.named("Previous such event").click()
    seen.at(wanted[1])
    pinned = seen.root.locator(".rk-pinned")
    values = [reviews().at(n).view.get("summer-launch") for n in range(82)]
    changes = sum(values[n] != values[n - 1] for n in range(1, 82))
    pinned.get_by_text(f"{changes} changes").wait_for()
    pinned.scroll_into_view_if_needed()
    page.screenshot(path=ARTEFACTS / "saved-page-pinned-light.png", full_page=True)
    seen.named("Unpin").click()
    pinned.wait_for(state="detached")


def test_a_stall_is_told_where_it_is(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(stalled().scrub().save(tmp_path / "page.html").as_uri(), width=800, theme="dark")
    seen = Seen(page, stalled()).at(1)
    seen.focus_slider()
    page.keyboard.press("End")
    seen.at(stalled().folded + 1)
    told = seen.root.get_by_role("alert").inner_text()
    assert f"line {stalled().stall.line}" in told
    assert "<img src=x onerror=alert(1)></script><script>alert(1)</script>" in told
    assert page.locator("img").count() == 0
    page.screenshot(path=ARTEFACTS / "saved-page-stall-800-dark.png", full_page=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 800, 480])
def test_nothing_is_cut_off(open_page: Callable[..., Any], saved: str, theme: str, width: int) -> None:
    page = open_page(f"{saved}#event=42", theme=theme, width=width)
    seen = Seen(page, reviews())
    seen.check(42)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.wait_for_timeout(150)
    assert seen.root.get_attribute("data-theme") == theme
    page.screenshot(path=ARTEFACTS / f"saved-page-{width}-{theme}.png", full_page=True)


def test_the_page_has_one_heading_with_the_function_in_it(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(saved)
    Seen(page, reviews()).at(1)
    headings = page.get_by_role("heading", level=1)
    assert headings.count() == 1
    assert "campaign-reviews" in headings.inner_text()


def test_every_control_has_a_name(open_page: Callable[..., Any], saved: str) -> None:
    page = open_page(f"{saved}#event=42")
    Seen(page, reviews()).at(42)
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter((each) =>"
        " !each.getAttribute('aria-label') && !each.textContent.trim() && !each.closest('label')).length"
    )
    assert nameless == 0


def contrast(colours: list[list[float]]) -> float:
    def light(colour: list[float]) -> float:
        linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted(map(light, colours), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(open_page: Callable[..., Any], saved: str, theme: str) -> None:
    page = open_page(f"{saved}#event=42", theme=theme)
    seen = Seen(page, reviews()).at(42)
    page.wait_for_timeout(200)
    read = "(each) => getComputedStyle(each).{}.match(/[\\d.]+/g).map(Number)"
    back = seen.root.evaluate(read.format("backgroundColor"))
    for what in (
        ".rk-words",
        ".rk-key",
        ".rk-string",
        ".rk-count",
        ".rk-path",
        ".rk-state",
        ".rk-mark",
        ".rk-meter-words",
    ):
        colour = seen.root.locator(what).first.evaluate(read.format("color"))
        assert contrast([colour, back]) >= 4.5, what
