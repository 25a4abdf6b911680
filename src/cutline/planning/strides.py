"""Arms with many pulls: rows that are several pulls apart, on a lattice that widens with the root of the pulls.

Between two rows the excess x = total - threshold * pulls moves by a step up, none or a step down, which have the first
three moments of so many rewards of a mean at the threshold. A mean elsewhere counts by its likelihood ratio, exp(slope
* x) over its mean, so that no arm gets lost. A walk on a lattice comes to a boundary exactly, rewards overshoot it, so
the boundary is moved by that (``overshoot``). Where it lies between two places, a part of the arms at the last place
inside is decided (``_decide``). Strides and places grow with the pulls, so a million pulls take some thousand rows.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit, jit_in_place, made_once, with_parameters
from cutline.planning.nodes import Nodes
from cutline.planning.sums import Pulled, Sums, count, first_from
from cutline.policies import Policy
from cutline.policies.lai import overshoot

_Floats = NDArray[np.float64]

ROWS = 256
"""A stride is the pulls of an arm, when they were last doubled, over this."""

REACH = 240
"""Places of the lattice to either side of the threshold, at least 15 deviations; beyond, arms are looked at no more."""

_LEAST_VARIANCE = 0.5  # of the rewards of a stride
_NEGLIGIBLE = -45.0  # a logarithm
_NEWTON = 20
_overshoot = compile_plain(overshoot)


class Stride(NamedTuple):
    """So many ``pulls`` at once: x moves by ``drift``, and by ``width`` with the chances ``up`` and ``down``."""

    pulls: int
    width: float
    drift: float
    up: float
    down: float


class At(NamedTuple):
    """A row of arms with ``n`` pulls at the places ``least`` to ``largest`` of one ``side`` of the lattice.

    Place 0 has x = ``origin``; levels below ``alive`` have no arms left.
    """

    n: int
    side: int
    origin: float
    stride: Stride
    least: int
    largest: int
    alive: int


class Lattice(NamedTuple):
    """The arms of a row and of the next: places with x = ``origin`` + place * ``width``, REACH to either side.

    ``amounts`` (2, places, L), in units of what a mean at the threshold makes of it; ``arms`` and ``wrong``
    (2, places): the likelihood ratios of all means and of those on the wrong side. ``bases`` and ``slopes`` (N,): the
    logarithm of the likelihood ratio of each mean over x. ``values`` and ``opens`` (places,): the index, and the first
    level that is above it. ``pulled``: the pulls of a row.
    """

    amounts: _Floats
    arms: _Floats
    wrong: _Floats
    bases: _Floats
    slopes: _Floats
    values: _Floats
    opens: NDArray[np.int64]
    pulled: Pulled


@jit
def lattice_of(levels: int, means: int) -> Lattice:
    """Return an empty lattice."""
    places = 2 * REACH + 1
    pairs = np.zeros((2, places)), np.zeros((2, places))
    of_means = np.zeros(means), np.zeros(means)
    pulled = Pulled(np.zeros(levels), np.zeros(levels))
    opens = np.zeros(places), np.zeros(places, np.int64)
    return Lattice(np.zeros((2, places, levels)), *pairs, *of_means, *opens, pulled)


def first_of_strides(threshold: float) -> int:
    """Return from which row on strides may be taken."""
    return math.ceil(ROWS * _LEAST_VARIANCE / (threshold * (1.0 - threshold)))


@jit_in_place
def stride_of(n: int, threshold: float) -> Stride:
    """Return the stride of arms with n pulls."""
    pulls = n // ROWS
    variance = pulls * threshold * (1.0 - threshold)
    third = variance * (1.0 - 2.0 * threshold)
    drift = third / variance
    for _ in range(_NEWTON):
        drift -= (drift * (variance + drift * drift) - third) / (variance + 3.0 * drift * drift)
    width = math.sqrt(2.0 * variance)
    moved, net = (variance + drift * drift) / (2.0 * variance), -drift / width
    return Stride(pulls, width, drift, 0.5 * (moved + net), 0.5 * (moved - net))


@jit_in_place
def spread(x: float, width: float, source: _Floats, factor: float, alive: int, amounts: _Floats) -> int:
    """Add arms at an excess to the four places around it, so that the first three moments stay; return the second."""
    place = math.floor(x / width)
    f = x / width - place
    shares = (
        -f * (f - 1.0) * (f - 2.0) / 6.0,
        (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0,
        -(f + 1.0) * f * (f - 2.0) / 2.0,
        (f + 1.0) * f * (f - 1.0) / 6.0,
    )
    for k in range(4):
        share = factor * shares[k]
        for level in range(alive, source.size):
            amounts[REACH + place - 1 + k, level] += share * source[level]
    return place


@jit_in_place
def begin(n: int, threshold: float, nodes: Nodes, lattice: Lattice) -> None:
    """Set the likelihood ratios of the means to those of row n."""
    rest = 1.0 - threshold
    for k in range(nodes.masses.size):
        up, down = nodes.log_mean[k] - math.log(threshold), nodes.log_rest[k] - math.log(rest)
        lattice.slopes[k] = up - down
        lattice.bases[k] = n * (threshold * up + rest * down)


@jit_in_place
def _advance(stride: Stride, lattice: Lattice) -> None:
    """Set the likelihood ratios of the means to those of the next row."""
    for k in range(lattice.bases.size):
        width, drift = lattice.slopes[k] * stride.width, lattice.slopes[k] * stride.drift
        stay = 1.0 - stride.up - stride.down
        moved = stride.up * math.exp(min(width, 700.0)) + stay + stride.down * math.exp(min(-width, 700.0))
        lattice.bases[k] -= drift + math.log(moved)


@jit_in_place
def _weigh(at: At, nodes: Nodes, lattice: Lattice) -> None:
    """Find the likelihood ratios of all means, and of those on the wrong side, at the places of a row."""
    side, origin, width, least, largest = at.side, at.origin, at.stride.width, at.least, at.largest
    below, above = lattice.arms[side], lattice.wrong[side]
    below[REACH + least : REACH + largest + 1] = 0.0
    above[REACH + least : REACH + largest + 1] = 0.0
    for k in range(nodes.masses.size):
        slope, step = lattice.slopes[k], lattice.slopes[k] * width
        rising = slope >= 0.0
        log_first = lattice.bases[k] + slope * (origin + width * (largest if rising else least))
        if log_first < _NEGLIGIBLE:
            continue
        sums = above if nodes.above[k] else below
        x, fall = nodes.masses[k] * math.exp(log_first), math.exp(-abs(step))
        for place in range(largest - least + 1):
            sums[REACH + (largest - place if rising else least + place)] += x
            x *= fall
    for place in range(REACH + least, REACH + largest + 1):
        of_below, of_above = below[place], above[place]
        called_above = origin + (place - REACH) * width >= -1e-9 * width
        below[place] = of_below + of_above
        above[place] = min(of_below, of_above) if nodes.likelier else of_below if called_above else of_above


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
                _weigh(at, nodes, lattice)
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
            _advance(stride, lattice)
            if least <= largest:
                lattice.amounts[after.side, REACH + after.least : REACH + after.largest + 1] = 0.0
                _weigh(after, nodes, lattice)
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
