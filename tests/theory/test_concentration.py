"""Bounds on averages against exact probabilities (enumeration, walks, 50 digits) and against seeded simulation."""

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

from cutline.errors import InvalidInputError
from cutline.policies.lsa import lsa_index
from cutline.theory.concentration import (
    bernoulli_divergence,
    chernoff_hoeffding,
    divergence_decomposition,
    error_probability,
    exponential_sum_tail,
    maximal_inequality,
    two_point_bound,
    variable_confidence,
    variable_confidence_a,
    variable_confidence_width,
)

MEANS = [0.05, 0.3, 0.5, 0.9]


def exit_probability(mean: float, steps: int, stays: Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]) -> float:
    """The exact probability that a walk of Bernoulli rewards ever has not stays(t, totals), 1 <= t <= steps."""
    inside = np.array([1.0])
    for t in range(1, steps + 1):
        inside = np.append(inside * (1 - mean), 0.0) + np.append(0.0, inside * mean)
        inside = np.where(stays(t, np.arange(t + 1)), inside, 0.0)
    return float(1 - inside.sum())


def below(most: NDArray[np.float64], t: int, totals: NDArray[np.int64]) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = totals < most[t]
    return inside


def least_and_most(runs: int, probability: float, error: float = 1e-6) -> tuple[float, float]:
    """Counts that a binomial of runs and probability stays above, and stays below, but for a chance of error each."""
    return stats.binom.ppf(error, runs, probability), stats.binom.isf(error, runs, probability)


@pytest.mark.parametrize("mean", MEANS)
def test_chernoff_hoeffding_holds_for_the_exact_binomial(mean: float) -> None:
    for t, deviation in itertools.product((1, 7, 50, 400), (0.01, 0.05, 0.2, 0.5)):
        totals = np.arange(t + 1)
        far = np.abs(totals / t - mean) >= deviation - 1e-12
        exact = stats.binom.pmf(totals, t, mean)[far].sum()
        assert exact <= chernoff_hoeffding(t, deviation) * (1 + 1e-12)


def test_twice_the_exponent_of_chernoff_hoeffding_would_be_wrong() -> None:
    totals = np.arange(401)
    exact = stats.binom.pmf(totals, 400, 0.5)[np.abs(totals / 400 - 0.5) >= 0.1].sum()
    assert chernoff_hoeffding(400, 0.1) == pytest.approx(2 * math.exp(-8))
    assert exact > 2 * math.exp(-16)


@pytest.mark.parametrize("mean", MEANS)
def test_the_maximal_inequality_holds_exactly(mean: float) -> None:
    for steps, excess in itertools.product((1, 20, 200), (0.5, 2.0, 8.0, 15.0)):
        most = np.asarray(mean * np.arange(steps + 1) + excess - 1e-12, np.float64)
        exact = exit_probability(mean, steps, functools.partial(below, most))
        assert exact <= maximal_inequality(steps, excess) * (1 + 1e-12) + 1e-15


def test_the_maximal_inequality_holds_by_simulation_and_a_stronger_one_fails() -> None:
    steps, excess, runs = 400, 14.0, 20_000
    walks = np.cumsum(np.random.default_rng(1).random((runs, steps)) < 0.5, axis=1) - 0.5 * np.arange(1, steps + 1)
    crossed = int((walks.max(axis=1) >= excess).sum())
    promise = float(maximal_inequality(steps, excess))
    assert crossed <= least_and_most(runs, promise)[1]
    assert crossed > least_and_most(runs, promise**3)[1]


@pytest.mark.slow
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("length", [1, 2, 37, 300])
def test_the_variable_confidence_level_bound_holds_exactly(mean: float, length: int) -> None:
    for failure, b in itertools.product((0.9, 0.3, 0.05, 1e-4), (0.05, 0.5, 2.0, 6.0, 20.0)):
        a = float(variable_confidence_a(failure, b))

        def stays(t: int, totals: NDArray[np.int64], a: float = a, b: float = b) -> NDArray[np.bool_]:
            return np.abs(totals / t - mean) <= variable_confidence_width(t, length, a, b) + 1e-12

        assert exit_probability(mean, length, stays) <= failure


def test_the_variable_confidence_level_bound_covers_by_simulation_and_a_narrower_band_does_not() -> None:
    length, runs, b, promised = 500, 10_000, 1.0, 0.2
    a = variable_confidence_a(promised, b)
    times = np.arange(1, length + 1)
    averages = np.cumsum(np.random.default_rng(2).random((runs, length)) < 0.5, axis=1) / times
    width = variable_confidence_width(times, length, a, b)
    left = int((np.abs(averages - 0.5) > width).any(axis=1).sum())
    assert left <= least_and_most(runs, promised)[1]
    left_narrow = int((np.abs(averages - 0.5) > 0.3 * width).any(axis=1).sum())
    assert left_narrow > least_and_most(runs, promised)[1]


