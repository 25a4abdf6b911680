"""What needs no simulation: the expected errors of Uniform, and the budgets at which the theorems say something."""

import math

import numpy as np
from numpy.typing import NDArray

from cutline.planning.beliefs import Beliefs, Guess
from cutline.planning.computing.bisection import smallest
from cutline.planning.computing.rounds import errors_by_round
from cutline.policies import Policy
from cutline.policies.lsa import LSA
from cutline.problem import Problem

_Floats = NDArray[np.float64]

LARGEST_BUDGET = 2**53 - 1
_MOST_ROUNDS = 10**8
_EVALUATIONS = 1_000_000
_DENSITIES = 4_000_000
_NODES = 8
_NEAREST = 1e-6  # gap
_BY_ARMS = 0.25  # of the groups of arms, so that no group has most of them: at first all take as many pulls
_FIRST_TABLE, _LAST_TABLE = 2**9, 2**14  # rounds
_ENOUGH_ERRORS = 1e-4  # an arm: fewer are not found from round to round, whose rounding errors are 1e-15


class UniformErrors:
    """The exact expected errors of Uniform on a guess, at any budget.

    With known means they are binomial probabilities. With beliefs these are integrated over each arm's Beta
    distribution, by Gauss-Legendre on panels that shrink towards the threshold, 0 and 1. ``means`` are these known
    means or the nodes of the panels, ``masses`` how many arms each stands for; (N,) both.
    """

    def __init__(self, guess: Guess, threshold: float) -> None:
        self.arms = guess.arms
        self._threshold = threshold
        self._pairs: _Floats | None = None
        if isinstance(guess, Problem):
            self.means, kinds, counts = np.unique(guess.means, return_inverse=True, return_counts=True)
            self._widths = np.ones_like(self.means)
        else:
            pairs = np.stack([guess.a, guess.b], axis=1)
            if guess.all_alike:
                self._pairs, kinds, counts = pairs[:1], np.zeros(guess.arms, np.int64), np.array([guess.arms])
            else:
                self._pairs, kinds, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
            self.means, self._widths = _mesh(threshold, 0.5 / math.sqrt(float((guess.a + guess.b).max()) + 1.0))
        self._table = np.empty(0)
        self._kinds = kinds.ravel()
        self._counts = counts.astype(np.float64)
        self.masses = self._sum_over_arms()

    def at(self, budget: int) -> float:
        """Return the expected errors at a budget of at least K pulls: exact after whole rounds, a line in between."""
        rounds, extra = divmod(budget, self.arms)
        before, after = self._of_rounds(np.array([rounds, rounds + 1]))
        return float(before + (after - before) * extra / self.arms)

    def budget(self, target: float) -> int | None:
        """Return the first budget that reaches the target in the first round that ends there; None beyond 1e8 rounds.

        A round is one pull of every arm. From pull to pull the expected errors go up and down (at threshold 1/2 an even
        number of pulls can tie), so a budget inside an earlier round may reach the target as well, for a moment. Beyond
        about 1e6 / (different means) rounds the round is one that reaches it after one that does not.
        """
        last = smallest(lambda rounds: bool(self._of_rounds(np.array([rounds]))[0] <= target), 1, _MOST_ROUNDS)
        if last is None:
            return None
        earlier = np.arange(max(1, last - _EVALUATIONS // self.means.size), last + 1)
        rounds = int(earlier[np.argmax(self._of_rounds(earlier) <= target)])
        if rounds == 1:
            return self.arms
        before = self._of_rounds(np.array([rounds - 1]))[0]
        reached = before + np.cumsum(self._changes(rounds - 1)) <= target
        return (rounds - 1) * self.arms + (int(np.argmax(reached)) + 1 if reached.any() else self.arms)

    def groups(self, most: int, errors: float) -> list[tuple[_Floats, _Floats]]:
        """Return means and masses of at most so many groups of arms, in each those that take about as many pulls.

        That is on the way to so many ``errors``. Groups reach over equal sums of cube roots of squared steps from one
        number of pulls to the next, which makes the squared distances within groups about as small as they can be
        (Panter and Dite: Quantization distortion in pulse-count modulation with nonuniform spacing of levels,
        Proceedings of the IRE 39, 1951). Where each kind of arms has a group of its own, they stand in the order of
        their first arms.
        """
        if self._counts.size <= most:
            firsts = np.unique(self._kinds, return_index=True)[1]
            return [self._of_kinds(np.array([kind])) for kind in np.argsort(firsts)]
        pulls, sides = self._pulls(errors)
        order = np.argsort(sides / pulls, kind="stable")
        apart = np.cbrt(np.diff(pulls[order]) ** 2 * self._counts[order[1:]])
        arms = np.cumsum(self._counts[order])
        place = (1.0 - _BY_ARMS) * np.append(0.0, np.cumsum(apart)) / max(float(apart.sum()), 1e-300)
        place += _BY_ARMS * (arms - self._counts[order]) / arms[-1]
        kinds = np.unique(np.minimum((place * most).astype(np.int64), most - 1), return_inverse=True)[1]
        return [self._of_kinds(order[kinds == kind]) for kind in range(int(kinds[-1]) + 1)]

    def _pulls(self, errors: float) -> tuple[_Floats, _Floats]:
        """Return about how many pulls each kind of arms takes, to scale, and -1 or 1 where it is below or above.

        An arm takes pulls by the inverse square of its gap. Half of the nearest arms are wrong, however: of twice as
        many arms as errors the nearest are not told from the threshold, and take no more than the last of these.
        """
        gaps = np.abs(self.means - self._threshold)
        order = np.argsort(gaps)
        nearest = int(np.searchsorted(np.cumsum(self.masses[order]), 2.0 * errors))
        floor = max(float(gaps[order[min(nearest, gaps.size - 1)]]), _NEAREST)
        pulls: _Floats = np.maximum(gaps, floor) ** -2.0
        if self._pairs is None:
            return pulls, np.where(self.means < self._threshold, -1.0, 1.0)
        sides = np.where(self._pairs[:, 0] < self._threshold * self._pairs.sum(axis=1), -1.0, 1.0)
        return np.concatenate([self._density(part) @ pulls for part in self._parts()]), sides

    def _of_kinds(self, kinds: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
        """Return means and masses of some kinds of arms."""
        if self._pairs is None:
            return self.means[kinds], self._counts[kinds]
        return self.means, self._counts[kinds] @ self._density(kinds)

    def _of_rounds(self, rounds: NDArray[np.int64]) -> _Floats:
        """Return the expected errors after some rounds, (R,)."""
        last = int(rounds.max())
        if last <= _LAST_TABLE:
            while self._table.size <= last:
                size = max(_FIRST_TABLE, min(4 * self._table.size, _LAST_TABLE))
                self._table, _ = errors_by_round(self.means, self._threshold, self.masses, size)
            found: _Floats = self._table[rounds]
            if found.min() >= _ENOUGH_ERRORS * self.arms:
                return found
        from cutline.theory.concentration import error_probability  # loads scipy, which many plans do without

        errors: _Floats = error_probability(self.means, rounds[:, None], self._threshold) @ self.masses
        return errors

    def _changes(self, rounds: int) -> _Floats:
        """Return what one more pull after so many does to the expected errors of each arm, shape (K,)."""
        if rounds < _LAST_TABLE:
            seen = errors_by_round(self.means, self._threshold, self.masses, rounds + 1, rounds)[1]
        else:
            from cutline.theory.concentration import error_probability

            seen = error_probability(self.means, np.array([[rounds], [rounds + 1]]), self._threshold)
        change: _Floats = seen[1] - seen[0]
        if self._pairs is not None:
            change = np.concatenate([self._density(part) @ change for part in self._parts()])
        return change[self._kinds]

    def _sum_over_arms(self) -> _Floats:
        if self._pairs is None:
            return self._counts
        parts = [self._counts[part] @ self._density(part) for part in self._parts()]
        total: _Floats = np.sum(parts, axis=0)
        return total

    def _parts(self) -> list[slice]:
        size = max(1, _DENSITIES // self.means.size)
        return [slice(first, first + size) for first in range(0, self._counts.size, size)]

    def _density(self, part: slice | NDArray[np.int64]) -> _Floats:
        """Return the Beta densities of some kinds of arms times the widths of the nodes, shape (kinds, nodes)."""
        assert self._pairs is not None
        a, b = self._pairs[part][:, :1], self._pairs[part][:, 1:]
        log_density = (a - 1.0) * np.log(self.means) + (b - 1.0) * np.log1p(-self.means)
        density: _Floats = np.exp(log_density - _log_beta(a, b)) * self._widths
        return density


def _log_beta(a: _Floats, b: _Floats) -> _Floats:
    """Return ln B(a, b), of (kinds, 1) of both."""
    pairs = zip(a.ravel(), b.ravel(), strict=True)
    return np.array([[math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)] for x, y in pairs])


def _mesh(threshold: float, widest: float) -> tuple[_Floats, _Floats]:
    """Return Gauss-Legendre nodes and weights on [0, 1]: no panel is wider than ``widest``."""
    halves = 0.5 ** np.arange(1.0, 50.0)
    ends = [0.0, threshold, 1.0]
    for distance in (threshold * halves, (1.0 - threshold) * halves):
        ends += [*distance, *(1.0 - distance), *(threshold - distance), *(threshold + distance)]
    ends += [*np.linspace(0.0, 1.0, math.ceil(1.0 / widest) + 1)]
    marks = np.unique(np.clip(ends, 0.0, 1.0))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(marks)[:, None] / 2.0
    places = np.minimum(marks[:-1, None] + half * (1.0 + nodes), 1.0 - 2.0**-53)
    return places.ravel(), (half * weights).ravel()


def theorem_budgets(guess: Guess, threshold: float, policy: Policy, target: float) -> tuple[int | None, int | None]:
    """Return from which budget on Theorem 1 promises LSA the target, and below which Theorem 2 denies it to everyone.

    None where a theorem's conditions do not hold, for beliefs, and where the budget would be above 2^53. Theorem 2
    speaks of the worst choice of the sides on which the arms lie.
    """
    if isinstance(guess, Beliefs):
        return None, None
    from cutline.theory.bounds import budget_divisor, log_lower_bound, log_upper_bound  # loads scipy

    gaps, log_target = guess.gaps, math.log(target)
    promise = denial = None
    if isinstance(policy, LSA) and policy.alpha <= 8.0:
        least = math.ceil(budget_divisor(policy.alpha) * guess.arms)
        promise = smallest(
            lambda budget: float(log_upper_bound(gaps, budget, policy.alpha)) <= log_target, least, LARGEST_BUDGET
        )
    if threshold == 0.5 and gaps.min() > 0.0 and gaps.max() <= 0.25:
        denial = smallest(lambda budget: float(log_lower_bound(gaps, budget)) <= log_target, guess.arms, LARGEST_BUDGET)
    return promise, denial
