"""The skip-ahead engine: the stepping engine's answers, bit for bit, many times faster.

An arm's index depends on its own record only. So at the moment when the smallest index first exceeds a level
C, every arm stands at its own first record with an index above C, whatever order the pulls came in, and arms
can be raised to C (``raising``) each for itself, 64 rewards at a time (``climbing``), or side by side (``wave``).

To reach a budget, all arms are raised to a level that should take most of the pulls that are left, then to one that
should take most of the rest, until so few are left that they are made one stay after the other by the rule of the
stepping engine; so ties and the budget come out exactly. A level that turns out to take more than there is costs the
time of the attempt, though not of making its rewards, which are kept. How high to aim is learnt from the runs before;
it can change the time, never the result.

A policy that is not anytime plays a game for each budget, all on the same rewards. Where its ``head_start`` allows, an
arm begins where the game before left it.
"""

from typing import Any

import numpy as np

from cutline.compiled import compile_plain, jit_in_place, kernel, made_once
from cutline.policies.policy import Policy
from cutline.simulation.chunks import Games, Kernel, Outcome
from cutline.simulation.rewards import BLOCK, arm_increment, arm_state
from cutline.simulation.skipping.aiming import first_aim, next_step, rise_of, stays_after_a_miss, worth_a_sweep
from cutline.simulation.skipping.climbing import climbing, count_rewards, empty_shelf, swings_of, word_at
from cutline.simulation.skipping.raising import raising
from cutline.simulation.skipping.wave import empty_tile
from cutline.simulation.stepping import count_errors
from cutline.simulation.tournament import empty_tree

_SHELF_WORDS = 1 << 17  # rewards kept, in words: what stays in a core's cache
_MOST_MISSES = 12
_FADING = 0.95  # what a run still counts in the next

_first_aim, _next_step = compile_plain(first_aim), compile_plain(next_step)
_stays_after_a_miss, _worth_a_sweep = compile_plain(stays_after_a_miss), compile_plain(worth_a_sweep)


