"""Uniform: every arm in turn, whatever came back (paper, Section 5)."""

from dataclasses import dataclass

from cutline.policies.policy import Policy


def uniform_index(pulls: float, total: float, threshold: float) -> float:
    """Return T_i: the arm with the fewest pulls is next, ties in order, which is arm 1 to K again and again."""
    return pulls


def uniform_ceiling(pulls: float, length: float, lowest: float, highest: float, threshold: float) -> float:
    """Return the index at the end of a block."""
    return pulls + length


@dataclass(frozen=True)
class Uniform(Policy):
    """Pull the arms in order until the budget is reached. Source: paper, Section 5."""

    name = "Uniform"
    formula = "T_i"
    source = "paper, Section 5"
    reads_rewards = False

    index = staticmethod(uniform_index)
    ceiling = staticmethod(uniform_ceiling)
