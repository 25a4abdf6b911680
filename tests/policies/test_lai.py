"""Lai against the problem that it comes from: a coin, a flat prior, a cost of a pull and an error that costs 1."""

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import betainc

from cutline import LSA
from cutline.policies.lai import Lai, overshoot


@cache
def critical(threshold: float, longest: int) -> dict[tuple[int, int], float]:
    """Return -ln of the cost at which pulling on just pays, to about 0.01, for each record (n, S), prior Beta(1, 1).

    By dynamic programming; records with ``longest`` pulls are not pulled on.
    """
    levels = np.arange(1.0, 7.5, 0.1)
    found, value = {}, np.empty((levels.size, 0))
    for n in range(longest, 0, -1):
        totals = np.arange(n + 1)
        below = betainc(1.0 + totals, 1.0 + n - totals, threshold)
        stop = np.minimum(below, 1.0 - below)
        share = (1.0 + totals) / (2.0 + n)
        go_on = np.exp(-levels)[:, None] + (
            share * value[:, 1:] + (1.0 - share) * value[:, :-1] if value.size else stop
        )
        if n <= 40:
            found.update({(n, s): float(np.interp(0.0, stop[s] - go_on[:, s], levels)) for s in range(n + 1)})
        value = np.minimum(stop, go_on)
    return found


def test_at_one_half_its_index_is_the_critical_cost_under_a_flat_prior() -> None:
    records = [(5, 3), (10, 6), (10, 7), (10, 8), (20, 11), (20, 13), (40, 22), (40, 25)]
    for n, s in records:
        want = critical(0.5, 800)[n, s]
        assert 1.5 < want < 7.0
        assert Lai.index(float(n), float(s), 0.5) == pytest.approx(want, abs=0.1)


def test_lsa_is_further_from_the_critical_cost() -> None:
    """The control. Only differences between records matter, so these are compared."""
    records = [(10, 6), (10, 8), (40, 22), (40, 25)]
    want = np.diff([critical(0.5, 800)[record] for record in records])
    ours = np.diff([Lai.index(float(n), float(s), 0.5) for n, s in records])
    theirs = np.diff([LSA.index(float(n), float(s), 0.5, 1.35) for n, s in records])
    assert np.abs(ours - want).max() < 0.1
    assert np.abs(theirs - want).max() > 0.5


def ladder_heights(threshold: Fraction, steps: int = 4000) -> tuple[float, float]:
    """Return E H^2 / 2 E H for H, by how much the excess first rises above 0, and the same for falling below 0.

    By enumeration: the walk starts anew when it has risen; after so many steps next to nothing is still on its way.
    """
    found = []
    for up, down, chance in (
        (1 - threshold, threshold, float(threshold)),
        (threshold, 1 - threshold, float(1 - threshold)),
    ):
        unit = threshold.denominator
        rise, fall = int(up * unit), int(down * unit)
        depth = 60 * unit
        mass, first, second = np.zeros(depth + 1), 0.0, 0.0  # mass[k]: the walk is k units below 0
        mass[0] = 1.0
        for _ in range(steps):
            for k in range(min(rise, depth + 1)):
                height = (rise - k) / unit
                first += chance * mass[k] * height
                second += chance * mass[k] * height * height
            moved = np.zeros(depth + 1)
            moved[: depth + 1 - rise] += chance * mass[rise:]
            moved[fall:] += (1.0 - chance) * mass[: depth + 1 - fall]
            moved[-1] += (1.0 - chance) * mass[depth + 1 - fall :].sum()
            mass = moved
        found.append(second / (2.0 * first))
    return found[0], found[1]


@pytest.mark.parametrize("threshold", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(4, 5)])
def test_the_overshoot_is_that_of_a_walk_on_the_threshold(threshold: Fraction) -> None:
    up, down = ladder_heights(threshold)
    assert overshoot(float(threshold)) == pytest.approx(up, abs=0.003)
    assert overshoot(float(1 - threshold)) == pytest.approx(down, abs=0.003)


def test_on_the_threshold_it_is_half_a_logarithm() -> None:
    """psi is 1/2 ln x + ln(4 sqrt(pi)) there, and x = 1 / (8 n) is all that the overshoot of 1/4 leaves."""
    for n in (100, 10_000, 1_000_000):
        want = 0.5 * math.log(n + 1) + math.log(4 * math.sqrt(math.pi)) - 0.5 * math.log(8)
        assert Lai.index(float(n), n / 2, 0.5) == pytest.approx(want, abs=2.0 / n + 1e-5)


def test_ones_and_zeros_change_places_with_the_threshold() -> None:
    for n in range(1, 41):
        for s in range(n + 1):
            if 4 * s != n:  # a mean on the threshold is above it, on either side
                assert Lai.index(float(n), float(s), 0.25) == Lai.index(float(n), float(n - s), 0.75)
            assert Lai.index(float(n), float(s), 0.5) == Lai.index(float(n), float(n - s), 0.5)


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.98])
def test_the_further_from_the_threshold_the_higher_it_is(threshold: float) -> None:
    for n in (1, 2, 9, 50, 1000):
        above = [Lai.index(float(n), float(s), threshold) for s in range(n + 1) if s >= threshold * n]
        below = [Lai.index(float(n), float(s), threshold) for s in range(n, -1, -1) if s < threshold * n]
        for values in (above, below):
            assert all(low < high for low, high in pairwise(values))


def test_a_long_record_needs_more_than_a_short_one_with_the_same_mean() -> None:
    for share in (0.5, 0.55, 0.7, 1.0):
        values = [Lai.index(float(n), share * n, 0.5) for n in (20, 40, 80, 160, 320, 10**6)]
        assert all(low < high for low, high in pairwise(values))


def test_it_has_no_parameters() -> None:
    assert str(Lai()) == "Lai"
    assert Lai().parameters() == ()
