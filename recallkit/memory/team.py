"""Team memory: decisions that a team's people and agents share, recalled by meaning and by exact wording at once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from recallkit.errors import InvalidInput, NotFound
from recallkit.memory import arguments
from recallkit.memory.bounds import MEANING_FLOOR, MEMBERS_AT_ONCE, TEAM_LIMIT
from recallkit.memory.embeddings import Embedding, default_embedding
from recallkit.memory.log import System, present
from recallkit.memory.recalled import Recalled
from recallkit.memory.team_fold import TeamFold, memory_of
from recallkit.memory.team_projects import project_of
from recallkit.memory.team_recall import recall, request_of

Moment = datetime | str | int | float


class TeamMemory(System[TeamFold]):
    """A team's memory.

    Parameters
    ----------
    source : None, History, Playbook or MemoryLog
        Nothing: a log in memory. A history is read only, and what is written stays in memory after it.
    embed : callable or False, optional
        From a list of texts to their vectors. The default, wordllama, works offline. False searches by words alone.
    floor : float
        The cosine above which a memory that shares no word with the query is a hit; 0.2 suits the default embedding.

    Notes
    -----
    Who sees what: a shared memory everyone, or the members of the project it is filed under; a private one its author.
    A space is open to all until a first member is added to it; then its shared memories are its members'. A memory that
    was superseded never comes back, not even when its successor is forgotten.
    """

    prefix = "team"

    def __init__(
        self,
        source: Any = None,
        *,
        embed: Embedding | Literal[False] | None = None,
        floor: float = MEANING_FLOOR,
    ) -> None:
        if not -1 <= floor <= 1:
            raise arguments.wrong("floor", f"must be a cosine from -1 to 1, but it is {arguments.shown(floor)}.")
        self._floor = float(floor)
        if embed is None:
            self._embed: Embedding | None = default_embedding()
        elif embed is False:
            self._embed = None
        elif callable(embed):
            self._embed = embed
        else:
            raise arguments.wrong("embed", f"must be a callable from texts to vectors, not {arguments.shown(embed)}.")
        super().__init__(source)

    def _empty(self) -> TeamFold:
        return TeamFold(self._embed, self._floor)

    def __repr__(self) -> str:
        return f"<TeamMemory over {self.log!r}>"

    # Writing

    def remember(
        self,
        text: str,
        *,
        author: str,
        agent: str | None = None,
        space: str | None = None,
        project: str | None = None,
        visibility: Literal["shared", "private"] = "shared",
        supersedes: str | Iterable[str] | None = None,
        thread: str | None = None,
        now: Moment | None = None,
    ) -> str:
        """Remember a text and give its id.

        Parameters
        ----------
        text : str
            At most 64 KiB of UTF-8.
        author, agent : str
            The person it belongs to, and the agent identity that wrote it.
        space : str, optional
            A space's slug; it is there once something is remembered in it or a member added to it.
        project : str, optional
            A git remote, a root path, an id or a display name of a project that the author belongs to.
        supersedes : str or iterable of str, optional
            The ids of memories that this one retires; it must be at least as visible as each.
        thread : str, optional
            What is remembered in one thread stands side by side: a memory is also found, at a smaller weight, by the
            words of those just before and after it that the caller may see.

        Raises
        ------
        NotFound
            The project, the space or a superseded memory is none that the author may see.
        Conflict
            It would be less visible than what it supersedes (kind ``less_visible``).
        InvalidInput
            An argument is wrong, or the project's name is that of several. Nothing is written after any error.
        """
        moment = present(now)
        kept = memory_of(
            {
                "text": text,
                "author": author,
                "agent": agent,
                "space": space,
                "project": project,
                "visibility": visibility,
                "supersedes": supersedes,
                "thread": thread,
            }
        )
        with self._lock:
            fold = self._caught_up()
            if kept["project"] is not None:
                # The event names the project by its id, which no later registration can make ambiguous.
                kept["project"] = fold.projects.find(kept["project"], fold.projects_of(kept["author"])).id
            fold.may_remember(kept)
            data = {**kept, "supersedes": list(kept["supersedes"]) or None}
            id = self._publish("remembered", data, now=moment)
            fold = self._caught_up()
            if id not in fold.by_id:
                # Someone else's event was recorded between the look and the writing.
                fold.may_remember(kept)
            return id

    def supersede(self, id: str, *, successor: str, by: str | None = None, now: Moment | None = None) -> None:
        """Retire a memory in favour of a newer one that is there already and at least as visible."""
        id, successor = arguments.name("id", id), arguments.name("successor", successor)
        by, moment = arguments.optional_name("by", by), present(now)
        with self._lock:
            fold = self._caught_up()
            fold.check_successor(fold.memory(id, by), fold.memory(successor, by))
            self._publish("superseded", {"memory": id, "successor": successor, "by": by}, now=moment, subject=id)

    def forget(self, id: str, *, by: str | None = None, now: Moment | None = None) -> None:
        """Retract a memory; what it superseded stays superseded.

        Parameters
        ----------
        by : str, optional
            Who asks: then it must be a memory that they may see.
        """
        id, by, moment = arguments.name("id", id), arguments.optional_name("by", by), present(now)
        with self._lock:
            self._caught_up().memory(id, by)
            self._publish("forgotten", {"memory": id, "by": by}, now=moment, subject=id)

    def register_project(
        self,
        id: str,
        *,
        name: str | None = None,
        remote: str | None = None,
        root: str | None = None,
        members: Iterable[str] = (),
        now: Moment | None = None,
    ) -> str:
        """Register a project and give its id; the same again changes nothing but its members.

        Parameters
        ----------
        name : str, optional
            Its display name; the id when left out. Several projects may have the same.
        remote : str, optional
            Its git remote; the ssh and https forms of one repository are the same.
        root : str, optional
            The absolute path of its repository's root.
        members : iterable of str
            Who belongs to it.

        Raises
        ------
        Conflict
            The id, the remote or the root is another project's (kind ``taken``).
        """
        moment = present(now)
        project = project_of({"id": id, "name": id if name is None else name, "remote": remote, "root": root})
        added = arguments.names("members", members, MEMBERS_AT_ONCE)
        with self._lock:
            fold = self._caught_up()
            there = fold.projects.may_register(project)
            new = [member for member in added if member not in fold.members.get(project.id, ())]
            if not there or new:
                given = {"id": project.id, "name": project.name, "remote": remote, "root": project.root}
                if project.remote is not None:
                    given["remote"] = f"https://{project.remote}"
                self._publish("project_registered", {**given, "members": new}, now=moment, subject=project.id)
            return project.id

    def add_member(
        self, member: str, *, project: str | None = None, space: str | None = None, now: Moment | None = None
    ) -> None:
        """Add a member to a project, or to a space, which is closed to all others from then on.

        Raises
        ------
        NotFound
            No such project is registered.
        """
        member, moment = arguments.name("member", member), present(now)
        project, space = arguments.optional_name("project", project), arguments.optional_name("space", space)
        if (project is None) == (space is None):
            raise InvalidInput("Give either project or space to add a member to.", "/project")
        with self._lock:
            fold = self._caught_up()
            data: dict[str, str]
            if project is not None:
                try:
                    data = {"member": member, "project": fold.projects.find(project).id}
                except NotFound:
                    raise NotFound(f"project {arguments.shown(project)} is not registered.") from None
            else:
                data = {"member": member, "space": str(space)}
            self._publish("member_added", data, now=moment, subject=member)

    # Reading

    def recall(
        self,
        query: str,
        *,
        caller: str,
        scope: Literal["org", "agent", "private"] = "org",
        space: str | None = None,
        project: str | None = None,
        limit: int = TEAM_LIMIT,
        agent: str | None = None,
    ) -> Recalled:
        """Recall what the team knows, by meaning and by exact wording at the same time.

        Parameters
        ----------
        query : str
            A question, or the identifier itself: its parts are matched side by side and in order.
        caller : str
            Who asks.
        scope : {'org', 'agent', 'private'}
            ``org``: the shared memory, the caller's own private ones, and the projects that they belong to.
            ``private``: their own private ones only. ``agent``: what the agent wrote, of what the caller may see.
        space : str, optional
            Confine the search to this space.
        project : str, optional
            This project's memories come first, then those of no project; never another project's. A git remote, a root
            path, an id, or a display name.
        limit : int
            1 to 50.
        agent : str, optional
            With ``scope="agent"``: which agent; the one that is named as the caller, when left out.

        Returns
        -------
        Recalled
            Each result's ``matched_by`` says which legs found it: ``literal``, ``words``, ``meaning``.

        Raises
        ------
        NotFound
            The agent, the space or the project is none that the caller may see.
        InvalidInput
            An argument is wrong, or the project is the display name of several.
        """
        request = request_of(
            query=query, caller=caller, scope=scope, space=space, project=project, limit=limit, agent=agent
        )
        with self._lock:
            return recall(self._caught_up(), request)

    @property
    def passed_over(self) -> int:
        """How many events of the team's memory broke a rule and changed nothing."""
        with self._lock:
            return self._caught_up().passed_over
