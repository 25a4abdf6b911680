"""Runs with many looks: a walk finds the levels and the errors, a second one what arms have come to at each look.

With one look nearly all pulls are made eight at a time below it; with many nearly every pull is close to one of them.
The second walk is for those who ask for it, and for few arms with many ranks, where a block would be most of them.
Where arms stand at the looks is worked out for a tile of them at a time: the later of two records has more pulls, and
is the larger number, so the largest number in this class and those before is where an arm stands when it leaves it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, kernel
from cutline.simulation.chunks import Games, Outcome
from cutline.simulation.ranking.counting import Counter, add_up, begin_counts, count_pulls, counter_of, end_tile
from cutline.simulation.ranking.levels import Levels, empty_levels, find_levels
from cutline.simulation.ranking.strides import Front, Marks, empty_front, empty_marks, mark_classes, stand, word_of
from cutline.simulation.ranking.sums import MOST_OF_A_SUM, take_down
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.ranking.ties import count_tied
from cutline.simulation.rewards import BLOCK, Streams, begin_run, first_words

_TILE = 256  # arms whose stands stay in a core's cache
_WORTH_BLOCKS = 4  # ranks to an arm; with more than that, blocks of arms are too large to be walked again
_CALLED = np.uint32(15)
_TOTAL = np.uint32((1 << 15) - 1)
_HALF = np.uint32(16)
_GAIN = np.uint32((1 << 32) - 1) ^ (np.uint32(1) << _CALLED)


class Desk(NamedTuple):
    """All that the runs of a chunk are worked out with, and what comes of them.

    Of all arms, (K,): their first ``words`` in a run. Of a tile, (tile,): its ``front``, whether its arms are above the
    threshold in ``truth``, space for its ``streams``, (3, tile), and where its arms stand after each class, (C, tile).
    ``sums``, (B, K): pulls, in the upper half, and totals at each look, over runs; ``errors``, (B,), of one run.
    """

    words: NDArray[np.uint64]
    truth: NDArray[np.uint32]
    front: Front
    streams: NDArray[np.uint64]
    stands: NDArray[np.uint32]
    counter: Counter
    levels: Levels
    classes: Marks
    sums: NDArray[np.uint32]
    errors: NDArray[np.int64]


@jit
def _empty_desk(games: Games, ranks: Ranks, by_arm: bool) -> Desk:
    arms, looks = games.means.size, games.budgets.size
    tile = min(_TILE, arms)
    return Desk(
        np.empty(arms, np.uint64),
        np.empty(tile, np.uint32),
        empty_front(tile),
        np.empty((3, tile), np.uint64),
        np.empty((2 * looks + 1, tile), np.uint32),
        counter_of(ranks, arms, by_arm),
        empty_levels(looks, ranks.above),
        empty_marks(ranks),
        np.zeros((looks, arms if by_arm else 0), np.uint32),
        np.empty(looks, np.int64),
    )


@jit_in_place
def _tile_from(games: Games, first_arm: Any, desk: Desk) -> Front:
    """Return the front of the tile that begins with an arm, with the first words of its arms, and fill in the truth."""
    front = desk.front
    size = min(front.words.size, desk.words.size - first_arm)
    for i in range(size):
        front.words[i] = desk.words[first_arm + i]
        desk.truth[i] = games.means[first_arm + i] >= games.threshold
    return Front(front.words[:size], front.totals[:size], front.tops[:size], front.those[:size])


@jit_in_place
def _count(games: Games, run: Any, high: int, desk: Desk) -> Any:
    """Make the first words of a run and count the pulls at each rank.

    Return the least rank at which an arm comes to the last row, one that no record has where none does.
    """
    counter = desk.counter
    begin_counts(counter)
    least: Any = np.int64(counter.sums.size >> 1)
    for first_arm in range(0, desk.words.size, _TILE):
        words = desk.words[first_arm : first_arm + _TILE]
        means = games.means[first_arm : first_arm + _TILE]
        streams = Streams(desk.streams[0, : words.size], desk.streams[1], means)
        begin_run(streams, games.key, games.first_run + run, first_arm)
        first_words(streams, words, desk.streams[2])
        tile = _tile_from(games, first_arm, desk)
        least = min(least, count_pulls(games, run, first_arm, tile, desk.truth, counter, high))
        end_tile(first_arm + words.size, desk.words.size, counter)
    add_up(counter)
    return least


@jit_in_place
def _count_errors(games: Games, run: Any, desk: Desk) -> None:
    """Put down the errors of a run at each look, given the counts: at first all arms are called below."""
    above = np.int64(0)
    for arm in range(games.means.size):
        above += games.means[arm] >= games.threshold
    count_tied(games, run, desk.words, desk.counter, desk.levels)
    for look in range(games.budgets.size):
        desk.errors[look] = above + desk.levels.more[look]


@jit_in_place
def _share_out(games: Games, run: Any, ranks: Ranks, levels: Any, desk: Desk) -> None:
    """Add up where all arms are at each look, and put down the errors of the run."""
    desk.errors[:] = 0
    marks = mark_classes(ranks, desk.levels.classes, desk.classes)
    for first_arm in range(0, desk.words.size, _TILE):
        tile = _tile_from(games, first_arm, desk)
        stand(games, run, first_arm, tile, marks, 2 * levels, desk.stands)
        _look(games, run, first_arm, tile.words.size, ranks, desk)


@jit_in_place
def _look(games: Games, run: Any, first_arm: Any, arms: Any, ranks: Ranks, desk: Desk) -> None:
    """Add up where a tile's arms are at each look, given where they stand after each class."""
    number, left = desk.levels.number, desk.levels.left
    truth = desk.truth[:arms]
    level: Any = np.int64(-1)
    tied: Any = np.int64(0)
    below = at = desk.stands[0, :arms]
    for look in range(games.budgets.size):
        if number[look] > level:
            level = number[look]
            before, below, at = at, desk.stands[2 * level, :arms], desk.stands[2 * level + 1, :arms]
            tied = _leave(before, below, at)
        sums = desk.sums[look, first_arm : first_arm + arms]
        if tied <= left[look]:
            left[look] -= tied
            desk.errors[look] += _add(at, truth, sums)
        elif left[look] == 0:
            desk.errors[look] += _add(below, truth, sums)
        else:
            i = _last_to_pull(below, at, left[look : look + 1])
            last, word = at[i], desk.words[first_arm + i]
            at[i] = _pull_on(games, run, first_arm + i, word, below[i], left[look], ranks)
            desk.errors[look] += _add(at[: i + 1], truth[: i + 1], sums[: i + 1])
            desk.errors[look] += _add(below[i + 1 :], truth[i + 1 :], sums[i + 1 :])
            at[i], left[look] = last, 0


