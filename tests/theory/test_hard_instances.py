"""The hard instances for uniform sampling against regrets that can be computed exactly."""

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from cutline import Problem
from cutline.errors import InvalidInputError
from cutline.theory.allocation import integer_allocation
from cutline.theory.bounds import lower_bound
from cutline.theory.concentration import error_probability
from cutline.theory.hard_instances import (
    hard_instances,
    log_optimal_regret_bound,
    log_uniform_regret_bound,
    optimal_budget,
    optimal_pulls,
    optimal_regret_bound,
    uniform_budget,
    uniform_regret_bound,
)


def exact_regret(problem: Problem, pulls: Any) -> float:
    return float(error_probability(problem.means, pulls, problem.threshold).sum())


def test_the_instances_differ_in_the_side_of_the_first_arm() -> None:
    low, high = hard_instances(26)
    assert low.means[0] == pytest.approx(0.3, rel=1e-15)
    assert high.means[0] == pytest.approx(0.7, rel=1e-15)
    for problem in (low, high):
        assert problem.arms == 26
        assert problem.threshold == 0.5
        assert problem.means[1:].tolist() == [0.5 + math.sqrt(0.1)] * 25
        assert problem.gaps[0] == pytest.approx(math.sqrt(1 / 25), rel=1e-12)


@pytest.mark.parametrize("arms", [20, 21, 60])
@pytest.mark.parametrize("scale", [10, 14])
def test_both_bounds_hold_for_the_exact_regrets(arms: int, scale: float) -> None:
    budget = 2 * arms * (arms - 1) * scale
    worst = max(exact_regret(problem, budget // arms) for problem in hard_instances(arms))
    assert uniform_regret_bound(arms, budget) == pytest.approx(0.5 * math.exp(-32 * scale), rel=1e-11)
    assert worst >= uniform_regret_bound(arms, budget)
    hard_gap = [math.sqrt(1 / (arms - 1))]
    assert uniform_regret_bound(arms, budget) == pytest.approx(2 * lower_bound(hard_gap, budget / arms), rel=1e-9)
    pulls = optimal_pulls(arms, budget)
    assert pulls.sum() == pytest.approx(budget, rel=1e-14)
    best = max(exact_regret(problem, np.floor(pulls)) for problem in hard_instances(arms))
    assert best <= optimal_regret_bound(arms, budget)
    assert optimal_regret_bound(arms, budget) == pytest.approx(
        2 * (arms + 1) ** 2 * math.exp(-0.2 * arms * scale), rel=1e-11
    )


@pytest.mark.parametrize("arms", [20, 50, 200])
@pytest.mark.parametrize("part", [1, 1e-3, 1e-9])
def test_the_budgets_are_right_for_the_exact_regrets(arms: int, part: float) -> None:
    regret = part / (arms + 1)
    too_few = math.ceil(uniform_budget(arms, regret) / arms) - 1
    assert too_few == 0 or max(exact_regret(problem, too_few) for problem in hard_instances(arms)) > regret
    budget = math.ceil(optimal_budget(arms, regret))
    problem = hard_instances(arms)[0]
    pulls = integer_allocation(problem.gaps, budget, 2.0)
    assert pulls.min() >= 1
    assert max(exact_regret(problem, pulls) for problem in hard_instances(arms)) <= regret


def test_uniform_sampling_needs_about_k_times_more() -> None:
    ratios = [float(uniform_budget(arms, 1e-300) / optimal_budget(arms, 1e-300)) / arms for arms in (100, 1000, 10_000)]
    assert ratios == pytest.approx([1 / 160] * 3, rel=0.06)


def test_bounds_too_small_for_a_float_have_logarithms() -> None:
    assert uniform_regret_bound(20, 760 * 100) == 0.0
    assert log_uniform_regret_bound(20, 760 * 100) == pytest.approx(-math.log(2) - 3200, rel=1e-15)
    assert optimal_regret_bound(20, 760 * 1000) == 0.0
    assert log_optimal_regret_bound(20, [760 * 1000, 760 * 10]).tolist() == pytest.approx(
        [math.log(2 * 441) - 4000, math.log(2 * 441) - 40], rel=1e-13
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hard_instances(19), "20 <= K"),
        (lambda: hard_instances(cast(int, 20.5)), "whole number"),
        (lambda: uniform_regret_bound(20, 7599), "t_0 >= 10"),
        (lambda: uniform_regret_bound(20, [7600, 7610]), "budget 7610 is not a multiple of the 20 arms"),
        (lambda: optimal_regret_bound(20, 7599), "t_0 >= 10"),
        (lambda: uniform_budget(20, 0.05), "0 < eps <= 1 / \\(K \\+ 1\\)"),
        (lambda: optimal_budget(20, [0.01, 0.0]), "0 < eps"),
    ],
)
def test_outside_the_conditions_there_is_an_error_and_no_number(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()
