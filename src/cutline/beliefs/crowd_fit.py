"""The fit of a crowd to its labels: workers' rates, the share of yes, and how far the labels of a task hang together.

A task of truth z looks like a yes to a degree d, standard normal and the same for all who see it: worker j says yes to
it with probability Phi(sqrt(1 + s^2) c + s d), Phi(c) being how often he does on all tasks of truth z. With s = 0
labels are independent given the truth, and this is the model of Dawid and Skene (1979); with s > 0 some tasks look to
all like what they are not (after Welinder, Branson, Belongie and Perona, The multidimensional wisdom of crowds, 2010).

- Rates and share are fitted by EM for each s of ``_SPREADS``; the one is taken whose labels are the most probable, each
  unit of s having to make them exp(3) times as probable, and a crowd that is hardly better than chance exp(10) times.
- EM finds the fit that is nearest to its start, which is what a majority says. Where some workers share a mistake there
  may be another, with which they, not the others, are wrong. So it is started twice more, from guesses that lean to no
  and to yes (up to 30,000 labels), and the fit with the most evidence counts.
- The share of yes is near 1/2, or with a small probability yes, or no, is rare. With fewer than 1,000 tasks, where that
  matters, these fits (with s = 0) count where they have more evidence than all others.
- Evidence on a fit is ln of the probability of the labels, the rates integrated out by Laplace's method, a label
  telling of a rate as much as its task is certain.
- To decide, the log likelihood ratios of the n labels of a task are summed, and divided by 1 + (n - 1) correlation, by
  which the sums come nearest (in cross-entropy) to what the model says of the tasks.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import betaln, expit, logit, ndtr, ndtri

from cutline.beliefs.evidence import RATE
from cutline.beliefs.intervals import Floats
from cutline.beliefs.labelled import Labels

LABELS = 5.5
"""Labels that the prior of a worker's rate weighs; with RATE: Beta(4, 1.5)."""

_WORKERS = 8.0  # workers that the prior of the crowd's rate weighs
_STEPS, _CLOSE = 40, 2e-3
_SPREADS = (0.0, 0.3, 0.6, 1.0, 1.5, 2.0)
_NEAR = 1.0  # larger s are tried unless this one leaves the labels less probable by far
_PER_SPREAD = 3.0
_LEANINGS = (-1.5, 1.5)  # log odds
_CLEARLY = 0.5  # nats of evidence, more than it matters where EM stops
_FAR = 10.0  # nats
_FAIR = 0.6  # a crowd that is right less often has to make the labels more probable by far
_CHANCE = 0.52  # how often a crowd must be right at least for its labels to be taken as dependent
_IDENTIFIED = 3  # labels a task with which s shows: two that hang together look like two that are right
_ENOUGH = 30_000  # labels that tell s; with more than these EM is started once
_FEW_TASKS = 1_000  # the prior of the share matters with fewer
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_CORRELATIONS = np.concatenate([np.linspace(0.0, 0.2, 21), np.linspace(0.25, 1.0, 16)])
_SURE = 1e-9
_OF_NO = np.array([True, False])  # of the truths no and yes


class _Share(NamedTuple):
    """A belief about the share of tasks whose truth is yes: Beta(yes, no), and how probable it is beforehand."""

    yes: float
    no: float
    probability: float

    def density(self, share: float) -> float:
        """Return ln of the density of a share, times the probability."""
        beta = (self.yes - 1.0) * math.log(share) + (self.no - 1.0) * math.log1p(-share)
        return float(beta - betaln(self.yes, self.no)) + math.log(self.probability)


_HALF = _Share(1e9, 1e9, 1.0)  # nothing tells the share while no task has two labels
_BALANCED = _Share(100.0, 100.0, 0.96)
_RARE = (_Share(1.0, 19.0, 0.02), _Share(19.0, 1.0, 0.02))  # yes, or no


class Fit(NamedTuple):
    """What labels tell of J workers: ``right``, ``wrong``, ``rate``, ``prevalence`` and ``correlation`` as a Crowd has.

    ``truth``: the probability that each task that has labels is a yes. ``support``: ln of the probability of the
    labels. ``spread``: the s of the model.
    """

    right: Floats
    wrong: Floats
    rate: float
    prevalence: float
    truth: Floats
    support: float
    spread: float
    correlation: float = 0.0

    @property
    def rates(self) -> Floats:
        """How often each worker is right where the truth is no, and where it is yes, (J, 2)."""
        return (self.right + LABELS * self.rate) / (self.right + self.wrong + LABELS)


