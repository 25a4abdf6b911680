"""What many arms tell about each other: a prior of their means, learnt from all records.

A prior has a density on (0, 1), constant on each cell of a grid, and points of mass at 0 and 1, since suites and evals
have arms that never or always succeed. It is learnt in two steps. First a Beta distribution, with points where the
records need them (``beta_fit``), by the likelihood of all records; the likelihood does not depend on why an arm was
pulled as often as it was, so no rule of asking does harm. Then the masses of all cells, by EM, under a Dirichlet prior
that is centred on the first fit and weighs as much as ``_CENTRE`` arms: where many arms show a shape that no Beta has,
the prior takes it on.

A reward between 0 and 1 counts as that part of a success and the rest of a failure.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln

from cutline.beliefs.beta_fit import shapes
from cutline.beliefs.intervals import Floats

_CELLS = 120
_CENTRE = 30.0  # arms
_STEPS = 60
_STILL = 1e-20
_TINY = 1e-12
_UNDERFLOW = 1e-300

EDGES: Floats = np.sin(0.5 * np.pi * np.arange(_CELLS + 1) / _CELLS) ** 2  # as close as standard errors are small
"""The ends of the cells on which a prior has a constant density."""

_WIDTHS: Floats = np.diff(EDGES)

MEANS: Floats = np.append(0.5 * (EDGES[:-1] + EDGES[1:]), [0.0, 1.0])
"""The means that the masses of a prior stand for: the middles of the cells, 0 and 1."""

_LONGEST_SHORT = 500  # pulls
_PIECE = 100  # records, so that what is computed of them stays in the cache
_NODES = 4  # in a cell
_NEAR, _FINEST = 0.02, 10  # how near the threshold cells are cut into smaller ones, and how often these are halved
_PLACES, _PARTS = np.polynomial.legendre.leggauss(_NODES)
_THREE, _SHARES = np.polynomial.legendre.leggauss(3)
_ANGLES: Floats = (0.5 * np.pi / _CELLS * (np.arange(_CELLS)[:, None] + 0.5 * (1.0 + _PLACES))).ravel()
_LN: Floats = 2.0 * np.log(np.sin(_ANGLES))
_LN_REST: Floats = 2.0 * np.log(np.cos(_ANGLES))
_WEIGHTS: Floats = (np.sin(2.0 * _ANGLES).reshape(_CELLS, _NODES) * (_PARTS * 0.25 * np.pi / _CELLS)).ravel()
_WEIGHTS /= np.repeat(_WIDTHS, _NODES)


@dataclass(frozen=True)
class Prior:
    """A prior of an arm's mean: ``masses``, shape (cells + 2,), of the cells, of the point 0 and of the point 1."""

    masses: Floats

    @classmethod
    def beta(cls, a: float, b: float) -> "Prior":
        """Return Beta(a, b), for a, b > 0, cell by cell."""
        return cls(np.append(np.diff(betainc(a, b, EDGES)), [0.0, 0.0]))

    def points(self, threshold: float) -> tuple[Floats, Floats]:
        """Return means and their probabilities, (P,) each, that stand for the prior: three in each cell, and 0 and 1.

        Gauss and Legendre's, so that probabilities of records of up to a thousand pulls are right to many digits. A
        cell with the threshold inside is taken as two.
        """
        edges = np.union1d(EDGES, threshold)
        low, width = edges[:-1], np.diff(edges)
        cell = np.searchsorted(EDGES, low, side="right") - 1
        weights = self.masses[cell] * width / _WIDTHS[cell]
        means = low[:, None] + width[:, None] * (0.5 + 0.5 * _THREE)
        return np.append(means, [0.0, 1.0]), np.append(weights[:, None] * (0.5 * _SHARES), self.masses[-2:])

    @classmethod
    def learn(cls, pulls: ArrayLike, totals: ArrayLike, arms: ArrayLike) -> "Prior":
        """Return the prior that is learnt from records: ``arms`` of them, arrays (R,), have these pulls and totals."""
        return cls(_learnt(*(np.asarray(item, np.float64).tobytes() for item in (pulls, totals, arms))))

    def above(self, pulls: ArrayLike, totals: ArrayLike, threshold: float) -> Floats:
        """Return the probability that the mean of an arm with such a record is above the threshold, in (0, 1).

        ``pulls`` n >= 0 and ``totals`` from 0 to n have shape (R,), as has the result. A point on (0, 1) has no mass.
        """
        return self.sides(pulls, totals, threshold)[1]

    def sides(self, pulls: ArrayLike, totals: ArrayLike, threshold: float) -> tuple[Floats, Floats]:
        """Return the probabilities that the mean of an arm is below and ``above`` the threshold."""
        n, total = np.asarray(pulls, np.float64), np.asarray(totals, np.float64)
        each = _likelihoods(n, total) * self.masses
        cut = np.searchsorted(EDGES, threshold) - 1  # the cell that holds the threshold
        parts = betainc(total + 1.0, n - total + 1.0, np.array([[EDGES[cut]], [threshold], [EDGES[cut + 1]]]))
        lower, upper = np.diff(parts, axis=0) * (self.masses[cut] / _WIDTHS[cut])
        below = each[:, :cut].sum(axis=1) + each[:, -2] + lower
        above = each[:, cut + 1 : -2].sum(axis=1) + each[:, -1] + upper
        return below / (below + above), above / (below + above)

    def nodes(self, threshold: float) -> tuple[Floats, Floats]:
        """Return means and masses that stand for the prior, close to each other near the threshold; (N,) each."""
        near = threshold + np.outer([-1.0, 1.0], _NEAR * 0.5 ** np.arange(_FINEST)).ravel()
        ends = np.union1d(EDGES, np.append(near[(near > 0.0) & (near < 1.0)], threshold))
        low, width = ends[:-1, None], np.diff(ends)[:, None]
        cells = np.searchsorted(EDGES, low[:, 0], side="right") - 1
        means = low + 0.5 * width * (1.0 + _PLACES)
        masses = (self.masses[cells] / _WIDTHS[cells])[:, None] * (0.5 * width * _PARTS)
        return np.append(means.ravel(), [0.0, 1.0]), np.append(masses.ravel(), self.masses[-2:])

    def log_likelihood(self, pulls: ArrayLike, totals: ArrayLike) -> Floats:
        """Return ln of the probability of the rewards of each record in their order, shape (R,)."""
        n, total = np.asarray(pulls, np.float64), np.asarray(totals, np.float64)
        unit: Floats = betaln(total + 1.0, n - total + 1.0)
        return unit + np.log(_likelihoods(n, total) @ self.masses)


