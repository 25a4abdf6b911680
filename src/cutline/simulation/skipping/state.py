"""What the pieces of the skip-ahead engine work on: the arrays of a run, and the rule that its arms are pulled by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit
from cutline.simulation.records import Records, empty_records
from cutline.simulation.rewards import Streams, empty_streams
from cutline.simulation.skipping.word_cache import WordCache, empty_word_cache
from cutline.simulation.tournament import Tree, empty_tree

PART = 8
"""Rewards whose swings are known beforehand."""


class Rule(NamedTuple):
    """What an index depends on beside the record: the threshold, and parameters (K, P), a row an arm.

    ``swings``, (256, 3), is how far the excess falls, rises, and goes in all over 8 rewards, the bits of a number.
    """

    threshold: float
    parameters: NDArray[np.float64]
    swings: NDArray[np.float64]


class Run(NamedTuple):
    """The arrays of a run. ``skipped``, (1,), counts the rewards passed over without a look at each."""

    streams: Streams
    cache: WordCache
    records: Records
    tree: Tree
    skipped: NDArray[np.int64]


@jit
def empty_run(means: NDArray[np.float64], words: int, skipped: NDArray[np.int64]) -> Run:
    """Return room for a run with arms of these means, with that many words of each arm in the cache."""
    arms = means.size
    return Run(empty_streams(means), empty_word_cache(arms, words), empty_records(arms), empty_tree(arms), skipped)


@jit
def swings_of(threshold: float) -> NDArray[np.float64]:
    """Return the swings that go with a threshold."""
    swings = np.zeros((1 << PART, 3))
    for rewards in range(1 << PART):
        here = 0.0
        for lane in range(PART):
            here += float((rewards >> lane) & 1) - threshold
            swings[rewards, 0] = min(swings[rewards, 0], here)
            swings[rewards, 1] = max(swings[rewards, 1], here)
        swings[rewards, 2] = here
    return swings
