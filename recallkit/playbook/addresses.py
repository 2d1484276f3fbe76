"""The addresses of playbooks, read strictly: what one opens never depends on a sign that a reader dropped.

No message here repeats a part of an address that may hold a password.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from recallkit.errors import InvalidInput

SCHEMA: Final = "recallkit"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SCHEME: Final = re.compile(r"(sqlite|postgresql|postgres):(//)?", re.IGNORECASE)
_SCHEMA: Final = re.compile(r"[a-z][a-z0-9_]{0,47}")
_ENCODED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%]*\]|[^\[\]:]*)(?::(\d*))?")
_TEXT_FORM: Final = "sqlite:///playbook.db, or postgresql://user@host/database"


@dataclass(frozen=True)
class Address:
    """What an address names.

    Attributes
    ----------
    path : Path or None
        The file of an SQLite playbook; None without one, or where it is PostgreSQL.
    connect : str
        What PostgreSQL's driver is given; empty where it is SQLite.
    schema : str
    shown : str
        Of PostgreSQL, without user, password and options.
    secrets : tuple of str
        What no message may hold.
    """

    path: Path | None = None
    connect: str = ""
    schema: str = SCHEMA
    shown: str = ""
    secrets: tuple[str, ...] = ()


def read_address(url: Any) -> Address:
    """Read a playbook's address.

    Raises
    ------
    InvalidInput
        It names no playbook; the words say how one is written.
    """
    if isinstance(url, os.PathLike):
        return Address(path=Path(os.fsdecode(url)))
    if not isinstance(url, str):
        raise _wrong(f"A playbook's address is a text such as {_TEXT_FORM}, or a pathlib.Path.")
    if _CONTROL.search(url):
        raise _wrong("A playbook's address holds no control character.")
    found = _SCHEME.match(url)
    if found is None:
        raise _wrong(f"A playbook's address starts with sqlite:/// or postgresql://, such as {_TEXT_FORM}.")
    rest = url[found.end() :]
    if found[1].lower() == "sqlite":
        return _file(rest, slashes=found[2] is not None)
    if found[2] is None:
        raise _wrong("A server's address has two slashes: postgresql://user@host/database.")
    if _SURROGATE.search(rest):
        raise _wrong("A playbook's address holds a lone surrogate, which no name has.")
    return _server(rest)


def check_file(path: Path) -> None:
    """Check that a playbook may be kept in a file that is there, or not yet.

    Raises
    ------
    InvalidInput
        A folder, a pipe or a device stands there, or there is no folder for it.
    """
    try:
        os.fsencode(path)
        folder = path.parent.is_dir()
        mode = path.stat().st_mode if path.exists() else stat.S_IFREG
    except UnicodeEncodeError:
        raise _wrong("A playbook's address holds a character that no file can have in its name.") from None
    except (OSError, ValueError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise _wrong(f"{path} cannot be opened: {why}. Give another path.") from None
    if not folder:
        raise _wrong(f"There is no folder {path.parent} to keep the playbook in; make it first.")
    if stat.S_ISDIR(mode):
        raise _wrong(f"{path} is a folder; name a file in it, such as {path / 'playbook.db'}.")
    if not stat.S_ISREG(mode):
        raise _wrong(f"{path} is no file but a device or a pipe; give another path.")


def _file(rest: str, *, slashes: bool) -> Address:
    if not slashes or (rest and not rest.startswith("/")):
        raise _wrong("A file's address has three slashes, sqlite:///playbook.db, or four for an absolute path.")
    if "?" in rest:
        raise _wrong("The address of an SQLite playbook takes no options; a ? in a file's name is written %3F.")
    path = unquote(rest.removeprefix("/"), errors="surrogateescape")
    if _CONTROL.search(path):
        raise _wrong("A playbook's address holds no control character.")
    return Address(path=None if path in ("", ":memory:") else Path(path))


def _server(rest: str) -> Address:
    """Read what follows ``postgresql://``: [user[:password]@]host[:port][,…]/database[?option=value…]."""
    before, _, options_text = rest.partition("?")
    authority, slash, database = before.partition("/")
    user, _, hosts = authority.rpartition("@")
    _check_signs(rest, user, before, options_text)
    for host in hosts.split(","):
        _check_host(host)
    pairs = parse_qsl(options_text, keep_blank_values=True)
    schemas = [value for name, value in pairs if name == "schema"]
    options = [(name, value) for name, value in pairs if name != "schema"]
    schema = schemas[0] if schemas else SCHEMA
    if len(schemas) > 1 or not _SCHEMA.fullmatch(schema):
        raise _wrong("A schema's name has lowercase letters, digits and _, starts with a letter, and has at most 48.")
    if schema.startswith("pg_"):
        raise _wrong("A schema's name that starts with pg_ is PostgreSQL's own; give another.")
    if not database and not {"dbname", "service"} & {name for name, _ in options}:
        raise _wrong("The address names no database: write postgresql://user@host/database.")
    secret = unquote(user.partition(":")[2]), *(value for name, value in options if "pass" in name.lower())
    encoded = urlencode(options, quote_via=quote, safe="")
    return Address(
        connect=f"postgresql://{authority}{slash}{database}{'?' if encoded else ''}{encoded}",
        schema=schema,
        shown=f"postgresql://{hosts}{slash}{database}?schema={schema}",
        secrets=tuple(each for each in (*secret, user.partition(":")[2]) if len(each) > 2),
    )


def _check_signs(rest: str, user: str, before: str, options: str) -> None:
    """Refuse a sign that parts an address where it may have been meant as one of a user's or a password's."""
    sign = None
    if "@" in user:
        sign = "@"
    elif "#" in rest:
        sign = "#"
    elif " " in rest:
        sign = " "
    elif _ENCODED.search(rest):
        sign = "%"
    elif "@" not in before.partition("/")[0] and "@" in before:
        sign = "/"
    elif "@" not in before and "@" in options:
        sign = "?"
    if sign is not None:
        shown = "a space" if sign == " " else f"a {sign}"
        raise _wrong(f"The address cannot be read: {shown} in a user's name or a password is written {_code(sign)}.")


def _check_host(host: str) -> None:
    found = _HOST.fullmatch(host)
    if found is None and ("[" in host or "]" in host):
        raise _wrong("The address's host has a bracket of its own: write postgresql://user@[::1]:5432/database.")
    if found is None or (found[1] and not 1 <= int(found[1]) <= 65_535):
        raise _wrong("The address's port is a number from 1 to 65535: postgresql://user@host:5432/database.")


def _code(sign: str) -> str:
    return f"%{ord(sign):02X}"


def _wrong(words: str) -> InvalidInput:
    return InvalidInput(words, "/url")
