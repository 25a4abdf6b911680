"""The first walk of runs with many looks: it counts the pulls at each rank, and which of them change a decision.

From the counts follow the levels of the looks (``levels``) and, where no more is asked for, the errors at each look
(``ties``). Many arms are counted block by block, so that of the pulls at a level only those of one block need another
look. Few arms are counted together, and their pulls are logged, to be counted once more at the levels (``logs``).

A code is four times a rank, and 1 more if the decision is wrong; in ``marks``, for arms below the threshold: for others
the lowest bit is turned. Ranks are counted from 1 here; rank 0 is that of pulls that are made before any rank is looked
at. A *slot* is a place in counts: four times the rank of a pull, and 2 more if the decision is wrong before it, and 1
more if it is after it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.strides import (
    LANES,
    STRIDE,
    TILE,
    Front,
    Marks,
    begin,
    empty_marks,
    length_of_stride,
    next_words,
)
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.rewards import count_ones

FIRST_BITS = 8
FIRST_BYTES = 1 << FIRST_BITS
_ONE = np.uint64(1)
_BIT = np.uint32(1)
RANK_BIT = np.uint32(2)
_RANK = np.uint32((1 << 32) - 4)
_BLOCKS = 256
_NUMBERS_AN_ARM = 8  # of the counts of blocks, or as many as stay in a core's cache
_NUMBERS = 1 << 17
_FULL = np.int64(-1)


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


class Log(NamedTuple):
    """The pulls of a run after those of the first bytes, in the order in which they are walked: (room,) strides.

    ``slots``, (4 * room,): those of a stride's pulls, with ones that no pull has where it has fewer. ``arms``, (room,):
    whose stride it is. ``length``, (1,): how many there are.
    """

    slots: NDArray[np.uint16]
    arms: NDArray[np.uint16]
    length: NDArray[np.int64]


class Walk(NamedTuple):
    """What a tile's arms are walked with: the ``first`` one, their ``front``, and ``truth``, (tile,), 1 if above.

    ``made``: the counts of their block. ``limit``: the code from which on arms go no farther.
    """

    first: Any
    front: Front
    truth: NDArray[np.uint32]
    marks: Marks
    made: NDArray[np.uint32]
    limit: Any
    log: Log


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
    least = arms if whole else max(arms // _BLOCKS, for_memory, 1)
    tiles = (least - 1) // TILE + 1
    deep_enough = marks.rows.size - 1 > FIRST_BITS
    beginnings = np.empty((2, 2 * FIRST_BYTES - 2 if deep_enough else 0), np.uint32)
    _walk_beginnings(marks, beginnings)
    made = np.zeros(((arms - 1) // (tiles * TILE) + 1) * codes, np.uint32)
    counted = np.zeros((2, FIRST_BYTES), np.uint32)
    sums = np.zeros(codes, np.uint32)
    return Counter(marks, made, tiles, sums, counted, beginnings[0], beginnings[1])


@jit
def empty_log(room: int) -> Log:
    """Return space for so many strides, and more than those of a tile; the system makes it where it is used."""
    room += TILE
    return Log(np.empty(STRIDE * room, np.uint16), np.empty(room, np.uint16), np.zeros(1, np.int64))


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
def begin_counts(counter: Counter, log: Log) -> None:
    """Begin a run."""
    counter.made[:] = 0
    counter.bytes[:] = 0
    log.length[0] = 0


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
    games: Games,
    run: Any,
    first_arm: Any,
    front: Front,
    truth: NDArray[np.uint32],
    counter: Counter,
    high: Any,
    log: Log,
) -> Any:
    """Count the pulls of a tile's arms, whose words are in front, up to a rank; log them if there is room.

    ``truth``: 1 for arms above the threshold. Return the least rank at which an arm comes to the last row, one that no
    record has where none does; -1 if the log is full.
    """
    marks, limit = counter.marks, np.uint32(4 * high + 4)
    made = counter.made[(first_arm // (counter.tiles * TILE)) * counter.sums.size :]
    walk = Walk(first_arm, front, truth, marks, made, limit, log)
    pulls, least = np.int64(0), np.int64(counter.sums.size >> 2)
    is_kept = log.arms.size > TILE  # else what is logged is overwritten, which takes less than two kinds of walks
    if counter.after.size > 0:
        waiting = _first_byte(walk, counter)
        pulls += FIRST_BITS
    else:
        waiting = begin(front, front.words.size, marks)
        for i in range(waiting):
            front.tops[i] ^= truth[i]
    while waiting > 0:
        if log.length[0] + waiting > log.arms.size:
            return _FULL
        if pulls & LANES == 0 and pulls > 0:
            next_words(games, run, first_arm, front, waiting, pulls)
        length, walked = length_of_stride(pulls, marks), waiting
        if length == STRIDE:
            waiting = _go_on(walk, waiting, pulls, STRIDE)
        else:
            if pulls + 2 == marks.rows.size:
                for j in range(waiting):
                    least = min(least, np.int64(front.tops[front.those[j]] >> RANK_BIT))
            waiting = _go_on(walk, waiting, pulls, 1)
        log.length[0] += walked if is_kept else 0
        pulls += length
    return least


@jit_inlined
def _pull(walk: Walk, place: Place, bits: Any, k: Any, row: Any, turn: Any, entry: Any) -> Place:
    """Count the pull that has reward number k of ``bits``; return where the arm is after it."""
    total = place.total + ((bits >> np.uint64(k)) & _ONE)
    code = walk.marks.numbers[np.uint64(row + total)] ^ turn
    wrong = code & _BIT
    slot = np.uint64(place.top + 2 * place.wrong + wrong)
    walk.made[slot] += np.uint32(1)
    walk.log.slots[entry + np.uint64(k)] = slot
    return Place(total, max(place.top, code ^ wrong), wrong)


@jit_inlined
def _go_on(walk: Walk, waiting: Any, pulls: Any, length: Any) -> Any:
    """Let those who wait make a stride's pulls, or one; return how many of them have no code from the limit on."""
    front, rows, log = walk.front, walk.marks.rows, walk.log
    count, first, last = np.int64(0), np.uint64(log.length[0]), rows.size - 1
    row1, row2 = np.uint64(rows[pulls + 1]), np.uint64(rows[min(pulls + 2, last)])  # else read again after each pull
    row3, row4 = np.uint64(rows[min(pulls + 3, last)]), np.uint64(rows[min(pulls + 4, last)])
    for j in range(waiting):
        i = np.uint64(front.those[j])
        bits, turn, top = front.words[i] >> np.uint64(pulls & LANES), walk.truth[i], front.tops[i]
        entry = np.uint64(STRIDE) * (first + np.uint64(j))
        place = Place(np.uint64(front.totals[i]), top & _RANK, top & _BIT)
        place = _pull(walk, place, bits, 0, row1, turn, entry)
        if length == STRIDE:
            place = _pull(walk, place, bits, 1, row2, turn, entry)
            place = _pull(walk, place, bits, 2, row3, turn, entry)
            place = _pull(walk, place, bits, 3, row4, turn, entry)
        else:
            for k in range(1, STRIDE):
                log.slots[entry + np.uint64(k)] = walk.made.size - 1  # of a rank that no pull is made at
        log.arms[first + np.uint64(j)] = walk.first + np.int64(i)
        front.totals[i] = place.total
        front.tops[i] = place.top + place.wrong
        front.those[count] = i
        count += np.int64(front.tops[i] < walk.limit)
    return count


@jit_in_place
def _first_byte(walk: Walk, counter: Counter) -> Any:
    """Let arms make eight pulls, of which only the byte is counted; return how many have no code from the limit on."""
    front, count = walk.front, np.int64(0)
    tops = counter.after[counter.after.size - FIRST_BYTES :]
    for i in range(front.words.size):
        byte = front.words[i] & np.uint64(FIRST_BYTES - 1)
        counter.bytes[walk.truth[i], byte] += 1
        top = tops[byte] ^ walk.truth[i]
        front.totals[i] = count_ones(byte)
        front.tops[i] = top
        front.those[count] = i
        count += np.int64(top < walk.limit)
    return count


@jit_inlined
def slot_of_beginning(counter: Counter, place: Any, truth: Any) -> Any:
    """Return the slot of the last pull of those that begin a byte."""
    before, after = counter.before[place] ^ truth, counter.after[place] ^ truth
    return np.int64(before + (before & _BIT) + (after & _BIT))


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
