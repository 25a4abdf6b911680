"""Labels with the workers who gave them, and how far these agree."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.beliefs.evidence import RATE
from cutline.beliefs.intervals import Floats

Ints = NDArray[np.int64]

_WEAK = 0.65  # how often a crowd is right that is just worth asking
_CLEAR = 2.0  # standard errors
_PAIRS = 30.0  # pairs of labels that the prior of their agreement weighs


class Labels(NamedTuple):
    """N labels of K tasks by J workers, in the order in which they came.

    ``task`` and ``worker`` are numbers, (N,); ``label`` from 0 to 1, (N,), one between them counting as that part of a
    yes. ``known``: 1, 0, or -1 where the truth is not known, (K,).
    """

    task: Ints
    worker: Ints
    label: Floats
    known: NDArray[np.int8]


def agreement(labels: Labels, workers: int) -> tuple[float, bool]:
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
