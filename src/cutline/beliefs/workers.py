"""How far each worker is to be believed: rates that are learnt from how the labels of all workers agree.

The truth of a task is yes or no. A worker has two rates: how often he is right where the truth is yes, and where it is
no (Dawid and Skene, Applied Statistics 28, 1979). They are fitted by EM together with the truth of all tasks:

- a worker's rates have a Beta prior that weighs as much as ``_LABELS`` labels, and its mean, one for both rates, is
  the crowd's and is learnt itself from all workers: a worker with few labels is taken to be like the crowd;
- the share of tasks whose truth is yes is near 1/2 (Beta(100, 100)), or with a small probability yes, or no, is rare
  (Beta(1, 19)). Each is fitted, and the one is taken that the labels and these probabilities support most. Labels tell
  rare yeses from workers who miss them only where a task has three, and people who share a mistake look like the truth.

The evidence on a task is the log odds that its truth is yes: the sum of its labels' log likelihood ratios, and the log
odds of the share. Where the labels of a task clearly agree less than those of a weak crowd would, the crowd may be no
better than chance: then workers cannot be told apart, and all count alike.

A crowd is wrong on some tasks however many labels they get. That share is learnt from tasks whose answers are known;
its prior has the mean ``MISTAKEN``, about what is wrong in well-known test sets (Northcutt, Athalye and Mueller,
NeurIPS 2021: 3.3 % on average, found by people who looked again).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, betaln, expit, logit

from cutline.beliefs.evidence import MISTAKEN, RATE
from cutline.beliefs.intervals import Floats

Ints = NDArray[np.int64]

_LABELS = 5.5  # with RATE: Beta(4, 1.5)
_WORKERS = 30.0  # workers that the prior of the crowd's rate weighs
_KNOWN = 50.0  # known tasks that the prior of the share of mistakes weighs
_STEPS, _CLOSE = 100, 1e-4
_WEAK = 0.65  # how often a crowd is right that is just worth asking
_LEAST = 0.51  # how often a crowd is right of which that cannot be told: so its majority counts
_CLEAR = 2.0  # standard errors
_PAIRS = 30.0  # pairs of labels that the prior of their agreement weighs
_EQUAL = 1e-9  # evidence that differs by less is taken to be equal: rounding must not decide


class _Share(NamedTuple):
    """A belief about the share of tasks whose truth is yes: Beta(yes, no), and how probable it is beforehand."""

    yes: float
    no: float
    probability: float

    def density(self, share: float) -> float:
        """Return ln of the density of a share, times the probability."""
        beta = (self.yes - 1.0) * math.log(share) + (self.no - 1.0) * math.log1p(-share)
        return float(beta - betaln(self.yes, self.no)) + math.log(self.probability)

    def first_guess(self, labels: "Labels") -> Floats:
        """Return how probable yes is for each task, (K,), if all workers are like a crowd that nobody has seen."""
        seen = np.bincount(labels.task, minlength=labels.known.size)
        more_yes = 2.0 * np.bincount(labels.task, labels.label, labels.known.size) - seen
        guess: Floats = expit(math.log(self.yes / self.no) + more_yes * logit(RATE))
        return guess


_BALANCED = _Share(100.0, 100.0, 0.96)
_RARE = (_Share(1.0, 19.0, 0.02), _Share(19.0, 1.0, 0.02))  # yes, or no
_IDENTIFIED = 3  # labels of a task
_FEW_TASKS = 1_000  # the prior of the share matters with fewer


class Labels(NamedTuple):
    """N labels of K tasks by J workers, in the order in which they came.

    ``task`` and ``worker`` are numbers, (N,); ``label`` from 0 to 1, (N,), one between them counting as that part of a
    yes. ``known``: 1, 0, or -1 where the truth is not known, (K,).
    """

    task: Ints
    worker: Ints
    label: Floats
    known: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Crowd:
    """J workers, as labels show them.

    ``right`` and ``wrong``, (J, 2): tasks on which a worker is taken to have been so, whose truth is no, and yes.
    ``rate``: how often the crowd is right. ``prevalence``: the share of tasks whose truth is yes. ``mistaken``: the
    share of tasks that the crowd has wrong together. ``tells``: whether the labels tell workers apart; if not, each
    counts as the crowd.
    """

    right: Floats
    wrong: Floats
    rate: float = RATE
    prevalence: float = 0.5
    mistaken: float = MISTAKEN
    tells: bool = False

    @classmethod
    def learn(cls, labels: Labels, workers: int, rates: int = 2) -> Self:
        """Return what labels tell of so many workers. With one rate each, it is the same where the truth is no."""
        known = labels.known
        seen = np.bincount(labels.task, minlength=known.size)
        q = (np.bincount(labels.task, labels.label, known.size) + 0.5) / (seen + 1.0)
        crowd = cls(*_counts(labels, q, workers, rates))
        agreement, tells = _agreement(labels, workers)
        if not tells:
            rate = max(0.5 + math.sqrt(agreement), _LEAST)
            return replace(crowd, rate=rate, mistaken=_mistaken(known, logit(q)))
        told = known[labels.task] >= 0
        if told.any():  # the rates on these tasks say more than a majority
            q = expit(cls(*_counts(_those(labels, told), known, workers, rates), tells=True).evidence(labels))
        crowd = cls._fit(labels, workers, rates, q, _BALANCED)
        if 0 < np.count_nonzero(seen) < _FEW_TASKS:
            fits = [(crowd, _BALANCED)]
            for share in _RARE:
                fits.append((cls._fit(labels, workers, rates, share.first_guess(labels), share), share))
            crowd, _ = max(fits, key=lambda fit: fit[0]._support(labels, fit[1]))
        return replace(crowd, mistaken=_mistaken(known, crowd.evidence(labels)))

    @classmethod
    def _fit(cls, labels: Labels, workers: int, rates: int, q: Floats, prior: "_Share") -> Self:
        """Return the crowd that EM finds from a first guess of the truth of all tasks, (K,)."""
        known, seen = labels.known, np.bincount(labels.task, minlength=labels.known.size) > 0
        for _ in range(_STEPS):
            q = np.where(known >= 0, known, q)
            right, wrong = _counts(labels, q, workers, rates)
            share = (q[seen].sum() + prior.yes) / (np.count_nonzero(seen) + prior.yes + prior.no)
            crowd = cls(right, wrong, _crowds_rate(right, wrong), float(share), tells=True)
            before, q = q, expit(crowd.evidence(labels))
            if np.abs(q - before)[known < 0].max(initial=0.0) < _CLOSE:
                break
        return crowd

    def _support(self, labels: Labels, prior: "_Share") -> float:
        """Return how probable, but for a constant, this crowd is: ln of its density given the labels and the prior.

        The labels of a task share what makes it easy or hard, so that all of them tell as much as one; and where there
        are not three, rare yeses look like workers who miss them, so that they tell nothing.
        """
        rates, known = self.rates()[:-1], labels.known
        counts = _LABELS * np.array([self.rate, 1.0 - self.rate]) - 1.0
        of_rates = float((counts[0] * np.log(rates) + counts[1] * np.log1p(-rates)).sum())
        each = self.evidence(labels)
        of_no = np.log1p(-rates[labels.worker, 0]) * labels.label + np.log(rates[labels.worker, 0]) * (
            1.0 - labels.label
        )
        if_yes = np.where(known < 0, np.logaddexp(0.0, each), np.where(known == 1, each, 0.0))
        of_labels = float(of_no.sum() + (if_yes + math.log1p(-self.prevalence)).sum())
        tasks = np.count_nonzero(np.bincount(labels.task) >= _IDENTIFIED)
        return (of_labels + of_rates) * tasks / labels.task.size + prior.density(self.prevalence)

    @property
    def prior(self) -> float:
        """The evidence on a task without labels."""
        return float(logit(self.prevalence))

    def rates(self) -> Floats:
        """Return how often each worker is right where the truth is no, and where it is yes; (J + 1, 2).

        The last is anybody who has not been seen.
        """
        if not self.tells:
            return np.full((len(self.right) + 1, 2), self.rate)
        a, b = self._posterior()
        rates = np.full((len(self.right) + 1, 2), self.rate)
        rates[:-1] = a / (a + b)
        return rates

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Return between what the rates of each worker are with this probability: low and high, (J, 2) each.

        As if the labels were compared with the truth; it is estimated, so that they hold a little less often.
        """
        a, b = self._posterior()
        tail = 0.5 * (1.0 - confidence)
        return betaincinv(a, b, tail), betaincinv(a, b, 1.0 - tail)

    def weights(self) -> Floats:
        """Return the log likelihood ratio of a label 0 and of a label 1 by each worker, (J + 1, 2), as ``rates``."""
        no, yes = self.rates().T
        weights: Floats = np.stack([np.log1p(-yes) - np.log(no), np.log(yes) - np.log1p(-no)], axis=1)
        return weights

    def evidence(self, labels: Labels) -> Floats:
        """Return the log odds that the truth of each task is yes, (K,), as its labels alone have it."""
        each = weigh(self.weights(), labels.worker, labels.label)
        sums: Floats = np.bincount(labels.task, each, labels.known.size).astype(np.float64)
        return self.prior + sums

    def wrong_side(self, evidence: ArrayLike) -> Floats:
        """Return the probability that the likelier answer to a task is not the truth; see ``wrong_side``."""
        return wrong_side(evidence, self.mistaken)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it, for ``from_json``."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Self:
        """Read what ``as_json`` returned."""
        arrays = {name: np.array(read[name], np.float64).reshape(-1, 2) for name in ("right", "wrong")}
        return cls(**(read | arrays))

    def _posterior(self) -> tuple[Floats, Floats]:
        """Return a and b of the Beta posteriors of all rates, (J, 2) each."""
        return self.right + _LABELS * self.rate, self.wrong + _LABELS * (1.0 - self.rate)


