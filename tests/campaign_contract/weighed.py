"""A campaign that asks and decides by what the label of each worker is worth."""

import itertools
import math
import random
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, arms, one
from cutline.beliefs.evidence import index_for, next_fit
from cutline.campaign import Campaign, Reason
from cutline.campaign.operations.asking import asking
from cutline.campaign.operations.upkeep import learning
from cutline.errors import InvalidInputError, NotFoundError
from ledger import audit, crowds, dump, log_odds, rows

RIGHT = {"ann": (0.9, 0.95), "bob": (0.85, 0.7), "eve": (0.95, 0.6), "yes to all": (0.05, 0.95), "guesser": (0.5, 0.5)}
"""How often each worker is right where the truth is no, and where it is yes."""

LEARNT = "SELECT results FROM cutline_learnt WHERE campaign_id = :campaign ORDER BY generation"
TURNS = "SELECT up_to_date, generation FROM cutline_campaigns WHERE id = :campaign"


class DeathError(Exception):
    """The process dies here."""


class Crowd:
    """Workers with known rates, and the truth of arms."""

    def __init__(self, count: int, seed: int = 3) -> None:
        self.chance = random.Random(seed)
        self.truth = {arm: self.chance.random() < 0.5 for arm in arms(count)}

    def answer(self, arm: str, worker: str) -> bool:
        no, yes = RIGHT[worker]
        right = self.chance.random() < (yes if self.truth[arm] else no)
        return self.truth[arm] == right

    def work(self, campaign: Campaign, pulls: int) -> None:
        """Tell so many results, by one worker after the other."""
        told = 0
        for _ in range(20 * pulls):
            worker = self.chance.choice(list(RIGHT))
            for pull in campaign.ask(1, worker=worker):
                campaign.tell(pull, self.answer(pull.arm, worker))
                told += 1
            if told == pulls:
                return
        raise AssertionError(f"{told} pulls could be told, not {pulls}")

    def wrong(self, campaign: Campaign) -> int:
        return sum(item.above != self.truth[item.arm] for item in campaign.decisions())


def expected_index(campaign: Campaign, worker: str, row: tuple[Any, ...]) -> float:
    """The index for a worker of an arm as the tables hold it, all of whose pulls are told."""
    crowd = crowds(campaign)[row[-3]]
    weights = {name: weight for name, *weight in crowd["workers"]}
    no, yes = (weight / 10**9 for weight in weights.get(worker, crowd["anybody"]))
    part = 1.0 + row[4] * crowd["correlation"]
    return index_for(log_odds(crowd, row[9], row[4]), row[4], no / part, yes / part)


class WeighedByGames(CampaignTests):
    """Once: what the rewards say is the same on every store."""

    def test_it_asks_and_decides_better_than_where_workers_count_alike(self, create: Create) -> None:
        errors = {"weighed": 0, "alike": 0}
        for seed, workers in itertools.product((1, 3), errors):
            crowd = Crowd(60, seed)
            campaign = create(60, workers=workers)
            crowd.work(campaign, 240)
            errors[workers] += crowd.wrong(campaign)
        assert errors["weighed"] < 0.6 * errors["alike"]


