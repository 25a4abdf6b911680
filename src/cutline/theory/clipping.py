"""The program P_c with gaps clipped from below at exp(-Psi_c), which Theorem 1 is stated with (paper, Appendix B)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from cutline.theory.checks import Floats, check_budgets, check_gaps, check_number, check_positive, plain
from cutline.theory.stairs import Stairs, build_stairs


def _solve(stairs: Stairs, budgets: Floats, c: float) -> tuple[NDArray[np.intp], Floats]:
    """Return for each budget how many arms have L_i < Psi_c, and how far Psi_c lies above the last of their levels.

    The last level is 0 where no arm has one below Psi_c.
    """
    unclipped = np.arange(stairs.gaps.size + 1)
    growths: Floats = np.concatenate([[1.0], stairs.gaps**-2.0]) * (stairs.arms - unclipped)
    slopes = 2.0 / c * np.concatenate([[0.0], stairs.weights])
    needed = growths + np.concatenate([[0.0], stairs.weights + 2.0 / c * stairs.starts])
    needed = np.maximum.accumulate(needed)
    count = np.searchsorted(needed[1:], budgets, side="right")
    return count, _height(growths[count], slopes[count], budgets - needed[count])


def _height(growth: Floats, slope: Floats, rest: Floats) -> Floats:
    """Return y >= 0 with growth (e^2y - 1) + slope y = rest, for numbers of at least 0, growth and slope not both 0.

    With w = 2 (growth + rest) / slope - 2 y this is w + ln w = ln(2 growth / slope) + 2 (growth + rest) / slope, which
    Wright's omega function solves. Getting y back from w loses the digits of a small y, so one step of Newton's method
    follows, with the equation as it stands.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        highest = np.fmin(0.5 * np.log1p(rest / growth), rest / slope)  # each without the other's term
        log_ratio = np.log(2.0 * growth / slope)
        omega = special.wrightomega(log_ratio + 2.0 * (growth + rest) / slope)
        height = np.fmax(np.fmin(0.5 * (np.log(omega) - log_ratio), highest), 0.0)
    doubled = np.where(growth > 0.0, 2.0 * height, 0.0)  # without growth the height may be too large for exp
    excess = growth * np.expm1(doubled) + slope * height - rest
    return plain(np.fmax(height - excess / (2.0 * growth * np.exp(doubled) + slope), 0.0))


def _base(stairs: Stairs, count: NDArray[np.intp]) -> Floats:
    """Return exp(-level) of the last arm below Psi_c, 1 where there is none."""
    return plain(np.concatenate([[1.0], stairs.gaps])[count])


def _check(gaps: ArrayLike, budgets: ArrayLike, c: float) -> tuple[Stairs, Floats, float]:
    stairs = build_stairs(gaps)
    return stairs, check_budgets(budgets, stairs.arms, "T >= K of Psi_c"), check_positive("c", c)


def clipped_level(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return Psi_c >= 0 for each budget T >= K. Shape of budgets.

    It solves: sum over arms of exp(2 Psi_c), where Psi_c <= ln 1/Delta_i, and of
    (Psi_c - ln 1/Delta_i + c/2) / (c/2 Delta_i^2), where it is larger, equals T.
    Raises InvalidInputError for bad gaps, T < K or c <= 0. Source: paper, Definition of Psi_c.
    """
    stairs, values, constant = _check(gaps, budgets, c)
    count, height = _solve(stairs, values, constant)
    return plain(height - np.log(_base(stairs, count)))


def clipped_gaps(gaps: ArrayLike, level: float) -> Floats:
    """Return max(Delta_i, exp(-level)), shape (K,), for a level >= 0, as the programs of Lemma 4 have them.

    Raises InvalidInputError for bad gaps or a level below 0. Source: paper, Lemma 4.
    """
    least = np.exp(-check_number("level", level, lambda number: number >= 0, "at least 0"))
    return np.maximum(check_gaps(gaps), least)


def clipped_allocation(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return the optimal x_i of P_c for the gaps clipped at exp(-Psi_c), for each budget T >= K. Shape (..., K).

    Raises InvalidInputError for bad gaps, T < K or c <= 0. Source: paper, Lemma 4; Equation (16).
    """
    stairs, values, constant = _check(gaps, budgets, c)
    count, height = _solve(stairs, values.ravel(), constant)
    base = _base(stairs, count)
    pulls = np.empty((values.size, stairs.arms))
    for row, unclipped, rise, smallest in zip(pulls, count, height, base, strict=True):
        if unclipped < stairs.arms:
            row[:] = np.exp(2.0 * rise) / smallest**2
        if unclipped:
            slopes = constant / 2.0 * stairs.gaps[:unclipped] ** 2
            row[stairs.order[:unclipped]] = (stairs.below(unclipped - 1) + rise + constant / 2.0) / slopes  # Lemma 4
    return pulls.reshape(*values.shape, stairs.arms)


def clipped_program(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return P_c of the gaps clipped at exp(-Psi_c), for each budget T >= K. Shape of budgets.

    Raises as ``clipped_allocation`` does. Source: paper, Lemma 4.
    """
    return np.exp(log_clipped_program(gaps, budgets, c))


def log_clipped_program(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return the natural logarithm of ``clipped_program``, also where that is too small for a float.

    Raises as ``clipped_allocation`` does. Source: paper, Lemma 4.
    """
    stairs, values, constant = _check(gaps, budgets, c)
    count, height = _solve(stairs, values, constant)
    sums = _base(stairs, count) ** 2 * np.concatenate([[0.0], stairs.weights])[count]
    with np.errstate(divide="ignore"):
        return plain(np.logaddexp(np.log(stairs.arms - count), np.log(sums) - 2.0 * height) - constant)


def clipped_allocation_bound(gaps: ArrayLike, budgets: ArrayLike, c: float) -> Floats:
    """Return exp(c) times ``clipped_program``, at least sum_i exp(-c x_i Delta_i^2) for x = ``clipped_allocation``.

    So spending the budget as if the smallest gaps were larger costs a factor exp(c) at most. Shape of budgets.
    Raises as ``clipped_allocation`` does. Source: paper, Lemma 5.
    """
    return np.exp(log_clipped_program(gaps, budgets, c) + c)  # Lemma 5
