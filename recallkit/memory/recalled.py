"""What a recall gives back: the results in order, why each came, and what was left out, in numbers."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_CHARACTERS = 160


class Recalled:
    """The outcome of a recall.

    Attributes
    ----------
    results : list of dict
        In order; each has at least ``id``, ``text`` and ``why``, a sentence that says why it came.
    left_out : dict of str to int
        How many were left out and by what, among what the caller may see: numbers, never content.
    next_since : str or None
        Signals only: the cursor for the next poll.
    answer : object or None
        Facts only: what the synthesis wrote.
    request : dict
        What was asked, with the defaults filled in.
    receipt : dict or None
        Signals only: digests of the evidence labels that the caller declared.
    notes : dict
        Whatever else a system tells about the recall, such as how many commits were settled.
    """

    def __init__(
        self,
        system: str,
        results: Sequence[Mapping[str, Any]],
        *,
        request: Mapping[str, Any],
        left_out: Mapping[str, int] | None = None,
        next_since: str | None = None,
        answer: Any = None,
        receipt: Mapping[str, Any] | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        self.system = system
        self.results: list[dict[str, Any]] = [dict(result) for result in results]
        self.request = dict(request)
        self.left_out = dict(left_out or {})
        self.next_since = next_since
        self.answer = answer
        self.receipt = None if receipt is None else dict(receipt)
        self.notes = dict(notes or {})

    @property
    def frame(self) -> pd.DataFrame:
        """The results as a DataFrame, a row each in their order."""
        import pandas as pd

        columns = list(dict.fromkeys(name for result in self.results for name in result)) or ["id", "text", "why"]
        return pd.DataFrame(self.results, columns=pd.Index(columns))

    @property
    def ids(self) -> list[str]:
        """The ids of the results, in order."""
        return [str(result["id"]) for result in self.results]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.results)

    def __bool__(self) -> bool:
        return bool(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Give the whole outcome as JSON values."""
        return {
            "system": self.system,
            "request": self.request,
            "results": self.results,
            "left_out": self.left_out,
            "next_since": self.next_since,
            "answer": self.answer,
            "receipt": self.receipt,
            "notes": self.notes,
        }

    def __repr__(self) -> str:
        count = len(self.results)
        lines = [f"<Recalled from {self.system}: {count:,} result{'' if count == 1 else 's'}>"]
        lines += [f"  {_cut(result['text'])}\n    {result['why']}" for result in self.results[:10]]
        if count > 10:
            lines.append(f"  … and {count - 10:,} more in .results")
        left = self._left()
        return "\n".join([*lines, f"  left out: {left}"] if left else lines)

    def _left(self) -> str:
        return ", ".join(f"{count:,} {what}" for what, count in self.left_out.items() if count)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{place}</td><td style='text-align:left'>{html.escape(_cut(result['text']))}</td>"
            f"<td style='text-align:left'>{html.escape(str(result['why']))}</td>"
            f"<td><code>{html.escape(str(result['id']))}</code></td></tr>"
            for place, result in enumerate(self.results, start=1)
        )
        asked = ", ".join(f"{name}={value!r}" for name, value in self.request.items() if value is not None)
        parts = [f"<p><b>{html.escape(self.system)}</b>: {html.escape(asked)}</p>"]
        if self.answer is not None:
            parts.append(f"<p>{html.escape(str(self.answer))}</p>")
        if rows:
            heads = "".join(f"<th scope='col'>{head}</th>" for head in ("", "text", "why it came", "id"))
            parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
        else:
            parts.append("<p>Nothing was found.</p>")
        told = [f"left out: {self._left()}"] if self._left() else []
        told += [f"next_since: {self.next_since}"] if self.next_since else []
        told += [f"{name}: {value}" for name, value in self.notes.items()]
        parts += [f"<p>{html.escape(line)}</p>" for line in told]
        return "".join(parts)


def _cut(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"
