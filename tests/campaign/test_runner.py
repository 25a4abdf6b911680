"""Running a campaign: what is measured, counted, given back, and when it ends."""

import itertools
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, Pull, Pulls, Reason, RunEvent, Settings, Status, run
from cutline.errors import InvalidInputError, MeasurementError, NotFoundError
from cutline.policies.lsa import LSA
from ledger import audit
from surroundings import PATIENCE

ARMS = ["a", "b", "c"]


def made(budget: int = 30, arms: Any = ARMS, **options: Any) -> Campaign:
    return Campaign.create(None, "run", arms, 0.5, "LSA", budget, **options)


def python(program: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", f"import sys\n{program}", "{arm}"]


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_run_spends_the_budget_and_records_what_was_measured(jobs: int) -> None:
    campaign = made(arms=[("a", {"mean": 0}), ("b", {"mean": 1})])
    report = campaign.run(lambda pull: pull.payload["mean"], jobs=jobs)
    assert (report.told, report.crashes, report.late, report.set_aside) == (30, 0, 0, [])
    assert report.finished is Reason.BUDGET_SPENT
    assert [(item.mean, item.above) for item in campaign.decisions()] == [(0.0, False), (1.0, True)]
    audit(campaign)


class ThreeCoins:
    """No Campaign, but it can be asked and told like one: three pulls of one arm."""

    def __init__(self) -> None:
        self.left, self.flying, self.told = 3, 0, list[tuple[str, float]]()

    def ask(self, n: int = 1, *, lease: float, without: Collection[str]) -> Pulls:
        count = min(n, self.left)
        self.left, self.flying = self.left - count, self.flying + count
        pulls = [Pull(f"{self.left}-{i}", "coin", None, None, lease) for i in range(count)]
        return Pulls(pulls, None if count == n else Reason.BUDGET_SPENT)

    def tell(self, pull: Pull, reward: float, note: str | None = None) -> None:
        self.flying -= 1
        self.told.append((pull.arm, reward))

    def tell_many(self, rewards: Iterable[Any]) -> None:
        for answer in rewards:
            self.tell(*answer)

    def abandon(self, pull: Pull) -> None:
        self.flying, self.left = self.flying - 1, self.left + 1

    def extend(self, pull: Pull, lease: float) -> None: ...

    def status(self) -> Status:
        settings = Settings(0.5, LSA(), 3)
        return Status("coins", settings, 1, len(self.told), self.flying, self.left, 0, 0.5, None)


def test_anything_that_is_asked_and_told_like_a_campaign_can_be_run() -> None:
    coins = ThreeCoins()
    report = run(coins, lambda pull: 0.25, jobs=2)
    assert (report.told, report.finished) == (3, Reason.BUDGET_SPENT)
    assert coins.told == [("coin", 0.25)] * 3
    coins = ThreeCoins()
    with pytest.raises(MeasurementError, match="arm 'coin': ZeroDivisionError"):
        run(coins, lambda pull: 1 / 0)
    assert (coins.left, coins.flying, coins.told) == (3, 0, [])


def test_a_measurement_may_return_a_note_that_the_history_of_the_arm_shows() -> None:
    campaign = made(3)
    campaign.run(lambda pull: (pull.arm == "a", f"{len(pull.arm)} tokens"))
    assert [past.answers[-1].note for past in campaign.arm("a").pulls] == ["1 tokens"]
    assert {result.arm: (result.reward, result.note) for result in campaign.results()} == {
        "a": (1.0, "1 tokens"),
        "b": (0.0, "1 tokens"),
        "c": (0.0, "1 tokens"),
    }


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((1.0, 7), "arm '.': note 7 is not text; write other things as text, such as JSON"),
        ((1.0,), r"arm '.': \(1.0,\) is neither a reward nor \(reward, note\)"),
        ((2.0, "much"), r"arm '.': reward 2.0 is not a number in \[0, 1\]"),
    ],
    ids=["note", "one", "reward"],
)
def test_what_is_neither_a_reward_nor_one_with_a_note_is_refused(answer: Any, message: str) -> None:
    with pytest.raises(MeasurementError, match=message):
        made().run(lambda pull: answer)


