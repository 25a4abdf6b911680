"""Running a campaign in batches of distinct arms: what is measured together, and whose fault it is that one dies."""

import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from cutline.campaign import Campaign, Pull, Reason, RunEvent, run_batches
from cutline.errors import ConflictError, InvalidInputError, MeasurementError
from ledger import audit

ARMS = [f"arm {number}" for number in range(10)]


def made(budget: int = 60, arms: Any = ARMS, **options: Any) -> Campaign:
    return Campaign.create(None, "run", arms, 0.5, "LSA", budget, **options)


class Coins:
    """Measures batches, and remembers them; raises while one of the deadly arms is in a batch."""

    def __init__(self, *deadly: str) -> None:
        self.deadly = set(deadly)
        self.batches: list[list[str]] = []

    def __call__(self, pulls: Sequence[Pull]) -> list[float | None]:
        arms = [pull.arm for pull in pulls]
        self.batches.append(arms)
        if self.deadly & set(arms):
            raise ZeroDivisionError("no luck")
        return [float(arm > "arm 4") for arm in arms]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_run_in_batches_spends_the_budget_on_distinct_arms_at_a_time(jobs: int) -> None:
    campaign, coins = made(), Coins()
    report = campaign.run_batches(coins, 4, jobs)
    assert (report.told, report.crashes, report.finished) == (60, 0, Reason.BUDGET_SPENT)
    assert all(len(set(arms)) == len(arms) <= 4 for arms in coins.batches)
    assert [item.above for item in campaign.decisions()] == [False] * 5 + [True] * 5
    audit(campaign)


def test_one_batch_after_the_other_measures_what_asking_for_distinct_arms_by_hand_does() -> None:
    by_hand, automatic = made(seed=3), made(seed=3)
    first, second = random.Random(5), random.Random(5)
    asked = []
    while pulls := by_hand.ask(4, distinct=True):
        asked.append([pull.arm for pull in pulls])
        by_hand.tell_many([(pull, first.random() < 0.5) for pull in pulls])
    measured = []

    def measure(pulls: Sequence[Pull]) -> list[float]:
        measured.append([pull.arm for pull in pulls])
        return [second.random() < 0.5 for _ in pulls]

    automatic.run_batches(measure, 4)
    assert measured == asked
    assert automatic.decisions() == by_hand.decisions()


def test_a_batch_that_dies_is_halved_until_the_arm_is_found_that_it_dies_of() -> None:
    campaign, coins = made(10), Coins("arm 7")
    with pytest.raises(MeasurementError, match=r"^arm 'arm 7': ZeroDivisionError: no luck$"):
        campaign.run_batches(coins, 10)
    assert [len(arms) for arms in coins.batches[:2]] == [10, 5]
    assert coins.batches[-1] == ["arm 7"]
    assert len(coins.batches) <= 9
    measured = {arm for arms in coins.batches if "arm 7" not in arms for arm in arms}
    assert {item.arm for item in campaign.decisions() if item.pulls} == measured
    assert campaign.status().in_flight == 0


def test_all_but_the_deadly_arms_are_measured_and_these_count_as_they_are_told_to() -> None:
    campaign, coins = made(20), Coins("arm 6", "arm 9")
    news: list[RunEvent] = []
    report = campaign.run_batches(coins, 10, on_crash="zero", watch=news.append)
    assert (report.told, report.finished) == (20, Reason.BUDGET_SPENT)
    assert report.crashes == sum(1 for arms in coins.batches if arms in (["arm 6"], ["arm 9"]))
    means = {item.arm: item.mean for item in campaign.decisions()}
    assert means == {arm: float(arm in ("arm 5", "arm 7", "arm 8")) for arm in ARMS}
    text = "a batch has died: ZeroDivisionError: no luck; 10 of its arms are measured again in halves"
    assert news[0] == RunEvent("crashed", None, None, text)
    assert RunEvent("crashed", "arm 6", 0.0, "arm 'arm 6': ZeroDivisionError: no luck; counts as 0") in news
    audit(campaign)


def test_an_arm_that_kills_every_batch_is_left_alone_in_the_end() -> None:
    campaign, coins = made(30), Coins("arm 3")
    report = campaign.run_batches(coins, 8, on_crash="abandon")
    assert (report.set_aside, report.crashes, report.told) == (["arm 3"], 3, 30)
    assert [item.pulls for item in campaign.decisions()][3] == 0
    audit(campaign)


def test_two_arms_that_die_only_together_are_measured_apart() -> None:
    campaign = made(10)

    def measure(pulls: Sequence[Pull]) -> list[float]:
        if {"arm 0", "arm 1"} <= {pull.arm for pull in pulls}:
            raise RuntimeError
        return [1.0] * len(pulls)

    report = campaign.run_batches(measure, 10)
    assert (report.told, report.crashes) == (10, 0)


