"""Opt-KG against its definition, in exact and in 60-digit arithmetic, at every threshold and for real-valued priors."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, strategies as st

import naive
from cutline import InvalidInputError, OptKG
from cutline.policies.opt_kg import beta_upper_tail, density_bound, log_ratio, stirling_error, stirling_errors
from orders import assert_orders_alike

ONE = Fraction(1)
RECORDS = [(n, s) for n in range(61) for s in range(n + 1)]


def minus_log_gain(a: float, b: float, theta: float, digits: int = 60) -> mpmath.mpf:
    """-ln R+ from its definition, for beliefs so small that the incomplete beta function is quick."""
    with mpmath.workdps(digits):
        a, b, theta = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(theta)

        def confidence(a: mpmath.mpf, b: mpmath.mpf) -> mpmath.mpf:
            above = mpmath.betainc(a, b, theta, 1, regularized=True)
            return max(above, 1 - above)

        return -mpmath.log(max(confidence(a + 1, b), confidence(a, b + 1)) - confidence(a, b))


def tail_series(a: mpmath.mpf, b: mpmath.mpf, x: mpmath.mpf, density: mpmath.mpf) -> mpmath.mpf:
    """P(Beta(a, b) <= x) as D / a sum of (a+b)_k / (a+1)_k x^k: DLMF 8.17.7 after 15.8.1; all terms positive."""
    total = term = mpmath.mpf(1)
    k = 0
    while term > mpmath.mpf(10) ** -45 * total:
        term *= (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return density / a * total


def minus_log_gain_of_a_long_record(a: float, b: float, theta: float) -> mpmath.mpf:
    """-ln R+ for beliefs of up to millions of rewards, through I(a + 1, b) = I + D / a and I(a, b + 1) = I - D / b."""
    with mpmath.workdps(60):
        a, b, theta = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(theta)
        log_d = a * mpmath.log(theta) + b * mpmath.log(1 - theta) - mpmath.log(mpmath.beta(a, b))
        d = mpmath.exp(log_d)
        if theta * (a + b) < a:
            below = tail_series(a, b, theta, d)
            side = mpmath.mpf(1) / 2 - below
        else:
            side = tail_series(b, a, 1 - theta, d) - mpmath.mpf(1) / 2
        return -mpmath.log(max(d / a - 2 * max(0, -side), d / b - 2 * max(0, side)))


@pytest.mark.parametrize(
    ("a", "b", "gain"),
    [
        (1, 1, Fraction(1, 4)),
        (2, 1, Fraction(1, 8)),
        (3, 2, Fraction(1, 8)),
        (1, 2, Fraction(1, 8)),
        (2, 2, Fraction(3, 16)),
    ],
)
def test_its_index_is_known_for_the_first_beliefs(a: int, b: int, gain: Fraction) -> None:
    """At 1/2, by hand: I(1,1) = I(2,2) = 1/2, I(2,1) = 3/4, I(3,1) = 7/8, I(3,2) = 11/16, I(4,2) = 13/16."""
    assert OptKG.index(0.0, 0.0, 0.5, float(a), float(b)) == pytest.approx(-math.log(gain), rel=1e-12)
    assert naive.opt_kg(naive.HALF, Fraction(a), Fraction(b))(0, 0) == -gain


@pytest.mark.slow
@pytest.mark.parametrize(
    "theta",
    [
        Fraction(1, 2),
        Fraction("0.3"),
        Fraction("0.55"),
        Fraction(1, 3),
        Fraction("0.9"),
        Fraction("0.02"),
        Fraction(355, 452),
    ],
)
@pytest.mark.parametrize("prior", [(1, 1), (3, 2)])
def test_it_orders_beliefs_as_exact_arithmetic_does_ties_included(theta: Fraction, prior: tuple[int, int]) -> None:
    a, b = prior
    ties = assert_orders_alike(
        lambda n, s: OptKG.index(float(n), float(s), float(theta), float(a), float(b)),
        naive.opt_kg(theta, Fraction(a), Fraction(b)),
        RECORDS,
    )
    assert ties >= (800 if theta == naive.HALF else 0)


def test_beliefs_that_gain_as_much_as_each_other_have_equal_indices() -> None:
    """At threshold 1/2, R+(m+1, m) = R+(m+2, m+1) only for m = 1, and R+(a, b) = R+(b, a) always."""

    def index(a: int, b: int) -> float:
        return OptKG.index(a + b - 2.0, a - 1.0, 0.5, 1.0, 1.0)

    assert index(2, 1) == index(3, 2) == index(1, 2) == index(2, 3)
    assert len({index(m + 1, m) for m in range(2, 40)}) == 38


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.5, 0.3, 0.55, 1 / 3, 0.05, 0.9, 0.999, 1e-5])
@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 0.5), (0.1, 2.75), (7.25, 0.01), (math.pi, math.e), (1e-3, 1e-3)])
def test_its_index_is_minus_the_logarithm_of_the_gain(theta: float, prior: tuple[float, float]) -> None:
    a, b = prior
    for n in (0, 1, 2, 5, 30):
        for s in {0, 1, n // 3, round(n * theta), n // 2, n - 1, n} & set(range(n + 1)):
            want = minus_log_gain(a + s, b + n - s, theta, 60 + 5 * n + 10 * (theta < 0.01) * n)
            assert OptKG.index(float(n), float(s), theta, a, b) == pytest.approx(float(want), rel=2e-12), (n, s)


@pytest.mark.parametrize("theta", [0.3, 1e-5])
def test_it_loses_three_digits_where_the_least_prior_makes_two_halves_cancel(theta: float) -> None:
    """Beta(1e-6, 1 + 1e-6) at 1e-5: R+ is the difference of two numbers 10^5 times as large."""
    for n, s in [(0, 0), (1, 0), (1, 1), (2, 1)]:
        want = minus_log_gain(1e-6 + s, 1e-6 + n - s, theta, 100)
        assert OptKG.index(float(n), float(s), theta, 1e-6, 1e-6) == pytest.approx(float(want), rel=1e-9)


@given(
    theta=st.floats(0.001, 0.999),
    a=st.floats(0.01, 50),
    b=st.floats(0.01, 50),
    n=st.integers(0, 20),
    share=st.floats(0, 1),
)
def test_its_index_is_right_for_any_threshold_and_any_real_prior(
    theta: float, a: float, b: float, n: int, share: float
) -> None:
    s = round(n * share)
    want = minus_log_gain(a + s, b + n - s, theta, 250)
    assert OptKG.index(float(n), float(s), theta, a, b) == pytest.approx(float(want), rel=2e-12)


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.5, 0.3, 0.75])
@pytest.mark.parametrize("pulls", [1000, 1_000_000])
@pytest.mark.parametrize("off", [0, 1, -2, -200, 240])
def test_its_index_is_right_after_a_million_pulls_near_the_threshold(theta: float, pulls: int, off: int) -> None:
    s = round(theta * pulls) + off
    want = minus_log_gain_of_a_long_record(0.5 + s, 1.0 + pulls - s, theta)
    assert OptKG.index(float(pulls), float(s), theta, 0.5, 1.0) == pytest.approx(float(want), rel=1e-10)


@pytest.mark.parametrize("theta", [0.5, 0.3, 1e-3])
@pytest.mark.parametrize(
    ("pulls", "total"), [(10**6, 0), (10**6, 10**6), (10**6, 999_999), (999_999, 400_000), (10**5, 1)]
)
def test_it_does_not_underflow_at_a_million_pulls(theta: float, pulls: int, total: int) -> None:
    """Far from the threshold R+ is D / a or D / b, as small as exp(-13,000,000)."""
    a, b = mpmath.mpf(1 + total), mpmath.mpf(1 + pulls - total)
    with mpmath.workdps(40):
        th = mpmath.mpf(theta)
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        want = log_beta - a * mpmath.log(th) - b * mpmath.log(1 - th) + mpmath.log(a if total / pulls >= theta else b)
    assert OptKG.index(float(pulls), float(total), theta, 1.0, 1.0) == pytest.approx(float(want), rel=1e-11)


@pytest.mark.parametrize("theta", [1e-12, 1e-100, 1e-200, 1e-300, 1 - 2**-53])
def test_it_is_right_at_thresholds_next_to_0_and_1(theta: float) -> None:
    for n in range(5):
        for s in range(n + 1):
            want = minus_log_gain(1 + s, 1 + n - s, theta, 2000)
            assert OptKG.index(float(n), float(s), theta, 1.0, 1.0) == pytest.approx(float(want), rel=1e-11), (n, s)


@given(x=st.floats(1e-3, 1e6), ratio=st.floats(0.5, 2.0))
def test_the_logarithm_of_a_ratio_keeps_its_digits_near_1(x: float, ratio: float) -> None:
    y = x * ratio
    with mpmath.workdps(40):
        want = mpmath.log(mpmath.mpf(x) / mpmath.mpf(y))
    assert log_ratio(x, y, x - y) == pytest.approx(float(want), rel=1e-14, abs=0)


@given(x=st.floats(1e-6, 1e7))
def test_the_error_of_stirlings_formula_is_right(x: float) -> None:
    with mpmath.workdps(60):
        v = mpmath.mpf(x)
        want = mpmath.loggamma(v) - ((v - 0.5) * mpmath.log(v) - v + mpmath.log(2 * mpmath.pi) / 2)
    assert stirling_error(x) == pytest.approx(float(want), rel=1e-12, abs=3e-14)


@given(a=st.floats(1e-3, 1e6), b=st.floats(1e-3, 1e6))
def test_the_three_errors_of_stirlings_formula_for_a_beta_function_are_right_together(a: float, b: float) -> None:
    with mpmath.workdps(60):

        def error(v: mpmath.mpf) -> mpmath.mpf:
            return mpmath.loggamma(v) - ((v - 0.5) * mpmath.log(v) - v + mpmath.log(2 * mpmath.pi) / 2)

        want = error(mpmath.mpf(a)) + error(mpmath.mpf(b)) - error(mpmath.mpf(a) + mpmath.mpf(b))
    assert stirling_errors(a, b) == pytest.approx(float(want), rel=1e-12, abs=2e-13)


@given(theta=st.floats(0.01, 0.99), size=st.floats(0.02, 1e6), off=st.floats(-4, 4))
def test_the_bound_of_the_density_is_above_it_and_close_where_the_belief_is_in_doubt(
    theta: float, size: float, off: float
) -> None:
    deviation = off * math.sqrt(size * theta * (1 - theta))
    a, b = size * theta + deviation, size * (1 - theta) - deviation
    if a > 1e-3 and b > 1e-3:
        with mpmath.workdps(60):
            x, y, t = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(theta)
            want = mpmath.log(mpmath.beta(x, y)) - x * mpmath.log(t) - y * mpmath.log(1 - t)
        slack = density_bound(size, deviation, theta) - float(want)
        assert slack >= -1e-12 * max(1.0, size)
        if abs(deviation) < 0.3 * size * min(theta, 1 - theta) and size * min(theta, 1 - theta) > 5:
            assert slack < 0.01 + 0.01 * off**2


@given(a=st.floats(0.01, 200), b=st.floats(0.01, 200), x=st.floats(0.001, 0.999))
def test_the_tail_of_the_beta_distribution_is_right(a: float, b: float, x: float) -> None:
    with mpmath.workdps(60):
        density = mpmath.mpf(x) ** a * (1 - mpmath.mpf(x)) ** b / mpmath.beta(a, b)
        want = mpmath.betainc(a, b, x, 1, regularized=True)
    assert beta_upper_tail(a, b, x, float(density)) == pytest.approx(float(want), rel=1e-12, abs=1e-14)


def test_it_prints_as_the_paper_does() -> None:
    assert str(OptKG()) == "Opt-KG(1,1)"
    assert str(OptKG(0.5, 0.5)) == "Opt-KG(0.5,0.5)"
    assert not OptKG.pulls_each_arm_first


@pytest.mark.parametrize("bad", [0, -1, 1e-7, 2e6])
@pytest.mark.parametrize("name", ["a", "b"])
def test_its_prior_has_limits(name: str, bad: float) -> None:
    with pytest.raises(InvalidInputError, match=rf"^Opt-KG: {name} is .*; it must be a number from 1e-6 to 1e6$"):
        OptKG(**{name: bad})