class Weighed(CampaignTests):
    def test_it_learns_at_one_result_an_arm_and_then_by_a_schedule_fixed_in_advance(self, create: Create) -> None:
        campaign = create(30, workers="weighed")
        Crowd(30).work(campaign, 145)
        times = [30]
        while next_fit(times[-1]) <= 145:
            times.append(next_fit(times[-1]))
        assert times == [30, 50, 70, 90, 110, 130]
        assert [results for (results,) in rows(campaign, LEARNT)] == times

    def test_evidence_is_the_sum_of_weights_whatever_becomes_of_pulls(self, create: Create, clock: Clock) -> None:
        campaign, crowd = create(20, workers="weighed", repeat_workers=True), Crowd(20)
        for round_ in range(12):
            pulls = campaign.ask(9, worker=crowd.chance.choice(list(RIGHT)), lease=100)
            campaign.tell_many((pull, crowd.answer(pull.arm, str(pull.worker))) for pull in pulls[:5])
            campaign.abandon(pulls[5])
            clock.now += 60
            campaign.observe_many([(f"arm {round_}", 0.3, "ann", f"key {round_}"), (f"arm {round_}", 1)])
            campaign.correct(pulls[0], 0.7)
            late = campaign.ask(1, lease=1)
            clock.now += 50
            campaign.tell(late[0], 0)
            audit(campaign)
        assert len(rows(campaign, LEARNT)) >= 4

    def test_arms_follow_batch_by_batch_and_a_death_between_leaves_a_campaign_that_goes_on(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign, crowd = create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 29)
        bring = learning._bring_some

        def die(*given: Any) -> bool:
            bring(*given)
            raise DeathError

        monkeypatch.setattr(learning, "_bring_some", die)
        with pytest.raises(DeathError):
            crowd.work(campaign, 1)
        monkeypatch.setattr(learning, "_bring_some", bring)
        assert rows(campaign, TURNS) == [(0, 1)]
        audit(campaign)
        crowd.work(campaign, 2)
        audit(campaign)
        crowd.work(campaign, 8)
        assert rows(campaign, TURNS) == [(30, 1)]

    def test_a_worker_gets_the_arm_where_his_own_label_is_worth_most(self, create: Create) -> None:
        campaign, crowd = create(40, workers="weighed", repeat_workers=True), Crowd(40)
        crowd.work(campaign, 200)
        orders = set()
        for worker in RIGHT:
            table = dump(campaign)[1]
            order = sorted((expected_index(campaign, worker, row), row[3], row[1]) for row in table)
            pull = one(campaign, worker=worker)
            assert pull.arm == order[0][-1]
            orders.add(tuple(arm for *_, arm in order))
            campaign.abandon(pull)
        assert len(orders) > 1
        anybody = one(campaign)
        campaign.abandon(anybody)
        assert anybody.arm == min((row[8], row[3], row[1]) for row in dump(campaign)[1])[-1]

    def test_only_so_many_arms_are_looked_at_for_a_worker(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(asking, "_CANDIDATES", 0)
        campaign, crowd = create(40, workers="weighed"), Crowd(40)
        crowd.work(campaign, 80)
        had = {item.arm for item in campaign.results() if item.worker == "eve"}
        open_arms = [(row[8], row[3], row[1]) for row in dump(campaign)[1] if row[1] not in had]
        assert one(campaign, worker="eve").arm == min(open_arms)[-1]

    def test_pulls_in_flight_count_as_if_they_will_add_what_results_add(self, create: Create) -> None:
        campaign = create(1, workers="weighed")
        one(campaign)
        audit(campaign)
        campaign.tell(one(campaign), 1)
        campaign.ask(3)
        audit(campaign)
        ((index,),) = rows(campaign, "SELECT index_value FROM cutline_arms WHERE campaign_id = :campaign")
        assert index == pytest.approx(5 * math.log(8 / 3) + 0.5 * math.log(5))

    def test_what_is_said_is_about_the_truth_of_arms(self, create: Create) -> None:
        campaign, crowd = create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 120)
        found = campaign.decisions()
        assert campaign.status().expected_errors == pytest.approx(sum(item.wrong for item in found))
        for item in found:
            assert item.above == (item.probability >= 0.5)
            assert item.wrong == pytest.approx(min(item.probability, 1 - item.probability))
        shares = {item.arm: item.mean for item in found}
        for arm in arms(30):
            own = [item.reward for item in campaign.results() if item.arm == arm]
            assert shares[arm] == pytest.approx(sum(own) / len(own))
        nearest = campaign.decisions(nearest=5)
        assert [item.wrong for item in nearest] == sorted((item.wrong for item in found), reverse=True)[:5]
        assert [item.arm for item in campaign.decisions(order="-wrong", limit=5)] == [item.arm for item in nearest]
        assert campaign.arm("arm 3").decision == found[3]

    def test_it_stops_when_so_few_errors_are_to_be_expected(self, create: Create) -> None:
        campaign, crowd = create(30, workers="weighed", target_errors=5, repeat_workers=True), Crowd(30)
        needed = []
        for _ in range(400):
            status = campaign.status()
            if status.finished:
                break
            needed.append(status.more_needed)
            crowd.work(campaign, 1)
        assert status.finished is Reason.TARGET_REACHED
        assert status.expected_errors <= 5
        assert needed[0] is not None
        assert 30 < needed[0] < 400
        assert campaign.ask(worker="new").reason is Reason.TARGET_REACHED

    def test_what_does_not_go_together_is_refused(self, create: Create) -> None:
        for more, said in (
            ({"threshold": 0.3}, "threshold is 0.3; workers are weighed at 0.5, where an answer is yes or no"),
            ({"prior": (1, 1)}, "prior is about the mean of an arm; where workers are weighed the likelier truth is "),
            ({"decide": "mean"}, "decide is about the mean of an arm"),
            ({"workers": "some"}, "workers is 'some'; it must be one of alike, weighed"),
            ({"workers": "alike", "excluded": ["bob"]}, "excluded is for workers that are weighed"),
            ({"workers": "alike", "known_rate": 0.1}, "known_rate is for workers that are weighed"),
            ({"excluded": "bob"}, "excluded is 'bob'; it must be a list of workers"),
            ({"known_rate": 1}, "known_rate is 1; it must be a share of the pulls, from 0 to below 1"),
            ({"workers": "alike", "known": {"arm 0": True}}, "known answers are there for workers to be weighed by"),
            ({"known": {"arm 0": 2}}, "the known answer of 'arm 0' is 2; it must be 0 or 1"),
        ):
            with pytest.raises(InvalidInputError) as caught:
                create(3, **{"workers": "weighed", **more})
            assert str(caught.value).startswith(said)
        with pytest.raises(NotFoundError, match=r"a known answer: campaign .* has no arm 'x'"):
            create(3, workers="weighed", known={"x": True})
        campaign = create(3, workers="weighed")
        with pytest.raises(InvalidInputError, match=r"threshold is 0\.7; workers are weighed at 0\.5"):
            campaign.decisions(threshold=0.7)
        with pytest.raises(InvalidInputError, match=r"threshold is 0\.7; workers are weighed at 0\.5"):
            campaign.change(threshold=0.7)
