"""Intervals against 40 digits, exact probabilities of leaving them, and asking that looks at the data."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from cutline.beliefs.intervals import interval

MEANS = [0.01, 0.1, 0.3, 0.5, 0.75, 0.95, 0.99]


def leaving_probability(mean: float, steps: int, low: np.ndarray, high: np.ndarray) -> float:
    """The exact probability that a walk of coins is ever outside [low, high], arrays by (n, S)."""
    inside = np.ones(1)
    for n in range(1, steps + 1):
        inside = np.append(inside * (1 - mean), 0.0) + np.append(0.0, inside * mean)
        inside[(low[n, : n + 1] > mean) | (mean > high[n, : n + 1])] = 0.0
    return float(1 - inside.sum())


def all_records(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Pulls and totals of shape (steps + 1, steps + 1), a total above the pulls cut down to them."""
    n = np.repeat(np.arange(steps + 1)[:, None], steps + 1, axis=1)
    return n, np.minimum(np.arange(steps + 1)[None, :], n)


def test_the_ends_are_where_the_martingale_is_one_in_delta_to_40_digits() -> None:
    records = [
        (1, 0),
        (1, 1),
        (2, 1),
        (7, 3),
        (14, 14),
        (100, 90),
        (300, 299),
        (10_000, 17),
        (10**6, 500_000),
        (9, 2.25),
    ]
    for confidence in (0.5, 0.95, 0.999):
        pulls, totals = np.array(records).T
        low, high = interval(pulls, totals, confidence)
        with mpmath.workdps(40):
            for (n, total), ends in zip(records, zip(low, high, strict=True), strict=True):
                wins = mpmath.beta(total + 0.5, n - total + 0.5) / mpmath.beta(0.5, 0.5)
                for end in map(float, ends):
                    if 0.0 < end < 1.0:
                        mass = wins / (mpmath.mpf(end) ** total * (1 - mpmath.mpf(end)) ** (n - total))
                        assert float(mass * (1 - mpmath.mpf(confidence))) == pytest.approx(1.0, rel=1e-6)
                assert (ends[0] == 0.0) == (total == 0)
                assert (ends[1] == 1.0) == (total == n)


def test_known_ends() -> None:
    low, high = interval([14, 100, 300, 0], [14, 90, 300, 0])
    assert low.round(2).tolist() == [0.70, 0.77, 0.98, 0.0]
    assert high.round(2).tolist() == [1.0, 0.97, 1.0, 1.0]


def test_a_million_records_have_intervals_around_their_means_that_shrink_with_confidence() -> None:
    rng = np.random.default_rng(5)
    pulls = rng.integers(1, 3000, 10**6)
    totals = np.floor(pulls * rng.random(pulls.size) * 1.0005).clip(0, pulls)
    low, high = interval(pulls, totals)
    near_low, near_high = interval(pulls, totals, 0.5)
    mean = totals / pulls
    assert ((low <= near_low) & (near_low <= mean) & (mean <= near_high) & (near_high <= high)).all()


@pytest.mark.parametrize("mean", MEANS)
def test_coins_ever_leave_it_with_probability_delta_at_most(mean: float) -> None:
    records = all_records(400)
    assert leaving_probability(mean, 400, *interval(*records, 0.9)) <= 0.1
    n, total = (np.asarray(item) for item in records)
    fixed = stats.beta.ppf([[[0.05]], [[0.95]]], [total, total + 1], [n - total + 1, n - total])
    low, high = np.where(total == 0, 0.0, fixed[0]), np.where(total == n, 1.0, fixed[1])
    assert leaving_probability(mean, 400, low, high) > 0.1, "the control: Clopper and Pearson's is for one n only"


@pytest.mark.parametrize("mean", MEANS)
def test_rewards_between_0_and_1_asked_for_until_the_interval_leaves_the_mean_seldom_do(mean: float) -> None:
    runs, steps, delta = 1000, 300, 0.1
    rng = np.random.default_rng(11)
    rewards = rng.beta(2 * mean, 2 * (1 - mean), (runs, steps)).round(9)  # as a campaign keeps them
    low, high = interval(np.arange(1, steps + 1), rewards.cumsum(axis=1), 1 - delta)
    left = ((low > mean) | (mean > high)).any(axis=1).sum()
    assert left <= stats.binom.ppf(1 - 1e-6, runs, delta)
