"""Checks of arguments that every room needs."""

import math
import operator
from typing import Any

from cutline.errors import InvalidInputError

LARGEST = 2**53
"""Whole numbers up to here are kept exactly by every database, every JSON reader and every float."""


def check_whole(name: str, value: Any, least: int, most: int = LARGEST) -> int:
    """Return the value as an int; raise InvalidInputError unless it is a whole number from ``least`` to ``most``."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise InvalidInputError(f"{name} is {value!r}; it must be a whole number from {least} to {_power(most)}")
    return number


def check_positive(name: str, value: Any) -> float:
    """Return the value as a float; raise InvalidInputError unless it is a finite number above 0."""
    number = finite(value)
    if not number > 0:
        raise InvalidInputError(f"{name} is {value!r}; it must be a number above 0")
    return number


def finite(value: Any) -> float:
    """Return a finite number as a float, NaN for anything else: text and booleans are no numbers."""
    if isinstance(value, (bool, str, bytes)):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _power(limit: int) -> str:
    """Write a large power of two, or one less, as people do: 2^53, 2^64 - 1."""
    for number, rest in ((limit, ""), (limit + 1, " - 1")):
        if number > 2**20 and number & (number - 1) == 0:
            return f"2^{number.bit_length() - 1}{rest}"
    return str(limit)
