"""The addresses of playbooks: what each opens, and the words for what none opens; a password is in none of them."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest

import recallkit as rk
from recallkit.playbook.addresses import read_address

PASSWORD = "s3cret-word"

# name, address, what the error says
REFUSED: list[tuple[str, Any, str]] = [
    ("nothing", "", "starts with sqlite:/// or postgresql://"),
    ("a space", " ", "starts with sqlite:/// or postgresql://"),
    ("a bare file name", "playbook.db", "starts with sqlite:/// or postgresql://"),
    ("another store", f"mysql://user:{PASSWORD}@host/db", "starts with sqlite:/// or postgresql://"),
    ("a driver named", f"postgresql+psycopg://user:{PASSWORD}@host/db", "starts with sqlite:/// or postgresql://"),
    ("the web", "https://example.com/playbook", "starts with sqlite:/// or postgresql://"),
    ("a number", 5, "is a text"),
    ("none", None, "is a text"),
    ("bytes", b"sqlite:///x.db", "is a text"),
    ("a NUL", "sqlite:///x\0.db", "control character"),
    ("a written NUL", "sqlite:///x%00.db", "control character"),
    ("a line's end", "sqlite:///x\n.db", "control character"),
    ("a lone surrogate", "sqlite:///x\ud800.db", "no file can have"),
    ("a server of SQLite", "sqlite://host/x.db", "three slashes"),
    ("two slashes", "sqlite://x.db", "three slashes"),
    ("no slashes", "sqlite:x.db", "three slashes"),
    ("one slash", "sqlite:/x.db", "three slashes"),
    ("options of SQLite", "sqlite:///x.db?mode=ro", "takes no options"),
    ("no database", "postgresql://", "names no database"),
    ("no database on a server", f"postgresql://user:{PASSWORD}@host", "names no database"),
    ("no database after a slash", f"postgresql://user:{PASSWORD}@host/", "names no database"),
    ("no slashes of PostgreSQL", "postgresql:db", "two slashes"),
    ("one slash of PostgreSQL", "postgres:/db", "two slashes"),
    ("a port that is no number", f"postgresql://user:{PASSWORD}@host:port/db", "port"),
    ("a port out of range", f"postgresql://user:{PASSWORD}@host:99999/db", "port"),
    ("a bracket that is open", f"postgresql://user:{PASSWORD}@[::1/db", "bracket"),
    ("an @ in the password", "postgresql://user:s3cret-@word@host/db", "%40"),
    ("a # in the password", "postgresql://user:s3cret-#word@host/db", "%23"),
    ("a / in the password", "postgresql://user:s3cret-/word@host/db", "%2F"),
    ("a ? in the password", "postgresql://user:s3cret-?word@host/db", "%3F"),
    ("a % in the password", "postgresql://user:s3cret-%zzword@host/db", "%25"),
    ("a space in the password", "postgresql://user:s3cret- word@host/db", "%20"),
    ("a schema's name", f"postgresql://user:{PASSWORD}@host/db?schema=A;B", "schema"),
    ("no schema's name", f"postgresql://user:{PASSWORD}@host/db?schema=", "schema"),
    ("two schemas", f"postgresql://user:{PASSWORD}@host/db?schema=a&schema=b", "schema"),
    ("a system's schema", f"postgresql://user:{PASSWORD}@host/db?schema=pg_mine", "pg_"),
    ("an option there is none of", f"postgresql://user:{PASSWORD}@127.0.0.1:1/db?speed=1", "speed"),
    ("a password in a wrong option", f"postgresql://127.0.0.1:1/db?passwort={PASSWORD}", "passwort"),
    ("a lone surrogate for a server", f"postgresql://user:{PASSWORD}@host/d\ud800b", "surrogate"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_an_address_that_names_no_playbook_is_refused_in_words(url: Any, words: str) -> None:
    if isinstance(url, str) and "127.0.0.1" in url:
        pytest.importorskip("psycopg")
    with pytest.raises(rk.InvalidInput) as raised:
        rk.Playbook(url)
    assert words in str(raised.value)
    assert raised.value.pointer == "/url"
    assert_untold(raised.value)


def assert_untold(error: BaseException | None) -> None:
    """Neither the error nor what it came from tells a part of the password."""
    while error is not None:
        assert "s3cret" not in f"{error} {error!r}"
        assert "word@" not in f"{error} {error!r}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@pytest.mark.parametrize("how", ["user:PASSWORD@SERVER/none", "user@SERVER/none?password=PASSWORD"])
def test_a_server_that_is_not_there_is_unavailable_and_its_password_untold(how: str) -> None:
    pytest.importorskip("psycopg")
    url = "postgresql://" + how.replace("PASSWORD", PASSWORD).replace("SERVER", f"127.0.0.1:{free_port()}")
    with pytest.raises(rk.Unavailable, match=r"cannot be reached.*check") as raised:
        rk.Playbook(url)
    assert_untold(raised.value)


def test_a_wrong_database_user_or_password_is_told_without_the_password(postgres_server: str) -> None:
    address = read_address(postgres_server)
    url = address.connect.replace("/postgres?", f"/none-of-this-name?password={PASSWORD}&")
    assert url != address.connect
    with pytest.raises(rk.Unavailable, match=r"none-of-this-name.*check") as raised:
        rk.Playbook(url)
    assert_untold(raised.value)


def test_a_playbook_shows_its_address_without_a_password(postgres_server: str) -> None:
    with rk.Playbook(f"{postgres_server}&password={PASSWORD}&schema=shown_{os.getpid()}") as playbook:
        assert PASSWORD not in repr(playbook)
        assert f"schema=shown_{os.getpid()}" in repr(playbook)


@pytest.mark.parametrize(
    ("url", "connect"),
    [
        ("postgresql:///shop?host=/run/pg", "postgresql:///shop?host=%2Frun%2Fpg"),
        ("postgres://a:b%40c@h:5433/shop?schema=x_1", "postgresql://a:b%40c@h:5433/shop"),
        ("POSTGRESQL://h1:1,h2:2/shop", "postgresql://h1:1,h2:2/shop"),
        ("postgresql://a@[::1]:5433/shop", "postgresql://a@[::1]:5433/shop"),
        ("postgresql://?dbname=shop", "postgresql://?dbname=shop"),
        ("postgresql://service-host/?service=shop", "postgresql://service-host/?service=shop"),
    ],
)
def test_what_the_driver_is_given(url: str, connect: str) -> None:
    assert read_address(url).connect == connect


@pytest.mark.parametrize(
    ("written", "opened"),
    [
        ("sqlite:///NAME", "NAME"),
        ("SQLITE:///NAME", "NAME"),
        ("sqlite:///a%20b.db", "a b.db"),
        ("sqlite:///a%3Fb.db", "a?b.db"),
        ("sqlite:///a#b.db", "a#b.db"),
        ("sqlite:///größe.db", "größe.db"),
        ("sqlite:///:odd:.db", ":odd:.db"),
    ],
)
def test_the_file_that_an_address_names(tmp_path: Path, written: str, opened: str) -> None:
    if os.name == "nt" and set("?:") & set(opened):
        pytest.skip("no file has such a name there")
    scheme, _, name = written.partition(":///")
    with rk.Playbook(f"{scheme}:///{tmp_path.as_posix()}/{name}"):
        assert (tmp_path / opened).is_file()
    assert {path.name for path in tmp_path.iterdir()} <= {opened, f"{opened}-follow"}


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///"])
def test_an_address_without_a_file_is_a_playbook_for_one_sitting(url: str) -> None:
    with rk.Playbook(url) as playbook:
        assert "in memory" in repr(playbook)


def place(folder: Path, kind: str) -> Path:
    """Make something in the folder that is no playbook."""
    path = folder / "it.db"
    if kind == "a folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("Some text that is no database. " * 40, encoding="utf-8")
    elif kind == "the beginning of a database":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4_000)
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a link to nowhere":
        path.symlink_to(folder / "no" / "such")
    elif kind == "a link to itself":
        path.symlink_to(path)
    elif kind == "in no folder":
        path = folder / "no" / "such" / "it.db"
    elif kind == "under a file":
        (folder / "file").write_text("x", encoding="utf-8")
        path = folder / "file" / "it.db"
    elif kind == "too long a name":
        path = folder / ("x" * 300)
    elif kind == "a device":
        path = Path("/dev/full")
    return path


PLACES = {
    "a folder": "is a folder",
    "text": "no SQLite database",
    "the beginning of a database": "no SQLite database",
    "a pipe": "is no file",
    "a device": "is no file",
    "a link to nowhere": "cannot be opened",
    "a link to itself": "cannot be opened",
    "in no folder": "There is no folder",
    "under a file": "There is no folder",
    "too long a name": "cannot be opened",
}


@pytest.mark.parametrize("as_url", [True, False], ids=["address", "path"])
@pytest.mark.parametrize("kind", PLACES)
def test_a_file_that_can_be_no_playbook_is_told_and_left_alone(tmp_path: Path, kind: str, as_url: bool) -> None:
    if os.name == "nt" and kind in ("a pipe", "a device", "a link to nowhere", "a link to itself"):
        pytest.skip("there are none of these there")
    path = place(tmp_path, kind)
    before = path.read_bytes() if os.path.isfile(path) else None
    with pytest.raises(rk.InvalidInput) as raised:
        rk.Playbook(f"sqlite:///{path.as_posix()}" if as_url else path)
    assert PLACES[kind] in str(raised.value)
    assert raised.value.pointer == "/url"
    if before is not None:
        assert path.read_bytes() == before
    assert not list(tmp_path.rglob("*-follow"))
    assert not list(tmp_path.rglob("*-wal"))


def test_an_empty_file_becomes_a_playbook(tmp_path: Path) -> None:
    (tmp_path / "it.db").touch()
    with rk.Playbook(tmp_path / "it.db") as playbook:
        assert playbook.history().problems.empty


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners there")
@pytest.mark.parametrize(
    ("mode", "words"), [(0o000, "cannot be opened"), (0o444, "cannot be written")], ids=["unread", "unwritten"]
)
def test_a_file_of_someone_else_is_told(mode: int, words: str) -> None:
    with tempfile.TemporaryDirectory(prefix="recallkit-") as folder:
        path = Path(folder, "it.db")
        rk.Playbook(path).close()
        path.chmod(mode)
        Path(folder).chmod(0o555)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)  # who owns everything is kept out of nothing
        try:
            with pytest.raises(rk.InvalidInput, match=words) as raised:
                rk.Playbook(path)
        finally:
            if root:
                os.seteuid(0)
            Path(folder).chmod(0o755)
        assert raised.value.pointer == "/url"
        assert "permissions" in str(raised.value)
