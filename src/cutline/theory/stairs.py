"""Gaps in the order in which a rising waterline reaches them: what the programs of the paper are solved with.

L_i = ln 1/Delta_i is the level of arm i. Differences of levels come from differences of gaps, never from two
logarithms: gaps of 1e-9 that differ in their last digits still get the right pulls.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.theory.checks import Floats, check_gaps, plain


@dataclass(frozen=True)
class Stairs:
    """Positive gaps from large to small, and what a waterline that rises over their levels needs.

    ``order``: their arm numbers; ``gaps``; ``weights``: running sums of Delta_i^-2; ``starts``: the budget at which P_2
    begins to pull each, the sum of (L_i - L_j) Delta_j^-2 over the larger gaps; all of shape (P,). ``arms``: K, with
    the zeros.
    """

    order: NDArray[np.intp]
    gaps: Floats
    weights: Floats
    starts: Floats
    arms: int

    def below(self, last: int) -> Floats:
        """Return L_last - L_i, how far each of the arms 0 to ``last`` lies below the level of ``last``."""
        return plain(np.log1p((self.gaps[: last + 1] - self.gaps[last]) / self.gaps[last]))


def starts(weights: Floats, steps: Floats) -> Floats:
    """Return the budgets at which the arms begin to be pulled, given the steps between their levels."""
    return np.concatenate([np.zeros(min(weights.size, 1)), np.cumsum(weights[:-1] * steps)])


def build_stairs(gaps: ArrayLike) -> Stairs:
    """Return the Stairs of a list of gaps; equal gaps keep their order. Raises InvalidInputError for bad gaps."""
    values = check_gaps(gaps)
    order = np.argsort(-values, kind="stable")[: np.count_nonzero(values)]
    ranked = values[order]
    weights = np.cumsum(ranked**-2.0)
    begin = starts(weights, np.log1p((ranked[:-1] - ranked[1:]) / ranked[1:]))
    return Stairs(order, ranked, weights, begin, values.size)
