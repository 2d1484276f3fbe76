"""What looks wrong in a history and is kept: found over whole blocks of text and whole columns at once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from recallkit.bounds import EXACT_INTEGER
from recallkit.events.columns import Column, Packed

_DIGITS = len(str(EXACT_INTEGER))
_BLOCK = 256 * 1024
_NUMBER_MAY_STAND = re.compile(rb"(?<=[:,\[\s\-])\d{%d}" % _DIGITS)
_TEXT_OR_NUMBER = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+\-]*', re.DOTALL)
_SURROGATE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def long_digits(text: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Find where runs of 16 digits end: the only places where an integer past 2^53 can stand.

    Parameters
    ----------
    text : bytes
        Any number of lines.

    Returns
    -------
    ndarray of int64
        Positions of the sixteenth digit (and each later one) of such runs, ascending.
    """
    letters = np.frombuffer(text, dtype=np.uint8)
    # A run of 16 digits holds eight of them that stand in one aligned word; a digit's upper half is a 3.
    words = np.frombuffer(text, dtype=np.uint64, count=len(text) // 8)
    if not ((words & np.uint64(0xF0F0F0F0F0F0F0F0)) == np.uint64(0x3030303030303030)).any():
        return np.empty(0, dtype=np.int64)
    found: list[np.ndarray[Any, Any]] = []
    for start in range(0, len(letters), _BLOCK):
        # A run that began in the block before is seen whole from here too.
        begin = max(0, start - (_DIGITS - 1))
        run = (letters[begin : start + _BLOCK] - np.uint8(48)) < np.uint8(10)
        for step in (1, 2, 4, 8):
            run = run[step:] & run[:-step]
        ends = np.flatnonzero(run)
        if len(ends):
            found.append(ends + (begin + _DIGITS - 1))
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def big_integers(text: bytes) -> list[str]:
    """Give the integers past 2^53 that stand in an event's text as numbers, as written."""
    if not _NUMBER_MAY_STAND.search(text):
        return []
    found = []
    for token in _TEXT_OR_NUMBER.finditer(text):
        word = token.group()
        if word[:1] != b'"' and len(word) >= _DIGITS:
            digits = word.lstrip(b"-")
            if digits.isdigit() and (len(digits) > _DIGITS or int(digits) > EXACT_INTEGER):
                found.append(word.decode("ascii"))
    return found


def big_integer_words(found: list[str]) -> str:
    """Say what the engine makes of them, and what to do."""
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    shown = first if len(first) <= 40 else first[:39] + "…"
    value = float(first) if len(first) > 300 else float(int(first))
    return (
        f"The whole number {shown}{more} is past 2^53, where the engine rounds: it reads {value!r}. "
        "Write such numbers as text to keep every digit."
    )


def may_hold_surrogates(text: bytes) -> bool:
    """Tell, quickly, whether an escaped surrogate may stand anywhere in a block of text."""
    # One byte is found many times faster than two.
    return b"\\" in text and (b"\\ud" in text or b"\\uD" in text)


def lone_surrogates(text: bytes) -> list[str]:
    """Give the escapes of surrogates without their other half, as written."""
    return ["\\" + word.decode("ascii") for word in _SURROGATE.findall(text) if word]


def lone_surrogate_words(found: list[str]) -> str:
    """Say what a lone surrogate is and what it does."""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return (
        f"The text holds {found[0]}{more}, half of a character. The engine keeps it, but UTF-8 cannot carry it; "
        "write the whole character."
    )


def fingerprints(ids: Packed) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Give a number of each text: equal texts have equal ones, and different texts hardly ever."""
    lengths = ids.lengths.astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    result = np.zeros(len(lengths), dtype=np.uint64)
    if not len(lengths):
        return result
    order = np.argsort(lengths, kind="stable")
    firsts = np.flatnonzero(np.diff(lengths[order], prepend=-1))
    for first, end in zip(firsts.tolist(), [*firsts.tolist()[1:], len(order)], strict=True):
        rows = order[first:end]
        length = int(lengths[rows[0]])
        words = -(-length // 8)
        for at in range(0, len(rows), max(1, _BLOCK // max(1, length))):
            some = rows[at : at + max(1, _BLOCK // max(1, length))]
            padded = np.zeros((len(some), words * 8), dtype=np.uint8)
            padded[:, :length] = ids.letters[starts[some][:, None] + np.arange(length)]
            result[some] = (padded.view(np.uint64) * _weights(words)).sum(axis=1, dtype=np.uint64) ^ np.uint64(length)
    return result


def _weights(count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Give odd numbers that look like chance (splitmix64): no word undoes a difference in another."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    weights: np.ndarray[Any, np.dtype[np.uint64]] = (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)
    return weights


def earlier(clock: np.ndarray[Any, Any], timed: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Find the rows whose time is earlier than that of the last row before them that has one.

    Parameters
    ----------
    clock : ndarray of int64
        Milliseconds, one per event.
    timed : ndarray of bool
        Which events have a time.
    """
    rows = np.flatnonzero(timed)
    return rows[1:][np.diff(clock[rows]) < 0]


def repeated(hashes: np.ndarray[Any, Any], ids: Column, sources: Column) -> list[tuple[int, int]]:
    """Find the rows whose (source, id) stood before, each with the first row that had it; ``hashes`` are of the ids."""
    ordered = np.sort(hashes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return []
    rows = np.flatnonzero(np.isin(hashes, twice))
    first: dict[tuple[str, str], int] = {}
    found = []
    listed = zip(rows.tolist(), sources.take(rows).objects().tolist(), ids.take(rows).objects().tolist(), strict=True)
    for row, *pair in listed:
        before = first.setdefault((pair[0], pair[1]), row)
        if before != row:
            found.append((row, before))
    return found
