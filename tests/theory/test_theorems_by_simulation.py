"""Theorems 1 and 2 against simulated regret.

A claim is accepted where a confidence limit of the regret keeps it: 4.5 standard errors beyond the mean, so that a
claim which is wrong by a hair is accepted with probability 4e-6 at most. The bounds are loose, so true claims pass.
Claims that are wrong, in direction or constant, go through the same check and are refused.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from cutline import Problem, parse
from cutline.policies import LearningPolicy, available
from cutline.simulation.simulate import simulate
from cutline.theory.allocation import continuous_program
from cutline.theory.bounds import lower_bound, upper_bound

DEVIATES = 4.5
GAPS = np.array([0.25, 0.15, 0.1, 0.03])
BUDGETS = [4, 10, 40, 150, 500]


def at_most(regret: Any, error: Any, bound: Any) -> bool:
    """Whether the upper confidence limit is below the bound, everywhere."""
    return bool(np.all(regret + DEVIATES * error < bound))


def at_least(regret: Any, error: Any, bound: Any) -> bool:
    """Whether the lower confidence limit is above the bound, everywhere."""
    return bool(np.all(regret - DEVIATES * error > bound))


def with_floor(standard_error: NDArray[np.float64], runs: int) -> NDArray[np.float64]:
    """Standard errors as they are, and enough for 12.5 errors in all runs where there are too few for a normal limit.

    No error at all in R runs has probability exp(-12.5) = 4e-6 where 12.5 / R are expected.
    """
    return np.maximum(standard_error, 12.5 / DEVIATES / runs)


def lsa_regret(
    means: ArrayLike, budgets: Any, alpha: float, runs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The regret of LSA at each budget, and its standard error."""
    curves = simulate(Problem(means), f"LSA({alpha})", budgets, runs=runs, seed=31, progress=False)
    return curves.mean[0], with_floor(curves.standard_error[0], runs)


@pytest.mark.parametrize("alpha", [0.5, 1.35, 8])
@pytest.mark.parametrize("means", [[0.1, 0.9, 0.2, 0.85], [0.5, 0.9, 0.45, 0.02], [0.45] * 5 + [0.505] * 5])
def test_the_regret_of_lsa_is_at_most_the_bound_of_theorem_1(means: list[float], alpha: float) -> None:
    least = max(40 / alpha + 1, 40) * len(means)
    budgets = [int(least), int(4 * least), 100_000]
    regret, error = lsa_regret(means, budgets, alpha, 200)
    bound = upper_bound(np.abs(np.array(means) - 0.5), budgets, alpha)
    assert at_most(regret, error, bound)
    assert not at_least(regret, error, bound)


def test_the_bound_of_theorem_1_says_something_where_it_is_tested() -> None:
    # Fewer errors than guessing: without this the test above would hold for any policy.
    means = np.array([0.1, 0.9, 0.2, 0.85])
    assert upper_bound(np.abs(means - 0.5), 100_000, 1.35) < 0.5 * len(means)
    regret, error = lsa_regret(means, [100_000], 1.35, 200)
    assert at_most(regret, error, upper_bound(np.abs(means - 0.5), 100_000, 1.35))


def test_a_bound_that_is_too_small_for_lsa_is_refused() -> None:
    means = 0.5 + GAPS * [1, -1, 1, -1]
    regret, error = lsa_regret(means, BUDGETS, 1.35, 4000)
    assert not at_most(regret, error, lower_bound(GAPS, BUDGETS))  # Theorem 2 in place of Theorem 1
    assert not at_most(regret, error, continuous_program(GAPS, BUDGETS, 16.0))  # without its constants
    assert not at_least(regret, error, 2.0 * continuous_program(GAPS, BUDGETS, 2.0))  # the other way round


QUICK = [policy for policy in available() if not issubclass(policy, LearningPolicy)]  # the others take hours


@pytest.fixture(scope="module")
def over_all_sides() -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The regret of every policy averaged over all 2^4 choices of sides, and its standard error, at each budget."""
    policies = [policy() for policy in QUICK]
    curves = [
        simulate(Problem(0.5 + GAPS * sides), policies, BUDGETS, runs=1000, seed=seed, progress=False)
        for seed, sides in enumerate(product((-1, 1), repeat=4))
    ]
    regret = np.mean([curve.mean for curve in curves], axis=0)
    error = np.sqrt(np.mean([curve.standard_error**2 for curve in curves], axis=0) / len(curves))
    return {str(policy): (regret[row], error[row]) for row, policy in enumerate(policies)}


@pytest.mark.slow
@pytest.mark.parametrize("policy", [policy.name for policy in QUICK])
def test_no_policy_has_less_regret_over_all_sides_than_theorem_2_allows(
    over_all_sides: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]], policy: str
) -> None:
    regret, error = over_all_sides[str(parse(policy))]
    assert at_least(regret, error, lower_bound(GAPS, BUDGETS))


def test_a_bound_that_is_too_large_for_theorem_2_is_refused(
    over_all_sides: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> None:
    regret, error = over_all_sides["LSA(1.35)"]
    assert not at_least(regret, error, 2.5 * lower_bound(GAPS, BUDGETS))  # 5/8 in place of 1/4
    assert not at_least(regret, error, 0.25 * continuous_program(GAPS, BUDGETS, 2.0))  # 2 in place of 16
    assert not at_most(regret, error, lower_bound(GAPS, BUDGETS))  # the other way round


def test_twenty_arms_keep_theorem_2_over_a_sample_of_their_sides() -> None:
    gaps = np.linspace(0.01, 0.25, 20)
    budgets = [20, 100, 1000]
    generator = np.random.default_rng(6)
    sample = [
        simulate(
            Problem(0.5 + gaps * generator.choice((-1, 1), 20)), ["LSA", "Ratio-Oracle", "Uniform"], budgets,
            runs=20, seed=seed, progress=False,
        ).mean
        for seed in range(200)
    ]  # fmt: skip
    regret, error = np.mean(sample, axis=0), np.std(sample, axis=0, ddof=1) / np.sqrt(len(sample))
    for row in range(3):
        assert at_least(regret[row], error[row], lower_bound(gaps, budgets))
        assert not at_least(regret[row], error[row], 2.5 * lower_bound(gaps, budgets))
