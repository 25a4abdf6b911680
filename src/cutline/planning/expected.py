"""Expected errors over the budget without any game: exact for many arms, with a correction for few.

At each of some hundred levels the expected pulls and errors of all arms are found (``passage``). For many arms the
budget at which the smallest index passes a level is the expected sum of pulls there, so these pairs are the curve.

For K arms with the same prior the sum varies. Pull n + 1 of an arm, made at a level, is the pull number n + 1 + S of
all, where S is what the other K - 1 arms have taken at that level: it is made if that is within the budget. The pulls
of one arm have a known distribution, so that of S is a product of Fourier transforms. Adding up over all pulls of an
arm, with what each does to the expected errors, gives those at every budget. At ties the arm with the lowest number
comes first.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.defaults import POLICY
from cutline.errors import InvalidInputError
from cutline.planning.beliefs import Beliefs, Guess
from cutline.planning.exact import UniformErrors
from cutline.planning.nodes import Nodes
from cutline.planning.passage import Sources, Sums, pass_levels
from cutline.policies import Policy
from cutline.policies.policy import LearningPolicy, Parameters
from cutline.problem import Problem
from cutline.simulation.checks import check_policies
from cutline.threshold import check_threshold

_Floats = NDArray[np.float64]

MOST_PULLS_OF_AN_ARM = 2**14
"""Records with more pulls than that are not looked at: where arms come to them, games must be played."""

_DEPTHS = tuple(2**power for power in range(8, 15))  # to go through rows takes the longer, the wider they are
_STEP = 1.06  # from one level to the next, in the pulls of an arm on the threshold
_FINE = 1.04  # in expected pulls: levels are put between two that are further apart
_BETWEEN = 4
_SHORT = 32  # pulls
_ROUNDS = 3
_ENOUGH = 100  # arms; see docs/planning.md and benchmarks/planning.py
_MANY = 5000  # arms
_COARSE = 0.4  # of the spread of an arm's pulls: how many stand at one place of the transforms for few arms
_MOST_PLACES = 2**14
_NOTHING = 1e-25
_LOST = 2e-3  # of the pulls at a budget
_FURTHER_ON = 12.0  # over the root of the number of arms: how much further on levels matter to few of them
_TAIL = 2e-4  # of the pulls, that arms may still have to take at the last row
_SHARES = 0.5 - math.sqrt(1.0 / 12.0), 0.5 + math.sqrt(1.0 / 12.0)  # Gauss's two places in (0, 1)


class TooDeepError(Exception):
    """Arms take more pulls than can be looked at before the errors are so few; ``sums`` go as far as they can."""

    def __init__(self, sums: Sums) -> None:
        super().__init__()
        self.sums = sums


@dataclass(frozen=True, eq=False)
class ExpectedCurve:
    """Expected errors of a policy over the budget, found without a game.

    ``budgets``, increasing from K on or above, and ``errors``, at them, have shape (B,). ``deviation``, (B,): the
    standard deviation of the sum of pulls at the level that the budget stands for, if the means of all arms are drawn
    from one prior; it says how much the curve of a single game lies to the left or right of this one.
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

    ``guess``: the means, or ``Beliefs``, as for ``plan``. For many arms the curve is exact. That the pulls of few vary
    in sum is counted where all means are drawn from one prior; else the curve has corners where theirs is smooth.
    Raises InvalidInputError for what is out of range, for a policy that must be told the budget or the true means, and
    where an arm would need more than 16,384 pulls.
    """
    limit = check_threshold(threshold)
    known: Guess = guess if isinstance(guess, Beliefs) else Problem(guess, limit)
    (chosen,) = check_policies(policy)
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
    """Say whether the curve of a guess is good to 0.5 %: there are enough arms, fewer if their means have one prior."""
    return guess.arms >= (_ENOUGH if _alike(guess) else _MANY)


def _alike(guess: Guess) -> bool:
    return isinstance(guess, Beliefs) and guess.all_alike


def curve_of(guess: Guess, uniform: UniformErrors, threshold: float, policy: Policy, errors: float) -> ExpectedCurve:
    """Return the curve of a guess from the budget K on; raise TooDeepError."""
    nodes = Nodes.of(uniform.means, uniform.masses, threshold)
    fresh = Sources(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1))
    arms = guess.arms
    few = _alike(guess) and arms <= _MANY
    further_on = 1.1 + _FURTHER_ON / math.sqrt(arms) if few else 1.0
    levels, sums, depth = passed_until(policy, threshold, fresh, nodes, errors, further_on)
    deviation = np.sqrt(np.maximum(sums.squares - sums.pulls**2 / arms, 0.0))
    budgets, expected = sums.pulls, sums.errors
    if few:
        spread = float(deviation[np.argmax(sums.errors <= errors)]) / math.sqrt(arms)  # of the pulls of an arm
        unit = max(1, int(_COARSE * spread), math.ceil(sums.pulls[-1] / _MOST_PLACES))
        places = 2 ** math.ceil(math.log2(sums.pulls[-1] / unit + 2.0))
        bins = np.minimum(np.arange(depth + 1) // unit, places)
        fine = pass_levels(policy, threshold, policy.parameters(), levels, fresh, nodes, bins)
        budgets, expected = _for_few(fine, arms, unit, places)
        rates = np.diff(budgets, prepend=0.0) / unit
        end = int(np.flatnonzero(rates > 1.0 - _LOST)[-1]) + 1  # beyond, pulls are made at levels that are not there
        budgets, expected = budgets[:end], expected[:end]
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


def passed_until(
    policy: Policy, threshold: float, sources: Sources, nodes: Nodes, errors: float, further_on: float = 1.0
) -> tuple[_Floats, Sums, int]:
    """Return levels and what arms come to there, up to where there are at most so many errors; raise TooDeepError.

    ``further_on``: up to where they have so many times the pulls of that.
    """
    parameters = policy.parameters()
    values = _values(policy, threshold, parameters, _SHORT)
    for further in _DEPTHS:
        depth = int(sources.pulls[-1]) + further
        bins = np.zeros(depth + 1, np.int64)
        levels, more = np.empty(0), _first_levels(policy, threshold, parameters, int(sources.pulls[0]), depth)
        sums = Sums.zeros(0, 1)
        for round_ in range(_ROUNDS + 1):
            passed = pass_levels(policy, threshold, parameters, more, sources, nodes, bins)
            order = np.argsort(np.concatenate([levels, more]))
            levels, sums = np.concatenate([levels, more])[order], sums.joined(passed, order)
            good = np.logical_and.accumulate(sums.left * depth <= _TAIL * sums.pulls)
            enough = good & (sums.errors <= errors)
            enough &= sums.pulls >= further_on * sums.pulls[np.argmax(enough)]
            if not enough.any():
                break
            end = min(int(np.argmax(enough)) + 2, int(good.sum()))
            levels, sums = levels[:end], sums.at(np.arange(end))
            more = _between(levels, sums.pulls, values)
            if round_ == _ROUNDS or not more.size:
                return levels, sums, depth
    raise TooDeepError(sums.at(np.flatnonzero(good)))


def _first_levels(policy: Policy, threshold: float, parameters: Parameters, first: int, depth: int) -> _Floats:
    """Return the levels at which arms on the threshold come to have more and more pulls.

    Beyond them, those at which arms half a deviation from it do: an index can be lowest at the threshold by so much
    that arms leave it long before.
    """
    forced = int(policy.pulls_each_arm_first)
    found = [-math.inf]  # where nothing but the first pull of each arm has been made
    beyond = []
    n = float(max(first, forced))
    while n <= depth:
        pulls = float(round(n))
        nearest = math.floor(threshold * pulls)
        totals = {min(max(nearest + step, 0.0), pulls) for step in (-1.0, 0.0, 1.0, 2.0)}
        found.append(min(policy.index(pulls, total, threshold, *parameters) for total in totals))
        farther = min(nearest + math.ceil(math.sqrt(pulls) / 4.0), pulls)
        beyond.append(policy.index(pulls, farther, threshold, *parameters))
        n = max(n * _STEP, n + 1.0)
    return np.unique(np.maximum.accumulate(np.array([*found, *beyond])))


def _values(policy: Policy, threshold: float, parameters: Parameters, pulls: int) -> _Floats:
    """Return the different indices of the records with at most so many pulls: no other levels differ for these."""
    first = int(policy.pulls_each_arm_first)
    records = ((float(n), float(total)) for n in range(first, pulls + 1) for total in range(n + 1))
    return np.unique([policy.index(n, total, threshold, *parameters) for n, total in records])


def _between(levels: _Floats, pulls: _Floats, values: _Floats) -> _Floats:
    """Return levels between those of which one is far from the next, at indices of short records if there are."""
    more = [np.empty(0)]
    for place in np.flatnonzero(pulls[1:] > _FINE * pulls[:-1]):
        low, high = levels[place : place + 2]
        inside = values[(values > low) & (values < high)]
        if inside.size:
            more.append(inside[np.unique(np.linspace(0, inside.size - 1, _BETWEEN).astype(np.int64))])
        elif np.isfinite(low):
            more.append(np.setdiff1d(np.linspace(low, high, _BETWEEN + 2)[1:-1], [low, high]))
    return np.unique(np.concatenate(more))


def _for_few(sums: Sums, arms: int, unit: int, places: int) -> tuple[_Floats, _Floats]:
    """Return budgets and expected errors of K arms whose means are drawn from one prior.

    The bins of the sums have ``unit`` pulls each. Terms are made smaller the further on they stand, so that sums beyond
    the last place of the transform, which come back at its beginning, do not count there.
    """
    smaller = 10.0 ** (-10.0 * np.arange(places) / places)[:, None]
    more = sums.taken[:places] / (arms * unit)  # the probability that an arm has more pulls than a bin says
    one = np.fft.rfft(-np.diff(more, axis=0, prepend=1.0) * smaller[: len(more)], places, axis=0)
    before = np.concatenate([np.ones((len(one), 1)), one[:, :-1]], axis=1)
    others = sum(0.5 * _power(before + share * (one - before), arms - 1) for share in _SHARES)
    budgets, change = (
        np.cumsum(np.fft.irfft(np.sum(np.fft.rfft(part, places, axis=0) * others, axis=1), places) / smaller[:, 0])
        for part in (
            np.diff(each[:places], axis=1, prepend=0.0) * smaller[: len(more)] for each in (sums.taken, sums.gains)
        )
    )
    return budgets, float(sums.errors[0] - sums.gains[:, 0].sum()) + change


def _power(transform: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Return a power of each number of a transform; what is below 1e-25 counts as 0, which at most places it is."""
    if exponent < 2:
        return transform**exponent
    size = transform.real**2 + transform.imag**2
    matters = size > _NOTHING ** (2.0 / exponent)
    powers = np.zeros_like(transform)
    powers[matters] = transform[matters] ** exponent
    return powers
