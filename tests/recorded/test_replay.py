"""Replay of recorded labels, against a naive twin, exact hypergeometric errors, and the full-data answer."""

import math
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import naive
from cutline.errors import InvalidInputError, NotFoundError
from cutline.policies import LearningPolicy, available, tally
from cutline.problem import Problem
from cutline.recorded import bundled, replay as replay_module
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.replay import replay
from learners import Shrunk

USABLE = [policy() for policy in available() if policy.anytime and not policy.needs_truth]
ANYTIME = [*(policy for policy in USABLE if not isinstance(policy, LearningPolicy)), Shrunk()]


def observations(task: Any, labels: Any) -> Observations:
    task = np.asarray(task)
    names = tuple(f"t{i}" for i in range(task.max() + 1))
    return Observations("x.csv", names, task, (None,) * task.size, np.asarray(labels, float), np.arange(task.size) + 2)


def random_observations(arms: int, most: int, labels: Any, seed: int) -> Observations:
    """K piles of 1 to ``most`` labels, rows in random order."""
    random = np.random.default_rng(seed)
    task = np.repeat(np.arange(arms), random.integers(1, most + 1, arms))
    random.shuffle(task)
    return observations(task, random.choice(labels, task.size))


def exactly(number: float) -> Any:
    return Fraction(repr(number))


TWINS = {
    "LSA": lambda theta, policy: naive.lsa(theta, exactly(policy.alpha)),
    "APT": lambda theta, policy: naive.apt(theta, exactly(policy.epsilon)),
    "Opt-KG": lambda theta, policy: naive.opt_kg(theta, exactly(policy.a), exactly(policy.b)),
    "Uniform": lambda theta, policy: naive.uniform(),
}


def naive_index(policy: Any, labels: Any, threshold: float) -> Any:
    """The index from the paper, in exact arithmetic; for labels that are fractions, whose sums are rounded, and for
    policies that are not in the paper, the policy's own."""
    if set(labels) <= {0, 1} and policy.name in TWINS:
        twin = TWINS[policy.name](exactly(threshold), policy)
        return lambda pulls, total: twin(pulls, int(total))
    if isinstance(policy, LearningPolicy):
        return learnt_index(policy, threshold, [], [])
    return lambda pulls, total: policy.index(float(pulls), total, threshold, *policy.parameters())


def learnt_index(policy: LearningPolicy, threshold: float, pulls: Any, totals: Any) -> Any:
    table = policy.table(policy.learn(tally(pulls, totals), threshold), threshold)
    return lambda n, total: policy.index(float(n), total, threshold, table)


def naive_replay(recorded: Any, policy: Any, threshold: float, budgets: Any, seed: int, run: int) -> Any:
    """The twin: lists and min(); says which tasks are pulled, and the decisions at each budget."""
    index_of = naive_index(policy, recorded.labels.tolist(), threshold)
    random = np.random.default_rng([seed, run])
    order = random.permutation(len(recorded.tasks)).tolist()
    piles: dict[int, list[float]] = {arm: [] for arm in order}
    for place in random.permutation(len(recorded)).tolist():
        piles[recorded.task[place]].append(float(recorded.labels[place]))
    whole = dict.fromkeys(order, 0.0)
    for arm, label in zip(recorded.task.tolist(), recorded.labels.tolist(), strict=True):
        whole[arm] += label
    pulls, totals, sequence, decisions = dict.fromkeys(order, 0), dict.fromkeys(order, 0.0), [], []

    def index(arm: int) -> Any:
        if policy.pulls_each_arm_first and pulls[arm] == 0:
            return -math.inf
        return index_of(pulls[arm], totals[arm])

    for time in range(1, budgets[-1] + 1):
        arm = min((arm for arm in order if pulls[arm] < len(piles[arm])), key=index)
        totals[arm] += piles[arm][pulls[arm]]
        pulls[arm] += 1
        if pulls[arm] == len(piles[arm]):
            totals[arm] = whole[arm]
        sequence.append(arm)
        if isinstance(policy, LearningPolicy) and time == policy.next_refit(len(piles), time - 1):
            index_of = learnt_index(policy, threshold, list(pulls.values()), list(totals.values()))
        if time in budgets:
            decisions.append([n > 0 and totals[i] / n >= threshold for i, n in sorted(pulls.items())])
    truth = [whole[arm] / len(piles[arm]) >= threshold for arm in sorted(order)]
    return sequence, [sum(a != b for a, b in zip(row, truth, strict=True)) for row in decisions]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ANYTIME, ids=str)
