"""Runs with many looks: a walk finds the levels, and with them the errors at each look.

With one look nearly all pulls are made eight at a time below it; with many nearly every pull is close to one of them.
What arms have come to at each look takes a second walk (``standing``).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, kernel
from cutline.simulation.chunks import Games, Outcome
from cutline.simulation.ranking.counted_walk import Log, count_pulls, empty_log
from cutline.simulation.ranking.counting import Counter, add_up, begin_counts, counter_of, end_tile
from cutline.simulation.ranking.levels import Levels, empty_levels, find_levels
from cutline.simulation.ranking.logs import blocks_of_levels, count_at_levels, empty_tables
from cutline.simulation.ranking.strides import TILE, Front, empty_front
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.ranking.ties import Blocks, count_tied, empty_ties
from cutline.simulation.rewards import Streams, begin_run, first_words


class Desk(NamedTuple):
    """What the runs of a chunk are counted with.

    Of all arms, (K,): their first ``words`` in a run. Of a tile, (tile,): its ``front``, whether its arms are above the
    threshold in ``truth``, space for its ``streams``, (3, tile).
    """

    words: NDArray[np.uint64]
    truth: NDArray[np.uint32]
    front: Front
    streams: NDArray[np.uint64]
    counter: Counter
    log: Log
    levels: Levels


@jit
def empty_desk(games: Games, ranks: Ranks, whole: bool, room: int) -> Desk:
    """Return a desk on which arms are counted in blocks or the ``whole`` of them, with room for a log of strides."""
    tile = min(TILE, games.means.size)
    return Desk(
        np.empty(games.means.size, np.uint64),
        np.empty(tile, np.uint32),
        empty_front(tile),
        np.empty((3, tile), np.uint64),
        counter_of(ranks, games.means.size, whole),
        empty_log(room),
        empty_levels(games.budgets.size, ranks.above),
    )


@jit_in_place
def tile_from(games: Games, first_arm: Any, desk: Desk) -> Front:
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

    Return the least rank at which an arm comes to the last row, one that no record has where none does; -1 if the log
    is full.
    """
    counter = desk.counter
    begin_counts(counter)
    desk.log.length[0] = 0
    least: Any = np.int64(counter.sums.size >> 1)
    for first_arm in range(0, desk.words.size, TILE):
        words = desk.words[first_arm : first_arm + TILE]
        means = games.means[first_arm : first_arm + TILE]
        streams = Streams(desk.streams[0, : words.size], desk.streams[1], means)
        begin_run(streams, games.key, games.first_run + run, first_arm)
        first_words(streams, words, desk.streams[2])
        tile = tile_from(games, first_arm, desk)
        least = min(least, count_pulls(games, run, first_arm, tile, desk.truth, counter, high, desk.log))
        end_tile(first_arm + words.size, desk.words.size, counter)
    add_up(counter)
    return least


@jit_in_place
def levels_of_run(games: Games, run: Any, ranks: Ranks, high: int, desk: Desk) -> Any:
    """Count a run and find its levels, first up to a rank, then higher; return how many they are, and up to which rank.

    None are found where the table, or the log, cannot hold the run.
    """
    is_open = (ranks.codes[ranks.codes.size - 1] >> 1) > ranks.above
    while True:
        least = _count(games, run, high, desk)
        known = min(high, least - 1) if is_open else high
        levels = find_levels(games.budgets, desk.counter.sums, known, desk.levels) if least >= 0 else 0
        if levels > 0 or least < 0 or known < high or high == ranks.above:
            return levels, high
        high = min(ranks.above, high + 1 + high // 4)


@kernel
def play_looks(games: Games, ranks: Ranks, high: int, room: int, outcome: Outcome) -> int:
    """Play runs with many looks for their errors, all thought to be below or at rank ``high``.

    Return how many were played: all but those from one on that the table, or the log, cannot hold. ``room``: of the log
    for strides of few arms, or 0.
    """
    arms, looks = games.means.size, games.budgets.size
    desk = empty_desk(games, ranks, room > 0, room)
    most = min(looks, ranks.above + 1)  # levels
    counter, tables, ties = desk.counter, empty_tables(most), empty_ties(most)
    blocks = Blocks(counter.made, counter.sums.size, counter.tiles * TILE, False)
    if room > 0:
        blocks = blocks_of_levels(arms, most)
    above = np.count_nonzero(games.means >= games.threshold)
    run: Any = np.int64(0)
    high += 1  # ranks are counted from 1 here
    while run < outcome.errors.shape[1]:
        levels, high = levels_of_run(games, run, ranks, high, desk)
        if levels == 0:
            break
        if room > 0:
            count_at_levels(games, desk.words, counter, desk.log, desk.levels, tables, blocks)
        count_tied(games, run, desk.words, counter.marks, blocks, desk.levels, ties)
        for look in range(looks):
            outcome.errors[look, run] = above + desk.levels.more[look]  # at first all arms are called below
        run += 1
    return int(run)
