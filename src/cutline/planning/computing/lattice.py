"""The lattice on which arms with many pulls stand, and what the means make of it.

Between two rows the excess x = total - threshold * pulls moves by a step up, none or a step down, which have the first
three moments of so many rewards of a mean at the threshold. A mean elsewhere counts by its likelihood ratio, exp(slope
* x) over its mean, so that no arm gets lost.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.sums import Pulled

_Floats = NDArray[np.float64]

ROWS = 256
"""A stride is the pulls of an arm, when they were last doubled, over this."""

REACH = 240
"""Places of the lattice to either side of the threshold, at least 15 deviations; beyond, arms are looked at no more."""

_LEAST_VARIANCE = 0.5  # of the rewards of a stride
_NEGLIGIBLE = -45.0  # a logarithm
_NEWTON = 20


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
def advance(stride: Stride, lattice: Lattice) -> None:
    """Set the likelihood ratios of the means to those of the next row."""
    for k in range(lattice.bases.size):
        width, drift = lattice.slopes[k] * stride.width, lattice.slopes[k] * stride.drift
        stay = 1.0 - stride.up - stride.down
        moved = stride.up * math.exp(min(width, 700.0)) + stay + stride.down * math.exp(min(-width, 700.0))
        lattice.bases[k] -= drift + math.log(moved)


@jit_in_place
def weigh(at: At, nodes: Nodes, lattice: Lattice) -> None:
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
        called_above = min(max(0.5 + origin / width + (place - REACH), 0.0), 1.0)  # of the rewards around a place
        by_mean = called_above * of_below + (1.0 - called_above) * of_above
        below[place] = of_below + of_above
        above[place] = min(of_below, of_above) if nodes.likelier else by_mean
