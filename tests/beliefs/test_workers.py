"""Workers' rates from their labels, against enumeration, crowd-kit's Dawid-Skene and crowds whose rates are known."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln

from cutline.beliefs.evidence import asking_index, next_fit
from cutline.beliefs.workers import Crowd, Labels, likelier
from cutline.recorded import bundled
from labelled_tasks import crowd, labels_of, majority


def exact_share_of_yes(labels: Labels, workers: int) -> Any:
    """P(truth of a task is yes | labels) by going through all truths, rates and prevalence integrated out."""
    tasks = labels.known.size
    total, of_yes = 0.0, np.zeros(tasks)
    for truth in itertools.product((0, 1), repeat=tasks):
        z = np.array(truth)
        ln = betaln(100.0 + z.sum(), 100.0 + tasks - z.sum())
        for worker, side in itertools.product(range(workers), (0, 1)):
            mine = (labels.worker == worker) & (z[labels.task] == side)
            right = np.count_nonzero(labels.label[mine] == side)
            ln += betaln(4.0 + right, 1.5 + np.count_nonzero(mine) - right)
        total += math.exp(ln)
        of_yes += math.exp(ln) * z
    return of_yes / total


def test_a_crowd_that_agrees_on_nothing_leaves_a_majority() -> None:
    task, worker = np.repeat(np.arange(400), 3), np.tile(np.arange(3), 400)
    label = np.random.default_rng(5).integers(0, 2, 1200).astype(np.float64)
    label[1::3] = 1.0 - label[::3]
    labels = Labels(task, worker, label, np.full(400, -1, np.int8))
    crowd = Crowd.learn(labels, 3)
    assert not crowd.tells
    assert likelier(crowd.evidence(labels)).tolist() == (np.bincount(task, label) > 1.5).tolist()


def test_the_likelier_answers_are_those_of_exact_enumeration_on_small_problems() -> None:
    agree = clear = np.int64(0)
    for seed in range(30):
        labels, _, _ = crowd(6, 3, 3, seed)
        exact = exact_share_of_yes(labels, 3)
        found = likelier(Crowd.learn(labels, 3).evidence(labels))
        sure = np.abs(exact - 0.5) > 0.15
        clear += np.count_nonzero(sure)
        agree += np.count_nonzero((found == (exact > 0.5))[sure])
    assert clear > 100
    assert agree / clear > 0.97


def test_evidence_is_the_log_odds_of_bayes_rule_for_the_rates_learnt() -> None:
    labels, _, _ = crowd(30, 5, 4, 1)
    found = Crowd.learn(labels, 5)
    rates = found.rates()
    for task in range(30):
        odds = found.prevalence / (1.0 - found.prevalence)
        for worker, label in zip(labels.worker[labels.task == task], labels.label[labels.task == task], strict=True):
            no, yes = rates[worker]
            odds *= yes / (1.0 - no) if label else (1.0 - yes) / no
        assert found.evidence(labels)[task] == pytest.approx(math.log(odds))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # crowd-kit uses pandas in ways that newer versions frown on
def test_all_labels_of_bluebirds_are_decided_as_crowd_kits_dawid_skene_decides_them() -> None:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    recorded, gold = bundled.load("bluebirds")
    ids, worker = np.unique([str(worker) for worker in recorded.workers], return_inverse=True)
    labels = labels_of(recorded.task, worker, recorded.labels)
    frame = pd.DataFrame({"task": recorded.task, "worker": worker, "label": recorded.labels.astype(int)})
    theirs = DawidSkene(n_iter=100).fit_predict(frame).sort_index().to_numpy() == 1
    ours = likelier(Crowd.learn(labels, ids.size).evidence(labels))
    truth = np.array([bool(gold[task]) for task in recorded.tasks])
    assert np.count_nonzero(ours != theirs) <= 2
    assert np.count_nonzero(ours != truth) <= 13  # the majority has 26 wrong


@pytest.mark.parametrize("prevalence", [0.5, 0.3])
@pytest.mark.parametrize(("tasks", "workers", "each"), [(50, 10, 4), (100, 20, 5), (400, 40, 5)])
def test_weights_make_fewer_errors_than_a_majority(tasks: int, workers: int, each: int, prevalence: float) -> None:
    by_weight = by_majority = np.int64(0)
    for seed in range(10):
        labels, truth, _ = crowd(tasks, workers, each, seed, prevalence)
        by_weight += np.count_nonzero(likelier(Crowd.learn(labels, workers).evidence(labels)) != truth)
        by_majority += np.count_nonzero(majority(labels) != truth)
    assert by_weight < by_majority


def test_rates_come_near_those_that_labels_were_made_with() -> None:
    labels, _, rates = crowd(2000, 40, 5, 1)
    found = Crowd.learn(labels, 40).rates()[:-1]
    assert np.abs(found - rates).mean() < 0.04
    low, high = Crowd.learn(labels, 40).intervals(0.95)
    assert np.count_nonzero((low <= rates) & (rates <= high)) >= 64  # of 80; they take the truths for certain


def test_a_worker_with_one_label_is_taken_to_be_like_the_crowd() -> None:
    labels, _, _ = crowd(500, 20, 4, 2)
    labels = labels._replace(
        task=np.append(labels.task, 0), worker=np.append(labels.worker, 20), label=np.append(labels.label, 1.0)
    )
    found = Crowd.learn(labels, 21)
    assert found.rates()[20] == pytest.approx([found.rate] * 2, abs=0.06)
    assert found.rates()[21].tolist() == [found.rate] * 2  # who has not been seen


def test_who_says_yes_to_everything_weighs_next_to_nothing() -> None:
    labels, truth, _ = crowd(400, 10, 3, 3, good=(40.0, 10.0))
    everything = np.arange(400)
    spammed = labels._replace(
        task=np.concatenate([labels.task, everything, everything]),
        worker=np.concatenate([labels.worker, np.full(400, 10), np.full(400, 11)]),
        label=np.concatenate([labels.label, np.ones(800)]),
    )
    found = Crowd.learn(spammed, 12)
    assert np.abs(found.weights()[10:12, 1]).max() < 0.1
    assert np.count_nonzero(likelier(found.evidence(spammed)) != truth) < 60
    assert np.count_nonzero(majority(spammed) != truth) > 90


def test_one_rate_each_is_the_same_on_both_sides() -> None:
    labels, _, _ = crowd(300, 10, 4, 4)
    rates = Crowd.learn(labels, 10, rates=1).rates()
    assert rates[:, 0].tolist() == rates[:, 1].tolist()


def test_one_rate_each_takes_a_crowd_that_leans_to_yes_for_no_sign_that_most_answers_are_one() -> None:
    random = np.random.default_rng(8)
    truth, workers = random.random(400) < 0.5, 20
    task = np.repeat(np.arange(400), 5)
    worker = np.concatenate([random.choice(workers, 5, replace=False) for _ in range(400)])
    right = np.where(truth[task], 0.95, 0.65)
    label = np.where(random.random(task.size) < right, truth[task], ~truth[task]).astype(float)
    labels = Labels(task, worker, label, np.full(400, -1, np.int8))
    learnt = Crowd.learn(labels, workers, rates=1)
    wrong = np.count_nonzero(likelier(learnt.evidence(labels)) != truth)
    assert wrong <= np.count_nonzero(majority(labels) != truth)
    assert learnt.prevalence == pytest.approx(0.5)


def test_labels_at_random_cannot_be_told_and_all_count_next_to_nothing() -> None:
    random = np.random.default_rng(5)
    task = np.repeat(np.arange(2000), 3)
    worker = random.integers(0, 30, task.size)
    labels = labels_of(task, worker, random.random(task.size) < random.random(30)[worker])
    found = Crowd.learn(labels, 30)
    assert not found.tells
    assert np.ptp(found.weights(), axis=0).tolist() == [0.0, 0.0]
    assert found.wrong_side(found.evidence(labels)).mean() > 0.4


def test_a_crowd_that_is_mostly_wrong_is_turned_round_by_answers_that_are_known_and_by_nothing_else() -> None:
    labels, truth, _ = crowd(500, 20, 5, 6, good=(1.5, 4.0))
    known = np.where(np.arange(500) < 100, truth, -1)
    told = labels._replace(known=known.astype(np.int8))
    others = np.arange(500) >= 100
    assert np.mean((likelier(Crowd.learn(labels, 20).evidence(labels)) != truth)[others]) > 0.5
    assert np.mean((likelier(Crowd.learn(told, 20).evidence(told)) != truth)[others]) < 0.15


def test_known_answers_tell_of_what_the_crowd_has_wrong_together() -> None:
    labels, truth, _ = crowd(1000, 20, 7, 7)
    gold = truth ^ (np.random.default_rng(7).random(1000) < 0.25)  # of a quarter of the tasks all think the opposite
    known = np.where(np.arange(1000) < 400, gold, -1).astype(np.int8)
    told = labels._replace(known=known)
    found = Crowd.learn(told, 20)
    others = known < 0
    wrong = np.count_nonzero((likelier(found.evidence(told)) != gold)[others])
    assert Crowd.learn(labels, 20).mistaken == 0.1
    assert found.wrong_side(found.evidence(told))[others].sum() == pytest.approx(wrong, rel=0.2)


def test_claimed_errors_on_crowds_as_the_model_has_them_are_the_true_ones_and_the_share_that_all_have_wrong() -> None:
    claimed, wrong = 0.0, np.int64(0)
    for seed in range(5):
        labels, truth, _ = crowd(1000, 30, 4, 10 + seed)
        found = Crowd.learn(labels, 30)
        evidence = found.evidence(labels)
        claimed += found.wrong_side(evidence).sum()
        wrong += np.count_nonzero(likelier(evidence) != truth)
    assert claimed == pytest.approx(0.1 * 5000 + 0.8 * wrong, rel=0.1)


def test_a_label_between_0_and_1_counts_as_part_of_a_yes() -> None:
    labels = labels_of([0, 0, 1], [0, 1, 1], [0.25, 1.0, 0.0])
    found = Crowd.learn(labels, 2)
    no, yes = found.weights()[0]
    assert found.evidence(labels)[0] == pytest.approx(found.prior + 0.75 * no + 0.25 * yes + found.weights()[1, 1])


def test_without_labels_the_crowd_is_its_prior() -> None:
    nothing = Labels(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.full(3, -1, np.int8))
    found = Crowd.learn(nothing, 2)
    assert found.rates().tolist() == [[4.0 / 5.5] * 2] * 3
    assert found.evidence(nothing).tolist() == [0.0] * 3


def test_what_is_learnt_comes_back_from_json() -> None:
    labels, _, _ = crowd(50, 4, 3, 8)
    found = Crowd.learn(labels, 4)
    back = Crowd.from_json(json.loads(json.dumps(found.as_json())))
    assert back.weights().tolist() == found.weights().tolist()
    assert back.as_json() == found.as_json()


def test_the_index_is_the_evidence_and_half_the_logarithm_of_the_labels() -> None:
    assert asking_index(-1.5, 4.0) == pytest.approx(1.5 + math.log(2.0))


def test_it_is_time_to_learn_again_after_fifteen_per_cent_more_labels() -> None:
    assert [next_fit(labels) for labels in (10, 100, 1000)] == [30, 120, 1150]
