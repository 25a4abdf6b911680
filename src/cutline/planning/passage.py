"""How arms pass levels of an index: how many pulls it takes and how many errors are left, without any game.

By the waterline property an arm stands, when the smallest index of all first exceeds a level, at its first record with
an index above that level. Records of coins are pairs (pulls n, total s), and the chance to come to one is

    (ways to get there) * (probability of one such way) = N(n, s) * integral of mu^s (1 - mu)^(n - s) over the means.

The first factor depends on the level and on the policy alone, the second on the means alone. Both are kept in units of
B(s + 1, n - s + 1): N then is what Polya's urn makes of it, which draws a reward of 1 with (s + 1) / (n + 2), and the
integral is the sum of the densities of Beta(s + 1, n - s + 1) at the means. Rows of records are gone through once, for
all levels side by side.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, compiling, jit_in_place, kernel, made_once, with_parameters
from cutline.policies import Policy
from cutline.policies.policy import Parameters
from cutline.threshold import is_above

_Floats = NDArray[np.float64]
_above = compile_plain(is_above)

_NEGLIGIBLE = -45.0  # a logarithm
_FIRST_ROOM = 1 << 9


class Nodes(NamedTuple):
    """Where the means lie: ``masses`` arms at the means that these logarithms and odds belong to; (N,) each.

    ``likelier``: an arm is called what is likelier by its record and these masses, not what its mean reward says.
    """

    log_mean: _Floats
    log_rest: _Floats
    odds: _Floats
    masses: _Floats
    above: NDArray[np.bool_]
    likelier: bool

    @classmethod
    def of(cls, means: _Floats, masses: _Floats, threshold: float, likelier: bool = False) -> "Nodes":
        """Return the nodes of so many arms at these means; those that hardly any arm has are left out."""
        kept = masses > 1e-13 * masses.sum()
        inside = np.clip(means[kept], 1e-300, 1.0 - 2.0**-53)
        rest = 1.0 - inside
        return cls(np.log(inside), np.log(rest), inside / rest, masses[kept], means[kept] >= threshold, likelier)


class Sources(NamedTuple):
    """Where arms begin: with ``pulls``, increasing, and ``totals``; ``amounts`` in units of Polya's urn. (S,) each."""

    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    amounts: _Floats


class Sums(NamedTuple):
    """What all arms together come to at each of L levels.

    ``pulls`` and ``errors``: the expected sums, ``squares`` the expected sum of the squares of pulls, ``left`` the arms
    that are not above the level at the last row; (L,) each. ``taken``: pulls by the number of pulls that the arm had
    before, in bins; ``gains``: what these pulls do to the expected errors. (bins, L) each.
    """

    pulls: _Floats
    errors: _Floats
    squares: _Floats
    left: _Floats
    taken: _Floats
    gains: _Floats

    @classmethod
    def zeros(cls, levels: int, bins: int) -> "Sums":
        """Return sums of nothing."""
        return cls(*(np.zeros(levels) for _ in range(4)), *(np.zeros((bins, levels)) for _ in range(2)))


@jit_in_place
def _log_ways(n: int, s: int) -> float:
    """Return -ln B(s + 1, n - s + 1)."""
    return math.lgamma(n + 2.0) - math.lgamma(s + 1.0) - math.lgamma(n - s + 1.0)


@jit_in_place
def _weigh(n: int, least: int, largest: int, nodes: Nodes, all_arms: _Floats, wrong: _Floats, threshold: float) -> None:
    """Find the integrals for the records of a row, and their part on the wrong side of the threshold.

    For each node from the record that is likeliest there on, upwards and downwards.
    """
    ways_of_least, ways_of_largest = _log_ways(n, least), _log_ways(n, largest)
    all_arms[: largest - least + 1] = 0.0
    wrong[: largest - least + 1] = 0.0
    first_above = least
    while first_above <= largest and not (n > 0 and _above(float(n), float(first_above), threshold)):
        first_above += 1
    for k in range(nodes.masses.size):
        odds, above = nodes.odds[k], nodes.above[k]
        start = int(min(max(n * odds / (1.0 + odds), least), largest))
        ways = ways_of_least if start == least else ways_of_largest if start == largest else _log_ways(n, start)
        log_density = ways + start * nodes.log_mean[k] + (n - start) * nodes.log_rest[k]
        if log_density < _NEGLIGIBLE:
            continue
        x = first = nodes.masses[k] * math.exp(log_density)
        for s in range(start, largest + 1):
            all_arms[s - least] += x
            if above != (s >= first_above):
                wrong[s - least] += x
            x *= odds * (n - s) / (s + 1.0)
        x = first
        for s in range(start - 1, least - 1, -1):
            x *= (s + 1.0) / (odds * (n - s))
            all_arms[s - least] += x
            if above != (s >= first_above):
                wrong[s - least] += x
    if nodes.likelier:
        for place in range(largest - least + 1):
            wrong[place] = min(wrong[place], all_arms[place] - wrong[place])


