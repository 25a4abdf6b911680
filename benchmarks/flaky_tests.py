"""Compare ``cutline pytest`` with a plain loop of pytest: runs a second, and time until flaky tests are found.

Usage: python benchmarks/flaky_tests.py [--runs 4000] [--rounds 3] [--draws 3] [--jobs 2] [--plugins]
       python benchmarks/flaky_tests.py --table

It makes its suites itself: 200 tests that take a millisecond each, four of them flaky; and the same with a tenth of
the tests taking 50 milliseconds. The loop is as many pytests at a time, each over the whole suite, again and again.
Both are measured in turn, so that a busy machine is busy for both; ratios are what counts. It prints the table of
docs/flaky_tests.md, and how long three draws take until each flaky test has failed. Without --plugins no installed
plugin of pytest is loaded. --table prints by simulation how many tests are called wrongly, for docs/flaky_tests.md.
"""

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from cutline import Problem, simulate
from cutline.campaign import Campaign, RunEvent
from cutline.campaign.running.runner import run_command_batches
from cutline.defaults import POLICY
from cutline.integrations.pytest_suite import Suite, collect, handling

TESTS = 200
FLAKY = {"test_order": 0.5, "test_rare": 0.3, "test_rarer": 0.2, "test_as_rare": 0.2}
"""How often each flaky test fails; the first one by the order of a set, which is constant within a process."""

THRESHOLD = 0.95


