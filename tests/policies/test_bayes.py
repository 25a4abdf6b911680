"""Bayes: what it learns, its table, what is beyond it, and that it does what a prior is worth."""

import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from cutline import Problem, simulate
from cutline.beliefs.critical_costs import indices
from cutline.beliefs.prior import Prior
from cutline.policies import tally
from cutline.policies.bayes import DEPTH, Bayes
from cutline.policies.lai import Lai

BAYES = Bayes()


@cache
def table(prior: float, threshold: float) -> NDArray[np.float64]:
    """The table for means from Beta(prior, prior)."""
    return BAYES.table(tuple(Prior.beta(prior, prior).masses.tolist()), threshold)


def test_it_learns_soon_after_the_first_round_and_then_more_and_more_rarely() -> None:
    schedule = [0]
    while len(schedule) < 14:
        schedule.append(BAYES.next_refit(10, schedule[-1]))
    assert schedule[1:] == [10, 11, 12, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320]
    assert [BAYES.next_refit(1, spent) for spent in range(6)] == [1, 2, 3, 4, 6, 6]


def test_up_to_the_depth_of_the_table_its_index_is_the_critical_cost() -> None:
    want = indices(Prior.beta(2, 2), 0.2, DEPTH)
    for n, s in [(0, 0), (1, 1), (7, 2), (DEPTH, 30)]:
        assert BAYES.index(float(n), float(s), 0.2, table(2, 0.2)) == pytest.approx(
            want[n * (n + 1) // 2 + s], abs=1e-3
        )


def test_a_total_between_two_whole_numbers_has_an_index_between_theirs() -> None:
    low, high = BAYES.index(5.0, 1.0, 0.2, table(2, 0.2)), BAYES.index(5.0, 2.0, 0.2, table(2, 0.2))
    assert BAYES.index(5.0, 1.25, 0.2, table(2, 0.2)) == pytest.approx(0.75 * low + 0.25 * high, rel=1e-12)
    assert BAYES.index(5.0, 5.0, 0.2, table(2, 0.2)) == table(2, 0.2)[20]


def test_half_a_reward_counts_in_learning_as_half_an_arm_at_either_total() -> None:
    halves = BAYES.learn(tally([4.0] * 10, [1.5] * 10), 0.5)
    assert halves == BAYES.learn(tally([4.0] * 10, [1.0] * 5 + [2.0] * 5), 0.5)


@pytest.mark.parametrize(("prior", "threshold"), [(1, 0.5), (2, 0.2)])
def test_there_is_no_jump_at_the_edge_of_the_table(prior: float, threshold: float) -> None:
    """A pull with the mean as its reward hardly changes the index of records that are not clear."""
    for deviation in (-9.0, -5.0, -2.5, 2.5, 5.0, 9.0):
        total = threshold * DEPTH + deviation
        inside = BAYES.index(float(DEPTH), total, threshold, table(prior, threshold))
        outside = BAYES.index(DEPTH + 1.0, total * (DEPTH + 1.0) / DEPTH, threshold, table(prior, threshold))
        assert outside == pytest.approx(inside, abs=0.15), deviation


def test_with_the_flat_prior_its_index_is_about_that_of_lai() -> None:
    """Which is what Lai's is an approximation of: within 0.15 for records that are not clear."""
    for n, s in [(10, 6), (20, 12), (50, 27), (50, 31), (100, 57), (128, 70), (200, 108), (1000, 530)]:
        assert BAYES.index(float(n), float(s), 0.5, table(1, 0.5)) == pytest.approx(
            Lai.index(float(n), float(s), 0.5), abs=0.15
        )


def test_beyond_the_table_it_is_what_a_deeper_table_has() -> None:
    """At 256 pulls, for indices up to 8; where the odds are even both have a dip, of some width."""
    deep = indices(Prior.beta(2, 2), 0.7, 256)[-257:]
    near = [s for s in range(257) if 3.0 < deep[s] < 8.0]
    found = [BAYES.index(256.0, float(s), 0.7, table(2, 0.7)) for s in near]
    assert len(near) > 15
    np.testing.assert_allclose(found, deep[near], atol=0.15)


def test_where_nearly_all_arms_are_above_two_successes_make_one_clear() -> None:
    """40 arms always succeed: with the flat prior the same record is far from clear at 0.9."""
    learnt = BAYES.table(BAYES.learn(tally([10] * 40, [10] * 40), 0.9), 0.9)
    flat = BAYES.table(BAYES.learn(tally(), 0.9), 0.9)
    assert BAYES.index(2.0, 2.0, 0.9, learnt) > BAYES.index(2.0, 2.0, 0.9, flat) + 1.0


@pytest.mark.slow
def test_many_arms_are_worth_a_prior() -> None:
    """400 arms with means from Beta(2, 2), threshold 0.2, 5 pulls an arm: Lai calls 24 wrongly, this far fewer."""
    means = np.random.default_rng(4).beta(2, 2, 400)
    curves = simulate(Problem(means, 0.2), ["Lai", "Bayes"], [2000], runs=4, decide="likelier", progress=False)
    assert curves.mean[1, 0] < curves.mean[0, 0]
    plain = simulate(Problem(means, 0.2), "Lai", [2000], runs=4, progress=False)
    assert curves.mean[1, 0] < 0.85 * plain.mean[0, 0]
    assert math.isfinite(curves.mean[1, 0])
