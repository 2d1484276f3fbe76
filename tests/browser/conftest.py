"""A real browser, without a network: Debian's Chromium, driven by Playwright; skipped where either is absent."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
# Looked at by people and kept by CI; never committed.
ARTEFACTS = ROOT / "tests" / "artefacts"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium that resolves no name: whatever a page asks of the network fails."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium here")
    ARTEFACTS.mkdir(exist_ok=True)
    with sync_api.sync_playwright() as playwright:
        rules = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", rules])
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
            servers[theme] = _start(home, theme)
        return servers[theme][1]

    yield serve
    for process, _ in servers.values():
        process.terminate()
        process.wait(30)


def _start(home: Path, theme: str) -> tuple[subprocess.Popen[bytes], str]:
    shutil.copy(ROOT / "notebooks" / "01-tour.ipynb", home)
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    name = "JupyterLab Dark" if theme == "dark" else "JupyterLab Light"
    (settings / "themes.jupyterlab-settings").write_text(f'{{"theme": "{name}"}}', encoding="utf-8")
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}', encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = dict(os.environ, JUPYTERLAB_SETTINGS_DIR=str(home / "settings"))
    for kind in ("CONFIG", "DATA", "RUNTIME"):
        environment[f"JUPYTER_{kind}_DIR"] = str(home / kind.lower())
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(home / "workspaces")
    if not os.environ.get("RECALLKIT_INSTALLED"):
        environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={home}"]
    log = (home / "lab.log").open("wb")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    log.close()
    for _ in range(240):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api", timeout=5).close()
        except OSError:
            assert process.poll() is None, (home / "lab.log").read_text(encoding="utf-8")[-3_000:]
            time.sleep(0.25)
        else:
            return process, f"http://127.0.0.1:{port}/lab/tree/01-tour.ipynb?reset"
    raise AssertionError("JupyterLab did not start")
