"""The critical cost of every record under a prior: what a pull may cost before a record is better left alone.

An arm with n pulls and total S is wrongly called with probability e(n, S), the smaller of what the posterior gives both
sides of the threshold, and its next reward is 1 with probability p(n, S). At a cost c of a pull and 1 of an error, the
best that can still be had is

    W_c(n, S) = min(e, c + p W_c(n + 1, S + 1) + (1 - p) W_c(n + 1, S)),

and the critical cost is the highest c at which pulling on pays: sup {c : W_c < e}. With many arms and one budget, c is
the price at which the budget is used up (Hu and Frazier: Bayes-optimal effort allocation in crowdsourcing: bounds and
index policies, AISTATS 2016, whose Lagrangian relaxation this is).

All W_c are found at once, level by level from the last, at costs that are ``_STEP`` apart in their logarithm; between
two of them the critical cost is where a chord meets e, which is right within 0.02 in the logarithm. W_c = e at the last
level, ``_HORIZON`` times as deep as the last record that is wanted. At costs above the critical one W_c is e, and where
that holds after either reward too, going on is seldom better: most records need only a part of all costs.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from cutline.beliefs.prior import Prior
from cutline.compiled import jit_in_place, kernel

Floats = NDArray[np.float64]

_HORIZON = 4
_STEP = 0.1
_LAST = 30.0
_COSTS: Floats = np.exp(-np.arange(math.log(2.0), _LAST, _STEP))  # from 1/2, the most that e can be
_IN_BITS = 2.0**20  # to which indices are rounded, so that no last bit of a logarithm matters


class Level(NamedTuple):
    """Records with S = 0 .. n successes in n pulls: the probability of each with a mean above the threshold, and below.

    A mean on the threshold counts as above.
    """

    above: Floats
    below: Floats


def indices(prior: Prior, threshold: float, depth: int) -> Floats:
    """Return minus the logarithm of the critical cost of each record (n, S), n <= depth, at place n (n + 1) / 2 + S.

    Where it is beyond 30 it is 30, or -ln e if that is more. ``prior`` must give every record some probability.
    """
    found = np.empty((depth + 1) * (depth + 2) // 2)
    with np.errstate(all="ignore"):  # where kernels run uncompiled
        _sweep(level(prior, threshold, _HORIZON * depth), _COSTS, found)
    return np.round(found * _IN_BITS) / _IN_BITS


def level(prior: Prior, threshold: float, pulls: int) -> Level:
    """Return the level of the records with so many pulls."""
    _, weights = prior.points(threshold)
    chances, above = _chances(threshold, pulls)
    likely = chances * weights
    return Level(likely[:, above].sum(axis=1), likely[:, ~above].sum(axis=1))


@lru_cache(maxsize=4)
def _chances(threshold: float, pulls: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the chance of each total of so many pulls at each point of a prior, (pulls + 1, P), and which are above.

    The points are the same for all priors.
    """
    means, _ = Prior.beta(1.0, 1.0).points(threshold)
    total = np.arange(pulls + 1.0)[:, None]
    ways = gammaln(pulls + 1.0) - gammaln(total + 1.0) - gammaln(pulls - total + 1.0)
    return np.exp(ways + xlogy(total, means) + xlog1py(pulls - total, -means)), means >= threshold


@jit_in_place
def _first_below(going_on: Any, first: int, error: float) -> int:
    """Return the first place from ``first`` on where going on costs less than the error, their number if none is."""
    place = first
    while place < going_on.size and going_on[place] >= error:
        place += 1
    return place


@jit_in_place
def _crossing(costs: Any, place: int, going_on: Any, error: float) -> float:
    """Return minus the logarithm of the highest cost at which going on costs less than the error.

    ``place`` is the first of the costs at which it does.
    """
    if place == costs.size:
        return max(-math.log(costs[-1]), -math.log(max(error, 1e-300)))
    more, less = going_on[place - 1] - error, error - going_on[place]
    return -math.log(costs[place] + (costs[place - 1] - costs[place]) * less / (more + less))


@kernel
def _sweep(last: Level, costs: Any, found: Any) -> None:
    """Fill in the indices of all records of the first levels, going back from the last level, which is overwritten.

    Costs fall. A row of ``best`` has W_c from the cost at the place in ``stops`` on; before, it is e, in ``errors``.
    """
    above, below = last
    horizon = above.size - 1
    best = np.empty((horizon + 1, costs.size))  # W_c of each record of a level
    errors = np.empty(horizon + 1)
    stops = np.full(horizon + 1, costs.size)
    for s in range(horizon + 1):
        errors[s] = min(above[s], below[s]) / (above[s] + below[s])
    for n in range(horizon - 1, -1, -1):
        for s in range(n + 1):
            failure, success = (n + 1.0 - s) / (n + 1.0), (s + 1.0) / (n + 1.0)
            of_success = success * (above[s + 1] + below[s + 1])
            above[s] = failure * above[s] + success * above[s + 1]
            below[s] = failure * below[s] + success * below[s + 1]
            likely = above[s] + below[s]
            p, error = of_success / likely, min(above[s], below[s]) / likely
            here, after_success = best[s], best[s + 1]
            first = min(stops[s], stops[s + 1])
            of_successes, of_failures = p * errors[s + 1], (1.0 - p) * errors[s]
            while first > 0 and costs[first - 1] + of_successes + of_failures < error:
                first -= 1
            first = max(first - 1, 0)  # a chord needs the last cost at which going on is no better
            here[first : stops[s]] = errors[s]
            after_success[first : stops[s + 1]] = errors[s + 1]
            for j in range(first, costs.size):
                here[j] = costs[j] + p * after_success[j] + (1.0 - p) * here[j]
            place = _first_below(here, first, error)
            at = n * (n + 1) // 2 + s
            if at < found.size:
                found[at] = _crossing(costs, place, here, error)
            for j in range(place, costs.size):
                here[j] = min(here[j], error)
            errors[s], stops[s] = error, place
