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
from cutline.planning.computing.lattice import (
    REACH,
    At,
    Lattice,
    begin,
    first_of_strides,
    lattice_of,
    spread,
    stride_of,
)
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.strides import striding
from cutline.planning.computing.sums import Pulled, Sums, count, first_from
from cutline.planning.computing.weights import BLOCK, Weights, log_ways, weigh_rows
from cutline.policies import Policy
from cutline.policies.policy import Parameters

_Floats = NDArray[np.float64]

_FIRST_ROOM = 1 << 9
_first_of_strides = compile_plain(first_of_strides)


class Sources(NamedTuple):
    """Where arms begin: with ``pulls``, increasing, and ``totals``; ``amounts`` in units of Polya's urn. (S,) each."""

    pulls: NDArray[np.int64]
    totals: NDArray[np.int64]
    amounts: _Floats


class Row(NamedTuple):
    """The records with one number of pulls and ``least`` to ``largest`` rewards, the first at place 0.

    ``amounts``, (room, L): how much arrives at each for each level.
    """

    least: int
    largest: int
    amounts: _Floats


@jit_in_place
def _arrive(sources: Sources, source: int, n: int, least: int, largest: int) -> tuple[int, int, int]:
    """Return the first source with more than n pulls, and the least and the largest total with those of n pulls."""
    while source < sources.pulls.size and sources.pulls[source] == n:
        least = min(least, sources.totals[source])
        largest = max(largest, sources.totals[source])
        source += 1
    return source, least, largest


@jit_in_place
def _reach(sources: Sources, source: int, n: int, least: int, largest: int) -> tuple[int, int]:
    """Return a range of totals at row n that all records of a block come from, those that arrive in it among them."""
    while source < sources.pulls.size and sources.pulls[source] <= n + BLOCK:
        least = min(least, sources.totals[source])
        largest = max(largest, sources.totals[source] - (sources.pulls[source] - n))
        source += 1
    return least, max(largest, least)


@jit_in_place
def _pull(
    n: int, row: Row, after: Row, weights: Weights, opens: NDArray[np.int64], alive: int, pulled: Pulled, sums: Sums
) -> None:
    """Pull the arms of a row once more at the levels that are above their index, and decide them at the others.

    ``opens``: the first such level of each record; the amounts are 0 at levels below ``alive``.
    """
    count = sums.errors.size
    here = n - weights.first
    pulled.taken[:] = 0.0
    pulled.gains[:] = 0.0
    for s in range(row.least, row.largest + 1):
        amounts = row.amounts[s - row.least]
        place, there = s - weights.least, s - after.least
        arms, wrong = weights.all_arms[here, place], weights.wrong[here, place]
        opened = max(opens[s - row.least], alive)
        for level in range(alive, min(opened, count)):
            sums.errors[level] += amounts[level] * wrong
        if opened >= count:
            continue
        up = (s + 1.0) / (n + 2.0)
        gain = up * weights.wrong[here + 1, place + 1] + (1.0 - up) * weights.wrong[here + 1, place] - wrong
        for level in range(opened, count):
            amount = amounts[level]
            pulled.taken[level] += amount * arms
            pulled.gains[level] += amount * gain
            after.amounts[there, level] += amount * (1.0 - up)
            after.amounts[there + 1, level] += amount * up


@jit_in_place
def _leave(s: int, row: Row, here: int, weights: Weights, alive: int, sums: Sums) -> None:
    """Decide the arms of a record that are looked at no more; its row has place ``here`` among the weights."""
    amounts, place = row.amounts[s - row.least], s - weights.least
    for level in range(alive, sums.errors.size):
        wrong = amounts[level] * weights.wrong[here, place]
        sums.left[level] += amounts[level] * weights.all_arms[here, place]
        sums.unsettled[level] += wrong
        sums.errors[level] += wrong


@jit_in_place
def _set_out(
    n: int, row: Row, threshold: float, weights: Weights, alive: int, nodes: Nodes, lattice: Lattice, sums: Sums
) -> At:
    """Put the arms of a row on the lattice of strides; those that are out of its reach are looked at no more."""
    begin(n, threshold, nodes, lattice)
    stride, least, largest = stride_of(n, threshold), REACH, -REACH
    for s in range(row.least, row.largest + 1):
        x = s - threshold * n
        if abs(x) > (REACH - 4) * stride.width:
            _leave(s, row, n - weights.first, weights, alive, sums)
            continue
        wrong = weights.wrong[n - weights.first, s - weights.least]
        for level in range(alive, sums.errors.size):
            lattice.pulled.gains[level] -= row.amounts[s - row.least, level] * wrong
        density = log_ways(n, s) + s * math.log(threshold) + (n - s) * math.log(1.0 - threshold)
        second = spread(x, stride.width, row.amounts[s - row.least], math.exp(density), alive, lattice.amounts[0])
        least, largest = min(least, second - 1), max(largest, second + 2)
    return At(n, 0, 0.0, stride, least, largest, alive)


