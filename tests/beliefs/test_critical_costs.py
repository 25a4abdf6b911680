"""Critical costs against bisection with full recursion, the posterior against closed forms, and known cases."""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import betainc, betaincc, betaln

from cutline.beliefs.critical_costs import Floats, indices, level
from cutline.beliefs.prior import Prior

DEPTH = 10
HORIZON = 4 * DEPTH


def place(n: int, s: int) -> int:
    return n * (n + 1) // 2 + s


class Naive:
    """The recursion as it is written, for the prior Beta(a, b), one cost at a time."""

    def __init__(self, a: float, b: float, threshold: float) -> None:
        self.a, self.b, self.threshold = a, b, threshold
        self.error = lru_cache(None)(self._error)

    def _error(self, n: int, s: int) -> float:
        posterior = self.a + s, self.b + n - s, self.threshold
        return float(min(betainc(*posterior), betaincc(*posterior)))

    def going_on(self, n: int, s: int, cost: float) -> float:
        """What another pull costs and leaves, if W of the last level is the error there."""

        @lru_cache(None)
        def best(n: int, s: int) -> float:
            return self.error(n, s) if n == HORIZON else min(self.error(n, s), pull(n, s))

        def pull(n: int, s: int) -> float:
            p = (self.a + s) / (self.a + self.b + n)
            return cost + p * best(n + 1, s + 1) + (1.0 - p) * best(n + 1, s)

        return pull(n, s)

    def index(self, n: int, s: int) -> float:
        """-ln of the highest cost at which going on is better, by bisection."""
        low, high = math.log(2.0) - 1e-9, 30.0
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            if self.going_on(n, s, math.exp(-middle)) < self.error(n, s):
                high = middle
            else:
                low = middle
        return high


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("a", "b", "threshold"), [(1, 1, 0.5), (1, 1, 0.3), (2, 2, 0.2), (8, 1, 0.9), (0.5, 0.5, 0.95)]
)
def test_they_are_right_within_two_hundredths(a: float, b: float, threshold: float) -> None:
    """A prior that is constant on cells is not quite a Beta distribution: hence some records with many successes."""
    found = indices(Prior.beta(a, b), threshold, DEPTH)
    naive = Naive(a, b, threshold)
    for n, s in [(1, 0), (1, 1), (3, 1), (5, 4), (10, 3), (10, 9)]:
        want = naive.index(n, s)
        if want < 25.0:
            assert found[place(n, s)] == pytest.approx(want, abs=0.02), (n, s)


def crossing(costs: Floats, going_on: Floats, error: float) -> float:
    """-ln of the cost where a chord meets the error; if going on is never better, of the lowest cost or the error."""
    if (going_on >= error).all():
        return max(-math.log(costs[-1]), -math.log(error))
    first = int(np.argmax(going_on < error))
    more, less = going_on[first - 1] - error, error - going_on[first]
    return -math.log(costs[first] + (costs[first - 1] - costs[first]) * less / (more + less))


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("a", "b", "threshold"), [(1, 1, 0.5), (2, 2, 0.2), (8, 1, 0.9), (0.5, 0.5, 0.95), (30, 30, 0.5)]
)
def test_they_are_those_of_the_recursion_at_every_cost(a: float, b: float, threshold: float) -> None:
    """Whatever costs are passed over, nothing is lost: the same to the last bit that is kept."""
    prior, costs = Prior.beta(a, b), np.exp(-np.arange(math.log(2.0), 30.0, 0.1))
    above, below = level(prior, threshold, HORIZON)
    best = np.repeat((np.minimum(above, below) / (above + below))[:, None], costs.size, axis=1)
    found = indices(prior, threshold, DEPTH)
    for n in range(HORIZON - 1, -1, -1):
        s = np.arange(n + 1.0)
        fails, succeeds = (n + 1.0 - s) / (n + 1.0), (s + 1.0) / (n + 1.0)
        p = succeeds * (above[1:] + below[1:])
        above, below = fails * above[:-1] + succeeds * above[1:], fails * below[:-1] + succeeds * below[1:]
        p, error = (p / (above + below))[:, None], (np.minimum(above, below) / (above + below))[:, None]
        going_on = costs + p * best[1:] + (1.0 - p) * best[:-1]
        best = np.minimum(going_on, error)
        if n <= DEPTH:
            want = [crossing(costs, *row) for row in zip(going_on, error[:, 0], strict=True)]
            assert found[place(n, 0) : place(n + 1, 0)].tolist() == pytest.approx(want, abs=2.0**-20), n


@pytest.mark.parametrize(
    ("n", "s", "want"), [(10, 5, 2.18), (10, 6, 4.08), (10, 7, 5.21), (10, 8, 6.28), (50, 25, 2.90), (50, 29, 6.42)]
)
def test_with_the_flat_prior_they_are_those_of_the_discrete_problem(n: int, s: int, want: float) -> None:
    """Solved by docs/lai_boundary.py, and printed in docs/policies.md."""
    assert indices(Prior.beta(1, 1), 0.5, 60)[place(n, s)] == pytest.approx(want, abs=0.02)


def test_an_even_record_is_worth_what_one_pull_settles() -> None:
    """Flat prior, 1/2: after 0 pulls one more leaves an error of 1/4, and no two pulls leave as much less each."""
    assert indices(Prior.beta(1, 1), 0.5, 20)[0] == pytest.approx(math.log(4.0), abs=0.02)


@pytest.mark.parametrize(("a", "b", "threshold"), [(1, 1, 0.5), (2, 2, 0.2), (8, 2, 0.95), (2, 5, 1e-3)])
def test_a_level_is_beta_binomial_and_has_beta_posteriors(a: float, b: float, threshold: float) -> None:
    n, s = 40, np.arange(41)
    found = level(Prior.beta(a, b), threshold, n)
    likely = np.exp(betaln(a + s, b + n - s) - betaln(a, b) - betaln(1 + s, 1 + n - s)) / (n + 1)
    np.testing.assert_allclose(found.above + found.below, likely, rtol=2e-2)
    below = betainc(a + s, b + n - s, threshold)
    np.testing.assert_allclose(found.below / (found.above + found.below), below, atol=3e-3)


def test_records_that_are_as_good_as_certain_come_last_and_are_finite() -> None:
    found = indices(Prior.beta(1, 1), 0.5, 128)
    assert np.isfinite(found).all()
    assert 30.0 < found[place(128, 0)] == pytest.approx(-math.log(0.5**129), rel=1e-3)
    certain = Prior(np.append(1e-9 * Prior.beta(1, 1).masses[:-2], [0.0, 1.0 - 1e-9]))
    assert indices(certain, 0.9, 20)[place(20, 20)] > 20.0
    assert indices(certain, 0.9, 20)[place(20, 18)] < 6.0


def test_without_points_at_0_and_1_exchanging_successes_and_failures_exchanges_the_sides() -> None:
    few, many = indices(Prior.beta(2, 5), 0.25, 12), indices(Prior.beta(5, 2), 0.75, 12)
    for n in range(13):
        np.testing.assert_allclose(
            few[place(n, 0) : place(n + 1, 0)], many[place(n, 0) : place(n + 1, 0)][::-1], atol=1e-5
        )
