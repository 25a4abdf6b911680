"""How far each worker is to be believed: rates that are learnt from how the labels of all workers agree.

The truth of a task is yes or no. A worker has two rates: how often he is right where the truth is yes, and where it is
no. They are fitted together with the truth of all tasks, as ``crowd_fit`` has it. A worker's rates have a Beta prior
that weighs as much as 5.5 labels, and its mean, one for both rates, is the crowd's and is learnt itself from all
workers: a worker with few labels is taken to be like the crowd.

The evidence on a task is the log odds that its truth is yes: those of the share of yes, and the sum of its labels' log
likelihood ratios, discounted as much as the labels of a task hang together beyond what its truth makes them. Where the
labels of a task clearly agree less than those of a weak crowd would, the crowd may be no better than chance: then
workers cannot be told apart, and all count alike.

How sure decisions are, ``doubts`` has: it learns what to multiply evidence by, and on what share of the tasks a crowd
is wrong together.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, logit

from cutline.beliefs.crowd_fit import LABELS, fit_crowd, log_ratios
from cutline.beliefs.doubts import HeldOut, hold_out, likelier, mistaken_share, sureness_of, wrong_side
from cutline.beliefs.evidence import MISTAKEN, RATE, log_odds
from cutline.beliefs.intervals import Floats
from cutline.beliefs.labelled import Labels, agreement

__all__ = ["Crowd", "Labels", "likelier", "wrong_side"]

_LEAST = 0.51  # how often a crowd is right of which that cannot be told: so its majority counts


@dataclass(frozen=True, eq=False)
class Crowd:
    """J workers, as labels show them.

    ``right`` and ``wrong``, (J, 2): tasks on which a worker is taken to have been so, whose truth is no, and yes.
    ``rate``: how often the crowd is right. ``prevalence``: the share of tasks whose truth is yes. ``mistaken``: the
    share of tasks that the crowd has wrong together. ``tells``: whether the labels tell workers apart; if not, each
    counts as the crowd. ``correlation``: n labels of a task tell as much as n / (1 + (n - 1) correlation) would if they
    were independent. ``sureness``: what evidence is multiplied by to say how sure a decision is.
    """

    right: Floats
    wrong: Floats
    rate: float = RATE
    prevalence: float = 0.5
    mistaken: float = MISTAKEN
    tells: bool = False
    correlation: float = 0.0
    sureness: float = 1.0

    @classmethod
    def learn(cls, labels: Labels, workers: int, rates: int = 2) -> Self:
        """Return what labels tell of so many workers. With one rate each, it is the same where the truth is no."""
        if not labels.task.size:
            return cls(np.zeros((workers, 2)), np.zeros((workers, 2)))
        covariance, tells = agreement(labels, workers)
        fit = fit_crowd(labels, workers, one_rate=rates == 1)
        crowd = cls(fit.right, fit.wrong, fit.rate, fit.prevalence, MISTAKEN, tells, fit.correlation)
        if not tells:
            rate = max(0.5 + math.sqrt(covariance), _LEAST)
            crowd = replace(crowd, rate=rate, prevalence=0.5, correlation=0.0)
        evidence = crowd.evidence(labels)
        tasks, odds = hold_out(labels, fit, rates == 1) if tells else HeldOut(np.arange(evidence.size), evidence)
        known = labels.known[tasks]
        told = known >= 0
        return replace(
            crowd,
            mistaken=mistaken_share(odds[told], known[told] == 1),
            sureness=sureness_of(evidence[tasks][~told], odds[~told]),
        )

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
        return log_ratios(self.rates())

    def evidence(self, labels: Labels) -> Floats:
        """Return the log odds that the truth of each task is yes, (K,), as its labels alone have it."""
        numbers = np.bincount(labels.task, minlength=labels.known.size)
        odds: Floats = log_odds(self.prior, self.sums(labels), np.maximum(numbers, 1), self.correlation)
        return odds

    def sums(self, labels: Labels) -> Floats:
        """Return the sum of the weights of each task's labels, (K,)."""
        no, yes = self.weights()[labels.worker].T
        each = no + labels.label * (yes - no)
        sums: Floats = np.bincount(labels.task, each, labels.known.size).astype(np.float64)
        return sums

    def wrong_side(self, evidence: ArrayLike) -> Floats:
        """Return the probability that the likelier answer to a task is not the truth; see ``wrong_side``."""
        return wrong_side(evidence, self.mistaken, self.sureness)

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
        return self.right + LABELS * self.rate, self.wrong + LABELS * (1.0 - self.rate)
