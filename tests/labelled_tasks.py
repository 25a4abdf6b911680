"""Labels by crowds whose rates are known, on tasks whose truth is known."""

from typing import Any

import numpy as np

from cutline.beliefs.workers import Labels


def labels_of(task: Any, worker: Any, label: Any, known: Any = None) -> Labels:
    task = np.asarray(task)
    told = np.full(task.max() + 1, -1, np.int8) if known is None else np.asarray(known, np.int8)
    return Labels(task, np.asarray(worker), np.asarray(label, np.float64), told)


def crowd(
    tasks: int, workers: int, each: int, seed: int, prevalence: float = 0.5, good: tuple[float, float] = (4.0, 1.5)
) -> tuple[Labels, Any, Any]:
    """Return labels, the truth of the tasks, and the workers' rates where the truth is no and where it is yes."""
    random = np.random.default_rng(seed)
    truth = random.random(tasks) < prevalence
    rates = random.beta(*good, (workers, 2))
    task = np.repeat(np.arange(tasks), each)
    worker = random.integers(0, workers, task.size)
    right = random.random(task.size) < rates[worker, truth[task].astype(int)]
    return labels_of(task, worker, right == truth[task]), truth, rates


def majority(labels: Labels) -> Any:
    return np.bincount(labels.task, labels.label) >= 0.5 * np.bincount(labels.task)
