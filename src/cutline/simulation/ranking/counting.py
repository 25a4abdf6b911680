"""The first walk of runs with many looks: it counts the pulls at each rank, and which of them change a decision.

From the counts follow the levels of the looks (``levels``) and, where no more is asked for, the errors at each look
(``ties``). Arms are counted block by block, so that of the pulls at a level only those of one block need another look.

A code is four times a rank, and 1 more if the decision is wrong; in ``marks``, for arms below the threshold: for others
the lowest bit is turned. Ranks are counted from 1 here; rank 0 is that of pulls that are made before any rank is looked
at.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.strides import (
    LANES,
    STRIDE,
    Front,
    Marks,
    begin,
    empty_marks,
    length_of_stride,
    next_words,
)
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.rewards import count_ones

_FIRST_BITS = 8
_FIRST_BYTES = 1 << _FIRST_BITS
_ONE = np.uint64(1)
_BIT = np.uint32(1)
RANK_BIT = np.uint32(2)
_RANK = np.uint32((1 << 32) - 4)
_LEAST_BLOCK = 16  # arms
_BLOCKS = 256
_NUMBERS_AN_ARM = 8  # of the counts of blocks, or as many as stay in a core's cache
_NUMBERS = 1 << 17


class Counter(NamedTuple):
    """What the first walk goes by, and counts.

    ``made``, (blocks * C,): how many pulls the arms of a block make at each rank, four numbers for a rank: the decision
    is right before and after the pull; wrong after it only; wrong before it only; wrong before and after. A block has
    2^``shift`` arms. ``sums``, (C,): the same of all arms. ``whole``: all arms are a block, and the four numbers mean
    nothing but their sum.

    ``bytes``, (2, 256): how many arms of a block, below and above the threshold, begin with each byte of rewards, whose
    pulls are counted when the block ends. ``before`` and ``after``, (510,): codes before and after the last reward of 1
    to 8 that begin a byte; none where the table is too shallow for that, or blocks too small.
    """

    whole: bool
    marks: Marks
    made: NDArray[np.uint32]
    shift: np.uint64
    sums: NDArray[np.uint32]
    bytes: NDArray[np.uint32]
    before: NDArray[np.uint32]
    after: NDArray[np.uint32]


class Place(NamedTuple):
    """An arm's total, four times the highest rank that it has had, and whether the decision is wrong."""

    total: Any
    top: Any
    wrong: Any


