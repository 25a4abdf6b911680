"""What a plan computes instead of simulating: the smallest budget by the expected curve, where that is good enough."""

import math

import numpy as np

from cutline.planning.beliefs import Guess
from cutline.planning.exact import UniformErrors
from cutline.planning.expected import ExpectedCurve, TooDeepError, can_be_expected, curve_of, is_good
from cutline.planning.search import Curve, Found
from cutline.policies import Policy

GOOD = 0.005
"""How far a budget that is computed may be from the true one, as a share of it: see docs/planning.md."""

_SHOWN, _BEYOND = 100, 1.3  # budgets of a computed curve, and how far beyond the target it goes


def computed(guess: Guess, uniform: UniformErrors, threshold: float, policy: Policy, target: float) -> Found | None:
    """Return what is found without a game, or None where that is not good to 0.5 %."""
    if not (can_be_expected(policy) and is_good(guess)):
        return None
    try:
        curve = curve_of(guess, uniform, threshold, policy, target)
    except TooDeepError:
        return None
    budget = curve.budget(target)
    if budget is None:
        return None
    if budget <= guess.arms:
        low = high = budget = guess.arms
    else:
        low, high = math.floor(budget * (1.0 - GOOD)), math.ceil(budget * (1.0 + GOOD))
    return Found(budget, low, high, curve.at(budget), 0.0, 0, _thinned(curve, budget))


def _thinned(curve: ExpectedCurve, budget: int) -> Curve:
    """Return the curve at some whole budgets, up to somewhat beyond the one that was looked for."""
    last = min(float(curve.budgets[-1]), _BEYOND * budget)
    budgets = np.unique(np.round(np.geomspace(curve.budgets[0], last, _SHOWN)).astype(np.int64))
    return Curve(budgets, np.interp(budgets, curve.budgets, curve.errors), np.zeros(budgets.size))
