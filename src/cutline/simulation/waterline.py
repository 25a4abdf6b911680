"""The skip-ahead engine: the stepping engine's answers, bit for bit, many times faster.

An arm's index depends on its own record only. So at the moment when the smallest index first exceeds a level
C, every arm stands at its own first record with an index above C, whatever order the pulls came in, and arms
can be raised to C one by one, 64 rewards at a time (``climbing``).

A run is a sequence of passes. A pass takes a grid of levels, raises one arm after the other through it and notes
where each stands at each level (``sweep``). The sums over arms tell, for each budget, the highest level that it
affords. From the state at that level the last pulls are made one at a time by the rule of the stepping engine, so that
ties and the budget come out exactly. Where the grid lies is guessed from the pass or the run before. A guess
costs or saves time; it cannot change the result.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cutline.compiled import jit, kernel
from cutline.policies.policy import Policy
from cutline.simulation.climbing import climbing
from cutline.simulation.rewards import arm_increment, arm_state, reward_word
from cutline.simulation.stepping import count_errors
from cutline.simulation.tournament import empty_tree

_PROBED_ARMS = 32
_PROBED_PULLS = 8
_MOST_LEVELS = 256
_FEWEST_LEVELS = 4
_FINE_LEVELS = 8
_NOTES = 1 << 22  # entries of the notes of a pass, arms times levels, unless there are very many arms


@jit
def worth_a_sweep(arms: int) -> int:
    """Return about how many single pulls, in a tournament of this size, take as long as a sweep over a few levels."""
    return 600 * arms // (5 + 5 * int(np.log2(arms)))


@cache
def waterline_kernel(policy: type[Policy]) -> Callable[..., None]:
    """Compile the skip-ahead engine for a policy that has a ceiling; arguments as in ``stepping_kernel``.

    It adds to one more array, ``skipped`` (1,): the rewards that it passed over without a look at each.
    """
    index, climb, place, finish = climbing(policy)
    pulls_each_arm_first = policy.pulls_each_arm_first

    @jit
    def sweep(  # noqa: PLR0913 - kernels take arrays, not objects
        means: Any,
        problem: Any,
        sources: Any,
        base: Any,
        levels: Any,
        spare: int,
        notes: Any,
        sums: Any,
        skipped: Any,
    ) -> Any:
        """Raise all arms from their records in ``base`` through the levels, as far as ``spare`` pulls go.

        Fills ``notes``, (pulls, totals) of shape (K, levels), and ``sums``, the pulls that each level takes. Returns
        how many levels are affordable, and whether it was a single arm that stopped it at the next.
        """
        states, increments = sources
        pulls, totals, values = base
        pulls_at, totals_at = notes
        affordable = levels.size
        lonely = False
        sums[: levels.size] = 0
        for arm in range(means.size):
            if affordable == 0:
                break
            noted = climb(
                arm,
                (states[arm], increments[arm], means[arm]),
                problem,
                (pulls[arm], totals[arm], values[arm]),
                levels[:affordable],
                pulls[arm] + spare,
                (pulls_at[arm], totals_at[arm]),
                skipped,
            )
            if noted < affordable:
                affordable = noted
                lonely = True
            for k in range(affordable):
                sums[k] += pulls_at[arm, k] - pulls[arm]
            while affordable > 0 and sums[affordable - 1] > spare:
                affordable -= 1
                lonely = False
        return affordable, lonely

    @jit
    def rise(means: Any, problem: Any, sources: Any, base: Any) -> float:
        """Return how much the index of a few arms rises over their next pulls: the scale of the first levels."""
        states, increments = sources
        threshold, parameters = problem
        pulls, totals, values = base[:3]
        summed = 0.0
        probed = 0
        for arm in range(0, means.size, max(1, means.size // _PROBED_ARMS)):
            n, s = pulls[arm], totals[arm]
            word = reward_word(states[arm], increments[arm], means[arm], 0)
            highest = values[arm]
            for _ in range(_PROBED_PULLS):
                s += np.int64((word >> np.uint64(n)) & np.uint64(1))
                n += 1
                highest = max(highest, index(float(n), float(s), threshold, arm, parameters))
            if highest < np.inf:
                summed += highest - values[arm]
                probed += 1
        return summed / probed if summed > 0.0 else 1.0

    def skip_ahead(  # noqa: PLR0913 - kernels take arrays, not objects
        means: Any,
        threshold: float,
        parameters: Any,
        key: np.uint64,
        first_run: int,
        budgets: Any,
        errors: Any,
        pulls_sum: Any,
        totals_sum: Any,
        skipped: Any,
    ) -> None:
        arms = means.size
        problem = (threshold, parameters)
        states = np.empty(arms, np.uint64)
        increments = np.empty(arms, np.uint64)
        sources = (states, increments)
        pulls = np.empty(arms, np.int64)
        totals = np.empty(arms, np.int64)
        values = np.empty(arms, np.float64)
        game = (
            np.empty(arms, np.int64),
            np.empty(arms, np.int64),
            empty_tree(arms),
            np.empty(arms, np.uint64),
            np.empty(arms, np.int64),
        )
        most = max(_FEWEST_LEVELS, min(_MOST_LEVELS, 16 + budgets.size, _NOTES // arms))
        all_levels = np.empty(most, np.float64)
        pulls_at = np.empty((arms, most), np.int64)
        totals_at = np.empty((arms, most), np.int64)
        notes = (pulls_at, totals_at)
        sums = np.empty(most, np.int64)
        fine_levels = np.empty(_FINE_LEVELS, np.float64)
        fine_notes = (np.empty((arms, _FINE_LEVELS), np.int64), np.empty((arms, _FINE_LEVELS), np.int64))
        fine_sums = np.empty(_FINE_LEVELS, np.int64)
        last = budgets[budgets.size - 1]
        worth = worth_a_sweep(arms)
        wanted = most
        slack = 0.0
        low = np.inf
        high = -np.inf
        for run in range(errors.shape[1]):
            time = 0
            bottom = np.inf
            for arm in range(arms):
                states[arm] = arm_state(key, first_run + run, arm)
                increments[arm] = arm_increment(states[arm])
                pulls[arm] = 0
                totals[arm] = 0
                if pulls_each_arm_first:
                    word = reward_word(states[arm], increments[arm], means[arm], 0)
                    pulls[arm] = 1
                    totals[arm] = np.int64(word & np.uint64(1))
                    time += 1
                values[arm] = index(float(pulls[arm]), float(totals[arm]), threshold, arm, parameters)
                bottom = min(bottom, values[arm])
            floor = bottom
            if run == 0:
                span = rise(means, problem, sources, (pulls, totals, values))
            else:
                bottom = max(floor, low - slack)
                span = max(high - bottom, 1e-3 * abs(high))
            look = 0
            while look < budgets.size:
                count = min(most, max(_FEWEST_LEVELS, wanted))
                levels = all_levels[:count]
                for k in range(count):
                    levels[k] = bottom + span * k / (count - 1)
                affordable, lonely = sweep(
                    means, problem, sources, (pulls, totals, values), levels, last - time, notes, sums, skipped
                )
                if bottom > floor and (affordable == 0 or sums[0] > budgets[look] - time):
                    slack = max(2.0 * slack, 1e-6 * (low - floor))
                    span = max(span, 2.0 * slack)
                    bottom = max(floor, bottom - slack)
                    continue
                if affordable > 0:
                    wanted = int((sums[affordable - 1] - sums[0]) // worth)
                placed = -2
                played = np.int64(0)
                while look < budgets.size:
                    k = np.searchsorted(sums[:affordable], budgets[look] - time, side="right") - 1
                    if k == count - 1:
                        break
                    if k != placed:
                        placed = k
                        if k >= 0:
                            played = time + sums[k]
                            place(means, problem, game, pulls_at[:, k], totals_at[:, k])
                        else:
                            played = np.int64(time)
                            place(means, problem, game, pulls, totals)
                        left = budgets[look] - played
                        if k >= 0 and left > 4 * worth and not (lonely and k == affordable - 1):
                            for fine in range(_FINE_LEVELS):
                                fine_levels[fine] = levels[k] + (levels[k + 1] - levels[k]) * fine / _FINE_LEVELS
                            leaf = game[2][0].size // 2
                            start = (game[0], game[1], game[2][1][leaf:])
                            fine, _ = sweep(
                                means, problem, sources, start, fine_levels, left, fine_notes, fine_sums, skipped
                            )
                            if fine > 0:
                                played += fine_sums[fine - 1]
                                place(means, problem, game, fine_notes[0][:, fine - 1], fine_notes[1][:, fine - 1])
                    finish(means, problem, sources, game, budgets[look] - played, skipped)
                    played = budgets[look]
                    errors[look, run] = count_errors(means, threshold, game[0], game[1])
                    pulls_sum[look] += game[0]
                    totals_sum[look] += game[1]
                    if look == 0:
                        reached = game[2][1][1]
                        low = reached if run == 0 else low + (reached - low) * (0.3 if reached < low else 0.02)
                    look += 1
                if look < budgets.size:
                    top = count - 1
                    grown = sums[top]
                    time += grown
                    for arm in range(arms):
                        pulls[arm] = pulls_at[arm, top]
                        totals[arm] = totals_at[arm, top]
                        values[arm] = index(float(pulls[arm]), float(totals[arm]), threshold, arm, parameters)
                    bottom = levels[top]
                    floor = bottom
                    if 4 * grown <= time:
                        span *= 2.0
                    elif grown > time - time // 4:
                        span *= 0.5
            reached = game[2][1][1]
            slack *= 0.97
            high = reached if run == 0 else high + (reached - high) * (0.3 if reached > high else 0.02)

    return kernel(skip_ahead)
