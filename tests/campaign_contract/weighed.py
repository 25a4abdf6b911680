"""A campaign that asks and decides by what the label of each worker is worth."""

import math
import random
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, SharedCampaignTests, arms, one
from cutline.beliefs.evidence import index_for, next_fit
from cutline.campaign import Campaign, Observation, Reason
from cutline.campaign.operations.asking import asking
from cutline.campaign.operations.upkeep import learning
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import audit, crowds, dump, rows

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
    return index_for((crowd["prior"] + row[9]) / 10**9, row[4], no, yes)


class Weighed(CampaignTests):
    def test_it_asks_and_decides_better_than_where_workers_count_alike(self, create: Create) -> None:
        errors = []
        for workers in ("weighed", "alike"):
            crowd = Crowd(60)
            campaign = create(60, workers=workers)
            crowd.work(campaign, 240)
            errors.append(crowd.wrong(campaign))
        assert errors[0] < 0.6 * errors[1]

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


class Knowing(CampaignTests):
    def test_what_is_known_is_decided_and_asked_for_at_its_rate_alone(self, create: Create) -> None:
        crowd = Crowd(20)
        known = {arm: crowd.truth[arm] for arm in arms(5)}
        campaign = create(20, workers="weighed", known=known)
        assert [(item.known, item.wrong, item.above) for item in campaign.decisions()[:5]] == [
            (True, 0, known[arm]) for arm in arms(5)
        ]
        crowd.work(campaign, 60)
        assert {item.arm for item in campaign.results()} == set(arms(20)[5:])
        other = create(20, workers="weighed", known=known, known_rate=0.25, seed=2)
        Crowd(20).work(other, 60)
        asked = [item.arm in known for item in other.results()]
        assert asked == [random.Random(f"2 {number}").random() < 0.25 for number in range(len(asked))]
        assert 8 < sum(asked) < 22
        assert other.status().spent == 60
        per_worker = [(item.arm, item.worker) for item in other.results()]
        assert len(set(per_worker)) == len(per_worker)

    def test_a_worker_who_has_had_all_that_is_known_gets_another_arm(self, create: Create) -> None:
        campaign = create(6, workers="weighed", known={"arm 0": True, "arm 1": False}, known_rate=0.99)
        assert sorted(pull.arm for pull in campaign.ask(4, worker="ann"))[:2] == ["arm 0", "arm 1"]
        assert {pull.arm for pull in campaign.ask(9, worker="ann")} <= set(arms(6)[2:])
        assert [pull.arm for pull in campaign.ask(2, worker="bob", without=["arm 0"])].count("arm 0") == 0

    def test_it_teaches_who_is_right(self, create: Create) -> None:
        crowd = Crowd(40)
        campaign = create(40, workers="weighed", known={arm: not crowd.truth[arm] for arm in arms(30)})
        campaign.observe_many((arm, crowd.answer(arm, "ann"), "ann") for arm in arms(40))
        weights = {name: weight for name, *weight in crowds(campaign)[1]["workers"]}
        no, yes = weights["ann"]
        assert no > 0 > yes  # since all that is known is the other way round

    def test_answers_can_come_later(self, create: Create) -> None:
        campaign, crowd = create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 60)
        (change,) = campaign.change(known={"arm 3": True, "arm 4": False})
        assert (change.what, change.after) == ("answers known", {"count": 2, "first": ["arm 3", "arm 4"]})
        assert campaign.change(known={"arm 4": False}) == []
        assert [item.above for item in campaign.decisions()[3:5]] == [True, False]
        assert [results for (results,) in rows(campaign, LEARNT)][-1] == 60
        with pytest.raises(NotFoundError, match="no arm 'x'"):
            campaign.change(known={"x": True})
        with pytest.raises(InvalidInputError, match="give workers weighed, too"):
            create(3).change(known={"arm 1": True})

    def test_a_worker_who_is_excluded_weighs_nothing_and_gets_no_more(self, create: Create) -> None:
        campaign, crowd = create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 90)
        count = len(list(campaign.results()))
        (change,) = campaign.change(excluded=["guesser", "yes to all"])
        assert (change.what, change.before, change.after) == ("excluded", [], ["guesser", "yes to all"])
        assert campaign.ask(worker="guesser").reason is Reason.NOTHING_FOR_WORKER
        assert len(list(campaign.results())) == count
        audit(campaign)
        fit = crowds(campaign)[max(crowds(campaign))]
        assert {name for name, *_ in fit["workers"]} == {"ann", "bob", "eve"}
        other = create(30, workers="weighed")
        kept = [item for item in campaign.results() if item.worker in ("ann", "bob", "eve")]
        other.observe_many(Observation(item.arm, item.reward, item.worker) for item in kept)
        other.change(known={})
        assert fit == other_fit(other)
        campaign.change(excluded=[])
        assert len(campaign.ask(worker="guesser")) == 1

    def test_how_workers_count_can_be_changed_and_changed_back(self, create: Create) -> None:
        campaign, plain, crowd = create(30), create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 100)
        plain.observe_many(Observation(item.arm, item.reward, item.worker) for item in campaign.results())
        alike = create(30)
        alike.observe_many(Observation(item.arm, item.reward, item.worker) for item in campaign.results())
        campaign.change(workers="weighed")
        audit(campaign)
        assert other_fit(campaign) == other_fit(plain)
        assert [item.probability for item in campaign.decisions()] == [item.probability for item in plain.decisions()]
        campaign.change(workers="alike")
        assert [(item.above, item.wrong) for item in campaign.decisions()] == [
            (item.above, item.wrong) for item in alike.decisions()
        ]

    def test_a_copy_weighs_and_knows_what_the_campaign_does(self, create: Create) -> None:
        crowd = Crowd(20)
        campaign = create(20, workers="weighed", known={"arm 0": True}, known_rate=0.2, excluded=["guesser"])
        campaign.observe_many((arm, crowd.answer(arm, who), who) for arm in arms(20) for who in RIGHT)
        with campaign.copy("other") as copy:
            audit(copy)
            assert copy.settings == campaign.settings
            assert [item.known for item in copy.decisions()] == [item.known for item in campaign.decisions()]
            assert [item.above for item in copy.decisions()] == [item.above for item in campaign.decisions()]