@pytest.mark.parametrize(
    ("arms", "most", "labels", "threshold"),
    [
        (1, 9, (0, 1), 0.5),
        (2, 30, (0, 1), 0.5),
        (16, 6, (0, 1), 0.5),
        (17, 1, (0, 1), 0.5),
        (23, 9, (0, 1, 1), 0.7),
        (23, 9, (0, 0, 0, 0.1, 0.2, 0.3, 1 / 3, 1), 0.3),
    ],
)
def test_every_policy_pulls_and_decides_as_the_naive_twin_does(
    policy: Any, arms: int, most: int, labels: Any, threshold: float
) -> None:
    recorded = random_observations(arms, most, labels, seed=arms)
    every = range(arms, len(recorded) + 1)
    for seed in range(3):
        twins = [naive_replay(recorded, policy, threshold, every, seed, run) for run in range(2)]
        for budgets in (every, every[::7], every[-1:]):  # stops between budgets hide what happens without stops
            found = replay(recorded, policy, threshold=threshold, budgets=budgets, runs=2, seed=seed).against_full
            for run, (_, errors) in enumerate(twins):
                assert found.errors[0, :, run].tolist() == [errors[every.index(budget)] for budget in budgets]
            for place, budget in enumerate(budgets):
                pulls = np.sum([np.bincount(sequence[:budget], minlength=arms) for sequence, _ in twins], axis=0)
                assert (found.pulls[0, place] * 2).tolist() == pulls.tolist()


@pytest.mark.parametrize(
    ("labels", "threshold"),
    [((0, 1), 0.5), ((0, 1), 0.3), ((0.1, 0.2, 0.3, 0.4, 0.5), 0.3), ((1 / 3, 1 / 7, 0.6), 1 / 3)],
)
def test_with_all_labels_every_policy_gives_the_full_data_answer(labels: Any, threshold: float) -> None:
    recorded = random_observations(60, 10, labels, seed=5)
    gold = {task: i % 2 == 0 for i, task in enumerate(recorded.tasks)}
    found = replay(recorded, ANYTIME, threshold=threshold, gold=gold, runs=20)
    assert found.against_full.budgets[-1] == len(recorded)
    assert not found.against_full.errors[:, -1].any()
    assert found.against_gold is not None
    assert (found.against_gold.errors[:, -1] == found.full_gold_errors).all()
    truth = [
        sum_in_file_order(recorded.labels[recorded.task == arm]) / (recorded.task == arm).sum() >= threshold
        for arm in range(60)
    ]
    assert found.full_gold_errors == sum(a != b for a, b in zip(truth, gold.values(), strict=True))
    assert found.against_full.problem.truth.tolist() == truth


def test_decisions_by_a_prior_end_with_the_full_data_answer() -> None:
    """One label a task says little of it, but it is all that there is."""
    recorded = observations(np.arange(40).repeat(2), [1.0, 1.0] * 15 + [1.0, 0.0] * 15 + [0.0, 0.0] * 10)
    by_prior = replay(recorded, "Lai", threshold=0.8, budgets=[40, 80], runs=3, decide="likelier").against_full
    assert by_prior.decide == "likelier"
    assert by_prior.errors[0, 1].tolist() == [0, 0, 0]
    by_mean = replay(recorded, "Lai", threshold=0.8, budgets=[40, 80], runs=3).against_full
    assert (by_prior.errors[0, 0] != by_mean.errors[0, 0]).any()


def sum_in_file_order(labels: Any) -> float:
    total = 0.0
    for label in labels.tolist():
        total += label
    return total


def uniform_errors(counts: Any, rounds: int, share_wrong: Callable[[int, int, int], float]) -> tuple[float, float]:
    """Exact mean and variance of the errors of Uniform after whole rounds; ``share_wrong`` is per task."""
    wrong = [share_wrong(int(yes), int(n), rounds) for yes, n in zip(counts.yes, counts.n, strict=True)]
    return sum(wrong), sum(p * (1 - p) for p in wrong)


