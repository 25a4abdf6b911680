"""The levels of an index at which arms are looked at: close to each other where much happens between two."""

import math

import numpy as np
from numpy.typing import NDArray

from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.passage import Sources, pass_levels
from cutline.planning.computing.sums import Sums
from cutline.policies import Policy

_Floats = NDArray[np.float64]

MOST_PULLS_OF_AN_ARM = 2**24
"""Records with more pulls than that are not looked at: where arms come to them, games must be played."""

DEPTHS = tuple(2**power for power in (8, 9, 11, 14, 17, 20, 24))
"""How many pulls an arm has at most, if that is enough: to go through rows takes the longer, the wider they are."""

DEPTHS_OF_RECORDS = 2**8, 2**11, 2**14, 2**17
"""How many pulls an arm takes at most beyond the longest record of those that it may begin with."""

FRESH = Sources(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1))
"""Arms without a pull."""

_STEP = 1.1  # from one level to the next, in the pulls of an arm on the threshold
_STEP_FOR_FEW = 1.12
_FINE = 1.04  # in expected pulls: levels are put between two that are further apart
_BETWEEN = 12
_SHORT = 32  # pulls
_ROUNDS = 3
_TAIL = 2e-4  # of the pulls, that arms may still have to take at the last row
_NEAR = 0.5, 2.0, 4.0  # deviations from the threshold, at which there are records whose indices are levels
_FARTHER = *_NEAR, 1e9  # where all arms may be far from it


class TooDeepError(Exception):
    """Arms take more pulls than can be looked at before the errors are so few; ``sums`` go as far as they can."""

    def __init__(self, sums: Sums) -> None:
        super().__init__()
        self.sums = sums


def passed_until(
    policy: Policy, threshold: float, sources: Sources, nodes: Nodes, errors: float, further_on: float = 1.0
) -> tuple[_Floats, Sums, int]:
    """Return levels and what arms come to there, up to where there are at most so many errors; raise TooDeepError.

    And how many pulls of an arm are looked at. ``further_on``: up to where they have so many times the pulls of that.
    """
    values = short_values(policy, threshold)
    for further in DEPTHS_OF_RECORDS:
        depth = int(sources.pulls[-1]) + further
        edges = np.array([0, depth])
        levels, more = np.empty(0), first_levels(policy, threshold, int(sources.pulls[0]), depth)
        sums = Sums.zeros(0, 1)
        for round_ in range(_ROUNDS + 1):
            passed = pass_levels(policy, threshold, policy.parameters(), more, sources, nodes, edges)
            order = np.argsort(np.concatenate([levels, more]))
            levels, sums = np.concatenate([levels, more])[order], sums.joined(passed, order)
            good = np.logical_and.accumulate(sums.left * depth <= _TAIL * sums.pulls)
            enough = good & (sums.errors <= errors)
            enough &= sums.pulls >= further_on * sums.pulls[np.argmax(enough)]
            if not enough.any():
                break
            end = min(int(np.argmax(enough)) + 2, int(good.sum()))
            levels, sums = levels[:end], sums.at(np.arange(end))
            more = levels_between(levels, sums.pulls, values)
            if round_ == _ROUNDS or not more.size:
                return levels, sums, depth
    raise TooDeepError(sums.at(np.flatnonzero(good)))


def first_levels(policy: Policy, threshold: float, first: int, depth: int, few: bool = False) -> _Floats:
    """Return the levels at which arms on the threshold come to have more and more pulls, from ``first`` to ``depth``.

    And those at which arms do that are half a deviation from it: an index can be lowest at the threshold by so much
    that arms leave it long before. ``few`` arms may all be far from it.
    """
    shares, factor = (_FARTHER, _STEP_FOR_FEW) if few else (_NEAR, _STEP)
    parameters = policy.parameters()
    forced = int(policy.pulls_each_arm_first)
    found = [[-math.inf], *([] for _ in shares)]  # at first nothing but the first pull of each arm has been made
    n = float(max(first, forced))
    while n <= depth:
        pulls = float(round(n))
        nearest, deviation = math.floor(threshold * pulls), math.sqrt(pulls * threshold * (1.0 - threshold))
        totals = [nearest + step for step in (-1.0, 0.0, 1.0, 2.0)]
        totals += [nearest + math.ceil(min(share * deviation, pulls)) for share in shares]
        values = [policy.index(pulls, min(max(total, 0.0), pulls), threshold, *parameters) for total in totals]
        for part, value in zip(found, [min(values[:4]), *values[4:]], strict=True):
            part.append(value)
        n = max(n * factor, n + 1.0)
    return np.unique(np.concatenate([np.maximum.accumulate(part) for part in found]))


def short_values(policy: Policy, threshold: float, pulls: int = _SHORT) -> _Floats:
    """Return the different indices of the records with at most so many pulls: no other levels differ for these."""
    first, parameters = int(policy.pulls_each_arm_first), policy.parameters()
    records = ((float(n), float(total)) for n in range(first, pulls + 1) for total in range(n + 1))
    return np.unique([policy.index(n, total, threshold, *parameters) for n, total in records])


def lowest_value(policy: Policy, threshold: float, pulls: int) -> float:
    """Return the lowest index of the records with so many pulls or somewhat more."""
    parameters = policy.parameters()
    records = ((float(n), float(total)) for n in range(pulls, _SHORT + 1) for total in range(n + 1))
    return min(policy.index(n, total, threshold, *parameters) for n, total in records)


def levels_between(levels: _Floats, growing: _Floats, values: _Floats) -> _Floats:
    """Return levels between those of which one is far from the next, at indices of short records if there are.

    ``growing``, (L,): what may not grow by more than 4 % from one to the next; ``values``: the indices.
    """
    more = [np.empty(0)]
    for place in np.flatnonzero(growing[1:] > _FINE * growing[:-1]):
        low, high = levels[place : place + 2]
        before, after = growing[place : place + 2]
        count = min(math.ceil(math.log(after / before) / math.log(_FINE)) - 1, _BETWEEN) if before > 0.0 else _BETWEEN
        shares = np.arange(1.0, count + 1.0) / (count + 1.0)
        inside = values[(values > low) & (values < high)]
        if inside.size:
            more.append(inside[np.unique((shares * inside.size).astype(np.int64))])
        elif np.isfinite(low):
            more.append(np.setdiff1d(low + shares * (high - low), [low, high]))
    return np.unique(np.concatenate(more))