@given(st.floats(1e-12, 0.999), st.floats(0.01, 50))
def test_the_a_for_a_wanted_failure_gives_that_failure(failure: float, b: float) -> None:
    a = variable_confidence_a(failure, b)
    assert a > 0
    assert variable_confidence(a, b) == pytest.approx(failure, rel=1e-12)
    with mpmath.workdps(40):
        power = mpmath.mpf(2) ** (mpmath.mpf(b) / 2)
        exact = 4 * power / (power - 1) * mpmath.exp(-mpmath.mpf(float(a)) / 2)
    assert float(exact) == pytest.approx(failure, rel=1e-12)


def test_the_band_is_that_of_lemma_11() -> None:
    assert variable_confidence_width(25, 100, 2.0, 3.0) == pytest.approx(
        math.sqrt((2 + 3 * math.log(4)) / 25), rel=1e-15
    )
    assert variable_confidence_width([1, 100], 100, 2.0, 3.0).tolist() == pytest.approx(
        [math.sqrt(2 + 3 * math.log(100)), math.sqrt(0.02)], rel=1e-15
    )
    assert variable_confidence(0.1, 1.0) == 1.0


def test_the_tail_of_a_sum_of_exponential_variables_holds_exactly() -> None:
    for count, factor in itertools.product((1, 3, 20), (1.0, 1.5, 3.0, 8.0)):
        rates = np.full(count, 0.4)
        value = factor * count / 0.4
        exact = stats.gamma.sf(value, count, scale=1 / 0.4)
        assert exact <= exponential_sum_tail(rates, value)
        assert exponential_sum_tail(rates, value) == pytest.approx(math.exp(1 - factor), rel=1e-14)
    assert stats.gamma.sf(8.0, 1) > math.exp(1 - 2 * 8.0)  # the control: twice the exponent would be wrong


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.25])
def test_no_event_tells_two_close_distributions_apart(gap: float) -> None:
    for n in (1, 10, 100):
        totals = np.arange(n + 1)
        low, high = stats.binom.pmf(totals, n, 0.5 - gap), stats.binom.pmf(totals, n, 0.5 + gap)
        best_event = np.minimum(low, high).sum()
        divergence = n * bernoulli_divergence(0.5 - gap, 0.5 + gap)
        assert best_event >= two_point_bound(divergence)
        assert best_event >= 0.5 * math.exp(-16 * n * gap**2)
        assert (low * np.log(low / high)).sum() == pytest.approx(divergence, rel=1e-11)


@given(st.floats(1e-6, 1 - 1e-6), st.one_of(st.floats(-0.5, 0.5), st.floats(-1e-8, 1e-8)))
def test_the_divergence_of_two_bernoulli_arms_agrees_with_60_digits(p: float, shift: float) -> None:
    q = p + shift
    if not 0 < q < 1 or p == q:
        return
    with mpmath.workdps(60):
        a, b = mpmath.mpf(p), mpmath.mpf(q)
        exact = a * mpmath.log(a / b) + (1 - a) * mpmath.log((1 - a) / (1 - b))
    assert bernoulli_divergence(p, q) == pytest.approx(float(exact), rel=1e-11)


def test_the_divergence_of_opposite_gaps_is_the_one_in_theorem_2() -> None:
    for gap in (1e-9, 1e-3, 0.1, 0.25):
        expected = 2 * gap * 2 * math.atanh(2 * gap)
        assert bernoulli_divergence(0.5 + gap, 0.5 - gap) == pytest.approx(expected, rel=1e-7 if gap == 1e-9 else 1e-11)
    assert bernoulli_divergence([0.0, 1.0], 0.25).tolist() == pytest.approx(
        [-math.log(0.75), -math.log(0.25)], rel=1e-14
    )


def test_the_divergence_between_two_bandits_splits_into_arms_for_an_adaptive_policy() -> None:
    """All 2^7 reward sequences of LSA(1) on two arms, with their probabilities under both bandits."""
    first, second, horizon = np.array([0.6, 0.3]), np.array([0.45, 0.5]), 7
    divergence, expected_pulls = 0.0, np.zeros(2)
    for rewards in itertools.product((0, 1), repeat=horizon):
        pulls, totals, here, there = np.zeros(2), np.zeros(2), 1.0, 1.0
        for t, reward in enumerate(rewards):
            indices = [lsa_index(pulls[arm], totals[arm], 0.5, 1.0) for arm in (0, 1)] if t >= 2 else [t, 1 - t]
            arm = int(np.argmin(indices))
            pulls[arm] += 1
            totals[arm] += reward
            here *= first[arm] if reward else 1 - first[arm]
            there *= second[arm] if reward else 1 - second[arm]
        divergence += here * math.log(here / there)
        expected_pulls += here * pulls
    by_arms = divergence_decomposition(expected_pulls, bernoulli_divergence(first, second))
    assert by_arms == pytest.approx(divergence, rel=1e-12)


