"""How many arms a batch has: a given number, or what costs the least by what the batches so far have taken.

A batch of n takes s + n m seconds, s to start and m an arm. So starting costs s / (n m) of what measuring costs.
But the policy chooses its arms without the results of the others that are in flight with them, which costs pulls: for
the same errors in the end, a share c f more of them, where f is the share of the arms in flight at a time. (1 + s / (n
m)) (1 + c n jobs / K) is least at

    n = sqrt(s K / (c m jobs)).

Played with LSA and 200 arms, told together in batches, c is some 1.3 where the means lie evenly on [0, 1], and 0.1 to
0.4 where most arms are good, as tests are, which is what batches are mostly for; it is taken as 0.25. Towards the end a
batch takes at most half of what a place has left, so that the last pulls know of the others, but not so few that
starting takes longer than measuring; and the last two batches are of one size.
"""

import math
from typing import Literal, Protocol, TypeAlias

from cutline.checks import check_whole
from cutline.errors import InvalidInputError

BatchSize: TypeAlias = int | Literal["auto"]
"""A number of arms, or "auto"."""

DELAY_COST = 0.25
"""The share of pulls, c, that it costs to have as many pulls in flight as there are arms."""

FIRST = 100
"""The first batches have so many arms at most: while no arm has a result, there is nothing to know of the others."""

GROWTH = 8
"""A batch is at most so many times as large as the largest before it."""


class Sizes(Protocol):
    """Says how large the next batch is."""

    def next(self, left: int, seconds: float) -> int:
        """Return the size of the next batch, given how many pulls are left and how much time."""
        ...

    def note(self, size: int, seconds: float) -> None:
        """Take in how long a batch has taken."""
        ...


def sizes_of(batch: BatchSize, arms: int, jobs: int) -> Sizes:
    """Return what says how large batches are; raise InvalidInputError unless ``batch`` is "auto" or at least 1."""
    if batch == "auto":
        return AutomaticSizes(arms, jobs)
    if isinstance(batch, str):
        raise InvalidInputError(f"batch is {batch!r}; it must be a whole number from 1, or auto")
    return FixedSizes(check_whole("batch", batch, 1))


class FixedSizes:
    """Always the same size."""

    def __init__(self, size: int) -> None:
        self._size = size

    def next(self, left: int, seconds: float) -> int:
        """See Sizes."""
        return self._size

    def note(self, size: int, seconds: float) -> None:
        """See Sizes."""


class AutomaticSizes:
    """The size that costs the least, as the module says, for ``arms`` arms and ``jobs`` batches at a time."""

    def __init__(self, arms: int, jobs: int) -> None:
        self._arms = arms
        self._jobs = jobs
        self._largest = 0
        self._count = self._sizes = self._seconds = self._squares = self._products = 0.0

    def note(self, size: int, seconds: float) -> None:
        """See Sizes."""
        self._largest = max(self._largest, size)
        self._count += 1
        self._sizes += size
        self._seconds += seconds
        self._squares += size * size
        self._products += size * seconds

    def next(self, left: int, seconds: float) -> int:
        """See Sizes."""
        if not self._count:
            return min(FIRST, math.ceil(self._arms / self._jobs))
        start, each = self._costs()
        size = math.sqrt(start * self._arms / (DELAY_COST * each * self._jobs))
        size = min(size, max(left / (2 * self._jobs), start / each))
        size = min(size, max(seconds - start, 0.0) / each, GROWTH * self._largest, self._arms)
        if self._spread() <= 0 and round(size) == self._largest:
            size /= 2  # batches of one size do not tell what starting takes
        if size < left < 2 * size:
            size = left / 2  # two of one size take less time than a large one and the rest
        return max(1, round(size))

    def _spread(self) -> float:
        """Return the sum of squares by which the sizes so far differ from their mean."""
        return self._squares - self._sizes**2 / self._count

    def _costs(self) -> tuple[float, float]:
        """Return the seconds to start a batch and those for each arm, by least squares over the batches so far.

        As long as all batches were of one size, half of the time is taken for the start.
        """
        spread = self._spread()
        mean = self._seconds / self._count
        least = mean / self._sizes * self._count / 1000  # an arm always takes some time
        if spread <= 0:
            return mean / 2, max(mean / 2 / (self._sizes / self._count), 1e-9)
        each = max((self._products - self._sizes * self._seconds / self._count) / spread, least, 1e-9)
        return max(mean - each * self._sizes / self._count, 0.0), each
