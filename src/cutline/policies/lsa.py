"""LSA, the Logarithmic-Sample Algorithm: the paper's method (Algorithm 1, line 4)."""

import math
from dataclasses import dataclass

from cutline.policies.policy import Policy, above_rounding, below_rounding, check_parameter, excess, log_above, settle


def lsa_index(pulls: float, total: float, threshold: float, alpha: float) -> float:
    """Return alpha T_i gap_i^2 + 0.5 ln T_i, where gap_i = |total / T_i - theta| (xi_i in Section 3)."""
    deviation = excess(pulls, total, threshold)
    return settle(alpha * deviation * deviation / pulls + 0.5 * math.log(pulls))  # Algorithm 1, line 4


def lsa_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float, alpha: float) -> float:
    """Return an upper bound of the index over a block: the largest excess^2 on the fewest pulls, ln of the most."""
    deviation = max(-lowest, highest)
    bound = alpha * deviation * deviation / pulls + 0.5 * log_above(pulls + length)
    return above_rounding(bound, bound)


def lsa_band(pulls: float, length: float, level: float, threshold: float, alpha: float) -> tuple[float, float]:
    """Return the distance at both ends: it is concave, as T_i times the room for a gap is."""
    return lsa_distance(pulls, level, alpha), lsa_distance(pulls + length, level, alpha)


def lsa_distance(pulls: float, level: float, alpha: float) -> float:
    """Return sqrt(T_i (level - 0.5 ln T_i) / alpha), where the index is the level; -1 if it nowhere is."""
    room = below_rounding(level, level) - 0.5 * log_above(pulls)
    distance = math.sqrt(pulls * max(room, 0.0) / alpha)
    return distance if room >= 0.0 else -1.0


@dataclass(frozen=True)
class LSA(Policy):
    """Logarithmic-Sample Algorithm with the tuning parameter ``alpha`` > 0; the paper's experiments use 1.35.

    Raises InvalidInputError for any other alpha. Source: paper, Algorithm 1.
    """

    name = "LSA"
    formula = "alpha * T_i * gap_i^2 + 0.5 * ln(T_i)"
    source = "Tao, Blanco, Peng, Zhou: Thresholding Bandit with Optimal Aggregate Regret, NeurIPS 2019, Algorithm 1"

    alpha: float = 1.35

    index = staticmethod(lsa_index)
    ceiling = staticmethod(lsa_ceiling)
    band = staticmethod(lsa_band)

    def __post_init__(self) -> None:
        check_parameter(self, "alpha", lambda value: 0 < value <= 1e100, "a number above 0, at most 1e100")
