"""The Markdown that overviews are written in, as HTML: paragraphs, bold, code, lists and fenced code. Nothing else."""

from __future__ import annotations

import re
from html import escape
from typing import Final

_FENCE: Final = re.compile(r"(`{3,})(\w*)$")
_ITEM: Final = re.compile(r"( *)- (.*)")
# A backslash before a sign keeps it from meaning anything; a run of backticks holds code up to an equal run.
_TOKEN: Final = re.compile(r"\\([!-/:-@\[-`{-~])|(?<!`)(`+)(?!`)(.+?)(?<!`)\2(?!`)")
_BOLD: Final = re.compile(r"\*\*(.+?)\*\*")


def to_html(markdown: str) -> str:
    """Turn an overview into HTML; every character of it that HTML knows is escaped."""
    out: list[str] = []
    paragraph: list[str] = []
    depth = 0
    lines = iter(markdown.replace("\0", "").split("\n"))

    def close(to: int) -> None:
        nonlocal depth
        if paragraph:
            out.append(f"<p style='margin:.4em 0'>{inline(' '.join(paragraph))}</p>")
            paragraph.clear()
        while depth > to:
            out.append("</ul>")
            depth -= 1

    for line in lines:
        fence = _FENCE.match(line)
        item = _ITEM.match(line)
        if fence:
            close(0)
            code = []
            for inner in lines:
                if inner == fence[1]:
                    break
                code.append(inner)
            out.append(
                "<pre style='margin:.3em 0;padding:.4em .6em;overflow-x:auto;border-radius:5px;"
                f"background:rgba(128,128,128,.12);color:inherit'>{escape(chr(10).join(code))}</pre>"
            )
        elif item:
            level = len(item[1]) // 2 + 1
            close(min(depth, level))
            while depth < level:
                out.append("<ul style='margin:.2em 0'>")
                depth += 1
            out.append(f"<li>{inline(item[2])}</li>")
        elif line.strip():
            if depth:
                close(0)
            paragraph.append(line.strip())
        else:
            close(depth)
    close(0)
    return "".join(out)


def inline(text: str) -> str:
    """Turn a line's bold, code and backslash escapes into HTML."""
    rest: list[str] = []
    done: list[str] = []
    at = 0
    for token in _TOKEN.finditer(text):
        # What is done is put aside, so that bold may go around it and nothing is read twice.
        rest += [text[at : token.start()], f"\0{len(done)}\1"]
        done.append(f"&#{ord(token[1])};" if token[1] else f"<code>{escape(_code(token[3]))}</code>")
        at = token.end()
    words = ("".join(rest) + text[at:]).replace("&amp;", "&")
    marked = _BOLD.sub(r"<strong>\1</strong>", escape(words))
    return re.sub("\0([0-9]+)\1", lambda found: done[int(found[1])], marked)


def _code(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == " " and text.strip() else text
