"""Arms with many pulls: rows that are several pulls apart, on a lattice that widens with the root of the pulls.

A walk on a lattice comes to a boundary exactly, rewards overshoot it, so the boundary is moved by that (``overshoot``).
Where it lies between two places, a part of the arms at the last place inside is decided (``_decide``). Strides and
places grow with the pulls, so a million pulls take some thousand rows.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit_in_place, made_once, with_parameters
from cutline.planning.computing.lattice import REACH, At, Lattice, advance, spread, stride_of, weigh
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.sums import Sums, count, first_from
from cutline.policies import Policy
from cutline.policies.lai import overshoot

_Floats = NDArray[np.float64]

_overshoot = compile_plain(overshoot)


@jit_in_place
def _leave(side: int, first: int, last: int, alive: int, lattice: Lattice, sums: Sums) -> None:
    """Decide the arms at some places that are looked at no more."""
    for place in range(REACH + first, REACH + last + 1):
        for level in range(alive, sums.errors.size):
            amount = lattice.amounts[side, place, level]
            sums.left[level] += amount * lattice.arms[side, place]
            sums.unsettled[level] += amount * lattice.wrong[side, place]
            sums.errors[level] += amount * lattice.wrong[side, place]


@jit_in_place
def _move(at: At, shift: int, levels: _Floats, lattice: Lattice, sums: Sums) -> None:
    """Pull the arms of a row once more at the levels that are above their index, and decide them at the others.

    ``shift``: how many places further the place 0 of the next row is.
    """
    stride, pulled = at.stride, lattice.pulled
    stay = 1.0 - stride.up - stride.down
    pulled.taken[:] = 0.0
    pulled.gains[:] = 0.0
    before, after = lattice.amounts[at.side], lattice.amounts[1 - at.side]
    next_wrong = lattice.wrong[1 - at.side]
    for place in range(REACH + at.least, REACH + at.largest + 1):
        arms, wrong = lattice.arms[at.side, place], lattice.wrong[at.side, place]
        opened = _decide(at, place, levels, lattice, sums)
        if opened == levels.size:
            continue
        to = place + shift
        gain = stride.up * next_wrong[to + 1] + stay * next_wrong[to] + stride.down * next_wrong[to - 1] - wrong
        for level in range(opened, levels.size):
            amount = before[place, level]
            pulled.taken[level] += amount * arms
            pulled.gains[level] += amount * gain
            after[to - 1, level] += amount * stride.down
            after[to, level] += amount * stay
            after[to + 1, level] += amount * stride.up


@jit_in_place
def _decide(at: At, place: int, levels: _Floats, lattice: Lattice, sums: Sums) -> int:
    """Decide the arms of a place at the levels below their index, and a part where the boundary is before the next.

    At a distance d from the boundary, in places, the pulls still to come are as d, if d / (d + e) of the arms are
    pulled on, where the next row is e beyond it on average. Return the first level at which arms are pulled on.
    """
    amounts, wrong = lattice.amounts[at.side, place], lattice.wrong[at.side, place]
    outwards = 1 if at.origin + (place - REACH) * at.stride.width >= 0.0 else -1
    chance = at.stride.up if outwards == 1 else at.stride.down
    opened = max(int(lattice.opens[place]), at.alive)
    for level in range(at.alive, opened):
        sums.errors[level] += amounts[level] * wrong
    drift, stay = outwards * at.stride.drift / at.stride.width, 1.0 - at.stride.up - at.stride.down
    for step in range(2):
        value, here = lattice.values[place + step * outwards], place + (step + 1) * outwards
        room, first = lattice.values[here] - value, max(int(lattice.opens[here - outwards]), at.alive)
        for level in range(first, max(int(lattice.opens[here]), first)):
            distance = step + (levels[level] - value) / room
            beyond = chance * max(1.0 + drift - distance, 0.0) + stay * max(drift - distance, 0.0)
            decided = amounts[level] * beyond / (distance + beyond)
            sums.errors[level] += decided * wrong
            amounts[level] -= decided
    return opened


@jit_in_place
def _within_reach(at: At, lattice: Lattice, sums: Sums) -> At:
    """Decide the arms that have come to the ends of the lattice, and return the row of the others."""
    end = REACH - 3
    if at.largest > end:
        _leave(at.side, end + 1, at.largest, at.alive, lattice, sums)
    if at.least < -end:
        _leave(at.side, at.least, -end - 1, at.alive, lattice, sums)
    return At(at.n, at.side, at.origin, at.stride, max(at.least, -end), min(at.largest, end), at.alive)


@jit_in_place
def _carry(at: At, factor: float, lattice: Lattice) -> None:
    """Add to the gains so many times the errors of a row, as if all of its arms were decided."""
    for place in range(REACH + at.least, REACH + at.largest + 1):
        for level in range(at.alive, lattice.pulled.gains.size):
            lattice.pulled.gains[level] += (
                factor * lattice.amounts[at.side, place, level] * lattice.wrong[at.side, place]
            )


@jit_in_place
def _widen(at: At, threshold: float, lattice: Lattice) -> At:
    """Put the arms of a row on a lattice whose places are as far from each other as their pulls ask for."""
    stride, low, high = stride_of(at.n, threshold), REACH, -REACH
    wider = lattice.amounts[1 - at.side]
    wider[:] = 0.0
    lattice.pulled.gains[:] = 0.0
    _carry(at, -1.0, lattice)
    for place in range(at.least, at.largest + 1):
        x = at.origin + place * at.stride.width
        second = spread(x, stride.width, lattice.amounts[at.side, REACH + place], 1.0, at.alive, wider)
        low, high = min(low, second - 1), max(high, second + 2)
    return At(at.n, 1 - at.side, 0.0, stride, low, high, at.alive)


@made_once
def striding(policy: type[Policy]) -> Callable[..., None]:
    """Compile stride_on(at, threshold, parameters, levels, nodes, edges, lattice, sums): go through all rows from one.

    ``edges`` as in ``pass_levels``.
    """
    open_levels = _opening(policy)

    def stride_on(
        at: At,
        threshold: float,
        parameters: _Floats,
        levels: _Floats,
        nodes: Nodes,
        edges: NDArray[np.int64],
        lattice: Lattice,
        sums: Sums,
    ) -> None:
        end, chosen, moved = 2 * at.n, 0, True
        while at.least <= at.largest:
            while edges[chosen + 1] <= at.n + at.stride.pulls // 2 and chosen < edges.size - 2:
                chosen += 1
            if moved:  # to another lattice, where a few more or fewer would be wrong
                weigh(at, nodes, lattice)
                _carry(at, 1.0, lattice)
                for level in range(at.alive, levels.size):
                    sums.gains[chosen, level] += lattice.pulled.gains[level]
            if at.n >= edges[-1]:
                _leave(at.side, at.least, at.largest, at.alive, lattice, sums)
                return
            stride, origin = at.stride, at.origin + at.stride.drift
            shift = math.floor(origin / stride.width + 0.5)
            least, largest, lowest = open_levels(at, threshold, parameters, levels, lattice)
            alive = max(at.alive, lowest)
            after = At(
                at.n + stride.pulls,
                1 - at.side,
                origin - shift * stride.width,
                stride,
                least + shift,
                largest + shift,
                alive,
            )
            advance(stride, lattice)
            if least <= largest:
                lattice.amounts[after.side, REACH + after.least : REACH + after.largest + 1] = 0.0
                weigh(after, nodes, lattice)
            _move(at, shift, levels, lattice, sums)
            count(at.n, stride.pulls, chosen, at.alive, lattice.pulled, sums)
            at = _within_reach(after, lattice, sums)
            moved = at.n >= end and at.least <= at.largest
            if moved:
                at = _widen(at, threshold, lattice)
                end = 2 * at.n

    return jit_in_place(stride_on)


@made_once
def _opening(policy: type[Policy]) -> Callable[..., tuple[int, int, int]]:
    """Compile open_levels(at, threshold, parameters, levels, lattice): which levels are above the index of each place.

    It returns the least and the largest place that arms are pulled on to, and the lowest level at which one is.
    """
    index = with_parameters(policy.index, 3)

    def open_levels(
        at: At, threshold: float, parameters: _Floats, levels: _Floats, lattice: Lattice
    ) -> tuple[int, int, int]:
        least, largest, lowest = REACH, -REACH, levels.size
        above, below = _overshoot(threshold), _overshoot(1.0 - threshold)
        for place in range(at.least - 2, at.largest + 3):
            x = at.origin + place * at.stride.width
            nearer = max(x - above, 0.0) if x >= 0.0 else min(x + below, 0.0)
            total = min(max(threshold * at.n + nearer, 0.0), float(at.n))
            value = index(float(at.n), total, threshold, 0, parameters)
            opened = first_from(levels, value)
            lattice.values[REACH + place], lattice.opens[REACH + place] = value, opened
            if opened < levels.size and at.least <= place <= at.largest:
                least, largest, lowest = min(least, place), max(largest, place), min(lowest, opened)
        return least - 1, largest + 1, lowest

    return jit_in_place(open_levels)
