"""Narrower windows: the runs that were played say better than a pilot between which ranks the next ones will end."""

import math

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place
from cutline.simulation.ranking.leaps import Window
from cutline.simulation.ranking.walking import Survey

_CERTAINTY = 3.0  # standard deviations


@jit_in_place
def sums_of_ranks(window: Window, seen: Survey, made: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
    """Add to ``sums`` (R,), for every rank of a window, the pulls of a run that are made up to it."""
    so_far = seen.below
    for rank in range(window.low + 1, window.high + 1):
        so_far += made[rank]
        sums[rank] += so_far


@jit_in_place
def spread_of(seen: Survey, arms: int) -> float:
    """Return by how much the pulls at a rank differ from run to run: their standard deviation, as a share of them.

    It is that of arms that are all alike, and less for others.
    """
    pulls = float(seen.below + seen.logged)
    return math.sqrt(max(seen.squares - pulls * pulls / arms, 0.0)) / pulls


@jit_in_place
def narrowed(window: Window, sums: NDArray[np.float64], runs: int, spread: float, budget: int) -> Window:
    """Return the part of a window in which the budget is reached in nearly every run, by the sums of some runs."""
    margin = _CERTAINTY * spread * math.sqrt(1.0 + 1.0 / runs)
    low, high = window
    while low + 1 < window.high and sums[low + 1] / runs < budget * (1.0 - margin):
        low += 1
    while high - 1 > low and sums[high - 1] / runs >= budget * (1.0 + margin):
        high -= 1
    return Window(low, high)
