"""simulate: policies on a problem, over budgets and runs; validates, splits the work, collects."""

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import chain, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cutline.cluster import threads_of
from cutline.errors import InvalidInputError
from cutline.memory import require_memory
from cutline.policies import Policy, parse
from cutline.problem import Problem
from cutline.progress import Progress, progress_bar
from cutline.simulation.chunks import Chunk, play, pulls_of_a_run
from cutline.simulation.curves import RegretCurves
from cutline.simulation.rewards import stream_key
from cutline.simulation.skipping.wide import is_wide, play_wide

Work = TypeVar("Work")
Result = TypeVar("Result")

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
    runs = check_whole("runs", runs, 1, 2**31 - 1, "1 or more")
    seed = check_whole("seed", seed, 0, 2**64 - 1, "a whole number from 0 to 2^64 - 1")
    if streams not in STREAMS:
        raise InvalidInputError(f"streams is {streams!r}; it must be one of {', '.join(STREAMS)}")
    if not isinstance(executor, (int, Executor, type(None))):
        raise InvalidInputError(f"executor is {executor!r}; it must be a number of threads or an Executor")
    jobs = executor if isinstance(executor, int) else available_cores()
    if jobs < 1:
        raise InvalidInputError(f"jobs is {jobs}; it must be 1 or more")
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
    engines = {row: chunk.engine for row, chunk in work}
    workers = threads_of(executor, jobs)
    by_arms = [runs < workers and is_wide(chunk) for _, chunk in work]
    total = sum(chunk.total_pulls for _, chunk in work)
    with progress_bar("simulating", total, progress) as advance, pool_of(executor) as pool:
        wide = [position for position, split in enumerate(by_arms) if split]
        whole = [position for position, split in enumerate(by_arms) if not split]
        results = chain(
            ((position, play_wide(work[position][1], pool, workers)) for position in wide),
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


def run_all(
    function: Callable[[Work], Result], items: Sequence[Work], executor: Executor | int | None
) -> Iterator[tuple[int, Result]]:
    """Hand every item to the executor and yield (position, result) as they come; stop all the rest on an error."""
    with pool_of(executor) as pool:
        positions = {pool.submit(function, item): position for position, item in enumerate(items)}
        try:
            for future in as_completed(positions):
                yield positions[future], future.result()
        except BaseException:
            for future in positions:
                future.cancel()
            raise


@contextmanager
def pool_of(executor: Executor | int | None) -> Iterator[Executor]:
    """Yield the executor, or one of as many threads as asked for (None: a thread for each core)."""
    if isinstance(executor, Executor):
        yield executor
        return
    own = ThreadPoolExecutor(executor or available_cores())
    try:
        yield own
    finally:
        own.shutdown(wait=False, cancel_futures=True)


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_whole(name: str, value: int, least: int, most: int, wanted: str) -> int:
    """Return a whole number as an int; raise InvalidInputError if it is none, or out of range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidInputError(f"{name} is {value!r}; it must be a whole number") from None
    if not least <= number <= most:
        raise InvalidInputError(f"{name} is {number}; it must be {wanted}")
    return number


def check_policies(policies: Policy | str | Iterable[Policy | str]) -> list[Policy]:
    """Return the policies, names parsed; raise InvalidInputError if there is none or one twice."""
    if isinstance(policies, (Policy, str)):
        policies = [policies]
    chosen = [parse(item) if isinstance(item, str) else item for item in policies]
    for item in chosen:
        if not isinstance(item, Policy):
            raise InvalidInputError(f"{item!r} is not a policy; give one such as LSA() or its name")
    if not chosen:
        raise InvalidInputError("no policies: give at least one, such as LSA")
    names = [str(policy) for policy in chosen]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"policy {name} is given twice")
    return chosen


def check_budgets(budgets: int | Iterable[int], arms: int) -> NDArray[np.int64]:
    """Return budgets as an increasing int64 array; raise InvalidInputError if they are not, or one is below K."""
    given = list(budgets) if isinstance(budgets, Iterable) else [budgets]
    try:
        values = [int(value) for value in given]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"budgets must be whole numbers, not {given!r}") from None
    if not values or any(value != original for value, original in zip(values, given, strict=True)):
        raise InvalidInputError(f"budgets must be whole numbers, at least one, not {given!r}")
    if values[0] < arms:
        raise InvalidInputError(f"budget {values[0]} is below the number of arms, {arms}: every arm is pulled once")
    for before, after in pairwise(values):
        if after <= before:
            raise InvalidInputError(f"budgets must increase: {after} comes after {before}")
    if values[-1] >= 2**53:
        raise InvalidInputError(f"budget {values[-1]} is too large; the most is 2^53 - 1")
    return np.array(values, np.int64)


def _stream(policy: Policy, streams: str) -> str:
    return "" if streams == "common" else str(policy)


def _chunks(problem: Problem, policy: Policy, budgets: NDArray[np.int64], runs: int, key: int) -> Iterator[Chunk]:
    size = max(1, min(runs, _PULLS_PER_CHUNK // pulls_of_a_run(policy, budgets)))
    for first in range(0, runs, size):
        yield Chunk(problem, policy, budgets, key, first, min(size, runs - first))
