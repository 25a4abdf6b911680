"""Ties: of the pulls at the level of a look only the first are made before it, in the order of the arms.

Which these are matters to the number of errors only if some of them change a decision. Blocks of arms whose pulls are
all made, or none of them, need their counts only. The arms of a block in which looks come are walked again, one by one:
once for all looks that come there.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.counting import RANK_BIT, more_at, pulls_at, raised
from cutline.simulation.ranking.levels import Levels
from cutline.simulation.ranking.strides import LANES, Marks, word_of

_NEVER = np.int64(-1)


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


class Ties(NamedTuple):
    """For each class, (2 * levels + 1,), while a block is walked: the ``next`` look that comes there, if any does.

    ``goal``: after how many pulls, -1 if none does; ``made``: how many are made; ``more``: how many more wrong
    decisions there are after these.
    """

    next: NDArray[np.int64]
    goal: NDArray[np.int64]
    made: NDArray[np.int64]
    more: NDArray[np.int64]


@jit
def empty_ties(levels: int) -> Ties:
    """Return space for so many levels."""
    numbers = np.zeros((4, 2 * levels + 1), np.int64)
    numbers[1] = _NEVER
    return Ties(numbers[0], numbers[1], numbers[2], numbers[3])


@jit_in_place
def _pass_blocks(blocks: Blocks, levels: Levels) -> None:
    """Make all pulls of the blocks before the one in which a look comes, for each look.

    None are left to be made in that block if they change no decision.
    """
    place = block = passed = more = np.int64(0)
    for look in range(levels.left.size):
        level = levels.number[look]
        if look == 0 or level != levels.number[look - 1]:
            place = np.int64(4 * (2 * level + 1 if blocks.by_level else levels.rank[look]))
            block = passed = more = np.int64(0)
        pulls = pulls_at(blocks.counts, place)
        while passed + pulls < levels.left[look]:
            passed += pulls
            more += more_at(blocks.counts, place)
            place += blocks.width
            block += 1
            pulls = pulls_at(blocks.counts, place)
        is_changed = blocks.counts[place + 1] + blocks.counts[place + 2] > 0
        levels.left[look] = levels.left[look] - passed if is_changed else 0
        levels.more[look] += more
        levels.block[look] = block


@jit_in_place
def _pulled(games: Games, run: Any, arm: Any, at: Record, turn: Any, marks: Marks) -> Any:
    """Return where an arm is after another pull."""
    word = word_of(games, run, arm, at.pulls) if at.pulls & LANES == 0 and at.pulls > 0 else at.word
    total = at.total + np.int64((word >> np.uint64(at.pulls & LANES)) & np.uint64(1))
    code = raised(at.code, marks.numbers[np.uint64(marks.rows[at.pulls + 1] + total)] ^ turn)
    return Record(at.pulls + 1, total, word, code)


@jit_inlined
def _come_together(look: Any, levels: Levels) -> Any:
    """Say whether the next look comes at the same level and in the same block."""
    return levels.number[look + 1] == levels.number[look] and levels.block[look + 1] == levels.block[look]


@jit_inlined
def _expect(look: Any, levels: Levels, ties: Ties) -> None:
    """Let a look be the next one of its class."""
    here = 2 * levels.number[look] + 1
    ties.next[here] = look
    ties.goal[here] = levels.left[look]


@jit_in_place
def _walk_through(
    games: Games, run: Any, arm: Any, word: Any, marks: Marks, levels: Levels, ties: Ties, last: Any
) -> Any:
    """Walk an arm through the ranks up to the ``last``; return how many looks come meanwhile. ``word``: its first."""
    turn = np.uint32(games.means[arm] >= games.threshold)
    at = Record(np.int64(0), np.int64(0), word, marks.beginning ^ turn)
    found = np.int64(0)
    while np.int64(at.code >> RANK_BIT) <= last:
        before = at.code
        at = _pulled(games, run, arm, at, turn, marks)
        here = levels.classes[before >> RANK_BIT]
        ties.made[here] += 1
        ties.more[here] += np.int64(at.code & 1) - np.int64(before & 1)
        if ties.made[here] == ties.goal[here]:
            look = ties.next[here]
            levels.more[look] += ties.more[here]
            levels.left[look] = 0
            ties.goal[here] = _NEVER
            if look + 1 < levels.left.size and _come_together(look, levels):
                _expect(look + 1, levels, ties)
            found += 1
    return found


@jit_in_place
def _walk_block(
    games: Games, run: Any, words: NDArray[np.uint64], marks: Marks, arms: Any, levels: Levels, ties: Ties, first: int
) -> None:
    """Walk the arms of the block in which the ``first`` look comes until all its looks have come.

    ``arms``: of a block.
    """
    block, last, waiting = levels.block[first], levels.rank[first], np.int64(0)
    ties.made[:] = 0
    ties.more[:] = 0
    for look in range(levels.left.size - 1, first - 1, -1):
        if levels.left[look] > 0 and levels.block[look] == block:
            _expect(look, levels, ties)
            last = max(last, levels.rank[look])
            waiting += 1
    arm = block * arms
    while waiting > 0:
        waiting -= _walk_through(games, run, arm, words[arm], marks, levels, ties, last)
        arm += 1


@jit_in_place
def count_tied(
    games: Games, run: Any, words: NDArray[np.uint64], marks: Marks, blocks: Blocks, levels: Levels, ties: Ties
) -> None:
    """Add to ``more`` of all looks what comes of the pulls at their levels, until none are ``left``.

    ``words``, (K,): the first of each arm.
    """
    _pass_blocks(blocks, levels)
    for look in range(levels.left.size):
        if levels.left[look] > 0:
            _walk_block(games, run, words, marks, blocks.arms, levels, ties, look)
