"""LSA against the paper's formula."""

import math
from fractions import Fraction
from itertools import groupby, pairwise

import mpmath
import numpy as np
import pytest

import naive
from cutline import APT, LSA, InvalidInputError
from orders import assert_orders_alike

RECORDS = [(n, s) for n in range(1, 61) for s in range(n + 1)]


@pytest.mark.parametrize(("pulls", "total", "want"), [(1, 0, 0.3375), (1, 1, 0.3375), (2, 1, 0.5 * math.log(2))])
def test_its_index_is_known_for_the_first_records(pulls: int, total: int, want: float) -> None:
    """At threshold 1/2: alpha T gap^2 = 1.35 / 4 after one pull, and 0 after a one and a zero."""
    assert LSA.index(float(pulls), float(total), 0.5, 1.35) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("theta", [0.5, 0.3, 0.55, 1 / 3, 0.123456])
@pytest.mark.parametrize("alpha", [0.5, 1.35, 4.0])
def test_its_index_is_the_formula_of_algorithm_1(theta: float, alpha: float) -> None:
    with mpmath.workdps(40):
        for n, s in [*RECORDS, (10**6, 499_000), (10**6, 0), (999_983, 300_000)]:
            gap = abs(mpmath.mpf(s) / n - mpmath.mpf(theta))
            want = alpha * n * gap**2 + mpmath.log(n) / 2
            assert float(abs(LSA.index(float(n), float(s), theta, alpha) - want)) <= 1e-12 * float(want) + 1e-15


@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction("0.3"), Fraction("0.55"), Fraction("0.123456")])
def test_it_orders_records_as_exact_arithmetic_does_ties_included(theta: Fraction) -> None:
    twin = naive.lsa(theta, Fraction("1.35"))
    ties = assert_orders_alike(lambda n, s: LSA.index(float(n), float(s), float(theta), 1.35), twin, RECORDS)
    assert ties == sum(
        2 * theta * n % 1 == 0 and theta * n * 2 - s != s
        for n, s in RECORDS
        if s < theta * n and 2 * theta * n - s <= n
    )


def test_it_orders_arms_with_equal_pulls_as_apt_does_without_epsilon() -> None:
    for n in range(1, 41):
        by_lsa = np.argsort([LSA.index(float(n), float(s), 0.3, 1.35) for s in range(n + 1)], stable=True)
        by_apt = np.argsort([APT.index(float(n), float(s), 0.3, 0.0) for s in range(n + 1)], stable=True)
        assert by_lsa.tolist() == by_apt.tolist()


def test_without_its_logarithm_it_is_alpha_times_apt() -> None:
    for n, s in RECORDS:
        rest = LSA.index(float(n), float(s), 0.3, 1.35) - 0.5 * math.log(n)
        assert rest == pytest.approx(1.35 * APT.index(float(n), float(s), 0.3, 0.0), abs=1e-10)


def test_its_default_is_the_alpha_of_the_papers_experiments() -> None:
    assert LSA() == LSA(alpha=1.35)
    assert str(LSA()) == "LSA(1.35)"


@pytest.mark.parametrize("alpha", [0, -1, -1e-300, 1e101])
def test_alpha_must_be_above_0(alpha: float) -> None:
    with pytest.raises(InvalidInputError, match=r"^LSA: alpha is .*; it must be a number above 0, at most 1e100$"):
        LSA(alpha)


@pytest.mark.parametrize("theta", [Fraction(1, 3), Fraction(2, 7)])
def test_at_a_threshold_that_no_decimal_can_write_only_records_that_tie_may_change_places(theta: Fraction) -> None:
    """There the threshold itself is rounded, so that a tie on paper may differ in its last place."""
    twin = naive.lsa(theta, Fraction("1.35"))
    groups = [
        list(group) for _, group in groupby(sorted(RECORDS, key=lambda item: twin(*item)), key=lambda item: twin(*item))
    ]
    values = [[LSA.index(float(n), float(s), float(theta), 1.35) for n, s in group] for group in groups]
    assert all(max(group) <= min(group) * (1 + 2**-39) for group in values)
    assert all(max(before) < min(after) for before, after in pairwise(values))
