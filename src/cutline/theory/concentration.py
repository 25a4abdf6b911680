"""How far an average of rewards strays from its mean: exactly, and in the bounds of the paper (Appendix A, Lemma 11).

X_1, X_2, ... are independent rewards in [0, 1]. A bound on a probability is cut off at 1. Array arguments are
broadcast against each other, and results have the shape that this gives.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cutline.errors import InvalidInputError
from cutline.theory.checks import Floats, check_numbers, check_positive, check_whole_numbers, plain
from cutline.threshold import check_threshold, is_above


def _positive(name: str, values: ArrayLike) -> Floats:
    return check_numbers(name, values, lambda number: number > 0, "a number above 0")


def _pulls(name: str, values: ArrayLike) -> NDArray[np.int64]:
    wanted = "a whole number from 1 to 2^53"
    return check_whole_numbers(
        name, check_numbers(name, values, lambda number: (number >= 1) & (number <= 2.0**53), wanted)
    )


def _probability(bound: Floats) -> Floats:
    return plain(np.minimum(bound, 1.0))


def chernoff_hoeffding(pulls: ArrayLike, deviation: ArrayLike) -> Floats:
    """Return min(1, 2 exp(-2 t eps^2)), a bound of the probability that the average of t rewards is off by eps or more.

    ``pulls`` is t >= 1, ``deviation`` is eps > 0; the rewards need not have the same mean.
    Raises InvalidInputError for other values. Source: paper, Proposition 1.
    """
    return _probability(2.0 * np.exp(-2.0 * _pulls("pulls", pulls) * _positive("deviation", deviation) ** 2))


def exponential_sum_tail(rates: ArrayLike, value: ArrayLike) -> Floats:
    """Return exp(1 - value / mu), mu = sum of 1/a_i: a bound of the probability that a sum of variables reaches value.

    The variables are independent with Pr(X_i > x) <= exp(-a_i x) for x > 0; ``rates`` are the a_i > 0, a list. Raises
    InvalidInputError for other rates and outside the condition value >= mu. Shape of value.
    Source: paper, Proposition 2.
    """
    mean = float((1.0 / _positive("rate", rates)).sum())
    values = check_numbers("value", value, lambda number: number >= mean, f"at least mu = {mean:.15g} (value >= mu)")
    return np.exp(1.0 - values / mean)


def maximal_inequality(pulls: ArrayLike, excess: ArrayLike) -> Floats:
    """Return exp(-2 eps^2 / t), a bound of the probability that X_1 + ... + X_i >= i mu + eps for some i <= t.

    The t rewards have the same mean mu; ``pulls`` is t >= 1, ``excess`` is eps > 0. The paper has "for all i" where
    Hoeffding, and the proof of Lemma 11, have "for some i". Raises InvalidInputError for other values.
    Source: paper, Proposition 3.
    """
    return _probability(np.exp(-2.0 * _positive("excess", excess) ** 2 / _pulls("pulls", pulls)))


def two_point_bound(divergence: ArrayLike) -> Floats:
    """Return exp(-KL(P || Q)) / 2, which P(A) + Q(not A) is at least, for any event A.

    Raises InvalidInputError for a divergence below 0. Source: paper, Proposition 4.
    """
    return 0.5 * np.exp(-check_numbers("divergence", divergence, lambda number: number >= 0, "at least 0"))


def bernoulli_divergence(mean: ArrayLike, other: ArrayLike) -> Floats:
    """Return KL(P || Q) in nats for Bernoulli P with ``mean`` in [0, 1] and Q with ``other`` in (0, 1).

    Right to the last digits also where the two means are close. Raises InvalidInputError for other values.
    Source: paper, Proposition 4; Equation (34).
    """
    p = check_numbers("mean", mean, lambda number: (number >= 0) & (number <= 1), "in [0, 1]")
    q = check_numbers("other mean", other, lambda number: (number > 0) & (number < 1), "in (0, 1)")
    difference = p - q
    return plain(q * _entropy_term(difference / q) + (1.0 - q) * _entropy_term(-difference / (1.0 - q)))


def _entropy_term(u: Floats) -> Floats:
    """Return (1 + u) ln(1 + u) - u, which loses its digits for small u if it is computed like that."""
    small = np.abs(u) < 0.1
    near = np.where(small, u, 0.0)
    series = np.zeros_like(near)
    for n in range(16, 1, -1):
        series = 1.0 / (n * (n - 1)) - near * series  # the terms are (-u)^n / (n (n - 1))
    return plain(np.where(small, near**2 * series, special.xlogy(1.0 + u, 1.0 + u) - u))


def divergence_decomposition(expected_pulls: ArrayLike, divergences: ArrayLike) -> Floats:
    """Return sum_i E[T_i] KL(P_i || P'_i), the divergence between what a policy sees on two bandits.

    Both arguments have shape (..., K); the expectations are under the first bandit. Raises InvalidInputError for values
    below 0. Source: paper, Proposition 5.
    """
    pulls = check_numbers("expected number of pulls", expected_pulls, lambda number: number >= 0, "at least 0")
    each = check_numbers("divergence", divergences, lambda number: number >= 0, "at least 0")
    return plain((pulls * each).sum(axis=-1))


def log_dyadic_factor(b: float) -> float:
    """Return ln(2^(b/2) / (2^(b/2) - 1)), what a union over the powers of 2 costs in Lemma 11 and Theorem 1; b > 0.

    Source: paper, Lemma 11.
    """
    return -math.log(-math.expm1(-0.5 * b * math.log(2.0)))


def variable_confidence(a: ArrayLike, b: float) -> Floats:
    """Return the Variable Confidence Level Bound: the probability, at most, that an average ever leaves its band.

    That is min(1, 2^(b/2 + 2) / (2^(b/2) - 1) exp(-a/2)), for averages of t = 1, ..., L rewards with the same mean and
    the band of ``variable_confidence_width``, for any L. Raises InvalidInputError unless a > 0 and b > 0.
    Source: paper, Lemma 11.
    """
    factor = log_dyadic_factor(check_positive("b", b))
    return _probability(np.exp(math.log(4.0) + factor - 0.5 * _positive("a", a)))  # Lemma 11


def variable_confidence_width(pulls: ArrayLike, horizon: ArrayLike, a: ArrayLike, b: float) -> Floats:
    """Return sqrt((a + b ln(L/t)) / t), the half-width of the band of Lemma 11 after t = ``pulls`` of L = ``horizon``.

    Raises InvalidInputError unless 1 <= t <= L, a > 0 and b > 0. Source: paper, Lemma 11.
    """
    t, length = np.broadcast_arrays(_pulls("pulls", pulls), _pulls("horizon", horizon))
    if (t > length).any():
        first = t[t > length][0]
        raise InvalidInputError(f"pulls {first} are beyond the horizon {length[t > length][0]}; t <= L is needed")
    return plain(np.sqrt((_positive("a", a) + check_positive("b", b) * np.log(length / t)) / t))  # Lemma 11


def variable_confidence_a(failure: ArrayLike, b: float) -> Floats:
    """Return the a with which ``variable_confidence`` is a wanted probability of failure, in (0, 1).

    Raises InvalidInputError for a failure outside (0, 1) or b <= 0. Source: paper, Lemma 11.
    """
    wanted = check_numbers("failure", failure, lambda number: (number > 0) & (number < 1), "in (0, 1)")
    return plain(2.0 * (math.log(4.0) + log_dyadic_factor(check_positive("b", b)) - np.log(wanted)))


def error_probability(means: ArrayLike, pulls: ArrayLike, threshold: float) -> Floats:
    """Return the exact probability that n Bernoulli rewards put an arm on the wrong side of the threshold.

    The decision is "above" if total / n >= threshold, and is right if it says whether mean >= threshold; 3 of 10 at the
    threshold 0.3 is a tie, so above. ``means`` in [0, 1] and ``pulls`` n >= 1, whole, are broadcast. Right to
    11 digits down to 1e-250. Raises InvalidInputError for other values and a threshold outside (0, 1).
    Source: paper, Definition of e_i.
    """
    limit = check_threshold(threshold)
    mean = check_numbers("mean", means, lambda number: (number >= 0) & (number <= 1), "in [0, 1]")
    n = _pulls("pulls", pulls)
    least = np.maximum(np.floor(limit * n) - 1.0, 0.0)
    for _ in range(3):  # from just below threshold * n to the first total that the decision calls above
        least += ~is_above(n, least, limit)
    others = n - least + 1.0  # least >= 1, and at least that many are 1 with the probability I_mean(least, others)
    above = mean >= limit
    wrong = np.empty(np.broadcast_shapes(mean.shape, n.shape))
    special.betaincc(least, others, mean, out=wrong, where=above)
    special.betainc(least, others, mean, out=wrong, where=~above)
    return plain(wrong)
