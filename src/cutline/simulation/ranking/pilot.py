"""The pilot: some arms are walked to see how deep a table must be, and between which ranks the budgets are reached.

A table for arms that never stop has too many records to be of use, and which level the arms come to is not known before
they are walked. So a pilot walks a sample of arms to the edge of a table that is too shallow. The level at which their
pulls add up to the budget's share is then too high if it is wrong, and a table up to that level can be twice as deep.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import kernel
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Chunk, Games
from cutline.simulation.ranking.leaps import Window, leaps_to
from cutline.simulation.ranking.table import Ranks, index_table, rank
from cutline.simulation.ranking.walking import empty_log, empty_tile, survey

_SHALLOWEST = 8
_DEEPEST = 2048
_DEEPER = 8  # times the sample's depth is enough for all arms, or the arms are so different that no table is
_SAMPLE = 4096
_LEAST = 32
_SHARE = 16  # one walk in so many is the pilot's
_KEPT_AIMS = 64
_CERTAINTY = 3.0  # standard deviations
_WIDEST = 0.5  # of a budget
_FARTHER = 1.5  # times as many pulls, where a table turned out too small


class Aim(NamedTuple):
    """A table that should hold all records that the runs of a game come to, its ranks, and the window to begin with."""

    ranks: Ranks
    window: Window


@kernel
def _walk_sample(games: Games, ranks: Ranks, runs: int, counted: NDArray[np.int64]) -> int:
    """Walk all arms of some runs through a whole table; add the pulls at each rank; return where arms stop at the edge.

    That is the least rank at which an arm comes to the edge, one that no record has if none does.
    """
    arms = games.means.size
    log, tile = empty_log(arms, ranks, arms * ranks.rows.size), empty_tile(arms)
    leaps = leaps_to(ranks, Window(-1, ranks.above - 1))
    open_from = ranks.above + 1
    for run in range(runs):
        open_from = min(open_from, survey(games, run, ranks, leaps, log, tile).open_from)
        counted += log.made
    return open_from


class Game(NamedTuple):
    """All that a pilot depends on; ``budgets``, and the means of the arms in the ``sample``, are written as bytes.

    ``runs``: how often the sample is walked. ``farther``: how often tables turned out too small.
    """

    policy: Policy
    threshold: float
    parameters: tuple[float, ...]
    arms: int
    budgets: bytes
    sample: bytes
    runs: int
    farther: int


def take_aim(chunk: Chunk, budgets: NDArray[np.int64], farther: int = 0) -> Aim | None:
    """Return what a chunk's game to these budgets needs; None if it has records that are too long for a table.

    The parameters of the policy must be numbers. ``farther``: how often what was returned turned out too small. What
    was found is kept for those who ask next.
    """
    problem = chunk.problem
    walks = min(_SAMPLE, _LEAST + problem.arms * chunk.runs // _SHARE)
    sample = problem.means[:: max(1, problem.arms // walks)]
    parameters = tuple(float(value) for value in chunk.policy.parameters(problem, int(budgets[-1])))
    of_arms = (problem.arms, budgets.tobytes(), sample.tobytes(), max(1, walks // sample.size), farther)
    return _pilot(Game(chunk.policy, problem.threshold, parameters, *of_arms))


@lru_cache(maxsize=_KEPT_AIMS)
def _pilot(game: Game) -> Aim | None:
    policy, threshold, parameters, arms = game.policy, game.threshold, game.parameters, game.arms
    sample, budgets = np.frombuffer(game.sample), np.frombuffer(game.budgets, np.int64)
    runs = game.runs
    games = Games(sample, threshold, np.empty((1, 1, 1)), np.uint64(0), 0, budgets)
    error = min(_WIDEST, _CERTAINTY * math.sqrt(1.0 / (sample.size * runs) + 1.0 / arms))
    first = int(policy.pulls_each_arm_first)
    a_pull = sample.size * runs / arms  # how many pulls of the sample a pull stands for
    needed = a_pull * (budgets[-1] * (1.0 + error) * _FARTHER**game.farther - first * arms)
    level, depth = math.inf, _SHALLOWEST
    while depth < 2 * budgets[-1] // arms and depth < _DEEPEST:
        depth *= 2
    while depth <= min(_DEEPEST, 4 * _FARTHER**game.farther * budgets[-1]):  # no arm has more pulls than there are
        ranks, values = rank(index_table(policy, threshold, parameters, depth, level), threshold)
        counted = np.zeros(ranks.above, np.int64)
        with np.errstate(over="ignore"):  # as in play_on
            open_from = _walk_sample(games, ranks, runs, counted)
        sums = np.cumsum(counted)
        high = int(np.searchsorted(sums, needed))
        if high < open_from and high < ranks.above:
            low = int(np.searchsorted(sums, a_pull * (budgets[0] * (1.0 - error) - first * arms))) - 1
            farther = int(np.searchsorted(sums, needed * (1.0 + error)))
            farther = min(max(farther, high + 1), ranks.above - 1)
            deepest = min(_DEEPER * depth, _DEEPEST)
            ranks, different = rank(
                index_table(policy, threshold, parameters, deepest, float(values[farther])), threshold
            )
            at = np.searchsorted(different, values[[max(low, 0), high]])
            return Aim(ranks, Window(int(at[0]) if low >= 0 else -1, int(at[1])))
        level = float(values[min(high, ranks.above - 1)])
        depth *= 2
    return None
