"""The first walk of runs with many looks: pulls are counted (``counting``) and, those of few arms, logged.

The pulls of few arms are counted once more at the levels, from the log (``logs``).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.counting import BIT, FIRST_BITS, FIRST_BYTES, RANK, RANK_BIT, Counter
from cutline.simulation.ranking.strides import LANES, STRIDE, TILE, Front, Marks, begin, length_of_stride, next_words
from cutline.simulation.rewards import count_ones

_ONE = np.uint64(1)
_FULL = np.int64(-1)


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
def empty_log(room: int) -> Log:
    """Return space for so many strides, and more than those of a tile; the system makes it where it is used."""
    room += TILE
    return Log(np.empty(STRIDE * room, np.uint16), np.empty(room, np.uint16), np.zeros(1, np.int64))


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
    wrong = code & BIT
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
        place = Place(np.uint64(front.totals[i]), top & RANK, top & BIT)
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
