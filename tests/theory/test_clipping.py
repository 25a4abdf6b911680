"""Psi_c and the clipped program against their equations in 50 digits and against P_c itself."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from cutline.errors import InvalidInputError
from cutline.theory.allocation import (
    continuous_allocation,
    continuous_program,
    log_continuous_program,
    program_value,
)
from cutline.theory.clipping import (
    _height,
    clipped_allocation,
    clipped_allocation_bound,
    clipped_gaps,
    clipped_level,
    clipped_program,
    log_clipped_program,
)

GAP_LISTS = st.lists(
    st.one_of(st.floats(1e-9, 0.5), st.sampled_from([0.0, 1e-9, 0.1, 0.25, 0.5])), min_size=1, max_size=12
)
CONSTANTS = st.sampled_from([0.1, 1.0, 2.7, 16.0])


def precise_solution(gaps: list[float], budget: float, c: float) -> Any:
    """Psi_c by bisection with 50 digits, straight from its definition, and the pulls of each arm there."""
    with mpmath.workdps(50):
        exact = [mpmath.mpf(float(gap)) for gap in gaps]
        levels = [-mpmath.log(g) if g else mpmath.inf for g in exact]

        def pulls(x: Any) -> Any:
            return [
                mpmath.exp(2 * x) if x <= level else (x - level + mpmath.mpf(c) / 2) / (mpmath.mpf(c) * g**2 / 2)
                for g, level in zip(exact, levels, strict=True)
            ]

        low, high = mpmath.mpf(0), mpmath.log(budget) / 2 + 1
        while mpmath.fsum(pulls(high)) <= budget:
            high *= 2
        for _ in range(250):
            middle = (low + high) / 2
            low, high = (middle, high) if mpmath.fsum(pulls(middle)) <= budget else (low, middle)
        return low, pulls(low)


@pytest.mark.parametrize(
    "gaps", [[0.5, 0.1, 1e-9], [1e-9] * 3, [0.2] * 5, [0.0, 0.3, 1e-6], [0.0, 0.0], [0.45, 0.35, 0.3, 0.05, 0.005]]
)
@pytest.mark.parametrize("more", [1, 1.5, 40, 10**4, 10**8])
@pytest.mark.parametrize("c", [0.1, 2.7, 16])
def test_the_level_solves_its_equation_to_50_digits(gaps: list[float], more: float, c: float) -> None:
    budget = len(gaps) * more
    level, pulls = precise_solution(gaps, budget, c)
    expected = [float(x) for x in pulls]
    assert clipped_level(gaps, budget, c) == pytest.approx(float(level), rel=1e-12, abs=1e-15)
    found = clipped_allocation(gaps, budget, c)
    assert np.abs(found - expected).max() <= 1e-11 * budget
    assert found.sum() == pytest.approx(budget, rel=1e-12)


def precise_height(growth: Any, slope: Any, rest: Any) -> float:
    """The root of growth (e^2y - 1) + slope y = rest, by bisection with 60 digits."""
    with mpmath.workdps(60):
        growth, slope, rest = mpmath.mpf(growth), mpmath.mpf(slope), mpmath.mpf(rest)
        low, high = mpmath.mpf(0), mpmath.log1p(rest / growth) / 2 if growth else rest / slope
        for _ in range(200):
            middle = (low + high) / 2
            above = growth * mpmath.expm1(2 * middle) + slope * middle > rest
            low, high = (low, middle) if above else (middle, high)
        return float(high)


@pytest.mark.slow
@pytest.mark.parametrize("rest", [1e-18, 1e-9, 0.3, 1.0, 1e4, 1e16])
@pytest.mark.parametrize("slope", [0.0, 1e-300, 1e-20, 0.7, 1e9, 1e18])
@pytest.mark.parametrize("growth", [0.0, 1e-3, 1.0, 1e12])
def test_the_rise_above_the_last_step_is_right_to_14_digits_however_small_it_is(
    growth: float, slope: float, rest: float
) -> None:
    if growth == slope == 0.0 or (growth == 0.0 and slope < 1e-20):
        return  # no arm is left that could be pulled
    found = float(_height(np.array(growth), np.array(slope), np.array(rest)))
    assert found == pytest.approx(precise_height(growth, slope, rest), rel=1e-14, abs=0.0)


@given(GAP_LISTS, CONSTANTS, st.floats(1, 1e8))
def test_the_clipped_allocation_is_the_optimum_of_p_c_for_the_clipped_gaps(
    gaps: list[float], c: float, more: float
) -> None:
    budget = len(gaps) * more
    clipped = clipped_gaps(gaps, float(clipped_level(gaps, budget, c)))
    assert (
        np.abs(clipped_allocation(gaps, budget, c) - continuous_allocation(clipped, budget, c)).max() <= 1e-9 * budget
    )
    assert log_clipped_program(gaps, budget, c) == pytest.approx(log_continuous_program(clipped, budget, c), rel=1e-9)
    assert clipped_program(gaps, budget, c) == pytest.approx(
        continuous_program(clipped, budget, c), rel=1e-6, abs=1e-300
    )


@given(GAP_LISTS, CONSTANTS, st.floats(1, 1e8))
def test_clipping_costs_a_factor_of_exp_c_at_most(gaps: list[float], c: float, more: float) -> None:
    budget = len(gaps) * more
    spent = program_value(gaps, clipped_allocation(gaps, budget, c), c)
    assert spent <= clipped_allocation_bound(gaps, budget, c) * (1 + 1e-12)
    assert clipped_allocation_bound(gaps, budget, c) == pytest.approx(
        math.exp(c) * clipped_program(gaps, budget, c), rel=1e-12
    )


def test_the_level_is_0_when_the_budget_is_one_pull_each() -> None:
    for gaps in ([0.5, 1e-9], [0.2] * 6, [0.0, 0.1], [1.0, 0.3]):
        assert clipped_level(gaps, len(gaps), 2.0) == 0.0
        assert clipped_allocation(gaps, len(gaps), 2.0).tolist() == [1.0] * len(gaps)


def test_budgets_of_any_shape_give_results_of_that_shape() -> None:
    gaps, budgets = [0.3, 0.1, 0.02], np.array([[3, 10], [100, 5000]])
    for function in (clipped_level, clipped_program, log_clipped_program, clipped_allocation_bound, clipped_allocation):
        one_by_one = [[function(gaps, budget, 2.0).tolist() for budget in row] for row in budgets]
        assert function(gaps, budgets, 2.0) == pytest.approx(np.array(one_by_one), rel=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clipped_level([0.1, 0.2, 0.3], [9, 2.5], 2), "budget 2.5 is outside the condition T >= K"),
        (lambda: clipped_allocation([0.1, 0.2], 1, 2), "T >= K"),
        (lambda: clipped_program([0.1, 0.2], 10, 0), "c is 0.0"),
        (lambda: clipped_gaps([0.1], -1), "level is -1.0; it must be at least 0"),
    ],
)
def test_outside_the_conditions_there_is_an_error_and_no_number(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()
