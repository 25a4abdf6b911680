"""simulate: the same answer however the work is split, exact where it can be computed, and one line for bad input."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import games
import naive
from cutline import LSA, UCBE, OptKG, Problem, RegretCurves, Uniform, simulate
from cutline.errors import OutOfMemoryError
from cutline.paper.setups import SETUPS as PAPER
from cutline.policies import Policy, available
from cutline.simulation import workers

simulate_module = sys.modules["cutline.simulation.simulate"]

PROBLEM = Problem([0.1, 0.35, 0.55, 0.5, 0.8], 0.45)
POLICIES: list[Policy | str] = [LSA(), "APT(0.05)", UCBE(), "Opt-KG", Uniform()]
BUDGETS = [5, 40, 41, 150]


def same(first: RegretCurves, second: RegretCurves) -> bool:
    return np.array_equal(first.errors, second.errors) and np.array_equal(first.pulls, second.pulls)


@pytest.fixture(scope="module")
def usual() -> RegretCurves:
    return simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=5, executor=1)


def small_chunks(monkeypatch: pytest.MonkeyPatch, pulls: int) -> None:
    monkeypatch.setattr(simulate_module, "_PULLS_PER_CHUNK", pulls)


def test_its_errors_are_those_of_the_slow_twins_game_in_every_run(usual: RegretCurves) -> None:
    instance = games.Instance(
        tuple(games.exactly(text) for text in ("0.1", "0.35", "0.55", "0.5", "0.8")), games.exactly("0.45")
    )
    assert instance.problem == PROBLEM
    key = naive.key_of(5, "")
    twins = {str(twin.policy): twin for twin in games.TWINS}
    for row, name in enumerate(usual.policies):
        twin = twins[name]
        pulls_sum = np.zeros((len(BUDGETS), 5))
        for run in range(30):

            def reward(arm: int, t: int, run: int = run) -> int:
                return naive.reward(key, run, arm, t, float(PROBLEM.means[arm]))

            for look, budget in enumerate(BUDGETS):
                if look == 0 or not twin.policy.anytime:
                    longest = BUDGETS[-1] if twin.policy.anytime else budget
                    index = twin.index(instance, longest)
                    sequence, rewards = naive.game(index, reward, 5, longest, twin.policy.pulls_each_arm_first)
                pulls, totals = naive.records(sequence[:budget], rewards[:budget], 5)
                pulls_sum[look] += pulls
                assert usual.errors[row, look, run] == naive.wrong(pulls, totals, list(instance.means), instance.theta)
        assert usual.pulls[row].tolist() == (pulls_sum / 30).tolist()


def test_it_says_what_it_simulated(usual: RegretCurves) -> None:
    assert usual.policies == ("LSA(1.35)", "APT(0.05)", "UCBE(0)", "Opt-KG(1,1)", "Uniform")
    assert usual.budgets.tolist() == BUDGETS
    assert usual.errors.shape == (5, 4, 30)
    assert usual.errors.dtype == np.int32
    assert usual.pulls.shape == (5, 4, 5)
    assert usual.problem == PROBLEM
    assert (usual.seed, usual.streams) == (5, "common")
    np.testing.assert_allclose(usual.pulls.sum(axis=2), [BUDGETS] * 5, rtol=1e-12)


@pytest.mark.parametrize("policy", [UCBE(0), UCBE(4)], ids=str)
def test_a_policy_that_is_not_anytime_plays_each_budget_as_if_it_were_the_only_one(policy: Policy) -> None:
    for problem, budgets in ((PROBLEM, BUDGETS), (PAPER[3].problem, [1000, 1001, 20_000, 20_064])):
        together = simulate(problem, policy, budgets, runs=20, seed=5)
        for look, budget in enumerate(budgets):
            alone = simulate(problem, policy, budget, runs=20, seed=5)
            assert np.array_equal(together.errors[:, look], alone.errors[:, 0])
            assert np.array_equal(together.pulls[:, look], alone.pulls[:, 0])


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("pulls_per_chunk", [1, 151, 1000, 10**9])
def test_the_answer_does_not_depend_on_jobs_or_chunks(
    usual: RegretCurves, monkeypatch: pytest.MonkeyPatch, jobs: int, pulls_per_chunk: int
) -> None:
    small_chunks(monkeypatch, pulls_per_chunk)
    assert same(simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=5, executor=jobs), usual)


@pytest.mark.process
def test_the_answer_is_the_same_from_a_pool_of_processes_or_threads_that_stays_open(
    usual: RegretCurves, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch, 3000)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert same(simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=5, executor=pool), usual)
        assert pool.submit(abs, -1).result() == 1
    with ThreadPoolExecutor(3) as threads:
        assert same(simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=5, executor=threads), usual)
        assert threads.submit(abs, -1).result() == 1


class Backwards(Executor):
    """Does the last piece of work first: futures finish in an order nobody expects."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, fn, args))
        return future

    def work(self) -> None:
        for future, function, args in reversed(self.waiting):
            future.set_result(function(*args))


