"""Every engine plays the paper's game: pull for pull what a slow twin plays on the same rewards."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import naive
from cutline import LSA, OptKG, Problem, Uniform
from cutline.compiled import jit
from cutline.policies import Policy, available
from cutline.policies.oracle import GapOracle
from cutline.simulation import rewards
from games import ENGINES, TWINS, Engine, Instance, Twin, instances, play, sequence, share_of_examples

engines = pytest.mark.parametrize("engine", ENGINES, ids=str)
remade_engines = pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine.makers], ids=str)
quick_engines = pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine.quick], ids=str)
twins = pytest.mark.parametrize("twin", TWINS, ids=str)


@functools.cache  # all engines are held against the same games
def twin_game(twin: Twin, instance: Instance, budget: int, key: int, run: int) -> tuple[list[int], list[int]]:
    means, first_round = instance.problem.means, twin.policy.pulls_each_arm_first

    def reward(arm: int, t: int) -> int:
        return naive.reward(key, run, arm, t, float(means[arm]))

    return naive.game(twin.index(instance, budget), reward, len(means), budget, first_round)


@pytest.mark.kernel
@engines
@twins
@share_of_examples(0.2)
@given(instance=instances(), more=st.integers(0, 40), seed=st.integers(0, 2**64 - 1), run=st.integers(0, 10**6))
def test_an_engine_pulls_what_the_slow_twin_pulls_and_errs_where_it_errs(
    engine: Engine, twin: Twin, instance: Instance, more: int, seed: int, run: int
) -> None:
    arms = len(instance.means)
    key = naive.key_of(seed, "")
    order, drawn = twin_game(twin, instance, arms + more, key, run)
    budgets = list(range(arms, arms + more + 1)) if twin.policy.anytime else [arms + more]
    outcome = play(engine, twin.policy, instance.problem, budgets, key, run)
    for look, budget in enumerate(budgets):
        pulls, totals = naive.records(order[:budget], drawn[:budget], arms)
        assert outcome.pulls[look].tolist() == pulls
        assert outcome.totals[look].tolist() == totals
        assert outcome.errors[look, 0] == naive.wrong(pulls, totals, list(instance.means), instance.theta)
    if twin.policy.anytime:
        assert sequence(outcome) == order[arms:]


def test_every_policy_of_the_paper_has_a_slow_twin() -> None:
    assert {twin.policy.name for twin in TWINS} >= {"LSA", "APT", "UCBE", "Opt-KG", "Uniform"}
    assert {type(twin.policy) for twin in TWINS} <= set(available())


@functools.cache
def problem_at_35_hundredths(arms: int) -> Problem:
    return Problem(np.linspace(0.05, 0.95, arms), 0.35)


def index_at_35_hundredths(policy: Policy, arm: int, pulls: int, total: int) -> float:
    return float(policy.index(float(pulls), float(total), 0.35, *policy.parameters()))


@functools.cache
def first_rewards(problem: Problem, depth: int, key: int, run: int) -> NDArray[np.int64]:
    """The rewards of each arm, in order, as the slow twin has them; all engines are held against the same."""
    return np.array(
        [[naive.reward(key, run, arm, t, float(mean)) for t in range(depth)] for arm, mean in enumerate(problem.means)]
    )


@functools.cache
def pulls_in_order(policy: Policy, arms: int, depth: int, budget: int, key: int, run: int) -> list[int]:
    """The pulls of each of so many arms in the order of the running maxima of their indices."""
    coming = first_rewards(problem_at_35_hundredths(arms), depth, key, run)
    index = functools.partial(index_at_35_hundredths, policy)
    order = naive.running_maximum_order(index, coming, budget, policy.pulls_each_arm_first)
    pulls: list[int] = np.bincount(order, minlength=arms).tolist()
    return pulls


@pytest.mark.slow
@engines
@pytest.mark.parametrize("arms", [1, 2, 3, 33, 100])
def test_an_engine_keeps_the_order_of_the_running_maxima_with_many_arms(engine: Engine, arms: int) -> None:
    """The tournament of 1 arm, of a power of 2, one more, and many; rewards beyond the first word."""
    problem, depth, budget, key = problem_at_35_hundredths(arms), 500, 30 * arms + 150, naive.key_of(5, "")
    for policy in (LSA(), OptKG()):
        pulls = pulls_in_order(policy, arms, depth, budget, key, 9)
        assert 64 < max(pulls) < depth
        assert play(engine, policy, problem, [budget], key, 9).pulls[0].tolist() == pulls


@engines
@pytest.mark.parametrize("means", [[0.5], [0.5, 0.5, 0.5], [0.5, 0.9]])
def test_arms_whose_indices_are_infinite_are_pulled_in_order_when_no_other_is_left(
    engine: Engine, means: list[float]
) -> None:
    """O' gives an arm on the threshold an infinite index: a tie with the places that no arm has."""
    outcome = play(engine, GapOracle(), Problem(means), [len(means) + 70], naive.key_of(1, ""))
    if 0.9 in means:
        assert outcome.pulls[0].tolist() == [1, 71]
    else:
        assert outcome.pulls[0].tolist() == [71] + [1] * (len(means) - 1)


