"""The expected errors of arms over the budget: how the pulls of all add up is taken into account.

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

from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.sums import Sums

_Floats = NDArray[np.float64]
_Transform = NDArray[np.complex128]

MOST_PLACES = 2**10
"""Places of a transform, at most; so many budgets are looked at."""

_MISSED = 1e-3  # of the errors
_NOTHING = 1e-25
_DAMPING = 8.0 * math.log(10.0)  # what comes back from beyond the last place is smaller by a factor of 10^8
_BLUR = 2.6  # units: so much that the highest frequency counts for 10^-14
_MARGIN = 24  # places that what is blurred comes back to
_BIN = 24
_BLURRED_PLACES = 2**9
_COARSE_PLACES = 2**7
_CLOSER, _CLOSE_ENOUGH = 2, 4
_CORNERS = 32  # pulls an arm, up to which curves have corners after whole rounds
_ROUNDS = 2  # pulls an arm, up to which budgets are looked at on their own
_HARDLY = 1e-6
_SETTLED = 1.0 - 1e-6
_CLOSE = 1e-4
_ALONE = 2**18  # multiplications of one product of matrices: of more, threads that wait for each other do a part


class Kind(NamedTuple):
    """So many arms whose means are drawn from ``nodes``, each on its own."""

    nodes: Nodes
    arms: int


class FewCurve(NamedTuple):
    """Budgets, increasing, and the expected errors there, (B,) each."""

    budgets: _Floats
    errors: _Floats


class Budget(NamedTuple):
    """Budgets up to one of so many ``pulls``, ``unit`` pulls from one to the next: ``places`` of them and some beyond.

    Sums of pulls are found from ``frequencies``, (F,), of their distribution, as far as these budgets can tell.
    """

    pulls: int
    unit: int
    places: int
    frequencies: _Transform

    @classmethod
    def of(cls, pulls: int, most: int = _BLURRED_PLACES) -> "Budget":
        """Return the budgets up to one of so many pulls: all, or of larger units about so many as ``most`` says."""
        unit = 1 if pulls < MOST_PLACES and most > _COARSE_PLACES else math.ceil(pulls / (most - _MARGIN))
        places = 2 ** math.ceil(math.log2(pulls // unit + _MARGIN))
        period = places * unit
        return cls(pulls, unit, places, _DAMPING / period + 2j * math.pi / period * np.arange(places // 2 + 1))

    @property
    def end(self) -> int:
        """The number of places within the budget."""
        return self.pulls // self.unit

    def transform(self, terms: _Floats, edges: NDArray[np.int64]) -> _Transform:
        """Return the sums of terms, (bins, L), times exp(-z n), z the frequencies, on average over the n of a bin."""
        last = min(int(np.searchsorted(edges, self.pulls)), edges.size - 1)
        at_edges = np.exp(-np.multiply.outer(self.frequencies, edges[: last + 1]))
        each = (at_edges[:, :-1] - at_edges[:, 1:]) / np.diff(edges[: last + 1])
        each /= (1.0 - np.exp(-self.frequencies))[:, None]
        found = np.empty((len(each), terms.shape[1]), np.complex128)
        rows = max(1, _ALONE // max(terms[:last].size, 1))
        for start in range(0, len(each), rows):
            part = slice(start, start + rows)
            found.real[part], found.imag[part] = each.real[part] @ terms[:last], each.imag[part] @ terms[:last]
        return found

    def sums(self, transform: _Transform) -> _Floats:
        """Return what the terms of a transform, (F, L), add up to before each budget from ``unit`` pulls on.

        Where a unit is several pulls the budgets are blurred by a few units.
        """
        z = self.frequencies[:, None]
        blur = np.exp(0.5 * (_BLUR * self.unit * z) ** 2) if self.unit > 1 else 1.0
        found: _Floats = np.fft.irfft(transform * blur / (np.exp(z) - 1.0), self.places, axis=0)[1 : self.end + 1]
        found *= np.exp(_DAMPING / self.places * np.arange(1, self.end + 1))[:, None] / self.unit
        return found


def bins_of(depth: int) -> NDArray[np.int64]:
    """Return the edges of bins of numbers of pulls, up to a depth: of one each at first, then of a thirtieth each."""
    edges = [0]
    while edges[-1] < depth:
        edges.append(min(edges[-1] + max(1, edges[-1] // _BIN), depth))
    return np.array(edges)


class Kinds(NamedTuple):
    """Arms of several kinds, and what those of each come to at L levels.

    At the first ``in_order`` levels the kinds take their turns in this order; at later ones, where several indices may
    be taken together, in this or the reverse.
    """

    kinds: Sequence[Kind]
    found: Sequence[Sums]
    edges: NDArray[np.int64]
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

    def curve(self, budget: Budget, settled: int = 0) -> FewCurve:
        """Return the curve up to the budget, or to where what is missed beyond the last level would matter.

        All arms pass the first ``settled`` levels within any budget that is asked about.
        """
        found = [_since(sums, settled) for sums in self.found]
        transforms = self._replace(found=found)._transforms(budget)
        powers = [power(one, kind.arms) for one, kind in zip(transforms, self.kinds, strict=True)]
        change = np.zeros((len(transforms[0]), 1), np.complex128)
        for kind, sums, one, raised, rest in zip(
            self.kinds, found, transforms, powers, _without_each(powers, self.in_order - settled), strict=True
        ):
            gains = budget.transform(np.diff(sums.gains, axis=1), self.edges)
            change += np.sum(gains * _mean_over_ties(one, raised, kind.arms) * rest, axis=1, keepdims=True)
        at_first = sum(float(sums.errors[0] - sums.gains[:, 0].sum()) for sums in self.found)
        by_settled = sum(float(sums.gains[:, 0].sum()) for sums in found)
        expected = at_first + by_settled + budget.sums(change)[:, 0]
        last = np.prod([raised[:, -1:] for raised in powers], axis=0)
        missed = self.to_gain()[-1] * budget.sums(last)[:, 0]
        end = int(np.logical_and.accumulate(missed <= _MISSED * expected).sum())
        return FewCurve(budget.unit * np.arange(1.0, end + 1.0), expected[:end])

    def whole_curve(self, pulls: int) -> FewCurve:
        """Return the curve up to a budget, of which the smaller the budgets are, the closer they are to each other."""
        arms = sum(kind.arms for kind in self.kinds)
        corners = pulls < _CORNERS * arms
        budget = Budget.of(pulls, MOST_PLACES if corners else _BLURRED_PLACES)
        nearer = pulls // (_CLOSER if corners else _CLOSE_ENOUGH)
        if budget.unit == 1 or nearer < _ROUNDS * arms:
            return self.curve(budget)
        within = self.within(Budget.of(nearer, _COARSE_PLACES))
        count = int(np.flatnonzero(np.append(True, within > _HARDLY))[-1]) + 1
        curve = self.curve(budget, int(np.logical_and.accumulate(within >= _SETTLED).sum()))
        found = [sums.at(np.arange(min(count, within.size))) for sums in self.found]
        first = self._replace(found=found).whole_curve(nearer)
        beyond = curve.budgets > first.budgets[-1]
        parts = zip(first, curve, strict=True)
        return FewCurve(*(np.concatenate([before, after[beyond]]) for before, after in parts))

    def deviation(self) -> _Floats:
        """Return the standard deviation of the sum of pulls at each level, (L,)."""
        pairs = zip(self.kinds, self.found, strict=True)
        variances = [np.maximum(sums.squares - sums.pulls**2 / kind.arms, 0.0) for kind, sums in pairs]
        deviation: _Floats = np.sqrt(np.sum(variances, axis=0))
        return deviation

    def _transforms(self, budget: Budget) -> list[_Transform]:
        """Return the transforms of the distribution of an arm's pulls at each level, (frequencies, L), of each kind."""
        found = []
        step = np.exp(-budget.frequencies)[:, None] - 1.0
        for kind, sums in zip(self.kinds, self.found, strict=True):
            more = budget.transform(sums.taken / kind.arms, self.edges)  # the probability that an arm has more pulls
            found.append(1.0 + step * more)
        return found


def _since(sums: Sums, settled: int) -> Sums:
    """Return the sums from the last settled level on; where none is, those without a pull come before the others."""
    if settled:
        return sums.at(np.arange(settled - 1, sums.errors.size))
    return Sums.zeros(1, len(sums.gains)).joined(sums, np.arange(sums.errors.size + 1))


def _mean_over_ties(one: _Transform, powers: _Transform, arms: int) -> _Transform:
    """Return a^i b^(K - 1 - i) on average over i < K, a at a level, b at the one before: (a^K - b^K) / K (a - b)."""
    before, one, powers_before, powers = one[:, :-1], one[:, 1:], powers[:, :-1], powers[:, 1:]
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
    before, powers = [raised[:, :-1] for raised in powers], [raised[:, 1:] for raised in powers]
    forward = np.where(np.arange(powers[0].shape[1]) < in_order, 1.0, 0.5)
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
