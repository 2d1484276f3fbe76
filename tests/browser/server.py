"""JupyterLab on loopback over a folder, in a theme: for the browser's tests and its benchmark."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
# Chromium that resolves no name: whatever a page asks of the network fails.
OFFLINE = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]


def chromium() -> str | None:
    """Return the path of Debian's Chromium; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def start(home: Path, notebook: str, theme: str = "light") -> tuple[subprocess.Popen[bytes], str]:
    """Start JupyterLab over `home`; return its process and the address of a notebook in that folder."""
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
            return process, f"http://127.0.0.1:{port}/lab/tree/{notebook}?reset"
    process.terminate()
    raise AssertionError("JupyterLab did not start")


def run_all(page: Any, seconds: int = 120) -> None:
    """Run the open notebook from top to bottom and wait for its scrubber and its last cell."""
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
    page.get_by_text("| Idle").first.wait_for(timeout=90_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_selector(".rk-scrubber[data-shown]", timeout=1_000 * seconds)
    page.wait_for_function(
        "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every((each) =>"
        " /^\\[\\d+\\]:$/.test(each.textContent.trim()))",
        timeout=1_000 * seconds,
    )
