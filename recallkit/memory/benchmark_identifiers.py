"""The identifier test: 200 literals of ten kinds, each among texts that could be taken for the one that names it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from recallkit.memory.search_words import parts

SEED = 20
KINDS = 10
A_KIND = 20

_NOUNS = (
    "pool cache token user invoice queue batch metric worker session tenant region index shard retry stream ledger "
    "audit report payload cursor replica bucket quota webhook"
).split
_VERBS = "get set load sync flush merge parse build fetch reset rotate verify drain split apply".split
_PLAIN = (
    "the team settled this after the review on monday because the old way broke twice under load and nobody could say "
    "why so we wrote down what helps when it comes back"
).split


@dataclass(frozen=True)
class Case:
    """A literal, the one text that names it, and the texts around it."""

    kind: str
    literal: str
    naming: str
    others: tuple[str, ...]


def cases(seed: int = SEED) -> list[Case]:
    """Make the 200 cases; the same seed gives the same ones."""
    draw = random.Random(seed)
    made: list[Case] = []
    taken: set[str] = set()
    for kind, make in _MAKERS.items():
        count = 0
        while count < A_KIND:
            literal = make(draw)
            if literal.casefold() in taken:
                continue
            taken.add(literal.casefold())
            made.append(_case(draw, kind, literal))
            count += 1
    return made


def _case(draw: random.Random, kind: str, literal: str) -> Case:
    around = draw.choice(
        ("Set {} before the release{}", "It was `{}` that failed{}", 'Look for "{}" in the logs{}', "({}){}")
    )
    naming = around.format(literal, f": {_filler(draw, 6)}.")
    pieces = parts(literal)
    if len(pieces) == 1:
        half = len(literal) // 2
        pieces = [literal[:half], literal[half:]]
    scattered = " ".join(f"{piece} {_filler(draw, 2)}" for piece in draw.sample(pieces, len(pieces)))
    topic = " ".join(piece for piece in parts(literal) if piece.isalpha()) or "that value"
    about = f"{_filler(draw, 3)} about {topic.replace(' ', ' and the ')} {_filler(draw, 4)}"
    twins = [f"Set {twin} before the release: {_filler(draw, 4)}." for twin in _twins(draw, literal)]
    return Case(kind, literal, naming, (scattered, about, *twins))


def _filler(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(_PLAIN(), k=count))


def _twins(draw: random.Random, literal: str) -> list[str]:
    """Near twins: one letter more, a part more, a letter changed, and the last two parts the other way round."""
    place = max(index for index, letter in enumerate(literal) if letter.isalnum())
    other = draw.choice([letter for letter in "abcdef0123456789" if letter != literal[place].lower()])
    changed = literal[:place] + other + literal[place + 1 :]
    twins = [f"{literal}s", f"{literal}_v2", f"{literal}-old", changed]
    pieces = parts(literal)
    if len(pieces) > 1:
        twins.append("_".join([*pieces[:-2], pieces[-1], pieces[-2]]))
    return [twin for twin in twins if twin.casefold() != literal.casefold()]


def _hexes(draw: random.Random, count: int) -> str:
    return "".join(draw.choices("0123456789abcdef", k=count))


def _words(draw: random.Random, count: int) -> list[str]:
    return [draw.choice(_VERBS()), *draw.sample(_NOUNS(), count - 1)]


def _snake(draw: random.Random) -> str:
    return "_".join(_words(draw, 3))


def _environment(draw: random.Random) -> str:
    return "_".join(_words(draw, 3)).upper()


def _camel(draw: random.Random) -> str:
    first, *rest = _words(draw, 3)
    return first + "".join(word.title() for word in rest)


def _option(draw: random.Random) -> str:
    return "--" + "-".join(_words(draw, 3))


def _path(draw: random.Random) -> str:
    return "src/" + "/".join(draw.sample(_NOUNS(), 2)) + "/" + draw.choice(_VERBS()) + ".py"


def _dotted(draw: random.Random) -> str:
    return ".".join([*draw.sample(_NOUNS(), 2), "_".join(_words(draw, 2))])


def _error(draw: random.Random) -> str:
    return f"E{draw.choice(_NOUNS()).upper()}{draw.randrange(100, 999)}"


def _commit(draw: random.Random) -> str:
    return _hexes(draw, draw.choice((7, 12, 40)))


def _ticket(draw: random.Random) -> str:
    return f"{draw.choice(_NOUNS()).upper()[:4]}-{draw.randrange(1_000, 99_999)}"


def _package(draw: random.Random) -> str:
    return (
        f"@{draw.choice(_NOUNS())}/{draw.choice(_VERBS())}@{draw.randrange(9)}.{draw.randrange(30)}.{draw.randrange(9)}"
    )


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "flag": _snake,
    "environment variable": _environment,
    "function": _camel,
    "option": _option,
    "path": _path,
    "dotted name": _dotted,
    "error code": _error,
    "commit hash": _commit,
    "ticket": _ticket,
    "package": _package,
}
