"""xi, tau and the lemmas behind Theorem 1 against the policy, exact walks, simulation and each other."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from cutline.errors import InvalidInputError
from cutline.theory.bounds import certainty, classifiable_arms, explored_level, explored_pulls, upper_bound_constant
from cutline.theory.concentration import variable_confidence
from cutline.theory.exploration import (
    conditional_regret_bound,
    deviation_probability,
    empirical_gaps,
    exploration_index,
    exploration_time,
    exploration_time_limit,
    exploration_time_tail,
    few_pulls_probability,
    level_probability,
    promised_pulls,
    quality_to_shortfall,
    shortfall_to_quality,
)

GAPS = [0.4, 0.3, 0.2, 0.05, 1e-6]
ALPHAS = st.sampled_from([0.05, 0.7, 1.35, 8.0])


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60), st.sampled_from([0.5, 0.3, 1 / 3]), ALPHAS)
def test_xi_is_alpha_t_gap_squared_and_half_the_logarithm_of_t(
    rewards: list[int], threshold: float, alpha: float
) -> None:
    gaps = [abs(sum(rewards[:t]) / t - threshold) for t in range(1, len(rewards) + 1)]
    expected = [alpha * t * gap**2 + math.log(t) / 2 for t, gap in enumerate(gaps, start=1)]
    assert empirical_gaps(rewards, threshold) == pytest.approx(gaps, rel=1e-15, abs=1e-16)
    assert exploration_index(rewards, threshold, alpha) == pytest.approx(expected, rel=1e-11, abs=1e-15)


def test_records_with_equal_xi_on_paper_get_equal_numbers() -> None:
    above, below = exploration_index([[1, 1, 1, 0, 0], [0, 0, 0, 0, 1]], 0.4, 1.35)[:, -1]
    assert above == below  # 3 of 5 and 1 of 5 are as far from 2 of 5


@given(st.floats(0.05, 2.0), st.sampled_from([0.5, 0.3]), ALPHAS, st.integers(0, 2**32))
def test_tau_is_the_first_passage_and_never_beyond_its_limit(
    level: float, threshold: float, alpha: float, seed: int
) -> None:
    length = math.floor(exploration_time_limit(level))
    for mean in (0.0, threshold, 0.9):
        rewards = (np.random.default_rng(seed).random((5, length)) < mean).astype(float)
        times = exploration_time(rewards, threshold, alpha, level)
        for row, time in zip(rewards, times, strict=True):
            indices = exploration_index(row, threshold, alpha)
            assert indices[time - 1] > level
            assert (indices[: time - 1] <= level).all()
    assert exploration_time(rewards[0], threshold, alpha, level) == times[0]


def test_a_single_sequence_gives_a_single_time() -> None:
    assert exploration_time([1.0, 1.0, 1.0, 1.0], 0.5, 1.0, 1.0) == 3  # 3/4 + 0.5 ln 3 = 1.299, 2/4 + 0.5 ln 2 = 0.847
    assert exploration_time([0.5] * 8, 0.5, 1.0, 1.0) == 8  # 0.5 ln 8 = 1.04, 0.5 ln 7 = 0.97


def late_probability(mean: float, threshold: float, alpha: float, level: float, pulls: int) -> float:
    """The exact probability that xi stays at or below the level for that many Bernoulli rewards."""
    below = np.array([1.0])
    for t in range(1, pulls + 1):
        below = np.append(below * (1 - mean), 0.0) + np.append(0.0, below * mean)
        low = alpha * t * (np.arange(t + 1) / t - threshold) ** 2 + 0.5 * math.log(t) <= level
        below = np.where(low, below, 0.0)
    return float(below.sum())


@pytest.mark.parametrize("gap", [0.1, 0.2, 0.4])
@pytest.mark.parametrize("alpha", [4.0, 8.0])
def test_the_tail_of_tau_holds_exactly(gap: float, alpha: float) -> None:
    for level, k in ((0.05, 1.0), (0.05, 1.5), (0.5, 1.0), (1.5, 2.0)):
        height = level - math.log(gap)
        pulls = 40 / alpha * (height + math.log(gap) + k) / gap**2
        assert exploration_time_tail(gap, alpha, height, pulls) == pytest.approx(
            2 * math.exp(-40 * k / alpha), rel=1e-9
        )
        assert late_probability(0.5 + gap, 0.5, alpha, height, math.floor(pulls)) <= 2 * math.exp(-40 * k / alpha)


def test_a_tail_of_tau_that_began_much_earlier_would_be_wrong() -> None:
    gap, alpha = 0.1, 8.0
    height = 0.05 - math.log(gap)
    pulls = math.floor(40 / alpha * 1.05 / gap**2 / 40)
    assert late_probability(0.5 + gap, 0.5, alpha, height, pulls) > 2 * math.exp(-40 / alpha)


def test_the_taus_fit_into_the_budget_as_often_as_lemma_8_says() -> None:
    gaps, alpha, budget, runs = np.array([0.4, 0.3, 0.2]), 1.35, 1000, 2000
    level = float(explored_level(gaps, budget, alpha))
    for shortfall in (0.0, 0.02, 0.1):
        target = level - shortfall
        rewards = (
            np.random.default_rng(3).random((runs, 3, math.floor(exploration_time_limit(target)))) < 0.5 + gaps[:, None]
        )
        total = exploration_time(rewards, 0.5, alpha, target).sum(axis=1)
        promise = float(level_probability(gaps, budget, alpha, shortfall))
        assert promise == pytest.approx(1 - math.exp(-40 * shortfall / alpha), rel=1e-14)
        assert (total <= budget).sum() >= stats.binom.ppf(1e-6, runs, promise)
    assert (total <= budget / 140).sum() < stats.binom.ppf(1e-6, runs, promise)  # the control


@given(ALPHAS, st.floats(-10, 10))
def test_quality_and_shortfall_are_inverse_to_each_other(alpha: float, quality: float) -> None:
    shortfall = quality_to_shortfall(quality, alpha)
    assert shortfall == pytest.approx(alpha * quality + math.log(alpha) + 0.5 - alpha, rel=1e-12, abs=1e-12)
    assert shortfall_to_quality(shortfall, alpha) == pytest.approx(quality, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.35])
def test_lemma_2_at_a_shortfall_of_1_1_alpha_gives_theorem_1_on_the_arms_in_b(alpha: float) -> None:
    budget = 10**6
    good = classifiable_arms(GAPS, budget, alpha)
    theorem = upper_bound_constant(alpha) * np.exp(-certainty(GAPS, budget, alpha))[good].sum()
    assert 0 < good.sum() < 5
    assert conditional_regret_bound(GAPS, budget, alpha, 1.1 * alpha) * 9.3 / 9 == pytest.approx(theorem, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.05, 1.35, 8.0])
@pytest.mark.parametrize("quality", [-1.0, 0.0, 2.0])
def test_lemma_9_is_lemma_11_for_each_arm(alpha: float, quality: float) -> None:
    budgets = [10**6, 10**15]
    a = explored_pulls(GAPS, budgets, alpha) * np.array(GAPS) ** 2 / 5 - quality / 2
    some = a > 0
    expected = np.ones_like(a)
    expected[some] = variable_confidence(a[some], 1 / (4 * alpha))
    assert some.any()
    assert deviation_probability(GAPS, budgets, alpha, quality) == pytest.approx(expected, rel=1e-11)


def test_lemma_10_and_its_corollary_for_the_arms_in_b() -> None:
    alpha, budgets = 1.35, np.array([10**5, 10**7])
    quality = shortfall_to_quality(0.2, alpha)
    good = classifiable_arms(GAPS, budgets, alpha)
    assert promised_pulls(GAPS, budgets, alpha) == pytest.approx(explored_pulls(GAPS, budgets, alpha) / 20 * good)
    ratio = deviation_probability(GAPS, budgets, alpha, quality) / (1 - math.exp(-40 * 0.2 / alpha))
    expected = np.minimum(ratio, 1.0) * good
    assert few_pulls_probability(GAPS, budgets, alpha, quality) == pytest.approx(expected, rel=1e-12)
    at_zero = few_pulls_probability(GAPS, budgets, alpha, shortfall_to_quality(0.0, alpha) + 1e-15)
    assert at_zero.tolist() == good.astype(float).tolist()


def test_budgets_of_any_shape_give_results_of_that_shape() -> None:
    budgets = np.array([[10**4, 10**5, 10**6]])
    assert level_probability(GAPS, budgets, 1.0, 0.1).shape == (1, 3)
    assert conditional_regret_bound(GAPS, budgets, 1.0, 0.2).shape == (1, 3)
    assert deviation_probability(GAPS, budgets, 1.0, 0.2).shape == (1, 3, 5)
    assert conditional_regret_bound(GAPS, budgets, 1.0, 0.2)[0, 1] == conditional_regret_bound(GAPS, 10**5, 1.0, 0.2)


def test_a_bound_too_large_for_a_float_is_infinite() -> None:
    assert conditional_regret_bound([0.4, 0.3], 10**9, 1e-4, 1e-3) == math.inf


LEVEL = float(explored_level(GAPS, 10**5, 1.35))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: exploration_time([1, 0, 1, 0], 0.5, 1.0, 5.0),
            "4 rewards end before xi is above 5.0; 44053 are enough",
        ),
        (lambda: exploration_time([1, 0], 0.5, 1.0, 0.0), "level is 0.0"),
        (lambda: exploration_index([1, 0], 0.5, 0.0), "alpha is 0.0"),
        (lambda: empirical_gaps([1, 2], 0.5), "reward is 2.0; it must be in \\[0, 1\\]"),
        (lambda: empirical_gaps([], 0.5), "no rewards"),
        (lambda: empirical_gaps([1, 0], 1.0), "threshold"),
        (lambda: exploration_time_limit(0.0), "level is 0.0"),
        (lambda: exploration_time_tail(0.1, 8.0, 2.3, 1000), "level is 2.3; it must be above ln 1/gap"),
        (lambda: exploration_time_tail(0.1, 8.5, 2.4, 1000), "0 < alpha <= 8"),
        (lambda: exploration_time_tail(0.1, 8.0, 2.4, 500), "k >= 1; it takes 548"),
        (lambda: exploration_time_tail(0.0, 8.0, 2.4, 500), "gap is 0.0"),
        (lambda: level_probability(GAPS, 10**5, 1.35, LEVEL), "0 <= k < Lambda"),
        (lambda: level_probability(GAPS, 10**5, 1.35, -0.1), "0 <= k < Lambda"),
        (lambda: level_probability(GAPS, 100, 1.35, 0.1), "T >= max"),
        (lambda: level_probability(GAPS, 10**5, 9.0, 0.1), "0 < alpha <= 8"),
        (lambda: conditional_regret_bound(GAPS, 10**5, 1.35, 0.13), "0.1 alpha <= k < Lambda"),
        (lambda: conditional_regret_bound(GAPS, [10**5, 300], 1.35, LEVEL - 0.01), "k < Lambda"),
        (lambda: deviation_probability(GAPS, 10**5, 9.0, 1.0), "0 < alpha <= 8"),
        (lambda: promised_pulls(GAPS, 10**5, 9.0), "0 < alpha <= 8"),
        (lambda: few_pulls_probability(GAPS, 10**5, 1.35, -5.0), "0 <= k < Lambda"),
        (lambda: shortfall_to_quality(float("inf"), 1.0), "finite number"),
    ],
)
def test_outside_the_conditions_there_is_an_error_and_no_number(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()
