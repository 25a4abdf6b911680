"""LSA, the Logarithmic-Sample Algorithm: the paper's method (Algorithm 1, line 4)."""

import math
from dataclasses import dataclass

from cutline.policies.policy import Policy, above_rounding, check_parameter, excess, log_above, settle


def lsa_index(pulls: float, total: float, threshold: float, alpha: float) -> float:
    """Return alpha T_i gap_i^2 + 0.5 ln T_i, where gap_i = |total / T_i - theta| (xi_i in Section 3)."""
    deviation = excess(pulls, total, threshold)
    return settle(alpha * deviation * deviation / pulls + 0.5 * math.log(pulls))  # Algorithm 1, line 4


def lsa_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float, alpha: float) -> float:
    """Return an upper bound of the index over a block: the largest excess^2 on the fewest pulls, ln of the most."""
    deviation = max(-lowest, highest)
    bound = alpha * deviation * deviation / pulls + 0.5 * log_above(pulls + length)
    return above_rounding(bound, bound)


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

    def __post_init__(self) -> None:
        check_parameter(self, "alpha", lambda value: 0 < value <= 1e100, "a number above 0, at most 1e100")
