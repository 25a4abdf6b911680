"""Print tables of policies.md and replay.md about priors that are learnt.

python docs/learning_tables.py ARMS DRAWS THRESHOLD [THRESHOLD ...] prints the errors of so many arms, python
docs/learning_tables.py fewest DRAWS how many arms it takes for a learnt prior to pay, python docs/learning_tables.py
bounds below how many errors of 1,000 nobody comes who is told the prior. Each game draws the means of its arms from
Beta(2, 2). It takes about a second a draw and threshold.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from cutline import Problem
from cutline.beliefs.prior import Prior
from cutline.policies import Policy, Tally
from cutline.policies.bayes import Bayes
from cutline.policies.lai import Lai
from cutline.policies.lsa import LSA
from cutline.simulation.chunks import Chunk
from cutline.simulation.deciding import called_above
from cutline.simulation.engines import play
from cutline.simulation.rewards import stream_key

PULLS_AN_ARM = (2, 5, 10, 30)
SEED = 1
TRUE = Prior.beta(2.0, 2.0)


@dataclass(frozen=True)
class Told(Bayes):
    """Bayes, told the true prior. Source: see ``Bayes``."""

    name = "Told"

    def next_refit(self, arms: int, spent: int) -> int:
        """Return a budget that nobody has."""
        return 2**60

    def learn(self, records: Tally, threshold: float) -> tuple[float, ...]:
        """Return the true prior."""
        return tuple(TRUE.masses.tolist())

    def table(self, learnt: tuple[float, ...], threshold: float) -> NDArray[np.float64]:
        """Return its table."""
        return _told(threshold)


@cache
def _told(threshold: float) -> NDArray[np.float64]:
    return Bayes().table(tuple(TRUE.masses.tolist()), threshold)


ROWS: dict[str, tuple[Policy, str]] = {
    "LSA, decides by the mean": (LSA(), "mean"),
    "Lai, decides by the mean": (Lai(), "mean"),
    "Lai, decides by the learnt prior": (Lai(), "likelier"),
    "Bayes, decides by the mean": (Bayes(), "mean"),
    "Bayes, decides by the learnt prior": (Bayes(), "likelier"),
    "told the true prior: the limit": (Told(), "told"),
}
"""What is compared: a policy, and how it decides in the end."""


PAYS = "Lai, decides by the mean", "Bayes, decides by the learnt prior"
"""The rows that are held against each other to see from how many arms on a learnt prior pays."""
FEWEST = (10, 20, 50, 100, 200, 500)
"""Arms with which it is tried."""
FEWEST_AT = (5, 10)
"""Pulls an arm at which it is tried."""
THRESHOLDS = (0.2, 0.5, 0.7)
DEEPEST = 600
"""Pulls after which nobody pulls on, where bounds are found."""


def errors_of(
    arms: int, draw: int, threshold: float, titles: Sequence[str] = tuple(ROWS), at: Sequence[int] = PULLS_AN_ARM
) -> list[list[int]]:
    """Return the wrong decisions of some rows at so many pulls an arm, on means drawn for this draw."""
    problem = Problem(np.random.default_rng([SEED, draw]).beta(2.0, 2.0, arms), threshold)
    budgets = np.array([arms * pulls for pulls in at])
    rows = [ROWS[title] for title in titles]
    chunks = {policy: Chunk(problem, policy, budgets, stream_key(SEED, ""), draw, 1) for policy, _ in rows}
    played = {policy: play(chunk) for policy, chunk in chunks.items()}
    found = []
    for policy, decide in rows:
        result, row = played[policy], []
        for pulls, totals in zip(result.pulls, result.totals, strict=True):
            if decide == "told":
                above = TRUE.above(pulls, totals, threshold) >= 0.5
            else:
                above = called_above(pulls, totals, threshold, decide)
            row.append(int(np.count_nonzero(above != problem.truth)))
        found.append(row)
    return found


def with_error(errors: NDArray[np.float64]) -> str:
    """Return the mean of errors, (draws,), and its standard error, two digits of it."""
    mean, error = errors.mean(), errors.std(ddof=1) / math.sqrt(errors.size)
    digits = max(1, 1 - math.floor(math.log10(error))) if error > 0 else 4
    return f"{mean:.{digits}f} \N{PLUS-MINUS SIGN} {error:.{digits}f}"


def least(cost: float, threshold: float) -> float:
    """Return what pulls and errors of an arm cost in all at best, a pull ``cost`` and an error 1."""
    best: NDArray[np.float64] = np.empty(0)
    for pulls in range(DEEPEST, -1, -1):
        total = np.arange(pulls + 1.0)
        below = betainc(2.0 + total, 2.0 + pulls - total, threshold)
        error = np.minimum(below, 1.0 - below)
        chance = (2.0 + total) / (4.0 + pulls)
        best = np.minimum(error, cost + chance * best[1:] + (1.0 - chance) * best[:-1]) if best.size else error
    return float(best[0])


def bounds() -> None:
    """Print the bounds by Lagrange's relaxation: the highest over all costs of ``least`` minus what the pulls cost."""
    costs = np.geomspace(0.5, 2e-4, 160)
    for threshold in THRESHOLDS:
        paid = np.array([least(cost, threshold) for cost in costs.tolist()])
        found = [f"{pulls} an arm {1000.0 * (paid - pulls * costs).max():.1f}" for pulls in PULLS_AN_ARM]
        print(f"{threshold:g}: " + ", ".join(found))


def fewest(draws: int) -> None:
    """Print how many more errors Bayes makes than Lai, in per cent of Lai's: means of differences in the same games."""
    heads = [f"{threshold:g}: {pulls} an arm" for threshold in THRESHOLDS for pulls in FEWEST_AT]
    print("| " + " | ".join(["arms", *heads]) + " |\n" + "| ---: |" + " ---: |" * len(heads))
    for arms in FEWEST:
        cells = []
        for threshold in THRESHOLDS:
            found = np.array([errors_of(arms, draw, threshold, PAYS, FEWEST_AT) for draw in range(draws)], float)
            lai, bayes = found.transpose(1, 2, 0)
            for more, base in zip(bayes - lai, lai.mean(axis=1), strict=True):
                error = more.std(ddof=1) / math.sqrt(draws)
                cells.append(f"{100 * more.mean() / base:+.1f} \N{PLUS-MINUS SIGN} {100 * error / base:.1f} %")
        print("| " + " | ".join([f"{arms:,}", *cells]) + " |", flush=True)


def main(arms: int, draws: int, thresholds: list[float]) -> None:
    """Print the table."""
    heads = [f"{threshold:g}: {pulls} an arm" for threshold in thresholds for pulls in PULLS_AN_ARM]
    print("| " + " | ".join([f"{arms:,} arms", *heads]) + " |\n" + "| --- |" + " ---: |" * len(heads))
    found = [np.array([errors_of(arms, draw, threshold) for draw in range(draws)], float) for threshold in thresholds]
    for row, title in enumerate(ROWS):
        cells = [with_error(errors[:, row, look]) for errors in found for look in range(len(PULLS_AN_ARM))]
        print("| " + " | ".join([title, *cells]) + " |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["fewest"] and len(sys.argv) == 3:
        fewest(int(sys.argv[2]))
        sys.exit()
    if sys.argv[1:] == ["bounds"]:
        bounds()
        sys.exit()
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]), [float(threshold) for threshold in sys.argv[3:]])
