"""The Beta distribution with points at 0 and 1 that records speak for, as a prior of the means of arms.

Four shapes are fitted: a Beta alone, with a point at 0, at 1, and with both. Each is what is most probable given all
records, under a prior with the flat Beta(1, 1) in its middle, so that few arms say little. Records of few pulls hardly
tell a point from a density that rises towards it, so the shapes are then averaged, with the weights that the Bayesian
information criterion gives them (Schwarz: Estimating the dimension of a model, Annals of Statistics 6, 1978): a point
counts for as much as the records need it.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, psi, softmax

from cutline.beliefs.intervals import Floats

_STARTS = (0.0, 0.7), (2.0, -0.5), (-2.0, -0.5)  # logit of the mean, ln(a + b)
_POINT = -3.0  # where the logit of a point's weight begins
_SPREADS = np.array([3.0, 2.0])  # standard deviations of the logit of the mean and of ln(a + b)
_PRECISIONS = _SPREADS**-2
_MIDDLE = np.array([0.0, np.log(2.0)])  # Beta(1, 1)
_ARMS_OF_BETA, _ARMS_OF_POINT = 1.0, 0.02  # arms that stand for each before there is any
_FURTHEST = 12.0
_MOST_STEPS = 30
_ENOUGH = 1e-3  # an improvement of the logarithm that is not worth another step
_UNDERFLOW = 1e-300


class Shape(NamedTuple):
    """A Beta(a, b) distribution of this weight, and the weights of the points 0 and 1."""

    weight: float
    a: float
    b: float
    zero: float
    one: float


class _Records(NamedTuple):
    """How many arms stand at each record, (R,) each; ``like``: 1 for the Beta, and where all rewards are like a point.

    Its shape is (1 + P, R).
    """

    n: Floats
    total: Floats
    arms: Floats
    like: Floats


class _Place(NamedTuple):
    """A shape by its parameters x, ln of its posterior density but for a constant, gradient, and information."""

    x: Floats
    value: float
    gradient: Floats
    information: Floats
    log_likelihood: float


def shapes(n: Floats, total: Floats, count: Floats) -> list[tuple[float, Shape]]:
    """Return shapes and their weights in the average; ``count`` arms have these pulls and totals, (R,) each."""
    like = np.stack([total == total, total == 0.0, total == n]).astype(np.float64)
    records = [_Records(n, total, count, like[which]) for which in ([0], [0, 1], [0, 2], [0, 1, 2])]
    starts = [np.array(start) for start in _STARTS]
    alone = _best(records[0], starts)
    zero, one = (_best(each, [np.append(x, _POINT) for x in (alone.x, starts[0])]) for each in records[1:3])
    both = _best(records[3], [np.append(zero.x, _POINT), np.insert(one.x, 2, _POINT)])
    found = list(zip(([0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]), (alone, zero, one, both), strict=True))
    arms = np.log(max(count.sum(), 1.0))
    weights = softmax([place.log_likelihood - 0.5 * arms * sum(has) for has, place in found])
    return [(float(weight), _shape(place.x, has)) for weight, (has, place) in zip(weights, found, strict=True)]


def _shape(x: Floats, has: list[float]) -> Shape:
    """Return the shape with these parameters and these of the points 0 and 1."""
    a, b, weights = _unpack(x)
    points = iter(weights[1:].tolist())
    return Shape(float(weights[0]), a, b, *(next(points) if there else 0.0 for there in has))


def _unpack(x: Floats) -> tuple[float, float, Floats]:
    """Return a, b and the weights of the Beta and of the points."""
    odds, size, *points = map(exp, x.tolist())
    weights = np.array([1.0, *points])
    return size * odds / (1.0 + odds), size / (1.0 + odds), weights / weights.sum()


def _best(records: _Records, starts: list[Floats]) -> _Place:
    """Return the most probable place that is found from any start."""
    return max((_climb(records, start) for start in starts), key=lambda place: place.value)


def _climb(records: _Records, start: Floats) -> _Place:
    """Return the place uphill of a start, by Levenberg and Marquardt's steps.

    The information is the sum of products of the records' scores (Berndt, Hall, Hall and Hausman 1974).
    """
    here, damping = _look(records, start), 1e-3
    for _ in range(_MOST_STEPS):
        damped = here.information.copy()
        damped.flat[:: start.size + 1] *= 1.0 + damping
        step = np.linalg.solve(damped, here.gradient)
        there = _look(records, np.minimum(np.maximum(here.x + step, -_FURTHEST), _FURTHEST))
        gain = there.value - here.value
        if gain <= 0.0:
            if step @ here.gradient < _ENOUGH:
                break
            damping *= 8.0
            continue
        here, damping = there, damping / 8.0
        if gain < _ENOUGH:
            break
    return here


def _look(records: _Records, x: Floats) -> _Place:
    """Return what is to be known of the shape with parameters x."""
    n, total, count, like = records
    a, b, weights = _unpack(x)
    failures = n - total
    parts = weights[:, None] * like
    parts[0] *= np.exp(betaln(a + total, b + failures) - betaln(a, b))
    likelihood = parts.sum(axis=0) + _UNDERFLOW
    shares = parts / likelihood
    by_a, by_b = psi(a + total) - psi(a), psi(b + failures) - psi(b)
    scores = np.empty((x.size, n.size))
    scores[0] = (a * b / (a + b)) * shares[0] * (by_a - by_b)
    scores[1] = shares[0] * (a * by_a + b * by_b + (a + b) * (psi(a + b) - psi(a + b + n)))
    scores[2:] = shares[1:] - weights[1:, None]

    points = weights[1:]
    arms = _ARMS_OF_BETA + _ARMS_OF_POINT * points.size
    far = (x[:2] - _MIDDLE) / _SPREADS
    log_likelihood = float(count @ np.log(likelihood))
    value = log_likelihood - 0.5 * float(far @ far) + _ARMS_OF_BETA * log(weights[0])
    gradient = scores @ count
    gradient[:2] -= far / _SPREADS
    information = (scores * count) @ scores.T
    diagonal = information.ravel()[:: x.size + 1]
    diagonal[:2] += _PRECISIONS
    if points.size:
        value += _ARMS_OF_POINT * float(np.log(points).sum())
        gradient[2:] += _ARMS_OF_POINT - arms * points
        diagonal[2:] += arms * points * (1.0 - points) + 1e-9
    return _Place(x, value, gradient, information, log_likelihood)
