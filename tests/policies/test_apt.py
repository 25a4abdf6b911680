"""APT against the paper's formula."""

from fractions import Fraction

import mpmath
import pytest

import naive
from cutline import APT, InvalidInputError
from orders import assert_orders_alike

RECORDS = [(n, s) for n in range(1, 61) for s in range(n + 1)]


@pytest.mark.parametrize("theta", [0.5, 0.3, 0.55, 1 / 3, 0.123456])
@pytest.mark.parametrize("epsilon", [0.0, 0.025, 0.05, 0.1])
def test_its_index_is_the_square_of_the_papers(theta: float, epsilon: float) -> None:
    with mpmath.workdps(40):
        for n, s in [*RECORDS, (10**6, 499_000), (10**6, 0), (999_983, 300_000)]:
            want = (mpmath.sqrt(n) * (abs(mpmath.mpf(s) / n - mpmath.mpf(theta)) + mpmath.mpf(epsilon))) ** 2
            assert float(abs(APT.index(float(n), float(s), theta, epsilon) - want)) <= 1e-12 * float(want) + 1e-15


@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction("0.3"), Fraction("0.55"), Fraction("0.123456")])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.1"])
def test_it_orders_records_as_exact_arithmetic_does_ties_included(theta: Fraction, epsilon: str) -> None:
    ties = assert_orders_alike(
        lambda n, s: APT.index(float(n), float(s), float(theta), float(epsilon)),
        naive.apt(theta, Fraction(epsilon)),
        RECORDS,
    )
    if theta == naive.HALF:
        assert ties >= 900


def test_its_default_is_without_indifference_zone() -> None:
    assert APT() == APT(epsilon=0)
    assert str(APT()) == "APT(0)"
    assert str(APT(0.05)) == "APT(0.05)"


def test_epsilon_must_not_be_negative() -> None:
    with pytest.raises(InvalidInputError, match=r"^APT: epsilon is -0.1; it must be a number from 0 to 1e100$"):
        APT(-0.1)
