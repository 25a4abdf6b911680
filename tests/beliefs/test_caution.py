"""The caution of a claim against the posterior of the prior's shape, integrated over a plain grid."""

import numpy as np
import pytest
from scipy import stats

from cutline.beliefs.caution import caution
from cutline.beliefs.intervals import Floats
from cutline.beliefs.knowledge import Knowledge

Record = tuple[Floats, Floats, Floats]

FEW = tuple(np.array([(1, 0, 58), (2, 1, 43), (3, 2, 42), (4, 3, 31), (4, 4, 124), (5, 5, 2)], float).T)
"""Pulls, totals and arms at three pulls an arm, of 300 means drawn from Beta(8, 2): 64 of them are above 0.9."""


def on_a_grid(record: Record, threshold: float) -> float:
    """Return the caution, all shapes being Betas without points and no arm being called above."""
    n, total, arms = record
    likely, errors = [], []
    for mean in np.linspace(-1.0, 4.0, 41):
        for size in np.linspace(-2.0, 9.0, 41):
            a = np.exp(size) / (1.0 + np.exp(-mean))
            b = np.exp(size) - a
            of_prior = -0.5 * (mean / 3.0) ** 2 - 0.5 * ((size - np.log(2.0)) / 2.0) ** 2
            likely.append(of_prior + arms @ stats.betabinom.logpmf(total, n, a, b))
            errors.append(arms @ stats.beta.sf(threshold, a + total, b + n - total))
    weights = np.exp(np.array(likely) - max(likely))
    mean_error = np.average(errors, weights=weights)
    return float(1.0 + np.sqrt(np.average((errors - mean_error) ** 2, weights=weights)) / mean_error)


def test_it_is_the_standard_error_over_all_shapes_that_few_records_leave_possible() -> None:
    n, total, arms = FEW
    expected = on_a_grid((n, total, arms), 0.9)
    assert expected > 1.3
    assert caution(n, total, arms, np.zeros(n.size, np.bool_), 0.9) == pytest.approx(expected, abs=0.1)


def test_too_low_a_claim_from_few_pulls_does_not_reach_the_target_that_it_is_below() -> None:
    n, total, arms = FEW
    known = Knowledge.learn(n, total, total, arms, aims_at=0.9)
    claimed = float(arms @ np.minimum(*known.sides(n, total, total, 0.9)))
    assert claimed < 30.0
    assert known.caution is not None
    assert claimed * known.caution > 30.0


def test_many_pulls_of_many_arms_leave_hardly_any_need_of_it() -> None:
    rng = np.random.default_rng(1)
    totals, arms = np.unique(rng.binomial(30, rng.beta(2.0, 2.0, 1000)), return_counts=True)
    n, total, count = np.full(totals.size, 30.0), totals.astype(float), arms.astype(float)
    assert 1.0 < caution(n, total, count, total >= 15.0, 0.5) < 1.06


def test_it_is_learnt_only_for_a_target() -> None:
    n, total, arms = FEW
    assert Knowledge.learn(n, total, total, arms).caution is None
