"""What is claimed of errors is true, on recorded and on simulated arms: the cells of docs/calibration.py."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutline.recorded import bundled

SCRIPT: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "docs/calibration.py"))
RNG = np.random.default_rng(1)
ARMS = {
    "bluebirds": SCRIPT["shares"](bundled.folder("bluebirds")),
    "a suite": np.append(np.ones(1900), RNG.beta(3.0, 1.0, 100)),
    "a crowd": RNG.beta(2.0, 2.0, 1000),
    "half at 1": np.append(np.ones(250), RNG.random(250)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "threshold"),
    [
        *(("bluebirds", threshold) for threshold in SCRIPT["THRESHOLDS"]),
        *(("a suite", threshold) for threshold in (0.5, 0.75, 0.9, 0.95)),
        *(("a crowd", threshold) for threshold in (0.5, 0.75, 0.9)),
        *(("half at 1", threshold) for threshold in (0.5, 0.75, 0.9, 0.95)),
    ],
)
def test_claimed_errors_of_coins_are_within_a_factor_of_two_of_the_true_ones_or_three_errors(
    name: str, threshold: float
) -> None:
    cells = [SCRIPT["cell"](ARMS[name], threshold, pulls, SCRIPT["coins"], 3) for pulls in (3, 10, 40)]
    assert [cell for cell in cells if not cell.ok] == []


@pytest.mark.parametrize("spread", SCRIPT["SPREADS"])
def test_claimed_errors_of_scores_are_near_the_true_ones(spread: float) -> None:
    means = np.random.default_rng(2).beta(6.0, 3.0, 300)
    draw = SCRIPT["scores"](spread)
    cells = [SCRIPT["cell"](means, threshold, 10, draw, 3) for threshold in (0.5, 0.75)]
    assert [cell for cell in cells if not cell.ok] == []


def test_of_two_thousand_tests_that_nearly_all_pass_always_the_flat_prior_claims_many_times_too_much() -> None:
    cell = SCRIPT["cell"](ARMS["a suite"], 0.99, 40, SCRIPT["coins"], 2)
    assert abs(cell.claimed - cell.true) < 5
    assert cell.flat > 50 * cell.true
