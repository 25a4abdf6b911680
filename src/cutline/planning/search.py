"""The smallest budget at which a policy reaches a target, by simulation.

First a coarse curve: budgets from K on in steps of 19 %, until the mean errors are at or below the target. Then a
window of budgets around that place, where ln errors over ln budget is fitted with a straight line; where it meets
ln target is the budget. Errors at all budgets of a window come from the same games, so the standard error of that place
is found from what each game contributes to it. Games are added until its confidence interval is narrow.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cutline.planning.simulator import Simulator

_Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""The probability with which the interval of a plan holds the budget."""

PRECISION = 0.015
"""Half of that interval, as a share of the budget, at which no more games are added."""

MOST_PULLS = 1_000_000_000
"""Pulls that are simulated at most, to find a budget and again to make it precise."""

_STEP = 2.0**0.25
_WINDOW = 0.1
_LOOKS = 9
_WIDEST = 4.0 * _WINDOW
_FLAT = -0.05
_CLEARLY = 2.5
_MOVES = 12
_FIRST_DRAWS = 8
_ERRORS_SEEN = 50


@dataclass(frozen=True)
class Curve:
    """Mean errors at some budgets, increasing, and their standard errors, each of shape (B,)."""

    budgets: NDArray[np.int64]
    mean: _Floats
    standard_error: _Floats

    def columns(self) -> tuple[NDArray[np.int64], _Floats, _Floats]:
        """Return the budgets, the means and the standard errors."""
        return self.budgets, self.mean, self.standard_error

    @classmethod
    def of(cls, budgets: NDArray[np.int64], errors: _Floats) -> "Curve":
        """Return the curve of errors of shape (draws, B)."""
        return cls(budgets, errors.mean(axis=0), errors.std(axis=0, ddof=1) / math.sqrt(len(errors)))

    def joined(self, other: "Curve") -> "Curve":
        """Return both curves as one; where they share a budget the other's point is taken."""
        budgets, places = np.unique(np.concatenate([other.budgets, self.budgets]), return_index=True)
        mean = np.concatenate([other.mean, self.mean])[places]
        return Curve(budgets, mean, np.concatenate([other.standard_error, self.standard_error])[places])


@dataclass(frozen=True)
class Found:
    """Where the target is reached: the budget and its confidence interval, or None if it was not, and what was seen.

    ``expected_errors`` are those at the budget, or at the last budget seen (NaN without any game).
    """

    budget: int | None
    low: int | None
    high: int | None
    expected_errors: float
    standard_error: float
    games: int
    curve: Curve


NOTHING = Found(None, None, None, math.nan, math.nan, 0, Curve(np.empty(0, np.int64), np.empty(0), np.empty(0)))
"""No game was played."""


@dataclass(frozen=True)
class Fit:
    """A straight line through ln errors over ln budget, and where it meets ln target.

    ``shift`` is ln(that place / center), ``half`` half its confidence interval, ``slope`` that of the line, and
    ``relative_error`` the standard error of the errors there as a share of them. Where the line hardly falls,
    ``shift`` is 0, and ``half`` and ``relative_error`` are infinite.
    """

    shift: float
    half: float
    slope: float
    relative_error: float


def search(simulator: "Simulator", target: float) -> Found:
    """Return the smallest budget at which the mean errors are at or below the target, as far as simulation can tell."""
    curve, draws = _coarse(simulator, target)
    reached = np.flatnonzero(curve.mean <= target)
    if reached.size and reached[0] > 0:
        return _fine(simulator, target, curve, int(reached[0]), draws)
    games = draws * simulator.repeats(curve.budgets) if curve.budgets.size else 0
    budget = simulator.guess.arms if reached.size else None
    last = 0 if reached.size else -1
    seen = (float(curve.mean[last]), float(curve.standard_error[last])) if games else (math.nan, math.nan)
    return Found(budget, budget, budget, *seen, games, curve)


def _coarse(simulator: "Simulator", target: float) -> tuple[Curve, int]:
    """Return a curve from K to where it reaches the target, or to what can be afforded, and its number of draws."""
    arms = simulator.guess.arms
    draws = max(_FIRST_DRAWS, math.ceil(_ERRORS_SEEN / target))
    curve = NOTHING.curve
    steps = 12
    while not (curve.mean <= target).any():
        budgets = np.unique(np.ceil(arms * _STEP ** np.arange(steps + 1) * (1.0 - 1e-12))).astype(np.int64)
        if simulator.cost(budgets) * simulator.repeats(budgets) * draws > MOST_PULLS:
            break
        curve = Curve.of(budgets, simulator.play(budgets, 1, range(draws)))
        steps += 8
    return curve, draws


