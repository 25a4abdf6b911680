"""The reward table: reward t of arm i in run r is a pure function of (seed, stream, r, i, t).

Nothing depends on the order of pulls, so every engine reads the same table, policies can share their
rewards, and work can be split in any way. Rewards are Bernoulli and come 64 to a word: lane j of block w is
reward 64 w + j.

The random words are those of SplitMix (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
OOPSLA 2014): each (seed, stream, run, arm) has a state and an odd increment of its own, and word n is the
finalised state + n * increment. A block owns 2048 words. Word d of a block holds, for each lane, binary digit d of
a uniform number U; a reward is 1 where U < mean. The digits of U are compared with those of the mean, most
significant first, while some lane is undecided: about 7 words decide 64 rewards, and a few are always made, since that
can be done for many blocks side by side (``reward_words``). The comparison is exact for
every mean that a double can hold, 0 and 1 among them.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ALTERNATING = np.uint64(0xAAAAAAAAAAAAAAAA)
_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_BLOCK_BITS = np.uint64(11)
_63 = np.uint64(63)
_TWO_64 = 2.0**64
_SMALL = 2.0**-11  # from here on a double is a whole number of 2^-64
_ALWAYS = 8  # words made without asking whether they are needed: a loop of fixed length runs them in parallel
_ALWAYS_OF_MANY = 10  # the same for many blocks side by side

BLOCK = 64
"""Rewards in a word."""


class Stream(NamedTuple):
    """The rewards of one arm in one run: the state and the increment of its random words, and the arm's mean."""

    state: np.uint64
    increment: np.uint64
    mean: float


class Streams(NamedTuple):
    """The streams of all arms in one run, (K,) each."""

    states: NDArray[np.uint64]
    increments: NDArray[np.uint64]
    means: NDArray[np.float64]


@jit_in_place
def mix(z: np.uint64) -> np.uint64:
    """Return the finaliser of SplitMix64 (Stafford's variant 13), a bijection that scatters every bit."""
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@jit_in_place
def count_ones(word: np.uint64) -> int:
    """Return the number of ones in a word (LLVM makes one instruction of it)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit_in_place
def arm_state(key: np.uint64, run: int, arm: int) -> np.uint64:
    """Return the state from which the words of one arm in one run are counted."""
    return mix(mix(key ^ mix(np.uint64(run) + _GOLDEN)) ^ mix(np.uint64(arm) + _GOLDEN))


@jit_in_place
def arm_increment(state: np.uint64) -> np.uint64:
    """Return the odd increment that goes with a state; its bits change often, as SplitMix asks."""
    increment = mix(state + _GOLDEN) | _ONE
    changes = increment ^ (increment >> _ONE)
    return increment ^ _ALTERNATING if count_ones(changes) < 24 else increment


@jit
def empty_streams(means: NDArray[np.float64]) -> Streams:
    """Return streams for arms of these means, before ``begin_run``."""
    return Streams(np.empty(means.size, np.uint64), np.empty(means.size, np.uint64), means)


@jit_in_place
def begin_run(streams: Streams, key: np.uint64, run: int, first_arm: int) -> None:
    """Set the streams to those of a run, for arms from ``first_arm`` on."""
    for arm in range(streams.states.size):
        streams.states[arm] = arm_state(key, run, first_arm + arm)
        streams.increments[arm] = arm_increment(streams.states[arm])


@jit_in_place
def stream_of(streams: Streams, arm: int) -> Stream:
    """Return one arm's stream."""
    return Stream(streams.states[arm], streams.increments[arm], streams.means[arm])


