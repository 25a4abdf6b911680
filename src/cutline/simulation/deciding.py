"""Which arms are called above the threshold: by their own mean, or by a prior learnt from the records of all."""

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.threshold import is_above

DECIDE = ("mean", "likelier")
"""By an arm's mean reward (the paper's rule), or by the likelier side under a prior learnt from the same records."""


def check_decide(decide: str) -> str:
    """Return the rule; raise InvalidInputError if there is no such rule."""
    if decide not in DECIDE:
        raise InvalidInputError(f"decide is {decide!r}; it must be one of {', '.join(DECIDE)}")
    return decide


def called_above(
    pulls: NDArray[np.int64], totals: NDArray[np.int64] | NDArray[np.float64], threshold: float, decide: str
) -> NDArray[np.bool_]:
    """Return which arms are called above, (K,) like pulls and totals; by the mean an arm without pulls is below."""
    if decide == "mean":
        return (pulls > 0) & is_above(np.maximum(pulls, 1), totals, threshold)
    from cutline.beliefs.prior import Prior

    both = np.stack([pulls, totals])
    (n, total), which, arms = np.unique(both, axis=1, return_inverse=True, return_counts=True)
    above: NDArray[np.bool_] = Prior.learn(n, total, arms).above(n, total, threshold) >= 0.5
    return above[which.reshape(pulls.shape)]
