"""UCBE against the paper's formula, and the exploration that it is told."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import naive
from cutline import UCBE, InvalidInputError, Problem
from orders import assert_orders_alike

RECORDS = [(n, s) for n in range(1, 61) for s in range(n + 1)]


@pytest.mark.parametrize("theta", [0.5, 0.3, 1 / 3])
@pytest.mark.parametrize("exploration", [0.0, 0.25, 7.3, 1e5])
def test_its_index_is_the_formula_of_section_5(theta: float, exploration: float) -> None:
    with mpmath.workdps(40):
        for n, s in [*RECORDS, (10**6, 499_000), (10**6, 0)]:
            gap, bonus = abs(mpmath.mpf(s) / n - mpmath.mpf(theta)), mpmath.sqrt(mpmath.mpf(exploration) / n)
            error = abs(UCBE.index(float(n), float(s), theta, exploration) - (gap - bonus))
            assert float(error) <= 1e-12 * float(abs(gap - bonus)) + 1e-15 * float(1 + bonus)


@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction("0.3")])
@pytest.mark.parametrize("exploration", ["0", "7.3", "0.25"])
def test_it_orders_records_as_exact_arithmetic_does_ties_included(theta: Fraction, exploration: str) -> None:
    ties = assert_orders_alike(
        lambda n, s: UCBE.index(float(n), float(s), float(theta), float(exploration)),
        naive.ucbe(theta, Fraction(exploration)),
        RECORDS,
    )
    if theta == naive.HALF:
        assert ties >= 900


@pytest.mark.parametrize(("i", "factor"), [(0, 1), (1, 4), (-1, 0.25), (0.5, 2)])
def test_its_exploration_is_4_to_the_i_times_the_pulls_after_the_first_round_over_the_hardness(
    i: float, factor: float
) -> None:
    problem = Problem([0.25, 0.75, 0.375], 0.5)  # H = 16 + 16 + 64 = 96
    assert UCBE(i).parameters(problem, 99) == (factor * 96 / 96,)
    assert UCBE(i).parameters(problem, 3) == (0.0,)


def test_it_does_not_explore_where_a_mean_lies_on_the_threshold() -> None:
    """H is infinite; nothing warns of a division by zero."""
    assert UCBE().parameters(Problem([0.3, 0.5], 0.3), 100) == (0.0,)


def test_every_budget_is_a_game_of_its_own() -> None:
    assert not UCBE.anytime
    assert UCBE.needs_truth
    assert not UCBE.yardstick


def test_its_parameters_are_numbers_that_go_into_a_table() -> None:
    (value,) = UCBE(2).parameters(Problem(np.linspace(0.1, 0.9, 9), 0.33), 1000)
    assert np.ndim(value) == 0
    assert value == pytest.approx(16 * 991 / sum((m / 10 - 0.33) ** -2 for m in range(1, 10)))


@pytest.mark.parametrize("i", [101, -101])
def test_i_has_limits(i: float) -> None:
    with pytest.raises(InvalidInputError, match=rf"^UCBE: i is {i}; it must be a number from -100 to 100$"):
        UCBE(i)