def test_one_job_measures_what_asking_and_telling_by_hand_does() -> None:
    def answers() -> random.Random:
        return random.Random(5)

    by_hand, automatic, coin = made(40), made(40), answers()
    order = []
    for _ in range(40):
        (one,) = by_hand.ask()
        order.append(one.arm)
        by_hand.tell(one, coin.random() < 0.5)
    coin, measured = answers(), []

    def measure(pull: Pull) -> bool:
        measured.append(pull.arm)
        return coin.random() < 0.5

    automatic.run(measure)
    assert measured == order
    assert automatic.decisions() == by_hand.decisions()


def test_as_many_measurements_go_on_at_a_time_as_there_are_jobs() -> None:
    together = threading.Barrier(3, timeout=PATIENCE)  # breaks unless three meet

    def measure(pull: Pull) -> int:
        together.wait()
        return 1

    assert made(9).run(measure, jobs=3).told == 9


def test_a_run_stops_at_the_target_and_tells_what_is_in_flight() -> None:
    campaign = made(1000, target_errors=0.5)
    report = campaign.run(lambda pull: 1, jobs=2)
    assert report.finished is Reason.TARGET_REACHED
    status = campaign.status()
    assert (status.spent, status.in_flight) == (report.told, 0)
    assert status.expected_errors <= 0.5
    assert report.told < 20


def test_arms_with_all_their_results_end_the_run() -> None:
    report = made(100, max_pulls_per_arm=2).run(lambda pull: 0)
    assert (report.told, report.finished) == (6, Reason.ARMS_EXHAUSTED)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda pull: 1 / 0, "arm 'b': ZeroDivisionError: division by zero"),
        (lambda pull: 2, r"arm 'b': reward 2 is not a number in \[0, 1\]"),
        (lambda pull: float("nan"), r"arm 'b': reward nan is not a number"),
        (lambda pull: None, "arm 'b': reward None is not a number"),
        (lambda pull: "1", "arm 'b': reward '1' is not a number"),
    ],
    ids=["raises", "2", "NaN", "None", "text"],
)
def test_a_measurement_that_breaks_down_stops_the_run_and_nothing_stays_in_flight(broken: Any, message: str) -> None:
    campaign = made()
    with pytest.raises(MeasurementError, match=message):
        campaign.run(lambda pull: broken(pull) if pull.arm == "b" else 1, jobs=2)
    assert campaign.status().in_flight == 0
    assert campaign.run(lambda pull: 1).finished is Reason.BUDGET_SPENT
    assert campaign.status().spent == 30
    audit(campaign)


def test_a_crash_may_count_as_zero() -> None:
    campaign = made(12)
    news: list[RunEvent] = []
    report = campaign.run(lambda pull: 1 / 0, on_crash="zero", watch=news.append)
    assert (report.told, report.crashes, report.finished) == (12, 12, Reason.BUDGET_SPENT)
    assert {item.mean for item in campaign.decisions()} == {0.0}
    assert RunEvent("crashed", "a", 0.0, "arm 'a': ZeroDivisionError: division by zero; counts as 0") in news


def test_an_arm_that_cannot_be_measured_is_left_alone_and_uncounted_while_the_others_go_on() -> None:
    campaign = made(30)
    tried: Counter[str] = Counter()

    def measure(pull: Pull) -> float:
        tried[pull.arm] += 1
        return 1 / 0 if pull.arm == "b" else 1

    news: list[RunEvent] = []
    report = campaign.run(measure, on_crash="abandon", watch=news.append)
    assert (report.set_aside, report.crashes, tried["b"]) == (["b"], 3, 3)
    crashes = [(event.arm, event.reward, event.text) for event in news if event.status == "crashed"]
    text = "arm 'b': ZeroDivisionError: division by zero; "
    ends = ["does not count", "does not count", "left alone from now on"]
    assert crashes == [("b", None, text + end) for end in ends]
    assert (report.told, report.finished) == (30, Reason.BUDGET_SPENT)
    assert [item.pulls == 0 for item in campaign.decisions()] == [False, True, False]
    audit(campaign)


def test_an_arm_that_crashes_now_and_then_is_not_left_alone() -> None:
    campaign = made(20, ["a"])
    turn = itertools.count()
    report = campaign.run(lambda pull: 1 / 0 if next(turn) % 3 else 1, on_crash="abandon")
    assert (report.told, report.crashes, report.set_aside) == (20, 38, [])
    assert report.finished is Reason.BUDGET_SPENT


