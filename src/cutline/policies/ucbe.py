"""UCBE adapted to the threshold problem (Audibert, Bubeck, Munos, COLT 2010; paper, Section 5)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.policies.policy import Parameters, Policy, above_rounding, below_rounding, check_parameter, excess, settle
from cutline.problem import Problem


def ucbe_index(pulls: float, total: float, threshold: float, exploration: float) -> float:
    """Return gap_i - sqrt(a / T_i), gap_i = |total / T_i - theta|, a = exploration."""
    return settle(abs(excess(pulls, total, threshold)) / pulls - math.sqrt(exploration / pulls))  # paper, Section 5


def ucbe_ceiling(
    pulls: float, length: float, lowest: float, highest: float, threshold: float, exploration: float
) -> float:
    """Return an upper bound of the index over a block: the largest gap less the smallest bonus.

    Where the length is known to be 0 the compiler makes one reciprocal of two.
    """
    gap = max(-lowest, highest) * (1.0 / pulls)
    bonus = math.sqrt(exploration * (1.0 / (pulls + length)))
    return above_rounding(gap - bonus, gap + bonus)


def ucbe_band(pulls: float, length: float, level: float, threshold: float, exploration: float) -> tuple[float, float]:
    """Return the distance at both ends: it is concave, a root and a line."""
    return ucbe_distance(pulls, level, exploration), ucbe_distance(pulls + length, level, exploration)


def ucbe_distance(pulls: float, level: float, exploration: float) -> float:
    """Return sqrt(a T_i) + level T_i, the excess at which the index is the level."""
    bonus = math.sqrt(exploration * pulls)
    return below_rounding(bonus + level * pulls, bonus + abs(level) * pulls)


def ucbe_head_start(level: float, before: NDArray[np.float64], next_level: float, after: NDArray[np.float64]) -> float:
    """Return the most pulls n with level + (sqrt(before) - sqrt(after)) / sqrt(n) at most next_level."""
    lowers = math.sqrt(after[0]) - math.sqrt(before[0])
    needed = above_rounding(level, 1.0 + math.sqrt(after[0]) + math.sqrt(before[0])) - next_level
    if lowers < 0.0:
        return 0.0
    if needed <= 0.0:
        return math.inf
    most = lowers / needed
    return 0.999999 * most * most


@dataclass(frozen=True)
class UCBE(Policy):
    """UCBE(i) explores with a = 4^i (T - K) / H, so it is told the hardness H and the budget T.

    It is not anytime: each budget is a simulation of its own. Raises InvalidInputError for an ``i`` that is
    not a number from -100 to 100. Source: paper, Section 5.
    """

    name = "UCBE"
    formula = "gap_i - sqrt(a / T_i), a = 4^i * (T - K) / H"
    source = "Audibert, Bubeck, Munos: Best arm identification in multi-armed bandits, COLT 2010, adapted in the paper"
    anytime = False
    needs_truth = True

    i: float = 0.0

    index = staticmethod(ucbe_index)
    ceiling = staticmethod(ucbe_ceiling)
    band = staticmethod(ucbe_band)
    head_start = staticmethod(ucbe_head_start)

    def __post_init__(self) -> None:
        check_parameter(self, "i", lambda value: -100 <= value <= 100, "a number from -100 to 100")

    def parameters(self, problem: Problem | None = None, budget: int | None = None) -> Parameters:
        """Return (a,), a = 4^i (T - K) / H; a is 0 where a mean lies on the threshold (H is infinite)."""
        if problem is None or budget is None:
            raise InvalidInputError("UCBE needs the true hardness H and the budget T")
        return (4.0**self.i * (budget - problem.arms) / problem.hardness,)
