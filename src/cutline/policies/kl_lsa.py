"""KL-LSA: LSA with the divergence of two coins in the place of twice the squared gap."""

import math
from dataclasses import dataclass

from cutline.policies.divergence import divergence, largest_divergence_above
from cutline.policies.policy import Policy, above_rounding, check_parameter, excess, log_above, settle


def kl_lsa_index(pulls: float, total: float, threshold: float, alpha: float) -> float:
    """Return alpha / 2 T_i kl(total / T_i, theta) + 0.5 ln T_i."""
    x = divergence(pulls, excess(pulls, total, threshold), threshold)
    return settle(0.5 * alpha * x + 0.5 * math.log(pulls))


def kl_lsa_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float, alpha: float) -> float:
    """Return an upper bound of the index over a block: the divergence on the fewest pulls, ln of the most."""
    x = largest_divergence_above(pulls, lowest, highest, threshold)
    bound = 0.5 * alpha * x + 0.5 * log_above(pulls + length)
    return above_rounding(bound, bound)


@dataclass(frozen=True)
class KLLSA(Policy):
    """LSA by divergence, with the tuning parameter ``alpha`` > 0, which means what it does in LSA near threshold 1/2.

    There kl(mean, threshold) is 2 gap^2, and elsewhere more (Pinsker's inequality). Raises InvalidInputError for any
    other alpha. Source: paper, Algorithm 1, with the divergence of Garivier and Cappe (COLT 2011).
    """

    name = "KL-LSA"
    formula = "alpha/2 * T_i * kl(mean_i, theta) + 0.5 * ln(T_i), kl(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q))"
    source = (
        "LSA with the divergence of Garivier, Cappe: The KL-UCB algorithm for bounded stochastic bandits, COLT 2011"
    )

    alpha: float = 1.35

    index = staticmethod(kl_lsa_index)
    ceiling = staticmethod(kl_lsa_ceiling)

    def __post_init__(self) -> None:
        check_parameter(self, "alpha", lambda value: 0 < value <= 1e100, "a number above 0, at most 1e100")
