"""The Beta distribution with points at 0 and 1 that records speak for, as a prior of the means of arms.

Four shapes are fitted: a Beta alone, with a point at 0, at 1, and with both. Each is what is most probable given all
records, under a prior with the flat Beta(1, 1) in its middle, so that few arms say little. Records of few pulls hardly
tell a point from a density that rises towards it, so the shapes are then averaged, with the weights that the Bayesian
information criterion gives them (Schwarz: Estimating the dimension of a model, Annals of Statistics 6, 1978): a point
counts for as much as the records need it.

``around`` returns the shapes that the records leave possible beside these, on a grid in units of standard errors.
"""

from collections.abc import Callable
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi, softmax

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
_GRID = np.stack(np.meshgrid(np.arange(-3.0, 4.0), np.arange(-3.0, 4.0)), axis=-1).reshape(-1, 2)  # standard errors
_LEAST_OF_KIND, _LEAST_OF_SHAPE = 0.03, 0.004  # weights below which a kind of shape, a shape of it, is left out


class Shape(NamedTuple):
    """A Beta(a, b) distribution of this weight, and the weights of the points 0 and 1."""

    weight: float
    a: float
    b: float
    zero: float
    one: float


class _Counts(NamedTuple):
    """The different values that counts have among the records, one count's after another's, (V,): ``values``.

    ``kind``: which count has it, (V,). ``which``: where each record's values stand, (counts, R).
    """

    values: Floats
    kind: NDArray[np.intp]
    which: NDArray[np.intp]

    @classmethod
    def of(cls, *counts: Floats) -> "_Counts":
        """Return those of some counts of all records, (R,) each."""
        each = [np.unique(count, return_inverse=True) for count in counts]
        sizes = [values.size for values, _ in each]
        before = np.cumsum([0, *sizes[:-1]])
        which = np.stack([place + first for (_, place), first in zip(each, before, strict=True)])
        return cls(np.concatenate([values for values, _ in each]), np.repeat(np.arange(len(counts)), sizes), which)

    def rises(self, function: Callable[[Floats], Floats], *starts: float) -> Floats:
        """Return by how much a function rises from a start a count over each record's counts, (counts, R)."""
        at = np.array(starts)
        rises: Floats = function(at[self.kind] + self.values) - function(at)[self.kind]
        return rises[self.which]


class _Records(NamedTuple):
    """How many arms stand at each record, (R,); ``like``: 1 for the Beta, and where all rewards are like a point.

    ``counts`` are total, failures and pulls. The shape of ``like`` is (1 + P, R).
    """

    counts: _Counts
    arms: Floats
    like: Floats


class _Place(NamedTuple):
    """A shape by its parameters x, ln of its posterior density but for a constant, gradient, and information."""

    x: Floats
    value: float
    gradient: Floats
    information: Floats
    log_likelihood: float


class _Fit(NamedTuple):
    """The best shape with these of the points 0 and 1, and its weight in the average."""

    weight: float
    has: list[float]
    records: _Records
    place: _Place


def shapes(n: Floats, total: Floats, count: Floats) -> list[tuple[float, Shape]]:
    """Return shapes and their weights in the average; ``count`` arms have these pulls and totals, (R,) each."""
    return [(fit.weight, _shape(fit.place.x, fit.has)) for fit in _fits(n, total, count)]


def around(n: Floats, total: Floats, count: Floats) -> list[tuple[float, Shape]]:
    """Return shapes and weights that stand for all that the records leave possible; what is taken is as in ``shapes``.

    The mean and the size of the Beta vary around each fit, the weights of its points stay.
    """
    found: list[tuple[float, Shape]] = []
    for fit in _fits(n, total, count):
        if fit.weight < _LEAST_OF_KIND:
            continue
        errors = np.linalg.cholesky(np.linalg.inv(fit.place.information)[:2, :2])
        places = np.repeat(fit.place.x[None], len(_GRID), axis=0)
        places[:, :2] = np.clip(places[:, :2] + _GRID @ errors.T, -_FURTHEST, _FURTHEST)
        likely = softmax([_look(fit.records, x).value for x in places])
        found += [
            (fit.weight * float(share), _shape(x, fit.has))
            for share, x in zip(likely, places, strict=True)
            if share > _LEAST_OF_SHAPE
        ]
    return found


def _fits(n: Floats, total: Floats, count: Floats) -> list[_Fit]:
    like = np.stack([total == total, total == 0.0, total == n]).astype(np.float64)
    counts = _Counts.of(total, n - total, n)
    records = [_Records(counts, count, like[which]) for which in ([0], [0, 1], [0, 2], [0, 1, 2])]
    starts = [np.array(start) for start in _STARTS]
    alone = _best(records[0], starts)
    zero, one = (_best(each, [np.append(x, _POINT) for x in (alone.x, starts[0])]) for each in records[1:3])
    both = _best(records[3], [np.append(zero.x, _POINT), np.insert(one.x, 2, _POINT)])
    found = list(zip(([0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]), (alone, zero, one, both), strict=True))
    arms = np.log(max(count.sum(), 1.0))
    weights = softmax([place.log_likelihood - 0.5 * arms * sum(has) for has, place in found])
    each = zip(weights.tolist(), records, found, strict=True)
    return [_Fit(weight, has, own, place) for weight, own, (has, place) in each]


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
    counts, count, like = records
    a, b, weights = _unpack(x)
    parts = weights[:, None] * like
    of_a, of_b, of_both = counts.rises(gammaln, a, b, a + b)
    parts[0] *= np.exp(of_a + of_b - of_both)
    likelihood = parts.sum(axis=0) + _UNDERFLOW
    shares = parts / likelihood
    by_a, by_b, by_both = counts.rises(psi, a, b, a + b)
    scores = np.empty((x.size, count.size))
    scores[0] = (a * b / (a + b)) * shares[0] * (by_a - by_b)
    scores[1] = shares[0] * (a * by_a + b * by_b - (a + b) * by_both)
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
