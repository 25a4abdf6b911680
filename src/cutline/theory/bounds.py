"""What the paper proves about the aggregate regret: Theorem 1 from above, Theorem 2 from below (Section 4, Appendix E).

Delta_i is the gap of arm i, T the budget, K the number of arms, alpha the parameter of LSA. Theorem 1 spends
1 / max(40/alpha + 1, 40) of the budget on the clipped program with c = 2 alpha: its level is Lambda, its pulls are
lambda_i. Budgets may have any shape, and results have the same.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cutline.errors import InvalidInputError
from cutline.theory.allocation import (
    continuous_program,
    integer_program,
    log_continuous_program,
    program_value,
)
from cutline.theory.checks import Floats, check_alpha, check_budgets, check_gaps, check_positive, plain
from cutline.theory.clipping import clipped_allocation, clipped_level
from cutline.theory.concentration import log_dyadic_factor


def budget_divisor(alpha: float) -> float:
    """Return max(40/alpha + 1, 40), by which Theorem 1 divides the budget, for any alpha > 0.

    Raises InvalidInputError for any other alpha. Source: paper, Equation (10).
    """
    return max(40.0 / check_positive("alpha", alpha) + 1.0, 40.0)


def _reduced(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> tuple[Floats, float]:
    """Return the budget and the constant c of the clipped program that Theorem 1 is stated with."""
    divisor = budget_divisor(alpha)
    arms = check_gaps(gaps).size
    reduced = check_budgets(budgets, divisor * arms, "T >= max(40/alpha + 1, 40) K") / divisor
    return np.maximum(reduced, arms), 2.0 * float(alpha)


def explored_level(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> Floats:
    """Return Lambda, up to which LSA is likely to raise every arm's index, for any alpha > 0. Shape of budgets.

    Raises InvalidInputError for bad gaps, alpha <= 0, or T < max(40/alpha + 1, 40) K, where Lambda >= 0 is not defined.
    Source: paper, Equation (10).
    """
    return clipped_level(gaps, *_reduced(gaps, budgets, alpha))  # (10)


def explored_pulls(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> Floats:
    """Return lambda_i, the pulls of which arm i is likely to get 1/20 or more, for any alpha > 0. Shape (..., K).

    Raises as ``explored_level`` does. Source: paper, Equation (11).
    """
    return clipped_allocation(gaps, *_reduced(gaps, budgets, alpha))  # (11)


def classifiable_arms(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> NDArray[np.bool_]:
    """Return the set B, the arms with ln 1/Delta_i < Lambda, as booleans of shape (..., K).

    Even an algorithm that knows the gaps is likely to err on the others. Raises as ``explored_level`` does.
    Source: paper, Definition of B.
    """
    levels = np.asarray(explored_level(gaps, budgets, alpha))
    with np.errstate(divide="ignore"):
        return -np.log(check_gaps(gaps)) < levels[..., None]


def upper_bound_constant(alpha: float) -> float:
    """Return Phi(alpha), the constant factor of Theorem 1, for 0 < alpha <= 8; infinite if too large for a float.

    Raises InvalidInputError for any other alpha. Source: paper, Definition of Phi(alpha).
    """
    return float(_exp(log_upper_bound_constant(alpha)))


def log_upper_bound_constant(alpha: float) -> float:
    """Return ln Phi(alpha) for 0 < alpha <= 8, also where Phi(alpha) is too large for a float.

    Raises InvalidInputError for any other alpha. Source: paper, Definition of Phi(alpha).
    """
    value = check_alpha(alpha)
    return math.log(9.3) + log_dyadic_factor(0.25 / value) + (2.1 * value - math.log(value) - 0.5) / (4.0 * value)


def upper_bound(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> Floats:
    """Return Theorem 1's bound Phi(alpha) sum_i exp(-lambda_i Delta_i^2 / 10): the regret of LSA is at most that.

    Raises InvalidInputError for bad gaps and outside the theorem's conditions: 0 < alpha <= 8 and
    T >= max(40/alpha + 1, 40) K. Shape of budgets. Source: paper, Theorem 1; Equation (12).
    """
    return _exp(log_upper_bound(gaps, budgets, alpha))


def log_upper_bound(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> Floats:
    """Return the natural logarithm of ``upper_bound``, also where that is too small or too large for a float.

    Raises as ``upper_bound`` does. Source: paper, Theorem 1; Equation (12).
    """
    return plain(log_upper_bound_constant(alpha) + special.logsumexp(-certainty(gaps, budgets, alpha), axis=-1))  # (12)


def certainty(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> Floats:
    """Return lambda_i Delta_i^2 / 10, the exponent that Theorem 1 and its lemmas give each arm. Shape (..., K).

    Raises as ``explored_level`` does. Source: paper, Theorem 1.
    """
    return explored_pulls(gaps, budgets, alpha) * check_gaps(gaps) ** 2 / 10.0


def _lower_conditions(gaps: ArrayLike, budgets: ArrayLike) -> Floats:
    values = check_gaps(gaps)
    outside = np.flatnonzero((values <= 0) | (values > 0.25))
    if outside.size:
        arm = int(outside[0])
        raise InvalidInputError(f"gap {values[arm]} of arm {arm} is outside (0, 1/4], where Theorem 2 holds")
    return check_budgets(budgets, values.size, "T >= K")


def lower_bound(gaps: ArrayLike, budgets: ArrayLike) -> Floats:
    """Return Theorem 2's bound P_16(T) / 4: every algorithm has at least that regret on some instance with these gaps.

    Its instances have Bernoulli arms and the threshold 1/2; already the regret averaged over the 2^K sign patterns is
    at least that. Raises InvalidInputError for bad gaps and outside the theorem's conditions: all gaps in (0, 1/4] and
    T >= K. Shape of budgets. Source: paper, Theorem 2.
    """
    return 0.25 * continuous_program(gaps, _lower_conditions(gaps, budgets), 16.0)  # Theorem 2


def log_lower_bound(gaps: ArrayLike, budgets: ArrayLike) -> Floats:
    """Return the natural logarithm of ``lower_bound``, also where that is too small for a float.

    Raises as ``lower_bound`` does. Source: paper, Theorem 2.
    """
    return log_continuous_program(gaps, _lower_conditions(gaps, budgets), 16.0) - math.log(4.0)


def known_gaps_bound(gaps: ArrayLike, pulls: ArrayLike) -> Floats:
    """Return sum_i 2 exp(-2 x_i Delta_i^2), which the regret after fixed pulls x of shape (..., K) cannot exceed.

    Shape (...). Raises InvalidInputError for bad gaps, pulls below 0 or not of shape (..., K).
    Source: paper, Equation (5).
    """
    return 2.0 * program_value(gaps, pulls, 2.0)  # (5)


def known_gaps_optimum(gaps: ArrayLike, budgets: ArrayLike) -> Floats:
    """Return 2 P*_2(T), the least of ``known_gaps_bound``: the most regret that O, which knows the gaps, can have.

    Raises InvalidInputError for bad gaps and a budget that is negative or not whole. Shape of budgets.
    Source: paper, Definition of the algorithm O.
    """
    return 2.0 * integer_program(gaps, budgets, 2.0)


def minimax_bounds(gaps: ArrayLike, budgets: ArrayLike) -> tuple[Floats, Floats]:
    """Return a lower and an upper bound of OPT(gaps, T), the least regret that an algorithm can guarantee.

    They are Theorem 2's bound, and the smaller of K/2 (guessing) and ``known_gaps_optimum``.
    Raises InvalidInputError for bad gaps, a budget that is not whole, and outside the conditions of Theorem 2.
    Shape of budgets, twice. Source: paper, Equation (1).
    """
    upper = np.minimum(known_gaps_optimum(gaps, budgets), 0.5 * check_gaps(gaps).size)
    return lower_bound(gaps, budgets), upper


def optimality_bound(gaps: ArrayLike, budgets: ArrayLike) -> Floats:
    """Return Phi(1/20) exp(1/10) P_16(T / 128160): the regret of LSA(1/20) is at most that, for T >= 801 K.

    It is 4 Phi(1/20) exp(1/10) times Theorem 2's bound at the budget T / 128160, which makes LSA instance-wise
    asymptotically optimal. Raises InvalidInputError for bad gaps or T < 801 K. Shape of budgets.
    Source: paper, Remark 1; Equation (2).
    """
    alpha = 1.0 / 20.0
    values = check_budgets(budgets, budget_divisor(alpha) * check_gaps(gaps).size, "T >= 801 K")
    constant = math.exp(log_upper_bound_constant(alpha) + 2.0 * alpha)
    return constant * continuous_program(gaps, values / 128160.0, 16.0)  # Remark 1


def _exp(logarithm: ArrayLike) -> Floats:
    with np.errstate(over="ignore"):
        return plain(np.exp(logarithm))
