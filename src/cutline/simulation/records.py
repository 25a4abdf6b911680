"""Records: how often each arm was pulled, the sum of its rewards, and the index that follows from the two."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit, jit_in_place, made_once, with_parameters, with_table
from cutline.policies.policy import LearningPolicy, Policy
from cutline.simulation.chunks import Games, Outcome
from cutline.threshold import is_above

_above = compile_plain(is_above)


class Record(NamedTuple):
    """One arm's record; ``value`` is its index."""

    pulls: int
    total: Any
    value: float


class Records(NamedTuple):
    """The records of all arms, (K,) each."""

    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    indices: NDArray[np.float64]


@jit
def empty_records(arms: int) -> Records:
    """Return room for the records of so many arms."""
    return Records(np.empty(arms, np.int64), np.empty(arms, np.int64), np.empty(arms, np.float64))


def index_of(policy: type[Policy]) -> Callable[..., float]:
    """Compile index(pulls, total, threshold, arm, parameters); for a policy that learns the last is its table, (M,)."""
    return with_table(policy.index) if issubclass(policy, LearningPolicy) else with_parameters(policy.index, 3)


@made_once
def beginning(policy: type[Policy]) -> Callable[..., Record]:
    """Compile begin(arm, reward, threshold, parameters), an arm's record before the first index is looked at.

    It has one pull with the reward given, or none where the policy does not pull each arm first.
    """
    index = index_of(policy)
    pulls = int(policy.pulls_each_arm_first)

    @jit_in_place
    def begin(arm: int, reward: Any, threshold: float, parameters: Any) -> Record:
        total = pulls * reward
        return Record(pulls, total, index(float(pulls), float(total), threshold, arm, parameters))

    return begin


@jit_in_place
def count_errors(
    means: NDArray[np.float64], threshold: float, pulls: NDArray[np.int64], totals: NDArray[np.int64]
) -> int:
    """Return how many arms are called wrongly; an arm without pulls is called below."""
    wrong = 0
    for arm in range(means.size):
        called = pulls[arm] > 0 and _above(float(pulls[arm]), float(totals[arm]), threshold)
        if called != (means[arm] >= threshold):
            wrong += 1
    return wrong


@jit_in_place
def take_down(games: Games, outcome: Outcome, run: int, look: int, pulls: Any, totals: Any) -> None:
    """Write down what a run has come to at a look: its wrong decisions, and pulls and totals, which are added."""
    outcome.errors[look, run] = count_errors(games.means, games.threshold, pulls, totals)
    for arm in range(pulls.size):
        outcome.pulls[look, arm] += pulls[arm]
        outcome.totals[look, arm] += totals[arm]
