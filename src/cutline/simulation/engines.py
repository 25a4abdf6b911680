"""Which engine plays a chunk, and playing it. All engines give the same result, bit for bit; they differ in speed.

A new engine is a function from a chunk to its result and an entry in ``ENGINES``; ``engines_for`` says what it can
play, ``choose`` when it is the fastest.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cutline.policies.policy import LearningPolicy
from cutline.simulation.chunks import Chunk, ChunkResult, no_outcome, play_on, pulls_of_a_run
from cutline.simulation.deciding import called_above
from cutline.simulation.skipping.waterline import waterline_kernel
from cutline.simulation.stages import play_stages
from cutline.simulation.stepping import stage_kernel, stepping_kernel

_WORTH_SKIPPING = 20
_WORTH_A_LOOK = 20
_WORTH_SPLITTING = 20_000
_WORTH_A_TABLE = 300_000  # pulls of a game, over all runs
_FEW_ARMS = 100
_VERY_MANY_ARMS = 50_000
_SHORT_RECORDS = 50  # pulls an arm
_SHORT_BLIND_RECORDS = 10


def _stepping(chunk: Chunk) -> ChunkResult:
    if isinstance(chunk.policy, LearningPolicy):
        return play_stages(stage_kernel(type(chunk.policy)), chunk)
    return play_on(stepping_kernel(type(chunk.policy)), chunk)


def _waterline(chunk: Chunk) -> ChunkResult:
    return play_on(waterline_kernel(type(chunk.policy)), chunk)


def _ranking(chunk: Chunk) -> ChunkResult:
    """Play a chunk by rank; from a run on that has a record too long for a table, on another engine."""
    from cutline.simulation.ranking.by_rank import play_by_rank

    first = play_by_rank(chunk)
    played = first.errors.shape[1]
    if played == chunk.runs:
        return first
    rest = replace(chunk, first_run=chunk.first_run + played, runs=chunk.runs - played)
    last = ENGINES[_choose_other(rest).engine](rest)
    errors = np.concatenate([first.errors, last.errors], axis=1)
    if not chunk.by_arm:
        return ChunkResult(errors, first.pulls, first.totals, last.skipped)
    return ChunkResult(errors, first.pulls + last.pulls, first.totals + last.totals, last.skipped)


ENGINES: dict[str, Callable[[Chunk], ChunkResult]] = {
    "stepping": _stepping,
    "waterline": _waterline,
    "ranking": _ranking,
}
"""Each engine by the name that ``RegretCurves.engines`` gives."""


def engines_for(chunk: Chunk) -> list[str]:
    """Return the names of the engines that can play a chunk, the stepping engine, which is the definition, first."""
    from cutline.simulation.ranking.by_rank import can_play

    can = {"stepping": True, "waterline": chunk.policy.ceiling is not None, "ranking": can_play(chunk)}
    return [engine for engine in ENGINES if can[engine]]


class Choice(NamedTuple):
    """The engine for a chunk, and whether each of its runs is split over the workers by arms."""

    engine: str
    by_arms: bool


def choose(chunk: Chunk, more_workers_than_runs: bool = False) -> Choice:
    """Choose the engine for a chunk: by rank where many arms get few pulls each, and as ``_choose_other`` elsewhere.

    Tables are for the policies that can use them, where there are pulls enough to be worth making them. To skip ahead
    without a look at the rewards is faster still, with one look and not too many arms.
    """
    arms, looks = chunk.problem.arms, chunk.budgets.size
    blind = not chunk.policy.reads_rewards and looks == 1 and arms < _VERY_MANY_ARMS
    longest = _SHORT_BLIND_RECORDS if blind else _SHORT_RECORDS
    few_pulls = arms >= _FEW_ARMS and chunk.budgets[-1] <= longest * arms
    pulls_of_a_game = chunk.total_pulls // (1 if chunk.policy.anytime else looks)
    if few_pulls and pulls_of_a_game >= _WORTH_A_TABLE:
        from cutline.simulation.ranking.by_rank import can_play, fits  # a tenth of what a first simulation loads

        if can_play(chunk) and fits(chunk):
            return Choice("ranking", False)
    return _choose_other(chunk, more_workers_than_runs)


def _choose_other(chunk: Chunk, more_workers_than_runs: bool = False) -> Choice:
    """Choose between the engines that need no table: skip ahead where the policy can and there is enough to skip.

    Below some 20 pulls an arm, and 20 more for each look, there is nothing to gain, except from a policy that reads no
    rewards. Where workers would be idle, runs with very many arms are split by arms.
    """
    if chunk.policy.ceiling is None:
        return Choice("stepping", False)
    arms, looks = chunk.problem.arms, chunk.budgets.size
    games = 1 if chunk.policy.anytime else looks
    enough = arms * (_WORTH_SKIPPING * games + _WORTH_A_LOOK * looks)
    if chunk.policy.reads_rewards and pulls_of_a_run(chunk.policy, chunk.budgets) < enough:
        return Choice("stepping", False)
    split = more_workers_than_runs and arms >= _WORTH_SPLITTING and chunk.decide == "mean"
    return Choice("waterline", split)


def play(chunk: Chunk, engine: str | None = None) -> ChunkResult:
    """Play a chunk, on the engine chosen for it or the one named. A pure function of the chunk, wherever it runs."""
    play_chunk = ENGINES[engine or choose(chunk).engine]
    return play_chunk(chunk) if chunk.decide == "mean" else _decided(play_chunk, chunk)


def _decided(play_chunk: Callable[[Chunk], ChunkResult], chunk: Chunk) -> ChunkResult:
    """Play a chunk run by run, and count its errors by another rule than engines do."""
    problem = chunk.problem
    outcome, skipped = no_outcome(chunk.budgets.size, problem.arms, chunk.runs), 0
    for run in range(chunk.runs):
        played = play_chunk(replace(chunk, first_run=chunk.first_run + run, runs=1, by_arm=True))
        for look, records in enumerate(zip(played.pulls, played.totals, strict=True)):
            above = called_above(*records, problem.threshold, chunk.decide)
            outcome.errors[look, run] = np.count_nonzero(above != problem.truth)
        outcome.pulls[:] += played.pulls
        outcome.totals[:] += played.totals
        skipped += played.skipped
    return ChunkResult(outcome.errors, outcome.pulls, outcome.totals, skipped)
