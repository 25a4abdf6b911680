"""Replay with workers weighed: against a twin in lists and loops, on crowds whose truth is known, and its refusals."""

import math
from typing import Any

import numpy as np
import pytest

from cutline.beliefs.workers import Crowd, Labels
from cutline.errors import InvalidInputError
from cutline.recorded import bundled
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.replay import replay


def crowd(tasks: int, workers: int, each: int, seed: int) -> tuple[Observations, dict[str, bool]]:
    """Workers of whom half guess; each task's labels are by ``each`` of them."""
    random = np.random.default_rng(seed)
    truth = random.random(tasks) < 0.5
    task = np.repeat(np.arange(tasks), each)
    worker = np.concatenate([random.permutation(workers)[:each] for _ in range(tasks)])
    right = random.random(task.size) < np.where(worker % 2 == 0, 0.9, 0.5)
    names = tuple(f"t{arm}" for arm in range(tasks))
    labels = np.where(right, truth[task], ~truth[task]).astype(np.float64)
    seen = Observations("x.csv", names, task, tuple(f"w{i:02}" for i in worker), labels, np.arange(task.size) + 2)
    return seen, dict(zip(names, truth.tolist(), strict=True))


def learnt(recorded: Observations, drawn: list[int]) -> tuple[Any, Any]:
    """The weights of each label 0 and 1 by its worker, and the evidence on each task, of the labels drawn."""
    who = sorted({str(worker) for worker in recorded.workers})
    numbers = np.array([who.index(str(recorded.workers[i])) for i in drawn])
    labels = Labels(recorded.task[drawn], numbers, recorded.labels[drawn], np.full(len(recorded.tasks), -1, np.int8))
    found = Crowd.learn(labels, len(who))
    weights = {name: found.weights()[number] for number, name in enumerate(who)}
    return weights, found.evidence(labels)