def make_suite(folder: Path, slow_share: float) -> None:
    """Write the suite."""
    plain = TESTS - len(FLAKY)
    slow = round(slow_share * TESTS)
    lines = ["import random, time\n", "def wait(seconds=0.001): time.sleep(seconds)\n"]
    lines += [f"def test_{number}(): wait({0.05 if number < slow else 0.001})\n" for number in range(plain)]
    for name, rate in FLAKY.items():
        check = "next(iter({'a', 'b'})) == 'a'" if rate == 0.5 else f"random.random() >= {rate}"
        lines.append(f"def {name}():\n    wait()\n    assert {check}\n")
    (folder / "test_suite.py").write_text("".join(lines), encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")


class Loop:
    """Plain pytests over the whole suite, ``jobs`` at a time."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._left = 0
        self.failed: set[str] = set()

    def run(self, passes: int, until_found: bool = False) -> float:
        """Make so many passes over the suite, or fewer if all flaky tests have failed by then; return the seconds."""
        self._left, self.failed = passes, set()
        threads = [threading.Thread(target=self._work, args=(until_found,)) for _ in range(self._jobs)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - began

    def _work(self, until_found: bool) -> None:
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-rf"]
        while True:
            with self._lock:
                if self._left == 0 or (until_found and self.failed >= FLAKY.keys()):
                    return
                self._left -= 1
            out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            with self._lock:
                self.failed |= {name for name in FLAKY if f"FAILED test_suite.py::{name} " in out}


class FoundError(Exception):
    """All flaky tests have failed once."""


def cutline_seconds(suite: Suite, runs: int, jobs: int, until_found: bool = False) -> float:
    """Return the seconds that so many runs take, or those until all flaky tests have failed."""
    began = time.perf_counter()
    with Campaign.create(None, "c", suite.tests, THRESHOLD, POLICY, runs, seed=random.randrange(10**6)) as campaign:
        failed: set[str] = set()

        def watch(event: RunEvent) -> None:
            if until_found and event.arm and event.reward == 0:
                failed.add(event.arm.partition("::")[2])
                if failed >= FLAKY.keys():
                    raise FoundError

        with suppress(FoundError):
            command = suite.command(timeout=60.0, jobs=jobs)
            run_command_batches(campaign, command, "auto", jobs, handling("zero", "fail"), watch=watch)
    return time.perf_counter() - began


def simulated_runs(policy: str, size: int, draws: int) -> list[float]:
    """Return the runs until all flaky tests have failed once, with batches of ``size`` distinct tests."""
    found = []
    for draw in range(draws):
        coin, failed = random.Random(draw), set[str]()
        arms = [*FLAKY, *(f"test_{number}" for number in range(TESTS - len(FLAKY)))]
        with Campaign.create(None, "c", arms, THRESHOLD, policy, 10**6, seed=draw) as campaign:
            while failed != FLAKY.keys():
                pulls = campaign.ask(size, distinct=True)
                rewards = [(pull, coin.random() >= FLAKY.get(pull.arm, 0.0)) for pull in pulls]
                failed |= {pull.arm for pull, reward in rewards if not reward}
                campaign.tell_many(rewards)
            found.append(float(campaign.status().spent))
    return found


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def compare(what: str, folder: Path, slow_share: float, options: argparse.Namespace) -> tuple[float, float]:
    """Print a row of the table: the runs a second of both, in turn; return the medians."""
    make_suite(folder, slow_share)
    suite, loop = collect([]), Loop(options.jobs)
    passes = max(1, options.runs // TESTS)
    rates: dict[str, list[float]] = {"loop": [], "cutline pytest": []}
    used: dict[str, float] = dict.fromkeys(rates, 0.0)
    measure: dict[str, Callable[[], float]] = {
        "loop": lambda: loop.run(passes),
        "cutline pytest": lambda: cutline_seconds(suite, passes * TESTS, options.jobs),
    }
    for _ in range(options.rounds):
        for name, seconds in measure.items():
            before = processor_seconds()
            rates[name].append(passes * TESTS / seconds())
            used[name] += processor_seconds() - before
    ratio = statistics.median(ours / theirs for theirs, ours in zip(*rates.values(), strict=True))
    loop_rate, our_rate = (statistics.median(found) for found in rates.values())
    loop_used, our_used = (1000 * seconds / (options.rounds * passes * TESTS) for seconds in used.values())
    print(f"| {what} | {loop_rate:.0f} | {our_rate:.0f} | {ratio:.2f} | {loop_used:.1f} | {our_used:.1f} |", flush=True)
    return loop_rate, our_rate


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def print_table() -> None:
    """Print how many of 200 tests are called wrongly on average, by suite, policy and runs a test."""
    suites = {
        "4 flaky": [0.9, 0.8, 0.7, 0.5],
        "20 flaky": list(np.linspace(0.5, 0.94, 20)),
        "60 to 100 %": list(np.linspace(0.6, 1, TESTS)),
    }
    runs_per_test = (2, 5, 10, 20, 30, 50, 100, 150)
    print("| runs a test |", " | ".join(map(str, runs_per_test)), "|")
    for name, means in suites.items():
        problem = Problem([1.0] * (TESTS - len(means)) + means, THRESHOLD)
        curves = simulate(problem, ["Lai", "LSA", "Uniform"], [TESTS * n for n in runs_per_test], runs=200, seed=1)
        for policy, errors in zip(curves.policies, curves.errors.mean(axis=2), strict=True):
            print(f"| {name}: {policy} |", " | ".join(f"{error:.1f}" for error in errors), "|", flush=True)


def find(options: argparse.Namespace, loop_rate: float, our_rate: float) -> None:
    """Print how long it takes until all flaky tests have failed once: expected, and for real."""
    expected = {policy: statistics.mean(simulated_runs(policy, TESTS, 40)) for policy in (POLICY, "Uniform")}
    print(f"\nuntil all {len(FLAKY)} flaky tests have failed once, expected:")
    print(f"  loop            {expected['Uniform']:6.0f} runs, {expected['Uniform'] / loop_rate:5.1f} s")
    print(f"  cutline pytest  {expected[POLICY]:6.0f} runs, {expected[POLICY] / our_rate:5.1f} s", flush=True)
    suite = collect([])
    for draw in range(1, options.draws + 1):
        theirs = Loop(options.jobs).run(1000, until_found=True)
        ours = cutline_seconds(suite, 1000 * TESTS, options.jobs, until_found=True)
        print(f"  draw {draw}: loop {theirs:.1f} s, cutline pytest {ours:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--plugins", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print_table()
        return
    if not options.plugins:
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name, inside(Path(name)):
        print(f"runs a second, and milliseconds of processor time a run, {options.jobs} pytests at a time")
        print(f"| {TESTS} tests | loop | cutline pytest | ratio | loop, ms | cutline pytest, ms |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        compare("a tenth takes 50 milliseconds", Path(name), 0.1, options)
        rates = compare("each takes a millisecond", Path(name), 0.0, options)
        find(options, *rates)


if __name__ == "__main__":
    main()
