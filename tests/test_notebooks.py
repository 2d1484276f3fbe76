"""Every lesson runs from top to bottom, with other parameters too, and is kept in its form: outputs stripped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))

# A lesson is read in a review and opened on a telephone; its outputs are not kept. An executed one holds the scrubber's
# front end and the charts' SVG, and no more.
STRIPPED_BYTES = 40_000
EXECUTED_BYTES = 700_000

PARAMETERS = {
    "01-tour.ipynb": [
        {"events": "three-reviews.jsonl", "question": {"campaign": "spring-sale", "last": 1}},
        {"document": "post-announcement.md", "question": {}},
    ],
}


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose python3 kernel is the Python that runs the tests, whatever else is installed."""
    home = tmp_path_factory.mktemp("jupyter")
    made = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(home), "--name", "python3"]
    subprocess.run(made, check=True, capture_output=True, timeout=120)
    environment = dict(os.environ, JUPYTER_PATH=str(home / "share" / "jupyter"), IPYTHONDIR=str(home / "ipython"))
    environment["JUPYTER_PREFER_ENV_PATH"] = "0"
    if not os.environ.get("RECALLKIT_INSTALLED"):
        environment["PYTHONPATH"] = str(ROOT)
    return environment


def executed(lesson: Path, target: Path, kernel: dict[str, str], parameters: dict[str, Any] | None = None) -> Any:
    """Run a lesson with papermill, from a folder that is not its own."""
    script = (
        "import json, sys, papermill\n"
        "source, target, parameters = sys.argv[1:]\n"
        "options = dict(progress_bar=False, execution_timeout=240)\n"
        "papermill.execute_notebook(source, target, json.loads(parameters), **options)\n"
    )
    command = [sys.executable, "-c", script, str(lesson), str(target), json.dumps(parameters or {})]
    done = subprocess.run(
        command, cwd=target.parent, env=kernel, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return nbformat.read(target, as_version=4)


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_lessons() -> None:
    assert LESSONS


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
class TestLessons:
    def test_it_is_kept_in_its_form(self, lesson: Path) -> None:
        command = [sys.executable, str(ROOT / "scripts" / "notebooks.py"), "--check", str(lesson)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout
        assert lesson.stat().st_size <= STRIPPED_BYTES

    def test_it_has_parameters_and_no_cell_that_raises_on_purpose(self, lesson: Path) -> None:
        tags = [tag for cell in nbformat.read(lesson, as_version=4).cells for tag in cell.metadata.get("tags", [])]
        assert tags.count("parameters") == 1
        assert "raises-exception" not in tags
        assert "exercise" in tags
        assert "solution" in tags

    @pytest.mark.slow
    def test_papermill_runs_it(self, lesson: Path, kernel: dict[str, str], tmp_path: Path) -> None:
        notebook = executed(lesson, tmp_path / "out.ipynb", kernel)
        shown = outputs(notebook)
        assert not [output for output in shown if output.output_type == "error"]
        assert not [output for output in shown if output.get("name") == "stderr"]
        assert (tmp_path / "out.ipynb").stat().st_size <= EXECUTED_BYTES
        for output in shown:
            bundle = output.get("data", {})
            # A bar that a slow fold shows on a busy machine is its own line of text where there are no widgets.
            bar = bundle.get("text/plain", "").startswith("folding: ")
            if "application/vnd.jupyter.widget-view+json" in bundle and not bar:
                assert "text/html" in bundle, "a widget needs something to show where there are no widgets"
            assert len(bundle.get("text/plain", "")) < 2_000

    @pytest.mark.slow
    def test_nbval_runs_it(self, lesson: Path, kernel: dict[str, str], tmp_path: Path) -> None:
        # Lax: the outputs are stripped, so there is nothing to compare; what is looked for is an error.
        command = [sys.executable, "-m", "pytest", "--nbval-lax", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["-c", os.devnull, "--rootdir", str(lesson.parent), str(lesson)]
        done = subprocess.run(
            command, cwd=tmp_path, env=kernel, capture_output=True, text=True, timeout=280, check=False
        )
        assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]
        assert "passed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"), [(name, each) for name, every in PARAMETERS.items() for each in every], ids=str
)
def test_parameters_choose_another_document_and_history(
    name: str, parameters: dict[str, Any], kernel: dict[str, str], tmp_path: Path
) -> None:
    notebook = executed(ROOT / "notebooks" / name, tmp_path / "out.ipynb", kernel, parameters)
    told = [output.get("data", {}).get("text/plain", "") for output in outputs(notebook)]
    if "events" in parameters:
        assert "<History of 3 events>" in told
        assert any(text.startswith("<Folding live: 3 of 3 events folded") for text in told)
    if "document" in parameters:
        assert any(text.startswith("<RecallFunction post-announcement") for text in told)
    assert any(text.startswith("<Refused") for text in told)
    assert any(text.startswith("<Stall stalled (raised)") for text in told)