def test_none_says_that_an_arm_could_not_be_measured_and_says_nothing_of_the_others() -> None:
    campaign = made(30)
    report = campaign.run_batches(
        lambda pulls: [None if pull.arm == "arm 2" else 1.0 for pull in pulls], 10, on_crash="abandon"
    )
    assert (report.set_aside, report.crashes, report.told) == (["arm 2"], 3, 30)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([1.0], "arm 'arm .': 0 rewards came back for 1 arms; there must be one for each"),
        ([2.0] * 10, r"arm 'arm .': reward 2.0 is not a number in \[0, 1\]"),
        (7, "arm 'arm .': TypeError: 'int' object is not iterable"),
    ],
    ids=["too few", "2", "a number"],
)
def test_what_is_no_list_of_rewards_is_a_crash(answers: Any, message: str) -> None:
    campaign = made(10)

    def measure(pulls: Sequence[Pull]) -> Any:
        return answers[: len(pulls) - 1] if answers == [1.0] else answers

    with pytest.raises(MeasurementError, match=message):
        campaign.run_batches(measure, 10)
    assert campaign.status().in_flight == 0


def test_a_timeout_may_mean_something_else_than_a_crash() -> None:
    def measure(pull: Pull) -> float:
        raise TimeoutError("too slow") if pull.arm == "arm 1" else ZeroDivisionError

    campaign = made(20, ARMS[:2])
    report = campaign.run(measure, on_crash="abandon", on_timeout="zero")
    assert (report.set_aside, report.told) == (["arm 0"], 20)
    assert [(item.arm, item.pulls) for item in campaign.decisions()] == [("arm 0", 0), ("arm 1", 20)]
    with pytest.raises(MeasurementError, match=r"^arm 'arm 1': TimeoutError: too slow$"):
        made(20, ["arm 1"]).run(measure, on_crash="abandon", on_timeout="stop")
    report = made(20, ["arm 1"]).run(measure, on_crash="abandon")  # then it is a crash as any other
    assert report.set_aside == ["arm 1"]


def test_batches_may_have_notes_with_their_rewards() -> None:
    campaign = made(2, ARMS[:2])
    campaign.run_batches(lambda pulls: [(1.0, pull.arm.upper()) for pull in pulls])
    assert [(result.arm, result.note) for result in campaign.results()] == [("arm 0", "ARM 0"), ("arm 1", "ARM 1")]


class Slept(Campaign):
    """A campaign in which the first result of arm 3 always comes too late."""

    lost = False

    def tell(self, pull: Pull | str, reward: float, note: str | None = None) -> bool:
        if isinstance(pull, Pull) and pull.arm == "arm 3" and not self.lost:
            self.lost = True
            raise ConflictError("the lease has ended")
        return super().tell(pull, reward, note)

    def tell_many(self, rewards: Any) -> int:
        if not self.lost and any(pull.arm == "arm 3" for pull, _ in rewards):
            raise ConflictError("a lease has ended")
        return super().tell_many(rewards)


def test_a_result_that_comes_too_late_does_not_take_the_batch_with_it() -> None:
    campaign = Slept.create(None, "run", ARMS, 0.5, "LSA", 10)
    news: list[RunEvent] = []
    report = campaign.run_batches(lambda pulls: [1.0] * len(pulls), 10, lease=1.5, watch=news.append)
    assert (report.told, report.late) == (10, 1)
    (late,) = [event for event in news if event.status == "late"]
    assert late == RunEvent("late", "arm 3", 1.0, "the lease has ended")


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_gives_back_a_batch_that_is_being_measured() -> None:
    campaign = made(100)
    turn = Counter[str]()

    def measure(pulls: Sequence[Pull]) -> list[float]:
        turn["batches"] += 1
        if turn["batches"] == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return [1.0] * len(pulls)

    with pytest.raises(KeyboardInterrupt):
        campaign.run_batches(measure, 5)
    assert campaign.status().spent in (10, 15)  # the third batch, if it was measured in time
    assert campaign.status().in_flight == 0
    audit(campaign)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "batch is 0; it must be a whole number from 1"),
        ({"batch": "many"}, "batch is 'many'; it must be a whole number from 1, or auto"),
        ({"jobs": 0}, "jobs is 0; it must be a whole number from 1"),
        ({"on_timeout": "wait"}, "on_timeout is 'wait'; it must be one of stop, zero, abandon"),
        ({"lease": math.nan}, "lease is nan; it must be a number above 0"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_measured(options: Any, message: str) -> None:
    campaign = made()
    with pytest.raises(InvalidInputError, match=message):
        run_batches(campaign, lambda pulls: [1.0] * len(pulls), **options)
    assert campaign.status().left == 60
