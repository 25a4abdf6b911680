"""Intervals against 40 digits, bets written out, exact probabilities, and asking that looks at the data."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from cutline.beliefs.intervals import interval, log_mixture

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


@pytest.mark.slow
def test_a_million_records_have_intervals_around_their_means_that_shrink_with_confidence() -> None:
    rng = np.random.default_rng(5)
    pulls = rng.integers(1, 3000, 10**6)
    totals = np.floor(pulls * rng.random(pulls.size) * 1.0005).clip(0, pulls)
    low, high = interval(pulls, totals)
    near_low, near_high = interval(pulls, totals, 0.5)
    mean = totals / pulls
    assert ((low <= near_low) & (near_low <= mean) & (mean <= near_high) & (near_high <= high)).all()


@pytest.mark.slow
@pytest.mark.parametrize("mean", MEANS)
def test_coins_ever_leave_it_with_probability_delta_at_most(mean: float) -> None:
    records = all_records(400)
    assert leaving_probability(mean, 400, *interval(*records, 0.9)) <= 0.1
    n, total = (np.asarray(item) for item in records)
    fixed = stats.beta.ppf([[[0.05]], [[0.95]]], [total, total + 1], [n - total + 1, n - total])
    low, high = np.where(total == 0, 0.0, fixed[0]), np.where(total == n, 1.0, fixed[1])
    assert leaving_probability(mean, 400, low, high) > 0.1, "the control: Clopper and Pearson's is for one n only"


@pytest.mark.slow
@pytest.mark.parametrize("mean", MEANS)
def test_rewards_between_0_and_1_asked_for_until_the_interval_leaves_the_mean_seldom_do(mean: float) -> None:
    runs, steps, delta = 1000, 300, 0.1
    rng = np.random.default_rng(11)
    rewards = rng.beta(2 * mean, 2 * (1 - mean), (runs, steps)).round(9)  # as a campaign keeps them
    low, high = interval(np.arange(1, steps + 1), rewards.cumsum(axis=1), 1 - delta)
    left = ((low > mean) | (mean > high)).any(axis=1).sum()
    assert left <= stats.binom.ppf(1 - 1e-6, runs, delta)


def scores(mean: float, deviation: float, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Rewards between 0 and 1 with this mean, and this standard deviation or that of coins."""
    size = max(mean * (1 - mean) / deviation**2 - 1, 0.01)
    return np.random.default_rng(seed).beta(mean * size, (1 - mean) * size, shape)


def product_of_bets(rewards: np.ndarray, mean: float, steps: int) -> float:
    """The mixture of the products of bets on these rewards, one by one; so many bets."""
    total = 0.0
    for step in range(steps):
        q = math.sin(0.5 * math.pi * (step + 0.5) / steps) ** 2
        total += math.prod(1 + (q - mean) / (mean * (1 - mean)) * (reward - mean) for reward in rewards.tolist())
    return total / steps


