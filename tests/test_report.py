"""Reports: what a template takes, what is written, and how a report that cannot be made is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import recallkit as rk
from recallkit import cli, report_compare
from recallkit.errors import InvalidInput
from recallkit.report import find_template, parameters_of, read_parameter, titles
from recallkit.views.patches import difference

pytest.importorskip("papermill")
pytest.importorskip("nbconvert")

KNOWN = {"document": "", "folder": "", "title": "x", "top": 10, "share": 0.5, "scrubber": True, "question": None}
TEMPLATES = sorted((Path(__file__).parent.parent / "notebooks" / "reports").glob("*.ipynb"))
COUNT = """---
language: typescript
source: { events: [{ type: tick }] }
view: { initial: 0 }
---
export function fold(view: View, event: Event): View {
  if (event.subject === 'bad') throw new Error('a bad one');
  return (typeof view === 'number' ? view : 0) + 1;
}
"""


class TestParameters:
    @pytest.mark.parametrize(
        "template", sorted((Path(__file__).parent.parent / "notebooks" / "reports").glob("*.ipynb"))
    )
    def test_every_template_lists_what_it_takes(self, template: Path) -> None:
        notebook = nbformat.read(template, as_version=4)
        assert {"document", "history", "name", "folder"} < parameters_of(notebook).keys()
        assert len(titles(notebook)) == sum(cell.cell_type == "code" for cell in notebook.cells)

    @pytest.mark.parametrize(
        ("name", "text", "value"),
        [
            ("title", "true", "true"),
            ("title", "1.10", "1.10"),
            ("top", "5", 5),
            ("share", "1.10", 1.1),
            ("share", "2", 2),
            ("scrubber", "false", False),
            ("question", '{"campaign": "a"}', {"campaign": "a"}),
            ("question", "null", None),
            ("question", "1.10", 1.1),
            ("question", "spring sale", "spring sale"),
        ],
    )
    def test_a_value_is_read_as_what_the_default_is(self, name: str, text: str, value: Any) -> None:
        read = read_parameter(name, text, KNOWN)
        assert read == value
        assert type(read) is type(value)

    @pytest.mark.parametrize(
        ("name", "text", "words"),
        [
            ("top", "five", "top takes a whole number, not five"),
            ("top", "true", "top takes a whole number"),
            ("top", "1.5", "top takes a whole number"),
            ("scrubber", "yes", "scrubber takes true or false, not yes"),
            ("scrubber", "1", "scrubber takes true or false"),
            ("share", "NaN", "share takes a number"),
            ("tops", "5", "did you mean top?"),
            ("colour", "red", "no parameter colour"),
            ("folder", "x", "filled in by the command itself"),
        ],
    )
    def test_what_the_template_does_not_take_is_refused(self, name: str, text: str, words: str) -> None:
        with pytest.raises(InvalidInput, match=re.escape(words)):
            read_parameter(name, text, KNOWN)

    def test_a_template_that_is_not_there_is_told_with_those_that_are(self) -> None:
        with pytest.raises(InvalidInput, match=r"no template nothing: .*fold\.ipynb"):
            find_template("nothing")


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call `recallkit report` in an empty folder; gives its status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        status = cli.main(["report", *map(str, arguments)])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return status, out, err

    return run


def ticks(folder: Path, *subjects: str) -> Path:
    path = folder / "ticks.jsonl"
    event = {"specversion": "1.0", "type": "tick", "source": "/t"}
    path.write_text(
        "".join(json.dumps({**event, "id": str(n), "subject": each}) + "\n" for n, each in enumerate(subjects)),
        encoding="utf-8",
    )
    return path


def template(folder: Path, *cells: str) -> Path:
    """A template of one's own."""
    given = "\n".join(f"{name} = ''" for name in ("document", "history", "name", "folder")) + "\nmore = 1"
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(given, metadata={"tags": ["parameters"]})]
    made.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    path = folder / "own.ipynb"
    nbformat.write(made, path)
    return path


@pytest.fixture
def count(tmp_path: Path) -> Path:
    path = tmp_path / "count-ticks.md"
    path.write_text(COUNT, encoding="utf-8")
    return path


