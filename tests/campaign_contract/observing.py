"""Results from elsewhere."""

import random
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, asked, one
from cutline.campaign import Observation
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import dump


class Observing(CampaignTests):
    def test_results_from_elsewhere_count_for_the_arm_and_not_for_the_budget(self, create: Create) -> None:
        campaign = create(2, budget=3, policy="Uniform")
        for reward in (1, 0.5):
            assert campaign.observe("arm 0", reward)
        status = campaign.status()
        assert (status.spent, status.observed, status.left) == (0, 2, 3)
        assert (campaign.decisions()[0].pulls, campaign.decisions()[0].mean) == (2, 0.75)
        assert asked(campaign, 2) == ["arm 1"] * 2  # that has fewer

    def test_a_result_with_a_key_counts_once(self, create: Create) -> None:
        campaign = create(2)
        assert campaign.observe("arm 0", 1, key="row 1")
        before = dump(campaign)
        assert not campaign.observe("arm 0", True, worker="somebody", key="row 1")
        assert campaign.observe_many([("arm 0", 1, None, "row 1")] * 2) == 0
        with pytest.raises(ConflictError, match="of another arm than 'arm 1'"):
            campaign.observe("arm 1", 1, key="row 1")
        with pytest.raises(ConflictError, match=r"was 1 and is now 0\.5"):
            campaign.observe("arm 0", 0.5, key="row 1")
        with pytest.raises(ConflictError, match="row 2"):
            campaign.observe_many([("arm 0", 1, None, "row 2"), ("arm 0", 0, None, "row 2")])
        assert dump(campaign) == before
        assert campaign.observe_many([("arm 0", 1, None, "row 1"), ("arm 1", 1, None, "row 2"), ("arm 1", 1)]) == 2

    def test_many_results_count_as_a_whole_or_not_at_all(self, create: Create) -> None:
        campaign = create(2)
        before = dump(campaign)
        with pytest.raises(NotFoundError, match="has no arm 'arm 9'"):
            campaign.observe_many([("arm 0", 1), ("arm 9", 1)])
        assert dump(campaign) == before
        assert campaign.observe_many([]) == 0

    @pytest.mark.parametrize("observation", [(), ("arm 0",), ("arm 0", 1, None, None, None)])
    def test_an_observation_is_an_arm_and_a_reward_and_perhaps_worker_and_key(
        self, create: Create, observation: Any
    ) -> None:
        with pytest.raises(InvalidInputError, match="it must be"):
            create().observe_many([observation])

    def test_who_gave_a_result_elsewhere_has_answered_that_arm(self, create: Create) -> None:
        campaign = create(2)
        campaign.observe("arm 0", 1, worker="ann")
        assert asked(campaign, 5, worker="ann") == ["arm 1"]

    def test_observing_its_own_results_again_is_no_news(self, create: Create, clock: Clock) -> None:
        campaign = create(4, budget=30)
        answers = random.Random(1)
        for worker in ("ann", "bob", None):
            for pull in campaign.ask(3, worker=worker):
                campaign.tell(pull, answers.random())
        campaign.observe("arm 2", 0.5, "cid", "from elsewhere")
        flying = one(campaign)
        before = dump(campaign)
        exported = [Observation(item.arm, item.reward, item.worker, item.key) for item in campaign.results()]
        assert len(exported) == 10
        assert campaign.observe_many(exported) == 0
        with pytest.raises(ConflictError, match="has no reward; tell it"):
            campaign.observe(flying.arm, 1, key=flying.id)
        assert dump(campaign) == before
        copy = create(4, name="copy")
        assert copy.observe_many(exported) == 10
        assert copy.observe_many(exported) == 0
        for mine, its in zip(campaign.decisions(), copy.decisions(), strict=True):
            assert (mine.arm, mine.pulls, mine.mean, mine.above) == (its.arm, its.pulls, its.mean, its.above)
            assert (mine.wrong, mine.hoeffding) == (its.wrong, its.hoeffding)
        assert [(item.arm, item.reward, item.worker, item.key) for item in copy.results()] == exported
