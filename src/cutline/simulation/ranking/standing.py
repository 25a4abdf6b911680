"""What arms have come to at each look of a run with many looks: a second walk, once the levels are known.

It is worked out for a tile of arms at a time: the later of two records has more pulls, and is the larger number, so the
largest number in this class and those before is where an arm stands when it leaves it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, kernel
from cutline.simulation.chunks import Games, Outcome
from cutline.simulation.ranking.looks import Desk, empty_desk, levels_of_run, tile_from
from cutline.simulation.ranking.strides import TILE, Marks, empty_marks, mark_classes, stand, word_of
from cutline.simulation.ranking.sums import MOST_OF_A_SUM, take_down
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.rewards import BLOCK

_CALLED = np.uint32(15)
_TOTAL = np.uint32((1 << 15) - 1)
_HALF = np.uint32(16)
_GAIN = np.uint32((1 << 32) - 1) ^ (np.uint32(1) << _CALLED)


class Stands(NamedTuple):
    """Where a tile's arms stand ``after`` each class, (C, tile), which ``marks`` tell.

    ``sums``, (B, K): pulls, in the upper half, and totals at each look, over runs; ``errors``, (B,), of one run.
    """

    after: NDArray[np.uint32]
    marks: Marks
    sums: NDArray[np.uint32]
    errors: NDArray[np.int64]


@jit
def _empty_stands(games: Games, ranks: Ranks) -> Stands:
    arms, looks = games.means.size, games.budgets.size
    return Stands(
        np.empty((2 * looks + 1, min(TILE, arms)), np.uint32),
        empty_marks(ranks),
        np.zeros((looks, arms), np.uint32),
        np.empty(looks, np.int64),
    )


@jit_in_place
def _share_out(games: Games, run: Any, ranks: Ranks, levels: Any, desk: Desk, stands: Stands) -> None:
    """Add up where all arms are at each look, and put down the errors of the run."""
    stands.errors[:] = 0
    marks = mark_classes(ranks, desk.levels.classes, stands.marks)
    for first_arm in range(0, desk.words.size, TILE):
        tile = tile_from(games, first_arm, desk)
        stand(games, run, first_arm, tile, marks, 2 * levels, stands.after)
        _look(games, run, first_arm, tile.words.size, ranks, desk, stands)


@jit_in_place
def _look(games: Games, run: Any, first_arm: Any, arms: Any, ranks: Ranks, desk: Desk, stands: Stands) -> None:
    """Add up where a tile's arms are at each look, given where they stand after each class."""
    number, left = desk.levels.number, desk.levels.left
    truth = desk.truth[:arms]
    level: Any = np.int64(-1)
    tied: Any = np.int64(0)
    below = at = stands.after[0, :arms]
    for look in range(games.budgets.size):
        if number[look] > level:
            level = number[look]
            before, below, at = at, stands.after[2 * level, :arms], stands.after[2 * level + 1, :arms]
            tied = _leave(before, below, at)
        sums = stands.sums[look, first_arm : first_arm + arms]
        if tied <= left[look]:
            left[look] -= tied
            stands.errors[look] += _add(at, truth, sums)
        elif left[look] == 0:
            stands.errors[look] += _add(below, truth, sums)
        else:
            i = _last_to_pull(below, at, left[look : look + 1])
            last, word = at[i], desk.words[first_arm + i]
            at[i] = _pull_on(games, run, first_arm + i, word, below[i], left[look], ranks)
            stands.errors[look] += _add(at[: i + 1], truth[: i + 1], sums[: i + 1])
            stands.errors[look] += _add(below[i + 1 :], truth[i + 1 :], sums[i + 1 :])
            at[i], left[look] = last, 0


@jit_in_place
def _leave(before: NDArray[np.uint32], below: NDArray[np.uint32], at: NDArray[np.uint32]) -> Any:
    """Let arms that make no pulls in a class stand where they stood; return how many pulls they make at the level.

    ``before``: after the level before; ``below`` the level; ``at``: after it.
    """
    tied = np.uint32(0)
    for i in range(at.size):
        first = max(before[i], below[i])
        last = max(first, at[i])
        below[i] = first
        at[i] = last
        tied += (last >> _HALF) - (first >> _HALF)
    return np.int64(tied)


@jit_in_place
def _add(stood: NDArray[np.uint32], truth: NDArray[np.uint32], sums: NDArray[np.uint32]) -> Any:
    """Add arms' pulls and totals to sums; return how many of the arms are called wrongly."""
    wrong = np.uint32(0)
    for i in range(stood.size):
        sums[i] += stood[i] & _GAIN
        wrong += ((stood[i] >> _CALLED) & np.uint32(1)) ^ truth[i]
    return np.int64(wrong)


@jit_in_place
def _last_to_pull(below: NDArray[np.uint32], at: NDArray[np.uint32], left: NDArray[np.int64]) -> Any:
    """Return the first arm of a tile that does not make all its pulls at a level; what is ``left``, (1,), is for it."""
    i = 0
    while True:
        tied = np.int64(at[i] >> _HALF) - np.int64(below[i] >> _HALF)
        if tied > left[0]:
            return i
        left[0] -= tied
        i += 1


@jit_in_place
def _pull_on(games: Games, run: Any, arm: int, word: Any, stood: Any, more: Any, ranks: Ranks) -> Any:
    """Return where an arm stands after some more pulls. ``word``: its first."""
    pulls, total = np.int64(stood >> _HALF), np.int64(stood & _TOTAL)
    for _ in range(more):
        if pulls >= BLOCK:
            word = word_of(games, run, arm, pulls)
        total += np.int64((word >> np.uint64(pulls & (BLOCK - 1))) & np.uint64(1))
        pulls += 1
    if pulls == 0:
        return np.uint32(0)
    called = ranks.codes[ranks.rows[pulls] + total] & 1
    return (np.uint32(pulls) << _HALF) | (np.uint32(called) << _CALLED) | np.uint32(total)


@kernel
def play_looks_by_arm(games: Games, ranks: Ranks, high: int, outcome: Outcome) -> int:
    """Play runs with many looks, all thought to be below or at rank ``high``, and add up what each arm has come to.

    Return how many were played: all but those from one on that the table cannot hold.
    """
    desk, stands = empty_desk(games, ranks, True, 0), _empty_stands(games, ranks)
    run: Any = np.int64(0)
    high += 1  # ranks are counted from 1 here
    while run < outcome.errors.shape[1]:
        levels, high = levels_of_run(games, run, ranks, high, desk)
        if levels == 0:
            break
        _share_out(games, run, ranks, levels, desk, stands)
        for look in range(games.budgets.size):
            outcome.errors[look, run] = stands.errors[look]
        run += 1
        if run % (MOST_OF_A_SUM // ranks.rows.size) == 0:
            take_down(stands.sums, outcome)
    take_down(stands.sums, outcome)
    return int(run)
