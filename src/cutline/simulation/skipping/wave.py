"""A wave: the arms that are not above a level go through their next 64 rewards, side by side.

A climb stops after some tens of rewards where budgets are close, and what it costs is not arithmetic: a processor that
has guessed a branch wrong, or waits for one result to begin with the next, does nothing meanwhile. A wave has no branch
that depends on the rewards, and its steps, each done for up to 64 arms before the next, wait for nothing: the
policy's ``band`` gives two straight lines that the excess must leave before an index can be above the level; of 64
records it is found at once which are outside; and the first of them gets its index. The engine's words are explained in
``cutline.simulation.skipping``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.simulation.records import Records
from cutline.simulation.rewards import BLOCK, count_ones, stream_of
from cutline.simulation.skipping.climbing import ROUNDING
from cutline.simulation.skipping.state import Rule, Run
from cutline.simulation.skipping.word_cache import word_at

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_ABREAST = 64  # arms that go side by side


class WaveBuffers(NamedTuple):
    """Space for the arms that go side by side, A in number.

    ``arms``, ``words`` (their next rewards), ``outside`` (which of those are outside the band), ``pulls`` and
    ``excesses`` (A,), ``parameters`` (A, P), and the lines of the band, ``offsets`` and ``slopes`` (A,).
    """

    arms: NDArray[np.int64]
    words: NDArray[np.uint64]
    outside: NDArray[np.uint64]
    pulls: NDArray[np.float64]
    excesses: NDArray[np.float64]
    parameters: NDArray[np.float64]
    offsets: NDArray[np.float64]
    slopes: NDArray[np.float64]


@jit
def empty_wave_buffers(parameters: int) -> WaveBuffers:
    """Return space for waves of a policy with so many parameters."""
    arms, words, outside = np.empty(_ABREAST, np.int64), np.empty(_ABREAST, np.uint64), np.empty(_ABREAST, np.uint64)
    pulls, excesses, table = np.empty(_ABREAST), np.empty(_ABREAST), np.empty((_ABREAST, parameters))
    return WaveBuffers(arms, words, outside, pulls, excesses, table, np.empty(_ABREAST), np.empty(_ABREAST))


@jit_in_place
def _gather(begin: int, run: Run, rule: Rule, records: Records, buffers: WaveBuffers, level: float) -> int:
    """Lay out those of the arms from ``begin`` on, as many as go side by side, that are not above the level."""
    count = 0
    for arm in range(begin, min(begin + _ABREAST, records.pulls.size)):
        buffers.arms[count] = arm
        count += 1 if records.indices[arm] <= level else 0
    for i in range(count):
        arm = buffers.arms[i]
        n = records.pulls[arm]
        lane = n & (BLOCK - 1)
        stream = stream_of(run.streams, arm)
        word = word_at(arm, n // BLOCK, stream, run.cache) >> np.uint64(lane)
        if lane != 0:
            word |= word_at(arm, n // BLOCK + 1, stream, run.cache) << np.uint64(BLOCK - lane)
        buffers.words[i] = word
        buffers.pulls[i] = float(n)
        buffers.excesses[i] = float(records.totals[arm]) - rule.threshold * float(n)
        for column in range(buffers.parameters.shape[1]):
            buffers.parameters[i, column] = rule.parameters[arm, column]
    return count


def _no_band(pulls: float, length: float, level: float, threshold: float) -> tuple[float, float]:
    return -1.0, -1.0


@made_once
def wave_of(policy: type[Policy]) -> Callable[..., tuple[int, int]]:
    """Compile a wave for a policy; without a band there are no waves to make.

    wave(run, rule, records, buffers, level) moves records on and returns how many pulls that took and how many arms
    are still not above the level.
    """
    index = with_parameters(policy.index, 3)
    draw_lines = _draw_lines(policy)

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
    def wave(run: Run, rule: Rule, records: Records, buffers: WaveBuffers, level: float) -> tuple[int, int]:
        made = 0
        waiting = 0
        for begin in range(0, records.pulls.size, _ABREAST):
            count = _gather(begin, run, rule, records, buffers, level)
            draw_lines(count, buffers.pulls, buffers.parameters, level, rule.threshold, buffers.offsets, buffers.slopes)
            for i in range(count):
                buffers.outside[i] = outside(
                    buffers.words[i], buffers.excesses[i], rule.threshold, buffers.offsets[i], buffers.slopes[i]
                )
            for i in range(count):
                arm = buffers.arms[i]
                found = buffers.outside[i]
                up_to = found ^ (found - _ONE)  # all, if none is outside
                length = count_ones(up_to)
                n = records.pulls[arm] + length
                s = records.totals[arm] + count_ones(buffers.words[i] & up_to)
                value = index(float(n), float(s), rule.threshold, arm, rule.parameters)
                records.pulls[arm] = n
                records.totals[arm] = s
                records.indices[arm] = value
                made += length
                run.skipped[0] += BLOCK if found == np.uint64(0) else 0
                waiting += 1 if value <= level else 0
        return made, waiting

    return wave


def _draw_lines(policy: type[Policy]) -> Callable[..., None]:
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

    return draw_lines
