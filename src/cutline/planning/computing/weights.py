"""What the means contribute to each record: integrals of the densities of Beta(s + 1, n - s + 1) over them.

They are found for the last row of a block by a sum over the means, and for the rows before it from one another.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import compile_plain, jit_in_place
from cutline.planning.computing.nodes import Nodes
from cutline.threshold import is_above

_Floats = NDArray[np.float64]
_above = compile_plain(is_above)

BLOCK = 32
"""Rows that are found from one another."""

_NEGLIGIBLE = -45.0  # a logarithm


class Weights(NamedTuple):
    """The integrals for the records of some rows, the first of them row ``first``.

    Place (n - first, s - least) is that of the record with n pulls and s rewards. ``all_arms``: over all means, and
    ``wrong``: over those on the wrong side of the threshold; (BLOCK + 1, room) each.
    """

    first: int
    least: int
    all_arms: _Floats
    wrong: _Floats


@jit_in_place
def log_ways(n: int, s: int) -> float:
    """Return -ln B(s + 1, n - s + 1)."""
    return math.lgamma(n + 2.0) - math.lgamma(s + 1.0) - math.lgamma(n - s + 1.0)


@jit_in_place
def _weigh(n: int, least: int, largest: int, nodes: Nodes, below: _Floats, above: _Floats) -> None:
    """Find the integrals for the records of a row, over the means below the threshold and over the others.

    For each node from the record that is likeliest there on, upwards and downwards.
    """
    ways_of_least, ways_of_largest = log_ways(n, least), log_ways(n, largest)
    below[: largest - least + 1] = 0.0
    above[: largest - least + 1] = 0.0
    for k in range(nodes.masses.size):
        odds = nodes.odds[k]
        start = int(min(max(n * odds / (1.0 + odds), least), largest))
        ways = ways_of_least if start == least else ways_of_largest if start == largest else log_ways(n, start)
        log_density = ways + start * nodes.log_mean[k] + (n - start) * nodes.log_rest[k]
        if log_density < _NEGLIGIBLE:
            continue
        side = above if nodes.above[k] else below
        x = first = nodes.masses[k] * math.exp(log_density)
        for s in range(start, largest + 1):
            side[s - least] += x
            x *= odds * (n - s) / (s + 1.0)
        x = first
        for s in range(start - 1, least - 1, -1):
            x *= (s + 1.0) / (odds * (n - s))
            side[s - least] += x


@jit_in_place
def weigh_rows(
    n: int, least: int, largest: int, nodes: Nodes, threshold: float, below: _Floats, above: _Floats
) -> None:
    """Find the integrals for the rows from n on, of row n from the least to the largest total.

    Those of the last row are summed. One of any row before is the mean of two of the next, as pulls are by Polya's urn.
    First over the means below the threshold and over the others; these become all means, and those on the wrong side.
    """
    width = largest - least + 1 + BLOCK
    _weigh(n + BLOCK, least, largest + BLOCK, nodes, below[BLOCK], above[BLOCK])
    for row in range(BLOCK - 1, -1, -1):
        width -= 1
        for place in range(width):
            up = (least + place + 1.0) / (n + row + 2.0)
            below[row, place] = (1.0 - up) * below[row + 1, place] + up * below[row + 1, place + 1]
            above[row, place] = (1.0 - up) * above[row + 1, place] + up * above[row + 1, place + 1]
    for row in range(BLOCK + 1):
        pulls = float(n + row)
        for place in range(largest - least + 1 + row):
            of_below, of_above = below[row, place], above[row, place]
            called_above = pulls > 0.0 and _above(pulls, float(least + place), threshold)
            wrong = of_below if called_above else of_above
            below[row, place] = of_below + of_above
            above[row, place] = min(of_below, of_above) if nodes.likelier else wrong
