"""One run with very many arms, split over an executor by arms: for when there are more workers than runs.

The driver keeps every arm's record. In a pass it sends slices of arms out to be raised to a level and takes their new
records back (docs/scaling.md says what that comes to in bytes). With many arms the pulls
that a level takes can be foreseen, so a pass aims just short of the budget; the last pulls are made here, one by one.
"""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Chunk, ChunkResult, parameter_tables
from cutline.simulation.rewards import arm_increment, arm_state, reward_word
from cutline.simulation.skipping.aiming import next_step, rise_of, worth_a_sweep
from cutline.simulation.skipping.climbing import climbing, empty_shelf, swings_of
from cutline.simulation.stepping import count_errors
from cutline.simulation.tournament import empty_tree

_AIM = 0.8
_SLICES_PER_WORKER = 2
_NO_PACE = np.zeros(2)


@dataclass(frozen=True)
class Slice:
    """Arms first_arm .. first_arm + k - 1 of one run: means (k,), parameters (k, P), and a level to raise them to.

    ``pulls`` and ``totals``, (k,), are their records; arms without pulls get their first if the policy begins so.
    """

    policy: type[Policy]
    means: NDArray[np.float64]
    threshold: float
    parameters: NDArray[np.float64]
    key: int
    run: int
    first_arm: int
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    level: float
    limit: int


@dataclass(frozen=True)
class Raised:
    """Where the arms of a slice stand at the level: pulls, totals and indices (k,), and rewards skipped."""

    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    indices: NDArray[np.float64]
    skipped: int


def raise_slice(part: Slice) -> Raised:
    """Raise the arms of a slice to its level. A pure function of the slice, wherever it runs."""
    pulls, totals, skipped = part.pulls.copy(), part.totals.copy(), np.zeros(1, np.int64)
    indices = np.empty(part.means.size)
    with np.errstate(over="ignore"):
        slice_kernel(part.policy)(
            (part.means, part.threshold, part.parameters),
            (np.uint64(part.key), part.run, part.first_arm),
            part.level,
            part.limit,
            (pulls, totals, indices),
            skipped,
        )
    return Raised(pulls, totals, indices, int(skipped[0]))


