"""Walks by rank: every arm of a run goes through its records until they are above the level at which the run ends.

Pull number t + 1 of an arm is made at the running maximum of the ranks of its first t records. A survey walks every arm
once and counts the pulls made at each rank; the sums of these say at which rank every budget is reached, and how many
of the pulls at that very rank are still made, in the order of the arms. A second walk stops each arm there. What lies
below all budgets is not walked twice: a survey keeps every arm's record at a rank that is thought to be too low.

The engine's words are explained in ``cutline.simulation.ranking``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games, Outcome
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.records import count_errors
from cutline.simulation.rewards import BLOCK, Stream, Streams, begin_run, first_words, reward_word, stream_of

_TILE = 128  # arms whose words, and what they reach in each cell, stay in a core's cache
_APART = 8  # rows that are a power of two apart would get into each other's way there
_ONE = np.uint64(1)
_HALF = np.int64(32)
_TOTAL_BITS = np.int64((1 << 32) - 1)


class Window(NamedTuple):
    """Ranks between which all budgets of a run are thought to be reached: above ``low`` and up to ``high``."""

    low: int
    high: int


class Place(NamedTuple):
    """An arm's record, and the word in which its next reward stands."""

    pulls: int
    total: Any
    word: Any


class Kept(NamedTuple):
    """What a survey keeps of arms, (K,): their first records above the low rank, packed, and their next words."""

    records: NDArray[np.int64]
    words: NDArray[np.uint64]


class Survey(NamedTuple):
    """What came of a survey: the pulls ``below`` the window, and the least rank at which an arm is at the edge.

    The second is a rank that no record has where no arm is.
    """

    below: int
    open_from: int


class Stops(NamedTuple):
    """Where each look of a run ends, (B,): at a rank, of whose pulls so many are ``left`` to the look.

    Looks that end at one rank are of one ``group``, (B,). ``cells``, (R,), sorts pulls by their ranks: cell 2 g takes
    those between the ranks of group g and the one before, cell 2 g + 1 those at the rank of group g.
    """

    ranks: NDArray[np.int64]
    left: NDArray[np.int64]
    group: NDArray[np.int64]
    cells: NDArray[np.int32]


class Tile(NamedTuple):
    """Space for some arms side by side, (tile,) each but ``reached``.

    ``reached`` (2 B, tile) are the packed records that arms come to in each cell, 0 where they make no pull.
    """

    states: NDArray[np.uint64]
    increments: NDArray[np.uint64]
    undecided: NDArray[np.uint64]
    reached: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]


@jit
def empty_tile(arms: int, looks: int) -> Tile:
    """Return space for so many looks."""
    size = min(_TILE, arms)
    words = np.empty((3, size + _APART), np.uint64)
    numbers = np.empty((4, size + _APART), np.int64)
    reached = np.zeros((2 * looks, size + _APART), np.int64)
    return Tile(words[0], words[1], words[2], reached, numbers[0], numbers[1], numbers[2], numbers[3])


@jit
def empty_kept(arms: int) -> Kept:
    """Return space for what a survey keeps of so many arms."""
    return Kept(np.empty(arms, np.int64), np.empty(arms, np.uint64))


@jit
def empty_stops(looks: int, ranks: int) -> Stops:
    """Return space for the stops of so many looks, in a table of so many ranks."""
    return Stops(
        np.empty(looks, np.int64), np.empty(looks, np.int64), np.empty(looks, np.int64), np.empty(ranks, np.int32)
    )


@jit_inlined
def _packed(pulls: int, total: int) -> np.int64:
    return (np.int64(pulls) << _HALF) | np.int64(total)


