"""The kernel of replay: a policy draws recorded labels, without replacement, until each budget is spent.

The game is that of ``simulation.stepping``, and the tournament tree is the same; what differs is that rewards
come from a pile a task, and that a task whose pile is empty leaves the game.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit, jit_in_place, kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.records import beginning, index_of
from cutline.simulation.tournament import empty_tree, lead_of, play_all_matches, set_index, still_leads
from cutline.threshold import is_above

_above = compile_plain(is_above)
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


@made_once
def drawing_kernel(policy: type[Policy]) -> Callable[..., None]:
    """Compile the drawing of recorded labels for a policy.

    The kernel plays one run. Its arguments: order (K,) of the tasks, in which ties go to the first; arrival
    (N,), the order of the labels; task (N,) and labels (N,); totals (K,), the sum of all labels of a task;
    threshold; parameters (1, P); budgets (B,) increasing, from K to N; and what it fills: above (B, K), the
    decisions, and pulls (B, K), to which it adds.
    """
    index, begin = index_of(policy), beginning(policy)

    def draw(  # noqa: PLR0913 - a kernel takes arrays, not objects
        order: NDArray[np.int64],
        arrival: NDArray[np.int64],
        task: NDArray[np.int64],
        labels: NDArray[np.float64],
        totals: NDArray[np.float64],
        threshold: float,
        parameters: NDArray[np.float64],
        budgets: NDArray[np.int64],
        above: NDArray[np.bool_],
        pulls: NDArray[np.int64],
    ) -> None:
        arms = order.size
        piles = np.empty(arms + 1, np.int64)
        dealt = deal(order, arrival, task, labels, piles)
        tree = empty_tree(arms)
        leaf = tree.indices.size // 2
        drawn = piles[:arms].copy()
        sums = np.empty(arms)
        for arm in range(arms):
            first = begin(0, dealt[drawn[arm]], threshold, parameters)
            drawn[arm] += first.pulls
            sums[arm] = first.total
            if drawn[arm] < piles[arm + 1]:
                tree.indices[leaf + arm] = _finite(first.value)
        play_all_matches(tree)
        time = drawn.sum() - piles[:arms].sum()
        for look in range(budgets.size):
            left = budgets[look] - time
            time = budgets[look]
            while left > 0:
                lead = lead_of(tree)
                arm, value = lead.arm, lead.value
                while left > 0 and still_leads(lead, value):
                    sums[arm] += dealt[drawn[arm]]
                    drawn[arm] += 1
                    left -= 1
                    value = np.inf
                    if drawn[arm] < piles[arm + 1]:
                        value = _finite(index(float(drawn[arm] - piles[arm]), sums[arm], threshold, 0, parameters))
                set_index(tree, arm, value)
            for arm in range(arms):
                n = drawn[arm] - piles[arm]
                # Fractions add up to other last bits in another order; the whole pile has the one sum of the file.
                s = sums[arm] if drawn[arm] < piles[arm + 1] else totals[order[arm]]
                above[look, order[arm]] = n > 0 and _above(float(n), s, threshold)
                pulls[look, order[arm]] += n

    return kernel(draw)
