"""Levels: at which rank each look of a run comes, and the classes of ranks between them.

Budget by budget, the pulls made at each rank are added up until the budget is reached: that rank is the look's level.
Of the pulls at the level itself only some are still made before the look, those of the first arms. So a level is a
class of its own: class 2 j + 1 is level number j, class 2 j the ranks below it and above the level before, and the last
class what is above all levels.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place


class Levels(NamedTuple):
    """For each look, (B,): its level's number, and how many ``left`` pulls at the level are made before the look.

    ``classes``, (R + 2,), of each rank.
    """

    number: NDArray[np.int64]
    left: NDArray[np.int64]
    classes: NDArray[np.uint32]


@jit
def empty_levels(looks: int, ranks: int) -> Levels:
    """Return space for the levels of so many looks in a table of so many ranks."""
    return Levels(np.empty(looks, np.int64), np.empty(looks, np.int64), np.empty(ranks + 2, np.uint32))


@jit_in_place
def find_levels(budgets: NDArray[np.int64], first: int, made: NDArray[np.uint32], high: int, levels: Levels) -> int:
    """Find the levels, given the pulls made at each rank up to ``high``, in two parts, (2, R + 2).

    ``first``: how many of those at rank 0 are made before any rank is looked at. Return how many levels there are; none
    if the last look is above ``high``.
    """
    look, found = 0, 0
    so_far: Any = first
    for rank in range(levels.classes.size):
        levels.classes[rank] = 2 * found
        if rank > high or look == budgets.size:
            continue
        here = np.int64(made[0, rank]) + np.int64(made[1, rank]) - (first if rank == 0 else 0)
        if budgets[look] > so_far + here:
            so_far += here
            continue
        levels.classes[rank] += 1
        while look < budgets.size and budgets[look] <= so_far + here:
            levels.number[look] = found
            levels.left[look] = budgets[look] - so_far
            look += 1
        so_far += here
        found += 1
    return found if look == budgets.size else 0
