"""Expected errors over the budget without any game.

At each of some hundred levels the expected pulls and errors of all arms are found (``passage``). For many arms the
budget at which the smallest index passes a level is the expected sum of pulls there, so these pairs are the curve. How
the sum varies matters for few (``few``), and, if less, for some more whose means have one prior: for them levels are
taken up to some way beyond the target, and arms at ties in two of Gauss's places.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.checks import check_positive
from cutline.defaults import POLICY
from cutline.errors import InvalidInputError
from cutline.planning.adding import Kind, power
from cutline.planning.beliefs import Beliefs, Guess
from cutline.planning.exact import UniformErrors
from cutline.planning.few import curve_of_few
from cutline.planning.levels import FRESH, MOST_PULLS_OF_AN_ARM, TooDeepError, passed_until
from cutline.planning.nodes import Nodes
from cutline.planning.passage import Sums, pass_levels
from cutline.policies import Policy
from cutline.policies.policy import LearningPolicy
from cutline.problem import Problem
from cutline.simulation.checks import check_policies
from cutline.threshold import check_threshold

_Floats = NDArray[np.float64]

_ENOUGH, _LEAST, _FEW, _MANY = 100, 20, 250, 5000  # arms; see docs/planning.md and benchmarks/planning.py
_LEAST_SHARE = 0.02  # of few arms that differ may be wrong
_KINDS = 12  # in which arms that differ are taken together
_COARSE = 0.4  # of the spread of an arm's pulls: how many stand at one place of the transforms
_MOST_PLACES = 2**14
_LOST = 2e-3  # of the pulls at a budget
_FURTHER_ON = 12.0  # over the root of the number of arms: how much further on levels matter
_SHARES = 0.5 - math.sqrt(1.0 / 12.0), 0.5 + math.sqrt(1.0 / 12.0)  # Gauss's two places in (0, 1)


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
    drawn from one prior, for 20 to 250 arms of which 2 % may be wrong, and for at least 5,000; for fewer that differ
    it is not sure which comes first at ties, for others the curve has corners where theirs is smooth.
    Raises InvalidInputError for what is out of range, for a policy that must be told the budget or the true means, and
    where an arm would need more than 32,768 pulls.
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


def is_good(guess: Guess, errors: float) -> bool:
    """Say whether the curve of a guess is good to 0.5 %: arms are few or many, or their means have one prior.

    Few whose means differ are taken together in groups. Where hardly any of them may be wrong, only the next to the
    threshold count, which have no group of their own.
    """
    if _alike(guess) or guess.arms >= _MANY:
        return True
    return _LEAST <= guess.arms <= _FEW and errors >= _LEAST_SHARE * guess.arms


def _alike(guess: Guess) -> bool:
    return isinstance(guess, Beliefs) and guess.all_alike


def curve_of(guess: Guess, uniform: UniformErrors, threshold: float, policy: Policy, errors: float) -> ExpectedCurve:
    """Return the curve of a guess from the budget K on; raise TooDeepError."""
    mixed = Nodes.of(uniform.means, uniform.masses, threshold)
    arms = guess.arms
    if arms < _ENOUGH or (arms <= _FEW and not _alike(guess)):
        groups = uniform.groups(_KINDS)
        kinds = [Kind(Nodes.of(means, masses, threshold), round(float(masses.sum()))) for means, masses in groups]
        curve, found = curve_of_few(kinds, mixed, policy, threshold, errors)
        (budgets, expected), sums, deviation = curve, found.sums, found.deviation()
    else:
        budgets, expected, sums = _of_many(arms, mixed, policy, threshold, errors, arms <= _MANY and _alike(guess))
        deviation = np.sqrt(np.maximum(sums.squares - sums.pulls**2 / arms, 0.0))
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


def _of_many(
    arms: int, nodes: Nodes, policy: Policy, threshold: float, errors: float, varies: bool
) -> tuple[_Floats, _Floats, Sums]:
    """Return budgets, expected errors and what arms come to at levels; ``varies``: that the sum of pulls does."""
    further_on = 1.1 + _FURTHER_ON / math.sqrt(arms) if varies else 1.0
    levels, sums, depth = passed_until(policy, threshold, FRESH, nodes, errors, further_on)
    if not varies:
        return sums.pulls, sums.errors, sums
    variance = np.maximum(sums.squares - sums.pulls**2 / arms, 0.0)
    spread = math.sqrt(float(variance[np.argmax(sums.errors <= errors)]) / arms)  # of the pulls of an arm
    unit = max(1, int(_COARSE * spread), math.ceil(sums.pulls[-1] / _MOST_PLACES))
    places = 2 ** math.ceil(math.log2(sums.pulls[-1] / unit + 2.0))
    bins = np.minimum(np.arange(depth + 1) // unit, places)
    fine = pass_levels(policy, threshold, policy.parameters(), levels, FRESH, nodes, bins)
    budgets, expected = _that_vary(fine, arms, unit, places)
    rates = np.diff(budgets, prepend=0.0) / unit
    end = int(np.flatnonzero(rates > 1.0 - _LOST)[-1]) + 1  # beyond, pulls are made at levels that are not there
    return budgets[:end], expected[:end], sums


def _that_vary(sums: Sums, arms: int, unit: int, places: int) -> tuple[_Floats, _Floats]:
    """Return budgets and expected errors of K arms whose means are drawn from one prior.

    The bins of the sums have ``unit`` pulls each. Terms are made smaller the further on they stand, so that sums beyond
    the last place of the transform, which come back at its beginning, do not count there.
    """
    smaller = 10.0 ** (-10.0 * np.arange(places) / places)[:, None]
    more = sums.taken[:places] / (arms * unit)  # the probability that an arm has more pulls than a bin says
    one = np.fft.rfft(-np.diff(more, axis=0, prepend=1.0) * smaller[: len(more)], places, axis=0)
    before = np.concatenate([np.ones((len(one), 1)), one[:, :-1]], axis=1)
    others = sum(0.5 * power(before + share * (one - before), arms - 1) for share in _SHARES)
    budgets, change = (
        np.cumsum(np.fft.irfft(np.sum(np.fft.rfft(part, places, axis=0) * others, axis=1), places) / smaller[:, 0])
        for part in (
            np.diff(each[:places], axis=1, prepend=0.0) * smaller[: len(more)] for each in (sums.taken, sums.gains)
        )
    )
    return budgets, float(sums.errors[0] - sums.gains[:, 0].sum()) + change
