"""Ties: of the pulls at the level of a look only the first are made before it, in the order of the arms.

Which these are matters to the number of errors only if some of them change a decision. Blocks of arms whose pulls are
all made, or none of them, need their counts only. The arms of a block in which looks come are walked again, one by one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.counting import RANK_BIT, Counter, more_at, pulls_at, raised
from cutline.simulation.ranking.levels import Levels
from cutline.simulation.ranking.strides import LANES, Marks, word_of


@jit_in_place
def _pass_blocks(counter: Counter, levels: Levels, look: int) -> Any:
    """Make all pulls of the blocks before the one in which a look comes; return that block's number.

    None are left to be made there if they change no decision.
    """
    place, block = 4 * levels.rank[look], 0
    while levels.left[look] > 0:
        pulls = pulls_at(counter.made, place)
        if pulls > levels.left[look]:
            if counter.made[place + 1] + counter.made[place + 2] == 0:
                levels.left[look] = 0
            break
        levels.left[look] -= pulls
        levels.more[look] += more_at(counter.made, place)
        place += counter.sums.size
        block += 1
    return block


@jit_in_place
def _walk_through(
    games: Games, run: Any, arm: Any, word: Any, marks: Marks, levels: Levels, first: int, end: int
) -> None:
    """Walk an arm through the levels of the looks from ``first`` to ``end`` in a block. ``word``: its first."""
    block = levels.block[first]
    turn = np.uint32(games.means[arm] >= games.threshold)
    pulls, total, code = np.int64(0), np.int64(0), marks.beginning ^ turn
    look = first
    while True:
        rank = np.int64(code >> RANK_BIT)
        while look < end and levels.rank[look] < rank:
            look += 1
        if look == end:
            return
        if pulls & LANES == 0 and pulls > 0:
            word = word_of(games, run, arm, pulls)
        total += np.int64((word >> np.uint64(pulls & LANES)) & np.uint64(1))
        pulls += 1
        after = raised(code, marks.numbers[marks.rows[pulls] + total] ^ turn)
        at = look
        while at < end and levels.rank[at] == rank:
            if levels.left[at] > 0 and levels.block[at] == block:
                levels.left[at] -= 1
                levels.more[at] += np.int64(after & 1) - np.int64(code & 1)
            at += 1
        code = after


@jit_in_place
def _walk_again(
    games: Games, run: Any, words: NDArray[np.uint64], counter: Counter, levels: Levels, first: int
) -> None:
    """Make the pulls that are left to the looks, from ``first`` on, that come in the same block as it does."""
    block = levels.block[first]
    end = levels.left.size
    arm = block << np.int64(counter.shift)
    while True:
        while end > first and (levels.left[end - 1] == 0 or levels.block[end - 1] != block):
            end -= 1
        if end == first:
            return
        _walk_through(games, run, arm, words[arm], counter.marks, levels, first, end)
        arm += 1


@jit_in_place
def count_tied(games: Games, run: Any, words: NDArray[np.uint64], counter: Counter, levels: Levels) -> None:
    """Add to ``more`` of all looks what comes of the pulls at their levels, until none are ``left``.

    ``words``, (K,): the first of each arm.
    """
    for look in range(levels.left.size):
        levels.block[look] = _pass_blocks(counter, levels, look)
    for look in range(levels.left.size):
        if levels.left[look] > 0:
            _walk_again(games, run, words, counter, levels, look)
