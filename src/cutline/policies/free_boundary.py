"""The free boundary of sequential testing: what a pull may cost before a record is better left alone.

Watch a walk whose drift is unknown, with a flat prior, at a cost of c a unit of time, and say in the end whether the
drift is positive; an error costs 1. It pays to go on until x = z^2 / 2, z = |walk| / sqrt(t), passes a boundary that
depends on c t alone (Chernoff: Sequential tests for the mean of a normal distribution, 1961; Lai: Nearly optimal
sequential tests of composite hypotheses, Annals of Statistics 16, 1988). Turned round, a record (t, z) has a critical
cost c*, and -ln c* = ln t + psi(x), with psi the same function everywhere. It starts as 1/2 ln x + ln(4 sqrt(pi)) and
ends as x - 1/2 ln x + ln(2 sqrt(pi)).

No formula for psi is known. ``docs/lai_boundary.py`` solves for it by two independent methods, which agree to 1e-6.

Tables are arrays of Python's own, so that a campaign needs no others; where this is compiled they become NumPy's.
"""

import math
from array import array
from bisect import bisect_right
from itertools import pairwise

from cutline.bits import bits_of
from cutline.policies.policy import log_above

STEP = 0.0625
"""The distance between two knots, in z."""

_TO_INTEGER = 6755399441055744.0  # 1.5 * 2^52: a small number added to it is rounded to an integer, in its low bits
_LOW_BITS = 0xFFFF

KNOTS = (
    1.6120857,
    1.6133700,
    1.6170235,
    1.6225355,
    1.6292605,
    1.6365583,
    1.6438630,
    1.6507012,
    1.6566877,
    1.6615127,
    1.6649286,
    1.6667381,
    1.6667838,
    1.6649411,
    1.6611113,
    1.6552175,
    1.6472001,
    1.6370143,
    1.6246280,
    1.6100192,
    1.5931753,
    1.5740916,
    1.5527704,
    1.5292203,
    1.5034556,
    1.4754958,
    1.4453654,
    1.4130932,
    1.3787125,
    1.3422608,
    1.3037795,
    1.2633140,
    1.2209134,
    1.1766307,
    1.1305226,
    1.0826497,
    1.0330763,
    0.9818702,
    0.9291034,
    0.8748515,
    0.8191937,
    0.7622134,
    0.7039974,
    0.6446367,
    0.5842256,
    0.5228624,
    0.4606488,
    0.3976901,
    0.3340946,
    0.2699740,
    0.2054425,
    0.1406168,
    0.0756157,
    0.0105596,
    -0.0544302,
    -0.1192320,
    -0.1837243,
    -0.2477868,
    -0.3113012,
    -0.3741519,
    -0.4362274,
    -0.4974209,
    -0.5576315,
    -0.6167654,
    -0.6747366,
    -0.7314679,
    -0.7868919,
    -0.8409513,
    -0.8936001,
    -0.9448031,
    -0.9945368,
    -1.0427889,
    -1.0895581,
    -1.1348537,
    -1.1786945,
    -1.2211087,
    -1.2621320,
    -1.3018071,
    -1.3401823,
    -1.3773103,
    -1.4132472,
    -1.4480511,
    -1.4817812,
    -1.5144971,
    -1.5462576,
    -1.5771201,
    -1.6071404,
    -1.6363718,
    -1.6648650,
    -1.6926679,
    -1.7198252,
    -1.7463789,
    -1.7723677,
    -1.7978275,
    -1.8227912,
    -1.8472891,
    -1.8713489,
    -1.8949960,
    -1.9182533,
    -1.9411419,
    -1.9636809,
    -1.9858878,
    -2.0077784,
    -2.0293672,
    -2.0506674,
    -2.0716910,
    -2.0924489,
    -2.1129514,
    -2.1332077,
    -2.1532263,
    -2.1730152,
    -2.1925816,
    -2.2119322,
    -2.2310735,
    -2.2500112,
    -2.2687510,
    -2.2872979,
    -2.3056569,
    -2.3238326,
    -2.3418294,
    -2.3596513,
    -2.3773024,
    -2.3947864,
    -2.4121068,
    -2.4292672,
    -2.4462709,
    -2.4631209,
    -2.4798204,
    -2.4963723,
    -2.5127795,
    -2.5290446,
    -2.5451703,
    -2.5611593,
    -2.5770139,
    -2.5927366,
    -2.6083296,
    -2.6237954,
    -2.6391361,
    -2.6543538,
    -2.6694505,
    -2.6844284,
    -2.6992894,
    -2.7140354,
    -2.7286682,
    -2.7431897,
    -2.7576017,
    -2.7719059,
    -2.7861039,
    -2.8001974,
)
"""psi(z^2 / 2) - z^2 / 2 - ln z at z = 0, STEP, 2 STEP and so on: a smooth and even function of z."""

_CELLS = len(KNOTS) - 3  # the last two knots only give slopes
_END = _CELLS * STEP
_FAR = 0.5 * math.log(2.0) + math.log(2.0 * math.sqrt(math.pi))


