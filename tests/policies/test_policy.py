"""The arithmetic that every index shares: exact where it must be, and ties that are ties."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from cutline import APT, LSA, UCBE, OptKG, Problem
from cutline.policies import Policy
from cutline.policies.policy import LOG_SLACK, excess, log_above, number, settle
from cutline.threshold import is_above

decimals = st.integers(1, 999_999).map(lambda n: Fraction(n, 10**6))
records = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(theta=decimals, record=records)
def test_the_excess_over_a_threshold_with_six_decimals_is_the_double_nearest_to_the_exact_one(
    theta: Fraction, record: tuple[int, int]
) -> None:
    pulls, total = record
    assert excess(float(pulls), float(total), float(theta)) == float(total - theta * pulls)


@given(pulls=st.integers(1, 10**6), data=st.data())
def test_the_excess_is_zero_where_the_mean_reward_is_the_threshold(pulls: int, data: st.DataObject) -> None:
    total = data.draw(st.integers(0, pulls))
    if 0 < total < pulls:
        assert excess(float(pulls), float(total), total / pulls) == 0.0
        assert is_above(float(pulls), float(total), total / pulls)


@given(theta=st.floats(1e-9, 1 - 1e-9), record=records)
def test_the_excess_over_any_threshold_is_off_by_rounding_at_most(theta: float, record: tuple[int, int]) -> None:
    pulls, total = record
    exact = total - Fraction(theta) * pulls
    assert abs(Fraction(excess(float(pulls), float(total), theta)) - exact) <= Fraction(pulls, 2**51)


@pytest.mark.parametrize(
    ("pulls", "total", "above"), [(10, 3, True), (10, 2, False), (10, 4, True), (1000, 299, False), (1000, 300, True)]
)
def test_a_mean_reward_on_the_threshold_counts_as_above(pulls: int, total: int, above: bool) -> None:
    assert is_above(float(pulls), float(total), 0.3) is above


@given(theta=decimals, record=records)
def test_the_decision_is_the_exact_one(theta: Fraction, record: tuple[int, int]) -> None:
    pulls, total = record
    assert is_above(float(pulls), float(total), float(theta)) == (Fraction(total, pulls) >= theta)


@given(value=st.floats(min_value=1e-290, max_value=1e290) | st.floats(min_value=-1e290, max_value=-1e-290))
def test_settle_keeps_forty_bits(value: float) -> None:
    mantissa, _ = math.frexp(settle(value))
    assert (mantissa * 2**40).is_integer()
    assert abs(Fraction(settle(value)) / Fraction(value) - 1) <= Fraction(1, 2**40)
    assert settle(settle(value)) == settle(value)


@given(value=st.floats(min_value=1e-290, max_value=1e290))
def test_settle_makes_neighbours_equal_and_keeps_order(value: float) -> None:
    higher = value * (1 + 2**-39)
    assert settle(value) < settle(higher)
    assert settle(settle(value) * (1 + 2**-50)) == settle(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (1.35, "1.35"), (0.05, "0.05"), (-2.0, "-2"), (0.1 + 0.2, "0.30000000000000004"), (1e16, "1e+16")],
)
def test_a_parameter_is_written_as_the_paper_does_with_all_the_digits_it_takes(value: float, text: str) -> None:
    assert number(value) == text
    assert float(number(value)) == value


@pytest.mark.parametrize(
    "policy", [LSA(1e100), LSA(5e-324), APT(1e100), UCBE(100), UCBE(-100), OptKG(1e6, 1e-6), OptKG(1e-6, 1e6)]
)
@pytest.mark.parametrize("theta", [0.5, 0.3, 1e-9, 1 - 1e-9, 1e-200])
def test_the_index_stays_finite_at_the_limits_of_every_parameter(policy: Policy, theta: float) -> None:
    """An index that is not a number would never be the smallest, and the game would not end."""
    values = policy.parameters(Problem([0.1, 0.9]), 10**15)
    for n, s in [(1.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 3.0), (1e6, 0.0), (1e6, 5e5), (1e6, 1e6), (1e15, 3e14)]:
        assert math.isfinite(policy.index(n, s, theta, *values))


@given(x=st.floats(1e-300, 1e300))
def test_the_logarithm_of_ceilings_is_above_the_logarithm_by_a_little(x: float) -> None:
    assert 0.0 <= log_above(x) - math.log(x) <= LOG_SLACK


@pytest.mark.parametrize("power", [-40, -1, 0, 1, 2, 53])
def test_it_is_above_where_its_series_is_cut_most(power: int) -> None:
    for edge in (math.sqrt(0.5), math.sqrt(2.0), 1.0):
        for x in (edge, math.nextafter(edge, 0.0), math.nextafter(edge, 2.0)):
            assert 0.0 <= log_above(x * 2.0**power) - math.log(x * 2.0**power) <= LOG_SLACK