def test_the_answer_does_not_depend_on_the_order_in_which_work_is_done(
    usual: RegretCurves, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch, 2000)
    executor = Backwards()

    def work_and_wait(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
        executor.work()
        return as_completed(futures)

    monkeypatch.setattr(workers, "as_completed", work_and_wait)
    assert same(simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=5, executor=executor), usual)
    assert len(executor.waiting) > 10


def test_the_first_runs_are_the_same_whatever_their_number(usual: RegretCurves) -> None:
    few = simulate(PROBLEM, POLICIES, BUDGETS, runs=7, seed=5)
    assert few.errors.tolist() == usual.errors[:, :, :7].tolist()


def test_more_budgets_change_nothing_at_the_others(usual: RegretCurves) -> None:
    more = simulate(PROBLEM, POLICIES, [5, 6, 40, 41, 100, 150, 151], runs=30, seed=5)
    assert more.errors[:, [0, 2, 3, 5]].tolist() == usual.errors.tolist()
    assert more.pulls[:, [0, 2, 3, 5]].tolist() == usual.pulls.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("streams", ["common", "independent"])
def test_every_policy_gives_alone_what_it_gives_among_all_others(streams: str) -> None:
    everything: list[Policy] = [policy() for policy in available()]
    runs = 2  # policies that learn take a tenth of a second for each
    together = simulate(PROBLEM, everything, BUDGETS, runs=runs, seed=3, streams=streams)
    backwards = simulate(PROBLEM, everything[::-1], BUDGETS, runs=runs, seed=3, streams=streams)
    for row, policy in enumerate(everything):
        alone = simulate(PROBLEM, policy, BUDGETS, runs=runs, seed=3, streams=streams)
        assert alone.errors[0].tolist() == together.errors[row].tolist()
        assert backwards.errors[-1 - row].tolist() == together.errors[row].tolist()


def test_common_streams_show_all_policies_the_same_rewards_and_independent_streams_do_not() -> None:
    """With budget K everyone pulls each arm once, so that errors are a function of the rewards alone."""
    names = ["LSA", "APT", "UCBE", "Uniform"]
    common = simulate(PROBLEM, names, 5, runs=300, seed=1)
    assert all(common.errors[row].tolist() == common.errors[0].tolist() for row in range(4))
    apart = simulate(PROBLEM, names, 5, runs=300, seed=1, streams="independent")
    for row in range(4):
        for other in range(row):
            agree = np.count_nonzero(apart.errors[row] == apart.errors[other])
            assert agree < 200


def test_independent_streams_are_uncorrelated_and_common_ones_are_not() -> None:
    """Correlation of the errors of two policies over R runs: normal with standard deviation 1 / sqrt(R); 6 of them."""
    runs = 20_000
    apart, common = (
        simulate(PROBLEM, ["LSA", "LSA(2)"], 30, runs=runs, seed=2, streams=streams).errors[:, 0]
        for streams in ("independent", "common")
    )
    assert abs(np.corrcoef(*apart)[0, 1]) < 6 / math.sqrt(runs)
    assert np.corrcoef(*common)[0, 1] > 6 / math.sqrt(runs)