@jit_in_place
def _set_down(sources: Sources, first: int, end: int, row: Row) -> None:
    """Add the arms that begin in a row."""
    for place in range(first, end):
        for level in range(row.amounts.shape[1]):
            row.amounts[sources.totals[place] - row.least, level] += sources.amounts[place]


@made_once
def _opening(policy: type[Policy]) -> Callable[..., tuple[int, int, int]]:
    """Compile open_levels(n, row, threshold, parameters, levels, opens): which levels are above each index of a row.

    It returns the least and the largest total that are pulled on to, and the lowest level at which one is.
    """
    index = with_parameters(policy.index, 3)
    first = int(policy.pulls_each_arm_first)

    def open_levels(
        n: int, row: Row, threshold: float, parameters: _Floats, levels: _Floats, opens: NDArray[np.int64]
    ) -> tuple[int, int, int]:
        least, largest, lowest = n + 2, -1, levels.size
        for s in range(row.least, row.largest + 1):
            value = -np.inf if n < first else index(float(n), float(s), threshold, 0, parameters)
            opened = first_from(levels, value)
            opens[s - row.least] = opened
            if opened < levels.size:
                least, largest, lowest = min(least, s), s + 1, min(lowest, opened)
        return least, largest, lowest

    return jit_in_place(open_levels)


@made_once
def _passing(policy: type[Policy]) -> Callable[..., bool]:
    """Compile pass(threshold, parameters, levels, sources, nodes, edges, sums, room): rows are gone through.

    It returns False where a row is wider than the room.
    """
    open_levels, stride_on = _opening(policy), striding(policy)

    def go(
        threshold: float,
        parameters: _Floats,
        levels: _Floats,
        sources: Sources,
        nodes: Nodes,
        edges: NDArray[np.int64],
        sums: Sums,
        room: int,
    ) -> bool:
        n, alive = sources.pulls[0], 0
        source, least, largest = _arrive(sources, 0, n, n + 1, -1)
        row = Row(least, largest, np.zeros((room, levels.size)))
        spare = Row(least, largest, np.zeros((room, levels.size)))
        weights = Weights(n - BLOCK, 0, np.zeros((BLOCK + 1, room)), np.zeros((BLOCK + 1, room)))
        opens, pulled = np.zeros(room, np.int64), Pulled(np.zeros(levels.size), np.zeros(levels.size))
        arrived = chosen = 0
        last, strides = edges[-1], max(_first_of_strides(threshold), sources.pulls[-1] + 1)
        while least <= largest or source < sources.pulls.size:
            if n == weights.first + BLOCK:
                low, high = _reach(sources, arrived, n, least, largest)
                if high - low + 2 + BLOCK > room:
                    return False
                weights = Weights(n, low, weights.all_arms, weights.wrong)
                weigh_rows(n, low, high, nodes, threshold, weights.all_arms, weights.wrong)
            _set_down(sources, arrived, source, row)
            alive = 0 if arrived < source else alive
            if n == last:
                for s in range(row.least, row.largest + 1):
                    _leave(s, row, n - weights.first, weights, alive, sums)
                break
            if n == strides:
                lattice = lattice_of(levels.size, nodes.masses.size)
                at = _set_out(n, row, threshold, weights, alive, nodes, lattice, sums)
                stride_on(at, threshold, parameters, levels, nodes, edges, lattice, sums)
                break
            arrived = source
            least, largest, lowest = open_levels(n, row, threshold, parameters, levels, opens)
            source, least, largest = _arrive(sources, source, n + 1, least, largest)
            after = Row(least, largest, spare.amounts)
            after.amounts[: max(largest - least + 1, 0)] = 0.0
            _pull(n, row, after, weights, opens, alive, pulled, sums)
            while n >= edges[chosen + 1]:
                chosen += 1
            count(n, 1, chosen, alive, pulled, sums)
            alive = max(alive, lowest)
            row, spare = after, row
            n += 1
        return True

    return kernel(go)


def pass_levels(
    policy: Policy,
    threshold: float,
    parameters: Parameters,
    levels: _Floats,
    sources: Sources,
    nodes: Nodes,
    edges: NDArray[np.int64],
) -> Sums:
    """Return what arms come to at some levels, increasing.

    ``edges``, (bins + 1,): the numbers of pulls with which bins begin, from 0 on; arms with the last of them are looked
    at no more.
    """
    row = np.array([parameters], np.float64)
    room = _FIRST_ROOM
    while True:
        sums = Sums.zeros(levels.size, edges.size - 1)
        with compiling(policy):
            if _passing(type(policy))(threshold, row, levels, sources, nodes, edges, sums, room):
                return sums
        room *= 4
