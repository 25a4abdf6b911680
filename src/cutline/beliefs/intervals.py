"""Intervals for an arm's mean that hold at all times and under any rule of asking: mixtures of bets.

Let x_1, x_2, ... be rewards in [0, 1] with mean mu, whatever decided that they were asked for. For any q in (0, 1) and
l = (q - mu) / (mu (1 - mu)), the product of 1 + l (x_i - mu) is what is left of 1 that is bet on a coin with mean q
against mu: a martingale. So is the mixture of these products over q of Beta(1/2, 1/2), and it ever reaches 1 / delta
with probability delta at most (Ville). The interval holds every m for which the mixture is below 1 / delta.

Of coins with sum S_n the mixture is

    M_n(m) = B(S_n + 1/2, n - S_n + 1/2) / (B(1/2, 1/2) m^S_n (1 - m)^(n - S_n)),

so the interval is n kl(S_n / n, m) < a number of the record alone. Of other rewards the product is not known from the
record (n, S_n, Q_n), Q_n the sum of squares, but how small it can be is: ln(1 + l (x - m)) has a third derivative of
one sign, so among all rewards in [0, 1] with this sum and these squares the product is smallest if they are 0 and Q / S
alone (l > 0), or 1 and another value alone (l < 0; Chebyshev, Markov, Krein). The mixture of these smallest products is
below the martingale at all times. For coins it is the martingale itself.

Sources: Robbins, Statistical methods related to the law of the iterated logarithm, Annals of Mathematical Statistics
41, 1970 (mixtures); Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 86, 2024.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlog1py, xlogy

Floats: TypeAlias = NDArray[np.float64]

_HALF = 0.5
_PRECISION = 1e-13
_MOST_STEPS = 60
_PIECE = 200  # records
_HALVINGS = 20
_FEWEST_NODES, _MOST_NODES = 100, 4000
_LEAST = 1e-12
_BELOW_1 = np.nextafter(1.0, 0.0)


def interval(
    pulls: ArrayLike, totals: ArrayLike, confidence: float = 0.95, squares: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """Return the ends (low, high) of the intervals of arms with these records, arrays of their common shape.

    ``pulls`` is n >= 0, ``totals`` the sum of the rewards, from 0 to n, ``squares`` that of their squares; None counts
    the rewards as coins, which holds for any. With probability ``confidence``, in (0, 1), at least, the true mean of an
    arm lies in its intervals after every one of its pulls, for ever; [0, 1] without pulls.
    """
    given = (pulls, totals, totals if squares is None else squares)
    n, total, square = np.broadcast_arrays(*(np.asarray(item, np.float64) for item in given))
    low, high = 1.0 - _upper_end(n, n - total, confidence), _upper_end(n, total, confidence)
    scores = np.flatnonzero((square < total) & (n > 0.0))
    for start in range(0, scores.size, _PIECE):
        part = np.unravel_index(scores[start : start + _PIECE], n.shape)
        record = n[part], total[part], square[part]
        low[part] = _last_inside(record, low[part], confidence)
        high[part] = _last_inside(record, high[part], confidence)
    return low, high


def log_mixture(record: tuple[Floats, Floats, Floats], m: Floats) -> Floats:
    """Return ln of the mixture of the smallest products for means m in (0, 1), shape (R,).

    ``record`` holds pulls, totals and squares, arrays of shape (R,). The mixture is over q at the middles of equal
    steps of the angle whose squared sine is q, which has the density of Beta(1/2, 1/2): enough of them for the longest
    record.
    """
    n, total, square, at = (item[:, None] for item in (*record, m))
    nodes = int(np.clip(4.0 * np.sqrt(n.max(initial=1.0)), _FEWEST_NODES, _MOST_NODES))
    q = np.sin(0.5 * np.pi * (np.arange(nodes) + 0.5) / nodes) ** 2
    upwards = q > at
    total, square = np.where(upwards, total, n - total), np.where(upwards, square, n - 2.0 * total + square)
    mean, bet_on = np.where(upwards, at, 1.0 - at), np.where(upwards, q, 1.0 - q)
    value = np.divide(square, total, out=np.ones_like(total), where=total > 0.0)  # of the rewards that are not 0
    value = np.clip(value, total / n, 1.0)  # it is there, but for rounding
    count = np.divide(total, value, out=np.zeros_like(total), where=value > 0.0)
    stake = (bet_on - mean) / (mean * (1.0 - mean))
    products = (n - count) * np.log((1.0 - bet_on) / (1.0 - mean)) + count * np.log1p(stake * (value - mean))
    largest = products.max(axis=1)
    mixture: Floats = largest + np.log(np.exp(products - largest[:, None]).mean(axis=1))
    return mixture


def _last_inside(record: tuple[Floats, Floats, Floats], end: Floats, confidence: float) -> Floats:
    """Return the end of the interval between the mean of the rewards and the end that coins have, by bisection."""
    limit = -np.log1p(-confidence)
    inside, outside = record[1] / record[0], end.copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (inside + outside)
        far = log_mixture(record, np.clip(middle, _LEAST, 1.0 - _LEAST)) >= limit
        inside, outside = np.where(far, inside, middle), np.where(far, middle, outside)
    return outside


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