class _Table(NamedTuple):
    """The labels of the tasks that have some.

    ``said``: how many noes by each worker, then yeses, (K, 2 J), which ``heard`` is transposed. ``known``: (K,), as in
    Labels.
    """

    said: csr_matrix
    heard: csr_matrix
    known: NDArray[np.int8]

    @classmethod
    def of(cls, labels: Labels, workers: int) -> Self:
        """Return the table of labels by so many workers."""
        tasks, row = np.unique(labels.task, return_inverse=True)
        parts, columns = (1.0 - labels.label, labels.label), (labels.worker, labels.worker + workers)
        entries = (np.concatenate(parts), (np.concatenate([row, row]), np.concatenate(columns)))
        said = csr_matrix(entries, shape=(tasks.size, 2 * workers))
        said.eliminate_zeros()
        return cls(said, said.T.tocsr(), labels.known[tasks])

    @property
    def workers(self) -> int:
        """How many workers there are."""
        return int(self.said.shape[1]) // 2

    def thinned(self, labels: int) -> Self:
        """Return every so-manieth task, such that about so many labels are left."""
        every = max(math.ceil(self.said.nnz / labels), 1)
        if every == 1:
            return self
        said = self.said[::every]
        return type(self)(said, said.T.tocsr(), self.known[::every])

    def numbers(self) -> Floats:
        """Return how many labels each task has, (K,)."""
        return np.asarray(self.said.sum(axis=1)).ravel()

    def leaning(self) -> Floats:
        """Return how many more yeses than noes each task has, (K,)."""
        yes = np.asarray(self.said[:, self.workers :].sum(axis=1)).ravel()
        more: Floats = 2.0 * yes - self.numbers()
        return more

    def counts(self, truth: Floats, weight: Floats | float = 1.0) -> tuple[Floats, Floats]:
        """Return right and wrong labels of each worker on tasks of truth no, and yes, (J, 2) each.

        ``truth``: how probable yes is, (K,); ``weight``: how much each task counts.
        """
        no, yes = (self.heard @ np.column_stack([(1.0 - truth) * weight, truth * weight])).reshape(2, -1, 2)
        return np.where(_OF_NO, no, yes), np.where(_OF_NO, yes, no)

    def posterior(self, rates: Floats, share: float, spread: float) -> tuple[Floats, float]:
        """Return how probable yes is for each task, (K,), and ln of the probability of all labels."""
        yes = says_yes(rates, spread).reshape(self.workers, -1)
        each = (self.said @ np.log(np.concatenate([1.0 - yes, yes]))).reshape(self.known.size, 2, -1)
        sides = over_looks(each) + np.log([1.0 - share, share])
        truth, of_labels = expit(sides[:, 1] - sides[:, 0]), np.logaddexp(sides[:, 0], sides[:, 1])
        told = np.flatnonzero(self.known >= 0)
        truth[told], of_labels[told] = self.known[told], sides[told, self.known[told]]
        return truth, float(of_labels.sum())


def fit_crowd(labels: Labels, workers: int, one_rate: bool = False) -> Fit:
    """Return what the labels, at least one, tell of so many workers; each has ``one_rate``, or one for each truth.

    With one rate nothing tells workers who lean to yes from tasks that mostly are a yes: it is taken that half are.
    """
    table = _Table.of(labels, workers)
    start = _first_guess(table, one_rate)
    if table.numbers().max() <= 1.0 and (table.known < 0).all():
        return _fit(table, start, 0.0, _HALF, one_rate, steps=1)
    if one_rate:
        return _fit(table, start, 0.0, _HALF, one_rate)
    best, evidence = _balanced_fit(table, start)
    if table.numbers().sum() <= _ENOUGH:
        for leaning in _LEANINGS:
            rival, its_own = _balanced_fit(table, expit(logit(start.clip(_SURE, 1.0 - _SURE)) + leaning))
            if rival.rate >= _CHANCE and its_own > evidence + _CLEARLY:
                best, evidence = rival, its_own
    if table.known.size < _FEW_TASKS:
        for share in _RARE:
            guess = expit(math.log(share.yes / share.no) + table.leaning() * logit(RATE))
            rival = _fit(table, guess, 0.0, share)
            if _evidence(table, rival, share) > evidence:
                best, evidence = rival, _evidence(table, rival, share)
    return best._replace(correlation=_correlation(table, best) if best.spread else 0.0)


def _balanced_fit(table: _Table, start: Floats) -> tuple[Fit, float]:
    """Return the fit with the s under which the labels are the most probable, and the most evidence that one has."""
    fits = _balanced_fits(table, start)
    return max(fits, key=_credit), max(_evidence(table, fit, _BALANCED) for fit in fits)


def _credit(fit: Fit) -> float:
    """Return the support of a fit, less what is asked of its s, and of a crowd that is hardly better than chance."""
    return fit.support - _PER_SPREAD * fit.spread - _FAR * (fit.rate < _FAIR)


def _balanced_fits(table: _Table, start: Floats) -> list[Fit]:
    """Return the fits for each s that can be; of very many labels some tell which it is, as the rates for s = 0 are."""
    independent = _fit(table, start, 0.0, _BALANCED)
    part = table.thinned(_ENOUGH)
    others: tuple[float, ...] = _SPREADS[1:] if table.numbers().sum() >= _IDENTIFIED * table.known.size else ()
    if part is not table:
        rates, share = independent.rates, independent.prevalence
        supports = {spread: part.posterior(rates, share, spread)[1] - _PER_SPREAD * spread for spread in _SPREADS}
        others = tuple(spread for spread in others if supports[spread] == max(supports.values()))
    fits = [independent]
    for spread in others:
        if spread > _NEAR and _credit(fits[-1]) < max(map(_credit, fits)) - _FAR:
            break
        fits.append(_fit(table, start, spread, _BALANCED))
    return [independent, *(fit for fit in fits[1:] if fit.rate >= _CHANCE)]


