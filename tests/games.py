"""The engines under test, and the policies of the paper next to their slow twins.

Not a test: what several tests need. A new engine is one more entry in ENGINES, and goes through all that they do.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import settings, strategies as st

import naive
from cutline import APT, LSA, UCBE, OptKG, Problem, Uniform
from cutline.compiled import kernel
from cutline.policies import Policy
from cutline.simulation import stepping
from cutline.simulation.chunks import Chunk, ChunkResult, play_on
from cutline.simulation.engines import ENGINES as BY_NAME
from cutline.simulation.ranking import by_rank
from cutline.simulation.skipping import waterline, wide


def share_of_examples(share: float) -> settings:
    """Let hypothesis try a share of the examples that its profile says, where each takes long."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))


def from_python(function: Callable[..., Any], kept: bool = True) -> Callable[..., Any]:
    """A building block of kernels, for a test to call; ``kept`` in the cache, which knows functions of files only."""

    def call(*arguments: Any) -> Any:
        return function(*arguments)

    compiled: Callable[..., Any] = kernel(call) if kept else numba.njit(call)
    return compiled


@dataclass(frozen=True)
class Engine:
    """An engine: what plays a chunk, and the functions of its module that compile its kernels for a policy.

    The engine by rank has no such functions: its kernels know no policy, only tables, and are compiled once.
    ``needs_ceiling``: it plays no policy without one. ``quick``: thousands of runs are no trouble.
    """

    module: ModuleType
    makers: tuple[str, ...]
    play: Callable[[Chunk], ChunkResult]
    needs_ceiling: bool = True
    quick: bool = True

    def __str__(self) -> str:
        return self.module.__name__.rpartition(".")[2]

    def plays(self, policy: type[Policy]) -> bool:
        return policy.ceiling is not None or not self.needs_ceiling

    def compile_anew(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let its kernels be compiled once more, with what the names of its module mean now."""
        for maker in self.makers:
            monkeypatch.setattr(self.module, maker, cache(getattr(self.module, maker).__wrapped__))


def play_split(chunk: Chunk) -> ChunkResult:
    with ThreadPoolExecutor(2) as pool:
        return wide.play_wide(chunk, pool, 2)


ENGINES = [
    Engine(
        stepping,
        ("stepping_kernel",),
        lambda chunk: play_on(stepping.stepping_kernel(type(chunk.policy)), chunk),
        needs_ceiling=False,
    ),
    Engine(
        waterline,
        ("waterline_kernel",),
        lambda chunk: play_on(waterline.waterline_kernel(type(chunk.policy)), chunk),
    ),
    Engine(by_rank, (), BY_NAME["ranking"], needs_ceiling=False),
    Engine(wide, ("slice_kernel", "finishing_kernel"), play_split, quick=False),
]


def play(
    engine: Engine,
    policy: Policy,
    problem: Problem,
    budgets: list[int],
    key: int,
    first_run: int = 0,
    runs: int = 1,
) -> ChunkResult:
    """Play some runs on an engine."""
    return engine.play(Chunk(problem, policy, np.array(budgets, np.int64), key, first_run, runs))


def sequence(result: ChunkResult) -> list[int]:
    """The arm of every pull after the first budget, where budgets are one apart and there is one run."""
    return [int(np.flatnonzero(step)[0]) for step in np.diff(result.pulls, axis=0)]


@dataclass(frozen=True)
class Instance:
    """A problem with exact means and threshold."""

    means: tuple[Fraction, ...]
    theta: Fraction

    @property
    def problem(self) -> Problem:
        return Problem([float(mean) for mean in self.means], float(self.theta))


@dataclass(frozen=True)
class Twin:
    """A policy, and its index as the paper has it."""

    policy: Policy
    index: Callable[[Instance, int], naive.Index]
    """index(instance, budget)"""

    def __str__(self) -> str:
        return str(self.policy)


def exactly(text: str) -> Fraction:
    return Fraction(text)


TWINS = [
    Twin(LSA(), lambda case, budget: naive.lsa(case.theta, exactly("1.35"))),
    Twin(LSA(0.5), lambda case, budget: naive.lsa(case.theta, exactly("0.5"))),
    Twin(APT(), lambda case, budget: naive.apt(case.theta, exactly("0"))),
    Twin(APT(0.05), lambda case, budget: naive.apt(case.theta, exactly("0.05"))),
    Twin(
        UCBE(), lambda case, budget: naive.ucbe(case.theta, naive.exploration(case.theta, list(case.means), budget, 0))
    ),
    Twin(
        UCBE(-1),
        lambda case, budget: naive.ucbe(case.theta, naive.exploration(case.theta, list(case.means), budget, -1)),
    ),
    Twin(OptKG(), lambda case, budget: naive.opt_kg(case.theta, exactly("1"), exactly("1"))),
    Twin(OptKG(3, 2), lambda case, budget: naive.opt_kg(case.theta, exactly("3"), exactly("2"))),
    Twin(OptKG(0.5, 0.5), lambda case, budget: naive.opt_kg(case.theta, exactly("0.5"), exactly("0.5"))),
    Twin(Uniform(), lambda case, budget: naive.uniform()),
]

THRESHOLDS = [Fraction(1, 2), Fraction("0.3"), Fraction("0.55"), Fraction(1, 3), Fraction("0.9"), Fraction("0.123456")]


@st.composite
def instances(draw: st.DrawFn, most_arms: int = 8) -> Instance:
    """Problems with many ties: few different means, on the threshold, 0 and 1 among them."""
    theta = draw(st.one_of(st.sampled_from(THRESHOLDS), st.integers(1, 999).map(lambda n: Fraction(n, 1000))))
    mean = st.one_of(
        st.sampled_from([Fraction(0), Fraction(1), theta]), st.integers(0, 20).map(lambda n: Fraction(n, 20))
    )
    return Instance(tuple(draw(st.lists(mean, min_size=1, max_size=most_arms))), theta)
