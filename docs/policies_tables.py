"""Print the tables of policies.md: python docs/policies_tables.py [FOLDER]

FOLDER holds a folder for each recorded set, with labels.csv or labels.csv.gz; without it only bluebirds, which ships
with Cutline, is replayed.
"""

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cutline import Problem, simulate
from cutline.paper.setups import SETUPS
from cutline.paper.yardsticks import budget_ratios
from cutline.recorded import bundled
from cutline.recorded.observations import Observations
from cutline.recorded.readers import read_observations
from cutline.recorded.replay import replay
from cutline.simulation.curves import RegretCurves

RUNS = 3000
REPLAYS = 200
SEED = 1
COMPARED = ("LSA", "Lai", "KL-LSA", "FWT", "APT(0)", "Opt-KG(1,1)", "Uniform")
ORACLE = "Ratio-Oracle(1)"
ARMS = 100
_SPREAD = (np.arange(ARMS) + 0.5) / ARMS
AWAY_FROM_HALF = {
    "0.95, means from 0.9 to 1": Problem(0.9 + 0.1 * _SPREAD, 0.95),
    "0.95, four fifths of the means 1": Problem(np.minimum(0.9 + 0.5 * _SPREAD, 1.0), 0.95),
    "0.01, means from 0 to 0.02": Problem(0.02 * _SPREAD, 0.01),
    "0.05, means from 0 to 0.1": Problem(0.1 * _SPREAD, 0.05),
    "0.3, means from 0.2 to 0.4": Problem(0.2 + 0.2 * _SPREAD, 0.3),
}
PULLS_AN_ARM = (100, 300)
BUDGETS = [ARMS * pulls for pulls in (*range(10, 100, 5), *range(100, 301, 20))]
RECORDED = (
    *(("bluebirds", 0.5), ("ducks", 0.5), ("rte", 0.5), ("temp", 0.5), ("possent", 0.5), ("barzan", 0.5)),
    *(("product", 0.5), ("humaneval_llm", 0.5), ("humaneval_llm", 0.75), ("polis_bowling_green", 0.8)),
)
REPLAYED = ("LSA", "Lai", "KL-LSA", "Opt-KG(1,1)", "Uniform")


def row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def header(*cells: str) -> None:
    print()
    row(*cells)
    row("---", *["---:"] * (len(cells) - 1))


def with_error(curves: RegretCurves, policy: str, budget: int) -> str:
    """Return the mean errors at a budget and their standard error, two digits of it."""
    place = curves.row(policy), curves.column(budget)
    mean, error = curves.mean[place], curves.standard_error[place]
    digits = max(1, 1 - math.floor(math.log10(error))) if error > 0 else 4
    return f"{mean:.{digits}f} \N{PLUS-MINUS SIGN} {error:.{digits}f}"


def budget_for(budgets: NDArray[np.int64], regret: NDArray[np.float64], wanted: float) -> float:
    """Return the budget at which a curve comes to the wanted regret for the last time; NaN where it does not."""
    for place in range(budgets.size - 1, 0, -1):
        before, after = regret[place - 1 : place + 1]
        if before >= wanted > after > 0.0:
            share = math.log(before / wanted) / math.log(before / after)
            return float(budgets[place - 1] + share * (budgets[place] - budgets[place - 1]))
    return math.nan


def paper_setups() -> None:
    """Errors at the largest budget of the paper's setups, and budgets next to LSA's, the median over 20 regrets."""
    policies = [*COMPARED, ORACLE]
    curves = {
        number: simulate(setup.problem, policies, setup.budgets, runs=RUNS, seed=SEED, progress=False)
        for number, setup in SETUPS.items()
    }
    header("errors at T_max", *(f"Setup {number}" for number in SETUPS))
    for policy in policies:
        row(policy, *(with_error(made, policy, SETUPS[number].max_budget) for number, made in curves.items()))
    header("budget next to LSA's", *(f"Setup {number}" for number in SETUPS))
    for policy in policies[1:]:
        ratios = [[1.0 / item.ratio for item in budget_ratios(made, policy)] for made in curves.values()]
        row(policy, *(f"{np.median(found):.2f}" if found else "-" for found in ratios))


def away_from_half() -> None:
    """Errors at two budgets with thresholds far from 1/2, and the budget that LSA's errors take."""
    header("threshold, 100 arms", *(f"{name}, {n} an arm" for name in COMPARED for n in PULLS_AN_ARM))
    lines: list[Sequence[str]] = []
    for title, problem in AWAY_FROM_HALF.items():
        curves = simulate(problem, COMPARED, BUDGETS, runs=RUNS, seed=SEED, progress=False)
        row(title, *(with_error(curves, name, ARMS * n) for name in COMPARED for n in PULLS_AN_ARM))
        wanted = [float(curves.mean[0, curves.column(ARMS * n)]) for n in PULLS_AN_ARM]
        needed = [budget_for(curves.budgets, curves.mean[curves.row(name)], w) for name in COMPARED[1:] for w in wanted]
        limits = [ARMS * n for _ in COMPARED[1:] for n in PULLS_AN_ARM]
        shares = [f"{a / b:.2f}" if a > 0 else "-" for a, b in zip(needed, limits, strict=True)]
        lines.append((title, *shares))
    header("budget next to LSA's", *(f"{name}, {n} an arm" for name in COMPARED[1:] for n in PULLS_AN_ARM))
    for line in lines:
        row(*line)


def recorded(folder: Path | None) -> None:
    """Labels to come within 1 % of what all labels say, next to LSA's, and the errors at two labels a task."""
    header("recorded labels", "threshold", *(f"{name}: labels" for name in REPLAYED), *(f"{n}: at 2" for n in REPLAYED))
    for name, threshold in RECORDED:
        labels = _labels(name, folder)
        if labels is None:
            continue
        arms, total = len(labels.tasks), len(labels)
        budgets = np.unique(np.append(np.linspace(arms, total, 101).round(), 2 * arms)).astype(int).tolist()
        found = replay(labels, REPLAYED, threshold=threshold, budgets=budgets, runs=REPLAYS, seed=SEED)
        first, *others = (n or math.nan for n in found.labels_needed(within=0.01).values())
        shares = [f"{first:,}", *(f"{n / first:.2f}" for n in others)]
        errors = [found.against_full.mean[line, found.against_full.column(2 * arms)] for line in range(len(REPLAYED))]
        row(name, f"{threshold:g}", *shares, *(f"{value / arms:.3f}" for value in errors))


def _labels(name: str, folder: Path | None) -> Observations | None:
    if name in bundled.names():
        return bundled.load(name)[0]
    for file in ("labels.csv", "labels.csv.gz"):
        if folder is not None and (folder / name / file).is_file():
            return read_observations(folder / name / file)
    return None


def main(folder: Path | None) -> None:
    """Print all tables."""
    recorded(folder)
    away_from_half()
    paper_setups()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) == 2 else None)
