"""Uniform's expected errors after every round, from one round to the next, for many means at once.

With W the probability that n rewards call an arm above, k the least total that does, and b(n, s) the probability of s
ones among n rewards, one reward more gives W + mean * b(n, k - 1), less b(n + 1, k) where k grows by 1; and b(n + 1, k)
follows from b(n, k). So a round costs a few multiplications a mean, where an incomplete beta function takes hundreds.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit_inlined, kernel
from cutline.threshold import is_above

_Floats = NDArray[np.float64]


def least_above(threshold: float, pulls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the least total that calls an arm with so many pulls above, from 1 on."""
    least = np.maximum(np.floor(threshold * pulls) - 1.0, 0.0)
    for _ in range(3):  # from just below threshold * n to the first total that the decision calls above
        least += ~is_above(pulls, least, threshold)
    whole: NDArray[np.int64] = least.astype(np.int64)
    return whole


class After(NamedTuple):
    """After n rewards of a mean: the probability W, b(n, k), b(n, k - 1) and k."""

    at_least: float
    here: float
    before: float
    least: int


@jit_inlined
def _first_reward(mean: float, least: NDArray[np.int64]) -> After:
    # 1: no reward calls an arm below, at thresholds in (0, 1), and one calls it above
    return After(mean, mean, 1.0 - mean, least[1])


@jit_inlined
def _next_reward(mean: float, n: int, least: NDArray[np.int64], after: After) -> After:
    """Return what follows after the n-th reward, n > 1."""
    at_least, here, before, k = after
    rest = 1.0 - mean
    at_least += mean * before
    if least[n] == k:
        return After(at_least, here * rest + before * mean, before * rest * n / (n - k + 1.0), k)
    at_k = here * rest + before * mean
    return After(at_least - at_k, here * mean * n / (k + 1.0), at_k, k + 1)


@kernel
def _add_rounds(
    means: _Floats, threshold: float, masses: _Floats, least: NDArray[np.int64], sums: _Floats, watched: int, seen: Any
) -> None:
    """Add to ``sums`` (N + 1,) the errors of all means after n rounds; ``seen`` (2, M): of each after a watched round.

    ``least`` (N + 1,) from n = 1 on.
    """
    for node in range(means.size):
        mean = means[node]
        after = _first_reward(mean, least)
        for n in range(1, sums.size):
            if n > 1:
                after = _next_reward(mean, n, least, after)
            wrong = 1.0 - after.at_least if mean >= threshold else after.at_least
            sums[n] += masses[node] * wrong
            if watched <= n <= watched + 1:
                seen[n - watched, node] = wrong


@kernel
def _look_up(means: _Floats, threshold: float, pulls: NDArray[np.int64], least: NDArray[np.int64], errors: Any) -> None:
    """Fill in ``errors`` (M, L): of every mean after its ``pulls`` (M, L), which do not fall from place to place."""
    for node in range(means.size):
        mean = means[node]
        after = _first_reward(mean, least)
        n = 1
        for place in range(pulls.shape[1]):
            while n < pulls[node, place]:
                n += 1
                after = _next_reward(mean, n, least, after)
            errors[node, place] = 1.0 - after.at_least if mean >= threshold else after.at_least


def errors_after(means: _Floats, threshold: float, pulls: NDArray[np.int64]) -> _Floats:
    """Return the probability that an arm of each mean is called wrongly after so many pulls, (M, L).

    ``pulls`` (M, L): from 1 on, and not falling along a row.
    """
    least = np.concatenate([[0], least_above(threshold, np.arange(1, int(pulls.max(initial=1)) + 1))])
    errors = np.empty(pulls.shape)
    _look_up(means, threshold, pulls, least, errors)
    return errors


def errors_by_round(
    means: _Floats, threshold: float, masses: _Floats, rounds: int, watched: int = 0
) -> tuple[_Floats, _Floats]:
    """Return the expected errors after 0 to so many rounds, (N + 1,), and of each mean after two of them, (2, M).

    ``masses``: how many arms each mean stands for. The two are ``watched`` and the next. Right to some 1e-13 an arm.
    """
    least = np.concatenate([[0], least_above(threshold, np.arange(1, rounds + 1))])
    sums, seen = np.zeros(rounds + 1), np.zeros((2, means.size))
    _add_rounds(means, threshold, masses, least, sums, watched, seen)
    return sums, seen