@pytest.mark.parametrize("threshold", ["0.5", "0.3", "0.7", "0.15", "0.333333"])
def test_the_exact_error_probability_agrees_with_enumeration(threshold: str) -> None:
    limit = float(threshold)
    for mean, n in itertools.product(("0", "0.1", "0.3", "0.5", "0.7", "1"), range(1, 31)):
        p, above = Fraction(mean), Fraction(mean) >= Fraction(threshold)
        wrong = sum(
            math.comb(n, k) * p**k * (1 - p) ** (n - k)
            for k in range(n + 1)
            if (Fraction(k, n) >= Fraction(threshold)) != above
        )
        assert error_probability(float(mean), n, limit) == pytest.approx(float(wrong), rel=1e-12, abs=1e-15)


def test_three_of_ten_is_a_tie_at_three_tenths_and_counts_as_above() -> None:
    exact = sum(Fraction(math.comb(10, k)) * Fraction(3, 10) ** k * Fraction(7, 10) ** (10 - k) for k in range(3))
    assert error_probability(0.3, 10, 0.3) == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("threshold", [0.3, 0.1, 0.7, 0.58, 1 / 3])
def test_the_first_total_that_counts_as_above_is_that_of_the_policies(threshold: float) -> None:
    n = np.arange(1, 400)
    needed = [next(k for k in range(pulls + 1) if k / pulls >= threshold) for pulls in n.tolist()]
    expected = stats.binom.cdf(np.array(needed) - 1, n, 0.9)
    assert error_probability(0.9, n, threshold) == pytest.approx(expected, rel=1e-10, abs=1e-250)


def test_small_error_probabilities_agree_with_50_digits() -> None:
    for mean, n in ((0.6, 5000), (0.51, 100_000), (0.7, 1500), (0.45, 8001)):
        with mpmath.workdps(50):
            p, step = (
                mpmath.mpf(mean),
                1 if mean < 0.5 else -1,
            )  # the wrong totals start at half of n, and go away from it
            total, k = mpmath.mpf(0), (n + 1) // 2 - (step == -1)
            term = mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k)
            while 0 <= k <= n and term > total * mpmath.mpf(10) ** -25:
                total += term
                odds = p / (1 - p) * (n - k) / (k + 1) if step == 1 else (1 - p) / p * k / (n - k + 1)
                term, k = term * odds, k + step
        assert error_probability(mean, n, 0.5) == pytest.approx(float(total), rel=1e-11)


def test_arguments_are_broadcast() -> None:
    assert chernoff_hoeffding([[1], [10]], [0.1, 0.5, 0.9]).shape == (2, 3)
    assert error_probability(np.array([0.2, 0.8])[:, None], np.array([1, 2, 3]), 0.5).shape == (2, 3)
    assert variable_confidence_width([1, 2, 4], 8, 1.0, 1.0).shape == (3,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chernoff_hoeffding(0, 0.1), "pulls is 0.0; it must be a whole number from 1"),
        (lambda: chernoff_hoeffding(2.5, 0.1), "pulls is 2.5; it must be a whole number"),
        (lambda: chernoff_hoeffding(5, 0.0), "deviation is 0.0"),
        (lambda: maximal_inequality(5, -1.0), "excess is -1.0"),
        (lambda: exponential_sum_tail([1.0, 0.5], 2.9), "value >= mu"),
        (lambda: exponential_sum_tail([1.0, 0.0], 9.0), "rate is 0.0"),
        (lambda: two_point_bound(-1e-3), "divergence is -0.001"),
        (lambda: bernoulli_divergence(0.5, 1.0), "other mean is 1.0; it must be in \\(0, 1\\)"),
        (lambda: divergence_decomposition([1, -1], [0.1, 0.1]), "expected number of pulls is -1.0"),
        (lambda: variable_confidence(0.0, 1.0), "a is 0.0"),
        (lambda: variable_confidence(1.0, 0.0), "b is 0.0"),
        (lambda: variable_confidence_width(9, 8, 1.0, 1.0), "t <= L"),
        (lambda: variable_confidence_a(1.0, 1.0), "failure is 1.0; it must be in \\(0, 1\\)"),
        (lambda: error_probability(0.5, 0, 0.5), "pulls is 0.0"),
        (lambda: error_probability(1.5, 3, 0.5), "mean is 1.5"),
        (lambda: error_probability(0.5, 3, 1.0), "threshold 1.0 is outside"),
    ],
)
def test_outside_the_conditions_there_is_an_error_and_no_number(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()
