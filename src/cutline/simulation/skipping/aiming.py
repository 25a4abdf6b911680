"""How high the skip-ahead engine aims, and when it is not worth it to raise all arms once more."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place, made_once, with_parameters
from cutline.policies.policy import Policy

_PROBED_ARMS = 32
_PROBED_PULLS = 8


def worth_a_sweep(arms: int) -> int:
    """Return about how many pulls, made one by one in a tournament of this size, take as long as raising all arms."""
    return 300 * arms // (10 + int(np.log2(arms) ** 2))


def first_aim(arms: int) -> float:
    """Return which share of the pulls that are left a step should take.

    The fewer the arms, the less is known of what a level takes; what is aimed too high is lost.
    """
    return max(0.5, 1.0 - 4.0 / math.sqrt(arms))


def stays_after_a_miss(arms: int) -> int:
    """Return how often the arm may change, by the stepping engine's rule, before a lower level is tried."""
    return 20 + arms // 4


def next_step(
    step: float, made: int, left: int, spent: int, first: bool, pace: NDArray[np.float64], aim: float, arms: int
) -> float:
    """Return how far to raise the level next, so as to make about the share ``aim`` of the ``left`` pulls.

    The last ``step`` made ``made`` pulls of the ``spent`` so far; it counts for nothing if it was the ``first``, which
    leads to where ``pace``, (pulls, rise of the level) in the runs before, holds. Without any before, it is taken that
    the level rises with the logarithm of the pulls, and they are to double at most.
    """
    if pace[0] == 0.0:
        grown = math.log1p(made / max(spent - made, arms))
        return step * min(4.0, math.log1p(min(1.0, aim * left / max(spent, 1))) / max(grown, 1e-9))
    a_pull: float = pace[1] / pace[0]
    hoped = aim * left * a_pull
    if not first:
        hoped = aim * left * (step + 0.5 * left * a_pull) / (made + 0.5 * left)
    return max(hoped, 2.0 * step) if 8 * made < left else hoped


@made_once
def rise_of(policy: type[Policy]) -> Callable[..., float]:
    """Compile the first step up: how far the index of some arms rises, on average, over a few pulls.

    rise(pulls, totals, values, threshold, parameters) takes every other reward to be 1. It is 1 where nothing rises.
    """
    index = with_parameters(policy.index, 3)

    @jit_in_place
    def rise(pulls: Any, totals: Any, values: Any, threshold: float, parameters: Any) -> float:
        summed = 0.0
        probed = 0
        for arm in range(0, pulls.size, max(1, pulls.size // _PROBED_ARMS)):
            highest = values[arm]
            for more in range(1, _PROBED_PULLS + 1):
                total = float(totals[arm] + (more + 1) // 2)
                highest = max(highest, index(float(pulls[arm] + more), total, threshold, arm, parameters))
            if highest < np.inf:
                summed += highest - values[arm]
                probed += 1
        return summed / probed if summed > 0.0 else 1.0

    return rise
