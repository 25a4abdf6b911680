"""A campaign that weighs its workers: answers that are known, workers who are excluded, changes, processes, imports."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Create, arms, one
from campaign_contract.processes import Start, StartsWorkers
from campaign_contract.weighed import LEARNT, RIGHT, Crowd
from cutline.campaign import Campaign, Observation, Reason
from cutline.campaign.files.importing import import_file
from cutline.campaign.operations.upkeep import learning
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from forking import kill
from ledger import audit, crowds, rows

ONLY = ("above", "below", "undecided")


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
        assert campaign.status().known_answers == 2
        assert [results for (results,) in rows(campaign, LEARNT)][-1] == 60
        with pytest.raises(NotFoundError, match="no arm 'x'"):
            campaign.change(known={"x": True})
        campaign.change(retire=["arm 3"])
        assert campaign.status().known_answers == 1
        with pytest.raises(InvalidInputError, match="give workers weighed, too"):
            create(3).change(known={"arm 1": True})

    def test_a_target_below_what_all_workers_have_wrong_is_said_to_be_out_of_reach_until_known_answers_show_less(
        self, create: Create
    ) -> None:
        campaign, crowd = create(60, workers="weighed", target_errors=2), Crowd(60)
        status = campaign.status()
        assert status.least_errors == pytest.approx(6.0)  # one in ten
        assert status.more_needed is None
        assert status.warning == (
            "as things stand, a target of 2 expected errors is out of reach, however many pulls there are: workers are "
            "taken to be wrong together on about 6.0 arms; answers that are known (--known) can show that it is "
            "fewer"
        )
        campaign.observe_many((arm, crowd.answer(arm, who), who) for arm in arms(30) for who in RIGHT)
        campaign.change(known={arm: crowd.truth[arm] for arm in arms(30)})
        status = campaign.status()
        assert 30 / (10 + 30) < status.least_errors < 1.5  # the first if all were certain of, and none wrong
        assert status.more_needed is not None
        assert 0 < status.more_needed < 1000
        assert create(60, workers="alike").status().least_errors == 0.0

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

    def test_an_arm_that_excluded_workers_alone_have_answered_is_undecided_wherever_one_looks(
        self, create: Create
    ) -> None:
        campaign = create(4, workers="weighed", excluded=["bob"])
        campaign.observe_many([("arm 0", 1, "bob"), ("arm 1", 0, "bob"), ("arm 1", 1, "ann")])
        campaign.observe_many([("arm 2", 1, "ann"), ("arm 2", 0, "cid")])  # which cancel
        for exclude, readmit, above in (
            ([], [], [None, True, True, None]),
            ([], ["bob"], [True, True, True, None]),
            (["bob", "ann"], [], [None, None, False, None]),
        ):
            campaign.change(exclude=exclude, readmit=readmit)
            assert [item.above for item in campaign.decisions()] == above
            undecided = [each is None for each in above]
            assert [item.above is None for item in campaign.weigh().decisions] == undecided
            assert [campaign.arm(arm).decision.above for arm in arms(4)] == above
            found = [(item.arm, item.above) for only in ONLY for item in campaign.decisions(only=only)]
            assert sorted(found) == list(zip(arms(4), above, strict=True))
            assert campaign.progress()[-1].decided == 4 - sum(undecided)
            audit(campaign)

    def test_workers_are_excluded_and_readmitted_one_by_one_whatever_others_do_meanwhile(self, create: Create) -> None:
        campaign, crowd = create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 90)
        (change,) = campaign.change(exclude=["guesser"])
        assert (change.what, change.before, change.after) == ("excluded", [], ["guesser"])
        assert campaign.change(exclude=["guesser"]) == []
        (change,) = campaign.change(exclude=["yes to all", "bob"], readmit=["ann"])
        assert (change.before, change.after) == (["guesser"], ["bob", "guesser", "yes to all"])
        assert campaign.ask(worker="bob").reason is Reason.NOTHING_FOR_WORKER
        (change,) = campaign.change(readmit=["guesser", "bob"])
        assert campaign.settings.excluded == ("yes to all",)
        whole = create(30, workers="weighed")
        whole.observe_many(Observation(item.arm, item.reward, item.worker) for item in campaign.results())
        whole.change(excluded=["yes to all"])
        assert other_fit(campaign) == other_fit(whole)

    def test_a_worker_whom_nobody_has_seen_is_not_excluded_without_a_word(self, create: Create) -> None:
        campaign = create(3, workers="weighed", excluded=["expected"])
        campaign.ask(worker="Ann")
        campaign.observe("arm 1", 1, "bob")
        with pytest.raises(NotFoundError) as caught:
            campaign.change(exclude=["bob", "ann"], budget=7)
        assert str(caught.value) == (
            "campaign 'campaign 0' has no worker 'ann': nobody of that name has been asked or has answered; it has "
            "'Ann': are the names written alike?"
        )
        with pytest.raises(NotFoundError, match=r"has no worker 'eve': nobody of that name has been asked"):
            campaign.change(readmit=["eve"])
        assert campaign.history() == []
        campaign.change(exclude=["Ann", "bob"], readmit=["expected"])
        assert campaign.settings.excluded == ("Ann", "bob")
        for given, said in (
            ({"exclude": ["bob"], "readmit": ["bob"]}, "worker 'bob' is to be excluded and to be readmitted"),
            ({"exclude": ["bob"], "excluded": []}, "excluded is the whole list of workers"),
            ({"exclude": "bob"}, "exclude is one text; give a list of ids"),
        ):
            with pytest.raises(InvalidInputError, match=said):
                campaign.change(**given)
        plain = create(3)
        plain.ask(worker="bob")
        with pytest.raises(InvalidInputError, match="excluded is for workers that are weighed"):
            plain.change(exclude=["bob"])

    def test_a_known_answer_can_be_taken_back_and_leaves_no_trace_but_in_the_history(self, create: Create) -> None:
        campaign, other, crowd = create(30, workers="weighed"), create(30, workers="weighed"), Crowd(30)
        crowd.work(campaign, 60)
        other.observe_many(Observation(item.arm, item.reward, item.worker) for item in campaign.results())
        campaign.change(known={"arm 3": True, "arm 1": False, "arm 4": False})
        assert campaign.known_answers() == {"arm 1": False, "arm 3": True, "arm 4": False}
        (change,) = campaign.change(forget=["arm 4", "arm 3", "arm 2"])
        assert (change.what, change.after) == ("answers known no more", {"count": 2, "first": ["arm 4", "arm 3"]})
        assert campaign.known_answers() == {"arm 1": False}
        campaign.change(forget=["arm 1"], known={"arm 5": True})
        campaign.change(forget=["arm 5"])
        assert campaign.known_answers() == {}
        assert campaign.change(forget=["arm 5"]) == []
        audit(campaign)
        assert other_fit(campaign) == other_fit(other)
        assert [(item.wrong, item.above) for item in campaign.decisions()] == [
            (item.wrong, item.above) for item in other.decisions()
        ]
        with pytest.raises(NotFoundError, match="no arm 'x'"):
            campaign.change(forget=["x"])
        with pytest.raises(InvalidInputError, match="the answer to arm 'arm 1' is to be known and to be forgotten"):
            campaign.change(known={"arm 1": True}, forget=["arm 1"])

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

    def test_what_is_known_stays_decided_where_workers_come_to_count_alike(self, create: Create) -> None:
        campaign = create(3, workers="weighed", known={"arm 1": False})
        campaign.observe_many(("arm 1", 1, who) for who in RIGHT)
        campaign.change(workers="alike")
        no, yes, other = campaign.decisions()[1], campaign.weigh().decisions[1], campaign.decisions()[0]
        assert [(item.above, item.wrong, item.known) for item in (no, yes)] == [(False, 0.0, True)] * 2
        assert (other.above, other.wrong, other.known) == (None, 0.5, False)
        assert campaign.status().expected_errors == sum(item.wrong for item in campaign.decisions()) == 1.0
        assert campaign.decisions(threshold=0.9)[1].above is False

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


class SharedWeighed(StartsWorkers):
    def test_two_who_exclude_at_the_same_moment_exclude_both(self, url: str) -> None:
        names = [f"worker {number}" for number in range(8)]
        with Campaign.create(url, "c", arms(3), 0.5, "LSA", 1000, workers="weighed") as first:
            first.observe_many(("arm 1", 1, name) for name in names)

            def exclude(name: str) -> None:
                with Campaign.open(url, "c") as campaign:
                    campaign.change(exclude=[name])

            with ThreadPoolExecutor(8) as threads:
                list(threads.map(exclude, names))
            assert list(first.status().settings.excluded) == names
            assert [len(change.after) for change in first.history()] == list(range(1, 9))

    @pytest.mark.slow
    def test_processes_that_are_killed_while_weights_change_leave_sums_that_are_right(
        self, made: Campaign, start: Start, tmp_path: Path
    ) -> None:
        made.change(workers="weighed")
        outputs = [tmp_path / name for name in "abc"]
        for worker, output, enough in zip(start("endless", outputs), outputs, (20, 60, 100), strict=True):
            while output.read_bytes().count(b"\n") < enough and worker.is_alive():
                made.change(excluded=["new", *made.settings.excluded[:1]] if enough % 40 else [])
                made.observe("arm 3", 1, "new", key=f"{enough} {time.monotonic_ns()}")
            assert worker.is_alive()
            kill(worker)
        while learning.keep_up(made._store, made._identity, made._clock, wholly=True):
            pass
        audit(made)
        assert len(crowds(made)) > 5

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

    def test_an_import_adds_to_the_evidence(self, url: str, tmp_path: Path) -> None:
        crowd = Crowd(30)
        file = tmp_path / "labels.csv"
        lines = [f"{arm},{who},{crowd.answer(arm, who):d}" for arm in arms(30) for who in ("ann", "bob")]
        file.write_text("\n".join(["task,worker,label", *lines]))
        with Campaign.create(url, "c", arms(30), 0.5, "LSA", 1000, workers="weighed") as campaign:
            crowd.work(campaign, 40)
            asked = {pull.arm for pull in campaign.ask(3, worker="ann")}
            told = {(item.arm, item.worker) for item in campaign.results()}
            kept = [line for line in lines if tuple(line.split(",")[:2]) not in told]
            file.write_text("\n".join(["task,worker,label", *kept]))
            import_file(url, "c", str(file))
            audit(campaign)
            others = [line for line in kept if line.split(",")[0] not in asked][:5]  # what a pull was told stays
            file.write_text("\n".join(["task,worker,label", *(f"{line[:-1]}{1 - int(line[-1])}" for line in others)]))
            import_file(url, "c", str(file), replace=True)
            audit(campaign)
