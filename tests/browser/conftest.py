"""A real browser, without a network: Debian's Chromium, driven by Playwright; skipped where either is absent."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from browser.server import OFFLINE, ROOT, chromium, start

# Looked at by people and kept by CI; never committed.
ARTEFACTS = ROOT / "tests" / "artefacts"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium that resolves no name: whatever a page asks of the network fails."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium here")
    ARTEFACTS.mkdir(exist_ok=True)
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=OFFLINE)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open a page in a window; at the end nothing may have failed in it or asked for anything outside this machine."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def outside(request: Any) -> None:
        if not request.url.startswith(("file://", "data:", "blob:", "http://127.0.0.1:")):
            wrong.append(f"asked for {request.url}")

    def opened(address: str, *, theme: str = "light", width: int = 1200, height: int = 1000) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"raised {error}"))
        page.on("dialog", lambda dialog: (wrong.append(f"opened a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", outside)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """JupyterLab on loopback, in a theme; gives the address of the tour."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    servers: dict[str, tuple[subprocess.Popen[bytes], str]] = {}

    def serve(theme: str) -> str:
        if theme not in servers:
            home = tmp_path_factory.mktemp(f"lab-{theme}")
            shutil.copy(ROOT / "notebooks" / "01-tour.ipynb", home)
            servers[theme] = start(home, "01-tour.ipynb", theme)
        return servers[theme][1]

    yield serve
    for process, _ in servers.values():
        process.terminate()
        process.wait(30)
