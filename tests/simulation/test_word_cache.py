"""The word cache of the skip-ahead engine, and the swings of the excess."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cutline.compiled import kernel
from cutline.simulation import rewards
from cutline.simulation.skipping import state, word_cache
from games import from_python


@kernel
def ask(blocks: Any, words: Any, made: Any, arms: int, kept: int, mean: float) -> None:
    cache = word_cache.empty_word_cache(arms, kept)
    for i in range(blocks.size):
        arm = i % arms
        start = rewards.arm_state(np.uint64(7), 1, arm)
        stream = rewards.Stream(start, rewards.arm_increment(start), mean)
        words[i] = word_cache.word_at(arm, blocks[i], stream, cache)
        made[i] = rewards.reward_word(stream, blocks[i])


@pytest.mark.kernel
@given(
    blocks=st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**40)), min_size=1, max_size=60),
    arms=st.integers(1, 3),
    kept=st.integers(1, 30),
    mean=st.sampled_from([0.0, 1e-5, 0.3, 0.5, 1.0]),
)
def test_the_cache_has_the_words_of_the_table_whatever_is_asked_before(
    blocks: list[int], arms: int, kept: int, mean: float
) -> None:
    words, made = np.empty(len(blocks), np.uint64), np.empty(len(blocks), np.uint64)
    with np.errstate(over="ignore"):
        ask(np.array(blocks, np.int64), words, made, arms, kept, mean)
    assert words.tolist() == made.tolist()


@pytest.mark.kernel
@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.9])
def test_swings_are_those_of_the_eight_rewards(threshold: float) -> None:
    swings = from_python(state.swings_of)(threshold)
    for pattern in range(256):
        path = np.cumsum([(pattern >> lane & 1) - threshold for lane in range(8)])
        want = [min(0.0, path.min()), max(0.0, path.max()), path[-1]]
        assert swings[pattern].tolist() == pytest.approx(want, abs=1e-15)
