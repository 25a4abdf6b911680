"""Sweeps: raising all arms of a run to a level, those close to it side by side, in waves, the others one by one.

The engine's words are explained in ``cutline.simulation.skipping``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit, jit_in_place, made_once
from cutline.policies.policy import Policy
from cutline.simulation.records import Record, Records, empty_records
from cutline.simulation.rewards import BLOCK, stream_of
from cutline.simulation.skipping.climbing import climbing
from cutline.simulation.skipping.state import Rule, Run
from cutline.simulation.skipping.wave import WaveBuffers, empty_wave_buffers, wave_of
from cutline.simulation.skipping.word_cache import count_rewards

_MOST_WAVES = 6
_WORTH_A_WAVE = 5  # arms
_LONG_RECORD = 2 * BLOCK  # with fewer pulls an arm the lines of a wave are too far below what they stand for


class Attempt(NamedTuple):
    """Space for a sweep: records, which become those of the run if there are pulls enough, and buffers for waves."""

    records: Records
    buffers: WaveBuffers


class PastGame(NamedTuple):
    """How the game before ended: its parameters (K, P), and pulls and totals (K,).

    No index was above ``level`` when its arm was pulled. An infinite level says that there is no such game.
    """

    level: float
    parameters: NDArray[np.float64]
    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]


@jit
def empty_attempt(arms: int, parameters: int) -> Attempt:
    """Return space for sweeps of so many arms."""
    return Attempt(empty_records(arms), empty_wave_buffers(parameters))


@jit_in_place
def _copy(records: Records, into: Records) -> int:
    """Copy records and return their pulls."""
    pulls = 0
    for arm in range(records.pulls.size):
        pulls += records.pulls[arm]
        into.pulls[arm] = records.pulls[arm]
        into.totals[arm] = records.totals[arm]
        into.indices[arm] = records.indices[arm]
    return pulls


def _no_head_start(level: float, before: Any, next_level: float, after: Any) -> float:
    return 0.0


@made_once
def raising(policy: type[Policy]) -> Callable[..., int]:
    """Compile a sweep for a policy that has a ceiling.

    raise_all(run, rule, attempt, past, level, spare) raises all arms above the level and returns the pulls that it
    took; -1, and no change, if more than ``spare``.
    """
    wave = wave_of(policy)
    has_band = policy.band is not None
    can_start_ahead = policy.head_start is not None
    start_ahead, climb_in_rounds = _start_ahead(policy), _climb_in_rounds(policy)

    @jit_in_place
    def raise_all(run: Run, rule: Rule, attempt: Attempt, past: PastGame, level: float, spare: int) -> int:
        arms = run.records.pulls.size
        spent = _copy(run.records, attempt.records)
        made = 0
        if can_start_ahead and past.level < np.inf:
            made = start_ahead(run, rule, past, attempt.records, level)
        waiting = arms
        if has_band and spent + spare >= _LONG_RECORD * arms:
            for _ in range(_MOST_WAVES):
                passed, remaining = wave(run, rule, attempt.records, attempt.buffers, level)
                made += passed
                hardly_moved = passed < 4 * waiting
                waiting = remaining
                if waiting < _WORTH_A_WAVE or made >= spare or hardly_moved:
                    break
        if made > spare:
            return -1
        if waiting > 0:
            made = climb_in_rounds(run, rule, attempt.records, level, made, spare)
            if made < 0:
                return -1
        _copy(attempt.records, run.records)
        return made

    return raise_all


def _start_ahead(policy: type[Policy]) -> Callable[..., int]:
    index = climbing(policy).index_of
    head_start = compile_plain(policy.head_start or _no_head_start)

    @jit_in_place
    def start_ahead(run: Run, rule: Rule, past: PastGame, records: Records, level: float) -> int:
        """Move arms to records before which no index is above the level, as the game before shows; return the pulls."""
        made = 0
        for arm in range(records.pulls.size):
            ahead = head_start(past.level, past.parameters[arm], level, rule.parameters[arm])
            target = past.pulls[arm]
            total = past.totals[arm]
            if ahead < target:
                target = int(ahead) // BLOCK * BLOCK
                total = count_rewards(arm, stream_of(run.streams, arm), run.cache, 0, target)
            if target > records.pulls[arm]:
                made += target - records.pulls[arm]
                records.pulls[arm] = target
                records.totals[arm] = total
                records.indices[arm] = index(float(target), float(total), rule.threshold, arm, rule.parameters)
        run.skipped[0] += made
        return made

    return start_ahead


def _climb_in_rounds(policy: type[Policy]) -> Callable[..., int]:
    climb = climbing(policy).climb

    @jit_in_place
    def climb_in_rounds(run: Run, rule: Rule, records: Records, level: float, made: int, spare: int) -> int:
        """Let every arm that is not above the level climb; return the pulls ``made`` in all, -1 if above ``spare``.

        An arm climbs so far and no further in each round, lest one in a long excursion use up ``spare`` before it is
        seen that the others need it.
        """
        furthest = 2 * (spare // records.pulls.size) + BLOCK
        waiting = records.pulls.size
        while waiting > 0:
            if made >= spare:
                return -1
            waiting = 0
            for arm in range(records.pulls.size):
                if records.indices[arm] > level:
                    continue
                began = records.pulls[arm]
                limit = began + min(furthest, spare - made)
                record = Record(began, records.totals[arm], records.indices[arm])
                record = climb(arm, stream_of(run.streams, arm), rule, run.cache, record, level, limit, run.skipped)
                records.pulls[arm], records.totals[arm], records.indices[arm] = record
                made += record.pulls - began
                waiting += 1 if record.value <= level else 0
            furthest = spare if waiting == 1 else 2 * furthest
        return made

    return climb_in_rounds
