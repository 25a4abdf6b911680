"""The reward table: a pure function, exact means, and rewards that nothing ties together.

Statistical bounds are Hoeffding's: of n independent rewards the sum is off by more than sqrt(n ln(2/p) / 2) with
probability p at most. Each family of checks together fails by chance with probability ERROR at most.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import naive
from cutline.compiled import kernel
from cutline.simulation import rewards
from games import from_python

ERROR = 1e-9
BLOCKS = 1 << 13
MEANS = [0.5, 0.3, 0.1, 1 / 3, 0.99, 1e-3, 1 - 1e-3, 0.125, 2**-20]

means = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 0.25, 1e-300, 5e-324, 1 - 2**-53, 2**-53]), st.floats(0, 1e-10)
)


@kernel
def fill(words: Any, key: Any, run: int, arm: int, mean: float, first_block: int) -> None:
    state = rewards.arm_state(key, run, arm)
    stream = rewards.Stream(state, rewards.arm_increment(state), mean)
    for block in range(words.size):
        words[block] = rewards.reward_word(stream, first_block + block)


@kernel
def fill_at_once(words: Any, key: Any, run: int, arm: int, mean: float, first_block: int) -> None:
    state = rewards.arm_state(key, run, arm)
    space = np.empty(words.size, np.uint64)
    rewards.reward_words(rewards.Stream(state, rewards.arm_increment(state), mean), first_block, words, space)


@kernel
def fill_starts(words: Any, key: Any, mean: float, by_arm: bool) -> None:
    for n in range(words.size):
        state = rewards.arm_state(key, 0, n) if by_arm else rewards.arm_state(key, n, 0)
        words[n] = rewards.reward_word(rewards.Stream(state, rewards.arm_increment(state), mean), 0)


def table(
    mean: float,
    *,
    seed: int = 1,
    stream: str = "",
    run: int = 0,
    arm: int = 0,
    blocks: int = BLOCKS,
    first_block: int = 0,
) -> NDArray[np.bool_]:
    """Rewards 64 * first_block onwards of an arm, shape (blocks, 64)."""
    words = np.empty(blocks, np.uint64)
    with np.errstate(over="ignore"):
        fill(words, np.uint64(rewards.stream_key(seed, stream)), run, arm, mean, first_block)
    return bits(words)


def starts(mean: float, by_arm: bool, count: int = BLOCKS) -> NDArray[np.bool_]:
    """The first 64 rewards of many arms, or of one arm in many runs, shape (count, 64)."""
    words = np.empty(count, np.uint64)
    with np.errstate(over="ignore"):
        fill_starts(words, np.uint64(rewards.stream_key(1, "")), mean, by_arm)
    return bits(words)


def bits(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.unpackbits(words.view(np.uint8), bitorder="little").reshape(-1, 64).astype(bool)


def agreement_is_chance(first: NDArray[np.bool_], second: NDArray[np.bool_], checks: int) -> bool:
    """Whether two sets of fair rewards agree in half of all places, as far as Hoeffding's bound can tell."""
    agree = int(np.count_nonzero(first == second))
    return abs(agree - first.size / 2) <= math.sqrt(first.size * math.log(2 * checks / ERROR) / 2)


@pytest.mark.kernel
@given(
    seed=st.integers(0, 2**64 - 1),
    stream=st.sampled_from(["", "LSA(1.35)", "Opt-KG(1,1)"]),
    run=st.integers(0, 2**40),
    arm=st.integers(0, 2**40),
    block=st.integers(0, 2**46),
    mean=means,
)
def test_the_table_is_the_slow_twins_bit_for_bit(
    seed: int, stream: str, run: int, arm: int, block: int, mean: float
) -> None:
    key = naive.key_of(seed, stream)
    assert rewards.stream_key(seed, stream) == key
    want = [naive.reward(key, run, arm, 64 * block + lane, mean) for lane in range(64)]
    got = table(mean, seed=seed, stream=stream, run=run, arm=arm, blocks=1, first_block=block)
    assert got[0].astype(int).tolist() == want


