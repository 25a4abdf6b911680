"""Leaps: what eight rewards at a time do to an arm below a window, looked up instead of walked.

Where an arm comes to below the window follows from its rewards alone, and these are the bits of a word. So for every
record that stands at a multiple of eight pulls, a *station*, and each of the 256 bytes that can come next, a table says
where the arm leaves the ranks below the window, or at which station it is then. A tile's arms take their leaps side by
side, and those that have not left go into a list for the next byte; no step has a branch that depends on rewards.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, jit_inlined
from cutline.simulation.ranking.table import Ranks
from cutline.simulation.rewards import BLOCK

_STEP = 8  # rewards of a leap
_BYTES = 1 << _STEP
_LEAPS = BLOCK // _STEP  # of a word
_STATIONS = 232  # with less than a word's pulls: 1 + 9 + 17 + ... + 57

_ON = np.int32(-(1 << 31))  # of the next station


class Window(NamedTuple):
    """Ranks between which all budgets of a run are thought to be reached: above ``low`` and up to ``high``."""

    low: int
    high: int


class Leaps(NamedTuple):
    """A window, and for each station and byte, (_STATIONS * 256,), the kept record or the station that follows.

    A kept record is packed: the total, whether the arm is called above, whether it is open, the pulls. An arm is open
    if its record is not above the window, or is at the edge of the table.
    """

    window: Window
    next: NDArray[np.int32]


@jit_inlined
def pulls_of(kept: Any) -> Any:
    """Return the pulls of a kept record."""
    return np.int64(kept) >> np.int64(16)


@jit_inlined
def total_of(kept: Any) -> Any:
    """Return the total of a kept record."""
    return np.int64(kept) & np.int64((1 << 14) - 1)


@jit_inlined
def gain_of(kept: Any) -> Any:
    """Return the pulls, from bit 16 on, and the total of a kept record."""
    return kept & np.int32(-(1 << 16) | ((1 << 14) - 1))


@jit_inlined
def is_called_above(kept: Any) -> Any:
    """Return 1 if the arm of a kept record is called above, else 0."""
    return (np.int64(kept) >> 14) & 1


@jit_inlined
def is_open(kept: Any) -> Any:
    """Return 1 if a kept record is open, else 0."""
    return (np.int64(kept) >> 15) & 1


@jit_inlined
def keep(pulls: Any, total: Any, code: Any, ranks: Ranks, high: int) -> Any:
    """Return a record as it is kept, given its code."""
    rank = code >> 1
    may_go_on = np.int64(rank <= high or rank > ranks.above)
    return np.int32((pulls << 16) | (may_go_on << 15) | ((code & 1) << 14) | total)


@jit_inlined
def _station(pulls: Any, total: Any) -> Any:
    block = pulls // _STEP
    return block * (4 * block - 3) + total


@jit
def leaps_to(ranks: Ranks, window: Window) -> Leaps:
    """Return the leaps of arms that come to the window."""
    after = np.empty(_STATIONS * _BYTES, np.int32)
    reached = np.zeros(_STATIONS + BLOCK + 1, np.bool_)
    reached[0] = True
    for start in range(0, BLOCK, _STEP):
        for total in range(start + 1):
            station = _station(start, total)
            if reached[station]:
                _leap_from(ranks, window, start, total, after[station * _BYTES : (station + 1) * _BYTES], reached)
    return Leaps(window, after)


@jit_in_place
def _leap_from(
    ranks: Ranks, window: Window, start: int, total: int, after: NDArray[np.int32], reached: NDArray[np.bool_]
) -> None:
    """Fill in what follows a record, (256,), and which stations are reached."""
    begins = start == 0 and ranks.first == 0 and (ranks.codes[ranks.rows[0]] >> 1) > window.low
    for byte in range(_BYTES):
        n, s = np.int64(start), np.int64(total)
        code = np.int64(ranks.codes[ranks.rows[0]])
        stopped = begins
        while not stopped and n < start + _STEP:
            s += (byte >> (n - start)) & 1
            n += 1
            code = np.int64(ranks.codes[ranks.rows[n] + s])
            stopped = (code >> 1) > window.low
        if stopped:
            after[byte] = keep(n, s, code, ranks, window.high)
        else:
            station = _station(n, s)
            reached[station] = True
            after[byte] = np.int32(station | _ON)


@jit_in_place
def leap(leaps: Leaps, words: Any, kept: Any, those: Any) -> Any:
    """Let arms leap through a word of rewards, (T,) each, from their first; put their records into ``kept``.

    Return how many have not left: ``those``, in order, have no kept record, but their total after 64 rewards.
    """
    count = np.int64(0)
    for i in range(words.size):
        after = leaps.next[np.uint64(words[i] & np.uint64(255))]
        kept[i] = after
        those[count] = i
        count += np.int64(after < 0)
    shift = np.uint64(0)
    for _ in range(1, _LEAPS):
        shift += np.uint64(_STEP)
        waiting, count = count, np.int64(0)
        for j in range(waiting):
            arm = np.uint64(those[j])
            byte = (words[arm] >> shift) & np.uint64(255)
            after = leaps.next[(np.uint64(kept[arm] & ~_ON) << np.uint64(_STEP)) | byte]
            kept[arm] = after
            those[count] = arm
            count += np.int64(after < 0)
    for j in range(count):
        kept[those[j]] = (kept[those[j]] & ~_ON) - _STATIONS
    return count