def test_a_run_with_nothing_that_can_be_measured_ends() -> None:
    campaign = made(6)
    report = campaign.run(lambda pull: 1 / 0, on_crash="abandon", jobs=2)
    assert (report.told, report.finished) == (0, None)
    assert 9 <= report.crashes <= 12  # one more of each arm may be on its way
    assert (campaign.status().left, campaign.status().in_flight) == (6, 0)
    assert sorted(report.set_aside) == ARMS


def test_leases_are_extended_while_a_measurement_goes_on() -> None:
    campaign = made(1, ["a"])

    def measure(pull: Pull) -> int:
        time.sleep(2.4)
        return 1

    report = campaign.run(measure, lease=1.8)
    assert (report.told, report.late) == (1, 0)
    assert [row.observed for row in campaign.results()] == [False]


def test_a_result_that_comes_too_late_is_dropped_and_said(tmp_path: Path) -> None:
    now = [0.0]
    campaign = Campaign.create(None, "late", ["a"], 0.5, "LSA", 1, clock=lambda: now[0])
    news: list[RunEvent] = []

    def measure(pull: Pull) -> int:
        now[0] += 1000.0  # the machine slept
        campaign.tell(campaign.ask()[0], 0)
        return 1

    report = campaign.run(measure, watch=news.append)
    assert (report.told, report.late) == (0, 1)
    (event,) = [event for event in news if event.status == "late"]
    assert (event.arm, event.reward) == ("a", 1.0)
    assert "has ended" in str(event.text)
    assert campaign.decisions()[0].mean == 0.0


def test_a_run_waits_for_what_others_have_in_flight_and_measures_it_when_their_lease_ends() -> None:
    campaign = made(2, ["a"])
    campaign.ask(2, lease=1.8)
    began = time.monotonic()
    news: list[RunEvent] = []
    assert campaign.run(lambda pull: 1, watch=news.append).told == 2
    assert time.monotonic() - began > 1.7
    assert news.count(RunEvent("waiting")) > 2
    assert news.count(RunEvent("told", "a", 1.0)) == 2
    assert [event.text for event in news if event.text] == [
        "waiting for what others have in flight (2), until it is told or its leases end"
    ]


def test_a_campaign_that_is_deleted_meanwhile_ends_the_run(tmp_path: Path) -> None:
    from cutline.campaign import delete

    url = tmp_path / "x.db"
    with Campaign.create(url, "run", ARMS, 0.5, "LSA", 30) as campaign:

        def measure(pull: Pull) -> int:
            delete(url, "run")
            return 1

        with pytest.raises(NotFoundError, match="'run' has been deleted"):
            campaign.run(measure)


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_tells_what_is_finished_gives_back_the_rest_and_raises() -> None:
    campaign = made(1000)
    before = signal.getsignal(signal.SIGINT)

    def measure(pull: Pull) -> int:
        if campaign.status().spent == 10:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return 1

    with pytest.raises(KeyboardInterrupt):
        campaign.run(measure)
    status = campaign.status()
    assert (status.spent, status.in_flight) == (10, 0)
    assert signal.getsignal(signal.SIGINT) is before
    audit(campaign)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs is 0; it must be a whole number from 1"),
        ({"lease": 0}, "lease is 0; it must be a number above 0"),
        ({"on_crash": "ignore"}, "on_crash is 'ignore'; it must be one of stop, zero, abandon"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_measured(options: Any, message: str) -> None:
    campaign = made()
    with pytest.raises(InvalidInputError, match=message):
        campaign.run(lambda pull: 1, **options)
    assert campaign.status().left == 30


def test_a_run_that_others_end_between_two_looks_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign.create(None, "c", ["a"], 0.5, "LSA", 1)
    (pull,) = campaign.ask()
    look = campaign.status

    def others_tell_first() -> Status:
        asked.append(campaign.ask().reason)
        campaign.tell(pull, 1)
        return look()

    asked: list[Reason | None] = []
    monkeypatch.setattr(campaign, "status", others_tell_first)
    report = run(campaign, lambda arm: 0.0)
    assert asked[0] is Reason.ALL_IN_FLIGHT  # the run has asked, and looks now
    assert (report.finished, report.told) == (Reason.BUDGET_SPENT, 0)
