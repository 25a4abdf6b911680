"""One pull at a time: the definition of every policy's game, kept simple.

At each time step the arm with the smallest index is pulled, the lowest-numbered of equals. A tournament
tree tells which that is, and the rival that it has to stay below; while it does, it is pulled on without touching the
tree.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cutline.compiled import jit_inlined, kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Games, Kernel, Outcome
from cutline.simulation.records import Records, beginning, empty_records, index_of, take_down
from cutline.simulation.rewards import BLOCK, Streams, begin_run, empty_streams, reward_word, stream_of
from cutline.simulation.stages import Stage, StageKernel
from cutline.simulation.tournament import Tree, empty_tree, enter, lead_of, set_index, still_leads

_ONE = np.uint64(1)


@made_once
def _pulling(policy: type[Policy]) -> Callable[..., None]:
    """Compile the game from where it stands, without looking up."""
    index = index_of(policy)

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

    return pull


@made_once
def stepping_kernel(policy: type[Policy]) -> Kernel:
    """Compile the stepping engine for a policy: a kernel that plays the games and stops at every budget to look."""
    begin, pull = beginning(policy), _pulling(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first

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


@made_once
def stage_kernel(policy: type[Policy]) -> StageKernel:
    """Compile the stepping engine for a policy that learns: a kernel that plays from one refit to the next."""
    index, begin, pull = index_of(policy), beginning(policy), _pulling(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first

    def play(stage: Stage, pulls: Any, totals: Any) -> None:
        arms = stage.means.size
        streams = empty_streams(stage.means)
        begin_run(streams, stage.key, stage.run, 0)
        records = empty_records(arms)
        words = np.empty(arms, np.uint64)
        tree = empty_tree(arms)
        time = stage.spent
        if time == 0 and pulls_each_arm_first:
            time = arms
        for arm in range(arms):
            n, s = stage.pulls[arm], stage.totals[arm]
            words[arm] = reward_word(stream_of(streams, arm), n // BLOCK)
            value = 0.0
            if stage.spent == 0:
                n, s, value = begin(arm, np.int64(words[arm] & _ONE), stage.threshold, stage.table)
            else:
                value = index(float(n), float(s), stage.threshold, arm, stage.table)
            records.pulls[arm], records.totals[arm], records.indices[arm] = n, s, value
        enter(tree, records.indices)
        for look in range(stage.budgets.size):
            pull(stage.budgets[look] - time, streams, words, records, tree, stage.threshold, stage.table)
            time = stage.budgets[look]
            pulls[look, :] = records.pulls
            totals[look, :] = records.totals

    return kernel(play)
