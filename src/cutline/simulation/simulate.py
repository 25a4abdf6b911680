"""simulate: policies on a problem, over budgets and runs; validates, splits the work, collects."""

import dataclasses
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cutline.checks import check_whole
from cutline.errors import InvalidInputError
from cutline.memory import require_memory
from cutline.policies import LearningPolicy, Policy
from cutline.problem import Problem
from cutline.progress import Progress, progress_bar
from cutline.simulation.checks import check_budgets, check_policies
from cutline.simulation.chunks import Chunk, ChunkResult, pulls_of_a_run
from cutline.simulation.curves import RegretCurves
from cutline.simulation.deciding import check_decide
from cutline.simulation.engines import Choice, choose, play
from cutline.simulation.rewards import stream_key
from cutline.simulation.skipping.wide import play_wide
from cutline.simulation.workers import jobs_of, pool_of, run_all, threads_of

STREAMS = ("common", "independent")

_RUNS_OF_LEARNING = 5
_PULLS_PER_CHUNK = 30_000_000
_BYTES_PER_ARM = 100
_BYTES_PER_ERROR = 12
"""The number of a run's errors, and its distance from the mean when their standard error is computed."""
_BYTES_PER_CHUNK = 1000


def simulate(  # noqa: PLR0913 - what is played, how often, and how its decisions are made
    problem: Problem,
    policies: Policy | str | Iterable[Policy | str],
    budgets: int | Iterable[int],
    *,
    runs: int = 5000,
    seed: int = 0,
    streams: str = "common",
    decide: str = "mean",
    pulls: bool = True,
    executor: Executor | int | None = None,
    progress: Progress | bool | None = None,
) -> RegretCurves:
    """Play every policy ``runs`` times on the problem and count the wrong decisions at every budget.

    The aggregate regret of a policy at a budget is the mean of those counts over runs (paper, eq. 3).

    ``policies``: policies or their names, such as ``[LSA(), "APT(0.05)"]``, no two alike.
    ``budgets``: pulls in all, increasing, each at least K. A policy that is not anytime (UCBE) is run afresh for each.
    ``streams``: "common" lets all policies see the same rewards (sharper comparisons), "independent" each its own.
    ``decide``: "mean" calls an arm above whose mean reward is at or above the threshold, the paper's rule;
    "likelier" one that is more likely above than below by a prior learnt from all arms' records at that budget.
    ``pulls``: whether to count how often each arm was pulled, which takes time and memory with many arms and budgets.
    ``executor``: any concurrent.futures Executor, or a number of threads; default: one a core. The result is the same.
    ``progress``: None shows a bar on a terminal, False none, a callable is told the pulls done as they are done.

    Raises InvalidInputError for what is out of range and OutOfMemoryError for a problem that cannot fit.
    """
    chosen = check_policies(policies)
    at = check_budgets(budgets, problem.arms)
    runs = check_whole("runs", runs, 1, 2**31 - 1)
    seed = check_whole("seed", seed, 0, 2**64 - 1)
    check_decide(decide)
    _check_streams(streams)
    jobs = jobs_of(executor)
    sizes = [_chunk_size(policy, at, runs) for policy in chosen]
    whole = Chunk(problem, chosen[0], at, 0, 0, runs, decide, by_arm=pulls)
    _require_memory(whole, chosen, sizes, jobs)

    errors = np.empty((len(chosen), at.size, runs), np.int32)
    pulled = np.zeros((len(chosen), at.size, problem.arms if pulls else 0), np.int64)
    chunks = [chunk for policy in chosen for chunk in _chunks(whole, policy, seed, streams)]
    chunks.sort(key=lambda chunk: chunk.first_run)  # all policies side by side: some take longer for a pull
    workers = threads_of(executor, jobs)
    choices = [choose(chunk, more_workers_than_runs=workers > runs) for chunk in chunks]
    pulls_in_all = sum(chunk.total_pulls for chunk in chunks)
    with progress_bar("simulating", pulls_in_all, progress) as advance, pool_of(executor) as pool:
        _collect(_results(chunks, choices, pool, workers), chosen, errors, pulled, advance)
    engines = {chunk.policy: choice.engine for chunk, choice in zip(chunks, choices, strict=True)}
    return RegretCurves(
        problem=problem,
        policies=tuple(str(policy) for policy in chosen),
        budgets=at,
        errors=errors,
        pulls=pulled / runs,
        seed=seed,
        streams=streams,
        engines=tuple(engines[policy] for policy in chosen),
        decide=decide,
    )


