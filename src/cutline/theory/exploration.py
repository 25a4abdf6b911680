"""How well LSA explores: xi, tau and the lemmas that Theorem 1 rests on (paper, Section 4, Appendix D).

Everything here but xi and tau is a bound that the proof of Theorem 1 gives, so the theorem's conditions hold:
0 < alpha <= 8 and T >= max(40/alpha + 1, 40) K. ``shortfall`` is k, how far a level Lambda - k stays below Lambda;
``quality`` is kappa (varkappa), the same thing on the scale of the proof: k = f(kappa).
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.errors import InvalidInputError
from cutline.policies.lsa import lsa_index
from cutline.theory.bounds import certainty, classifiable_arms, explored_level, explored_pulls
from cutline.theory.checks import Floats, check_alpha, check_number, check_numbers, check_positive, plain
from cutline.theory.concentration import log_dyadic_factor
from cutline.threshold import check_threshold


def empirical_gaps(rewards: ArrayLike, threshold: float) -> Floats:
    """Return |mean of the first t rewards - threshold| for t = 1, ..., n, for rewards in [0, 1] of shape (..., n).

    The mean is the sum divided by t; the paper's formula divides by s. Raises InvalidInputError for other rewards or a
    threshold outside (0, 1). Shape (..., n). Source: paper, Equation (4).
    """
    limit, totals = check_threshold(threshold), _running_totals(rewards)
    return np.abs(totals / np.arange(1, totals.shape[-1] + 1) - limit)


def _running_totals(rewards: ArrayLike) -> Floats:
    values = check_numbers("reward", rewards, lambda reward: (reward >= 0) & (reward <= 1), "in [0, 1]")
    if values.ndim == 0 or values.shape[-1] == 0:
        raise InvalidInputError("no rewards: give at least one in [0, 1]")
    totals: Floats = np.cumsum(values, axis=-1)
    return totals


def exploration_index(rewards: ArrayLike, threshold: float, alpha: float) -> Floats:
    """Return xi_{i,t} = alpha t gap_t^2 + 0.5 ln t for t = 1, ..., n, for rewards of shape (..., n), any alpha > 0.

    It is the index of LSA along a whole sequence of rewards, as LSA itself computes it. Raises as ``empirical_gaps``
    does, and for alpha <= 0. Shape (..., n). Source: paper, Definition of xi.
    """
    limit, totals = check_threshold(threshold), _running_totals(rewards)
    t = np.arange(1.0, totals.shape[-1] + 1.0)
    indices = np.vectorize(lsa_index, otypes=[np.float64])
    return plain(indices(t, totals, limit, check_positive("alpha", alpha)))


def exploration_time(rewards: ArrayLike, threshold: float, alpha: float, level: float) -> NDArray[np.int64]:
    """Return tau_{i,C}, the smallest t with xi_{i,t} > C = ``level``, for rewards of shape (..., n); shape (...).

    Raises InvalidInputError as ``exploration_index`` does, unless C > 0, and for rewards that end before the level is
    passed; ``exploration_time_limit`` says how many are always enough. Source: paper, Definition of tau.
    """
    passed = exploration_index(rewards, threshold, alpha) > check_positive("level", level)
    if not passed.any(axis=-1).all():
        enough = exploration_time_limit(level)
        raise InvalidInputError(f"{passed.shape[-1]} rewards end before xi is above {level}; {enough:.0f} are enough")
    first: NDArray[np.int64] = passed.argmax(axis=-1) + 1
    return first


def exploration_time_limit(level: float) -> float:
    """Return 2 exp(2 C), which tau_{i,C} never exceeds, for C = ``level`` > 0 and any rewards and alpha.

    Raises InvalidInputError for C <= 0. Source: paper, Lemma 7(a).
    """
    return 2.0 * math.exp(2.0 * check_positive("level", level))  # Lemma 7(a)


def exploration_time_tail(gap: float, alpha: float, level: float, pulls: ArrayLike) -> Floats:
    """Return min(1, 2 exp(-40 k / alpha)), a bound of the probability that tau_{i,C} is above ``pulls``, C = ``level``.

    k is where pulls = 40/alpha (C - ln 1/gap + k) / gap^2. Raises InvalidInputError unless 0 < gap <= 1,
    0 < alpha <= 8, C > ln 1/gap, and k >= 1. Shape of pulls. Source: paper, Lemma 7(b).
    """
    value = check_number("gap", gap, lambda number: (number > 0) & (number <= 1), "in (0, 1]")
    factor = 40.0 / check_alpha(alpha)
    margin = check_number("level", level, lambda number: number > -math.log(value), "above ln 1/gap") + math.log(value)
    numbers = check_numbers("number of pulls", pulls, lambda pull: pull > 0, "above 0")
    k = numbers * value**2 / factor - margin
    if (k < 1.0 - 1e-12).any():
        least = factor * (margin + 1.0) / value**2
        raise InvalidInputError(f"pulls {numbers.min():.15g} are too few for k >= 1; it takes {least:.15g}")
    return np.minimum(2.0 * np.exp(-factor * k), 1.0)  # Lemma 7(b)


def level_probability(gaps: ArrayLike, budgets: ArrayLike, alpha: float, shortfall: float) -> Floats:
    """Return 1 - exp(-40 k / alpha): this likely, at least, all arms get above Lambda - k within T pulls.

    It bounds the probability of the event F_{Lambda-k} that at some time all indices are above Lambda - k, and of the
    sum of the tau_{i,Lambda-k} being at most T. Raises InvalidInputError for bad gaps, outside the conditions of
    Theorem 1, and unless 0 <= k < Lambda. Shape of budgets.
    Source: paper, Lemma 1; Lemma 8; Equation (14); Definition of F_C.
    """
    _check_shortfall(shortfall, 0.0, "0 <= k < Lambda", gaps, budgets, alpha)
    return plain(np.full(np.shape(budgets), -math.expm1(-40.0 * shortfall / alpha)))  # Lemma 1


def _check_shortfall(
    shortfall: float, least: float, condition: str, gaps: ArrayLike, budgets: ArrayLike, alpha: float
) -> None:
    levels = explored_level(gaps, budgets, check_alpha(alpha))
    check_number("shortfall k", shortfall, lambda k: (k >= least) & (k < np.min(levels)), f"in {condition}")


def quality_to_shortfall(quality: float, alpha: float) -> float:
    """Return k = f(kappa) = alpha kappa + ln alpha + 0.5 - alpha, for 0 < alpha <= 8.

    Raises InvalidInputError for other values. Source: paper, Definition of f.
    """
    value = check_alpha(alpha)
    return value * check_number("quality", quality, np.isfinite, "a finite number") + math.log(value) + 0.5 - value


def shortfall_to_quality(shortfall: float, alpha: float) -> float:
    """Return kappa = f^-1(k) = (k + alpha - ln alpha - 0.5) / alpha, for 0 < alpha <= 8.

    Raises InvalidInputError for other values. Source: paper, Definition of f.
    """
    value = check_alpha(alpha)
    k = check_number("shortfall", shortfall, np.isfinite, "a finite number")
    return (k + value - math.log(value) - 0.5) / value


def conditional_regret_bound(gaps: ArrayLike, budgets: ArrayLike, alpha: float, shortfall: float) -> Floats:
    """Return Lemma 2's bound of the regret of the arms in B, given that all indices got above Lambda - k.

    It is 9 r / (r - 1) sum over B of exp(-lambda_i Delta_i^2 / 10 + (k + alpha - ln alpha - 0.5) / (4 alpha)), with
    r = 2^(1/(8 alpha)). Raises InvalidInputError for bad gaps, outside the conditions of Theorem 1, and unless
    0.1 alpha <= k < Lambda. Shape of budgets. Source: paper, Lemma 2.
    """
    _check_shortfall(shortfall, 0.1 * check_alpha(alpha), "0.1 alpha <= k < Lambda", gaps, budgets, alpha)
    exponents = 0.25 * shortfall_to_quality(shortfall, alpha) - certainty(gaps, budgets, alpha)
    with np.errstate(over="ignore"):
        terms = np.exp(math.log(9.0) + log_dyadic_factor(0.25 / alpha) + exponents)
    return plain(np.where(classifiable_arms(gaps, budgets, alpha), terms, 0.0).sum(axis=-1))


def deviation_probability(gaps: ArrayLike, budgets: ArrayLike, alpha: float, quality: float) -> Floats:
    """Return a bound of the probability that an arm's empirical gap leaves its band within lambda_i pulls.

    The band is the event M_{i,kappa}, that of Lemma 11 with a = lambda_i Delta_i^2 / 5 - kappa / 2, b = 1 / (4 alpha)
    and L = lambda_i; the bound is min(1, 4 r / (r - 1) exp(-lambda_i Delta_i^2 / 10 + kappa / 4)), r = 2^(1/(8 alpha)).
    Raises InvalidInputError for bad gaps and outside the conditions of Theorem 1. Shape (..., K).
    Source: paper, Lemma 9; Definition of M.
    """
    value = check_alpha(alpha)
    kappa = check_number("quality", quality, np.isfinite, "a finite number")
    factor = math.log(4.0) + log_dyadic_factor(0.25 / value)
    return np.exp(np.minimum(factor + 0.25 * kappa - certainty(gaps, budgets, alpha), 0.0))


def promised_pulls(gaps: ArrayLike, budgets: ArrayLike, alpha: float) -> Floats:
    """Return lambda_i / 20 for the arms in B, which they get if M_{i,kappa} and F_{Lambda-f(kappa)} occur; 0 elsewhere.

    That holds for every kappa with f(kappa) >= 0. Raises InvalidInputError for bad gaps and outside the conditions of
    Theorem 1. Shape (..., K). Source: paper, Lemma 10.
    """
    check_alpha(alpha)
    return np.where(classifiable_arms(gaps, budgets, alpha), explored_pulls(gaps, budgets, alpha) / 20.0, 0.0)


def few_pulls_probability(gaps: ArrayLike, budgets: ArrayLike, alpha: float, quality: float) -> Floats:
    """Return a bound of the probability that arm i gets fewer than ``promised_pulls``, given F_{Lambda-f(kappa)}.

    It is ``deviation_probability`` over ``level_probability``, at most 1, and 0 outside B, where nothing is promised.
    Raises InvalidInputError for bad gaps, outside the conditions of Theorem 1, and unless 0 <= f(kappa) < Lambda.
    Shape (..., K). Source: paper, Corollary 1.
    """
    happened = np.asarray(level_probability(gaps, budgets, alpha, quality_to_shortfall(quality, alpha)))[..., None]
    deviates = deviation_probability(gaps, budgets, alpha, quality)
    ratio = np.divide(deviates, happened, out=np.ones_like(deviates), where=happened > 0.0)  # Corollary 1
    return np.where(classifiable_arms(gaps, budgets, alpha), np.minimum(ratio, 1.0), 0.0)
