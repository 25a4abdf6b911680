"""What arms have come to at each look, added up over runs in few bytes, and taken down before these are full."""

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place
from cutline.simulation.chunks import Outcome

_HALF = np.uint32(16)
_LOWER = np.uint32((1 << 16) - 1)

MOST_OF_A_SUM = (1 << 16) - 1
"""No arm may come to more pulls than that before ``take_down``."""


@jit_in_place
def take_down(sums: NDArray[np.uint32], outcome: Outcome) -> None:
    """Add what arms have come to at each look, pulls in the upper half and totals, (B, K), and begin anew."""
    for look in range(sums.shape[0]):
        pulls, totals = outcome.pulls[look], outcome.totals[look]
        for arm in range(sums.shape[1]):
            pulls[arm] += np.int64(sums[look, arm] >> _HALF)
            totals[arm] += np.int64(sums[look, arm] & _LOWER)
    sums[:] = 0
