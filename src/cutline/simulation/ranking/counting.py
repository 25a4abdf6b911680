"""What is counted of runs with many looks: the pulls at each rank, and which of them change a decision.

From the counts follow the levels of the looks (``levels``) and, where no more is asked for, the errors at each look
(``ties``). Many arms are counted block by block, so that of the pulls at a level only those of one block need another
look. Few arms are counted together.

A code is four times a rank, and 1 more if the decision is wrong; in ``marks``, for arms below the threshold: for others
the lowest bit is turned. Ranks are counted from 1 here; rank 0 is that of pulls that are made before any rank is looked
at. A *slot* is a place in counts: four times the rank of a pull, and 2 more if the decision is wrong before it, and 1
more if it is after it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.ranking.strides import TILE, Marks, empty_marks
from cutline.simulation.ranking.table import Ranks

FIRST_BITS = 8
FIRST_BYTES = 1 << FIRST_BITS
BIT = np.uint32(1)
RANK_BIT = np.uint32(2)
RANK = np.uint32((1 << 32) - 4)
_BLOCKS = 256
_NUMBERS_AN_ARM = 8  # of the counts of blocks, or as many as stay in a core's cache
_NUMBERS = 1 << 17


class Counter(NamedTuple):
    """What the first walk goes by, and counts.

    ``made``, (blocks * C,): how many pulls the arms of a block make at each slot. A block is as many ``tiles``.
    ``sums``, (C,): the same of all arms.

    ``bytes``, (2, 256): how many arms of a block, below and above the threshold, begin with each byte of rewards, whose
    pulls are counted when the block ends. ``before`` and ``after``, (510,): codes before and after the last reward of 1
    to 8 that begin a byte: those of n rewards from place 2^n - 2 on; none where the table is too shallow for that.
    """

    marks: Marks
    made: NDArray[np.uint32]
    tiles: int
    sums: NDArray[np.uint32]
    bytes: NDArray[np.uint32]
    before: NDArray[np.uint32]
    after: NDArray[np.uint32]


@jit
def counter_of(ranks: Ranks, arms: int, whole: bool) -> Counter:
    """Return a counter of the pulls at the ranks of a table, in blocks or of the ``whole`` of the arms."""
    marks = _ranks_as_marks(ranks)
    codes = 4 * (ranks.above + 3)
    for_memory = min(codes // _NUMBERS_AN_ARM, arms * codes // _NUMBERS)
    least = arms if whole else max(arms // _BLOCKS, for_memory, 1)
    tiles = (least - 1) // TILE + 1
    deep_enough = marks.rows.size - 1 > FIRST_BITS
    beginnings = np.empty((2, 2 * FIRST_BYTES - 2 if deep_enough else 0), np.uint32)
    _walk_beginnings(marks, beginnings)
    made = np.zeros(((arms - 1) // (tiles * TILE) + 1) * codes, np.uint32)
    counted = np.zeros((2, FIRST_BYTES), np.uint32)
    sums = np.zeros(codes, np.uint32)
    return Counter(marks, made, tiles, sums, counted, beginnings[0], beginnings[1])


@jit_in_place
def _walk_beginnings(marks: Marks, beginnings: NDArray[np.uint32]) -> None:
    """Fill in the codes before and after the last of 1 to 8 rewards."""
    bits: Any = np.int64(1)
    for place in range(beginnings.shape[1]):
        bits += place == (2 << bits) - 2
        total, top = np.int64(0), marks.beginning
        for pulls in range(bits):
            total += ((place - ((1 << bits) - 2)) >> pulls) & 1
            beginnings[0, place] = top
            top = raised(top, marks.numbers[marks.rows[pulls + 1] + total])
        beginnings[1, place] = top


@jit
def _ranks_as_marks(ranks: Ranks) -> Marks:
    """Return the ranks of a table, counted from 1, with the decisions in the lowest bits."""
    marks = empty_marks(ranks)
    margin = (marks.numbers.size - ranks.codes.size) // 2
    for i in range(ranks.codes.size):
        marks.numbers[margin + i] = 4 * (ranks.codes[i] >> 1) + 4 + (ranks.codes[i] & 1)
    beginning = marks.numbers[margin] if ranks.first == 0 else np.uint32(0)
    return Marks(marks.numbers, marks.rows, beginning)


@jit_inlined
def raised(top: Any, code: Any) -> Any:
    """Return the higher of two ranks with the decision of the second code."""
    return max(top & RANK, code & RANK) | (code & BIT)


@jit_inlined
def pulls_at(counts: Any, place: Any) -> Any:
    """Return the pulls at a rank, whose numbers begin at a place."""
    pulls = np.int64(0)
    for i in range(4):
        pulls += np.int64(counts[place + i])
    return pulls


@jit_inlined
def more_at(counts: Any, place: Any) -> Any:
    """Return how many more decisions are wrong after the pulls at a rank than before."""
    return np.int64(counts[place + 1]) - np.int64(counts[place + 2])


@jit_in_place
def begin_counts(counter: Counter) -> None:
    """Begin a run."""
    counter.made[:] = 0
    counter.bytes[:] = 0


@jit_in_place
def add_up(counter: Counter) -> None:
    """Add up the counts of all blocks."""
    counter.sums[:] = 0
    for first in range(0, counter.made.size, counter.sums.size):
        made = counter.made[first : first + counter.sums.size]
        for code in range(made.size):
            counter.sums[code] += made[code]


@jit_inlined
def slot_of_beginning(counter: Counter, place: Any, truth: Any) -> Any:
    """Return the slot of the last pull of those that begin a byte."""
    before, after = counter.before[place] ^ truth, counter.after[place] ^ truth
    return np.int64(before + (before & BIT) + (after & BIT))


@jit_in_place
def end_tile(next_arm: Any, arms: Any, counter: Counter) -> None:
    """Where a block ends with a tile, too, add the pulls of its first bytes to its other pulls.

    From the last pull to the first: the arms that begin with so many bits are those that go on with a 0 or a 1.
    """
    size = counter.tiles * TILE
    if counter.after.size == 0 or (next_arm < arms and next_arm % size != 0):
        return
    made = counter.made[((next_arm - 1) // size) * counter.sums.size :]
    for truth in range(2):
        begun = counter.bytes[truth]
        for bits in range(FIRST_BITS, 0, -1):
            half, first = 1 << (bits - 1), (1 << bits) - 2
            for prefix in range(2 * half):
                made[slot_of_beginning(counter, first + prefix, np.uint32(truth))] += begun[prefix]
            for prefix in range(half):
                begun[prefix] += begun[prefix + half]
    counter.bytes[:] = 0
