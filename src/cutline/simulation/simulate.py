"""simulate: policies on a problem, over budgets and runs; validates, splits the work, collects."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cutline.checks import check_whole
from cutline.cluster import threads_of
from cutline.errors import InvalidInputError
from cutline.memory import require_memory
from cutline.policies import Policy
from cutline.problem import Problem
from cutline.progress import Progress, progress_bar
from cutline.simulation.checks import check_budgets, check_policies
from cutline.simulation.chunks import Chunk, pulls_of_a_run
from cutline.simulation.curves import RegretCurves
from cutline.simulation.engines import choose, play
from cutline.simulation.rewards import stream_key
from cutline.simulation.skipping.wide import play_wide
from cutline.simulation.workers import jobs_of, pool_of, run_all

STREAMS = ("common", "independent")

_PULLS_PER_CHUNK = 30_000_000
_BYTES_PER_ARM = 100


def simulate(
    problem: Problem,
    policies: Policy | str | Iterable[Policy | str],
    budgets: int | Iterable[int],
    *,
    runs: int = 5000,
    seed: int = 0,
    streams: str = "common",
    executor: Executor | int | None = None,
    progress: Progress | bool | None = None,
) -> RegretCurves:
    """Play every policy ``runs`` times on the problem and count the wrong decisions at every budget.

    The aggregate regret of a policy at a budget is the mean of those counts over runs (paper, eq. 3).

    ``policies``: policies or their names, such as ``[LSA(), "APT(0.05)"]``, no two alike.
    ``budgets``: pulls in all, increasing, each at least K. A policy that is not anytime (UCBE) is run afresh
    for each budget.
    ``streams``: "common" lets all policies see the same rewards (sharper comparisons), "independent" gives
    every policy its own.
    ``executor``: any concurrent.futures Executor, or a number of threads; default: a thread for each core.
    ``progress``: None shows a bar on a terminal, False none, a callable is told the pulls done as they are done.

    The same seed gives the same result on any executor. Raises InvalidInputError for what is out of range and
    OutOfMemoryError for a problem that cannot fit.
    """
    chosen = check_policies(policies)
    at = check_budgets(budgets, problem.arms)
    runs = check_whole("runs", runs, 1, 2**31 - 1)
    seed = check_whole("seed", seed, 0, 2**64 - 1)
    if streams not in STREAMS:
        raise InvalidInputError(f"streams is {streams!r}; it must be one of {', '.join(STREAMS)}")
    jobs = jobs_of(executor)
    an_arm = _BYTES_PER_ARM * jobs + at.size * (24 * jobs + 16 * len(chosen))
    require_memory(
        problem.arms * an_arm + 4 * len(chosen) * at.size * runs,
        f"{len(chosen)} policies on {problem.arms} arms at {at.size} budgets in {jobs} threads",
    )

    errors = np.empty((len(chosen), at.size, runs), np.int32)
    pulls = np.zeros((len(chosen), at.size, problem.arms), np.int64)
    work = [
        (row, chunk)
        for row, policy in enumerate(chosen)
        for chunk in _chunks(problem, policy, at, runs, stream_key(seed, _stream(policy, streams)))
    ]
    workers = threads_of(executor, jobs)
    choices = [choose(chunk, more_workers_than_runs=workers > runs) for _, chunk in work]
    engines = {row: choice.engine for (row, _), choice in zip(work, choices, strict=True)}
    total = sum(chunk.total_pulls for _, chunk in work)
    with progress_bar("simulating", total, progress) as advance, pool_of(executor) as pool:
        split = [position for position, choice in enumerate(choices) if choice.by_arms]
        whole = [position for position, choice in enumerate(choices) if not choice.by_arms]
        results = chain(
            ((position, play_wide(work[position][1], pool, workers)) for position in split),
            ((whole[place], done) for place, done in run_all(play, [work[position][1] for position in whole], pool)),
        )
        for position, result in results:
            row, chunk = work[position]
            errors[row, :, chunk.first_run : chunk.first_run + chunk.runs] = result.errors
            pulls[row] += result.pulls
            advance(chunk.total_pulls)
    return RegretCurves(
        problem=problem,
        policies=tuple(str(policy) for policy in chosen),
        budgets=at,
        errors=errors,
        pulls=pulls / runs,
        seed=seed,
        streams=streams,
        engines=tuple(engines[row] for row in range(len(chosen))),
    )


def _stream(policy: Policy, streams: str) -> str:
    return "" if streams == "common" else str(policy)


def _chunks(problem: Problem, policy: Policy, budgets: NDArray[np.int64], runs: int, key: int) -> Iterator[Chunk]:
    size = max(1, min(runs, _PULLS_PER_CHUNK // pulls_of_a_run(policy, budgets)))
    for first in range(0, runs, size):
        yield Chunk(problem, policy, budgets, key, first, min(size, runs - first))
