"""How unsure expected errors are because few records do not tell how the means of arms are spread.

A campaign with a target looks again and again, and would stop at the first moment at which too few errors are claimed.
So a claim is held against a target with its standard error added. It is that of the errors that decisions are expected
to have under each of the shapes which the records leave possible (see ``beta_fit.around``), relative to their mean: the
claim itself comes from a prior that may have any shape.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

from cutline.beliefs.beta_fit import Shape, around
from cutline.beliefs.intervals import Floats


def caution(n: Floats, total: Floats, count: Floats, above: NDArray[np.bool_], threshold: float) -> float:
    """Return what expected errors are multiplied by before they are held against a target, at least 1.

    ``count`` arms have these pulls and totals and are decided to be above the threshold or not, (R,) each.
    """
    weights, errors = [], []
    for weight, shape in around(n, total, count):
        below = _below(shape, n, total, threshold)
        weights.append(weight)
        errors.append(float(count @ np.where(above, below, 1.0 - below)))
    mean = float(np.average(errors, weights=weights))
    spread = float(np.sqrt(np.average((np.array(errors) - mean) ** 2, weights=weights)))
    return 1.0 + spread / mean if mean > 0.0 else 1.0


def _below(shape: Shape, n: Floats, total: Floats, threshold: float) -> Floats:
    """Return the probability that the mean of an arm with each record is below the threshold, (R,)."""
    a, b = shape.a + total, shape.b + (n - total)
    of_beta = shape.weight * np.exp(betaln(a, b) - betaln(shape.a, shape.b))
    zero, one = shape.zero * (total == 0.0), shape.one * (total == n)
    below: Floats = (of_beta * betainc(a, b, threshold) + zero) / (of_beta + zero + one)
    return below
