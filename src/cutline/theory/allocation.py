"""The programs P_c and P*_c: how a budget is best split among arms whose gaps are known (paper, Section 3, Appendix B).

Delta_i is the gap of arm i, T the budget, x_i the pulls that arm i gets, L_i = ln 1/Delta_i its level, c > 0 the
constant of the program. Both programs minimise sum_i exp(-c x_i Delta_i^2) over x_1 + ... + x_K = T.

Between two levels the optimum is linear in the budget, so no iteration is needed. A gap of 0 is allowed: such an arm is
not worth a pull and adds 1 to the value.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cutline.errors import InvalidInputError
from cutline.theory.checks import (
    Floats,
    check_budgets,
    check_gaps,
    check_numbers,
    check_positive,
    check_whole_numbers,
    plain,
)
from cutline.theory.stairs import Stairs, build_stairs, starts


def program_value(gaps: ArrayLike, pulls: ArrayLike, c: float) -> Floats:
    """Return sum_i exp(-c x_i Delta_i^2), what both programs minimise, for pulls x of shape (..., K); shape (...).

    Raises InvalidInputError for bad gaps, pulls below 0 or not of shape (..., K), or c <= 0.
    Source: paper, Equation (6); Equation (7).
    """
    return plain(np.exp(_exponents(gaps, pulls, c)).sum(axis=-1))


def log_program_value(gaps: ArrayLike, pulls: ArrayLike, c: float) -> Floats:
    """Return the natural logarithm of ``program_value``, also where that is too small for a float.

    Raises as ``program_value`` does. Source: paper, Equation (6); Equation (7).
    """
    return plain(special.logsumexp(_exponents(gaps, pulls, c), axis=-1))


def _exponents(gaps: ArrayLike, pulls: ArrayLike, c: float) -> Floats:
    values = check_gaps(gaps)
    numbers = check_numbers("number of pulls", pulls, lambda pull: pull >= 0, "at least 0")
    if numbers.shape[-1:] != values.shape:
        raise InvalidInputError(f"pulls have shape {numbers.shape}; the last axis must be the {values.size} arms")
    return -check_positive("c", c) * numbers * values**2


def equivalent_budget(budgets: ArrayLike, c: float, other: float) -> Floats:
    """Return T c / c', the budget at which P_c' has the value that P_c has at T; c' is ``other``. Shape of budgets.

    Raises InvalidInputError for a budget below 0, or c or c' <= 0. Source: paper, Lemma 6.
    """
    return plain(check_budgets(budgets) * (check_positive("c", c) / check_positive("other c", other)))  # Lemma 6


def _waterline(stairs: Stairs, budgets: ArrayLike, c: float) -> tuple[NDArray[np.intp], Floats]:
    """Return for each budget the last arm that is pulled, and how far the optimal level Phi_c lies above its level."""
    scaled = equivalent_budget(budgets, c, 2.0)
    last = np.searchsorted(stairs.starts, scaled, side="right") - 1
    return last, (scaled - stairs.starts[last]) / stairs.weights[last]


def continuous_level(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return Phi_c, the level up to which the optimum of P_c raises every arm, for each budget T >= 0.

    At the optimum c/2 x_i Delta_i^2 + ln 1/Delta_i = Phi_c wherever x_i > 0, and at least Phi_c elsewhere. The Phi of
    Section 3 is the one for c = 2. Shape of budgets. Raises InvalidInputError if no gap is above 0, for bad gaps, T < 0
    or c <= 0.
    Source: paper, Equation (9); Equation (15); Lemma 3; Definition of Phi_c.
    """
    stairs = build_stairs(gaps)
    if not stairs.gaps.size:
        raise InvalidInputError("all gaps are 0; Phi_c needs at least one gap above 0")
    last, height = _waterline(stairs, budgets, c)
    return plain(height - np.log(stairs.gaps[last]))