def records_of(rewards: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pulls, totals and squares along the last axis of rewards, shape (runs, steps)."""
    pulls = np.broadcast_to(np.arange(1.0, rewards.shape[-1] + 1), rewards.shape)
    return pulls, rewards.cumsum(axis=-1), (rewards**2).cumsum(axis=-1)


def of_one(rewards: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = np.array(rewards)
    return np.array([float(values.size)]), np.array([values.sum()]), np.array([(values**2).sum()])


@pytest.mark.parametrize("mean", MEANS)
def test_of_coins_the_mixture_of_smallest_products_is_the_martingale_itself(mean: float) -> None:
    n, total = np.array([1.0, 5.0, 50.0, 400.0]), np.array([1.0, 2.0, 45.0, 390.0])
    beta = special.betaln(total + 0.5, n - total + 0.5) - special.betaln(0.5, 0.5)
    expected = beta - special.xlogy(total, mean) - special.xlog1py(n - total, -mean)
    assert log_mixture((n, total, total), np.full(4, mean)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.8])
def test_no_product_of_bets_is_below_the_smallest_that_its_record_allows(mean: float) -> None:
    for seed, deviation in enumerate((0.05, 0.1, 0.2, 0.3)):
        rewards = scores(0.6, deviation, (12,), seed)
        smallest = math.exp(log_mixture(of_one(rewards.tolist()), np.array([mean]))[0])
        assert smallest <= product_of_bets(rewards, mean, 50) * (1 + 1e-9)


def test_the_smallest_product_is_that_of_rewards_of_two_values() -> None:
    rewards = [0.7, 0.7, 0.0, 0.7]  # 0 and another: the smallest of the bets that the mean is larger
    upwards = [step for step in range(50) if math.sin(0.5 * math.pi * (step + 0.5) / 50) ** 2 > 0.001]
    assert len(upwards) == 49
    expected = product_of_bets(np.array(rewards), 0.001, 50)
    assert math.exp(log_mixture(of_one(rewards), np.array([0.001]))[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mean", MEANS)
def test_scores_asked_for_until_the_interval_leaves_the_mean_seldom_do(mean: float) -> None:
    runs, steps, delta = 150, 150, 0.1
    for seed, deviation in enumerate((0.05, 0.5)):
        pulls, totals, squares = records_of(
            scores(mean, min(deviation, 0.9 * math.sqrt(mean * (1 - mean))), (runs, steps), seed)
        )
        record = pulls.ravel(), totals.ravel(), squares.ravel()
        flat = log_mixture(record, np.full(runs * steps, mean))
        left = (flat.reshape(runs, steps).max(axis=1) >= -math.log(delta)).sum()
        assert left <= stats.binom.ppf(1 - 1e-6, runs, delta)


def test_the_ends_of_scores_are_where_the_mixture_is_one_in_delta_and_beyond_them_it_stays_above() -> None:
    for mean, deviation, n in ((0.5, 0.05, 10), (0.5, 0.2, 100), (0.9, 0.1, 40), (0.05, 0.05, 200), (0.8, 0.3, 12)):
        record = of_one(scores(mean, deviation, (n,), n).tolist())
        (low,), (high,) = interval(record[0], record[1], 0.95, record[2])
        for end in (low, high):
            assert log_mixture(record, np.array([end]))[0] == pytest.approx(math.log(20), abs=0.01)
        beyond = np.append(
            np.linspace(1e-6, low, 300, endpoint=False), np.linspace(1 - 1e-6, high, 300, endpoint=False)
        )
        many = record[0].repeat(600), record[1].repeat(600), record[2].repeat(600)
        assert (log_mixture(many, beyond) >= math.log(20)).all()
        coins = interval(record[0], record[1])
        assert coins[0][0] <= low < record[1][0] / n < high <= coins[1][0]


@pytest.mark.parametrize("deviation", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.95])
def test_scores_have_intervals_at_most_a_third_wider_than_hedged_bets_that_know_the_order(
    mean: float, deviation: float
) -> None:
    if deviation**2 >= mean * (1 - mean):
        deviation = 0.9 * math.sqrt(mean * (1 - mean))
    for n in (10, 100, 1000):
        rewards = scores(mean, deviation, (3, n), n)
        record = [item[:, -1] for item in records_of(rewards)]
        low, high = interval(record[0], record[1], 0.95, record[2])
        assert (high - low).mean() <= 4 / 3 * np.mean([hedged_width(each) for each in rewards])


def hedged_width(rewards: np.ndarray, delta: float = 0.05, steps: int = 1000) -> float:
    """The width of the hedged betting interval of Waudby-Smith and Ramdas (2024), Theorem 3, with their bets (26)."""
    t = np.arange(1, rewards.size + 1)
    means = (0.5 + rewards.cumsum()) / (t + 1)
    variances = np.append(0.25, (0.25 + ((rewards - means) ** 2).cumsum()) / (t + 1))[:-1]
    bets = np.sqrt(2 * math.log(2 / delta) / (variances * t * np.log(1 + t)))[:, None]
    m = (np.arange(steps) + 0.5) / steps
    up = np.log1p(np.minimum(bets, 0.5 / m) * (rewards[:, None] - m)).sum(axis=0)
    down = np.log1p(-np.minimum(bets, 0.5 / (1 - m)) * (rewards[:, None] - m)).sum(axis=0)
    inside = m[np.maximum(up, down) + math.log(0.5) < -math.log(delta)]
    return float(inside.max() - inside.min()) + 1 / steps
