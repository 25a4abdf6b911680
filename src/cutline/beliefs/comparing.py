"""Which of two means is higher, by the records of both and what is believed of each beforehand."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, ndtr

from cutline.beliefs.coins import coins
from cutline.beliefs.intervals import Floats
from cutline.beliefs.knowledge import Beta, Knowledge
from cutline.beliefs.prior import EDGES, Prior

_PARTS = 8  # of a cell of the prior
_PIECE = 500  # records

_FINE: Floats = np.append((EDGES[:-1, None] + np.diff(EDGES)[:, None] * (np.arange(_PARTS) / _PARTS)).ravel(), 1.0)
_MIDDLES: Floats = np.concatenate([[0.0], 0.5 * (_FINE[:-1] + _FINE[1:]), [1.0]])


class Side(NamedTuple):
    """What is known of some arms: arrays (K,) of their pulls, total rewards and totals of squared rewards."""

    knowledge: Knowledge
    pulls: Floats
    totals: Floats
    squares: Floats

    def masses(self, part: slice) -> Floats:
        """Return how probable it is that the mean is 0, in each small interval, or 1: shape (arms, intervals + 2)."""
        n, total = coins(self.pulls[part], self.totals[part], self.squares[part], self.knowledge.spread)
        prior = self.knowledge.prior
        each = np.zeros((n.size, _MIDDLES.size))
        if isinstance(prior, Beta):
            each[:, 1:-1] = np.diff(betainc(prior.a + total[:, None], prior.b + (n - total)[:, None], _FINE))
        else:
            _fill(each, prior, n, total)
        each /= each.sum(axis=1, keepdims=True)
        return each


def _fill(each: Floats, prior: Prior, n: Floats, total: Floats) -> None:
    """Write posterior masses that need not add up to 1."""
    density = np.repeat(prior.masses[:-2] / np.diff(EDGES), _PARTS)
    each[:, 1:-1] = np.diff(betainc(total[:, None] + 1.0, (n - total)[:, None] + 1.0, _FINE)) * density
    each[:, 0] = np.where(total == 0.0, (n + 1.0) * prior.masses[-2], 0.0)
    each[:, -1] = np.where(total == n, (n + 1.0) * prior.masses[-1], 0.0)


def higher(first: Side, second: Side) -> tuple[Floats, float]:
    """Return the probability that an arm's first mean is above its second, shape (K,), and that of their averages.

    Both sides have the same K arms. What is equal counts half. The averages over all arms are taken to be normal.
    """
    each = np.empty(first.pulls.shape)
    difference = variance = 0.0
    for start in range(0, each.size, _PIECE):
        part = slice(start, start + _PIECE)
        one, other = first.masses(part), second.masses(part)
        each[part] = (one * (np.cumsum(other, axis=1) - 0.5 * other)).sum(axis=1)
        for masses, sign in ((one, 1.0), (other, -1.0)):
            means = masses @ _MIDDLES
            difference += sign * float(means.sum())
            variance += float((masses @ _MIDDLES**2 - means**2).sum())
    return each, float(ndtr(difference / math.sqrt(variance))) if variance > 0.0 else 0.5


def side(knowledge: Knowledge, pulls: ArrayLike, totals: ArrayLike, squares: ArrayLike) -> Side:
    """Return a side from what arrays can be made of."""
    return Side(knowledge, *(np.asarray(item, np.float64) for item in (pulls, totals, squares)))
