"""Rewards between 0 and 1 taken as coins: the record of coins that says as much of an arm's mean.

A coin with mean m has the variance m (1 - m), and no reward in [0, 1] has more. Rewards whose variance is a share rho
of that say as much as n / rho coins. The share of an arm is estimated from the sum of its squared rewards, and drawn to
that of all arms together, since few rewards may lie close to each other by chance.
"""

import numpy as np
from numpy.typing import ArrayLike

from cutline.beliefs.intervals import Floats

_WEIGHT = 6.0
"""Pulls that the share of all arms counts for in that of one arm."""

_LEAST = 1e-3
"""No share is taken to be smaller."""

_TURNS = 3


def coins(pulls: ArrayLike, totals: ArrayLike, squares: ArrayLike, spread: float) -> tuple[Floats, Floats]:
    """Return pulls and totals, arrays (R,), of the records of coins that say as much as these records.

    ``squares`` are the sums of the squared rewards, ``spread`` the share of all arms, see ``learn_spread``. Records of
    coins, whose squares are their totals, come back as they are where the spread is 1.
    """
    n, total, square = (np.asarray(item, np.float64) for item in (pulls, totals, squares))
    if spread == 1.0 and (square == total).all():
        return n, total
    some = np.maximum(n, 1.0)
    within, of_coins = _parts(n, total, square)
    even = (total + 0.5) / (n + 1.0)
    weight = _WEIGHT * even * (1.0 - even)
    share = np.full(n.shape, spread)
    for _ in range(_TURNS):
        free = of_coins * (n - 1.0) / np.maximum(n - share, 0.5)  # the variance of a sample is too small by one pull
        share = np.clip((within + weight * spread) / (np.maximum(free, 0.0) + weight), _LEAST, 1.0)
    share = np.where(square == total, np.maximum(share, spread), share)
    more = some / share
    return np.where(n > 0.0, more, 0.0), np.where(n > 0.0, total / some * more, 0.0)


def learn_spread(pulls: ArrayLike, totals: ArrayLike, squares: ArrayLike, arms: ArrayLike) -> float:
    """Return the share of the variance of coins that the rewards of all arms together have, at most 1.

    ``arms`` many have each record, arrays (R,). It is 1 if all rewards are 0 or 1, and while nothing is known.
    """
    n, total, square, count = (np.asarray(item, np.float64) for item in (pulls, totals, squares, arms))
    within, of_coins = _parts(n, total, square)
    spread = 1.0
    for _ in range(_TURNS):
        free = of_coins * (n - 1.0) / np.maximum(n - spread, 0.5)
        most = _WEIGHT * 0.25 + count @ np.maximum(free, 0.0)
        spread = float(np.clip((_WEIGHT * 0.25 + count @ within) / most, _LEAST, 1.0))
    return spread


def _parts(n: Floats, total: Floats, square: Floats) -> tuple[Floats, Floats]:
    """Return the sums of squared distances from the mean: of these rewards, and of coins with this total."""
    middle = total * total / np.maximum(n, 1.0)
    return np.maximum(square - middle, 0.0), np.maximum(total - middle, 0.0)
