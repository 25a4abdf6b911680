"""A campaign with a policy that learns follows the indices that a simulation of the same records would have."""

import json
import math
import random

import pytest

from cutline import Campaign
from learners import Shrunk
from ledger import audit, rows

LEARNT = "SELECT results, knowledge FROM cutline_learnt WHERE campaign_id = :campaign ORDER BY generation"
INDICES = "SELECT name, index_value FROM cutline_arms WHERE campaign_id = :campaign"


@pytest.mark.parametrize("prior", [None, (1.0, 1.0)], ids=["learnt", "fixed"])
def test_indices_follow_what_was_learnt_at_the_policys_own_times(prior: tuple[float, float] | None) -> None:
    draws = random.Random(1)
    means = {f"arm {i}": draws.random() for i in range(12)}
    with Campaign.create(None, "c", means, 0.6, Shrunk(), 1000, prior=prior) as campaign:
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
