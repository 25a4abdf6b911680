"""Slow twins, written from the paper and from what the docstrings promise. Nothing from cutline is imported.

Thresholds and parameters are exact (``Fraction``): 0.3 means three tenths here. Two indices that are equal on paper
are equal here, so ties are ties and nothing else is.
"""

import functools
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

HALF = Fraction(1, 2)
_DIGITS = 45
_MASK = 2**64 - 1

Index = Callable[[int, int], Any]
"""An index of a record (pulls, total); all that matters is which of two is smaller."""
Reward = Callable[[int, int], int]
"""Reward number t (from 0) of an arm: reward(arm, t)."""


def rounded(value: mpmath.mpf) -> int:
    """Return 45 decimals as a whole number: the noise of 60 digits is gone, and no two different indices meet."""
    return int(mpmath.nint(value * mpmath.mpf(10) ** _DIGITS))


def real(value: Fraction) -> mpmath.mpf:
    """Return a fraction to the working precision."""
    return mpmath.mpf(value.numerator) / value.denominator


# The paper's indices. Each returns Index(pulls, total) for a threshold and parameters.


def lsa(theta: Fraction, alpha: Fraction) -> Index:
    """alpha T_i gap_i^2 + 0.5 ln T_i, Algorithm 1, line 4."""

    @lru_cache(None)
    def index(pulls: int, total: int) -> int:
        with mpmath.workdps(60):
            return rounded(real(alpha * pulls * (Fraction(total, pulls) - theta) ** 2) + mpmath.log(pulls) / 2)

    return index


def apt(theta: Fraction, epsilon: Fraction) -> Index:
    """sqrt(T_i) (gap_i + epsilon), Section 1; squared, which keeps the order and stays exact."""
    return lru_cache(None)(lambda pulls, total: pulls * (abs(Fraction(total, pulls) - theta) + epsilon) ** 2)


def ucbe(theta: Fraction, exploration: Fraction) -> Index:
    """gap_i - sqrt(a / T_i), Section 5."""

    @lru_cache(None)
    def index(pulls: int, total: int) -> int:
        with mpmath.workdps(60):
            return rounded(real(abs(Fraction(total, pulls) - theta)) - mpmath.sqrt(real(exploration / pulls)))

    return index


def exploration(theta: Fraction, means: list[Fraction], budget: int, i: int) -> Fraction:
    """a = 4^i (T - K) / H with H the sum of gap_i^-2; 0 where a gap is 0."""
    gaps = [abs(mean - theta) for mean in means]
    if 0 in gaps:
        return Fraction(0)
    return Fraction(4) ** i * (budget - len(means)) / sum(1 / gap**2 for gap in gaps)


def uniform() -> Index:
    """Arm 1 to arm K again and again: the fewest pulls first."""
    return lambda pulls, total: pulls


def opt_kg(theta: Fraction, prior_a: Fraction, prior_b: Fraction) -> Index:
    """The negative of R+ = max{h(I(a+1, b)), h(I(a, b+1))} - h(I(a, b)); exact for whole-number priors."""
    whole = prior_a.denominator == prior_b.denominator == 1
    tail = beta_tail if whole else beta_tail_real

    def confidence(a: Fraction, b: Fraction) -> Any:
        above = tail(a, b, theta)
        return max(above, 1 - above)

    @lru_cache(None)
    def index(pulls: int, total: int) -> Any:
        a, b = prior_a + total, prior_b + pulls - total
        with mpmath.workdps(150):
            gain = max(confidence(a + 1, b), confidence(a, b + 1)) - confidence(a, b)
            return -gain if whole else rounded(-mpmath.log(gain))

    return index


@lru_cache(None)
def beta_tail(a: Fraction, b: Fraction, theta: Fraction) -> Fraction:
    """P(Beta(a, b) >= theta) for whole a and b: at most a - 1 successes in a + b - 1 trials."""
    n, one, all_of = int(a + b) - 1, theta.numerator, theta.denominator
    return Fraction(sum(comb(n, j) * one**j * (all_of - one) ** (n - j) for j in range(int(a))), all_of**n)


@lru_cache(None)
def beta_tail_real(a: Fraction, b: Fraction, theta: Fraction) -> mpmath.mpf:
    """P(Beta(a, b) >= theta) for any a and b, to 150 digits."""
    with mpmath.workdps(150):
        return mpmath.betainc(real(a), real(b), real(theta), 1, regularized=True)


# The game.


def first_of_smallest(values: list[Any]) -> int:
    """The arm that argmin takes."""
    return min(range(len(values)), key=lambda arm: (values[arm], arm))


