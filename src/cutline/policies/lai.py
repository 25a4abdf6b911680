"""Lai: the policy from sequential testing, without parameters.

An arm's index is minus the logarithm of the highest cost of a pull at which pulling it on still pays, if an error costs
1 (see ``free_boundary.py``). So the arm whose next pulls are worth the most is pulled. Three things lead from a
Brownian motion to rewards:

- x is T_i kl(mean_i, theta) in the place of half the squared deviate, and so weighs means far from 1/2 rightly.
- The record has one more pull, on the threshold, for the flat prior. With Beta(1, 1) and theta = 1/2 the belief has the
  mean (S + 1/2) / (T_i + 1), corrected for continuity.
- A walk in steps does not stop on a boundary but some way beyond, so the best boundary for steps is that much closer
  (Chernoff, Petkau: An optimal stopping problem for sums of dichotomous random variables, 1976). The excess has this
  mean overshoot added. Rewards of 0 and 1 overshoot by theta / 2 downwards if theta is 1/2, 1/3, 1/4 and so on, since
  no multiple of theta is passed over; upwards by (1 - 2 theta) / 3 more, a third of the ratio of the third moment to
  the second (Siegmund: Sequential Analysis, 1985, chapter 8). Above 1/2 the two change places.
"""

import math
from dataclasses import dataclass

from cutline.policies.divergence import divergence, largest_divergence_above
from cutline.policies.free_boundary import log_cost, log_cost_above, x_below
from cutline.policies.policy import Policy, above_rounding, below_rounding, excess, settle

_STEEP = 0.7  # of the way from the threshold to the nearer of 0 and 1; up to there the band's series lose little


def lai_index(pulls: float, total: float, threshold: float) -> float:
    """Return ln n + psi(x), n = T_i + 1, x = n kl(theta + d / n, theta), d the excess and the overshoot."""
    n = pulls + 1.0
    deviation = excess(pulls, total, threshold)
    deviation += overshoot(threshold) if deviation >= 0.0 else -overshoot(1.0 - threshold)
    return settle(log_cost(n, math.sqrt(2.0 * divergence(n, deviation, threshold))))


def lai_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float) -> float:
    """Return an upper bound of the index over a block: x grows with the distance and falls with the pulls."""
    n = pulls + 1.0
    low, high = lowest - overshoot(1.0 - threshold), highest + overshoot(threshold)
    x = largest_divergence_above(n, low, high, threshold)
    bound = log_cost_above(n + length, x)
    return above_rounding(bound, bound)


def lai_band(pulls: float, length: float, level: float, threshold: float) -> tuple[float, float]:
    """Return D / sqrt(1 + k) less the overshoot at both ends, D = sqrt(2 theta (1 - theta) n x), concave in n.

    n kl is at most d^2 / (2 theta (1 - theta) n) times 1 + k, where k grows with the mean's distance d / n. The largest
    of these is that of D at the first end, unless it is steeper than a limit: then the limit is, and d ends there.
    """
    n = pulls + 1.0
    end = n + length
    x, x_at_end = max(x_below(n, level), 0.0), x_below(end, level)
    variance = threshold * (1.0 - threshold)
    nearest = min(threshold, 1.0 - threshold)
    steepest = min(math.sqrt(2.0 * variance * x / n), _STEEP * nearest)
    cubic = abs(2.0 * threshold - 1.0) / (3.0 * variance)
    quartic = (1.0 - 3.0 * variance) / (variance * variance * (6.0 - 6.0 * steepest / nearest))
    scale = 2.0 * variance / (1.0 + steepest * (cubic + steepest * quartic))
    more = max(overshoot(threshold), overshoot(1.0 - threshold))
    first = min(math.sqrt(scale * n * x), steepest * n) - more
    last = min(math.sqrt(scale * end * max(x_at_end, 0.0)), steepest * end) - more
    known = x_at_end > 0.0
    return below_rounding(first, n) if known else -1.0, below_rounding(last, end) if known else -1.0


def overshoot(threshold: float) -> float:
    """Return by how many rewards the excess overshoots a distant boundary above it, on average."""
    return 1 / 3 - threshold / 6 if threshold < 0.5 else (1.0 - threshold) / 2


@dataclass(frozen=True)
class Lai(Policy):
    """Lai's nearly optimal sequential test as an index, which has no parameters.

    Source: Lai, Annals of Statistics 16, 1988; Chernoff 1961; psi is solved for in ``docs/lai_boundary.py``.
    """

    name = "Lai"
    formula = "ln(n) + psi(x), n = T_i + 1, x = n * kl(mean_i, theta), mean_i one overshoot further from theta"
    source = "Lai: Nearly optimal sequential tests of composite hypotheses, Annals of Statistics 16, 1988"

    index = staticmethod(lai_index)
    ceiling = staticmethod(lai_ceiling)
    band = staticmethod(lai_band)