@jit_in_place
def _leave(before: NDArray[np.uint32], below: NDArray[np.uint32], at: NDArray[np.uint32]) -> Any:
    """Let arms that make no pulls in a class stand where they stood; return how many pulls they make at the level.

    ``before``: after the level before; ``below`` the level; ``at``: after it.
    """
    tied = np.uint32(0)
    for i in range(at.size):
        first = max(before[i], below[i])
        last = max(first, at[i])
        below[i] = first
        at[i] = last
        tied += (last >> _HALF) - (first >> _HALF)
    return np.int64(tied)


@jit_in_place
def _add(stood: NDArray[np.uint32], truth: NDArray[np.uint32], sums: NDArray[np.uint32]) -> Any:
    """Add arms' pulls and totals to sums; return how many of the arms are called wrongly."""
    wrong = np.uint32(0)
    for i in range(stood.size):
        sums[i] += stood[i] & _GAIN
        wrong += ((stood[i] >> _CALLED) & np.uint32(1)) ^ truth[i]
    return np.int64(wrong)


@jit_in_place
def _last_to_pull(below: NDArray[np.uint32], at: NDArray[np.uint32], left: NDArray[np.int64]) -> Any:
    """Return the first arm of a tile that does not make all its pulls at a level; what is ``left``, (1,), is for it."""
    i = 0
    while True:
        tied = np.int64(at[i] >> _HALF) - np.int64(below[i] >> _HALF)
        if tied > left[0]:
            return i
        left[0] -= tied
        i += 1


@jit_in_place
def _pull_on(games: Games, run: Any, arm: int, word: Any, stood: Any, more: Any, ranks: Ranks) -> Any:
    """Return where an arm stands after some more pulls. ``word``: its first."""
    pulls, total = np.int64(stood >> _HALF), np.int64(stood & _TOTAL)
    for _ in range(more):
        if pulls >= BLOCK:
            word = word_of(games, run, arm, pulls)
        total += np.int64((word >> np.uint64(pulls & (BLOCK - 1))) & np.uint64(1))
        pulls += 1
    if pulls == 0:
        return np.uint32(0)
    called = ranks.codes[ranks.rows[pulls] + total] & 1
    return (np.uint32(pulls) << _HALF) | (np.uint32(called) << _CALLED) | np.uint32(total)


@kernel
def play_looks(games: Games, ranks: Ranks, high: int, by_arm: bool, outcome: Outcome) -> int:
    """Play runs with many looks, all thought to be below or at rank ``high``; return how many were played.

    That is all but those from one on that the table cannot hold. ``by_arm``: whether pulls and totals are asked for.
    """
    whole = by_arm or _WORTH_BLOCKS * games.means.size < ranks.above
    desk = _empty_desk(games, ranks, whole)
    is_open = (ranks.codes[ranks.codes.size - 1] >> 1) > ranks.above
    run: Any = np.int64(0)
    high += 1  # ranks are counted from 1 here
    while run < outcome.errors.shape[1]:
        least = _count(games, run, high, desk)
        known = min(high, least - 1) if is_open else high
        levels = find_levels(games.budgets, desk.counter.sums, known, desk.levels)
        if levels > 0:
            if whole:
                _share_out(games, run, ranks, levels, desk)
            else:
                _count_errors(games, run, desk)
            for look in range(games.budgets.size):
                outcome.errors[look, run] = desk.errors[look]
            run += 1
            if run % (MOST_OF_A_SUM // ranks.rows.size) == 0:
                take_down(desk.sums, outcome)
        elif known == high and high < ranks.above:
            high = min(ranks.above, high + 1 + high // 4)
        else:
            break
    take_down(desk.sums, outcome)
    return int(run)