def continuous_allocation(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return the optimal x_i of P_c, real numbers that add up to T, for each budget T >= 0. Shape (..., K).

    If all gaps are 0 every allocation is optimal, and the budget is split evenly. Raises InvalidInputError for bad
    gaps, T < 0 or c <= 0. Source: paper, Lemma 3.
    """
    stairs = build_stairs(gaps)
    values = check_budgets(budgets)
    scale = check_positive("c", c) / 2.0
    if not stairs.gaps.size:
        return np.repeat(values[..., None] / stairs.arms, stairs.arms, axis=-1)
    pulls = np.zeros((values.size, stairs.arms))
    last, height = _waterline(stairs, values.ravel(), c)
    for row, arm, rise in zip(pulls, last, height, strict=True):
        row[stairs.order[: arm + 1]] = (stairs.below(arm) + rise) / (scale * stairs.gaps[: arm + 1] ** 2)  # Lemma 3
    return pulls.reshape(*values.shape, stairs.arms)


def continuous_program(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return P_c(gaps, T), the least value over real x_i >= 0, for each budget T >= 0. Shape of budgets.

    Raises InvalidInputError for bad gaps, T < 0 or c <= 0. Source: paper, Equation (7).
    """
    unpulled, exponent = _continuous_parts(gaps, budgets, c)
    return plain(unpulled + np.exp(exponent))


def log_continuous_program(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return ln P_c(gaps, T), also where P_c is too small for a float. Shape of budgets.

    Raises as ``continuous_program`` does. Source: paper, Equation (7).
    """
    unpulled, exponent = _continuous_parts(gaps, budgets, c)
    with np.errstate(divide="ignore"):
        return plain(np.logaddexp(np.log(unpulled), exponent))


def _continuous_parts(gaps: ArrayLike, budgets: ArrayLike, c: float) -> tuple[Floats, Floats]:
    """Return the number of arms without pulls, which add 1 each, and the logarithm of what the others add together."""
    stairs = build_stairs(gaps)
    if not stairs.gaps.size:
        values = check_budgets(budgets)
        return np.full_like(values, stairs.arms), np.full_like(values, -np.inf)
    last, height = _waterline(stairs, budgets, c)
    return plain(stairs.arms - 1.0 - last), np.log(stairs.gaps[last] ** 2 * stairs.weights[last]) - 2.0 * height


def program_bounds(gaps: ArrayLike, budgets: ArrayLike, c: float) -> tuple[Floats, Floats]:
    """Return P_c(T) and P_c(T - K), between which P*_c(T) lies, for each budget T >= K. Shape of budgets, twice.

    Raises InvalidInputError for bad gaps, T < K or c <= 0. Source: paper, Equation (8).
    """
    arms = check_gaps(gaps).size
    values = check_budgets(budgets, arms, "T >= K")
    return continuous_program(gaps, values, c), continuous_program(gaps, values - arms, c)  # (8)


def integer_allocation(gaps: ArrayLike, budgets: ArrayLike, c: float) -> NDArray[np.int64]:
    """Return optimal whole x_i of P*_c, which add up to T, for each whole budget T >= 0. Shape (..., K).

    Where several are optimal, pulls go to the lowest arm numbers. The pulls with the T largest gains are taken, and
    gains are compared as floats: a choice between two gains that differ by one part in 10^14 or less may be either.
    Raises InvalidInputError for bad gaps, a budget that is negative or not whole, or c <= 0.
    Source: paper, Equation (6); Definition of the algorithm O.
    """
    stairs = build_stairs(gaps)
    values = check_budgets(budgets)
    wholes = check_whole_numbers("budget", values)
    constant = check_positive("c", c)
    pulls = np.zeros((values.size, stairs.arms), dtype=np.int64)
    if not stairs.gaps.size:
        pulls += (wholes.ravel()[:, None] + stairs.arms - 1 - np.arange(stairs.arms)) // stairs.arms
    else:
        gains = _Gains(stairs.gaps, constant)
        for row, budget in zip(pulls, wholes.flat, strict=True):
            row[stairs.order] = gains.largest(int(budget))
    return pulls.reshape(*values.shape, stairs.arms)


def integer_program(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return P*_c(gaps, T), the least value over whole x_i >= 0, for each whole budget T >= 0. Shape of budgets.

    Raises as ``integer_allocation`` does. Source: paper, Equation (6).
    """
    return program_value(gaps, integer_allocation(gaps, budgets, c), c)


def log_integer_program(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return ln P*_c(gaps, T), also where P*_c is too small for a float. Shape of budgets.

    Raises as ``integer_allocation`` does. Source: paper, Equation (6).
    """
    return log_program_value(gaps, integer_allocation(gaps, budgets, c), c)


class _Gains:
    """What each further pull takes off the value of P*_c; the gains of an arm fall, so the T largest are the optimum.

    With d_i = c Delta_i^2, pull x + 1 of arm i gains exp(-d_i x) (1 - exp(-d_i)). As costs, minus the logarithms, that
    is b_i + d_i x: lines again, so a waterline at a cost finds all but a few of the pulls at once.
    """

    def __init__(self, gaps: Floats, c: float) -> None:
        self.gaps = gaps
        self.c = c
        self.slopes = c * gaps**2
        self.weights = np.cumsum(1.0 / self.slopes)
        self.starts = starts(self.weights, self._rise(gaps[:-1], gaps[1:]))

    def _rise(self, larger: Floats, smaller: Floats | np.float64) -> Floats:
        """Return b of the smaller gap minus b of the larger, without loss of digits when they are close."""
        difference = self.c * (larger - smaller) * (larger + smaller)
        slope = self.c * smaller**2
        return plain(np.log1p(np.exp(-slope) * np.expm1(-difference) / np.expm1(-slope)))

    def _pulls(self, total: float) -> Floats:
        """Return real pulls (mu - b_i) / d_i that add up to ``total``, for the arms with b_i below that cost mu."""
        last = int(np.searchsorted(self.starts, total, side="right")) - 1
        height = (total - self.starts[last]) / self.weights[last]
        return plain((self._rise(self.gaps[: last + 1], self.gaps[last]) + height) / self.slopes[: last + 1])

    def largest(self, budget: int) -> NDArray[np.int64]:
        """Return how many of the ``budget`` largest gains belong to each arm, in the order of the gaps."""
        # At cost mu, arm i has floor((mu - b_i) / d_i) + 1 pulls: more than its real pulls, by at most 1. So all
        # pulls of the waterline of T - arms are wanted, none above that of T is, and few lie in between.
        slack = 1.0 + 1e-10 * budget
        real = self._pulls(budget + slack)
        certain = self._pulls(max(budget - real.size - slack, 0.0))
        pulls = np.zeros(self.gaps.size, dtype=np.int64)
        pulls[: certain.size] = certain
        counts = real.astype(np.int64) + 1 - pulls[: real.size]
        arms = np.repeat(np.arange(real.size), counts)
        order_in_arm = np.arange(arms.size) - np.repeat(np.cumsum(counts) - counts, counts)
        advantage = self.slopes[arms] * (real[arms] - pulls[arms] - order_in_arm)
        chosen = np.argsort(-advantage, kind="stable")[: budget - int(pulls.sum())]
        return pulls + np.bincount(arms[chosen], minlength=pulls.size)
