"""The survey: every arm of a run goes through its records to the end of a window; the pulls at each rank are counted.

Pull number t + 1 of an arm is made at the running maximum of the ranks of its first t records. The sums of the pulls
at each rank say at which rank every budget is reached, and how many of the pulls at that very rank are still made, in
the order of the arms. What is known of each arm then is its record where it leaves the ranks below the window, which is
kept, and every pull in the window, which is logged, arm by arm; nothing is walked twice (``stopping``).

The engine's words are explained in ``cutline.simulation.ranking``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.chunks import Games
from cutline.simulation.ranking.leaps import Leaps, is_open, keep, leap, pulls_of, total_of
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.rewards import (
    BLOCK,
    Stream,
    Streams,
    arm_increment,
    arm_state,
    begin_run,
    first_words,
    reward_word,
)

_TILE = 512  # arms whose words stay in a core's cache
_ONE = np.uint64(1)
_LANES = np.int64(BLOCK - 1)


class Log(NamedTuple):
    """What a survey keeps: ``records`` (K,), packed as in ``leaps``; the ``arms`` pulled in the window; their pulls.

    ``pulls`` (room,) in the order of the arms: the rank, how many more errors there are after it, plus 1, the reward,
    and whether it is the first of its arm, packed. ``made`` (R,): how many there are at each rank of the window.
    """

    records: NDArray[np.int32]
    arms: NDArray[np.int32]
    pulls: NDArray[np.int32]
    made: NDArray[np.int64]


class Survey(NamedTuple):
    """What came of a survey: the pulls ``below`` the window, how many are ``logged``, whether the log is ``full``.

    ``squares``: the sum over arms of the squares of their pulls at the end of the window. ``open_from``: the least rank
    at which an arm is at the edge, one that no record has where no arm is.
    """

    below: int
    logged: int
    squares: int
    full: bool
    open_from: int


class Tile(NamedTuple):
    """Space for some arms side by side, (tile,) each: their streams and words, and a list of some of them."""

    states: NDArray[np.uint64]
    increments: NDArray[np.uint64]
    undecided: NDArray[np.uint64]
    words: NDArray[np.uint64]
    those: NDArray[np.int32]


class Place(NamedTuple):
    """An arm's record, and its further rewards in its word, the next one in the lowest bit; none after 64, 128, ..."""

    pulls: Any
    total: Any
    word: Any


@jit
def empty_tile(arms: int) -> Tile:
    """Return space for a tile of a problem with so many arms."""
    size = min(_TILE, arms)
    words = np.empty((4, size), np.uint64)
    return Tile(words[0], words[1], words[2], words[3], np.empty(size + 1, np.int32))


@jit
def empty_log(arms: int, ranks: Ranks, pulls: int) -> Log:
    """Return space for what is known of so many arms and pulls; the system makes it where it is used."""
    records, those = np.empty(arms, np.int32), np.empty(arms + 1, np.int32)
    return Log(records, those, np.empty(pulls, np.int32), np.empty(ranks.above, np.int64))


