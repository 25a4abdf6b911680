"""Arms with many pulls, several at once: against rows of single pulls."""

import numpy as np
import pytest
from scipy.stats import binom

from cutline import LSA
from cutline.planning.computing.lattice import first_of_strides
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.passage import Sources, pass_levels

FRESH = Sources(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1))


def one_by_one(mean: float, threshold: float, level: float, depth: int) -> tuple[float, float, float]:
    """The expected pulls, their squares and the probability of error of an arm that LSA pulls up to a level."""
    arms, pulls, squares, wrong = np.ones(1), 0.0, 0.0, 0.0
    for n in range(depth):
        total = np.arange(n + 1.0)
        index = 1.35 * (total - threshold * n) ** 2 / n + 0.5 * np.log(n) if n else np.full(1, -np.inf)
        stops = index > level
        wrong += arms[stops & ((total >= threshold * n - 1e-9) != (mean >= threshold))].sum()
        arms = np.where(stops, 0.0, arms)
        pulls += arms.sum()
        squares += (2.0 * n + 1.0) * arms.sum()
        arms = np.append(arms * (1.0 - mean), 0.0) + np.append(0.0, arms * mean)
    return pulls, squares, wrong


@pytest.mark.parametrize(("mean", "threshold", "level"), [(0.51, 0.5, 4.2), (0.5, 0.5, 4.0), (0.18, 0.2, 4.2)])
def test_an_arm_with_thousands_of_pulls_has_the_pulls_and_errors_of_single_pulls(
    mean: float, threshold: float, level: float
) -> None:
    depth = 4500  # more pulls than e^(2 * 4.2), beyond which the index of every record is above the level
    wanted = one_by_one(mean, threshold, level, depth)
    assert wanted[0] > first_of_strides(threshold)
    nodes = Nodes.of(np.array([mean]), np.ones(1), threshold)
    sums = pass_levels(LSA(), threshold, (1.35,), np.array([level]), FRESH, nodes, np.array([0, depth]))
    assert [sums.pulls[0], sums.squares[0]] == pytest.approx(wanted[:2], rel=3e-3)
    assert sums.errors[0] == pytest.approx(wanted[2], rel=3e-3)
    assert sums.left[0] == 0.0
    assert sums.gains.sum() + float(mean >= threshold) == pytest.approx(sums.errors[0], rel=1e-6)


@pytest.mark.parametrize("mean", [0.498, 0.502])
def test_an_arm_that_is_looked_at_no_more_is_as_often_wrong_as_by_the_binomial_distribution(mean: float) -> None:
    """A place of the lattice stands for rewards on either side of it: those around the threshold are called both."""
    depth = 4096
    nodes = Nodes.of(np.array([mean]), np.ones(1), 0.5)
    sums = pass_levels(LSA(), 0.5, (1.35,), np.array([1e9]), FRESH, nodes, np.array([0, depth]))
    below = np.mean([binom.cdf(np.ceil(n / 2) - 1, n, mean) for n in (depth, depth + 1)])
    assert sums.left[0] == pytest.approx(1.0, abs=1e-3)
    assert sums.errors[0] == pytest.approx(below if mean >= 0.5 else 1.0 - below, rel=0.012)