def other_fit(campaign: Campaign) -> dict[str, Any]:
    """The last fit that was written down."""
    fits = crowds(campaign)
    return fits[max(fits)]


class SharedWeighed(SharedCampaignTests):
    def test_whoever_opens_the_campaign_computes_the_same(self, url: str) -> None:
        crowd = Crowd(30)
        with Campaign.create(url, "c", arms(30), 0.5, "LSA", 1000, workers="weighed") as first:
            with Campaign.open(url, "c", workers="weighed") as second:
                for turn in range(8):
                    crowd.work((first, second)[turn % 2], 15)
                    audit((second, first)[turn % 2])
                assert first.decisions() == second.decisions()
                pull = one(first, worker="ann")
                first.abandon(pull)
                assert second.arm(pull.arm).decision.pulls == first.arm(pull.arm).decision.pulls
            with pytest.raises(ConflictError, match="workers is 'weighed', not 'alike'"):
                Campaign.open(url, "c", workers="alike")

    def test_an_import_adds_to_the_evidence(self, url: str, tmp_path: Any) -> None:
        from cutline.campaign.files.importing import import_file

        crowd = Crowd(30)
        file = tmp_path / "labels.csv"
        lines = [f"{arm},{who},{crowd.answer(arm, who):d}" for arm in arms(30) for who in ("ann", "bob")]
        file.write_text("\n".join(["task,worker,label", *lines]))
        with Campaign.create(url, "c", arms(30), 0.5, "LSA", 1000, workers="weighed") as campaign:
            crowd.work(campaign, 40)
            campaign.ask(3, worker="ann")
            told = {(item.arm, item.worker) for item in campaign.results()}
            kept = [line for line in lines if tuple(line.split(",")[:2]) not in told]
            file.write_text("\n".join(["task,worker,label", *kept]))
            import_file(url, "c", str(file))
            audit(campaign)
            file.write_text("\n".join(["task,worker,label", *(f"{line[:-1]}{1 - int(line[-1])}" for line in kept[:5])]))
            import_file(url, "c", str(file), replace=True)
            audit(campaign)
