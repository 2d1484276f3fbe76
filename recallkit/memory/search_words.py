"""Words of a text: its parts, their stems, and what in a query is meant literally."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Any, Final

from recallkit.errors import Unavailable

# A run of letters and digits; scripts that write no spaces give a part a character.
_PART: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_QUOTED: Final = re.compile(r"[\"“”«»`]([^\"“”«»`]+)[\"“”«»`]")
_EDGES: Final = " \t\r\n\"'`“”‘’«»()[]{}<>,;:.!?…"
_JOINED: Final = re.compile(r"[^\W_][^\w\s'’]+[^\W_]|_")
_HYPHENED: Final = re.compile(r"[a-z]+(?:-[a-z]+)+", re.IGNORECASE)
_MIXED: Final = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
_ORDINAL: Final = re.compile(r"\d+(?:st|nd|rd|th|s|am|pm|k|m|kg|km)?", re.IGNORECASE)
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]")
_CAPITALS: Final = re.compile(r"[A-Z]{5,}[0-9]*")

_SMALL: Final = (
    "a about after again all also am an and any are as at be because been before being between both but by can "
    "could did do does doing down during each few for from further had has have having he her here hers herself him "
    "himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only "
    "or other our ours ourselves out over own same she should so some such than that the their theirs them "
    "themselves then there these they this those through to too under until up us very was we were what when where "
    "which while who whom why will with would you your yours yourself yourselves s t d ll m re ve "
)
STOP_WORDS: Final = frozenset(_SMALL.split())
"""The 132 small words of English, which say little about what a text is about."""

_local = threading.local()


def plain(text: str) -> str:
    """Give a text with its case and its forms of writing set aside: what is compared."""
    return (
        text.casefold()
        if text.isascii()
        else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    )


def parts(text: str) -> list[str]:
    """Split a text into its runs of letters and digits, case apart: ``pool_pre_ping`` has three."""
    return _PART.findall(plain(text))


@lru_cache(maxsize=200_000)
def stem(part: str) -> str:
    """Give the stem of a part, by Porter's algorithm."""
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = _stemmer()
    found: str = stemmer.stemWord(part)
    return found


def _stemmer() -> Any:
    try:
        import Stemmer
    except ImportError:
        raise Unavailable("Stemming needs PyStemmer: install recallkit[memory].") from None
    # A stemmer is no thread's but its own, so each thread has one; the stems are remembered above.
    return Stemmer.Stemmer("porter", 0)


def stems(found: list[str]) -> list[str]:
    """Give the stems of parts, without the small words."""
    return [stem(part) for part in found if part not in STOP_WORDS]


def literals(query: str) -> list[str]:
    """Give what a query means literally: quoted phrases, and words that look like identifiers.

    An identifier has parts joined by something other than spaces (``pool_pre_ping``, ``src/app.py``, ``--dry-run``),
    mixes letters and digits (``a1b2c3d``), changes case inside (``getUser``) or is all capitals (``ECONNRESET``). A
    query that is one word is meant literally whatever it looks like.
    """
    found: list[str] = [quoted.strip() for quoted in _QUOTED.findall(query)]
    words = query.split()
    for word in words:
        bare = word.strip(_EDGES)
        if bare and (len(words) == 1 or _is_identifier(bare)):
            found.append(bare)
    return list(dict.fromkeys(each for each in found if parts(each)))


def _is_identifier(word: str) -> bool:
    if word.startswith("--") and len(word) > 3:
        return True
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if _JOINED.search(word) and not _HYPHENED.fullmatch(word):
        return True
    if _MIXED.search(word) and not _ORDINAL.fullmatch(word):
        return True
    return bool(_CAMEL.search(word) or _CAPITALS.fullmatch(word))
