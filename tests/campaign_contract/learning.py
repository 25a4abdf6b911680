"""What a campaign learns from the results of all its arms."""

import itertools
import json
import math
import random
from typing import Any

import numpy as np
import pytest

from campaign_contract.campaigns import CampaignTests, Create, arms, asked, one
from cutline.beliefs.knowledge import Knowledge
from cutline.campaign import Campaign, Reason
from cutline.campaign.operations.upkeep import learning
from cutline.policies import LearningPolicy, parse
from ledger import rows

LEARNT = "SELECT generation, results, knowledge FROM cutline_learnt WHERE campaign_id = :campaign ORDER BY generation"
STATE = "SELECT generation, learnt_from, learn_at, up_to_date FROM cutline_campaigns WHERE id = :campaign"
INDICES = "SELECT name, index_value FROM cutline_arms WHERE campaign_id = :campaign"
GENERATIONS = "SELECT generation FROM cutline_arms WHERE campaign_id = :campaign ORDER BY number"


def answer(campaign: Campaign, passes: float, seed: int, pulls: int) -> None:
    """Tell so many results, each 1 with this probability."""
    answers = random.Random(seed)
    for _ in range(pulls):
        campaign.tell(one(campaign), answers.random() < passes)


def said(campaign: Campaign, knowledge: Knowledge) -> list[float]:
    """The probabilities of error of all arms that follow from this knowledge and the rewards told, one by one."""
    told: dict[str, list[float]] = {arm: [] for arm in arms(campaign.status().arms)}
    for result in campaign.results():
        told[result.arm].append(result.reward)
    records = [(len(each), sum(each), sum(reward**2 for reward in each)) for each in told.values()]
    pulls, totals, squares = np.array(records).T
    wrong: list[float] = np.minimum(*knowledge.sides(pulls, totals, squares, campaign.settings.threshold)).tolist()
    return wrong


