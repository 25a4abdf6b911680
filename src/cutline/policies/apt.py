"""APT, Anytime Parameter-free Thresholding (Locatelli, Gutzeit, Carpentier, ICML 2016)."""

from dataclasses import dataclass

from cutline.policies.policy import Policy, check_parameter, excess, settle


def apt_index(pulls: float, total: float, threshold: float, epsilon: float) -> float:
    """Return T_i (gap_i + epsilon)^2, gap_i = |total / T_i - theta|.

    Differs from the paper in the square: it orders the arms alike, and equal indices stay equal as floats.
    """
    width = abs(excess(pulls, total, threshold)) + epsilon * pulls
    return settle(width * width / pulls)  # paper, Section 1: sqrt(T_i) (gap_i + epsilon)


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

    def __post_init__(self) -> None:
        check_parameter(self, "epsilon", lambda value: value >= 0, "0 or above")
