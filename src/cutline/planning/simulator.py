"""Games for a plan: a policy is played on a guess, and its errors at some budgets are counted, draw by draw.

The games of a policy that learns are dear. On beliefs they are not counted: a game stands for the errors expected given
all its records, which have the same mean over games and vary much less (Blackwell: Conditional expectation and unbiased
sequential estimation, Annals of Mathematical Statistics 18, 1947).
"""

import math
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutline.memory import require_memory
from cutline.planning.beliefs import Beliefs, Guess
from cutline.policies import LearningPolicy, Policy
from cutline.problem import Problem
from cutline.progress import Progress, progress_bar
from cutline.simulation.chunks import Chunk
from cutline.simulation.deciding import called_above
from cutline.simulation.engines import play
from cutline.simulation.rewards import stream_key
from cutline.simulation.stages import refits
from cutline.simulation.workers import jobs_of, run_all

_Floats = NDArray[np.float64]

_SHORT_GAME = 20_000
_PULLS_PER_BATCH = 10_000_000
_BATCHES = 16
_PULLS_OF_A_REFIT = 1_000_000


@dataclass(frozen=True)
class Batch:
    """Games for a worker: draws ``first`` to ``first + count - 1`` of the guess, each played ``repeats`` times."""

    guess: Guess
    threshold: float
    policy: Policy
    budgets: NDArray[np.int64]
    seed: int
    stage: int
    first: int
    count: int
    repeats: int


def play_batch(batch: Batch) -> _Floats:
    """Return the mean errors of each draw at each budget, shape (count, B). A pure function of the batch."""
    key = stream_key(batch.seed, f"plan {batch.stage}")
    if isinstance(batch.guess, Problem):
        return _errors(batch, batch.guess, key, batch.first, batch.count).T.astype(np.float64)
    means = np.empty((batch.count, batch.budgets.size))
    for place in range(batch.count):
        draw = batch.first + place
        problem = batch.guess.draw(batch.threshold, batch.seed, batch.stage, draw)
        if isinstance(batch.policy, LearningPolicy):
            means[place] = _expected_errors(batch, batch.guess, problem, key, draw)
        else:
            means[place] = _errors(batch, problem, key, draw * batch.repeats, batch.repeats).mean(axis=1)
    return means


def _expected_errors(batch: Batch, beliefs: Beliefs, problem: Problem, key: int, run: int) -> _Floats:
    """Return the errors at each budget, (B,), that are expected given the records which a game comes to."""
    from scipy.special import betainc  # takes long to load, and other plans do without

    played = play(Chunk(problem, batch.policy, batch.budgets, key, run, 1))
    below = betainc(beliefs.a + played.totals, beliefs.b + (played.pulls - played.totals), batch.threshold)
    above = called_above(played.pulls, played.totals, batch.threshold, "mean")
    expected: _Floats = np.where(above, below, 1.0 - below).sum(axis=1)
    return expected


def _errors(batch: Batch, problem: Problem, key: int, first_run: int, runs: int) -> NDArray[np.int32]:
    looks = [batch.budgets] if batch.policy.anytime else np.split(batch.budgets, batch.budgets.size)
    chunks = [Chunk(problem, batch.policy, at, key, first_run, runs, by_arm=False) for at in looks]
    return np.concatenate([play(chunk).errors for chunk in chunks])


@dataclass(frozen=True)
class Simulator:
    """Plays a policy on a guess and counts its errors: the same draws and games whatever the executor."""

    guess: Guess
    threshold: float
    policy: Policy
    seed: int
    executor: Executor | int | None
    progress: Progress | bool | None

    def cost(self, budgets: NDArray[np.int64]) -> int:
        """Return the pulls of one game that looks at these budgets; a refit counts as a million."""
        pulls = int(budgets[-1] if self.policy.anytime else budgets.sum())
        return pulls + _PULLS_OF_A_REFIT * refits(self.policy, self.guess.arms, pulls)

    def repeats(self, budgets: NDArray[np.int64]) -> int:
        """Return how many games are played on each draw: several where games are so short that drawing costs more."""
        return 1 if isinstance(self.guess, Problem) else max(1, min(16, _SHORT_GAME // self.cost(budgets)))

    def play(self, budgets: NDArray[np.int64], stage: int, draws: Iterable[int]) -> _Floats:
        """Return the mean errors of each of a range of draws at each budget, shape (draws, B)."""
        numbers = list(draws)
        repeats = self.repeats(budgets)
        cost = self.cost(budgets) * repeats
        size = max(1, min(math.ceil(len(numbers) / _BATCHES), _PULLS_PER_BATCH // cost))
        batches = [
            Batch(self.guess, self.threshold, self.policy, budgets, self.seed, stage, part[0], len(part), repeats)
            for part in (numbers[place : place + size] for place in range(0, len(numbers), size))
        ]
        jobs = jobs_of(self.executor)
        require_memory(jobs * self.guess.arms * (120.0 + 16.0 * budgets.size), f"games with {self.guess.arms} arms")
        found: list[_Floats] = [np.empty(0)] * len(batches)
        with progress_bar("planning", len(numbers) * cost, self.progress) as advance:
            for position, errors in run_all(play_batch, batches, self.executor):
                found[position] = errors
                advance(batches[position].count * cost)
        return np.concatenate(found)
