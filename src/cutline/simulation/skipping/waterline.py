"""The skip-ahead engine: the stepping engine's answers, bit for bit, many times faster.

An arm's index depends on its own record only. So at the moment when the smallest index first exceeds a level
C, every arm stands at its own first record with an index above C, whatever order the pulls came in, and arms
can be raised to C (``raising``) each for itself, 64 rewards at a time (``climbing``), or side by side (``wave``).

To reach a budget, all arms are raised to a level that should take most of the pulls that are left, then to one that
should take most of the rest, until so few are left that they are made one stay after the other by the rule of the
stepping engine; so ties and the budget come out exactly. A level that turns out to take more than there is costs the
time of the attempt, though not of making its rewards, which are kept. How high to aim is learnt from the runs before
(``aiming``); it can change the time, never the result.

A policy that is not anytime plays a game for each budget, all on the same rewards. Where its ``head_start`` allows, an
arm begins where the game before left it. The engine's words are explained in ``cutline.simulation.skipping``.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit_in_place, jit_inlined, kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Games, Kernel, Outcome
from cutline.simulation.records import beginning, take_down
from cutline.simulation.rewards import BLOCK, begin_run, stream_of
from cutline.simulation.skipping import aiming
from cutline.simulation.skipping.aiming import Learnt, Leg, Step, Way, first_step_of, learn, nothing_learnt, take_over
from cutline.simulation.skipping.climbing import climbing
from cutline.simulation.skipping.raising import Attempt, PastGame, empty_attempt, raising
from cutline.simulation.skipping.state import Rule, Run, empty_run, swings_of
from cutline.simulation.skipping.word_cache import count_rewards, forget, word_at
from cutline.simulation.tournament import enter

_CACHED_WORDS = 1 << 17  # what stays in a core's cache
_MOST_MISSES = 12

_first_aim, _next_step = compile_plain(aiming.first_aim), compile_plain(aiming.next_step)
_stays_after_a_miss, _worth_a_sweep = compile_plain(aiming.stays_after_a_miss), compile_plain(aiming.worth_a_sweep)


@made_once
def waterline_kernel(policy: type[Policy]) -> Kernel:
    """Compile the skip-ahead engine for a policy that has a ceiling: a kernel as that of the stepping engine."""
    play_run = _play_run(policy)
    reads_rewards = policy.reads_rewards

    def skip_ahead(games: Games, outcome: Outcome) -> None:
        arms, looks = games.means.size, games.budgets.size
        words = min(games.budgets[-1] // BLOCK + 1, _CACHED_WORDS // arms + 1)
        run = empty_run(games.means, words, outcome.skipped)
        attempt = empty_attempt(arms, games.parameters.shape[2])
        past = PastGame(np.inf, games.parameters[0], np.zeros(arms, np.int64), np.zeros(arms, np.int64))
        learnt = nothing_learnt(looks, 0 if reads_rewards else looks, arms)
        swings = swings_of(games.threshold)
        for number in range(outcome.errors.shape[1]):
            begin_run(run.streams, games.key, games.first_run + number, 0)
            forget(run.cache)
            if reads_rewards or number == 0:
                play_run(games, outcome, number, run, attempt, past, learnt, swings)
            else:
                _repeat_run(games, outcome, number, run, learnt.pulls)

    return kernel(skip_ahead)


@jit_in_place
def _repeat_run(games: Games, outcome: Outcome, number: int, run: Run, found: NDArray[np.int64]) -> None:
    """Play a run whose pulls are known: those that the first run ``found``, (B, K)."""
    pulls, totals = run.records.pulls, run.records.totals
    for look in range(games.budgets.size):
        for arm in range(pulls.size):
            if look == 0 or found[look, arm] < pulls[arm]:
                pulls[arm] = 0
                totals[arm] = 0
            totals[arm] += count_rewards(arm, stream_of(run.streams, arm), run.cache, pulls[arm], found[look, arm])
            run.skipped[0] += found[look, arm] - pulls[arm]
            pulls[arm] = found[look, arm]
        take_down(games, outcome, number, look, pulls, totals)


def _play_run(policy: type[Policy]) -> Callable[..., None]:
    begin_game, first_step, reach = _begin_game(policy), first_step_of(policy), _reach(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first
    reads_rewards = policy.reads_rewards

    @jit_in_place
    def play_run(
        games: Games,
        outcome: Outcome,
        number: int,
        run: Run,
        attempt: Attempt,
        past: PastGame,
        learnt: Learnt,
        swings: NDArray[np.float64],
    ) -> None:
        """Play a run; the arrays of ``past`` are space."""
        arms, pulls, totals = games.means.size, run.records.pulls, run.records.totals
        afresh = games.parameters.shape[0] > 1
        time = 0
        level = np.inf
        before = 0.0
        for look in range(games.budgets.size):
            begins = look == 0 or afresh
            rule = Rule(games.threshold, games.parameters[look if afresh else 0], swings)
            if begins:
                time = arms if pulls_each_arm_first else 0
                level = begin_game(run, rule)
            leg = Leg(look, games.budgets[look], games.budgets[look] - time, begins, number == 0)
            take_over(learnt, leg)
            step = first_step(run, rule, learnt, leg, level, before)
            way = reach(run, rule, attempt, past, learnt, leg, level, step)
            learn(learnt, leg, way, step.guess, number)
            time = leg.budget
            level = way.level
            if begins:
                before = level
            if afresh:
                past = PastGame(way.highest, rule.parameters, past.pulls, past.totals)
            for arm in range(arms):
                if afresh:
                    past.pulls[arm] = pulls[arm]
                    past.totals[arm] = totals[arm]
                if not reads_rewards:
                    learnt.pulls[look, arm] = pulls[arm]
            take_down(games, outcome, number, look, pulls, totals)

    return play_run


def _begin_game(policy: type[Policy]) -> Callable[..., float]:
    begin = beginning(policy)

    @jit_in_place
    def begin_game(run: Run, rule: Rule) -> float:
        """Give all arms their first records and return the level."""
        records = run.records
        level = np.inf
        for arm in range(records.pulls.size):
            reward = np.int64(word_at(arm, 0, stream_of(run.streams, arm), run.cache) & np.uint64(1))
            first = begin(arm, reward, rule.threshold, rule.parameters)
            records.pulls[arm], records.totals[arm], records.indices[arm] = first
            level = min(level, first.value)
        return level

    return begin_game


def _reach(policy: type[Policy]) -> Callable[..., Way]:
    raise_all, finish = raising(policy), climbing(policy).finish

    @jit_inlined
    def reach(
        run: Run, rule: Rule, attempt: Attempt, past: PastGame, learnt: Learnt, leg: Leg, level: float, first: Step
    ) -> Way:
        """Make all pulls that are left up to a budget."""
        arms = run.records.pulls.size
        aim, worth = _first_aim(arms), _worth_a_sweep(arms)
        whole = left = leg.left
        start = short = highest = level
        step, guessed = first.size, first.guessed
        misses = 0
        while left > worth and misses < _MOST_MISSES and level + step > level:
            made = raise_all(run, rule, attempt, past, level + step, left)
            if made < 0:
                misses += 1
                step = max(0.4 * step, step - 6.0 * learnt.spread[leg.look] if guessed else 0.0)
                guessed = False
                enter(run.tree, run.records.indices)
                left, level, highest = finish(run, rule, left, _stays_after_a_miss(arms), level)
                continue
            guessed = False
            past = PastGame(np.inf, past.parameters, past.pulls, past.totals)
            level += step
            left -= made
            if leg.begins and 2 * (left + made) > leg.left:
                start = level
                whole = left
            if 10 * left > leg.left:
                short = level
            pace = learnt.pace[leg.look]
            step = _next_step(step, made, left, leg.budget - left, whole == left, pace, aim, arms)
        enter(run.tree, run.records.indices)
        done = finish(run, rule, left, left, level)
        return Way(done.level, max(highest, done.highest), start, whole, short)

    return reach
