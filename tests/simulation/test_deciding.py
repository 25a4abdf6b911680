"""Decisions by the mean and by a prior that is learnt: against their definition, and in games."""

import numpy as np
import pytest

from cutline import LSA, InvalidInputError, Problem, Uniform, simulate
from cutline.beliefs.prior import Prior
from cutline.policies import tally
from cutline.simulation.chunks import Chunk
from cutline.simulation.deciding import called_above
from cutline.simulation.engines import play
from cutline.simulation.rewards import stream_key
from learners import Shrunk


def test_by_the_mean_a_tie_is_above_and_an_arm_without_pulls_below() -> None:
    called = called_above(np.array([10, 10, 0, 3]), np.array([3, 2, 0, 1]), 0.3, "mean")
    assert called.tolist() == [True, False, False, True]


def test_by_a_prior_the_likelier_side_is_called_whatever_the_order_of_the_arms() -> None:
    """18 of 20 is below 0.91, but of arms of which nearly all are above, more likely above."""
    pulls, totals = np.full(60, 20), np.append(np.full(52, 20), [18, 18, 19, 3, 2, 2, 4, 3])
    records = tally(pulls, totals)
    prior = Prior.learn(*records)
    want = prior.above(pulls.astype(float), totals.astype(float), 0.91) >= 0.5
    assert called_above(pulls, totals, 0.91, "likelier").tolist() == want.tolist()
    assert called_above(pulls[::-1], totals[::-1], 0.91, "likelier").tolist() == want[::-1].tolist()
    assert not want[-5:].any()
    assert want[:52].all()
    assert called_above(pulls, totals, 0.91, "mean")[52:54].tolist() == [False, False]


@pytest.mark.parametrize("policy", [LSA(), Uniform(), Shrunk()], ids=str)
def test_errors_by_a_prior_are_counted_from_the_records_of_each_run(policy: LSA | Uniform | Shrunk) -> None:
    problem = Problem(np.random.default_rng(1).beta(2, 2, 30), 0.3)
    budgets = [60, 150]
    curves = simulate(problem, policy, budgets, runs=2, seed=5, decide="likelier", executor=2, progress=False)
    for run in range(2):
        played = play(Chunk(problem, policy, np.array(budgets), stream_key(5, ""), run, 1))
        for look in range(2):
            records = played.pulls[look].astype(float), played.totals[look].astype(float)
            above = Prior.learn(*tally(*records)).above(*records, 0.3) >= 0.5
            assert curves.errors[0, look, run] == np.count_nonzero(above != problem.truth)
    assert curves.decide == "likelier"
    plain = simulate(problem, policy, budgets, runs=2, seed=5, progress=False)
    assert plain.decide == "mean"
    np.testing.assert_array_equal(plain.pulls, curves.pulls)


def test_another_rule_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"^decide is 'vote'; it must be one of mean, likelier$"):
        simulate(Problem([0.2, 0.7]), "LSA", 10, runs=1, decide="vote", progress=False)
