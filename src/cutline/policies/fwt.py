"""FWT, Frank-Wolfe for Thresholding bandits (Ouhamma, Maillard, Perchet, NeurIPS 2021)."""

import math
from dataclasses import dataclass

from cutline.policies.policy import Policy, above_rounding, excess, log_above, settle


def fwt_index(pulls: float, total: float, threshold: float) -> float:
    """Return x - ln x + ln T_i with x = max(2 T_i gap_i^2, 1), gap_i = |total / T_i - theta|."""
    deviation = excess(pulls, total, threshold)
    x = max(2.0 * deviation * deviation / pulls, 1.0)
    return settle(x - math.log(x / pulls))  # Section 3.1, equation (FWT), all costs 1


def fwt_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float) -> float:
    """Return an upper bound of the index over a block: x on the fewest pulls, ln of the most; both only raise it."""
    deviation = max(-lowest, highest)
    x = max(2.0 * deviation * deviation / pulls, 1.0)
    bound = x + log_above((pulls + length) / x)
    return above_rounding(bound, x + abs(bound))


@dataclass(frozen=True)
class FWT(Policy):
    """Frank-Wolfe for Thresholding bandits, which has no parameters.

    Rewards in [0, 1] are sub-Gaussian with sigma = 1/2, so the paper's normalised squared gap is 2 gap^2. Differs from
    the paper in the decision: it is made at the end, not where the smallest index was highest.
    Source: Ouhamma, Maillard, Perchet, NeurIPS 2021.
    """

    name = "FWT"
    formula = "x - ln(x) + ln(T_i), x = max(2 * T_i * gap_i^2, 1)"
    source = (
        "Ouhamma, Maillard, Perchet: Online Sign Identification: Minimization of the Number of Errors in "
        "Thresholding Bandits, NeurIPS 2021"
    )

    index = staticmethod(fwt_index)
    ceiling = staticmethod(fwt_ceiling)
