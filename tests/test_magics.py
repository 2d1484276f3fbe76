"""The magics: what a cell or a line gives, and that a failing one fails its cell in words and without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

import recallkit as rk
from recallkit.magics import MagicFailed

pytest.importorskip("IPython")

SUM = """---
language: typescript
source: { events: [{ type: tick }] }
view: { initial: 0 }
---
export function fold(view: View, event: Event): View {
  if (event.subject === 'bad') throw new Error('a bad one');
  return (typeof view === 'number' ? view : 0) + 1;
}
"""
TWICE = """---
language: typescript
input: { schema: { type: integer } }
---
export default function (input: Input): Output {
  return 2 * input;
}
"""


def ticks(*subjects: str) -> list[dict[str, Any]]:
    return [
        {"specversion": "1.0", "id": str(number), "type": "tick", "source": "/t", "subject": subject}
        for number, subject in enumerate(subjects)
    ]


@pytest.fixture(scope="module")
def made() -> Any:
    from IPython.terminal.interactiveshell import TerminalInteractiveShell
    from IPython.testing.globalipapp import start_ipython

    shell: Any = start_ipython() or TerminalInteractiveShell.instance()
    shell.run_line_magic("load_ext", "recallkit")
    return shell


@pytest.fixture
def shell(made: Any) -> Any:
    made.user_ns.update(events=ticks("a", "b", "c"), bad_events=ticks("a", "bad", "c"))
    for name in ("ticks_seen", "h", "f"):
        made.user_ns.pop(name, None)
    return made


def cell(shell: Any, source: str) -> BaseException | None:
    """Run a cell as a notebook does; gives what it failed with."""
    result = shell.run_cell(source)
    error: BaseException | None = result.error_before_exec or result.error_in_exec
    return error


class TestDocuments:
    def test_a_cell_is_the_document_and_its_name_the_function(self, shell: Any, capsys: Any) -> None:
        assert cell(shell, f"%%recall ticks-seen\n{SUM}") is None
        function = shell.user_ns["ticks_seen"]
        assert isinstance(function, rk.RecallFunction)
        assert function.name == "ticks-seen"
        assert function.source == SUM
        assert function.fold(ticks("a", "b")).view == 2
        assert "ticks_seen: fine, a recall function" in capsys.readouterr().out

    def test_an_underscore_reads_as_the_playbooks_hyphen(self, shell: Any) -> None:
        assert cell(shell, f"%%recall ticks_seen -q\n{SUM}") is None
        assert shell.user_ns["ticks_seen"].name == "ticks-seen"

    def test_quiet_says_nothing(self, shell: Any, capsys: Any) -> None:
        assert cell(shell, f"%%recall ticks_seen -q\n{SUM}") is None
        assert capsys.readouterr().out == ""

    def test_a_computation_runs(self, shell: Any) -> None:
        assert cell(shell, f"%%computation twice\n{TWICE}") is None
        assert isinstance(shell.user_ns["twice"], rk.ComputationFunction)
        assert shell.user_ns["twice"].run(21).output == 42

    def test_a_refused_document_fails_its_cell_at_the_documents_lines(self, shell: Any, capsys: Any) -> None:
        broken = SUM.replace("+ 1", "+ none")
        line = broken.splitlines().index(next(each for each in broken.splitlines() if "none" in each)) + 1
        error = cell(shell, f"%%recall ticks_seen\n{broken}")
        assert isinstance(error, MagicFailed)
        assert [problem.line for problem in error.problems] == [line]
        told = "\n".join(error._render_traceback_())
        assert f"ticks_seen:{line}:" in told
        assert "Cannot find name 'none'" in told
        assert "Traceback" not in told
        assert "ticks_seen" not in shell.user_ns
        assert "Traceback" not in "".join(capsys.readouterr())

    def test_a_refused_document_leaves_the_earlier_function(self, shell: Any) -> None:
        assert cell(shell, f"%%recall ticks_seen -q\n{SUM}") is None
        kept = shell.user_ns["ticks_seen"]
        assert cell(shell, "%%recall ticks_seen\n---\nlanguage: none\n---\n") is not None
        assert shell.user_ns["ticks_seen"] is kept

    @pytest.mark.parametrize("body", ["\n", "no front matter\n"])
    def test_a_cell_that_is_no_document_is_refused(self, shell: Any, body: str) -> None:
        assert isinstance(cell(shell, f"%%recall ticks_seen\n{body}"), MagicFailed)

    @pytest.mark.parametrize("line", ["", "two names", "1st", "class", "a.b", "x --fast"])
    def test_a_line_that_it_does_not_know_fails(self, shell: Any, line: str) -> None:
        error = cell(shell, f"%%recall {line}\n{SUM}")
        assert isinstance(error, MagicFailed)
        assert "\n" in str(error) or "name" in str(error)

    def test_a_document_of_the_other_kind_is_refused(self, shell: Any) -> None:
        assert isinstance(cell(shell, f"%%computation ticks_seen\n{SUM}"), MagicFailed)

    def test_a_dollar_and_braces_in_a_document_stay(self, shell: Any) -> None:
        source = SUM.replace("{ type: tick }", "{ type: tick, data: '${ $data.n > 1 }' }")
        assert cell(shell, f"%%recall ticks_seen -q\n{source}") is None
        assert shell.user_ns["ticks_seen"].source == source


class TestHistories:
    def test_a_variable_and_a_file_give_a_history(self, shell: Any, data: Path) -> None:
        assert cell(shell, "%recall_history h = events") is None
        assert len(shell.user_ns["h"]) == 3
        assert cell(shell, f"%recall_history h = '{data / 'three-reviews.jsonl'}'") is None
        assert isinstance(shell.user_ns["h"], rk.History)

    def test_it_returns_the_history_where_no_name_is_given(self, shell: Any) -> None:
        assert cell(shell, "h = %recall_history events") is None
        assert len(shell.user_ns["h"]) == 3

    def test_an_expression_in_braces_is_put_in(self, shell: Any, data: Path) -> None:
        shell.user_ns["folder"] = data
        assert cell(shell, "%recall_history h = {folder}/three-reviews.jsonl") is None
        assert len(shell.user_ns["h"]) == 3

    @pytest.mark.parametrize("line", ["", "h =", "h = events --fast", "h = events more", "h = 'open", "class = events"])
    def test_a_line_that_it_does_not_know_fails(self, shell: Any, line: str) -> None:
        assert isinstance(cell(shell, f"%recall_history {line}"), MagicFailed)
        assert "h" not in shell.user_ns

    def test_a_file_that_is_not_there_fails_in_words(self, shell: Any) -> None:
        error = cell(shell, "%recall_history h = nowhere.jsonl")
        assert isinstance(error, MagicFailed)
        assert "nowhere.jsonl" in str(error)

    def test_ipythons_own_recall_stays(self, shell: Any) -> None:
        assert shell.find_line_magic("recall").__self__.__class__.__name__ == "HistoryMagics"


class TestFolds:
    @pytest.fixture(autouse=True)
    def function(self, shell: Any) -> None:
        assert cell(shell, f"%%recall ticks_seen -q\n{SUM}") is None

    def test_a_line_folds(self, shell: Any) -> None:
        assert cell(shell, "%recall_fold f = ticks_seen events --page 2") is None
        assert shell.user_ns["f"].view == 3

    def test_a_documents_path_folds(self, shell: Any, functions: Path, data: Path) -> None:
        line = f"%recall_fold f = '{functions / 'campaign-reviews.md'}' '{data / 'three-reviews.jsonl'}' -q"
        assert cell(shell, line) is None
        assert shell.user_ns["f"].folded == 3

    def test_a_stall_fails_the_cell_and_keeps_the_folding(self, shell: Any) -> None:
        error = cell(shell, "%recall_fold f = ticks_seen bad_events")
        assert isinstance(error, MagicFailed)
        assert "a bad one" in str(error)
        assert shell.user_ns["f"].view == 1

    def test_a_stall_may_be_allowed(self, shell: Any) -> None:
        assert cell(shell, "%recall_fold f = ticks_seen bad_events --allow-stall") is None
        assert shell.user_ns["f"].state == "stalled"

    @pytest.mark.parametrize(
        "rest",
        ["ticks_seen", "ticks_seen events --pages 2", "ticks_seen events --page 0", "events events", "none events"],
    )
    def test_what_it_does_not_know_fails(self, shell: Any, rest: str) -> None:
        assert isinstance(cell(shell, f"%recall_fold f = {rest}"), MagicFailed)
        assert "f" not in shell.user_ns

    def test_an_option_nearly_right_is_named(self, shell: Any) -> None:
        assert "did you mean --page?" in str(cell(shell, "%recall_fold f = ticks_seen events --pagee 2"))


@pytest.mark.slow
class TestNobodyLooksOn:
    """A magic that fails fails its notebook where no person sees the cell."""

    @pytest.fixture
    def environment(self, tmp_path: Path) -> dict[str, str]:
        home = tmp_path / "jupyter"
        made = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(home), "--name", "python3"]
        subprocess.run(made, check=True, capture_output=True, timeout=120)
        environment = dict(os.environ, JUPYTER_PATH=str(home / "share" / "jupyter"), IPYTHONDIR=str(home / "ipython"))
        environment["JUPYTER_PREFER_ENV_PATH"] = "0"
        if not os.environ.get("RECALLKIT_INSTALLED"):
            environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
        return environment

    @pytest.fixture
    def notebook(self, tmp_path: Path) -> Path:
        made = nbformat.v4.new_notebook()
        broken = SUM.replace("+ 1", "+ none")
        cells = ["%load_ext recallkit", f"%%recall ticks_seen\n{broken}", "print('never' + ' run')"]
        made.cells = [nbformat.v4.new_code_cell(each) for each in cells]
        made.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": "Python 3"}
        nbformat.write(made, tmp_path / "broken.ipynb")
        return tmp_path / "broken.ipynb"

    def test_papermill_stops_at_it(self, notebook: Path, environment: dict[str, str]) -> None:
        target = notebook.with_name("out.ipynb")
        command = [sys.executable, "-m", "papermill", "--no-progress-bar", str(notebook), str(target)]
        done = subprocess.run(
            command, env=environment, cwd=notebook.parent, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 1
        assert "Cannot find name 'none'" in done.stderr
        assert "never run" not in target.read_text(encoding="utf-8")

    def test_nbval_fails_its_cell_alone(self, notebook: Path, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "pytest", "--nbval-lax", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["-c", os.devnull, "--rootdir", str(notebook.parent), str(notebook)]
        done = subprocess.run(
            command, env=environment, cwd=notebook.parent, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 1
        assert "1 failed, 2 passed" in done.stdout
        assert "Cannot find name 'none'" in done.stdout
