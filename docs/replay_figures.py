"""Make the pictures and print the tables of replay.md: python docs/replay_figures.py FOLDER

FOLDER holds a folder for each of rte, possent and ducks, with labels.csv and gold.csv; bluebirds ships with Cutline.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np

from cutline.plotting import regret_figure, save_figure
from cutline.recorded import bundled
from cutline.recorded.readers import read_gold, read_observations
from cutline.recorded.replay import replay

SETS = ("rte", "possent", "ducks", "bluebirds")
DRAWN = ("LSA", "LSA(2)", "Opt-KG(1,1)", "Uniform")
COMPARED = ("LSA(1)", "LSA(1.35)", "LSA(1.39)", "LSA(2)", "LSA(4)", "APT(0)", "Opt-KG(1,1)", "Uniform")
LABELS_A_TASK = (1, 2, 3, 4, 6)
RUNS = 1000
IMAGES = Path(__file__).parent / "images"


def main(folder: Path) -> None:
    sets = {
        name: bundled.load(name)
        if name in bundled.names()
        else (read_observations(folder / name / "labels.csv"), read_gold(folder / name / "gold.csv"))
        for name in SETS
    }
    print("| set | labels | full-data accuracy |", " | ".join(DRAWN), "|")
    print("|---|---|---|" + "---|" * len(DRAWN))
    for name, (labels, gold) in sets.items():
        arms, total = len(labels.tasks), len(labels)
        budgets = np.unique(np.geomspace(arms, total, 25).round().astype(int)).tolist()
        save_figure(
            regret_figure(replay(labels, DRAWN, gold=gold, budgets=budgets, runs=RUNS).panels()),
            IMAGES / f"replay-{name}.svg",
        )
        fine = np.unique(np.linspace(arms, total, 201).round().astype(int)).tolist()
        found = replay(labels, DRAWN, gold=gold, budgets=fine, runs=RUNS)
        full = dataclasses.replace(found, against_gold=None, full_gold_errors=None).labels_needed(within=0.01)
        pairs = zip(full.values(), found.labels_needed(within=0.01).values(), strict=True)
        needed = [f"{a:,} / {b:,}" for a, b in pairs]
        accuracy = 1 - (found.full_gold_errors or 0) / arms
        print(f"| {name} | {total:,} | {accuracy:.3f} |", " | ".join(needed), "|")
    for name, (labels, gold) in sets.items():
        arms = len(labels.tasks)
        found = replay(labels, COMPARED, gold=gold, budgets=[arms * n for n in LABELS_A_TASK], runs=RUNS)
        print(f"\n| {name} |", " | ".join(f"{n} a task" for n in LABELS_A_TASK), "|")
        print("|---|" + "---|" * len(LABELS_A_TASK))
        assert found.against_gold is not None
        for policy, full, against in zip(COMPARED, found.against_full.mean, found.against_gold.mean, strict=True):
            cells = (f"{a / arms:.3f} / {b / arms:.3f}" for a, b in zip(full, against, strict=True))
            print(f"| {policy} |", " | ".join(cells), "|")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
