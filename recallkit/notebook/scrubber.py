"""The scrubber: a widget that seeks through a folded history by index."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from recallkit.notebook.answers import Answers
from recallkit.notebook.front import module, styles
from recallkit.notebook.head import head

if TYPE_CHECKING:
    from recallkit.folding import Folding


class Scrubber(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """Seek through a folded history: the view, the event beside it, what it changed, and what the fold cost.

    Nothing larger than what is shown travels to the browser: the tree's branches are read out as they are opened.

    Parameters
    ----------
    folding : Folding
    position : int, optional
        How many events are folded in the view shown first; the last place, where a stall is told, when left out.

    Attributes
    ----------
    position : int
        The place shown; set it to seek, observe it to follow a person.
    """

    _esm = module("widget")
    _css = styles()
    head = traitlets.Dict().tag(sync=True)
    position = traitlets.Int().tag(sync=True)

    def __init__(self, folding: Folding, *, position: int | None = None) -> None:
        self._folding = folding
        self._answers = Answers(folding)
        last = self._answers.last
        place = last if position is None else max(0, min(int(position), last))
        super().__init__(head=head(folding), position=place)
        self.on_msg(self._hear)

    @traitlets.validate("position")
    def _within(self, proposal: Any) -> int:
        return int(max(0, min(int(proposal["value"]), self._answers.last)))

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        # The browser asks one thing at a time and keeps only its newest wish, so that nothing queues up here.
        if isinstance(content, dict) and isinstance(content.get("request"), dict):
            reply = self._answers.answer(content["request"])
            self.send({"id": content.get("id"), "reply": reply})

    def save(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML file that scrubs without a kernel and without a network; say how large it is.

        Parameters
        ----------
        path : str or path
        **options
            ``start``, ``stop``, ``keyframe_every``, ``most_bytes``: see :func:`recallkit.notebook.saved_page.save`.

        Returns
        -------
        pathlib.Path
            The file; its size is printed.
        """
        from recallkit.notebook.saved_page import save

        target = save(self._folding, path, **options)
        print(f"{target.name}: {target.stat().st_size:,} bytes")
        return target

    def __repr__(self) -> str:
        last = self._answers.last
        return f"<Scrubber over {last:,} event{'' if last == 1 else 's'}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Show the widget, and beside it what it would say, for places without widgets."""
        from recallkit.notebook.html import folding_html

        shown = super()._repr_mimebundle_(**options)
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        words = html.escape("The scrubber needs a running kernel; scrub().save(path) writes a page that needs none.")
        bundle = dict(bundle or {})
        bundle["text/plain"] = repr(self)
        bundle["text/html"] = f"{folding_html(self._folding)}<p><small>{words}</small></p>"
        return bundle, metadata
