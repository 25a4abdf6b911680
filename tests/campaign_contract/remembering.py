"""The history of an arm: who gave which reward when."""

import pytest

from campaign_contract.campaigns import STRANGE_IDS, CampaignTests, Clock, Create, one
from cutline.campaign import Answer, PastPull, PullState
from cutline.errors import InvalidInputError, NotFoundError


class Remembering(CampaignTests):
    def test_an_arm_has_the_history_of_all_its_pulls(self, create: Create, clock: Clock) -> None:
        campaign = create({"a": {"text": "pear"}}, repeat_workers=True, budget=9)
        began = clock.now
        told = one(campaign, worker="ann")
        ended = one(campaign, worker="bob", lease=10)
        given_back = one(campaign)
        clock.now = began + 1
        campaign.tell(told, 1, "looks like one")
        campaign.abandon(given_back)
        campaign.observe("a", 0.5, "cid", "row 1", "from a file")
        campaign.observe("a", 0)
        clock.now = began + 20
        campaign.correct(told, 0, "it is a quince")
        clock.now = began + 30
        campaign.correct(told, 0.25, worker="boss")
        flying = one(campaign, worker="dan", lease=5)
        found = campaign.arm("a")
        assert found.decision == campaign.decisions()[0]
        answers = (
            Answer(began + 1, "ann", 1, "looks like one"),
            Answer(began + 20, "ann", 0, "it is a quince"),
            Answer(began + 30, "boss", 0.25, "it is a quince"),
        )
        from_a_file = Answer(began + 1, "cid", 0.5, "from a file")
        without_key = [item.key for item in campaign.results()][-1]
        assert found.pulls == (
            PastPull(told.id, PullState.TOLD, "ann", began + 1, None, answers),
            PastPull(ended.id, PullState.LEASE_ENDED, "bob", began, None, ()),
            PastPull(given_back.id, PullState.ABANDONED, None, began + 1, None, ()),
            PastPull("row 1", PullState.OBSERVED, "cid", began + 1, None, (from_a_file,)),
            PastPull(without_key, PullState.OBSERVED, None, began + 1, None, (Answer(began + 1, None, 0, None),)),
            PastPull(flying.id, PullState.IN_FLIGHT, "dan", began + 30, began + 35, ()),
        )
        assert [(item.reward, item.note) for item in found.pulls[:2]] == [(0.25, "it is a quince"), (None, None)]
        clock.now = began + 36
        assert [item.state for item in campaign.arm("a").pulls][-1] is PullState.LEASE_ENDED  # nobody has asked since

    def test_with_last_only_the_latest_pulls_are_given(self, create: Create) -> None:
        campaign = create(2, budget=40)
        pulls = campaign.ask(40)
        for pull in pulls:
            campaign.tell(pull, 1)
            campaign.correct(pull, 0)
        mine = [pull.id for pull in pulls if pull.arm == "arm 1"]
        assert [item.key for item in campaign.arm("arm 1").pulls] == mine
        latest = campaign.arm("arm 1", last=3).pulls
        assert [item.key for item in latest] == mine[-3:]
        assert [[answer.reward for answer in item.answers] for item in latest] == [[1, 0]] * 3
        with pytest.raises(InvalidInputError, match="last is 0"):
            campaign.arm("arm 1", last=0)

    def test_an_arm_is_found_by_its_id_as_it_stands(self, create: Create) -> None:
        campaign = create(STRANGE_IDS)
        for arm in STRANGE_IDS:
            campaign.observe(arm, 1, key=arm)
        for arm in STRANGE_IDS:
            found = campaign.arm(arm)
            assert (found.decision.arm, [item.key for item in found.pulls]) == (arm, [arm])
        with pytest.raises(NotFoundError, match="has no arm 'x'"):
            campaign.arm("x")
        with pytest.raises(InvalidInputError, match=r"^arm ''"):
            campaign.arm("")
