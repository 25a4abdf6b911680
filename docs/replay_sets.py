"""Print the table of ten sets in replay.md: python docs/replay_sets.py FOLDER [SET ...]

FOLDER holds a folder for each set, with labels.csv, labels.csv.gz or counts.csv; bluebirds ships with Cutline.
"""

import sys
from pathlib import Path

from cutline.recorded import bundled
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.readers import read_counts, read_observations
from cutline.recorded.replay import replay

SETS = {
    **{"bluebirds": 0.5, "ducks": 0.5, "rte": 0.5, "temp": 0.5, "possent": 0.5, "barzan": 0.5, "product": 0.5},
    **{"humaneval_llm": 0.75, "polis_bowling_green": 0.8, "flaky_isolation": 0.05},
}
"""The sets and their thresholds."""
COMPARED = (("LSA", "mean"), ("Lai", "mean"), ("Lai", "likelier"), ("Bayes", "mean"), ("Bayes", "likelier"))
LABELS_A_TASK = (2, 4, 8)
RUNS = 6
SEED = 1


def labels_of(name: str, folder: Path) -> Observations | Counts:
    """Return the labels of a set."""
    if name in bundled.names():
        return bundled.load(name)[0]
    if (folder / name / "counts.csv").is_file():
        return read_counts(folder / name / "counts.csv")
    files = (folder / name / file for file in ("labels.csv", "labels.csv.gz"))
    return read_observations(next(file for file in files if file.is_file()))


def main(folder: Path, names: list[str]) -> None:
    """Print a line for each set: the share of tasks on the wrong side, in per cent."""
    heads = [f"{name}, {decide}: {n}" for n in LABELS_A_TASK for name, decide in COMPARED]
    print("| " + " | ".join(["set", "tasks", "threshold", *heads]) + " |\n|" + " --- |" * (3 + len(heads)))
    for name in names:
        labels, threshold = labels_of(name, folder), SETS[name]
        arms = len(labels.tasks)
        budgets = [arms * n for n in LABELS_A_TASK if arms * n < len(labels)]
        found = {
            (policy, decide): replay(
                labels,
                policy,
                threshold=threshold,
                budgets=budgets,
                runs=RUNS,
                seed=SEED,
                decide=decide,
                progress=False,
            ).against_full.mean[0]
            for policy, decide in COMPARED
        }
        cells = [
            f"{100 * found[item][look] / arms:.1f}" if look < len(budgets) else "-"
            for look in range(len(LABELS_A_TASK))
            for item in COMPARED
        ]
        print("| " + " | ".join([name, f"{arms:,}", f"{threshold:g}", *cells]) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:] or list(SETS))
