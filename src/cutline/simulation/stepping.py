"""One pull at a time: the definition of every policy's game, kept simple.

At each time step the arm with the smallest index is pulled, the lowest-numbered of equals. A tournament
tree tells which that is, and the rival that it has to stay below; while it does, it is pulled on without touching the
tree.
"""

from typing import Any

import numpy as np

from cutline.compiled import jit_inlined, kernel, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Games, Kernel, Outcome
from cutline.simulation.records import Records, beginning, empty_records, take_down
from cutline.simulation.rewards import BLOCK, Streams, begin_run, empty_streams, reward_word, stream_of
from cutline.simulation.tournament import Tree, empty_tree, enter, lead_of, set_index, still_leads

_ONE = np.uint64(1)


@made_once
def stepping_kernel(policy: type[Policy]) -> Kernel:
    """Compile the stepping engine for a policy: a kernel that plays the games and stops at every budget to look."""
    index = with_parameters(policy.index, 3)
    begin = beginning(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first

    @jit_inlined
    def pull(
        left: int, streams: Streams, words: Any, records: Records, tree: Tree, threshold: float, table: Any
    ) -> None:
        """Make ``left`` pulls; ``words`` (K,) are those in which the arms' last rewards stand."""
        while left > 0:
            lead = lead_of(tree)
            arm, value = lead.arm, lead.value
            n = records.pulls[arm]
            s = records.totals[arm]
            word = words[arm]
            while left > 0 and still_leads(lead, value):
                lane = n & (BLOCK - 1)
                if lane == 0:
                    word = reward_word(stream_of(streams, arm), n // BLOCK)
                s += np.int64((word >> np.uint64(lane)) & _ONE)
                n += 1
                left -= 1
                value = index(float(n), float(s), threshold, arm, table)
            records.pulls[arm] = n
            records.totals[arm] = s
            words[arm] = word
            set_index(tree, arm, value)

    def step(games: Games, outcome: Outcome) -> None:
        arms = games.means.size
        streams = empty_streams(games.means)
        records = empty_records(arms)
        words = np.empty(arms, np.uint64)
        tree = empty_tree(arms)
        afresh = games.parameters.shape[0] > 1
        for run in range(outcome.errors.shape[1]):
            begin_run(streams, games.key, games.first_run + run, 0)
            time = 0
            for look in range(games.budgets.size):
                table = games.parameters[look if afresh else 0]
                if look == 0 or afresh:
                    time = arms if pulls_each_arm_first else 0
                    for arm in range(arms):
                        words[arm] = reward_word(stream_of(streams, arm), 0)
                        first = begin(arm, np.int64(words[arm] & _ONE), games.threshold, table)
                        records.pulls[arm], records.totals[arm], records.indices[arm] = first
                    enter(tree, records.indices)
                pull(games.budgets[look] - time, streams, words, records, tree, games.threshold, table)
                time = games.budgets[look]
                take_down(games, outcome, run, look, records.pulls, records.totals)

    return kernel(step)
