"""Print the tables of what no records tell in calibration.md: python docs/identifiable.py FOLDER

Arms have means from a prior, here the shares of yes of a recorded set, and n rewards each, 0 or 1. Decisions are those
of docs/calibration.py. Among all priors under which the records of these K arms are hardly told from those under the
true one, which has the fewest expected errors, and which the most? If no claim is right for both, no method can claim
what is demanded, however it learns.

Records have the probabilities p under the true prior and q under another. By d = K sum of (q - p)^2 / p the records of
all K arms differ in total variation by at most sqrt(exp(d) - 1) / 2 (Tsybakov: Introduction to nonparametric
estimation, 2009, section 2.4). Two such distances d are looked at.

- SAME: they differ by at most 0.005, so that the first n moments are as good as the same.
- HIDDEN: they differ by at most 1/4, and those of two such priors by 1/2. So a claim that cannot be right for both is
  off at one of them with a probability of at least 1/4, whatever the method (Le Cam).

Priors have any masses on a grid, at the true means, and at the threshold and right below it. The smallest distance at
which a prior has so many expected errors is a problem of least squares with masses that are not negative.
"""

import math
import runpy
import sys
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls
from scipy.stats import binom

from cutline.beliefs.knowledge import Knowledge

Floats: TypeAlias = NDArray[np.float64]
Calls: TypeAlias = NDArray[np.bool_]
"""Whether an arm with each total from 0 to n is decided to be above the threshold, in each run: (runs, n + 1)."""

SAME, HIDDEN = 1e-4, math.log(1.25)
GRID: Floats = np.sin(0.5 * np.pi * np.arange(401) / 400) ** 2
RIGHT_BELOW = 1e-9
RAREST = 1e-6
"""Records expected fewer times count as if expected so often: that adds less than 0.004 to the total variation."""
HEAVY = 1e4
"""By how much more than records the sum of masses and the expected errors count, so that they are exact."""


class Range(NamedTuple):
    """The fewest and the most expected errors."""

    least: float
    most: float

    @property
    def unclaimable(self) -> bool:
        """Whether no claim is within a factor of two, or three errors, of both."""
        return max(2.0 * self.least, self.least + 3.0) < min(0.5 * self.most, self.most - 3.0)


def expected(means: Floats, threshold: float, calls: Calls) -> Floats:
    """Return the probability that an arm with each mean, (M,), is on the wrong side, on average over runs."""
    share = calls.mean(axis=0)
    wrong = np.where(means >= threshold, (1.0 - share)[:, None], share[:, None])
    errors: Floats = (binom.pmf(np.arange(share.size)[:, None], share.size - 1, means) * wrong).sum(axis=0)
    return errors


def errors_range(means: Floats, threshold: float, calls: Calls, distance: float) -> Range:
    """Return between what the errors of arms with these means, (K,), are expected under priors at most so far away."""
    arms, pulls = means.size, calls.shape[1] - 1
    grid = np.unique(np.concatenate([GRID, means, [threshold, threshold - RIGHT_BELOW]]))
    probabilities = binom.pmf(np.arange(pulls + 1)[:, None], pulls, grid)
    true = probabilities[:, np.searchsorted(grid, means)].mean(axis=1)
    wrong = expected(grid, threshold, calls)
    scale = np.sqrt(arms / np.maximum(true, RAREST / arms))
    heavy = HEAVY * math.sqrt(arms)
    columns = np.vstack([scale[:, None] * probabilities, np.full(grid.size, heavy), heavy * wrong])

    def beyond(share: float) -> float:
        """Return by how much the root of the smallest distance is too large if so many of the arms are wrong."""
        aim = np.concatenate([scale * true, [heavy, heavy * share]])
        return float(nnls(columns, aim, maxiter=10_000)[1]) - math.sqrt(distance)

    middle = float(expected(means, threshold, calls).mean())
    ends = [
        end if beyond(end) <= 0.0 else float(brentq(beyond, middle, end, xtol=1e-6))
        for end in (float(wrong.min()), float(wrong.max()))
    ]
    return Range(arms * ends[0], arms * ends[1])


def calls_of(script: dict[str, Any], means: Floats, threshold: float, pulls: int) -> Calls:
    """Return the calls of all runs of docs/calibration.py."""
    found = []
    for run in range(script["RUNS"]):
        knowledge = Knowledge.learn(*script["records"](means, pulls, script["coins"], run)[0])
        totals = np.arange(pulls + 1.0)
        below, above = knowledge.sides(np.full(pulls + 1, float(pulls)), totals, totals, threshold)
        found.append(above >= below)
    return np.array(found)


def main(folder: Path) -> None:
    """Print how many sets are unclaimable at each threshold and number of pulls, and the ranges of starred cells."""
    script = runpy.run_path(str(Path(__file__).with_name("calibration.py")))
    sets = {path.name: script["shares"](path) for path in sorted(folder.iterdir()) if path.is_dir()}
    sets = {name: means for name, means in sets.items() if means.size >= script["FEWEST_TASKS"]}
    starred, sums = [], []
    print("| threshold | " + " | ".join(f"{pulls} pulls" for pulls in script["PULLS"]) + " |")
    print("|---|" + "---|" * len(script["PULLS"]))
    for threshold in script["THRESHOLDS"]:
        row = []
        for pulls in script["PULLS"]:
            found = []
            for name, means in sets.items():
                calls = calls_of(script, means, threshold, pulls)
                ranges = [errors_range(means, threshold, calls, distance) for distance in (SAME, HIDDEN)]
                found.append(ranges)
                cell = script["cell"](means, threshold, pulls, script["coins"])
                if not cell.ok:
                    starred.append((name, threshold, pulls, cell, ranges))
            same, hidden = zip(*found, strict=True)
            row.append(f"{sum(each.unclaimable for each in same)} / {sum(each.unclaimable for each in hidden)}")
            sums.append(Range(*np.sum(same, axis=0).tolist()))
        print(f"| {threshold:g} | " + " | ".join(row) + " |", flush=True)
    beyond = sum(1.2 * each.least < 0.8 * each.most for each in sums)
    print(f"\nsums over the sets that no claim is within 20 % of at both ends: {beyond} of {len(sums)}")
    print("\n| arms | threshold | pulls | claimed / true | same moments | hidden |\n|---|---|---|---|---|---|")
    for name, threshold, pulls, cell, ranges in sorted(starred, key=lambda item: item[:3]):
        texts = [f"{each.least:.1f} to {each.most:.1f}{'' if each.unclaimable else ' !'}" for each in ranges]
        print(
            f"| {name} | {threshold:g} | {pulls} | {cell.claimed:.1f} / {cell.true:.1f} | " + " | ".join(texts) + " |"
        )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
