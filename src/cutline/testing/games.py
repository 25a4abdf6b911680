"""What policies are tried on: a problem, thresholds, records, and the game by its definition."""

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutline.policies import LearningPolicy, Policy, tally
from cutline.policies.uniform import Uniform
from cutline.problem import Problem
from cutline.simulation.chunks import Chunk, parameter_tables
from cutline.simulation.engines import play
from cutline.simulation.rewards import stream_key

PROBLEM = Problem([0.2, 0.55, 0.4, 0.8, 0.5, 0.0, 1.0], 0.45)
"""The problem on which policies are tried; the means 0 and 1 are among its arms."""
BUDGET = 700
"""The budget of the games on it."""
THRESHOLDS = (0.5, 0.3, 0.55, 1 / 3, 0.02, 0.985)
"""The thresholds at which an index, a ceiling and a band are tried."""
RUNS = 1 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 3
"""The runs in which a policy is followed pull by pull; kernels that are not compiled take a hundred times as long."""
SEED = 7
"""The seed of the games' rewards."""


def parameters(policy: Policy, budget: int = BUDGET) -> list[list[Any]]:
    """Return what the index takes after the threshold, a list an arm of PROBLEM; before any refit if it learns."""
    if isinstance(policy, LearningPolicy):
        return [list(policy.parameters(PROBLEM))] * PROBLEM.arms
    rows: list[list[Any]] = parameter_tables(policy, PROBLEM, np.array([budget]))[0].tolist()
    return rows


def records(policy: Policy, most: int) -> list[tuple[float, float]]:
    """Return every record (pulls, total) with at most ``most`` pulls that the index can be asked about."""
    fewest = 1 if policy.pulls_each_arm_first else 0
    return [(float(n), float(s)) for n in range(fewest, most + 1) for s in range(n + 1)]


def rewards(run: int) -> NDArray[np.int64]:
    """Return the rewards of PROBLEM's arms in a run, shape (BUDGET, K): what pulling all arms in turn brings."""
    budgets = PROBLEM.arms * np.arange(1, BUDGET + 1)
    totals = play(Chunk(PROBLEM, Uniform(), budgets, stream_key(SEED, ""), run, 1), "stepping").totals
    return np.diff(totals, axis=0, prepend=0)


def game(policy: Policy, rewards: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Play by the definition, on plain Python's index; return pulls and totals (BUDGET + 1, K) after every pull.

    ``rewards`` (BUDGET, K): each arm's, in order. A policy that learns is refitted at its budgets.
    """
    theta = PROBLEM.threshold
    rows = parameters(policy)
    pulls, totals = np.zeros((2, BUDGET + 1, PROBLEM.arms), np.int64)
    indices = [-math.inf] * PROBLEM.arms
    if not policy.pulls_each_arm_first:
        indices = [policy.index(0.0, 0.0, theta, *row) for row in rows]
    for time in range(1, BUDGET + 1):
        arm = indices.index(min(indices))
        pulls[time], totals[time] = pulls[time - 1], totals[time - 1]
        totals[time, arm] += rewards[pulls[time, arm], arm]
        pulls[time, arm] += 1
        indices[arm] = policy.index(float(pulls[time, arm]), float(totals[time, arm]), theta, *rows[arm])
        if isinstance(policy, LearningPolicy) and time == policy.next_refit(PROBLEM.arms, time - 1):
            table = policy.table(policy.learn(tally(pulls[time], totals[time]), theta), theta)
            rows = [[table]] * PROBLEM.arms
            standing = zip(pulls[time].tolist(), totals[time].tolist(), strict=True)
            indices = [policy.index(float(n), float(s), theta, table) for n, s in standing]
    return pulls, totals
