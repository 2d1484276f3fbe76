"""Exercises that check themselves: ``check_exercise("2.1", answer)`` says whether it is right, and if not, what helps.

Nothing here raises for a wrong answer, so that a notebook runs to its end with its exercises undone. The checks of each
lesson stand in :mod:`recallkit.notebook.exercise_checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from recallkit.errors import InvalidInput, RecallkitError

_COLOURS: Final = {True: "#2a9d57", False: "#bf8a1b"}


@dataclass(frozen=True)
class Checked:
    """What was said to an answer.

    Attributes
    ----------
    right : bool
    words : str
        What helps where it is not right.
    """

    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return ("Right. " if self.right else "Not yet. ") + self.words

    def _repr_html_(self) -> str:
        head = "Right." if self.right else "Not yet."
        colour = _COLOURS[self.right]
        return (
            f'<div style="border-left:4px solid {colour};padding:.3em .8em;max-width:60em">'
            f"<strong>{head}</strong> {escape(self.words)}</div>"
        )


# An answer, and what the lesson has at hand → None where it is right, else what helps.
Check = Callable[..., str | None]


@dataclass(frozen=True)
class Exercise:
    """One exercise: the check, what is said to dots, and what is said when it is right."""

    check: Check
    hint: str
    praise: str


EXERCISES: Final[dict[str, Exercise]] = {}


def exercise(number: str, hint: str, praise: str = "") -> Callable[[Check], Check]:
    """Make a function the check of an exercise."""

    def keep(check: Check) -> Check:
        EXERCISES[number] = Exercise(check, hint, praise)
        return check

    return keep


def check_exercise(number: str, answer: Any, **facts: Any) -> Checked:
    """Check an answer.

    Parameters
    ----------
    number : str
        The exercise, such as ``"2.1"``.
    answer
        The answer; ``...`` where there is none yet.
    **facts
        What the check compares with, such as ``folding=folding``.

    Returns
    -------
    Checked
        Shows its words; true where the answer is right.

    Raises
    ------
    InvalidInput
        There is no such exercise.
    """
    from recallkit.notebook import exercise_checks  # noqa: F401 - it fills EXERCISES

    if number not in EXERCISES:
        raise InvalidInput(f"There is no exercise {number}; there are {', '.join(sorted(EXERCISES))}.")
    asked = EXERCISES[number]
    if answer is ...:
        return Checked(False, f"Put your answer in place of the dots. {asked.hint}")
    try:
        words = asked.check(answer, **facts)
    except RecallkitError as error:
        words = f"Checking it failed: {str(error).partition(chr(10))[0]}"
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        words = f"The answer is of another kind than was asked for ({type(error).__name__}: {error}). {asked.hint}"
    return Checked(words is None, asked.praise if words is None else words)
