"""How far evidence on tasks is to be believed: what labels are too sure of, and what a crowd has wrong together.

Two things are not in the sum of the weights of a task's labels.

- **Rates are learnt from the same labels.** A label that is taken to be right makes its worker a better one, and that
  makes the label the more right. So tasks are judged once more by rates that their own labels have no part in. The
  chance of a label is then the mean of the Beta posterior of its worker's rate, which integrates over what is not known
  of that. (This is a step of CVB0: Asuncion, Welling, Smyth and Teh, On smoothing and inference for topic models, UAI
  2009.) ``sureness`` is what evidence is multiplied by for as many decisions to be claimed wrong as are by that.
- **A crowd is wrong on some tasks however many labels they get**: they look to all like what they are not, or those who
  know say otherwise. That share, ``mistaken``, is the same for all tasks; its prior is Beta(1, 9), and it is learnt
  from tasks whose answers are known. The prior's mean, one task in ten, is that of other crowds: weighing all of their
  labels by Bayesian classifier combination (IBCC), Li, Rubinstein and Cohn (Truth inference at scale, 2019, in their
  code) have 6 and 9 % wrong on the sentiment of films, 21 % on the links of ZenCrowd and 29 % on the relevance of pages
  for TREC, a part of which is by chance.

Both are in whole millionths, or nearly, so that the order of workers does not show in them.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit, logit

from cutline.beliefs.crowd_fit import LABELS, Fit, averaged, over_looks, says_yes
from cutline.beliefs.evidence import MISTAKEN
from cutline.beliefs.intervals import Floats
from cutline.beliefs.labelled import Ints, Labels

_ENOUGH = 30_000  # labels that tell how sure the others are
_TASKS = 10.0  # known tasks that the prior of the share of mistakes weighs
_SHARES = ((np.arange(1_000) + 0.5) / 1_000) ** 2  # closer together near 0, by the root of a share
_HALVINGS, _DIGITS = 20, 6
_EQUAL = 1e-9  # evidence that differs by less is taken to be equal: rounding must not decide


class HeldOut(NamedTuple):
    """Some tasks, by number, (M,), and the log odds that the truth of each is yes, (M,)."""

    tasks: Ints
    odds: Floats


class _Own(NamedTuple):
    """What workers said of tasks: by whom and of which, and how many noes and yeses, (P,) each."""

    task: Ints
    worker: Ints
    no: Floats
    yes: Floats

    @classmethod
    def of(cls, labels: Labels, chosen: NDArray[np.bool_], workers: int) -> "_Own":
        """Return what the chosen labels, (N,), say; a worker may have labelled a task more than once."""
        pairs, place = np.unique(labels.task[chosen] * workers + labels.worker[chosen], return_inverse=True)
        label = labels.label[chosen]
        no, yes = (np.bincount(place, each, pairs.size).astype(np.float64) for each in (1.0 - label, label))
        return cls(pairs // workers, pairs % workers, no, yes)

    def counts(self, truth: Floats, one_rate: bool) -> tuple[Floats, Floats]:
        """Return how many are right, and wrong, where the truth is no, and yes, (P, 2) each, as a Fit counts them.

        ``truth``: how probable yes is for the task, (P,).
        """
        right = np.stack([(1.0 - truth) * self.no, truth * self.yes], axis=1)
        wrong = np.stack([(1.0 - truth) * self.yes, truth * self.no], axis=1)
        return averaged((right, wrong), one_rate)


def hold_out(labels: Labels, fit: Fit, one_rate: bool = False) -> HeldOut:
    """Return how tasks are judged by the rates of a fit to these labels that their own have no part in.

    Of more than 30,000 labels of tasks that are known, or are not, those of some such tasks, spread evenly over all.
    """
    numbers = np.bincount(labels.task, minlength=labels.known.size)
    kinds = ((numbers > 0) & (labels.known >= 0), (numbers > 0) & (labels.known < 0))
    tasks = np.concatenate([_some(np.flatnonzero(kind), numbers) for kind in kinds])
    truth, row = np.zeros(numbers.size), np.full(numbers.size, -1)
    truth[numbers > 0], row[tasks] = fit.truth, np.arange(tasks.size)
    own = _Own.of(labels, row[labels.task] >= 0, len(fit.right))
    right, wrong = own.counts(truth[own.task], one_rate)
    a = fit.right[own.worker] - right + LABELS * fit.rate
    b = fit.wrong[own.worker] - wrong + LABELS * (1.0 - fit.rate)
    chance = says_yes(a / (a + b), fit.spread)
    of_pairs = own.yes[:, None, None] * np.log(chance) + own.no[:, None, None] * np.log1p(-chance)
    by_task = csr_matrix((np.ones(own.task.size), (row[own.task], np.arange(own.task.size))))
    no, yes = over_looks((by_task @ of_pairs.reshape(own.task.size, -1)).reshape(tasks.size, 2, -1)).T
    return HeldOut(tasks, yes - no + logit(fit.prevalence))


def _some(tasks: Ints, numbers: Ints) -> Ints:
    """Return tasks, of which each has so many labels, or some of them that have about enough."""
    return tasks[:: max(math.ceil(numbers[tasks].sum() / _ENOUGH), 1)]


def sureness_of(evidence: Floats, held: Floats) -> float:
    """Return what to multiply evidence on tasks by, from 0 to 1, for the decisions to be as doubtful as held out.

    ``held``: the log odds of the same tasks, held out, (M,). 1 if these leave less doubt than the evidence.
    """
    decided, wrong = np.abs(evidence), float(expit(np.where(likelier(evidence), -held, held)).sum())
    low, high = 0.0, 1.0
    if not decided.size or expit(-decided).sum() >= wrong:
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(-middle * decided).sum() > wrong else (low, middle)
    return low


def mistaken_share(odds: Floats, answers: NDArray[np.bool_]) -> float:
    """Return the mean of the share of tasks that a crowd has wrong together, given tasks whose answers are known.

    ``odds``: the log odds of a yes to each, held out; ``answers``: whether it is one, (M,) each. At most 1/2.
    """
    if not odds.size:
        return MISTAKEN
    right = expit(np.where(answers, odds, -odds))
    likelihood = np.array([np.log(right + share * (1.0 - 2.0 * right)).sum() for share in _SHARES])
    a, b = MISTAKEN * _TASKS, (1.0 - MISTAKEN) * _TASKS
    logarithm = likelihood + (a - 1.0) * np.log(_SHARES) + (b - 1.0) * np.log1p(-_SHARES) + 0.5 * np.log(_SHARES)
    after = np.exp(logarithm - logarithm.max())
    return min(round(float(after @ _SHARES / after.sum()), _DIGITS), 0.5)


def wrong_side(evidence: ArrayLike, mistaken: float, sureness: float) -> Floats:
    """Return the probability that the likelier answer is not the truth, as evidence on tasks has it.

    ``mistaken``: the share of tasks that the crowd has wrong together; ``sureness``: what evidence is multiplied by.
    """
    by_chance = expit(-sureness * np.abs(np.asarray(evidence, np.float64)))
    wrong: Floats = mistaken + (1.0 - 2.0 * mistaken) * by_chance
    return wrong


def likelier(evidence: Floats) -> NDArray[np.bool_]:
    """Return whether yes is the likelier answer to each task, (K,); between equal ones it is."""
    yes: NDArray[np.bool_] = evidence >= -_EQUAL
    return yes