class TestRefusals:
    """Each before a kernel is started."""

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            (["-p", "tops=5"], "did you mean top?"),
            (["-p", "top"], "-p takes name=value"),
            (["-p", "document=x"], "filled in by the command itself"),
            (["-p", "title=postgresql://u:s3cr3t@127.0.0.1/x"], "keeps its value in the report"),
            (["--template", "none"], "no template none"),
            (["--execution-timeout", "0"], "whole number from 1"),
        ],
    )
    def test_a_usage_error(self, call: Any, count: Path, tmp_path: Path, more: list[str], words: str) -> None:
        status, out, err = call(count, ticks(tmp_path, "a"), "-o", "report.html", *more)
        assert (status, out) == (2, "")
        assert words in err
        assert not (tmp_path / "report.html").exists()

    def test_a_page_is_named_as_one(self, call: Any, count: Path, tmp_path: Path) -> None:
        status, _, err = call(count, ticks(tmp_path, "a"), "-o", "report.pdf")
        assert status == 2
        assert "report.html" in err

    def test_a_history_that_is_not_there(self, call: Any, count: Path) -> None:
        status, _, err = call(count, "none.jsonl", "-o", "report.html")
        assert status == 2
        assert "There is no file none.jsonl" in err

    def test_a_refused_document(self, call: Any, count: Path, tmp_path: Path) -> None:
        count.write_text(COUNT.replace("+ 1", "+ none"), encoding="utf-8")
        status, _, err = call(count, ticks(tmp_path, "a"), "-o", "report.html")
        assert status == 1
        assert "Cannot find name 'none'" in err

    def test_a_missing_part_is_named(
        self, call: Any, count: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import sys

        monkeypatch.setitem(sys.modules, "papermill", None)
        status, _, err = call(count, ticks(tmp_path, "a"), "-o", "report.html")
        assert status == 1
        assert "pip install 'recallkit[notebook]'" in err


@pytest.mark.slow
class TestComparisons:
    def test_two_functions_over_one_history(self, call: Any, count: Path, tmp_path: Path) -> None:
        twice = tmp_path / "count-twice.md"
        twice.write_text(COUNT.replace("+ 1", "+ (event.subject === 'two' ? 2 : 1)"), encoding="utf-8")
        history = ticks(tmp_path, "one", "two", "one")
        more = ["--template", "compare", "-p", "other=count-twice.md", "-p", "question={}"]
        status, out, err = call(count, history, "-o", "report.html", *more)
        assert status == 0, out + err
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "first differ after event 1 of the history, of type <code>tick</code>" in page
        assert "count-ticks and count-twice" in page
        assert "srcdoc=" in page
        figures = json.loads((tmp_path / "report.figures.json").read_text(encoding="utf-8"))
        assert (figures["one"]["view"], figures["two"]["view"], figures["same_view"]) == (3, 4, False)
        assert figures["first_difference"]["seq"] == 1
        assert figures["first_difference"]["patch"] == [{"op": "replace", "path": "", "value": 3}]
        assert [run["output"] for run in figures["runs"].values()] == [3, 4]

    def test_one_function_over_two_histories(self, call: Any, count: Path, tmp_path: Path) -> None:
        (tmp_path / "more").mkdir()
        more = ticks(tmp_path / "more", "a", "bad", "c")
        options = ["--template", "compare", "-p", f"other_history={more}", "-p", "scrubber=false"]
        status, out, err = call(count, ticks(tmp_path, "a", "b"), "-o", "report.html", *options)
        assert status == 1, err  # the second stalls
        assert "a bad one" in out
        figures = json.loads((tmp_path / "report.figures.json").read_text(encoding="utf-8"))
        assert (figures["one"]["folded"], figures["two"]["folded"], figures["first_difference"]) == (2, 1, None)

    def test_a_thing_is_not_compared_with_itself(self, call: Any, count: Path, tmp_path: Path) -> None:
        status, _, err = call(count, ticks(tmp_path, "a"), "-o", "report.html", "--template", "compare")
        assert status == 2
        assert "-p other=FILE" in err


class TestComparing:
    def fold(self, text: str, events: list[dict[str, Any]] | Any) -> Any:
        return rk.load(text).fold(events, progress=False)

    def events(self, count: int) -> Any:
        return rk.read_history(
            [{"specversion": "1.0", "type": "tick", "source": "/t", "id": str(n)} for n in range(count)]
        )

    @pytest.mark.parametrize("every", [5_000, 10], ids=["each", "sampled"])
    @pytest.mark.parametrize("at", [0, 1, 57, 299])
    def test_the_first_difference_is_found(self, at: int, every: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(report_compare, "EVERY_EVENT", every)
        events = self.events(300)
        other = COUNT.replace("+ 1", f"+ (event.id === '{at}' ? 2 : 1)")
        found = report_compare.compare(self.fold(COUNT, events), self.fold(other, events))
        assert found.first is not None
        assert (found.first.seq, found.first.event["id"]) == (at, str(at))
        assert found.last == [{"op": "replace", "path": "", "value": 301}]
        assert (found.looked < 150) == (every == 10 or at < 100)

    def test_functions_that_take_other_events_are_compared_by_the_history(self) -> None:
        events = rk.read_history(
            [
                {"specversion": "1.0", "type": "tick" if n % 2 else "tock", "source": "/t", "id": str(n)}
                for n in range(20)
            ]
        )
        tocks = COUNT.replace("type: tick", "type: tock")
        found = report_compare.compare(self.fold(COUNT, events), self.fold(tocks, events))
        assert found.first is not None
        assert found.first.seq == 0  # the tock that only the second takes
        assert found.last == []

    def test_the_same_views(self) -> None:
        events = self.events(30)
        found = report_compare.compare(self.fold(COUNT, events), self.fold(COUNT, events))
        assert (found.first, found.looked, found.last) == (None, 31, [])
        assert "the views are the same" in report_compare.told(found, ("a", "b"))

    def test_another_initial_view(self) -> None:
        events = self.events(3)
        found = report_compare.compare(self.fold(COUNT, events), self.fold(COUNT.replace("al: 0", "al: 5"), events))
        assert found.first is not None
        assert found.first.seq == -1
        assert "before any event" in report_compare.told(found, ("a", "b"))

    def test_the_table_names_the_places_of_what_is_gone(self) -> None:
        one, two = '{"a":[1,2,3],"b":"x"}', '{"a":[3],"b":"y","c":null}'
        patch = difference(json.loads(one), json.loads(two))
        table = report_compare.changes(patch, one, two, ("old", "new"), 10)
        assert table.values.tolist() == [["/a/0", "1", ""], ["/a/1", "2", ""], ["/b", '"x"', '"y"'], ["/c", "", "null"]]

    def test_tables_of_nothing(self) -> None:
        events = self.events(0)
        one, two = self.fold(COUNT, events), self.fold(COUNT, events)
        assert report_compare.costs(one, two, ("a", "b")).loc["events folded"].tolist() == ["0", "0", ""]
        assert len(report_compare.types(one, two, ("a", "b"), 5)) == 0


@pytest.mark.slow
class TestReports:
    def test_the_report_of_a_fold(self, call: Any, functions: Path, data: Path, tmp_path: Path) -> None:
        arguments = [functions / "campaign-reviews.md", data / "three-reviews.jsonl", "-o", "report.html"]
        question = {"campaign": "spring-sale", "last": 1}
        status, out, err = call(*arguments, "-p", "title=1.10", "-p", f"question={json.dumps(question)}")
        assert status == 0, err
        assert "report.html" in out
        assert 'title = "1.10", a text' in err
        assert re.search(r"^ *2 of \d+  Read the document and the history  [\d.]+ s$", err, re.MULTILINE)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "<h1" in page
        assert "1.10" in page
        # nothing in it comes from a network: no script, style, picture or font by an address
        assert re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", page) == []
        assert "srcdoc=" in page
        figures = json.loads((tmp_path / "report.figures.json").read_text(encoding="utf-8"))
        assert figures["folded"] == 3
        assert figures["run"]["ending"] == "succeeded"
        assert [row["steps"] for row in figures["heaviest"]] == sorted(
            (row["steps"] for row in figures["heaviest"]), reverse=True
        )
        notebook = nbformat.read(tmp_path / "report.executed.ipynb", as_version=4)
        assert "widgets" not in notebook.metadata
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "report.executed.ipynb",
            "report.figures.json",
            "report.html",
        ]

    def test_a_stalled_view_is_reported_with_status_1(self, call: Any, count: Path, tmp_path: Path) -> None:
        history = ticks(tmp_path, "a", "bad", "b")
        status, out, _ = call(count, history, "-o", "report.html", "-p", "scrubber=false")
        assert status == 1
        assert "a bad one" in out
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "a bad one" in page
        assert "srcdoc=" not in page
        figures = json.loads((tmp_path / "report.figures.json").read_text(encoding="utf-8"))
        assert figures["stall"]["kind"] == "raised"

    def test_an_empty_history_is_reported(self, call: Any, count: Path, tmp_path: Path) -> None:
        status, out, err = call(count, ticks(tmp_path), "-o", "report.html")
        assert status == 0, err
        assert "No event was folded" in out

    def test_a_failing_cell_is_told_and_kept(self, call: Any, count: Path, tmp_path: Path) -> None:
        own = template(tmp_path, "# The part that fails\nraise ValueError('not\\x1b[31m today')")
        status, _, err = call(count, ticks(tmp_path, "a"), "-o", "report.html", "--template", own)
        assert status == 1
        assert "cell 2 (The part that fails) failed: ValueError: not" in err
        assert "\x1b[31m" not in err
        assert not (tmp_path / "report.html").exists()
        assert (tmp_path / "report.executed.ipynb").exists()

    def test_a_cell_that_takes_too_long_is_stopped(self, call: Any, count: Path, tmp_path: Path) -> None:
        own = template(tmp_path, "# Wait\nimport time; time.sleep(60)")
        arguments = ["--template", own, "--execution-timeout", "1"]
        status, _, err = call(count, ticks(tmp_path, "a"), "-o", "report.html", *arguments)
        assert status == 1
        assert "(Wait) failed: Timeout: it took longer than the 1 seconds" in err

    def test_an_address_password_is_kept_nowhere(self, call: Any, count: Path, tmp_path: Path) -> None:
        status, _, err = call(count, "postgresql://u:s3cr3t@127.0.0.1:1/x?table=events", "-o", "report.html")
        assert status == 2
        assert "s3cr3t" not in err
        assert "s3cr3t" not in (tmp_path / "report.executed.ipynb").read_text(encoding="utf-8")

    def test_what_the_history_is_refused_for_is_a_usage_error(self, call: Any, count: Path, tmp_path: Path) -> None:
        place = tmp_path / "events.parquet"
        place.write_text("no parquet", encoding="utf-8")
        status, _, err = call(count, place, "-o", "report.html")
        assert status == 2
        assert "HistoryError" in err
