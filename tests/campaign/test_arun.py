"""Running a campaign with coroutines: on the loop of the caller, with the promises of a run in threads."""

import asyncio
import contextvars
import os
import random
import signal
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, Pull, Reason, Retry, RunEvent, arun
from cutline.errors import InvalidInputError, MeasurementError
from ledger import audit
from surroundings import PATIENCE

ARMS = ["a", "b", "c"]


def made(budget: int = 30, arms: Any = ARMS, **options: Any) -> Campaign:
    return Campaign.create(None, "run", arms, 0.5, "LSA", budget, **options)


async def forever(pull: Pull) -> float:
    await asyncio.sleep(PATIENCE)
    return 1.0


def returned(measure: Any, pull: Pull) -> Any:
    return measure(pull)


def test_a_run_awaits_what_it_measures_and_spends_the_budget() -> None:
    campaign = made(arms=[("a", {"mean": 0}), ("b", {"mean": 1})])

    async def measure(pull: Pull) -> float:
        await asyncio.sleep(0)
        return float(pull.payload["mean"])

    report = asyncio.run(campaign.arun(measure, jobs=4))
    assert (report.told, report.crashes, report.finished) == (30, 0, Reason.BUDGET_SPENT)
    assert [(item.mean, item.above) for item in campaign.decisions()] == [(0.0, False), (1.0, True)]
    audit(campaign)


def test_one_job_measures_what_a_run_in_threads_does() -> None:
    awaited, threaded, coin, other = made(40), made(40), random.Random(5), random.Random(5)

    async def measure(pull: Pull) -> bool:
        return coin.random() < 0.5

    asyncio.run(awaited.arun(measure))
    threaded.run(lambda pull: other.random() < 0.5)
    assert awaited.decisions() == threaded.decisions()


def test_as_many_go_on_at_a_time_as_there_are_jobs_and_all_on_the_thread_of_the_caller() -> None:
    going_on, most, threads = 0, 0, set()

    async def measure(pull: Pull) -> int:
        nonlocal going_on, most
        going_on += 1
        most = max(most, going_on)
        threads.add(threading.get_ident())
        await asyncio.sleep(0.01)
        going_on -= 1
        return 1

    campaign = made(60)
    assert asyncio.run(campaign.arun(measure, jobs=20)).told == 60
    assert (most, threads) == (20, {threading.get_ident()})


def test_pulls_are_asked_for_ahead_where_telling_takes_as_long_as_measuring() -> None:
    going_on, most, leased = 0, 0, []

    class Slow(Campaign):
        def tell_many(self, rewards: Any) -> int:
            time.sleep(0.02)
            return super().tell_many(rewards)

    async def measure(pull: Pull) -> int:
        nonlocal going_on, most
        going_on += 1
        most = max(most, going_on)
        leased.append(campaign.status().in_flight)
        await asyncio.sleep(0.01)
        going_on -= 1
        return 1

    campaign = Slow.create(None, "run", ARMS, 0.5, "LSA", 60)
    assert asyncio.run(campaign.arun(measure, jobs=4)).told == 60
    assert most == 4
    assert max(leased) == 8  # as many again as there are jobs
    audit(campaign)


def test_what_waits_for_a_place_is_given_back_by_a_run_that_ends() -> None:
    class Slow(Campaign):
        def tell_many(self, rewards: Any) -> int:
            time.sleep(0.02)
            return super().tell_many(rewards)

    async def measure(pull: Pull) -> float:
        if campaign.status().in_flight > 4:
            raise ValueError("enough")
        await asyncio.sleep(0.01)
        return 1.0

    campaign = Slow.create(None, "run", ARMS, 0.5, "LSA", 600)
    with pytest.raises(MeasurementError, match="enough"):
        asyncio.run(campaign.arun(measure, jobs=4))
    assert campaign.status().in_flight == 0
    audit(campaign)