def test_another_seed_gives_other_runs_and_the_same_seed_the_same(usual: RegretCurves) -> None:
    assert not same(simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=6), usual)
    assert same(simulate(PROBLEM, POLICIES, BUDGETS, runs=30, seed=cast(int, np.int64(5))), usual)
    simulate(PROBLEM, "LSA", 5, runs=1, seed=2**64 - 1)


def test_what_was_simulated_can_be_saved_loaded_and_repeated(usual: RegretCurves, tmp_path: Path) -> None:
    usual.save(tmp_path / "curves.npz")
    back = RegretCurves.load(tmp_path / "curves.npz")
    again = simulate(back.problem, back.policies, back.budgets, runs=back.runs, seed=back.seed, streams=back.streams)
    assert same(again, usual)


def test_one_arm_is_a_problem_too() -> None:
    """A mean on the threshold 1/2: wrong with probability 1/4 after 2 pulls (a tie is above), 1/2 after 1 or 3."""
    curves = simulate(Problem([0.5]), ["LSA", "Opt-KG", "Uniform"], [1, 2, 3], runs=20_000, seed=4)
    bound = math.sqrt(math.log(2 * 3 / 1e-9) / (2 * 20_000))
    assert np.abs(curves.mean - [0.5, 0.25, 0.5]).max() <= bound
    assert np.abs(curves.mean - [0.5, 0.5, 0.5]).max() > bound


def test_budgets_may_be_one_number_or_any_sequence_of_whole_numbers() -> None:
    want = simulate(PROBLEM, "LSA", [40], runs=5).errors.tolist()
    every: list[Any] = [40, np.int32(40), 40.0, [40.0], (40,), np.array([40]), iter([40])]
    for budgets in every:
        assert simulate(PROBLEM, "LSA", budgets, runs=5).errors.tolist() == want


def test_opt_kg_leaves_arms_that_it_never_pulled_below() -> None:
    """A prior so firm that a budget of K visits the first arm alone: every other arm above is wrong."""
    curves = simulate(Problem([1.0, 1.0, 1.0]), OptKG(1e6, 1e6), [3], runs=2)
    assert curves.pulls[0, 0].sum() == 3
    assert curves.errors[0, 0].tolist() == [int((curves.pulls[0, 0] == 0).sum())] * 2


class InOrder(Executor):
    """An executor that notes the policy of every chunk and works at once."""

    def __init__(self) -> None:
        self.policies: list[str] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        self.policies.append(str(arguments[0].policy))
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **named))
        return future


def test_policies_are_played_side_by_side_so_that_a_share_of_the_pulls_is_that_share_of_the_time(
    usual: RegretCurves, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch, 10 * 150)
    executor = InOrder()
    found = simulate(PROBLEM, ["LSA", "Opt-KG", "Uniform"], BUDGETS, runs=30, seed=5, executor=executor)
    assert executor.policies == ["LSA(1.35)", "Opt-KG(1,1)", "Uniform"] * 3
    assert found.errors[0].tolist() == usual.errors[usual.row("LSA(1.35)")].tolist()


def test_runs_whose_results_do_not_fit_are_refused_before_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutline.memory.available_memory", lambda: 20e9)
    with pytest.raises(
        OutOfMemoryError, match=r"^2,000,000,000 runs of 1 policies on 2 arms at 1 budgets in 1 threads "
    ):
        simulate(Problem([0.2, 0.7], 0.5), "Uniform", 20, runs=2_000_000_000, executor=1)
    with pytest.raises(
        OutOfMemoryError, match=r" need about 24\.3 GB of memory, and 20\.0 GB are free; use fewer arms, r"
    ):
        simulate(Problem([0.2, 0.7], 0.5), "LSA", 10**9, runs=24_000_000, executor=1)
