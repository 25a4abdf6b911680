"""Measurements that fail for the moment: which are made again, how often, and after which wait."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cutline.campaign import BatchCommand, Campaign, Command, Pull, Retry, RunEvent
from cutline.campaign.running.retrying import Retrier, asked_to_wait
from cutline.errors import InvalidInputError, MeasurementError, TryAgainError
from ledger import audit


class LimitedError(Exception):
    """What a client raises at a rate limit."""


def soon(*exceptions: type[Exception], attempts: int = 8) -> Retry:
    return Retry(exceptions, attempts, first=1e-3, longest=1e-2)


def made(budget: int = 3, arms: Any = ("a", "b", "c")) -> Campaign:
    return Campaign.create(None, "run", arms, 0.5, "LSA", budget)


class Failing:
    """Measures 1, after each arm has failed so many times."""

    def __init__(self, times: int, error: Exception) -> None:
        self.times, self.error, self.tried = times, error, Counter[str]()

    def __call__(self, pull: Pull) -> float:
        self.tried[pull.arm] += 1
        if self.tried[pull.arm] <= self.times:
            raise self.error
        return 1.0


@pytest.mark.parametrize("error", [LimitedError("slow down"), TryAgainError("slow down")])
def test_what_fails_for_the_moment_is_measured_again_and_is_no_crash(error: Exception) -> None:
    campaign, measure, events = made(), Failing(2, error), list[RunEvent]()
    report = campaign.run(measure, retry=soon(LimitedError), watch=events.append)
    assert (report.told, report.crashes, set(measure.tried.values())) == (3, 0, {3})
    again = [event for event in events if event.status == "retried" and event.arm == "a"]
    assert (len(again), again[0].reward) == (2, None)
    said = "arm 'a': LimitedError: slow down; again in 0.0 s (attempt 1 of 8)"
    assert str(again[0].text).replace("TryAgainError", "LimitedError") == said
    audit(campaign)


def test_what_goes_on_failing_is_a_crash_after_so_many_attempts() -> None:
    campaign, measure = made(1, ["a"]), Failing(9, LimitedError("slow down"))
    with pytest.raises(MeasurementError, match=r"^arm 'a': LimitedError: slow down$"):
        campaign.run(measure, retry=soon(LimitedError, attempts=3))
    assert measure.tried["a"] == 3
    report = made().run(Failing(9, LimitedError()), on_crash="zero", retry=soon(LimitedError, attempts=2))
    assert (report.told, report.crashes) == (3, 3)


def test_other_exceptions_are_a_crash_at_once_and_so_is_every_one_without_retry() -> None:
    measure = Failing(1, KeyError("x"))
    with pytest.raises(MeasurementError, match="KeyError"):
        made().run(measure, retry=soon(LimitedError))
    assert measure.tried.total() == 1
    with pytest.raises(MeasurementError, match=r"^arm '.': later$"):
        made().run(Failing(1, TryAgainError("later")))


def test_the_lease_goes_on_while_a_measurement_waits_for_its_next_attempt() -> None:
    measure = Failing(1, TryAgainError("later", retry_after=2.4))
    report = made(1, ["a"]).run(measure, lease=1.8, retry=Retry(first=1e-3))
    assert (report.told, report.late, measure.tried["a"]) == (1, 0, 2)


def waits(retry: Retry, error: Exception) -> list[float]:
    """Return the waits before each further attempt, without waiting."""
    retrier = Retrier(retry)
    slept: list[float] = []
    never: Any = SimpleNamespace(wait=lambda timeout: slept.extend([timeout]), is_set=lambda: False)
    retrier._is_stopped = never

    def measure(pull: Any) -> float:
        raise error

    with pytest.raises(type(error)):
        retrier.call(measure, None, "a", lambda event: None)
    return slept


def test_waits_double_are_cut_by_chance_by_up_to_a_half_and_none_is_longer_than_the_longest() -> None:
    each = [waits(Retry(LimitedError, attempts=6, first=1.0, longest=5.0), LimitedError()) for _ in range(40)]
    for number, whole in enumerate([1.0, 2.0, 4.0, 5.0, 5.0]):
        found = [one[number] for one in each]
        assert whole / 2 <= min(found) < max(found) <= whole
        assert max(found) - min(found) > whole / 4  # of 40 even draws all within a half: 40 / 2**39


@pytest.mark.parametrize(
    "carrier",
    [
        {"retry_after": 7},
        {"retry_after": timedelta(seconds=7)},
        {"headers": {"Retry-After": "7"}},
        {"response": SimpleNamespace(headers={"retry-after": "7.0"})},
    ],
    ids=["attribute", "timedelta", "header", "header of the response"],
)
def test_a_wait_that_the_exception_asks_for_is_kept(carrier: dict[str, Any]) -> None:
    error = LimitedError()
    vars(error).update(carrier)
    (wait,) = waits(Retry(LimitedError, attempts=2, first=1.0), error)
    assert 7.0 <= wait <= 8.0


def test_a_date_to_wait_for_is_so_many_seconds_away() -> None:
    error: Any = LimitedError()
    error.headers = {"RETRY-AFTER": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)}
    wait = asked_to_wait(error)
    assert wait is not None
    assert 80.0 < wait <= 90.0


@pytest.mark.parametrize("asked", [None, "soon", "", float("nan"), object()])
def test_a_wait_that_makes_no_sense_is_passed_over(asked: object) -> None:
    error: Any = LimitedError()
    error.retry_after, error.headers = asked, {"retry-after": asked}
    assert asked_to_wait(error) is None


def test_a_wait_longer_than_the_longest_is_a_crash_at_once() -> None:
    assert waits(Retry(longest=300.0), TryAgainError("tomorrow", retry_after=86_400)) == []


def test_a_run_that_ends_makes_nothing_again() -> None:
    first, tried = threading.Event(), Counter[str]()

    def measure(pull: Pull) -> float:
        tried[pull.arm] += 1
        if pull.arm == "b":
            first.wait(60)
            raise KeyError("x")
        first.set()
        raise TryAgainError("later", retry_after=200)

    campaign = made(2, ["a", "b"])
    with pytest.raises(MeasurementError, match="arm 'b'"):
        campaign.run(measure, jobs=2, retry=Retry())
    assert (tried["a"], campaign.status().in_flight) == (1, 0)


def test_a_batch_that_fails_for_the_moment_is_measured_again_as_a_whole_and_blamed_on_no_arm() -> None:
    batches: list[list[str]] = []

    def measure(pulls: Sequence[Pull]) -> list[float]:
        batches.append([pull.arm for pull in pulls])
        if len(batches) <= 2:
            raise LimitedError
        return [1.0] * len(pulls)

    report = made().run_batches(measure, 3, retry=soon(LimitedError))
    assert (report.told, report.crashes, len(batches)) == (3, 0, 3)
    batches.clear()
    report = made().run_batches(measure, 3, on_crash="zero", retry=soon(LimitedError, attempts=2))
    assert (report.told, report.crashes, [len(arms) for arms in batches]) == (3, 3, [3, 3])


COUNT = 'echo x >>tries; test "$(wc -l <tries)" -gt 2 || exit 75'


def test_a_command_says_by_its_exit_status_that_it_is_to_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = Command(["sh", "-c", COUNT, "{arm}"], retry_exits=[75])
    with pytest.raises(MeasurementError, match=r"^arm '.': exit status 75$"):
        made().run(command)
    assert made().run(command, retry=soon()).told == 3
    with pytest.raises(InvalidInputError, match="exit status 75 cannot mean a crash and try again; give it once"):
        Command(["true", "{arm}"], crash_exits=[75], retry_exits=[75])


def test_what_a_command_for_a_batch_has_reported_before_it_gives_up_for_the_moment_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # It gives up before the first arm, then after it, and then measures all.
    program = (
        'report=$1; shift; echo x >>tries; case "$(wc -l <tries)" in 1) exit 75;; 2) set -- "$1"; end=75;; esac; '
        'for arm; do echo "{\\"arm\\": \\"$arm\\", \\"reward\\": 1}" >>"$report"; done; exit ${end:-0}'
    )
    command = BatchCommand(["sh", "-c", program, "sh", "{report}", "{arms}"], report="jsonl", retry_exits=[75])
    campaign = made()
    report = campaign.run_batches(command, 3, retry=soon())
    assert (report.told, report.crashes) == (3, 0)
    assert [item.mean for item in campaign.decisions()] == [1.0, 1.0, 1.0]
    assert len((tmp_path / "tries").read_text().splitlines()) == 3
    audit(campaign)


def test_a_command_that_waits_for_its_next_attempt_is_stopped_at_once() -> None:
    began = time.monotonic()

    def watch(event: RunEvent) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        made().run(Command(["sh", "-c", "exit 75", "{arm}"], retry_exits=[75]), retry=Retry(first=200.0), watch=watch)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exceptions": KeyboardInterrupt}, "retry: <class 'KeyboardInterrupt'> is no class of exceptions"),
        ({"exceptions": ("busy",)}, "retry: 'busy' is no class of exceptions, such as TimeoutError"),
        ({"attempts": 0}, "attempts is 0; it must be a whole number from 1"),
        ({"first": 0}, "first is 0; it must be a number above 0"),
        ({"longest": -1}, "longest is -1; it must be a number above 0"),
    ],
)
def test_a_bad_value_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Retry(**given)
