"""A chunk of work for an engine, what comes of it, and both as kernels see them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compiling
from cutline.policies.policy import Policy
from cutline.problem import Problem


@dataclass(frozen=True)
class Chunk:
    """Some runs of one policy, budgets (B,) increasing: all that a worker needs, and small enough to send.

    A policy that is not anytime plays a game for each budget, on the same rewards. ``decide``: see ``deciding``.
    ``by_arm``: whether the result is to have the pulls and totals of each arm; an engine may leave them out if not.
    """

    problem: Problem
    policy: Policy
    budgets: NDArray[np.int64]
    key: int
    first_run: int
    runs: int
    decide: str = "mean"
    by_arm: bool = True

    @property
    def total_pulls(self) -> int:
        """Pulls in all its runs."""
        return pulls_of_a_run(self.policy, self.budgets) * self.runs


def pulls_of_a_run(policy: Policy, budgets: NDArray[np.int64]) -> int:
    """Return how many pulls a run makes: up to the last budget, or up to every one if the policy begins afresh."""
    return int(budgets[-1] if policy.anytime else budgets.sum())


@dataclass(frozen=True)
class ChunkResult:
    """What came of a chunk: errors (B, runs), and pulls and totals (B, K), summed over its runs.

    The latter are (B, 0) where they were not asked for and left out. ``skipped`` is how many rewards the skip-ahead
    engine passed over in blocks.
    """

    errors: NDArray[np.int32]
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    skipped: int


class Games(NamedTuple):
    """A chunk as kernels take it: means (K,), parameters (G, K, P), budgets (B,), the key of the rewards' stream.

    Where G is more than 1 it is B, and a run begins afresh after every budget, with the parameters for the next.
    """

    means: NDArray[np.float64]
    threshold: float
    parameters: NDArray[np.float64]
    key: np.uint64
    first_run: int
    budgets: NDArray[np.int64]


class Outcome(NamedTuple):
    """What kernels fill: errors (B, runs); pulls and totals (B, K) and rewards skipped (1,), to which they add."""

    errors: NDArray[np.int32]
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    skipped: NDArray[np.int64]


Kernel = Callable[[Games, Outcome], None]


def play_on(kernel: Kernel, chunk: Chunk) -> ChunkResult:
    """Let a policy's kernel play a chunk."""
    problem, budgets = chunk.problem, chunk.budgets
    tables = parameter_tables(chunk.policy, problem, budgets)
    games = Games(problem.means, problem.threshold, tables, np.uint64(chunk.key), chunk.first_run, budgets)
    outcome = no_outcome(budgets.size, problem.arms, chunk.runs)
    with (
        compiling(chunk.policy),
        np.errstate(over="ignore"),
    ):  # 64-bit words wrap around; numpy warns of it where kernels run uncompiled
        kernel(games, outcome)
    return ChunkResult(outcome.errors, outcome.pulls, outcome.totals, int(outcome.skipped[0]))


def no_outcome(looks: int, arms: int, runs: int) -> Outcome:
    """Return an outcome with nothing in it yet."""
    pulls, totals = np.zeros((looks, arms), np.int64), np.zeros((looks, arms), np.int64)
    return Outcome(np.empty((looks, runs), np.int32), pulls, totals, np.zeros(1, np.int64))


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