@engines
def test_runs_are_numbered_so_that_any_split_adds_up(engine: Engine) -> None:
    problem, key = Problem([0.2, 0.45, 0.6]), naive.key_of(1, "")
    whole = play(engine, LSA(), problem, [10, 50], key, first_run=4, runs=6)
    single = [play(engine, LSA(), problem, [10, 50], key, first_run=run) for run in range(4, 10)]
    assert whole.errors.tolist() == np.concatenate([part.errors for part in single], axis=1).tolist()
    assert whole.pulls.tolist() == np.sum([part.pulls for part in single], axis=0).tolist()
    assert whole.totals.tolist() == np.sum([part.totals for part in single], axis=0).tolist()
    assert len({tuple(part.pulls[-1]) for part in single}) > 1


def clean_budgets(twin: Twin, instance: Instance, budget: int, key: int, run: int) -> list[int]:
    """Budgets at which no tie between two arms is cut through, so that the arms' numbers cannot matter."""
    order, drawn = twin_game(twin, instance, budget, key, run)
    index, arms = twin.index(instance, budget), len(instance.means)
    pulls, totals = naive.records(order[:arms], drawn[:arms], arms)
    level = index(pulls[0], totals[0])
    clean = []
    for size in range(arms, budget):
        arm = order[size]
        level = max(level, index(pulls[arm], totals[arm]))
        pulls[arm] += 1
        totals[arm] += drawn[size]
        if all(index(n, s) > level for n, s in zip(pulls, totals, strict=True)):
            clean.append(size + 1)
    return clean


