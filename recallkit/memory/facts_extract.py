"""The default extractor: facts from Markdown, by its form alone and without a model.

It reads front matter keys, ``**Predicate:** object`` under a heading, ``Subject – predicate: object`` lines and plain
tables. What is written in sentences it leaves alone: an extractor of your own may read those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from recallkit.events.times import read_time
from recallkit.memory.bounds import FACT_TEXT_CHARACTERS
from recallkit.memory.facts_model import Commit, Fact

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_BULLET: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_BOLD: Final = re.compile(r"(?:\*\*|__)([^*_:]+?)(?::[ \t]*(?:\*\*|__)|(?:\*\*|__)[ \t]*:)[ \t]*(\S.*)$")
_STATED: Final = re.compile(r"(\S[^:]*?)[ \t]+(?:[–—]|--?)[ \t]+([^:]+?):[ \t]+(\S.*)$")
_KEY: Final = re.compile(r"([^\s#:'\"\[\]{}-][^:#]*?)[ \t]*:(?:[ \t]+(.*))?$")
_RULE: Final = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL: Final = re.compile(r"(?<!\\)\|")
_LINK: Final = re.compile(r"\[\[([^\]|]+)(?:\|[^\]]*)?\]\]|\[([^\]]+)\]\([^)\s]*\)")
_MARKS: Final = re.compile(r"(\*\*|__|\*|`)(\S(?:.*?\S)?)\1")
_NAME: Final = re.compile(r"(?:@?[^\W\d_][\w.'’&-]*)(?: (?:@?[^\W\d_][\w.'’&-]*|\d+))*")
_SMALL: Final = frozenset(["a", "and", "de", "for", "of", "on", "the", "to", "van", "von"])
_DAY: Final = r"\d{4}-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?)?"
_WINDOW: Final = re.compile(
    rf"[ \t]*\((?:(?:since|from|as of)[ \t]+(?P<since>{_DAY})(?:[ \t]*(?:to|until|–|-)[ \t]*(?P<to>{_DAY}))?"
    rf"|(?:until|to|ended)[ \t]+(?P<until>{_DAY})|(?P<begin>{_DAY})[ \t]*(?:to|until|–|-)[ \t]*(?P<end>{_DAY}))\)[.]?$",
    re.IGNORECASE,
)
_SUBJECT_KEYS: Final = ("subject", "title", "name")
_OWN_KEYS: Final = ("valid_from", "valid_to", "confidence")
_UNSURE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Markdown:
    """Extracts facts from the forms of Markdown named above.

    Attributes
    ----------
    single : frozenset of str
        Predicates, case apart, of which a subject has one value at a time in the whole space: stated again in another
        file, the new value retires the old one. Without it only a new version of the same file does that.

    Notes
    -----
    - A front matter key is a predicate of the file's subject: its ``subject``, ``title`` or ``name``, else its first
      heading of level 1, else its name. A list gives a fact an item. ``valid_from``, ``valid_to`` and ``confidence``
      hold for all facts of the file.
    - ``(since 2026-05-01)``, ``(until …)``, ``(2026-01-01 to 2026-02-01)`` at the end of an object bound its valid
      time.
    - An object that ends in ``?`` is half as sure.
    - The first column of a table holds the subjects, its heads are the predicates.
    - Fenced code is passed over.
    """

    single: frozenset[str] = frozenset()

    def __init__(self, single: Iterable[str] = ()) -> None:
        object.__setattr__(self, "single", frozenset(each.casefold() for each in single))

    def __call__(self, commit: Commit) -> list[Fact]:
        """Give the facts of a commit, in the order of its lines."""
        lines = commit.text.splitlines() if "\r" in commit.text else commit.text.split("\n")
        if "\r" in commit.text:
            lines = commit.text.replace("\r\n", "\n").split("\n")
        end, keys = _front_matter(lines)
        named = {key.casefold(): values for _, key, values in keys}
        subject = next((named[key][0][1] for key in _SUBJECT_KEYS if named.get(key)), None)
        subject = subject or _title(lines, end) or _stem(commit.path)
        found = [
            _made(subject, key, value, line)
            for _, key, values in keys
            if key.casefold() not in (*_SUBJECT_KEYS, *_OWN_KEYS)
            for line, value in values
        ]
        found += _body(lines, end, subject)
        begin, until = (_moment(named[key][0][1]) if named.get(key) else None for key in _OWN_KEYS[:2])
        sure = _share(named["confidence"][0][1]) if named.get("confidence") else None
        facts = []
        for fact in found:
            if fact is None:
                continue
            if (begin, until, sure) == (None, None, None) and not self.single:
                facts.append(fact)
                continue
            facts.append(
                replace(
                    fact,
                    valid_from=begin if fact.valid_from is None else fact.valid_from,
                    valid_to=until if fact.valid_to is None else fact.valid_to,
                    confidence=fact.confidence if sure is None else min(fact.confidence, sure),
                    single=fact.predicate.casefold() in self.single,
                )
            )
        # A window that ends before it begins says nothing: the fact stays, without it.
        return [
            replace(fact, valid_from=None, valid_to=None)
            if fact.valid_from is not None and fact.valid_to is not None and fact.valid_to < fact.valid_from
            else fact
            for fact in facts
        ]


def _front_matter(lines: list[str]) -> tuple[int, list[tuple[int, str, list[tuple[int, str]]]]]:
    """Read the keys of the front matter: the number of lines it takes, and each key with its values and their lines."""
    if not lines or lines[0].rstrip() != "---":
        return 0, []
    end = next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return 0, []
    keys: list[tuple[int, str, list[tuple[int, str]]]] = []
    for place in range(1, end):
        line = lines[place]
        if keys and (item := re.match(r"\s*-[ \t]+(.+)$", line)):
            keys[-1][2].extend((place + 1, value) for value in _scalars(item[1]))
        elif found := _KEY.match(line):
            text = found[2] or ""
            inside = text.strip()
            many = inside[1:-1].split(",") if inside.startswith("[") and inside.endswith("]") else [text]
            keys.append((place + 1, found[1], [(place + 1, value) for each in many for value in _scalars(each)]))
    return end + 1, keys


def _scalars(text: str) -> Iterator[str]:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    text = text[1:-1] if quoted else re.sub(r"\s+#.*$", "", text)
    if text and text not in ("null", "~", "|", ">", "{}", "[]"):
        yield text


def _body(lines: list[str], begin: int, subject: str) -> Iterator[Fact | None]:
    section: str | None = None
    anchor: str | None = None
    anchors: dict[str, int] = {}
    fence = ""
    heads: list[str] = []
    for place in range(begin, len(lines)):
        line = lines[place]
        if fence:
            found = _FENCE.match(line)
            fence = "" if found and found[1].startswith(fence) and not line.strip().strip(fence[0]) else fence
            continue
        if found := _FENCE.match(line):
            fence = found[1]
            continue
        if found := _HEADING.match(line):
            section = _plain(found[2]) or None
            slug = re.sub(r"[^\w\- ]", "", (section or "").lower()).replace(" ", "-")
            count = anchors.get(slug, 0)
            anchors[slug] = count + 1
            anchor = f"{slug}-{count}" if count else slug
            heads = []
            continue
        if "|" in line and (heads or (place + 1 < len(lines) and _is_rule(lines[place + 1], line))):
            if not heads:
                heads = _cells(line)
            elif not _RULE.match(line.strip()):
                yield from _row(heads, _cells(line), place + 1, section, anchor)
            continue
        heads = []
        bare = _BULLET.sub("", line, count=1).strip() if _BULLET.match(line) else line.strip()
        if found := _BOLD.match(bare):
            yield _made(section or subject, found[1], found[2], place + 1, section, anchor)
        elif found := _STATED.match(bare):
            yield _made(found[1], found[2], found[3], place + 1, section, anchor)


def _is_rule(line: str, head: str) -> bool:
    return "-" in line and bool(_RULE.match(line.strip())) and len(_cells(line)) == len(_cells(head))


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.replace("\\|", "|").strip() for cell in _CELL.split(line)]


def _row(
    heads: list[str], cells: list[str], line: int, section: str | None, anchor: str | None
) -> Iterator[Fact | None]:
    for head, cell in zip(heads[1:], cells[1:], strict=False):
        if cells[0] and head and cell and cell not in ("-", "–", "—"):
            yield _made(cells[0], head, cell, line, section, anchor)


def _made(
    subject: str, predicate: str, value: str, line: int, section: str | None = None, anchor: str | None = None
) -> Fact | None:
    """Make a fact of what stands in the text, without its marks; None when a part is empty or too long."""
    begin = end = None
    if window := _WINDOW.search(value):
        begin = _moment(window["since"] or window["begin"])
        end = _moment(window["to"] or window["until"] or window["end"])
        value = value[: window.start()]
    sure = 1.0
    if value.rstrip().endswith("?"):
        sure, value = _UNSURE, value.rstrip().rstrip("?")
    kind = "entity" if _is_name(value) else "literal"
    parts = _plain(subject), _plain(predicate), _plain(value)
    if not all(0 < len(part) <= FACT_TEXT_CHARACTERS for part in parts):
        return None
    return Fact(*parts, line, line, kind, section, anchor, sure, begin, end)


def _is_name(value: str) -> bool:
    """Tell whether a value names a thing: a link, a mention, or words with capitals and no sentence around them."""
    value = value.strip()
    if _LINK.fullmatch(value) or re.fullmatch(r"@\w[\w.-]*", value):
        return True
    bare = _plain(value)
    words = bare.split()
    if (
        not 0 < len(words) <= 5
        or not _NAME.fullmatch(bare)
        or bare.casefold() in ("true", "false", "yes", "no", "none")
    ):
        return False
    return words[0][0].isupper() and all(word[0].isupper() or word[0].isdigit() or word in _SMALL for word in words)


def _plain(text: str) -> str:
    # most texts have no mark at all: looking for one costs less than a pattern
    if "[" in text:
        text = _LINK.sub(lambda found: found[1] or found[2], text.strip())
    for _ in range(3 if "*" in text or "_" in text or "`" in text else 0):
        text, count = _MARKS.subn(r"\2", text)
        if not count:
            break
    return " ".join(text.split())


def _title(lines: list[str], begin: int) -> str | None:
    fence = ""
    for line in lines[begin:]:
        if found := _FENCE.match(line):
            fence = "" if fence else found[1]
        elif not fence and (head := _HEADING.match(line)) and len(head[1]) == 1:
            return _plain(head[2]) or None
    return None


def _stem(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    name = name.rsplit(".", 1)[0] or name
    return " ".join(re.sub(r"[-_.]+", " ", name).split()) or path


def _moment(text: str | None) -> int | None:
    if text is None:
        return None
    whole = f"{text}-01" if re.fullmatch(r"\d{4}-\d\d", text) else text
    if re.fullmatch(r"\d{4}-\d\d-\d\d", whole):
        whole += "T00:00:00Z"
    elif found := re.fullmatch(r"(.*T\d\d:\d\d)(Z|[+-]\d\d:\d\d)", whole):
        whole = f"{found[1]}:00{found[2]}"
    at, verdict = read_time(whole)
    return at if verdict == "read" and 0 <= at <= 253_402_300_799_999 else None


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
