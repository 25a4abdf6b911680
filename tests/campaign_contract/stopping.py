"""When a campaign has finished."""

from collections import Counter
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Create, arms, one
from cutline.campaign import Reason
from ledger import dump


class Stopping(CampaignTests):
    def test_a_finished_campaign_says_so_however_often_it_is_asked(self, create: Create) -> None:
        campaign = create(2, budget=3)
        pulls = campaign.ask(5)
        assert (len(pulls), pulls.reason) == (3, Reason.ALL_IN_FLIGHT)
        assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
        campaign.tell_many([(pull, 1) for pull in pulls])
        before = dump(campaign)
        for _ in range(3):
            assert (campaign.ask(), campaign.ask().reason) == ((), Reason.BUDGET_SPENT)
        assert campaign.status().finished is Reason.BUDGET_SPENT
        assert dump(campaign) == before

    def test_as_many_pulls_as_asked_for_need_no_reason(self, create: Create) -> None:
        assert create(3).ask(7).reason is None

    def test_no_arm_gets_more_pulls_than_an_arm_may_have(self, create: Create) -> None:
        campaign = create(3, max_pulls_per_arm=2)
        pulls = campaign.ask(10)
        assert Counter(pull.arm for pull in pulls) == Counter(dict.fromkeys(arms(3), 2))
        assert pulls.reason is Reason.ALL_IN_FLIGHT
        assert campaign.status().finished is None
        for pull in pulls:
            campaign.tell(pull, 1)
        assert campaign.ask().reason is Reason.ARMS_EXHAUSTED
        assert campaign.status().finished is Reason.ARMS_EXHAUSTED
        assert campaign.ask(worker="ann").reason is Reason.ARMS_EXHAUSTED

    def test_it_stops_when_few_enough_errors_are_expected(self, create: Create) -> None:
        campaign = create(2, policy="Uniform", target_errors=0.5, prior=(1, 1))
        for told in range(20):
            expected = 2 * 0.5 ** (told // 2 + 1) if told % 2 == 0 else 0.5 ** (told // 2 + 1) + 0.5 ** (told // 2 + 2)
            assert campaign.status().expected_errors == pytest.approx(expected, abs=1e-11)
            pulls = campaign.ask()
            if not pulls:
                break
            campaign.tell(pulls[0], 1)
        assert told == 2
        assert pulls.reason is Reason.TARGET_REACHED
        assert campaign.status().finished is Reason.TARGET_REACHED
        campaign.observe("arm 0", 0)  # news can bring it back
        assert campaign.status().finished is None
        assert len(campaign.ask()) == 1

    def test_a_target_that_few_results_reach_by_a_claim_they_do_not_make_sure_of_is_not_reached(
        self, create: Create
    ) -> None:
        campaign = create(300, threshold=0.9, policy="Lai", target_errors=30)
        records = ((1, 0, 58), (2, 1, 43), (3, 2, 42), (4, 3, 31), (4, 4, 124), (5, 5, 2))  # means from Beta(8, 2)
        each = [(pulls, total) for pulls, total, count in records for _ in range(count)]
        campaign.observe_many(
            (arm, nth < total) for arm, (pulls, total) in zip(arms(300), each, strict=True) for nth in range(pulls)
        )
        campaign.ask()  # brings all arms up to date
        status = campaign.status()
        assert status.expected_errors < 30.0
        assert status.finished is None
        assert status.more_needed is not None
        assert status.more_needed > 0

    def test_what_a_flat_prior_expects_before_there_are_results_reaches_no_target(self, create: Create) -> None:
        campaign = create(40, threshold=0.95, policy="Lai", target_errors=3)
        assert campaign.status().expected_errors == pytest.approx(40 * 0.05)
        for _ in range(40):
            campaign.tell(one(campaign), 1)  # nobody gets a pull of a campaign that is finished
        assert campaign.status().finished is Reason.TARGET_REACHED
        assert create(40, threshold=0.95, target_errors=3, prior=(1, 1)).ask().reason is Reason.TARGET_REACHED

    def test_a_target_that_no_number_of_pulls_reaches_is_said_to_be_out_of_reach(self, create: Create) -> None:
        """Some errors are always to be expected."""
        status = create(30, budget=90, target_errors=0).status()
        assert (status.more_needed, status.never_enough) == (None, True)
        assert status.warning == (
            "as things stand, a target of 0 expected errors is out of reach, however many pulls there are"
        )
        assert create(30, budget=90, workers="weighed", target_errors=1).status().never_enough
        assert not create(30, budget=90, target_errors=1).status().never_enough
        assert not create(30, budget=90, workers="weighed").status().never_enough

    def test_a_target_that_the_budget_does_not_reach_is_said_with_what_it_takes(self, create: Create) -> None:
        options: dict[str, Any] = {"threshold": 0.5, "prior": (2, 2)}
        status = create(1000, budget=10_000, target_errors=50, **options).status()
        assert status.more_needed == pytest.approx(41_400, rel=0.2)  # what planning with LSA finds
        assert status.warning == (
            "as things stand, a target of 50 expected errors is out of reach: it takes about 43,000 more pulls, and "
            "10,000 are left"
        )
        assert create(1000, budget=60_000, target_errors=50, **options).status().warning is None
        assert create(1000, budget=10_000, **options).status().more_needed is None
        assert create(1000, budget=10_000, target_errors=500, **options).status().more_needed is None
