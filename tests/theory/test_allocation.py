"""The programs P_c and P*_c against a convex solver, dynamic programming, 50 digits, and their own optimality."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, cast

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import optimize

from cutline.errors import InvalidInputError
from cutline.theory.allocation import (
    continuous_allocation,
    continuous_level,
    continuous_program,
    equivalent_budget,
    integer_allocation,
    integer_program,
    log_continuous_program,
    log_integer_program,
    log_program_value,
    program_bounds,
    program_value,
)

GAPS = st.one_of(st.floats(1e-9, 0.5), st.sampled_from([1e-9, 1.0000001e-9, 0.05, 0.1, 0.25, 0.5]), st.just(0.0))
GAP_LISTS = st.lists(GAPS, min_size=1, max_size=12)
CONSTANTS = st.sampled_from([0.1, 1.0, 2.0, 16.0])
TRICKY = [
    [0.5, 0.1, 1e-9],
    [1e-9, 1.0000000000001e-9, 2e-9],
    [1e-9] * 4 + [0.3],
    [0.2] * 7,
    [0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-5, 1e-7],
    [0.0, 0.3, 1e-6],
]


def precise_program(gaps: Sequence[float], budget: Any, c: float) -> Any:
    """P_c and its allocation by bisection for Phi_c with 50 digits, straight from Lemma 3."""
    with mpmath.workdps(50):
        exact = [mpmath.mpf(float(gap)) for gap in gaps]

        def pulls(level: Any) -> Any:
            return [max((level + mpmath.log(g)) / (c * g**2 / 2), mpmath.mpf(0)) if g else mpmath.mpf(0) for g in exact]

        low, high = mpmath.mpf(0), mpmath.mpf(max(float(c) * budget, 1.0)) + 50
        for _ in range(300):
            middle = (low + high) / 2
            low, high = (middle, high) if mpmath.fsum(pulls(middle)) <= budget else (low, middle)
        found = pulls(low)
        return mpmath.fsum(mpmath.exp(-c * x * g**2) for x, g in zip(found, exact, strict=True)), found, low


@pytest.mark.slow
@pytest.mark.parametrize("gaps", TRICKY)
@pytest.mark.parametrize("budget", [1, 17, 3000, 10**9])
@pytest.mark.parametrize("c", [0.5, 2, 16])
def test_the_continuous_program_agrees_with_50_digits(gaps: list[float], budget: Any, c: float) -> None:
    value, pulls, level = precise_program(gaps, budget, c)
    found = continuous_allocation(gaps, budget, c)
    assert continuous_program(gaps, budget, c) == pytest.approx(float(value), rel=1e-12, abs=1e-300)
    assert log_continuous_program(gaps, budget, c) == pytest.approx(float(mpmath.log(value)), rel=1e-12, abs=1e-13)
    assert continuous_level(gaps, budget, c) == pytest.approx(float(level), rel=1e-12)
    assert np.abs(found - [float(x) for x in pulls]).max() <= 1e-12 * budget
    assert found.sum() == pytest.approx(budget, rel=1e-13)


@pytest.mark.parametrize("seed", range(12))
def test_the_continuous_program_agrees_with_a_convex_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(0.03, 0.5, size=rng.integers(2, 9))
    c = rng.choice([0.5, 2.0, 16.0])
    budget = float(rng.uniform(1, 40)) * gaps.size / c
    solved = optimize.minimize(
        lambda share: np.exp(-c * budget * share * gaps**2).sum(),
        np.full(gaps.size, 1 / gaps.size),
        jac=lambda share: -c * budget * gaps**2 * np.exp(-c * budget * share * gaps**2),
        bounds=[(0, 1)] * gaps.size,
        constraints={"type": "eq", "fun": lambda share: share.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    value = continuous_program(gaps, budget, c)
    assert value == pytest.approx(solved.fun, rel=1e-8)
    assert program_value(gaps, continuous_allocation(gaps, budget, c), c) == pytest.approx(value, rel=1e-13)


def least_by_dynamic_programming(gaps: list[float], budget: int, c: float) -> NDArray[np.float64]:
    """P*_c for every budget up to the given one."""
    best = np.full(budget + 1, np.inf)
    best[0] = 0.0
    for gap in gaps:
        terms = np.exp(-c * np.arange(budget + 1) * gap**2)
        best = np.array([(best[: t + 1] + terms[t::-1]).min() for t in range(budget + 1)])
    return best


@given(st.lists(GAPS, min_size=1, max_size=6), CONSTANTS)
def test_the_integer_program_agrees_with_dynamic_programming(gaps: list[float], c: float) -> None:
    expected = least_by_dynamic_programming(gaps, 40, c)
    assert integer_program(gaps, np.arange(41), c) == pytest.approx(expected, rel=1e-14)
    assert (integer_allocation(gaps, np.arange(41), c).sum(axis=-1) == np.arange(41)).all()


@pytest.mark.parametrize("budget", [0, 1, 6, 7, 8, 20, 10**9])
def test_equal_gaps_share_evenly_and_the_lowest_arms_get_the_rest(budget: Any) -> None:
    for gaps in ([1e-9] * 7, [0.2] * 7, [0.0] * 7):
        expected = [budget // 7 + (arm < budget % 7) for arm in range(7)]
        assert integer_allocation(gaps, budget, 2.0).tolist() == expected


def certificate(gaps: NDArray[np.float64], pulls: NDArray[np.int64], c: float) -> float:
    """The largest gain that is left over the smallest that was taken: at most 1 if and only if pulls are optimal."""
    slopes = c * gaps**2
    first = np.log(-np.expm1(-slopes))
    return float(np.exp((first - slopes * pulls).max() - (first - slopes * (pulls - 1))[pulls > 0].min()))


@pytest.mark.parametrize("kind", ["uniform", "equal", "tiny", "all sizes"])
def test_a_large_integer_program_is_optimal_pull_by_pull(kind: str) -> None:
    rng = np.random.default_rng(5)
    gaps = {
        "uniform": rng.uniform(1e-3, 0.5, 10**5),
        "equal": np.full(10**5, 0.1),
        "tiny": 1e-9 * (1 + 1e-6 * rng.random(10**5)),
        "all sizes": np.exp(rng.uniform(np.log(1e-9), np.log(0.5), 10**5)),
    }[kind]
    pulls = integer_allocation(gaps, 10**9, 2.0)
    assert pulls.sum() == 10**9
    assert certificate(gaps, pulls, 2.0) <= 1 + 1e-12
    most = np.argmax(gaps * (pulls > 0))
    pulls[[most, most - 1]] += [-pulls[most], pulls[most]]  # the control: pulls of one arm given to another are noticed
    assert certificate(gaps, pulls, 2.0) > 1 + 1e-9


@given(GAP_LISTS, CONSTANTS, st.integers(0, 10**9))
def test_the_integer_program_lies_between_two_continuous_ones(gaps: list[float], c: float, extra: int) -> None:
    budget = len(gaps) + extra
    low, high = program_bounds(gaps, budget, c)
    middle = integer_program(gaps, budget, c)
    # Exponentials of numbers down to -745, rounded to 745 / 2^53 = 8e-14, and near 0 to multiples of 5e-324, added up.
    room = 1e-12 * middle + len(gaps) * 5e-324
    assert low <= middle + room
    assert middle <= high + room


@given(GAP_LISTS, CONSTANTS, CONSTANTS, st.floats(0, 1e9))
def test_another_constant_is_another_budget(gaps: list[float], c: float, other: float, budget: Any) -> None:
    there = continuous_program(gaps, equivalent_budget(budget, c, other), other)
    assert continuous_program(gaps, budget, c) == pytest.approx(there, rel=1e-12, abs=1e-300)


@given(GAP_LISTS, CONSTANTS, st.floats(0, 1e6))
def test_at_the_optimum_every_arm_stands_at_the_level_or_higher(gaps: list[float], c: float, budget: Any) -> None:
    if not any(gaps):
        with pytest.raises(InvalidInputError, match="all gaps are 0"):
            continuous_level(gaps, budget, c)
        return
    level = continuous_level(gaps, budget, c)
    positive = np.array([gap for gap in gaps if gap])
    pulls = continuous_allocation(positive, budget, c)
    heights = c / 2 * pulls * positive**2 - np.log(positive)
    assert (heights >= level - 1e-12 * abs(level)).all()
    assert heights[pulls > 0] == pytest.approx(level, rel=1e-12)


def test_values_too_small_for_a_float_have_logarithms() -> None:
    gaps, budget = [0.5, 0.4], 10**6
    value, _, _ = precise_program(gaps, budget, 16)
    assert continuous_program(gaps, budget, 16) == 0.0
    assert log_continuous_program(gaps, budget, 16) == pytest.approx(float(mpmath.log(value)), rel=1e-14)
    pulls = integer_allocation(gaps, budget, 16)
    terms = [mpmath.exp(-16 * mpmath.mpf(int(x)) * mpmath.mpf(g) ** 2) for x, g in zip(pulls, gaps, strict=True)]
    exact = mpmath.log(mpmath.fsum(terms))
    assert log_integer_program(gaps, budget, 16) == pytest.approx(float(exact), rel=1e-14)
    assert log_program_value(gaps, pulls, 16) == log_integer_program(gaps, budget, 16)
    assert integer_program(gaps, budget, 16) == 0.0


def test_budgets_of_any_shape_give_results_of_that_shape() -> None:
    gaps, budgets = [0.3, 0.1, 0.02], np.array([[3, 10], [100, 5000]])
    for function in (
        continuous_program,
        log_continuous_program,
        integer_program,
        log_integer_program,
        continuous_level,
    ):
        one_by_one = [[float(function(gaps, budget, 2.0)) for budget in row] for row in budgets]
        assert function(gaps, budgets, 2.0).tolist() == one_by_one
    for allocation in (continuous_allocation, integer_allocation):
        rows = [[allocation(gaps, budget, 2.0).tolist() for budget in row] for row in budgets]
        assert allocation(gaps, budgets, 2.0).tolist() == rows


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: continuous_program([0.1, 1.5], 5, 2), "gap is 1.5; it must be in"),
        (lambda: continuous_program([0.1, -0.5], 5, 2), "gap is -0.5; it must be in"),
        (lambda: continuous_program([0.1, float("nan")], 5, 2), "gap is nan"),
        (lambda: continuous_program([0.1, 1e-200], 5, 2), "smallest that is not 0 is 1e-100"),
        (lambda: continuous_program([], 5, 2), "at least one"),
        (lambda: continuous_program("x", 5, 2), "gap is not a number"),
        (lambda: continuous_program([0.1], [5, -1], 2), "T >= 0"),
        (lambda: continuous_program([0.1], 1e300, 2), "up to 2\\^53"),
        (lambda: continuous_program([0.1], 5, 0), "c is 0.0; it must be a number above 0"),
        (lambda: continuous_program([0.1], 5, cast(float, [1, 2])), "must be one number"),
        (lambda: program_bounds([0.1, 0.2, 0.3], 2, 2), "T >= K"),
        (lambda: integer_program([0.1], 2.5, 2), "budget is 2.5; it must be a whole number"),
        (lambda: program_value([0.1, 0.2], [1, 2, 3], 2), "the 2 arms"),
        (lambda: program_value([0.1, 0.2], [1, -2], 2), "at least 0"),
        (lambda: equivalent_budget(5, 2, -1), "other c is -1.0"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_all_budgets_of_a_small_instance_leave_no_better_neighbour() -> None:
    gaps = np.array([0.5, 0.3, 0.3, 0.05, 1e-9])
    for budget, c in itertools.product(range(60), (0.5, 2.0, 16.0)):
        pulls = integer_allocation(gaps, budget, c)
        value = program_value(gaps, pulls, c)
        for giver, taker in itertools.permutations(range(5), 2):
            if pulls[giver]:
                other = pulls + (np.arange(5) == taker) - (np.arange(5) == giver)
                assert value <= program_value(gaps, other, c) * (1 + 1e-15)
