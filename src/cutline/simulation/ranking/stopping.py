"""Stops: at which of its pulls a run comes to each look, and what the arms have come to by then.

Looks are told apart by the pulls that are made between them: what arms come to from one to the next is added up over
runs (``Gains``), and sums over looks are made only where a chunk ends. So an arm that is not pulled between two looks
costs nothing there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place
from cutline.simulation.chunks import Games, Outcome
from cutline.simulation.ranking.leaps import Window, gain_of, is_called_above
from cutline.simulation.ranking.walking import Log, Survey

_HALF = np.uint32(16)
_LOWER = np.uint32((1 << 16) - 1)
_NEVER = 1 << 62
_BLOCK = 64  # arms whose sums are made side by side

MOST_OF_A_GAIN = (1 << 16) - 1
"""No arm may come to more pulls than that before ``take_down``."""


class Stops(NamedTuple):
    """For each rank, (R,): the look to which its next pull belongs, and after how many more pulls that is the next."""

    look: NDArray[np.int64]
    left: NDArray[np.int64]


class Gains(NamedTuple):
    """Pulls, in the upper half, and totals of each arm from look to look, summed over runs, (K, B + 1), and errors.

    ``errors``, (B + 1,): how many more there are than at the look before, in one run. What is beyond the last look
    counts for nothing.
    """

    sums: NDArray[np.uint32]
    errors: NDArray[np.int64]


@jit
def empty_stops(ranks: int) -> Stops:
    """Return space for the stops in a table of so many ranks."""
    return Stops(np.empty(ranks, np.int64), np.empty(ranks, np.int64))


@jit
def no_gains(arms: int, looks: int) -> Gains:
    """Return gains of nothing."""
    return Gains(np.zeros((arms, looks + 1), np.uint32), np.zeros(looks + 1, np.int64))


@jit_in_place
def find_stops(games: Games, window: Window, below: int, made: NDArray[np.int64], stops: Stops) -> bool:
    """Find the ranks at which the budgets are reached; say whether all are inside the window."""
    budgets = games.budgets
    look = 0
    so_far = below
    for rank in range(window.low + 1, window.high + 1):
        while look < budgets.size and budgets[look] <= so_far:
            look += 1
        stops.look[rank] = look
        stops.left[rank] = budgets[look] - so_far if look < budgets.size else _NEVER
        so_far += made[rank]
    return bool(so_far >= budgets[-1])


@jit_in_place
def share_out(games: Games, log: Log, survey: Survey, stops: Stops, gains: Gains) -> None:
    """Give every pull that a survey has logged to the look before which it is made."""
    gains.errors[:] = 0
    for arm in range(games.means.size):
        kept = log.records[arm]
        gains.sums[arm, 0] += np.uint32(gain_of(kept))
        gains.errors[0] += is_called_above(kept) != np.int64(games.means[arm] >= games.threshold)
    budgets = games.budgets
    at = np.int64(-1)
    for j in range(survey.logged):
        pull = np.int64(log.pulls[j])
        at += pull & 1
        one = np.uint64(log.arms[at])
        rank = np.uint64(pull >> 4)
        look = np.uint64(stops.look[rank])
        left = stops.left[rank] - 1
        stops.left[rank] = left
        gains.sums[one, look] += np.uint32(65536 + ((pull >> 1) & 1))
        gains.errors[look] += ((pull >> 2) & 3) - 1
        if left == 0:
            after = np.int64(look) + 1
            stops.look[rank] = after
            stops.left[rank] = budgets[after] - budgets[after - 1] if after < budgets.size else _NEVER


@jit_in_place
def take_down_errors(run: int, gains: Gains, outcome: Outcome) -> None:
    """Write down the errors of a run at each look."""
    wrong = 0
    for look in range(gains.errors.size - 1):
        wrong += gains.errors[look]
        outcome.errors[look, run] = wrong


@jit
def take_down(gains: Gains, outcome: Outcome) -> None:
    """Add what arms have come to at each look, and begin the sums anew."""
    looks, arms = outcome.pulls.shape
    pulls, totals = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64)
    for begin in range(0, arms, _BLOCK):
        count = min(_BLOCK, arms - begin)
        pulls[:] = 0
        totals[:] = 0
        for look in range(looks):
            for i in range(count):
                gained = gains.sums[begin + i, look]
                pulls[i] += np.int64(gained >> _HALF)
                totals[i] += np.int64(gained & _LOWER)
                outcome.pulls[look, begin + i] += pulls[i]
                outcome.totals[look, begin + i] += totals[i]
    gains.sums[:] = 0