def test_the_database_is_asked_and_told_from_another_thread_than_the_event_loop(tmp_path: Path) -> None:
    threads = set()

    class Watched(Campaign):
        def ask(self, *given: Any, **options: Any) -> Any:
            threads.add(threading.get_ident())
            return super().ask(*given, **options)

        def tell_many(self, rewards: Any) -> int:
            threads.add(threading.get_ident())
            return super().tell_many(rewards)

    async def measure(pull: Pull) -> int:
        return 1

    with Watched.create(tmp_path / "x.db", "run", ARMS, 0.5, "LSA", 6) as campaign:
        assert asyncio.run(campaign.arun(measure, 2)).told == 6
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_a_measurement_may_return_a_note_with_the_reward() -> None:
    campaign = made(3)

    async def measure(pull: Pull) -> Any:
        return (1.0, f"answer {pull.arm}") if pull.arm != "c" else 0.5

    assert asyncio.run(campaign.arun(measure, jobs=2)).told == 3
    assert {result.arm: (result.reward, result.note) for result in campaign.results()} == {
        "a": (1.0, "answer a"),
        "b": (1.0, "answer b"),
        "c": (0.5, None),
    }


def test_measurements_see_the_context_variables_of_the_caller() -> None:
    model = contextvars.ContextVar("model", default=0.0)

    async def measure(pull: Pull) -> float:
        return model.get()

    async def main() -> None:
        model.set(1.0)
        await campaign.arun(measure)

    campaign = made(6)
    asyncio.run(main())
    assert {item.mean for item in campaign.decisions()} == {1.0}


def test_watch_is_told_on_the_event_loop_what_has_happened_to_which_arm() -> None:
    events, threads = [], set()

    def watch(event: RunEvent) -> None:
        events.append(event)
        threads.add(threading.get_ident())

    async def measure(pull: Pull) -> float:
        if pull.arm == "b":
            raise ValueError("no model")
        return 1.0

    asyncio.run(made(3).arun(measure, on_crash="zero", watch=watch))
    assert sorted(events, key=lambda event: str(event.arm)) == [
        RunEvent("told", "a", 1.0),
        RunEvent("crashed", "b", 0.0, "arm 'b': ValueError: no model; counts as 0"),
        RunEvent("told", "c", 1.0),
    ]
    assert threads == {threading.get_ident()}


def test_what_watch_raises_ends_the_run_and_gives_back_what_is_in_flight() -> None:
    campaign = made()

    def watch(event: RunEvent) -> None:
        raise LookupError("enough")

    async def measure(pull: Pull) -> float:
        return 1.0 if pull.arm == "a" else await forever(pull)

    with pytest.raises(LookupError, match="enough"):
        asyncio.run(campaign.arun(measure, jobs=3, watch=watch))
    assert campaign.status().in_flight == 0
    audit(campaign)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda: 1 / 0, "arm 'b': ZeroDivisionError: division by zero"),
        (lambda: 2, r"arm 'b': reward 2 is not a number in \[0, 1\]"),
        (lambda: None, "arm 'b': reward None is not a number"),
    ],
    ids=["raises", "2", "None"],
)
def test_a_measurement_that_breaks_down_ends_the_run_and_cancels_the_others(broken: Any, message: str) -> None:
    campaign, ended = made(), []

    async def measure(pull: Pull) -> Any:
        if pull.arm == "b":
            await asyncio.sleep(0.05)
            return broken()
        try:
            return await forever(pull)
        finally:
            ended.append(pull.arm)

    with pytest.raises(MeasurementError, match=message):
        asyncio.run(campaign.arun(measure, jobs=3))
    assert sorted(ended) == ["a", "c"]
    assert (campaign.status().spent, campaign.status().in_flight) == (0, 0)


def test_a_timeout_counts_as_it_is_told_to() -> None:
    async def measure(pull: Pull) -> float:
        async with asyncio.timeout(0.01):
            return await forever(pull)

    campaign = made(3)
    assert asyncio.run(campaign.arun(measure, jobs=3, on_timeout="zero")).crashes == 3
    assert {item.mean for item in campaign.decisions()} == {0.0}


