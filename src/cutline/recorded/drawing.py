"""The kernel of replay: a policy draws recorded labels, without replacement, until each budget is spent.

The game is that of ``simulation.stepping``, and the tournament tree is the same; what differs is that rewards
come from a pile a task, and that a task whose pile is empty leaves the game.

The engine by rank does not play it: labels may be fractions, so that a record is no pair of whole numbers, and where
they are 0 or 1 a table would save a part only. Of 2,000 tasks with 30 labels each, half of them drawn, shuffling and
dealing the piles takes 2.8 ms of a run's 6.1.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.records import beginning, index_of
from cutline.simulation.tournament import Tree, empty_tree, lead_of, play_all_matches, set_index, still_leads

_LARGEST = np.finfo(np.float64).max


@jit_in_place
def _finite(index: float) -> float:
    """Return the index, or the largest number for an infinite one: infinity is for empty piles."""
    return index if index < _LARGEST else _LARGEST


@jit
def deal(
    order: NDArray[np.int64],
    arrival: NDArray[np.int64],
    task: NDArray[np.int64],
    labels: NDArray[np.float64],
    piles: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the labels pile by pile, shape (N,), each pile in the order of arrival.

    Pile p belongs to task ``order[p]``; ``piles`` (K + 1,) is filled with where the piles begin and end.
    """
    place = np.empty(order.size, np.int64)
    for p in range(order.size):
        place[order[p]] = p
    piles[:] = 0
    for i in range(task.size):
        piles[place[task[i]] + 1] += 1
    for p in range(order.size):
        piles[p + 1] += piles[p]
    top = piles.copy()
    dealt = np.empty(task.size)
    for i in arrival:
        p = place[task[i]]
        dealt[top[p]] = labels[i]
        top[p] += 1
    return dealt


class Piles(NamedTuple):
    """K tasks with N labels: task (N,) and labels (N,); sums (K,), of all labels of a task.

    In a run: order (K,) of the tasks, in which ties go to the first, and arrival (N,), the order of the labels.
    """

    order: NDArray[np.int64]
    arrival: NDArray[np.int64]
    task: NDArray[np.int64]
    labels: NDArray[np.float64]
    sums: NDArray[np.float64]


class Draw(NamedTuple):
    """What a kernel plays: a policy, from records that it has come to, up to the last budget.

    parameters (1, P), or the table of a policy that learns; begun (K,), how often each task was drawn before, all zeros
    at the beginning; budgets (B,) increasing, from K to N.
    """

    threshold: float
    parameters: NDArray[np.float64]
    begun: NDArray[np.int64]
    budgets: NDArray[np.int64]


class Drawn(NamedTuple):
    """What a kernel fills, (B, K) each: pulls of the tasks and their totals at each budget."""

    pulls: NDArray[np.int64]
    totals: NDArray[np.float64]


class Standing(NamedTuple):
    """Where a part of a run begins: labels drawn of each pile, as the place of the next one, their sums, the tree."""

    drawn: NDArray[np.int64]
    sums: NDArray[np.float64]
    tree: Tree


def _standing(policy: type[Policy]) -> Callable[..., Standing]:
    index, begin = index_of(policy), beginning(policy)

    @jit
    def standing(draw: Draw, order: Any, dealt: Any, piles: Any) -> Standing:
        """Return how many labels of each pile are drawn, their sums, and the tree of all indices, as a part begins."""
        arms = order.size
        tree = empty_tree(arms)
        leaf = tree.indices.size // 2
        drawn = piles[:arms].copy()
        sums = np.zeros(arms)
        afresh = draw.begun.sum() == 0
        for arm in range(arms):
            value = np.inf
            if afresh:
                first = begin(0, dealt[drawn[arm]], draw.threshold, draw.parameters)
                drawn[arm] += first.pulls
                sums[arm] = first.total
                value = first.value
            else:
                for _ in range(draw.begun[order[arm]]):
                    sums[arm] += dealt[drawn[arm]]
                    drawn[arm] += 1
                if drawn[arm] < piles[arm + 1]:
                    n = float(drawn[arm] - piles[arm])
                    value = index(n, sums[arm], draw.threshold, 0, draw.parameters)
            if drawn[arm] < piles[arm + 1]:
                tree.indices[leaf + arm] = _finite(value)
        play_all_matches(tree)
        return Standing(drawn, sums, tree)

    return standing


@made_once
def drawing_kernel(policy: type[Policy]) -> Callable[[Piles, Draw, Drawn], None]:
    """Compile the drawing of recorded labels for a policy."""
    index, standing = index_of(policy), _standing(policy)

    def play(given: Piles, draw: Draw, at: Drawn) -> None:
        order = given.order
        arms = order.size
        piles = np.empty(arms + 1, np.int64)
        dealt = deal(order, given.arrival, given.task, given.labels, piles)
        drawn, sums, tree = standing(draw, order, dealt, piles)
        time = drawn.sum() - piles[:arms].sum()
        for look in range(draw.budgets.size):
            left = draw.budgets[look] - time
            time = draw.budgets[look]
            while left > 0:
                lead = lead_of(tree)
                arm, value = lead.arm, lead.value
                while left > 0 and still_leads(lead, value):
                    sums[arm] += dealt[drawn[arm]]
                    drawn[arm] += 1
                    left -= 1
                    value = np.inf
                    if drawn[arm] < piles[arm + 1]:
                        n = float(drawn[arm] - piles[arm])
                        value = _finite(index(n, sums[arm], draw.threshold, 0, draw.parameters))
                set_index(tree, arm, value)
            for arm in range(arms):
                task = order[arm]
                at.pulls[look, task] = drawn[arm] - piles[arm]
                # Fractions add up to other last bits in another order; the whole pile has the one sum of the file.
                at.totals[look, task] = sums[arm] if drawn[arm] < piles[arm + 1] else given.sums[task]

    return kernel(play)
