"""A campaign with a policy that learns follows the indices that a simulation of the same records would have."""

import json
import math
import random
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from cutline import Campaign
from cutline.policies import LearningPolicy, Tally
from ledger import audit, rows

LEARNT = "SELECT results, knowledge FROM cutline_learnt WHERE campaign_id = :campaign ORDER BY generation"
INDICES = "SELECT name, index_value FROM cutline_arms WHERE campaign_id = :campaign"


def drawn_to_all(pulls: float, total: float, threshold: float, table: NDArray[np.float64]) -> float:
    """Return how far the mean, drawn to that of all arms, is from the threshold, times the root of the pulls."""
    return abs((total + float(table[0])) / (pulls + 1.0) - threshold) * math.sqrt(pulls)


@dataclass(frozen=True)
class Drawn(LearningPolicy):
    """It learns the mean of all rewards, at every multiple of the number of arms."""

    name = "Drawn"
    formula = "sqrt(T_i) * |mean_i, drawn to the mean of all arms - theta|"
    source = "Made for these tests"

    index = staticmethod(drawn_to_all)

    def next_refit(self, arms: int, spent: int) -> int:
        return arms * (spent // arms + 1)

    def learn(self, records: Tally, threshold: float) -> tuple[float, ...]:
        pulls = float(records.pulls @ records.arms)
        return (float(records.totals @ records.arms) / pulls if pulls else 0.5,)

    def table(self, learnt: tuple[float, ...], threshold: float) -> NDArray[np.float64]:
        return np.array(learnt)


@pytest.mark.parametrize("prior", [None, (1.0, 1.0)], ids=["learnt", "fixed"])
def test_indices_follow_what_was_learnt_at_the_policys_own_times(prior: tuple[float, float] | None) -> None:
    draws = random.Random(1)
    means = {f"arm {i}": draws.random() for i in range(12)}
    with Campaign.create(None, "c", means, 0.6, Drawn(), 1000, prior=prior) as campaign:
        told: dict[str, list[int]] = {arm: [] for arm in means}
        learnt = 0.5
        for spent in range(1, 101):
            (pull,) = campaign.ask()
            told[pull.arm].append(draws.random() < means[pull.arm])
            campaign.tell(pull, told[pull.arm][-1])
            if spent % 12 == 0:
                learnt = sum(map(sum, told.values())) / spent
            if spent >= 12:
                expected = {
                    arm: abs((sum(each) + learnt) / (len(each) + 1) - 0.6) * math.sqrt(len(each))
                    for arm, each in told.items()
                }
                assert dict(rows(campaign, INDICES)) == pytest.approx(expected)
        audit(campaign)
        records = [(results, json.loads(text)) for results, text in rows(campaign, LEARNT)]
        assert {12 * n for n in range(1, 9)} <= {results for results, _ in records}
        assert {known["policy_from"] for _, known in records} == {12 * n for n in range(1, 9)}
        assert all((known["knowledge"] is None) == (prior is not None) for _, known in records)
