"""What holds for a campaign wherever it is kept: an importable class of tests, run on every store."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from cutline.campaign.campaign import Campaign
from cutline.campaign.records import Observation, Pull, Reason
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import audit, dump

Create = Callable[..., Campaign]

STRANGE_IDS = [
    "a/b",
    "a%2Fb",
    'it\'s "quoted"',
    "two\nlines\r\nand\ttabs",
    "x" * 5000,
    "x" * 4999 + "y",
    "é",
    "e\u0301",
    " leading and trailing ",
    "NA",
    "null",
    "007",
    "1e5",
    "12345678901234567890",
    "%s :name ? {arm} $1 \\",
    "-- '; DROP TABLE cutline_arms; --",
    "\u202eright to left\u2028",
    "🏁",
]


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def arms(count: int) -> list[str]:
    return [f"arm {i}" for i in range(count)]


def asked(campaign: Campaign, n: int = 1, **options: Any) -> list[str]:
    return [pull.arm for pull in campaign.ask(n, **options)]


def one(campaign: Campaign, **options: Any) -> Pull:
    (pull,) = campaign.ask(1, **options)
    return pull


class CampaignContract:
    """Subclasses give a fixture ``url``: None, or that of an empty database."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def create(self, url: str | None, clock: Clock) -> Iterator[Create]:
        """Create a campaign with defaults for what a test does not care about; it is audited and closed in the end."""
        made: list[Campaign] = []

        def create(
            given: Any = 3, threshold: float = 0.5, policy: Any = "LSA", budget: int = 1000, **more: Any
        ) -> Campaign:
            name = more.pop("name", f"campaign {len(made)}")
            given = arms(given) if isinstance(given, int) else given
            made.append(Campaign.create(url, name, given, threshold, policy, budget, clock=clock, **more))
            return made[-1]

        yield create
        for campaign in made:
            audit(campaign)
            campaign.close()

    # Which arm is next

    @pytest.mark.parametrize("policy", ["LSA", "APT(0.1)", "Uniform", "Opt-KG"])
    def test_ten_fresh_arms_and_ten_asks_without_a_tell_give_ten_different_arms(
        self, create: Create, policy: str
    ) -> None:
        campaign = create(10, policy=policy)
        assert len({arm for _ in range(10) for arm in asked(campaign)}) == 10
        campaign = create(10, policy=policy)
        assert len(set(asked(campaign, 10))) == 10

    @pytest.mark.parametrize("policy", ["LSA", "APT(0.1)", "Uniform", "Opt-KG"])
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

    @pytest.mark.parametrize(
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
            assert dump(campaign)[1][0][7] == pytest.approx(0.5 * math.log(flying), rel=1e-11, abs=1e-30)
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

    # Workers

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

    # Telling

    def test_telling_the_same_again_changes_nothing(self, create: Create) -> None:
        campaign = create()
        pull = one(campaign)
        assert campaign.tell(pull, 1) is True
        before = dump(campaign)
        assert campaign.tell(pull, True) is False
        assert campaign.tell(pull.id, np.float32(1)) is False
        assert campaign.tell_many([(pull, 1), (pull.id, 1)]) == 0
        assert dump(campaign) == before

    def test_another_reward_for_a_pull_is_an_error_that_shows_both(self, create: Create) -> None:
        campaign = create()
        pull, other = campaign.ask(2)
        campaign.tell(pull, 0.25)
        before = dump(campaign)
        with pytest.raises(ConflictError, match=r"was told 0\.25 and now 1;"):
            campaign.tell(pull, 1)
        with pytest.raises(ConflictError, match=r"was told 0 and now 1;"):
            campaign.tell_many([(other, 0), (other, 1)])
        assert dump(campaign) == before

    def test_a_batch_of_rewards_counts_as_a_whole_or_not_at_all(self, create: Create) -> None:
        campaign = create(5)
        pulls = campaign.ask(5)
        campaign.tell(pulls[4], 1)
        before = dump(campaign)
        with pytest.raises(ConflictError):
            campaign.tell_many([(pull, 0) for pull in pulls])
        assert dump(campaign) == before
        assert campaign.tell_many([(pull, 1) for pull in pulls]) == 4
        assert campaign.status().spent == 5
        assert campaign.tell_many([]) == 0

    @pytest.mark.parametrize(
        ("reward", "mean"),
        [(0, 0), (1, 1), (True, 1), (False, 0), (0.5, 0.5), (Decimal("0.1"), 0.1), (Fraction(1, 4), 0.25)]
        + [(kind(1), 1) for kind in (np.bool_, np.int8, np.uint64, np.float16, np.float64)]
        + [(1 / 3, 0.333333333)],
    )
    def test_rewards_are_booleans_and_numbers_from_0_to_1_to_nine_decimals(
        self, create: Create, reward: Any, mean: float
    ) -> None:
        campaign = create(1)
        campaign.tell(one(campaign), reward)
        assert campaign.decisions()[0].mean == mean
        assert [result.reward for result in campaign.results()] == [mean]

    @pytest.mark.parametrize("reward", [2, -1, 1.0000001, math.nan, math.inf, "1", "", None, b"1", 1j, [1], {}])
    def test_anything_else_is_no_reward(self, create: Create, reward: Any) -> None:
        campaign = create(1)
        pull = one(campaign)
        for refused in (
            lambda: campaign.tell(pull, reward),
            lambda: campaign.tell_many([(pull, 1), (pull, reward)]),
            lambda: campaign.observe("arm 0", reward),
        ):
            with pytest.raises(InvalidInputError, match="is not a number in"):
                refused()
        assert campaign.status().spent == 0

    @pytest.mark.parametrize(
        "unknown",
        [
            "",
            "1",
            "-1-0",
            "x-1-0",
            "{own}-",
            "{own} ",
            "{token}-1",
            "{token}-9-0",
            "{token}-1-9",
            "{token}-1-²",
            "{token}-99999999999999999999-0",
            None,
            1,
        ],
    )
    def test_an_unknown_pull_is_not_found(self, create: Create, unknown: Any) -> None:
        campaign = create()
        own = one(campaign).id
        token = own.partition("-")[0]
        campaign.observe("arm 0", 1, key="elsewhere")  # number 2 is no pull
        unknown = unknown.format(token=token, own=own) if isinstance(unknown, str) else unknown
        for number in (unknown, f"{token}-2-0"):
            for refused in (
                campaign.abandon,
                lambda pull: campaign.tell(pull, 1),
                lambda pull: campaign.extend(pull, 9),
            ):
                with pytest.raises(NotFoundError, match="has no pull"):
                    refused(number)

    def test_a_pull_of_another_campaign_is_not_taken_for_ones_own(self, create: Create) -> None:
        mine, other = create(), create()
        pull = one(other)
        one(mine)
        with pytest.raises(NotFoundError):
            mine.tell(pull, 1)
        assert other.tell(pull, 1)

    def test_an_abandoned_pull_cannot_be_told_nor_a_told_one_abandoned(self, create: Create) -> None:
        campaign = create()
        pull, other = campaign.ask(2)
        campaign.abandon(pull)
        with pytest.raises(ConflictError, match="was abandoned"):
            campaign.tell(pull, 1)
        campaign.tell(other, 1)
        with pytest.raises(ConflictError, match="has its reward already"):
            campaign.abandon(other)

    # Leases

    @pytest.mark.parametrize("lease", [0, -1, -0.001, math.nan, math.inf, "9", None, True])
    def test_a_lease_must_be_a_number_of_seconds_above_zero(self, create: Create, lease: Any) -> None:
        campaign = create()
        pull = one(campaign)
        with pytest.raises(InvalidInputError, match="lease is"):
            campaign.ask(lease=lease)
        with pytest.raises(InvalidInputError, match="lease is"):
            campaign.extend(pull, lease)

    @pytest.mark.parametrize("n", [0, -1, 1.5, "1", None, True])
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

    # Stopping

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
        campaign = create(2, policy="Uniform", target_errors=0.5)
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

    # Results from elsewhere

    def test_results_from_elsewhere_count_for_the_arm_and_not_for_the_budget(self, create: Create) -> None:
        campaign = create(2, budget=3, policy="Uniform")
        for reward in (1, 0.5):
            assert campaign.observe("arm 0", reward)
        status = campaign.status()
        assert (status.spent, status.observed, status.left) == (0, 2, 3)
        assert (campaign.decisions()[0].pulls, campaign.decisions()[0].mean) == (2, 0.75)
        assert asked(campaign, 2) == ["arm 1"] * 2  # that has fewer

    def test_a_result_with_a_key_counts_once(self, create: Create) -> None:
        campaign = create(2)
        assert campaign.observe("arm 0", 1, key="row 1")
        before = dump(campaign)
        assert not campaign.observe("arm 0", True, worker="somebody", key="row 1")
        assert campaign.observe_many([("arm 0", 1, None, "row 1")] * 2) == 0
        with pytest.raises(ConflictError, match="of another arm than 'arm 1'"):
            campaign.observe("arm 1", 1, key="row 1")
        with pytest.raises(ConflictError, match=r"was 1 and is now 0\.5"):
            campaign.observe("arm 0", 0.5, key="row 1")
        with pytest.raises(ConflictError, match="row 2"):
            campaign.observe_many([("arm 0", 1, None, "row 2"), ("arm 0", 0, None, "row 2")])
        assert dump(campaign) == before
        assert campaign.observe_many([("arm 0", 1, None, "row 1"), ("arm 1", 1, None, "row 2"), ("arm 1", 1)]) == 2

    def test_many_results_count_as_a_whole_or_not_at_all(self, create: Create) -> None:
        campaign = create(2)
        before = dump(campaign)
        with pytest.raises(NotFoundError, match="has no arm 'arm 9'"):
            campaign.observe_many([("arm 0", 1), ("arm 9", 1)])
        assert dump(campaign) == before
        assert campaign.observe_many([]) == 0

    @pytest.mark.parametrize("observation", [(), ("arm 0",), ("arm 0", 1, None, None, None)])
    def test_an_observation_is_an_arm_and_a_reward_and_perhaps_worker_and_key(
        self, create: Create, observation: Any
    ) -> None:
        with pytest.raises(InvalidInputError, match="it must be"):
            create().observe_many([observation])

    def test_who_gave_a_result_elsewhere_has_answered_that_arm(self, create: Create) -> None:
        campaign = create(2)
        campaign.observe("arm 0", 1, worker="ann")
        assert asked(campaign, 5, worker="ann") == ["arm 1"]

    def test_observing_its_own_results_again_is_no_news(self, create: Create, clock: Clock) -> None:
        campaign = create(4, budget=30)
        answers = random.Random(1)
        for worker in ("ann", "bob", None):
            for pull in campaign.ask(3, worker=worker):
                campaign.tell(pull, answers.random())
        campaign.observe("arm 2", 0.5, "cid", "from elsewhere")
        flying = one(campaign)
        before = dump(campaign)
        exported = [Observation(item.arm, item.reward, item.worker, item.key) for item in campaign.results()]
        assert len(exported) == 10
        assert campaign.observe_many(exported) == 0
        with pytest.raises(ConflictError, match="has no reward; tell it"):
            campaign.observe(flying.arm, 1, key=flying.id)
        assert dump(campaign) == before
        copy = create(4, name="copy")
        assert copy.observe_many(exported) == 10
        assert copy.observe_many(exported) == 0
        for mine, its in zip(campaign.decisions(), copy.decisions(), strict=True):
            assert (mine.arm, mine.pulls, mine.mean, mine.above) == (its.arm, its.pulls, its.mean, its.above)
            assert (mine.wrong, mine.hoeffding) == (its.wrong, its.hoeffding)
        assert [(item.arm, item.reward, item.worker, item.key) for item in copy.results()] == exported

    # Decisions

    def test_a_mean_on_the_threshold_is_above_whatever_binary_makes_of_it(self, create: Create) -> None:
        campaign = create(["3 of 10", "parts", "just below"], threshold=0.3)
        campaign.observe_many([("3 of 10", i < 3) for i in range(10)])
        campaign.observe_many([("parts", reward) for reward in (0.1, 0.2, 0.6)])
        campaign.observe_many([("just below", reward) for reward in (0.1, 0.2, 0.599999999)])
        assert [item.above for item in campaign.decisions()] == [True, True, False]

    def test_decisions_say_how_sure_they_are(self, create: Create) -> None:
        campaign = create(["a", "b", "c"], threshold=0.4, budget=50)
        campaign.observe_many([("a", i < 6) for i in range(9)] + [("b", i < 1) for i in range(7)])
        a, b, c = campaign.decisions(confidence=0.9)
        assert [(item.arm, item.pulls, item.above) for item in (a, b, c)] == [
            ("a", 9, True),
            ("b", 7, False),
            ("c", 0, None),
        ]
        assert (a.mean, b.mean, c.mean) == (6 / 9, 1 / 7, None)
        # P(Beta(1 + s, 1 + n - s) <= x) is the probability of more than s successes in n + 1 trials
        assert a.wrong == pytest.approx(float(1 - naive_binomial(6, 10, Fraction(2, 5))), rel=1e-12)
        assert b.wrong == pytest.approx(float(naive_binomial(1, 8, Fraction(2, 5))), rel=1e-12)
        assert c.wrong == pytest.approx(0.4, rel=1e-12)
        assert a.hoeffding == pytest.approx(2 * math.exp(-2 * 9 * (6 / 9 - 0.4) ** 2), rel=1e-12)
        assert b.hoeffding == pytest.approx(2 * math.exp(-2 * 7 * (1 / 7 - 0.4) ** 2), rel=1e-12)
        assert c.hoeffding == 1
        # Lemma 11 with b = 1, L = 50 + 16 and the a that makes it 0.1
        bound = 2 * math.log(2**2.5 / (2**0.5 - 1) / 0.1)
        width = math.sqrt((bound + math.log(66 / 9)) / 9)
        assert (a.low, a.high) == (pytest.approx(max(6 / 9 - width, 0)), pytest.approx(min(6 / 9 + width, 1)))
        assert (c.low, c.high) == (0, 1)

    def test_the_interval_narrows_with_many_results(self, create: Create) -> None:
        campaign = create(["a"], budget=5000)
        campaign.observe_many([("a", i % 2) for i in range(5000)])
        (a,) = campaign.decisions()
        bound = 2 * math.log(2**2.5 / (2**0.5 - 1) / 0.05)
        width = math.sqrt((bound + math.log(10000 / 5000)) / 5000)
        assert (a.low, a.high) == (pytest.approx(0.5 - width, rel=1e-12), pytest.approx(0.5 + width, rel=1e-12))

    def test_the_prior_is_what_the_campaign_was_created_with(self, create: Create) -> None:
        campaign = create(["a"], threshold=0.5, prior=(3, 1))
        assert campaign.decisions()[0].wrong == pytest.approx(0.5**3, rel=1e-12)
        campaign.observe("a", 0)
        # below, while Beta(3, 2) holds 11/16 above 0.5
        assert campaign.decisions()[0].above is False
        assert campaign.decisions()[0].wrong == pytest.approx(11 / 16, rel=1e-12)

    def test_expected_errors_is_always_the_sum_over_the_arms(self, create: Create) -> None:
        campaign = create(9, threshold=0.37, prior=(0.5, 2))
        answers = random.Random(4)
        for step in range(60):
            pull = one(campaign)
            campaign.tell(pull, round(answers.random(), 2) if step % 3 else answers.random() < 0.4)
            expected = math.fsum(item.wrong for item in campaign.decisions())
            assert campaign.status().expected_errors == pytest.approx(expected, abs=9e-12)

    def test_the_nearest_are_those_most_likely_to_be_wrong(self, create: Create) -> None:
        campaign = create(8)
        answers = random.Random(6)
        campaign.observe_many([(f"arm {i}", answers.random() < 0.5) for i in range(8) for _ in range(3 + i)])
        every = sorted(campaign.decisions(), key=lambda item: -item.wrong)
        assert [item.wrong for item in campaign.decisions(nearest=3)] == [item.wrong for item in every[:3]]
        assert len(campaign.decisions(nearest=99)) == 8

    @pytest.mark.parametrize("options", [{"nearest": 0}, {"nearest": 1.5}, {"confidence": 1}, {"confidence": 0}])
    def test_decisions_refuse_a_bad_argument(self, create: Create, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            create().decisions(**options)

    # Ids and settings

    def test_ids_stay_as_they_stand(self, create: Create) -> None:
        campaign = create(STRANGE_IDS, budget=100)
        assert [item.arm for item in campaign.decisions()] == STRANGE_IDS
        pulls = campaign.ask(len(STRANGE_IDS), worker="é" * 3000)
        assert sorted(pull.arm for pull in pulls) == sorted(STRANGE_IDS)
        for pull in pulls:
            campaign.tell(pull.id, 1)
        assert campaign.ask(worker="é" * 3000).reason is Reason.NOTHING_FOR_WORKER
        assert len(campaign.ask(worker="e\u0301" * 3000)) == 1
        for arm, key in itertools.product(STRANGE_IDS, STRANGE_IDS):
            assert campaign.observe(arm, 1, worker=key, key=f"{arm}|{key}")
        assert {(item.arm, item.worker, item.key) for item in campaign.results() if item.observed} == {
            (arm, key, f"{arm}|{key}") for arm, key in itertools.product(STRANGE_IDS, STRANGE_IDS)
        }

    def test_an_arm_may_carry_anything_that_json_can_write(self, create: Create) -> None:
        payload = {"prompt": "Is it?\n", "n": [1, 2.5, None, True], "é": {"nested": "🏁"}}
        campaign = create({"a": payload, "b": None, "c": 0, "d": ""})
        assert {pull.arm: pull.payload for pull in campaign.ask(4)} == {"a": payload, "b": None, "c": 0, "d": ""}
        assert [item.payload for item in campaign.decisions()] == [payload, None, 0, ""]
        assert [item.payload for item in create([("a", payload)]).decisions()] == [payload]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([], "no arms"),
            (["a", "b", "a"], "arm 3: the id 'a' comes twice"),
            (["a", ""], "arm 2: ''"),
            (["a\0b"], "NUL"),
            (["\ud800"], "half a character"),
            ([7], "arm 1 is 7"),
            ([b"a"], "arm 1 is b'a'"),
            ([(7, None)], "arm 1: 7"),
            ("abc", "one text"),
            ({"a": {1, 2}}, "arm 'a': its payload"),
            ({"a": math.nan}, "arm 'a': its payload"),
            ({"a": "\ud800"}, "arm 'a': its payload"),
        ],
    )
    def test_bad_arms_are_refused_and_nothing_is_created(self, create: Create, given: Any, message: str) -> None:
        with pytest.raises(InvalidInputError, match=message):
            create(given, name="same")
        create(2, name="same")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"threshold": 1.0}, "threshold"),
            ({"policy": "UCBE"}, "needs the true means"),
            ({"policy": "Gap-oracle"}, "needs the true means|no policy is called"),
            ({"policy": "Nonsense"}, "no policy is called"),
            ({"policy": 7}, "policy is 7"),
            ({"budget": 0}, "budget is 0"),
            ({"budget": 2.0}, "budget is 2.0"),
            ({"budget": True}, "budget is True"),
            ({"budget": 2**53 + 1}, "budget is"),
            ({"seed": -1}, "seed is -1"),
            ({"max_pulls_per_arm": 0}, "max_pulls_per_arm is 0"),
            ({"prior": (0, 1)}, "prior a is 0"),
            ({"prior": (1, math.inf)}, "prior b is inf"),
            ({"prior": 1}, "prior is 1"),
            ({"target_errors": -0.1}, "target_errors is -0.1"),
            ({"target_errors": math.nan}, "target_errors is nan"),
            ({"name": ""}, "campaign name ''"),
            ({"name": "x" * 201}, "campaign name"),
            ({"name": "two\nlines"}, "campaign name"),
        ],
    )
    def test_bad_settings_are_refused(self, create: Create, options: dict[str, Any], message: str) -> None:
        with pytest.raises((InvalidInputError, NotFoundError), match=message):
            create(2, **options)

    @pytest.mark.slow
    def test_fifty_thousand_arms_at_once(self, create: Create) -> None:
        campaign = create((f"arm {i}" for i in range(50_000)), budget=100_000)
        assert campaign.status().arms == 50_000
        assert len(set(asked(campaign, 2_500))) == 2_500
        assert campaign.observe_many((f"arm {i}", i % 2, None, f"row {i}") for i in range(50_000)) == 50_000
        assert sum(item.above is True for item in campaign.decisions()) == 25_000


def naive_binomial(most: int, trials: int, p: Fraction) -> Fraction:
    """The probability of at most so many successes."""
    return sum((math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(most + 1)), Fraction(0))
