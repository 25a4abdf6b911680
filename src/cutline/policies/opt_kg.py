"""Opt-KG, optimistic knowledge gradient (Chen, Lin, Zhou: Statistical decision making for optimal budget
allocation in crowd labeling, JMLR 16, 2015; paper, Section 5).

An arm's mean has a Beta(a, b) belief: the prior's parameters plus the rewards 1 and 0 seen so far. Let
I(a, b) = P(Beta(a, b) >= theta) and h(x) = max(x, 1 - x). The arm pulled is the one with the largest

    R+(a, b) = max{h(I(a+1, b)), h(I(a, b+1))} - h(I(a, b)),

the gain in confidence if the better of the two rewards comes. With D = theta^a (1-theta)^b / B(a, b),
I(a+1, b) = I + D/a and I(a, b+1) = I - D/b, so that

    R+ = max{D/a - 2 max(0, 1/2 - I), D/b - 2 max(0, I - 1/2)}.

At theta = 1/2 this is D / max(a, b). R+ underflows; the index is -ln R+.
"""

import math
from dataclasses import dataclass

import numpy as np

from cutline.policies.policy import (
    LOG_SLACK,
    Policy,
    above_rounding,
    below_rounding,
    check_parameter,
    log_above,
    settle,
)

_HALF_LOG_2_PI = 0.9189385332046728
_SMALL = 20.0  # below it Stirling's series has too few good terms
_TABLED = 128  # below it Stirling's errors of whole numbers and halves are looked up
_LARGE = 100.0  # from here on two terms of it do
_TINY = 700.0  # exp(-700) is the least that a double holds with all its digits
_STEEP = 0.95  # of the way from an even belief to certainty; up to there the band's series are cut with little loss
_FAR = 3.0  # rewards from the line; beyond it only the reward that agrees with the arm's side can matter


def opt_kg_index(pulls: float, total: float, threshold: float, prior_a: float, prior_b: float) -> float:
    """Return -ln R+ of the belief Beta(prior_a + total, prior_b + pulls - total)."""
    a = prior_a + total
    b = prior_b + pulls - total
    if threshold == 0.5:
        return settle(even_index(max(a, b), min(a, b)))
    minus_log_d = minus_log_density(a, b, threshold)
    deviation = belief_excess(a, a + b, threshold)
    if not -_FAR <= deviation <= _FAR or minus_log_d > _TINY:
        return settle(minus_log_d + math.log(a if deviation >= 0.0 else b))
    density = math.exp(-minus_log_d)
    doubt = 1.0 - 2.0 * beta_upper_tail(a, b, threshold, density)
    return settle(-math.log(max(density / a - max(0.0, doubt), density / b - max(0.0, -doubt))))


def opt_kg_ceiling(
    pulls: float, length: float, lowest: float, highest: float, threshold: float, prior_a: float, prior_b: float
) -> float:
    """Return an upper bound of the index over a block, or infinity where the block leaves the beliefs that exist.

    R+ is at least D / max(a, b), so the index is at most -ln D + ln max(a, b), and -ln D is convex: largest at a
    corner. At threshold 1/2 the index is that bound; at a given excess it grows by no more than 1/2 ln n.
    """
    n = pulls + prior_a + prior_b
    shift = prior_a - (prior_a + prior_b) * threshold
    low = lowest + shift
    high = highest + shift
    if threshold == 0.5:
        deviation = max(-low, high)
        if deviation >= 0.5 * n:
            return math.inf
        bound = even_bound(n, deviation) + 0.5 * length / n
        return above_rounding(bound, bound)
    return corners_bound(n, length, low, high, threshold)


def opt_kg_band(
    pulls: float, length: float, level: float, threshold: float, prior_a: float, prior_b: float
) -> tuple[float, float]:
    """Return how far an excess may be from 0 at both ends, at the threshold 1/2; at any other nothing is known.

    With D the distance of a belief from even, u = 2 D / n and w = u^2, ``even_bound`` is (1 + A) n w / 2 + (1 + B) u
    and terms of n alone, where A and B grow with w. With those of a w that is not exceeded the largest D is the root of
    a quadratic. n times the terms of n alone is convex, so the root is concave in n.
    """
    if threshold != 0.5:
        return -1.0, -1.0
    n = pulls + prior_a + prior_b
    end = n + length
    shift = 0.5 * abs(prior_a - prior_b)
    settled = below_rounding(level, abs(level)) - _HALF_LOG_2_PI
    room = max(0.0, n * (settled - 0.5 * log_above(n)))
    steepest = min(_STEEP, (math.sqrt(1.0 + 2.0 * room) - 1.0) / n)
    return even_distance(n, settled, steepest) - shift, even_distance(end, settled, steepest) - shift


