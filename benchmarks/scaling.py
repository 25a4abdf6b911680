"""What crosses the network when simulations run on other processes or machines, and what that costs.

    python benchmarks/scaling.py [--dask ADDRESS] [--workers N] [--runs N] [--arms K] [--pulls N]

Sizes are of pickles, which is what executors send. Times are of threads here, of a pool of N processes here, and, with
an address, of that cluster: the shortest of three after a first one that compiles. All must agree.
"""

import argparse
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from typing import Any

import numpy as np

from cutline.cluster import cluster
from cutline.paper.setups import OURS, SETUPS
from cutline.problem import Problem
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import play
from cutline.simulation.simulate import simulate
from cutline.simulation.skipping.wide import play_wide
from cutline.simulation.workers import threads_of


class Weighing(Executor):
    """Does the work here and now, and adds up what an executor of processes would have sent and got back."""

    def __init__(self) -> None:
        self.passes, self.sent, self.received = 0, 0, 0

    def map(self, fn: Callable[..., Any], *iterables: Any, **options: Any) -> Iterator[Any]:
        self.passes += 1
        return iter([self._weighed(fn, *arguments) for arguments in zip(*iterables, strict=True)])

    def _weighed(self, fn: Callable[..., Any], *arguments: Any) -> Any:
        result = fn(*arguments)
        self.sent += len(pickle.dumps((fn, arguments)))
        self.received += len(pickle.dumps(result))
        return result


def chunk_of(problem: Problem, budgets: list[int], runs: int) -> Chunk:
    return Chunk(problem, OURS, np.array(budgets, np.int64), 1, 0, runs)


def sizes_of_chunks() -> None:
    print("a chunk of runs: bytes sent and received, and pulls")
    print(f"{'':<44} {'sent':>12} {'received':>12} {'pulls':>14}")
    many = Problem(np.linspace(0.0, 1.0, 10_000))
    for name, problem, budgets in [
        *((f"Setup {number}", SETUPS[number].problem, SETUPS[number].budgets) for number in (1, 3)),
        ("10,000 arms, 1 budget", many, [1_000_000]),
        ("10,000 arms, 20 budgets", many, [50_000 * b for b in range(1, 21)]),
    ]:
        runs = max(1, min(5000, 30_000_000 // budgets[-1]))
        chunk = chunk_of(problem, list(budgets), runs)
        sent, received = len(pickle.dumps((play, chunk))), len(pickle.dumps(play(chunk)))
        what = f"{name}, {runs:,} {'run' if runs == 1 else 'runs'}"
        print(f"{what:<44} {sent:>12,} {received:>12,} {chunk.total_pulls:>14,}")


def sizes_of_passes(arms: int, pulls: int, workers: int) -> None:
    weighing = Weighing()
    play_wide(chunk_of(Problem(np.linspace(0.0, 1.0, arms)), [pulls], 1), weighing, workers)
    print(f"\none run of {arms:,} arms and {pulls:,} pulls, split by arms for {workers} workers")
    print(f"{weighing.passes} passes; bytes an arm and pass: ", end="")
    print(
        f"{weighing.sent / arms / weighing.passes:.1f} sent, {weighing.received / arms / weighing.passes:.1f} received"
    )
    print(f"in all {weighing.sent / 1e6:,.0f} MB sent and {weighing.received / 1e6:,.0f} MB received")


def timed(work: Callable[[Executor | int], Any], executor: Executor | int) -> float:
    start = time.perf_counter()
    work(executor)
    return time.perf_counter() - start


def times(executors: dict[str, Executor | int], options: argparse.Namespace) -> None:
    setup = SETUPS[3]
    wide = Problem(np.linspace(0.0, 1.0, options.arms))
    works: dict[str, Callable[[Executor | int], Any]] = {
        f"Setup 3, {options.runs:,} runs of LSA": lambda executor: simulate(
            setup.problem, OURS, setup.budgets, runs=options.runs, executor=executor, progress=False
        ),
        f"{options.arms:,} arms, {options.pulls:,} pulls": lambda executor: simulate(
            wide, OURS, options.pulls, runs=1, executor=executor, progress=False
        ),
    }
    for what, work in works.items():
        print(f"\n{what}")
        errors = []
        for name, executor in executors.items():
            errors.append(work(executor).errors)
            print(f"  {name:<30} {min(timed(work, executor) for _ in range(3)):>8.2f} s", flush=True)
        print(f"  all alike: {all(np.array_equal(errors[0], other) for other in errors)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dask", metavar="ADDRESS")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--arms", type=int, default=1_000_000)
    parser.add_argument("--pulls", type=int, default=100_000_000)
    options = parser.parse_args()
    sizes_of_chunks()
    sizes_of_passes(options.arms, options.pulls, options.workers)
    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")))
        executors: dict[str, Executor | int] = {
            "1 thread": 1,
            f"{options.workers} threads": options.workers,
            f"{options.workers} processes": pool,
        }
        if options.dask:
            there = stack.enter_context(cluster(options.dask))
            executors[f"Dask, {threads_of(there, 1)} threads"] = there
        times(executors, options)


if __name__ == "__main__":
    main()
