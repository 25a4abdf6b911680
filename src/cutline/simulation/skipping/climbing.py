"""Climbs: raising one arm above a level, a word of rewards at a time.

A climb takes what is left of a word and asks the policy's ``ceiling`` whether any record in it can have an
index above the level: first with all that the number of ones leaves open about their order, then with the true range
of the excess. If it still can, it goes on in groups: the ceilings of all records of a group, each for itself, are
computed side by side, and only records with a ceiling above the level get an index. The engine's words are explained in
``cutline.simulation.skipping``.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cutline.compiled import jit_in_place, jit_inlined, made_once, with_parameters
from cutline.policies.policy import Policy
from cutline.simulation.records import Record
from cutline.simulation.rewards import BLOCK, Stream, count_ones, stream_of
from cutline.simulation.skipping.state import PART, Rule, Run
from cutline.simulation.skipping.word_cache import WordCache, word_at
from cutline.simulation.tournament import lead_of, set_index

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_PART_BITS = np.uint64((1 << PART) - 1)
_GROUP = 16  # records whose ceilings are computed side by side
_FEW = 16  # with fewer pulls there is nothing to skip
_SHORT_STAY = 4  # so many pulls of a stay are looked at one by one; most stays are no longer
ROUNDING = 1e-14  # of the pulls: more than an excess, summed over a word, can be off


class Finish(NamedTuple):
    """What came of pulls by the rule of the stepping engine.

    ``left`` pulls are not made; ``level`` is the highest index with which an arm came to be pulled; ``highest`` is one
    that no index was above when its arm was pulled: the last arm may have gone on up to its rival's.
    """

    left: int
    level: float
    highest: float


class Climbing(NamedTuple):
    """The compiled pieces for one policy.

    climb(arm, stream, rule, cache, record, level, limit, skipped) pulls an arm from its record on until its index is
    above the level or it has ``limit`` pulls, and returns its record. finish(run, rule, left, stays, level) pulls the
    arms of a run, whose indices are in the tree, by the rule of the stepping engine until ``left`` pulls are made or
    the arm has changed ``stays`` times, and returns a ``Finish``, whose level is no lower than ``level``.
    """

    index_of: Callable[..., float]
    climb: Callable[..., Record]
    finish: Callable[..., Finish]


@made_once
def climbing(policy: type[Policy]) -> Climbing:
    """Compile the pieces for a policy that has a ceiling."""
    index_of = with_parameters(policy.index, 3)
    climb = _climb(policy)
    return Climbing(index_of, climb, _finish(index_of, climb))


def _climb(policy: type[Policy]) -> Callable[..., Record]:
    index = with_parameters(policy.index, 3)
    stays_below = _word_stays_below(policy)
    suspects = _suspects(policy)

    @jit_inlined
    def first_above(arm: int, rule: Rule, record: Record, word: Any, length: int, level: float) -> Record:
        """Return the first record with an index above the level within a word, or else its last, with index -inf."""
        n, s = record.pulls, record.total
        while length > 0:
            step = min(_GROUP, length)
            group = word & ((_ONE << np.uint64(step)) - _ONE)
            word >>= np.uint64(step)
            length -= step
            left = suspects(n, s, group, step, level, rule, arm)
            while left != np.uint64(0):
                up_to = left ^ (left - _ONE)
                pulls = n + count_ones(up_to)
                total = s + count_ones(group & up_to)
                value = index(float(pulls), float(total), rule.threshold, arm, rule.parameters)
                if value > level:
                    return Record(pulls, total, value)
                left &= left - _ONE
            n += step
            s += count_ones(group)
        return Record(n, s, -np.inf)

    @jit_in_place
    def climb(
        arm: int, stream: Stream, rule: Rule, cache: WordCache, record: Record, level: float, limit: int, skipped: Any
    ) -> Record:
        n, s = record.pulls, record.total
        while n < limit:
            lane = n & (BLOCK - 1)
            length = min(BLOCK - lane, limit - n)
            word = word_at(arm, n // BLOCK, stream, cache) >> np.uint64(lane)
            if length < BLOCK:
                word &= (_ONE << np.uint64(length)) - _ONE
            if n >= _FEW and stays_below(arm, rule, n, s, word, length, level):
                n += length
                s += count_ones(word)
                skipped[0] += length
            else:
                found = first_above(arm, rule, Record(n, s, 0.0), word, length, level)
                if found.value > level:
                    return found
                n, s = found.pulls, found.total
        return Record(n, s, index(float(n), float(s), rule.threshold, arm, rule.parameters))

    return climb


def _word_stays_below(policy: type[Policy]) -> Callable[..., bool]:
    assert policy.ceiling is not None
    ceiling = with_parameters(policy.ceiling, 5)

    @jit_in_place
    def bound_of(n: int, length: int, lowest: float, highest: float, rule: Rule, arm: int) -> float:
        margin = ROUNDING * (n + length)
        return ceiling(float(n), float(length), lowest - margin, highest + margin, rule.threshold, arm, rule.parameters)

    @jit_inlined
    def stays_below(arm: int, rule: Rule, n: int, s: int, word: Any, length: int, level: float) -> bool:
        """Say whether no record of an arm within a word can have an index above the level, by its ceiling."""
        threshold = rule.threshold
        ones = count_ones(word)
        here = s - threshold * n
        lowest = here - (length - ones) * threshold
        highest = here + ones * (1.0 - threshold)
        if bound_of(n, length, lowest, highest, rule, arm) <= level:
            return True
        if length <= _GROUP:
            return False
        lowest = here
        highest = here
        for _ in range(0, length, PART):
            part = word & _PART_BITS
            word >>= np.uint64(PART)
            lowest = min(lowest, here + rule.swings[part, 0])
            highest = max(highest, here + rule.swings[part, 1])
            here += rule.swings[part, 2]
        return bound_of(n, length, lowest, highest, rule, arm) <= level

    return stays_below


def _suspects(policy: type[Policy]) -> Callable[..., np.uint64]:
    assert policy.ceiling is not None
    ceiling = with_parameters(policy.ceiling, 5, inlined=True)

    @jit_in_place
    def ceilings_above(
        n: int, s: int, word: Any, level: float, threshold: float, parameters: Any, arm: int
    ) -> np.uint64:
        # LLVM makes vectors of this loop; if the mask of the first lanes comes from a function, it does not.
        found = np.uint64(0)
        for lane in range(_GROUP):
            pulls = float(n + 1 + lane)
            total = s + count_ones(word & ((_TWO << np.uint64(lane)) - _ONE))
            excess = float(total) - threshold * pulls
            margin = ROUNDING * pulls
            bound = ceiling(pulls, 0.0, excess - margin, excess + margin, threshold, arm, parameters)
            found |= np.uint64(bound > level) << np.uint64(lane)
        return found

    @jit_in_place
    def suspects(n: int, s: int, word: Any, length: int, level: float, rule: Rule, arm: int) -> np.uint64:
        """Return which of the next records, at most a group, have a ceiling above the level, as bits of a word.

        The compiler makes vectors of the loop if there is no branch left in it, hence a loop for the threshold 1/2.
        """
        if rule.threshold == 0.5:
            found = ceilings_above(n, s, word, level, 0.5, rule.parameters, arm)
        else:
            found = ceilings_above(n, s, word, level, rule.threshold, rule.parameters, arm)
        return found & ((_ONE << np.uint64(length)) - _ONE)

    return suspects


def _finish(index: Callable[..., float], climb: Callable[..., Record]) -> Callable[..., Finish]:
    @jit_in_place
    def finish(run: Run, rule: Rule, left: int, stays: int, level: float) -> Finish:
        """Pull until ``left`` pulls are made or the arm has changed; a stay ends like a climb, at the rival's index."""
        highest = level
        pulls, totals = run.records.pulls, run.records.totals
        while left > 0 and stays > 0:
            stays -= 1
            lead = lead_of(run.tree)
            arm, value = lead.arm, lead.value
            level = max(level, value)
            highest = max(level, lead.rivals_value)
            bar = lead.rivals_value
            if arm > lead.rival:
                bar = np.nextafter(bar, -np.inf)  # it loses a tie
            stream = stream_of(run.streams, arm)
            began = pulls[arm]
            n = began
            s = totals[arm]
            word = word_at(arm, n // BLOCK, stream, run.cache) >> np.uint64(n & (BLOCK - 1))
            end = min(n + min(left, _SHORT_STAY), (n // BLOCK + 1) * BLOCK)
            while n < end and value <= bar:
                s += np.int64(word & _ONE)
                word >>= _ONE
                n += 1
                value = index(float(n), float(s), rule.threshold, arm, rule.parameters)
            if value <= bar and n < began + left:
                n, s, value = climb(arm, stream, rule, run.cache, Record(n, s, value), bar, began + left, run.skipped)
            left -= n - began
            pulls[arm] = n
            totals[arm] = s
            run.records.indices[arm] = value
            set_index(run.tree, arm, value)
        return Finish(left, level, highest)

    return finish
