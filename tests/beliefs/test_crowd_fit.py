"""The fit of a crowd: against an integral, and crowds whose truth is known, rare, or does not look like what it is."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from cutline.beliefs import crowd_fit
from cutline.beliefs.crowd_fit import _Table, fit_crowd
from cutline.beliefs.workers import Crowd, Labels, likelier, wrong_side
from labelled_tasks import crowd, labels_of, majority


def rare(tasks: int, share: float, seed: int) -> tuple[Labels, NDArray[np.bool_]]:
    """Five labels a task, of whose truths so many are a yes, by workers whose rates are Beta(4, 1.5); and the truth."""
    random = np.random.default_rng([7, seed])
    workers = tasks // 5
    truth, rates = random.random(tasks) < share, random.beta(4.0, 1.5, (workers, 2))
    task = np.repeat(np.arange(tasks), 5)
    worker = random.integers(0, workers, task.size)
    right = random.random(task.size) < rates[worker, truth[task].astype(np.int64)]
    labels = Labels(task, worker, (right == truth[task]).astype(np.float64), np.full(tasks, -1, np.int8))
    return labels, truth


@pytest.mark.parametrize("share", [0.05, 0.95])
@pytest.mark.parametrize("tasks", [100, 300])
def test_where_one_answer_is_rare_weights_have_fewer_wrong_than_a_majority(tasks: int, share: float) -> None:
    wrong = np.zeros(2)
    for seed in range(4):
        labels, truth = rare(tasks, share, seed)
        by_weight = likelier(Crowd.learn(labels, tasks // 5).evidence(labels))
        by_majority = np.bincount(labels.task, labels.label) >= 2.5
        wrong += [np.mean(found != truth) for found in (by_weight, by_majority)]
    assert wrong[0] < (0.8 if tasks == 100 else 0.5) * wrong[1]


@pytest.mark.parametrize(("share", "low", "high"), [(0.05, 0.0, 0.1), (0.5, 0.4, 0.6)])
def test_two_labels_a_task_say_that_an_answer_is_rare_where_it_is(share: float, low: float, high: float) -> None:
    labels, _ = rare(300, share, 1)
    some = np.arange(labels.task.size) % 5 < 2
    few = Labels(labels.task[some], labels.worker[some], labels.label[some], labels.known)
    assert low < Crowd.learn(few, 60).prevalence < high


def test_with_fifty_tasks_of_which_few_are_a_yes_weights_have_hardly_more_wrong_than_a_majority() -> None:
    wrong = np.zeros((2, 2))
    for place, share in enumerate((0.05, 0.15)):
        for seed in range(10):
            labels, truth = rare(50, share, seed)
            by_weight = likelier(Crowd.learn(labels, 10).evidence(labels))
            wrong[place] += [np.mean(found != truth) for found in (by_weight, majority(labels))]
    assert wrong[0, 0] < 0.8 * wrong[0, 1]
    assert wrong[1, 0] < 1.1 * wrong[1, 1]


def appearing(
    tasks: int, workers: int, each: int, seed: int, spread: float = 1.0, good: tuple[float, float] = (4.0, 1.5)
) -> tuple[Labels, NDArray[np.bool_]]:
    """Labels of a crowd to whom some tasks look like what they are not, and the truth: the model with this s."""
    random = np.random.default_rng(seed)
    truth, usual = random.random(tasks) < 0.5, ndtri(random.beta(*good, (workers, 2)).clip(0.01, 0.99))
    task = np.repeat(np.arange(tasks), each)
    worker = random.integers(0, workers, task.size)
    yes = np.where(truth[task], usual[worker, 1], -usual[worker, 0]) * math.sqrt(1.0 + spread**2)
    label = random.random(task.size) < ndtr(yes + spread * random.normal(size=tasks)[task])
    return labels_of(task, worker, label), truth


def test_labels_that_hang_together_are_discounted_and_claims_are_nearer_to_what_is_wrong() -> None:
    wrong = claimed = 0.0
    for seed in range(3):
        labels, truth = appearing(300, 40, 8, seed)
        found = Crowd.learn(labels, 40)
        assert found.correlation > 0.05
        evidence = found.evidence(labels)
        wrong += float(np.mean(likelier(evidence) != truth))
        claimed += float(found.wrong_side(evidence).mean())
    assert 0.8 < claimed / (3 * 0.1 + 0.8 * wrong) < 1.2  # without known answers a tenth is taken to be wrong anyway


def test_a_weak_crowd_to_whom_most_tasks_look_alike_is_told_from_a_good_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, claimed = np.zeros(2), np.zeros(2)
    for place, spreads in enumerate((crowd_fit._SPREADS, crowd_fit._SPREADS[:4])):
        monkeypatch.setattr(crowd_fit, "_SPREADS", spreads)
        for seed in range(3):
            labels, truth = appearing(1000, 80, 5, seed, spread=2.0, good=(2.5, 1.5))
            found = Crowd.learn(labels, 80)
            evidence = found.evidence(labels)
            wrong[place] += np.mean(likelier(evidence) != truth) / 3
            claimed[place] += wrong_side(evidence, 0.0, found.sureness).mean() / 3
    assert wrong[0] < 0.9 * wrong[1]
    assert 0.8 < claimed[0] / wrong[0] < 1.25
    assert claimed[1] / wrong[1] < 0.8  # where labels are not let hang together so much


def test_independent_labels_are_hardly_discounted() -> None:
    assert max(Crowd.learn(crowd(300, 40, 8, seed)[0], 40).correlation for seed in range(3)) <= 0.02


def test_the_probability_of_labels_is_the_integral_over_how_their_task_looks() -> None:
    rates, share, spread = np.array([[0.8, 0.7], [0.6, 0.9], [0.75, 0.65]]), 0.3, 0.6
    labels = labels_of([0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 2], [1, 0, 1, 0, 0, 1], [-1, -1, 1])
    looks = np.linspace(-8.0, 8.0, 4001)
    density = np.exp(-0.5 * looks**2) / math.sqrt(2.0 * math.pi) * (looks[1] - looks[0])
    truths, logarithm = [], 0.0
    for task in range(3):
        sides = []
        for truth, before in ((0, 1.0 - share), (1, share)):
            of_labels = np.ones(looks.size)
            for worker, label in zip(
                labels.worker[labels.task == task], labels.label[labels.task == task], strict=True
            ):
                usual = rates[worker, 1] if truth else 1.0 - rates[worker, 0]
                yes = ndtr(ndtri(usual) * math.sqrt(1.0 + spread**2) + spread * looks)
                of_labels *= yes if label else 1.0 - yes
            sides.append(before * float(of_labels @ density))
        known = labels.known[task]
        truths.append(sides[1] / sum(sides) if known < 0 else float(known))
        logarithm += math.log(sum(sides) if known < 0 else sides[known])
    found, support = _Table.of(labels, 3).posterior(rates, share, spread)
    assert found == pytest.approx(truths, abs=1e-4)
    assert support == pytest.approx(logarithm, abs=1e-4)


def test_very_many_labels_tell_whether_they_hang_together_by_some_of_them() -> None:
    labels, _ = appearing(10_000, 300, 4, 1)
    assert 0.1 < Crowd.learn(labels, 300).correlation < 0.5
    assert Crowd.learn(crowd(10_000, 300, 4, 1)[0], 300).correlation <= 0.02


def test_while_no_task_has_two_labels_half_of_them_are_taken_to_be_a_yes() -> None:
    labels, _, _ = crowd(5_000, 100, 1, 1, prevalence=0.2)
    found = Crowd.learn(labels, 100)
    assert found.prevalence == pytest.approx(0.5, abs=1e-4)
    assert found.rate == pytest.approx(0.73, abs=0.05)


def geese(seed: int) -> tuple[Labels, NDArray[np.bool_]]:
    """Ducks, geese and pictures of neither, of which 35 careless workers of 50 take most geese for ducks; the truth."""
    random = np.random.default_rng(seed)
    kind = random.choice(3, 240, p=[0.45, 0.4, 0.15])
    task = np.repeat(np.arange(240), 8)
    worker = np.concatenate([random.permutation(50)[:8] for _ in range(240)])
    yes = np.select([kind[task] == 0, (kind[task] == 1) & (worker < 35)], [0.85, 0.75], 0.1)
    return labels_of(task, worker, random.random(task.size) < yes), kind == 0


@pytest.mark.parametrize("seed", [6, 30])
def test_where_workers_share_a_mistake_the_fit_with_the_most_evidence_counts_not_the_nearest_to_a_majority(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels, truth = geese(seed)
    wrong, supports = [], []
    for leanings in (crowd_fit._LEANINGS, ()):
        monkeypatch.setattr(crowd_fit, "_LEANINGS", leanings)
        supports.append(fit_crowd(labels, 50).support)
        wrong.append(np.mean(likelier(Crowd.learn(labels, 50).evidence(labels)) != truth))
    assert supports[0] > supports[1] + 4.0
    assert wrong[0] < 0.17
    assert wrong[1] > 0.26
    assert np.mean(majority(labels) != truth) > 0.24


def test_where_there_is_one_fit_all_starts_lead_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = crowd(300, 40, 5, 1)[0]
    three = fit_crowd(labels, 40)
    monkeypatch.setattr(crowd_fit, "_LEANINGS", ())
    assert fit_crowd(labels, 40).rates.tolist() == three.rates.tolist()