def _likelihoods(n: Floats, total: Floats) -> Floats:
    """Return the likelihood of each record, shape (R,), at each cell and point: (R, cells + 2).

    In units of B(total + 1, n - total + 1), which keeps them from underflow: at a cell the mean over it of the density
    of Beta(total + 1, n - total + 1); at a point n + 1 if all rewards were like it, else 0.
    """
    each = np.empty((n.size, _CELLS + 2))
    long = n > _LONGEST_SHORT
    short = np.flatnonzero(~long)
    for start in range(0, short.size, _PIECE):
        part = short[start : start + _PIECE]
        each[part, :-2] = _short(n[part], total[part])
    a, b = total[long, None] + 1.0, (n - total)[long, None] + 1.0
    each[long, :-2] = np.diff(betainc(a, b, EDGES)) / _WIDTHS
    each[:, -2] = np.where(total == 0.0, n + 1.0, 0.0)
    each[:, -1] = np.where(total == n, n + 1.0, 0.0)
    return each


def _short(n: Floats, total: Floats) -> Floats:
    """Return the means over the cells of the densities, which are wider than the cells if n is small: by quadrature."""
    densities = np.multiply.outer(total, _LN)
    densities += np.multiply.outer(n - total, _LN_REST)
    densities -= betaln(total + 1.0, n - total + 1.0)[:, None]
    np.exp(densities, out=densities)
    densities *= _WEIGHTS
    first, second, third, fourth = (densities[:, node::_NODES] for node in range(_NODES))
    means: Floats = first + second + third + fourth
    return means


@lru_cache(maxsize=2)
def _learnt(pulls: bytes, totals: bytes, arms: bytes) -> Floats:
    """Return the masses of the prior that is learnt; a campaign and its policy learn from the same records."""
    n, total, count = (np.frombuffer(item) for item in (pulls, totals, arms))
    masses = _most_probable(_likelihoods(n, total), count, _centre(n, total, count))
    masses.flags.writeable = False
    return masses


def _centre(n: Floats, total: Floats, count: Floats) -> Floats:
    """Return the masses of the average of the shapes that are fitted to the records."""
    masses = np.zeros(_CELLS + 2)
    for weight, shape in shapes(n, total, count):
        cells = shape.weight * np.diff(betainc(shape.a, shape.b, EDGES))
        masses += weight * np.append(cells, [shape.zero, shape.one])
    masses[:-2] += _TINY * _WIDTHS  # no mean is impossible
    return masses


def _most_probable(likelihood: Floats, count: Floats, centre: Floats) -> Floats:
    """Return the masses that are most probable under the Dirichlet prior, by EM.

    EM is slow where records say little, so three of its steps are taken as one that is extrapolated from two (Varadhan
    and Roland: Simple and globally convergent methods for accelerating the convergence of any EM algorithm,
    Scandinavian Journal of Statistics 35, 2008).
    """
    arms = count.sum() + _CENTRE

    def step(masses: Floats) -> Floats:
        weights = count / np.einsum("rc,c->r", likelihood, masses)  # with @ many threads would wait for each other
        shares = masses * np.einsum("r,rc->c", weights, likelihood)
        following: Floats = (shares + _CENTRE * centre) / arms
        return following

    masses = centre
    for _ in range(_STEPS):
        first = step(masses)
        second = step(first)
        change = first - masses
        bend = second - first - change
        if bend @ bend <= _STILL:
            return second
        length = max(1.0, float(np.sqrt((change @ change) / (bend @ bend))))
        further = np.maximum(masses + 2.0 * length * change + length**2 * bend, _UNDERFLOW)
        masses = step(further / further.sum())
    return masses
