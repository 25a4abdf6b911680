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
from cutline.planning.nodes import Nodes
from cutline.policies import Policy
from cutline.policies.policy import Parameters
from cutline.threshold import is_above

_Floats = NDArray[np.float64]
_above = compile_plain(is_above)

_NEGLIGIBLE = -45.0  # a logarithm
_FIRST_ROOM = 1 << 9


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

    def at(self, places: NDArray[np.int64]) -> "Sums":
        """Return the sums at some of the levels."""
        return Sums(*(part[..., places] for part in self))

    def joined(self, others: "Sums", order: NDArray[np.int64]) -> "Sums":
        """Return these sums and those at other levels, in an order of all."""
        pairs = zip(self, others, strict=True)
        return Sums(*(np.concatenate([ours, theirs], axis=-1)[..., order] for ours, theirs in pairs))


@jit_in_place
def _log_ways(n: int, s: int) -> float:
    """Return -ln B(s + 1, n - s + 1)."""
    return math.lgamma(n + 2.0) - math.lgamma(s + 1.0) - math.lgamma(n - s + 1.0)


@jit_in_place
def _first_from(levels: _Floats, value: float) -> int:
    """Return the place of the first level not below a value; np.searchsorted would take long to load."""
    low, high = 0, levels.size
    while low < high:
        middle = (low + high) // 2
        if levels[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


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


class Row(NamedTuple):
    """The records with one number of pulls and ``least`` to ``largest`` rewards, the first at place 0.

    ``amounts``, (room, L): how much arrives at each for each level. ``all_arms`` and ``wrong``: see ``_weigh``.
    """

    least: int
    largest: int
    amounts: _Floats
    all_arms: _Floats
    wrong: _Floats


class Pulled(NamedTuple):
    """The pulls of a row, and what they do to the expected errors, at each level; (L,) both."""

    taken: _Floats
    gains: _Floats


@jit_in_place
def _arrive(sources: Sources, source: int, n: int, least: int, largest: int) -> tuple[int, int, int]:
    """Return the first source with more than n pulls, and the least and the largest total with those of n pulls."""
    while source < sources.pulls.size and sources.pulls[source] == n:
        least = min(least, sources.totals[source])
        largest = max(largest, sources.totals[source])
        source += 1
    return source, least, largest


@jit_in_place
def _pull(
    n: int, row: Row, after: Row, opens: NDArray[np.int64], alive: int, chosen: int, pulled: Pulled, sums: Sums
) -> None:
    """Pull the arms of a row once more at the levels that are above their index, and decide them at the others.

    ``opens``: the first such level of each record; the amounts are 0 at levels below ``alive``.
    """
    count = sums.errors.size
    pulled.taken[:] = 0.0
    pulled.gains[:] = 0.0
    for s in range(row.least, row.largest + 1):
        here = s - row.least
        opened = max(opens[here], alive)
        for level in range(alive, min(opened, count)):
            sums.errors[level] += row.amounts[here, level] * row.wrong[here]
        if opened >= count:
            continue
        up = (s + 1.0) / (n + 2.0)
        there = s - after.least
        gain = up * after.wrong[there + 1] + (1.0 - up) * after.wrong[there] - row.wrong[here]
        arms = row.all_arms[here]
        for level in range(opened, count):
            amount = row.amounts[here, level]
            pulled.taken[level] += amount * arms
            pulled.gains[level] += amount * gain
            after.amounts[there, level] += amount * (1.0 - up)
            after.amounts[there + 1, level] += amount * up
    for level in range(alive, count):
        taken = pulled.taken[level]
        sums.pulls[level] += taken
        sums.squares[level] += taken * (2.0 * n + 1.0)
        sums.taken[chosen, level] += taken
        sums.gains[chosen, level] += pulled.gains[level]


@jit_in_place
def _stop(row: Row, alive: int, sums: Sums) -> None:
    """Decide the arms that are left in the last row."""
    for s in range(row.least, row.largest + 1):
        here = s - row.least
        for level in range(alive, sums.errors.size):
            sums.left[level] += row.amounts[here, level] * row.all_arms[here]
            sums.errors[level] += row.amounts[here, level] * row.wrong[here]


@made_once
def _passing(policy: type[Policy]) -> Callable[..., int]:
    """Compile pass(threshold, parameters, levels, sources, nodes, bins, sums, room): rows are gone through.

    It returns the last row, or -1 where a row is wider than the room.
    """
    index = with_parameters(policy.index, 3)
    first = int(policy.pulls_each_arm_first)

    @jit_in_place
    def open_levels(
        n: int, row: Row, threshold: float, parameters: _Floats, levels: _Floats, opens: NDArray[np.int64]
    ) -> tuple[int, int, int]:
        # Return the least and the largest total that are pulled on to, and the lowest level at which one is.
        least, largest, lowest = n + 2, -1, levels.size
        for s in range(row.least, row.largest + 1):
            value = -np.inf if n < first else index(float(n), float(s), threshold, 0, parameters)
            opened = _first_from(levels, value)
            opens[s - row.least] = opened
            if opened < levels.size:
                least, largest, lowest = min(least, s), s + 1, min(lowest, opened)
        return least, largest, lowest

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
        n = sources.pulls[0]
        source, least, largest = _arrive(sources, 0, n, n + 1, -1)
        if largest - least + 2 > room:
            return -1
        row = Row(least, largest, np.zeros((room, levels.size)), np.zeros(room), np.zeros(room))
        spare = Row(least, largest, np.zeros((room, levels.size)), np.zeros(room), np.zeros(room))
        opens = np.zeros(room, np.int64)
        pulled = Pulled(np.zeros(levels.size), np.zeros(levels.size))
        for place in range(source):
            row.amounts[sources.totals[place] - least] += sources.amounts[place]
        _weigh(n, least, largest, nodes, row.all_arms, row.wrong, threshold)
        alive = 0
        while n < bins.size - 1:
            arrived = source
            least, largest, lowest = open_levels(n, row, threshold, parameters, levels, opens)
            source, least, largest = _arrive(sources, source, n + 1, least, largest)
            if largest - least + 2 > room:
                return -1
            after = Row(least, largest, spare.amounts, spare.all_arms, spare.wrong)
            if least <= largest:
                after.amounts[: largest - least + 1] = 0.0
                _weigh(n + 1, least, largest, nodes, after.all_arms, after.wrong, threshold)
            _pull(n, row, after, opens, alive, bins[n], pulled, sums)
            for place in range(arrived, source):
                after.amounts[sources.totals[place] - least] += sources.amounts[place]
            alive = 0 if arrived < source else max(alive, lowest)
            row, spare = after, row
            n += 1
            if least > largest and source == sources.pulls.size:
                break
        _stop(row, alive, sums)
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
