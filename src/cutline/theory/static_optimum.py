"""The least regret of pulls that are fixed beforehand: the algorithm O with exact errors in place of the bound (5).

Whoever knows the gaps but not the sides, and does not look at the rewards, errs on an arm with the gap Delta after n
pulls with probability

    e(n) = (P(wrong | mean = theta + Delta) + P(wrong | mean = theta - Delta)) / 2.

e is not convex in n: at theta = 1/2 a second pull after an odd number of them gains nothing. Its lower convex envelope
is what can be had if the pulls of an arm may be drawn at random (before the first one), and then a budget is best spent
on the steepest parts of all envelopes first.
"""

import numpy as np
from numpy.typing import ArrayLike

from cutline.errors import InvalidInputError
from cutline.theory.checks import Floats, check_budgets, check_gaps, check_whole_numbers, plain
from cutline.theory.concentration import error_probability
from cutline.threshold import check_threshold

MOST_PULLS = 1_000_000
"""The largest budget that ``static_optimum`` takes: its work and memory grow with the budget and the different gaps."""

_DIGITS = 15  # of a gap: those of equal means on both sides of the threshold may differ in the last bit


def static_error(gap: float, most: int, threshold: float) -> Floats:
    """Return e(1), ..., e(most), the exact probability of a wrong decision after n pulls, sides equally likely.

    A mean outside [0, 1] is replaced by 0 or 1. With a gap of 0 every decision is wrong half the time. Raises
    InvalidInputError for a bad gap or threshold or most < 1. Source: paper, Definition of e_i.
    """
    limit, (value,) = check_threshold(threshold), check_gaps([gap])
    low, high = max(limit - value, 0.0), min(limit + value, 1.0)
    pulls = np.arange(1, most + 1)
    if not low < limit < high:
        return np.full(most, 0.5)
    return (error_probability(low, pulls, limit) + error_probability(high, pulls, limit)) / 2.0


def static_optimum(gaps: ArrayLike, budgets: ArrayLike, threshold: float = 0.5) -> Floats:
    """Return the least sum of e_i(x_i) over pulls x_i >= 1 that are fixed beforehand, for each whole budget T >= K.

    The x_i may be drawn at random before the first pull, none above the largest budget, if their sum has expectation T;
    all but one arm's can be fixed, and that one is drawn from two numbers. So this is a lower bound for fixed pulls
    that add up to T, which is reached at many budgets. Shape of budgets. Raises InvalidInputError for bad gaps, a
    threshold outside (0, 1), and a budget that is not whole, below K, or above 10^6.
    Source: paper, Definition of the algorithm O.
    """
    limit, values = check_threshold(threshold), check_gaps(gaps)
    wanted = check_budgets(budgets, values.size, "T >= K")
    check_whole_numbers("budget", wanted)
    largest = int(wanted.max(initial=values.size))
    if largest > MOST_PULLS:
        raise InvalidInputError(f"budget {largest} is too large for the static optimum; the most is 10^6")
    first, drops, lengths = 0.0, [], []
    for gap, count in zip(*np.unique(values.round(_DIGITS), return_counts=True), strict=True):
        pulls, errors = _lower_envelope(static_error(gap, largest - values.size + 1, limit))
        first += count * errors[0]
        drops.append(-count * np.diff(errors))
        lengths.append(count * np.diff(pulls))
    drop, length = np.concatenate(drops), np.concatenate(lengths)
    order = np.argsort(-drop / length, kind="stable")
    spent = np.concatenate([[0.0], np.cumsum(length[order])])
    left = first - np.concatenate([[0.0], np.cumsum(drop[order])])
    return plain(np.interp(wanted - values.size, spent, np.maximum(left, 0.0)))


def _lower_envelope(errors: Floats) -> tuple[Floats, Floats]:
    """Return the corners of the lower convex envelope of e(1), ..., e(n), up to the first of its least values."""
    before = np.concatenate([[np.inf], np.minimum.accumulate(errors)[:-1]])
    corners = np.flatnonzero(errors < before)
    above = np.ones(1, np.bool_)
    while above.any():  # the line between its neighbours: no such point is a corner of the envelope
        x, y = corners, errors[corners]
        above = (y[1:-1] - y[:-2]) * (x[2:] - x[:-2]) >= (y[2:] - y[:-2]) * (x[1:-1] - x[:-2])
        corners = np.delete(corners, 1 + np.flatnonzero(above))
    return np.asarray(corners + 1.0, dtype=np.float64), errors[corners]
