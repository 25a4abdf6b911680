"""The word cache: words of rewards that may be asked for again, as after a level that was set too high."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place
from cutline.simulation.rewards import BLOCK, Stream, count_ones, reward_words

_ONE = np.uint64(1)
_BATCH = 8  # words that are made at once


class WordCache(NamedTuple):
    """For each arm a row of ``words``, ``known`` of them, from block ``first`` on; ``space`` is for making a batch."""

    words: NDArray[np.uint64]
    first: NDArray[np.int64]
    known: NDArray[np.int64]
    space: NDArray[np.uint64]


@jit
def empty_word_cache(arms: int, kept: int) -> WordCache:
    """Return an empty cache for ``kept`` words of each arm, rounded up to whole batches."""
    width = -(-kept // _BATCH) * _BATCH
    words = np.empty((arms, width), np.uint64)
    return WordCache(words, np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.empty(_BATCH, np.uint64))


@jit_in_place
def forget(cache: WordCache) -> None:
    """Empty the cache, for another run."""
    for arm in range(cache.known.size):
        cache.first[arm] = 0
        cache.known[arm] = 0


@jit_in_place
def word_at(arm: int, block: int, stream: Stream, cache: WordCache) -> Any:
    """Return a word of the arm's rewards, which are those of ``stream``, from the cache or made for it."""
    place = block - cache.first[arm]
    known = cache.known[arm]
    if 0 <= place < known:
        return cache.words[arm, place]
    width = cache.words.shape[1]
    if place != known or place == width:
        cache.first[arm] = block
        place = 0
    end = min(place + (_BATCH if block >= _BATCH else _BATCH // 2), width)
    reward_words(stream, block, cache.words[arm, place:end], cache.space)
    cache.known[arm] = end
    return cache.words[arm, place]


@jit_in_place
def count_rewards(arm: int, stream: Stream, cache: WordCache, first: int, end: int) -> int:
    """Return the sum of an arm's rewards ``first`` to ``end`` - 1."""
    total = 0
    n = first
    while n < end:
        lane = n & (BLOCK - 1)
        word = word_at(arm, n // BLOCK, stream, cache) >> np.uint64(lane)
        length = min(BLOCK - lane, end - n)
        if length < BLOCK:
            word &= (_ONE << np.uint64(length)) - _ONE
        total += count_ones(word)
        n += length
    return total
