"""The stop: which of the pulls that a survey has logged are made before the look, and where the arms are then."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.leaps import Window, gain_of, is_called_above
from cutline.simulation.ranking.walking import Log, Survey

NO_RANK = -1


class Stop(NamedTuple):
    """The rank at which the budget is reached, and how many pulls at that very rank are still made."""

    rank: int
    left: int


@jit_in_place
def find_stop(budget: int, window: Window, below: int, made: NDArray[np.int64]) -> Stop:
    """Find the stop; its rank is NO_RANK if it is not inside the window."""
    so_far = below
    for rank in range(window.low + 1, window.high + 1):
        if budget <= so_far + made[rank]:
            return Stop(rank, budget - so_far)
        so_far += made[rank]
    return Stop(NO_RANK, 0)


@jit_in_place
def share_out(games: Games, log: Log, survey: Survey, stop: Stop, sums: NDArray[np.uint32]) -> Any:
    """Add what the arms have come to at the stop to ``sums`` (K,); return how many are called wrongly."""
    wrong: Any = 0
    for arm in range(games.means.size):
        kept = log.records[arm]
        sums[arm] += np.uint32(gain_of(kept))
        wrong += is_called_above(kept) != np.int64(games.means[arm] >= games.threshold)
    left: Any = np.int64(stop.left)
    at = np.int64(-1)
    for j in range(survey.logged):
        pull = np.int64(log.pulls[j])
        at += pull & 1
        rank = pull >> 4
        is_tied = np.int64(rank == stop.rank)
        is_made = np.int64(rank < stop.rank) | (is_tied & np.int64(left > 0))
        left -= is_tied
        sums[np.uint64(log.arms[np.uint64(at)])] += np.uint32(is_made * (65536 + ((pull >> 1) & 1)))
        wrong += is_made * (((pull >> 2) & 3) - 1)
    return wrong
