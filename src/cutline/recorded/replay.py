"""replay: what each policy would have made of labels that somebody already collected.

Every run takes the tasks in a random order and each task's labels in a random order, without replacement. A
task whose labels are all drawn cannot be pulled again. Decisions are held against the full-data answer, which
is what all labels of a task say, and against gold answers where there are some.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cutline.checks import check_whole
from cutline.errors import InvalidInputError
from cutline.memory import require_memory
from cutline.policies import LearningPolicy, Policy, check_usable_on_data
from cutline.problem import Problem
from cutline.progress import Progress, progress_bar
from cutline.recorded.drawing import Draw, Drawn, Piles, drawing_kernel
from cutline.recorded.gold import gold_and_known, unknown_ids
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.result import Replay
from cutline.recorded.weighing import Dealt, check_workers, draw_by_weight, weighing_kernel
from cutline.simulation.checks import check_budgets, check_policies
from cutline.simulation.curves import RegretCurves
from cutline.simulation.deciding import called_above, check_decide
from cutline.simulation.stages import Records, in_stages
from cutline.simulation.workers import jobs_of, run_all
from cutline.threshold import check_threshold

_DEFAULT_BUDGETS = 20
_PULLS_PER_CHUNK = 2_000_000


@dataclass(frozen=True, eq=False)
class Pool:
    """The labels to draw from: task, worker and labels, (N,) each, and for each of the K tasks its size and total."""

    task: NDArray[np.int64]
    worker: NDArray[np.int64]
    labels: NDArray[np.float64]
    sizes: NDArray[np.int64]
    totals: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReplayChunk:
    """Some runs of all policies: what a worker needs.

    ``gold`` (K,) is 1, 0, or -1 where there is none; so is ``known``, the answers that workers' rates are learnt by.
    """

    pool: Pool
    policies: tuple[Policy, ...]
    problem: Problem
    gold: NDArray[np.int8]
    budgets: NDArray[np.int64]
    seed: int
    first_run: int
    runs: int
    decide: str
    known: NDArray[np.int8]
    weighed: bool

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of what is compared: policies, then the same deciding by weight, and what asks by weight, too."""
        names = tuple(str(policy) for policy in self.policies)
        return (*names, *(f"{name}, weighed" for name in names), "Weighed") if self.weighed else names

    @property
    def counted(self) -> NDArray[np.bool_]:
        """The tasks whose errors against gold count, (K,): those that have it and are not known beforehand."""
        return (self.gold >= 0) & (self.known < 0)


@dataclass(frozen=True, eq=False)
class ReplayCounts:
    """Errors and gold errors, shape (P, B, runs), and pulls, shape (P, B, K), summed over the runs."""

    errors: NDArray[np.int32]
    gold_errors: NDArray[np.int32]
    pulls: NDArray[np.int64]


def draw_chunk(chunk: ReplayChunk) -> ReplayCounts:
    """Let all policies draw the labels in the runs of a chunk. A pure function of the chunk, wherever it runs.

    Run r shuffles with numpy's ``default_rng([seed, r])``: first the tasks, then the labels; all policies draw
    from the same piles.
    """
    pool, problem = chunk.pool, chunk.problem
    shape = (len(chunk.rows), chunk.budgets.size)
    result = ReplayCounts(
        np.empty((*shape, chunk.runs), np.int32),
        np.empty((*shape, chunk.runs), np.int32),
        np.zeros((*shape, problem.arms), np.int64),
    )
    for run in range(chunk.runs):
        random = np.random.default_rng([chunk.seed, chunk.first_run + run])
        order = random.permutation(problem.arms)
        arrival = random.permutation(pool.labels.size)
        for row, (pulls, above) in enumerate(_play(chunk, Piles(order, arrival, pool.task, pool.labels, pool.totals))):
            result.pulls[row] += pulls
            result.errors[row, :, run] = np.count_nonzero(above != problem.truth, axis=1)
            result.gold_errors[row, :, run] = np.count_nonzero((above != chunk.gold) & chunk.counted, axis=1)
    return result


