"""Expected errors over the budget without any game.

At each of some hundred levels the expected errors of an arm are found, and how its pulls are distributed (``passage``).
How the pulls of all arms add up then says what is to be expected at every budget (``adding``, ``climb``).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.checks import check_positive
from cutline.defaults import POLICY
from cutline.errors import InvalidInputError
from cutline.planning.beliefs import Beliefs, Guess
from cutline.planning.computing.adding import Kind
from cutline.planning.computing.climb import curve_of_kinds
from cutline.planning.computing.exact import UniformErrors
from cutline.planning.computing.levels import MOST_PULLS_OF_AN_ARM, TooDeepError
from cutline.planning.computing.nodes import Nodes
from cutline.policies import Policy
from cutline.policies.policy import LearningPolicy
from cutline.problem import Problem
from cutline.simulation.checks import check_policies
from cutline.threshold import check_threshold

_Floats = NDArray[np.float64]

_LEAST = 10  # arms that differ; see docs/planning.md and benchmarks/planning.py
_MOST_GROUPS = 24  # that arms that differ are taken together in: as many, where few arms decide
_GROUPS_AT_ONE_ERROR = 60  # and the fewer, the more errors are left


@dataclass(frozen=True, eq=False)
class ExpectedCurve:
    """Expected errors of a policy over the budget, found without a game.

    ``budgets``, increasing from K on or above, and ``errors``, at them, have shape (B,). ``deviation``, (B,): the
    standard deviation of the sum of pulls at the level that the budget stands for; it says how much the curve of a
    single game lies to the left or right of this one.
    """

    policy: str
    arms: int
    threshold: float
    budgets: _Floats
    errors: _Floats
    deviation: _Floats

    def at(self, budget: float) -> float:
        """Return the expected errors at a budget; NaN outside of the curve."""
        return float(np.interp(budget, self.budgets, self.errors, left=math.nan, right=math.nan))

    def budget(self, errors: float) -> int | None:
        """Return the smallest budget with at most so many expected errors, None if the curve does not come to it."""
        below = np.flatnonzero(self.errors <= errors)
        if not below.size:
            return None
        place = int(below[0])
        if place == 0:
            return math.ceil(float(self.budgets[0]))
        share = (self.errors[place - 1] - errors) / (self.errors[place - 1] - self.errors[place])
        return math.ceil(float(self.budgets[place - 1] + share * (self.budgets[place] - self.budgets[place - 1])))


def expected_curve(
    guess: Beliefs | ArrayLike, threshold: float = 0.5, policy: Policy | str = POLICY, *, errors: float
) -> ExpectedCurve:
    """Return the expected errors of a policy over the budget, down to where they are ``errors``, without any game.

    ``guess``: the means, or ``Beliefs``, as for ``plan``. The curve is good to 0.5 % of the budget where all means are
    drawn from one prior, and for at least 10 arms that differ; for fewer it is not sure whose turn is first where two
    indices are nearly equal. Raises InvalidInputError for what is out of range, for a policy that must be told the
    budget or the true means, and where an arm would need more than 16,777,216 pulls.
    """
    limit = check_threshold(threshold)
    known: Guess = guess if isinstance(guess, Beliefs) else Problem(guess, limit)
    (chosen,) = check_policies(policy)
    errors = check_positive("errors", errors)
    if not can_be_expected(chosen):
        raise InvalidInputError(f"{chosen} must be told the budget or the true means; its errors need simulated games")
    try:
        return curve_of(known, UniformErrors(known, limit), limit, chosen, errors)
    except TooDeepError:
        raise InvalidInputError(
            f"{errors:g} expected errors are too few: {chosen} pulls some arms more than {MOST_PULLS_OF_AN_ARM:,} "
            "times before; cutline.plan simulates games instead"
        ) from None


def can_be_expected(policy: Policy) -> bool:
    """Say whether a policy's index is one table for all arms and budgets."""
    return policy.anytime and not policy.needs_truth and not isinstance(policy, LearningPolicy)


def is_good(guess: Guess) -> bool:
    """Say whether the curve of a guess is good to 0.5 %: arms are not few, or their means have one prior."""
    return guess.arms >= _LEAST or (isinstance(guess, Beliefs) and guess.all_alike)


def curve_of(guess: Guess, uniform: UniformErrors, threshold: float, policy: Policy, errors: float) -> ExpectedCurve:
    """Return the curve of a guess from the budget K on; raise TooDeepError."""
    mixed = Nodes.of(uniform.means, uniform.masses, threshold)
    arms = guess.arms
    groups = uniform.groups(min(_MOST_GROUPS, math.ceil(_GROUPS_AT_ONE_ERROR / errors)), errors)
    kinds = [Kind(Nodes.of(means, masses, threshold), round(float(masses.sum()))) for means, masses in groups]
    curve, found = curve_of_kinds(kinds, mixed, policy, threshold, errors)
    (budgets, expected), sums, deviation = curve, found.sums, found.deviation()
    grows = np.diff(np.maximum.accumulate(budgets), prepend=0.0) > 1e-9 * arms
    at = np.append(arms, budgets[grows & (budgets > (1.0 + 1e-9) * arms)])
    return ExpectedCurve(
        policy=str(policy),
        arms=arms,
        threshold=threshold,
        budgets=at,
        errors=np.interp(at, budgets[grows], expected[grows]),
        deviation=np.interp(at, sums.pulls, deviation),
    )
