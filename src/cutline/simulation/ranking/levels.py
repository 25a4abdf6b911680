"""Levels: at which rank each look of a run comes, and the classes of ranks between them.

Budget by budget, the pulls made at each rank are added up until the budget is reached: that rank is the look's level.
Of the pulls at the level itself only some are still made before the look, those of the first arms. So a level is a
class of its own: class 2 j + 1 is level number j, class 2 j the ranks below it and above the level before, and the last
class what is above all levels. Ranks are counted from 1, as in ``counting``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place
from cutline.simulation.ranking.counting import more_at, pulls_at


class Levels(NamedTuple):
    """For each look, (B,): its level's number and rank, and how many ``left`` pulls there are made before the look.

    ``more``: how many more wrong decisions there are after all pulls below the level than before any. ``block``: space
    for the number of a block of arms. ``classes``, (R + 3,), of each rank.
    """

    number: NDArray[np.int64]
    rank: NDArray[np.int64]
    left: NDArray[np.int64]
    more: NDArray[np.int64]
    block: NDArray[np.int64]
    classes: NDArray[np.uint32]


@jit
def empty_levels(looks: int, ranks: int) -> Levels:
    """Return space for the levels of so many looks in a table of so many ranks."""
    numbers = np.empty((5, looks), np.int64)
    classes = np.empty(ranks + 3, np.uint32)
    return Levels(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], classes)


@jit_in_place
def find_levels(budgets: NDArray[np.int64], sums: NDArray[np.uint32], high: int, levels: Levels) -> int:
    """Find the levels, given the counts of all arms at each rank, of which those up to ``high`` are known.

    Return how many levels there are; none if the last look is above ``high``.
    """
    look, found = 0, 0
    so_far: Any = np.int64(0)
    more: Any = np.int64(0)
    for rank in range(levels.classes.size):
        levels.classes[rank] = 2 * found
        if rank > high or look == budgets.size:
            continue
        here = pulls_at(sums, 4 * rank)
        if budgets[look] <= so_far + here:
            levels.classes[rank] += 1
            while look < budgets.size and budgets[look] <= so_far + here:
                levels.number[look] = found
                levels.rank[look] = rank
                levels.left[look] = budgets[look] - so_far
                levels.more[look] = more
                look += 1
            found += 1
        so_far += here
        more += more_at(sums, 4 * rank)
    return found if look == budgets.size else 0
