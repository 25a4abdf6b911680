"""A wave: the arms that are not above a level go through their next 64 rewards, side by side.

A climb stops after some tens of rewards where budgets are close, and what it costs is not arithmetic: a processor that
has guessed a branch wrong, or waits for one result to begin with the next, does nothing meanwhile. A wave has no branch
that depends on the rewards, and its steps, each done for all arms of a tile before the next, wait for nothing: the
policy's ``band`` gives two straight lines that the excess must leave before an index can be above the level; of 64
records it is found at once which are outside; and the first of them gets its index.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from cutline.compiled import jit, jit_in_place, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.simulation.rewards import BLOCK, count_ones
from cutline.simulation.skipping.climbing import ROUNDING, word_at

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_TILE = 64  # arms


@jit
def empty_tile(parameters: int) -> Any:
    """Return space for a tile: arms, their next rewards, which of those are suspect, rows of parameters, and floats."""
    arms, words, found = np.empty(_TILE, np.int64), np.empty(_TILE, np.uint64), np.empty(_TILE, np.uint64)
    return arms, words, found, np.empty((_TILE, parameters)), np.empty(_TILE), np.empty(_TILE), np.empty((2, _TILE))


def _no_band(pulls: float, length: float, level: float, threshold: float) -> tuple[float, float]:
    return -1.0, -1.0


@made_once
def wave_of(policy: type[Policy]) -> Callable[..., Any]:
    """Compile a wave for a policy; without a band there are no waves to make.

    wave(means, sources, problem, shelf, trial, tile, level, skipped) moves records on and returns how many pulls that
    took and how many arms are still not above the level; other arguments as in ``climbing``.
    """
    index = with_parameters(policy.index, 3)
    band: Callable[..., tuple[float, float]] = with_parameters(policy.band or _no_band, 4, inlined=True)

    @jit_in_place
    def draw_lines(
        count: int, pulls: Any, table: Any, level: float, threshold: float, offsets: Any, slopes: Any
    ) -> None:
        # LLVM makes vectors of this loop: no branch, and few arrays.
        for i in range(count):
            first, last = band(pulls[i], float(BLOCK), level, threshold, i, table)
            margin = ROUNDING * (pulls[i] + BLOCK)
            known = min(first, last) >= margin
            offsets[i] = first - margin if known else -1.0
            slopes[i] = (last - first) * (1.0 / BLOCK) if known else 0.0

    @jit_in_place
    def outside(word: Any, excess: float, threshold: float, offset: float, slope: float) -> np.uint64:
        # LLVM makes vectors of this loop; if the mask of the first lanes comes from a function, it does not.
        found = np.uint64(0)
        for lane in range(BLOCK):
            more = float(lane + 1)
            total = float(count_ones(word & ((_TWO << np.uint64(lane)) - _ONE)))
            inside = abs(excess + total - threshold * more) <= offset + slope * more
            found |= np.uint64(not inside) << np.uint64(lane)
        return found

    @jit_in_place
    def wave(
        means: Any, sources: Any, problem: Any, shelf: Any, trial: Any, tile: Any, level: float, skipped: Any
    ) -> tuple[int, int]:
        states, increments = sources
        threshold, parameters, _ = problem
        pulls, totals, values = trial
        arms, words, found, table, counts, excesses, lines = tile
        made = 0
        waiting = 0
        for begin in range(0, means.size, _TILE):
            count = 0
            for arm in range(begin, min(begin + _TILE, means.size)):
                arms[count] = arm
                count += 1 if values[arm] <= level else 0
            for i in range(count):
                arm = arms[i]
                n = pulls[arm]
                lane = n & (BLOCK - 1)
                source = (states[arm], increments[arm], means[arm])
                words[i] = word_at(arm, n // BLOCK, source, shelf) >> np.uint64(lane)
                if lane != 0:
                    words[i] |= word_at(arm, n // BLOCK + 1, source, shelf) << np.uint64(BLOCK - lane)
                counts[i] = float(n)
                excesses[i] = float(totals[arm]) - threshold * float(n)
                for column in range(table.shape[1]):
                    table[i, column] = parameters[arm, column]
            draw_lines(count, counts, table, level, threshold, lines[0], lines[1])
            for i in range(count):
                found[i] = outside(words[i], excesses[i], threshold, lines[0, i], lines[1, i])
            for i in range(count):
                arm = arms[i]
                up_to = found[i] ^ (found[i] - _ONE)  # all, if none is outside
                length = count_ones(up_to)
                pulls[arm] += length
                totals[arm] += count_ones(words[i] & up_to)
                values[arm] = index(float(pulls[arm]), float(totals[arm]), threshold, arm, parameters)
                made += length
                skipped[0] += BLOCK if found[i] == np.uint64(0) else 0
                waiting += 1 if values[arm] <= level else 0
        return made, waiting

    return wave
