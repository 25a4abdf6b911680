from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from cutline.errors import InvalidInputError
from cutline.theory.static_optimum import static_error, static_optimum


def exact_errors(gap: float, threshold: float, most: int) -> NDArray[np.float64]:
    """e(1), ..., e(most) from scipy's binomial distribution; thresholds here have one decimal."""
    errors = []
    for n in range(1, most + 1):
        first_above = -((-round(threshold * 10) * n) // 10)
        wrong_above = stats.binom.cdf(first_above - 1, n, min(threshold + gap, 1.0))
        wrong_below = stats.binom.sf(first_above - 1, n, max(threshold - gap, 0.0))
        errors.append((wrong_above + wrong_below) / 2)
    return np.array(errors)


def best_whole_allocations(tables: Iterable[NDArray[np.float64]], most: int) -> NDArray[np.float64]:
    """The least sum of errors for every budget up to ``most``, by dynamic programming over the arms."""
    best = np.full(most + 1, np.inf)
    best[0] = 0.0
    for errors in tables:
        after = np.full(most + 1, np.inf)
        for budget in range(1, most + 1):
            pulls = np.arange(1, budget + 1)
            after[budget] = np.min(best[budget - pulls] + errors[pulls - 1])
        best = after
    return best


def envelope_at(values: NDArray[np.float64], place: int) -> float:
    """The lower convex envelope of ``values`` at one place, from all pairs of points around it."""
    left, right = np.arange(place + 1), np.arange(place + 1, values.size)
    left, right = left[np.isfinite(values[left])], right[np.isfinite(values[right])]
    share = (place - left[:, None]) / (right[None, :] - left[:, None])
    return float(min(values[place], np.min((1 - share) * values[left][:, None] + share * values[right][None, :])))


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.8])
@pytest.mark.parametrize("gaps", [[0.15], [0.2, 0.05], [0.1, 0.1, 0.01], [0.25, 0.12, 0.04, 0.0]])
def test_static_optimum_is_the_convex_envelope_of_the_best_whole_allocations(
    gaps: list[float], threshold: float
) -> None:
    most = 80
    tables = [exact_errors(gap, threshold, most) if gap > 0 else np.full(most, 0.5) for gap in gaps]
    best = best_whole_allocations(tables, most)
    budgets = np.arange(len(gaps), 41)
    found = static_optimum(gaps, [*budgets, most], threshold)[:-1]
    assert found == pytest.approx([envelope_at(best, int(budget)) for budget in budgets], abs=1e-13)
    assert np.all(found <= best[budgets] + 1e-13)
    assert np.any(np.abs(found - best[budgets]) < 1e-13)  # reached exactly somewhere


def test_errors_at_one_half_are_those_of_one_side_after_odd_numbers_of_pulls() -> None:
    odd = np.arange(1, 1000, 2)
    assert static_error(0.07, 1000, 0.5)[odd - 1] == pytest.approx(stats.binom.sf(odd // 2, odd, 0.43), rel=1e-11)
    assert static_error(0.07, 1000, 0.5)[odd] == pytest.approx(stats.binom.sf(odd // 2, odd, 0.43), rel=1e-11)


def test_equal_arms_are_pulled_equally_often() -> None:
    assert static_optimum([0.1] * 4, 4 * 31) == pytest.approx(4 * stats.binom.sf(15, 31, 0.4), rel=1e-12)


def test_an_arm_on_the_threshold_is_wrong_half_the_time_and_costs_one_pull() -> None:
    assert static_optimum([0.0, 0.2], 52) == pytest.approx(0.5 + stats.binom.sf(25, 51, 0.3), rel=1e-12)
    assert static_optimum([0.0, 0.0], [2, 10, 1000]).tolist() == [1.0, 1.0, 1.0]


def test_means_that_would_leave_the_unit_interval_are_0_or_1() -> None:
    assert static_error(0.6, 3, 0.3) == pytest.approx([0.05, 0.005, 0.0005])
    assert static_error(0.5, 3, 0.5).tolist() == [0.0, 0.0, 0.0]


def test_budgets_keep_their_shape_and_may_be_none_at_all() -> None:
    assert static_optimum([0.1, 0.2], [[10, 20], [30, 40]]).shape == (2, 2)
    assert static_optimum([0.1, 0.2], 10).shape == ()
    assert static_optimum([0.1, 0.2], []).size == 0


def test_what_is_out_of_range_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidInputError, match="T >= K"):
        static_optimum([0.1, 0.2], 1)
    with pytest.raises(InvalidInputError, match="whole number"):
        static_optimum([0.1, 0.2], 10.5)
    with pytest.raises(InvalidInputError, match=r"too large for the static optimum; the most is 10\^6"):
        static_optimum([0.1, 0.2], 10**7)
    with pytest.raises(InvalidInputError, match="threshold 1"):
        static_optimum([0.1, 0.2], 10, 1.0)
