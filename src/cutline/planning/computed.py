"""What a plan computes instead of simulating: the smallest budget by the expected curve, where there is one."""

import math
from collections.abc import Callable

import numpy as np

from cutline.planning.beliefs import Guess
from cutline.planning.computing.exact import UniformErrors
from cutline.planning.computing.expected import can_be_expected, curve_of, is_good
from cutline.planning.computing.levels import TooDeepError
from cutline.planning.search import Curve, Found
from cutline.policies import Policy
from cutline.policies.uniform import Uniform

GOOD = 0.005
"""How far a budget that is computed may be from the true one, as a share of it: see docs/planning.md."""

_SHOWN, _BEYOND = 100, 1.3  # budgets of a computed curve, and how far beyond the target it goes


def computed(guess: Guess, uniform: UniformErrors, threshold: float, policy: Policy, target: float) -> Found | None:
    """Return what is found without a game, or None where that is not good to 0.5 %."""
    if not can_be_expected(policy):
        return None
    if isinstance(policy, Uniform):
        budget = uniform.budget(target)
        return None if budget is None else _found(guess.arms, budget, math.inf, uniform.at)
    if not is_good(guess):
        return None
    try:
        curve = curve_of(guess, uniform, threshold, policy, target)
    except TooDeepError:
        return None
    budget = curve.budget(target)
    return None if budget is None else _found(guess.arms, budget, float(curve.budgets[-1]), curve.at)


def _found(arms: int, budget: int, last: float, errors_at: Callable[[int], float]) -> Found:
    """Return what is found at a budget, with a curve up to somewhat beyond it, but not beyond the ``last`` budget."""
    low, high = max(math.floor(budget * (1.0 - GOOD)), arms), math.ceil(budget * (1.0 + GOOD))
    if budget == arms:
        high = arms
    shown = np.unique(np.round(np.geomspace(arms, min(last, _BEYOND * budget), _SHOWN)).astype(np.int64))
    errors = np.array([errors_at(int(at)) for at in shown])
    return Found(budget, low, high, errors_at(budget), 0.0, 0, Curve(shown, errors, np.zeros(shown.size)))