@made_once
def _passing(policy: type[Policy]) -> Callable[..., int]:
    """Compile pass(threshold, parameters, levels, sources, nodes, bins, sums, room): rows are gone through.

    It returns the last row, or -1 where a row is wider than the room.
    """
    index = with_parameters(policy.index, 3)
    first = int(policy.pulls_each_arm_first)

    def go(
        threshold: float,
        parameters: _Floats,
        levels: _Floats,
        sources: Sources,
        nodes: Nodes,
        bins: NDArray[np.int64],
        sums: Sums,
        room: int,
    ) -> int:
        depth = bins.size - 1
        count = levels.size
        now = np.zeros((room, count))
        after = np.zeros((room, count))
        all_arms = np.zeros(room)
        wrong = np.zeros(room)
        next_all = np.zeros(room)
        next_wrong = np.zeros(room)
        opens = np.zeros(room, np.int64)
        source = 0
        n = sources.pulls[0]
        least, largest = n + 1, -1
        while source < sources.pulls.size and sources.pulls[source] == n:
            least = min(least, sources.totals[source])
            largest = max(largest, sources.totals[source])
            source += 1
        if largest - least + 2 > room:
            return -1
        for place in range(source):
            now[sources.totals[place] - least] += sources.amounts[place]
        _weigh(n, least, largest, nodes, all_arms, wrong, threshold)
        alive = 0
        while n < depth:
            next_least, next_largest = n + 2, -1
            lowest = count
            for s in range(least, largest + 1):
                value = -np.inf if n < first else index(float(n), float(s), threshold, 0, parameters)
                opens[s - least] = np.searchsorted(levels, value)
                if opens[s - least] < count:
                    next_least = min(next_least, s)
                    next_largest = s + 1
                    lowest = min(lowest, opens[s - least])
            arrived = source
            while source < sources.pulls.size and sources.pulls[source] == n + 1:
                next_least = min(next_least, sources.totals[source])
                next_largest = max(next_largest, sources.totals[source])
                source += 1
            width = next_largest - next_least + 1
            if width + 1 > room:
                return -1
            if width > 0:
                after[:width] = 0.0
                _weigh(n + 1, next_least, next_largest, nodes, next_all, next_wrong, threshold)
            chosen = bins[n]
            for s in range(least, largest + 1):
                here = s - least
                opened = max(opens[here], alive)
                for level in range(alive, min(opened, count)):
                    sums.errors[level] += now[here, level] * wrong[here]
                if opened >= count:
                    continue
                up = (s + 1.0) / (n + 2.0)
                there = s - next_least
                gain = up * next_wrong[there + 1] + (1.0 - up) * next_wrong[there] - wrong[here]
                arms = all_arms[here]
                weight = 2.0 * n + 1.0
                for level in range(opened, count):
                    amount = now[here, level]
                    sums.pulls[level] += amount * arms
                    sums.squares[level] += amount * arms * weight
                    sums.taken[chosen, level] += amount * arms
                    sums.gains[chosen, level] += amount * gain
                    after[there, level] += amount * (1.0 - up)
                    after[there + 1, level] += amount * up
            for place in range(arrived, source):
                after[sources.totals[place] - next_least] += sources.amounts[place]
            alive = 0 if arrived < source else max(alive, lowest)
            now, after = after, now
            all_arms, next_all = next_all, all_arms
            wrong, next_wrong = next_wrong, wrong
            least, largest = next_least, next_largest
            n += 1
            if width <= 0:
                if source == sources.pulls.size:
                    return int(n)
                least, largest = n + 1, n
        for s in range(least, largest + 1):
            for level in range(alive, count):
                sums.left[level] += now[s - least, level] * all_arms[s - least]
                sums.errors[level] += now[s - least, level] * wrong[s - least]
        return int(n)

    return kernel(go)


def pass_levels(
    policy: Policy,
    threshold: float,
    parameters: Parameters,
    levels: _Floats,
    sources: Sources,
    nodes: Nodes,
    bins: NDArray[np.int64],
) -> Sums:
    """Return what arms come to at some levels, increasing.

    ``bins``, (depth + 1,): the bin of each number of pulls; arms with ``depth`` pulls are looked at no more.
    """
    row = np.array([parameters], np.float64)
    room = _FIRST_ROOM
    while True:
        sums = Sums.zeros(levels.size, int(bins[-1]) + 1)
        with compiling(policy):
            last = _passing(type(policy))(threshold, row, levels, sources, nodes, bins, sums, room)
        if last >= 0:
            return sums
        room *= 4
