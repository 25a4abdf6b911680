"""Theorems 1 and 2 against their formulae in 50 digits, and against regrets that can be computed exactly."""

import math
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from cutline.errors import InvalidInputError
from cutline.theory.allocation import continuous_program, integer_allocation
from cutline.theory.bounds import (
    budget_divisor,
    certainty,
    classifiable_arms,
    explored_level,
    explored_pulls,
    known_gaps_bound,
    known_gaps_optimum,
    log_lower_bound,
    log_upper_bound,
    log_upper_bound_constant,
    lower_bound,
    minimax_bounds,
    optimality_bound,
    upper_bound,
    upper_bound_constant,
)
from cutline.theory.clipping import clipped_gaps
from cutline.theory.concentration import error_probability

SETUP_1 = [0.3, 0.25, 0.2, 0.15, 0.05, 0.05, 0.15, 0.2, 0.25, 0.3]
SETUP_3 = [0.05] * 5 + [0.005] * 5
ALPHAS = [1 / 20, 0.5, 1.0, 1.35, 8.0]


def precise_theorem_1(gaps: list[float], budget: float, alpha: float) -> Any:
    """Lambda, lambda_i and the logarithm of the bound (12), with 50 digits, as Section 4 states them."""
    with mpmath.workdps(50):
        a = mpmath.mpf(alpha)
        exact = [mpmath.mpf(float(gap)) for gap in gaps]

        def pulls(x: Any) -> Any:
            return [
                mpmath.exp(2 * x) if not g or x <= -mpmath.log(g) else (x + mpmath.log(g) + a) / (a * g**2)
                for g in exact
            ]

        target = mpmath.mpf(budget) / max(40 / a + 1, mpmath.mpf(40))
        low, high = mpmath.mpf(0), mpmath.log(target) + target
        for _ in range(280):
            middle = (low + high) / 2
            low, high = (middle, high) if mpmath.fsum(pulls(middle)) <= target else (low, middle)
        lambdas = pulls(low)
        root = mpmath.mpf(2) ** (1 / (8 * a))
        constant = (
            mpmath.mpf("9.3") * root / (root - 1) * mpmath.exp((mpmath.mpf("2.1") * a - mpmath.log(a) - 0.5) / (4 * a))
        )
        total = mpmath.fsum(mpmath.exp(-x * g**2 / 10) for x, g in zip(lambdas, exact, strict=True))
        return low, lambdas, mpmath.log(constant), mpmath.log(constant * total)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("gaps", [SETUP_1, SETUP_3, [1e-9, 0.5], [0.2] * 3, [0.0, 0.1, 1e-6]])
@pytest.mark.parametrize("more", [1, 3.7, 10**3, 10**6])
def test_theorem_1_agrees_with_50_digits(alpha: float, gaps: list[float], more: float) -> None:
    budget = math.ceil(len(gaps) * budget_divisor(alpha) * more)
    level, pulls, log_constant, log_bound = precise_theorem_1(gaps, budget, alpha)
    assert explored_level(gaps, budget, alpha) == pytest.approx(float(level), rel=1e-12, abs=1e-14)
    assert np.abs(explored_pulls(gaps, budget, alpha) - [float(x) for x in pulls]).max() <= 1e-12 * budget
    assert log_upper_bound_constant(alpha) == pytest.approx(float(log_constant), rel=1e-13)
    assert log_upper_bound(gaps, budget, alpha) == pytest.approx(float(log_bound), rel=1e-12)
    assert upper_bound(gaps, budget, alpha) == pytest.approx(float(mpmath.exp(log_bound)), rel=1e-9, abs=1e-300)
    expected = [bool(g) and -math.log(g) < level for g in gaps]
    assert classifiable_arms(gaps, budget, alpha).tolist() == expected


def test_the_constant_of_theorem_1_for_the_alpha_of_the_experiments() -> None:
    root = 2 ** (1 / 10.8)
    expected = 9.3 * root / (root - 1) * math.exp((2.1 * 1.35 - math.log(1.35) - 0.5) / 5.4)
    assert upper_bound_constant(1.35) == pytest.approx(expected, rel=1e-13)
    assert upper_bound_constant(1e-4) == math.inf
    assert log_upper_bound_constant(1e-4) == pytest.approx(math.log(9.3) + (2.1e-4 - math.log(1e-4) - 0.5) / 4e-4)


@given(
    st.lists(st.one_of(st.floats(1e-9, 0.5), st.sampled_from([0.1, 0.5, 1e-9])), min_size=1, max_size=10),
    st.sampled_from([*ALPHAS, 30.0]),
    st.floats(1, 1e7),
)
def test_lambda_i_solves_p_2_alpha_of_the_clipped_gaps(gaps: list[float], alpha: float, more: float) -> None:
    reduced = len(gaps) * more
    budget = reduced * budget_divisor(alpha)
    pulls = explored_pulls(gaps, budget, alpha)
    clipped = clipped_gaps(gaps, float(explored_level(gaps, budget, alpha)))
    value = np.exp(-2 * alpha * pulls * clipped**2).sum()
    assert pulls.sum() == pytest.approx(reduced, rel=1e-11)
    assert value == pytest.approx(continuous_program(clipped, reduced, 2 * alpha), rel=1e-6, abs=1e-250)


@given(st.lists(st.floats(1e-9, 0.5), min_size=1, max_size=10), st.floats(1, 1e7))
def test_the_bound_with_alpha_one_twentieth_matches_theorem_2_up_to_constants(gaps: list[float], more: float) -> None:
    budget = 801 * len(gaps) * more
    least = sys.float_info.min  # below it numbers have fewer digits
    assert upper_bound(gaps, budget, 1 / 20) <= optimality_bound(gaps, budget) * (1 + 1e-12) + least
    if max(gaps) <= 0.25 and budget >= 128160 * len(gaps):
        constant = 4 * upper_bound_constant(1 / 20) * math.exp(0.1)
        matching = constant * lower_bound(gaps, budget / 128160)
        assert optimality_bound(gaps, budget) == pytest.approx(matching, rel=1e-12)


