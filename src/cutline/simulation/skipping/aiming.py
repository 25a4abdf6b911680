"""How far the skip-ahead engine raises the level next, and when another sweep is not worth it.

What runs teach is kept in ``Learnt``. All of this can change how long a game takes, never its result. The engine's
words are explained in ``cutline.simulation.skipping``.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit, jit_in_place, jit_inlined, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.simulation.skipping.state import Rule, Run

_PROBED_ARMS = 32
_PROBED_PULLS = 8
_FADING = 0.95  # what a run still counts in the next


class Learnt(NamedTuple):
    """What runs teach of the way to each of the B budgets.

    ``pace`` (B, 2): pulls, and how far they raised the level. ``usual`` (B,): how far the level at which a game ends
    is above that of the game before, or above 0 for the first. ``spread`` (B,): how far from this it is.
    ``pulls``: those of every arm, (B, K), for a policy that reads no rewards and so has the same in all runs.
    """

    pace: NDArray[np.float64]
    usual: NDArray[np.float64]
    spread: NDArray[np.float64]
    pulls: NDArray[np.int64]


class Leg(NamedTuple):
    """The way to one budget: which look it is, the pulls left, whether a game begins, whether the run is the first."""

    look: int
    budget: int
    left: int
    begins: bool
    first_run: bool


class Step(NamedTuple):
    """How far to raise the level first; whether by the ``guess`` of the level at which the game will end."""

    size: float
    guess: float
    guessed: bool


class Way(NamedTuple):
    """How a budget was reached: the level there, and one that no index was above when its arm was pulled.

    ``start`` is the level where ``whole`` pulls were left, from which on the pace is taken, ``short`` the last level
    where more than a tenth were left.
    """

    level: float
    highest: float
    start: float
    whole: int
    short: float


@jit
def nothing_learnt(looks: int, rows: int, arms: int) -> Learnt:
    """Return what is known before the first run; ``rows`` of ``pulls`` are kept."""
    return Learnt(np.zeros((looks, 2)), np.zeros(looks), np.zeros(looks), np.empty((rows, arms), np.int64))


def worth_a_sweep(arms: int) -> int:
    """Return about how many pulls, made one by one in a tournament of this size, take as long as raising all arms."""
    return 300 * arms // (10 + int(np.log2(arms) ** 2))


def first_aim(arms: int) -> float:
    """Return which share of the pulls that are left a step should take.

    The fewer the arms, the less is known of what a level takes; what is aimed too high is lost.
    """
    return max(0.5, 1.0 - 4.0 / math.sqrt(arms))


def stays_after_a_miss(arms: int) -> int:
    """Return how often the arm may change, by the stepping engine's rule, before a lower level is tried."""
    return 20 + arms // 4


def next_step(
    step: float, made: int, left: int, spent: int, first: bool, pace: NDArray[np.float64], aim: float, arms: int
) -> float:
    """Return how far to raise the level next, so that about the share ``aim`` of the ``left`` pulls are made.

    The last sweep raised it by ``step`` and made ``made`` pulls, the last of ``spent``. Where ``pace``, (pulls, rise),
    is known from other runs, it is mixed with that of the last sweep, unless that was the ``first`` of its game: early
    pulls raise the level faster. Where nothing is known, the level is taken to rise with the logarithm of the pulls,
    and the next sweep to double the pulls at most.
    """
    if pace[0] == 0.0:
        grown = math.log1p(made / max(spent - made, arms))
        return step * min(4.0, math.log1p(min(1.0, aim * left / max(spent, 1))) / max(grown, 1e-9))
    a_pull: float = pace[1] / pace[0]
    hoped = aim * left * a_pull
    if not first:
        hoped = aim * left * (step + 0.5 * left * a_pull) / (made + 0.5 * left)
    return max(hoped, 2.0 * step) if 8 * made < left else hoped


@made_once
def rise_of(policy: type[Policy]) -> Callable[..., float]:
    """Compile the first step up: how far the index of some arms rises, on average, over a few pulls.

    rise(pulls, totals, values, threshold, parameters) takes every other reward to be 1. It is 1 where nothing rises.
    """
    index = with_parameters(policy.index, 3)

    @jit_in_place
    def rise(pulls: Any, totals: Any, values: Any, threshold: float, parameters: Any) -> float:
        summed = 0.0
        probed = 0
        for arm in range(0, pulls.size, max(1, pulls.size // _PROBED_ARMS)):
            highest = values[arm]
            for more in range(1, _PROBED_PULLS + 1):
                total = float(totals[arm] + (more + 1) // 2)
                highest = max(highest, index(float(pulls[arm] + more), total, threshold, arm, parameters))
            if highest < np.inf:
                summed += highest - values[arm]
                probed += 1
        return summed / probed if summed > 0.0 else 1.0

    return rise


_first_aim = compile_plain(first_aim)


@made_once
def first_step_of(policy: type[Policy]) -> Callable[..., Step]:
    """Compile first_step(run, rule, learnt, leg, level, before); at the level ``before`` the game before ended."""
    rise = rise_of(policy)

    @jit_inlined
    def first_step(run: Run, rule: Rule, learnt: Learnt, leg: Leg, level: float, before: float) -> Step:
        look = leg.look
        guess = before + learnt.usual[look]
        guessed = leg.begins and not (leg.first_run and look == 0)
        if guessed:
            margin = (1.5 if look == 0 else 1.0) * learnt.spread[look]  # other runs tell less than this one
            size = max(guess - margin - level, 0.25 * (guess - level))
        else:
            share = _first_aim(run.records.pulls.size) * leg.left
            size = share * learnt.pace[look, 1] / max(learnt.pace[look, 0], 1.0)
        if not size > 0.0:
            guessed = False
            records = run.records
            size = rise(records.pulls, records.totals, records.indices, rule.threshold, rule.parameters)
        return Step(size, guess, guessed)

    return first_step


@jit_in_place
def take_over(learnt: Learnt, leg: Leg) -> None:
    """In the first run, let the budget before stand for the one that comes: nothing else is known of it."""
    look = leg.look
    if leg.first_run and look > 0:
        if not leg.begins:
            learnt.pace[look, 0] = learnt.pace[look - 1, 0]
            learnt.pace[look, 1] = learnt.pace[look - 1, 1]
        learnt.spread[look] = 2.0 * learnt.spread[look - 1]


@jit_in_place
def learn(learnt: Learnt, leg: Leg, way: Way, guess: float, runs: int) -> None:
    """Add what the way to a budget taught; so many ``runs`` have gone it before."""
    look = leg.look
    learnt.pace[look, 0] = _FADING * learnt.pace[look, 0] + way.whole
    learnt.pace[look, 1] = _FADING * learnt.pace[look, 1] + way.level - way.start
    if leg.begins:
        weight = max(1.0 / (runs + 1), 1.0 - _FADING)
        varied = way.level - way.short if leg.first_run else abs(way.level - guess)
        learnt.spread[look] += weight * (varied - learnt.spread[look])
        learnt.usual[look] += weight * (way.level - guess)
