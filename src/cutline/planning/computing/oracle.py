"""What the gap oracle needs: the expected errors of O', which is told every arm's gap, over the budget, without a game.

Its index does not depend on rewards, so at a level every arm has a number of pulls that follows from its gap, and its
errors are a binomial probability. For many arms these sums are the curve, as for other policies (``expected``); for
means that are given they are exact for any number of arms.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cutline.planning.beliefs import Guess
from cutline.planning.computing.exact import UniformErrors
from cutline.planning.computing.nodes import grouped
from cutline.planning.computing.rounds import errors_after
from cutline.policies.oracle import pulls_above
from cutline.problem import Problem

_Floats = NDArray[np.float64]

MOST_PULLS_OF_AN_ARM = 2**14
"""Where an arm would need more pulls than that, nothing is said."""

_STEP, _FINEST = 0.02, 0.0005  # from level to level; by 1 all but the nearest arms get some three times the pulls
_LOOKS = 300_000  # numbers of pulls that are looked at, of all arms
_FARTHER = 1.0
_ENOUGH, _ENOUGH_THAT_DIFFER = 1000, 5000  # arms, for the sum of their pulls to be nearly what is expected
_LIGHTEST = 1e-9  # of all arms


class OracleErrors:
    """The expected errors of the gap oracle at the budgets where it comes to some levels, down to a target.

    ``budgets`` and ``errors`` are empty where the target needs more than 16,384 pulls of an arm, and where the means of
    few arms are not known.
    """

    def __init__(self, guess: Guess, uniform: UniformErrors, threshold: float, target: float) -> None:
        self.budgets, self.errors = np.empty(0), np.empty(0)
        if not isinstance(guess, Problem) and guess.arms < (_ENOUGH if guess.all_alike else _ENOUGH_THAT_DIFFER):
            return
        kept = uniform.masses > _LIGHTEST * guess.arms
        means, masses = grouped(uniform.means[kept], uniform.masses[kept], threshold)
        gaps = np.abs(means - threshold)
        if not gaps.any():
            return
        first = last = -math.log(gaps.max())
        end = None
        while end is None:
            levels = np.arange(last, last + _FARTHER, _STEP)
            pulls = pulls_above(levels, gaps[:, None])
            if pulls.max() > MOST_PULLS_OF_AN_ARM:
                return
            reached = masses @ errors_after(means, threshold, pulls) <= target
            end = float(levels[np.argmax(reached)]) if reached.any() else None
            last += _FARTHER
        step = min(_STEP, max(_FINEST, (end - first) * means.size / _LOOKS))
        pulls = pulls_above(np.append(np.arange(first, end, step), end), gaps[:, None])
        errors = masses @ errors_after(means, threshold, pulls)
        count = int(np.argmax(errors <= target)) + 1
        self.budgets, self.errors = masses @ pulls[:, :count], errors[:count]

    def at(self, budget: float) -> float | None:
        """Return the expected errors at a budget; None outside of what is known."""
        if not self.budgets.size or not self.budgets[0] <= budget <= self.budgets[-1]:
            return None
        return float(np.interp(budget, self.budgets, self.errors))

    def budget(self) -> int | None:
        """Return the smallest budget that reaches the target, None if it is not known."""
        return round(float(self.budgets[-1])) if self.budgets.size else None
