"""Few arms: the pulls at the levels of the looks, block by block of some arms, from the log of the first walk.

All pulls of few arms can be logged, and once the levels are known those at a level are picked out. So ranks need not be
counted in blocks, of which few arms would have too many numbers, and the blocks of the levels' counts can be small.

Pulls of the first byte of an arm's rewards are not logged: a table says for each byte how many there are at each level.
The numbers of eight levels are a word, a byte of it each, so that those of eight levels are added up at once.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.counted_walk import Log
from cutline.simulation.ranking.counting import FIRST_BITS, FIRST_BYTES, RANK_BIT, Counter, slot_of_beginning
from cutline.simulation.ranking.levels import Levels
from cutline.simulation.ranking.strides import STRIDE
from cutline.simulation.ranking.ties import Blocks

_BLOCK = 16  # arms, of which no more than 255 first pulls are at a level
_LEVELS = 8  # of a word
_BITS = 8  # of a level in a word
_LOWEST = np.uint64((1 << _BITS) - 1)
_PIECE = 512  # strides
_NUMBERS = 4  # of a byte: pulls that change no decision, pulls that make it wrong, pulls that make it right, none


class Tables(NamedTuple):
    """``bytes``, (words * 256 * 4,): for eight levels each, the numbers of each byte of an arm below the threshold.

    ``used``, (words,): whether any is not 0. ``hits``, (_PIECE,): space for a list of strides.
    """

    bytes: NDArray[np.uint64]
    used: NDArray[np.bool_]
    hits: NDArray[np.int64]


@jit
def empty_tables(levels: int) -> Tables:
    """Return space for what is known of the first bytes at so many levels."""
    words = (levels - 1) // _LEVELS + 1
    numbers = np.empty(words * FIRST_BYTES * _NUMBERS, np.uint64)
    return Tables(numbers, np.empty(words, np.bool_), np.empty(_PIECE, np.int64))


@jit
def blocks_of_levels(arms: int, levels: int) -> Blocks:
    """Return small blocks of arms in which the pulls in each class of so many levels are counted."""
    width = 4 * (2 * levels + 1)
    return Blocks(np.empty(((arms - 1) // _BLOCK + 1) * width, np.uint32), width, _BLOCK, True)


@jit_in_place
def count_at_levels(
    games: Games, words: NDArray[np.uint64], counter: Counter, log: Log, levels: Levels, tables: Tables, blocks: Blocks
) -> None:
    """Count the pulls at levels in blocks of arms, and some others. ``words``, (K,): the first of each arm."""
    blocks.counts[:] = 0
    if counter.after.size > 0:
        _fill_in(counter, levels, tables)
        for word in range(tables.used.size):
            if tables.used[word]:
                _count_bytes(games, words, word, tables, blocks)
    for first in range(0, log.length[0], _PIECE):
        end = min(first + _PIECE, log.length[0])
        for j in range(_strides_with_levels(log, first, end, levels, tables.hits)):
            _count_stride(log, tables.hits[j], levels, blocks)


@jit_inlined
def _class_of(slot: Any, levels: Levels) -> Any:
    """Return the class of the rank of a slot: an odd number if it is a level."""
    return levels.classes[np.uint64(slot) >> np.uint64(RANK_BIT)]


@jit_in_place
def _strides_with_levels(log: Log, first: Any, end: Any, levels: Levels, hits: NDArray[np.int64]) -> Any:
    """List the strides, from one to another, that have pulls at a level; return how many they are."""
    count = np.int64(0)
    for stride in range(first, end):
        any_level = np.uint32(0)
        for k in range(STRIDE):
            any_level |= _class_of(log.slots[np.uint64(STRIDE * stride + k)], levels)
        hits[count] = stride
        count += np.int64(any_level & np.uint32(1))
    return count


@jit_in_place
def _count_stride(log: Log, stride: Any, levels: Levels, blocks: Blocks) -> None:
    """Count the pulls of a stride, those that are at no level, too, so that there is no branch."""
    block = np.uint64(log.arms[stride] // _BLOCK * blocks.width)
    for k in range(STRIDE):
        slot = np.uint64(log.slots[np.uint64(STRIDE * stride + k)])
        place = np.uint64(4 * _class_of(slot, levels)) + (slot & np.uint64(3))
        blocks.counts[block + place] += np.uint32(1)


@jit_in_place
def _fill_in(counter: Counter, levels: Levels, tables: Tables) -> None:
    """Fill in the numbers of each byte at the levels of a run."""
    tables.bytes[:] = 0
    tables.used[:] = False
    for bits in range(1, FIRST_BITS + 1):
        for beginning in range(1 << bits):
            slot = slot_of_beginning(counter, (1 << bits) - 2 + beginning, np.uint32(0))
            level = np.int64(_class_of(slot, levels))
            if level & 1:
                word, place = (level >> 1) // _LEVELS, (level >> 1) % _LEVELS
                tables.used[word] = True
                number = slot & 3 if slot & 3 < 3 else 0
                one = np.uint64(1) << np.uint64(_BITS * place)
                for byte in range(beginning, FIRST_BYTES, 1 << bits):
                    tables.bytes[_NUMBERS * (FIRST_BYTES * word + byte) + number] += one


@jit_in_place
def _count_bytes(games: Games, words: NDArray[np.uint64], word: Any, tables: Tables, blocks: Blocks) -> None:
    """Count the pulls of all first bytes at the eight levels of a word."""
    first_level = word * _LEVELS
    levels = min(_LEVELS, (blocks.width // 4 - 1) // 2 - first_level)
    numbers = tables.bytes[_NUMBERS * FIRST_BYTES * word :]
    for first in range(0, words.size, _BLOCK):
        same = wrong = right = np.uint64(0)
        for arm in range(first, min(first + _BLOCK, words.size)):
            is_above = np.uint64(games.means[arm] >= games.threshold)
            at = (words[arm] & np.uint64(FIRST_BYTES - 1)) * np.uint64(_NUMBERS)
            same += numbers[at]
            wrong += numbers[at + np.uint64(1) + is_above]
            right += numbers[at + np.uint64(2) - is_above]
        counts = blocks.counts[first // _BLOCK * blocks.width + 8 * first_level :]
        for level in range(levels):
            shift = np.uint64(_BITS * level)
            counts[8 * level + 4] += np.uint32((same >> shift) & _LOWEST)
            counts[8 * level + 5] += np.uint32((wrong >> shift) & _LOWEST)
            counts[8 * level + 6] += np.uint32((right >> shift) & _LOWEST)
