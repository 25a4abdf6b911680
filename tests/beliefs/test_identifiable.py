"""What errors are possible under priors that records do not tell apart: docs/identifiable.py, by other means."""

import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

DOCS = Path(__file__).parents[2] / "docs"
SCRIPT: dict[str, Any] = runpy.run_path(str(DOCS / "identifiable.py"))
CALIBRATION: dict[str, Any] = runpy.run_path(str(DOCS / "calibration.py"))


@pytest.mark.parametrize(("mean", "threshold"), [(0.3, 0.5), (0.6, 0.5), (0.8, 0.75), (0.97, 0.9)])
@pytest.mark.parametrize("distance", [1e-9, 0.2])
def test_of_one_reward_an_arm_priors_with_two_points_are_the_ends(
    mean: float, threshold: float, distance: float
) -> None:
    """Arms with the mean m are wrong with probability m below the threshold and 1 - m above, if called by the reward.

    The least are the means 0 and 1, the most one of these and the threshold. The distance allows other shares of yes.
    """
    arms = 1000
    found = SCRIPT["errors_range"](np.full(arms, mean), threshold, np.array([[False, True]]), distance)
    aside = math.sqrt(distance * mean * (1.0 - mean) / arms)
    shares = np.clip(mean + np.linspace(-aside, aside, 10_001), 0.0, 1.0)
    most = np.where(shares < threshold, shares, threshold * (1.0 - shares) / (1.0 - threshold)).max()
    assert found == pytest.approx((0.0, arms * most), abs=0.05)


@pytest.mark.parametrize(("threshold", "pulls"), [(0.5, 3), (0.75, 5), (0.95, 3)])
def test_linear_programming_over_priors_with_the_same_moments_finds_the_same_ends(threshold: float, pulls: int) -> None:
    means = np.random.default_rng(1).beta(3.0, 1.0, 200)
    calls = np.arange(pulls + 1) / pulls >= threshold
    grid = np.unique(np.concatenate([SCRIPT["GRID"], means, [threshold, threshold - 1e-9]]))
    likely = binom.pmf(np.arange(pulls + 1)[:, None], pulls, grid)
    wrong = np.where(grid >= threshold, likely[~calls].sum(axis=0), likely[calls].sum(axis=0))
    moments, aims = grid ** np.arange(pulls + 1)[:, None], (means ** np.arange(pulls + 1)[:, None]).mean(axis=1)
    least, most = (sign * linprog(sign * wrong, A_eq=moments, b_eq=aims).fun * means.size for sign in (1.0, -1.0))
    found = SCRIPT["errors_range"](means, threshold, calls[None], 1e-9)
    assert found == pytest.approx((least, most), abs=0.05)
    assert found.most > found.least + 3.0


def test_a_range_is_unclaimable_if_every_claim_is_off_at_one_of_its_ends() -> None:
    claims = np.linspace(0.0, 120.0, 2_401)
    ends = [(0.0, 5.9), (0.0, 6.1), (2.0, 7.9), (2.0, 10.1), (5.0, 19.9), (5.0, 20.1), (25.0, 99.0), (25.0, 101.0)]
    for least, most in ends:
        right = [claim for claim in claims if all(CALIBRATION["Cell"](claim, true, 0.0).ok for true in (least, most))]
        assert SCRIPT["Range"](least, most).unclaimable == (not right)
    assert [SCRIPT["Range"](*each).unclaimable for each in ends] == [False, True] * 4
