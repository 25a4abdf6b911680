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
_PIECE = 1000  # records
_CLOSE = 3e-5  # of the root of ln of the mixture
_FEWEST_NODES, _MOST_NODES = 50, 4000
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
    scores = scores[np.argsort((total / np.maximum(n, 1.0)).ravel()[scores], kind="stable")]  # near each other: faster
    for start in range(0, scores.size, _PIECE):
        part = np.unravel_index(scores[start : start + _PIECE], n.shape)
        record = n[part], total[part], square[part]
        lowest = log_mixture(record, np.clip(total[part] / n[part], _LEAST, 1.0 - _LEAST))
        low[part] = _last_inside(record, low[part], lowest, confidence)
        high[part] = _last_inside(record, high[part], lowest, confidence)
    return low, high


def log_mixture(record: tuple[Floats, Floats, Floats], m: Floats) -> Floats:
    """Return ln of the mixture of the smallest products for means m in (0, 1), shape (R,).

    ``record`` holds pulls, totals and squares, arrays of shape (R,). The mixture is over q at the middles of equal
    steps of the angle whose squared sine is q, which has the density of Beta(1/2, 1/2): enough of them for the longest
    record.
    """
    n, total, square = record
    nodes = int(np.clip(4.0 * np.sqrt(n.max(initial=1.0)), _FEWEST_NODES, _MOST_NODES))
    angles = 0.5 * np.pi * (np.arange(nodes) + 0.5) / nodes
    q, rest = np.sin(angles) ** 2, np.cos(angles) ** 2
    first, last = np.searchsorted(
        q, [m.min(initial=1.0), m.max(initial=0.0)]
    )  # between them some bets are on each side
    products = np.empty((n.size, nodes))
    products[:, :last] = _smallest_products((n, n - total, n - 2.0 * total + square), 1.0 - m, rest[:last])
    upwards = _smallest_products(record, m, q[first:])
    np.copyto(products[:, first:], upwards, where=q[first:] > m[:, None])
    largest = products.max(axis=1)
    products -= largest[:, None]
    mixture: Floats = largest + np.log(np.exp(products, out=products).mean(axis=1))
    return mixture


def _smallest_products(record: tuple[Floats, Floats, Floats], m: Floats, q: Floats) -> Floats:
    """Return ln of the smallest products of bets that the mean is more than m, shape (R, nodes)."""
    n, total, square = record
    value = np.divide(square, total, out=np.ones_like(total), where=total > 0.0)  # of the rewards that are not 0
    value = np.clip(value, total / n, 1.0)  # it is there, but for rounding
    count = np.divide(total, value, out=np.zeros_like(total), where=value > 0.0)
    products = np.subtract(q, m[:, None])
    products *= ((value - m) / (m * (1.0 - m)))[:, None]
    products += 1.0
    np.log(products, out=products)
    products *= count[:, None]
    of_zeros = np.multiply.outer(n - count, np.log1p(-q))
    of_zeros -= ((n - count) * np.log1p(-m))[:, None]
    products += of_zeros
    return products


def _last_inside(record: tuple[Floats, Floats, Floats], end: Floats, lowest: Floats, confidence: float) -> Floats:
    """Return the end of the interval between the mean of the rewards and the end that coins have.

    ``lowest`` is ln of the mixture at the mean of the rewards.
    The root of what ln of the mixture has risen to since the mean is nearly straight; so the end is looked for by
    false position, where a side that stays twice counts half (the Illinois method).
    """
    found, inside = end.copy(), record[1] / record[0]
    wanted = np.sqrt(-np.log1p(-confidence) - lowest) + _CLOSE  # so that a place that is close is not inside

    def above(place: Floats, some: NDArray[np.int64]) -> Floats:
        """Return by how much these records are above what is wanted at a place."""
        n, total, square = (item[some] for item in record)
        risen = log_mixture((n, total, square), np.clip(place, _LEAST, 1.0 - _LEAST)) - lowest[some]
        height: Floats = np.sqrt(np.maximum(risen, 0.0)) - wanted[some]
        return height

    values = above(end, np.arange(end.size))
    some = np.flatnonzero(values > _CLOSE)
    inside, outside, low, high = inside[some], end[some], -wanted[some], values[some]
    was_beyond = was_inside = np.zeros(some.size, dtype=np.bool_)
    for _ in range(_MOST_STEPS):
        place = outside - high * (outside - inside) / (high - low)
        value = above(place, some)
        beyond = value > 0.0
        low = np.where(beyond, np.where(was_beyond, 0.5 * low, low), value)
        high = np.where(beyond, value, np.where(was_inside, 0.5 * high, high))
        inside, outside = np.where(beyond, inside, place), np.where(beyond, place, outside)
        found[some] = np.where(np.abs(value) <= _CLOSE, place, outside)
        left = np.flatnonzero(np.abs(value) > _CLOSE)
        if not left.size:
            break
        was_beyond, was_inside, some = beyond[left], ~beyond[left], some[left]
        inside, outside, low, high = inside[left], outside[left], low[left], high[left]
    return found


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
