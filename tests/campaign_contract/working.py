"""Who works on a campaign."""

import random

from campaign_contract.campaigns import CampaignTests, Clock, Create, one
from cutline.campaign import Worker


class Working(CampaignTests):
    def test_workers_are_counted_with_what_agrees_and_when_they_were_last_seen(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create(1, prior=(1, 1))
        began = clock.now
        for worker, reward in (("ann", 1), ("bob", 1), ("cid", 0)):
            clock.now += 1
            campaign.tell(one(campaign, worker=worker), reward)
        campaign.observe("arm 0", 0.5, "dan")
        campaign.observe("arm 0", 0)  # nobody's
        one(campaign, worker="eve", lease=10)
        one(campaign)
        assert campaign.decisions()[0].above
        assert campaign.workers() == [
            Worker("ann", 1, 1, 0, began + 1),
            Worker("bob", 1, 1, 0, began + 2),
            Worker("cid", 1, 0, 0, began + 3),
            Worker("dan", 1, 1, 0, began + 3),
            Worker("eve", 0, 0, 1, began + 3),
        ]
        assert [worker.agreement for worker in campaign.workers()] == [1, 1, 0, 1, None]
        clock.now += 11
        assert campaign.workers()[-1].in_flight == 0

    def test_they_agree_as_often_as_one_counts_answer_by_answer(self, create: Create) -> None:
        campaign = create(6, threshold=0.3, repeat_workers=True, budget=200)
        answers = random.Random(5)
        names = ["ann", "bob", "é" * 3000, None]
        for _ in range(60):
            campaign.tell(one(campaign, worker=answers.choice(names)), answers.choice((0, 0.3, 1)))
        above = {item.arm: item.above for item in campaign.decisions()}
        results = list(campaign.results())
        found = {worker.name: (worker.answers, worker.agreeing) for worker in campaign.workers()}
        assert found == {
            name: (
                sum(item.worker == name for item in results),
                sum(item.worker == name and (item.reward >= 0.3) == above[item.arm] for item in results),
            )
            for name in names
            if name
        }
        counts = [worker.answers for worker in campaign.workers()]
        assert counts == sorted(counts, reverse=True)

    def test_who_corrects_an_answer_of_their_own_was_seen_and_a_corrected_answer_counts_as_it_is(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create(1, prior=(1, 1))
        pull = one(campaign, worker="ann")
        campaign.tell(pull, 1)
        campaign.observe_many([("arm 0", 0)] * 5)
        assert campaign.workers() == [Worker("ann", 1, 0, 0, clock.now)]
        clock.now += 60
        campaign.correct(pull, 0)
        assert campaign.workers() == [Worker("ann", 1, 1, 0, clock.now)]
