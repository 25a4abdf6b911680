"""Up to which budget, at which levels and with how many pulls of an arm a curve is computed."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.planning.computing.adding import Budget, FewCurve, Kind, Kinds, bins_of
from cutline.planning.computing.lattice import first_of_strides
from cutline.planning.computing.levels import (
    DEPTHS,
    FRESH,
    MOST_PULLS_OF_AN_ARM,
    TooDeepError,
    first_levels,
    levels_between,
    lowest_value,
    short_values,
)
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.passage import pass_levels
from cutline.planning.computing.sums import Sums
from cutline.policies import Policy

_Floats = NDArray[np.float64]

_BEYOND = 1.3  # times the pulls that it seems to take
_FIRST = 8  # pulls an arm, up to which a curve goes at least
_LIKELY = 1.4  # times the pulls that it takes if their sum does not vary
_COARSE_PLACES = 2**7
_LEAST_MORE, _MOST_MORE = 1.1, 4.0  # times the pulls, where a budget leaves too many errors
_ROUNDS = 2  # of levels between levels
_HARDLY_LEFT = 0.1
_DEEPEST_FOR_ALL = 2**13  # pulls of an arm, up to which levels are looked at that may be much too high
_HIGHER = 0.25  # of the level that fewer rows called high enough
_NO_ERRORS = 1e-12
_SHORTEST = 12  # pulls of the records all of whose indices are levels
_HARDLY = 3e-4  # of the target
_LEFT = 5e-4  # of the pulls, that arms may still have to take at the last row


class _Rows(NamedTuple):
    """By which policy arms pass levels, and with how many pulls an arm at most: those up to a budget are counted."""

    policy: Policy
    threshold: float
    budget: Budget
    depth: int

    @property
    def edges(self) -> NDArray[np.int64]:
        """The bins of the pulls of an arm."""
        return bins_of(self.depth)

    def passed(self, kind: Kind, levels: _Floats) -> Sums:
        """Return what the arms of a kind come to."""
        return pass_levels(self.policy, self.threshold, self.policy.parameters(), levels, FRESH, kind.nodes, self.edges)


def curve_of_kinds(
    kinds: Sequence[Kind], mixed: Nodes, policy: Policy, threshold: float, errors: float
) -> tuple[FewCurve, Kinds]:
    """Return the curve up to a budget where there are at most so many expected errors, or raise TooDeepError.

    And what arms come to at the levels that it is made of. ``mixed``: the means of all kinds; levels are looked for as
    if every arm's were drawn from these.
    """
    together = Kind(mixed, sum(kind.arms for kind in kinds))
    pulls, depth = _likely(policy, threshold, together, errors)
    least = _FIRST * together.arms
    while pulls <= MOST_PULLS_OF_AN_ARM * together.arms:
        rows = _Rows(policy, threshold, Budget.of(pulls, _COARSE_PLACES), DEPTHS[0])
        rows, levels, sums = _coarse(rows, together, errors, depth)
        curve = Kinds([together], [sums], rows.edges).curve(rows.budget)
        reached = np.flatnonzero(curve.errors <= errors)
        if reached.size:
            pulls = min(pulls, max(round(_BEYOND * curve.budgets[reached[0]]), least))
            rows = rows._replace(budget=Budget.of(pulls))
            levels, sums = _fine(rows, together, levels, sums)
            found = Kinds([together], [sums], rows.edges)
            if len(kinds) > 1:
                passed = [rows.passed(kind, levels) for kind in kinds]
                found = Kinds(kinds, passed, rows.edges, _separate(rows, levels))
            curve = found.whole_curve(pulls)
            if curve.errors.size and curve.errors[-1] <= errors:
                return curve, found
        more = curve.errors[-1] / errors if curve.errors.size else _MOST_MORE
        pulls = least = round(pulls * min(max(more, _LEAST_MORE), _MOST_MORE))
    raise TooDeepError(sums)


def _likely(policy: Policy, threshold: float, kind: Kind, errors: float) -> tuple[int, int]:
    """Return somewhat more pulls than it likely takes to come to so few errors, in all and of an arm at most."""
    for depth in DEPTHS:
        levels = first_levels(policy, threshold, 0, depth)
        edges = np.array([0, depth])
        sums = pass_levels(policy, threshold, policy.parameters(), levels, FRESH, kind.nodes, edges)
        reached = sums.errors <= errors
        place = int(np.argmax(reached))
        if reached.any() and (
            sums.left[place] * depth <= _HARDLY_LEFT * sums.pulls[place] or depth >= _DEEPEST_FOR_ALL
        ):
            return max(math.ceil(_LIKELY * sums.pulls[place]), _FIRST * kind.arms), depth
    raise TooDeepError(sums)


def _separate(rows: _Rows, levels: _Floats) -> int:
    """Return how many of the first levels are below all indices of records but the shortest: each is one index."""
    longer = lowest_value(rows.policy, rows.threshold, _SHORTEST + 1)
    return int(np.sum(levels < longer))


def _coarse(rows: _Rows, kind: Kind, errors: float, likely: int) -> tuple[_Rows, _Floats, Sums]:
    """Return rows and levels, the last of which is hardly ever passed within the budget, and what arms come to there.

    What few rows say is looked at first, so that many need not be gone through for levels that are much too high.
    """
    highest, budget = math.inf, rows.budget
    for depth in DEPTHS:
        if depth < likely and highest < math.inf:
            continue
        rows = rows._replace(depth=min(depth, budget.pulls))
        single = min(rows.depth, first_of_strides(rows.threshold))
        if single > _DEEPEST_FOR_ALL and highest == math.inf:
            break
        levels, sums, matters = _looked_at(rows, kind, highest, errors)
        for higher in (highest + _HIGHER * abs(highest), math.inf):
            if matters[-1] > _HARDLY and highest < math.inf and single <= _DEEPEST_FOR_ALL:
                levels, sums, matters = _looked_at(rows, kind, higher, errors)
        hardly = matters <= _HARDLY
        end = int(np.argmax(hardly)) + 1 if hardly.any() else levels.size
        highest = float(levels[end - 1]) if hardly.any() else math.inf
        seen = hardly.any() and np.all((matters * sums.left * rows.depth <= _LEFT * sums.pulls)[:end])
        if seen or rows.depth == budget.pulls:
            return rows, levels[:end], sums.at(np.arange(end))
    raise TooDeepError(sums)


def _looked_at(rows: _Rows, kind: Kind, highest: float, errors: float) -> tuple[_Floats, Sums, _Floats]:
    """Return levels, what arms come to there, and the errors still to gain within the budget, over the target."""
    levels = first_levels(rows.policy, rows.threshold, 0, rows.depth, few=True)
    levels = levels[levels <= highest]
    sums = rows.passed(kind, levels)
    found = Kinds([kind], [sums], rows.edges)
    matters = found.to_gain() * found.within(rows.budget) / errors
    return levels, sums, np.maximum.accumulate(matters[::-1])[::-1]  # without a pull there may be no errors at all


def _fine(rows: _Rows, kind: Kind, levels: _Floats, sums: Sums) -> tuple[_Floats, Sums]:
    """Return levels that are closer to each other, and what arms come to there."""
    values = short_values(rows.policy, rows.threshold)
    shortest = short_values(rows.policy, rows.threshold, _SHORTEST)
    for round_ in range(_ROUNDS):
        more = levels_between(levels, sums.pulls / np.maximum(sums.errors, _NO_ERRORS), values)
        if round_ == 0:
            more = np.union1d(more, np.setdiff1d(shortest[shortest < levels[-1]], levels))
        if not more.size:
            break
        order = np.argsort(np.concatenate([levels, more]))
        levels = np.concatenate([levels, more])[order]
        sums = sums.joined(rows.passed(kind, more), order)
    return levels, sums
