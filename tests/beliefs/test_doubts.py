"""How far evidence is believed: against loops, integrals, enumeration, closed forms and crowds whose truth is known."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betaln, expit, ndtr, ndtri

from cutline.beliefs.crowd_fit import LABELS, Fit, fit_crowd
from cutline.beliefs.doubts import hold_out, mistaken_share, sureness_of, wrong_side
from cutline.beliefs.workers import Crowd, Labels, likelier
from labelled_tasks import crowd, labels_of

CERTAIN = 1e4


def counts(labels: Labels, truth: Any, without: int | None = None) -> Any:
    """How many labels of each worker are right and wrong where the truth is no, and yes, but for those of a task."""
    found = np.zeros((2, labels.worker.max() + 1, 2))
    for task, worker, label in zip(labels.task, labels.worker, labels.label, strict=True):
        if task != without:
            found[0, worker] += [(1.0 - truth[task]) * (1.0 - label), truth[task] * label]
            found[1, worker] += [(1.0 - truth[task]) * label, truth[task] * (1.0 - label)]
    return found


@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_a_task_is_held_out_as_loops_and_an_integral_over_how_it_looks_have_it(spread: float) -> None:
    labels, _, _ = crowd(12, 5, 3, 4)
    labels = labels._replace(label=np.where(np.arange(36) % 7 == 0, 0.25, labels.label))
    truth, rate, share = np.random.default_rng(3).random(12), 0.7, 0.4
    right, wrong = counts(labels, truth)
    found = hold_out(labels, Fit(right, wrong, rate, share, truth, 0.0, spread))
    looks = np.linspace(-8.0, 8.0, 4001)
    density = np.exp(-0.5 * looks**2) / math.sqrt(2.0 * math.pi) * (looks[1] - looks[0])
    for task, odds in zip(*found, strict=True):
        right, wrong = counts(labels, truth, without=task)
        rates = (right + LABELS * rate) / (right + wrong + LABELS)
        sides = []
        for answer, before in ((0, 1.0 - share), (1, share)):
            product = np.ones(looks.size)
            for place in np.flatnonzero(labels.task == task):
                often = rates[labels.worker[place], answer]
                yes = ndtr(ndtri(often if answer else 1.0 - often) * math.sqrt(1.0 + spread**2) + spread * looks)
                product *= yes ** labels.label[place] * (1.0 - yes) ** (1.0 - labels.label[place])
            sides.append(before * float(product @ density))
        assert odds == pytest.approx(math.log(sides[1] / sides[0]), abs=1e-3)


def test_a_worker_who_has_labelled_a_task_twice_is_held_out_with_both() -> None:
    labels = labels_of([0, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0])
    truth = np.array([0.9, 0.6])
    right, wrong = counts(labels, truth)
    fit = Fit(right, wrong, 0.7, 0.5, truth, 0.0, 0.0)
    yes = (0.6 + LABELS * 0.7) / (0.6 + LABELS)
    no = (LABELS * 0.7) / (0.4 + LABELS)
    assert hold_out(labels, fit).odds[0] == pytest.approx(2.0 * math.log(yes / (1.0 - no)))


def test_one_rate_is_held_out_on_both_sides() -> None:
    labels = labels_of([0, 1], [0, 0], [1, 1])
    truth = np.array([0.9, 0.6])
    right, wrong = (np.repeat(each.sum(axis=1, keepdims=True) / 2, 2, axis=1) for each in counts(labels, truth))
    rate = (0.3 + LABELS * 0.7) / (0.5 + LABELS)
    found = hold_out(labels, Fit(right, wrong, 0.7, 0.5, truth, 0.0, 0.0), one_rate=True)
    assert found.odds[0] == pytest.approx(math.log(rate / (1.0 - rate)))


def test_among_tasks_that_are_known_one_is_held_out_as_exact_enumeration_has_it() -> None:
    random = np.random.default_rng(5)
    truth, label = random.random(9) < 0.5, random.random(27) < 0.7
    known = np.append(truth[:8], -1)
    labels = labels_of(np.repeat(np.arange(9), 3), np.tile(np.arange(3), 9), label == np.repeat(truth, 3), known)
    fit = fit_crowd(labels, 3)
    sides = []
    for answer, before in ((0, 1.0 - fit.prevalence), (1, fit.prevalence)):
        z, logarithm = np.append(truth[:8], answer).astype(int), math.log(before)
        for worker, side in itertools.product(range(3), (0, 1)):
            mine = (labels.worker == worker) & (z[labels.task] == side)
            right = np.count_nonzero(labels.label[mine] == side)
            wrong = np.count_nonzero(mine) - right
            logarithm += float(betaln(LABELS * fit.rate + right, LABELS * (1.0 - fit.rate) + wrong))
        sides.append(logarithm)
    tasks, odds = hold_out(labels, fit)
    assert odds[tasks == 8] == pytest.approx([sides[1] - sides[0]], abs=0.01)


def test_decisions_are_as_doubtful_as_held_out() -> None:
    assert sureness_of(np.array([4.0, -4.0]), np.array([3.0, -3.0])) == pytest.approx(0.75, abs=1e-5)
    assert sureness_of(np.array([2.0, -2.0]), np.array([3.0, -3.0])) == 1.0
    assert sureness_of(np.array([2.0, 2.0]), np.array([-1.0, 1.0])) == pytest.approx(0.0, abs=1e-5)
    evidence, held = np.random.default_rng(1).normal(size=(2, 500)) * 3.0
    part = sureness_of(evidence, evidence + 0.3 * held)
    wrong = expit(np.where(evidence >= 0.0, -1.0, 1.0) * (evidence + 0.3 * held)).sum()
    assert wrong_side(evidence, 0.0, part).sum() == pytest.approx(wrong, rel=1e-4)


@pytest.mark.parametrize(("tasks", "wrong"), [(0, 0), (1, 0), (5, 5), (40, 3), (2000, 60)])
def test_of_a_crowd_that_is_certain_the_share_of_mistakes_is_the_mean_of_a_beta(tasks: int, wrong: int) -> None:
    answers = np.random.default_rng(2).random(tasks) < 0.5
    says = answers ^ (np.arange(tasks) < wrong)
    found = mistaken_share(np.where(says, CERTAIN, -CERTAIN), answers)
    assert found == pytest.approx((1.0 + wrong) / (10.0 + tasks), abs=2e-5)


def test_the_share_of_mistakes_and_what_is_wrong_are_those_of_going_through_all_tasks_that_may_be_mistaken() -> None:
    odds, answers, other = np.array([1.5, -0.4, 2.5, -3.0]), np.array([True, True, False, False]), 1.2
    right = expit(np.where(answers, odds, -odds))
    total = share = wrong = 0.0
    for mistaken in itertools.product((False, True), repeat=5):  # the last task is not known, and decided to be a yes
        among = sum(mistaken)
        of_answers = float(np.prod(np.where(mistaken[:4], 1.0 - right, right)))
        chance = of_answers * math.exp(betaln(1.0 + among, 9.0 + 5 - among) - betaln(1.0, 9.0))
        by_chance = 1.0 / (1.0 + math.exp(other))
        total += chance
        share += chance * (1.0 + among) / (10.0 + 5)
        wrong += chance * (1.0 - by_chance if mistaken[4] else by_chance)
    found = mistaken_share(odds, answers)
    assert found == pytest.approx(share / total, abs=1e-5)
    assert wrong_side(np.array([other, -other]), found, 1.0) == pytest.approx([wrong / total] * 2, abs=1e-5)


def test_few_labels_a_worker_are_not_claimed_to_tell_more_than_they_do() -> None:
    wrong, claimed = np.int64(0), np.zeros(2)
    for seed in range(60):
        labels, truth, _ = crowd(100, 40, 8, seed)
        found = Crowd.learn(labels, 40)
        evidence = found.evidence(labels)
        wrong += np.count_nonzero(likelier(evidence) != truth)
        claimed += [wrong_side(evidence, 0.0, part).sum() for part in (found.sureness, 1.0)]
    assert wrong > 300  # two standard errors of a count of so many are 12 %
    assert claimed[0] / wrong == pytest.approx(1.0, abs=0.12)
    assert claimed[1] / wrong < 0.8  # what labels say that were learnt from, too


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_with_answers_that_are_known_claims_are_right_whatever_share_the_crowd_has_wrong_together(share: float) -> None:
    wrong, claimed = np.int64(0), 0.0
    for seed in range(6):
        labels, truth, _ = crowd(1000, 60, 5, 20 + seed)
        gold = truth ^ (np.random.default_rng([9, seed]).random(1000) < share)
        known = np.where(np.arange(1000) < 200, gold, -1).astype(np.int8)
        told = labels._replace(known=known)
        found = Crowd.learn(told, 60)
        evidence = found.evidence(told)
        wrong += np.count_nonzero((likelier(evidence) != gold)[200:])
        claimed += float(found.wrong_side(evidence)[200:].sum())
    # of 1,200 known tasks the standard error of a share of 1/4 is 0.0125, a twentieth; that of what is wrong is less
    assert claimed / wrong == pytest.approx(1.0, abs=0.15)
