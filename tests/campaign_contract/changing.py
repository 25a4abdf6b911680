"""What a campaign was created with is changed, while others ask and tell."""

import random
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, arms, asked, for_each, one
from campaign_contract.creating import Fewest
from cutline.campaign import Campaign, Change, Reason
from cutline.campaign.operations.upkeep import learning
from cutline.errors import ConflictError, InvalidInputError
from ledger import dump, rows

PRIOR: Any = {"prior": (1, 1)}
CHANGES: list[dict[str, Any]] = [
    {"threshold": 0.7},
    {"policy": "APT(0.1)"},
    {"prior": (3, 2)},
    {"decide": "mean"},
    {"max_pulls_per_arm": 3},
    {"threshold": 0.3, "policy": "Uniform", "prior": (0.5, 0.5), "max_pulls_per_arm": 9, "target_errors": 0.1},
]
UP_TO_DATE = "SELECT up_to_date FROM cutline_campaigns WHERE id = :campaign"


class DeathError(Exception):
    """The process dies here."""


def arm_rows(campaign: Campaign) -> list[tuple[Any, ...]]:
    """The arms as the tables hold them, but for the generation of their index and doubt."""
    return [(*row[:-3], *row[-2:]) for row in dump(campaign)[1]]


def answer(campaign: Campaign, pulls: int, seed: int = 1) -> None:
    """Tell so many results."""
    answers = random.Random(seed)
    for _ in range(pulls):
        campaign.tell(one(campaign), answers.random() < 0.6)


