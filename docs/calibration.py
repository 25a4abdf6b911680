"""Print the tables of calibration.md: python docs/calibration.py [FOLDER]

FOLDER holds a folder for each recorded set, with labels.csv, labels.csv.gz or counts.csv; without it only bluebirds,
which ships with Cutline, is drawn from.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from cutline.beliefs.intervals import interval
from cutline.beliefs.knowledge import Beta, Knowledge
from cutline.recorded import bundled
from cutline.recorded.observations import Counts
from cutline.recorded.readers import read_recorded

Floats: TypeAlias = NDArray[np.float64]

THRESHOLDS = (0.5, 0.75, 0.9, 0.95, 0.99)
PULLS = (3, 5, 10, 20, 40)
RUNS = 2
FEWEST_TASKS = 100
SPREADS = (0.05, 0.1, 0.2, 0.3, 0.5)
FLAT = Knowledge(Beta(1.0, 1.0))

Draw: TypeAlias = Callable[[Floats, int, np.random.Generator], Floats]
"""Draws so many rewards of each arm: means of shape (K,), pulls, generator; an array of shape (K, pulls)."""


class Cell(NamedTuple):
    """Errors that are claimed and true errors, and what the flat prior claims, on average over runs."""

    claimed: float
    true: float
    flat: float

    @property
    def ok(self) -> bool:
        """Whether the claim is within a factor of two of the truth, or within three errors."""
        return 0.5 * self.true <= self.claimed <= 2.0 * self.true or abs(self.claimed - self.true) <= 3.0


def coins(means: Floats, pulls: int, rng: np.random.Generator) -> Floats:
    """Draw rewards that are 0 or 1."""
    return (rng.random((means.size, pulls)) < means[:, None]).astype(np.float64)


def scores(spread: float) -> Draw:
    """Return what draws rewards between 0 and 1 from Beta distributions with this standard deviation, or a coin's."""

    def draw(means: Floats, pulls: int, rng: np.random.Generator) -> Floats:
        most = means * (1.0 - means)
        size = np.maximum(most / min(spread**2, 1.0) - 1.0, 1e-9)
        few = size < 0.02  # nearly coins
        rewards = rng.beta(
            np.where(few, 1.0, means * size)[:, None],
            np.where(few, 1.0, (1 - means) * size)[:, None],
            (means.size, pulls),
        )
        return np.where(few[:, None], coins(means, pulls, rng), rewards)

    return draw


def cell(means: Floats, threshold: float, pulls: int, draw: Draw, runs: int = RUNS) -> Cell:
    """Draw rewards and learn from them; return what is claimed and what is true."""
    found = []
    for run in range(runs):
        (n, totals, squares, counts), kind = records(means, pulls, draw, run)
        claims = []
        for knowledge in (Knowledge.learn(n, totals, squares, counts), FLAT):
            below, above = knowledge.sides(n, totals, squares, threshold)
            wrong = (above >= below)[kind] != (means >= threshold)
            claims.append((counts @ np.minimum(below, above), wrong.sum()))
        found.append((*claims[0], claims[1][0]))
    return Cell(*np.mean(found, axis=0).tolist())


def records(means: Floats, pulls: int, draw: Draw, run: int) -> tuple[Floats, NDArray[np.intp]]:
    """Draw a record of each arm; return pulls, total, squares and number of arms of each, (4, R), and each arm's."""
    rewards = draw(means, pulls, np.random.default_rng((run, pulls)))
    sums = rewards.sum(axis=1).round(9), (rewards**2).sum(axis=1).round(9)
    kinds, kind, counts = np.unique(np.column_stack(sums), axis=0, return_inverse=True, return_counts=True)
    return np.stack([np.full(len(kinds), float(pulls)), *kinds.T, counts]), kind


def shares(folder: Path) -> Floats:
    """Return the share of yes of each task of a recorded set."""
    files = [folder / name for name in ("counts.csv", "labels.csv", "labels.csv.gz") if (folder / name).exists()]
    recorded = read_recorded(files[0])
    if isinstance(recorded, Counts):
        return recorded.yes / recorded.n
    total = np.bincount(recorded.task, recorded.labels)
    return total / np.bincount(recorded.task)


def table(title: str, cells: dict[tuple[float, int], Cell]) -> None:
    """Print the cells of one set of arms as a row each threshold."""
    for threshold in dict.fromkeys(threshold for threshold, _ in cells):
        row = [cells[threshold, pulls] for pulls in PULLS]
        texts = [f"{each.claimed:.1f} / {each.true:.1f}{'' if each.ok else ' *'}" for each in row]
        print(f"| {title} | {threshold:g} | " + " | ".join(texts) + " |")


