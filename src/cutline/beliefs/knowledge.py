"""What is known of the arms of a campaign beside their records: the prior of their means, and how rewards spread."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc

from cutline.beliefs.caution import caution
from cutline.beliefs.coins import coins, learn_spread
from cutline.beliefs.forecast import pulls_between
from cutline.beliefs.intervals import Floats
from cutline.beliefs.prior import MEANS, Prior

_MOST_RECORDS = 2_000
_PIECE = 10_000


@dataclass(frozen=True)
class Beta:
    """A Beta(a, b) prior of an arm's mean, for a, b > 0."""

    a: float
    b: float

    def sides(self, pulls: Floats, totals: Floats, threshold: float) -> tuple[Floats, Floats]:
        """Return the probabilities that the mean of an arm with such a record is below and above, shape (R,)."""
        a, b = self.a + totals, self.b + (pulls - totals)
        return betainc(a, b, threshold), betaincc(a, b, threshold)


@dataclass(frozen=True)
class Knowledge:
    """A prior of an arm's mean, and the share of the variance of coins that rewards have; see ``coins``.

    Expected errors are multiplied by ``caution`` before they are held against a target; see ``caution.caution``. It is
    None if there was no target when this was learnt.
    """

    prior: Beta | Prior
    spread: float = 1.0
    caution: float | None = None

    @classmethod
    def learn(
        cls,
        pulls: ArrayLike,
        totals: ArrayLike,
        squares: ArrayLike,
        arms: ArrayLike,
        aims_at: float | None = None,
    ) -> Self:
        """Return what is learnt from records: ``arms`` of them, arrays (R,), have these pulls, totals and squares.

        ``aims_at``: the threshold, if there is a target of expected errors, for which caution is learnt.

        Of more than two thousand records, so many are looked at, spread evenly over the arms in order of pulls and
        total, each for an equal part of the arms.
        """
        n, total, square, count = (np.asarray(item, np.float64) for item in (pulls, totals, squares, arms))
        if n.size > _MOST_RECORDS:
            order = np.lexsort((square, total, n))
            ends = np.cumsum(count[order])
            middles = (np.arange(_MOST_RECORDS) + 0.5) * (ends[-1] / _MOST_RECORDS)
            chosen = order[np.searchsorted(ends, middles)]
            n, total, square = n[chosen], total[chosen], square[chosen]
            count = np.full(_MOST_RECORDS, ends[-1] / _MOST_RECORDS)
        spread = learn_spread(n, total, square, count)
        n, total = coins(n, total, square, spread)
        prior = Prior.learn(n, total, count)
        if aims_at is None:
            return cls(prior, spread)
        below, above = prior.sides(n, total, aims_at)
        return cls(prior, spread, caution(n, total, count, above >= below, aims_at))

    def sides(self, pulls: ArrayLike, totals: ArrayLike, squares: ArrayLike, threshold: float) -> tuple[Floats, Floats]:
        """Return the probabilities that the mean of an arm with such a record is below and above, shape (R,)."""
        n, total = coins(pulls, totals, squares, self.spread)
        below, above = np.empty(n.shape), np.empty(n.shape)
        for start in range(0, n.size, _PIECE):
            part = slice(start, start + _PIECE)
            below[part], above[part] = self.prior.sides(n[part], total[part], threshold)
        return below, above

    def more_pulls(self, errors: float, target: float, threshold: float, arms: int) -> float:
        """Return about how many pulls of these arms it takes to get from expected errors to a target below."""
        prior = self.prior if isinstance(self.prior, Prior) else Prior.beta(self.prior.a, self.prior.b)
        an_arm = pulls_between(errors / arms, target / arms, MEANS, prior.masses, threshold)
        return arms * an_arm * self.spread

    def as_json(self) -> dict[str, Any]:
        """Return what is learnt as JSON has it, for ``from_json``."""
        assert isinstance(self.prior, Prior)
        return {"masses": self.prior.masses.tolist(), "spread": self.spread, "caution": self.caution}

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Self:
        """Read what ``as_json`` returned."""
        return cls(Prior(np.array(read["masses"])), read["spread"], read.get("caution"))
