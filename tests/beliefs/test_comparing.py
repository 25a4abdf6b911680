"""Which of two means is higher."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from cutline.beliefs.comparing import higher, side
from cutline.beliefs.knowledge import Beta, Knowledge
from cutline.beliefs.prior import Prior

FLAT = Knowledge(Beta(1.0, 1.0))


def beta_is_higher(a: int, b: int, c: int, d: int) -> float:
    """P(X > Y) for X of Beta(a, b) and Y of Beta(c, d), whole numbers: the sum over i < a of B(c + i, b + d) / ((b + i)
    B(1 + i, b) B(c, d)) (E. Miller, Formulas for Bayesian A/B testing)."""

    def log_b(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    return sum(math.exp(log_b(c + i, b + d) - math.log(b + i) - log_b(1 + i, b) - log_b(c, d)) for i in range(a))


@pytest.mark.parametrize(
    ("mine", "other"),
    [((0, 0), (0, 0)), ((3, 3), (3, 1)), ((10, 4), (40, 20)), ((200, 150), (90, 60)), ((5, 5), (5, 5))],
)
def test_with_a_beta_prior_it_is_the_closed_form(mine: tuple[int, int], other: tuple[int, int]) -> None:
    (n, yes), (m, of_m) = mine, other
    each, _ = higher(side(FLAT, [n], [yes], [yes]), side(FLAT, [m], [of_m], [of_m]))
    assert each[0] == pytest.approx(beta_is_higher(yes + 1, n - yes + 1, of_m + 1, m - of_m + 1), abs=1e-4)


def test_a_prior_in_cells_that_is_flat_gives_the_same() -> None:
    cells = Knowledge(Prior.beta(1.0, 1.0))
    records = ([10, 60, 0], [4, 50, 0], [4, 50, 0])
    others = ([20, 60, 3], [10, 40, 3], [10, 40, 3])
    flat = higher(side(FLAT, *records), side(FLAT, *others))
    found = higher(side(cells, *records), side(cells, *others))
    assert found[0] == pytest.approx(flat[0], abs=1e-9)
    assert found[1] == pytest.approx(flat[1], abs=1e-9)


def test_of_all_arms_it_is_that_of_the_sum_of_means_with_their_variances() -> None:
    mine, other = ([10, 60], [4, 50], [4, 50]), ([20, 60], [10, 40], [10, 40])
    difference = variance = 0.0
    for sign, (pulls, totals, _) in ((1, mine), (-1, other)):
        for n, yes in zip(pulls, totals, strict=True):
            a, b = yes + 1, n - yes + 1
            difference += sign * a / (a + b)
            variance += a * b / ((a + b) ** 2 * (a + b + 1))
    _, whole = higher(side(FLAT, *mine), side(FLAT, *other))
    assert whole == pytest.approx(norm.cdf(difference / math.sqrt(variance)), abs=1e-5)


def test_means_that_are_surely_equal_count_half() -> None:
    point = np.zeros_like(Prior.beta(1.0, 1.0).masses)
    point[-1] = 1.0
    sure = Knowledge(Prior(point))
    each, whole = higher(side(sure, [3], [3], [3]), side(sure, [9], [9], [9]))
    assert (each.tolist(), whole) == ([0.5], 0.5)