class Changing(CampaignTests):
    def test_with_more_budget_a_finished_campaign_goes_on(self, create: Create) -> None:
        campaign = create(3, budget=5)
        answer(campaign, 5)
        assert campaign.ask().reason is Reason.BUDGET_SPENT
        campaign.change(budget=12)
        assert (campaign.status().left, campaign.status().finished) == (7, None)
        assert len(campaign.ask(20)) == 7
        assert campaign.ask().reason is Reason.ALL_IN_FLIGHT

    def test_the_budget_may_sink_to_what_is_spent_and_in_flight_and_no_further(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create(3, budget=20)
        answer(campaign, 3)
        pull = one(campaign, lease=50)
        campaign.ask(2, lease=5)
        with pytest.raises(ConflictError) as caught:
            campaign.change(budget=5, threshold=0.7)
        assert str(caught.value) == (
            "campaign 'campaign 0': 3 pulls are spent and 3 in flight, so the budget cannot be 5; the least is 6"
        )
        assert (campaign.settings.budget, campaign.settings.threshold, campaign.history()) == (20, 0.5, [])
        clock.now += 10
        campaign.change(budget=4)
        assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
        campaign.tell(pull, 1)
        assert campaign.ask().reason is Reason.BUDGET_SPENT

    def test_a_late_answer_finds_no_place_in_a_budget_that_has_sunk(self, create: Create, clock: Clock) -> None:
        campaign = create(3, budget=20)
        pull = one(campaign, lease=5)
        clock.now += 10
        answer(campaign, 2)
        campaign.change(budget=2)
        with pytest.raises(ConflictError, match="the rest of the budget is told or in flight"):
            campaign.tell(pull, 1)
        campaign.change(budget=3)
        assert campaign.tell(pull, 1)

    def test_every_change_is_kept_with_its_time_and_what_is_no_change_is_not(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create(3, budget=20, name="fruit")
        campaign.change(budget=20, policy="LSA")
        assert campaign.history() == []
        began = clock.now
        campaign.change(budget=30, prior=(2, 1))
        clock.now += 60
        campaign.change(prior=None, policy="APT(0.05)")
        campaign.rename("apples")
        campaign.rename("apples")
        assert campaign.history() == [
            Change(began, "budget", 20, 30),
            Change(began, "prior", None, [2.0, 1.0]),
            Change(began + 60, "policy", "LSA(1.35)", "APT(0.05)"),
            Change(began + 60, "prior", [2.0, 1.0], None),
            Change(began + 60, "name", "fruit", "apples"),
        ]

    @for_each("changes", CHANGES)
    def test_a_campaign_that_was_changed_has_the_arms_of_one_that_was_created_so(
        self, create: Create, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(20, **PRIOR)
        answer(campaign, 50)
        flying = campaign.ask(4)
        campaign.change(**changes)
        assert campaign.status().settings == campaign.settings.changed(changes)
        for pull in flying:
            campaign.tell(pull, 1)
        expected = create(20, **{**PRIOR, "threshold": 0.5, "policy": "LSA", **changes})
        expected.observe_many((item.arm, item.reward) for item in campaign.results())
        assert arm_rows(campaign) == arm_rows(expected)
        assert campaign.decisions() == expected.decisions()
        assert campaign.status().expected_errors == expected.status().expected_errors

    def test_what_was_learnt_stays_with_another_threshold_and_is_learnt_at_once_where_there_was_none(
        self, create: Create
    ) -> None:
        learns, knows = create(12), create(12, **PRIOR)
        for campaign in (learns, knows):
            campaign.observe_many((arm, float(i % 4 > 0)) for i, arm in enumerate(arms(12) * 2))
        before = rows(learns, "SELECT knowledge FROM cutline_learnt WHERE campaign_id = :campaign")
        learns.change(threshold=0.6)
        assert rows(learns, "SELECT knowledge FROM cutline_learnt WHERE campaign_id = :campaign") == 2 * before
        knows.change(threshold=0.6, prior=None)
        assert [item.wrong for item in knows.decisions()] == [item.wrong for item in learns.decisions()]

    def test_with_a_target_it_learns_with_the_next_result_how_sure_it_is_and_then_as_often_as_any_that_has_one(
        self, create: Create
    ) -> None:
        changed, created = create(20), create(20, target_errors=0.01)
        for campaign in (changed, created):
            campaign.observe_many((arm, 1.0) for arm in arms(20) * 10)
        query = "SELECT learnt_from, learn_at FROM cutline_campaigns WHERE id = :campaign"
        changed.change(target_errors=0.01)
        assert (rows(changed, query), rows(created, query)) == ([(200, 201)], [(200, 240)])
        changed.observe("arm 0", 1.0)
        assert rows(changed, query) == [(201, 241)]

    def test_a_policy_that_learns_is_shown_the_records_as_soon_as_it_is_the_policy(self, create: Create) -> None:
        changed, created = create(24, threshold=0.6, **PRIOR), create(24, policy="Bayes", **PRIOR)
        for campaign in (changed, created):
            campaign.observe_many((arm, float(i % 5 > 1)) for i, arm in enumerate(arms(24) * 2))
        changed.change(policy="Bayes", threshold=0.5)
        assert arm_rows(changed) == arm_rows(created)

    @for_each(
        ("changes", "message"),
        [
            ({"budget": 0}, "budget is 0"),
            ({"threshold": 2}, "threshold"),
            ({"policy": "UCBE"}, "needs the true means"),
            ({"prior": (0, 1)}, "prior a is 0"),
            ({"seed": 3}, "seed of a campaign cannot be changed; what can be is threshold, policy, budget"),
            ({"repeat_workers": True}, "repeat_workers of a campaign cannot be changed"),
        ],
    )
    def test_a_bad_change_is_refused_and_nothing_is_changed(
        self, create: Create, changes: dict[str, Any], message: str
    ) -> None:
        campaign = create(3)
        before = dump(campaign)
        with pytest.raises(InvalidInputError, match=message):
            campaign.change(**changes)
        assert dump(campaign) == before

    def test_a_policy_that_could_not_be_read_again_is_refused_but_in_memory(
        self, create: Create, url: str | None
    ) -> None:
        campaign = create(3)
        if url is None:
            campaign.change(policy=Fewest())
            campaign.change(budget=7)
            assert (sorted(asked(campaign, 3)), str(campaign.settings.policy)) == (arms(3), "Fewest")
            return
        with pytest.raises(InvalidInputError, match=r"^policy Fewest is not one that cutline policies lists"):
            campaign.change(policy=Fewest())


class ChangingHalfWay(CampaignTests):
    """What is stopped in the midst of a change: on a server it would be in another process."""

    def test_a_change_that_dies_half_way_goes_on_with_every_call_and_no_campaign_ends_by_it(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(20, **PRIOR)
        campaign.observe_many((arm, 1.0) for arm in arms(20) * 4)
        campaign.observe_many((f"arm {i}", 1.0) for i in range(15) for _ in range(2))
        with monkeypatch.context() as patch:
            patch.setattr(learning, "keep_up", dies)
            with pytest.raises(DeathError):
                campaign.change(threshold=0.9, max_pulls_per_arm=5, target_errors=1.0)
        assert rows(campaign, UP_TO_DATE) == [(0,)]
        assert campaign.status().expected_errors < 1.0  # as those of the old threshold were
        assert campaign.status().finished is None
        assert [item.wrong > 0.4 for item in campaign.decisions()] == [True] * 20
        found = campaign.ask(20)  # the first batch follows after it
        assert (found.reason, len(found)) == (Reason.ALL_IN_FLIGHT, 5)
        assert sorted(pull.arm for pull in found) == sorted(f"arm {i}" for i in range(15, 20))
        assert rows(campaign, UP_TO_DATE) == [(7,)]
        for pull in found:
            campaign.tell(pull, 1)
        assert rows(campaign, UP_TO_DATE) == [(20,)]
        assert campaign.ask().reason is Reason.ARMS_EXHAUSTED
        expected = create(20, threshold=0.9, max_pulls_per_arm=5, **PRIOR)
        expected.observe_many((item.arm, item.reward) for item in campaign.results())
        assert arm_rows(campaign) == arm_rows(expected)

    def test_a_second_change_may_come_before_the_first_is_done(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(20, **PRIOR)
        answer(campaign, 30)
        with monkeypatch.context() as patch:
            patch.setattr(learning, "keep_up", dies)
            with pytest.raises(DeathError):
                campaign.change(threshold=0.9)
        answer(campaign, 1)
        campaign.change(threshold=0.7)
        expected = create(20, threshold=0.7, **PRIOR)
        expected.observe_many((item.arm, item.reward) for item in campaign.results())
        assert arm_rows(campaign) == arm_rows(expected)


def dies(*_: Any, **__: Any) -> None:
    raise DeathError