def weigh(weights: Floats, worker: Ints, label: Floats) -> Floats:
    """Return the log likelihood ratios of labels, (N,), given those of a 0 and a 1 by each worker, (J + 1, 2)."""
    no, yes = weights[:, 0], weights[:, 1]
    each: Floats = no[worker] + label * (yes - no)[worker]
    return each


def wrong_side(evidence: ArrayLike, mistaken: float) -> Floats:
    """Return the probability that the likelier answer is not the truth, as evidence on tasks has it.

    ``mistaken``: the share of tasks that the crowd has wrong together.
    """
    by_chance = expit(-np.abs(np.asarray(evidence, np.float64)))
    wrong: Floats = mistaken + (1.0 - 2.0 * mistaken) * by_chance
    return wrong


def likelier(evidence: Floats) -> NDArray[np.bool_]:
    """Return whether yes is the likelier answer to each task, (K,); between equal ones it is."""
    yes: NDArray[np.bool_] = evidence >= -_EQUAL
    return yes


def _those(labels: Labels, some: NDArray[np.bool_]) -> Labels:
    """Return some of the labels."""
    return Labels(labels.task[some], labels.worker[some], labels.label[some], labels.known)


def _counts(labels: Labels, q: Floats | NDArray[np.int8], workers: int, rates: int) -> tuple[Floats, Floats]:
    """Return right and wrong, (J, 2) each, of workers if the truth of task k is yes with probability q[k], (K,)."""
    worker, label = labels.worker, labels.label
    truth = q[labels.task]
    every, yes = np.bincount(worker, minlength=workers), np.bincount(worker, label, workers)
    of_yes = np.bincount(worker, truth, workers)
    right_yes = np.bincount(worker, truth * label, workers)
    wrong_no = yes - right_yes
    right = np.stack([every - of_yes - wrong_no, right_yes], axis=1)
    wrong = np.stack([wrong_no, of_yes - right_yes], axis=1)
    if rates == 1:
        right, wrong = (np.repeat(0.5 * both.sum(axis=1, keepdims=True), 2, axis=1) for both in (right, wrong))
    return np.maximum(right, 0.0), np.maximum(wrong, 0.0)  # rounding may have left less