@made_once
def slice_kernel(policy: type[Policy]) -> Callable[..., None]:
    """Compile the raising of a slice: problem, place in the reward table, level, limit, records (changed)."""
    index, climb, _, _ = climbing(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first

    def raise_arms(problem: Any, place: Any, level: float, limit: int, records: Any, skipped: Any) -> None:
        means, threshold, parameters = problem
        key, run, first_arm = place
        pulls, totals, indices = records
        setting = (threshold, parameters, swings_of(threshold))
        shelf = empty_shelf(means.size, 1)
        for arm in range(means.size):
            state = arm_state(key, run, first_arm + arm)
            increment = arm_increment(state)
            if pulls_each_arm_first and pulls[arm] == 0:
                pulls[arm] = 1
                totals[arm] = np.int64(reward_word(state, increment, means[arm], 0) & np.uint64(1))
            value = index(float(pulls[arm]), float(totals[arm]), threshold, arm, parameters)
            if value <= level:
                source = (state, increment, means[arm])
                end = pulls[arm] + limit
                pulls[arm], totals[arm], value = climb(
                    arm, source, setting, shelf, pulls[arm], totals[arm], level, end, skipped
                )
                if value <= level:
                    pulls[arm] += 1  # so that it is seen to take more than ``limit``
            indices[arm] = value

    return kernel(raise_arms)


@made_once
def rise_kernel(policy: type[Policy]) -> Callable[..., float]:
    """Compile the first step up, to be called from here."""
    rise = rise_of(policy)

    def first_step(pulls: Any, totals: Any, values: Any, threshold: float, parameters: Any) -> float:
        return rise(pulls, totals, values, threshold, parameters)

    return kernel(first_step)


@made_once
def finishing_kernel(policy: type[Policy]) -> Callable[..., int]:
    """Compile the last pulls of a run from given records, which are changed in place."""
    _, _, place, finish = climbing(policy)

    def last_pulls(problem: Any, key: np.uint64, run: int, left: int, records: Any, skipped: Any) -> int:
        means, threshold, parameters = problem
        arms = means.size
        states = np.empty(arms, np.uint64)
        increments = np.empty(arms, np.uint64)
        for arm in range(arms):
            states[arm] = arm_state(key, run, arm)
            increments[arm] = arm_increment(states[arm])
        shelf = empty_shelf(arms, 1)
        tree = empty_tree(arms)
        place(records, tree)
        setting = (threshold, parameters, swings_of(threshold))
        finish(means, setting, (states, increments), shelf, records, tree, left, left, -np.inf, skipped)
        return count_errors(means, threshold, records[0], records[1])

    return kernel(last_pulls)


def play_wide(chunk: Chunk, pool: Executor, workers: int) -> ChunkResult:
    """Play the runs of a chunk one after the other, each split by arms over the pool; the result of ``play``."""
    shape = (chunk.budgets.size, chunk.problem.arms)
    errors = np.empty((chunk.budgets.size, chunk.runs), np.int32)
    pulls, totals = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    skipped = 0
    tables = parameter_tables(chunk.policy, chunk.problem, chunk.budgets)
    for run in range(chunk.runs):
        for look, budget in enumerate(chunk.budgets):
            if look < len(tables):
                game = _Game(chunk, run, tables[look], pool, workers)
            errors[look, run] = game.play_to(int(budget))
            pulls[look] += game.pulls
            totals[look] += game.totals
            skipped += game.skipped
            game.skipped = 0
    return ChunkResult(errors, pulls, totals, skipped)


class _Game:
    """The records of one run: pulls and totals, shape (K,)."""

    def __init__(self, chunk: Chunk, run: int, parameters: NDArray[np.float64], pool: Executor, workers: int) -> None:
        arms = chunk.problem.arms
        self._chunk, self._run, self._pool = chunk, chunk.first_run + run, pool
        self._parameters = parameters
        self._cuts = np.linspace(0, arms, _SLICES_PER_WORKER * workers + 1).astype(int)
        self._worth = worth_a_sweep(arms)
        self.pulls, self.totals = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
        self.skipped = 0
        start = self._raised(-math.inf, 0)
        self.pulls, self.totals, self.indices = start.pulls, start.totals, start.indices
        self._level = float(start.indices.min())
        threshold = chunk.problem.threshold
        rise = rise_kernel(type(chunk.policy))
        self._step = rise(self.pulls, self.totals, self.indices, threshold, self._parameters)

    def play_to(self, budget: int) -> int:
        """Pull until ``budget`` pulls are made; return the wrong decisions."""
        misses = 0
        while (left := budget - int(self.pulls.sum())) > self._worth and misses < 20:
            raised = self._raised(self._level + self._step, left)
            made = int(raised.pulls.sum() - self.pulls.sum())
            if made > left:
                misses += 1
                self._step /= 4.0
                continue
            self.pulls, self.totals, self.indices = raised.pulls, raised.totals, raised.indices
            self._level += self._step
            spent = budget - left + made
            step = next_step(self._step, made, left - made, spent, False, _NO_PACE, _AIM, self.pulls.size)
            self._step = max(step, 0.1 * self._step)  # never 0, though this budget may be reached
        problem = (self._chunk.problem.means, self._chunk.problem.threshold, self._parameters)
        skipped = np.zeros(1, np.int64)
        with np.errstate(over="ignore"):
            wrong = finishing_kernel(type(self._chunk.policy))(
                problem, np.uint64(self._chunk.key), self._run, left, (self.pulls, self.totals, self.indices), skipped
            )
        self.skipped += int(skipped[0])
        return int(wrong)

    def _raised(self, level: float, limit: int) -> Raised:
        chunk = self._chunk
        parts = [
            Slice(
                type(chunk.policy),
                chunk.problem.means[first:last],
                chunk.problem.threshold,
                self._parameters[first:last],
                chunk.key,
                self._run,
                int(first),
                self.pulls[first:last],
                self.totals[first:last],
                level,
                limit,
            )
            for first, last in zip(self._cuts, self._cuts[1:], strict=False)
        ]
        done = list(self._pool.map(raise_slice, parts))
        self.skipped += sum(part.skipped for part in done)
        return Raised(
            np.concatenate([part.pulls for part in done]),
            np.concatenate([part.totals for part in done]),
            np.concatenate([part.indices for part in done]),
            0,
        )
