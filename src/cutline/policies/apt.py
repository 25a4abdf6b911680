"""APT, Anytime Parameter-free Thresholding (Locatelli, Gutzeit, Carpentier, ICML 2016)."""

import math
from dataclasses import dataclass

from cutline.policies.policy import Policy, above_rounding, below_rounding, check_parameter, excess, settle


def apt_index(pulls: float, total: float, threshold: float, epsilon: float) -> float:
    """Return T_i (gap_i + epsilon)^2, gap_i = |total / T_i - theta|.

    Differs from the paper in the square: it orders the arms alike, and equal indices stay equal as floats.
    """
    width = abs(excess(pulls, total, threshold)) + epsilon * pulls
    return settle(width * width / pulls)  # paper, Section 1: sqrt(T_i) (gap_i + epsilon)


def apt_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float, epsilon: float) -> float:
    """Return an upper bound of the index over a block: it is convex in the pulls, so largest at an end."""
    deviation = max(-lowest, highest)
    end = pulls + length
    first = deviation + epsilon * pulls
    last = deviation + epsilon * end
    bound = max(first * first / pulls, last * last / end)
    return above_rounding(bound, bound)


def apt_band(pulls: float, length: float, level: float, threshold: float, epsilon: float) -> tuple[float, float]:
    """Return the distance at both ends: it is concave, a root less a line."""
    return apt_distance(pulls, level, epsilon), apt_distance(pulls + length, level, epsilon)


def apt_distance(pulls: float, level: float, epsilon: float) -> float:
    """Return sqrt(T_i level) - epsilon T_i, the excess at which the index is the level."""
    root = math.sqrt(pulls * level)
    return below_rounding(root - epsilon * pulls, root + epsilon * pulls)


@dataclass(frozen=True)
class APT(Policy):
    """Anytime Parameter-free Thresholding with the precision ``epsilon`` >= 0 (the indifference zone).

    Raises InvalidInputError for a negative epsilon. Source: paper, Sections 1 and 5.
    """

    name = "APT"
    formula = "sqrt(T_i) * (gap_i + epsilon)"
    source = "Locatelli, Gutzeit, Carpentier: An optimal algorithm for the Thresholding Bandit Problem, ICML 2016"

    epsilon: float = 0.0

    index = staticmethod(apt_index)
    ceiling = staticmethod(apt_ceiling)
    band = staticmethod(apt_band)

    def __post_init__(self) -> None:
        check_parameter(self, "epsilon", lambda value: 0 <= value <= 1e100, "a number from 0 to 1e100")
