"""Bayes: a policy that learns the prior of the means from all records, and pulls where that prior says it pays most.

An arm's index is minus the logarithm of its critical cost under the prior (``beliefs/critical_costs.py``): of the
highest cost of a pull at which pulling the arm on pays, if an error costs 1. Lai's index is the same for a prior that
knows nothing. At each refit the prior is learnt anew from all records (``beliefs/prior.py``), and a table of the
critical costs of all records of up to ``DEPTH`` pulls is made.

Beyond the table an index is Lai's, shifted by what the table's last row differs from Lai's index at the same mean. Both
are counted from where the posterior is even: the prior moves that place away from the threshold by a number of rewards
that does not depend on the pulls.

A total between two whole numbers has an index between theirs, and counts in learning as that part of an arm at each.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutline.policies.lai import lai_index
from cutline.policies.policy import LearningPolicy, Learnt, Tally, settle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 128
"""The most pulls of a record in the table."""

_SHIFTS = (DEPTH + 1) * (DEPTH + 2) // 2  # where in the table they begin
_EVEN = _SHIFTS + DEPTH + 1  # the last item: by how many rewards a record with even odds is above the threshold
_STRAY = 1e-6


def bayes_index(pulls: float, total: float, threshold: float, table: "NDArray[np.float64]") -> float:
    """Return -ln c*, c* the critical cost of the record, which the table has up to ``DEPTH`` pulls."""
    if pulls <= DEPTH:
        n = int(pulls)
        return between(table, n * (n + 1) // 2, total)
    even = float(table[_EVEN])
    moved = min(max(total - even, 0.0), pulls)
    place = min(max(moved * DEPTH / pulls + even, 0.0), float(DEPTH))
    return settle(lai_index(pulls, moved, threshold) + between(table, _SHIFTS, place))


def between(table: "NDArray[np.float64]", first: int, place: float) -> float:
    """Return the item ``place`` behind the first, for a place between two items what is between them."""
    whole = int(place)
    share = place - whole
    item = float(table[first + whole])
    return item + share * (float(table[first + whole + 1]) - item) if share > 0.0 else item


@dataclass(frozen=True)
class Bayes(LearningPolicy):
    """It learns a prior of the means from all arms, and pulls the arm whose next pulls that prior values most.

    Source: Hu, Frazier: Bayes-optimal effort allocation in crowdsourcing, AISTATS 2016; the prior is learnt as in
    Robbins: An empirical Bayes approach to statistics, 1956.
    """

    name = "Bayes"
    formula = "-ln(c), c the highest cost of a pull at which pulling on pays under the prior learnt from all arms"
    source = "Hu, Frazier: Bayes-optimal effort allocation in crowdsourcing: bounds and index policies, AISTATS 2016"

    index = staticmethod(bayes_index)

    def next_refit(self, arms: int, spent: int) -> int:
        """Return the first of K, 9/8 K, 5/4 K, 3/2 K, 2 K, 3 K, 4 K, 6 K, 8 K, 12 K, ... above ``spent``.

        A single round tells nothing of how far means are apart, so those that come soon after are worth a refit.
        """
        for early in (arms, arms + arms // 8, arms + arms // 4, arms + arms // 2):
            if early > spent:
                return early
        rounds = spent // arms + 1
        power = 1 << (rounds - 1).bit_length()
        return arms * (3 * power // 4 if power >= 4 and rounds <= 3 * power // 4 else power)

    def learn(self, records: Tally, threshold: float) -> Learnt:
        """Return the masses of the prior that is learnt from the records."""
        import numpy as np

        from cutline.beliefs.prior import Prior

        low = np.floor(records.totals)
        share = records.totals - low
        part = share > 0.0
        pulls = np.append(records.pulls, records.pulls[part])
        arms = np.append(records.arms * (1.0 - share), (records.arms * share)[part])
        return tuple(Prior.learn(pulls, np.append(low, low[part] + 1.0), arms).masses.tolist())

    def table(self, learnt: Learnt, threshold: float) -> "NDArray[np.float64]":
        """Return the indices of all records of up to ``DEPTH`` pulls, the shifts, and where the odds are even.

        One arm in a million is taken to be unlike all others, so that there is no record that cannot be.
        """
        import numpy as np

        from cutline.beliefs.critical_costs import indices, level
        from cutline.beliefs.prior import Prior

        prior = Prior((1.0 - _STRAY) * np.array(learnt) + _STRAY * Prior.beta(1.0, 1.0).masses)
        found = indices(prior, threshold, DEPTH)
        edge = level(prior, threshold, DEPTH)
        totals = np.arange(DEPTH + 1.0)
        odds = np.log(np.maximum(edge.above, 1e-300)) - np.log(np.maximum(edge.below, 1e-300))
        even = float(np.interp(0.0, odds, totals)) - threshold * DEPTH
        moved = np.clip(totals - even, 0.0, DEPTH).tolist()
        lai = [lai_index(float(DEPTH), total, threshold) for total in moved]
        return np.concatenate([found, found[-DEPTH - 1 :] - lai, [even]])