def summary(what: str, every: list[Cell]) -> None:
    """Print how many cells are off, and the sums."""
    claimed, true, flat = (sum(each[i] for each in every) for i in range(3))
    off = sum(not each.ok for each in every)
    print(
        f"\n{what}: {off} of {len(every)} off; claimed {claimed:,.0f}, true {true:,.0f}; the flat prior {flat:,.0f}\n"
    )


def hedged_width(rewards: Floats, delta: float = 0.05, steps: int = 2000) -> float:
    """Return the width of the hedged betting interval of Waudby-Smith and Ramdas, JRSS B 86, 2024, as in confseq."""
    t = np.arange(1, rewards.size + 1)
    means = (0.5 + rewards.cumsum()) / (t + 1)
    variances = np.append(0.25, (0.25 + ((rewards - means) ** 2).cumsum()) / (t + 1))[:-1]
    bets = np.sqrt(2 * np.log(2 / delta) / (variances * t * np.log(1 + t)))[:, None]
    m = (np.arange(steps) + 0.5) / steps
    up = np.log1p(np.minimum(bets, 0.5 / m) * (rewards[:, None] - m)).sum(axis=0)
    down = np.log1p(-np.minimum(bets, 0.5 / (1 - m)) * (rewards[:, None] - m)).sum(axis=0)
    inside = m[np.maximum(up, down) + np.log(0.5) < -np.log(delta)]
    return float(inside.max() - inside.min()) + 1 / steps


def widths() -> None:
    """Print how wide intervals of confidence 0.95 are, on average over ten records each."""
    print("| mean | standard deviation | rewards | Clopper-Pearson | betting | Cutline |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(3)
    for mean, spread in ((0.5, 0.5), (0.9, 0.3), (0.5, 0.2), (0.8, 0.1), (0.8, 0.05)):
        for n in (10, 100, 1000):
            rewards = scores(spread)(np.full(10, mean), n, rng)
            total, square = rewards.sum(axis=1), (rewards**2).sum(axis=1)
            if spread**2 >= 0.99 * mean * (1 - mean):
                ends = beta.ppf([[0.025], [0.975]], [total, total + 1], [n - total + 1, n - total])
                exact = f"{np.nan_to_num(ends[1], nan=1.0).mean() - np.nan_to_num(ends[0]).mean():.3f}"
            else:
                exact = "-"
            low, high = interval(np.full(10, n), total, 0.95, np.minimum(square, total))
            betting = np.mean([hedged_width(each) for each in rewards])
            print(f"| {mean} | {spread} | {n:,} | {exact} | {betting:.3f} | {(high - low).mean():.3f} |")


def main() -> None:
    header = "| arms | threshold | " + " | ".join(f"{pulls} pulls" for pulls in PULLS) + " |"
    rule = "|---|---|" + "---|" * len(PULLS)
    folders = sorted(Path(sys.argv[1]).iterdir()) if len(sys.argv) > 1 else [bundled.folder("bluebirds")]
    print(header + "\n" + rule)
    every: list[Cell] = []
    for folder in (folder for folder in folders if folder.is_dir()):
        means = shares(folder)
        if means.size >= FEWEST_TASKS:
            cells = {
                (threshold, pulls): cell(means, threshold, pulls, coins) for threshold in THRESHOLDS for pulls in PULLS
            }
            table(f"{folder.name}, {means.size:,}", cells)
            every += cells.values()
    summary("recorded sets", every)

    rng = np.random.default_rng(1)
    suites = {
        "2,000 tests, 95 % always pass": np.append(np.ones(1900), rng.beta(3.0, 1.0, 100)),
        "1,000 means from Beta(2, 2)": rng.beta(2.0, 2.0, 1000),
        "300 means from Beta(8, 2)": rng.beta(8.0, 2.0, 300),
        "500 means, half of them 1, half from all over [0, 1]": np.append(np.ones(250), rng.random(250)),
        "500 means from all over [0, 1]": rng.random(500),
        "600 means, two in three near 1/4, one near 4/5": np.append(
            rng.beta(20.0, 60.0, 400), rng.beta(40.0, 10.0, 200)
        ),
    }
    print(header + "\n" + rule)
    every = []
    for name, means in suites.items():
        cells = {
            (threshold, pulls): cell(means, threshold, pulls, coins) for threshold in THRESHOLDS for pulls in PULLS
        }
        table(name, cells)
        every += cells.values()
    summary("simulated", every)

    print(header + "\n" + rule)
    every = []
    means = rng.beta(6.0, 3.0, 300)
    for spread in SPREADS:
        cells = {
            (threshold, pulls): cell(means, threshold, pulls, scores(spread))
            for threshold in THRESHOLDS
            for pulls in PULLS
        }
        table(f"scores, deviation {spread:g}", cells)
        every += cells.values()
    summary("scores", every)
    widths()


if __name__ == "__main__":
    main()
