"""What a scrubber shows, read from the page, held against the fold's own data."""

from __future__ import annotations

from typing import Any


class Seen:
    """A scrubber on a page."""

    def __init__(self, page: Any, folding: Any, place: int = 0) -> None:
        self.page = page
        self.folding = folding
        self.root = page.locator(".rk-scrubber").nth(place)

    def at(self, number: int) -> Seen:
        """Wait until a place is shown."""
        try:
            self.page.wait_for_function(
                "([root, n]) => root.dataset.shown === String(n)",
                arg=[self.root.element_handle(), number],
                timeout=20_000,
            )
        except Exception as error:
            told = {name: self.root.get_attribute(f"data-{name}") for name in ("shown", "error")}
            focus = self.page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            raise AssertionError(f"{number} is not shown but {told}; the focus is on {focus}") from error
        return self

    def named(self, name: str) -> Any:
        """The control with an accessible name."""
        for role in ("button", "slider", "spinbutton", "combobox", "searchbox", "checkbox"):
            found = self.root.get_by_role(role, name=name, exact=True)
            if found.count():
                return found.first
        raise AssertionError(f"nothing is named {name}")

    def keys(self) -> list[str]:
        """The names at the first level of the view."""
        level = self.root.locator(".rk-tree[aria-label=view] > .rk-row:not(.rk-row-removed) > .rk-line-of > .rk-key")
        found: list[str] = level.all_text_contents()
        return found

    def meter(self, name: str) -> float:
        """What a bar says."""
        return float(self.root.get_by_role("meter", name=name, exact=True).get_attribute("aria-valuenow"))

    def check(self, number: int) -> None:
        """Hold what is shown at a place to the fold."""
        self.at(number)
        moment = self.folding.at(number)
        row = self.folding.trace.iloc[number - 1]
        assert self.keys() == list(moment.view)[:50]
        assert self.meter("View") == row.view_bytes == moment.bytes
        assert self.meter("Work") == row.steps
        assert self.meter("Memory") == row.memory_bytes
        assert self.named("Events folded").input_value() == str(number)
        assert self.root.locator(".rk-change").count() == min(20, len(moment.patch))
        paths = self.root.locator(".rk-change .rk-path").all_text_contents()
        assert paths == [each["path"] for each in moment.patch][:20]
        event = self.root.locator(".rk-tree[aria-label=event]").inner_text()
        assert moment.event["id"] in event

    def focus_slider(self) -> None:
        self.named("Events folded").focus()
