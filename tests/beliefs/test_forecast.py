"""The forecast of pulls against budgets that were simulated."""

import math

import numpy as np
import pytest

from cutline.beliefs.forecast import pulls_between
from cutline.beliefs.knowledge import Beta, Knowledge


@pytest.mark.parametrize(
    ("a", "threshold", "errors", "budget"),
    [
        # means from Beta(a, a), 1,000 arms: errors of Lai at 5, 10 and 30 pulls an arm, and LSA's budget for 50 errors
        (2, 0.5, 176, 5_000),
        (2, 0.5, 122, 10_000),
        (2, 0.5, 60, 30_000),
        (2, 0.2, 61, 10_000),
        (2, 0.2, 24, 30_000),
        (2, 0.5, 50, 41_400),
    ],
)
def test_it_is_near_what_simulations_took(a: float, threshold: float, errors: float, budget: int) -> None:
    nothing = 1000 * 0.5 if threshold == 0.5 else 1000 * 0.104
    more = Knowledge(Beta(a, a)).more_pulls(max(nothing, 500.0), errors, threshold, 1000)
    assert budget / 1.5 < more < budget * 1.5


def test_from_the_target_on_no_more_are_needed() -> None:
    assert Knowledge(Beta(1, 1)).more_pulls(50, 50, 0.5, 1000) == 0.0


def test_what_no_number_of_pulls_reaches_is_said() -> None:
    assert pulls_between(0.4, 0.0, np.array([0.5]), np.array([1.0]), 0.5) == math.inf