def even_distance(n: float, settled: float, steepest: float) -> float:
    """Return the root of the band's quadratic at n, at most where u is ``steepest``; -1 if there is none."""
    w = steepest * steepest
    geometric = 1.0 / (1.0 - w)
    square = 1.0 + w * (1 / 6 + w * geometric * (1 / 15))
    straight = 1.0 + w * geometric * (1 / 3)
    room = n * (settled - 0.5 * log_above(n)) - (geometric * (1 / 3) - 1 / 12) - (1 / 360) / (n * n)
    root = (math.sqrt(straight * straight + 2.0 * square * max(room, 0.0)) - straight) / (2.0 * square)
    return min(root, 0.5 * steepest * n) if room >= 0.0 else -1.0


def corners_bound(n: float, length: float, low: float, high: float, threshold: float) -> float:
    """Return -ln D at the worst corner of a block of beliefs with a + b from n on, and ln max(a, b) at its largest."""
    if n * threshold + low <= 0.0 or n * (1.0 - threshold) - high <= 0.0:
        return math.inf
    end = n + length
    bound = max(density_bound(n, low, threshold), density_bound(n, high, threshold))
    if length > 0.0:
        bound = max(bound, density_bound(end, low, threshold), density_bound(end, high, threshold))
    side = end * max(threshold, 1.0 - threshold) + max(-low, high)
    if low > _FAR:
        side = end * threshold + high
    elif high < -_FAR:
        side = end * (1.0 - threshold) - low
    return above_rounding(bound + log_above(side), abs(bound) + abs(log_above(side)))


def density_bound(n: float, deviation: float, threshold: float) -> float:
    """Return no less than -ln D at a = n theta + deviation and b = n (1 - theta) - deviation, without a branch.

    The series of (1 + x) ln(1 + x) - x and of -ln(1 + x), where a = n theta (1 + x) and b likewise, end above their
    tails: with a geometric series where x < 0, with a positive term where x > 0. Stirling's errors end after one term.
    """
    mean_a = n * threshold
    mean_b = n * (1.0 - threshold)
    over_a = 1.0 / (mean_a + deviation)
    over_b = 1.0 / (mean_b - deviation)
    over_n = 1.0 / n
    x = deviation / mean_a
    y = -deviation / mean_b
    tail_a = x * x * max(1.0, mean_a * over_a)
    tail_b = y * y * max(1.0, mean_b * over_b)
    divergence = mean_a * (x * x * (1 / 2 - x * (1 / 6)) + x * x * tail_a * (1 / 12))
    divergence += mean_b * (y * y * (1 / 2 - y * (1 / 6)) + y * y * tail_b * (1 / 12))
    tilt = 0.25 * (tail_a + tail_b) - 0.5 * (x + y)
    scale = 0.5 * (log_above(mean_a * (1.0 - threshold)) - LOG_SLACK)
    errors = (over_a + over_b - over_n) * (1 / 12) + over_n * over_n * over_n * (1 / 360)
    return divergence + tilt + _HALF_LOG_2_PI - scale + errors


def even_bound(n: float, deviation: float) -> float:
    """Return no less than ``even_index`` at n / 2 + deviation and n / 2 - deviation, in a third of the time.

    The series of ``even_index`` end with a geometric one above their tails, Stirling's errors after one term. Up to
    0.09, 1 / (1 - w) is no more than 1 + 1.1 w.
    """
    y = 1.0 / n
    u = 2.0 * deviation * y
    w = u * u
    geometric = 1.0 + 1.1 * w if w < 0.09 else 1.0 / (1.0 - w)
    divergence = 0.5 * n * w * (1.0 + w * (1 / 6 + w * geometric * (1 / 15)))
    tilt = u * (1.0 + w * geometric * (1 / 3))
    errors = y * (geometric * (1 / 3) - 1 / 12 + y * y * (1 / 360))
    return divergence + tilt + (_HALF_LOG_2_PI + 0.5 * log_above(n)) + errors


def minus_log_density(a: float, b: float, threshold: float) -> float:
    """Return -ln D = -ln(theta^a (1-theta)^b / B(a, b))."""
    n = a + b
    deviation = belief_excess(a, n, threshold)
    log_a = log_ratio(a, n * threshold, deviation)
    log_b = log_ratio(b, n * (1.0 - threshold), -deviation)
    scale = 0.5 * math.log(n * threshold * (1.0 - threshold))
    return (a - 0.5) * log_a + (b - 0.5) * log_b + _HALF_LOG_2_PI - scale + stirling_errors(a, b)


