"""What the skip-ahead engine is made of: raising one arm to a level, and pulling on by the stepping engine's rule.

Both pass over blocks of rewards where the policy's ``ceiling`` says that no record inside can matter: 64 at a time,
then 8, then one by one.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from cutline.compiled import compile_plain, jit, with_parameters
from cutline.policies.policy import Policy, excess
from cutline.simulation.rewards import BLOCK, reward_word
from cutline.simulation.tournament import play_all_matches, rival_of, set_index

_excess = compile_plain(excess)
_PART = 8
_PART_BITS = np.uint64((1 << _PART) - 1)


@jit
def count_ones(word: np.uint64) -> int:
    """Return the number of ones in a word (LLVM makes one instruction of it)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit
def count_ones_of_part(word: np.uint64, lane: int) -> int:
    """Return the number of ones among the ``_PART`` rewards from a lane on."""
    return count_ones((word >> np.uint64(lane)) & _PART_BITS)


@jit
def excess_so_far(pulls: int, total: int, threshold: float) -> float:
    """Return the excess of a record, 0 before the first pull."""
    return _excess(float(pulls), float(total), threshold) if pulls > 0 else 0.0


class Climbing(NamedTuple):
    """The compiled pieces for one policy."""

    index_of: Callable[..., float]
    climb: Callable[..., Any]
    place: Callable[..., Any]
    finish: Callable[..., Any]


@cache
def climbing(policy: type[Policy]) -> Climbing:
    """Compile the pieces for a policy that has a ceiling."""
    assert policy.ceiling is not None
    index = with_parameters(policy.index, 3)
    ceiling = with_parameters(policy.ceiling, 5)

    @jit
    def bound_of(n: int, length: int, start: float, ones: int, threshold: float, arm: int, parameters: Any) -> float:
        """Return the ceiling of a block that begins at an excess, whatever the order of its rewards."""
        margin = 1e-15 * (n + length)  # more than ``excess`` can be off by rounding
        lowest = start - (length - ones) * threshold - margin
        highest = start + ones * (1.0 - threshold) + margin
        return ceiling(float(n), float(length), lowest, highest, threshold, arm, parameters)

    @jit
    def bound_by_parts(n: int, word: np.uint64, start: float, threshold: float, arm: int, parameters: Any) -> float:
        """Return the ceiling of a 64-block whose parts come in the order that they do."""
        lowest = start
        highest = start
        for lane in range(0, BLOCK, _PART):
            ones = count_ones_of_part(word, lane)
            highest = max(highest, start + ones * (1.0 - threshold))
            lowest = min(lowest, start - (_PART - ones) * threshold)
            start += ones - _PART * threshold
        margin = 1e-14 * (n + BLOCK)
        return ceiling(float(n), float(BLOCK), lowest - margin, highest + margin, threshold, arm, parameters)

    @jit
    def climb(
        arm: int, source: Any, problem: Any, start: Any, levels: Any, limit: int, notes: Any, skipped: Any
    ) -> int:
        """Raise one arm through the levels; note its first record above each; return how many were noted.

        ``source`` is (state, increment, mean), ``problem`` (threshold, parameters), ``start`` (pulls, total, index),
        ``notes`` (pulls, totals) of shape (levels,). It gives up at a level that it has not passed at ``limit`` pulls.
        """
        state, increment, mean = source
        threshold, parameters = problem
        pulls_at, totals_at = notes
        n, s, value = start
        level = 0
        while level < levels.size and value > levels[level]:
            pulls_at[level] = n
            totals_at[level] = s
            level += 1
        while level < levels.size and n < limit:
            word = reward_word(state, increment, mean, n // BLOCK)
            end = (n // BLOCK + 1) * BLOCK
            if n + BLOCK == end:
                ones = count_ones(word)
                here = excess_so_far(n, s, threshold)
                if (
                    bound_of(n, BLOCK, here, ones, threshold, arm, parameters) <= levels[level]
                    or bound_by_parts(n, word, here, threshold, arm, parameters) <= levels[level]
                ):
                    n += BLOCK
                    s += ones
                    skipped[0] += BLOCK
                    continue
            while n < end and level < levels.size:
                lane = n & (BLOCK - 1)
                if lane & (_PART - 1) == 0:
                    ones = count_ones_of_part(word, lane)
                    here = excess_so_far(n, s, threshold)
                    if bound_of(n, _PART, here, ones, threshold, arm, parameters) <= levels[level]:
                        n += _PART
                        s += ones
                        skipped[0] += _PART
                        continue
                s += np.int64((word >> np.uint64(lane)) & np.uint64(1))
                n += 1
                value = index(float(n), float(s), threshold, arm, parameters)
                while level < levels.size and value > levels[level]:
                    pulls_at[level] = n
                    totals_at[level] = s
                    level += 1
        return level

    @jit
    def place(means: Any, problem: Any, game: Any, pulls: Any, totals: Any) -> None:
        """Set the game to one record an arm."""
        threshold, parameters = problem
        now_pulls, now_totals, tree, _, blocks = game
        leaf = tree[0].size // 2
        for arm in range(means.size):
            now_pulls[arm] = pulls[arm]
            now_totals[arm] = totals[arm]
            tree[1][leaf + arm] = index(float(pulls[arm]), float(totals[arm]), threshold, arm, parameters)
            blocks[arm] = -1
        play_all_matches(tree)

    @jit
    def finish(means: Any, problem: Any, sources: Any, game: Any, left: int, skipped: Any) -> None:
        """Make ``left`` pulls by the rule of the stepping engine, passing over parts of a stay that cannot end it."""
        pulls, totals, tree, words, blocks = game
        winners, indices = tree
        states, increments = sources
        threshold, parameters = problem
        while left > 0:
            current = winners[1]
            value = indices[1]
            rival, bar = rival_of(tree, current)
            n = pulls[current]
            s = totals[current]
            word = words[current]
            while left > 0 and (value < bar or (value == bar and current <= rival)):
                lane = n & (BLOCK - 1)
                if blocks[current] != n // BLOCK:
                    blocks[current] = n // BLOCK
                    word = reward_word(states[current], increments[current], means[current], n // BLOCK)
                if lane & (_PART - 1) == 0 and left >= _PART:
                    length = BLOCK if lane == 0 and left >= BLOCK else _PART
                    ones = count_ones(word) if length == BLOCK else count_ones_of_part(word, lane)
                    here = excess_so_far(n, s, threshold)
                    if bound_of(n, length, here, ones, threshold, current, parameters) < bar:
                        n += length
                        s += ones
                        left -= length
                        skipped[0] += length
                        value = index(float(n), float(s), threshold, current, parameters)
                        continue
                s += np.int64((word >> np.uint64(lane)) & np.uint64(1))
                n += 1
                left -= 1
                value = index(float(n), float(s), threshold, current, parameters)
            pulls[current] = n
            totals[current] = s
            words[current] = word
            set_index(tree, current, value)

    return Climbing(index, climb, place, finish)
