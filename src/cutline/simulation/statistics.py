"""The two-tailed paired t-test, with p-values that do not underflow (paper, Appendix F.1)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

_LOG_10 = math.log(10.0)


@dataclass(frozen=True)
class Comparison:
    """Two policies compared on the same runs.

    ``difference``: mean errors of the first less those of the second. ``t``: the statistic, with runs - 1 degrees
    of freedom. ``z``: the normal deviate with the same p-value and the sign of t. ``p``: two-tailed p-value, 0 below
    about 1e-308; ``log10_p`` is exact there too.
    """

    difference: float
    standard_error: float
    t: float
    z: float
    p: float
    log10_p: float
    runs: int


def paired_t_test(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Test whether two samples paired by position, at least 2 each, have the same mean.

    Equal samples give t = 0 and p = 1; a difference without any variance gives an infinite t.
    """
    difference = np.subtract(first, second, dtype=np.float64)
    runs = difference.size
    mean = float(difference.mean())
    error = float(difference.std(ddof=1)) / math.sqrt(runs)
    t = 0.0 if mean == 0.0 else mean / error if error > 0.0 else math.copysign(math.inf, mean)
    log_p = log_two_tailed(t, runs - 1)
    return Comparison(
        difference=mean,
        standard_error=error,
        t=t,
        z=math.copysign(normal_deviate(log_p), t),
        p=math.exp(log_p),
        log10_p=log_p / _LOG_10,
        runs=runs,
    )


def log_two_tailed(t: float, degrees: float) -> float:
    """Return ln P(|Student's t with ``degrees`` of freedom| >= |t|), however small.

    It is ln I_x(degrees / 2, 1/2) at x = degrees / (degrees + t^2) (DLMF 8.17.2 and 8.17.8). SciPy's ``t.logsf`` is the
    logarithm of a tail that has underflowed: -inf at t = 60 with 4,999 degrees, where the paper prints 1e-300.
    """
    from scipy import special

    if math.isinf(t):
        return -math.inf
    a, b = degrees / 2.0, 0.5
    x, rest = degrees / (degrees + t * t), t * t / (degrees + t * t)
    direct = special.betaincc(b, a, rest) if rest < x else special.betainc(a, b, x)
    if direct > 1e-200:
        return math.log(direct)
    log_front = -a * math.log1p(t * t / degrees) + b * math.log(rest) - math.log(a)
    return float(log_front - special.betaln(a, b) + math.log(special.hyp2f1(a + b, 1.0, a + 1.0, x)))


def normal_deviate(log_p: float) -> float:
    """Return z >= 0 with P(|N(0, 1)| >= z) = exp(log_p)."""
    from scipy import special

    if log_p == -math.inf:
        return math.inf
    return abs(float(special.ndtri_exp(log_p - math.log(2.0))))
