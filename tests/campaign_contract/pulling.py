"""What has become of a pull, and how many a worker has answered."""

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, one
from cutline.campaign import PullRecord, PullState
from cutline.errors import NotFoundError


class Pulling(CampaignTests):
    def test_a_pull_says_whose_it_is_and_what_has_become_of_it(self, create: Create, clock: Clock) -> None:
        campaign = create([("a/b", {"text": "x"}), ("c", None), ("d", None)])
        told, given_back, ended = campaign.ask(3, worker="ann", lease=10)
        assert campaign.pull(told).state is PullState.IN_FLIGHT
        campaign.tell(told, 0.25)
        campaign.abandon(given_back.id)
        clock.now += 10
        assert campaign.pull(told.id) == PullRecord(told.id, told.arm, told.payload, "ann", PullState.TOLD, 0.25)
        assert (campaign.pull(given_back).state, campaign.pull(given_back).reward) == (PullState.ABANDONED, None)
        assert campaign.pull(ended).state is PullState.LEASE_ENDED
        one(campaign)  # which takes back what has ended
        assert campaign.pull(ended).state is PullState.LEASE_ENDED
        campaign.tell(ended, 1)
        assert (campaign.pull(ended).state, campaign.pull(ended).reward) == (PullState.TOLD, 1.0)

    def test_what_is_no_pull_of_the_campaign_is_not_found(self, create: Create) -> None:
        campaign, other = create(), create()
        campaign.observe("arm 0", 1, key="seen")
        number, arm = one(campaign).id.rsplit("-", 2)[1:]
        token = one(campaign).id.split("-", maxsplit=1)[0]
        for unknown in ("seen", "", f"{token}-1-0", f"{token}-999-{arm}", f"{token}-{number}-999", one(other).id):
            with pytest.raises(NotFoundError, match="has no pull"):
                campaign.pull(unknown)

    def test_a_worker_has_answered_as_many_as_it_has_told(self, create: Create, clock: Clock) -> None:
        campaign = create(5)
        first, second, third = campaign.ask(3, worker="ann")
        campaign.tell_many([(first, 1), (second, 0)])
        campaign.tell(one(campaign, worker="bob"), 1)
        elsewhere = {f"arm {i}" for i in range(5)} - {first.arm, second.arm, third.arm}
        campaign.observe(elsewhere.pop(), 1, worker="ann")
        assert [campaign.answered(name) for name in ("ann", "bob", "eve")] == [2, 1, 0]

    def test_a_worker_has_in_flight_what_was_leased_and_has_neither_ended_nor_come_back(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create([(f"arm {i}", {"n": i}) for i in range(6)])
        first, second, third, last = campaign.ask(4, worker="ann", lease=100)
        ended = one(campaign, worker="ann", lease=5)
        one(campaign, worker="bob")
        clock.now += 10
        campaign.tell(first, 1)
        campaign.abandon(third)
        assert campaign.leased("ann") == [second, last]
        assert campaign.leased("eve") == []
        clock.now += 100
        assert campaign.leased("ann") == []
        assert campaign.pull(ended).state is PullState.LEASE_ENDED
