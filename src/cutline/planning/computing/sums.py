"""What arms come to at levels: sums over the rows of their records, and how a row is added."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place

_Floats = NDArray[np.float64]


class Sums(NamedTuple):
    """What all arms together come to at each of L levels.

    ``pulls`` and ``errors``: the expected sums, ``squares`` the expected sum of the squares of pulls, ``left`` the arms
    that are not above the level at the last row, ``unsettled`` the errors of these; (L,) each. ``taken``: pulls by the
    number of pulls that the arm had before, in bins; ``gains``: what these pulls do to the expected errors. (bins, L)
    each.
    """

    pulls: _Floats
    errors: _Floats
    squares: _Floats
    left: _Floats
    unsettled: _Floats
    taken: _Floats
    gains: _Floats

    @classmethod
    def zeros(cls, levels: int, bins: int) -> "Sums":
        """Return sums of nothing."""
        return cls(*(np.zeros(levels) for _ in range(5)), *(np.zeros((bins, levels)) for _ in range(2)))

    def at(self, places: NDArray[np.int64]) -> "Sums":
        """Return the sums at some of the levels."""
        return Sums(*(part[..., places] for part in self))

    def joined(self, others: "Sums", order: NDArray[np.int64]) -> "Sums":
        """Return these sums and those at other levels, in an order of all."""
        pairs = zip(self, others, strict=True)
        return Sums(*(np.concatenate([ours, theirs], axis=-1)[..., order] for ours, theirs in pairs))


@jit_in_place
def first_from(levels: _Floats, value: float) -> int:
    """Return the place of the first level not below a value; np.searchsorted would take long to load."""
    low, high = 0, levels.size
    while low < high:
        middle = (low + high) // 2
        if levels[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


class Pulled(NamedTuple):
    """The pulls of a row, and what they do to the expected errors, at each level; (L,) both."""

    taken: _Floats
    gains: _Floats


@jit_in_place
def count(n: int, more: int, chosen: int, alive: int, pulled: Pulled, sums: Sums) -> None:
    """Add the pulls of row n, so many ``more`` of each arm, to the sums, those by number to the ``chosen`` bin."""
    for level in range(alive, sums.errors.size):
        taken = more * pulled.taken[level]
        sums.pulls[level] += taken
        sums.squares[level] += taken * (2.0 * n + more)
        sums.taken[chosen, level] += taken
        sums.gains[chosen, level] += pulled.gains[level]