@jit_inlined
def _pulled(stream: Stream, place: Place) -> Place:
    """Return where an arm stands after another pull."""
    word = place.word
    total = place.total + np.int64((word >> np.uint64(place.pulls & (BLOCK - 1))) & _ONE)
    pulls = place.pulls + 1
    if pulls & (BLOCK - 1) == 0:
        word = reward_word(stream, pulls // BLOCK)
    return Place(pulls, total, word)


@jit_inlined
def _rank_of(ranks: Ranks, place: Place) -> Any:
    # Unsigned indices, which cannot count from the end, spare a third of the instructions of a walk.
    row = ranks.rows[np.uint64(place.pulls)]
    return np.int64(ranks.ranks[np.uint64(row + place.total)])


@jit_in_place
def survey(
    games: Games, run: int, ranks: Ranks, window: Window, kept: Kept, made: NDArray[np.int64], tile: Tile
) -> Survey:
    """Walk all arms to the end of a window; count in ``made`` (R,) the pulls at each of its ranks."""
    for rank in range(window.low + 1, window.high + 1):
        made[rank] = 0
    edge = ranks.above + 1
    below = 0
    open_from = edge
    size = tile.before.size - _APART
    for begin in range(0, games.means.size, size):
        end = min(begin + size, games.means.size)
        streams = Streams(tile.states[: end - begin], tile.increments, games.means[begin:end])
        begin_run(streams, games.key, games.first_run + run, begin)
        first_words(streams, kept.words[begin:end], tile.undecided)
        for arm in range(begin, end):
            stream = stream_of(streams, arm - begin)
            word = kept.words[arm]
            place = Place(ranks.first, ranks.first * np.int64(word & _ONE), word)
            rank = _rank_of(ranks, place)
            while rank <= window.low:
                place = _pulled(stream, place)
                rank = _rank_of(ranks, place)
            kept.records[arm] = _packed(place.pulls, place.total)
            kept.words[arm] = place.word
            below += place.pulls
            top = rank
            last = 0
            while top <= window.high:
                last = top
                made[np.uint64(top)] += 1
                place = _pulled(stream, place)
                top = max(top, _rank_of(ranks, place))
            if top == edge:
                open_from = min(open_from, last)
    return Survey(below, open_from)


@jit_in_place
def find_stops(games: Games, window: Window, below: int, made: NDArray[np.int64], stops: Stops) -> bool:
    """Find the rank at which each budget is reached; say whether all are inside the window, from its low end on."""
    rank = window.low + 1
    sum_before = below
    group = -1
    cell = 0
    for look in range(games.budgets.size):
        while rank <= window.high and sum_before + made[rank] < games.budgets[look]:
            sum_before += made[rank]
            if look == 0 or rank != stops.ranks[look - 1]:
                stops.cells[rank] = cell
            rank += 1
        if rank > window.high:
            return False
        if look == 0 or rank != stops.ranks[look - 1]:
            group += 1
        stops.cells[rank] = 2 * group + 1
        cell = 2 * group + 2
        stops.ranks[look] = rank
        stops.group[look] = group
        stops.left[look] = games.budgets[look] - sum_before
    return True


@jit_in_place
def stop(games: Games, run: int, ranks: Ranks, kept: Kept, stops: Stops, tile: Tile, outcome: Outcome) -> None:
    """Walk all arms on from where a survey kept them to where each look ends, and write down what they come to."""
    size = tile.before.size - _APART
    last = stops.ranks[-1]
    for look in range(games.budgets.size):
        outcome.errors[look, run] = 0
    for begin in range(0, games.means.size, size):
        end = min(begin + size, games.means.size)
        streams = Streams(tile.states[: end - begin], tile.increments, games.means[begin:end])
        begin_run(streams, games.key, games.first_run + run, begin)
        for arm in range(begin, end):
            stream = stream_of(streams, arm - begin)
            record = kept.records[arm]
            place = Place(record >> _HALF, record & _TOTAL_BITS, kept.words[arm])
            top = _rank_of(ranks, place)
            while top <= last:
                place = _pulled(stream, place)
                cell = np.uint64(stops.cells[np.uint64(top)])
                tile.reached[cell, np.uint64(arm - begin)] = _packed(place.pulls, place.total)
                top = max(top, _rank_of(ranks, place))
        _take_down_tile(games, run, kept, stops, tile, streams, outcome, begin)


@jit_in_place
def _take_down_tile(
    games: Games, run: int, kept: Kept, stops: Stops, tile: Tile, streams: Streams, outcome: Outcome, begin: int
) -> None:
    """Write down what the arms of a tile, from ``begin`` on, have come to at each look."""
    count = streams.states.size
    end = begin + count
    for i in range(count):
        tile.after[i] = kept.records[begin + i]
    pulls, totals = tile.pulls[:count], tile.totals[:count]
    at_rank = 0
    for look in range(games.budgets.size):
        group = stops.group[look]
        if look == 0 or group != stops.group[look - 1]:
            at_rank = _enter_cells(tile, group, count)
        left = stops.left[look]
        if left >= at_rank:
            stops.left[look] -= at_rank
            _unpack(tile.after[:count], pulls, totals)
        else:
            _unpack(tile.before[:count], pulls, totals)
            if left > 0:
                _share_out(streams, tile, left)
                stops.left[look] = 0
        outcome.errors[look, run] += count_errors(games.means[begin:end], games.threshold, pulls, totals)
        _add(pulls, outcome.pulls[look, begin:end])
        _add(totals, outcome.totals[look, begin:end])


@jit_in_place
def _add(numbers: NDArray[np.int64], into: NDArray[np.int64]) -> None:
    for i in range(numbers.size):
        into[i] += numbers[i]


@jit_in_place
def _enter_cells(tile: Tile, group: int, count: int) -> int:
    """Set the records before and after the pulls at the rank of a group, and return how many pulls these are."""
    before, after = tile.before[:count], tile.after[:count]
    between, at_rank = tile.reached[2 * group, :count], tile.reached[2 * group + 1, :count]
    for i in range(count):
        before[i] = max(after[i], between[i])
        between[i] = 0
    made = 0
    for i in range(count):
        after[i] = max(before[i], at_rank[i])
        at_rank[i] = 0
        made += (after[i] >> _HALF) - (before[i] >> _HALF)
    return made


@jit_in_place
def _unpack(records: NDArray[np.int64], pulls: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
    for i in range(pulls.size):
        pulls[i] = records[i] >> _HALF
        totals[i] = records[i] & _TOTAL_BITS


@jit_in_place
def _share_out(streams: Streams, tile: Tile, left: int) -> None:
    """Make the pulls that are left at a rank, in the order of the arms."""
    i = 0
    while left > 0:
        more = min(left, (tile.after[i] >> _HALF) - tile.pulls[i])
        left -= more
        for _ in range(more):
            n = tile.pulls[i]
            word = reward_word(stream_of(streams, i), n // BLOCK)
            tile.totals[i] += np.int64((word >> np.uint64(n & (BLOCK - 1))) & _ONE)
            tile.pulls[i] = n + 1
        i += 1
