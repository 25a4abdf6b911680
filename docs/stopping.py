"""Print the table of stops in calibration.md: python docs/stopping.py [GAMES [FOLDER]]

Campaigns with a target are played on means drawn from known distributions, and on the shares of yes of recorded sets in
FOLDER. Each stops at one target after the other. Beside it stands when it would have stopped, with the same results,
if it had been told the distribution that the means are drawn from; of recorded sets, what share of yes how many tasks
have.
"""

import math
import runpy
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from cutline import Campaign
from cutline.beliefs.prior import Prior

Floats: TypeAlias = NDArray[np.float64]
Told: TypeAlias = Callable[[Floats, Floats], Floats]
"""Returns the probabilities of error of records, pulls and totals (R,), of whoever is told the distribution."""

TARGETS = (0.1, 0.05, 0.02)
"""Expected errors at which campaigns stop, as parts of the arms."""
MOST_PULLS = 50
"""Pulls an arm after which a game ends."""
ARMS = 300
PART_OF_ARMS, PART_OF_PULLS = 20, 50
"""A batch is as many pulls as there are arms, or pulls told, divided by these."""
FEWEST_TASKS, MOST_TASKS = 100, 500


class Case(NamedTuple):
    """Means, drawn by a generator, a threshold, and whoever is told the distribution of the means."""

    name: str
    threshold: float
    draw: Callable[[np.random.Generator], Floats]
    told: Told


class Stop(NamedTuple):
    """At how many pulls a campaign stopped, its wrong decisions then, and at how many the told would have stopped."""

    pulls: float
    errors: float
    told: float


def told_prior(prior: Prior, threshold: float) -> Told:
    """Return whoever is told a prior."""

    def wrong(pulls: Floats, totals: Floats) -> Floats:
        below, above = prior.sides(pulls, totals, threshold)
        smaller: Floats = np.minimum(below, above)
        return smaller

    return wrong


def told_means(means: Floats, threshold: float) -> Told:
    """Return whoever is told all means, but not which arm has which."""
    values, counts = np.unique(means, return_counts=True)
    above = values >= threshold

    def wrong(pulls: Floats, totals: Floats) -> Floats:
        logs = xlogy(totals[:, None], values) + xlog1py((pulls - totals)[:, None], -values)
        likely = np.exp(logs - logs.max(axis=1, keepdims=True)) * counts
        share = likely[:, above].sum(axis=1) / likely.sum(axis=1)
        smaller: Floats = np.minimum(share, 1.0 - share)
        return smaller

    return wrong


def simulated() -> list[Case]:
    """Return cases whose distribution is known."""
    cases = []
    for a, b, one, threshold in (
        (2, 2, 0.0, 0.5),
        (2, 2, 0.0, 0.7),
        (8, 2, 0.0, 0.9),
        (3, 1, 0.8, 0.9),
        (1, 1, 0.4, 0.5),
    ):
        masses = (1.0 - one) * Prior.beta(a, b).masses
        masses[-1] += one

        def draw(rng: np.random.Generator, a: float = a, b: float = b, one: float = one) -> Floats:
            return np.where(rng.random(ARMS) < one, 1.0, rng.beta(a, b, ARMS))

        name = f"{ARMS} arms, Beta({a}, {b})" + (f", {one:.0%} at 1" if one else "")
        cases.append(Case(name, threshold, draw, told_prior(Prior(masses), threshold)))
    return cases


def recorded(folder: Path) -> list[Case]:
    """Return cases of the sets in a folder."""
    shares: Callable[[Path], Floats] = runpy.run_path(str(Path(__file__).with_name("calibration.py")))["shares"]
    cases = []
    for path in sorted(item for item in folder.iterdir() if item.is_dir()):
        means = shares(path)
        if FEWEST_TASKS <= means.size <= MOST_TASKS:
            for threshold in (0.5, 0.75):
                told = told_means(means, threshold)
                cases.append(Case(f"{path.name}, {means.size:,}", threshold, partial(_same, means), told))
    return cases


def _same(means: Floats, _: np.random.Generator) -> Floats:
    return means


def play(case: Case, game: int) -> list[Stop]:
    """Play one game; return a stop for each target that is reached."""
    rng = np.random.default_rng([1, game])
    means = case.draw(rng)
    arms = means.size
    targets = [part * arms for part in TARGETS]
    stopped: list[tuple[float, float]] = []
    told: list[float] = []
    names = {f"arm {i}": i for i in range(arms)}
    campaign = Campaign.create(
        None, "c", names, case.threshold, "Lai", arms * MOST_PULLS, target_errors=targets[0], seed=game
    )
    with campaign:
        spent = 0
        while len(stopped) < len(targets) or len(told) < len(targets):
            pulls = campaign.ask(max(1, arms // PART_OF_ARMS, spent // PART_OF_PULLS))
            if not pulls:
                if campaign.status().left == 0:
                    break
                wrong = sum(item.above != (means[names[item.arm]] >= case.threshold) for item in campaign.decisions())
                stopped.append((spent / arms, float(wrong)))
                following = targets[len(stopped)] if len(stopped) < len(targets) else 1e-9
                campaign.change(target_errors=following)
                continue
            at = np.array([means[names[pull.arm]] for pull in pulls])
            campaign.tell_many(zip(pulls, (rng.random(at.size) < at).tolist(), strict=True))
            spent += len(pulls)
            records, totals, _, counts, _ = np.array(campaign.records(), float).T
            expected = counts @ case.told(records, totals)
            if spent >= arms:  # from where on a target counts
                told += [spent / arms for target in targets[len(told) :] if expected <= target]
    return [Stop(*stop, best) for stop, best in zip(stopped, told, strict=False)]


def with_error(values: Any, digits: int) -> str:
    """Return the mean of values and its standard error."""
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} \N{PLUS-MINUS SIGN} {error:.{digits}f}"


def main(games: int, folder: Path | None) -> None:
    print(
        "| means | threshold | target | stops at | told, at | ratio | wrong then |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    cases = simulated() + (recorded(folder) if folder else [])
    for case in cases:
        found = [play(case, game) for game in range(games)]
        for look, part in enumerate(TARGETS):
            stops = [each[look] for each in found if len(each) > look]
            if len(stops) < games:
                continue
            pulls, wrong, told = np.array(stops).T
            arms = case.draw(np.random.default_rng(0)).size
            cells = (with_error(pulls, 1), with_error(told, 1), with_error(pulls / told, 2), with_error(wrong, 1))
            print(f"| {case.name} | {case.threshold:g} | {part * arms:g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
