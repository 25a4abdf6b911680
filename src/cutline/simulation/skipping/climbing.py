"""What the skip-ahead engine is made of: raising one arm to a level, and pulling on by the stepping engine's rule.

A climb takes what is left of a word of rewards and asks the policy's ``ceiling`` whether any record in it can have an
index above the level: first with all that the number of ones leaves open about their order, then with the true range
of the excess. If it still can, it goes on in groups: the ceilings of all records of a group, each for itself, are
computed side by side, and only records with a ceiling above the level get an index.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cutline.compiled import jit, jit_in_place, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.simulation.rewards import BLOCK, count_ones, reward_words
from cutline.simulation.tournament import play_all_matches, rival_of, set_index

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_BATCH = 8  # words
_PART = 8
_PART_BITS = np.uint64((1 << _PART) - 1)
_GROUP = 16  # records whose ceilings are computed side by side
_FEW = 16  # with fewer pulls there is nothing to skip
_SHORT_STAY = 4  # so many pulls of a stay are looked at one by one; most stays are no longer
ROUNDING = 1e-14  # of the pulls: more than an excess, summed over a word, can be off


@jit
def swings_of(threshold: float) -> Any:
    """Return, (256, 3), how far the excess falls, rises, and goes in all over 8 rewards, the bits of a number."""
    swings = np.zeros((1 << _PART, 3))
    for rewards in range(1 << _PART):
        here = 0.0
        for lane in range(_PART):
            here += float((rewards >> lane) & 1) - threshold
            swings[rewards, 0] = min(swings[rewards, 0], here)
            swings[rewards, 1] = max(swings[rewards, 1], here)
        swings[rewards, 2] = here
    return swings


@jit
def empty_shelf(arms: int, kept: int) -> Any:
    """Return an empty shelf for ``kept`` words of each arm, rounded up to whole batches."""
    width = -(-kept // _BATCH) * _BATCH
    words = np.empty((arms, width), np.uint64)
    return words, np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.empty(_BATCH, np.uint64)


@jit_in_place
def word_at(arm: int, block: int, source: Any, shelf: Any) -> Any:
    """Return a word of rewards of the arm whose ``source`` is (state, increment, mean).

    Words are made in batches and kept on the shelf, (words, first, known, space): for each arm a row of ``words``,
    ``known`` of them, from block ``first`` on. To start an arm anew, set its ``known`` to 0.
    """
    words, first, known, space = shelf
    place = block - first[arm]
    if 0 <= place < known[arm]:
        return words[arm, place]
    if place != known[arm] or place == words.shape[1]:
        first[arm] = block
        place = 0
    state, increment, mean = source
    end = min(place + (_BATCH if block >= _BATCH else _BATCH // 2), words.shape[1])
    reward_words(state, increment, mean, block, words[arm, place:end], space)
    known[arm] = end
    return words[arm, place]


@jit_in_place
def count_rewards(arm: int, source: Any, shelf: Any, first: int, end: int) -> int:
    """Return the sum of an arm's rewards ``first`` to ``end`` - 1."""
    total = 0
    n = first
    while n < end:
        lane = n & (BLOCK - 1)
        word = word_at(arm, n // BLOCK, source, shelf) >> np.uint64(lane)
        length = min(BLOCK - lane, end - n)
        if length < BLOCK:
            word &= (_ONE << np.uint64(length)) - _ONE
        total += count_ones(word)
        n += length
    return total


class Climbing(NamedTuple):
    """The compiled pieces for one policy.

    They take the ``problem`` as (threshold, parameters, swings), and records as (pulls, totals, indices), each (K,).
    """

    index_of: Callable[..., float]
    climb: Callable[..., Any]
    place: Callable[..., None]
    finish: Callable[..., Any]


@made_once
def climbing(policy: type[Policy]) -> Climbing:
    """Compile the pieces for a policy that has a ceiling."""
    assert policy.ceiling is not None
    index = with_parameters(policy.index, 3)
    ceiling = with_parameters(policy.ceiling, 5)
    ceiling_inlined = with_parameters(policy.ceiling, 5, inlined=True)

    @jit_in_place
    def bound_of(n: int, length: int, lowest: float, highest: float, problem: Any, arm: int) -> float:
        threshold, parameters, _ = problem
        margin = ROUNDING * (n + length)
        return ceiling(float(n), float(length), lowest - margin, highest + margin, threshold, arm, parameters)

    @jit_in_place
    def ceilings_above(
        n: int, s: int, word: Any, level: float, threshold: float, parameters: Any, arm: int
    ) -> np.uint64:
        # LLVM makes vectors of this loop; if the mask of the first lanes comes from a function, it does not.
        found = np.uint64(0)
        for lane in range(_GROUP):
            pulls = float(n + 1 + lane)
            total = s + count_ones(word & ((_TWO << np.uint64(lane)) - _ONE))
            excess = float(total) - threshold * pulls
            margin = ROUNDING * pulls
            bound = ceiling_inlined(pulls, 0.0, excess - margin, excess + margin, threshold, arm, parameters)
            found |= np.uint64(bound > level) << np.uint64(lane)
        return found

    @jit_in_place
    def suspects(n: int, s: int, word: Any, length: int, level: float, problem: Any, arm: int) -> np.uint64:
        """Return which of the next records, at most a group, have a ceiling above the level, as bits of a word.

        The compiler makes vectors of the loop if there is no branch left in it, hence a loop for the threshold 1/2.
        """
        threshold, parameters, _ = problem
        if threshold == 0.5:
            found = ceilings_above(n, s, word, level, 0.5, parameters, arm)
        else:
            found = ceilings_above(n, s, word, level, threshold, parameters, arm)
        return found & ((_ONE << np.uint64(length)) - _ONE)

    @jit_in_place
    def climb(  # noqa: PLR0913 - kernels take arrays, not objects
        arm: int, source: Any, problem: Any, shelf: Any, n: Any, s: Any, level: float, limit: int, skipped: Any
    ) -> tuple[int, int, float]:
        """Pull an arm until its index is above the level or it has ``limit`` pulls; return (pulls, total, index)."""
        threshold, parameters, swings = problem
        while n < limit:
            lane = n & (BLOCK - 1)
            length = min(BLOCK - lane, limit - n)
            word = word_at(arm, n // BLOCK, source, shelf) >> np.uint64(lane)
            if length < BLOCK:
                word &= (_ONE << np.uint64(length)) - _ONE
            if n >= _FEW:
                ones = count_ones(word)
                here = s - threshold * n
                lowest = here - (length - ones) * threshold
                highest = here + ones * (1.0 - threshold)
                if bound_of(n, length, lowest, highest, problem, arm) <= level:
                    n += length
                    s += ones
                    skipped[0] += length
                    continue
                if length > _GROUP:
                    lowest = here
                    highest = here
                    rest = word
                    for _ in range(0, length, _PART):
                        part = rest & _PART_BITS
                        rest >>= np.uint64(_PART)
                        lowest = min(lowest, here + swings[part, 0])
                        highest = max(highest, here + swings[part, 1])
                        here += swings[part, 2]
                    if bound_of(n, length, lowest, highest, problem, arm) <= level:
                        n += length
                        s += ones
                        skipped[0] += length
                        continue
            while length > 0:
                step = min(_GROUP, length)
                group = word & ((_ONE << np.uint64(step)) - _ONE)
                word >>= np.uint64(step)
                length -= step
                ones = count_ones(group)
                left = suspects(n, s, group, step, level, problem, arm)
                while left != np.uint64(0):
                    up_to = left ^ (left - _ONE)
                    pulls = n + count_ones(up_to)
                    total = s + count_ones(group & up_to)
                    value = index(float(pulls), float(total), threshold, arm, parameters)
                    if value > level:
                        return pulls, total, value
                    left &= left - _ONE
                n += step
                s += ones
        return n, s, index(float(n), float(s), threshold, arm, parameters)

    @jit_in_place
    def place(records: Any, tree: Any) -> None:
        """Play the tournament of the records' indices."""
        indices = records[2]
        leaf = tree[0].size // 2
        for arm in range(indices.size):
            tree[1][leaf + arm] = indices[arm]
        play_all_matches(tree)

    @jit_in_place
    def finish(  # noqa: PLR0913 - kernels take arrays, not objects
        means: Any,
        problem: Any,
        sources: Any,
        shelf: Any,
        records: Any,
        tree: Any,
        left: int,
        stays: int,
        level: float,
        skipped: Any,
    ) -> tuple[int, float, float]:
        """Pull by the rule of the stepping engine, until ``left`` pulls are made or the arm changed ``stays`` times.

        Returns how many pulls are left; the level, which is the highest index with which an arm came to be pulled, if
        it is above ``level``; and one that no index was above when its arm was pulled: the last arm may have gone on up
        to its rival's. A stay ends when the arm's index passes its rival's, so it is a climb.
        """
        highest = level
        pulls, totals, values = records
        winners, indices = tree
        states, increments = sources
        threshold, parameters, _ = problem
        while left > 0 and stays > 0:
            stays -= 1
            current = winners[1]
            value = indices[1]
            level = max(level, value)
            rival, bar = rival_of(tree, current)
            highest = max(level, bar)
            if current > rival:
                bar = np.nextafter(bar, -np.inf)  # it loses a tie
            source = (states[current], increments[current], means[current])
            began = pulls[current]
            n = began
            s = totals[current]
            word = word_at(current, n // BLOCK, source, shelf) >> np.uint64(n & (BLOCK - 1))
            end = min(n + min(left, _SHORT_STAY), (n // BLOCK + 1) * BLOCK)
            while n < end and value <= bar:
                s += np.int64(word & _ONE)
                word >>= _ONE
                n += 1
                value = index(float(n), float(s), threshold, current, parameters)
            if value <= bar and n < began + left:
                n, s, value = climb(current, source, problem, shelf, n, s, bar, began + left, skipped)
            left -= n - began
            pulls[current] = n
            totals[current] = s
            values[current] = value
            set_index(tree, current, value)
        return left, level, highest

    return Climbing(index, climb, place, finish)
