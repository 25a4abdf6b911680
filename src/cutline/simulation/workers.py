"""Handing work to an executor: how many jobs go at a time, and what comes back as it comes."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from cutline.errors import InvalidInputError

Work = TypeVar("Work")
Result = TypeVar("Result")


def jobs_of(executor: Executor | int | None) -> int:
    """Return how many threads work here: as many as asked for, else one for each core.

    Raises InvalidInputError for what is neither an executor nor a number of threads from 1 on.
    """
    if not isinstance(executor, (int, Executor, type(None))):
        raise InvalidInputError(f"executor is {executor!r}; it must be a number of threads or an Executor")
    jobs = executor if isinstance(executor, int) else available_cores()
    if jobs < 1:
        raise InvalidInputError(f"jobs is {jobs}; it must be 1 or more")
    return jobs


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(executor: Executor | int | None, otherwise: int) -> int:
    """Return how many pieces of work an executor does at a time, ``otherwise`` if it does not tell."""
    client = getattr(executor, "_client", None)  # of dask.distributed's executor
    if client is not None:
        return sum(client.nthreads().values()) or otherwise
    return int(getattr(executor, "_max_workers", otherwise))


@contextmanager
def pool_of(executor: Executor | int | None) -> Iterator[Executor]:
    """Yield the executor, or one of as many threads as asked for (None: a thread for each core)."""
    if isinstance(executor, Executor):
        yield executor
        return
    own = ThreadPoolExecutor(jobs_of(executor))
    try:
        yield own
    finally:
        own.shutdown(wait=False, cancel_futures=True)


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
