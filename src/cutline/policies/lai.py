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

from cutline.policies.divergence import divergence
from cutline.policies.free_boundary import log_cost
from cutline.policies.policy import Policy, excess, settle


def lai_index(pulls: float, total: float, threshold: float) -> float:
    """Return ln n + psi(x), n = T_i + 1, x = n kl(theta + d / n, theta), d the excess and the overshoot."""
    n = pulls + 1.0
    deviation = excess(pulls, total, threshold)
    deviation += overshoot(threshold) if deviation >= 0.0 else -overshoot(1.0 - threshold)
    return settle(log_cost(n, math.sqrt(2.0 * divergence(n, deviation, threshold))))


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
