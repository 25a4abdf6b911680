"""Where uniform sampling needs about K times more budget than it must (paper, Appendix C).

Both instances have one hard arm, at a distance of sqrt(1 / (K - 1)) below (I_1) or above (I_2) the threshold 1/2, and
K - 1 easy ones sqrt(0.1) above it. The budget is T = 2 K (K - 1) t_0.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from cutline.errors import InvalidInputError
from cutline.problem import Problem
from cutline.theory.checks import Floats, check_budgets, check_number, check_numbers, check_whole_numbers, plain


def _check_arms(arms: int) -> int:
    number = check_number("number of arms", arms, lambda k: (k >= 20) & (k <= 10**7), "in 20 <= K <= 10^7")
    return int(check_whole_numbers("number of arms", np.array(number)))


def hard_instances(arms: int) -> tuple[Problem, Problem]:
    """Return I_1 and I_2 with K = ``arms`` arms each; arm 0 is the hard one.

    Raises InvalidInputError unless K is a whole number, at least 20. Source: paper, Definition of I_1 and I_2.
    """
    k = _check_arms(arms)
    gap = math.sqrt(1.0 / (k - 1))
    easy = np.full(k - 1, 0.5 + math.sqrt(0.1))
    return Problem(np.concatenate([[0.5 - gap], easy])), Problem(np.concatenate([[0.5 + gap], easy]))


def _scaled(arms: int, budgets: ArrayLike) -> tuple[int, Floats]:
    k = _check_arms(arms)
    values = check_budgets(budgets, 20.0 * k * (k - 1), "T = 2 K (K - 1) t_0 with t_0 >= 10")
    return k, values / (2.0 * k * (k - 1))


def uniform_regret_bound(arms: int, budgets: ArrayLike) -> Floats:
    """Return exp(-32 t_0) / 2: uniform sampling has at least that regret on I_1 or on I_2. Shape of budgets.

    The paper quotes Theorem 2 for it, which has 1/4 in place of 1/2; its proof gives
    1/4 exp(-4 n Delta^2 / (1/2 - Delta)) for n pulls, and for K >= 20 and t_0 >= 10 that is larger than both.
    Raises InvalidInputError unless K >= 20, and T is a multiple of K with t_0 >= 10. Source: paper, Equation (17).
    """
    return np.exp(log_uniform_regret_bound(arms, budgets))


def log_uniform_regret_bound(arms: int, budgets: ArrayLike) -> Floats:
    """Return the natural logarithm of ``uniform_regret_bound``, also where that is too small for a float.

    Raises as ``uniform_regret_bound`` does. Source: paper, Equation (17).
    """
    k, scale = _scaled(arms, budgets)
    uneven = np.asarray(budgets)[np.asarray(budgets) % k != 0]
    if uneven.size:
        raise InvalidInputError(f"budget {uneven[0]} is not a multiple of the {k} arms, as equal numbers of pulls need")
    return plain(math.log(0.5) - 32.0 * scale)  # (17)


def optimal_regret_bound(arms: int, budgets: ArrayLike) -> Floats:
    """Return 2 (K + 1)^2 exp(-0.2 K t_0): the best split of the budget has at most that regret on I_1 and I_2.

    Raises InvalidInputError unless K >= 20 and t_0 >= 10. Shape of budgets. Source: paper, Equation (18).
    """
    return np.exp(log_optimal_regret_bound(arms, budgets))


def log_optimal_regret_bound(arms: int, budgets: ArrayLike) -> Floats:
    """Return the natural logarithm of ``optimal_regret_bound``, also where that is too small for a float.

    Raises as ``optimal_regret_bound`` does. Source: paper, Equation (18).
    """
    k, scale = _scaled(arms, budgets)
    return plain(math.log(2.0) + 2.0 * math.log(k + 1) - 0.2 * k * scale)  # (18)


def optimal_pulls(arms: int, budget: float) -> Floats:
    """Return the split behind ``optimal_regret_bound``: real pulls that add up to T, shape (K,).

    Arm 0 gets K (K - 1) t_0 - (K - 1) ln K pulls, each other K t_0 + ln K.
    Raises as ``optimal_regret_bound`` does. Source: paper, Equation (18).
    """
    k, scale = _scaled(arms, budget)
    rest = np.full(k - 1, k * float(scale) + math.log(k))
    return np.concatenate([[(k - 1) * (k * float(scale) - math.log(k))], rest])


def _check_regret(arms: int, regret: ArrayLike) -> tuple[int, Floats]:
    k = _check_arms(arms)
    wanted = f"in 0 < eps <= 1 / (K + 1) = {1.0 / (k + 1):.15g}"
    return k, check_numbers("regret", regret, lambda eps: (eps > 0) & (eps * (k + 1) <= 1), wanted)


def uniform_budget(arms: int, regret: ArrayLike) -> Floats:
    """Return a budget that uniform sampling needs, at least, for a regret of at most eps on both I_1 and I_2.

    From Theorem 2 for the hard arm alone, n >= (K - 1) ln(1 / (4 eps)) / 16 pulls each; K times that, of the order
    K^2 ln 1/eps. Raises InvalidInputError unless K >= 20 and 0 < eps <= 1 / (K + 1). Shape of regret.
    Source: paper, Definition of the budgets in Appendix C.
    """
    k, eps = _check_regret(arms, regret)
    return plain(k * (k - 1) * -np.log(4.0 * eps) / 16.0)


def optimal_budget(arms: int, regret: ArrayLike) -> Floats:
    """Return a budget with which the best split has a regret of at most eps on both I_1 and I_2.

    It is 10 (K - 1) (ln 2/eps + 2 ln(K + 1)), of the order K ln 1/eps; (18) at equality. The paper bounds it further by
    20 (K - 1) ln 2/eps, which takes eps <= 2 / (K + 1)^2. Raises as ``uniform_budget`` does. Shape of regret.
    Source: paper, Definition of the budgets in Appendix C.
    """
    k, eps = _check_regret(arms, regret)
    return plain(10.0 * (k - 1) * (np.log(2.0 / eps) + 2.0 * math.log(k + 1)))