def even_index(larger: float, smaller: float) -> float:
    """Return -ln R+ at threshold 1/2, where R+ = 2^-n / (larger B(larger, smaller)), n = larger + smaller.

    It is larger ln(2 larger / n) + smaller ln(2 smaller / n) + 1/2 ln(larger / smaller) + 1/2 ln(2 pi n) and
    Stirling's errors; for beliefs close to even the logarithms cancel, and their series do not.
    """
    n = larger + smaller
    u = (larger - smaller) / n
    if u < 0.125:
        w = u * u
        divergence = 1.0 + w * (1 / 6 + w * (1 / 15 + w * (1 / 28 + w * (1 / 45 + w * (1 / 66 + w / 91)))))
        divergence *= 0.5 * n * w
        tilt = u * (1.0 + w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * (1 / 9 + w * (1 / 11 + w / 13))))))
    else:
        log_larger = math.log(1.0 + u)
        log_smaller = math.log(1.0 - u)
        divergence = larger * log_larger + smaller * log_smaller
        tilt = 0.5 * (log_larger - log_smaller)
    return divergence + tilt + (_HALF_LOG_2_PI + 0.5 * math.log(n)) + stirling_errors(larger, smaller)


def belief_excess(a: float, n: float, threshold: float) -> float:
    """Return a - n threshold without the rounding of the product: the threshold is split in two, 26 bits first."""
    scaled = threshold * 134217729.0
    high = scaled - (scaled - threshold)
    return (a - n * high) - n * (threshold - high)


def log_ratio(x: float, y: float, difference: float) -> float:
    """Return ln(x / y) for positive x and y, without loss of digits where their difference is known well."""
    z = difference / (x + y)
    if not -0.1 < z < 0.1:
        return math.log(x / y)
    w = z * z
    tail = 1 / 9 + w * (1 / 11 + w * (1 / 13 + w / 15))
    return 2.0 * z * (1.0 + w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w * tail))))


def stirling_errors(a: float, b: float) -> float:
    """Return what Stirling's formula for ln B(a, b) leaves out: the errors of a and b less that of a + b."""
    n = a + b
    if a < _LARGE or b < _LARGE:
        return stirling_error(a) + stirling_error(b) - stirling_error(n)
    v = 1.0 / (a * b)
    reciprocals = n * v  # 1/a + 1/b
    cubes = reciprocals * (reciprocals * reciprocals - 3.0 * v)  # 1/a^3 + 1/b^3
    y = 1.0 / n
    return (reciprocals - y) * (1 / 12) - (cubes - y * y * y) * (1 / 360)  # the next terms are below 1e-13


def stirling_error(x: float) -> float:
    """Return ln Gamma(x) - ((x - 1/2) ln x - x + 1/2 ln 2 pi) for x > 0."""
    if x < _TABLED:
        place = int(2.0 * x)
        if place == 2.0 * x:
            return float(_STIRLING_ERRORS[place])
    return computed_stirling_error(x)


def computed_stirling_error(x: float) -> float:
    """Return ``stirling_error`` without the table."""
    if x < _SMALL:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + _HALF_LOG_2_PI)
    y = 1.0 / x
    w = y * y
    return y * (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188))))


_STIRLING_ERRORS = np.array([0.0] + [computed_stirling_error(0.5 * place) for place in range(1, 2 * _TABLED)])
"""``stirling_error`` of x at 2 x: the usual priors leave whole numbers and halves."""


def beta_upper_tail(a: float, b: float, x: float, density: float) -> float:
    """Return P(Beta(a, b) >= x), where density = x^a (1-x)^b / B(a, b).

    Written out here since it is compiled into kernels: SciPy's cannot be, and with numba-stats, whose functions are
    cached by file, the kernels that call it could not be cached.
    """
    if x * (a + b + 2.0) < a + 1.0:
        return 1.0 - density / a * _beta_fraction(a, b, x)
    return density / b * _beta_fraction(b, a, 1.0 - x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    numerator = 1.0
    denominator = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    value = denominator
    m = 1.0
    step = 0.0
    while abs(step - 1.0) > 1e-16 and m < 1e6:
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        denominator = 1.0 / (1.0 + even * denominator)
        numerator = 1.0 + even / numerator
        value *= denominator * numerator
        denominator = 1.0 / (1.0 + odd * denominator)
        numerator = 1.0 + odd / numerator
        step = denominator * numerator
        value *= step
        m += 1.0
    return value


@dataclass(frozen=True)
class OptKG(Policy):
    """Optimistic knowledge gradient with a Beta(``a``, ``b``) prior, a > 0 and b > 0, not only whole numbers.

    The paper's experiments use (1, 1) and (0.5, 0.5). It starts from its prior, not from one pull each.
    Raises InvalidInputError for a parameter outside [1e-6, 1e6]. Source: paper, Section 5.
    """

    name = "Opt-KG"
    formula = "-ln R+, R+ = max{h(I(a+1,b)), h(I(a,b+1))} - h(I(a,b)), I = P(Beta(a,b) >= theta)"
    source = "Chen, Lin, Zhou: Statistical decision making for optimal budget allocation in crowd labeling, JMLR 2015"
    pulls_each_arm_first = False

    a: float = 1.0
    b: float = 1.0

    index = staticmethod(opt_kg_index)
    ceiling = staticmethod(opt_kg_ceiling)
    band = staticmethod(opt_kg_band)

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            check_parameter(self, name, lambda value: 1e-6 <= value <= 1e6, "a number from 1e-6 to 1e6")
