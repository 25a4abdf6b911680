"""The paired t-test against scipy and, where p-values underflow, against 50 digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from cutline.simulation.statistics import log_two_tailed, normal_deviate, paired_t_test

samples = st.integers(2, 60).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 10), min_size=n, max_size=n)] * 2))


def exact_log_p(t: float, degrees: float) -> float:
    """ln of the two-tailed p-value, by the regularized incomplete beta function in 50 digits."""
    with mpmath.workdps(50):
        a, t2 = mpmath.mpf(degrees) / 2, mpmath.mpf(t) ** 2
        x = degrees / (degrees + t2)
        # I_x(a, 1/2) = x^a (1-x)^(1/2) / (a B(a, 1/2)) * 2F1(a + 1/2, 1; a + 1; x), all terms positive
        total = term = mpmath.mpf(1)
        k = 0
        while term > mpmath.mpf(10) ** -40 * total:
            term *= (a + mpmath.mpf(1) / 2 + k) / (a + 1 + k) * x
            total += term
            k += 1
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(0.5) - mpmath.loggamma(a + 0.5)
        return float(a * mpmath.log(x) + mpmath.log(1 - x) / 2 - mpmath.log(a) - log_beta + mpmath.log(total))


@given(samples=samples)
def test_it_agrees_with_scipy_wherever_scipy_has_an_answer(samples: tuple[list[int], list[int]]) -> None:
    first, second = samples
    if np.ptp(np.subtract(first, second)) == 0:
        return
    want = stats.ttest_rel(first, second)
    got = paired_t_test(first, second)
    assert got.t == pytest.approx(want.statistic, rel=1e-12, abs=1e-12)
    assert got.p == pytest.approx(want.pvalue, rel=1e-9)
    assert got.log10_p == pytest.approx(math.log10(want.pvalue), rel=1e-9, abs=1e-9)
    assert got.difference == pytest.approx(np.mean(first) - np.mean(second), abs=1e-12)
    assert got.standard_error == pytest.approx(stats.sem(np.subtract(first, second)), rel=1e-12)
    assert got.runs == len(first)


@pytest.mark.parametrize("degrees", [1, 2, 5, 99, 4999])
@pytest.mark.parametrize("t", [1e-3, 0.5, 1.0, 3.0, 25.0, 37.0, 38.5, 60.0, 300.0, 1e4, 1e8])
def test_the_logarithm_of_the_p_value_is_right_however_small(t: float, degrees: int) -> None:
    far = t > 0.5 * math.sqrt(degrees)
    want = exact_log_p(t, degrees) if far else math.log(2 * stats.t.sf(t, degrees))
    got = log_two_tailed(t, degrees)
    assert got == pytest.approx(want, rel=1e-11, abs=1e-13)
    assert log_two_tailed(-t, degrees) == got


def test_the_exponent_survives_where_the_p_value_does_not() -> None:
    """t = 60 with 4,999 degrees of freedom: p = 10^-586, beyond what a double holds."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=5000)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    result = paired_t_test(noise + 60 / math.sqrt(5000), np.zeros(5000))
    assert result.t == pytest.approx(60.0, rel=1e-9)
    assert result.p == 0.0
    assert result.log10_p == pytest.approx(exact_log_p(60.0, 4999) / math.log(10), rel=1e-8)
    assert result.log10_p < -320


@pytest.mark.parametrize("z", [0.0, 0.01, 1.0, 1.959963984540054, 8.0, 37.0, 40.0, 500.0])
def test_z_is_the_normal_deviate_with_the_same_p_value(z: float) -> None:
    log_p = float(stats.norm.logsf(z) + math.log(2))
    assert normal_deviate(log_p) == pytest.approx(z, rel=1e-9, abs=1e-12)


def test_with_many_runs_t_and_z_are_alike_and_with_few_z_is_smaller() -> None:
    many = paired_t_test(np.arange(100_000) % 7 % 3, np.arange(100_000) % 5 % 3)
    assert many.z == pytest.approx(many.t, rel=1e-2)
    few = paired_t_test([3, 4, 6, 5], [1, 1, 2, 2])
    assert 0 < few.z < few.t
    assert few.p == pytest.approx(2 * stats.norm.sf(few.z), rel=1e-9)


def test_the_sign_says_which_is_larger() -> None:
    first, second = [3, 4, 6, 5, 3], [1, 1, 2, 2, 2]
    there, back = paired_t_test(first, second), paired_t_test(second, first)
    assert there.t == -back.t > 0
    assert there.z == -back.z > 0
    assert there.difference == -back.difference == 2.6
    assert there.p == back.p


def test_equal_samples_and_differences_without_variance_have_an_answer_too() -> None:
    equal = paired_t_test([1, 2, 3], [1, 2, 3])
    assert (equal.t, equal.z, equal.p, equal.log10_p) == (0.0, 0.0, 1.0, 0.0)
    certain = paired_t_test([1, 2, 3], [2, 3, 4])
    assert (certain.t, certain.z, certain.p, certain.log10_p) == (-math.inf, -math.inf, 0.0, -math.inf)


def test_unsigned_and_narrow_whole_numbers_do_not_wrap_around() -> None:
    result = paired_t_test(np.array([0, 1, 2], np.uint8), np.array([2, 1, 1], np.uint8))
    assert result.difference == pytest.approx(-1 / 3)
