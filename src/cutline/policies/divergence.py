"""n kl(mean, threshold) of a record: the log-likelihood ratio between its mean and the threshold.

kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)) is the Kullback-Leibler divergence between two coins. With the
mean p = theta + excess / n,

    n kl(p, theta) = n theta g(excess / (n theta)) + n (1 - theta) g(-excess / (n (1 - theta))),
    g(t) = (1 + t) ln(1 + t) - t.

Both parts are positive, so no digits are lost where the mean is close to the threshold.
"""

import math

_SMALL = 0.25  # up to here the series of g are exact


def divergence(pulls: float, excess: float, threshold: float) -> float:
    """Return pulls * kl(threshold + excess / pulls, threshold)."""
    if threshold == 0.5 and -0.0625 * pulls < excess < 0.0625 * pulls:
        u = 2.0 * excess / pulls
        w = u * u
        tail = 1 / 28 + w * (1 / 45 + w * (1 / 66 + w / 91))
        return 0.5 * pulls * w * (1.0 + w * (1 / 6 + w * (1 / 15 + w * tail)))
    ones = pulls * threshold
    zeros = pulls * (1.0 - threshold)
    return ones * entropy_gap(excess / ones) + zeros * entropy_gap(-excess / zeros)


def entropy_gap(t: float) -> float:
    """Return g(t) = (1 + t) ln(1 + t) - t; 1, its limit, for t = -1 and below.

    ln(1 + t) = 2 artanh y with y = t / (2 + t), and 2 y (1 + t) - t = t y.
    """
    if -_SMALL < t < _SMALL:
        y = t / (2.0 + t)
        w = y * y
        tail = 1 / 9 + w * (1 / 11 + w * (1 / 13 + w * (1 / 15 + w / 17)))
        return y * (t + 2.0 * w * (1.0 + t) * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * tail))))
    return (1.0 + t) * math.log(1.0 + t) - t if t > -1.0 else 1.0


def largest_divergence_above(pulls: float, lowest: float, highest: float, threshold: float) -> float:
    """Return no less than the divergence of records with ``pulls`` pulls or more and an excess between the two.

    It falls with the pulls, and is convex in the excess.
    """
    if threshold == 0.5:
        return even_divergence_above(pulls, max(-lowest, highest))
    above = divergence_above(pulls, max(highest, 0.0), threshold)
    return max(above, divergence_above(pulls, max(-lowest, 0.0), 1.0 - threshold))


def divergence_above(pulls: float, excess: float, threshold: float) -> float:
    """Return no less than ``divergence``, for an excess that is not negative; infinity beyond a mean of 1.

    The series of g end after the fourth power where t > 0, and above a geometric series where t < 0. Without a branch.
    """
    ones = pulls * threshold
    zeros = pulls * (1.0 - threshold)
    t = excess / ones
    s = excess / zeros
    tail = s * s / (1.0 - s) if s < 1.0 else math.inf
    return ones * t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12))) + zeros * (
        s * s * (1 / 2 + s * (1 / 6)) + s * s * tail / 12
    )


def even_divergence_above(pulls: float, excess: float) -> float:
    """Return no less than ``divergence`` at the threshold 1/2, where it is the same on both sides."""
    u = 2.0 * excess / pulls
    w = u * u
    tail = 1.0 / (1.0 - w) if w < 1.0 else math.inf
    return 0.5 * pulls * w * (1.0 + w * (1 / 6 + w * tail * (1 / 15)))
