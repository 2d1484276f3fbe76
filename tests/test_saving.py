"""What the kit writes for a person: whole files or none, and words for a place that takes none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scrubbed import reviews

from recallkit.errors import InvalidInput
from recallkit.files import write_whole

SAVERS: dict[str, Callable[[Any], Any]] = {
    "page.html": lambda path: reviews().scrub().save(path),
    "chart.svg": lambda path: reviews().charts.size().save(path),
    "chart.png": lambda path: reviews().charts.size().save(path),
    "events.jsonl": lambda path: reviews().history.to_jsonl(path),
}
every = pytest.mark.parametrize("name", list(SAVERS))


@every
def test_a_file_is_replaced_whole(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / name
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    SAVERS[name](str(target))
    assert target.stat().st_size > 1_000
    assert target.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == [name]


@every
def test_a_folder_takes_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidInput, match=rf"{name} is a folder; name the file"):
        SAVERS[name](tmp_path / name)


@every
def test_a_folder_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"There is no folder .*none to write the \w+ in; make it first"):
        SAVERS[name](tmp_path / "none" / name)


@every
@pytest.mark.parametrize("path", [None, 7, "", "a\0b", ["x"]], ids=["none", "number", "empty", "nul", "list"])
def test_what_is_no_path_is_refused(name: str, path: Any) -> None:
    with pytest.raises(InvalidInput, match=r"The \w+ needs the path of a file"):
        SAVERS[name](path)


@every
def test_a_name_that_no_file_system_takes(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be written to .*: File name too long.* Give it another place"):
        SAVERS[name](tmp_path / f"{'x' * 300}{Path(name).suffix}")


@every
def test_a_full_disk_leaves_what_was_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / name
    target.write_text("old", encoding="utf-8")

    def full(self: Path, other: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InvalidInput, match=r"cannot be written to .*: No space left on device \([\d,]+ MiB are free"):
        SAVERS[name](target)
    assert target.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
class TestWhatIsNoPlainFile:
    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "file.txt")
        write_whole(tmp_path / "link.txt", "text", lambda place: place.write_text("new", encoding="utf-8"))
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "real" / "file.txt").read_text(encoding="utf-8") == "new"

    def test_a_pipe_is_written_to_and_stays(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe.txt"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            write_whole(pipe, "text", lambda place: place.write_text("new", encoding="utf-8"))
            assert os.read(reader, 10) == b"new"
            assert pipe.is_fifo()
        finally:
            os.close(reader)


@pytest.mark.parametrize("scale", [0, -1, True, "2", None, float("nan"), 1e9], ids=str)
def test_a_chart_refuses_a_scale_that_is_none(scale: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="scale takes a number above 0"):
        reviews().charts.size().save(tmp_path / "chart.png", scale=scale)
