"""What simulate does when something is wrong: one line for bad input, an end at once for an interruption."""

import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import pytest

from cutline import LSA, InvalidInputError, NotFoundError, Problem, simulate
from cutline.errors import OutOfMemoryError
from surroundings import PATIENCE

simulate_module = sys.modules["cutline.simulation.simulate"]
PROBLEM = Problem([0.1, 0.35, 0.55, 0.5, 0.8], 0.45)


def small_chunks(monkeypatch: pytest.MonkeyPatch, pulls: int) -> None:
    monkeypatch.setattr(simulate_module, "_PULLS_PER_CHUNK", pulls)


def refusal(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        simulate(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        (4, "budget 4 is below the number of arms, 5: every arm is pulled once"),
        ([3, 100], "budget 3 is below the number of arms, 5: every arm is pulled once"),
        ([10, 10], "budgets must increase: 10 comes after 10"),
        ([10, 30, 20], "budgets must increase: 20 comes after 30"),
        ([], "budgets must be whole numbers, at least one, not []"),
        ([10, 20.5], "budgets must be whole numbers, at least one, not [10, 20.5]"),
        ([10, math.nan], "budgets must be whole numbers, not [10, nan]"),
        ([10, math.inf], "budgets must be whole numbers, not [10, inf]"),
        (["ten"], "budgets must be whole numbers, not ['ten']"),
        (None, "budgets must be whole numbers, not [None]"),
        (12.5, "budgets must be whole numbers, at least one, not [12.5]"),
        ([2**53], "budget 9007199254740992 is too large; the most is 2^53 - 1"),
    ],
)
def test_bad_budgets_are_refused_in_one_line(budgets: Any, message: str) -> None:
    assert refusal(PROBLEM, "LSA", budgets, runs=5) == message


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"runs": 0}, "runs is 0; it must be a whole number from 1 to 2^31 - 1"),
        ({"runs": -3}, "runs is -3; it must be a whole number from 1 to 2^31 - 1"),
        ({"runs": 2.5}, "runs is 2.5; it must be a whole number from 1 to 2^31 - 1"),
        ({"runs": "5"}, "runs is '5'; it must be a whole number from 1 to 2^31 - 1"),
        ({"seed": -1}, "seed is -1; it must be a whole number from 0 to 2^64 - 1"),
        ({"seed": 2**64}, "seed is 18446744073709551616; it must be a whole number from 0 to 2^64 - 1"),
        ({"seed": 1.0}, "seed is 1.0; it must be a whole number from 0 to 2^64 - 1"),
        ({"seed": None}, "seed is None; it must be a whole number from 0 to 2^64 - 1"),
        ({"streams": "shared"}, "streams is 'shared'; it must be one of common, independent"),
        ({"executor": 0}, "jobs is 0; it must be 1 or more"),
        ({"executor": "many"}, "executor is 'many'; it must be a number of threads or an Executor"),
    ],
)
def test_bad_settings_are_refused_in_one_line(setting: dict[str, Any], message: str) -> None:
    assert refusal(PROBLEM, "LSA", 10, **{"runs": 5, **setting}) == message


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ([], "no policies: give at least one, such as LSA"),
        (["LSA", LSA()], "policy LSA(1.35) is given twice"),
        ([LSA], f"{LSA!r} is not a policy; give one such as LSA() or its name"),
        ([7], "7 is not a policy; give one such as LSA() or its name"),
        (["LSA(-1)"], "LSA: alpha is -1.0; it must be a number above 0, at most 1e100"),
    ],
)
def test_bad_policies_are_refused_in_one_line(policies: Any, message: str) -> None:
    assert refusal(PROBLEM, policies, 10, runs=5) == message


def test_an_unknown_policy_is_answered_with_what_exists() -> None:
    with pytest.raises(NotFoundError, match=r"no policy is called 'LSE'; there are LSA\(alpha\), "):
        simulate(PROBLEM, "LSE", 10)


