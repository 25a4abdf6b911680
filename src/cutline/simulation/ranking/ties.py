"""Ties: of the pulls at the level of a look only the first are made before it, in the order of the arms.

Which these are matters to the number of errors only if some of them change a decision. Blocks of arms whose pulls are
all made, or none of them, need their counts only. The arms of a block in which looks come are walked again, one by one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_in_place
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.counting import RANK_BIT, more_at, pulls_at, raised
from cutline.simulation.ranking.levels import Levels
from cutline.simulation.ranking.strides import LANES, Marks, word_of


class Blocks(NamedTuple):
    """What is known of blocks of so many ``arms``: ``counts``, (blocks * width,), of the pulls at each slot.

    ``by_level``: slots are those of classes, instead of ranks.
    """

    counts: NDArray[np.uint32]
    width: int
    arms: int
    by_level: bool


class Record(NamedTuple):
    """An arm's pulls and total, the word with its last reward, and its code with the highest rank that it has had."""

    pulls: Any
    total: Any
    word: Any
    code: Any


@jit_in_place
def _pass_blocks(blocks: Blocks, levels: Levels, look: int) -> Any:
    """Make all pulls of the blocks before the one in which a look comes; return that block's number.

    None are left to be made there if they change no decision.
    """
    place, block = 4 * (2 * levels.number[look] + 1 if blocks.by_level else levels.rank[look]), 0
    while levels.left[look] > 0:
        pulls = pulls_at(blocks.counts, place)
        if pulls > levels.left[look]:
            if blocks.counts[place + 1] + blocks.counts[place + 2] == 0:
                levels.left[look] = 0
            break
        levels.left[look] -= pulls
        levels.more[look] += more_at(blocks.counts, place)
        place += blocks.width
        block += 1
    return block


@jit_in_place
def _pulled(games: Games, run: Any, arm: Any, at: Record, turn: Any, marks: Marks) -> Any:
    """Return where an arm is after another pull."""
    word = word_of(games, run, arm, at.pulls) if at.pulls & LANES == 0 and at.pulls > 0 else at.word
    total = at.total + np.int64((word >> np.uint64(at.pulls & LANES)) & np.uint64(1))
    code = raised(at.code, marks.numbers[np.uint64(marks.rows[at.pulls + 1] + total)] ^ turn)
    return Record(at.pulls + 1, total, word, code)


@jit_in_place
def _walk_through(
    games: Games, run: Any, arm: Any, word: Any, marks: Marks, levels: Levels, first: int, end: int
) -> None:
    """Walk an arm through the levels of the looks from ``first`` to ``end`` in a block. ``word``: its first."""
    block = levels.block[first]
    turn = np.uint32(games.means[arm] >= games.threshold)
    at = Record(np.int64(0), np.int64(0), word, marks.beginning ^ turn)
    look = first
    while look < end:
        rank = levels.rank[look]
        while np.int64(at.code >> RANK_BIT) < rank:
            at = _pulled(games, run, arm, at, turn, marks)
        next_look = look
        while next_look < end and levels.rank[next_look] == rank:
            next_look += 1
        while np.int64(at.code >> RANK_BIT) == rank:
            before = at.code
            at = _pulled(games, run, arm, at, turn, marks)
            for tied in range(look, next_look):
                if levels.left[tied] > 0 and levels.block[tied] == block:
                    levels.left[tied] -= 1
                    levels.more[tied] += np.int64(at.code & 1) - np.int64(before & 1)
        look = next_look


@jit_in_place
def _walk_again(
    games: Games, run: Any, words: NDArray[np.uint64], marks: Marks, blocks: Blocks, levels: Levels, first: int
) -> None:
    """Make the pulls that are left to the looks, from ``first`` on, that come in the same block as it does."""
    block = levels.block[first]
    end = levels.left.size
    arm = block * blocks.arms
    while True:
        while end > first and (levels.left[end - 1] == 0 or levels.block[end - 1] != block):
            end -= 1
        if end == first:
            return
        _walk_through(games, run, arm, words[arm], marks, levels, first, end)
        arm += 1


@jit_in_place
def count_tied(games: Games, run: Any, words: NDArray[np.uint64], marks: Marks, blocks: Blocks, levels: Levels) -> None:
    """Add to ``more`` of all looks what comes of the pulls at their levels, until none are ``left``.

    ``words``, (K,): the first of each arm.
    """
    for look in range(levels.left.size):
        levels.block[look] = _pass_blocks(blocks, levels, look)
    for look in range(levels.left.size):
        if levels.left[look] > 0:
            _walk_again(games, run, words, marks, blocks, levels, look)
