"""The game of a policy that learns: stages of an index policy, with a refit after each.

What happens between two refits is a game like any other, from given records with a given table. So an engine plays such
a policy if it has a kernel that plays one stage; runs, refits and looks are the same for all engines.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compiling
from cutline.policies.policy import LearningPolicy, tally
from cutline.problem import Problem
from cutline.simulation.chunks import Chunk, ChunkResult
from cutline.threshold import is_above

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


def play_stages(kernel: StageKernel, chunk: Chunk) -> ChunkResult:
    """Play a chunk of a policy that learns, stage by stage."""
    policy, problem, budgets = chunk.policy, chunk.problem, chunk.budgets
    assert isinstance(policy, LearningPolicy)
    shape = (budgets.size, problem.arms)
    result = ChunkResult(
        np.empty((budgets.size, chunk.runs), np.int32), np.zeros(shape, np.int64), np.zeros(shape, np.int64), 0
    )
    first_table = policy.table(policy.learn(tally(), problem.threshold), problem.threshold)
    for run in range(chunk.runs):
        pulls, totals = _play_run(kernel, chunk, policy, first_table, chunk.first_run + run)
        result.pulls[:] += pulls
        result.totals[:] += totals
        result.errors[:, run] = [_errors(problem, *records) for records in zip(pulls, totals, strict=True)]
    return result


def _play_run(
    kernel: StageKernel, chunk: Chunk, policy: LearningPolicy, table: NDArray[np.float64], run: int
) -> tuple[Counts, Counts]:
    """Return the pulls and totals of all arms at all budgets of a chunk in one run, (B, K) each."""
    problem, budgets, key = chunk.problem, chunk.budgets, np.uint64(chunk.key)
    pulls, totals = np.zeros((2, budgets.size, problem.arms), np.int64)
    now = np.zeros((2, problem.arms), np.int64)
    spent = 0
    while True:
        end = min(policy.next_refit(problem.arms, spent), int(budgets[-1]))
        looks = (spent < budgets) & (budgets <= end)
        stops = np.append(budgets[looks], end)
        at = np.empty((2, stops.size, problem.arms), np.int64)
        stage = Stage(problem.means, problem.threshold, table, key, run, spent, now[0], now[1], stops)
        with compiling(policy), np.errstate(over="ignore"):  # 64-bit words wrap around where kernels run uncompiled
            kernel(stage, at[0], at[1])
        pulls[looks], totals[looks] = at[:, :-1]
        if end == budgets[-1]:
            return pulls, totals
        spent, now = end, np.ascontiguousarray(at[:, -1])
        table = policy.table(policy.learn(tally(*now), problem.threshold), problem.threshold)


def _errors(problem: Problem, pulls: Counts, totals: Counts) -> int:
    """Return how many arms are called wrongly; an arm without pulls is called below."""
    called = (pulls > 0) & is_above(np.maximum(pulls, 1), totals, problem.threshold)
    return int(np.count_nonzero(called != problem.truth))
