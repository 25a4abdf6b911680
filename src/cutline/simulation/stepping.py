"""One pull at a time: the definition of every policy's game, kept simple.

At each time step the arm with the smallest index is pulled, the lowest-numbered of equals. A tournament
tree tells which that is, and the rival that it has to stay below; while it does, it is pulled on without touching the
tree.
"""

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit_in_place, kernel, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.problem import is_above
from cutline.simulation.chunks import Games, Kernel, Outcome
from cutline.simulation.rewards import BLOCK, arm_increment, arm_state, reward_word
from cutline.simulation.tournament import empty_tree, play_all_matches, rival_of, set_index

_above = compile_plain(is_above)
_ONE = np.uint64(1)


@jit_in_place
def count_errors(
    means: NDArray[np.float64], threshold: float, pulls: NDArray[np.int64], totals: NDArray[np.int64]
) -> int:
    """Return how many arms are called wrongly; an arm without pulls is called below."""
    wrong = 0
    for arm in range(means.size):
        above = pulls[arm] > 0 and _above(float(pulls[arm]), float(totals[arm]), threshold)
        if above != (means[arm] >= threshold):
            wrong += 1
    return wrong


@made_once
def stepping_kernel(policy: type[Policy]) -> Kernel:
    """Compile the stepping engine for a policy: a kernel that plays the games and stops at every budget to look."""
    index = with_parameters(policy.index, 3)
    pulls_each_arm_first = policy.pulls_each_arm_first

    def step(games: Games, outcome: Outcome) -> None:
        means, threshold, parameters, key, first_run, budgets = games
        errors = outcome.errors
        arms = means.size
        tree = empty_tree(arms)
        winners, indices = tree
        leaf = winners.size // 2
        pulls = np.empty(arms, np.int64)
        totals = np.empty(arms, np.int64)
        words = np.empty(arms, np.uint64)
        states = np.empty(arms, np.uint64)
        increments = np.empty(arms, np.uint64)
        afresh = parameters.shape[0] > 1
        for run in range(errors.shape[1]):
            for arm in range(arms):
                states[arm] = arm_state(key, first_run + run, arm)
                increments[arm] = arm_increment(states[arm])
            time = 0
            for look in range(budgets.size):
                table = parameters[look if afresh else 0]
                if look == 0 or afresh:
                    time = 0
                    for arm in range(arms):
                        pulls[arm] = 0
                        totals[arm] = 0
                        if pulls_each_arm_first:
                            words[arm] = reward_word(states[arm], increments[arm], means[arm], 0)
                            pulls[arm] = 1
                            totals[arm] = np.int64(words[arm] & _ONE)
                            time += 1
                        indices[leaf + arm] = index(float(pulls[arm]), float(totals[arm]), threshold, arm, table)
                    play_all_matches(tree)
                left = budgets[look] - time
                time = budgets[look]
                while left > 0:
                    current = winners[1]
                    value = indices[1]
                    rival, bar = rival_of(tree, current)
                    n = pulls[current]
                    s = totals[current]
                    word = words[current]
                    while left > 0 and (value < bar or (value == bar and current <= rival)):
                        lane = n & (BLOCK - 1)
                        if lane == 0:
                            word = reward_word(states[current], increments[current], means[current], n // BLOCK)
                        s += np.int64((word >> np.uint64(lane)) & _ONE)
                        n += 1
                        left -= 1
                        value = index(float(n), float(s), threshold, current, table)
                    pulls[current] = n
                    totals[current] = s
                    words[current] = word
                    set_index(tree, current, value)
                errors[look, run] = count_errors(means, threshold, pulls, totals)
                outcome.pulls[look] += pulls
                outcome.totals[look] += totals

    return kernel(step)