def twin(recorded: Observations, budgets: list[int], seed: int, run: int) -> list[Any]:
    """The decisions at each budget of what asks and decides by weight, one label after the other."""
    random = np.random.default_rng([seed, run])
    order = random.permutation(len(recorded.tasks)).tolist()
    piles: dict[int, list[int]] = {arm: [] for arm in order}
    for i in random.permutation(len(recorded)).tolist():
        piles[recorded.task[i]].append(i)
    drawn = dict.fromkeys(order, 1)
    time = due = len(order)
    decisions = []
    while True:
        everything = [i for arm in order for i in piles[arm][: drawn[arm]]]
        if time in budgets:
            decisions.append(learnt(recorded, everything)[1] >= -1e-9)
        if time == budgets[-1]:
            return decisions
        if time == due:
            due = time + max(time * 3 // 20, 20)
            weights, evidence = learnt(recorded, everything)
        arm = min(
            (arm for arm in order if drawn[arm] < len(piles[arm])),
            key=lambda arm: abs(evidence[arm]) + 0.5 * math.log(drawn[arm]),
        )
        label = piles[arm][drawn[arm]]
        no, yes = weights[str(recorded.workers[label])]
        evidence[arm] += yes if recorded.labels[label] else no
        drawn[arm] += 1
        time += 1


def test_what_asks_and_decides_by_weight_draws_what_its_twin_draws() -> None:
    recorded, gold = crowd(15, 8, 6, 1)
    budgets = [15, 40, 70]
    found = replay(recorded, "LSA", gold=gold, budgets=budgets, runs=4, seed=3, workers="weighed", progress=False)
    assert found.against_gold is not None
    truth = np.array(list(gold.values()))
    expected = [[np.count_nonzero(at != truth) for at in twin(recorded, budgets, 3, run)] for run in range(4)]
    assert found.against_gold.errors[-1].T.tolist() == expected


def test_policies_are_there_as_before_and_once_more_deciding_by_weight() -> None:
    recorded, gold = crowd(20, 6, 5, 2)
    given: Any = {"gold": gold, "budgets": [40, 100], "runs": 3, "progress": False}
    alike = replay(recorded, ["LSA", "Uniform"], **given)
    both = replay(recorded, ["LSA", "Uniform"], workers="weighed", **given)
    assert both.against_full.policies == (
        "LSA(1.35)",
        "Uniform",
        "LSA(1.35), weighed",
        "Uniform, weighed",
        "Weighed",
    )
    assert both.against_full.errors[:2].tolist() == alike.against_full.errors.tolist()
    assert both.against_full.pulls[2:4].tolist() == alike.against_full.pulls.tolist()
    everything = both.against_full.errors[2:, -1]  # all labels are drawn: the same labels, the same decisions
    assert (everything == everything[0]).all()


def test_the_result_is_the_same_on_any_number_of_threads_and_for_any_other_budgets() -> None:
    recorded, gold = crowd(30, 8, 6, 3)
    one = replay(recorded, "LSA", gold=gold, budgets=[60, 120], runs=4, workers="weighed", executor=1, progress=False)
    other = replay(recorded, "LSA", gold=gold, budgets=[35, 77, 120], runs=4, workers="weighed", executor=3)
    assert one.against_full.errors[:, -1].tolist() == other.against_full.errors[:, -1].tolist()
    assert one.against_full.pulls[-1, -1].tolist() == other.against_full.pulls[-1, -1].tolist()


def test_where_half_of_the_workers_guess_weights_need_half_of_the_labels() -> None:
    recorded, gold = crowd(300, 20, 8, 4)
    found = replay(recorded, "LSA", gold=gold, budgets=[1200, 2400], runs=3, workers="weighed", progress=False)
    assert found.against_gold is not None
    alike, decided, weighed = found.against_gold.mean
    assert weighed[0] < 0.6 * alike[0]
    assert weighed[0] < decided[0] < alike[0]
    assert weighed[0] < alike[1]  # with half of the labels


@pytest.mark.slow
def test_on_bluebirds_weights_do_no_harm_while_there_are_few_labels_and_help_from_five_labels_a_task_on() -> None:
    recorded, gold = bundled.load("bluebirds")
    found = replay(
        recorded, "LSA(1.4)", gold=gold, budgets=[216, 540, 864], runs=4, seed=1, workers="weighed", progress=False
    )
    assert found.against_gold is not None
    alike, _, weighed = found.against_gold.mean
    assert (weighed <= 1.1 * alike).all()
    assert (weighed[1:] < alike[1:]).all()


def test_tasks_whose_answer_is_known_are_not_counted_against_gold() -> None:
    recorded, gold = crowd(40, 6, 5, 5)
    known = {f"t{arm}": gold[f"t{arm}"] for arm in range(10)}
    found = replay(recorded, "LSA", gold=gold, known=known, budgets=[200], runs=2, workers="weighed", progress=False)
    assert found.against_gold is not None
    assert found.against_gold.problem.arms == 30


def test_labels_without_a_worker_count_as_one_workers() -> None:
    recorded, gold = crowd(30, 6, 5, 6)
    some = tuple(None if worker == "w00" else worker for worker in recorded.workers)
    other = Observations(recorded.source, recorded.tasks, recorded.task, some, recorded.labels, recorded.lines)
    given: Any = {"gold": gold, "budgets": [100], "runs": 3, "workers": "weighed", "progress": False}
    one, two = replay(recorded, "LSA", **given), replay(other, "LSA", **given)
    assert one.against_full.errors.tolist() == two.against_full.errors.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": "some"}, "workers is 'some'; it must be one of alike, weighed"),
        ({"workers": "weighed", "threshold": 0.7}, "threshold is 0.7; workers are weighed at 0.5"),
        ({"known": {"t0": True}}, "give workers weighed, too"),
        ({"workers": "weighed", "known": {"x": True}}, "known has no task in common with x.csv"),
        ({"workers": "weighed", "known": {f"t{arm}": True for arm in range(9)}}, "none is left to count errors on"),
    ],
)
def test_what_cannot_be_weighed_is_refused(options: dict[str, Any], message: str) -> None:
    recorded, gold = crowd(9, 4, 3, 7)
    with pytest.raises(InvalidInputError, match=message):
        replay(recorded, "LSA", gold=gold, runs=1, progress=False, **options)


def test_labels_that_do_not_say_who_gave_them_are_refused() -> None:
    recorded, _ = crowd(9, 4, 3, 8)
    anonymous = Observations("x.csv", recorded.tasks, recorded.task, (None,) * 27, recorded.labels, recorded.lines)
    totals = Counts("x.csv", ("a", "b"), np.array([1, 2]), np.array([3, 3]))
    for source in (anonymous, totals):
        with pytest.raises(InvalidInputError, match=r"x\.csv does not say who gave which label"):
            replay(source, "LSA", runs=1, workers="weighed", progress=False)
