"""How many measurements a run has at a time, and how it stops them."""

import itertools
import os
import signal
import threading
import time
from typing import Any

import pytest

from cutline.campaign import Campaign, Command, Pull, RunEvent, run
from cutline.errors import MeasurementError, StoreError


def made(budget: int) -> Campaign:
    return Campaign.create(None, "run", ["a", "b", "c"], 0.5, "LSA", budget)


def test_more_jobs_than_the_system_has_threads_for_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = itertools.count()
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        if next(threads) >= 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    campaign = made(30)
    with pytest.raises(MeasurementError, match=r"^the system cannot do 3 measurements at a time; give fewer jobs$"):
        campaign.run(lambda pull: 1, jobs=3)
    assert campaign.status().in_flight == 0


@pytest.mark.usefixtures("default_signals")
def test_a_signal_is_obeyed_while_many_measurements_are_being_started() -> None:
    campaign = made(100_000)
    over = threading.Event()
    started: list[str] = []

    def measure(pull: Pull) -> int:
        started.append(pull.arm)
        over.wait()
        return 1

    signals = iter([signal.SIGTERM])

    def watch(event: RunEvent) -> None:
        for number in signals:
            os.kill(os.getpid(), number)

    try:
        with pytest.raises(KeyboardInterrupt):
            campaign.run(measure, jobs=1000, watch=watch)
    finally:
        over.set()
    assert 50 <= len(started) <= 100
    assert (campaign.status().spent, campaign.status().in_flight) == (0, 0)


def test_more_places_than_are_filled_at_a_time_are_filled() -> None:
    together = threading.Barrier(120, timeout=60)  # breaks unless so many meet

    def measure(pull: Pull) -> int:
        together.wait()
        return 1

    assert made(240).run(measure, jobs=120).told == 240


@pytest.mark.usefixtures("default_signals")
def test_stopping_ends_running_commands_and_those_about_to_start() -> None:
    campaign = made(100)
    command = Command(["sh", "-c", "sleep 60", "{arm}"])
    began = time.monotonic()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        campaign.run(command, jobs=3)
    assert time.monotonic() - began < 10
    assert (campaign.status().spent, campaign.status().in_flight) == (0, 0)
    assert command._processes._running == set()


def test_pulls_that_wait_for_a_place_are_measured_by_no_more_threads_than_there_are_jobs() -> None:
    going_on, most, leased = set(), 0, []

    class Slow(Campaign):
        def tell_many(self, rewards: Any) -> int:
            time.sleep(0.02)
            return super().tell_many(rewards)

    def measure(pull: Pull) -> int:
        nonlocal most
        going_on.add(threading.get_ident())
        most = max(most, len(going_on))
        leased.append(campaign.status().in_flight)
        time.sleep(0.01)
        going_on.discard(threading.get_ident())
        return 1

    campaign = Slow.create(None, "run", ["a", "b", "c"], 0.5, "LSA", 60)
    assert campaign.run(measure, jobs=4).told == 60
    assert most <= 4
    assert max(leased) == 8
    assert campaign.status().in_flight == 0


class DatabaseThatFails:
    """A campaign of three pulls whose database takes none of them back."""

    def __init__(self) -> None:
        self._campaign = made(3)
        self.failed: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._campaign, name)

    def abandon(self, pull: Pull) -> None:
        self.failed.append(pull.arm)
        raise StoreError("x.db: disk I/O error")


def test_what_ends_a_run_is_raised_though_the_database_takes_nothing_back() -> None:
    campaign = DatabaseThatFails()
    release = threading.Event()

    def measure(pull: Pull) -> int:
        if pull.arm == "b":
            raise ValueError("no such file")
        release.wait()
        return 1

    try:
        with pytest.raises(MeasurementError, match="arm 'b': ValueError: no such file"):
            run(campaign, measure, jobs=3)
    finally:
        release.set()
    assert len(campaign.failed) == 1
