"""A chunk of work, and the choice of the engine that plays it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutline.policies.policy import Policy
from cutline.problem import Problem
from cutline.simulation.skipping.waterline import waterline_kernel
from cutline.simulation.stepping import stepping_kernel

_WORTH_SKIPPING = 20
_WORTH_A_LOOK = 20


@dataclass(frozen=True)
class Chunk:
    """Some runs of one policy, budgets (B,) increasing: all that a worker needs, and small enough to send.

    A policy that is not anytime plays a game for each budget, on the same rewards.
    """

    problem: Problem
    policy: Policy
    budgets: NDArray[np.int64]
    key: int
    first_run: int
    runs: int

    @property
    def total_pulls(self) -> int:
        """Pulls in all its runs."""
        return pulls_of_a_run(self.policy, self.budgets) * self.runs

    @property
    def engine(self) -> str:
        """Return "waterline" where the policy has a ceiling and the arms get pulls enough to skip, else "stepping".

        The result is the same; below some 20 pulls an arm, and 20 more for each look, there is nothing to gain,
        except from a policy that reads no rewards.
        """
        if self.policy.ceiling is None:
            return "stepping"
        looks = self.budgets.size
        games = 1 if self.policy.anytime else looks
        enough = self.problem.arms * (_WORTH_SKIPPING * games + _WORTH_A_LOOK * looks)
        gets_enough = pulls_of_a_run(self.policy, self.budgets) >= enough
        return "waterline" if gets_enough or not self.policy.reads_rewards else "stepping"


def pulls_of_a_run(policy: Policy, budgets: NDArray[np.int64]) -> int:
    """Return how many pulls a run makes: up to the last budget, or up to every one if the policy begins afresh."""
    return int(budgets[-1] if policy.anytime else budgets.sum())


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
        parameter_tables(chunk.policy, problem, budgets),
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


def parameter_tables(policy: Policy, problem: Problem, budgets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the policy's parameters as kernels take them: shape (G, K, number of parameters), a row an arm.

    G is 1 for an anytime policy. Any other plays a game of its own for each budget: G is their number.
    """
    games = [policy.parameters(problem, int(budget)) for budget in (budgets[-1:] if policy.anytime else budgets)]
    tables = np.empty((len(games), problem.arms, len(games[0])))
    for game, values in enumerate(games):
        for column, value in enumerate(values):
            tables[game, :, column] = value
    return tables
