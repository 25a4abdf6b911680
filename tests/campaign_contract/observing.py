"""Results from elsewhere."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, asked, for_each, one
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

    @for_each("observation", [(), ("arm 0",), ("arm 0", 1, None, None, None, None)])
    def test_an_observation_is_an_arm_and_a_reward_and_perhaps_worker_key_and_note(
        self, create: Create, observation: Any
    ) -> None:
        with pytest.raises(InvalidInputError, match="it must be"):
            create().observe_many([observation])

    def test_who_gave_a_result_elsewhere_has_answered_that_arm(self, create: Create) -> None:
        campaign = create(2)
        campaign.observe("arm 0", 1, worker="ann")
        assert asked(campaign, 5, worker="ann") == ["arm 1"]

    # A worker answers an arm once

    def test_an_answer_that_was_told_is_no_news_when_it_is_observed_and_another_is_a_conflict(
        self, create: Create
    ) -> None:
        campaign = create(1)
        campaign.tell(one(campaign, worker="w1"), 1)
        before = dump(campaign)
        assert not campaign.observe("arm 0", 1, "w1")
        assert not campaign.observe("arm 0", 1, "w1", "some key")
        with pytest.raises(ConflictError, match=r"^worker 'w1' has answered arm 'arm 0' with 1 and now 0; a worker"):
            campaign.observe("arm 0", 0, "w1", "another key")
        assert dump(campaign) == before
        assert campaign.observe("arm 0", 0, "w2")
        assert campaign.observe_many([("arm 0", 1, "w3"), ("arm 0", 1, "w3"), ("arm 0", 0, "w2", "key")]) == 1
        with pytest.raises(ConflictError, match="worker 'w4' has answered arm 'arm 0' with 0 and now 1"):
            campaign.observe_many([("arm 0", 0, "w4"), ("arm 0", 1, "w4", "key 4")])

    def test_the_answer_of_a_pull_in_flight_is_its_reward(self, create: Create) -> None:
        campaign = create(2, budget=3)
        pulls = campaign.ask(2, worker="w1")
        campaign.ask(worker="w2")
        assert campaign.observe_many([(pulls[0].arm, 0.25, "w1", "key"), (pulls[0].arm, 1, "w3")]) == 2
        status = campaign.status()
        assert (status.spent, status.in_flight, status.left, status.observed) == (1, 2, 0, 1)
        assert campaign.tell(pulls[0], 0.25) is False
        with pytest.raises(ConflictError, match=r"was told 0\.25 and now 1"):
            campaign.tell(pulls[0], 1)
        assert campaign.tell(pulls[1], 1) is True

    def test_a_late_answer_that_was_observed_is_no_news(self, create: Create, clock: Clock) -> None:
        campaign = create(1)
        pull = one(campaign, worker="w1", lease=10)
        clock.now += 11
        campaign.ask(worker="w2")  # which takes it back
        assert campaign.observe("arm 0", 1, "w1")
        before = dump(campaign)
        assert campaign.tell(pull, 1) is False
        with pytest.raises(ConflictError, match="its worker has had the arm again"):
            campaign.tell(pull, 0)
        assert dump(campaign) == before

    def test_where_workers_repeat_every_answer_counts(self, create: Create) -> None:
        campaign = create(1, repeat_workers=True)
        campaign.tell(one(campaign, worker="w1"), 1)
        flying = one(campaign, worker="w1")
        assert campaign.observe_many([("arm 0", 1, "w1"), ("arm 0", 0, "w1", "key"), ("arm 0", 0, "w1", "key")]) == 2
        assert campaign.tell(flying, 0)
        assert (campaign.status().spent, campaign.status().observed) == (2, 2)

    def test_who_tells_and_who_observes_the_same_answers_at_once_record_each_once(self, create: Create) -> None:
        campaign = create(40, budget=40)
        pulls = campaign.ask(40, worker="w1")

        def work(seed: int) -> int:
            mine = random.Random(seed).sample(pulls, 40)
            if seed % 2:
                return sum(campaign.tell_many([(pull, 1) for pull in mine[i : i + 5]]) for i in range(0, 40, 5))
            return sum(
                campaign.observe_many([(pull.arm, 1, "w1") for pull in mine[i : i + 5]]) for i in range(0, 40, 5)
            )

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(work, range(6))) == 40
        assert (campaign.status().spent, campaign.status().observed) == (40, 0)

    def test_observing_its_own_results_again_is_no_news(self, create: Create, clock: Clock) -> None:
        campaign = create(4, budget=30, prior=(1, 1))
        answers = random.Random(1)
        for worker in ("ann", "bob", None):
            for pull in campaign.ask(3, worker=worker):
                campaign.tell(pull, answers.random(), note=f"of {worker}")
        campaign.observe("arm 2", 0.5, "cid", "from elsewhere", "a note")
        flying = one(campaign)
        before = dump(campaign)
        exported = [Observation(item.arm, item.reward, item.worker, item.key, item.note) for item in campaign.results()]
        assert len(exported) == 10
        assert campaign.observe_many(exported) == 0
        with pytest.raises(ConflictError, match="has no reward; tell it"):
            campaign.observe(flying.arm, 1, key=flying.id)
        assert dump(campaign) == before
        copy = create(4, name="copy", prior=(1, 1))
        assert copy.observe_many(exported) == 10
        assert copy.observe_many(exported) == 0
        for mine, its in zip(campaign.decisions(), copy.decisions(), strict=True):
            assert (mine.arm, mine.pulls, mine.mean, mine.above) == (its.arm, its.pulls, its.mean, its.above)
            assert (mine.wrong, mine.hoeffding) == (its.wrong, its.hoeffding)
        assert [(item.arm, item.reward, item.worker, item.key, item.note) for item in copy.results()] == exported
