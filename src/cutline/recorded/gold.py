"""Gold, the true answers that somebody knows, and the tasks that it belongs to."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.recorded.labels import is_number
from cutline.text import quoted


def gold_and_known(
    tasks: Sequence[str], gold: Mapping[str, bool] | None, known: Mapping[str, bool] | None, source: str
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the gold answer and the known answer of each task, shape (K,): 1, 0, or -1 where there is none.

    Raises InvalidInputError for an answer that is neither, for answers without any of the tasks, read from ``source``,
    and for gold all of which is known beforehand.
    """
    truth, told = _answers(tasks, gold, source, "gold"), _answers(tasks, known, source, "known")
    if gold is not None and not ((truth >= 0) & (told < 0)).any():
        raise InvalidInputError("all tasks that have gold are known beforehand; none is left to count errors on")
    return truth, told


def _answers(tasks: Sequence[str], gold: Mapping[str, bool] | None, source: str, what: str) -> NDArray[np.int8]:
    """Return the answer of each task; ``what`` they are called in messages."""
    answers = np.full(len(tasks), -1, np.int8)
    if gold is None:
        return answers
    for arm, task in enumerate(tasks):
        if task in gold:
            if gold[task] not in (0, 1):
                raise InvalidInputError(f"{what} of task {task!r} is {gold[task]!r}; it must be 0 or 1")
            answers[arm] = gold[task]
    if not (answers >= 0).any():
        ids = f": {quoted(next(iter(gold)))} there, {quoted(tasks[0])} here" if gold else ""
        raise InvalidInputError(f"{what} has no task in common with {source}{ids}; are the ids the same?")
    return answers


def unknown_ids(tasks: Sequence[str], gold: Mapping[str, bool]) -> tuple[str, ...]:
    """Return a sentence about the ids of gold that are no task, none if all are: 1.0 where the labels have 1."""
    known = set(tasks)
    unknown = [task for task in gold if task not in known]
    if not unknown:
        return ()
    said = f"gold: {len(unknown):,} of its {len(gold):,} ids are no task of the labels"
    without = {_loosely(task): task for task in tasks if task not in gold}
    for task in unknown:
        if _loosely(task) in without:
            return (f"{said}; {quoted(task)} may be the task {quoted(without[_loosely(task)])}",)
    return (f"{said}, such as {quoted(unknown[0])}",)


def _loosely(task: str) -> str | float:
    """Return what two ids share that differ in spaces, in case, or in how they write a number."""
    plain = task.strip().casefold()
    return float(plain) if is_number(plain) else plain
