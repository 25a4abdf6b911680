"""What the functions of this room accept: gaps, budgets and other numbers, checked once at the public edge."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.errors import InvalidInputError

Floats = NDArray[np.float64]
Condition = Callable[[Floats], ArrayLike]

SMALLEST_GAP = 1e-100
"""A positive gap below this is refused: its square, and the pulls that it asks for, leave the range of a float."""

LARGEST_BUDGET = 2.0**53
"""Above this a float can no longer count single pulls."""


def plain(values: ArrayLike) -> Floats:
    """Return float64 values as NumPy's own functions do: an array, or a scalar where the shape is ()."""
    result: Floats = np.asarray(values, dtype=np.float64)[()]
    return result


def check_numbers(name: str, values: ArrayLike, ok: Condition, wanted: str) -> Floats:
    """Return the values as a float64 array of their own shape; raise InvalidInputError unless ``ok`` holds for each."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} is not a number; it must be {wanted}") from None
    bad = ~(np.isfinite(numbers) & ok(numbers))
    if bad.any():
        raise InvalidInputError(f"{name} is {numbers[bad].flat[0]}; it must be {wanted}")
    return numbers


def check_number(name: str, value: float, ok: Condition, wanted: str) -> float:
    """Return one value as a float; raise InvalidInputError unless it is one finite number for which ``ok`` holds."""
    numbers = check_numbers(name, value, ok, wanted)
    if numbers.ndim:
        raise InvalidInputError(f"{name} has shape {numbers.shape}; it must be one number, {wanted}")
    return float(numbers)


def check_positive(name: str, value: float) -> float:
    """Return one value as a float; raise InvalidInputError unless it is above 0 and finite."""
    return check_number(name, value, lambda number: number > 0, "a number above 0")


def check_alpha(alpha: float) -> float:
    """Return alpha as a float; raise InvalidInputError unless 0 < alpha <= 8, as Theorem 1 and its lemmas need."""
    return check_number("alpha", alpha, lambda value: (value > 0) & (value <= 8), "in 0 < alpha <= 8")


def check_gaps(gaps: ArrayLike) -> Floats:
    """Return the gaps as a float64 array of shape (K,); raise InvalidInputError unless each is 0 or in [1e-100, 1]."""
    wanted = "in [0, 1]; the smallest that is not 0 is 1e-100"
    values = check_numbers("gap", gaps, lambda gap: (gap == 0) | ((gap >= SMALLEST_GAP) & (gap <= 1)), wanted)
    if values.ndim != 1 or values.size == 0:
        raise InvalidInputError(f"gaps have shape {values.shape}; give a list of one gap an arm, at least one")
    return values


def check_budgets(budgets: ArrayLike, least: float = 0.0, condition: str = "T >= 0") -> Floats:
    """Return the budgets as a float64 array of their own shape.

    Raises InvalidInputError, naming ``condition``, for a budget below ``least``; and for one above 2^53.
    """
    values = check_numbers("budget", budgets, lambda budget: budget <= LARGEST_BUDGET, "a number up to 2^53")
    if (values < least).any():
        raise InvalidInputError(f"budget {values.min():.15g} is outside the condition {condition} (here {least:.15g})")
    return values


def check_whole_numbers(name: str, values: Floats) -> NDArray[np.int64]:
    """Return whole numbers as int64; raise InvalidInputError for a number with a fraction."""
    fractions = values[values != np.floor(values)]
    if fractions.size:
        raise InvalidInputError(f"{name} is {fractions.flat[0]}; it must be a whole number")
    return values.astype(np.int64)
