"""The arithmetic of a campaign: rewards as whole numbers, the index with pulls in flight, the probability of error.

Rewards are kept as whole billionths, and probabilities of error as whole 10^-12ths. Sums of whole numbers do not
depend on the order in which they are added up, nor on the database, and a running sum never drifts.
"""

import math
import sys
from fractions import Fraction
from functools import lru_cache
from typing import Any

from cutline.campaign.checks import check_reward
from cutline.campaign.settings import Settings
from cutline.errors import InvalidInputError
from cutline.threshold import is_above

UNIT = 10**9
"""A reward of 1 in the units in which rewards are kept."""

DOUBT = 10**12
"""A probability of 1 in the units in which probabilities of error are kept."""

FIRST = -math.inf
"""Index of an arm that comes before all others: the policy pulls each arm once to begin with."""

_RECORDS = 10_000

CLOSED = math.inf
"""Index of an arm that has, or will have with what is in flight, as many results as it may have."""


def to_units(reward: Any) -> int:
    """Return a reward in billionths; raise InvalidInputError unless it is a boolean or a number in [0, 1]."""
    return round(check_reward(reward) * UNIT)


def written(units: int) -> str:
    """Write a reward for a message: 1, not 1.0."""
    return f"{units / UNIT:.9g}"


class Arithmetic:
    """Index, decision and probability of error of an arm's record under a campaign's settings; totals in billionths."""

    def __init__(self, settings: Settings) -> None:
        policy = settings.policy
        self.threshold = settings.threshold
        self._policy = policy
        self._policy_index = policy.index
        self._parameters = policy.parameters()
        self._first = policy.pulls_each_arm_first
        self._most = settings.max_pulls_per_arm or sys.maxsize
        self._prior = settings.prior
        self._above, self._below = Fraction(repr(settings.threshold)).as_integer_ratio()
        # many arms have one record, above all at the beginning
        self.index = lru_cache(_RECORDS)(self._index)
        self.doubt = lru_cache(_RECORDS)(self._doubt)

    def has_room(self, pulls: int, in_flight: int) -> bool:
        """Whether an arm may have one more result."""
        return pulls + in_flight < self._most

    def _index(self, pulls: int, total: int, in_flight: int) -> float:
        """Return the policy's index, pulls in flight counted as if they will repeat the arm's mean.

        While the arm has no rewards they count as the threshold. FIRST and CLOSED see above.
        """
        expected = pulls + in_flight
        if expected >= self._most:
            return CLOSED
        if expected == 0 and self._first:
            return FIRST
        if in_flight == 0:
            reward = total / UNIT
        elif pulls:
            reward = total * expected / (pulls * UNIT)
        else:
            reward = self._above * in_flight / self._below
        try:
            value = float(self._policy_index(float(expected), reward, self.threshold, *self._parameters))
        except Exception as error:  # a policy from elsewhere may raise anything
            what = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise InvalidInputError(
                f"the index of policy {self._policy} must be a number for every record; with {expected} pulls, total "
                f"{reward:.9g} and threshold {self.threshold} it fails with {what}"
            ) from error
        # CLOSED is not for a policy to say, and no database keeps NaN, which overflow makes of extreme parameters
        return min(value, sys.float_info.max) if value == value else sys.float_info.max

    def is_above(self, pulls: int, total: int) -> bool:
        """Whether the mean is at or above the threshold, free of rounding: both numbers are whole."""
        return is_above(pulls * UNIT, total, self.threshold)

    def wrong(self, pulls: int, total: int) -> float:
        """Return the probability that the decision is wrong, by the Beta posterior of the arm's mean.

        With b fractional rewards count in parts for and against. Without rewards the likelier side is taken.
        """
        from scipy.special import betainc, betaincc  # SciPy takes longer to load than an ask, which has no need of it

        a = self._prior[0] + total / UNIT
        b = self._prior[1] + (pulls * UNIT - total) / UNIT
        if pulls == 0:
            return float(min(betainc(a, b, self.threshold), betaincc(a, b, self.threshold)))
        tail = betainc if self.is_above(pulls, total) else betaincc
        return float(tail(a, b, self.threshold))

    def _doubt(self, pulls: int, total: int) -> int:
        """Return ``wrong`` in whole 10^-12ths."""
        return round(self.wrong(pulls, total) * DOUBT)
