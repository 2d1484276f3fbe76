"""JSON text as the engine writes it, for the values that a document holds.

Python and JavaScript write some numbers apart (``1e16`` and ``10000000000000000``) and order keys apart:
JavaScript puts keys that look like list indexes first. What a document gives is kept as production keeps it.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from recallkit.bounds import EXACT_INTEGER

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_SURROGATE = re.compile("[\ud800-\udfff]")


def as_number(value: float) -> int | float:
    """A double as Python's JSON values hold it: an int where it is whole and exact, else a float.

    Negative zero is 0, as JSON text of the engine has it.
    """
    if value.is_integer() and abs(value) <= EXACT_INTEGER:
        return int(value)
    return value


def number_text(value: int | float) -> str:
    """A number as JavaScript prints it.

    Examples
    --------
    >>> number_text(1e16), number_text(1e21), number_text(0.000001), number_text(1e-7)
    ('10000000000000000', '1e+21', '0.000001', '1e-7')
    """
    if isinstance(value, int) and abs(value) <= EXACT_INTEGER:
        return str(value)
    sign, digit_tuple, power = Decimal(repr(float(value))).as_tuple()
    assert isinstance(power, int)  # only NaN and Infinity have a letter here, and no JSON value is one
    digits = "".join(map(str, digit_tuple)).rstrip("0")
    if not digits:
        return "0"
    point = len(digit_tuple) + power
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{rest}e{point - 1:+d}"
    return f"-{text}" if sign else text


def string_text(value: str) -> str:
    """A text as ``JSON.stringify`` writes it; a lone surrogate as its escape."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def json_text(value: Any) -> str:
    """A JSON value as ``JSON.stringify`` writes it once the engine holds it.

    Parameters
    ----------
    value : JSON value
        None, bool, int, float, str, list, dict; numbers finite.

    Returns
    -------
    str
        Compact JSON with the engine's numbers, escapes and order of keys.
    """
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    members = (f"{string_text(key)}:{json_text(member)}" for key, member in engine_order(value))
    return "{" + ",".join(members) + "}"


def engine_order(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """The members of an object in the order the engine lists them: list indexes first, by number."""
    indexes = [key for key in value if _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX]
    if not indexes:
        return list(value.items())
    first = sorted(indexes, key=int)
    known = set(first)
    return [(key, value[key]) for key in first] + [pair for pair in value.items() if pair[0] not in known]


def json_bytes(value: Any) -> int:
    """How many bytes of UTF-8 the JSON text of a value takes."""
    return len(json_text(value).encode("utf-8"))