def _check_streams(streams: str) -> None:
    if streams not in STREAMS:
        raise InvalidInputError(f"streams is {streams!r}; it must be one of {', '.join(STREAMS)}")


def _require_memory(whole: Chunk, policies: list[Policy], sizes: list[int], jobs: int) -> None:
    """Refuse runs that cannot fit; ``sizes``: how many runs of each policy a chunk has."""
    arms, looks, runs = whole.problem.arms, whole.budgets.size, whole.runs
    an_arm = _BYTES_PER_ARM * jobs
    if whole.by_arm:
        an_arm += 16 * looks * len(policies)
    if any(_is_played_by_arm(whole, policy, size) for policy, size in zip(policies, sizes, strict=True)):
        an_arm += 24 * looks * jobs
    what = (
        f"{runs:,} run{'s' * (runs > 1)} of {len(policies)} policies on {arms:,} arms at {looks} budgets"
        f" in {jobs} threads"
    )
    chunks = sum(ceil(runs / size) for size in sizes)
    for_runs = _BYTES_PER_ERROR * len(policies) * looks * runs + _BYTES_PER_CHUNK * chunks
    require_memory(arms * an_arm + for_runs, what)


def _is_played_by_arm(whole: Chunk, policy: Policy, runs: int) -> bool:
    """Say whether what each arm has come to at each budget is worked out: only one engine can leave it out."""
    if whole.by_arm or whole.decide != "mean":
        return True
    return choose(dataclasses.replace(whole, policy=policy, runs=runs)).engine != "ranking"


def _results(
    chunks: list[Chunk], choices: list[Choice], pool: Executor, workers: int
) -> Iterator[tuple[Chunk, ChunkResult]]:
    """Yield all chunks with their results as they come, those first whose runs are split by arms."""
    for chunk, choice in zip(chunks, choices, strict=True):
        if choice.by_arms:
            yield chunk, play_wide(chunk, pool, workers)
    whole = [chunk for chunk, choice in zip(chunks, choices, strict=True) if not choice.by_arms]
    for position, result in run_all(play, whole, pool):
        yield whole[position], result


def _collect(
    results: Iterable[tuple[Chunk, ChunkResult]],
    policies: list[Policy],
    errors: NDArray[np.int32],
    pulled: NDArray[np.int64],
    advance: Progress,
) -> None:
    """Write the errors of chunks to their runs, (P, B, runs), and add up their pulls, (P, B, K or 0), as they come."""
    for chunk, result in results:
        row = policies.index(chunk.policy)
        errors[row, :, chunk.first_run : chunk.first_run + chunk.runs] = result.errors
        pulled[row] += result.pulls[:, : pulled.shape[2]]
        advance(chunk.total_pulls)


def _chunk_size(policy: Policy, budgets: NDArray[np.int64], runs: int) -> int:
    """Return how many runs a chunk has."""
    return max(1, min(runs, _PULLS_PER_CHUNK // pulls_of_a_run(policy, budgets)))


def _chunks(whole: Chunk, policy: Policy, seed: int, streams: str) -> Iterator[Chunk]:
    """Yield a policy's part of the work, given all runs of any policy."""
    key = stream_key(seed, "" if streams == "common" else str(policy))
    size = _chunk_size(policy, whole.budgets, whole.runs)
    for first in range(0, whole.runs, size):
        runs = min(size, whole.runs - first)
        yield from _parts(dataclasses.replace(whole, policy=policy, key=key, first_run=first, runs=runs))


def _parts(chunk: Chunk) -> Iterator[Chunk]:
    """Yield a chunk as it is, or in parts of a few runs if its policy learns, since a refit takes long."""
    size = _RUNS_OF_LEARNING if isinstance(chunk.policy, LearningPolicy) else chunk.runs
    for first in range(0, chunk.runs, size):
        runs = min(size, chunk.runs - first)
        yield dataclasses.replace(chunk, first_run=chunk.first_run + first, runs=runs)