def test_to_cancel_a_run_gives_back_what_is_in_flight_and_keeps_what_is_told() -> None:
    campaign = made(1000)

    async def measure(pull: Pull) -> float:
        return 1.0 if campaign.status().spent < 10 else await forever(pull)

    async def main() -> None:
        run = asyncio.create_task(campaign.arun(measure, jobs=5))
        while campaign.status().spent < 10:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert campaign.status().in_flight == 0
    assert 10 <= campaign.status().spent < 20
    audit(campaign)


def test_a_run_may_be_given_so_much_time() -> None:
    campaign = made()

    async def main() -> None:
        async with asyncio.timeout(0.2):
            await campaign.arun(forever, jobs=3)

    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert (campaign.status().spent, campaign.status().in_flight) == (0, 0)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_back_what_is_in_flight_and_ends_as_ctrl_c_does(number: signal.Signals) -> None:
    campaign = made()
    before = signal.getsignal(number)

    async def measure(pull: Pull) -> float:
        os.kill(os.getpid(), number)
        return await forever(pull)

    with pytest.raises(KeyboardInterrupt) as stopped:
        asyncio.run(campaign.arun(measure))
    assert stopped.value.args == (() if number == signal.SIGINT else (number,))  # SIGINT is handled by asyncio.run
    assert (campaign.status().spent, campaign.status().in_flight) == (0, 0)
    assert signal.getsignal(number) is before


def test_a_measurement_that_something_else_cancels_is_given_back_uncounted() -> None:
    campaign, turn = made(3), iter([True])

    async def measure(pull: Pull) -> float:
        if next(turn, False):
            raise asyncio.CancelledError
        return 1.0

    assert asyncio.run(campaign.arun(measure)).told == 3
    audit(campaign)


def test_leases_are_extended_while_a_measurement_goes_on() -> None:
    async def measure(pull: Pull) -> int:
        await asyncio.sleep(2.4)
        return 1

    report = asyncio.run(made(1, ["a"]).arun(measure, lease=1.8))
    assert (report.told, report.late) == (1, 0)


def test_a_failure_of_the_moment_is_awaited_again_with_a_wait_that_others_use() -> None:
    campaign, tried = made(3), []

    async def measure(pull: Pull) -> float:
        tried.append(pull.arm)
        if tried.count("b") == 1 and pull.arm == "b":
            raise ConnectionError("busy")
        return 1.0

    events: list[RunEvent] = []
    retry = Retry(ConnectionError, first=0.1)
    assert asyncio.run(campaign.arun(measure, retry=retry, watch=events.append)).told == 3
    assert sorted(tried) == ["a", "b", "b", "c"]
    assert tried[-1] == "b" or tried.count("a") == 1
    (again,) = [event for event in events if event.status == "retried"]
    assert again.arm == "b"


@pytest.mark.parametrize(
    "run", [lambda campaign: campaign.run(forever), lambda campaign: campaign.run_batches(forever)], ids=["one", "many"]
)
def test_threads_refuse_a_coroutine_function_in_one_line(run: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^measure is a coroutine function; await campaign.arun\(measure\)"):
        run(made())


def test_threads_refuse_what_returns_a_coroutine_without_a_warning() -> None:
    with pytest.raises(MeasurementError, match=r"it returned a coroutine; await campaign.arun\(measure\) runs"):
        made().run(partial(returned, forever))


def test_a_plain_function_is_refused_with_the_way_to_run_it() -> None:
    with pytest.raises(MeasurementError, match=r"arm '.': it returned 1\.0, which cannot be awaited; .* are for run"):
        asyncio.run(made().arun(partial(returned, lambda pull: 1.0)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs is 0; it must be a whole number from 1"),
        ({"lease": 0}, "lease is 0; it must be a number above 0"),
        ({"on_crash": "ignore"}, "on_crash is 'ignore'; it must be one of stop, zero, abandon"),
        ({"retry": 3}, "retry is 3; it must be a Retry"),
        ({"measure": None}, "measure is None; it must be a coroutine function that takes a Pull"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_measured(options: Any, message: str) -> None:
    campaign = made()
    with pytest.raises(InvalidInputError, match=message):
        asyncio.run(arun(campaign, **{"measure": forever, **options}))
    assert campaign.status().left == 30
