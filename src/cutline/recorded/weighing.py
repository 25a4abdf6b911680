"""Recorded labels drawn and decided by what each worker's label is worth; see ``beliefs.workers``.

The piles are those of ``drawing``: the tasks in a random order, in which ties go to the first, and the labels of each
in the order of arrival. The workers' rates are learnt from the labels drawn so far, after one label a task and then
each time that ``next_fit`` says; what has been drawn after T labels depends on T alone.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cutline.beliefs.evidence import asking_index, log_odds, next_fit
from cutline.beliefs.workers import Crowd, Labels, likelier
from cutline.compiled import compile_plain, jit_in_place, kernel, made_once
from cutline.errors import InvalidInputError
from cutline.recorded.drawing import Piles
from cutline.recorded.observations import Counts, Observations
from cutline.simulation.tournament import empty_tree, lead_of, play_all_matches, set_index

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

WORKERS = ("alike", "weighed")
"""How labels count: all alike, or weighed by who gave them."""


class Dealt(NamedTuple):
    """The labels of one run, task by task, each task's in the order of arrival.

    task, worker and label, (N,) each, workers as numbers from 0 to ``workers`` - 1; starts (K + 1,), where a task's
    labels begin; order (K,) of the tasks; known (K,), the answers of the tasks whose answer is known, 1 or 0, else -1.
    """

    task: Ints
    worker: Ints
    label: Floats
    starts: Ints
    order: Ints
    known: NDArray[np.int8]
    workers: int

    @classmethod
    def deal(cls, piles: Piles, worker: Ints, known: NDArray[np.int8]) -> Self:
        """Return the piles with the worker of each label, (N,)."""
        by_task = piles.arrival[np.argsort(piles.task[piles.arrival], kind="stable")]
        task = piles.task[by_task]
        starts = np.searchsorted(task, np.arange(known.size + 1))
        workers = int(worker.max()) + 1
        return cls(task, worker[by_task], piles.labels[by_task], starts, piles.order, known, workers)

    def drawn(self, pulls: Ints) -> Labels:
        """Return the labels that are drawn when so many of each task are, (K,)."""
        some = np.arange(self.task.size) - self.starts[self.task] < pulls[self.task]
        return Labels(self.task[some], self.worker[some], self.label[some], self.known)

    def called_above(self, pulls: Ints) -> NDArray[np.bool_]:
        """Return to which tasks yes is the likelier answer, (K,), by the labels drawn."""
        labels = self.drawn(pulls)
        return likelier(Crowd.learn(labels, self.workers).evidence(labels))


class Weighed(NamedTuple):
    """What a kernel draws by: the weight of a 0 and of a 1 by each worker, (J + 1, 2), as the crowd has them.

    ``sums`` of the weights of the labels drawn, and ``pulls``, (K,) each, are brought up to date as labels are drawn.
    """

    weights: Floats
    prior: float
    correlation: float
    sums: Floats
    pulls: Ints


def check_workers(
    workers: str, recorded: Observations | Counts, threshold: float, known: Mapping[str, bool] | None
) -> bool:
    """Return whether labels are weighed; raise InvalidInputError where they cannot be."""
    if workers not in WORKERS:
        raise InvalidInputError(f"workers is {workers!r}; it must be one of {', '.join(WORKERS)}")
    if workers == "alike":
        if known is not None:
            raise InvalidInputError("known answers are there for workers to be weighed by; give workers weighed, too")
        return False
    if isinstance(recorded, Counts) or not any(recorded.workers):
        raise InvalidInputError(f"{recorded.source} does not say who gave which label, so workers cannot be weighed")
    if threshold != 0.5:
        raise InvalidInputError(f"threshold is {threshold}; workers are weighed at 0.5, where an answer is yes or no")
    return True


def draw_by_weight(dealt: Dealt, budgets: Ints) -> Ints:
    """Let the weights of the labels decide what is drawn; return the pulls of all tasks at all budgets, (B, K)."""
    at = np.empty((budgets.size, dealt.order.size), np.int64)
    pulls = np.ones(dealt.order.size, np.int64)
    spent = pulls.size
    at[budgets == spent] = pulls
    play = weighing_kernel()
    while spent < budgets[-1]:
        labels = dealt.drawn(pulls)
        crowd = Crowd.learn(labels, dealt.workers)
        until = next_fit(spent)
        state = Weighed(crowd.weights(), crowd.prior, crowd.correlation, crowd.sums(labels), pulls)
        for look in np.flatnonzero((budgets > spent) & (budgets <= until)):
            play(dealt, state, int(budgets[look]) - spent)
            spent = int(budgets[look])
            at[look] = pulls
        if spent < budgets[-1]:
            play(dealt, state, until - spent)
            spent = until
    return at


@made_once
def weighing_kernel() -> Callable[[Dealt, Weighed, int], None]:
    """Compile the drawing of so many labels, one after the other, each of the task with the smallest index."""
    index_of, odds_of = compile_plain(asking_index), compile_plain(log_odds)

    @jit_in_place
    def index(dealt: Dealt, state: Weighed, task: int) -> float:
        """Return the index of a task, infinity if all its labels are drawn."""
        n = state.pulls[task]
        if dealt.starts[task] + n == dealt.starts[task + 1]:
            return np.inf
        return index_of(odds_of(state.prior, state.sums[task], float(n), state.correlation), float(n))

    def play(dealt: Dealt, state: Weighed, labels: int) -> None:
        order = dealt.order
        tree = empty_tree(order.size)
        leaf = tree.indices.size // 2
        for place in range(order.size):
            tree.indices[leaf + place] = index(dealt, state, order[place])
        play_all_matches(tree)
        for _ in range(labels):
            place = lead_of(tree).arm
            task = order[place]
            label = dealt.starts[task] + state.pulls[task]
            no, yes = state.weights[dealt.worker[label]]
            state.sums[task] += no + dealt.label[label] * (yes - no)
            state.pulls[task] += 1
            set_index(tree, place, index(dealt, state, task))

    return kernel(play)
