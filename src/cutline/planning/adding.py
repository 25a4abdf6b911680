"""The expected errors of few arms over the budget: how the pulls of all add up is taken into account.

Pull n + 1 of an arm, made at a level, is the pull number n + 1 + S of all, where S is what the other K - 1 arms have
taken at that level: it is made if that is within the budget. The pulls of one arm have a known distribution, so that of
S is a product of Fourier transforms. Adding up over all pulls of an arm, with what each does to the expected errors,
gives those at every budget. At ties the arm with the lowest number comes first: the arms before it have taken what they
take at the level, those behind it what they took at the level before.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.planning.nodes import Nodes
from cutline.planning.passage import Sums

_Floats = NDArray[np.float64]
_Transform = NDArray[np.complex128]

MOST_PLACES = 2**10
"""Places of a transform, at most; so many budgets are looked at."""

_MISSED = 1e-3  # of the errors
_NOTHING = 1e-25
_DAMPING = 1e-10  # at the last place of a transform
_CLOSE = 1e-4


class Kind(NamedTuple):
    """So many arms whose means are drawn from ``nodes``, each on its own."""

    nodes: Nodes
    arms: int


class FewCurve(NamedTuple):
    """Budgets, increasing, and the expected errors there, (B,) each."""

    budgets: _Floats
    errors: _Floats


class Budget(NamedTuple):
    """A budget up to which a curve is found; a place of the transforms stands for ``unit`` pulls."""

    pulls: int
    unit: int
    places: int

    @classmethod
    def of(cls, pulls: int) -> "Budget":
        """Return a budget of so many pulls."""
        unit = math.ceil(pulls / (MOST_PLACES - 2))
        return cls(pulls, unit, 2 ** math.ceil(math.log2(pulls // unit + 2)))

    @property
    def end(self) -> int:
        """The number of places within the budget."""
        return self.pulls // self.unit

    def transform(self, terms: _Floats) -> _Transform:
        """Return the transforms of terms, (places or fewer, L), made smaller the further on they stand.

        Else sums that lie beyond the last place would come back as the first ones.
        """
        damping = _DAMPING ** (np.arange(len(terms)) / self.places)
        return np.fft.rfft(terms * damping[:, None], self.places, axis=0)

    def sums(self, transform: _Transform) -> _Floats:
        """Return what the terms of a transform, (frequencies, L), add up to, up to each place within the budget."""
        damping = _DAMPING ** (np.arange(self.end) / self.places)
        terms = np.fft.irfft(transform, self.places, axis=0)[: self.end] / damping[:, None]
        found: _Floats = np.cumsum(terms, axis=0)
        return found


class Kinds(NamedTuple):
    """Arms of several kinds, and what those of each come to at L levels.

    At the first ``in_order`` levels the kinds take their turns in this order; at later ones, where several indices may
    be taken together, in this or the reverse.
    """

    kinds: Sequence[Kind]
    found: Sequence[Sums]
    in_order: int = 0

    @property
    def sums(self) -> Sums:
        """What all arms come to."""
        return Sums(*(np.sum(parts, axis=0) for parts in zip(*self.found, strict=True)))

    def to_gain(self) -> _Floats:
        """Return how many errors less there may be beyond each level, (L,): an arm left at the last row has its errors.

        It has taken all of the budget, or is none of those that matter.
        """
        sums = self.sums
        return sums.errors - sums.unsettled

    def within(self, budget: Budget) -> _Floats:
        """Return the probability that all arms together have passed a level within a budget, (L,)."""
        powers = [power(one, kind.arms) for one, kind in zip(self._transforms(budget), self.kinds, strict=True)]
        chances: _Floats = np.clip(budget.sums(np.prod(powers, axis=0))[-1], 0.0, 1.0)
        return chances

    def curve(self, budget: Budget) -> FewCurve:
        """Return the curve up to the budget, or to where what is missed beyond the last level would matter."""
        transforms = self._transforms(budget)
        powers = [power(one, kind.arms) for one, kind in zip(transforms, self.kinds, strict=True)]
        change = np.zeros((len(transforms[0]), 1), np.complex128)
        for kind, sums, one, raised, rest in zip(
            self.kinds, self.found, transforms, powers, _without_each(powers, self.in_order), strict=True
        ):
            gains = budget.transform(np.diff(sums.gains[: budget.places], axis=1, prepend=0.0))
            change += np.sum(gains * _mean_over_ties(one, raised, kind.arms) * rest, axis=1, keepdims=True)
        at_first = sum(float(sums.errors[0] - sums.gains[:, 0].sum()) for sums in self.found)
        expected = at_first + budget.sums(change)[:, 0]
        last = np.prod([raised[:, -1:] for raised in powers], axis=0)
        missed = self.to_gain()[-1] * budget.sums(last)[:, 0]
        end = int(np.logical_and.accumulate(missed <= _MISSED * expected).sum())
        return FewCurve(budget.unit * np.arange(1.0, end + 1.0), expected[:end])

    def deviation(self) -> _Floats:
        """Return the standard deviation of the sum of pulls at each level, (L,)."""
        pairs = zip(self.kinds, self.found, strict=True)
        variances = [np.maximum(sums.squares - sums.pulls**2 / kind.arms, 0.0) for kind, sums in pairs]
        deviation: _Floats = np.sqrt(np.sum(variances, axis=0))
        return deviation

    def _transforms(self, budget: Budget) -> list[_Transform]:
        """Return the transforms of the distribution of an arm's pulls at each level, (frequencies, L), of each kind."""
        found = []
        for kind, sums in zip(self.kinds, self.found, strict=True):
            more = sums.taken[: budget.places] / (kind.arms * budget.unit)  # the probability that an arm has more pulls
            found.append(budget.transform(-np.diff(more, axis=0, prepend=1.0, append=0.0)[: budget.places]))
        return found


