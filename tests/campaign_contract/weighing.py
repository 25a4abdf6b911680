"""What is decided when answers are weighed by who gave them."""

import random
from typing import Any

import numpy as np
import pytest

from campaign_contract.campaigns import CampaignTests, Create, arms
from cutline.beliefs.workers import Crowd, Labels
from cutline.campaign import Campaign, Observation
from cutline.errors import InvalidInputError, NotFoundError

WORKERS = ["ann", "bob", "guesser", "yes to all"]


def answered(create: Create, count: int = 60) -> tuple[Campaign, list[bool]]:
    """A campaign in which two workers are right nine times in ten, one guesses, and one says yes; and the truth."""
    chance = random.Random(3)
    truth = [chance.random() < 0.5 for _ in range(count)]
    campaign = create(count, threshold=0.5, budget=10)
    answers = []
    for arm, yes in zip(arms(count), truth, strict=True):
        answers += [Observation(arm, yes != (chance.random() < 0.1), worker) for worker in WORKERS[:2]]
        answers += [Observation(arm, chance.random() < 0.5, "guesser"), Observation(arm, 1, "yes to all")]
    campaign.observe_many(answers)
    return campaign, truth


class Weighing(CampaignTests):
    def test_decisions_are_those_of_the_crowd_that_all_results_show(self, create: Create) -> None:
        campaign, truth = answered(create)
        found = campaign.weigh()
        results = list(campaign.results())
        labels = Labels(
            np.array([arms(60).index(item.arm) for item in results]),
            np.array([WORKERS.index(str(item.worker)) for item in results]),
            np.array([item.reward for item in results]),
            np.full(60, -1, np.int8),
        )
        crowd = Crowd.learn(labels, 4)
        evidence = crowd.evidence(labels)
        assert [item.above for item in found.decisions] == (evidence >= 0).tolist()
        assert [item.wrong for item in found.decisions] == pytest.approx(crowd.wrong_side(evidence).tolist())
        assert found.expected_errors == pytest.approx(crowd.wrong_side(evidence).sum())
        rates = {item.name: (item.right_on_no, item.right_on_yes) for item in found.workers}
        for name, (no, yes) in zip(WORKERS, crowd.rates().tolist(), strict=False):
            assert rates[name] == pytest.approx((no, yes))
        alike = [item.above for item in campaign.decisions()]
        wrong = [sum(a != b for a, b in zip(sides, truth, strict=True)) for sides in (evidence >= 0, alike)]
        assert wrong[0] < wrong[1]

    def test_shares_of_yes_and_pulls_stay_what_they_are(self, create: Create) -> None:
        campaign, _ = answered(create)
        for weighed, plain in zip(campaign.weigh().decisions, campaign.decisions(), strict=True):
            assert (weighed.arm, weighed.pulls, weighed.mean) == (plain.arm, plain.pulls, plain.mean)

    def test_who_is_left_out_counts_for_nothing(self, create: Create) -> None:
        campaign, _ = answered(create)
        without = campaign.weigh(exclude=["guesser", "yes to all"])
        other = create(60, threshold=0.5, budget=10)
        kept = [item for item in campaign.results() if item.worker in WORKERS[:2]]
        other.observe_many([Observation(item.arm, item.reward, item.worker) for item in kept])
        assert [item.wrong for item in without.decisions] == [item.wrong for item in other.weigh().decisions]
        rates = {item.name: (item.answers, item.right_on_yes) for item in without.workers}
        assert rates["guesser"] == (60, None)
        assert rates["ann"][1] is not None

    def test_what_is_known_is_never_wrong_and_teaches(self, create: Create) -> None:
        campaign, truth = answered(create)
        known = {arm: not yes for arm, yes in zip(arms(60), truth, strict=True)}  # as if all were the other way round
        some = {arm: known[arm] for arm in arms(40)}
        found = campaign.weigh(known=some)
        assert [(item.above, item.wrong) for item in found.decisions[:40]] == [(some[arm], 0) for arm in arms(40)]
        ann = next(item for item in found.workers if item.name == "ann")
        assert ann.right_on_no is not None
        assert ann.right_on_yes is not None
        assert ann.right_on_no < 0.5
        assert ann.right_on_yes < 0.5

    def test_an_arm_without_an_answer_is_undecided(self, create: Create) -> None:
        campaign = create(3, threshold=0.5)
        campaign.observe("arm 0", 1, "ann")
        campaign.observe("arm 1", 0)
        found = campaign.weigh(known={"arm 2": True})
        assert [item.above for item in found.decisions] == [True, False, True]
        assert [item.above for item in campaign.weigh(exclude=["ann"]).decisions] == [None, False, None]
        assert [item.name for item in found.workers] == [None, "ann"]

    def test_those_most_likely_to_be_wrong_come_first(self, create: Create) -> None:
        found = answered(create)[0].weigh()
        nearest = found.nearest(5)
        assert [item.wrong for item in nearest] == sorted((item.wrong for item in found.decisions), reverse=True)[:5]
        assert found.nearest(None) == list(found.decisions)

    def test_what_cannot_be_weighed_is_refused(self, create: Create) -> None:
        with pytest.raises(InvalidInputError, match=r"is 0\.3; workers are weighed at 0\.5"):
            create(2, threshold=0.3).weigh()
        campaign = create(2, threshold=0.5)
        campaign.observe("arm 0", 1, "ann")
        with pytest.raises(NotFoundError, match="no arm 'x', whose answer"):
            campaign.weigh(known={"x": True})
        with pytest.raises(NotFoundError, match="no answer by 'bob'"):
            campaign.weigh(exclude=["bob"])
        known: Any = {"arm 0": 3}
        with pytest.raises(InvalidInputError, match="known answer of 'arm 0' is 3"):
            campaign.weigh(known)
        with pytest.raises(InvalidInputError, match="exclude is 'ann'; it must be a list"):
            campaign.weigh(exclude="ann")
