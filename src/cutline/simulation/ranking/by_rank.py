"""The engine by rank: plays the runs of a chunk by look-ups in a table of ranks, all budgets of a run at once."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import kernel
from cutline.policies.policy import LearningPolicy
from cutline.simulation.chunks import Chunk, ChunkResult, Games, Outcome, no_outcome
from cutline.simulation.ranking.leaps import Window, leaps_to
from cutline.simulation.ranking.looks import play_looks
from cutline.simulation.ranking.narrowing import narrowed, spread_of, sums_of_ranks
from cutline.simulation.ranking.pilot import take_aim
from cutline.simulation.ranking.standing import play_looks_by_arm
from cutline.simulation.ranking.stopping import NO_RANK, find_stop, share_out
from cutline.simulation.ranking.strides import STRIDE
from cutline.simulation.ranking.sums import MOST_OF_A_SUM, take_down
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.ranking.walking import empty_log, empty_tile, survey

_ATTEMPTS = 4
_NARROWED = (1, 4, 16, 64)  # runs after which windows are made narrower
_ROOM = 2  # times the pulls of a run can be logged
_WORTH_A_LOG = 1 << 19  # pulls of a run
_NUMBERS_OF_A_LOG = 1 << 18  # arms times looks
_SLOTS_OF_A_LOG = 1 << 16  # and no more arms
_NO_PARAMETERS = np.empty((1, 1, 1))  # a table has been computed with them


@kernel
def _play_runs(games: Games, ranks: Ranks, window: Window, outcome: Outcome) -> int:
    """Play runs with one look; return how many were played before one that the table cannot hold."""
    arms, budget = games.means.size, games.budgets[0]
    log, tile = empty_log(arms, ranks, _ROOM * budget + ranks.rows.size), empty_tile(arms)
    come_to = np.zeros((1, arms), np.uint32)
    leaps = leaps_to(ranks, window)
    sums = np.zeros(ranks.above)
    low, high = window
    run = 0
    while run < outcome.errors.shape[1]:
        seen = survey(games, run, ranks, leaps, log, tile)
        if seen.full or seen.open_from <= leaps.window.high:
            break
        stop = find_stop(budget, leaps.window, seen.below, log.made)
        if seen.below > budget:
            low = max(-1, 2 * low - high - 1)
        elif stop.rank != NO_RANK:
            outcome.errors[0, run] = share_out(games, log, seen, stop, come_to[0])
            run += 1
            sums_of_ranks(leaps.window, seen, log.made, sums)
            if run in _NARROWED:
                window = narrowed(window, sums, run, spread_of(seen, arms), budget)
            if run % (MOST_OF_A_SUM // ranks.rows.size) == 0:
                take_down(come_to, outcome)
            low, high = window
        elif high < ranks.above - 1:
            high = min(ranks.above - 1, 2 * high - low + 1)
        else:
            break
        if low != leaps.window.low or high != leaps.window.high:
            leaps = leaps_to(ranks, Window(low, high))
    take_down(come_to, outcome)
    return run


def can_play(chunk: Chunk) -> bool:
    """Say whether the parameters of a game are the same for all arms and pulls, so that one table is enough for it."""
    if isinstance(chunk.policy, LearningPolicy):
        return False
    return all(np.ndim(value) == 0 for value in chunk.policy.parameters(chunk.problem, int(chunk.budgets[-1])))


def fits(chunk: Chunk) -> bool:
    """Say whether a sample of the arms finds tables that hold all records; for chunks that can be played."""
    return all(take_aim(chunk, chunk.budgets[looks]) is not None for looks in _games(chunk))


def play_by_rank(chunk: Chunk) -> ChunkResult:
    """Play the first runs of a chunk, up to one with a record that is too long for a table: all of them, as a rule.

    ``errors`` has as many columns as runs were played. A policy that begins afresh has played all games of a run or
    none.
    """
    outcome = no_outcome(chunk.budgets.size, chunk.problem.arms, chunk.runs)
    played = chunk.runs if can_play(chunk) else 0
    for looks in _games(chunk) if played else []:
        part = Outcome(outcome.errors[looks], outcome.pulls[looks], outcome.totals[looks], outcome.skipped)
        played = min(played, _play_game(chunk, chunk.budgets[looks], part))
    if played < chunk.runs and not chunk.policy.anytime:
        return play_by_rank(replace(chunk, runs=0))
    arms = chunk.problem.arms if chunk.by_arm else 0
    return ChunkResult(outcome.errors[:, :played], outcome.pulls[:, :arms], outcome.totals[:, :arms], 0)


def _play_game(chunk: Chunk, budgets: NDArray[np.int64], outcome: Outcome) -> int:
    """Play a game, with larger tables from a run on that needs one; return how many runs were played."""
    means, threshold, key = chunk.problem.means, chunk.problem.threshold, np.uint64(chunk.key)
    played = 0
    for farther in range(_ATTEMPTS):
        aim = take_aim(chunk, budgets, farther)
        if aim is None:
            break
        games = Games(means, threshold, _NO_PARAMETERS, key, chunk.first_run + played, budgets)
        errors = np.empty((budgets.size, chunk.runs - played), np.int32)
        with np.errstate(over="ignore"):  # as in play_on
            part = outcome._replace(errors=errors)
            if budgets.size == 1:
                more = _play_runs(games, *aim, part)
            elif chunk.by_arm:
                more = play_looks_by_arm(games, aim.ranks, aim.window.high, part)
            else:
                more = play_looks(games, aim.ranks, aim.window.high, _room(games, aim.ranks), part)
        outcome.errors[:, played : played + more] = errors[:, :more]
        played += more
        if played == chunk.runs:
            break
    return played


def _room(games: Games, ranks: Ranks) -> int:
    """Return room for the strides of a run with many looks, 0 if they are not to be logged."""
    arms, budget = games.means.size, int(games.budgets[-1])
    is_small = budget <= _WORTH_A_LOG and arms * games.budgets.size <= _NUMBERS_OF_A_LOG
    if not is_small or max(arms, 4 * (ranks.above + 3)) > _SLOTS_OF_A_LOG:
        return 0
    return _ROOM * (budget // STRIDE + STRIDE * arms)


def _games(chunk: Chunk) -> list[slice]:
    """Return the looks of each game: all of them, or one each for a policy that begins afresh."""
    looks = chunk.budgets.size
    return [slice(0, looks)] if chunk.policy.anytime else [slice(look, look + 1) for look in range(looks)]
