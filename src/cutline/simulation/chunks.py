"""A chunk of work, and the choice of the engine that plays it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutline.policies.policy import Policy
from cutline.problem import Problem
from cutline.simulation.stepping import stepping_kernel
from cutline.simulation.waterline import waterline_kernel

_WORTH_SKIPPING = 20
_WORTH_A_LOOK = 30


@dataclass(frozen=True)
class Chunk:
    """Some runs of one policy, budgets (B,) increasing: all that a worker needs, and small enough to send."""

    problem: Problem
    policy: Policy
    budgets: NDArray[np.int64]
    key: int
    first_run: int
    runs: int

    @property
    def total_pulls(self) -> int:
        """Pulls in all its runs."""
        return int(self.budgets[-1]) * self.runs

    @property
    def engine(self) -> str:
        """Return "waterline" where the policy has a ceiling and the arms get pulls enough to skip, else "stepping".

        The result is the same; below some 20 pulls an arm, and 30 more for each budget, there is nothing to gain,
        except from a policy that reads no rewards.
        """
        if self.policy.ceiling is None:
            return "stepping"
        enough = self.problem.arms * (_WORTH_SKIPPING + _WORTH_A_LOOK * self.budgets.size)
        return "waterline" if self.budgets[-1] >= enough or not self.policy.reads_rewards else "stepping"


@dataclass(frozen=True)
class ChunkResult:
    """What came of a chunk: errors (B, runs), and pulls and totals (B, K), summed over its runs.

    ``skipped`` is how many rewards the skip-ahead engine passed over in blocks.
    """

    errors: NDArray[np.int32]
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    skipped: int


def play(chunk: Chunk, engine: str | None = None) -> ChunkResult:
    """Play a chunk, on its own engine or the one named. A pure function of the chunk, wherever it runs."""
    problem, budgets = chunk.problem, chunk.budgets
    shape = (budgets.size, problem.arms)
    errors = np.empty((budgets.size, chunk.runs), np.int32)
    pulls, totals = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    skipped = np.zeros(1, np.int64)
    inputs = (
        problem.means,
        problem.threshold,
        parameter_table(chunk.policy, problem, int(budgets[-1])),
        np.uint64(chunk.key),
        chunk.first_run,
        budgets,
    )
    with np.errstate(over="ignore"):  # 64-bit words wrap around; numpy warns of it where kernels run uncompiled
        if (engine or chunk.engine) == "waterline":
            waterline_kernel(type(chunk.policy))(*inputs, errors, pulls, totals, skipped)
        else:
            stepping_kernel(type(chunk.policy))(*inputs, errors, pulls, totals)
    return ChunkResult(errors, pulls, totals, int(skipped[0]))


def parameter_table(policy: Policy, problem: Problem, budget: int) -> NDArray[np.float64]:
    """Return the policy's parameters as kernels take them: shape (K, number of parameters), a row an arm."""
    values = policy.parameters(problem, budget)
    table = np.empty((problem.arms, len(values)))
    for column, value in enumerate(values):
        table[:, column] = value
    return table
