"""Intervals for an arm's mean that hold at all times and under any rule of asking: the Beta mixture martingale.

Let S_n be the sum of n rewards in [0, 1] with mean mu, whatever decided that they were asked for. For any q in (0, 1),

    prod over the rewards of (q / mu)^x ((1 - q) / (1 - mu))^(1 - x)

is a product of factors whose means, given the rewards before, are at most 1: a factor is convex in x, so it lies below
the line between its values at 0 and 1, and that line has mean q + (1 - q) = 1. So the mixture over q of
Beta(1/2, 1/2),

    M_n(mu) = B(S_n + 1/2, n - S_n + 1/2) / (B(1/2, 1/2) mu^S_n (1 - mu)^(n - S_n)),

is a nonnegative supermartingale that begins at 1, and it ever reaches 1 / delta with probability delta at most (Ville).
The interval holds every m with M_n(m) < 1 / delta, which is n kl(S_n / n, m) < a number of the record alone.

Source: Robbins, Statistical methods related to the law of the iterated logarithm, Annals of Mathematical Statistics 41,
1970 (mixtures); for rewards between 0 and 1 as for coins: Hoeffding's argument of convexity.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlog1py, xlogy

Floats: TypeAlias = NDArray[np.float64]

_HALF = 0.5
_PRECISION = 1e-13
_MOST_STEPS = 60
_BELOW_1 = np.nextafter(1.0, 0.0)


def interval(pulls: ArrayLike, totals: ArrayLike, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the ends (low, high) of the intervals of arms with these records, arrays of their common shape.

    ``pulls`` is n >= 0, ``totals`` the sum of the rewards, from 0 to n. With probability ``confidence``, in (0, 1), at
    least, the true mean of an arm lies in its intervals after every one of its pulls, for ever; [0, 1] without pulls.
    """
    n, total = np.broadcast_arrays(np.asarray(pulls, np.float64), np.asarray(totals, np.float64))
    return 1.0 - _upper_end(n, n - total, confidence), _upper_end(n, total, confidence)


def _upper_end(n: Floats, total: Floats, confidence: float) -> Floats:
    """Return the largest m with n kl(total / n, m) at most the radius, by Newton's method from the right.

    The distance is convex in m, so steps from a point at or above the root never pass it. The start is the nearer of
    two such points: by Pinsker's inequality, and where (n - total) ln(1 / (1 - m)) alone makes up the distance.
    """
    end = np.ones(n.shape)
    open_above = total < n
    n, total = n[open_above], total[open_above]
    zeros, mean = n - total, total / n
    entropy = -xlogy(total, mean) - xlog1py(zeros, -mean)
    radius = betaln(_HALF, _HALF) - betaln(total + _HALF, zeros + _HALF) - entropy - np.log1p(-confidence)
    starts = mean + np.sqrt(radius / (2.0 * n)), -np.expm1(-(radius + entropy) / zeros), _BELOW_1
    m = np.minimum.reduce(np.broadcast_arrays(*starts))
    for _ in range(_MOST_STEPS):
        beyond = -xlogy(total, m) - xlog1py(zeros, -m) - entropy - radius
        step = beyond * m * (1.0 - m) / (n * m - total)
        m -= np.maximum(step, 0.0)
        if np.all(step < _PRECISION):
            break
    end[open_above] = m
    return end