@pytest.mark.kernel
@given(key=st.integers(0, 2**64 - 1), count=st.integers(1, 20), block=st.integers(0, 2**46), mean=means)
def test_many_words_at_once_are_the_same_words(key: int, count: int, block: int, mean: float) -> None:
    one_by_one, at_once = np.empty(count, np.uint64), np.empty(count, np.uint64)
    with np.errstate(over="ignore"):
        fill(one_by_one, np.uint64(key), 3, 4, mean, block)
        fill_at_once(at_once, np.uint64(key), 3, 4, mean, block)
    assert at_once.tolist() == one_by_one.tolist()


@pytest.mark.kernel
def test_its_words_are_those_of_splitmix64() -> None:
    """The first outputs of SplitMix64 from seed 0: published with the reference implementation (Vigna, 2015)."""
    golden = 0x9E3779B97F4A7C15
    mix = from_python(rewards.mix)
    with np.errstate(over="ignore"):
        outputs = [int(mix(np.uint64(n * golden % 2**64))) for n in (1, 2, 3)]
    assert outputs == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [naive.mix(n * golden % 2**64) for n in (1, 2, 3)] == outputs


@pytest.mark.kernel
def test_every_increment_is_odd_and_changes_between_ones_and_zeros_often() -> None:
    states = [naive.mix(n) for n in range(2000)]
    arm_increment = from_python(rewards.arm_increment)
    with np.errstate(over="ignore"):
        increments = [int(arm_increment(np.uint64(state))) for state in states]
    assert all(value % 2 == 1 for value in increments)
    assert min((value ^ value >> 1).bit_count() for value in increments) >= 24
    assert len(set(increments)) == 2000


@pytest.mark.kernel
@pytest.mark.parametrize("block", [0, 1, 10**6])
def test_means_0_and_1_are_certain(block: int) -> None:
    assert not table(0.0, blocks=200, first_block=block).any()
    assert table(1.0, blocks=200, first_block=block).all()


@pytest.mark.kernel
@pytest.mark.parametrize("mean", [1e-300, 5e-324, 2.0**-60])
def test_a_mean_next_to_0_gives_no_reward_in_a_lifetime(mean: float) -> None:
    """Of 12,800 rewards one is 1 with probability 12,800 * 2^-60 at most."""
    assert not table(mean, blocks=200).any()
    assert table(1 - 2**-53, blocks=200).all()


@pytest.mark.kernel
def test_a_dyadic_mean_reads_no_more_digits_than_it_has() -> None:
    """At 1/2 a reward is 1 where the first digit of U is 0; at 1/4 where the first two are."""
    key = naive.key_of(1, "")
    for block in range(20):
        first, second = (naive.word(key, 0, 0, 2048 * block + digit) for digit in (0, 1))
        lanes = range(64)
        assert table(0.5, blocks=1, first_block=block)[0].tolist() == [not first >> lane & 1 for lane in lanes]
        assert table(0.25, blocks=1, first_block=block)[0].tolist() == [
            not (first | second) >> lane & 1 for lane in lanes
        ]


@pytest.mark.kernel
@pytest.mark.parametrize("digits", [30, 52])
def test_the_comparison_is_exact_to_the_last_digit(digits: int) -> None:
    """A mean that agrees with U in its first digits is not above U; the next larger one is."""
    key = naive.key_of(1, "")
    for lane in range(64):
        first = sum((naive.word(key, 0, 0, place) >> lane & 1) << digits - 1 - place for place in range(digits))
        assert not table(first / 2**digits, blocks=1)[0, lane]
        assert table((first + 1) / 2**digits, blocks=1)[0, lane]


def test_rewards_grow_with_the_mean() -> None:
    """All means see the same U: a reward at a smaller mean is a reward at a larger one."""
    ladder = [table(mean, blocks=500) for mean in sorted([*MEANS, 0.0, 1.0])]
    for lower, higher in pairwise(ladder):
        assert not (lower & ~higher).any()


