"""Records of scores as records of coins, against variances that are known."""

import numpy as np
import pytest

from cutline.beliefs.coins import coins, learn_spread


def records(means: np.ndarray, share: float, pulls: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw rewards with this share of the variance of coins; return pulls, totals and squares of arms."""
    size = 1 / share - 1
    rewards = np.random.default_rng(seed).beta(means * size, (1 - means) * size, (pulls, means.size))
    return np.full(means.size, float(pulls)), rewards.sum(axis=0), (rewards**2).sum(axis=0)


def test_coins_are_what_they_are() -> None:
    pulls, totals = np.array([0, 1, 1, 7, 300]), np.array([0, 0, 1, 3, 300])
    n, total = coins(pulls, totals, totals, 1.0)
    assert n.tolist() == pulls.tolist()
    assert total.tolist() == totals.tolist()
    assert learn_spread(pulls, totals, totals, np.ones(5)) == 1.0


def test_without_records_the_share_is_that_of_coins() -> None:
    assert learn_spread([], [], [], []) == 1.0


@pytest.mark.parametrize("pulls", [2, 5, 40])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_the_share_of_many_arms_is_found(share: float, pulls: int) -> None:
    means = np.random.default_rng(1).uniform(0.2, 0.9, 3000)
    record = records(means, share, pulls, 2)
    assert learn_spread(*record, np.ones(3000)) == pytest.approx(share, rel=0.25)


def test_an_arm_of_its_own_kind_stands_out_once_it_has_many_rewards() -> None:
    still, busy = (records(np.full(1, 0.6), share, 400, 3) for share in (0.01, 0.9))
    (n_of_still,), (n_of_busy,) = (coins(*record, 0.2)[0] for record in (still, busy))
    assert n_of_still == pytest.approx(400 / 0.01, rel=0.5)
    assert n_of_busy == pytest.approx(400 / 0.9, rel=0.2)


def test_two_rewards_that_lie_close_by_chance_are_not_trusted() -> None:
    assert coins([2], [1.2], [2 * 0.6**2], 0.5)[0][0] < 2 / 0.5 * 1.5