@jit_in_place
def _compare(word: np.uint64, digit: np.uint64, ones: np.uint64, undecided: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Compare a digit of every lane's U, the bits of ``word``, with the mean's, which is all zeros or all ones here.

    Returns ``ones``, the lanes whose U is below the mean, and those still undecided, whose digits were all equal.
    """
    return ones | (undecided & ~word & digit), undecided & ~(word ^ digit)


@jit_in_place
def _decide(
    counter: np.uint64, increment: np.uint64, digits: np.uint64, ones: np.uint64, undecided: np.uint64
) -> np.uint64:
    """Return the rewards of a word when the lanes still undecided have been compared with further digits."""
    while undecided != _ZERO and digits != _ZERO:
        ones, undecided = _compare(mix(counter), _ZERO - (digits >> _63), ones, undecided)
        counter += increment
        digits <<= _ONE
    return ones


@jit_in_place
def _reward_word_of_small_mean(counter: np.uint64, increment: np.uint64, mean: float) -> np.uint64:
    """Return the word of a mean whose binary digits do not fit into 64 bits."""
    ones = _ZERO
    undecided = _ALL
    digits = mean
    while undecided != _ZERO and digits > 0.0:
        digits *= 2.0
        one = digits >= 1.0
        ones, undecided = _compare(mix(counter), _ALL if one else _ZERO, ones, undecided)
        counter += increment
        digits -= 1.0 if one else 0.0
    return ones


@jit_in_place
def reward_word(stream: Stream, block: int) -> np.uint64:
    """Return 64 Bernoulli(mean) rewards as the bits of a word, reward 64 * block in the lowest."""
    if stream.mean >= 1.0:
        return _ALL
    counter = stream.state + (np.uint64(block) << _BLOCK_BITS) * stream.increment
    if stream.mean < _SMALL:
        return _reward_word_of_small_mean(counter, stream.increment, stream.mean)
    ones = _ZERO
    undecided = _ALL
    digits = np.uint64(stream.mean * _TWO_64)
    for _ in range(_ALWAYS):
        ones, undecided = _compare(mix(counter), _ZERO - (digits >> _63), ones, undecided)
        counter += stream.increment
        digits <<= _ONE
    return _decide(counter, stream.increment, digits, ones, undecided)


@jit_in_place
def reward_words(stream: Stream, block: int, words: Any, undecided: Any) -> None:
    """Fill ``words`` (B,) with what ``reward_word`` returns for B blocks from ``block`` on; the compiler makes vectors.

    ``undecided`` is space for as many words.
    """
    state, increment, mean = stream
    if not _SMALL <= mean < 1.0:
        for i in range(words.size):
            words[i] = reward_word(stream, block + i)
        return
    digits = np.uint64(mean * _TWO_64)
    for i in range(words.size):
        counter = state + (np.uint64(block + i) << _BLOCK_BITS) * increment
        ones = _ZERO
        open_lanes = _ALL
        for place in range(_ALWAYS_OF_MANY):
            digit = _ZERO - ((digits >> np.uint64(63 - place)) & _ONE)
            ones, open_lanes = _compare(mix(counter), digit, ones, open_lanes)
            counter += increment
        words[i] = ones
        undecided[i] = open_lanes
    for i in range(words.size):
        if undecided[i] != _ZERO:
            first = (np.uint64(block + i) << _BLOCK_BITS) + np.uint64(_ALWAYS_OF_MANY)
            rest = digits << np.uint64(_ALWAYS_OF_MANY)
            words[i] = _decide(state + first * increment, increment, rest, words[i], undecided[i])


@jit_in_place
def first_words(streams: Streams, words: Any, undecided: Any) -> None:
    """Fill ``words`` (K,) with what ``reward_word`` returns for every arm's block 0; the compiler makes vectors.

    ``undecided`` is space for as many words.
    """
    for arm in range(words.size):
        counter = streams.states[arm]
        mean = streams.means[arm]
        digits = np.uint64((mean if mean < 1.0 else 0.0) * _TWO_64)
        ones = _ZERO
        open_lanes = _ALL
        for place in range(_ALWAYS_OF_MANY):
            digit = _ZERO - ((digits >> np.uint64(63 - place)) & _ONE)
            ones, open_lanes = _compare(mix(counter), digit, ones, open_lanes)
            counter += streams.increments[arm]
        words[arm] = ones
        undecided[arm] = open_lanes
    for arm in range(words.size):
        if not _SMALL <= streams.means[arm] < 1.0:
            words[arm] = reward_word(stream_of(streams, arm), 0)
        elif undecided[arm] != _ZERO:
            increment = streams.increments[arm]
            rest = np.uint64(streams.means[arm] * _TWO_64) << np.uint64(_ALWAYS_OF_MANY)
            counter = streams.states[arm] + np.uint64(_ALWAYS_OF_MANY) * increment
            words[arm] = _decide(counter, increment, rest, words[arm], undecided[arm])


def stream_key(seed: int, stream: str) -> int:
    """Return the 64-bit key of a stream of rewards.

    Policies with one stream name see the same rewards (common random numbers); two names are independent.
    """
    return int.from_bytes(hashlib.sha256(f"{seed}:{stream}".encode()).digest()[:8], "little")
