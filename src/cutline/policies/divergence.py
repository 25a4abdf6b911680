"""n kl(mean, threshold) of a record: the log-likelihood ratio between its mean and the threshold.

kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)) is the Kullback-Leibler divergence between two coins. With the
mean p = theta + excess / n,

    n kl(p, theta) = n theta g(excess / (n theta)) + n (1 - theta) g(-excess / (n (1 - theta))),
    g(t) = (1 + t) ln(1 + t) - t.

Both parts are positive, so no digits are lost where the mean is close to the threshold.
"""

import math

_SMALL = 0.05  # up to here eleven terms of the series of g are exact


def divergence(pulls: float, excess: float, threshold: float) -> float:
    """Return pulls * kl(threshold + excess / pulls, threshold)."""
    ones = pulls * threshold
    zeros = pulls * (1.0 - threshold)
    return ones * entropy_gap(excess / ones) + zeros * entropy_gap(-excess / zeros)


def entropy_gap(t: float) -> float:
    """Return g(t) = (1 + t) ln(1 + t) - t; 1, its limit, for t = -1 and below."""
    if -_SMALL < t < _SMALL:
        tail = 1 / 56 - t * (1 / 72 - t * (1 / 90 - t * (1 / 110 - t / 132)))
        return t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t * (1 / 30 - t * (1 / 42 - t * tail))))))
    return (1.0 + t) * math.log(1.0 + t) - t if t > -1.0 else 1.0
