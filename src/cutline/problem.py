"""The thresholding bandit problem: true means and a threshold (paper, Section 2)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.errors import InvalidInputError
from cutline.threshold import check_threshold


def check_means(means: ArrayLike | Iterable[float]) -> NDArray[np.float64]:
    """Return the means as a read-only float64 array of shape (K,); raise InvalidInputError for a bad one."""
    given: Any = means
    try:
        values = np.array(given if hasattr(given, "__len__") else list(given), dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError("means must be a list of numbers in [0, 1]") from None
    if values.ndim != 1:
        raise InvalidInputError(f"means must be a list of numbers in [0, 1], not an array of shape {values.shape}")
    if values.size == 0:
        raise InvalidInputError("no arms: give at least one mean in [0, 1]")
    bad = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
    if bad.size:
        arm = int(bad[0])
        raise InvalidInputError(f"mean of arm {arm} is {values[arm]}; it must be in [0, 1]")
    values.setflags(write=False)
    return values


@dataclass(frozen=True, eq=False)
class Problem:
    """K arms with true mean rewards theta_i in [0, 1], and the threshold theta in (0, 1) that they are held against.

    ``means`` is any sequence of K >= 1 numbers; it is kept as a read-only float64 array of shape (K,).
    Raises InvalidInputError for a mean outside [0, 1], a threshold outside (0, 1), NaN, or no arms.
    Source: paper, Section 2.
    """

    means: NDArray[np.float64] = field()
    threshold: float = 0.5

    def __init__(self, means: ArrayLike | Iterable[float], threshold: float = 0.5) -> None:
        object.__setattr__(self, "means", check_means(means))
        object.__setattr__(self, "threshold", check_threshold(threshold))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        return self.threshold == other.threshold and np.array_equal(self.means, other.means)

    def __hash__(self) -> int:
        return hash((self.threshold, self.means.tobytes()))

    def __reduce__(self) -> tuple[type["Problem"], tuple[NDArray[np.float64], float]]:
        return Problem, (self.means, self.threshold)  # a copy in another process is read-only too

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return self.means.size

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """Which arms are above, shape (K,): theta_i >= theta (a mean on the threshold counts as above)."""
        above = self.means >= self.threshold
        above.setflags(write=False)
        return above

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """The gaps Delta_i = |theta_i - theta|, shape (K,)."""
        gaps = np.abs(self.means - self.threshold)
        gaps.setflags(write=False)
        return gaps

    @cached_property
    def hardness(self) -> float:
        """H = sum of Delta_i^-2, which UCBE needs (paper, Section 4); infinite if a mean lies on the threshold."""
        with np.errstate(divide="ignore", over="ignore"):
            return float(np.sum(self.gaps**-2.0))
