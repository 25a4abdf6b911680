"""The table of the free boundary against the integral equation that it solves, and its two ends."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from cutline.policies.free_boundary import log_cost, log_cost_above, x_below


def psi(x: float) -> float:
    return log_cost(1.0, math.sqrt(2.0 * x))


def boundary(time: float, psi: Callable[[float], float]) -> float:
    """Return z on the boundary at the time c t: where psi(z^2 / 2) = -ln(c t)."""
    if time > 100.0:
        return 1.0 / (2.0 * math.sqrt(2.0 * math.pi) * time)
    return float(brentq(lambda z: psi(z * z / 2.0) + math.log(time), 1e-4, 20.0, xtol=1e-12))


def imbalance(time: float, psi: Callable[[float], float]) -> float:
    """Return by what share going on from the boundary costs more than the error that it avoids: 0 if psi is right.

    A walk that is z sqrt(t) at the time t, its drift unknown with a flat prior, is normal at a later time t + s, with
    the mean z sqrt(t) (1 + s / t) and the variance s (1 + s / t). In the end the error is none.
    """
    z = boundary(time, psi)

    def watched(root: float) -> float:
        later = time + root * root
        mean = z * math.sqrt(time) * later / time
        deviation = root * math.sqrt(later / time)
        edge = boundary(later, psi) * math.sqrt(later)
        return float(ndtr((edge - mean) / deviation) - ndtr((-edge - mean) / deviation)) * 2.0 * root

    points, weights = np.polynomial.legendre.leggauss(16)
    cuts = [0.0, *(z * math.sqrt(time) * 2.0**k for k in range(-3, 24))]
    paid = 0.0
    for low, high in pairwise(cuts):
        half = (high - low) / 2.0
        paid += half * sum(w * watched(low + half * (1.0 + x)) for x, w in zip(points, weights, strict=True))
    return paid / float(ndtr(-z)) - 1.0


@pytest.mark.parametrize("time", [1.0, 0.1, 1e-2, 1e-4, 1e-6])
def test_going_on_costs_on_the_boundary_what_it_saves(time: float) -> None:
    assert imbalance(time, psi) == pytest.approx(0.0, abs=2e-5)


def test_a_boundary_a_little_off_would_be_found_out() -> None:
    """The control: a psi that is too high by 0.0003 about x = 1."""
    assert abs(imbalance(0.05, psi)) < 2e-5
    assert abs(imbalance(0.05, lambda x: psi(x) + 3e-4 * math.exp(-((x - 1.0) ** 2)))) > 1e-4


def test_its_ends_are_known_in_closed_form() -> None:
    assert psi(1e-7) == pytest.approx(0.5 * math.log(1e-7) + math.log(4 * math.sqrt(math.pi)), abs=1e-6)
    for x, close in ((40.0, 0.045), (1e3, 2e-3), (1e6, 2e-6)):
        assert psi(x) == pytest.approx(x - 0.5 * math.log(x) + math.log(2 * math.sqrt(math.pi)), abs=close)


def test_it_grows_and_has_no_jumps_where_one_piece_ends_and_the_next_begins() -> None:
    values = np.array([log_cost(1.0, z) for z in np.linspace(0.01, 20.0, 20_000)])
    steps = np.diff(values)
    assert steps.min() > 0.0
    assert np.abs(np.diff(steps[100:])).max() < 1e-4


def test_time_counts_by_its_logarithm() -> None:
    assert log_cost(1000.0, 1.5) - log_cost(1.0, 1.5) == pytest.approx(math.log(1000.0), rel=1e-14)


def test_its_upper_bound_is_never_below_it_and_hardly_above_it() -> None:
    for x in np.geomspace(1e-12, 1e8, 20_000).tolist():
        over = log_cost_above(7.0, x) - log_cost(7.0, math.sqrt(2.0 * x))
        assert over > 0.0, x
        assert over < 2e-3 or not 1e-9 < x < 1e6, x
    assert log_cost_above(7.0, 0.0) < -5.0
    assert log_cost_above(7.0, math.inf) == math.inf


def test_its_inverse_is_never_too_far_and_says_so_below_its_table() -> None:
    for x in np.geomspace(0.01, 1e6, 20_000).tolist():
        found = x_below(7.0, log_cost(7.0, math.sqrt(2.0 * x)))
        assert found < x
        assert x - found < 1e-3 or x > 40.0 or found == -1.0
        assert (found == -1.0) == (x < 0.22) or abs(x - 0.22) < 1e-4


def test_from_the_least_x_of_the_inverse_on_a_distance_is_concave_in_the_pulls() -> None:
    """sqrt(n x) where ln(n) + psi(x) is a level: what bands rely on; and it is not much further down."""

    def bend(level: float, n: float) -> float:
        def distance(n: float) -> float:
            z = float(brentq(lambda z: log_cost(n, z) - level, 1e-3, 30.0, xtol=1e-14))
            return z * math.sqrt(n)

        return distance(0.98 * n) + distance(1.02 * n) - 2.0 * distance(n)

    for x in np.geomspace(0.23, 100.0, 300).tolist():
        assert bend(log_cost(1000.0, math.sqrt(2.0 * x)), 1000.0) < 0.0
    assert bend(log_cost(1000.0, math.sqrt(2.0 * 0.15)), 1000.0) > 0.0
