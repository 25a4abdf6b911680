"""Which engine plays a chunk, and playing it. All engines give the same result, bit for bit; they differ in speed.

A new engine is a function from a chunk to its result and an entry in ``ENGINES``; ``engines_for`` says what it can
play, ``choose`` when it is the fastest.
"""

from collections.abc import Callable
from typing import NamedTuple

from cutline.policies.policy import LearningPolicy
from cutline.simulation.chunks import Chunk, ChunkResult, play_on, pulls_of_a_run
from cutline.simulation.skipping.waterline import waterline_kernel
from cutline.simulation.stages import play_stages
from cutline.simulation.stepping import stage_kernel, stepping_kernel

_WORTH_SKIPPING = 20
_WORTH_A_LOOK = 20
_WORTH_SPLITTING = 20_000


def _stepping(chunk: Chunk) -> ChunkResult:
    if isinstance(chunk.policy, LearningPolicy):
        return play_stages(stage_kernel(type(chunk.policy)), chunk)
    return play_on(stepping_kernel(type(chunk.policy)), chunk)


def _waterline(chunk: Chunk) -> ChunkResult:
    return play_on(waterline_kernel(type(chunk.policy)), chunk)


ENGINES: dict[str, Callable[[Chunk], ChunkResult]] = {"stepping": _stepping, "waterline": _waterline}
"""Each engine by the name that ``RegretCurves.engines`` gives."""


def engines_for(chunk: Chunk) -> list[str]:
    """Return the names of the engines that can play a chunk, the stepping engine, which is the definition, first."""
    return ["stepping"] if chunk.policy.ceiling is None else ["stepping", "waterline"]


class Choice(NamedTuple):
    """The engine for a chunk, and whether each of its runs is split over the workers by arms."""

    engine: str
    by_arms: bool


def choose(chunk: Chunk, more_workers_than_runs: bool = False) -> Choice:
    """Choose the engine for a chunk: the skip-ahead engine where it can play the policy and there is enough to skip.

    Below some 20 pulls an arm, and 20 more for each look, there is nothing to gain, except from a policy that reads no
    rewards. Where workers would be idle, runs with very many arms are split by arms.
    """
    if "waterline" not in engines_for(chunk):
        return Choice("stepping", False)
    arms, looks = chunk.problem.arms, chunk.budgets.size
    games = 1 if chunk.policy.anytime else looks
    enough = arms * (_WORTH_SKIPPING * games + _WORTH_A_LOOK * looks)
    if chunk.policy.reads_rewards and pulls_of_a_run(chunk.policy, chunk.budgets) < enough:
        return Choice("stepping", False)
    return Choice("waterline", more_workers_than_runs and arms >= _WORTH_SPLITTING)


def play(chunk: Chunk, engine: str | None = None) -> ChunkResult:
    """Play a chunk, on the engine chosen for it or the one named. A pure function of the chunk, wherever it runs."""
    return ENGINES[engine or choose(chunk).engine](chunk)
