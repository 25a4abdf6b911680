"""The paper's t-test setting, simulated once for all tests that look at it."""

import pytest

from cutline.paper.setups import COMPETITORS, OURS, SETUPS
from cutline.simulation.curves import RegretCurves
from cutline.simulation.simulate import simulate


@pytest.fixture(scope="session")
def t_test_curves() -> dict[int, RegretCurves]:
    """Setups 1 to 3 at T = 1,000, 40,000 and 100,000: 11 policies, 5,000 runs, independent streams."""
    return {
        number: simulate(
            SETUPS[number].problem,
            (OURS, *COMPETITORS),
            SETUPS[number].max_budget,
            runs=5000,
            seed=2019,
            streams="independent",
            progress=False,
        )
        for number in (1, 2, 3)
    }
