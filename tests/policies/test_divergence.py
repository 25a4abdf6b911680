"""The divergence of a record against its formula in exact arithmetic."""

import math

import mpmath
import pytest

from cutline.policies.divergence import divergence, largest_divergence_above


def exact(pulls: float, excess: float, threshold: float) -> mpmath.mpf:
    """n kl(mean, theta) with 60 digits, 0 ln 0 = 0."""
    theta = mpmath.mpf(threshold)
    ones = pulls * theta + mpmath.mpf(excess)
    parts = [(ones, pulls * theta), (pulls - ones, pulls * (1 - theta))]
    return mpmath.fsum(part * mpmath.log(part / expected) for part, expected in parts if part > 0)


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.02, 0.985, 1e-9])
@pytest.mark.parametrize("pulls", [1.0, 7.0, 1000.0, 1e8])
@pytest.mark.parametrize(
    "share", [-0.999, -0.4, -0.0501, -0.0499, -1e-3, -1e-7, 1e-9, 1e-3, 0.0499, 0.0501, 0.7, 0.999]
)
def test_it_is_the_formula_to_the_last_digits(threshold: float, pulls: float, share: float) -> None:
    excess = share * pulls * (threshold if share < 0 else 1 - threshold)
    with mpmath.workdps(60):
        assert divergence(pulls, excess, threshold) == pytest.approx(float(exact(pulls, excess, threshold)), rel=3e-13)


def test_it_is_0_on_the_threshold_and_finite_where_all_rewards_are_alike() -> None:
    assert divergence(10.0, 0.0, 0.3) == 0.0
    assert divergence(10.0, -3.0, 0.3) == pytest.approx(10 * float(mpmath.log(1 / mpmath.mpf("0.7"))), rel=1e-15)
    assert divergence(10.0, 7.0, 0.3) == pytest.approx(10 * float(mpmath.log(1 / mpmath.mpf("0.3"))), rel=1e-15)


def test_it_is_at_least_twice_the_squared_gap() -> None:
    """Pinsker's inequality, and close to it at threshold 1/2."""
    for excess in (-4.0, -1.0, 0.5, 2.0):
        assert divergence(10.0, excess, 0.3) > 2 * excess**2 / 10
    assert divergence(1e6, 100.0, 0.5) == pytest.approx(2 * 100.0**2 / 1e6, rel=1e-7)


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.02, 0.985])
@pytest.mark.parametrize("pulls", [1.0, 7.0, 1000.0])
def test_its_bound_is_never_below_it_and_close_where_it_is_small(threshold: float, pulls: float) -> None:
    finite = 0
    for step in range(-99, 100):
        excess = step / 100 * pulls * (threshold if step < 0 else 1 - threshold)
        bound = largest_divergence_above(pulls, min(excess, 0.0), max(excess, 0.0), threshold)
        exact = divergence(pulls, excess, threshold)
        assert bound >= exact * (1 - 1e-15)
        if abs(excess) < 0.1 * pulls * min(threshold, 1 - threshold):
            assert bound <= exact * 1.001
        finite += bound < math.inf
    assert finite > 100


def test_its_bound_holds_for_longer_records_and_all_between() -> None:
    for pulls in (10.0, 11.0, 30.0):
        for excess in (-2.0, -1.0, 0.0, 1.0, 4.0):
            assert divergence(pulls, excess, 0.3) <= largest_divergence_above(10.0, -2.0, 4.0, 0.3)
