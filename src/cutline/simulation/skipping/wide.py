"""One run with very many arms, split over an executor by arms: for when there are more workers than runs.

The driver keeps every arm's record. In a pass it sends slices of arms out to be raised to a level and takes their new
records back (docs/scaling.md says what that comes to in bytes). With many arms the pulls
that a level takes can be foreseen, so a pass aims just short of the budget; the last pulls are made here, one by one.
The engine's words are explained in ``cutline.simulation.skipping``.
"""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compiling, kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Chunk, ChunkResult, parameter_tables
from cutline.simulation.records import Record, Records, beginning, count_errors
from cutline.simulation.rewards import begin_run, empty_streams, reward_word, stream_of
from cutline.simulation.skipping.aiming import next_step, rise_of, worth_a_sweep
from cutline.simulation.skipping.climbing import climbing
from cutline.simulation.skipping.state import Rule, Run, swings_of
from cutline.simulation.skipping.word_cache import empty_word_cache
from cutline.simulation.tournament import empty_tree, enter

_AIM = 0.8
_MOST_MISSES = 20
_SLICES_PER_WORKER = 2
_NO_PACE = np.zeros(2)


class Arms(NamedTuple):
    """Arms first_arm .. first_arm + k - 1 of one run: means (k,), parameters (k, P), the key of the rewards' stream."""

    means: NDArray[np.float64]
    threshold: float
    parameters: NDArray[np.float64]
    key: np.uint64
    run: int
    first_arm: int


@dataclass(frozen=True)
class Slice:
    """Some arms, and a level to raise them to, each with ``limit`` more pulls at most.

    ``pulls`` and ``totals``, (k,), are their records; arms without pulls get their first if the policy begins so.
    """

    policy: type[Policy]
    arms: Arms
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    level: float
    limit: int


@dataclass(frozen=True)
class Raised:
    """Where arms stand after a pass, whether all are above the level, and how many rewards were skipped."""

    records: Records
    above: bool
    skipped: int


def raise_slice(part: Slice) -> Raised:
    """Raise the arms of a slice to its level. A pure function of the slice, wherever it runs."""
    records = Records(part.pulls.copy(), part.totals.copy(), np.empty(part.pulls.size))
    skipped = np.zeros(1, np.int64)
    with np.errstate(over="ignore"):
        above = slice_kernel(part.policy)(part.arms, part.level, part.limit, records, skipped)
    return Raised(records, bool(above), int(skipped[0]))


@made_once
def slice_kernel(policy: type[Policy]) -> Callable[..., bool]:
    """Compile the raising of a slice, whose records are changed; it returns whether all are above the level."""
    pieces = climbing(policy)
    index, climb = pieces.index_of, pieces.climb
    begin = beginning(policy)

    def raise_arms(arms: Arms, level: float, limit: int, records: Records, skipped: Any) -> bool:
        streams = empty_streams(arms.means)
        begin_run(streams, arms.key, arms.run, arms.first_arm)
        cache = empty_word_cache(arms.means.size, 1)
        rule = Rule(arms.threshold, arms.parameters, swings_of(arms.threshold))
        above = True
        for arm in range(arms.means.size):
            stream = stream_of(streams, arm)
            n, s = records.pulls[arm], records.totals[arm]
            if n == 0:
                reward = np.int64(reward_word(stream, 0) & np.uint64(1))
                record = begin(arm, reward, rule.threshold, rule.parameters)
            else:
                record = Record(n, s, index(float(n), float(s), rule.threshold, arm, rule.parameters))
            if record.value <= level:
                record = climb(arm, stream, rule, cache, record, level, record.pulls + limit, skipped)
                above = above and record.value > level
            records.pulls[arm], records.totals[arm], records.indices[arm] = record
        return above

    return kernel(raise_arms)


@made_once
def rise_kernel(policy: type[Policy]) -> Callable[..., float]:
    """Compile the first step up, to be called from here."""
    rise = rise_of(policy)

    def first_step(records: Records, threshold: float, parameters: Any) -> float:
        return rise(records.pulls, records.totals, records.indices, threshold, parameters)

    return kernel(first_step)


