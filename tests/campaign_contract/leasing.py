"""Leases end, are extended, and what is told late."""

import math
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, asked, for_each, one
from cutline.campaign import Reason
from cutline.errors import ConflictError, InvalidInputError
from ledger import dump


class Leasing(CampaignTests):
    @for_each("lease", [0, -1, -0.001, math.nan, math.inf, "9", None, True])
    def test_a_lease_must_be_a_number_of_seconds_above_zero(self, create: Create, lease: Any) -> None:
        campaign = create()
        pull = one(campaign)
        with pytest.raises(InvalidInputError, match="lease is"):
            campaign.ask(lease=lease)
        with pytest.raises(InvalidInputError, match="lease is"):
            campaign.extend(pull, lease)

    @for_each("n", [0, -1, 1.5, "1", None, True])
    def test_the_number_of_pulls_must_be_a_whole_number_above_zero(self, create: Create, n: Any) -> None:
        with pytest.raises(InvalidInputError, match="n is"):
            create().ask(n)

    def test_a_lease_that_ends_gives_its_pull_back_and_the_budget_its_place_once(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create(1, budget=2)
        pull = one(campaign, lease=10)
        assert pull.expires == clock.now + 10
        clock.now += 9.5
        assert (campaign.status().in_flight, campaign.status().left) == (1, 1)
        clock.now += 0.5
        for _ in range(2):
            assert (campaign.status().in_flight, campaign.status().left) == (0, 2)
        assert asked(campaign, 5, lease=10) == ["arm 0"] * 2
        assert (campaign.status().in_flight, campaign.status().left) == (2, 0)
        clock.now += 10
        assert asked(campaign, 5) == ["arm 0"] * 2

    def test_a_late_tell_counts_while_the_budget_has_room(self, create: Create, clock: Clock) -> None:
        campaign = create(1, budget=2)
        late = one(campaign, worker="ann", lease=10)
        clock.now += 11
        other = one(campaign, worker="bob")
        assert other.arm == late.arm
        assert campaign.tell(other, 1) is True
        assert campaign.tell(late, 0) is True
        assert campaign.tell(late, 0) is False
        assert (campaign.decisions()[0].pulls, campaign.decisions()[0].mean) == (2, 0.5)
        assert (campaign.status().spent, campaign.status().left) == (2, 0)

    def test_a_late_tell_whose_place_in_the_budget_has_gone_is_refused(self, create: Create, clock: Clock) -> None:
        campaign = create(2, budget=1)
        late = one(campaign, lease=10)
        clock.now += 11
        other = one(campaign)
        before = dump(campaign)
        for _ in range(2):
            with pytest.raises(ConflictError, match="has ended, and the rest of the budget is told or in flight"):
                campaign.tell(late, 0)
        assert dump(campaign) == before
        assert campaign.tell(other, 1)
        with pytest.raises(ConflictError, match="has ended"):
            campaign.tell(late, 0)
        assert campaign.status().spent == 1

    def test_a_late_tell_is_refused_where_the_arm_is_full(self, create: Create, clock: Clock) -> None:
        campaign = create(1, max_pulls_per_arm=1)
        late = one(campaign, lease=10)
        clock.now += 11
        one(campaign)
        with pytest.raises(ConflictError, match="as many pulls as an arm may have"):
            campaign.tell(late, 0)

    def test_a_late_tell_is_refused_where_its_worker_has_the_arm_again(self, create: Create, clock: Clock) -> None:
        campaign = create(1)
        late = one(campaign, worker="ann", lease=10)
        clock.now += 11
        later = one(campaign, worker="ann", lease=10)
        with pytest.raises(ConflictError, match="its worker has had the arm again"):
            campaign.tell(late, 0)
        clock.now += 11
        asked(campaign, worker="bob")
        with pytest.raises(ConflictError, match="its worker has had the arm again"):
            campaign.tell_many([(late, 0), (later, 0)])
        assert campaign.tell(later, 0)
        assert campaign.status().spent == 1

    def test_a_tell_before_anybody_asked_for_the_place_counts_late_or_not(self, create: Create, clock: Clock) -> None:
        campaign = create(1, budget=1)
        pull = one(campaign, lease=10)
        clock.now += 11
        assert campaign.tell(pull, 1)
        assert campaign.status().finished is Reason.BUDGET_SPENT

    def test_extending_moves_the_end_of_a_lease(self, create: Create, clock: Clock) -> None:
        campaign = create(1, budget=1)
        pull = one(campaign, lease=10)
        clock.now += 9
        assert campaign.extend(pull.id, 10) == clock.now + 10
        clock.now += 9
        assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
        clock.now += 1
        other = one(campaign)
        with pytest.raises(ConflictError, match="has lost its lease"):
            campaign.extend(pull, 10)
        campaign.tell(other, 1)
        with pytest.raises(ConflictError, match="has its reward"):
            campaign.extend(other, 10)

    def test_an_abandoned_pull_whose_lease_had_ended_gives_nothing_back_twice(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create(1, budget=1)
        pull = one(campaign, lease=10)
        clock.now += 11
        one(campaign)
        campaign.abandon(pull)
        assert (campaign.status().in_flight, campaign.status().left) == (1, 0)