class Learning(CampaignTests):
    def test_it_learns_at_as_many_results_as_arms_and_then_whenever_they_are_half_as_many_again(
        self, create: Create
    ) -> None:
        campaign = create(30)
        answer(campaign, 0.8, 1, 29)
        assert rows(campaign, STATE) == [(0, 0, 30, 30)]
        answer(campaign, 0.8, 2, 1)
        assert rows(campaign, STATE) == [(1, 30, 50, 30)]
        answer(campaign, 0.8, 3, 250)
        assert [results for _, results, _ in rows(campaign, LEARNT)] == [30, 50, 75, 112, 168, 252]

    def test_with_a_target_it_learns_whenever_results_are_a_fifth_more(self, create: Create) -> None:
        campaign = create(30, target_errors=0.01, threshold=0.8)
        answer(campaign, 0.8, 3, 280)
        assert [results for _, results, _ in rows(campaign, LEARNT)] == [*range(30, 111, 20), 132, 158, 189, 226, 271]

    def test_what_it_says_follows_from_what_was_written_down_and_the_rewards(self, create: Create) -> None:
        campaign = create(30, threshold=0.9)
        answer(campaign, 0.95, 4, 100)
        *_, (generation, results, text) = rows(campaign, LEARNT)
        assert (generation, results) == (3, 75)
        assert rows(campaign, GENERATIONS) == [(3,)] * 30
        assert [item.wrong for item in campaign.decisions()] == pytest.approx(
            said(campaign, Knowledge.from_json(json.loads(text)["knowledge"]))
        )

    def test_what_is_learnt_depends_on_the_records_alone(self, create: Create) -> None:
        campaign = create(3, threshold=0.7)
        rewards = {"arm 0": (1, 1, 0.5, 1), "arm 1": (0, 0, 0, 1), "arm 2": (0.25,) * 12}
        campaign.observe_many((arm, reward) for arm, each in rewards.items() for reward in each)
        records = np.array([(len(each), sum(each), sum(x * x for x in each), 1) for each in rewards.values()]).T
        ((_, _, text),) = rows(campaign, LEARNT)
        expected, learnt = Knowledge.learn(*records).as_json(), json.loads(text)["knowledge"]
        assert learnt["spread"] == pytest.approx(expected["spread"])
        assert learnt["masses"] == pytest.approx(expected["masses"], abs=1e-6)

    def test_arms_follow_batch_by_batch_and_what_is_said_is_whole_at_any_time(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(30, threshold=0.9)
        answer(campaign, 0.95, 5, 30)
        for up_to_date in (7, 14, 21, 28, 30, 30):
            assert rows(campaign, STATE) == [(1, 30, 50, up_to_date)]
            assert rows(campaign, GENERATIONS) == [(1,)] * up_to_date + [(0,)] * (30 - up_to_date)
            expected = math.fsum(item.wrong for item in campaign.decisions())
            assert campaign.status().expected_errors == pytest.approx(expected, abs=1e-10)
            campaign.abandon(one(campaign))

    def test_a_clock_ends_a_batch_however_few_arms_it_has_brought_up_to_date(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        campaign = create(30, threshold=0.9)
        answer(campaign, 0.95, 5, 29)
        times = itertools.count(0.0, 0.1)
        monkeypatch.setattr(learning, "_SLICE", 3)
        monkeypatch.setattr(learning, "monotonic", lambda: next(times))
        answer(campaign, 0.95, 6, 1)
        for up_to_date in (9, 18, 21, 24):
            assert rows(campaign, STATE) == [(1, 30, 50, up_to_date)]
            expected = math.fsum(item.wrong for item in campaign.decisions())
            assert campaign.status().expected_errors == pytest.approx(expected, abs=1e-10)
            if up_to_date == 18:
                times = itertools.count(0.0, 100.0)  # each slice takes longer than a batch may
            campaign.abandon(one(campaign))

    def test_an_arm_that_is_told_before_its_turn_follows_at_once(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(30)
        answer(campaign, 0.95, 6, 30)
        campaign.observe("arm 25", 1)
        assert [generation for (generation,) in rows(campaign, GENERATIONS)] == [1] * 14 + [0] * 11 + [1] + [0] * 4

    def test_with_the_last_pull_it_learns_once_more_and_all_arms_follow(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(30, budget=37)
        answer(campaign, 0.95, 7, 37)
        assert campaign.ask().reason is Reason.BUDGET_SPENT
        assert rows(campaign, STATE) == [(2, 37, 57, 30)]
        assert rows(campaign, GENERATIONS) == [(2,)] * 30

    def test_bayes_runs_a_campaign_and_what_it_has_learnt_is_written_down(self, create: Create) -> None:
        campaign = create(24, policy="Bayes", threshold=0.7)
        answer(campaign, 0.6, 10, 60)
        learnt = [(results, json.loads(text)["policy_from"]) for _, results, text in rows(campaign, LEARNT)]
        assert learnt == [(24, 24), (27, 27), (30, 30), (36, 36), (48, 48)]
        assert campaign.settings.policy == parse("Bayes")

    def test_arms_are_asked_for_in_the_order_of_what_bayes_has_learnt(self, create: Create) -> None:
        campaign = create(24, policy="Bayes", threshold=0.7, seed=3)
        draws = random.Random(11)
        for size in (24, 10, 5, 9):
            campaign.tell_many([(pull, draws.choice((0, 1, 1, 0.25))) for pull in campaign.ask(size)])
        *_, (_, results, text) = rows(campaign, LEARNT)
        assert results == 48
        policy = parse("Bayes")
        assert isinstance(policy, LearningPolicy)
        table = policy.table(json.loads(text)["policy"], 0.7)
        records = {item.arm: (item.pulls, item.pulls * (item.mean or 0.0)) for item in campaign.decisions()}
        expected = {arm: policy.index(float(n), total, 0.7, table) for arm, (n, total) in records.items()}
        assert dict(rows(campaign, INDICES)) == pytest.approx(expected, abs=1e-6)
        first = asked(campaign, 6, distinct=True)
        assert [expected[arm] for arm in first] == pytest.approx(sorted(expected.values())[:6])

    def test_a_campaign_with_a_prior_of_its_own_learns_nothing(self, create: Create) -> None:
        campaign = create(5, prior=(2, 3))
        answer(campaign, 0.5, 8, 60)
        assert rows(campaign, STATE) == [(0, 0, None, 5)]
        assert rows(campaign, LEARNT) == []

    def test_of_a_suite_that_nearly_always_passes_it_claims_few_errors_and_is_right(self, create: Create) -> None:
        draws, pulls = random.Random(9), 20
        means = {f"arm {i}": 1.0 if i < 380 else draws.betavariate(4, 1) for i in range(400)}
        options: dict[str, Any] = {"threshold": 0.99, "policy": "Uniform", "budget": 1}
        learns, flat = create(400, **options), create(400, **options, prior=(1, 1))
        results = [(arm, draws.random() < mean) for arm, mean in means.items() for _ in range(pulls)]
        for campaign in (learns, flat):
            campaign.observe_many(results)
        wrong, wrong_of_flat = (
            sum(item.above != (means[item.arm] >= 0.99) for item in campaign.decisions()) for campaign in (learns, flat)
        )
        assert abs(learns.status().expected_errors - wrong) < 3
        assert flat.status().expected_errors < 0.25 * wrong_of_flat
        assert all(item.wrong <= 0.5 for item in learns.decisions())


class LearningLater(CampaignTests):
    """What a run puts off; a server learns at its own times."""

    def test_put_off_it_learns_when_it_is_asked_to_and_at_the_end_what_is_due(self, create: Create) -> None:
        campaign = create(30)
        with campaign.learning_later() as learn:
            answer(campaign, 0.8, 12, 60)
            assert rows(campaign, STATE) == [(0, 0, 30, 30)]
            learn()
            assert rows(campaign, STATE) == [(1, 60, 90, 30)]
            answer(campaign, 0.8, 13, 40)
        assert rows(campaign, STATE) == [(2, 100, 150, 30)]
        answer(campaign, 0.8, 14, 50)
        assert rows(campaign, STATE) == [(3, 150, 225, 30)]

    def test_put_off_it_learns_at_once_from_the_last_pull(self, create: Create) -> None:
        campaign = create(30, budget=37)
        with campaign.learning_later():
            answer(campaign, 0.8, 15, 37)
            assert rows(campaign, STATE) == [(1, 37, 57, 30)]