def says_yes(rates: Floats, spread: float) -> Floats:
    """Return how often a yes is said on tasks of truth no, and yes, at each of N looks, (J, 2, N), by rates, (J, 2)."""
    nodes = _NODES if spread else np.zeros(1)
    usual = ndtri(np.where(_OF_NO, 1.0 - rates, rates))
    often: Floats = ndtr(usual[:, :, None] * math.sqrt(1.0 + spread**2) + spread * nodes).clip(_SURE, 1.0 - _SURE)
    return often


def over_looks(each: Floats) -> Floats:
    """Return ln of how probable labels are, (K, 2), given that for each way that their task may look, (K, 2, N)."""
    if each.shape[2] == 1:
        return each[:, :, 0]
    by_look = np.ascontiguousarray(each.transpose(2, 1, 0))  # tasks last: sums over looks take a third of the time
    top = by_look.max(axis=0)
    by_look -= top
    mean: Floats = top + np.log(np.tensordot(_WEIGHTS / _WEIGHTS.sum(), np.exp(by_look, out=by_look), 1))
    return mean.T


def log_ratios(rates: Floats) -> Floats:
    """Return the log likelihood ratio of a label 0 and of a label 1 by each worker, (J, 2), given the rates, (J, 2)."""
    no, yes = rates.T
    ratios: Floats = np.stack([np.log1p(-yes) - np.log(no), np.log(yes) - np.log1p(-no)], axis=1)
    return ratios


def _first_guess(table: _Table, one_rate: bool) -> Floats:
    """Return how probable yes is for each task, (K,), by its share of yes, or by who is right on known tasks."""
    numbers = table.numbers()
    guess: Floats = 0.5 + 0.5 * table.leaning() / (numbers + 1.0)
    told = table.known >= 0
    if not told.any():
        return guess
    right, wrong = averaged(table.counts((table.known == 1).astype(np.float64), told.astype(np.float64)), one_rate)
    rates = (right + LABELS * RATE) / (right + wrong + LABELS)
    return table.posterior(rates, 0.5, 0.0)[0]


def _fit(
    table: _Table, truth: Floats, spread: float, prior: _Share, one_rate: bool = False, steps: int = _STEPS
) -> Fit:
    """Return the fit that EM finds from a first guess of how probable yes is for each task, (K,)."""
    for _ in range(steps):
        right, wrong = averaged(table.counts(truth), one_rate)
        share = float((truth.sum() + prior.yes) / (truth.size + prior.yes + prior.no))
        fit = Fit(right, wrong, _crowds_rate(right, wrong), share, truth, 0.0, spread)
        before = truth
        truth, support = table.posterior(fit.rates, share, spread)
        if np.abs(truth - before).max(initial=0.0) < _CLOSE:
            break
    return fit._replace(truth=truth, support=support)


def averaged(counts: tuple[Floats, Floats], one_rate: bool) -> tuple[Floats, Floats]:
    """Return right and wrong labels, (J, 2) each, at least 0, and half of all on each side if there is one rate."""
    right, wrong = (np.maximum(each, 0.0) for each in counts)  # rounding may have left less
    if one_rate:
        right, wrong = (np.repeat(0.5 * each.sum(axis=1, keepdims=True), 2, axis=1) for each in (right, wrong))
    return right, wrong


def _crowds_rate(right: Floats, wrong: Floats) -> float:
    """Return how often the crowd is right: the mean of the workers' rates, by how well each is known."""
    n = right + wrong
    return float(((right / (n + LABELS)).sum() + _WORKERS * RATE) / ((n / (n + LABELS)).sum() + _WORKERS))


def _evidence(table: _Table, fit: Fit, prior: _Share) -> float:
    """Return ln of how probable the labels are under a fit, its rates integrated out, and its share and its s."""
    rates, a, b = fit.rates, LABELS * fit.rate, LABELS * (1.0 - fit.rate)
    right, wrong = table.counts(fit.truth, (2.0 * fit.truth - 1.0) ** 2)
    density = (a - 1.0) * np.log(rates) + (b - 1.0) * np.log1p(-rates) - betaln(a, b)
    width = 0.5 * np.log(2.0 * math.pi * rates * (1.0 - rates) / (right + wrong + LABELS))
    return _credit(fit) + float((density + width).sum()) + prior.density(fit.prevalence)


def _correlation(table: _Table, fit: Fit) -> float:
    """Return by how much the labels of a task have to be discounted for their sums to be like the fit."""
    sums = table.said @ log_ratios(fit.rates).T.ravel()
    more, prior = table.numbers() - 1.0, logit(fit.prevalence)

    def miss(correlation: float) -> float:
        odds = prior + sums / (1.0 + more * correlation)
        return float((np.logaddexp(0.0, odds) - fit.truth * odds).sum())

    return float(min(_CORRELATIONS, key=miss))
