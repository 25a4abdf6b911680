"""Strides: the arms of a tile go through their records side by side, four pulls at a time.

An arm that is walked on its own ends with a branch that depends on its rewards, which the processor guesses wrong once
an arm; that takes as long as ten pulls. Side by side no step has such a branch: an arm is in the list for the next
stride or is not. So an arm that is above the limit may make up to three pulls more. What these do counts for nothing,
and the margins of the table are there for the records that they come to.

There are two walks, for runs with many looks. The first counts the pulls at each rank (``counting``), from which the
levels of the looks follow. The second (``standing``) puts down where each arm stands when it leaves each class.

The engine's words are explained in ``cutline.simulation.ranking``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.rewards import BLOCK, Stream, arm_increment, arm_state, reward_word

TILE = 256  # arms whose words, and stands, stay in a core's cache
STRIDE = 4
LANES = np.int64(BLOCK - 1)
_ONE = np.uint64(1)
_CALLED = np.uint32(1 << 15)
_TOTAL = _CALLED - np.uint32(1)
_HALF = np.uint32(16)


class Marks(NamedTuple):
    """A number for each record, (margin + records + margin,), and where the row of so many pulls begins, (depth + 1,).

    ``beginning``: the number of an arm without pulls.
    """

    numbers: NDArray[np.uint32]
    rows: NDArray[np.int64]
    beginning: np.uint32


class Front(NamedTuple):
    """The arms of a tile as they go on, (tile,) each: words, totals, the largest number so far; and who is to go on."""

    words: NDArray[np.uint64]
    totals: NDArray[np.uint32]
    tops: NDArray[np.uint32]
    those: NDArray[np.uint32]


@jit
def empty_front(size: int) -> Front:
    """Return space for so many arms side by side."""
    numbers = np.empty((3, size), np.uint32)
    return Front(np.empty(size, np.uint64), numbers[0], numbers[1], numbers[2])


@jit
def empty_marks(ranks: Ranks) -> Marks:
    """Return space for a number for each record, with margins for those that arms above the limit come to."""
    margin = ranks.rows.size + STRIDE
    numbers = np.zeros(ranks.codes.size + 2 * margin, np.uint32)
    return Marks(numbers, ranks.rows + margin, np.uint32(0))


@jit_in_place
def mark_classes(ranks: Ranks, classes: NDArray[np.uint32], marks: Marks) -> Marks:
    """Let marks be twice the classes of records' ranks, (R + 2,), and 1 more where an arm is called above."""
    margin = (marks.numbers.size - ranks.codes.size) // 2
    for i in range(ranks.codes.size):
        code = ranks.codes[i]
        marks.numbers[margin + i] = 2 * classes[(code >> 1) + 1] + (code & 1)
    beginning = marks.numbers[margin] if ranks.first == 0 else 2 * classes[0]
    return Marks(marks.numbers, marks.rows, np.uint32(beginning))


@jit_in_place
def word_of(games: Games, run: Any, arm: Any, pulls: Any) -> Any:
    """Return the word of an arm that has its reward after so many pulls."""
    state = arm_state(games.key, games.first_run + run, arm)
    return reward_word(Stream(state, arm_increment(state), games.means[arm]), pulls // BLOCK)


@jit_inlined
def begin(front: Front, arms: Any, marks: Marks) -> Any:
    """Let arms begin without pulls; return how many are to go on: all."""
    for i in range(arms):
        front.totals[i] = 0
        front.tops[i] = marks.beginning
        front.those[i] = i
    return arms


@jit_inlined
def length_of_stride(pulls: Any, marks: Marks) -> Any:
    """Return how many pulls arms make without a look at the edge, within a word."""
    return STRIDE if pulls % STRIDE == 0 and pulls + STRIDE < marks.rows.size - 1 else 1


@jit_in_place
def next_words(games: Games, run: Any, first_arm: Any, front: Front, waiting: Any, pulls: Any) -> None:
    """Give those who wait the words with their rewards after so many pulls."""
    for j in range(waiting):
        i = np.int64(front.those[j])
        front.words[i] = word_of(games, run, first_arm + i, pulls)


@jit_inlined
def _stride_and_stand(
    front: Front, waiting: Any, pulls: Any, length: Any, marks: Marks, limit: Any, stands: NDArray[np.uint32]
) -> Any:
    """Let those who wait make so many pulls; return how many of them are not in the last class."""
    count = np.int64(0)
    for j in range(waiting):
        i = np.uint64(front.those[j])
        word = front.words[i] >> np.uint64(pulls & LANES)
        total, top = np.uint64(front.totals[i]), front.tops[i]
        for k in range(length):
            total += (word >> np.uint64(k)) & _ONE
            mark = marks.numbers[np.uint64(marks.rows[pulls + k + 1]) + total]
            stood = (np.uint32(pulls + k + 1) << _HALF) | (mark & np.uint32(1)) * _CALLED | np.uint32(total)
            stands[np.uint64(top >> np.uint32(1)), i] = stood
            top = max(top, mark)
        front.totals[i] = total
        front.tops[i] = top
        front.those[count] = i
        count += np.int64(top < limit)
    return count


@jit_in_place
def stand(
    games: Games, run: Any, first_arm: Any, front: Front, marks: Marks, last: Any, stands: NDArray[np.uint32]
) -> None:
    """Put down where a tile's arms, whose words are in front, stand after their last pull in each class, (C, tile).

    ``last``: the class in which pulls are no longer asked for. Where an arm makes no pull in a class stands 0.
    """
    arms, limit = front.words.size, np.uint32(2 * last)
    stands[: last + 1] = 0
    pulls = np.int64(0)
    waiting = begin(front, arms, marks)
    while waiting > 0:
        if pulls & LANES == 0 and pulls > 0:
            next_words(games, run, first_arm, front, waiting, pulls)
        length = length_of_stride(pulls, marks)
        if length == STRIDE:
            waiting = _stride_and_stand(front, waiting, pulls, STRIDE, marks, limit, stands)
        else:
            waiting = _stride_and_stand(front, waiting, pulls, 1, marks, limit, stands)
        pulls += length
