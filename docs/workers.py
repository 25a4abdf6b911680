"""Print the tables of workers.md: python docs/workers.py FOLDER [SET ...]

FOLDER holds a folder for each set, with labels.csv (task, worker, label) and gold.csv (task, label); by default all
that have both. The last two tables are of crowds that are simulated.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.beliefs.workers import Crowd, Labels, likelier
from cutline.recorded.drawing import Piles
from cutline.recorded.observations import Observations
from cutline.recorded.readers import read_gold, read_observations
from cutline.recorded.replay import replay
from cutline.recorded.weighing import Dealt, draw_by_weight

LABELS_A_TASK = (2, 3, 5, 8)
ROWS = {"Uniform": "Uniform", "LSA": "LSA(1.4)", "LSA, weighed at the end": "LSA(1.4), weighed", "Weighed": "Weighed"}
SHUFFLES = ((500, 20), (5_000, 10), (10**9, 3))  # with fewer tasks than the first so many are tried
KNOWN = 0.1
SEED = 1


class Set(NamedTuple):
    """A set: its labels, and gold by task."""

    name: str
    labels: Observations
    gold: dict[str, bool]

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.labels.tasks)

    @property
    def budgets(self) -> list[int]:
        """The budgets looked at."""
        return [n * self.tasks for n in LABELS_A_TASK if n * self.tasks <= len(self.labels)]

    @property
    def runs(self) -> int:
        """How many shuffles are tried."""
        return next(shuffles for tasks, shuffles in SHUFFLES if self.tasks < tasks)

    def some_known(self) -> dict[str, bool]:
        """Return the gold of one task in ten, drawn at random."""
        chosen = np.random.default_rng(SEED).random(len(self.gold)) < KNOWN
        return {task: answer for (task, answer), one in zip(self.gold.items(), chosen, strict=True) if one}


def errors(data: Set) -> dict[str, list[str]]:
    """Return the share of tasks that each has wrong, with its standard error."""
    found = replay(
        data.labels,
        ["Uniform", "LSA(1.4)"],
        gold=data.gold,
        budgets=data.budgets,
        runs=data.runs,
        seed=SEED,
        workers="weighed",
        progress=False,
    ).against_gold
    assert found is not None
    rows = zip(found.policies, found.mean, found.standard_error, strict=True)
    return {
        name: [share(m / found.problem.arms, e / found.problem.arms) for m, e in zip(mean, error, strict=True)]
        for name, mean, error in rows
    }


def share(mean: float, error: float) -> str:
    """Return a share with its standard error."""
    return f"{mean:.3f} ± {error:.3f}"


class Claims(NamedTuple):
    """What Weighed claims and has wrong, as shares of the tasks whose answer is not told, (B, R) each."""

    claimed: NDArray[np.float64]
    wrong: NDArray[np.float64]

    def wrong_cells(self) -> list[str]:
        """Return what is wrong at each budget, with its standard error."""
        runs = self.wrong.shape[1]
        return [share(row.mean(), row.std(ddof=1) / runs**0.5) for row in self.wrong]

    def cells(self) -> list[str]:
        """Return what is claimed, and what is wrong, at each budget."""
        rows = zip(self.claimed.mean(axis=1), self.wrong.mean(axis=1), strict=True)
        return [f"{claimed:.3f} / {wrong:.3f}" for claimed, wrong in rows]


def claims(data: Set, known: dict[str, bool]) -> Claims:
    """Return what Weighed claims and has wrong at each budget, in each run."""
    names, worker = np.unique([str(worker) for worker in data.labels.workers], return_inverse=True)
    gold = np.array([data.gold.get(task, -1) for task in data.labels.tasks], np.int8)
    told = np.array([known.get(task, -1) for task in data.labels.tasks], np.int8)
    counted = (gold >= 0) & (told < 0)
    found = Claims(*np.zeros((2, len(data.budgets), data.runs)))
    for run in range(data.runs):
        random = np.random.default_rng([SEED, run])
        order, arrival = random.permutation(data.tasks), random.permutation(len(data.labels))
        piles = Piles(order, arrival, data.labels.task, data.labels.labels, np.empty(0))
        dealt = Dealt.deal(piles, worker, told)
        for look, pulls in enumerate(draw_by_weight(dealt, np.array(data.budgets))):
            labels = dealt.drawn(pulls)
            crowd = Crowd.learn(labels, names.size)
            evidence = crowd.evidence(labels)
            found.claimed[look, run] = crowd.wrong_side(evidence)[counted].mean()
            found.wrong[look, run] = (likelier(evidence) != gold)[counted].mean()
    return found


def crowd(tasks: int, prevalence: float, run: int) -> tuple[Labels, NDArray[np.bool_]]:
    """Return five labels each of tasks by a fifth as many workers, whose rates are Beta(4, 1.5), and the truth."""
    random = np.random.default_rng([SEED, run])
    workers = tasks // 5
    truth, rates = random.random(tasks) < prevalence, random.beta(4.0, 1.5, (workers, 2))
    task = np.repeat(np.arange(tasks), 5)
    worker = random.integers(0, workers, task.size)
    right = random.random(task.size) < rates[worker, truth[task].astype(np.int64)]
    label = (right == truth[task]).astype(np.float64)
    return Labels(task, worker, label, np.full(tasks, -1, np.int8)), truth


def simulated(tasks: int, prevalence: float, runs: int = 60) -> str:
    """Return the share of wrong tasks by weight and by majority."""
    wrong = np.zeros(2)
    for run in range(runs):
        labels, truth = crowd(tasks, prevalence, run)
        by_weight = likelier(Crowd.learn(labels, tasks // 5).evidence(labels))
        by_majority = np.bincount(labels.task, labels.label) >= 2.5
        wrong += [np.mean(above != truth) for above in (by_weight, by_majority)]
    return " / ".join(f"{share:.3f}" for share in wrong / runs)


def simulated_claims(mistaken: float, known: int, tasks: int = 1000, runs: int = 30) -> str:
    """Return what is claimed and wrong where the truth of so many tasks is what all think it is not."""
    found = np.zeros(2)
    for run in range(runs):
        labels, looks = crowd(tasks, 0.5, run)
        gold = looks ^ (np.random.default_rng([SEED, run, 1]).random(tasks) < mistaken)
        told = labels._replace(known=np.where(np.arange(tasks) < known, gold, -1).astype(np.int8))
        learnt = Crowd.learn(told, tasks // 5)
        evidence = learnt.evidence(told)
        each = learnt.wrong_side(evidence), likelier(evidence) != gold
        found += [np.mean(item[known:]) for item in each]
    return " / ".join(f"{share:.3f}" for share in found / runs)


def row_of_looks(name: str, how: str, cells: list[str]) -> None:
    """Print a row with a cell for each number of labels a task; a set may have too few labels for the last ones."""
    line(name, how, *cells, *["-"] * (len(LABELS_A_TASK) - len(cells)))


def line(*cells: str) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def head(*cells: str) -> None:
    """Print the first two rows of a table."""
    print()
    line(*cells)
    print("|" + " --- |" * len(cells))


def main(folder: Path, names: list[str]) -> None:
    """Print five tables."""
    chosen = names or sorted(gold.parent.name for gold in folder.glob("*/gold.csv"))
    sets = [
        Set(name, read_observations(folder / name / "labels.csv"), read_gold(folder / name / "gold.csv"))
        for name in chosen
    ]
    looks = [f"{n} a task" for n in LABELS_A_TASK]
    head("set", "how", *looks)
    for data in sets:
        found = errors(data)
        for how, row in ROWS.items():
            row_of_looks(data.name, how, found[row])
    told = {data.name: claims(data, data.some_known()) for data in sets}
    head("set, one answer in ten known", "how", *looks)
    for data in sets:
        row_of_looks(data.name, "Weighed", told[data.name].wrong_cells())
    head("set", "known", *looks)
    for data in sets:
        row_of_looks(data.name, "none", claims(data, {}).cells())
        row_of_looks(data.name, "one in ten", told[data.name].cells())
    head("tasks", *(f"{share:.0%} are a yes" for share in (0.5, 0.3, 0.15, 0.05)))
    for tasks in (50, 100, 300, 1000):
        line(f"{tasks:,}", *(simulated(tasks, share) for share in (0.5, 0.3, 0.15, 0.05)))
    answers = (0, 20, 50, 200)
    head("wrong about", *(f"{known} known" for known in answers))
    for mistaken in (0.0, 0.05, 0.1, 0.2):
        line(f"{mistaken:.0%}", *(simulated_claims(mistaken, known) for known in answers))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
