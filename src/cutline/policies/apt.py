"""APT, Anytime Parameter-free Thresholding (Locatelli, Gutzeit, Carpentier, ICML 2016)."""

from dataclasses import dataclass

from cutline.policies.policy import Policy, above_rounding, check_parameter, corners, excess, settle


def apt_index(pulls: float, total: float, threshold: float, epsilon: float) -> float:
    """Return T_i (gap_i + epsilon)^2, gap_i = |total / T_i - theta|.

    Differs from the paper in the square: it orders the arms alike, and equal indices stay equal as floats.
    """
    width = abs(excess(pulls, total, threshold)) + epsilon * pulls
    return settle(width * width / pulls)  # paper, Section 1: sqrt(T_i) (gap_i + epsilon)


def apt_ceiling(pulls: float, total: float, length: float, ones: float, threshold: float, epsilon: float) -> float:
    """Return an upper bound of the index inside a block: it is convex in (pulls, total), so largest at a corner.

    The first corner never exceeds one of the other three.
    """
    highest, lowest = corners(pulls, total, length, ones, threshold)
    up = pulls + ones
    down = pulls + length - ones
    end = pulls + length
    last = excess(pulls, total, threshold) + ones - length * threshold
    above = abs(highest) + epsilon * up
    below = abs(lowest) + epsilon * down
    after = abs(last) + 1e-15 * end + epsilon * end
    bound = max(above * above / up, below * below / down, after * after / end)
    return above_rounding(bound, bound)


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

    def __post_init__(self) -> None:
        check_parameter(self, "epsilon", lambda value: value >= 0, "0 or above")
