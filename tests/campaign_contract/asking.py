"""Which arm is next, and who may have it."""

import math
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

import naive
from campaign_contract.campaigns import CampaignTests, Create, arms, asked, for_each, one
from cutline.campaign import Reason
from cutline.errors import InvalidInputError
from ledger import dump


class Asking(CampaignTests):
    @for_each("policy", ["LSA", "APT(0.1)", "Uniform", "Opt-KG"])
    def test_ten_fresh_arms_and_ten_asks_without_a_tell_give_ten_different_arms(
        self, create: Create, policy: str
    ) -> None:
        campaign = create(10, policy=policy)
        assert len({arm for _ in range(10) for arm in asked(campaign)}) == 10
        campaign = create(10, policy=policy)
        assert len(set(asked(campaign, 10))) == 10

    @for_each("policy", ["LSA", "APT(0.1)", "Uniform", "Opt-KG", "Bayes"])
    def test_an_ask_for_many_gives_what_as_many_asks_for_one_give(self, create: Create, policy: str) -> None:
        single, batch = create(7, policy=policy, seed=5), create(7, policy=policy, seed=5)
        answers = random.Random(11)
        for size in (3, 10, 1, 25, 4):
            one_by_one = [one(single) for _ in range(size)]
            together = batch.ask(size)
            assert [pull.arm for pull in one_by_one] == [pull.arm for pull in together]
            for pull, other in zip(one_by_one[::2], together[::2], strict=True):
                reward = answers.random() < 0.6
                single.tell(pull, reward)
                batch.tell(other, reward)
        assert dump(single)[1:] == dump(batch)[1:]

    @for_each(
        ("policy", "threshold", "index"),
        [
            ("LSA", 0.3, naive.lsa(Fraction(3, 10), Fraction("1.35"))),
            ("APT(0.05)", 0.5, naive.apt(Fraction(1, 2), Fraction(1, 20))),
            ("Uniform", 0.5, naive.uniform()),
            ("Opt-KG", 0.4, naive.opt_kg(Fraction(2, 5), Fraction(1), Fraction(1))),
        ],
    )
    def test_one_at_a_time_it_pulls_what_the_paper_pulls(
        self, create: Create, policy: str, threshold: float, index: naive.Index
    ) -> None:
        campaign = create(6, threshold, policy, 150, seed=2)
        fresh = create(6, threshold, "Uniform", 150, seed=2)
        order = asked(fresh, 6)  # the order of arms that are equal
        answers = random.Random(3)
        record = dict.fromkeys(order, (0, 0))
        first = not policy.startswith("Opt-KG")
        for _ in range(150):
            keys = [(-math.inf if first and record[arm][0] == 0 else index(*record[arm])) for arm in order]
            expected = order[keys.index(min(keys))]
            pull = one(campaign)
            assert pull.arm == expected
            reward = answers.random() < 0.2 + 0.1 * order.index(expected)
            campaign.tell(pull, reward)
            pulls, total = record[expected]
            record[expected] = (pulls + 1, total + reward)
        assert {item.arm: (item.pulls, round((item.mean or 0) * item.pulls)) for item in campaign.decisions()} == record

    def test_pulls_in_flight_count_as_if_they_repeat_the_mean(self, create: Create) -> None:
        campaign = create(["a", "b", "c"], policy="APT(0)")
        for pull, reward in zip(sorted(campaign.ask(3), key=lambda pull: pull.arm), (1.0, 0.25, 0.75), strict=True):
            campaign.tell(pull, reward)
        # T gap^2: a has 0.25; b and c have 0.0625 each, and as much more with each pull in flight
        assert sorted(asked(campaign, 6)) == ["b"] * 3 + ["c"] * 3
        assert len(asked(campaign, 2)) == 2
        flying = {item.arm: item.in_flight for item in campaign.decisions()}
        assert flying["a"] + flying["b"] + flying["c"] == 8
        assert flying["b"] >= 3
        assert flying["c"] >= 3

    def test_pulls_in_flight_of_an_arm_without_rewards_count_as_the_threshold(self, create: Create) -> None:
        campaign = create(["new"], policy="LSA", threshold=0.3)
        for flying in range(1, 5):
            one(campaign)
            assert dump(campaign)[1][0][8] == pytest.approx(0.5 * math.log(flying), rel=1e-11, abs=1e-30)
        campaign = create(["new", "b"], policy="APT(0)", threshold=0.3)
        pulls = campaign.ask(4)
        assert Counter(pull.arm for pull in pulls) in ({"new": 1, "b": 3}, {"new": 3, "b": 1})  # no gap: all ties

    def test_the_seed_alone_decides_the_order_of_equal_arms(self, create: Create) -> None:
        orders = [asked(create(50, seed=seed), 50) for seed in (1, 1, 2)]
        assert orders[0] == orders[1]
        assert orders[0] != orders[2]
        assert sorted(orders[0]) == sorted(orders[2]) == sorted(arms(50))

    def test_fifty_threads_asking_at_once_get_fifty_pulls_of_fifty_arms(self, create: Create) -> None:
        campaign = create(50)
        with ThreadPoolExecutor(50) as pool:
            got = [pull for future in [pool.submit(campaign.ask) for _ in range(50)] for pull in future.result()]
        assert len({pull.id for pull in got}) == 50
        assert len({pull.arm for pull in got}) == 50
        assert campaign.status().in_flight == 50

    def test_threads_that_ask_and_tell_never_go_beyond_the_budget(self, create: Create) -> None:
        campaign = create(2, budget=60)

        def work(seed: int) -> int:
            answers, told = random.Random(seed), 0
            while True:
                pulls = campaign.ask()
                if pulls.reason is Reason.BUDGET_SPENT:
                    return told
                told += sum(campaign.tell(pull, answers.random() < 0.5) for pull in pulls)

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(work, range(8))) == 60
        assert (campaign.status().spent, campaign.status().left) == (60, 0)

    def test_a_pull_told_by_many_at_once_counts_once(self, create: Create) -> None:
        campaign = create(3)
        pulls = campaign.ask(5)
        with ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(campaign.tell_many, [(pull, 1) for pull in pulls]) for _ in range(8)]
        assert sorted(future.result() for future in futures) == [0] * 7 + [5]

    def test_a_worker_never_gets_an_arm_that_it_has_or_answered(self, create: Create) -> None:
        campaign = create(5)
        got = [one(campaign, worker="ann"), one(campaign, worker="ann")]
        campaign.tell(got[0], 1)
        pulls = campaign.ask(10, worker="ann")
        got += pulls
        assert sorted(pull.arm for pull in got) == arms(5)
        assert pulls.reason is Reason.NOTHING_FOR_WORKER
        assert campaign.ask(worker="ann") == ()
        assert asked(campaign, 5, worker="bob") != []
        assert len(asked(campaign, 9)) == 9  # nobody in particular may have any arm

    def test_workers_may_repeat_where_that_is_set(self, create: Create) -> None:
        campaign = create(1, repeat_workers=True)
        assert asked(campaign, 3, worker="ann") == ["arm 0"] * 3

    def test_with_one_arm_whose_worker_has_it_or_answered_there_is_nothing_for_it_now(self, create: Create) -> None:
        campaign = create(1)
        pull = one(campaign, worker="ann")
        assert campaign.ask(worker="ann").reason is Reason.NOTHING_FOR_WORKER
        campaign.tell(pull, 1)
        assert campaign.ask(worker="ann").reason is Reason.NOTHING_FOR_WORKER
        assert campaign.status().finished is None
        assert asked(campaign, worker="bob") == ["arm 0"]

    def test_an_arm_that_five_workers_cannot_say_anything_of_is_free_and_uncounted(self, create: Create) -> None:
        campaign = create(1, budget=2)
        before = campaign.status()
        for worker in "abcde":
            pull = one(campaign, worker=worker)
            campaign.abandon(pull)
            campaign.abandon(pull.id)
            assert campaign.ask(worker=worker).reason is Reason.NOTHING_FOR_WORKER
        assert campaign.status() == before
        assert asked(campaign, worker="f") == ["arm 0"]
        for _ in range(5):
            campaign.abandon(one(campaign))
        assert (campaign.status().spent, campaign.status().in_flight) == (0, 1)

    # Arms to be passed over

    def test_arms_to_be_passed_over_are_not_given_and_the_others_come_in_their_order(self, create: Create) -> None:
        order = asked(create(6, policy="Uniform", seed=3), 6)
        campaign = create(6, policy="Uniform", seed=3)
        without, others = [order[0], order[2], "no arm of this campaign"], [order[1], *order[3:]]
        assert asked(campaign, without=without) == others[:1]
        assert asked(campaign, 5, without=without) == [*others[1:], *others[:2]]
        assert asked(campaign, 2) == [order[0], order[2]]  # next, having fewer in flight

    def test_a_worker_gets_what_it_has_not_had_and_is_not_to_be_passed_over(self, create: Create) -> None:
        campaign = create(5)
        had = asked(campaign, 2, worker="ann")
        passed = [arm for arm in arms(5) if arm not in had][:2]
        pulls = campaign.ask(5, worker="ann", without=passed)
        assert sorted(had + passed + [pull.arm for pull in pulls]) == arms(5)
        assert (len(pulls), pulls.reason) == (1, Reason.NOTHING_FOR_WORKER)

    def test_where_every_arm_is_to_be_passed_over_there_is_nothing_for_it_now(self, create: Create) -> None:
        campaign = create(3)
        before = dump(campaign)
        pulls = campaign.ask(2, without=arms(3))
        assert (pulls, pulls.reason) == ((), Reason.NOTHING_FOR_WORKER)
        assert dump(campaign) == before

    def test_one_id_is_no_list_of_arms_to_be_passed_over(self, create: Create) -> None:
        with pytest.raises(InvalidInputError, match=r"^without is 'arm 0'; it must be a list of ids$"):
            create().ask(without="arm 0")

    # Distinct arms

    def test_distinct_pulls_are_the_next_arms_in_their_order_and_none_of_them_twice(self, create: Create) -> None:
        order = asked(create(6, policy="Uniform", seed=3), 6)
        campaign = create(6, policy="Uniform", seed=3)
        campaign.tell_many([(pull, 1) for pull in campaign.ask(4)])
        assert asked(campaign, 5, distinct=True) == [*order[4:], *order[:3]]
        campaign = create(6, policy="Uniform", seed=3)
        pulls = campaign.ask(20, distinct=True)
        assert ([pull.arm for pull in pulls], pulls.reason) == (order, Reason.NOTHING_FOR_WORKER)
        assert sorted(asked(campaign, 20, distinct=True, without=order[:2])) == sorted(order[2:])  # once more

    def test_distinct_pulls_stay_within_the_budget(self, create: Create) -> None:
        campaign = create(6, budget=8)
        assert len(campaign.ask(5, distinct=True)) == 5
        pulls = campaign.ask(5, distinct=True)
        assert (len(pulls), pulls.reason) == (3, Reason.ALL_IN_FLIGHT)