def wrong_without_replacement(yes: int, n: int, drawn: int) -> float:
    above = stats.hypergeom(n, yes, drawn).sf(math.ceil(drawn / 2) - 1)
    return float(1 - above if 2 * yes >= n else above)


def wrong_with_replacement(yes: int, n: int, drawn: int) -> float:
    above = stats.binom(drawn, yes / n).sf(math.ceil(drawn / 2) - 1)
    return float(1 - above if 2 * yes >= n else above)


def test_errors_of_uniform_are_hypergeometric() -> None:
    """Normal bound at error probability 1e-6 for each of 4 budgets; drawing with replacement must miss it."""
    counts = Counts("x.csv", tuple("abcdefgh"), np.array([3, 4, 2, 5, 6, 1, 4, 3]), np.array([6, 7, 6, 9, 11, 6, 8, 7]))
    runs, rounds = 3000, (1, 2, 3, 5)
    found = replay(counts, "Uniform", budgets=[8 * n for n in rounds], runs=runs, seed=1).against_full.mean[0]
    z = stats.norm.isf(0.5e-6)
    for mean, drawn in zip(found, rounds, strict=True):
        exact, variance = uniform_errors(counts, drawn, wrong_without_replacement)
        assert abs(mean - exact) < z * math.sqrt(variance / runs)
    control, variance = uniform_errors(counts, 5, wrong_with_replacement)
    assert abs(found[3] - control) > z * math.sqrt(variance / runs)


def test_ties_fall_on_every_task_equally_often() -> None:
    """Chi-square at error probability 1e-6: the second round of Uniform begins with a random task."""
    counts = Counts("x.csv", tuple("abcdef"), np.full(6, 2), np.full(6, 4))
    runs = 1200
    extra = replay(counts, "Uniform", budgets=[7], runs=runs).against_full.pulls[0, 0] - 1
    times = np.rint(extra * runs)
    assert times.sum() == runs
    assert stats.chisquare(times).pvalue > 1e-6
    assert stats.chisquare([runs, 0, 0, 0, 0, 0]).pvalue < 1e-6


def test_no_task_gives_more_labels_than_it_has() -> None:
    recorded = random_observations(40, 12, (0, 1), seed=3)
    sizes = np.bincount(recorded.task)
    curves = replay(recorded, ANYTIME, runs=3).against_full
    assert (curves.pulls <= sizes).all()
    assert (curves.pulls[:, -1] == sizes).all()
    np.testing.assert_allclose(curves.pulls.sum(axis=2), np.broadcast_to(curves.budgets, (len(ANYTIME), 20)))


def test_counts_are_replayed_as_the_labels_that_they_count() -> None:
    yes, n = np.array([0, 3, 5, 1]), np.array([2, 4, 5, 1])
    task = np.repeat(np.arange(4), n)
    labels = [1.0 if i < yes[t] else 0.0 for t in range(4) for i in range(n[t])]
    recorded = observations(task, labels)
    from_counts = replay(Counts("x.csv", recorded.tasks, yes, n), ANYTIME, runs=30)
    from_labels = replay(recorded, ANYTIME, runs=30)
    np.testing.assert_array_equal(from_counts.against_full.errors, from_labels.against_full.errors)
    np.testing.assert_array_equal(from_counts.against_full.pulls, from_labels.against_full.pulls)