@remade_engines
def test_a_permutation_of_the_arms_and_their_rewards_permutes_the_result(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LSA's kernel is made again with arm ``order[i]``'s rewards for arm i, at budgets that cut through no tie."""
    instance = Instance(tuple(Fraction(n, 20) for n in (3, 8, 14, 9, 19)), Fraction("0.543"))
    order = (3, 0, 4, 1, 2)
    twin = TWINS[0]
    permuted = Instance(tuple(instance.means[arm] for arm in order), instance.theta)
    key, run = naive.key_of(11, ""), 2
    budgets = clean_budgets(twin, instance, 120, key, run)
    assert len(budgets) >= 5
    before = play(engine, twin.policy, instance.problem, budgets, key, run)

    @jit
    def exchanged(streams: rewards.Streams, key: np.uint64, run: int, first_arm: int) -> None:
        for arm in range(streams.states.size):
            streams.states[arm] = rewards.arm_state(key, run, order[first_arm + arm])
            streams.increments[arm] = rewards.arm_increment(streams.states[arm])

    monkeypatch.setattr(engine.module, "begin_run", exchanged)
    engine.compile_anew(monkeypatch)
    after = play(engine, twin.policy, permuted.problem, budgets, key, run)
    assert after.pulls.tolist() == before.pulls[:, order].tolist()
    assert after.totals.tolist() == before.totals[:, order].tolist()
    assert after.errors.tolist() == before.errors.tolist()
    assert after.pulls.tolist() != before.pulls.tolist()


ERROR = 1e-9
RUNS = 100_000
SMALL = Instance((Fraction(1, 5), Fraction(3, 10), Fraction(9, 10)), Fraction("0.3"))
FEW = 7
"""Pulls of three arms, so that a tie between them is cut through."""


@functools.cache
def exact_errors(twin: Twin, instance: Instance, budget: int) -> dict[int, Fraction]:
    """The distribution of a policy's errors, from all 2^T sequences of rewards; all engines are held against it."""
    first_round = twin.policy.pulls_each_arm_first
    return naive.error_distribution(
        twin.index(instance, budget), list(instance.means), instance.theta, budget, first_round
    )


@pytest.mark.slow
@quick_engines
@twins
def test_the_mean_of_its_errors_is_the_exact_aggregate_regret(engine: Engine, twin: Twin) -> None:
    """All 2^T sequences of rewards, weighted; Bernstein's bound at error probability ERROR.

    The control: the arms in reverse order, where the lowest-numbered arm of a tie is another one.
    """
    exact = exact_errors(twin, SMALL, FEW)
    assert sum(exact.values()) == 1
    mean = sum(wrong * chance for wrong, chance in exact.items())
    variance = float(sum((wrong - mean) ** 2 * chance for wrong, chance in exact.items()))
    arms = len(SMALL.means)
    log = math.log(2 / ERROR)
    bound = math.sqrt(2 * variance * log / RUNS) + arms * log * 2 / (3 * RUNS)
    errors = play(engine, twin.policy, SMALL.problem, [FEW], naive.key_of(21, str(twin)), runs=RUNS).errors[0]
    assert abs(errors.mean() - float(mean)) <= bound
    shares = np.bincount(errors, minlength=arms + 1) / RUNS
    for wrong, share in enumerate(shares):
        assert abs(share - float(exact.get(wrong, 0))) <= math.sqrt(log / (2 * RUNS))
    backwards = Instance(SMALL.means[::-1], SMALL.theta)
    mirrored = play(engine, twin.policy, backwards.problem, [FEW], naive.key_of(22, str(twin)), runs=RUNS).errors[0]
    assert abs(mirrored.mean() - float(mean)) > bound


@pytest.mark.slow
@quick_engines
def test_uniforms_errors_are_tails_of_the_binomial_distribution(engine: Engine) -> None:
    """Every arm has T // K pulls, the first T % K one more; an arm is wrong with the probability of a tail."""
    problem = Problem([0.1, 0.45, 0.5, 0.62, 0.9], 0.5)
    budgets = [5, 17, 64, 203]
    outcome = play(engine, Uniform(), problem, budgets, naive.key_of(31, ""), runs=RUNS)
    log = math.log(2 * len(budgets) / ERROR)
    for look, budget in enumerate(budgets):
        chances = []
        for arm, mean in enumerate(problem.means):
            n = budget // 5 + (arm < budget % 5)
            least = -(-n // 2)
            above = sum(math.comb(n, s) * mean**s * (1 - mean) ** (n - s) for s in range(least, n + 1))
            chances.append(1 - above if mean >= 0.5 else above)
        variance = sum(p * (1 - p) for p in chances)
        bound = math.sqrt(2 * variance * log / RUNS) + 5 * log * 2 / (3 * RUNS)
        regret = outcome.errors[look].mean()
        assert abs(regret - sum(chances)) <= bound
        assert abs(regret - sum(chances) * 1.2) > bound
