"""Projects of a team: how one is named, by its id, its git remote, its root path or its display name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from recallkit.errors import Conflict, InvalidInput, NotFound
from recallkit.memory import arguments

_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(\S+)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PORTS = {"ssh": 22, "https": 443, "http": 80, "git": 9418, "git+ssh": 22, "ssh+git": 22}


@dataclass(frozen=True)
class Project:
    """A registered project; remote and root are in their normal form."""

    id: str
    name: str
    remote: str | None
    root: str | None


def normal_remote(text: str) -> str | None:
    """Give a git remote's normal form, ``host/path``; None when the text is none.

    The ssh, scp-like, https and git forms of one repository are the same; a user, a password and ``.git`` are dropped.
    """
    text = text.strip()
    if "://" in text:
        try:
            split = urlsplit(text)
            port = split.port
        except ValueError:
            return None
        if split.scheme.lower() not in _PORTS or not split.hostname:
            return None
        usual = port is None or port == _PORTS[split.scheme.lower()]
        host = split.hostname if usual else f"{split.hostname}:{port}"
        path = split.path
    else:
        found = None if _DRIVE.match(text) else _SCP.fullmatch(text)
        if found is None:
            return None
        host, path = found.groups()
    path = posixpath.normpath("/" + path.strip("/")).strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if path else None


def normal_root(text: str) -> str | None:
    """Give a root path's normal form; None when the text is no absolute path."""
    text = text.strip()
    if _DRIVE.match(text):
        return posixpath.normpath(text[0].lower() + text[1:].replace("\\", "/"))
    return "/" + posixpath.normpath(text).strip("/") if text.startswith("/") else None


def normal_name(text: str) -> str:
    """Give what display names are compared by: case apart, single spaces."""
    return " ".join(text.split()).casefold()


def project_of(data: Mapping[str, Any]) -> Project:
    """Check a project that is registered."""
    id = arguments.name("id", data.get("id"))
    remote, root = data.get("remote"), data.get("root")
    if remote is not None:
        given = arguments.name("remote", remote)
        remote = normal_remote(given)
        if remote is None:
            raise arguments.wrong("remote", f"is no git remote: {arguments.shown(given)}.")
    if root is not None:
        given = arguments.name("root", root)
        root = normal_root(given)
        if root is None:
            raise arguments.wrong("root", f"is no absolute path: {arguments.shown(given)}.")
    return Project(id, arguments.name("name", data.get("name", id)), remote, root)


class Projects:
    """The registered projects, by everything that may name one."""

    def __init__(self) -> None:
        self.by_id: dict[str, Project] = {}

    def may_register(self, project: Project) -> bool:
        """Check that a project may be registered; tell whether it is there already, exactly so."""
        known = self.by_id.get(project.id)
        if known is not None and known != project:
            raise Conflict(f"The project {project.id} is registered, with another remote, root or name.", "taken")
        for other in self.by_id.values():
            if other.id == project.id:
                continue
            for what in ("remote", "root"):
                value = getattr(project, what)
                if value is not None and value == getattr(other, what):
                    raise Conflict(f"The {what} {value} is that of the project {other.id}.", "taken")
        return known is not None

    def register(self, project: Project) -> None:
        """Keep a project."""
        self.by_id[project.id] = project

    def find(self, identifier: str, among: Iterable[str] | None = None) -> Project:
        """Give the one project that an identifier names.

        Parameters
        ----------
        identifier : str
            An id, else a git remote, else a root path, else a display name: the first of these that names one.
        among : iterable of str, optional
            The ids of the projects that may be meant; all when left out.

        Raises
        ------
        NotFound
            It names none of them.
        InvalidInput
            It is the display name of several.
        """
        allowed = self.by_id if among is None else {id: self.by_id[id] for id in among if id in self.by_id}
        if identifier in allowed:
            return allowed[identifier]
        remote, root, name = normal_remote(identifier), normal_root(identifier), normal_name(identifier)
        for what, value in (("remote", remote), ("root", root)):
            found = [each for each in allowed.values() if value is not None and getattr(each, what) == value]
            if found:
                return found[0]
        named = [project for project in allowed.values() if normal_name(project.name) == name]
        if len(named) > 1:
            ids = ", ".join(sorted(project.id for project in named))
            shown = arguments.shown(identifier)
            raise InvalidInput(f"project {shown} is the display name of several: {ids}. Give an id.", "/project")
        if not named:
            raise NotFound(f"project {arguments.shown(identifier)} is none that you belong to.")
        return named[0]
