"""What a team's memory keeps of its events: memories, what retired them, and who belongs to what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from recallkit.errors import Conflict, InvalidInput, NotFound, RecallkitError
from recallkit.memory import arguments
from recallkit.memory.bounds import MEANING_FLOOR, MEMBERS_AT_ONCE, SUPERSEDED_AT_ONCE
from recallkit.memory.embeddings import Embedding
from recallkit.memory.log import Record
from recallkit.memory.search import Search
from recallkit.memory.search_index import Array, Growing
from recallkit.memory.team_projects import Projects, project_of

VISIBILITIES: Final = ("shared", "private")
SCOPES: Final = ("org", "agent", "private")


@dataclass(slots=True)
class Memory:
    """A memory as it stands; its number is that of its text in the search, and the order of remembering."""

    number: int
    id: str
    text: str
    author: str
    agent: str | None
    space: str | None
    project: str | None
    visibility: str
    thread: str | None
    at: int
    position: int
    supersedes: tuple[str, ...]
    superseded: bool = False
    forgotten: bool = False


@dataclass
class Columns:
    """A row a memory, for deciding about many at once; a code of -1 is none."""

    author: Growing = field(default_factory=lambda: Growing(np.int32))
    agent: Growing = field(default_factory=lambda: Growing(np.int32))
    space: Growing = field(default_factory=lambda: Growing(np.int32))
    project: Growing = field(default_factory=lambda: Growing(np.int32))
    private: Growing = field(default_factory=lambda: Growing(np.bool_))
    retired: Growing = field(default_factory=lambda: Growing(np.bool_))
    forgotten: Growing = field(default_factory=lambda: Growing(np.bool_))
    thread: Growing = field(default_factory=lambda: Growing(np.int32))


class TeamFold:
    """The fold of the events whose types begin with ``team.``; an event that breaks a rule changes nothing."""

    def __init__(self, embed: Embedding | None, floor: float = MEANING_FLOOR) -> None:
        self.memories: list[Memory] = []
        self.by_id: dict[str, Memory] = {}
        self.projects = Projects()
        self.members: dict[str, dict[str, None]] = {}  # of projects, by id
        self.closed: dict[str, dict[str, None]] = {}  # of spaces that have members, by slug
        self.columns = Columns()
        self.search = Search(embed, floor)
        self.passed_over = 0
        self._codes: dict[tuple[str, str], int] = {}
        self._handlers: dict[str, Callable[[Record, Mapping[str, Any]], None]] = {
            "team.remembered": self._remembered,
            "team.superseded": self._superseded,
            "team.forgotten": self._forgotten,
            "team.project_registered": self._registered,
            "team.member_added": self._added,
        }

    def apply(self, record: Record) -> None:
        """Fold one event."""
        handler = self._handlers.get(record.type)
        try:
            if handler is None or not isinstance(record.data, dict):
                raise InvalidInput("No event of a team's memory is like this.")
            handler(record, record.data)
        except RecallkitError:
            self.passed_over += 1

    # Who may see and do what; the writers ask the same before they publish

    def sees(self, caller: str, memory: Memory) -> bool:
        """Tell whether a caller may see a memory, superseded or not; see `visible`, which decides for all at once."""
        if memory.forgotten:
            return False
        if memory.visibility == "private":
            return memory.author == caller
        return self._may_enter(caller, memory.project, memory.space)

    def _may_enter(self, caller: str, project: str | None, space: str | None) -> bool:
        in_project = project is None or caller in self.members.get(project, ())
        return in_project and (space is None or space not in self.closed or caller in self.closed[space])

    def visible(self, caller: str) -> Array:
        """Tell of each memory whether a caller may see it: shared ones, their own private ones, and those of the
        projects and closed spaces that they belong to."""
        columns = self.columns
        projects = [self.code("project", id) for id, members in self.members.items() if caller in members]
        barred = [self.code("space", slug) for slug, members in self.closed.items() if caller not in members]
        entered = columns.project.values < 0
        for code in projects:
            entered |= columns.project.values == code
        for code in barred:
            entered &= columns.space.values != code
        own = columns.author.values == self.code("author", caller)
        result: Array = np.where(columns.private.values, own, entered) & ~columns.forgotten.values
        return result

    def neighbours(self, seen: Array) -> tuple[Array, Array] | None:
        """Give, for each memory, the ones seen just before and after it in its thread, -1 for none.

        Those that the caller may not see stand between nothing: they are passed by as if they were not there.
        """
        threads = self.columns.thread.values
        rows = np.flatnonzero(seen & (threads >= 0))
        if not len(rows):
            return None
        rows = rows[np.argsort(threads[rows], kind="stable")]
        first, second = rows[:-1], rows[1:]
        same = threads[first] == threads[second]
        before, after = np.full(len(threads), -1), np.full(len(threads), -1)
        before[second[same]], after[first[same]] = first[same], second[same]
        return before, after

    def projects_of(self, caller: str) -> list[str]:
        """Give the ids of the projects that a caller belongs to."""
        return [id for id, members in self.members.items() if caller in members]

    def memory(self, id: str, caller: str | None) -> Memory:
        """Give a memory that is there and, where a caller is named, that they may see."""
        found = self.by_id.get(id)
        if found is None or found.forgotten or (caller is not None and not self.sees(caller, found)):
            # The same words for all three, so that nobody learns of a memory by asking for it.
            raise NotFound(f"There is no memory with the id {arguments.shown(id)}, or it was forgotten.")
        return found

    def may_remember(self, kept: Mapping[str, Any]) -> None:
        """Check that an author belongs where a memory is filed, and that it hides nothing from anyone."""
        author, project, space = kept["author"], kept["project"], kept["space"]
        if project is not None:
            self.projects.find(project, self.projects_of(author))
        if not self._may_enter(author, project, space):
            raise NotFound(f"space {arguments.shown(space)} is none that {author} belongs to.")
        for id in kept["supersedes"]:
            old = self.memory(id, author)
            self.may_supersede(old, kept["visibility"], project, space)

    def may_supersede(self, old: Memory, visibility: str, project: str | None, space: str | None) -> None:
        """Check that a successor is at least as visible as what it supersedes."""
        if old.visibility == "private":
            return
        less = None
        if visibility == "private":
            less = "it is private"
        elif project is not None and project != old.project:
            less = f"only the members of the project {project} see it"
        elif space is not None and space != old.space and space in self.closed:
            less = f"only the members of the space {space} see it"
        if less is not None:
            raise Conflict(f"The successor is less visible than {old.id}, which it supersedes: {less}.", "less_visible")

    # The events

    def _remembered(self, record: Record, data: Mapping[str, Any]) -> None:
        if record.id in self.by_id:
            raise Conflict("The id is taken.")
        kept = memory_of(data)
        self.may_remember(kept)
        number = self.search.add(kept["text"])
        memory = Memory(number=number, id=record.id, at=record.time, position=record.position, **kept)
        columns = self.columns
        columns.author.append(self._code("author", memory.author))
        columns.agent.append(self._code("agent", memory.agent))
        columns.space.append(self._code("space", memory.space))
        columns.project.append(self._code("project", memory.project))
        columns.private.append(memory.visibility == "private")
        columns.retired.append(False)
        columns.forgotten.append(False)
        columns.thread.append(self._code("thread", memory.thread))
        self.memories.append(memory)
        self.by_id[memory.id] = memory
        for id in memory.supersedes:
            self._retire(self.by_id[id])

    def _superseded(self, record: Record, data: Mapping[str, Any]) -> None:
        by = arguments.optional_name("by", data.get("by"))
        old = self.memory(arguments.name("memory", data.get("memory")), by)
        new = self.memory(arguments.name("successor", data.get("successor")), by)
        self.check_successor(old, new)
        new.supersedes = (*new.supersedes, old.id)
        self._retire(old)

    def check_successor(self, old: Memory, new: Memory) -> None:
        """Check that one memory may supersede another: it is later, and at least as visible."""
        if old.number >= new.number:
            raise InvalidInput(
                f"{new.id} was not remembered after {old.id}; a successor is the newer one.", "/successor"
            )
        self.may_supersede(old, new.visibility, new.project, new.space)

    def _retire(self, memory: Memory) -> None:
        memory.superseded = True
        self.columns.retired[memory.number] = True

    def _forgotten(self, record: Record, data: Mapping[str, Any]) -> None:
        by = arguments.optional_name("by", data.get("by"))
        memory = self.memory(arguments.name("memory", data.get("memory")), by)
        memory.forgotten = True
        self.columns.forgotten[memory.number] = True

    def _registered(self, record: Record, data: Mapping[str, Any]) -> None:
        project = project_of(data)
        self.projects.may_register(project)
        self.projects.register(project)
        members = arguments.names("members", data.get("members", ()), MEMBERS_AT_ONCE)
        self.members.setdefault(project.id, {}).update(dict.fromkeys(members))

    def _added(self, record: Record, data: Mapping[str, Any]) -> None:
        member = arguments.name("member", data.get("member"))
        space, project = data.get("space"), data.get("project")
        if (space is None) == (project is None):
            raise InvalidInput("A member is added to a space or to a project.")
        if project is not None:
            found = self.projects.find(arguments.name("project", project))
            self.members[found.id][member] = None
        else:
            self.closed.setdefault(arguments.name("space", space), {})[member] = None

    def _code(self, what: str, value: str | None) -> int:
        return -1 if value is None else self._codes.setdefault((what, value), len(self._codes))

    def code(self, what: str, value: str) -> int:
        """Give the code of a value in its column; -2, which no row has, when no memory has it."""
        return self._codes.get((what, value), -2)


def memory_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Check what is remembered, and give the fields of a memory; the project is not looked up yet."""
    supersedes = data.get("supersedes")
    if isinstance(supersedes, str):
        supersedes = (supersedes,)
    return {
        "text": arguments.body("text", data.get("text")),
        "author": arguments.name("author", data.get("author")),
        "agent": arguments.optional_name("agent", data.get("agent")),
        "space": arguments.optional_name("space", data.get("space")),
        "project": arguments.optional_name("project", data.get("project")),
        "visibility": arguments.one_of("visibility", data.get("visibility", "shared"), VISIBILITIES),
        "thread": arguments.optional_name("thread", data.get("thread")),
        "supersedes": arguments.names("supersedes", () if supersedes is None else supersedes, SUPERSEDED_AT_ONCE),
    }