def averaged_regret(gaps: Any, pulls: Any) -> float:
    """The exact regret of fixed pulls, averaged over all signs of the gaps: the signs of other arms do not matter."""
    means = 0.5 + np.array([[1.0], [-1.0]]) * np.asarray(gaps)
    return float(error_probability(means, pulls, 0.5).sum() / 2)


@pytest.mark.parametrize("gaps", [SETUP_3, [0.25, 0.2, 0.1, 0.03], [0.25] * 3, [1e-9, 0.25]])
@pytest.mark.parametrize("more", [1, 5, 40, 300])
def test_fixed_pulls_have_an_exact_regret_between_theorem_2_and_the_bound_for_known_gaps(
    gaps: list[float], more: float
) -> None:
    budget = len(gaps) * more
    for pulls in (np.full(len(gaps), more), 1 + integer_allocation(gaps, budget - len(gaps), 8.0)):
        regret = averaged_regret(gaps, pulls)
        assert lower_bound(gaps, budget) <= regret <= known_gaps_bound(gaps, pulls)
    low, high = (float(bound) for bound in minimax_bounds(gaps, budget))
    assert low == lower_bound(gaps, budget)
    assert high == min(known_gaps_optimum(gaps, budget), len(gaps) / 2)
    assert low <= min(regret, high)


def test_a_lower_bound_with_a_smaller_constant_would_be_wrong() -> None:
    gaps, more = [0.25, 0.2, 0.1, 0.03], 300
    regret = averaged_regret(gaps, 1 + integer_allocation(gaps, (more - 1) * 4, 8.0))
    assert 0.25 * continuous_program(gaps, more * 4, 1.0) > regret


@given(st.lists(st.floats(1e-3, 0.5), min_size=1, max_size=8), st.integers(1, 2000))
def test_the_best_fixed_pulls_keep_the_promise_of_the_algorithm_that_knows_the_gaps(
    gaps: list[float], more: float
) -> None:
    budget = len(gaps) * more
    pulls = integer_allocation(gaps, budget, 2.0)
    assert known_gaps_bound(gaps, pulls) == known_gaps_optimum(gaps, budget)
    some = pulls > 0
    exact = error_probability(0.5 - np.array(gaps)[some], pulls[some], 0.5).sum() + (~some).sum()
    assert exact <= known_gaps_optimum(gaps, budget) * (1 + 1e-12)


def test_bounds_outside_the_range_of_a_float_have_logarithms() -> None:
    assert lower_bound([0.25] * 2, 10**6) == 0.0
    assert log_lower_bound([0.25] * 2, 10**6) == pytest.approx(math.log(0.5) - 16 * 500_000 / 16, rel=1e-14)
    assert upper_bound([0.5], 2 * 10**6, 1.0) == 0.0
    assert log_upper_bound([0.5], 2 * 10**6, 1.0) == pytest.approx(
        log_upper_bound_constant(1.0) - 2 * 10**6 / 41 * 0.25 / 10, rel=1e-13
    )
    assert upper_bound([0.1], 10**9, 1e-4) == math.inf


def test_budgets_of_any_shape_give_results_of_that_shape() -> None:
    budgets = np.array([[410, 5000], [10**5, 10**7]])
    for function in (explored_level, upper_bound, log_upper_bound, explored_pulls, certainty, classifiable_arms):
        one_by_one = [[function(SETUP_1, budget, 1.0).tolist() for budget in row] for row in budgets]
        assert function(SETUP_1, budgets, 1.0).tolist() == pytest.approx(np.array(one_by_one), rel=1e-14)
    for bound in (lower_bound, log_lower_bound, known_gaps_optimum):
        rows = [[float(bound(SETUP_3, budget)) for budget in row] for row in budgets]
        assert bound(SETUP_3, budgets).tolist() == rows


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: upper_bound(SETUP_1, 10**5, 8.1), "0 < alpha <= 8"),
        (lambda: upper_bound(SETUP_1, 10**5, 0.0), "alpha"),
        (lambda: upper_bound_constant(9), "0 < alpha <= 8"),
        (lambda: upper_bound(SETUP_1, [10**5, 399], 1.35), "T >= max\\(40/alpha \\+ 1, 40\\) K \\(here 400\\)"),
        (lambda: explored_pulls(SETUP_1, 8009, 1 / 20), "here 8010"),
        (lambda: lower_bound([0.25, 0.26], 100), "gap 0.26 of arm 1 is outside \\(0, 1/4\\]"),
        (lambda: lower_bound([0.25, 0.0], 100), "gap 0.0 of arm 1 is outside"),
        (lambda: lower_bound([0.2, 0.2, 0.2], 2), "T >= K"),
        (lambda: optimality_bound([0.2, 0.2], 1601), "T >= 801 K"),
        (lambda: minimax_bounds([0.2, 0.2], 10.5), "whole number"),
    ],
)
def test_outside_the_conditions_there_is_an_error_and_no_number(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_at_the_smallest_budget_of_theorem_1_every_lambda_i_is_1() -> None:
    for alpha in ALPHAS:
        assert explored_pulls(SETUP_1, 10 * budget_divisor(alpha), alpha).tolist() == [1.0] * 10
        assert explored_level(SETUP_1, 10 * budget_divisor(alpha), alpha) == 0.0