def _before(transforms: _Transform) -> _Transform:
    """Return the transforms at the level before each: at the first, of no pulls."""
    return np.concatenate([np.ones((len(transforms), 1)), transforms[:, :-1]], axis=1)


def _mean_over_ties(one: _Transform, powers: _Transform, arms: int) -> _Transform:
    """Return a^i b^(K - 1 - i) on average over i < K, a at a level, b at the one before: (a^K - b^K) / K (a - b)."""
    before, powers_before = _before(one), _before(powers)
    step = arms * (one - before)
    close = np.abs(step) <= _CLOSE * np.abs(one)
    twice = np.where(one + before == 0.0, 1.0, one + before)
    found: _Transform = np.where(
        close, (powers + powers_before) / twice, (powers - powers_before) / np.where(close, 1.0, step)
    )
    return found


def _without_each(powers: Sequence[_Transform], in_order: int) -> Iterator[_Transform]:
    """Yield for each kind the product over the others: those that come first in ties at a level, the rest before it.

    After the levels ``in_order`` on average over the order of the kinds and its reverse.
    """
    forward = np.where(np.arange(powers[0].shape[1]) < in_order, 1.0, 0.5)
    before = [_before(raised) for raised in powers]
    behind: list[tuple[_Transform | float, _Transform | float]] = [(1.0, 1.0)]
    for raised, previous in zip(powers[:0:-1], before[:0:-1], strict=True):
        behind.append((behind[-1][0] * raised, behind[-1][1] * previous))
    first: tuple[_Transform | float, _Transform | float] = (1.0, 1.0)
    for raised, previous, last in zip(powers, before, reversed(behind), strict=True):
        yield forward * first[0] * last[1] + (1.0 - forward) * first[1] * last[0]
        first = first[0] * raised, first[1] * previous


def power(transform: _Transform, exponent: int) -> _Transform:
    """Return a power of each number of a transform; what is below 1e-25 counts as 0, which at most places it is."""
    if exponent < 2:
        return transform
    size = transform.real**2 + transform.imag**2
    matters = size > _NOTHING ** (2.0 / exponent)
    powers = np.zeros_like(transform)
    powers[matters] = transform[matters] ** exponent
    return powers