def within(sample: NDArray[np.bool_], mean: float, checks: int) -> bool:
    """Whether a frequency agrees with a mean: Bernstein's bound at error probability ERROR / checks."""
    n, log = sample.size, math.log(2 * checks / ERROR)
    bound = math.sqrt(2 * n * mean * (1 - mean) * log) + log * 2 / 3
    return abs(int(np.count_nonzero(sample)) - n * mean) <= bound


@pytest.mark.parametrize("mean", MEANS)
def test_every_lane_has_the_frequency_that_its_mean_says(mean: float) -> None:
    checks = 66 * len(MEANS)
    rewards_of_arm = table(mean)
    assert within(rewards_of_arm, mean, checks)
    assert all(within(rewards_of_arm[:, lane], mean, checks) for lane in range(64))
    assert within(starts(mean, by_arm=True), mean, checks)
    assert within(starts(mean, by_arm=False), mean, checks)


@pytest.mark.parametrize("mean", [0.5, 0.3, 0.99])
def test_the_check_of_frequencies_would_notice_a_mean_off_by_one_hundredth(mean: float) -> None:
    assert not within(table(mean), mean - 0.01, 66 * len(MEANS))


def test_lanes_blocks_arms_runs_streams_and_seeds_are_independent_of_each_other() -> None:
    base = table(0.5)
    others = {
        "seed": table(0.5, seed=2),
        "stream": table(0.5, stream="LSA(1.35)"),
        "next run": table(0.5, run=1),
        "next arm": table(0.5, arm=1),
        "far run": table(0.5, run=2**32),
        "run and arm exchanged": table(0.5, run=5, arm=3),
        "next block": table(0.5, first_block=1),
        "far block": table(0.5, first_block=BLOCKS),
        "2048 blocks on": table(0.5, first_block=2048),
    }
    others |= {f"{step} lanes on": np.roll(base, step, axis=1) for step in range(1, 33)}
    others |= {f"{step} arms on": np.roll(starts(0.5, True), step, axis=0) for step in (1, 2, 3)}
    for name, other in others.items():
        first = starts(0.5, True) if "arms on" in name else table(0.5, run=3, arm=5) if "exchanged" in name else base
        assert agreement_is_chance(first, other, len(others) + 2), name
    runs = starts(0.5, False)
    assert agreement_is_chance(runs, starts(0.5, True), len(others) + 2)
    assert agreement_is_chance(runs[1:], runs[:-1], len(others) + 2)


def test_the_check_of_independence_would_notice_one_reward_in_two_hundred_that_is_copied() -> None:
    base, other = table(0.5), table(0.5, arm=1)
    spoilt = other.copy()
    spoilt.ravel()[::70] = base.ravel()[::70]
    assert agreement_is_chance(base, other, 43)
    assert not agreement_is_chance(base, spoilt, 43)


def test_pairs_of_lanes_show_every_pattern_as_often_as_chance_has_it() -> None:
    """The correlation matrix of the lanes is the unit matrix, within Hoeffding's bound for all 64 * 63 / 2 pairs."""
    signs = 2.0 * table(0.5) - 1.0
    products = signs.T @ signs - BLOCKS * np.eye(64)
    bound = math.sqrt(2 * BLOCKS * math.log(64 * 63 / ERROR))
    assert np.abs(products).max() <= bound
    repeated = np.column_stack([signs[:, :32], signs[:, :32]])
    assert np.abs(repeated.T @ repeated - BLOCKS * np.eye(64)).max() > bound


def test_streams_with_different_names_or_seeds_have_different_keys() -> None:
    keys = {rewards.stream_key(seed, name) for seed in range(50) for name in ("", "LSA(1.35)", "APT(0)", "Uniform")}
    assert len(keys) == 200
    assert rewards.stream_key(1, "") != rewards.stream_key(0, "1:")
    assert max(keys) < 2**64
