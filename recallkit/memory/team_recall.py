"""Recall over a team's memory: visibility, then ranking, then the limit. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recallkit.errors import NotFound
from recallkit.memory import arguments
from recallkit.memory.arguments import iso
from recallkit.memory.bounds import TEAM_LIMIT_MOST
from recallkit.memory.recalled import Recalled
from recallkit.memory.search import Hits
from recallkit.memory.search_index import Array
from recallkit.memory.search_words import STOP_WORDS, parts, stem, stems
from recallkit.memory.team_fold import SCOPES, Memory, TeamFold


@dataclass(frozen=True)
class Request:
    """What a recall asks of a team's memory, checked."""

    query: str
    caller: str
    agent: str | None
    scope: str
    space: str | None
    project: str | None
    limit: int


def request_of(**given: Any) -> Request:
    """Check the arguments of a recall."""
    request = Request(
        query=arguments.query("query", given["query"], may_be_empty=False),
        caller=arguments.name("caller", given["caller"]),
        agent=arguments.optional_name("agent", given["agent"]),
        scope=arguments.one_of("scope", given["scope"], SCOPES),
        space=arguments.optional_name("space", given["space"]),
        project=arguments.optional_name("project", given["project"]),
        limit=arguments.whole("limit", given["limit"], 1, TEAM_LIMIT_MOST),
    )
    if request.agent is not None and request.scope != "agent":
        raise arguments.wrong("agent", f"is for scope='agent'; the scope is {request.scope!r}.")
    return request


def recall(fold: TeamFold, request: Request) -> Recalled:
    """Answer a request.

    Everything is decided from what the caller may see: what others keep private changes no figure and no order.

    Raises
    ------
    NotFound
        The agent, the space or the project is none that the caller knows of.
    InvalidInput
        The project is the display name of several.
    """
    columns = fold.columns
    visible = fold.visible(request.caller)
    # Superseded ones leave before anything narrows, so that narrowing never brings an old decision back.
    current = visible & ~columns.retired.values
    chosen = current.copy()
    left = {"superseded": int(np.count_nonzero(visible)) - int(np.count_nonzero(current))}

    def keep(what: str, mask: Array) -> None:
        nonlocal chosen
        kept = chosen & mask
        left[what] = int(np.count_nonzero(chosen)) - int(np.count_nonzero(kept))
        chosen = kept

    if request.scope == "private":
        keep("not your own", columns.private.values)
    elif request.scope == "agent":
        keep("not by the agent", _by_agent(fold, request, visible))
    if request.space is not None:
        keep("in other spaces", _in_space(fold, request, request.space, visible))
    project = None
    if request.project is not None:
        project = fold.projects.find(request.project, fold.projects_of(request.caller)).id
        code = fold.code("project", project)
        keep("in other projects", (columns.project.values == code) | (columns.project.values < 0))

    # The project's own first, then those of no project.
    ahead = None if project is None else columns.project.values >= 0
    hits = fold.search.find(request.query, current, chosen, fold.neighbours(current), most=request.limit, ahead=ahead)
    left["without a match"] = int(np.count_nonzero(chosen)) - hits.total
    left["past the limit"] = hits.total - len(hits.numbers)
    results = [_result(fold, hits, place, request, project, visible) for place in range(len(hits.numbers))]
    return Recalled("team memory", results, request=asdict(request), left_out=left)


def _by_agent(fold: TeamFold, request: Request, visible: Array) -> Array:
    """Which memories the agent wrote; the agent that is named as the caller, when none is named."""
    agent = request.agent or request.caller
    mask: Array = fold.columns.agent.values == fold.code("agent", agent)
    if not (mask & visible).any():
        hint = "" if request.agent else " Say which agent with agent=…, since the caller's own name is that of none."
        raise NotFound(f"No agent {arguments.shown(agent)} wrote anything that you may see.{hint}")
    return mask


def _in_space(fold: TeamFold, request: Request, space: str, visible: Array) -> Array:
    mask: Array = fold.columns.space.values == fold.code("space", space)
    belongs = request.caller in fold.closed.get(space, ())
    # Known when the caller belongs to it or may see something in it, so that the error tells of no hidden space.
    if not belongs and not (mask & visible).any():
        raise NotFound(f"space {arguments.shown(space)} is none that you may see: nothing there is yours to read.")
    return mask


def _result(
    fold: TeamFold, hits: Hits, place: int, request: Request, project: str | None, visible: Array
) -> dict[str, Any]:
    memory = fold.memories[int(hits.numbers[place])]
    legs = hits.matched_by(place)
    meaning = float(hits.meaning[place])
    return {
        "id": memory.id,
        "text": memory.text,
        "author": memory.author,
        "agent": memory.agent,
        "space": memory.space,
        "project": memory.project,
        "visibility": memory.visibility,
        "at": iso(memory.at),
        "matched_by": legs,
        "score": float(hits.score[place]),
        "words": round(float(hits.words[place]), 6),
        "meaning": None if np.isnan(meaning) else round(meaning, 6),
        "supersedes": [id for id in memory.supersedes if visible[fold.by_id[id].number]],
        "why": _why(memory, hits, place, legs, request, project),
    }


def _why(memory: Memory, hits: Hits, place: int, legs: list[str], request: Request, project: str | None) -> str:
    """Say which legs found a memory, and why the caller sees it."""
    said = []
    if "literal" in legs:
        said.append("has the query's literal" if hits.literal[place] > 1 else "has the query's words side by side")
    if "words" in legs:
        # Words that differ by their endings only are the same here, as in the search.
        having = set(stems(parts(memory.text)))
        asked = [part for part in dict.fromkeys(parts(request.query)) if part not in STOP_WORDS]
        shared = [part for part in asked if stem(part) in having]
        told = f" ({' '.join(shared)})" if shared else ""
        said.append(f"shares words{told}, {hits.words[place]:.2f}")
    if "meaning" in legs:
        said.append(f"means the like, {hits.meaning[place]:.2f} above {hits.floor}")
    mine = "private to you" if memory.visibility == "private" else "shared"
    where = f"project {memory.project}" if memory.project else "no project"
    filler = "; fills up after the project's" if project is not None and memory.project is None else ""
    return f"{'; '.join(said)}; {mine}, {where}{filler}"