@jit
def counter_of(ranks: Ranks, arms: int, whole: bool) -> Counter:
    """Return a counter of the pulls at the ranks of a table, in blocks or of the ``whole`` of the arms."""
    marks = _ranks_as_marks(ranks)
    codes = 4 * (ranks.above + 3)
    for_memory = min(codes // _NUMBERS_AN_ARM, arms * codes // _NUMBERS)
    least = arms if whole else max(_LEAST_BLOCK, arms // _BLOCKS, for_memory)
    shift = 0
    while (1 << shift) < least:
        shift += 1
    deep_enough = marks.rows.size - 1 > _FIRST_BITS and (1 << shift) >= _FIRST_BYTES
    beginnings = np.empty((2, 2 * _FIRST_BYTES - 2 if deep_enough else 0), np.uint32)
    _walk_beginnings(marks, beginnings)
    made = np.zeros((((arms - 1) >> shift) + 1) * codes, np.uint32)
    counted = np.zeros((2, _FIRST_BYTES), np.uint32)
    sums = np.zeros(codes, np.uint32)
    return Counter(whole, marks, made, np.uint64(shift), sums, counted, beginnings[0], beginnings[1])


@jit_in_place
def _walk_beginnings(marks: Marks, beginnings: NDArray[np.uint32]) -> None:
    """Fill in the codes before and after the last of 1 to 8 rewards: those of n rewards from place 2^n - 2 on."""
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
    return max(top & _RANK, code & _RANK) | (code & _BIT)


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


@jit_in_place
def count_pulls(
    games: Games, run: Any, first_arm: Any, front: Front, truth: NDArray[np.uint32], counter: Counter, high: Any
) -> Any:
    """Count the pulls of a tile's arms, whose words are in front, up to a rank.

    ``truth``: 1 for arms above the threshold; for all 0 where changes do not matter. Return the least rank at which an
    arm comes to the last row, one that no record has where none does.
    """
    arms, limit, marks = front.words.size, np.uint32(4 * high + 4), counter.marks
    made = counter.made[(first_arm >> np.int64(counter.shift)) * counter.sums.size :]
    pulls, least = np.int64(0), np.int64(counter.sums.size >> 2)
    if counter.after.size > 0:
        waiting = _first_byte(front, arms, truth, counter, limit)
        pulls += _FIRST_BITS
    else:
        waiting = begin(front, arms, marks)
        for i in range(arms):
            front.tops[i] ^= truth[i]
    while waiting > 0:
        if pulls & LANES == 0 and pulls > 0:
            next_words(games, run, first_arm, front, waiting, pulls)
        length = length_of_stride(pulls, marks)
        if length == STRIDE and counter.whole:
            waiting = _stride(front, waiting, pulls, truth, counter, made, limit, False)
        elif length == STRIDE:
            waiting = _stride(front, waiting, pulls, truth, counter, made, limit, True)
        else:
            if pulls + 2 == marks.rows.size:
                for j in range(waiting):
                    least = min(least, np.int64(front.tops[front.those[j]] >> RANK_BIT))
            waiting = _single(front, waiting, pulls, truth, counter, made, limit)
        pulls += length
    return least


@jit_inlined
def _pull(place: Place, bits: Any, k: Any, row: Any, turn: Any, numbers: Any, made: Any, changes: Any) -> Place:
    """Count the pull that has reward number k of ``bits``; return where the arm is after it."""
    total = place.total + ((bits >> np.uint64(k)) & _ONE)
    code = numbers[np.uint64(row + total)] ^ turn
    wrong = code & _BIT if changes else np.uint32(0)
    made[np.uint64(place.top + 2 * place.wrong + wrong)] += np.uint32(1)
    return Place(total, max(place.top, code ^ wrong), wrong)


@jit_inlined
def _at(front: Front, i: Any, changes: Any) -> Place:
    """Return where an arm is."""
    top = front.tops[i]
    wrong = top & _BIT if changes else np.uint32(0)
    return Place(np.uint64(front.totals[i]), top ^ wrong, wrong)


@jit_inlined
def _stride(
    front: Front, waiting: Any, pulls: Any, truth: Any, counter: Counter, made: Any, limit: Any, changes: Any
) -> Any:
    """Let those who wait make a stride's pulls; return how many of them have no code from the limit on."""
    count = np.int64(0)
    numbers, rows, shift = counter.marks.numbers, counter.marks.rows, np.uint64(pulls & LANES)
    row1, row2 = np.uint64(rows[pulls + 1]), np.uint64(rows[pulls + 2])  # else read again after each pull
    row3, row4 = np.uint64(rows[pulls + 3]), np.uint64(rows[pulls + 4])
    width = np.uint64(counter.sums.size)
    for j in range(waiting):
        i = np.uint64(front.those[j])
        bits, turn = front.words[i] >> shift, truth[i]
        here = made[(i >> counter.shift) * width :]
        place = _at(front, i, changes)
        place = _pull(place, bits, 0, row1, turn, numbers, here, changes)
        place = _pull(place, bits, 1, row2, turn, numbers, here, changes)
        place = _pull(place, bits, 2, row3, turn, numbers, here, changes)
        place = _pull(place, bits, 3, row4, turn, numbers, here, changes)
        front.totals[i] = place.total
        front.tops[i] = place.top + place.wrong
        front.those[count] = i
        count += np.int64(front.tops[i] < limit)
    return count


@jit_inlined
def _single(front: Front, waiting: Any, pulls: Any, truth: Any, counter: Counter, made: Any, limit: Any) -> Any:
    """Let those who wait make one pull; return how many of them have no code from the limit on."""
    count = np.int64(0)
    row, shift = np.uint64(counter.marks.rows[pulls + 1]), np.uint64(pulls & LANES)
    width = np.uint64(counter.sums.size)
    for j in range(waiting):
        i = np.uint64(front.those[j])
        here = made[(i >> counter.shift) * width :]
        bits, turn = front.words[i] >> shift, truth[i]
        place = _pull(_at(front, i, True), bits, 0, row, turn, counter.marks.numbers, here, True)
        front.totals[i] = place.total
        front.tops[i] = place.top + place.wrong
        front.those[count] = i
        count += np.int64(front.tops[i] < limit)
    return count


@jit_in_place
def _first_byte(front: Front, arms: Any, truth: NDArray[np.uint32], counter: Counter, limit: Any) -> Any:
    """Let arms make eight pulls, of which only the byte is counted; return how many have no code from the limit on."""
    count = np.int64(0)
    tops = counter.after[counter.after.size - _FIRST_BYTES :]
    for i in range(arms):
        byte = front.words[i] & np.uint64(_FIRST_BYTES - 1)
        counter.bytes[truth[i], byte] += 1
        top = tops[byte] ^ truth[i]
        front.totals[i] = count_ones(byte)
        front.tops[i] = top
        front.those[count] = i
        count += np.int64(top < limit)
    return count


@jit_in_place
def end_tile(next_arm: Any, arms: Any, counter: Counter) -> None:
    """Where a block ends with a tile, too, add the pulls of its first bytes to its other pulls.

    From the last pull to the first: the arms that begin with so many bits are those that go on with a 0 or a 1.
    """
    shift = np.int64(counter.shift)
    if counter.after.size == 0 or (next_arm < arms and (next_arm >> shift) == ((next_arm - 1) >> shift)):
        return
    made = counter.made[((next_arm - 1) >> shift) * counter.sums.size :]
    for truth in range(2):
        arms, turn = counter.bytes[truth], np.uint32(truth)
        for bits in range(_FIRST_BITS, 0, -1):
            half, first = 1 << (bits - 1), (1 << bits) - 2
            for prefix in range(2 * half):
                before, after = counter.before[first + prefix] ^ turn, counter.after[first + prefix] ^ turn
                made[before + (before & _BIT) + (after & _BIT)] += arms[prefix]
            for prefix in range(half):
                arms[prefix] += arms[prefix + half]
    counter.bytes[:] = 0