@made_once
def waterline_kernel(policy: type[Policy]) -> Kernel:
    """Compile the skip-ahead engine for a policy that has a ceiling: a kernel as that of the stepping engine."""
    index, _, place, finish = climbing(policy)
    raise_all, rise = raising(policy), rise_of(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first
    reads_rewards = policy.reads_rewards

    @jit_in_place
    def begin(means: Any, problem: Any, sources: Any, shelf: Any, records: Any) -> float:
        """Give all arms their first records and return the level."""
        states, increments = sources
        pulls, totals, values = records
        threshold, parameters, _ = problem
        level = np.inf
        for arm in range(means.size):
            pulls[arm] = 0
            totals[arm] = 0
            if pulls_each_arm_first:
                word = word_at(arm, 0, (states[arm], increments[arm], means[arm]), shelf)
                pulls[arm] = 1
                totals[arm] = np.int64(word & np.uint64(1))
            values[arm] = index(float(pulls[arm]), float(totals[arm]), threshold, arm, parameters)
            level = min(level, values[arm])
        return level

    def skip_ahead(games: Games, outcome: Outcome) -> None:
        means, threshold, parameters, key, first_run, budgets = games
        errors, pulls_sum, totals_sum, skipped = outcome
        arms = means.size
        afresh = parameters.shape[0] > 1
        swings = swings_of(threshold)
        states = np.empty(arms, np.uint64)
        increments = np.empty(arms, np.uint64)
        sources = (states, increments)
        shelf = empty_shelf(arms, min(budgets[-1] // BLOCK + 1, _SHELF_WORDS // arms + 1))
        pulls, totals, values = np.empty(arms, np.int64), np.empty(arms, np.int64), np.empty(arms, np.float64)
        records = (pulls, totals, values)
        trial = (np.empty(arms, np.int64), np.empty(arms, np.int64), np.empty(arms, np.float64))
        past_pulls, past_totals = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
        past_level = np.inf
        tile = empty_tile(parameters.shape[2])
        tree = empty_tree(arms)
        worth = _worth_a_sweep(arms)
        aim = _first_aim(arms)
        pace = np.zeros((budgets.size, 2))  # pulls, and how far they raised the level, on the way to each budget
        usual = np.zeros(budgets.size)  # a game's level less the one's before, and how much that varies
        spread = np.zeros(budgets.size)
        found = np.empty((0 if reads_rewards else budgets.size, arms), np.int64)  # pulls that all runs have
        for run in range(errors.shape[1]):
            for arm in range(arms):
                states[arm] = arm_state(key, first_run + run, arm)
                increments[arm] = arm_increment(states[arm])
                shelf[1][arm] = 0
                shelf[2][arm] = 0
            time = 0
            level = np.inf
            before = 0.0
            past_level = np.inf
            for look in range(budgets.size):
                begins = look == 0 or afresh
                problem = (threshold, parameters[look if afresh else 0], swings)
                if begins:
                    time = arms if pulls_each_arm_first else 0
                    level = begin(means, problem, sources, shelf, records)
                if not reads_rewards and run > 0:
                    for arm in range(arms):
                        source = (states[arm], increments[arm], means[arm])
                        totals[arm] += count_rewards(arm, source, shelf, pulls[arm], found[look, arm])
                        skipped[0] += found[look, arm] - pulls[arm]
                        pulls[arm] = found[look, arm]
                    errors[look, run] = count_errors(means, threshold, pulls, totals)
                    pulls_sum[look] += pulls
                    totals_sum[look] += totals
                    continue
                whole = left = budgets[look] - time
                start = short = level  # where ``whole`` pulls were left, and where a tenth was
                if run == 0 and look > 0:  # the budget before is all that is known
                    if not begins:
                        pace[look] = pace[look - 1]
                    spread[look] = 2.0 * spread[look - 1]
                guess = before + usual[look]
                guessed = begins and run + look > 0
                if guessed:
                    doubt = (1.5 if look == 0 else 1.0) * spread[look]  # other runs tell less than this one
                    step = max(guess - doubt - level, 0.25 * (guess - level))
                else:
                    step = aim * left * pace[look, 1] / max(pace[look, 0], 1.0)
                if not step > 0.0:
                    guessed = False
                    step = rise(pulls, totals, values, threshold, problem[1])
                misses = 0
                highest = level
                past = (past_level, parameters[max(0, look - 1) if afresh else 0], past_pulls, past_totals)
                while left > worth and misses < _MOST_MISSES and level + step > level:
                    made = raise_all(
                        means, problem, sources, shelf, records, trial, tile, past, level + step, left, skipped
                    )
                    if made < 0:
                        misses += 1
                        step = max(0.4 * step, step - 6.0 * spread[look] if guessed else 0.0)
                        guessed = False
                        place(records, tree)
                        left, level, highest = finish(
                            means,
                            problem,
                            sources,
                            shelf,
                            records,
                            tree,
                            left,
                            _stays_after_a_miss(arms),
                            level,
                            skipped,
                        )
                        continue
                    guessed = False
                    past = (np.inf, past[1], past_pulls, past_totals)
                    level += step
                    left -= made
                    if begins and 2 * (left + made) > budgets[look] - time:
                        start = level
                        whole = left
                    if 10 * left > budgets[look] - time:
                        short = level
                    step = _next_step(step, made, left, budgets[look] - left, whole == left, pace[look], aim, arms)
                place(records, tree)
                left, level, last_highest = finish(
                    means, problem, sources, shelf, records, tree, left, left, level, skipped
                )
                if afresh:
                    past_level = max(highest, last_highest)
                    past_pulls[:] = pulls
                    past_totals[:] = totals
                time = budgets[look]
                errors[look, run] = count_errors(means, threshold, pulls, totals)
                pulls_sum[look] += pulls
                totals_sum[look] += totals
                if not reads_rewards:
                    found[look] = pulls
                pace[look, 0] = _FADING * pace[look, 0] + whole
                pace[look, 1] = _FADING * pace[look, 1] + level - start
                if begins:
                    weight = max(1.0 / (run + 1), 1.0 - _FADING)
                    varied = level - short if run == 0 else abs(level - guess)
                    spread[look] += weight * (varied - spread[look])
                    usual[look] += weight * (level - guess)
                    before = level

    return kernel(skip_ahead)
