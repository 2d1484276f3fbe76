"""Runs every lesson and says how long each took: ``python scripts/run_lessons.py [--offline] [NOTEBOOK ...]``.

papermill runs them, from a folder that is not theirs. With --offline the lessons' processes have no network but the
machine's own loopback, where the system allows that (Linux with user namespaces); where it does not, it says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Brings the loopback up, which a new network namespace has down, and then becomes the command.
LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
    fcntl.ioctl(made, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
os.execv(sys.argv[1], sys.argv[1:])
"""
RUN = """
import logging, sys, papermill
logging.disable(logging.WARNING)
papermill.execute_notebook(sys.argv[1], sys.argv[2], progress_bar=False, kernel_name="python3", execution_timeout=300)
"""


def cut() -> list[str]:
    """Return the command that cuts a process off the network, or nothing where there is none."""
    command = ["unshare", "--map-root-user", "--net", sys.executable, "-c", LOOPBACK]
    try:
        subprocess.run([*command, sys.executable, "-c", ""], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        print("The network cannot be cut here; the lessons run with it.")
        return []
    return command


def main(arguments: list[str]) -> int:
    """Run the lessons one after the other; the status is the number of those that failed, at most 1."""
    before = cut() if "--offline" in arguments else []
    named = [Path(each).resolve() for each in arguments if not each.startswith("-")]
    failed = []
    with tempfile.TemporaryDirectory(prefix="recallkit-lessons-") as folder:
        environment = {**os.environ, "IPYTHONDIR": str(Path(folder) / "ipython"), "PYTHONWARNINGS": "ignore"}
        for lesson in named or sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
            began = time.monotonic()
            command = [*before, sys.executable, "-c", RUN, str(lesson), str(Path(folder) / lesson.name)]
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900
            )
            size = (Path(folder) / lesson.name).stat().st_size if (Path(folder) / lesson.name).exists() else 0
            state = "fine" if done.returncode == 0 else "FAILED"
            print(f"{lesson.name:<36} {state:<6} {time.monotonic() - began:6.1f} s {size:>9,} bytes", flush=True)
            if done.returncode:
                failed.append(lesson.name)
                print(done.stderr[-3_000:])
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
