"""The lessons' exercises, the students' copies, and what Binder is told."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from scrubbed import reviews

import recallkit as rk
from recallkit.errors import InvalidInput
from recallkit.notebook import exercise_checks
from recallkit.notebook.exercises import EXERCISES, check_exercise

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
CHECKED = re.compile(r'check_exercise\("([\d.]+)"')


def cells(lesson: Path, tag: str | None = None) -> list[Any]:
    every = nbformat.read(lesson, as_version=4).cells
    return [cell for cell in every if tag is None or tag in cell.metadata.get("tags", [])]


class TestExercises:
    def test_every_check_is_asked_and_answered_in_a_lesson(self) -> None:
        asked = {
            number
            for lesson in LESSONS
            for cell in cells(lesson, "exercise")
            for number in CHECKED.findall(cell.source)
        }
        solved = {
            number
            for lesson in LESSONS
            for cell in cells(lesson, "solution")
            for number in CHECKED.findall(cell.source)
        }
        assert asked == solved == set(EXERCISES)

    @pytest.mark.parametrize("number", sorted(EXERCISES))
    def test_dots_get_a_hint(self, number: str) -> None:
        said = check_exercise(number, ...)
        assert not said
        assert EXERCISES[number].hint in said.words

    @pytest.mark.parametrize("number", sorted(EXERCISES))
    @pytest.mark.parametrize("answer", [None, "nonsense", -1, [], {}, b"bytes"], ids=repr)
    def test_nonsense_is_not_right_and_raises_nothing(self, number: str, answer: Any) -> None:
        facts = {
            "1.1": {"folding": rk.load(COUNTS).fold([])},
            "1.2": {"folding": rk.load(COUNTS).fold([])},
            "2.1": {"folding": rk.load(COUNTS).fold([])},
            "5.1": {"spin": rk.load(COUNTS)},
            "6.1": {"amounts": [1.5]},
            "9.1": {"history": rk.read_history([])},
        }
        said = check_exercise(number, answer, **facts.get(number, {}))
        assert not said
        assert said.words

    def test_an_exercise_that_is_not_there(self) -> None:
        with pytest.raises(InvalidInput, match=r"no exercise 99\.1"):
            check_exercise("99.1", 1)

    def test_what_is_said_is_escaped(self) -> None:
        said = check_exercise("3.1", ["<script>alert(1)</script>"])
        assert "<script>" not in said._repr_html_()
        assert repr(said).startswith("Not yet. ")

    def test_a_wrong_answer_gets_the_word_that_helps(self) -> None:
        wanted = 60 * (242 + 1 + 10 * 697 + 11) + 61
        assert check_exercise("4.1", wanted)
        assert "59 commas and 2 braces are missing" in check_exercise("4.1", wanted - 61).words
        assert "Multiply before you divide" in check_exercise("14.1", 223_050 // 12 * 31).words
        assert "is none of them" in check_exercise("3.1", ["campaign"]).words
        assert "missing" in check_exercise("3.1", ["constructor"]).words

    def test_the_tours_answers(self) -> None:
        trace = reviews().trace
        first = int((trace.view_bytes > 1_000).idxmax()) + 1
        assert check_exercise("1.1", first, folding=reviews())
        assert "Nearly" in check_exercise("1.1", first - 1, folding=reviews()).words
        assert not check_exercise("1.1", first + 1, folding=reviews())
        assert check_exercise("1.2", trace.event_id[trace.steps.idxmax()], folding=reviews())
        assert "another took" in check_exercise("1.2", trace.event_id[0], folding=reviews()).words

    def test_a_document_that_stalls_is_told_its_event(self) -> None:
        careless = rk.load(
            COUNTS.replace("return {", "if (event.type === 'run_rejected') throw new Error('no');\n  return {")
        )
        assert "stalls (raised)" in check_exercise("2.2", careless).words

    def test_names_are_inherited_as_the_check_says(self) -> None:
        source = "---\nlanguage: typescript\n---\n"
        source += "export default function (input: Input): Output {\n  const empty: { [name: string]: Json } = {};\n"
        source += "  return (input as string[]).filter((name) => empty[name] !== undefined);\n}\n"
        given = [*exercise_checks.INHERITED, "campaign", "length", "verdict", "name"]
        assert set(rk.load(source).run(given).output) == exercise_checks.INHERITED


COUNTS = """---
language: typescript
source: { events: [{ type: run_succeeded }, { type: run_failed }, { type: run_rejected }] }
view: { initial: {}, schema: { type: object, additionalProperties: { type: integer } } }
---
export function fold(view: View, event: Event): View {
  return { ...view, [event.type]: (Object.hasOwn(view, event.type) ? view[event.type] : 0) + 1 };
}
"""


class TestStudentsCopies:
    @pytest.fixture
    def strip(self) -> Any:
        place = ROOT / "scripts" / "strip_solutions.py"
        spec = importlib.util.spec_from_file_location("strip_solutions", place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_solutions_are_left_out_and_nothing_else(self, tmp_path: Path) -> None:
        command = [sys.executable, str(ROOT / "scripts" / "strip_solutions.py"), "-o", str(tmp_path)]
        before = [lesson.read_bytes() for lesson in LESSONS]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        assert [lesson.read_bytes() for lesson in LESSONS] == before
        for lesson in LESSONS:
            copy = tmp_path / lesson.name
            nbformat.validate(nbformat.read(copy, as_version=4))
            assert cells(copy, "solution") == []
            kept = [cell.source for cell in cells(lesson) if "solution" not in cell.metadata.get("tags", [])]
            assert [cell.source for cell in cells(copy)] == kept
            assert len(kept) < len(cells(lesson))

    def test_a_lesson_is_never_written_over(self, strip: Any, tmp_path: Path) -> None:
        lesson = tmp_path / "01-x.ipynb"
        lesson.write_text(
            json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8"
        )
        assert strip.main(["-o", str(tmp_path), str(lesson)]) == 2


class TestBinder:
    def test_it_reads_what_stands_in_binder(self) -> None:
        # any of these would be read first, and runtime.txt would not be read at all
        for other in (".binder", "environment.yml", "binder/environment.yml", "Dockerfile", "binder/Dockerfile"):
            assert not (ROOT / other).exists()
        assert (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8") == "python-3.11\n"

    def test_it_installs_this_repository(self) -> None:
        lines = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line and not line.startswith("#")] == [".[notebook,memory]"]

    def test_post_build_runs(self) -> None:
        assert (ROOT / "binder" / "postBuild").stat().st_mode & stat.S_IXUSR

    @pytest.mark.slow
    @pytest.mark.timeout(1_800)
    @pytest.mark.skipif(
        not os.environ.get("RECALLKIT_BINDER"), reason="RECALLKIT_BINDER=1 rehearses Binder, in minutes"
    )
    def test_the_rehearsal(self) -> None:
        done = subprocess.run([str(ROOT / "scripts" / "binder_rehearsal")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]

    def test_the_badge_names_the_tag_of_this_version(self) -> None:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        links = re.findall(r"https://mybinder\.org/v2/gh/[^/]+/[^/]+/([^?)\s]+)\?urlpath=([^)\s]+)", readme)
        assert {tag for tag, _ in links} == {f"v{rk.__version__}"}
        assert any("01-tour.ipynb" in path for _, path in links)
        assert any(path == "lab" for _, path in links)

    def test_the_readme_links_every_lesson(self) -> None:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        assert [lesson.name for lesson in LESSONS if f"(notebooks/{lesson.name})" not in readme] == []
