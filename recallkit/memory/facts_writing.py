"""Writing facts: commits of files, who may read them, and what is pinned, forgotten, restored and used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recallkit.errors import NotFound
from recallkit.events.records import iso_ms
from recallkit.memory.arguments import body, flag, name, names, optional_name, shown, wrong
from recallkit.memory.bounds import READERS
from recallkit.memory.facts_extract import Markdown
from recallkit.memory.facts_fold import FactsFold
from recallkit.memory.facts_graph import Row
from recallkit.memory.facts_model import Extractor, Fact, digest, may_read, path_text
from recallkit.memory.facts_settle import Settled, Settler
from recallkit.memory.log import System, present


class FactsWriting(System[FactsFold]):
    """What records; the reading half is `facts.Facts`."""

    prefix = "facts"

    def __init__(self, source: Any, extract: Extractor | None) -> None:
        if extract is not None and not callable(extract):
            raise wrong("extract", f"must be callable, but it is {shown(extract)}.")
        self._kept: dict[str, tuple[Fact, ...]] = {}
        self._settler = Settler(extract or Markdown(), self._kept)
        super().__init__(source)

    def _empty(self) -> FactsFold:
        return FactsFold()

    def commit(
        self,
        *,
        space: str,
        path: str,
        text: str,
        author: str,
        readers: Sequence[str] | None = None,
        correction: bool = False,
        now: Any = None,
    ) -> str:
        """Record a new version of a file; what it states is extracted when a recall needs it.

        Parameters
        ----------
        space, path : str
            Where; a path is names between slashes, such as ``alice/notes.md``.
        text : str
            The whole file, Markdown for the default extractor.
        author : str
        readers : sequence of str, optional
            Who may read what this version states, besides its author; everyone in the space when left out.
        correction : bool
            What the version before states and this one does not was never true: it is closed and not kept as a past
            value.

        Returns
        -------
        str
            The commit's id.
        """
        data: dict[str, Any] = {
            "space": name("space", space),
            "path": path_text("path", path),
            "text": body("text", text),
            "author": name("author", author),
            "readers": _reader_list(readers, author),
        }
        if flag("correction", correction):
            data["correction"] = True
        return self._record("committed", data, present(now), f"{space}/{path}")

    def remove(
        self, *, space: str, path: str, author: str, readers: Sequence[str] | None = None, now: Any = None
    ) -> str:
        """Record that a file is gone, for those readers: what it states closes. Its versions stay."""
        data = {
            "space": name("space", space),
            "path": path_text("path", path),
            "author": name("author", author),
            "readers": _reader_list(readers, author),
        }
        with self._lock:
            self._file(space, path, author)
        return self._record("removed", data, present(now), f"{space}/{path}")

    def set_readers(self, *, space: str, path: str, readers: Sequence[str] | None, author: str, now: Any = None) -> str:
        """Change who may read what a path stated up to now, in the past too; later commits name their own."""
        data = {"space": name("space", space), "path": path_text("path", path), "author": name("author", author)}
        with self._lock:
            self._file(space, path, author)
        return self._record(
            "shared", {**data, "readers": _reader_list(readers, author)}, present(now), f"{space}/{path}"
        )

    def pin(self, id: str, *, caller: str | None = None, now: Any = None) -> None:
        """Pin a fact: among equally relevant ones it comes first."""
        self._tune("pinned", id, caller, now)

    def unpin(self, id: str, *, caller: str | None = None, now: Any = None) -> None:
        """Take a pin away."""
        self._tune("unpinned", id, caller, now)

    def forget(self, id: str, *, caller: str | None = None, now: Any = None) -> None:
        """Archive a fact: recalls leave it out until it is restored."""
        self._tune("forgotten", id, caller, now)

    def restore_fact(self, id: str, *, caller: str | None = None, now: Any = None) -> None:
        """Bring a forgotten fact back."""
        self._tune("restored", id, caller, now)

    def access(self, id: str, *, caller: str | None = None, now: Any = None) -> None:
        """Record that a fact was used: its salience grows, and fades with the days. A recall records nothing."""
        self._tune("accessed", id, caller, now)

    def _tune(self, verb: str, id: str, caller: str | None, now: Any) -> None:
        id = name("id", id)
        optional_name("caller", caller)
        with self._lock:
            row = self._row(id)
            # Without a caller the host itself acts; with one, what the caller may not read is not there.
            if row is None or (caller is not None and not may_read(row.entry.readers, caller)):
                raise NotFound(f"There is no fact {shown(id)}.")
            space = row.entry.commit.space
        data = {"fact": id, "space": space} | ({} if caller is None else {"caller": caller})
        self._record(verb, data, present(now), id)

    def _record(self, verb: str, data: Mapping[str, Any], now: int, subject: str) -> str:
        """Publish an event whose id follows from what it says, so that equal histories have equal ids."""
        event: dict[str, Any] = {
            "specversion": "1.0",
            "type": f"{self.prefix}.{verb}",
            "source": f"/memory/{self.prefix}",
            "time": iso_ms(now),
            "datacontenttype": "application/json",
            "data": {key: value for key, value in data.items() if value is not None},
        }
        with self._lock:
            fold = self._caught_up()
            repeat = 0
            while (id := f"{verb}-{digest(verb, event['data'], now, repeat)}") in fold.ids:
                repeat += 1
            event |= {"id": id, "subject": subject if len(subject) <= 256 else id}
            self.log.publish(event)
        return id

    def _row(self, id: str) -> Row | None:
        """Find a fact by its id, settling the path that its commit is of."""
        fold = self._caught_up()
        entry = fold.entry_of(id)
        if entry is None:
            return None
        at = fold.spaces[entry.commit.space]
        self._settler.path(fold, at, at.paths[entry.commit.path], None, Settled())
        return at.by_id.get(id)

    def _file(self, space: str, path: str, author: str) -> None:
        at = self._caught_up().spaces.get(space)
        found = at.paths.get(path) if at is not None else None
        if found is None or not any(may_read(entry.readers, author) for entry in found.entries):
            raise NotFound(f"There is no file {shown(path)} in {shown(space)} that {who(author)} may read.")


def _reader_list(readers: Any, author: str) -> list[str] | None:
    return None if readers is None else sorted({*names("readers", readers, READERS), author})


def who(caller: str | None) -> str:
    """Name a caller in a sentence."""
    return "everyone" if caller is None else shown(caller)