def _cubics() -> "array[float]":
    """Return a cubic for each cell, (cells * 4,): the values at both ends, and slopes from four neighbours each."""
    knots = [*KNOTS[2:0:-1], *KNOTS]
    cubics = array("d")
    for before, low, high, after, last, first in zip(
        knots[1:], knots[2:], knots[3:], knots[4:], knots[5:], knots, strict=False
    ):
        at_low = (first - after + 8.0 * (high - before)) / 12.0
        at_high = (before - last + 8.0 * (after - low)) / 12.0
        rise = high - low
        cubics.extend([low, at_low, 3.0 * rise - 2.0 * at_low - at_high, at_low + at_high - 2.0 * rise])
    return cubics


_CUBICS = _cubics()
_TAIL = ((KNOTS[_CELLS] - _FAR + 2.0 * math.log(_END)) * 0.5 * _END**2 - 1.5) * 0.5 * _END**2


def log_cost(time: float, z: float) -> float:
    """Return ln t + psi(z^2 / 2), z > 0: minus the logarithm of the critical cost; it grows with both."""
    if z >= _END:
        y = 2.0 / (z * z)
        return 0.5 * z * z + math.log(time / z) + _FAR + y * (1.5 + _TAIL * y)
    place = z / STEP
    cell = int(place)
    t = place - cell
    first = 4 * cell
    bend = _CUBICS[first] + t * (_CUBICS[first + 1] + t * (_CUBICS[first + 2] + t * _CUBICS[first + 3]))
    return 0.5 * z * z + math.log(time * z) + bend


_PARTS = 16  # of an octave: the cells of the chords above psi
_FIRST, _LAST = -30, 20  # powers of 2 between which they are
_SHIFT = 48  # the bits of a float that tell where in a cell it is
_FIRST_CELL = (1023 + _FIRST) * _PARTS


def _chords() -> "array[float]":
    """Return lines (at 0, slope) that are above psi in each cell of x; the last has the slope 1 and holds for ever."""
    cells = range((_LAST - _FIRST) * _PARTS + 1)
    places = [2.0 ** (cell // _PARTS + _FIRST) * (1.0 + cell % _PARTS / _PARTS) for cell in cells]
    costs = [log_cost(1.0, math.sqrt(2.0 * x)) for x in places]
    chords = array("d")
    bulge = 0.0
    for (x, end), (cost, end_cost) in zip(pairwise(places), pairwise(costs), strict=True):
        slope = (end_cost - cost) / (end - x)
        own = abs(log_cost(1.0, math.sqrt(x + end)) - 0.5 * (cost + end_cost)) + 1e-5
        chords.extend([cost + 1.1 * max(own, bulge) - slope * x, slope])
        bulge = own
    chords.extend([costs[-1] + 1.1 * bulge - places[-1], 1.0])
    return chords


_CHORDS = _chords()


def log_cost_above(time: float, x: float) -> float:
    """Return no less than ln(time) + psi(x), x >= 0, and hardly more, without a branch: for ceilings."""
    bits = bits_of(min(max(x, 2.0**_FIRST), 2.0**_LAST))
    cell = (bits >> _SHIFT) - _FIRST_CELL
    return log_above(time) + (_CHORDS[2 * cell] + _CHORDS[2 * cell + 1] * x)


_LEAST_X = 0.22  # from here on sqrt(n x) is concave in n where ln(n) + psi(x) is a level
_SLACK = 5e-4  # more than a chord of the inverse of psi is above it
_LEAST_COST = log_cost(1.0, math.sqrt(2.0 * _LEAST_X))


def _inverse() -> "array[float]":
    """Return no more than x at psi(x) = _LEAST_COST + k STEP, k >= 0."""
    low = math.sqrt(2.0 * _LEAST_X)
    places = [low + (_END - low) * k / 999 for k in range(1000)]
    costs = [log_cost(1.0, z) for z in places]
    inverse = array("d")
    for k in range(math.ceil((costs[-1] - _LEAST_COST) / STEP)):
        wanted = _LEAST_COST + k * STEP
        at = min(bisect_right(costs, wanted), len(costs) - 1)
        below, above = 0.5 * places[at - 1] ** 2, 0.5 * places[at] ** 2
        share = (wanted - costs[at - 1]) / (costs[at] - costs[at - 1])
        inverse.append(below + share * (above - below) - _SLACK)
    return inverse


_X = _inverse()


def x_below(time: float, level: float) -> float:
    """Return no more than the x at which ln(time) + psi(x) is the level; -1 for one below 0.22. Without a branch.

    Beyond the table psi grows by no more than x does.
    """
    place = level - log_above(time) - _LEAST_COST
    inside = min(max(0.0, place), STEP * (len(_X) - 2))
    cells = inside * (1.0 / STEP)
    cell = bits_of(cells - 0.5 + _TO_INTEGER) & _LOW_BITS
    x = _X[cell] + (cells - float(cell)) * (_X[cell + 1] - _X[cell]) + (place - inside)
    return x if place > 0.0 else -1.0