def game(index: Index, reward: Reward, arms: int, budget: int, first_round: bool) -> tuple[list[int], list[int]]:
    """Play with argmin over all arms at every step; return which arm each pull went to, and each pull's reward."""
    pulls, totals = [0] * arms, [0] * arms
    sequence: list[int] = []
    rewards: list[int] = []
    while len(sequence) < budget:
        if first_round and len(sequence) < arms:
            arm = len(sequence)
        else:
            arm = first_of_smallest([index(n, s) for n, s in zip(pulls, totals, strict=True)])
        rewards.append(reward(arm, pulls[arm]))
        sequence.append(arm)
        pulls[arm] += 1
        totals[arm] += rewards[-1]
    return sequence, rewards


def wrong(pulls: list[int], totals: list[int], means: list[Fraction], theta: Fraction) -> int:
    """Arms on the wrong side: above is a mean at or above the threshold, and an arm never pulled is below."""
    return sum(
        (n > 0 and Fraction(s, n) >= theta) != (mean >= theta) for n, s, mean in zip(pulls, totals, means, strict=True)
    )


def records(sequence: list[int], rewards: list[int], arms: int) -> tuple[list[int], list[int]]:
    """Return the pulls and totals of every arm after a game."""
    pulls, totals = [0] * arms, [0] * arms
    for arm, reward in zip(sequence, rewards, strict=True):
        pulls[arm] += 1
        totals[arm] += reward
    return pulls, totals


def error_distribution(
    index: Index, means: list[Fraction], theta: Fraction, budget: int, first_round: bool
) -> dict[int, Fraction]:
    """Return the exact probability of every number of wrong decisions, over all 2^T sequences of rewards."""
    chances: dict[int, Fraction] = defaultdict(Fraction)
    for outcomes in product((0, 1), repeat=budget):
        rewards_to_come = functools.partial(_next_of, iter(outcomes))
        sequence, rewards = game(index, rewards_to_come, len(means), budget, first_round)
        chance = Fraction(1)
        for arm, reward in zip(sequence, rewards, strict=True):
            chance *= means[arm] if reward else 1 - means[arm]
        chances[wrong(*records(sequence, rewards, len(means)), means, theta)] += chance
    return dict(chances)


def _next_of(outcomes: Iterator[int], arm: int, t: int) -> int:
    return next(outcomes)


def running_maximum_order(
    index: Callable[[int, int, int], float], rewards: NDArray[np.int64], budget: int, first_round: bool
) -> NDArray[np.int64]:
    """Return the arm of every pull without playing: pulls come in the order of the running maxima of the index.

    ``rewards`` has shape (K, depth), more than any arm is pulled; ``index(arm, pulls, total)``. Pull t + 1 of an arm
    comes at the level of the largest index over its first t pulls; sorting all arms' levels (ties by arm, then by t)
    gives the pulls.
    """
    arms, depth = rewards.shape
    levels = np.full((arms, depth), -np.inf)
    for arm, row in enumerate(rewards):
        totals = np.cumsum(row) - row
        for t in range(1 if first_round else 0, depth):
            levels[arm, t] = index(arm, t, int(totals[t]))
    peaks = np.maximum.accumulate(levels, axis=1).ravel()
    arm_of = np.repeat(np.arange(arms), depth)
    return arm_of[np.lexsort((np.tile(np.arange(depth), arms), arm_of, peaks))][:budget]


# The reward table.


def key_of(seed: int, stream: str) -> int:
    """The key of a stream of rewards: eight bytes of SHA-256, the lowest first."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{stream}".encode()).digest()[:8], "little")


def mix(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


@lru_cache(None)
def state_and_increment(key: int, run: int, arm: int) -> tuple[int, int]:
    """Where an arm's words start and how far they are apart: odd, and with 24 changes between bits or more."""
    golden = 0x9E3779B97F4A7C15
    state = mix(mix(key ^ mix((run + golden) & _MASK)) ^ mix((arm + golden) & _MASK))
    increment = mix((state + golden) & _MASK) | 1
    if (increment ^ (increment >> 1)).bit_count() < 24:
        increment ^= 0xAAAAAAAAAAAAAAAA
    return state, increment


@lru_cache(None)
def word(key: int, run: int, arm: int, number: int) -> int:
    """Random word ``number`` of an arm in a run."""
    state, increment = state_and_increment(key, run, arm)
    return mix((state + number * increment) & _MASK)


def reward(key: int, run: int, arm: int, t: int, mean: float) -> int:
    """1 where U < mean; word d of block t // 64 holds binary digit d of U, in lane t % 64."""
    block, lane = divmod(t, 64)
    left = Fraction(mean)
    if left >= 1:
        return 1
    for digit in range(2048):
        if left == 0:
            return 0
        left *= 2
        of_mean, of_u = int(left >= 1), word(key, run, arm, 2048 * block + digit) >> lane & 1
        if of_mean != of_u:
            return int(of_u < of_mean)
        left -= of_mean
    raise AssertionError("a double has fewer than 2048 binary digits")