@jit_in_place
def _in_next_word(games: Games, run: int, arm: int, pulls: Any, total: Any) -> Place:
    """Return where an arm stands that has gone through all its words so far."""
    state = arm_state(games.key, games.first_run + run, arm)
    word = reward_word(Stream(state, arm_increment(state), games.means[arm]), pulls // BLOCK)
    return Place(pulls, total, word)


@jit_inlined
def _pulled(place: Place) -> Any:
    """Return where an arm stands after another pull."""
    return Place(place.pulls + 1, place.total + np.int64(place.word & _ONE), place.word >> _ONE)


@jit_inlined
def _end_of_word(place: Place) -> Any:
    """Return how many pulls an arm has when it has gone through its word."""
    return (place.pulls | _LANES) + 1


@jit_inlined
def _code_of(ranks: Ranks, place: Place) -> Any:
    """Return the code of the record where an arm stands."""
    # Unsigned indices, which cannot count from the end, spare a third of the instructions of a walk.
    row = ranks.rows[np.uint64(place.pulls)]
    return np.int64(ranks.codes[np.uint64(row + place.total)])


@jit_in_place
def survey(games: Games, run: int, ranks: Ranks, leaps: Leaps, log: Log, tile: Tile) -> Survey:
    """Walk all arms to the end of a window."""
    for rank in range(leaps.window.low + 1, leaps.window.high + 1):
        log.made[rank] = 0
    below = logged = squares = pulled_arms = 0
    open_from: Any = np.int64(ranks.above + 1)
    size = tile.states.size
    for begin in range(0, games.means.size, size):
        end = min(begin + size, games.means.size)
        streams = Streams(tile.states[: end - begin], tile.increments, games.means[begin:end])
        begin_run(streams, games.key, games.first_run + run, begin)
        records, words = log.records[begin:end], tile.words[: end - begin]
        first_words(streams, words, tile.undecided)
        for j in range(leap(leaps, words, records, tile.those)):
            i = tile.those[j]
            words[i] = _walk_on(games, run, ranks, leaps, log, begin + i)
        for i in range(records.size):
            pulls = pulls_of(records[i])
            below += pulls
            squares += pulls * pulls
        for j in range(_open_ones(records, tile.those)):
            i = np.uint64(tile.those[j])
            arm = begin + np.int64(i)
            if logged + ranks.rows.size > log.pulls.size:
                return Survey(below, logged, squares, True, open_from)
            before = logged
            logged, edge = _walk_through(games, run, ranks, leaps, log, arm, words[i], logged)
            open_from = min(open_from, edge)
            log.arms[pulled_arms] = arm
            pulled_arms += logged > before
            squares += (logged - before) * (2 * pulls_of(records[i]) + logged - before)
    return Survey(below, logged, squares, False, open_from)


@jit_in_place
def _walk_on(games: Games, run: int, ranks: Ranks, leaps: Leaps, log: Log, arm: int) -> Any:
    """Walk an arm from its total after the first word, in the place of its record, to where it leaves the ranks below.

    Return the word in which it then stands.
    """
    pulls, total = np.int64(BLOCK), np.int64(log.records[arm])
    while True:
        place = _in_next_word(games, run, arm, pulls, total)
        word, end = place.word, _end_of_word(place)
        code = np.int64(0)
        inside = True
        while inside and place.pulls < end:
            place = _pulled(place)
            code = _code_of(ranks, place)
            inside = (code >> 1) <= leaps.window.low
        pulls, total = place.pulls, place.total
        if not inside:
            log.records[arm] = keep(pulls, total, code, ranks, leaps.window.high)
            return word


@jit_inlined
def _walk_through(
    games: Games, run: int, ranks: Ranks, leaps: Leaps, log: Log, arm: Any, word: Any, logged: Any
) -> Any:
    """Walk an arm through the window; return how many pulls are logged then, and the rank at which it is at the edge.

    The latter is one that no record has where the arm is not.
    """
    kept = log.records[arm]
    pulls, total = pulls_of(kept), total_of(kept)
    place = Place(pulls, total, word >> np.uint64(pulls & _LANES))
    worse = np.int64(-1 if games.means[arm] >= games.threshold else 1)  # if it is called above and was not
    code = _code_of(ranks, place)
    top = code
    last = np.int64(0)
    first = np.int64(1)
    while top <= 2 * leaps.window.high + 1:
        if pulls & _LANES == 0 and pulls > 0:
            place = _in_next_word(games, run, arm, pulls, total)
        end = _end_of_word(place)
        while top <= 2 * leaps.window.high + 1 and place.pulls < end:
            last = top >> 1
            log.made[np.uint64(last)] += 1
            reward = np.int64(place.word & _ONE)
            place = _pulled(place)
            after = _code_of(ranks, place)
            more = worse * ((after & 1) - (code & 1)) + 1
            log.pulls[np.uint64(logged)] = (last << 4) | (more << 2) | (reward << 1) | first
            logged += 1
            first = np.int64(0)
            code = after
            top = max(top, code)
        pulls, total = place.pulls, place.total
    return logged, (last if (top >> 1) > ranks.above else np.int64(ranks.above + 1))


@jit_inlined
def _open_ones(records: Any, those: Any) -> Any:
    """List the arms whose records are open; return how many these are."""
    count = np.int64(0)
    for i in range(records.size):
        those[count] = i
        count += is_open(records[i])
    return count