class AtOnce(Executor):
    """An executor that does the work when it is handed over."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(arguments))))))
        return future


def test_the_result_does_not_depend_on_jobs_executor_or_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = random_observations(30, 8, (0, 1), seed=2)
    gold = dict.fromkeys(recorded.tasks[:20], True)
    first = replay(recorded, ["LSA", "Opt-KG"], gold=gold, runs=11, seed=7, executor=1)
    assert first.against_gold is not None
    for pulls_per_chunk in (2_000_000, 1, 3 * 2 * len(recorded)):
        monkeypatch.setattr(replay_module, "_PULLS_PER_CHUNK", pulls_per_chunk)
        for executor in (1, 2, 4, AtOnce()):
            again = replay(recorded, ["LSA", "Opt-KG"], gold=gold, runs=11, seed=7, executor=executor)
            np.testing.assert_array_equal(again.against_full.errors, first.against_full.errors)
            assert again.against_gold is not None
            np.testing.assert_array_equal(again.against_gold.errors, first.against_gold.errors)
            np.testing.assert_array_equal(again.against_full.pulls, first.against_full.pulls)


def test_a_seed_gives_its_result_again_and_another_seed_gives_another() -> None:
    recorded = random_observations(30, 8, (0, 1), seed=2)
    first, again, other = (replay(recorded, "LSA", runs=20, seed=seed).against_full.errors for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_more_runs_and_other_policies_leave_the_first_runs_as_they_were() -> None:
    recorded = random_observations(30, 8, (0, 1), seed=2)
    few = replay(recorded, "LSA", runs=5).against_full.errors
    many = replay(recorded, ["Uniform", "LSA"], runs=9).against_full.errors
    np.testing.assert_array_equal(few[0], many[1, :, :5])


def test_gold_for_some_tasks_counts_those_only() -> None:
    recorded = observations([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 1, 1])
    found = replay(recorded, "Uniform", gold={"t0": False, "t1": False, "elsewhere": True}, budgets=[3, 6], runs=4)
    assert found.against_gold is not None
    assert found.against_gold.errors.tolist() == [[[1] * 4] * 2]
    assert found.against_gold.problem == Problem([0, 0])
    assert found.full_gold_errors == 1
    assert found.against_gold.pulls.tolist() == [[[1, 1], [2, 2]]]


def test_default_budgets_go_from_one_label_a_task_to_all_labels() -> None:
    recorded = random_observations(10, 50, (0, 1), seed=2)
    budgets = replay(recorded, "Uniform", runs=1).against_full.budgets
    assert (budgets.size, budgets[0], budgets[-1]) == (20, 10, len(recorded))
    assert set(np.diff(budgets)) <= {(len(recorded) - 10) // 19, (len(recorded) - 10) // 19 + 1}
    assert replay(observations([0, 1], [1, 0]), "Uniform", runs=1).against_full.budgets.tolist() == [2]


def test_progress_is_told_of_every_label_drawn() -> None:
    recorded = random_observations(10, 5, (0, 1), seed=2)
    told: list[int] = []
    replay(recorded, ["LSA", "Uniform"], runs=7, progress=told.append)
    assert sum(told) == 2 * 7 * len(recorded)


def test_bluebirds_needs_fewer_labels_under_lsa_than_under_uniform() -> None:
    """A t-test paired by run, error probability 1e-6, at 1,000 of the 4,212 labels."""
    recorded, gold = bundled.load("bluebirds")
    found = replay(recorded, ["LSA", "Uniform"], gold=gold, budgets=[1000], runs=50)
    assert found.full_gold_errors == 26
    assert found.against_full.compare("LSA", "Uniform", 1000).z < -stats.norm.isf(1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policies": "UCBE(1)"}, r"UCBE\(1\) needs the true means, which nobody has who collects labels"),
        ({"policies": []}, "no policies: give at least one"),
        ({"policies": ["LSA", "LSA(1.35)"]}, r"policy LSA\(1.35\) is given twice"),
        ({"threshold": 1}, r"threshold 1 is outside \(0, 1\)"),
        ({"budgets": [2]}, "budget 2 is below the number of arms, 3: every arm is pulled once"),
        ({"budgets": [3, 7]}, "budget 7 is above the number of recorded labels, 6"),
        ({"budgets": [5, 4]}, "budgets must increase: 4 comes after 5"),
        ({"runs": 0}, "runs is 0; it must be a whole number from 1"),
        ({"seed": -1}, "seed is -1; it must be a whole number from 0"),
        ({"executor": 0}, "jobs is 0; it must be 1 or more"),
        ({"gold": {"T0": True}}, "gold has no task in common with x.csv: 'T0' there, 't0' here; are the ids the same?"),
        ({"gold": {"t0": 2}}, "gold of task 't0' is 2; it must be 0 or 1"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    recorded = observations([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 1, 1])
    with pytest.raises(InvalidInputError, match=f"^{message}"):
        replay(recorded, **{"policies": "LSA"} | options)


def test_every_policy_that_is_told_the_truth_is_refused() -> None:
    told = [policy for policy in available() if policy.needs_truth]
    assert told
    for policy in told:
        with pytest.raises(InvalidInputError, match="needs the true means"):
            replay(observations([0, 0], [1, 0]), policy())


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(NotFoundError, match="no policy is called 'Best'"):
        replay(observations([0, 0], [1, 0]), "Best")
