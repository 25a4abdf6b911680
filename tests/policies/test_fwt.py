"""FWT against its formula in exact arithmetic."""

import math
from fractions import Fraction

import mpmath
import pytest

import naive
from cutline.policies.fwt import FWT
from orders import assert_orders_alike

RECORDS = [(n, s) for n in range(1, 61) for s in range(n + 1)]


def fwt(theta: Fraction) -> naive.Index:
    """x - ln x + ln T_i, x = max(2 T_i gap_i^2, 1)."""

    def index(pulls: int, total: int) -> int:
        with mpmath.workdps(60):
            x = max(naive.real(2 * pulls * (Fraction(total, pulls) - theta) ** 2), mpmath.mpf(1))
            return naive.rounded(x - mpmath.log(x) + mpmath.log(pulls))

    return index


@pytest.mark.parametrize(
    ("pulls", "total", "want"),
    [(1, 0, 1.0), (1, 1, 1.0), (8, 4, 1 + math.log(8)), (8, 8, 4 - math.log(4) + math.log(8))],
)
def test_its_index_is_known_for_some_records(pulls: int, total: int, want: float) -> None:
    """At threshold 1/2 2 T gap^2 is T / 2 where all rewards are alike."""
    assert FWT.index(float(pulls), float(total), 0.5) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction("0.3"), Fraction("0.55")])
def test_it_orders_records_as_exact_arithmetic_does_ties_included(theta: Fraction) -> None:
    ties = assert_orders_alike(lambda n, s: FWT.index(float(n), float(s), float(theta)), fwt(theta), RECORDS)
    assert ties > 100  # records of equal length whose x is below 1