def _crowds_rate(right: Floats, wrong: Floats) -> float:
    """Return how often the crowd is right: the mean of the workers' rates, by how well each is known."""
    n = right + wrong
    return float(((right / (n + _LABELS)).sum() + _WORKERS * RATE) / ((n / (n + _LABELS)).sum() + _WORKERS))


def _agreement(labels: Labels, workers: int) -> tuple[float, bool]:
    """Return the covariance of two labels of a task, and whether it may be that of a crowd that is better than chance.

    Of the first two labels of each task, since who is asked for more depends on how those agree. A label is held
    against its worker's own share of yes, so that workers who say yes to everything agree on nothing.
    """
    order = np.argsort(labels.task, kind="stable")
    task, worker = labels.task[order], labels.worker[order]
    yes, every = np.bincount(worker, labels.label[order], workers), np.bincount(worker, minlength=workers)
    share = yes.sum() / max(order.size, 1)
    means = (yes + 2.0 * share) / (every + 2.0)
    rest, spread = labels.label[order] - means[worker], (means * (1.0 - means))[worker]
    second = np.flatnonzero(np.arange(order.size) - np.searchsorted(task, task) == 1)
    first = second - 1
    total, error = float(rest[first] @ rest[second]), float(np.sqrt(spread[first] @ spread[second]))
    weak = (2.0 * _WEAK - 1.0) ** 2 * float(np.sqrt(spread[first] * spread[second]).sum())
    covariance = (total + _PAIRS * (RATE - 0.5) ** 2) / (second.size + _PAIRS)
    return min(max(covariance, 0.0), 0.25), total + _CLEAR * error >= weak


def _mistaken(known: NDArray[np.int8], evidence: Floats) -> float:
    """Return the share of tasks that a crowd has wrong together, as its evidence on tasks that are known shows it."""
    some = known >= 0
    sure = expit(np.where(known[some] == 1, evidence[some], -evidence[some]))  # of the answer that is right
    share = MISTAKEN
    for _ in range(_STEPS):
        others = share * (1.0 - sure)
        among = others / (others + (1.0 - share) * sure)
        share = float((among.sum() + _KNOWN * MISTAKEN) / (sure.size + _KNOWN))
    return min(share, 0.5)
