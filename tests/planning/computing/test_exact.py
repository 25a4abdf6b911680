import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from cutline import LSA, Problem
from cutline.planning import Beliefs
from cutline.planning.computing.exact import UniformErrors, theorem_budgets
from cutline.planning.computing.rounds import errors_by_round
from cutline.policies import Policy
from cutline.simulation.simulate import simulate
from cutline.theory.bounds import lower_bound, upper_bound
from cutline.theory.concentration import error_probability

SETUP_1 = [0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8]


def binomial_errors(means: Sequence[float], threshold_tenths: int, budget: int) -> float:
    """The expected errors of Uniform from scipy's binomial distribution, arm by arm; thresholds have one decimal."""
    total = 0.0
    for arm, mean in enumerate(means):
        pulls = budget // len(means) + (arm < budget % len(means))
        first_above = -(-threshold_tenths * pulls // 10)
        below = stats.binom.cdf(first_above - 1, pulls, mean)
        total += below if mean >= threshold_tenths / 10 else 1.0 - below
    return total


def beta_binomial_error(a: float, b: float, threshold: float, pulls: int) -> float:
    """The expected error of one arm: over its total, the probability of the side that the decision is not."""
    totals = np.arange(pulls + 1)
    below = stats.beta.cdf(threshold, a + totals, b + pulls - totals)
    wrong = np.where(totals / pulls >= threshold, below, 1.0 - below)
    return float(stats.betabinom.pmf(totals, pulls, a, b) @ wrong)


@pytest.mark.parametrize("tenths", [5, 3, 8])
def test_errors_after_whole_rounds_are_sums_of_binomial_probabilities(tenths: int) -> None:
    exact = UniformErrors(Problem(SETUP_1, tenths / 10), tenths / 10)
    for rounds in (1, 2, 3, 10, 101):
        assert exact.at(10 * rounds) == pytest.approx(binomial_errors(SETUP_1, tenths, 10 * rounds), rel=1e-10)


@pytest.mark.parametrize(("a", "b"), [(2, 2), (0.3, 4), (30, 70), (300, 500), (0.01, 0.02), (40_000, 60_000)])
@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.41])
def test_errors_of_a_belief_are_its_beta_binomial_sums(a: float, b: float, threshold: float) -> None:
    exact = UniformErrors(Beliefs.prior(a, b, 3), threshold)
    for pulls in (1, 2, 7, 100, 1000):
        assert exact.at(3 * pulls) == pytest.approx(3 * beta_binomial_error(a, b, threshold, pulls), rel=1e-9)


@pytest.mark.parametrize("threshold", [0.5, 0.3, 1 / 3, 0.01, 0.99])
def test_errors_from_round_to_round_are_binomial_probabilities(threshold: float) -> None:
    means = np.array([0.0, 1e-9, 0.2, 0.3, 0.5, 0.9, 1.0])
    sums, seen = errors_by_round(means, threshold, np.arange(1.0, 8.0), 700, 77)
    wrong = error_probability(means, np.array([[1], [2], [77], [78], [700]]), threshold)
    assert sums[[1, 2, 77, 78, 700]] == pytest.approx(wrong @ np.arange(1.0, 8.0), rel=1e-11, abs=1e-13)
    assert seen == pytest.approx(wrong[2:4], rel=1e-11, abs=1e-13)


def test_errors_too_few_to_be_found_from_round_to_round_are_exact_all_the_same() -> None:
    assert UniformErrors(Problem([0.1, 0.9]), 0.5).at(200) == pytest.approx(
        binomial_errors([0.1, 0.9], 5, 200), rel=1e-10
    )
    assert binomial_errors([0.1, 0.9], 5, 200) < 1e-20


def test_errors_of_different_beliefs_add_up() -> None:
    exact = UniformErrors(Beliefs.after([10, 20, 20, 0], [3, 11, 11, 0]), 0.5)
    each = [beta_binomial_error(1 + s, 1 + n - s, 0.5, 9) for n, s in ((10, 3), (20, 11), (20, 11), (0, 0))]
    assert exact.at(36) == pytest.approx(sum(each), rel=1e-10)


def test_arms_next_to_the_threshold_have_groups_of_their_own() -> None:
    means = np.array([0.1, 0.11, 0.12, 0.13, 0.14, 0.46, 0.49, 0.52, 0.8, 0.81, 0.82, 0.9, 0.91])
    groups = UniformErrors(Problem(means), 0.5).groups(8, 0.1)
    assert len(groups) <= 8
    assert {float(group[0]) for group, _ in groups if group.size == 1} >= {0.46, 0.49, 0.52}
    assert sorted(np.concatenate([group for group, _ in groups])) == means.tolist()
    assert [float(group[0]) for group, _ in UniformErrors(Problem(means[::-1]), 0.5).groups(13, 0.1)] == (
        means[::-1].tolist()
    )