def _fine(simulator: "Simulator", target: float, curve: Curve, place: int, draws: int) -> Found:
    """Return what a window of budgets around the coarse curve's step down to ``place`` says."""
    arms = simulator.guess.arms
    before, after = curve.mean[place - 1 : place + 1]
    share = 0.5 if after == 0.0 else math.log(before / target) / math.log(before / after)
    center = float(curve.budgets[place - 1] * (curve.budgets[place] / curve.budgets[place - 1]) ** share)
    draws, width, moves, spent = max(draws, 2 * _FIRST_DRAWS), _WINDOW, 0, 0
    budgets = _window(center, width, arms)
    errors = np.empty((0, budgets.size))
    while True:
        cost = simulator.cost(budgets) * simulator.repeats(budgets)
        spent += (draws - len(errors)) * cost
        errors = np.concatenate([errors, simulator.play(budgets, 2, range(len(errors), draws))])
        fit = fit_crossing(budgets, errors, target, center)
        step = _step(Curve.of(budgets, errors), target, fit.shift, width, arms)
        if (fit.half <= PRECISION and step == 0.0) or spent >= MOST_PULLS:
            break
        flat = not math.isfinite(fit.half)
        if (step != 0.0 and moves < _MOVES) or (flat and spent > MOST_PULLS // 30 and width < _WIDEST):
            moves += 1
            width = width if step else min(2.0 * width, _WIDEST)
            center = max(center * math.exp(step), float(arms))
            budgets = _window(center, width, arms)
            errors = np.empty((0, budgets.size))
        elif flat or fit.half > PRECISION:
            wanted = 4 * draws if flat else math.ceil(draws * min(1.1 * (fit.half / PRECISION) ** 2, 4.0))
            draws = min(wanted, draws + (MOST_PULLS - spent) // cost + 1)
        else:
            break
    crossing, factor = center * math.exp(fit.shift), math.exp(min(fit.half, 1.0))
    budget = max(arms, math.ceil(crossing))
    low, high = max(arms, math.floor(crossing / factor)), math.ceil(crossing * factor)
    at = target * (budget / crossing) ** fit.slope
    seen = curve.joined(Curve.of(budgets, errors))
    return Found(budget, low, high, at, at * fit.relative_error, draws * simulator.repeats(budgets), seen)


def _step(curve: Curve, target: float, shift: float, width: float, arms: int) -> float:
    """Return how far ln center has to move for the window to hold the crossing; 0 if it does.

    Where errors are clearly above the target at the last budget it lies further on, where they are clearly below it at
    the first further back, if there is anything further back, whatever the line says.
    """
    step = max(-2.0 * width, min(shift, 2.0 * width))
    if curve.mean[-1] - _CLEARLY * curve.standard_error[-1] > target:
        return max(step, width)
    if curve.mean[0] + _CLEARLY * curve.standard_error[0] < target and curve.budgets[0] > arms:
        return min(step, -width)
    return step if abs(step) > width else 0.0


def _window(center: float, width: float, arms: int) -> NDArray[np.int64]:
    """Return up to nine whole budgets of at least K, evenly spaced in their logarithms: at least three."""
    first = max(min(center * math.exp(-width), center - 2.0), float(arms))
    last = max(center * math.exp(width), center + 2.0, first + 2.0)
    return np.unique(np.round(np.geomspace(first, last, _LOOKS)).astype(np.int64))


def fit_crossing(budgets: NDArray[np.int64], errors: _Floats, target: float, center: float) -> Fit:
    """Fit a line to ln(mean errors) over ln(budget / center) and find where it meets ln target.

    ``errors`` has shape (draws, B). Each draw moves the fitted place by what its errors add to the means; the spread of
    these contributions gives the standard error (delta method), whatever the correlation between budgets.
    """
    draws = len(errors)
    x = np.log(budgets / center)
    mean = np.maximum(errors.mean(axis=0), 0.5 / draws)
    level, tilt = np.linalg.pinv(np.stack([np.ones_like(x), x], axis=1))
    intercept, slope = float(level @ np.log(mean)), float(tilt @ np.log(mean))
    if slope > _FLAT:
        return Fit(0.0, math.inf, slope, math.inf)
    shift = (math.log(target) - intercept) / slope
    contributions = (errors / mean - 1.0) @ (level + shift * tilt)
    relative_error = float(contributions.std(ddof=1)) / math.sqrt(draws)
    from scipy import special  # takes long to load, and plans that are computed do without

    quantile = float(special.stdtrit(draws - 1.0, 0.5 + CONFIDENCE / 2.0))
    return Fit(shift, quantile * relative_error / -slope, slope, relative_error)
