"""Policies that learn: the contract with a small one, what its tests notice, and the game against a slow twin."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import naive
from cutline import LSA, InvalidInputError, Problem, simulate
from cutline.policies import LearningPolicy, Tally, tally
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import play
from cutline.simulation.stages import refits
from cutline.testing import PolicyContract
from learners import Shrunk

NAMED = ("found_by_its_name", "prints", "named")
CHECKS = [
    pytest.param(name, marks=[pytest.mark.kernel] * ("engine" in name))
    for name in dir(PolicyContract)
    if name.startswith("test_") and not any(part in name for part in NAMED)
]


@pytest.mark.parametrize("check", CHECKS)
def test_a_policy_that_learns_keeps_the_contract(check: str) -> None:
    """All but what a name is needed for: this policy is no package's."""
    getattr(PolicyContract(), check)(Shrunk)


@dataclass(frozen=True)
class AtTheBudget(Shrunk):
    """Its schedule depends on what was spent."""

    def next_refit(self, arms: int, spent: int) -> int:
        return arms + 2 * spent


@dataclass(frozen=True)
class Fickle(Shrunk):
    """It learns something else each time."""

    def learn(self, records: Tally, threshold: float) -> tuple[float, ...]:
        return (float(next(_COUNT)),)


_COUNT = itertools.count()


@dataclass(frozen=True)
class Infinite(Shrunk):
    """Its index is infinite once it has learnt."""

    def table(self, learnt: tuple[float, ...], threshold: float) -> NDArray[np.float64]:
        return np.array([0.5, np.inf])


@pytest.mark.parametrize(
    ("policy", "check", "complaint"),
    [
        (AtTheBudget, "test_its_refits_follow_from_the_number_of_arms_alone", "the next refit is not"),
        (Fickle, "test_what_it_learns_is_a_few_numbers_that_json_keeps", "the same counts teach something else"),
        (Infinite, "test_its_index_is_a_finite_float_whatever_it_learnt", "is inf"),
    ],
)
def test_the_contract_notices_a_policy_that_learns_wrongly(
    policy: type[LearningPolicy], check: str, complaint: str
) -> None:
    with pytest.raises(AssertionError, match=complaint):
        getattr(PolicyContract(), check)(policy)


def test_a_tally_counts_the_arms_at_each_record_whatever_their_order() -> None:
    pulls, totals = [3, 1, 3, 3, 1, 2], [2, 1, 0, 2, 1, 0.5]
    for order in itertools.permutations(range(6)):
        counted = tally([pulls[arm] for arm in order], [totals[arm] for arm in order])
        assert counted.pulls.tolist() == [1, 2, 3, 3]
        assert counted.totals.tolist() == [1, 0.5, 0, 2]
        assert counted.arms.tolist() == [2, 1, 1, 2]


def test_the_parameters_of_a_policy_that_learns_need_a_threshold() -> None:
    with pytest.raises(InvalidInputError, match=r"^Shrunk learns its parameters; they depend on the threshold$"):
        Shrunk().parameters()
    np.testing.assert_array_equal(Shrunk().parameters(Problem([0.2, 0.7], 0.5)), [[0.5, 0.0]])


PROBLEM = Problem([0.2, 0.55, 0.4, 0.8, 0.5, 0.0, 1.0], 0.45)


def learning_twin(policy: LearningPolicy, problem: Problem, reward: naive.Reward, budget: int) -> list[list[list[int]]]:
    """Play pull by pull, and refit at the schedule; return [pulls, totals] of all arms after every pull."""
    theta = problem.threshold
    pulls, totals = [0] * problem.arms, [0] * problem.arms
    table = policy.table(policy.learn(tally(), theta), theta)
    after = []
    for spent in range(budget):
        arm = spent
        if spent >= problem.arms:
            if spent in {policy.next_refit(problem.arms, before) for before in range(spent)}:
                table = policy.table(policy.learn(tally(pulls, totals), theta), theta)
            indices = [policy.index(float(n), float(s), theta, table) for n, s in zip(pulls, totals, strict=True)]
            arm = naive.first_of_smallest(indices)
        totals[arm] += reward(arm, pulls[arm])
        pulls[arm] += 1
        after.append([list(pulls), list(totals)])
    return after


def rewards_of(key: int, run: int) -> Callable[[int, int], int]:
    return lambda arm, t: naive.reward(key, run, arm, t, float(PROBLEM.means[arm]))


@pytest.mark.kernel
@pytest.mark.parametrize("budgets", [range(7, 121), [60], [7, 14, 15, 63, 120], [7]], ids=len)
def test_a_game_is_that_of_a_slow_twin_whatever_budgets_are_looked_at(budgets: list[int]) -> None:
    for run in (0, 5):
        twin = learning_twin(Shrunk(), PROBLEM, rewards_of(9, run), budgets[-1])
        played = play(Chunk(PROBLEM, Shrunk(), np.array(budgets, np.int64), 9, run, 1), "stepping")
        assert played.pulls.tolist() == [twin[budget - 1][0] for budget in budgets]
        assert played.totals.tolist() == [twin[budget - 1][1] for budget in budgets]
        called = (played.totals / played.pulls >= PROBLEM.threshold) != PROBLEM.truth
        assert played.errors[:, 0].tolist() == called.sum(axis=1).tolist()


@pytest.mark.kernel
def test_runs_are_the_same_however_they_are_split() -> None:
    whole = Chunk(PROBLEM, Shrunk(), np.array([20, 50, 90], np.int64), 3, 10, 4)
    parts: list[Any] = [play(replace(whole, first_run=10 + part, runs=1)) for part in range(4)]
    together = play(whole)
    assert together.errors.tolist() == np.hstack([part.errors for part in parts]).tolist()
    assert together.pulls.tolist() == sum(part.pulls for part in parts).tolist()
    assert together.totals.tolist() == sum(part.totals for part in parts).tolist()


def test_refits_are_counted_that_come_before_the_budget_is_spent() -> None:
    assert [refits(Shrunk(), 7, budget) for budget in (7, 8, 14, 15, 70)] == [0, 1, 1, 2, 9]
    assert refits(LSA(), 7, 70) == 0


def test_simulate_plays_a_policy_that_learns_beside_one_that_does_not() -> None:
    alone = simulate(PROBLEM, Shrunk(), [30, 70], runs=5, seed=2, executor=1, progress=False)
    beside = simulate(PROBLEM, ["LSA", Shrunk()], [30, 70], runs=5, seed=2, executor=2, progress=False)
    assert beside.errors[1].tolist() == alone.errors[0].tolist()
    assert beside.engines == ("stepping", "stepping")
    assert beside.pulls[1].sum(axis=1).tolist() == [30.0, 70.0]
