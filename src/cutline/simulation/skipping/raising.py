"""Raising all arms of a run to a level: those close to it side by side, in waves, the others one by one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cutline.compiled import compile_plain, jit_in_place, made_once
from cutline.policies.policy import Policy
from cutline.simulation.rewards import BLOCK
from cutline.simulation.skipping.climbing import climbing, count_rewards
from cutline.simulation.skipping.wave import wave_of

_MOST_WAVES = 6
_WORTH_A_WAVE = 5  # arms
_LONG_RECORD = 2 * BLOCK  # with fewer pulls an arm the lines of a wave are too far below what they stand for


def _no_head_start(level: float, before: Any, next_level: float, after: Any) -> float:
    return 0.0


@made_once
def raising(policy: type[Policy]) -> Callable[..., int]:
    """Compile ``raise_all`` for a policy that has a ceiling."""
    index, climb, _, _ = climbing(policy)
    has_band = policy.band is not None
    wave = wave_of(policy)
    can_start_ahead = policy.head_start is not None
    head_start = compile_plain(policy.head_start or _no_head_start)

    @jit_in_place
    def start_ahead(means: Any, problem: Any, sources: Any, shelf: Any, past: Any, trial: Any, level: float) -> int:
        """Move arms to records before which no index is above the level, as the game before shows; return the pulls."""
        states, increments = sources
        threshold, parameters, _ = problem
        past_level, past_parameters, past_pulls, past_totals = past
        pulls, totals, values = trial
        made = 0
        for arm in range(means.size):
            ahead = head_start(past_level, past_parameters[arm], level, parameters[arm])
            target = past_pulls[arm]
            total = past_totals[arm]
            if ahead < target:
                target = int(ahead) // BLOCK * BLOCK
                total = count_rewards(arm, (states[arm], increments[arm], means[arm]), shelf, 0, target)
            if target > pulls[arm]:
                made += target - pulls[arm]
                pulls[arm] = target
                totals[arm] = total
                values[arm] = index(float(target), float(total), threshold, arm, parameters)
        return made

    @jit_in_place
    def raise_all(  # noqa: PLR0913 - kernels take arrays, not objects
        means: Any,
        problem: Any,
        sources: Any,
        shelf: Any,
        records: Any,
        trial: Any,
        tile: Any,
        past: Any,
        level: float,
        spare: int,
        skipped: Any,
    ) -> int:
        """Raise all arms above the level and return the pulls that it took; -1, and no change, if more than ``spare``.

        Arms climb in rounds, so far and no further in each, so that one arm in a long excursion does not use up
        ``spare`` before it is seen that the others need it. ``trial`` and ``tile`` are space; ``past`` is how the game
        before ended, (level, parameters, pulls, totals), with an infinite level if that is of no use.
        """
        states, increments = sources
        pulls, totals, values = trial
        spent = 0
        for arm in range(means.size):
            spent += records[0][arm]
            pulls[arm] = records[0][arm]
            totals[arm] = records[1][arm]
            values[arm] = records[2][arm]
        made = 0
        if can_start_ahead and past[0] < np.inf:
            made = start_ahead(means, problem, sources, shelf, past, trial, level)
            skipped[0] += made
        waiting = means.size
        worth_waves = has_band and spent + spare >= _LONG_RECORD * means.size
        for _ in range(_MOST_WAVES if worth_waves else 0):
            passed, remaining = wave(means, sources, problem, shelf, trial, tile, level, skipped)
            made += passed
            hardly_moved = passed < 4 * waiting
            waiting = remaining
            if waiting < _WORTH_A_WAVE or made >= spare or hardly_moved:
                break
        if made > spare:
            return -1
        furthest = 2 * (spare // means.size) + BLOCK
        while waiting > 0:
            if made >= spare:
                return -1
            waiting = 0
            for arm in range(means.size):
                if values[arm] > level:
                    continue
                began = pulls[arm]
                pulls[arm], totals[arm], values[arm] = climb(
                    arm,
                    (states[arm], increments[arm], means[arm]),
                    problem,
                    shelf,
                    began,
                    totals[arm],
                    level,
                    began + min(furthest, spare - made),
                    skipped,
                )
                made += pulls[arm] - began
                if values[arm] <= level:
                    waiting += 1
            furthest = spare if waiting == 1 else 2 * furthest
        for arm in range(means.size):
            records[0][arm] = pulls[arm]
            records[1][arm] = totals[arm]
            records[2][arm] = values[arm]
        return made

    return raise_all