def test_work_that_cannot_fit_into_memory_is_refused_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutline.memory.available_memory", lambda: 2e9)
    problem, told = Problem(np.full(10_000_000, 0.4)), list[int]()
    with pytest.raises(OutOfMemoryError) as caught:
        simulate(problem, ["LSA", "APT"], [10_000_000, 20_000_000], runs=1, executor=2, progress=told.append)
    message = str(caught.value)
    assert message.startswith("1 run of 2 policies on 10,000,000 arms at 2 budgets in 2 threads need about ")
    assert message.endswith(" GB of memory, and 2.0 GB are free; use fewer arms, runs, budgets or threads")
    assert told == []
    assert simulate(PROBLEM, "LSA", 10, runs=2).runs == 2


def test_errors_alone_fit_where_the_pulls_of_each_arm_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty budgets of 100,000 arms in two threads are 148 MB with what each arm comes to, and 20 MB without it."""
    monkeypatch.setattr("cutline.memory.available_memory", lambda: 25e6)
    problem = Problem(np.random.default_rng(1).beta(2, 2, 100_000))
    budgets = range(120_000, 320_000, 10_000)
    curves = simulate(problem, "LSA", budgets, runs=1, executor=2, pulls=False)
    assert curves.engines == ("ranking",)
    for policy, decide, pulls in (("LSA", "mean", True), ("LSA", "likelier", False), ("Gap-Oracle", "mean", False)):
        with pytest.raises(OutOfMemoryError, match=r"in 2 threads need about 0\.1 GB of memory, and 0\.0 GB are free"):
            simulate(problem, policy, budgets, runs=1, executor=2, decide=decide, pulls=pulls)


class OnlyTheFirst(Executor):
    """Does the first piece of work, and leaves the rest waiting."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if not self.futures:
            future.set_result(fn(*args, **kwargs))
        self.futures.append(future)
        return future


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_has_not_begun_is_cancelled_when_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    small_chunks(monkeypatch, 500)
    executor = OnlyTheFirst()

    def interrupt(amount: int) -> None:
        raise error

    with pytest.raises(error):
        simulate(PROBLEM, "LSA", 50, runs=100, executor=executor, progress=interrupt)
    assert len(executor.futures) == 10
    assert [future.cancelled() for future in executor.futures] == [False] + [True] * 9


def test_an_error_in_one_piece_of_work_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    small_chunks(monkeypatch, 500)
    played = []

    def fail(chunk: Any) -> Any:
        played.append(chunk)
        time.sleep(0.001)
        raise ValueError("no luck")

    monkeypatch.setattr(simulate_module, "play", fail)
    with pytest.raises(ValueError, match="no luck"):
        simulate(PROBLEM, "LSA", 50, runs=100_000, executor=1)
    assert len(played) < 1000


def test_ctrl_c_ends_a_long_simulation_at_once(start_process: Callable[..., "subprocess.Popen[str]"]) -> None:
    program = (
        "import sys; from cutline import Problem, simulate\n"
        "told = lambda amount: print('working', flush=True)\n"
        "simulate(Problem([0.4, 0.6]), 'LSA', 10_000_000, runs=10_000, progress=told)"
    )
    command = [sys.executable, "-c", program]
    process = start_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    started = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in talk
    assert process.returncode in (-signal.SIGINT, 130)
    assert time.perf_counter() - started < 60


def test_progress_is_told_all_the_pulls_that_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anytime policies play one game for all budgets, UCBE one for each."""
    small_chunks(monkeypatch, 1000)
    told: list[int] = []
    simulate(PROBLEM, ["LSA", "UCBE"], [50, 120], runs=30, executor=2, progress=told.append)
    assert sum(told) == 30 * 120 + 30 * (50 + 120)
    assert len(told) == 4 + 2 + 4


def test_nothing_is_printed_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    simulate(PROBLEM, ["LSA", "UCBE"], [5, 40], runs=3)
    simulate(PROBLEM, ["LSA", "UCBE"], [5, 40], runs=3, progress=True)
    assert capfd.readouterr() == ("", "")
