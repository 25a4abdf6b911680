"""A wave against the arms looked at one reward after the other, and bands against the indices that they speak of."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cutline import Problem
from cutline.compiled import kernel
from cutline.policies import Policy, available, parse
from cutline.policies.policy import excess
from cutline.simulation import rewards
from cutline.simulation.chunks import parameter_tables
from cutline.simulation.records import Records
from cutline.simulation.skipping import climbing, state, wave

BANDED = [str(policy()) for policy in available() if policy.band is not None]
POLICIES = [*BANDED, "APT(0.05)", "UCBE(4)", "UCBE(-1)", "Opt-KG(0.5,0.5)", "Opt-KG(3,1)", "LSA(4)", "Ratio-Oracle(0)"]
EVEN = [name for name in POLICIES if name != "Opt-KG(3,1)"]
KEY = np.uint64(7)
RUN = 3


def first_parameters(policy: Policy, threshold: float) -> list[float]:
    problem = Problem([min(threshold + 0.07, 1.0), threshold / 2], threshold)
    return [float(value) for value in parameter_tables(policy, problem, np.array([10_000]))[0, 0]]


def highest_index_within(
    policy: Policy, threshold: float, pulls: int, length: int, line: tuple[float, float], parameters: list[float]
) -> float:
    """Return the highest index of the records of a block whose excess is within the line, as the engine reads it."""
    highest = -math.inf
    for n in range(pulls, pulls + length + 1):
        half = line[0] + (line[1] - line[0]) * (n - pulls) / length - climbing.ROUNDING * (pulls + length)
        for nearest in (math.floor(n * threshold + half), math.ceil(n * threshold - half)):
            for total in (nearest - 1, nearest, nearest + 1):
                if 0 <= total <= n and abs(excess(n, total, threshold)) <= half:
                    highest = max(highest, policy.index(float(n), float(total), threshold, *parameters))
    return highest


@pytest.mark.parametrize("name", POLICIES)
@given(
    threshold=st.sampled_from([0.5, 0.5, 0.3, 1 / 3, 0.99]),
    pulls=st.one_of(st.integers(1, 200), st.sampled_from([10**4, 10**6, 10**8])),
    length=st.sampled_from([1, 17, 64, 64]),
    apart=st.one_of(st.integers(-40, 40), st.floats(-8, 8)),
    share=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_no_index_within_a_band_is_above_its_level(
    name: str, threshold: float, pulls: int, length: int, apart: float, share: float
) -> None:
    """Hunts at levels that are the index of a record of the block: some of its records are just inside the line."""
    policy = parse(name)
    assert policy.band is not None
    parameters = first_parameters(policy, threshold)
    n = pulls + round(share * length)
    away = apart if isinstance(apart, int) else apart * math.sqrt(n)
    total = min(n, max(0, round(n * threshold + away)))
    level = policy.index(float(n), float(total), threshold, *parameters)
    line = policy.band(float(pulls), float(length), level, threshold, *parameters)
    if min(line) >= climbing.ROUNDING * (pulls + length):
        assert highest_index_within(policy, threshold, pulls, length, line, parameters) <= level


@pytest.mark.parametrize("name", EVEN)
def test_a_band_a_little_wider_would_be_found_out(name: str) -> None:
    """The control of the hunt; and so a band is no less than 0.97 of what it could be, and one reward."""
    policy = parse(name)
    assert policy.band is not None
    parameters = first_parameters(policy, 0.5)
    for pulls in (300, 5000):
        total = pulls // 2 + round(1.5 * math.sqrt(pulls))
        level = policy.index(float(pulls), float(total), 0.5, *parameters)
        line = policy.band(float(pulls), 1.0, level, 0.5, *parameters)
        assert min(line) > 0.0
        wider = (line[0] / 0.97 + 1.0, line[1] / 0.97 + 1.0)
        assert highest_index_within(policy, 0.5, pulls, 1, line, parameters) <= level
        assert highest_index_within(policy, 0.5, pulls, 1, wider, parameters) > level


def test_opt_kg_knows_nothing_away_from_one_half() -> None:
    policy = parse("Opt-KG")
    assert policy.band is not None
    assert policy.band(100.0, 64.0, 9.0, 0.3, 1.0, 1.0) == (-1.0, -1.0)


@cache
def wave_kernel(policy: type[Policy]) -> Callable[..., tuple[int, int]]:
    """Compile a wave over the arms of a run that begins, for Python to call."""
    surge = wave.wave_of(policy)

    def make_wave(means: Any, threshold: float, parameters: Any, records: Records, level: float) -> tuple[int, int]:
        run = state.empty_run(means, 1, np.zeros(1, np.int64))
        rewards.begin_run(run.streams, KEY, RUN, 0)
        rule = state.Rule(threshold, parameters, state.swings_of(threshold))
        made: tuple[int, int] = surge(run, rule, records, wave.empty_wave_buffers(parameters.shape[1]), level)
        return made

    return kernel(make_wave)


@kernel
def make_words(words: Any, arm: int, mean: float) -> None:
    start = rewards.arm_state(KEY, RUN, arm)
    stream = rewards.Stream(start, rewards.arm_increment(start), mean)
    for block in range(words.size):
        words[block] = rewards.reward_word(stream, block)


def path(policy: Policy, arm: int, mean: float, threshold: float, row: Any, last: int) -> list[tuple[int, int, float]]:
    """Return the records (pulls, total, index) of an arm with 1 to ``last`` pulls."""
    words = np.empty(last // 64 + 1, np.uint64)
    make_words(words, arm, mean)
    bits = [int(word) >> lane & 1 for word in words for lane in range(64)]
    totals = np.cumsum(bits).tolist()
    return [(n, s, policy.index(float(n), float(s), threshold, *row)) for n, s in enumerate(totals[:last], 1)]


def wave_over(
    policy: Policy, arms: int, threshold: float
) -> tuple[list[int], float, list[list[tuple[int, int, float]]], Records]:
    """Return where arms stand before a wave, its level, the records that they can come to, and those that they did."""
    rng = np.random.default_rng(arms)
    problem = Problem(np.clip(rng.normal(threshold, 0.1, arms), 0.0, 1.0), threshold)
    table = parameter_tables(policy, problem, np.array([10_000]))[0]
    starts = rng.integers(100, 900, arms).tolist()
    with np.errstate(over="ignore"):
        paths = [
            path(policy, arm, float(problem.means[arm]), threshold, table[arm], start + 64)
            for arm, start in enumerate(starts)
        ]
        begins = [records[start - 1] for start, records in zip(starts, paths, strict=True)]
        level = float(np.median([value for _, _, value in begins])) + 0.2
        records = Records(*(np.array(column) for column in zip(*begins, strict=True)))
        made, waiting = wave_kernel(type(policy))(problem.means, threshold, table, records, level)
    assert made == sum(records.pulls) - sum(starts)
    assert waiting == np.count_nonzero(records.indices <= level)
    return starts, level, paths, records


@pytest.mark.kernel
@pytest.mark.parametrize("name", ["LSA", "Opt-KG", "Ratio-Oracle"])
@pytest.mark.parametrize("arms", [1, 7, 150])
@pytest.mark.parametrize("threshold", [0.5, 0.3])
def test_no_arm_passes_a_record_above_the_level_and_few_stop_short_of_it(
    name: str, arms: int, threshold: float
) -> None:
    starts, level, paths, records = wave_over(parse(name), arms, threshold)
    blind = name == "Opt-KG" and threshold != 0.5  # there it has no band: an arm stops at its next record
    short = 0
    for arm, (start, reached) in enumerate(zip(starts, paths, strict=True)):
        n, total, value = reached[records.pulls[arm] - 1]
        assert (n, total) == (records.pulls[arm], records.totals[arm])
        assert records.indices[arm] == pytest.approx(value, rel=1e-12)
        if reached[start - 1][2] > level:
            assert n == start
            continue
        assert n == start + 1 if blind else n > start
        assert all(value <= level for _, _, value in reached[start : n - 1])
        short += value <= level and n < start + 64
    assert blind or short <= arms // 10 + (arms > 1)