def _play(chunk: ReplayChunk, piles: Piles) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Yield the pulls of all tasks at all budgets and which are called above, (B, K) each, for each row of a run."""
    dealt = Dealt.deal(piles, chunk.pool.worker, chunk.known) if chunk.weighed else None
    of_policies = []
    for policy in chunk.policies:
        pulls, totals = _draw(chunk, policy, piles)
        of_policies.append(pulls)
        looks = zip(pulls, totals, strict=True)
        yield (
            pulls,
            np.stack([_called_above(at, chunk.pool.sizes, chunk.problem.threshold, chunk.decide) for at in looks]),
        )
    if dealt is not None:
        for pulls in (*of_policies, draw_by_weight(dealt, chunk.budgets)):
            yield pulls, np.stack([dealt.called_above(at) for at in pulls])


def _called_above(records: Records, sizes: NDArray[np.int64], threshold: float, decide: str) -> NDArray[np.bool_]:
    """Return which tasks are called above, (K,); of one whose labels are all drawn they are the full-data answer."""
    above = called_above(*records, threshold, decide)
    return np.where(records[0] == sizes, called_above(*records, threshold, "mean"), above)


def _draw(chunk: ReplayChunk, policy: Policy, piles: Piles) -> Records:
    """Let a policy draw in one run; return the pulls and totals of all tasks at all budgets, (B, K) each."""
    threshold, arms = chunk.problem.threshold, chunk.problem.arms
    kernel = drawing_kernel(type(policy))

    def draw_on(parameters: NDArray[np.float64], spent: int, begun: Records, budgets: NDArray[np.int64]) -> Records:
        at = Drawn(np.empty((budgets.size, arms), np.int64), np.empty((budgets.size, arms)))
        kernel(piles, Draw(threshold, parameters, begun[0], budgets), at)
        return at

    if isinstance(policy, LearningPolicy):
        return in_stages(policy, threshold, arms, chunk.budgets, draw_on)
    nothing = np.zeros(arms, np.int64)
    return draw_on(np.array([policy.parameters()], np.float64), 0, (nothing, nothing), chunk.budgets)


def replay(  # noqa: PLR0913 - what is drawn, by whom, held against what, and how
    recorded: Observations | Counts,
    policies: Policy | str | Iterable[Policy | str],
    *,
    threshold: float = 0.5,
    gold: Mapping[str, bool] | None = None,
    budgets: int | Iterable[int] | None = None,
    runs: int = 100,
    seed: int = 0,
    decide: str = "mean",
    workers: str = "alike",
    known: Mapping[str, bool] | None = None,
    executor: Executor | int | None = None,
    progress: Progress | bool | None = None,
) -> Replay:
    """Let every policy draw the recorded labels ``runs`` times, and count its wrong decisions at every budget.

    ``recorded``: what the readers return. ``policies``: policies or their names, no two alike; those that are
    told the truth or the budget (UCBE, oracles) are refused. ``gold``: true answers by task; a task without is
    not counted there. ``budgets``: labels in all, increasing, from one a task to all there are; default: 20 in
    equal steps over that range. At the last of these every policy gives the full-data answer.
    ``decide``: "mean" calls a task above whose mean label is at or above the threshold, "likelier" one that is more
    likely above than below by a prior learnt from all labels drawn so far, if any of its labels are left to draw.
    ``workers``: "alike" counts all labels alike; "weighed" adds, at threshold 1/2, each policy deciding by labels that
    are weighed by who gave them, and "Weighed", which asks by these weights, too. ``known``: answers by task that are
    told beforehand, for the weights to be learnt by; their tasks are not counted against gold.
    ``executor``: any concurrent.futures Executor, or a number of threads; default: a thread for each core.
    ``progress``: None shows a bar on a terminal, False none, a callable is told the labels drawn.

    A task not yet drawn counts as below the threshold (only a policy that starts from a prior leaves any). Runs
    share their shuffles between policies. The same seed gives the same result on any executor. Raises
    InvalidInputError for what is out of range and OutOfMemoryError for totals too large to be shuffled.
    """
    chosen = _check_policies(policies)
    threshold = check_threshold(threshold)
    runs = check_whole("runs", runs, 1, 2**31 - 1)
    seed = check_whole("seed", seed, 0, 2**64 - 1)
    jobs = jobs_of(executor)
    arms, labels = len(recorded.tasks), len(recorded)
    at = _check_budgets(budgets, arms, labels)
    weighed = check_workers(workers, recorded, threshold, known)
    _require_memory(labels, arms, (2 if weighed else 1) * len(chosen) + weighed, at.size, runs, jobs)
    pool = _pool(recorded)
    truth, told = gold_and_known(recorded.tasks, gold, known, recorded.source)
    problem = Problem(pool.totals / pool.sizes, threshold)
    whole = ReplayChunk(pool, tuple(chosen), problem, truth, at, seed, 0, runs, check_decide(decide), told, weighed)
    counts = _draw_all(_split(whole, jobs), executor, progress)
    against_gold = None if gold is None else _against_gold(whole, counts)
    return Replay(
        source=recorded.source,
        tasks=recorded.tasks,
        labels=labels,
        against_full=_curves(whole, problem, counts.errors, counts.pulls),
        against_gold=against_gold,
        full_gold_errors=int(np.count_nonzero((problem.truth != truth) & whole.counted)) if against_gold else None,
        remarks=unknown_ids(recorded.tasks, gold or {}),
    )


def _against_gold(whole: ReplayChunk, counts: ReplayCounts) -> RegretCurves:
    """Return the errors against gold, on the tasks that have it and are not known beforehand."""
    right = Problem(whole.gold[whole.counted], whole.problem.threshold)
    return _curves(whole, right, counts.gold_errors, counts.pulls[:, :, whole.counted])


def _curves(whole: ReplayChunk, right: Problem, errors: NDArray[np.int32], pulls: NDArray[np.int64]) -> RegretCurves:
    """Return errors and pulls, summed over the runs, as curves of all that is compared."""
    return RegretCurves(
        right, whole.rows, whole.budgets, errors, pulls / whole.runs, whole.seed, "common", decide=whole.decide
    )


def _require_memory(labels: int, arms: int, policies: int, looks: int, runs: int, jobs: int) -> None:
    cells = policies * looks
    require_memory(
        16 * labels + jobs * (16 * labels + 100 * arms) + (jobs + 2) * (8 * cells * arms) + 8 * cells * runs,
        f"{labels:,} labels of {arms:,} tasks, {policies} policies and {looks} budgets in {jobs} threads",
    )


def _split(whole: ReplayChunk, jobs: int) -> list[ReplayChunk]:
    """Return the runs of a chunk as smaller ones, at least one for each job."""
    pulls_a_run = int(whole.budgets[-1]) * len(whole.rows)
    size = max(1, min(-(-whole.runs // jobs), _PULLS_PER_CHUNK // pulls_a_run))
    starts = range(0, whole.runs, size)
    return [replace(whole, first_run=first, runs=min(size, whole.runs - first)) for first in starts]


def _draw_all(
    chunks: Sequence[ReplayChunk], executor: Executor | int | None, progress: Progress | bool | None
) -> ReplayCounts:
    """Return the counts of all chunks as those of one chunk with all runs."""
    first, runs = chunks[0], sum(chunk.runs for chunk in chunks)
    shape = (len(first.rows), first.budgets.size)
    counts = ReplayCounts(
        np.empty((*shape, runs), np.int32),
        np.empty((*shape, runs), np.int32),
        np.zeros((*shape, first.problem.arms), np.int64),
    )
    pulls_a_run = int(first.budgets[-1]) * len(first.rows)
    for policy in first.policies:
        drawing_kernel(type(policy))  # made once here, or threads would each make their own
    if first.weighed:
        weighing_kernel()
    with progress_bar("replaying", pulls_a_run * runs, progress) as advance:
        for position, result in run_all(draw_chunk, chunks, executor):
            chunk = chunks[position]
            where = slice(chunk.first_run, chunk.first_run + chunk.runs)
            counts.errors[:, :, where] = result.errors
            counts.gold_errors[:, :, where] = result.gold_errors
            counts.pulls[:] += result.pulls
            advance(pulls_a_run * chunk.runs)
    return counts


def _check_policies(policies: Policy | str | Iterable[Policy | str]) -> list[Policy]:
    return [check_usable_on_data(policy) for policy in check_policies(policies)]


def _check_budgets(budgets: int | Iterable[int] | None, arms: int, labels: int) -> NDArray[np.int64]:
    if budgets is None:
        return np.unique(np.linspace(arms, labels, _DEFAULT_BUDGETS).round().astype(np.int64))
    at = check_budgets(budgets, arms)
    if at[-1] > labels:
        raise InvalidInputError(f"budget {at[-1]} is above the number of recorded labels, {labels}")
    return at


def _pool(recorded: Observations | Counts) -> Pool:
    """Return the labels to draw from; totals are written out as so many ones and zeros."""
    arms = len(recorded.tasks)
    if isinstance(recorded, Counts):
        task = np.repeat(np.arange(arms), recorded.n)
        first = np.cumsum(recorded.n) - recorded.n
        labels = (np.arange(task.size) < (first + recorded.yes)[task]).astype(np.float64)
        return Pool(task, np.zeros_like(task), labels, recorded.n, recorded.yes.astype(np.float64))
    task, labels = recorded.task, recorded.labels
    sizes = np.bincount(task, minlength=arms)
    totals: NDArray[np.float64] = np.bincount(task, labels, minlength=arms).astype(np.float64)
    worker = np.unique([worker or "" for worker in recorded.workers], return_inverse=True)[1]
    return Pool(task, worker.astype(np.int64), labels, sizes, totals)
