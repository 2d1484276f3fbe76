"""Reads the times of events: RFC 3339 text to whole milliseconds, many at once.

Fractions past the millisecond are cut, not rounded, as the engine's ``Date`` does; the text itself is kept elsewhere.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

Verdict = Literal["read", "unreadable", "refused"]

NO_TIME = np.iinfo(np.int64).min
"""How an absent or unreadable time stands among milliseconds; numpy's NaT."""

_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0])
_SHAPE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))?", re.ASCII
)


def read_time(text: str) -> tuple[int, Verdict]:
    """Read one time.

    Parameters
    ----------
    text : str
        RFC 3339, such as ``2026-10-03T16:40:05.000Z``.

    Returns
    -------
    milliseconds : int
        Since 1970 in UTC, or ``NO_TIME``.
    verdict : {'read', 'unreadable', 'refused'}
        *unreadable*: the shape of a time that names no moment (a leap second, 30 February, no offset).
        *refused*: not the shape of a time at all.
    """
    found = _SHAPE.fullmatch(text)
    if found is None:
        return NO_TIME, "refused"
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, zulu, sign, offset_hour, offset_minute = found.groups()[6:]
    offset = 0
    if sign is not None:
        if int(offset_hour) > 23 or int(offset_minute) > 59:
            return NO_TIME, "refused"
        offset = (int(offset_hour) * 60 + int(offset_minute)) * (-1 if sign == "-" else 1)
    if not 1 <= month <= 12 or not 1 <= day <= 31 or hour > 23 or minute > 59 or second > 60:
        return NO_TIME, "refused"
    if zulu is None and sign is None:
        return NO_TIME, "unreadable"
    if second == 60 or day > _days_in_month(year, month):
        return NO_TIME, "unreadable"
    days = int(_days(np.int64(year), np.int64(month), np.int64(day)))
    seconds = (days * 24 + hour) * 3600 + (minute - offset) * 60 + second
    return seconds * 1000 + int(((fraction or "") + "000")[:3]), "read"


def read_times(texts: Sequence[str | None]) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[int]]:
    """Read many times at once.

    Parameters
    ----------
    texts : sequence of str or None

    Returns
    -------
    milliseconds : ndarray of int64
        One per text; ``NO_TIME`` where it is None or not read.
    rest : list of int
        The positions of texts that were not read here and that `read_time` must judge.
    """
    times = np.full(len(texts), NO_TIME, dtype=np.int64)
    rest: list[int] = []
    places: dict[int, list[int] | range] = {}
    if len(texts) and None not in texts and len(sizes := set(map(len, texts))) == 1:  # type: ignore[arg-type]
        places[sizes.pop()] = range(len(texts))
    else:
        for place, text in enumerate(texts):
            if text is not None:
                places.setdefault(len(text), []).append(place)  # type: ignore[union-attr]
    for length, where in places.items():
        joined = "".join([texts[place] for place in where])  # type: ignore[misc]
        if not 20 <= length <= 40 or not joined.isascii():
            rest.extend(where)
            continue
        letters = np.frombuffer(joined.encode("ascii"), dtype=np.uint8).reshape(len(where), length)
        values, read = _read_block(np.ascontiguousarray(letters.T))
        if read.all() and len(where) == len(texts):
            return values, rest
        chosen = np.asarray(where)
        times[chosen[read]] = values[read]
        rest.extend(chosen[~read].tolist())
    rest.sort()
    return times, rest


def _read_block(letters: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Read texts of one length, a column each: their milliseconds, and which of them were read."""
    length, count = letters.shape
    digits = letters - np.uint8(48)
    fine = np.ones(count, dtype=bool)
    for at, mark in ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")):
        fine &= letters[at] == ord(mark)
    for at in (0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18):
        fine &= digits[at] <= 9

    def two(at: int) -> np.ndarray[Any, Any]:
        value: np.ndarray[Any, Any] = digits[at].astype(np.int32) * 10 + digits[at + 1]
        return value

    zulu = letters[-1] == ord("Z")
    offset: Any = 0
    tail: Any = length - 1
    if not zulu.all():
        sign = letters[-6]
        named = ((sign == ord("+")) | (sign == ord("-"))) & (letters[-3] == ord(":"))
        for at in (-5, -4, -2, -1):
            named &= digits[at] <= 9
        hours, minutes = two(length - 5), two(length - 2)
        named &= (hours <= 23) & (minutes <= 59) & (length >= 25)
        fine &= zulu | named
        offset = np.where(zulu, 0, (hours * 60 + minutes) * np.where(sign == ord("-"), -1, 1))
        tail = np.where(zulu, length - 1, length - 6)
    thousandths = np.zeros(count, dtype=np.int64)
    if length > 20:
        fine &= (tail == 19) | ((letters[19] == ord(".")) & (tail > 20))
        for at in range(20, length):
            fine &= (at >= tail) | (digits[at] <= 9)
            if at < 23:
                thousandths += np.where(at < tail, digits[at].astype(np.int32) * (100, 10, 1)[at - 20], 0)
    year, month, day = two(0) * 100 + two(2), two(5), two(8)
    hour, minute, second = two(11), two(14), two(17)
    # 29 February and second 60 are rare enough to be judged one by one, since they may not exist.
    fine &= (month >= 1) & (month <= 12) & (day >= 1) & (hour <= 23) & (minute <= 59) & (second <= 59)
    fine &= day <= _MONTH_DAYS[np.minimum(month, 13)]
    total = (_days(year, month, day).astype(np.int64) * 24 + hour) * 60 + minute - offset
    times: np.ndarray[Any, Any] = (total * 60 + second) * 1000 + thousandths
    return times, fine


def _days(year: Any, month: Any, day: Any) -> Any:
    """Count the days since 1970-01-01, in years that begin in March so that the leap day comes last."""
    shifted = year - (month <= 2)
    era = shifted // 400
    year_of_era = shifted - era * 400
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def _days_in_month(year: int, month: int) -> int:
    """Count the days of a month; the year 0 is a leap year, as in ISO 8601."""
    if month == 2:
        return 29 if calendar.isleap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31
