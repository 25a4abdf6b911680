"""The learnt prior against closed forms, exhaustive sums, and truths that it is not told."""

import math
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from cutline.beliefs.intervals import Floats
from cutline.beliefs.prior import Prior

FLAT = Prior.beta(1.0, 1.0)

Record: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
"""Pulls, totals, how many arms stand there, and at which of them each arm stands."""


def records(means: Floats, pulls: int, rng: np.random.Generator) -> Record:
    """Draw a record of as many pulls for each of the arms with these means."""
    totals, inverse, counts = np.unique(rng.binomial(pulls, means), return_inverse=True, return_counts=True)
    return np.full(totals.size, pulls), totals, counts, inverse


def claimed_and_true(prior: Prior, means: Floats, record: Record, threshold: float) -> tuple[float, int]:
    pulls, totals, counts, inverse = record
    above = prior.above(pulls, totals, threshold)
    wrong = (above[inverse] >= 0.5) != (means >= threshold)
    return float(counts @ np.minimum(above, 1 - above)), int(wrong.sum())


@pytest.mark.parametrize("threshold", [0.01, 0.3, 1 / 3, 0.5, 0.95, 0.999])
def test_the_flat_prior_has_the_posterior_of_the_books(threshold: float) -> None:
    pulls = np.array([0, 1, 1, 2, 14, 41, 1000, 10**6, 10**6, 9])
    totals = np.array([0, 0, 1, 1, 14, 40, 300, 10**6 // 3, 10**6, 2.25])
    expected = stats.beta.sf(threshold, totals + 1, pulls - totals + 1)
    assert FLAT.above(pulls, totals, threshold) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_a_beta_prior_has_nearly_the_posterior_of_the_books() -> None:
    pulls, totals = np.array([0, 3, 10, 100]), np.array([0, 1, 9, 80])
    for a, b in ((2.0, 2.0), (5.0, 1.5), (0.8, 3.0)):
        expected = stats.beta.sf(0.7, a + totals, b + pulls - totals)
        assert Prior.beta(a, b).above(pulls, totals, 0.7) == pytest.approx(expected, abs=5e-4)  # cells


def test_points_have_the_posterior_of_bayes() -> None:
    prior = Prior(np.append(0.5 * FLAT.masses[:-2], [0.2, 0.3]))
    flat, at_1 = 0.5 / 15, 0.3  # prior mass times likelihood of 14 rewards of 14
    assert prior.above([14], [14], 0.99) == pytest.approx((flat * (1 - 0.99**15) + at_1) / (flat + at_1), rel=1e-12)
    assert prior.above([0], [0], 0.25) == pytest.approx(0.5 * 0.75 + 0.3, rel=1e-12)


def test_the_probabilities_of_all_sequences_add_up_to_1() -> None:
    rng = np.random.default_rng(2)
    for masses in (FLAT.masses, rng.dirichlet(np.full(FLAT.masses.size, 0.1))):
        for n in (1, 2, 5, 30):
            totals = np.arange(n + 1)
            each = np.exp(Prior(masses).log_likelihood(np.full(n + 1, n), totals))
            assert each @ [math.comb(n, total) for total in totals] == pytest.approx(1.0, rel=1e-12)


def test_from_no_arms_it_is_flat_but_for_two_small_points() -> None:
    prior = Prior.learn([], [], [])
    assert prior.masses[-2:].max() < 0.03
    assert prior.masses[:-2] / prior.masses[:-2].sum() == pytest.approx(FLAT.masses[:-2], rel=0.02)


def test_it_finds_a_beta_distribution_that_many_arms_come_from() -> None:
    means = np.random.default_rng(3).beta(6.0, 2.0, 20_000)
    prior = Prior.learn(*records(means, 20, np.random.default_rng(4))[:3])
    distances = np.abs(np.cumsum(prior.masses[:-2]) - np.cumsum(Prior.beta(6.0, 2.0).masses[:-2]))
    assert distances.max() < 0.01
    assert prior.masses[-2:].max() < 0.001


def test_records_of_one_kind_may_come_in_any_order_and_in_parts() -> None:
    pulls, totals, counts, _ = records(np.random.default_rng(5).beta(2, 2, 500), 8, np.random.default_rng(6))
    whole = Prior.learn(pulls, totals, counts).masses
    halves = Prior.learn(
        np.append(pulls, pulls)[::-1], np.append(totals, totals)[::-1], np.append(counts - 1, counts * 0 + 1)[::-1]
    )
    assert halves.masses == pytest.approx(whole, abs=1e-5)  # how close a minimum is found


@pytest.mark.parametrize("pulls", [3, 10, 40])
@pytest.mark.parametrize("threshold", [0.5, 0.9, 0.99])
def test_what_it_claims_of_a_suite_that_nearly_always_passes_is_true_where_the_flat_prior_is_wrong(
    pulls: int, threshold: float
) -> None:
    rng = np.random.default_rng(7)
    means = np.concatenate([np.ones(1700), rng.beta(8.0, 1.0, 250), rng.beta(1.0, 3.0, 50)])
    record = records(means, pulls, rng)
    claimed, true = claimed_and_true(Prior.learn(*record[:3]), means, record, threshold)
    assert abs(claimed - true) < 3 + 4 * math.sqrt(true)
    if threshold == 0.99:
        flat_claimed, flat_true = claimed_and_true(FLAT, means, record, threshold)
        assert abs(flat_claimed - flat_true) > 100


def test_it_takes_on_a_shape_that_no_beta_has() -> None:
    rng = np.random.default_rng(8)
    means = np.repeat([0.2, 0.45, 0.8], 1000)
    record = records(means, 30, rng)
    claimed, true = claimed_and_true(Prior.learn(*record[:3]), means, record, 0.6)
    assert claimed < 2 * max(true, 5)
    flat_claimed, _ = claimed_and_true(FLAT, means, record, 0.6)
    assert flat_claimed > 100