def test_means_that_are_all_alike_are_one_group() -> None:
    groups = UniformErrors(Beliefs([3.0] * 9 + [3.5], [4.0] * 9 + [4.5]), 0.5).groups(1, 1.0)
    assert [float(masses.sum()) for _, masses in groups] == [pytest.approx(10.0)]


def test_between_rounds_errors_lie_on_a_line() -> None:
    exact = UniformErrors(Problem(SETUP_1), 0.5)
    assert exact.at(107) == pytest.approx(0.3 * exact.at(100) + 0.7 * exact.at(110))


@pytest.mark.slow
def test_the_budget_is_the_first_in_the_first_round_that_ends_at_the_target() -> None:
    for target in (2.5, 1.0, 0.3, 0.02, 1e-5):
        budget = UniformErrors(Problem(SETUP_1), 0.5).budget(target)
        assert budget is not None
        ends = [binomial_errors(SETUP_1, 5, 10 * rounds) for rounds in range(1, budget // 10 + 2)]
        rounds = 1 + next(place for place, errors in enumerate(ends) if errors <= target)
        inside = range(10 * (rounds - 1) + 1, 10 * rounds + 1) if rounds > 1 else [10]
        assert budget == next(at for at in inside if binomial_errors(SETUP_1, 5, at) <= target)


def test_the_budget_of_a_belief_counts_the_pulls_of_the_last_round() -> None:
    budget = UniformErrors(Beliefs.prior(2, 2, 1000), 0.5).budget(50)
    assert budget is not None
    rounds, extra = divmod(budget, 1000)
    before, after = (beta_binomial_error(2, 2, 0.5, rounds + more) for more in (0, 1))
    assert (1000 - extra) * before + extra * after <= 50 < (1001 - extra) * before + (extra - 1) * after


def test_one_round_is_the_least_and_a_target_out_of_reach_has_no_budget() -> None:
    assert UniformErrors(Problem(SETUP_1), 0.5).budget(9.0) == 10
    assert UniformErrors(Problem([0.45, 0.5]), 0.5).budget(0.2) is None


def test_simulated_uniform_has_the_exact_errors() -> None:
    curves = simulate(Problem(SETUP_1), "Uniform", [10, 50, 200, 300], runs=20_000, seed=4, progress=False)
    exact = UniformErrors(Problem(SETUP_1), 0.5)
    z = (curves.mean[0] - [exact.at(int(budget)) for budget in curves.budgets]) / curves.standard_error[0]
    assert np.abs(z).max() < 4.6  # four normal deviates beyond 4.6 have probability 2e-5; the control is one round off
    off = (curves.mean[0] - [exact.at(int(budget) + 20) for budget in curves.budgets]) / curves.standard_error[0]
    assert np.abs(off).max() > 4.6


def test_theorem_budgets_are_where_the_bounds_meet_the_target() -> None:
    means = [0.3, 0.4, 0.55, 0.62]
    gaps = np.abs(np.array(means) - 0.5)
    promise, denial = theorem_budgets(Problem(means), 0.5, LSA(2), 0.1)
    assert promise is not None
    assert denial is not None
    assert upper_bound(gaps, promise, 2) <= 0.1 < upper_bound(gaps, promise - 1, 2)
    assert lower_bound(gaps, denial) <= 0.1 < lower_bound(gaps, denial - 1)


def test_theorem_budgets_begin_where_the_theorems_do() -> None:
    assert theorem_budgets(Problem([0.3, 0.4]), 0.5, LSA(8), 1e6) == (80, 2)
    assert theorem_budgets(Problem([0.3, 0.4]), 0.5, LSA(1), 1e9) == (82, 2)


@pytest.mark.parametrize(
    ("guess", "threshold", "policy", "wanted"),
    [
        (Problem([0.2, 0.7]), 0.5, LSA(), (True, False)),  # a gap above 1/4
        (Problem([0.5, 0.7]), 0.5, LSA(), (False, False)),  # a gap of 0
        (Problem([0.4, 0.5], 0.45), 0.45, LSA(), (True, False)),  # another threshold
        (Problem([0.4, 0.6]), 0.5, LSA(9), (False, True)),  # alpha above 8
        (Beliefs.prior(2, 2, 2), 0.5, LSA(), (False, False)),
    ],
)
def test_outside_its_conditions_a_theorem_gives_no_budget(
    guess: Problem | Beliefs, threshold: float, policy: Policy, wanted: tuple[bool, bool]
) -> None:
    found = theorem_budgets(guess, threshold, policy, 0.1)
    assert tuple(budget is not None for budget in found) == wanted
    assert all(budget is None or math.isfinite(budget) for budget in found)
