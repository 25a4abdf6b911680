"""The game of a policy that learns: stages of an index policy, with a refit after each.

What happens between two refits is a game like any other, from given records with a given table. So an engine plays such
a policy if it has a kernel that plays one stage; runs, refits and looks are the same for all engines.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compiling
from cutline.policies.policy import LearningPolicy, Policy, tally
from cutline.simulation.chunks import Chunk, ChunkResult, no_outcome
from cutline.simulation.deciding import called_above

Counts = NDArray[np.int64]


class Stage(NamedTuple):
    """A part of a run, as kernels take it: from records with ``spent`` pulls in all to the last of its budgets.

    means (K,); the policy's table (M,); the key of the rewards' stream and the run; pulls and totals (K,), the records
    at the beginning, not modified; budgets (B,) increasing, from ``spent`` on. With 0 pulls the policy begins.
    """

    means: NDArray[np.float64]
    threshold: float
    table: NDArray[np.float64]
    key: np.uint64
    run: int
    spent: int
    pulls: Counts
    totals: Counts
    budgets: Counts


StageKernel = Callable[[Stage, Counts, Counts], None]
"""kernel(stage, pulls, totals): play the stage and fill in every arm's pulls and totals at each budget, (B, K) each."""


Records = tuple[NDArray[Any], NDArray[Any]]
"""Pulls and totals of all arms, (K,) each, or at several budgets, (B, K) each."""


def refits(policy: Policy, arms: int, budget: int) -> int:
    """Return how often a policy learns anew before a budget is spent."""
    if not isinstance(policy, LearningPolicy):
        return 0
    count, spent = -1, 0
    while spent < budget:
        count, spent = count + 1, policy.next_refit(arms, spent)
    return count


def in_stages(
    policy: LearningPolicy,
    threshold: float,
    arms: int,
    budgets: Counts,
    play_on: Callable[[NDArray[np.float64], int, Records, Counts], Records],
) -> Records:
    """Play one run of a policy that learns; return the records at all budgets.

    ``play_on(table, spent, records, budgets)`` plays a stage from the records given, none if nothing is spent.
    """
    table = _first_table(policy, threshold)
    spent, records = 0, (np.zeros(arms, np.int64), np.zeros(arms, np.int64))
    seen: list[Records] = []
    while spent < budgets[-1]:
        end = min(policy.next_refit(arms, spent), int(budgets[-1]))
        looks = budgets[(spent < budgets) & (budgets <= end)]
        pulls, totals = play_on(table, spent, records, np.append(looks, end))
        seen.append((pulls[:-1], totals[:-1]))
        spent, records = end, (pulls[-1], totals[-1])
        if end < budgets[-1]:
            table = policy.table(policy.learn(tally(*records), threshold), threshold)
    return np.concatenate([pulls for pulls, _ in seen]), np.concatenate([totals for _, totals in seen])


@lru_cache(maxsize=4)
def _first_table(policy: LearningPolicy, threshold: float) -> NDArray[np.float64]:
    """Return the policy's parameter before the first refit, with which every run begins."""
    return policy.table(policy.learn(tally(), threshold), threshold)


def play_stages(kernel: StageKernel, chunk: Chunk) -> ChunkResult:
    """Play a chunk of a policy that learns, stage by stage."""
    policy, problem, budgets = chunk.policy, chunk.problem, chunk.budgets
    assert isinstance(policy, LearningPolicy)
    outcome = no_outcome(budgets.size, problem.arms, chunk.runs)
    for place in range(chunk.runs):
        run = chunk.first_run + place

        def play_on(table: NDArray[np.float64], spent: int, records: Records, stops: Counts, run: int = run) -> Records:
            pulls, totals = np.empty((2, stops.size, problem.arms), np.int64)
            key = np.uint64(chunk.key)
            stage = Stage(problem.means, problem.threshold, table, key, run, spent, *records, stops)
            with compiling(policy), np.errstate(over="ignore"):  # as in ``play_on`` of chunks
                kernel(stage, pulls, totals)
            return pulls, totals

        pulls, totals = in_stages(policy, problem.threshold, problem.arms, budgets, play_on)
        outcome.pulls[:] += pulls
        outcome.totals[:] += totals
        outcome.errors[:, place] = [
            np.count_nonzero(called_above(*records, problem.threshold, "mean") != problem.truth)
            for records in zip(pulls, totals, strict=True)
        ]
    return ChunkResult(outcome.errors, outcome.pulls, outcome.totals, 0)