@made_once
def finishing_kernel(policy: type[Policy]) -> Callable[..., int]:
    """Compile the last pulls of a run, from given records, which are changed; it returns the wrong decisions."""
    finish = climbing(policy).finish

    def last_pulls(arms: Arms, left: int, records: Records, skipped: Any) -> int:
        count = arms.means.size
        run = Run(empty_streams(arms.means), empty_word_cache(count, 1), records, empty_tree(count), skipped)
        begin_run(run.streams, arms.key, arms.run, arms.first_arm)
        enter(run.tree, records.indices)
        finish(run, Rule(arms.threshold, arms.parameters, swings_of(arms.threshold)), left, left, -np.inf)
        return count_errors(arms.means, arms.threshold, records.pulls, records.totals)

    return kernel(last_pulls)


def play_wide(chunk: Chunk, pool: Executor, workers: int) -> ChunkResult:
    """Play the runs of a chunk one after the other, each split by arms over the pool; the result of ``play``."""
    shape = (chunk.budgets.size, chunk.problem.arms)
    errors = np.empty((chunk.budgets.size, chunk.runs), np.int32)
    pulls, totals = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    skipped = 0
    tables = parameter_tables(chunk.policy, chunk.problem, chunk.budgets)
    with compiling(chunk.policy):
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
        problem = chunk.problem
        self._policy = type(chunk.policy)
        means = problem.means.copy()  # not read-only, as in other processes: kernels are compiled for one type of array
        self._arms = Arms(means, problem.threshold, parameters, np.uint64(chunk.key), chunk.first_run + run, 0)
        self._pool = pool
        self._cuts = np.linspace(0, problem.arms, _SLICES_PER_WORKER * workers + 1).astype(int).tolist()
        self.pulls, self.totals = np.zeros(problem.arms, np.int64), np.zeros(problem.arms, np.int64)
        self.skipped = 0
        start = self._raised(-math.inf, 0)
        self._take(start)
        self._level = float(start.records.indices.min())
        self._step = rise_kernel(self._policy)(start.records, problem.threshold, parameters)

    def play_to(self, budget: int) -> int:
        """Pull until ``budget`` pulls are made; return the wrong decisions."""
        misses = 0
        worth = worth_a_sweep(self.pulls.size)
        while (left := budget - int(self.pulls.sum())) > worth and misses < _MOST_MISSES:
            raised = self._raised(self._level + self._step, left)
            made = int(raised.records.pulls.sum() - self.pulls.sum())
            if made > left or not raised.above:
                misses += 1
                self._step /= 4.0
                continue
            self._take(raised)
            self._level += self._step
            spent = budget - left + made
            step = next_step(self._step, made, left - made, spent, False, _NO_PACE, _AIM, self.pulls.size)
            self._step = max(step, 0.1 * self._step)  # never 0, though this budget may be reached
        skipped = np.zeros(1, np.int64)
        records = Records(self.pulls, self.totals, self._indices)
        with np.errstate(over="ignore"):
            wrong = finishing_kernel(self._policy)(self._arms, left, records, skipped)
        self.skipped += int(skipped[0])
        return int(wrong)

    def _take(self, raised: Raised) -> None:
        self.pulls, self.totals, self._indices = raised.records

    def _raised(self, level: float, limit: int) -> Raised:
        """Return all records raised to a level, slice by slice."""
        parts = [
            Slice(
                self._policy,
                self._arms._replace(
                    means=self._arms.means[first:last], parameters=self._arms.parameters[first:last], first_arm=first
                ),
                self.pulls[first:last],
                self.totals[first:last],
                level,
                limit,
            )
            for first, last in pairwise(self._cuts)
        ]
        done = list(self._pool.map(raise_slice, parts))
        self.skipped += sum(part.skipped for part in done)
        pulls, totals, indices = (
            np.concatenate(column) for column in zip(*(part.records for part in done), strict=True)
        )
        return Raised(Records(pulls, totals, indices), all(part.above for part in done), 0)
